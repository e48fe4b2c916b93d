"""Newton's method by blocks in the problem's own units, from reactions whose modes are nearly right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering
from ....linalg.block_lu3 import BLOCKS, Blocks, times
from .rank_six_pairs import PAIRS, NewtonSpace, Pairs
from .sparse_newton import (
    LAWS,
    Laws,
    SparseProblem,
    linearised,
    misfit_of,
    newton_direction,
    newton_space,
    proximal_steps,
    stepped,
)

SHARE = 0.03  # proximal term per residual
LEAST, MOST = 1e-8, 1e-4  # between these
STALE = 5  # steps that lower the residual by less than a tenth before another method is asked


@record(BLOCKS, "Ordering", PAIRS, A1, LAWS, A1, I1, "float64", by_value=True)
class UnscaledProblem(NamedTuple):
    """A problem in its own units, but for W.

    Attributes
    ----------
    blocks, ordering, pairs, laws
        As in `SparseProblem`, of W / w0.
    q : Array, shape (m,)
    rho, start : shapes (n,) and (n + 1,)
        Rows of block k are start[k]:start[k + 1].
    w0 : float
    """

    blocks: Blocks
    ordering: Ordering
    pairs: Pairs
    q: Array
    laws: Laws
    rho: Array
    start: IntArray
    w0: float


@kernel(f"Tuple((float64, float64))(UnscaledProblem, {A2}, {A1})")
def scale_blocks(problem: UnscaledProblem, Q: Array, own: Array) -> tuple[float, float]:
    """Put q in units of |q|, by blocks, into Q, and rho w0 into own; return their |rho q| and the unit of r."""
    q, rho, start, w0 = problem.q, problem.rho, problem.start, problem.w0
    top, size, weight = 0.0, 0.0, 0.0
    for i in range(len(q)):
        top = max(top, abs(q[i]))
    for i in range(len(q)):
        size += (q[i] / top) ** 2
    q0 = top * np.sqrt(size)
    for k in range(len(rho)):
        own[k] = rho[k] * w0
        for a in range(start[k + 1] - start[k]):
            Q[k, a] = q[start[k] + a] / q0
            weight += (own[k] * Q[k, a]) ** 2
    return float(np.sqrt(weight)), q0 / w0


@kernel(f"Tuple((float64, int64))(UnscaledProblem, {A1}, float64, int64, {A3}, {A1})", entry=True)
def proximal_from(
    problem: UnscaledProblem, state: Array, tol: float, limit: int, points: Array, r: Array
) -> tuple[float, int]:  # fmt: skip
    """`proximal_steps` for q, rho and r in the problem's own units; r becomes the best point.

    Where state[3] is infinite the points are set to r first. Returns E and the Newton steps.
    """
    n, start = len(problem.rho), problem.start
    Q, own = np.zeros((n, 3)), np.zeros(n)
    weight, unit = scale_blocks(problem, Q, own)
    scaled = SparseProblem(problem.blocks, problem.ordering, problem.pairs, Q, problem.laws, own)
    if not np.isfinite(state[3]):
        for k in range(n):
            for a in range(3):
                points[0, k, a] = r[start[k] + a] / unit if a < start[k + 1] - start[k] else 0.0
        points[1] = points[0]
        points[2] = points[0]
        state[3] = misfit_of(scaled, points[0], np.zeros((n, 3)), np.zeros((10, 6))) / weight
    E, steps = proximal_steps(scaled, weight, state, tol, limit, points)
    for k in range(n):
        for a in range(start[k + 1] - start[k]):
            r[start[k] + a] = points[0, k, a] * unit
    return E, steps


@kernel(f"Tuple((float64, int64))(SparseProblem, float64, float64, int64, {A2}, NewtonSpace)")
def falling_steps(
    problem: SparseProblem, weight: float, tol: float, limit: int, r: Array, space: NewtonSpace
) -> tuple[float, int]:  # fmt: skip
    """Newton's method on the law itself from r, with a proximal term in the matrix that falls with the residual.

    The last r is the centre, so that the term only chooses among the steps of a singular matrix; rho is that of
    `space`. Returns |F| / weight and the steps; r becomes the best point.
    """
    q, laws, C, D, V, rho = problem.q, problem.laws, space.C, space.D, space.V, space.rho
    u, F, du, dr, best_r = V[0], V[1], V[2], V[4], V[7]
    times(problem.blocks, r, u)
    for k in range(len(r)):
        for a in range(3):
            u[k, a] += q[k, a]
    size, stale, steps = linearised(laws, 0.0, u, r, space) / weight, 0, 0
    best = size
    best_r[:] = r
    while size > 0.1 * tol and steps < limit and stale < STALE and np.isfinite(size):
        alpha = min(max(SHARE * size, LEAST), MOST)
        for k in range(len(r)):
            for a in range(3):
                for b in range(3):
                    C[k, a, b] += alpha / rho[k] * D[k, a, b]
        newton_direction(problem, F, dr, space)
        times(problem.blocks, dr, du)
        size = stepped(laws, 0.0, size * weight, r, space) / weight
        steps += 1
        stale = 0 if size < 0.9 * best else stale + 1
        if size < best:
            best = size
            best_r[:] = r
    r[:] = best_r
    return best, steps


@kernel(f"Tuple((float64, int64))(UnscaledProblem, float64, int64, {A1})", entry=True)
def falling_from(problem: UnscaledProblem, tol: float, limit: int, r: Array) -> tuple[float, int]:
    """`falling_steps` for q, rho and r in the problem's own units; r becomes the best point."""
    n, start = len(problem.rho), problem.start
    Q, x, space = np.zeros((n, 3)), np.zeros((n, 3)), newton_space(n, problem.ordering, problem.pairs)
    weight, unit = scale_blocks(problem, Q, space.rho)
    scaled = SparseProblem(problem.blocks, problem.ordering, problem.pairs, Q, problem.laws, space.rho)
    for k in range(n):
        for a in range(start[k + 1] - start[k]):
            x[k, a] = r[start[k] + a] / unit
    E, steps = falling_steps(scaled, weight, tol, limit, x, space)
    for k in range(n):
        for a in range(start[k + 1] - start[k]):
            r[start[k] + a] = x[k, a] * unit
    return E, steps
