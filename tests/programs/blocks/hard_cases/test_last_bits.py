"""Very large friction at a sticking contact: the slip must vanish to the last bit."""

import numpy as np
import pytest
from block_cases import bodies
from evidence import first

from gaussdyn.programs.blocks.hard_cases.last_bits import settled
from gaussdyn.programs.laws.laws import Coulomb, Rolling
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 5))])
def test_the_slip_never_grows_and_reactions_change_by_bits_only(seed):
    problem = bodies([Coulomb(1e6), *[Coulomb(0.4)] * 3], seed, freedoms=12)
    r = solve(problem, effort=0.0).r * (1.0 + 1e-15)
    x = settled(problem, r)
    before = np.abs(np.asarray(problem.W) @ r + problem.q)[1:3].max()
    if 2e-6 * r[0] > np.linalg.norm(r[1:3]) / 1e6:
        assert np.abs(problem.motion(x)[1:3]).max() <= max(np.abs(problem.motion(r)[1:3]).max(), before)
    np.testing.assert_allclose(x, r, rtol=1e-7, atol=1e-7 * np.abs(r).max())


def test_nothing_is_done_without_large_friction():
    problem = bodies([Coulomb(0.5)] * 3, 1)
    r = np.ones(9)
    assert settled(problem, r) is r


def test_most_are_solved():
    """One contact of each with mu = 1e6, random friction else; a last bit that cannot be had is said, not claimed."""
    solved = 0
    for seed in range(10):
        g = np.random.default_rng(seed)
        problem = bodies([Coulomb(1e6), *(Coulomb(x) for x in g.uniform(0.0, 1.0, 3))], seed, freedoms=12)
        answer = solve(ComplementarityProblem(W=problem.W, q=problem.q, laws=problem.laws), effort=0.03)
        solved += answer.solved
        assert answer.solved == answer.residuals.small()
    assert solved >= 8


def dense_slip(problem, r, rows):
    """The motion of some rows in two orders: a product with the full matrix, and sums from the left, term by term."""
    W, left = np.asarray(problem.W), np.zeros(len(rows))
    for j in range(len(r)):
        left = left + W[rows, j] * r[j]
    return max(np.abs((W @ r + problem.q)[rows]).max(), np.abs(left + problem.q[rows]).max())


def test_they_are_still_in_either_order_of_summation():
    still = 0
    for seed in (5, 6, 8, 11):  # where that contact sticks
        problem = bodies([Coulomb(1e6), *[Coulomb(0.4)] * 3], seed, freedoms=12)
        r = solve(problem, effort=0.03).require().r
        assert 1e-3 * np.linalg.norm(r[1:3]) < r[0]
        still += dense_slip(problem, r, np.array([1, 2])) <= 1e-18 * np.linalg.norm(problem.q)
    assert still >= 3


@pytest.mark.parametrize(
    ("law", "rows"), first(1, [(Rolling(1e6, 0.1), [1, 2]), (Rolling(0.3, 1e6), [3, 4])]), ids=repr
)
def test_rolling_blocks_that_may_not_slide_or_roll_are_settled_too(law, rows):
    problems = [bodies([law, Coulomb(0.4), Coulomb(0.2)], seed, freedoms=12) for seed in range(6)]
    answers = [solve(problem) for problem in problems]
    assert all(answer.residuals.E <= 1e-10 for answer in answers)
    still, solved = 0, [pair for pair in zip(problems, answers, strict=True) if pair[1].solved]
    assert len(solved) >= 4  # which ones are left at 1e-11 depends on how a processor sums
    for problem, answer in solved:
        x = settled(problem, answer.r * (1.0 + 1e-15))
        np.testing.assert_allclose(x, answer.r, rtol=1e-7, atol=1e-7 * np.abs(x).max())
        still += dense_slip(problem, answer.r, np.array(rows)) <= 1e-18 * np.linalg.norm(problem.q)
    assert still >= 3
