"""Dense kernels and the growing and shrinking basis of rows, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.arrays import Array
from gaussdyn.linalg.dense import cholesky_upper, dot, solve_upper, solve_upper_transposed, solve_upper_transposed_many
from gaussdyn.linalg.row_basis import append, remove, solve_lower, solve_lower_transposed, split


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 13, 40])
def test_cholesky_and_triangular_solves(n: int) -> None:
    rng = np.random.default_rng(n)
    B, X, x = rng.normal(size=(n, n + 3)), rng.normal(size=(n, 7)), rng.normal(size=n)
    H, U = B @ B.T, np.zeros((n, n))
    assert cholesky_upper(H, U) == -1
    assert np.abs(U.T @ U - H).max(initial=0.0) <= 1e-13 * np.abs(H).max(initial=1.0)
    forward, backward, many = x.copy(), x.copy(), X.copy()
    solve_upper_transposed(U, forward)
    solve_upper(U, backward)
    solve_upper_transposed_many(U, many)
    for residual in (U.T @ forward - x, U @ backward - x, U.T @ many - X):
        assert np.abs(residual).max(initial=0.0) <= 1e-11
    assert dot(x, x, n) == pytest.approx(float(x @ x), rel=1e-15)


def test_cholesky_names_the_coordinate() -> None:
    H = np.diag([1.0, 2.0, -1.0, 3.0])
    assert cholesky_upper(H, np.zeros((4, 4))) == 2
    assert cholesky_upper(np.array([[np.nan]]), np.zeros((1, 1))) == 0


def _grown(rows: Array) -> tuple[tuple[Array, Array], int, list[int]]:
    """Append the rows that are not dependent; return the basis, its size and the rows taken."""
    n = rows.shape[1]
    basis, taken = (np.zeros((n, n)), np.zeros((n, n))), []
    for i, row in enumerate(rows):
        along, across = np.zeros(n), np.zeros(n)
        length = split(basis[0], len(taken), row, along, across)
        if length > 1e-11 * np.linalg.norm(row):
            append(basis, len(taken), along, across, length)
            taken.append(i)
    return basis, len(taken), taken


def _holds(basis: tuple[Array, Array], k: int, rows: Array) -> bool:
    Q, T = basis[0][:k], np.tril(basis[1][:k, :k])
    return bool(np.abs(T @ Q - rows).max() <= 1e-13 * np.abs(rows).max() and np.abs(Q @ Q.T - np.eye(k)).max() <= 1e-13)


def test_rows_come_and_go() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(9, 12))
    basis, k, _ = _grown(rows)
    assert k == 9
    assert _holds(basis, k, rows)
    left = list(range(9))
    for j in (4, 0, 6, 2):
        remove(basis, k, j)
        k -= 1
        del left[j]
        assert _holds(basis, k, rows[left])
    x = rng.normal(size=12)
    down, up = x.copy(), x.copy()
    solve_lower(basis[1], k, down)
    solve_lower_transposed(basis[1], k, up)
    T = np.tril(basis[1][:k, :k])
    assert pytest.approx(x[:k], abs=1e-12) == T @ down[:k]
    assert pytest.approx(x[:k], abs=1e-12) == T.T @ up[:k]


def test_dependent_rows_are_recognised_and_nearly_parallel_ones_are_kept() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(6, 8))
    rows[3] = 2.0 * rows[0] - 3.0 * rows[1]
    rows[4] = rows[2] + 1e-7 * rng.normal(size=8)
    basis, k, taken = _grown(rows)
    assert taken == [0, 1, 2, 4, 5]
    Q = basis[0][:k]
    assert np.abs(Q @ Q.T - np.eye(k)).max() <= 1e-14


def test_what_is_across_a_full_basis_is_exactly_zero() -> None:
    rng = np.random.default_rng(3)
    basis, k, _ = _grown(rng.normal(size=(5, 5)))
    along, across = np.zeros(5), np.ones(5)
    assert split(basis[0], k, rng.normal(size=5), along, across) == 0.0
    assert (across == 0.0).all()


def test_a_small_remainder_is_orthogonal_relative_to_itself() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(4, 9))
    basis, k, _ = _grown(rows)
    along, across = np.zeros(9), np.zeros(9)
    length = split(basis[0], k, rows.T @ rng.normal(size=4) + 1e-13 * rng.normal(size=9), along, across)
    assert 0.0 < length < 1e-12
    assert np.abs(basis[0][:k] @ across).max() <= 1e-14 * length
