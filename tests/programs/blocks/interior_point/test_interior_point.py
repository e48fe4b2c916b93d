"""The interior point method: cones of every kind, its finish, and how it gives up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, box, squeeze

from gaussdyn.errors import InputError
from gaussdyn.programs.blocks.interior_point.interior_point import (
    InteriorPoint,
    _arrow,
    _arrow_solve,
    _longest,
    _product,
)
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.work import Work


@pytest.mark.parametrize("seed", range(6))
def test_mixed_cones(seed):
    problem = bodies([Coulomb(0.3), Unilateral(), Coulomb(0.4, dim=2), Coulomb(0.0)], seed, freedoms=20)
    answer = InteriorPoint().solve(problem).require()
    np.testing.assert_allclose(answer.u, solve_blocks(problem).u, atol=1e-9)


def test_redundant_contacts_and_large_friction():
    for seed in range(5):
        InteriorPoint().solve(bodies([Coulomb(1.0)] * 8, seed)).require()
    assert InteriorPoint().solve(box([0.2, 0.1, -1.0, 0, 0, 0])).require().residuals.E < 1e-12


def test_large_sparse_problems():
    one = bodies([Coulomb(0.5)] * 2, seed=4)
    W = sp.block_diag([one.W] * 60)
    problem = ComplementarityProblem(W=W, q=np.tile(one.q, 60), laws=list(one.laws) * 60)
    np.testing.assert_allclose(InteriorPoint().solve(problem).require().u, np.tile(solve_blocks(one).u, 60), atol=1e-9)


def test_an_infeasible_problem_ends_unsolved_and_finite():
    answer = InteriorPoint().solve(squeeze())
    assert not answer.solved
    assert np.isfinite(answer.r).all()


def test_limits():
    problem = bodies([Coulomb(0.5)] * 6, seed=1)
    data = scaled(problem)
    assert InteriorPoint(iterations=3).improve(data, np.zeros(18))[1] == 3
    assert InteriorPoint().improve(data, np.zeros(18), Work(0.0))[1] == 0


@pytest.mark.parametrize("law", [Dry(0.1), Rolling(0.3, 0.1)])
def test_other_laws_are_refused(law):
    with pytest.raises(InputError, match="Lorentz"):
        InteriorPoint().solve(bodies([law], seed=0))


def test_jordan_algebra():
    g = np.random.default_rng(0)
    x, y = np.abs(g.normal(size=(5, 3))) + np.array([2.0, 0.0, 0.0]), g.normal(size=(5, 3))
    np.testing.assert_allclose(_product(x, y), np.einsum("nij,nj->ni", _arrow(x), y), atol=1e-14)
    np.testing.assert_allclose(_arrow_solve(x, _product(x, y)[:, :, None])[:, :, 0], y, atol=1e-12)


def test_longest_step_ends_on_the_cone():
    g = np.random.default_rng(1)
    for _ in range(50):
        x = np.r_[2.0, g.uniform(-1, 1, 2)][None]
        d = g.normal(size=(1, 3))
        t = _longest(x, d)
        if np.isfinite(t):
            end = (x + t * d)[0]
            assert abs(end[0] - np.hypot(end[1], end[2])) < 1e-9 * (1 + np.abs(end).max())
        else:
            far = (x + 1e6 * d)[0]
            assert far[0] >= np.hypot(far[1], far[2]) * (1 - 1e-9)
