"""Small dense systems beside numpy's."""

import numpy as np
import pytest

from gaussdyn.linalg.dense import SPARE, factor_flat, solve_flat


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_a_factor_solves_for_many_right_sides(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 3, size=(n, 1))
    flat, pivot = np.full((n, n + SPARE), np.nan), np.zeros(n, dtype=np.int64)
    flat[:, :n] = A
    flat = flat.ravel()
    assert factor_flat(flat, n, pivot)
    for _ in range(3):
        x = rng.normal(size=n)
        b = A @ x
        solve_flat(flat, n, pivot, b)
        assert np.allclose(b, x, rtol=0.0, atol=1e-9)


def test_a_singular_matrix_has_no_factor() -> None:
    A = np.array([[1.0, 2.0, *[0.0] * SPARE], [2.0, 4.0, *[0.0] * SPARE]]).ravel()
    assert not factor_flat(A, 2, np.zeros(2, dtype=np.int64))
