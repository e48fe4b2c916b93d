"""The smallest reaction of redundant contacts: against closed forms, a conic library, and itself in another order."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from evidence import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gaussdyn import InputError, LinearComplementarity, QuadraticProgram, solve
from gaussdyn.programs.blocks.smallest_reactions import canonical_reaction
from gaussdyn.programs.laws.laws import Coulomb, Dry, Rolling
from gaussdyn.programs.problems.complementarity import ComplementarityProblem, GlobalForm

MASS = np.diag([1.0, 1.0, 1.0, 0.3, 0.4, 0.5])


def standing(feet, load, mu, law=None):
    """A body with its mass centre half a metre above feet on a rough floor; rows (N, T1, T2) per foot."""
    arms = np.c_[feet, -0.5 * np.ones(len(feet))]
    J = np.array([np.r_[e, np.cross(arm, e)] for arm in arms for e in np.eye(3)[[2, 0, 1]]])
    form = GlobalForm(M=MASS, h=load, J=J, w=np.zeros(len(J)))
    return ComplementarityProblem.condensed(form, [law or Coulomb(mu)] * len(feet))


def least_by_library(problem, u, mu):
    """Reference where every contact rests: min |r| in the cones with the same u, by an interior point library."""
    r = cp.Variable(len(u))
    cones = [cp.SOC(mu * r[k], r[k + 1 : k + 3]) for k in range(0, len(u), 3)]
    cp.Problem(cp.Minimize(cp.sum_squares(r)), [problem.W @ r == u - problem.q, *cones]).solve(solver="CLARABEL")
    return r.value


def test_square_table_carries_a_quarter_of_the_weight_on_every_leg():
    feet = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    problem = standing(feet, np.array([0, 0, -9.81, 0, 0, 0.0]), mu=0.3)
    found = canonical_reaction(solve(problem))
    assert found.solved
    np.testing.assert_allclose(found.r.reshape(-1, 3), np.tile([9.81 / 4, 0, 0], (4, 1)), atol=1e-12)


@given(seed=st.integers(0, 10_000))
@example(seed=9137)  # feet nearly in line
@settings(max_examples=examples(25), deadline=None)
def test_agrees_with_a_conic_library_where_all_rest(seed):
    rng = np.random.default_rng(seed)
    feet = rng.normal(size=(rng.integers(3, 8), 2))
    weights = rng.uniform(0.2, 1.0, len(feet))
    problem = standing(feet, np.zeros(6), mu=0.6)
    inside = np.c_[weights, 0.1 * rng.normal(size=(len(feet), 2)) * weights[:, None]].ravel()  # keeps it at rest
    load = -(problem.form.J.T @ inside)
    problem = standing(feet, load, mu=0.6)
    solution = solve(problem).require()
    found = canonical_reaction(solution)
    assert found.solved
    np.testing.assert_allclose(found.u, solution.u, atol=1e-10)
    reference = least_by_library(problem, np.zeros_like(solution.u), 0.6)
    assert np.linalg.norm(found.r) <= np.linalg.norm(reference) * (1.0 + 1e-7)
    np.testing.assert_allclose(found.r, reference, atol=2e-4 * np.abs(reference).max())


@given(seed=st.integers(0, 10_000), slide=st.booleans())
@example(seed=5134, slide=True)  # fewer directions of sliding reactions than of forces
@settings(max_examples=examples(25), deadline=None)
def test_does_not_depend_on_the_order_of_the_contacts(seed, slide):
    rng = np.random.default_rng(seed)
    feet = rng.normal(size=(6, 2))
    load = np.r_[rng.normal(size=2) * (8.0 if slide else 0.5), -9.81, 0.1 * rng.normal(size=3)]
    order = rng.permutation(6)
    one, other = solve(standing(feet, load, 0.5)), solve(standing(feet[order], load, 0.5))
    if not (one.solved and other.solved) or not np.allclose(
        one.u.reshape(-1, 3)[order], other.u.reshape(-1, 3), rtol=0.0, atol=1e-9
    ):
        return  # several motions, or none: nothing to compare
    r = canonical_reaction(one).r.reshape(-1, 3)[order]
    np.testing.assert_allclose(canonical_reaction(other).r.reshape(-1, 3), r, atol=1e-7 * np.abs(r).max())


def test_dry_joints_in_a_row_share_the_load():
    W = np.ones((3, 3))
    problem = ComplementarityProblem(W=W, q=-0.9 * np.ones(3), laws=[Dry(1.0)] * 3)
    np.testing.assert_allclose(canonical_reaction(solve(problem)).r, [0.3, 0.3, 0.3], atol=1e-12)
    tight = ComplementarityProblem(W=W, q=-0.9 * np.ones(3), laws=[Dry(0.1), Dry(1.0), Dry(1.0)])
    np.testing.assert_allclose(canonical_reaction(solve(tight)).r, [0.1, 0.4, 0.4], atol=1e-12)


def test_redundant_rows_of_an_lcp():
    found = canonical_reaction(solve(LinearComplementarity(M=np.ones((2, 2)), q=[-2.0, -2.0])))
    np.testing.assert_allclose(found.r, [1.0, 1.0], atol=1e-12)


def test_rolling_contacts():
    arms = np.array([[1.0, 0.0], [-1.0, 0.0]])
    J = np.array([np.r_[e, np.cross(np.r_[a, -0.5], e)] for a in arms for e in np.eye(3)[[2, 0, 1]]])
    turn = np.c_[np.zeros((2, 3)), np.eye(3)[:2]]
    J = np.vstack([J[:3], turn, J[3:], turn])
    form = GlobalForm(M=MASS, h=[0.5, 0.2, -9.81, 0.1, 0, 0], J=J, w=np.zeros(10))
    solution = solve(ComplementarityProblem.condensed(form, [Rolling(0.6, 0.3)] * 2)).require()
    found = canonical_reaction(solution)
    assert found.solved
    assert np.linalg.norm(found.r) <= np.linalg.norm(solution.r) * (1 + 1e-12)
    np.testing.assert_allclose(found.u, solution.u, atol=1e-10)


def test_unique_reactions_stay():
    solution = solve(ComplementarityProblem(W=np.eye(3), q=[-1.0, 0.1, 0.0], laws=[Coulomb(0.5)]))
    assert canonical_reaction(solution) is solution


@pytest.mark.parametrize("given", [None, 3])
def test_what_is_no_solution_is_refused(given):
    with pytest.raises(InputError, match="solution"):
        canonical_reaction(given)


def test_a_quadratic_program_is_refused():
    with pytest.raises(InputError, match="solution"):
        canonical_reaction(solve(QuadraticProgram(H=np.eye(2), g=[1.0, 1.0])))
