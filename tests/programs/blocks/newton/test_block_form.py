"""Many contacts by compiled block Newton steps, and a few in one compiled call: against dense independent formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, box, coulomb_residual

from gaussdyn.programs.blocks.newton.block_form import block_form
from gaussdyn.programs.blocks.proximal_newton import ProximalNewton
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.blocks.small.few_blocks import few_blocks
from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import BilateralCoulomb, Coulomb, Dry, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm


def tower(count, seed, dim=3):
    """Random light contacts between neighbours in a tower of bodies that stands on the ground."""
    g = np.random.default_rng(seed)
    J = np.zeros((2 * dim * count, 6 * count))
    for k in range(count):
        rows = slice(2 * dim * k, 2 * dim * (k + 1))
        J[rows, 6 * k : 6 * k + 6] = g.normal(size=(2 * dim, 6))
        if k:
            J[rows, 6 * k - 6 : 6 * k] = -g.normal(size=(2 * dim, 6))
    free = g.normal(size=6 * count)
    form = GlobalForm(M=sp.eye_array(6 * count, format="csr"), h=free, J=sp.csr_array(J), w=np.zeros(len(J)))
    return ComplementarityProblem.condensed(form, [Coulomb(0.4, dim=dim)] * (2 * count))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_newton_by_blocks_meets_the_independent_residual(dim, seed):
    problem = tower(12, seed, dim)
    assert block_form(scaled(problem)) is not None
    answer = ProximalNewton().solve(problem)
    W, mu = problem.W.toarray(), np.full(len(problem.laws), 0.4)
    assert coulomb_residual(W, problem.q, mu, answer.r, dim) <= 1e-12
    assert answer.solved


def test_blocks_of_different_sizes_and_laws():
    rng = np.random.default_rng(3)
    laws = ([Coulomb(0.3), Unilateral(), Coulomb(0.6, dim=2), BilateralCoulomb(0.2), Dry(0.1)] * 5)[:24]
    problem = bodies(laws, 3, freedoms=60)
    assert block_form(scaled(problem)) is not None
    answer = solve_blocks(problem).require()
    order = rng.permutation(len(laws))
    rows = np.concatenate([np.arange(problem.table.start[k], problem.table.start[k + 1]) for k in order])
    other = ComplementarityProblem(W=problem.W[np.ix_(rows, rows)], q=problem.q[rows], laws=[laws[k] for k in order])
    np.testing.assert_allclose(solve_blocks(other).require().u, answer.u[rows], atol=1e-9 * np.linalg.norm(problem.q))


def test_permuted_contacts_of_a_tower():
    problem = tower(12, 1)
    order = np.random.default_rng(0).permutation(len(problem.laws))
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    W = problem.W.toarray()
    other = ComplementarityProblem(W=sp.csr_array(W[np.ix_(rows, rows)]), q=problem.q[rows], laws=problem.laws)
    u, v = solve_blocks(problem).require().u, solve_blocks(other).require().u
    np.testing.assert_allclose(v, u[rows], atol=1e-10 * np.linalg.norm(problem.q))


@pytest.mark.parametrize("twist", [[0, 0, -1, 0, 0, 0], [1, 0.3, -0.1, 0, 0, 0.2], [0.2, 0, -0.1, 0, 3, 0]])
def test_a_few_contacts_in_one_call(twist):
    problem = box(twist)
    quick = few_blocks(problem, problem, 1e-12)[0]
    assert quick is not None
    W = np.asarray(problem.W)
    assert coulomb_residual(W, problem.q, [0.5] * 4, quick.r, 3) <= 1e-12
    assert quick.solved


def test_what_the_quick_call_leaves_alone():
    dry = bodies([Dry(0.4), Coulomb(0.3)], 0)
    assert few_blocks(dry, dry, 1e-12)[0] is None
    many = bodies([Coulomb(0.3)] * 13, 0)
    assert few_blocks(many, many, 1e-12)[0] is None


def test_uniqueness_is_found_out_when_asked():
    answer = solve_blocks(box([0, 0, -1, 0, 0, 0])).require()
    assert answer.r_unique is False
    independent = solve_blocks(bodies([Coulomb(0.01)] * 2, 1, freedoms=12)).require()
    assert (independent.u_unique, independent.r_unique) == tuple(independent.unique)
    assert "SOLVED" in repr(answer)
    assert "blocks=4" in repr(answer)
