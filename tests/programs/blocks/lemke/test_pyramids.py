"""The pyramid in place of the cone: exact in the plane, O(1/k^2) in the strength of friction in space."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies

from gaussdyn.errors import InputError
from gaussdyn.programs.blocks.lemke.pyramids import Faceted
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Rolling
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.status import Status

MU, PUSH = 0.5, 0.8


def strength_error(facets):
    """Worst relative error of the friction along the push, over pushes all around (W = I, exact answer mu r_N)."""
    worst = 0.0
    for angle in np.linspace(0.0, 2 * np.pi / facets, 9):
        d = np.array([np.cos(angle), np.sin(angle)])
        problem = ComplementarityProblem(W=np.eye(3), q=np.r_[-1.0, 5.0 * PUSH * d], laws=[Coulomb(MU)])
        r = Faceted(facets=facets).solve(problem).r
        worst = max(worst, abs(-r[1:] @ d / (MU * r[0]) - 1.0))
    return worst


def test_strength_of_friction_is_right_to_the_second_order():
    ks = np.array([8, 16, 32, 64])
    errors = np.array([strength_error(k) for k in ks])
    slope = np.polyfit(np.log(ks), np.log(errors), 1)[0]
    assert -2.1 < slope < -1.9
    np.testing.assert_allclose(errors, 1.0 - np.cos(np.pi / ks), rtol=1e-6)  # a slip halfway between two edges


def test_limit_of_rest_is_right_to_the_second_order():
    """A push between two edges first moves the block at mu cos(pi / k), not at mu."""
    for k in (4, 8, 16):
        d = np.array([np.cos(np.pi / k), np.sin(np.pi / k)])
        for load, moves in ((0.999, False), (1.001, True)):
            push = load * MU * np.cos(np.pi / k) * d
            problem = ComplementarityProblem(W=np.eye(3), q=np.r_[-1.0, push], laws=[Coulomb(MU)])
            u = Faceted(facets=k).solve(problem).u
            assert (np.linalg.norm(u) > 1e-9) == moves


def test_residual_against_the_cone_falls_with_the_facets():
    problem = bodies([Coulomb(0.4)] * 4, seed=1)
    exact = solve_blocks(problem).require()
    errors = []
    for k in (4, 16, 64):
        answer = Faceted(facets=k).solve(problem)
        assert answer.status is Status.UNDECIDED
        assert "pyramids of" in answer.message
        errors.append(np.abs(answer.u - exact.u).max())
    assert errors[2] < 0.3 * errors[0]


def test_exact_in_the_plane():
    problem = bodies([Coulomb(0.4, dim=2)] * 4, seed=2)
    np.testing.assert_allclose(
        Faceted(facets=4).solve(problem).require().u, solve_blocks(problem).require().u, atol=1e-10
    )


def test_refusals():
    with pytest.raises(InputError, match="pyramid"):
        Faceted().solve(bodies([Rolling(0.3, 0.1)], seed=0))
    for k in (2, 5, "8"):
        with pytest.raises(InputError, match="facets"):
            Faceted(facets=k)
