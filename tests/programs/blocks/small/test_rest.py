"""A few contacts that friction just holds: reactions by the formula of a sliding block, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, box, coulomb_residual

from gaussdyn.programs.blocks.small.few_blocks import few_blocks
from gaussdyn.programs.blocks.small.rest import closed_rows, independent_rows, nearest_rest, rest_from
from gaussdyn.programs.blocks.verify import loose
from gaussdyn.programs.laws.laws import Coulomb, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem

MU = 0.5


@pytest.mark.parametrize("angle", [0.0, 0.3, np.arctan(4 / 3), 2.0, -1.1])
def test_a_box_pushed_exactly_as_hard_as_friction_allows(angle):
    problem = box([MU * np.cos(angle), MU * np.sin(angle), -1, 0, 0, 0])
    answer = few_blocks(problem, problem, 1e-12)[0]
    assert answer is not None
    assert answer.solved
    assert answer.iterations <= 12
    r = answer.r.reshape(-1, 3)
    assert coulomb_residual(np.asarray(problem.W), problem.q, [MU] * 4, answer.r, 3) <= 1e-12
    np.testing.assert_allclose(np.hypot(r[:, 1], r[:, 2]), MU * r[:, 0], atol=1e-8 * np.abs(r).max())
    assert np.linalg.norm(answer.u) <= 1e-11 * np.linalg.norm(problem.q)


def rest(problem, r, near=-1.0):
    n = len(r)
    x = r.copy()
    work = np.zeros(2 * n, dtype=np.int64), np.zeros((4, n)), np.zeros(2 * n * n)
    table = (problem.table.code, problem.table.start, problem.table.P)
    return rest_from(np.ascontiguousarray(problem.W), problem.q, table, x, near, *work), x


def test_friction_is_shared_in_proportion_to_the_load():
    problem = box([0.2, 0.1, -1, 0, 0, 0])
    scale = np.abs(np.diag(problem.W)).mean()
    r = np.tile([1.0, 0.0, 0.0], 4) / scale
    for _ in range(3):
        held, r = rest(problem, r)
        assert held
    np.testing.assert_allclose(problem.W @ r + problem.q, 0.0, atol=1e-11 * np.linalg.norm(problem.q))
    load = r.reshape(-1, 3)
    np.testing.assert_allclose(load[:, 1] / load[:, 0], load[0, 1] / load[0, 0], rtol=1e-6)


def test_nothing_rests_without_load_or_under_other_laws():
    problem = box([0, 0, -1, 0, 0, 0])
    held, r = rest(problem, np.zeros(12))
    assert not held
    assert not r.any()
    mixed = bodies([Coulomb(0.3), Unilateral()], 0)
    table = (mixed.table.code, mixed.table.start, mixed.table.P)
    W, place = np.ascontiguousarray(mixed.W), np.zeros(4, dtype=np.int64)
    assert closed_rows(W, mixed.q, table, np.ones(4), 0.0, place, np.zeros(4), np.zeros(4)) == 0


@pytest.mark.parametrize("mu", [0.4, 1.0, 1.8])
@pytest.mark.parametrize("over", [0.0, 1e-9, 1e-3])
def test_a_heavy_box_at_the_limit_or_just_beyond(mu, over):
    """By Newton's law: rest at the limit, beyond it the acceleration `over` mu g along the push; nothing is loose."""
    made = box([mu * (1.0 + over) * np.cos(0.7), mu * (1.0 + over) * np.sin(0.7), -1, 0, 0, 0], mu, (0.3, 0.7, 0.2))
    problem = ComplementarityProblem(W=np.asarray(made.W) / 500.0, q=made.q, laws=made.laws)
    answer = few_blocks(problem, problem, 1e-12)[0]
    assert answer is not None
    assert answer.solved
    assert not loose(answer, 1e-12)
    expected = np.tile([0.0, mu * over * np.cos(0.7), mu * over * np.sin(0.7)], 4)
    np.testing.assert_allclose(answer.u, expected, atol=1e-10)


def test_a_sparse_matrix_takes_the_quick_way_as_well():
    dense = box([0.3, 0.9, -1, 0.1, 0, 0.2])
    problem = ComplementarityProblem(W=sp.csr_array(dense.W), q=dense.q, laws=dense.laws)
    quick, full = few_blocks(problem, problem, 1e-12)[0], few_blocks(dense, dense, 1e-12)[0]
    assert quick is not None
    np.testing.assert_array_equal(quick.r, full.r)


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_rest_is_that_of_the_pseudoinverse(seed):
    """Of all x with W x = -q the nearest to the centre, weighted: by numpy's least squares, whatever the rank."""
    g = np.random.default_rng(seed)
    n, rank = 12, int(g.integers(1, 8))
    J = g.normal(size=(n, rank))
    W = J @ (np.eye(rank) + 0.01 * g.normal(size=(rank, rank))) @ J.T
    q, ease, centre = W @ g.normal(size=n), g.uniform(0.1, 2.0, n), g.normal(size=n)
    place, picks, A = np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(2 * n * n)
    assert independent_rows(np.ascontiguousarray(W), place, n, A, picks) == rank
    rows = picks[:rank]
    A[: rank * n] = W[rows].ravel()
    x = centre.copy()
    assert nearest_rest(A, rank, n, q[rows].copy(), ease, x, np.zeros(n))
    root = np.sqrt(ease)
    expected = centre + root * np.linalg.lstsq(W * root, -q - W @ centre, rcond=1e-9)[0]
    np.testing.assert_allclose(x, expected, atol=1e-9)


@pytest.mark.parametrize("twist", [[0.3, 0.9, -1, 0.1, 0, 0.2], [0.2, 0.1, -1, 0, 0, 0], [MU, 0, -1, 0, 0, 0]])
def test_a_few_contacts_take_the_last_reactions(twist):
    """From the solution no Newton step is needed; from those of a problem nearby the answer obeys the laws, too."""
    problem = box(twist)
    cold = few_blocks(problem, problem, 1e-12)[0]
    assert cold is not None
    again = few_blocks(problem, problem, 1e-12, cold.r)[0]
    assert again is not None
    assert again.method == "gauss_seidel"
    np.testing.assert_allclose(again.r, cold.r, atol=1e-9 * np.abs(cold.r).max())
    other = ComplementarityProblem(W=problem.W, q=problem.q * 1.001, laws=problem.laws)
    for start in (cold.r, -cold.r, 1e3 * cold.r):
        warm = few_blocks(other, other, 1e-12, start)[0]
        assert warm is not None
        assert coulomb_residual(np.asarray(problem.W), other.q, [MU] * 4, warm.r, 3) <= 1e-12
