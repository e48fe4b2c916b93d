"""Rest to the last digits, with joints and with motions that nothing holds.

Where all contacts that push stick, their rows and those of joints, J, allow no motion but that in their null space.
The speed left of the others is rounding, and is taken away by the least change there is,

    J dx = -u,    dx orthogonal (in the metric of the mass) to the null space of J

and the impulses follow from the momentum, J^T dp = M dx. Where pivots tell which rows are independent, dp of these
solves J M^-1 J^T dp = -u, and the others, which depend on them, follow.
Else both come from one Cholesky factor of J^T J; motions that its pivots show to be free are left out of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, I1, kernel, record
from .....arrays import EPS, Array, IntArray
from .....linalg.envelope import cholesky, cholesky_solve
from ...scheme import INSIDE, REST, REST_ROUNDS, WORSE
from ..linear import add_row, back_nodes, dot, multiply_abs, multiply_mass, row_dot, row_dot_abs
from ..records import HIGH, LOW, PLUS, Data, Layout
from .contact_problem import (
    ASSEMBLED,
    BLOCK_ROWS,
    BLOCKS,
    FORMED,
    GUIDED,
    JOINT_ROWS,
    Problem,
    require,
    residual,
    weight,
)
from .near_residual import CAPPED

APART = 1e-8  # pivot over diagonal of J M^-1 J^T above which rows are stopped one by one
STILL = 32.0  # roundings of the largest speed at hand that are no motion
NOTHING, ROWS, MOTIONS = range(3)  # what a factor is of
SINGULAR = 1e-12  # pivot over diagonal of J^T J up to which a motion is free; of J M^-1 J^T a row depends on others


@record(A2, I1, A1, I1, I1, I1)
class Standstill(NamedTuple):
    """Work space.

    Attributes
    ----------
    K : Array, shape (max(nv, m), max(nv, m))
        Lower part: factor of J^T J, with infinite pivots for motions that are free. Above the diagonal: these, a column
        each, orthonormal in the metric of the mass. Or the factor of J M^-1 J^T of the rows that hold.
    first : IntArray, shape (max(nv, m),)
        First entries of the rows of the factor, see `envelope.cholesky`.
    own : Array, shape (nv,)
        The last entry of every free motion, 0: that velocity is held.
    holds, held : IntArray, shape (m,)
        Whether a row of the problem that acts is one of J; whether it was when K was made.
    made : IntArray, shape (2,)
        What K is: NOTHING, a factor of ROWS, or of MOTIONS; of which problem, see `Problem.counts`.
    """

    K: Array
    first: IntArray
    own: Array
    holds: IntArray
    held: IntArray
    made: IntArray


def room(m: int, nv: int) -> Standstill:
    """Return work space for m rows."""
    size = max(nv, m)
    first, holds, held, made = (np.zeros(k, dtype=np.int64) for k in (size, m, m, 2))
    return Standstill(np.zeros((size, size)), first, np.zeros(nv), holds, held, made)


@kernel("void(Data, Problem, Standstill)", borrows=True)
def find_holding(data: Data, problem: Problem, still: Standstill) -> None:
    """Mark the rows of joints and those of blocks that push; dampers hold nothing."""
    joints = problem.counts[JOINT_ROWS]
    for i in range(joints):
        still.holds[i] = problem.soft[i] == 0.0
    for b in range(problem.counts[BLOCKS]):
        first, end, some = joints + problem.start[b], joints + problem.start[b + 1], False
        for i in range(first, end):
            some = some or data.p[problem.at[i]] != 0.0
        for i in range(first, end):
            still.holds[i] = some


@kernel("void(Problem, Standstill)", borrows=True)
def forget_factor(problem: Problem, still: Standstill) -> None:
    """Have K be nothing, unless it was made for these rows and the same ones hold."""
    same = still.made[1] == problem.counts[ASSEMBLED]
    for k in range(problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]):
        same = same and still.held[k] == still.holds[k]
        still.held[k] = still.holds[k]
    still.made[0], still.made[1] = still.made[0] if same else NOTHING, problem.counts[ASSEMBLED]


@kernel(f"boolean(Layout, Data, Problem, Standstill, {A1})", borrows=True)
def creeps(layout: Layout, data: Data, problem: Problem, still: Standstill, tol: Array) -> bool:
    """Return whether rounding, and no more, moves the rows that hold; their speeds become `problem.lam`."""
    fastest = most = 0.0
    for k in range(problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]):
        if still.holds[k] != 0:
            row = problem.at[k]
            problem.lam[k] = row_dot(layout, data.seen.J, row, data.V[PLUS]) + data.w[row]
            fastest = max(fastest, abs(problem.lam[k]))
            most = max(most, row_dot_abs(layout, data.seen.J, row, tol))
    return fastest != 0.0 and fastest <= REST * most


@kernel(f"boolean(Layout, Data, {A1}, {A1})", borrows=True)
def stands(layout: Layout, data: Data, speeds: Array, Mx: Array) -> bool:
    """Return whether all velocities are what rounding leaves of the largest speeds at hand; they become zero.

    In the metric of the mass: speeds of one coordinate become those of others. Mx is work space.
    """
    multiply_abs(data.M, layout.nodes, speeds, Mx)
    most = dot(speeds, Mx)
    multiply_mass(data.M, layout.nodes, data.V[PLUS], Mx)
    still = dot(data.V[PLUS], Mx) <= (STILL * EPS) ** 2 * most
    for j in range(len(speeds) if still else 0):
        data.V[PLUS, j] = 0.0
    return bool(still)


@kernel("boolean(Layout, Data, Problem, Standstill)", borrows=True, rare=True)
def factor_rows(layout: Layout, data: Data, problem: Problem, still: Standstill) -> bool:
    """Put the factor of J M^-1 J^T of the rows that hold; False where they are near dependent, or it is dear.

    Rows that depend on others are left out of it.
    """
    K, n, total = still.K, 0, problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]
    for k in range(total):
        n += still.holds[k]
    if n > len(data.v) and problem.counts[FORMED] == 0:
        return False
    require(layout, data.seen, data, problem)
    n = 0
    for k in range(total):
        if still.holds[k] != 0:
            a = 0
            for l in range(k + 1):
                if still.holds[l] != 0:
                    K[n, a] = problem.A[k, l]
                    a += 1
            n += 1
    return bool(cholesky(K, n, still.first, SINGULAR) > APART)


@kernel("void(Layout, Data, Problem, Standstill)", borrows=True)
def factor_motions(layout: Layout, data: Data, problem: Problem, still: Standstill) -> None:
    """Put the factor of J^T J."""
    nv, K = len(data.v), still.K
    for i in range(nv):
        for j in range(i + 1):
            K[i, j] = 0.0
    for k in range(problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]):
        if still.holds[k] == 0:
            continue
        row = problem.at[k]
        J, low = data.seen.J[row], layout.reach[row, LOW]
        for i in range(low, layout.reach[row, HIGH]):
            if J[i] != 0.0:
                for j in range(low, i + 1):
                    K[i, j] += J[i] * J[j]
    cholesky(K, nv, still.first, SINGULAR)


@kernel(f"void(Layout, Data, Standstill, int64, {A1}, {A1})", borrows=True)
def remove_free(layout: Layout, data: Data, still: Standstill, n: int, x: Array, Mx: Array) -> None:
    """Take out of x its part along the first n velocities' free motions (Gram-Schmidt); Mx is work space."""
    K, some = still.K, False
    for f in range(n):
        some = some or still.own[f] != 0.0
    if not some:
        return
    multiply_mass(data.M, layout.nodes, x, Mx)
    for f in range(n):
        if still.own[f] == 0.0:
            continue
        c = still.own[f] * Mx[f]
        for i in range(f):
            c += K[i, f] * Mx[i]
        x[f] -= c * still.own[f]
        for i in range(f):
            x[i] -= c * K[i, f]


@kernel("void(Layout, Data, Standstill)", borrows=True)
def find_free(layout: Layout, data: Data, still: Standstill) -> None:
    """Put the motions that J leaves free, orthonormal in the metric of the mass."""
    nv, K, z, Mz = len(data.v), still.K, data.V[11], data.V[12]
    for f in range(nv):
        still.own[f] = 0.0
        if K[f, f] != np.inf:
            continue
        for j in range(nv):
            z[j] = 0.0
        z[f] = 1.0
        for i in range(f - 1, -1, -1):
            s = -K[f, i]
            for k in range(i + 1, f):
                s -= K[k, i] * z[k]
            z[i] = s / K[i, i]
        for _ in range(2):  # once more, for what cancels
            remove_free(layout, data, still, f, z, Mz)
        multiply_mass(data.M, layout.nodes, z, Mz)
        size = np.sqrt(dot(z, Mz))
        still.own[f] = z[f] / size
        for i in range(f):
            K[i, f] = z[i] / size


@kernel(f"void(Layout, Data, Problem, Standstill, {A1}, float64)", borrows=True)
def add_push(layout: Layout, data: Data, problem: Problem, still: Standstill, push: Array, sign: float) -> None:
    """Put push += sign J^T p."""
    for k in range(problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]):
        if still.holds[k] != 0:
            row = problem.at[k]
            add_row(layout, row, sign * data.p[row], data.seen.J[row], push)


@kernel("void(Layout, Data, Problem)", borrows=True)
def cut(layout: Layout, data: Data, problem: Problem) -> None:
    """Cut off what leaves its cone."""
    for b in range(problem.counts[BLOCKS]):
        code, row = problem.code[b], layout.start[problem.block[b]]
        d, size = min(problem.start[b + 1] - problem.start[b], 3), 0.0
        normal, most = 0 if code == CAPPED else 1, problem.P[b, 1]
        if code != CAPPED:
            data.p[row] = data.p[row] if code == GUIDED else max(data.p[row], 0.0)
            most = max(most, problem.P[b, 0]) * abs(data.p[row])
        for i in range(row + normal, row + d):
            size += data.p[i] ** 2
        most, size = most * INSIDE, np.sqrt(size)
        if size > most:
            for i in range(row + normal, row + d):
                data.p[i] *= most / size


@kernel(f"void(Layout, Data, Problem, Standstill, {A1})", borrows=True)
def restore(layout: Layout, data: Data, problem: Problem, still: Standstill, goal: Array) -> None:
    """Put p += J (J^T J)^-1 (goal - J^T p), the least change that gives the momentum `goal`."""
    left = data.V[5]
    for j in range(len(goal)):
        left[j] = goal[j]
    add_push(layout, data, problem, still, left, -1.0)
    cholesky_solve(still.K, len(goal), still.first, left)
    for k in range(problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]):
        if still.holds[k] != 0:
            data.p[problem.at[k]] += row_dot(layout, data.seen.J, problem.at[k], left)


@kernel("float64(Layout, Data, Problem)", borrows=True, rare=True)
def residual_of(layout: Layout, data: Data, problem: Problem) -> float:
    """Return E of the impulses p."""
    for i in range(problem.counts[BLOCK_ROWS]):
        problem.r[i] = data.p[problem.at[problem.counts[JOINT_ROWS] + i]]
    return residual(problem, weight(problem))


@kernel(f"float64(Layout, Data, Problem, Standstill, {A1}, float64)", borrows=True, rare=True)
def stop_rows(layout: Layout, data: Data, problem: Problem, still: Standstill, dx: Array, most: float) -> float:
    """Remove the speeds of rows, `problem.lam`, by their own impulses; return E, NaN if it is above `most`.

    These impulses alone do it: M dx = J^T dp.
    """
    n, total, y = 0, problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS], problem.last
    for k in range(total):
        problem.past[k] = data.p[problem.at[k]]
        if still.holds[k] != 0:
            y[n] = -problem.lam[k]
            n += 1
    cholesky_solve(still.K, n, still.first, y)
    n = 0
    for j in range(len(dx)):
        dx[j] = 0.0
    for k in range(total):
        if still.holds[k] != 0:
            data.p[problem.at[k]] += y[n]
            add_row(layout, problem.at[k], y[n], problem.Z[k], dx)
            n += 1
    back_nodes(data.L, data.inverse, layout, dx)
    found = residual_of(layout, data, problem)
    if most >= found:
        for j in range(len(dx)):
            data.V[PLUS, j] += dx[j]
        return found
    for k in range(total):
        data.p[problem.at[k]] = problem.past[k]
    return np.nan


@kernel(f"float64(Layout, Data, Problem, Standstill, {A1}, {A1}, float64)", borrows=True, rare=True)
def stop_motions(
    layout: Layout, data: Data, problem: Problem, still: Standstill, dx: Array, push: Array, most: float
) -> float:  # fmt: skip
    """Remove the speeds of rows, `problem.lam`, by the least change of the velocities; return E, NaN if above `most`.

    `push` takes its momentum, which the impulses follow, within their cones.
    """
    nv, total = len(dx), problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]
    if still.made[0] != MOTIONS:
        factor_motions(layout, data, problem, still)
        find_free(layout, data, still)
        still.made[0] = MOTIONS
    for j in range(nv):
        dx[j] = 0.0
    for k in range(total):
        problem.past[k] = data.p[problem.at[k]]
        if still.holds[k] != 0:
            add_row(layout, problem.at[k], -problem.lam[k], data.seen.J[problem.at[k]], dx)
    cholesky_solve(still.K, nv, still.first, dx)
    remove_free(layout, data, still, nv, dx, push)
    multiply_mass(data.M, layout.nodes, dx, push)
    add_push(layout, data, problem, still, push, 1.0)
    restore(layout, data, problem, still, push)
    for _ in range(REST_ROUNDS):
        found = residual_of(layout, data, problem)
        if most >= found:
            for j in range(nv):
                data.V[PLUS, j] += dx[j]
            return found
        cut(layout, data, problem)
        restore(layout, data, problem, still, push)
    for k in range(total):
        data.p[problem.at[k]] = problem.past[k]
    return np.nan


@kernel(f"float64(Layout, Data, Problem, Standstill, {A1}, float64, float64)", borrows=True)
def bring_to_rest(
    layout: Layout, data: Data, problem: Problem, still: Standstill, speeds: Array, E: float, goal: float
) -> float:  # fmt: skip
    """Remove the speed that joints and contacts which stick forbid; return E."""
    dx, push, most = data.V[3], data.V[4], max(goal, WORSE * E)
    if problem.counts[BLOCKS] == 0:
        return E
    find_holding(data, problem, still)
    if not creeps(layout, data, problem, still, speeds) or stands(layout, data, speeds, push):
        return E
    forget_factor(problem, still)
    if still.made[0] == NOTHING and factor_rows(layout, data, problem, still):
        still.made[0] = ROWS
    if still.made[0] == ROWS:
        found = stop_rows(layout, data, problem, still, dx, most)
        if most >= found:
            return found
    found = stop_motions(layout, data, problem, still, dx, push, most)
    if most >= found:
        return found
    residual_of(layout, data, problem)
    return E
