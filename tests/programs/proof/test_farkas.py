"""Exact refutations: every identity is checked in fractions, nothing is taken from a solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from quadratic_cases import empty_program, random_program

from gaussdyn.arrays import Array
from gaussdyn.programs.proof.farkas import refute


def proves(A: Array, b: Array, C: Array, d: Array, y: list[Fraction], z: list[Fraction]) -> bool:
    """Whether A^T y + C^T z = 0, z >= 0 and b.y + d.z > 0 hold exactly."""
    rows = [(*[Fraction(float(v)) for v in row], Fraction(float(e))) for row, e in zip([*A, *C], [*b, *d], strict=True)]
    weights = [*y, *z]
    sums = [sum((w * row[j] for w, row in zip(weights, rows, strict=True)), Fraction(0)) for j in range(len(rows[0]))]
    return all(value >= 0 for value in z) and not any(sums[:-1]) and sums[-1] > 0


def test_the_worked_example() -> None:
    """a1 + a2 = 2, a1 <= 1/2, a2 <= 1/2: y = 1, z = (1, 1) up to scale."""
    A, b, C, d = np.array([[1.0, 1.0]]), np.array([2.0]), -np.eye(2), np.array([-0.5, -0.5])
    y, z = refute(A, b, C, d)
    assert proves(A, b, C, d, y, z)
    assert [value / y[0] for value in (*y, *z)] == [1, 1, 1]


def test_empty_systems_of_small_integers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        p = empty_program(rng)
        assert proves(p.A, p.b, p.C, p.d, *refute(p.A, p.b, p.C, p.d))


def test_rows_of_very_different_size() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        p = empty_program(rng)
        a, c = (2.0 ** rng.integers(-26, 27, len(rhs)) for rhs in (p.b, p.d))
        A, b, C, d = p.A * a[:, None], p.b * a, p.C * c[:, None], p.d * c
        assert proves(A, b, C, d, *refute(A, b, C, d))


@pytest.mark.parametrize("rows", [60, 300])
def test_many_rows_in_general_position(rows: int) -> None:
    """n + 1 random rows always combine to zero exactly; real numbers, no common denominators."""
    rng = np.random.default_rng(rows)
    n = 12
    C = rng.normal(size=(rows, n))
    w = rng.uniform(0.5, 1.0, n + 1)
    C[n] = -(w[:n] @ C[:n]) / w[n]
    d = np.where(np.arange(rows) <= n, 0.1, -10.0)
    assert proves(np.zeros((0, n)), np.zeros(0), C, d, *refute(np.zeros((0, n)), np.zeros(0), C, d)) == (rows > n)


def test_feasible_systems_are_not_refuted() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        p = random_program(rng, n=6, rows=int(rng.integers(0, 12)))
        assert refute(p.A, p.b, p.C, p.d) is None


def test_rows_of_zeros() -> None:
    nothing = np.zeros((0, 2)), np.zeros(0)
    zero = np.zeros((1, 2))
    assert refute(*nothing, zero, np.array([0.0])) is None
    assert refute(*nothing, zero, np.array([-1.0])) is None
    assert refute(*nothing, zero, np.array([1e-300]))[1][0] > 0
    assert refute(zero, np.array([-1.0]), *nothing)[0][0] < 0
    assert refute(*nothing, *nothing) is None


def test_a_wrong_guess_does_no_harm() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        p = empty_program(rng)
        guess = rng.normal(size=len(p.b) + len(p.d))
        found = refute(p.A, p.b, p.C, p.d, guess=guess)
        assert proves(p.A, p.b, p.C, p.d, *found)
        feasible = random_program(rng, n=5, rows=6)
        guess = rng.normal(size=6)
        assert refute(feasible.A, feasible.b, feasible.C, feasible.d, guess=guess) is None
