"""The driver: trivial cases, statuses with proofs, uniqueness flags, warm starts, and what it must never say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from block_cases import bodies, box, guided, lcp_solutions, squeeze

from gaussdyn.errors import InputError, SolveFailed
from gaussdyn.programs.blocks.solve_blocks import Attempt, _Search, solve_blocks
from gaussdyn.programs.enumeration.exhaustive import all_modes
from gaussdyn.programs.laws.laws import BilateralCoulomb, Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm, LinearComplementarity
from gaussdyn.programs.solution.status import Status
from gaussdyn.programs.solve import solve


def test_nothing_to_solve():
    empty = solve_blocks(ComplementarityProblem(W=np.zeros((0, 0)), q=[], laws=[]))
    assert empty.solved
    assert empty.u_unique
    still = solve_blocks(ComplementarityProblem(W=np.eye(3), q=np.zeros(3), laws=[Coulomb(0.3)]))
    assert still.solved
    assert not still.r.any()
    assert still.iterations == 0


def test_no_contacts_but_a_motion():
    form = GlobalForm(M=2 * np.eye(2), h=[2.0, 4.0], J=np.zeros((0, 2)), w=[], G=[[1.0, 0.0]], b=[3.0])
    answer = solve_blocks(ComplementarityProblem.condensed(form, [])).require()
    np.testing.assert_allclose(answer.x, [3.0, 2.0])
    np.testing.assert_allclose(answer.lam, [4.0])


@pytest.mark.parametrize("size", [1e-17, 1e-20, 1e-200, 1e-300])
def test_data_at_rounding_level(size):
    problem = ComplementarityProblem(W=np.eye(3), q=size * np.array([-1.0, 2.0, 0.0]), laws=[Coulomb(0.3)])
    assert solve_blocks(problem).solved


@pytest.mark.parametrize("size", [1.0, 1e-12, 1e-25, 1e-60])
def test_the_motion_in_other_units_is_the_same(size):
    """However small the data are, E is relative to them."""
    one, other = bodies([Coulomb(0.4)] * 6, 7, freedoms=12), bodies([Coulomb(0.4)] * 6, 7, freedoms=12)
    answer = solve_blocks(ComplementarityProblem(W=np.asarray(other.W) / size, q=other.q * size**0.5, laws=other.laws))
    assert answer.solved
    np.testing.assert_allclose(answer.u / size**0.5, solve_blocks(one).u, atol=1e-10 * np.linalg.norm(one.q))


@pytest.mark.parametrize("speed", [1.0, 1e-3, 1e3])
def test_squeezed_between_walls_is_infeasible_with_a_proof(speed):
    answer = solve_blocks(squeeze(speed))
    assert answer.status is Status.INFEASIBLE
    assert answer.certificate.verify()
    assert "block 0 (u_N >= 0), block 1 (u_N >= 0)" in answer.message
    assert np.isfinite(answer.r).all()
    with pytest.raises(SolveFailed):
        answer.require()


def test_squeezed_in_global_form():
    H = np.array([[1.0, 0, 0, -1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]])
    form = GlobalForm(M=np.diag([1 / 3, 0.7, 0.9]), h=[0.3, 0.1, 0.1], J=H.T, w=[-1.0, 0, 0, -1, 0, 0])
    answer = solve_blocks(ComplementarityProblem.condensed(form, [Coulomb(0.3)] * 2))
    assert answer.status is Status.INFEASIBLE
    assert answer.certificate.verify()


def test_a_gap_between_the_walls_is_enough():
    H = np.array([[1.0, 0, 0, -1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]])
    for gap in (1e-6, 1e-3, 0.0):
        form = GlobalForm(M=np.eye(3), h=[0.3, 0.1, 0.1], J=H.T, w=[-1.0, 0, 0, 1.0 + gap, 0, 0])
        answer = solve_blocks(ComplementarityProblem.condensed(form, [Coulomb(0.3)] * 2)).require()
        assert -1e-12 <= answer.x[0] - 1.0 <= gap + 1e-12


def test_bilateral_rows_that_contradict_each_other():
    base = {"M": np.eye(2), "h": [0.0, -1.0], "J": np.eye(2), "w": [0.0, 0.0], "G": [[1.0, 0.0], [2.0, 0.0]]}
    laws = [Unilateral(), Unilateral()]
    bad = solve_blocks(ComplementarityProblem.condensed(GlobalForm(**base, b=[1.0, 2.5]), laws))
    assert bad.status is Status.INFEASIBLE
    assert "bilateral row 0, bilateral row 1" in bad.message
    good = solve_blocks(ComplementarityProblem.condensed(GlobalForm(**base, b=[1.0, 2.0]), laws)).require()
    np.testing.assert_allclose(good.x, [1.0, 0.0])


def test_painleve_s_row_in_both_signs():
    """M = -1: q = -1 has no solution at all, q = 1 has z = 0 (and z = 1)."""
    none = solve(LinearComplementarity(M=[[-1.0]], q=[-1.0]))
    assert none.status is Status.INFEASIBLE
    assert none.certificate.verify()
    two = solve(LinearComplementarity(M=[[-1.0]], q=[1.0])).require()
    assert two.x[0] in (0.0, 1.0)


def test_infeasible_lcp():
    """Row 1 asks -z2 - z3 - 1e-4 >= 0."""
    M = [[0.0, -1, -1], [1, 0, 0], [-1, 0, 0]]
    assert solve(LinearComplementarity(M=M, q=[-1e-4, -1, 1])).status is Status.INFEASIBLE
    isolated = solve(LinearComplementarity(M=M, q=[0.0, -1, 1])).require()
    np.testing.assert_allclose(isolated.x, [1.0, 0.0, 0.0], atol=1e-12)


def test_guides_that_contradict():
    """Painlevé and Klein with k > 1: none for one sign of the load; never called solved."""
    answer = solve_blocks(guided(1.0, 2.0, 3.0))
    assert answer.status is Status.INFEASIBLE
    assert answer.certificate.verify()
    assert np.isfinite(answer.r).all()


def test_no_solution_although_motions_are_admissible():
    """The relaxation holds z = (2, 0), but every mode is refuted: no solution, with its proof; not INFEASIBLE."""
    M, q = [[0.0, 1.0], [1.0, -1.0]], [0.5, -1.5]
    z = np.array([2.0, 0.0])
    assert (M @ z + q).min() >= 0.0
    assert lcp_solutions(M, q) == []
    answer = solve(LinearComplementarity(M=M, q=q))
    assert answer.status is Status.NO_SOLUTION
    assert answer.certificate.verify()
    assert "NONE" in answer.message


def test_no_solution_of_planar_contacts():
    """A Coulomb block beside an LCP row without solution is refuted mode by mode."""
    W = np.zeros((4, 4))
    W[:2, :2], W[2:, 2:] = [[0.0, 1.0], [1.0, -1.0]], np.eye(2)
    problem = ComplementarityProblem(
        W=W, q=[0.5, -1.5, -1.0, 0.2], laws=[Unilateral(), Unilateral(), Coulomb(0.3, dim=2)]
    )
    answer = solve_blocks(problem)
    assert answer.status is Status.NO_SOLUTION
    assert answer.certificate.verify()


def test_solution_of_an_lcp_is_in_its_own_terms():
    lcp = LinearComplementarity(M=[[2.0, 1.0], [1.0, 2.0]], q=[-5.0, -6.0])
    answer = solve(lcp).require()
    assert answer.problem is lcp
    np.testing.assert_allclose(answer.x, [4 / 3, 7 / 3])
    np.testing.assert_array_equal(answer.x, answer.r)
    assert answer.audit().small()


def test_motion_and_multipliers_are_recovered():
    g = np.random.default_rng(0)
    A = g.normal(size=(7, 7))
    M, J, G = A @ A.T + np.eye(7), g.normal(size=(6, 7)), g.normal(size=(1, 7))
    form = GlobalForm(M=M, h=g.normal(size=7), J=J, w=np.zeros(6), G=G, b=[0.3])
    answer = solve_blocks(ComplementarityProblem.condensed(form, [Coulomb(0.4)] * 2)).require()
    np.testing.assert_allclose(M @ answer.x, form.h + G.T @ answer.lam + J.T @ answer.r, atol=1e-10)
    np.testing.assert_allclose(G @ answer.x, [0.3], atol=1e-10)
    np.testing.assert_allclose(J @ answer.x, answer.u, atol=1e-10)


def test_uniqueness_of_frictionless_contacts():
    table = ComplementarityProblem(W=np.ones((2, 2)), q=[-1.0, -1.0], laws=[Unilateral()] * 2)
    shared = solve_blocks(table, start=np.array([0.5, 0.5])).require()
    assert (shared.u_unique, shared.r_unique) == (True, False)
    onesided = solve_blocks(table).require()  # found with all load on one row: the other may still take some
    assert (onesided.u_unique, onesided.r_unique) == (True, False)
    W = np.outer([1.0, 1.0, -1.0], [1.0, 1.0, -1.0])  # both combinations leave u alone: nothing is said
    three = solve_blocks(ComplementarityProblem(W=W, q=[-1.0, -1.0, 1.0], laws=[Unilateral()] * 3)).require()
    assert (three.u_unique, three.r_unique) == (True, None)
    alone = solve_blocks(ComplementarityProblem(W=np.eye(2), q=[-1.0, 1.0], laws=[Unilateral()] * 2))
    assert (alone.u_unique, alone.r_unique) == (True, True)


def test_uniqueness_with_friction():
    small = ComplementarityProblem(W=np.eye(3), q=[-1.0, 2.0, 0.0], laws=[Coulomb(0.3)])
    assert (solve_blocks(small).u_unique, solve_blocks(small).r_unique) == (True, True)
    resting = solve_blocks(box([0.1, 0.0, -1.0, 0.0, 0.0, 0.0])).require()
    assert resting.r_unique is False  # four corners share the load in many ways
    assert resting.u_unique is None
    strong = ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.4, 0.0], laws=[Coulomb(0.3, 0.6)])
    assert solve_blocks(strong).u_unique is None


def test_a_uniqueness_that_is_claimed_holds():
    """From many starting points every claimed unique u comes out again."""
    g = np.random.default_rng(1)
    claimed = 0
    for seed in range(25):
        problem = bodies([Coulomb(0.15), Unilateral(), Coulomb(0.1, dim=2)], seed, freedoms=40)
        answer = solve_blocks(problem).require()
        if answer.u_unique:
            claimed += 1
            for _ in range(3):
                other = solve_blocks(problem, start=10 * g.normal(size=6)).require()
                np.testing.assert_allclose(other.u, answer.u, atol=1e-9)
    assert claimed > 5


def test_warm_start_finds_the_solution_nearby():
    """M z + q with z = (1, 0), (0, 1) and (1/3, 1/3): the one started from is returned."""
    problem = ComplementarityProblem(W=[[1.0, 2.0], [2.0, 1.0]], q=[-1.0, -1.0], laws=[Unilateral()] * 2)
    for z in ([1.0, 0.0], [0.0, 1.0], [1 / 3, 1 / 3]):
        np.testing.assert_allclose(solve_blocks(problem, start=np.array(z)).require().r, z, atol=1e-10)
    with pytest.raises(InputError, match="start"):
        solve_blocks(problem, start=np.zeros(3))


@pytest.mark.parametrize("name", ["tol", "seconds", "effort"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1", True])
def test_limits_that_are_no_numbers_are_refused(name, value):
    problem = ComplementarityProblem(W=[[1.0]], q=[-1.0], laws=[Unilateral()])
    with pytest.raises(InputError, match=f"^{name}: given"):
        solve(problem, **{name: value})


class _Astray:
    """An attempt that is lost, wherever it starts."""

    name, tol = "astray", 1e-12

    def improve(self, data, r, work):
        return np.full(len(r), np.nan), 1


def test_start_is_returned_if_it_is_a_solution_that_the_attempts_leave(monkeypatch):
    problem = bodies([Coulomb(0.4)] * 12, seed=6)
    exact = solve_blocks(problem).require().r
    monkeypatch.setattr("gaussdyn.programs.blocks.solve_blocks.few_blocks", lambda *_: (None, False))
    monkeypatch.setattr(_Search, "_quick", lambda self, start: iter([Attempt(_Astray(), self.zero)]))
    monkeypatch.setattr(_Search, "_thorough", lambda self, start: iter([Attempt(_Astray(), self.zero)]))
    answer = solve_blocks(problem, start=exact)
    assert answer.solved
    np.testing.assert_array_equal(answer.r, exact)
    assert not solve_blocks(problem, start=1.001 * exact).solved


def test_newton_s_method_finishes_what_begins_near_a_solution(monkeypatch):
    problem = bodies([Coulomb(0.4)] * 12, seed=6)
    exact = solve_blocks(problem).require().r
    monkeypatch.setattr(_Search, "_quick", lambda self, start: iter([Attempt(_Astray(), self.zero)]))
    answer = solve_blocks(problem, start=1.001 * exact)
    assert answer.solved
    assert answer.method == "proximal_newton"


def test_slow_methods_are_left_out_on_request(monkeypatch):
    problem = bodies([Coulomb(0.4)] * 12, seed=6)
    near = 1.001 * solve_blocks(problem).require().r
    monkeypatch.setattr("gaussdyn.programs.blocks.solve_blocks.few_blocks", lambda *_: (None, False))
    monkeypatch.setattr(_Search, "_quick", lambda self, start: iter([Attempt(_Astray(), self.zero)]))
    answer = solve(problem, start=near, thorough=False)
    assert not answer.solved
    np.testing.assert_array_equal(answer.r, near)
    assert solve(problem, start=near).solved


def test_best_point_and_honest_status_when_little_may_be_done():
    problem = bodies([Coulomb(1.5)] * 40, seed=5, freedoms=40)
    answer = solve_blocks(problem, effort=0.0)
    assert answer.status in (Status.SOLVED, Status.MAX_ITERATIONS)
    assert pytest.approx(answer.audit().E) == answer.residuals.E
    assert answer.solved == answer.audit().small()


def test_sparse_problems():
    one = bodies([Coulomb(0.5)] * 2, seed=4)
    W = sp.block_diag([one.W] * 80)
    problem = ComplementarityProblem(W=W, q=np.tile(one.q, 80), laws=list(one.laws) * 80)
    np.testing.assert_allclose(solve_blocks(problem).require().u, np.tile(solve_blocks(one).u, 80), atol=1e-9)


def test_the_status_follows_the_recomputed_residual():
    problem = bodies([Coulomb(0.4)] * 3, seed=6)
    assert solve_blocks(problem, tol=1e-15).status in (Status.SOLVED, Status.MAX_ITERATIONS)
    assert solve_blocks(problem).residuals.E <= 1e-12


@pytest.mark.parametrize(
    "law", [Coulomb(1.5), Coulomb(0.4, 0.6), Rolling(0.6, 0.3), BilateralCoulomb(0.3), Dry(0.2, 0.3)], ids=repr
)
@pytest.mark.parametrize("seed", range(5))
def test_redundant_problems_of_every_law(law, seed):
    """Ten blocks on one body: W of rank 6."""
    problem = bodies([law] * 10, seed)
    answer = solve_blocks(problem).require()
    assert answer.residuals.small()
    assert np.isfinite(answer.r).all()


@pytest.mark.parametrize("last", [0.0024, -0.0001, -0.004])
def test_stick_has_priority_over_the_nearest_solution(last):
    # rest needs 0.004 <= mu_s 0.01, and slip with mu 0.01 obeys the laws as well, nearer to the last reactions
    problem = ComplementarityProblem(W=5.0 * np.eye(2), q=[-0.05, 0.02], laws=[Coulomb(0.01, 0.5, 2)])
    answer = solve_blocks(problem, start=np.array([0.01, last]))
    assert answer.modes == ("stick",)


def wedge(slack, turn, scale=1.0):
    """A point among three walls whose normals add up to zero but for rounding; the walls move in unless slack >= 0."""
    angles = turn + np.array([0.0, 2.0, 4.0]) * np.pi / 3.0
    normals = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    J = np.vstack([np.array([n, [-n[1], n[0], 0.0], [0.0, 0.0, 1.0]]) for n in normals])
    w = np.zeros(9)
    w[::3] = scale * slack
    return GlobalForm(M=np.diag([1.0, 1.3, 0.7]), h=scale * np.array([0.3, -0.2, 0.1]), J=J, w=w)


@pytest.mark.parametrize("turn", [0.1, 0.7, 1.3, 2.9])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_a_squeeze_that_only_rounding_leaves_open_is_refuted(turn, scale):
    """The normals add up to 1e-16: as doubles they allow a motion of 1e13, but none by reactions of any use."""
    for slack in (-1.0, -1e-3):
        form = wedge(slack, turn, scale)
        whole = ComplementarityProblem.condensed(form, [Coulomb(0.4)] * 3)
        local = ComplementarityProblem(W=whole.W, q=whole.q, laws=whole.laws)
        for problem in (whole, local):
            answer = solve_blocks(problem)
            assert answer.status is Status.INFEASIBLE
            assert answer.certificate.verify()
    for slack in (0.0, 1e-9, 1e-3):
        assert solve_blocks(ComplementarityProblem.condensed(wedge(slack, turn, scale), [Coulomb(0.4)] * 3)).solved


def test_of_the_motions_of_one_contact_in_space_the_nearest_is_found_exactly():
    """Rest, lift-off and a slip of a steep body (mu W_NT > W_NN), as laws: written out here."""
    a = np.array([0.45, 0.0, np.sqrt(1.0 - 0.45**2)])
    W = (np.eye(3) + 4.5 * (np.eye(3) - np.outer(a, a)))[np.ix_([2, 0, 1], [2, 0, 1])]
    rest = np.array([1.0, 1.85, -0.7])
    problem = ComplementarityProblem(W=W, q=-W @ rest, laws=[Coulomb(2.0)])
    assert problem.q[0] > 0.0
    r, proof = all_modes(problem, problem, rest)
    assert proof is None
    np.testing.assert_allclose(r, rest, rtol=1e-12)
    r, _ = all_modes(problem, problem)
    assert not r.any()
    r, _ = all_modes(problem, problem, rest - np.array([0.03, 0.05, -0.05]))
    slip = (W @ (r - rest))[1:]
    assert 0.0 < np.linalg.norm(slip) < 5.0
    np.testing.assert_allclose((W @ (r - rest))[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(r[1:], -2.0 * r[0] * slip / np.linalg.norm(slip), rtol=1e-9)
