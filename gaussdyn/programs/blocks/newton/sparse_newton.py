"""The proximal semismooth Newton method on W by 3x3 blocks, compiled as a whole (blocks of 1 to 3 rows, padded).

The same equations and rules as `dense_newton` and `backends.newton`: the law asks r = y(r - rho u), the step solves
(I - Y + Y rho (W + alpha / rho0)) dr = y - r, here by a block LU whose order is found once per problem.
`laws` is (code, sizes, P); vectors of the problem are (n, 3); `work` (10, 6) is work space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering
from ....linalg.block_lu3 import BLOCKS, Blocks, factorise3, fill, solve3, times
from ...laws.projections import length, natural, reaction_map
from .rank_six_pairs import PAIRS, NewtonSpace, Pairs, solve_pairs

LAWS = f"Tuple(({I1}, {I1}, {A2}))"
Laws = tuple[IntArray, IntArray, Array]
BOLD = 6  # Newton steps that a bold proximal step may take


@record(BLOCKS, "Ordering", PAIRS, A2, LAWS, A1, by_value=True)
class SparseProblem(NamedTuple):
    """The problem u = W r + q of n blocks.

    Attributes
    ----------
    blocks : tuple
        W, see `linalg.block_lu3`.
    ordering : Ordering
        Of the pairs, if there are any, else of the blocks.
    pairs : tuple
        See `rank_six_pairs`.
    q : Array, shape (n, 3)
    laws : tuple
    rho : Array, shape (n,)
        Step sizes of the natural map.
    """

    blocks: Blocks
    ordering: Ordering
    pairs: Pairs
    q: Array
    laws: Laws
    rho: Array


@kernel(f"float64(SparseProblem, {A2}, {A2}, {A2})", borrows=True)
def misfit_of(problem: SparseProblem, r: Array, u: Array, work: Array) -> float:
    """Return |r - P(r - rho u^)|, and put u = W r + q."""
    (code, sizes, P), q, rho = problem.laws, problem.q, problem.rho
    times(problem.blocks, r, u)
    total, F = 0.0, work[7]
    for k in range(len(code)):
        for a in range(3):
            u[k, a] += q[k, a]
        natural(code[k], sizes[k], P[k], u[k], r[k], rho[k], F, work[:7])
        total += length(F, 0, sizes[k]) ** 2
    return float(np.sqrt(total))


@kernel(f"float64({LAWS}, float64, {A2}, {A2}, NewtonSpace)", borrows=True)
def linearised(laws: Laws, prox: float, u: Array, r: Array, space: NewtonSpace) -> float:
    """Put F = y - r and the blocks C = I - Y + Y prox, D = Y rho of the Newton matrix, rho of `space`; return |F|."""
    F, C, D, rho, work, (code, sizes, P) = space.V[1], space.C, space.D, space.rho, space.work, laws
    total, x, y, Y = 0.0, work[6], work[7], work[:6]
    for k in range(len(code)):
        d = sizes[k]
        for a in range(d):
            x[a] = r[k, a] - rho[k] * u[k, a]
        reaction_map(code[k], d, P[k], x, y, Y)
        for a in range(3):
            F[k, a] = y[a] - r[k, a] if a < d else 0.0
            total += F[k, a] ** 2
            for b in range(3):
                v = Y[a, b] if a < d and b < d else 0.0
                C[k, a, b], D[k, a, b] = (1.0 if a == b else 0.0) - (1.0 - prox) * v, rho[k] * v
    return float(np.sqrt(total))


@kernel(f"float64({LAWS}, {A1}, {A2}, {A2}, {A2}, {A2}, float64, {A2})", borrows=True)
def merit_at(laws: Laws, rho: Array, u: Array, r: Array, du: Array, dr: Array, t: float, work: Array) -> float:
    """Return |F|^2 at (u + t du, r + t dr)."""
    code, sizes, P = laws
    total, x, y, Y = 0.0, work[6], work[7], work[:6]
    for k in range(len(code)):
        d = sizes[k]
        for a in range(d):
            x[a] = r[k, a] + t * dr[k, a] - rho[k] * (u[k, a] + t * du[k, a])
        reaction_map(code[k], d, P[k], x, y, Y)
        for a in range(d):
            total += (r[k, a] + t * dr[k, a] - y[a]) ** 2
    return total


@kernel(f"float64({LAWS}, {A1}, {A2}, {A2}, {A2}, {A2}, float64, {A2})", borrows=True)
def step_length(laws: Laws, rho: Array, u: Array, r: Array, du: Array, dr: Array, now: float, work: Array) -> float:
    """Return the step length in {1, 1/2, ...} that lowers |F|^2 (now at 0) enough, else the best of them."""
    t, best, best_t = 1.0, np.inf, 1.0
    for _ in range(8):
        value = merit_at(laws, rho, u, r, du, dr, t, work)
        if value < best:
            best, best_t = value, t
        if value <= (1.0 - 0.1 * t) * now:
            break
        t *= 0.5
    return best_t


@kernel(f"NewtonSpace(int64, Ordering, {PAIRS})", entry=True)
def newton_space(n: int, ordering: Ordering, pairs: Pairs) -> NewtonSpace:
    """Return work space for `newton_steps`."""
    d, count, grouped = 6 if len(pairs[2]) > 0 else 3, len(pairs[5]) - 1, len(pairs[2])
    B, C, D = np.zeros((len(ordering.order) + 2 * len(ordering.rows), d, d)), np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    K, inverse = np.zeros((count, 6, 6)), np.zeros((grouped, 3, 3))
    X, Z = np.zeros((3, grouped, 3)), np.zeros((3, count, 6))
    V, rho, idle, work = np.zeros((8, n, 3)), np.zeros(n), np.zeros(n, np.int64), np.zeros((10, 6))
    return NewtonSpace(B, C, D, V, rho, idle, work, K, inverse, X, Z)


@kernel(f"void(SparseProblem, {A2}, {A2}, NewtonSpace)")
def newton_direction(problem: SparseProblem, F: Array, dr: Array, space: NewtonSpace) -> None:
    """Put the solution of (C + D W) dr = F, C and D in `space`, into dr; V[3] and the factors are work space."""
    blocks, ordering, pairs = problem.blocks, problem.ordering, problem.pairs
    B, idle = space.B, space.idle
    dr[:] = F
    if len(pairs[2]) > 0:
        solve_pairs(blocks, pairs, ordering, dr, space)
    else:
        fill(blocks, ordering.rank, space.C, space.D, dr, B, idle)
        factorise3(ordering, B, idle)
        solve3(ordering, B, idle, dr, space.V[3])


@kernel(f"float64({LAWS}, float64, float64, {A2}, NewtonSpace)", borrows=True)
def stepped(laws: Laws, prox: float, size: float, r: Array, space: NewtonSpace) -> float:
    """Step from r and u along dr and du as far as |F| (now `size`) falls enough; return |F| there, with F, C and D.

    The full step is nearly always taken.
    """
    V, rho, work = space.V, space.rho, space.work
    u, du, dr, U, R = V[0], V[2], V[4], V[5], V[6]
    for k in range(len(r)):
        for a in range(3):
            U[k, a], R[k, a] = u[k, a] + du[k, a], r[k, a] + dr[k, a]
    new, t = linearised(laws, prox, U, R, space), 1.0
    if not new * new <= 0.9 * size * size:
        t = step_length(laws, rho, u, r, du, dr, size * size, work)
    for k in range(len(r)):
        for a in range(3):
            u[k, a], r[k, a] = u[k, a] + t * du[k, a], r[k, a] + t * dr[k, a]
    return new if t == 1.0 else linearised(laws, prox, u, r, space)


@kernel(
    f"Tuple((float64, int64))(SparseProblem, float64, float64, {A2}, {A2}, float64, int64, NewtonSpace)",
    entry=True,
)
def newton_steps(
    problem: SparseProblem, alpha: float, g: float, centre: Array, r: Array, tol: float, limit: int, space: NewtonSpace
) -> tuple[float, int]:
    """Newton's method with line search at fixed alpha and centre, from r; r becomes the answer.

    The step of the equations is g rho; alpha is in units of 1 / rho.
    Returns |F| and the number of steps. Stops where |F| no longer falls at rounding level (|q| = 1 is assumed).
    """
    q, laws, rho0, V, rho = problem.q, problem.laws, problem.rho, space.V, space.rho
    n, u, F, du, dr = len(q), V[0], V[1], V[2], V[4]
    times(problem.blocks, r, u)
    for k in range(n):
        rho[k] = g * rho0[k]
        for a in range(3):
            u[k, a] += q[k, a] + alpha / rho0[k] * (r[k, a] - centre[k, a])
    last, size = np.inf, linearised(laws, g * alpha, u, r, space)
    for it in range(limit + 1):
        if size <= tol or it == limit or not np.isfinite(size) or 0.5 * last < size < 1e-10:
            return size, it
        last = size
        newton_direction(problem, F, dr, space)
        times(problem.blocks, dr, du)
        for k in range(n):
            for a in range(3):
                du[k, a] += alpha / rho0[k] * dr[k, a]
        size = stepped(laws, g * alpha, last, r, space)
    return size, limit


@kernel(f"Tuple((float64, int64))(SparseProblem, float64, {A1}, float64, int64, {A3})", entry=True)
def proximal_steps(
    problem: SparseProblem, weight: float, state: Array, tol: float, limit: int, points: Array
) -> tuple[float, int]:  # fmt: skip
    """Proximal point steps around `newton_steps`, begun while fewer than `limit` Newton steps have been taken.

    Returns the best E and the steps taken.

    points (3, n, 3) are the best point, the current one and the centre; state is (alpha, smallest alpha, successive
    failures, best E, bold): a later call goes on where this one ended. While bold, the equations keep rho and alpha
    falls a hundredfold; the first problem that `BOLD` Newton steps do not solve ends that. Else rho grows as alpha
    falls tenfold: a tighter problem is closer to its modes.
    """
    steps, space = 0, newton_space(len(problem.q), problem.ordering, problem.pairs)
    V, work = space.V, space.work
    r, x, centre = points[0], points[1], points[2]
    while state[3] > 0.1 * tol and steps < limit and state[2] < 8.0:
        best, alpha, bold = state[3], state[0], state[4] > 0.0
        goal, most = max(0.03 * tol, min(0.1 * best, 1e-2)) * weight, BOLD if bold else 15
        g = 1.0 if bold else 1.0 / np.sqrt(min(max(alpha, 1e-12), 1.0))
        size, taken = newton_steps(problem, alpha, g, centre, x, goal, most, space)
        steps += taken + 1
        if bold and not size <= max(goal, 1e-10 * weight):
            state[0], state[4] = max(10.0 * alpha, 1e-3), 0.0
            x[:] = centre
            continue
        E = misfit_of(problem, x, V[0], work) / weight if np.isfinite(size) else np.inf
        if size / weight > max(tol, 0.1 * min(best, 1.0)) or not np.isfinite(E):
            state[0], state[2] = min(alpha * 7.0, 1e3), state[2] + 1.0
            x[:] = centre
            continue
        centre[:] = x
        state[0] = max((0.01 if bold else 0.1) * alpha, state[1])
        state[2] = state[2] + 1.0
        if best > E:
            state[2], state[3] = 0.0, E
            r[:] = x
    return state[3], steps
