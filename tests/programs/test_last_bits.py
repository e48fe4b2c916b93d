"""Very large friction at a sticking contact: the slip must vanish to the last bit."""

import numpy as np
import pytest
from block_cases import bodies

from gaussdyn.programs.complementarity import ComplementarityProblem
from gaussdyn.programs.last_bits import settled
from gaussdyn.programs.laws import Coulomb
from gaussdyn.programs.solve import solve


@pytest.mark.parametrize("seed", [2, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 5))])
def test_the_slip_never_grows_and_reactions_change_by_bits_only(seed):
    problem = bodies([Coulomb(1e6), *[Coulomb(0.4)] * 3], seed, freedoms=12)
    r = solve(problem, seconds=0.0).r * (1.0 + 1e-15)
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
        answer = solve(ComplementarityProblem(W=problem.W, q=problem.q, laws=problem.laws), seconds=1.0)
        solved += answer.solved
        assert answer.solved == answer.residuals.small()
    assert solved >= 8
