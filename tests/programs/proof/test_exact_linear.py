"""Exact feasibility, optimisation and elimination against answers checked by hand and against a float LP."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from gaussdyn.errors import InputError
from gaussdyn.linalg.rational import eliminate, integer_row, null_space, numbers_of, rank, rational, solve
from gaussdyn.programs.proof.exact_linear import ABOVE, AT_LEAST, EQUAL, feasible, maximise, prove_empty

Q = Fraction


@pytest.mark.parametrize(
    ("given", "value"), [("3/2", Q(3, 2)), ("-7", Q(-7)), (2, Q(2)), (0.1, Q(0.1)), (np.float64(0.5), Q(1, 2))]
)
def test_numbers_are_taken_exactly(given: object, value: Q) -> None:
    assert rational(given) == value


@pytest.mark.parametrize("given", ["1/0", "1e3", "x", "", True, None, float("nan"), float("inf"), [1], "1/2/3", "0x10"])
def test_other_things_are_no_numbers(given: object) -> None:
    with pytest.raises(InputError, match="rational string"):
        rational(given, "M[0]")


def test_data_with_one_double_are_doubles() -> None:
    assert numbers_of({"a": ["1/2", 3], "b": [[2]]}) == "rational"
    assert numbers_of({"a": ["1/2", [0.5]]}) == "exact values of doubles"


def test_elimination_solves_and_finds_null_spaces() -> None:
    assert solve([[2, 1, 3], [1, -1, 0]], 2) == [Q(1), Q(1)]
    assert solve([[2, 1, 3], [4, 2, 6]], 2) is None  # many
    assert solve([[2, 1, 3], [4, 2, 7]], 2) is None  # none
    (v,) = null_space([[1, 2, 3], [0, 1, 1]], 3)
    assert v == [Q(-1), Q(-1), Q(1)]
    assert rank([[1, 2], [2, 4], [0, 0]]) == 1
    assert eliminate([], 3) == ([], [])
    assert integer_row([Q(1, 2), Q(-1, 3)]) == ([3, -2], Q(6))


def check(rows: list[list[int]], kinds: list[int], n: int) -> bool:
    """Verify the answer of `feasible` from the data alone; return whether there is a point."""
    found = feasible(rows, kinds, n)
    if found.point is not None:
        for row, kind in zip(rows, kinds, strict=True):
            slack = sum(a * x for a, x in zip(row, found.point, strict=False)) - row[-1]
            assert slack == 0 if kind == EQUAL else slack > 0 if kind == ABOVE else slack >= 0
        return True
    lam = found.multipliers
    assert lam is not None
    assert all(x >= 0 for x, kind in zip(lam, kinds, strict=True) if kind != EQUAL)
    assert all(sum(x * row[j] for x, row in zip(lam, rows, strict=True)) == 0 for j in range(n))
    value = sum(x * row[-1] for x, row in zip(lam, rows, strict=True))
    assert value > 0 or (value == 0 and any(x for x, kind in zip(lam, kinds, strict=True) if kind == ABOVE))
    return False


def test_small_systems() -> None:
    assert check([[1, 0]], [AT_LEAST], 1)
    assert not check([[1, 1], [-1, 0]], [AT_LEAST, AT_LEAST], 1)  # x >= 1, x <= 0
    assert check([[1, 0], [-1, 0]], [AT_LEAST, AT_LEAST], 1)  # x = 0
    assert not check([[1, 0], [-1, 0]], [ABOVE, AT_LEAST], 1)  # 0 < x <= 0
    assert not check([[0, 1]], [EQUAL], 1)  # 0 = 1
    assert not check([[0, 0]], [ABOVE], 1)  # 0 > 0
    assert check([[0, -1]], [ABOVE], 1)  # 0 > -1
    assert check([], [], 2)


def test_random_degenerate_systems_prove_themselves() -> None:
    rng = np.random.default_rng(1)
    answers = set()
    for _ in range(1500):
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 10))
        rows, kinds = rng.integers(-2, 3, size=(m, n + 1)).tolist(), rng.integers(0, 3, size=m).tolist()
        answers.add(check(rows, kinds, n))
    assert answers == {True, False}


def test_optima_agree_with_a_float_lp() -> None:
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(200):
        n, m = int(rng.integers(1, 4)), int(rng.integers(2, 8))
        rows, kinds = rng.integers(-3, 4, size=(m, n + 1)), rng.integers(0, 2, size=m)
        c = rng.integers(-2, 3, size=n)
        if feasible(rows.tolist(), kinds.tolist(), n).point is None:
            continue
        best = maximise(rows.tolist(), kinds.tolist(), n, c.tolist())
        at_least, equal = rows[kinds == AT_LEAST], rows[kinds == EQUAL]
        lp = linprog(-c, A_ub=-at_least[:, :n], b_ub=-at_least[:, n], A_eq=equal[:, :n], b_eq=equal[:, n],
                     bounds=[(None, None)] * n)  # fmt: skip
        seen.add(lp.status)
        if best.ray is None:
            assert lp.status == 0
            assert float(sum(a * x for a, x in zip(c.tolist(), best.point, strict=True))) == pytest.approx(
                -lp.fun, abs=1e-9
            )
        else:
            assert lp.status == 3
            assert sum(a * x for a, x in zip(c.tolist(), best.ray, strict=True)) > 0
            for row, kind in zip(rows.tolist(), kinds, strict=True):
                rate = sum(a * x for a, x in zip(row, best.ray, strict=False))
                assert rate == 0 if kind == EQUAL else rate >= 0
    assert seen == {0, 3}


def test_maximise_refuses_an_empty_system() -> None:
    with pytest.raises(ValueError, match="empty"):
        maximise([[0, 1]], [EQUAL], 1, [1])


def test_a_rounded_guess_becomes_a_proof_or_nothing() -> None:
    rows, kinds = [[3, 0, 1], [-1, 1, 0], [0, -1, 0]], [AT_LEAST] * 3  # x >= 1/3, y >= x, y <= 0
    lam = prove_empty(rows, kinds, np.array([0.999999999, 1.0, 1.0000001]))
    assert lam is not None
    assert [x // min(lam) for x in lam] == [1, 3, 3]
    assert prove_empty(rows, kinds, np.array([1.0, 0.0, 0.0])) is None
    assert prove_empty(rows, kinds, np.zeros(3)) is None
