"""Cholesky factors of rows that begin late: the same as dense ones, and unknowns that are left at zero."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.linalg.envelope import cholesky, cholesky_solve, part_dot


def late_rows(seed, n):
    """Return a positive definite matrix whose rows begin late, and where they begin."""
    rng = np.random.default_rng(seed)
    first = np.array([rng.integers(0, i + 1) for i in range(n)])
    L = np.tril(rng.normal(size=(n, n)))
    for i in range(n):
        L[i, : first[i]] = 0.0
        L[i, i] = rng.uniform(0.5, 2.0)
    return L @ L.T, L


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 14))
def test_the_factor_is_the_dense_one_and_solves(seed, n):
    S, L = late_rows(seed, n)
    work, first, b = S.copy(), np.zeros(n, np.int64), np.random.default_rng(seed).normal(size=n)
    least = cholesky(work, n, first, 0.0)
    size = np.linalg.cond(S)
    assert first.tolist() == [int(np.flatnonzero(row)[0]) for row in np.tril(S)]
    np.testing.assert_allclose(np.tril(work), L, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(least, (np.diag(L) ** 2 / np.diag(S)).min(), rtol=1e-12 * size)
    x = b.copy()
    cholesky_solve(work, n, first, x)
    np.testing.assert_allclose(S @ x, b, rtol=0, atol=1e-12 * size)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 10))
def test_an_unknown_that_depends_on_others_is_left_at_zero(seed, n):
    """The last row is twice the first: its pivot is rounding, and the others are solved for without it."""
    S, _ = late_rows(seed, n)
    wide = np.vstack((np.eye(n), 2.0 * np.eye(n)[0]))
    T, b = wide @ S @ wide.T, wide @ np.random.default_rng(seed).normal(size=n)
    assert cholesky(T.copy(), n + 1, np.zeros(n + 1, np.int64), 0.0) < 1e-12
    factor, first, x = T.copy(), np.zeros(n + 1, np.int64), b.copy()
    cholesky(factor, n + 1, first, 1e-10)
    cholesky_solve(factor, n + 1, first, x)
    assert x[n] == 0.0
    np.testing.assert_allclose(T @ x, b, rtol=0, atol=1e-12 * np.linalg.cond(S) * np.abs(b).max())


@given(st.lists(st.integers(-99, 99), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_sums_in_parts_are_whole(numbers, low, high):
    """Of integers every order of adding is exact."""
    x = np.array(numbers, dtype=np.float64)
    low, high = min(low, len(x)), min(high, len(x))
    assert part_dot(x, x[::-1].copy(), low, high) == (x[low:high] @ x[::-1][low:high] if low < high else 0.0)
