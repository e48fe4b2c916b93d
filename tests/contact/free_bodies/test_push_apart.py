"""The least shift that opens gaps: a strictly convex problem, whose optimality dense matrices show."""

import numpy as np
import pytest

from gaussdyn.contact.free_bodies.body_problem import Iterate
from gaussdyn.integrate.time_stepping.compiled.soft_gaps import FEW_FACTORS, push_apart

from .test_structure import Heap

ENOUGH = 1e-13


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("per_pair", [1, 8])
def test_the_shift_is_the_least_that_leaves_no_gap_negative(seed, per_pair):
    """Where many gaps begin to push (eight for each pair of bodies) softer ones find which, in few factorisations."""
    heap = Heap(seed, per_pair=per_pair)
    heap.mu[:], heap.h[:] = 0.0, 0.0
    heap.w[:, 0] = 1e-3 * np.random.default_rng(seed).normal(size=heap.c)
    iterate = Iterate(*(np.zeros((heap.c, 3)) for _ in range(4)), np.zeros((heap.n, 6)))
    factors = push_apart(heap.problem, heap.ordering, heap.work, iterate, ENOUGH)
    J, p = heap.J[::3], iterate.other[:, 0]
    d = np.linalg.solve(heap.M, J.T @ p)
    gap = J @ d + heap.w[:, 0]
    np.testing.assert_allclose(iterate.v.ravel(), d, atol=1e-12)
    assert p.min() >= 0.0
    assert gap.min() >= -ENOUGH
    assert np.abs(gap[p > 0.0]).max() <= ENOUGH
    assert (factors <= FEW_FACTORS) == (per_pair == 1)
    assert factors <= 32


@pytest.mark.parametrize("seed", range(8))
def test_gaps_that_contradict_one_another_push_no_more_than_the_shift_needs(seed):
    """Of 56 gaps, more than half of them held, 30 can be met; all other pushes cancel, and were 100 times as large."""
    heap, rng = Heap(seed, per_pair=8), np.random.default_rng(seed)
    J, held = heap.J[::3], rng.random(heap.c) < 0.7
    heap.mu[:], heap.h[:] = np.where(held, -1.0, 0.0), 0.0
    heap.w[:, 0] = 1e-4 * J @ rng.normal(size=J.shape[1]) + 1e-8 * rng.normal(size=heap.c)
    iterate = Iterate(*(np.zeros((heap.c, 3)) for _ in range(4)), np.zeros((heap.n, 6)))
    push_apart(heap.problem, heap.ordering, heap.work, iterate, ENOUGH)
    p = iterate.other[:, 0]
    pushes = p != 0.0
    assert np.linalg.matrix_rank(J[pushes], 1e-8) < pushes.sum()
    least = np.linalg.lstsq(J[pushes].T, J.T @ p, rcond=1e-10)[0]
    assert np.linalg.norm(p) <= 3.0 * np.linalg.norm(least)
    assert p[~held].min() >= 0.0
    gap = J @ np.linalg.solve(heap.M, J.T @ p) + heap.w[:, 0]
    assert gap.min() >= -1e-7  # least squares
    assert np.abs(gap[held]).max() <= 1e-7
