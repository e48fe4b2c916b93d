"""Laws that hold for every block problem: permutation, units, duplication, dissipation; spoiled answers are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import bodies
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.programs.blocks.solve_blocks import solve_blocks
from gaussdyn.programs.laws.laws import Coulomb, Dry, Rolling, Unilateral
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solution.residuals import block_residuals

FAST = settings(max_examples=examples(40), deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(
    [Unilateral(), Coulomb(0.1), Coulomb(0.2), Coulomb(0.15, dim=2), Dry(0.2), Dry(0.3, dim=2), Rolling(0.1, 0.05)]
)
few = st.lists(kinds, min_size=1, max_size=5)


def well_posed(laws, seed):
    """Independent contacts with small mu, so that u is the only one."""
    return bodies(laws, seed, freedoms=80)


@given(few, seeds)
@FAST
def test_order_of_the_blocks_is_of_no_account(laws, seed):
    problem = well_posed(laws, seed)
    order = np.random.default_rng(seed).permutation(len(laws))
    start = problem.table.start
    rows = np.concatenate([np.arange(start[k], start[k + 1]) for k in order])
    shuffled = ComplementarityProblem(
        W=problem.W[np.ix_(rows, rows)], q=problem.q[rows], laws=[problem.laws[k] for k in order]
    )
    one, two = solve_blocks(problem).require(), solve_blocks(shuffled).require()
    scale = np.abs(problem.q).max()
    if one.u_unique:
        np.testing.assert_allclose(two.u, one.u[rows], atol=1e-10 * scale)


@given(st.lists(st.sampled_from([Unilateral(), Coulomb(0.2), Coulomb(0.2, dim=2), Rolling(0.1, 0.05)]), max_size=5),
       seeds, st.integers(-9, 9), st.integers(-9, 9))  # fmt: skip
@FAST
def test_units_of_force_and_speed_are_of_no_account(laws, seed, force, speed):
    problem = well_posed(laws, seed)
    a, b = 10.0**force, 10.0**speed
    scaled = ComplementarityProblem(W=problem.W * b / a, q=problem.q * b, laws=laws)
    one, two = solve_blocks(problem).require(), solve_blocks(scaled).require()
    scale = np.abs(problem.q).max(initial=1.0)
    np.testing.assert_allclose(two.u / b, one.u, atol=1e-9 * scale)
    np.testing.assert_allclose(problem.W @ two.r / a, problem.W @ one.r, atol=1e-9 * scale)


@given(few, seeds)
@FAST
def test_duplicated_contacts_change_no_motion(laws, seed):
    """The same contacts twice: the reactions are shared, u is what it was (Dry blocks would count twice)."""
    laws = [law for law in laws if not isinstance(law, Dry)] or [Unilateral()]
    problem = well_posed(laws, seed)
    one = solve_blocks(problem).require()
    twice = ComplementarityProblem(W=np.tile(problem.W, (2, 2)), q=np.tile(problem.q, 2), laws=[*laws, *laws])
    two = solve_blocks(twice).require()
    if one.u_unique:
        np.testing.assert_allclose(two.u, np.tile(one.u, 2), atol=1e-9 * np.abs(problem.q).max())
        np.testing.assert_allclose(sum(np.split(two.r, 2)), one.r, atol=1e-7 * (1 + np.abs(one.r).max()))


@given(st.lists(st.sampled_from([Coulomb(0.3), Coulomb(1.2), Coulomb(0.5, dim=2), Coulomb(0.3, 0.6)]), min_size=1,
                max_size=6), seeds, st.sampled_from([6, 12, 30]))  # fmt: skip
@FAST
def test_friction_dissipates_and_obeys_its_limit(laws, seed, freedoms):
    problem = bodies(laws, seed, freedoms)
    answer = solve_blocks(problem).require()
    size = np.abs(problem.q).max() * max(np.abs(answer.r).max(), 1e-300)
    for k, law in enumerate(laws):
        s = slice(*problem.table.start[k : k + 2])
        r, u = answer.r[s], answer.u[s]
        assert r[1:] @ u[1:] <= 1e-11 * size
        assert np.linalg.norm(r[1:]) <= law.mu_s * r[0] + 1e-11 * np.abs(answer.r).max()
        assert r[0] >= -1e-11 * np.abs(answer.r).max()
        assert u[0] >= -1e-10 * np.abs(problem.q).max()
        assert abs(r[0] * u[0]) <= 1e-10 * size


@given(few, seeds, st.integers(0, 10**6), st.sampled_from([1e-6, 1e-3, -1e-4]))
@FAST
def test_a_spoiled_reaction_is_noticed(laws, seed, where, amount):
    """Change one entry of a reaction that matters, and the audit sees it."""
    problem = well_posed(laws, seed)
    answer = solve_blocks(problem).require()
    i = where % len(problem.q)
    r = answer.r.copy()
    r[i] += amount * max(1.0, np.abs(r).max())
    spoiled = answer.but(r=r)
    assert spoiled.audit().E > 1e-9
    assert not spoiled.audit().small()


@given(seeds, st.sampled_from(["drift", "row", "law"]))
@FAST
def test_a_spoiled_problem_is_noticed(seed, what):
    """The answer to one problem is not accepted for another."""
    laws = [Coulomb(0.3), Coulomb(0.5, dim=2), Unilateral()]
    problem = bodies(laws, seed, freedoms=20)
    answer = solve_blocks(problem).require()
    if answer.modes[0] not in ("stick", "slip") or np.abs(answer.r[1:3]).max() < 1e-3 * np.abs(answer.r).max():
        return
    q, W, other = problem.q.copy(), problem.W.copy(), list(laws)
    if what == "drift":
        q[0] -= 1e-6 * np.abs(q).max()
    elif what == "row":
        W[0] *= 1.0 + 1e-6
    else:
        other[0] = Coulomb(1e-4)
    spoiled = ComplementarityProblem(W=W, q=q, laws=other)
    assert not block_residuals(spoiled, answer.r).small()


@pytest.mark.parametrize("seed", range(5))
def test_equal_answers_of_equal_runs(seed):
    """The same problem twice gives the same bits."""
    problem = bodies([Coulomb(0.8)] * 8, seed)
    np.testing.assert_array_equal(solve_blocks(problem).r, solve_blocks(problem).r)
