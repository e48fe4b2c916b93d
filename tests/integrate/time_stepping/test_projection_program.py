"""One pass of the position projection: the nearest place by an independent method, whatever the order of the gaps."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples
from scipy.optimize import lsq_linear

from gaussdyn.arrays import EPS
from gaussdyn.integrate.time_stepping.projection_program import ROUNDS, SOFT, push_apart


def gaps_of(seed, dependent):
    """Rows of length one, some of them sums of others where they shall depend on one another, gaps and which hold."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 7)), int(rng.integers(2, 9))
    X = rng.normal(size=(m, n))
    if dependent:
        X = rng.normal(size=(m, 2)) @ rng.normal(size=(2, n))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, rng, rng.random(m) < 0.3


@pytest.mark.drawn
@pytest.mark.parametrize("dependent", [False, True])
def test_it_is_the_least_shift_along_pushes_that_push(dependent):
    for seed in range(examples(10, fast=3)):
        check_it_is_the_least_shift_along_pushes_that_push(seed, dependent)


def check_it_is_the_least_shift_along_pushes_that_push(seed, dependent):
    X, rng, held = gaps_of(seed, dependent)
    w = rng.normal(size=len(X)) - X @ rng.normal(size=X.shape[1])  # gaps that may contradict one another
    w = np.where(held, -X @ rng.normal(size=X.shape[1]), w) if dependent else 1e-3 * w
    y, p = push_apart(X, w, held, 1e-13)
    np.testing.assert_allclose(X.T @ p, y, rtol=0, atol=1e-15)
    u = X @ y + w
    # the same place by forces: y = X^T p with p >= 0 where the gap may open, and none where it is open
    low = np.where(held, -np.inf, 0.0)
    shut = held | (u <= 1e-7 * np.abs(w).max())
    p = lsq_linear(X[shut].T, y, (low[shut], np.full(shut.sum(), np.inf)), tol=1e-14).x if shut.any() else np.zeros(0)
    np.testing.assert_allclose(X[shut].T @ p, y, atol=1e-6 * np.abs(w).max())


@pytest.mark.drawn
@pytest.mark.parametrize("dependent", [False, True])
def test_the_order_of_gaps_and_their_rounding_change_nothing(dependent):
    for seed in range(examples(20, fast=5)):
        check_the_order_of_gaps_and_their_rounding_change_nothing(seed, dependent)


def check_the_order_of_gaps_and_their_rounding_change_nothing(seed, dependent):
    X, rng, held = gaps_of(seed, dependent)
    w = -1e-3 * rng.random(len(X))
    (y, _), order = push_apart(X, w, held, 1e-13), rng.permutation(len(X))
    u = X @ y + w
    left = max(np.abs(u[held]).max(initial=0.0), -u.min())  # of gaps that contradict one another
    rounding = 1e-11 * max(np.abs(w).max(), np.abs(y).max()) + EPS * len(X) * ROUNDS / SOFT * left
    other, _ = push_apart(X[order], w[order], held[order], 1e-13)
    assert np.abs(other - y).max() <= rounding
    shaken, _ = push_apart(X, w * (1.0 + 1e-15 * rng.normal(size=len(w))), held, 1e-13)
    assert np.abs(shaken - y).max() <= rounding


def test_gaps_that_contradict_one_another_share_what_is_left():
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    y, _ = push_apart(X, np.array([-1.0, -3.0]), np.zeros(2, dtype=bool), 1e-12)
    np.testing.assert_allclose(y, [-1.0, 0.0], atol=1e-6)


def test_open_gaps_move_nothing_and_held_ones_pull():
    X = np.array([[1.0, 0.0]])
    assert (push_apart(X, np.array([0.2]), np.array([False]), 1e-12)[0] == 0.0).all()
    np.testing.assert_allclose(push_apart(X, np.array([0.2]), np.array([True]), 1e-14)[0], [-0.2, 0.0], atol=1e-13)
