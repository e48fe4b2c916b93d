"""The hard tail: stacks with mass ratios, and rows that depend on each other but for their last digits."""

from pathlib import Path

import numpy as np
import pytest
from block_cases import bodies, coulomb_residual, stack

from gaussdyn.programs.blocks.hard_cases.last_digits import LastDigits
from gaussdyn.programs.blocks.hard_cases.patient import PatientNewton
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.laws.laws import Coulomb, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve
from gaussdyn.programs.work import Work

DATA = Path(__file__).parents[3] / "data"


@pytest.mark.parametrize(("n", "seed", "ratio"), [(6, 4, 2.0), (3, 1, 3.0), (3, 10, 3.0)])
def test_stacks_with_mass_ratios_are_solved(n, seed, ratio):
    """There the proximal points move along one direction for long before E falls."""
    problem = stack(n, seed, ratio)
    answer = solve(problem)
    assert answer.solved
    mu = [law.mu for law in problem.laws]
    E = coulomb_residual(problem.W, problem.q, mu, answer.r, 3)
    assert max(1e-12, 1.1 * 10.0 * answer.residuals.floor) >= E


def test_draws_are_repeatable_and_never_worse_than_the_start():
    data = scaled(bodies([Coulomb(0.5)] * 5, 3))
    start = np.random.default_rng(0).normal(size=15)
    found = [PatientNewton(draws=3, tol=1e-30).improve(data, start)[0] for _ in range(2)]
    np.testing.assert_array_equal(*found)
    assert data.residual(found[0]) <= min(1e-14, data.residual(start))


def test_no_course_is_begun_when_the_work_is_spent():
    data, start = scaled(bodies([Coulomb(0.5)] * 5, 3)), np.ones(15)
    r, steps = PatientNewton().improve(data, start, Work(0.0))
    assert r is start
    assert steps == 0


def test_last_digits_where_rows_differ_by_their_last_digits():
    """The load of two contacts passes from one to the other, in rows that differ by 1e-9, until the first one opens."""
    rows = np.array([[1.0, 0.0], [1.0, 1e-9]])
    problem = ComplementarityProblem(W=rows @ rows.T, q=[-1.0, -1.0 - 1e-9], laws=[Unilateral()] * 2)
    data = scaled(problem)
    start = np.array([0.5, 0.5]) / data.unit
    assert 1e-12 < data.residual(start) <= 1e-6
    x, _ = LastDigits().improve(data, start)
    assert data.residual(x) <= 1e-12


@pytest.mark.slow
def test_a_contact_problem_of_a_step_that_only_draws_solve():
    """Corners of faces whose rows depend on each other up to 1e-11: what goes on from the start ends at E = 6e-12."""
    kept = np.load(DATA / "nearly_flat_faces.npz")
    mu = float(kept["mu"])
    problem = ComplementarityProblem(W=kept["W"], q=kept["q"], laws=[Coulomb(mu)] * (len(kept["q"]) // 3))
    assert coulomb_residual(problem.W, problem.q, [mu] * len(problem.laws), kept["r"], 3) > 1e-12
    answer = solve(problem, start=kept["r"])
    assert answer.solved
    assert coulomb_residual(problem.W, problem.q, [mu] * len(problem.laws), answer.r, 3) <= 1e-12


def test_last_digits_leave_what_is_far_from_a_solution():
    data = scaled(bodies([Coulomb(0.5)] * 5, 3))
    start = np.ones(15)
    assert LastDigits().improve(data, start)[0] is start
