"""Products of blocks in vectors: the bits are those of plain loops; factors in them solve what LAPACK solves."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.linalg.block_lu import analyse, factorise, solve_factorised
from tests.evidence import examples


def loops(L, U):
    """Return L U, every sum from the left."""
    out = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            total = L[i, 0] * U[0, j]
            for k in range(1, 6):
                total = total + L[i, k] * U[k, j]
            out[i, j] = total
    return out


@pytest.mark.drawn
def test_factors_are_those_of_plain_loops_bit_by_bit_and_solve():
    for seed in range(examples(40, fast=8)):
        check(seed)


def check(seed):
    """Compare the factors of a random matrix of blocks, and its solutions."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    a, b = rng.integers(0, n, 2 * n), rng.integers(-1, n, 2 * n)
    a, b = a[a != b], b[a != b]
    ordering = analyse(n, a, b)
    order, _rank, start, rows, first, update = ordering
    below = start[n]
    B = rng.normal(size=(n + 2 * below, 6, 6))
    B[:n] += 40.0 * np.eye(6)
    full, plain = np.zeros((6 * n, 6 * n)), B.copy()
    for k in range(n):
        place = slice(6 * k, 6 * k + 6)
        full[place, place] = B[k]
        for p in range(start[k], start[k + 1]):
            other = slice(6 * rows[p], 6 * rows[p] + 6)
            full[other, place], full[place, other] = B[n + p], B[n + below + p]
    factorise(n, ordering, B)
    for k in range(n):
        plain[k] = B[k]  # the inverse, by what is not tested here
        for p in range(n + start[k], n + start[k + 1]):
            plain[p] = loops(plain[p], plain[k])
        for d, lower, upper in update[first[k] : first[k + 1]]:
            plain[d] = plain[d] - loops(plain[lower], plain[upper])
    assert np.array_equal(plain[n:], B[n:])
    x = rng.normal(size=(n, 6))
    right = x.copy()
    solve_factorised(n, ordering, B, right, np.zeros((n, 6)))
    expected = np.linalg.solve(full, x[order].ravel()).reshape(n, 6)
    np.testing.assert_allclose(right[order], expected, rtol=1e-10, atol=1e-12)
