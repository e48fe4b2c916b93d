"""Many contacts from the last step's reactions: the independent residual, refusals, and the form that is kept."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, coulomb_residual

from gaussdyn.programs.blocks.many_blocks import many_blocks
from gaussdyn.programs.blocks.newton.block_form import comes_by_blocks, prepared
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Dry, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.work import Work

MU = 0.4


def stack(count, seed):
    """Bodies in a row, neighbours joined by two light contacts each."""
    g = np.random.default_rng(seed)
    J = np.zeros((6 * count, 6 * count))
    for k in range(count):
        J[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = g.normal(size=(6, 6))
        if k:
            J[6 * k : 6 * k + 6, 6 * k - 6 : 6 * k] = -g.normal(size=(6, 6))
    W = sp.csr_array(J @ J.T * (np.abs(J) @ np.abs(J).T > 0))
    return ComplementarityProblem(W=W, q=J @ g.normal(size=6 * count), laws=(Coulomb(MU),) * (2 * count))


def changed(problem, size, seed):
    """The same problem with a change of q of the given relative size that the bodies can make."""
    shift = problem.W @ np.random.default_rng(seed).normal(size=len(problem.q))
    q = problem.q + size * np.linalg.norm(problem.q) / np.linalg.norm(shift) * shift
    return ComplementarityProblem(W=problem.W, q=q, laws=problem.laws)


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_from_the_last_reactions_the_independent_residual_is_met(size, seed):
    problem = stack(15, seed)
    last = solve_blocks(problem).require()
    other = changed(problem, size, seed)
    warm = solve_blocks(other, start=last.r).require()
    assert coulomb_residual(other.W.toarray(), other.q, [MU] * len(other.laws), warm.r, 3) <= 1e-12
    np.testing.assert_allclose(warm.u, solve_blocks(other).u, atol=1e-8 * np.linalg.norm(other.q))


def test_a_small_change_takes_a_few_steps():
    problem = stack(15, 1)
    swept = solve_blocks(problem).require().r
    other = changed(problem, 1e-4, 1)
    warm, _ = many_blocks(other, other, swept, True, 1e-12, Work())
    assert warm is not None
    assert warm.solved
    assert warm.iterations <= 5


def test_nonsense_to_begin_with_does_no_harm():
    problem = stack(15, 2)
    start = 1e6 * np.random.default_rng(0).normal(size=len(problem.q))
    found, _ = many_blocks(problem, problem, start, True, 1e-12, Work())
    assert found is not None
    assert np.isfinite(found.r).all()
    assert solve_blocks(problem, start=start).require().residuals.E <= 1e-12


def test_units_of_the_laws_are_scaled():
    laws = [Coulomb(0.3), Dry(0.2), Unilateral(), Coulomb(0.5)] * 6
    problem = bodies(laws, 4, freedoms=70)
    last = solve_blocks(problem).require()
    unit = 1e4  # of mass
    dry = [Dry(0.2 * unit) if isinstance(law, Dry) else law for law in laws]
    heavy = ComplementarityProblem(W=problem.W / unit, q=problem.q, laws=dry)
    answer = solve_blocks(heavy, start=unit * last.r).require()
    np.testing.assert_allclose(answer.u, last.u, atol=1e-9 * np.linalg.norm(problem.q))


def test_the_kept_form_is_that_of_the_same_matrix_only():
    problem = stack(15, 0)
    assert comes_by_blocks(problem)
    first = prepared(problem, False)
    assert prepared(changed(problem, 1e-3, 0), True) is first
    assert prepared(problem, False) is not first
    problem.W.data[0] *= 1.0 + 1e-12  # in place
    again = prepared(ComplementarityProblem(W=problem.W, q=problem.q, laws=problem.laws), True)
    assert again is not first
    assert not np.array_equal(again.rows[0], first.rows[0])


def test_what_does_not_come_by_blocks():
    assert not comes_by_blocks(bodies([Unilateral()] * 40, 0, freedoms=50))
    assert not comes_by_blocks(bodies([Coulomb(0.3)] * 4, 0))
