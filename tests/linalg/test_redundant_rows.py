"""Rows that depend on one another: which are chosen, how the others follow from them, and the shortest solution."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn._jit import Held
from gaussdyn.linalg.redundant_rows import as_many_depend, rank_of, redundant_of, solve_redundant


def held(G, slips=()):
    rows = redundant_of(G, [], list(slips))
    rows.G[:] = G
    return rows, Held(rows)


def system(G, B, b):
    return np.column_stack((G @ np.diag(np.linspace(1.0, 10.0, G.shape[1])) @ B.T, b))


@pytest.mark.parametrize("d", [1e-2, 1e-6, 1e-8, 1e-9])
def test_rows_that_nearly_depend_are_taken_as_the_rank_says(d):
    """Three forces on a bar, d apart: two are independent, however near, and the third follows from them."""
    G = np.array([[0.0, 1.0, -d], [0.0, 1.0, 0.0], [0.0, 1.0, d]])
    rows, value = held(G, slips=[1])
    assert len(rows.chosen) == rank_of(G) == 2
    W, side = system(G, G, G @ np.array([0.3, -0.2, 1.0])), np.zeros(1)
    assert solve_redundant(value, W, side) == 0
    assert as_many_depend(value)
    np.testing.assert_allclose(rows.C @ G[rows.chosen], G, rtol=0, atol=1e-15 / d * 1e-1 + 1e-15)
    assert side[0] == (1.0 if d > 1e-7 else 0.0)  # det below 1e-14 of its rows has no sign


@pytest.mark.parametrize("seed", range(8))
def test_solutions_are_the_shortest_that_all_equations_allow(seed):
    rng = np.random.default_rng(seed)
    k, n, nv = rng.integers(1, 5), 6, 7
    G = rng.normal(size=(n, k)) @ rng.normal(size=(k, nv))
    rows, value = held(G)
    b = G @ rng.normal(size=nv)
    W = system(G, G, b)
    expected = np.linalg.lstsq(W[:, :n], b, rcond=1e-10)[0]
    assert len(rows.chosen) == k
    assert solve_redundant(value, W, np.zeros(1)) == 0
    np.testing.assert_allclose(W[:, n], expected, rtol=0, atol=1e-9 * (1.0 + np.abs(expected).max()))


def test_one_dependence_more_or_less_is_seen():
    G = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    rows, value = held(G)
    assert as_many_depend(value)
    rows.G[1, 2] = 1e-6
    assert not as_many_depend(value)
    rows.G[1] = rows.G[2] = rows.G[0]
    assert not as_many_depend(value)


def test_rows_that_are_but_rounding_are_none():
    """A loop across its own plane: at length one such rows point anywhere."""
    G = np.array([[1.0, 0.0, 0.0], [1e-17, -2e-17, 1e-17], [0.0, 2.0, 0.0]])
    rows, value = held(G)
    assert rank_of(G) == 2
    assert rows.chosen.tolist() == [0, 2]
    assert as_many_depend(value)
    W = system(G, G, G @ np.array([0.3, -0.2, 1.0]))
    expected = np.linalg.lstsq(W[:, :3], W[:, 3], rcond=1e-10)[0]
    assert solve_redundant(value, W, np.zeros(1)) == 0
    np.testing.assert_allclose(W[:, 3], expected, rtol=0, atol=1e-15)
