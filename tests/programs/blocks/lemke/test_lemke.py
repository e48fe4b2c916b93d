"""Lemke's method: every basis tried by hand, rays, degenerate and cycling-prone problems, planar friction."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies, lcp_solutions

from gaussdyn.errors import InputError
from gaussdyn.programs.blocks.lemke.lemke import Lemke
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import LinearComplementarity
from gaussdyn.programs.solution.status import Status


def test_positive_definite_problems_have_the_one_solution():
    g = np.random.default_rng(0)
    for _ in range(60):
        n = int(g.integers(1, 7))
        A = g.normal(size=(n, n))
        M, q = A @ A.T + 0.1 * np.eye(n), g.normal(size=n)
        answer = Lemke().solve(LinearComplementarity(M=M, q=q))
        assert answer.solved
        (only,) = lcp_solutions(M, q)
        np.testing.assert_allclose(answer.x, only, atol=1e-9)
        np.testing.assert_allclose(answer.u, M @ only + q, atol=1e-9)


def test_p_matrices_that_are_not_symmetric():
    g = np.random.default_rng(1)
    for _ in range(60):
        n = int(g.integers(2, 7))
        M = np.triu(g.uniform(-2, 2, size=(n, n)), 1) + np.diag(g.uniform(0.5, 2, n))
        q = g.normal(size=n)
        (only,) = lcp_solutions(M, q)
        np.testing.assert_allclose(Lemke().solve(LinearComplementarity(M=M, q=q)).require().x, only, atol=1e-9)


def test_answers_on_arbitrary_matrices_are_solutions():
    g = np.random.default_rng(2)
    solved = 0
    for _ in range(150):
        n = int(g.integers(2, 6))
        M, q = g.normal(size=(n, n)), g.normal(size=n)
        answer = Lemke().solve(LinearComplementarity(M=M, q=q))
        found = lcp_solutions(M, q)
        if answer.solved:
            solved += 1
            assert min(np.abs(answer.x - z).max() for z in found) < 1e-8
    assert solved > 50


@pytest.mark.parametrize("n", [2, 6, 12])
def test_murty_s_exponential_matrices(n):
    M = np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1)
    answer = Lemke().solve(LinearComplementarity(M=M, q=-np.ones(n))).require()
    np.testing.assert_allclose(answer.x, np.r_[np.zeros(n - 1), 1.0], atol=1e-12)


def test_a_ray_is_reported_and_proves_nothing():
    answer = Lemke().solve(LinearComplementarity(M=[[-1.0]], q=[-1.0]))
    assert answer.status is Status.UNDECIDED
    assert "ray" in answer.message
    path = Lemke().path(np.array([[-1.0]]), np.array([-1.0]))
    assert path.ray is not None
    np.testing.assert_allclose(path.ray, [1.0])


def test_the_ray_runs_to_infinity():
    """Along it w - M z - cover z0 = q stays satisfied and complementary."""
    M, q = np.array([[0.0, -1.0], [-1.0, 0.0]]), np.array([-1.0, -1.0])
    path = Lemke().path(M, q)
    assert path.ray is not None
    assert path.ray.min() >= 0.0
    assert path.ray.max() > 0.0
    assert path.ray @ M @ path.ray <= 1e-12  # a ray needs d.M d <= 0


@pytest.mark.parametrize("copies", [2, 3])
def test_duplicated_rows_do_not_make_it_cycle(copies):
    M = np.tile([[2.0, 1.0], [1.0, 2.0]], (copies, copies))
    q = np.tile([-5.0, -6.0], copies)
    answer = Lemke().solve(LinearComplementarity(M=M, q=q)).require()
    np.testing.assert_allclose(answer.x.reshape(copies, 2).sum(axis=0), [4 / 3, 7 / 3], atol=1e-12)


def test_nothing_to_do():
    assert Lemke().solve(LinearComplementarity(M=np.zeros((0, 0)), q=[])).solved
    assert Lemke().solve(LinearComplementarity(M=-np.eye(2), q=[1.0, 2.0])).x.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(8))
def test_planar_friction_is_an_lcp(seed):
    problem = bodies([Coulomb(0.4, dim=2), Unilateral(), Coulomb(0.2, dim=2), Dry(0.3)], seed, freedoms=8)
    answer, other = Lemke().solve(problem).require(), solve_blocks(problem).require()
    np.testing.assert_allclose(answer.u, other.u, atol=1e-9)


@pytest.mark.parametrize("law", [Coulomb(0.3), Coulomb(0.3, 0.4, dim=2), Rolling(0.3, 0.1), Dry(0.2, dim=2)])
def test_other_laws_are_refused(law):
    with pytest.raises(InputError, match="Faceted"):
        Lemke().solve(bodies([law], seed=0))


def test_settings_are_printed():
    assert repr(Lemke(pivots=5)) == "Lemke(pivots=5, tol=1e-12)"
