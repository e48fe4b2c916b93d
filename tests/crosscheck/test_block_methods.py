"""Every method against every other, and against trying all bases, on problems that each of them can solve."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies, lcp_solutions
from evidence import examples, first

from gaussdyn.programs.blocks.gauss_fixed_point import GaussFixedPoint
from gaussdyn.programs.blocks.gauss_seidel.gauss_seidel import GaussSeidel
from gaussdyn.programs.blocks.interior_point.interior_point import InteriorPoint
from gaussdyn.programs.blocks.lemke.lemke import Lemke
from gaussdyn.programs.blocks.proximal_newton import ProximalNewton
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import LinearComplementarity
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solve import solve

ALL = [GaussSeidel(), ProximalNewton(), InteriorPoint(), GaussFixedPoint()]


@pytest.mark.parametrize("method", [*ALL, Lemke()], ids=lambda m: m.name)
@pytest.mark.parametrize("seed", first(2, range(6)))
def test_planar_contacts(method, seed):
    problem = bodies([Coulomb(0.3, dim=2), Unilateral(), Coulomb(0.2, dim=2)], seed, freedoms=30)
    answer = method.solve(problem).require()
    assert answer.method == method.name
    np.testing.assert_allclose(answer.u, solve_blocks(problem).u, atol=1e-9 * np.abs(problem.q).max())


@pytest.mark.parametrize("method", ALL, ids=lambda m: m.name)
@pytest.mark.parametrize("seed", first(2, range(6)))
def test_contacts_in_space(method, seed):
    problem = bodies([Coulomb(0.2), Unilateral(), Coulomb(0.3), Coulomb(0.0)], seed, freedoms=30)
    answer, other = method.solve(problem).require(), solve_blocks(problem).require()
    np.testing.assert_allclose(answer.u, other.u, atol=1e-9 * np.abs(problem.q).max())


@pytest.mark.parametrize("skew", [0.02, 0.1])
@pytest.mark.parametrize("method", ALL[:3], ids=lambda m: m.name)
def test_unsymmetric_delassus_matrices(method, skew):
    problem = bodies([Coulomb(0.2)] * 3, seed=1, freedoms=30, skew=skew)
    np.testing.assert_allclose(method.solve(problem).require().u, solve_blocks(problem).u, atol=1e-9)


@pytest.mark.parametrize("seed", first(2, range(5)))
def test_rolling_contacts(seed):
    problem = bodies([Rolling(0.2, 0.1)] * 3, seed, freedoms=30)
    one, two = GaussSeidel().solve(problem).require(), ProximalNewton().solve(problem).require()
    np.testing.assert_allclose(one.u, two.u, atol=1e-9)


@pytest.mark.parametrize("method", [GaussSeidel(), ProximalNewton(), InteriorPoint(), Lemke()], ids=lambda m: m.name)
def test_lcps_against_all_bases(method):
    g = np.random.default_rng(0)
    for _ in range(15):
        A = g.normal(size=(4, 4))
        lcp = LinearComplementarity(M=A @ A.T + 0.1 * np.eye(4), q=g.normal(size=4))
        (only,) = lcp_solutions(lcp.M, lcp.q)
        np.testing.assert_allclose(solve(lcp, method=method).require().x, only, atol=1e-9)


@pytest.mark.drawn
def test_answers_on_indefinite_lcps_are_true():
    """Whatever has a solution is solved, by one of those found by trying all bases; whatever has none is refuted."""
    g = np.random.default_rng(1)
    solved = 0
    for _ in range(tried := examples(120, fast=40)):
        n = int(g.integers(1, 6))
        lcp = LinearComplementarity(M=g.normal(size=(n, n)), q=g.normal(size=n))
        found, answer = lcp_solutions(lcp.M, lcp.q), solve(lcp)
        if answer.solved:
            solved += 1
            assert min(np.abs(answer.x - z).max() for z in found) < 1e-8
        else:
            assert not found
            assert answer.status in (Status.INFEASIBLE, Status.NO_SOLUTION)
            assert answer.certificate.verify()
    assert tried / 3 < solved < 0.83 * tried


def test_two_starts_may_reach_two_solutions_both_true():
    problem = bodies([Coulomb(2.5)] * 3, seed=3)
    g = np.random.default_rng(0)
    for _ in range(10):
        assert solve_blocks(problem, start=5 * g.normal(size=9)).require().audit().small()
