"""Coulomb friction as a sequence of convex Gauss programs."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies, box

from gaussdyn.errors import InputError
from gaussdyn.programs.blocks.gauss_fixed_point import GaussFixedPoint
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Associated, BilateralCoulomb, Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_the_direct_methods(seed):
    laws = [Coulomb(0.3), Unilateral(), Coulomb(0.4, dim=2), Dry(0.2)]
    problem = bodies(laws, seed, freedoms=12)
    np.testing.assert_allclose(
        GaussFixedPoint().solve(problem).require().u, solve_blocks(problem).require().u, atol=1e-9
    )


def test_redundant_contacts():
    problem = box([1.0, 0.2, -1.0, 0.0, 0.0, 0.0])  # with spin, u would depend on how the load is shared
    np.testing.assert_allclose(
        GaussFixedPoint().solve(problem).require().u, solve_blocks(problem).require().u, atol=1e-10
    )


def test_each_pass_is_the_minimum_of_a_gauss_functional():
    """One pass with s = 0 is the associated problem; its answer beats every other admissible reaction."""
    problem = bodies([Coulomb(0.4)] * 2, seed=3, freedoms=8)
    relaxed = ComplementarityProblem(W=problem.W, q=problem.q, laws=[Associated(0.4)] * 2)
    r = solve_blocks(relaxed).require().r

    def gauss(x):
        return 0.5 * x @ problem.W @ x + problem.q @ x

    g = np.random.default_rng(0)
    others = [problem.table.project(r + s * g.normal(size=6)) for s in (1e-3, 0.1, 1.0) for _ in range(100)]
    assert min(gauss(x) for x in others) >= gauss(r) - 1e-12


def test_sticking_needs_one_pass():
    answer = GaussFixedPoint().solve(box([0.1, 0.0, -1.0, 0.0, 0.0, 0.0])).require()
    assert answer.iterations <= 2


@pytest.mark.parametrize("law", [BilateralCoulomb(0.3), Rolling(0.3, 0.1), Coulomb(0.3, 0.4), Dry(0.1, 0.2)])
def test_laws_that_are_not_convex_when_frozen_are_refused(law):
    with pytest.raises(InputError, match="convex"):
        GaussFixedPoint().solve(bodies([law], seed=0))


def test_it_stops_at_its_limit():
    problem = box([1.0, 0.2, -1.0, 0.4, 0.0, 0.3], mu=0.9)
    assert GaussFixedPoint(passes=2).solve(problem).iterations <= 2
