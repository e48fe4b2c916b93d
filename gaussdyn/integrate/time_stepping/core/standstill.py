"""Steps that leave nothing moving, to the last digits: `rest_correction`, compiled."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ..rest_correction import INSIDE, REST, ROUNDS, WORSE
from .contact_problem import Problem, residual, weight
from .linear import add_row, cholesky, cholesky_solve, multiply_nodes, row_dot, row_dot_abs
from .records import CONTACT, HIGH, LOW, MU, MU_S, Data, Layout

SINGULAR = 1e-12  # least pivot over diagonal from which all motion is held


@kernel("UniTuple(int64, 2)(Layout, Data, Problem, int64)", borrows=True)
def pushing_rows(layout: Layout, data: Data, problem: Problem, b: int) -> tuple[int, int]:
    """Return where the rows of a block begin and end; none if it does not push."""
    first, some = layout.start[problem.block[b]], False
    end = first + problem.start[b + 1] - problem.start[b]
    for i in range(first, end):
        some = some or data.p[i] != 0.0
    return first, end if some else first


@kernel(f"boolean(Layout, Data, Problem, {A2}, {A1})", borrows=True)
def holds_all(layout: Layout, data: Data, problem: Problem, K: Array, tol: Array) -> bool:
    """Put the factor of J^T J of the contacts that push into K; False if they leave some motion free.

    Also if something moves, or nothing at all; `tol` are the speeds at hand.
    """
    nv, rows, most = len(data.v), 0, 0.0
    for k in range(layout.counts[0]):
        if data.acts[k] and layout.kind[k] != CONTACT:
            return False
    for i in range(nv):
        for j in range(i + 1):
            K[i, j] = 0.0
    fastest = 0.0
    for b in range(problem.counts[0]):
        first, end = pushing_rows(layout, data, problem, b)
        for row in range(first, end):
            J, low = data.seen.J[row], layout.reach[row, LOW]
            u = row_dot(layout, data.seen.J, row, data.V[0]) + data.w[row]
            rows, fastest = rows + 1, max(fastest, abs(u))
            most = max(most, row_dot_abs(layout, data.seen.J, row, tol))
            for i in range(low, layout.reach[row, HIGH]):
                if J[i] != 0.0:
                    for j in range(low, i + 1):
                        K[i, j] += J[i] * J[j]
    if rows < nv or fastest == 0.0 or fastest > REST * most:
        return False
    return bool(cholesky(K, nv, problem.first) > SINGULAR)


@kernel(f"void(Layout, Data, Problem, {A1}, boolean)", borrows=True)
def add_push(layout: Layout, data: Data, problem: Problem, push: Array, add: bool) -> None:
    """Put push += J^T p of the blocks, or minus it."""
    for b in range(problem.counts[0]):
        first, end = pushing_rows(layout, data, problem, b)
        for i in range(first, end):
            add_row(layout, i, data.p[i] if add else -data.p[i], data.seen.J[i], push)


@kernel("void(Layout, Data, Problem)", borrows=True)
def cut(layout: Layout, data: Data, problem: Problem) -> None:
    """Cut off what leaves its cone."""
    for b in range(problem.counts[0]):
        k = problem.block[b]
        first = layout.start[k]
        d = min(problem.start[b + 1] - problem.start[b], 3)
        data.p[first], size = max(data.p[first], 0.0), 0.0
        for i in range(first + 1, first + d):
            size += data.p[i] ** 2
        most, size = max(data.seen.law[k, MU], data.seen.law[k, MU_S]) * data.p[first] * INSIDE, np.sqrt(size)
        if size > most:
            for i in range(first + 1, first + d):
                data.p[i] *= most / size


@kernel(f"void(Layout, Data, Problem, {A2}, {A1})", borrows=True)
def restore(layout: Layout, data: Data, problem: Problem, K: Array, goal: Array) -> None:
    """Put p += J (J^T J)^-1 (goal - J^T p), the least change that gives the momentum `goal`; over blocks that push."""
    left = data.V[5]
    for j in range(len(goal)):
        left[j] = goal[j]
    add_push(layout, data, problem, left, False)
    cholesky_solve(K, len(goal), problem.first, left)
    for b in range(problem.counts[0]):
        first, end = pushing_rows(layout, data, problem, b)
        for i in range(first, end):
            data.p[i] += row_dot(layout, data.seen.J, i, left)


@kernel("float64(Layout, Data, Problem)", borrows=True)
def residual_of(layout: Layout, data: Data, problem: Problem) -> float:
    """Return E of the impulses p."""
    for b in range(problem.counts[0]):
        first = layout.start[problem.block[b]]
        for a in range(problem.start[b + 1] - problem.start[b]):
            problem.r[problem.start[b] + a] = data.p[first + a]
    return residual(problem, weight(problem))


@kernel(f"float64(Layout, Data, Problem, {A2}, {A1}, float64, float64)", borrows=True)
def bring_to_rest(
    layout: Layout, data: Data, problem: Problem, K: Array, speeds: Array, E: float, goal: float
) -> float:  # fmt: skip
    """Remove the speed that contacts which stick forbid, where they forbid any motion; return E."""
    if problem.counts[2] > 0 or problem.counts[0] == 0 or not holds_all(layout, data, problem, K, speeds):
        return E
    nv, dx, push, old = len(data.v), data.V[3], data.V[4], problem.lam
    for j in range(nv):
        dx[j] = 0.0
    for i in range(layout.counts[1]):
        old[i] = data.p[i]
    for b in range(problem.counts[0]):
        first, end = pushing_rows(layout, data, problem, b)
        for i in range(first, end):
            u = row_dot(layout, data.seen.J, i, data.V[0]) + data.w[i]
            add_row(layout, i, -u, data.seen.J[i], dx)
    cholesky_solve(K, nv, problem.first, dx)
    multiply_nodes(data.M, layout.nodes, dx, push)
    add_push(layout, data, problem, push, True)
    restore(layout, data, problem, K, push)
    most = max(goal, WORSE * E)
    for _ in range(ROUNDS):
        found = residual_of(layout, data, problem)
        if most >= found:
            for j in range(nv):
                data.V[0, j] += dx[j]
            return found
        cut(layout, data, problem)
        restore(layout, data, problem, K, push)
    for i in range(layout.counts[1]):
        data.p[i] = old[i]
    residual_of(layout, data, problem)
    return E
