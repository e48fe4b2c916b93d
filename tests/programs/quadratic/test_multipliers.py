"""Dependent rows: the smallest multipliers, and exactly how far the valid ones may move."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples
from quadratic_cases import force, random_program, relative
from scipy.optimize import linprog, nnls

from gaussdyn.arrays import Array
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.quadratic.solve_quadratic import solve_quadratic
from gaussdyn.programs.solution.solution import Solution


def solved(H: object, load: object, C: object, d: object = None) -> Solution:
    C = np.asarray(C, dtype=float)
    d = np.zeros(len(C)) if d is None else d
    return solve_quadratic(QuadraticProgram(H=H, g=-np.asarray(load, dtype=float), C=C, d=d)).require()


def test_corner_of_three_walls() -> None:
    found = solved(np.diag([2.0, 2.0]), [-3.0, -5.0], [[1, 0], [0, 1], [1, 1]])
    assert (found.x == 0.0).all()
    assert found.r == pytest.approx([1 / 3, 7 / 3, 8 / 3], abs=1e-14)
    assert found.r_unique is False
    assert found.u_unique is True
    assert found.null_space.shape == (3, 1)
    assert np.abs(found.null_space[:, 0] / found.null_space[0, 0] - [1, 1, -1]).max() <= 1e-14


BAR = np.array([[1.0, 1.0, 1.0], [-1.0, 0.0, 1.0]]).T
MASS = np.diag([6.0, 2.0])


def test_bar_on_three_supports() -> None:
    level = solved(MASS, [-60.0, 0.0], BAR)
    assert (level.x == 0.0).all()
    assert level.r == pytest.approx([20.0, 20.0, 20.0], abs=1e-12)  # smallest of (s, 60 - 2 s, s)
    assert np.abs(level.null_space[:, 0] / level.null_space[0, 0] - [1, -2, 1]).max() <= 1e-13
    twisted = solved(MASS, [-60.0, 45.0], BAR)
    assert twisted.r == pytest.approx([45.0, 15.0, 0.0], abs=1e-12)  # an end of (45, 15, 0) .. (52.5, 0, 7.5)
    assert twisted.r_unique is False
    tips = solved(MASS, [-60.0, 70.0], BAR)
    assert tips.x == pytest.approx([1.25, 1.25], abs=1e-14)
    assert tips.r == pytest.approx([67.5, 0.0, 0.0], abs=1e-12)
    assert tips.r_unique is True
    edge = solved(MASS, [-60.0, 60.0], BAR)  # the family has shrunk to a point, though the rows are dependent
    assert edge.r == pytest.approx([60.0, 0.0, 0.0], abs=1e-12)
    assert edge.r_unique is True
    assert edge.null_space.shape == (3, 0)


def test_no_load_at_a_degenerate_vertex_leaves_no_choice() -> None:
    found = solved(np.eye(2), [0.0, 0.0], [[0, 1], [1, 1], [-1, 1]])
    assert found.r == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert found.r_unique is True


def test_a_partly_fixed_family() -> None:
    """Two equal rows share one force; a third active row carries nothing and may not start to."""
    found = solved(np.eye(2), [-2.0, 0.0], [[1, 0], [1, 0], [0, 1]])
    assert found.r == pytest.approx([1.0, 1.0, 0.0], abs=1e-14)
    assert found.null_space.shape == (3, 1)
    assert abs(found.null_space[2, 0]) <= 1e-14


def test_equalities_may_change_sign() -> None:
    program = QuadraticProgram(H=np.eye(1), g=[-4.0], A=[[1.0]], b=[0.0], C=[[1.0], [-1.0]], d=[0.0, 0.0])
    found = solve_quadratic(program).require()
    assert np.r_[found.lam, found.r] == pytest.approx([-2.0, 0.0, 2.0], abs=1e-14)
    assert found.null_space.shape == (3, 2)


def _spread(program: QuadraticProgram, found: Solution) -> Array:
    """Return the largest minus the smallest valid value of every multiplier, by linear programs."""
    m, k = len(program.b), len(program.d)
    active = np.array([mode == "active" for mode in found.modes], dtype=bool)
    bounds = [(None, None)] * m + [(0.0, None if a else 0.0) for a in active]
    N = np.vstack([program.A, program.C])
    target = force(program, found.lam, found.r)
    scale = np.linalg.norm(target) or 1.0
    ends = []
    for i in range(m + k):
        cost = np.eye(m + k)[i]
        pair = [linprog(s * cost, A_eq=N.T, b_eq=target / scale, bounds=bounds, method="highs") for s in (1.0, -1.0)]
        ends.append(np.inf if any(p.status == 3 for p in pair) else -(pair[0].fun + pair[1].fun))
    return np.array(ends)


@pytest.mark.drawn
def test_uniqueness_and_null_space_against_linear_programs() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(examples(40, fast=15)):
        p = random_program(rng, n=int(rng.integers(2, 6)), rows=int(rng.integers(2, 9)), dependent=True, cond=10.0)
        found = solve_quadratic(p).require()
        moves = _spread(p, found) > 1e-6
        assert found.r_unique == (not moves.any())
        assert ((np.abs(found.null_space) > 1e-8).any(axis=1) == moves).all()
        N = np.vstack([p.A, p.C])
        assert np.abs(N.T @ found.null_space).max(initial=0.0) <= 1e-12
        seen.add(found.r_unique)
    assert seen == {True, False}


def test_smallest_multipliers_against_nonnegative_least_squares() -> None:
    """min |w| with N^T w = f, z >= 0 as the limit of a penalised least-squares problem, which nnls solves."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        p = random_program(rng, n=4, rows=8, dependent=True, cond=10.0)
        found = solve_quadratic(p).require()
        active = np.array([mode == "active" for mode in found.modes], dtype=bool)
        N = np.vstack([p.A, -p.A, p.C[active]])
        f = force(p, found.lam, found.r)
        weight = 1e5
        w = nnls(np.vstack([weight * N.T, np.eye(len(N))]), np.r_[weight * f, np.zeros(len(N))])[0]
        m = len(p.b)
        reference = np.r_[w[:m] - w[m : 2 * m], w[2 * m :]]
        assert relative(np.r_[found.lam, found.r[active]], reference, 1.0) <= 1e-6


def test_smallest_multipliers_keep_the_residual() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        p = random_program(rng, dependent=True)
        found = solve_quadratic(p).require()
        assert (found.r >= 0.0).all()
        assert found.audit().E <= 1e-12
