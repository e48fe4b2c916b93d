"""Block problems as data: what they refuse, dense and sparse alike, and the elimination of M and G."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies

from gaussdyn import solve
from gaussdyn.errors import InputError
from gaussdyn.programs.laws.laws import BilateralCoulomb, BilateralSliding, Coulomb, Dry, Rolling, Sliding, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm, LinearComplementarity


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"W": np.eye(3), "q": [1.0, np.nan, 0.0], "laws": [Coulomb(0.3)]}, "q"),
        ({"W": np.full((3, 3), np.inf), "q": np.zeros(3), "laws": [Coulomb(0.3)]}, "W"),
        ({"W": sp.csr_array(np.full((3, 3), np.nan)), "q": np.zeros(3), "laws": [Coulomb(0.3)]}, "W"),
        ({"W": np.eye(2), "q": np.zeros(3), "laws": [Coulomb(0.3)]}, "W"),
        ({"W": sp.eye_array(2), "q": np.zeros(3), "laws": [Coulomb(0.3)]}, "W"),
        ({"W": np.eye(3), "q": np.zeros(3), "laws": [Coulomb(0.3, dim=2)]}, "laws"),
        ({"W": np.eye(3), "q": np.zeros(3), "laws": [Unilateral()] * 4}, "laws"),
        ({"W": np.diag([1.0, 1.0, -0.1]), "q": np.zeros(3), "laws": [Coulomb(0.3)]}, "W"),
        ({"W": np.diag([1.0, 1, 1, 1, -1e-6]), "q": np.zeros(5), "laws": [Rolling(0.3, 0.1)]}, "W"),
        ({"W": np.eye(1), "q": [1.0], "laws": [BilateralSliding(0.1)], "W_abs": np.eye(2)}, "W_abs"),
    ],
)
def test_refusals(fields, name):
    with pytest.raises(InputError) as caught:
        ComplementarityProblem(**fields)
    assert caught.value.name == name


def test_the_block_at_fault_is_named():
    W = np.diag([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    with pytest.raises(InputError, match=r"block 1 \(Coulomb\) with eigenvalue -1"):
        ComplementarityProblem(W=W, q=np.zeros(6), laws=[Coulomb(0.3)] * 2)


@pytest.mark.parametrize("law", [Unilateral(), Sliding(0.3), BilateralSliding(0.3), Dry(0.1)])
def test_blocks_of_one_row_may_have_any_sign(law):
    assert ComplementarityProblem(W=[[-2.0]], q=[1.0], laws=[law]).rho[0] > 0.0


def test_rounding_and_antisymmetric_parts_are_not_refused():
    W = np.array([[1.0, 5.0, 0.0], [-5.0, 1.0, 0.0], [0.0, 0.0, -1e-10]])
    assert ComplementarityProblem(W=W, q=np.zeros(3), laws=[Coulomb(0.3)]).rho[0] > 0.0


def test_step_sizes_follow_their_rule():
    W = np.diag([4.0, -2.0, 0.0])
    W[0, 1] = 9.0
    rho = ComplementarityProblem(W=W, q=np.zeros(3), laws=[Unilateral()] * 3).rho
    np.testing.assert_allclose(rho, [1 / 4, 1 / 2, 1 / 2])  # top eigenvalue, size, mean of the sizes 4, 2, 0
    assert ComplementarityProblem(W=np.zeros((1, 1)), q=[0.0], laws=[Unilateral()]).rho[0] == 1.0


def test_block_spectra_agree_with_lapack():
    problem = bodies([Coulomb(0.3), Rolling(0.3, 0.1), Coulomb(0.2, dim=2), Unilateral()], seed=3, skew=0.3)
    for k, (low, high, size) in enumerate(problem.rows.spectra):
        s = slice(*problem.table.start[k : k + 2])
        D = problem.W[s, s]
        values = np.linalg.eigvalsh((D + D.T) / 2)
        np.testing.assert_allclose(
            [low, high, size], [values[0], values[-1], np.linalg.norm(D)], rtol=1e-12, atol=1e-13
        )
        d = len(D)
        np.testing.assert_array_equal(problem.rows.D[k, :d, :d], D)


def test_sparse_and_dense_are_the_same_problem():
    dense = bodies([Coulomb(0.3)] * 5, seed=4)
    sparse = ComplementarityProblem(W=sp.coo_array(dense.W), q=dense.q, laws=dense.laws)
    r = np.random.default_rng(0).normal(size=15)
    np.testing.assert_allclose(sparse.motion(r), dense.motion(r), rtol=1e-13)
    np.testing.assert_allclose(sparse.rho, dense.rho, rtol=1e-14)


def random_form(seed, n=8, p=2, m=6, sparse=False):
    g = np.random.default_rng(seed)
    A = g.normal(size=(n, n))
    M, G, J = A @ A.T + np.eye(n), g.normal(size=(p, n)), g.normal(size=(m, n))
    kind = sp.csr_array if sparse else np.asarray
    return GlobalForm(M=kind(M), h=g.normal(size=n), J=kind(J), w=g.normal(size=m), G=kind(G), b=g.normal(size=p))


def test_a_sparse_matrix_may_be_a_view_of_other_arrays():
    problem = bodies([Coulomb(0.5), Unilateral()] * 3, 4)
    whole = sp.csr_array(problem.W)
    data, indices = np.zeros(2 * whole.nnz), np.zeros(2 * whole.nnz, dtype=np.int64)
    data[::2], indices[::2] = whole.data, whole.indices
    view = sp.csr_array((data[::2], indices[::2], whole.indptr), shape=whole.shape)
    assert not view.data.flags.c_contiguous
    same = ComplementarityProblem(W=view, q=problem.q, laws=problem.laws)
    np.testing.assert_array_equal(solve(same).r, solve(problem).r)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("p", [0, 2])
def test_condensing_is_the_saddle_point_solution(sparse, p):
    form = random_form(5, p=p, sparse=sparse)
    problem = ComplementarityProblem.condensed(form, [Coulomb(0.3)] * 2)
    M, G, J = (X.toarray() if sp.issparse(X) else X for X in (form.M, form.G, form.J))
    r = np.random.default_rng(1).normal(size=6)
    K = np.block([[M, -G.T], [G, np.zeros((p, p))]])
    x, lam = np.split(np.linalg.solve(K, np.r_[form.h + J.T @ r, form.b]), [8])
    np.testing.assert_allclose(problem.motion(r), J @ x + form.w, rtol=1e-10, atol=1e-10)
    got, multipliers = problem.recover(r)
    np.testing.assert_allclose(got, x, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(multipliers, lam, rtol=1e-9, atol=1e-10)


def test_redundant_bilateral_rows_do_no_harm():
    form = random_form(6)
    G, b = np.vstack([form.G, form.G[0] + form.G[1]]), np.r_[form.b, form.b.sum()]
    more = GlobalForm(M=form.M, h=form.h, J=form.J, w=form.w, G=G, b=b)
    one, two = (ComplementarityProblem.condensed(f, [Coulomb(0.3)] * 2) for f in (form, more))
    np.testing.assert_allclose(one.W, two.W, atol=1e-10)
    np.testing.assert_allclose(one.q, two.q, atol=1e-10)
    x, lam = two.recover(np.ones(6))
    np.testing.assert_allclose(G @ x, b, atol=1e-10)
    null = np.array([1.0, 1.0, -1.0])
    assert abs(lam @ null) < 1e-9  # of minimum norm


def test_bodies_make_a_sparse_delassus_matrix():
    """Three free bodies, six rows that touch the first and the last: W knows nothing of the middle one."""
    g = np.random.default_rng(7)
    blocks = [A @ A.T + np.eye(3) for A in g.normal(size=(3, 3, 3))]
    J = np.zeros((6, 9))
    J[:3, :3], J[3:, 6:] = g.normal(size=(3, 3)), g.normal(size=(3, 3))
    form = GlobalForm(M=sp.block_diag(blocks), h=g.normal(size=9), J=sp.csr_array(J), w=np.zeros(6))
    problem = ComplementarityProblem.condensed(form, [Coulomb(0.3)] * 2)
    assert sp.issparse(problem.W)
    assert problem.W.nnz == 18
    np.testing.assert_allclose(problem.W.toarray(), J @ np.linalg.inv(form.M.toarray()) @ J.T, atol=1e-12)


def long_chain(n, bad):
    """A tridiagonal stiffness-like matrix, too large for one body; `bad` gets a negative diagonal."""
    diagonal = np.full(n, 2.0)
    diagonal[bad] = -3.0
    return sp.diags_array([-np.ones(n - 1), diagonal, -np.ones(n - 1)], offsets=[-1, 0, 1])


@pytest.mark.parametrize(
    ("M", "coordinate"),
    [
        (np.zeros((2, 2)), 0),
        (sp.csr_array((2, 2)), 0),
        (np.diag([1.0, -1.0, 1.0]), 1),
        (sp.diags_array([1.0, 1.0, -1.0]), 2),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), 1),
        (long_chain(100, 50), 50),
    ],
    ids=["zero", "zero sparse", "negative", "negative sparse", "indefinite", "mesh"],
)
def test_a_mass_matrix_that_is_not_positive_definite_is_refused_by_coordinate(M, coordinate):
    n = M.shape[0]
    form = GlobalForm(M=M, h=np.ones(n), J=np.eye(n)[:2], w=np.zeros(2))
    with pytest.raises(InputError, match=f"not positive definite at coordinate {coordinate}") as caught:
        ComplementarityProblem.condensed(form, [Coulomb(0.3, dim=2)])
    assert caught.value.name == "M"


def test_a_mesh_is_factored_as_a_whole():
    n = 100
    M = sp.diags_array([-np.ones(n - 1), np.full(n, 3.0), -np.ones(n - 1)], offsets=[-1, 0, 1])
    form = GlobalForm(M=M, h=np.ones(n), J=sp.eye_array(n).tocsr()[:4], w=np.zeros(4))
    problem = ComplementarityProblem.condensed(form, [Coulomb(0.3, dim=2)] * 2)
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    np.testing.assert_allclose(W, np.linalg.inv(M.toarray())[:4, :4], rtol=1e-12)


def test_an_unsymmetric_mass_matrix_is_used_as_it_is():
    M = np.array([[2.0, 1.0], [-1.0, 2.0]])
    form = GlobalForm(M=M, h=[1.0, 0.0], J=np.eye(2), w=[0.0, 0.0])
    problem = ComplementarityProblem.condensed(form, [Coulomb(0.3, dim=2)])
    np.testing.assert_allclose(problem.W, np.linalg.inv(M), rtol=1e-14)


def test_sliding_directions_enter_through_B_and_B_abs():
    form = GlobalForm(M=np.eye(2), h=[0.0, -1.0], J=[[0.0, 1.0]], w=[0.0], B=[[0.3], [1.0]], B_abs=[[0.2], [0.1]])
    problem = ComplementarityProblem.condensed(form, [BilateralSliding(0.3)])
    np.testing.assert_allclose(problem.motion(np.array([-2.0])), [-1.0 - 2.0 + 0.2])
    x, _ = problem.recover(np.array([-2.0]))
    np.testing.assert_allclose(x, [-0.6 + 0.4, -1.0 - 2.0 + 0.2])


def test_an_lcp_is_a_problem_of_unilateral_blocks():
    blocks = LinearComplementarity(M=[[2.0, 1.0], [1.0, 2.0]], q=[-5.0, -6.0]).blocks()
    assert [type(law) for law in blocks.laws] == [Unilateral, Unilateral]
    with pytest.raises(InputError):
        LinearComplementarity(M=[[1.0, 2.0]], q=[1.0])
    assert BilateralCoulomb(0.1).size == 3


def test_a_small_mass_is_not_handed_to_a_routine_that_wakes_threads(monkeypatch):
    # dgetrs starts the threads of OpenBLAS at any size: 2 ms for three unknowns where the solve takes 10 us
    from gaussdyn.programs.problems import condensation as condense

    def threaded(*args):
        raise AssertionError("dgetrs for a small system")

    monkeypatch.setattr(condense, "dgetrs", threaded)
    mass = np.diag([2.0, 4.0, 5.0])
    found = condense.Elimination(mass, np.zeros((0, 3)), np.zeros(0)).motion(np.array([2.0, 4.0, 10.0]))[0]
    np.testing.assert_allclose(found, [1.0, 1.0, 2.0], rtol=1e-15)


def test_blocks_of_rank_one_are_taken():
    """A contact of a body on a hinge: all its rows are of one velocity."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        a = rng.normal(size=3)
        ComplementarityProblem(W=np.outer(a, a), q=rng.normal(size=3), laws=[Coulomb(0.4)])
    with pytest.raises(InputError, match="positive semidefinite"):
        ComplementarityProblem(W=np.outer(a, a) - 1e-6 * np.eye(3), q=a, laws=[Coulomb(0.4)])


def test_classes_derived_from_a_problem_make_values_of_their_own():
    class Named(ComplementarityProblem):
        """With a dictionary of its own."""

    class Plain(ComplementarityProblem):
        """With no more than a problem has."""

        __slots__ = ()

    for cls in (Named, Plain):
        problem = cls(W=np.eye(3), q=[-1.0, 0.5, 0.0], laws=[Coulomb(0.3)])
        assert type(problem) is cls
        assert type(replace(problem, q=[1.0, 0.0, 0.0])) is cls
        np.testing.assert_allclose(solve(problem).r, [1.0, -0.3, 0.0], atol=1e-12)
        with pytest.raises(FrozenInstanceError):
            problem.q = np.zeros(3)
