"""Newton's method from reactions that are nearly right, beside the attempts that solve from nothing."""

from itertools import pairwise

import numpy as np
import pytest

from gaussdyn import ComplementarityProblem, solve
from gaussdyn._jit import Held, nothing
from gaussdyn.integrate.time_stepping.core.problem.near_residual import Near, look, room
from gaussdyn.integrate.time_stepping.core.problem.near_solution import make_factor, near_solution, take_newton_step
from gaussdyn.integrate.time_stepping.core.records import Layout
from gaussdyn.programs.laws.laws import Coulomb, Unilateral

TOL = 1e-12


def near_room(n: int, m: int, nv: int = 0) -> Near:
    """Return work space for n blocks with m rows, of so many velocities."""
    return room(n, nothing(Layout), np.zeros((nv, nv)), np.zeros((m, nv)))


def problem_of(rng: np.random.Generator) -> ComplementarityProblem:
    """Return contacts with friction that slip, stick and open, and one without friction."""
    laws = [Coulomb(0.3)] * 3 + [Unilateral()]
    G = rng.normal(size=(10, 14))
    q = rng.normal(size=10)
    q[[0, 3, 6, 9]] = -np.abs(q[[0, 3, 6, 9]])
    return ComplementarityProblem(W=G @ G.T / 14.0, q=q, laws=laws)


def arrays(problem: ComplementarityProblem) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """Return W row by row, with room for whole fours, laws as kernels take them, and step sizes."""
    W = np.asarray(problem.W, dtype=float)
    P = np.array([[0.3, 0.3, 0.0, 0.0]] * 3 + [[0.0] * 4])
    code, start = np.array([1, 1, 1, 0]), np.array([0, 3, 6, 9, 10])
    rho = np.array([1.0 / np.linalg.eigvalsh(W[a:b, a:b])[-1] for a, b in pairwise(start)])
    return np.append(W.ravel(), np.zeros(3)), (code, start, P), rho


@pytest.mark.parametrize("seed", range(8))
def test_near_solutions_are_those_of_solve_and_one_factor_serves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(rng)
    (W, table, rho), near = arrays(problem), near_room(4, 10)
    r = np.array(solve(problem, tol=TOL).r)
    factor = np.zeros(0)
    for k in range(3):  # as passes change q, less and less
        q = np.asarray(problem.q) + 10.0 ** (-3 * k - 4) * rng.normal(size=10)
        size = np.linalg.norm(np.repeat(rho, [3, 3, 3, 1]) * q)
        found = near_solution(Held(near), W, q, table, rho, r, (TOL, 0.0, 0.0), size)
        assert found <= TOL
        exact = solve(ComplementarityProblem(W=problem.W, q=q, laws=problem.laws), tol=TOL)
        assert exact.solved
        assert np.allclose(r, exact.r, rtol=0.0, atol=1e-9)
        if k > 1:
            assert np.array_equal(near.A, factor)
        factor = near.A.copy()


def test_where_rows_are_independent_newtons_method_ends_at_once() -> None:
    """Dry joints that stick or slide, and a stop: once modes are right, one step is exact but for a trace of alpha."""
    rng = np.random.default_rng(2)
    G, near = rng.normal(size=(8, 12)), near_room(8, 8, 12)
    W, table = (
        G @ G.T / 12.0,
        (np.array([5] * 7 + [0]), np.arange(9), np.array([[0.0, 0.3, 0.3, 0.0]] * 7 + [[0.0] * 4])),
    )
    rho, held, size = 1.0 / np.diag(W), Held(near), 1.0
    q = -W @ np.array([0.1, -0.2, 0.05, 0.0, 0.15, -0.1, 0.25, 1.0])
    q[:2] += [-5.0, 4.0]  # these slide
    r = np.zeros(8)
    for _ in range(12):
        if look(held, W.ravel(), q, table, rho, r) < 1e-3:
            break
        assert make_factor(held, W.ravel(), table[1], rho, 1e-2)
        take_newton_step(held, W.ravel(), table[1], rho, r)
    assert near.size[2] == 0
    assert look(held, W.ravel(), q, table, rho, r) <= 1e-8 * size


def test_what_is_not_quick_leaves_the_reactions_as_they_were() -> None:
    W, q = np.zeros(4), np.array([-1.0])  # no reaction stops it
    r, near = np.array([0.5]), near_room(1, 1)
    table = np.array([0]), np.array([0, 1]), np.zeros((1, 4))
    assert near_solution(Held(near), W, q, table, np.ones(1), r, (TOL, 0.0, 0.0), 1.0) == np.inf
    assert r[0] == 0.5


@pytest.mark.parametrize("seed", range(4))
def test_joints_that_slide_are_no_unknowns(seed: int) -> None:
    """Their friction is known but for rounding, which must not bring them back."""
    rng, n = np.random.default_rng(seed), 12
    G, caps = 0.1 * rng.normal(size=(n, n)), 1.0 + rng.random(n)
    W, caps[-1] = np.eye(n) + G @ G.T, 100.0  # the last one sticks
    table = np.full(n, 5), np.arange(n + 1), np.stack([np.zeros(n), caps, caps, np.zeros(n)], axis=1)
    rho, near, r = 1.0 / np.diag(W), near_room(n, n), np.zeros(n)
    for _ in range(8):
        q = np.append(4.0 * (1.0 + rng.random(n - 1)), 0.0)
        size = np.linalg.norm(rho * q)
        assert near_solution(Held(near), W.ravel().copy(), q, table, rho, r, (TOL, 0.0, 0.0), size) <= TOL
        assert near.size[0] == 1
        assert r[:-1] == pytest.approx(-caps[:-1], rel=1e-13)
        assert abs(W[-1] @ r + q[-1]) <= TOL * size


def test_what_rounding_keeps_from_being_better_is_the_answer() -> None:
    """It is not given up because it is above what would not be looked at again."""
    problem = problem_of(np.random.default_rng(0))
    (W, table, rho), near, q = arrays(problem), near_room(4, 10), np.asarray(problem.q)
    size, r = np.linalg.norm(np.repeat(rho, [3, 3, 3, 1]) * q), np.array(solve(problem, tol=TOL).r)
    least = near_solution(Held(near), W, q, table, rho, r, (TOL, 0.0, 0.0), size)
    tol = 4.0 * max(least, 1e-16)
    r *= 1.0 + 1e-6
    assert near_solution(Held(near), W, q, table, rho, r, (tol, 0.0, 0.0), size) <= tol
    assert np.allclose(r, solve(problem, tol=TOL).r, rtol=0.0, atol=1e-9)


def test_data_that_contradict_themselves_are_solved_as_far_as_they_can_be() -> None:
    """Two rows along one direction whose rates differ by a little: no reaction stops both."""
    W, q, caps = np.ones(4), np.array([1.0, 1.0 + 1e-7]), np.full(2, 10.0)
    table = np.full(2, 5), np.arange(3), np.stack([np.zeros(2), caps, caps, np.zeros(2)], axis=1)
    near, r = near_room(2, 2), np.full(2, -0.5)
    E = near_solution(Held(near), W, q, table, np.ones(2), r, (TOL, 1e-6, 0.0), 1.0)
    assert TOL < E <= 1e-6
    assert r.sum() == pytest.approx(-1.0, abs=1e-6)


def test_of_data_that_disagree_no_more_than_that_is_left_and_both_bear_the_same() -> None:
    """What solves them to less has one of both pull at its cap, against the other; where data agree, nothing is left.

    The rates differ by 2e-8, so that 1e-8 each is what no reaction can stop.
    """
    W, caps = np.ones(4), np.full(2, 10.0)
    table = np.full(2, 5), np.arange(3), np.stack([np.zeros(2), caps, caps, np.zeros(2)], axis=1)
    for rates, left in (((1.0 - 1e-8, 1.0 + 1e-8), np.sqrt(2.0) * 1e-8), ((1.0, 1.0), 0.0)):
        near, r = near_room(2, 2), np.zeros(2)
        E = near_solution(Held(near), W, np.array(rates), table, np.ones(2), r, (TOL, 0.0, 1e-4), 1.0)
        assert abs(E - left) <= TOL
        assert near.size[4] == int(left > 0.0)
        assert r == pytest.approx([-0.5, -0.5], abs=1e-2)  # as even as 1e-8 is little beside the softness
