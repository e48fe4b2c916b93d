"""The hard tail: stacks with mass ratios, and rows that depend on each other but for their last digits."""

from pathlib import Path

import numpy as np
import pytest
from block_cases import bodies, coulomb_residual

from gaussdyn.programs.backends.last_digits import LastDigits
from gaussdyn.programs.backends.patient import PatientNewton
from gaussdyn.programs.backends.scaled import scaled
from gaussdyn.programs.complementarity import ComplementarityProblem
from gaussdyn.programs.laws import Coulomb, Unilateral
from gaussdyn.programs.solve import solve

DATA = Path(__file__).parents[1] / "data"


def stack(n, seed, ratio):
    """n boxes on each other by four corners, masses 10^(-ratio..ratio), any friction and motion."""
    g = np.random.default_rng(seed)
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    frame = np.eye(3)[[2, 0, 1]]
    H = np.zeros((n, 4, 3, n, 6))
    for k in range(n):
        for body, z, sign in ((k, -0.5, 1.0), (k - 1, 0.5, -1.0)):
            for c, (x, y) in enumerate(corners):
                if body >= 0:
                    turn = np.cross(np.eye(3), np.array([x, y, z]))
                    H[k, c, :, body] = sign * np.hstack([frame, -frame @ turn])
    H = H.reshape(12 * n, 6 * n)
    inverse = np.outer(10.0 ** g.uniform(-ratio, ratio, n), [1, 1, 1, 6, 6, 6]).ravel()
    q, mu = H @ g.normal(size=6 * n), g.uniform(0.0, 1.5, 4 * n)
    return ComplementarityProblem(W=(H * inverse) @ H.T, q=q, laws=[Coulomb(x) for x in mu])


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
    found = [PatientNewton(draws=3, tol=1e-30, seconds=1.0).improve(data, start)[0] for _ in range(2)]
    np.testing.assert_array_equal(*found)
    assert data.residual(found[0]) <= min(1e-14, data.residual(start))


def test_no_course_is_begun_when_time_is_up():
    data, start = scaled(bodies([Coulomb(0.5)] * 5, 3)), np.ones(15)
    r, steps = PatientNewton(seconds=0.0).improve(data, start)
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
