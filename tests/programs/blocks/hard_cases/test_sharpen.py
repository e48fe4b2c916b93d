"""Solutions by E whose rel_q or viol_u are not small yet: step sizes that differ by 1e4 hide them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from block_cases import bodies, stack

from gaussdyn.arrays import EPS
from gaussdyn.linalg.cones import project_friction_cone
from gaussdyn.programs.blocks.hard_cases.sharpen import even_blocks, sharpened
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.verify import excess, verified
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve

TOL = 1e-12


def uneven(seed, unit=10.0):
    """Four contacts whose rows are in units that differ by 1e2, so that rho differs by 1e4 (or by unit^4)."""
    problem = bodies([Coulomb(0.4)] * 4, seed, freedoms=12)
    units = np.repeat([1.0 / unit, unit, 1.0 / unit, unit], 3)
    return ComplementarityProblem(W=units[:, None] * problem.W * units, q=units * problem.q, laws=problem.laws)


def rel_q(problem, r):
    """|r - P(r - u^)| / |q| by numpy."""
    u, mu = (problem.W @ r + problem.q).reshape(-1, 3), np.array([law.mu for law in problem.laws])
    u[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    X = r.reshape(-1, 3)
    return np.linalg.norm(X - project_friction_cone(X - u, mu)) / np.linalg.norm(problem.q)


@pytest.mark.parametrize("quickly", [False, True])
def test_what_e_does_not_see_is_brought_down(quickly):
    for seed, unit, size in ((3, 1e1, 1e-12), (5, 1e1, 1e-12), (10, 1e2, 1e-8), (13, 1e2, 1e-8), (13, 1e3, 1e-8)):
        problem = uneven(seed, unit)
        noise = size * np.random.default_rng(seed).normal(size=12) * np.repeat([0.0, 1.0, 0.0, 1.0], 3)
        found = verified(problem, problem, solve(problem).require().r * (1.0 + noise), "solve")
        assert found.solved
        assert excess(found, TOL) > 1.0
        best = sharpened(found, problem, scaled(problem), TOL, time.perf_counter() + 5.0, quickly=quickly)
        assert best.solved
        assert excess(best, TOL) <= 1.0
        assert rel_q(problem, best.r) <= max(TOL, 10.0 * EPS * np.linalg.norm(best.r) / np.linalg.norm(problem.q))


def test_what_is_small_already_or_out_of_time_stays():
    problem = uneven(0)
    found = solve(problem).require()
    assert sharpened(found, problem, scaled(problem), TOL, np.inf).r is found.r
    assert excess(sharpened(found, problem, scaled(problem), 1e-30, 0.0), 1e-30) <= excess(found, 1e-30)


def test_rounding_of_the_sums_is_said_not_sought():
    """The lightest boxes of a stack have rho 1e-4 of that of the others: their u is wrong by more than rel_q may be."""
    problem = stack(3, 10, 3.0)
    answer = solve(problem)
    assert answer.solved
    bar = max(TOL, 10.0 * EPS * np.linalg.norm(answer.r) / np.linalg.norm(problem.q))
    sums = EPS * np.linalg.norm(abs(problem.W) @ abs(answer.r)) / np.linalg.norm(problem.q)
    assert ("rel_q" in answer.message) == (excess(answer, TOL) > 1.0)
    assert rel_q(problem, answer.r) <= max(bar, sums)


def test_even_blocks_have_the_same_reactions_but_for_their_units():
    problem = uneven(3)
    even, factors = even_blocks(problem)
    assert problem.rho.max() > 1e4 * problem.rho.min()
    assert ((even.rho >= 0.5) & (even.rho <= 2.0)).all()
    np.testing.assert_allclose(factors * solve(even).require().r, solve(problem).require().r, rtol=1e-9, atol=1e-15)


def test_a_small_load_on_a_heavy_block_is_found():
    """A contact of rho 1e-12 that carries 1e-9 of its data beside one of rho 1: E does not see its part of the load."""
    unit = np.repeat([1.0, 1e6], 3)
    near = bodies([Coulomb(0.4)] * 2, 5, freedoms=9)
    for q in np.random.default_rng(1).normal(size=(6, 6)):
        problem = ComplementarityProblem(W=unit[:, None] * near.W * unit, q=unit * q, laws=near.laws)
        exact = solve(ComplementarityProblem(W=near.W, q=q, laws=near.laws)).require().r
        answer = solve(problem).require()
        assert rel_q(problem, answer.r) <= max(TOL, 10.0 * EPS * np.linalg.norm(answer.r) / np.linalg.norm(problem.q))
        np.testing.assert_allclose(unit * answer.r, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())
