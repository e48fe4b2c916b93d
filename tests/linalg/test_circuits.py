"""Minimal dependent sets of rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.linalg.circuits import circuits


def test_three_rows_in_a_plane_and_one_beside() -> None:
    found = circuits(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 5.0]]))
    assert found.sets() == [(0, 1, 2)]
    assert found.needed() == (3,)
    assert found.degree == 1
    assert found.factors[0] == pytest.approx(np.array([3.0, 2.0, -1.0, 0.0]) / 3.0)


def test_independent_rows_have_no_circuit() -> None:
    found = circuits(np.eye(3))
    assert found.sets() == []
    assert found.degree == 0
    assert found.needed() == (0, 1, 2)
    assert circuits(np.zeros((0, 4))).degree == 0


def test_a_row_of_zeros_is_a_circuit_of_its_own() -> None:
    assert circuits(np.array([[1.0, 0.0], [0.0, 0.0]])).sets() == [(1,)]


def test_all_circuits_of_small_matrices_by_trying_every_set() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        J = rng.integers(-1, 2, (6, 3)).astype(float)
        brute = []
        for size in range(1, 5):
            for chosen in combinations(range(6), size):
                dependent = np.linalg.matrix_rank(J[list(chosen)]) < size
                if dependent and not any(set(one) <= set(chosen) for one in brute):
                    brute.append(chosen)
        found = circuits(J)
        assert found.complete
        assert sorted(found.sets()) == sorted(brute)
        assert np.abs(found.factors @ J).max(initial=0.0) < 1e-12


def test_many_rows_too_many_give_a_set_that_makes_up_the_others() -> None:
    J = np.random.default_rng(1).standard_normal((40, 6))
    found = circuits(J)
    assert not found.complete
    assert len(found.factors) == found.degree == 34
    assert np.linalg.matrix_rank(found.factors) == 34
    assert np.abs(found.factors @ J).max() < 1e-10


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError):
        circuits(np.array([[np.nan]]))
