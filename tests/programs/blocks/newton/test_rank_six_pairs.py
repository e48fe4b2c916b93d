import numpy as np
import pytest
import scipy.sparse as sp

from gaussdyn.programs.blocks.newton.block_form import block_form
from gaussdyn.programs.blocks.newton.rank_six_pairs import skeleton, solve_pairs
from gaussdyn.programs.blocks.newton.sparse_newton import newton_space
from gaussdyn.programs.blocks.scaled import scaled
from gaussdyn.programs.laws.laws import Coulomb
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve


def stacked(bodies, skew=0.0, seed=0):
    """Boxes on one another with four contacts each: W of rank 6 per pair, unsymmetric by `skew`."""
    rng = np.random.default_rng(seed)
    J = np.zeros((12 * bodies, 6 * bodies))
    for k in range(bodies):
        for c in range(4):
            x, y = 0.5 * (-1.0) ** c + 0.02 * rng.normal(), 0.5 * (-1.0) ** (c // 2) + 0.02 * rng.normal()
            for body, z, sign in ((k, -0.5, 1.0), (k - 1, 0.5, -1.0)):
                if body < 0:
                    continue
                for i, d in enumerate(np.eye(3)[[2, 0, 1]]):
                    J[12 * k + 3 * c + i, 6 * body : 6 * body + 6] = sign * np.r_[d, np.cross([x, y, z], d)]
    inverse = np.diag(np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], bodies))
    push = inverse + skew * rng.normal(size=inverse.shape) * (np.kron(np.eye(bodies), np.ones((6, 6))))
    load = np.tile([0.01, 0.0, -0.1, 0.0, 0.0, 0.0], bodies) + 1e-3 * rng.normal(size=6 * bodies)
    return ComplementarityProblem(W=sp.csr_array(J @ push @ J.T), q=J @ load, laws=(Coulomb(0.6),) * (4 * bodies))


def test_rows_are_spanned_by_the_chosen_ones():
    rng = np.random.default_rng(1)
    for rank in range(7):
        X = rng.normal(size=(12, rank)) @ rng.normal(size=(rank, 12))
        chosen, T = np.zeros(6, dtype=np.int64), np.zeros((24, 6))
        found = skeleton(X.copy(), 12, np.zeros((6, 24)), chosen, T)
        assert found == rank
        np.testing.assert_allclose(T[:12, :rank] @ X[chosen[:rank]], X, atol=1e-12)
    assert skeleton(rng.normal(size=(12, 12)), 12, np.zeros((6, 24)), chosen, T) == -1


@pytest.mark.parametrize("skew", [0.0, 0.05])
def test_a_newton_step_of_pairs_solves_the_dense_system(skew):
    problem = stacked(6, skew)
    data, rng, n = scaled(problem), np.random.default_rng(2), 24
    form = block_form(data)
    assert len(form.pairs[5]) == 6 + 1  # one group for every box
    C = np.tile(np.eye(3), (n, 1, 1)) + 0.1 * rng.normal(size=(n, 3, 3))
    D, F = np.tile(np.eye(3), (n, 1, 1)) + 0.1 * rng.normal(size=(n, 3, 3)), rng.normal(size=(n, 3))
    A = sp.block_diag(list(C)).toarray() + sp.block_diag(list(D)).toarray() @ data.dense()
    expected = np.linalg.solve(A, F.ravel())
    space = newton_space(n, form.ordering, form.pairs)._replace(C=C, D=D)
    solve_pairs(form.blocks, form.pairs, form.ordering, F, space)
    np.testing.assert_allclose(F.ravel(), expected, rtol=1e-9, atol=1e-9)


def test_groups_of_higher_rank_are_refused():
    problem = stacked(6)
    noise = sp.csr_array(problem.W * (1.0 + 1e-3 * np.random.default_rng(3).normal(size=problem.W.shape)))
    other = ComplementarityProblem(W=noise, q=problem.q, laws=problem.laws)
    assert not len(block_form(scaled(other)).pairs[2])


@pytest.mark.parametrize("skew", [0.0, 0.02])
def test_a_stack_is_solved(skew):
    assert solve(stacked(12, skew)).solved
