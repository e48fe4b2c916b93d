"""Rows whose own numbers are rounding beside an ordinary motion: solved, not refused; wrong answers are still seen."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm
from gaussdyn.programs.problems.quadratic import QuadraticProgram
from gaussdyn.programs.solution.residuals import kkt_residuals
from gaussdyn.programs.solve import solve


def ball_on_the_floor(d):
    """A ball at rest whose gap is rounding: gravity moves it by 4e-3, the row stops it at d."""
    H, C = np.eye(2), np.array([[0.0, 1.0]])
    return QuadraticProgram(H=H, g=np.array([0.0, 4.27e-3]), A=np.zeros((0, 2)), b=np.zeros(0), C=C, d=np.array([d]))


@pytest.mark.parametrize("d", [0.0, -3.5e-18, 3.5e-18, 1e-25, -1e-15])
def test_row_that_cancels_the_motion_is_solved(d):
    solution = solve(ball_on_the_floor(d))
    assert solution.solved, solution.explain()
    assert solution.r == pytest.approx([4.27e-3], rel=1e-12)


@pytest.mark.parametrize("error", [1e-14, 1e-10, 1e-6])
def test_what_is_more_than_rounding_is_not_excused(error):
    program = ball_on_the_floor(-3.5e-18)
    found = kkt_residuals(program, np.array([0.0, -3.5e-18 - error]), np.zeros(0), np.array([4.27e-3 - error]))
    assert max(1e-12, 10 * found.floor) < found.E


def test_joint_at_rest_beside_falling_bodies_is_no_contradiction():
    """Three masses in a triangle of rods at rest on the floor: the horizontal rod sees rounding only."""
    rng = np.random.default_rng(1)
    d = np.array([[1.0, 0.0], [0.55, 0.83], [-0.55, 0.83]])
    G = np.zeros((3, 6))
    for k, (i, j) in enumerate([(0, 1), (1, 2), (0, 2)]):
        G[k, 2 * i : 2 * i + 2], G[k, 2 * j : 2 * j + 2] = d[k], -d[k]
    J = np.zeros((4, 6))
    J[0, 1] = J[1, 0] = J[2, 3] = J[3, 2] = 1.0
    h = np.tile([0.0, -9.81e-3], 3) + 1e-18 * rng.normal(size=6)
    form = GlobalForm(M=np.eye(6), h=h, J=J, w=1e-18 * rng.normal(size=4), G=G, b=1e-18 * rng.normal(size=3))
    solution = solve(ComplementarityProblem.condensed(form, (Coulomb(0.3, dim=2),) * 2))
    assert solution.solved, solution.explain()
    assert solution.r[0] + solution.r[2] == pytest.approx(3 * 9.81e-3, rel=1e-9)


def test_joints_that_do_contradict_are_still_refused():
    G = np.array([[1.0, 0.0], [1.0, 0.0]])
    form = GlobalForm(M=np.eye(2), h=np.zeros(2), J=np.eye(2), w=np.zeros(2), G=G, b=np.array([0.0, 1e-3]))
    solution = solve(ComplementarityProblem.condensed(form, (Coulomb(0.3, dim=2),)))
    assert not solution.solved
