"""The contact problem of a step solved: velocities and impulses, from the impulses at hand.

Newton's method from these (`near_solution`) first; where it fails W is formed, and all attempts at a few blocks are
made (`programs.blocks.small`).
"""

from __future__ import annotations

import numpy as np

from ....._jit import A1, A3, caller, kernel
from .....arrays import EPS, Array
from .....linalg.envelope import backward_solve, cholesky_solve, forward_solve, part_dot
from .....linalg.redundant_rows import HELD
from .....linalg.sparse_rows import ROWS
from .....programs.blocks.small.attempts import one_alone
from .....programs.laws.projections import TABLE
from ...scheme import CLAIMED
from ..linear import add_row, back_nodes, row_dot, solve_nodes
from ..records import ALL_ROWS, ALONE, FIXED, PLUS, Data, Layout, Rows
from .contact_problem import APART, BLOCK_ROWS, BLOCKS, GUIDED, JOINT_ROWS, Problem, require, residual, weight
from .near_residual import CAPPED, COULOMB, DISAGREES, EQUATIONS, FRICTIONLESS, look
from .near_solution import READY, near_solution, share
from .planar_islands import solve_in_islands

attempt = caller(f"Tuple((float64, int64))({ROWS}, {A1}, {A3}, {TABLE}, {A1}, float64, int64, {A1})")
FAR = 0.5  # change of the impulses (relative) beyond which there may be another solution nearer to them
TRIMMED = 1e-9  # of a friction limit: what is above it by less is rounding
MOST_STEPS = 200  # proximal Newton steps: as many as the driver for block problems begins with


@kernel("void(Problem, boolean)", borrows=True)
def scale_caps(problem: Problem, back: bool) -> None:
    """Give caps the unit in which `first_attempts` solves, or take it back."""
    n, w0, top, size = problem.counts[BLOCK_ROWS], 0.0, 0.0, 0.0
    for i in range(n):
        w0 += abs(problem.W[i * n + i]) / n
        top = max(top, abs(problem.q[i]))
    for i in range(n):
        size += (problem.q[i] / top) ** 2
    scale = (w0 if w0 > 0.0 else 1.0) / (top * np.sqrt(size))
    for b in range(problem.counts[BLOCKS]):
        if problem.code[b] == CAPPED:
            problem.P[b, 1] *= 1.0 / scale if back else scale
            problem.P[b, 2] *= 1.0 / scale if back else scale


@kernel("float64(Problem, float64, boolean)", borrows=True)
def alone(problem: Problem, tol: float, some: bool) -> float:
    """Solve the only block there is, exactly; of several solutions the one near r; return E, -1 if it has none.

    Where the exact solution is far from r, Newton's method from r may find a nearer one; a block that sticks with
    friction stronger at rest is not let slip for that.
    """
    n, work = problem.counts[BLOCK_ROWS], problem.work
    rho, D, q, r, x = problem.rho[:1], problem.D[0], problem.q[:n], problem.r[:n], problem.past[:n]
    rows, P = (problem.W[: n * n], problem.indices[: n * n], problem.indptr[: n + 1]), problem.P[0]
    table, size, off = (problem.code[:1], problem.start[:2], problem.P[:1]), 0.0, 0.0
    for i in range(n):
        x[i] = problem.last[i] = r[i]
    E = float(one_alone(D, q, table, rho[0], r, work))
    for i in range(n):
        size, off = size + x[i] ** 2, off + (r[i] - x[i]) ** 2
    if not some or problem.code[0] == CAPPED or (tol >= E and off <= FAR * FAR * size):
        return E if tol >= E else -1.0
    near, _steps = attempt(problem.attempts, rows, q, problem.D[:1], table, rho, tol, -1, x)
    moved = 0.0
    for i in range(n):
        moved += (x[i] - problem.last[i]) ** 2
    if tol >= near and (not tol >= E or (moved < off and not P[1] > P[0])):
        for i in range(n):
            r[i] = x[i]
        return float(near)
    return E if tol >= E else -1.0


@kernel("float64(Problem, float64, float64, float64, boolean, boolean)", borrows=True, rare=True)
def solve_blocks(problem: Problem, tol: float, rough: float, size: float, capped: bool, some: bool) -> float:
    """Solve the blocks from r, r becomes the answer; return E.

    Newton's method from r first, all attempts where it does not come to `rough`.
    """
    blocks, n = problem.counts[BLOCKS], problem.counts[BLOCK_ROWS]
    rho, D, q, r = problem.rho[:blocks], problem.D[:blocks], problem.q[:n], problem.r[:n]
    code, P = problem.code[:blocks], problem.P[:blocks]
    table = (code, problem.start[: blocks + 1], P)
    rows = (problem.W[: n * n], problem.indices[: n * n], problem.indptr[: n + 1])
    for i in range(n):
        rows[2][i + 1] = (i + 1) * n
        for j in range(n):
            rows[1][i * n + j] = j
    if blocks == 1 and alone(problem, tol, some) >= 0.0:
        return residual(problem, size)
    if capped:
        scale_caps(problem, False)
    E, _steps = attempt(problem.attempts, rows, q, D, table, rho, tol, -1, r)
    if not max(tol, rough) >= E:
        E, _steps = attempt(problem.attempts, rows, q, D, table, rho, tol, MOST_STEPS, r)
    if capped:
        scale_caps(problem, True)
    return residual(problem, size)


@kernel("boolean(Problem, float64, float64)", borrows=True)
def share_anew(problem: Problem, tol: float, size: float) -> bool:
    """Share what blocks bear that depend on one another, once r solves them; return whether r is another now."""
    blocks, n = problem.counts[BLOCKS], problem.counts[BLOCK_ROWS]
    table = (problem.code[:blocks], problem.start[: blocks + 1], problem.P[:blocks])
    q, r, rho, near = problem.q[:n], problem.r[:n], problem.rho[:blocks], problem.near
    for i in range(n):
        near.before[i] = r[i]
    look(near, problem.W, q, table, rho, r)
    near.size[EQUATIONS] = 0
    return bool(tol >= share(near, problem.W, q, table, rho, r, (tol, 0.0, 0.0), size))


@kernel("boolean(Problem, float64)", borrows=True)
def trim(problem: Problem, most: float) -> bool:
    """Take off friction what is above its limit by no more than rounding; return whether there was any.

    Or by no more than `most`, N s: what a solution may be off by, which beside the small friction of one point among
    many is no rounding.
    """
    some = False
    for b in range(problem.counts[BLOCKS]):
        code, P = problem.code[b], problem.P[b]
        if code not in (COULOMB, GUIDED, CAPPED):
            continue
        first, end = problem.start[b] + (0 if code == CAPPED else 1), problem.start[b + 1]
        limit, size = P[1] if code == CAPPED else P[1] * abs(problem.r[problem.start[b]]), 0.0
        for i in range(first, end):
            size += problem.r[i] ** 2
        size = np.sqrt(size)
        if limit < size <= max((1.0 + TRIMMED) * limit, limit + most):
            some = True
            for i in range(first, end):
                problem.r[i] *= (1.0 - EPS) * limit / size
    return some


@kernel("boolean(Problem)", borrows=True)
def rests_stronger(problem: Problem) -> bool:
    """Return whether some friction is stronger at rest: what can stick is not let slip, as Newton's method might."""
    some = False
    for b in range(problem.counts[BLOCKS]):
        P = problem.P[b]
        some = some or P[1] > (P[2] if problem.code[b] == CAPPED else P[0])
    return bool(some)


@kernel("UniTuple(float64, 2)(Layout, Rows, Data, Problem, UniTuple(float64, 3))", borrows=True)
def solve_contacts(
    layout: Layout, rows: Rows, data: Data, problem: Problem, goals: tuple[float, float, float]
) -> tuple[float, float]:  # fmt: skip
    """Solve the blocks to E <= tol from r; return E and its rounding, which counts as solved in any case.

    goals: see `near_solution`. Where E <= rough, or the data disagree by no more than the last of them, only Newton's
    method from r is tried; by CLAIMED at most, that counts as rounding, too.
    """
    tol, rough, apart = goals
    blocks, n, capped, still, some = problem.counts[BLOCKS], problem.counts[BLOCK_ROWS], False, True, False
    q, r, rho, total = problem.q[:n], problem.r[:n], problem.rho[:blocks], 0.0
    for i in range(n):
        still = still and q[i] == 0.0
        some = some or r[i] != 0.0
    if still:
        for i in range(n):
            problem.r[i] = 0.0
        return 0.0, 0.0
    size, E = weight(problem), np.inf
    for b in range(blocks):
        capped = capped or problem.code[b] == CAPPED
    rests, table = rests_stronger(problem), (problem.code[:blocks], problem.start[: blocks + 1], problem.P[:blocks])
    if problem.counts[APART] and solve_in_islands(layout, rows, data, problem, tol):
        E = residual(problem, size)
    elif not rests:
        E = near_solution(problem.near, problem.W, q, table, rho, r, goals, size)
    if not max(tol, rough, apart) >= E:
        require(layout, rows, data, problem)
        E = solve_blocks(problem, tol, rough, size, capped, some)
        if tol >= E and not rests and share_anew(problem, tol, size):
            E = residual(problem, size)
    for i in range(n):
        total += problem.r[i] ** 2
    floor = min(10.0 * EPS * np.sqrt(total) / size, 1e-8) if size > EPS else 0.0
    if trim(problem, tol * size):
        E = residual(problem, size)
    return E, max(floor, E) if problem.near.size[DISAGREES] and CLAIMED >= E else floor


@kernel(f"void(Layout, Data, {A1}, {A1})", borrows=True)
def add_lifted(layout: Layout, data: Data, y: Array, x: Array) -> None:
    """Add to x the velocities L^-1 y that a sum y of rows of `Problem.Z` leads to; y becomes these."""
    back_nodes(data.L, data.inverse, layout, y)
    for j in range(len(x)):
        x[j] += y[j]


@kernel(f"void(Layout, Rows, Data, Problem, {A1})", borrows=True)
def hold(layout: Layout, rows: Rows, data: Data, problem: Problem, x: Array) -> None:
    """Remove what rounding has left of the rates of joints."""
    g, at, lam = problem.counts[JOINT_ROWS], problem.at, problem.lam
    if g == 0:
        return
    for k in range(g):
        lam[k] = row_dot(layout, rows.J, at[k], x) + data.w[at[k]] + problem.soft[k] * data.p[at[k]]
    cholesky_solve(problem.S, g, problem.first, lam)
    y = data.V[15]
    for j in range(len(x)):
        y[j] = 0.0
    for k in range(g):
        data.p[at[k]] -= lam[k]
        add_row(layout, at[k], -lam[k], problem.Z[k], y)
    add_lifted(layout, data, y, x)


@kernel(f"float64({A1}, {A1}, int64)", borrows=True)
def abs_dot(x: Array, y: Array, n: int) -> float:
    """Return the sum of |x y|, by which rounding of x . y is measured."""
    total = 0.0
    for k in range(n):
        total += abs(x[k] * y[k])
    return total


@kernel(f"void(Layout, Rows, Data, Problem, {A1})", borrows=True)
def put_rates_of(layout: Layout, rows: Rows, data: Data, problem: Problem, x: Array) -> None:
    """Put the rates of joints for x (lam, by the factor of S, forward), those of blocks once joints hold, r from p.

    What joints hold by themselves moves by rounding, which had friction there take any side: it bears nothing.
    """
    g, n, at, lam = problem.counts[JOINT_ROWS], problem.counts[BLOCK_ROWS], problem.at, problem.lam
    for i in range(g):
        lam[i] = row_dot(layout, rows.J, at[i], x) + data.w[at[i]]
    if g > 0:
        forward_solve(problem.S, g, problem.first, lam)
    for i in range(n):
        s = row_dot(layout, rows.J, at[g + i], x) + data.w[at[g + i]]
        problem.q[i], problem.r[i] = s - part_dot(problem.C[i], lam, 0, g), data.p[at[g + i]]
        if g > 0 and problem.W[i * n + i] == 0.0 and abs(problem.q[i]) <= HELD * abs_dot(problem.C[i], lam, g):
            problem.q[i] = problem.r[i] = 0.0


@kernel(f"void(Layout, Rows, Data, Problem, float64, {A1})", borrows=True)
def put_free_motion(layout: Layout, rows: Rows, data: Data, problem: Problem, dt: float, x: Array) -> None:
    """Put x without impulses but those of dry joints that slide, and what `put_rates_of` does for it."""
    for i in range(len(x)):
        x[i] = data.h[i]
    for k in range(layout.counts[FIXED]):
        if data.slides[k] != 0.0:
            j = layout.reach[layout.start[k], ALONE] - 1
            x[j] += rows.J[layout.start[k], j] * data.slides[k] / dt
    solve_nodes(data.L, data.inverse, layout, x, x)
    for i in range(len(x)):
        x[i] = data.v[i] + dt * x[i]
    put_rates_of(layout, rows, data, problem, x)


@kernel(f"void(Layout, Data, Problem, {A1})", borrows=True)
def take_reactions(layout: Layout, data: Data, problem: Problem, x: Array) -> None:
    """Put the impulses p that the reactions r of blocks are and lead to in joints, and add their velocities to x."""
    g, n, at, lam = problem.counts[JOINT_ROWS], problem.counts[BLOCK_ROWS], problem.at, problem.lam
    for i in range(layout.counts[ALL_ROWS]):
        data.p[i] = 0.0
    for k in range(layout.counts[FIXED]):
        if data.slides[k] != 0.0:
            data.p[layout.start[k]] = data.slides[k]
    for i in range(n if g > 0 else 0):
        for k in range(g if problem.r[i] != 0.0 else 0):
            lam[k] += problem.C[i, k] * problem.r[i]
    if g > 0:
        backward_solve(problem.S, g, problem.first, lam)
    for k in range(g):
        data.p[at[k]] = -lam[k]
    for i in range(n):
        data.p[at[g + i]] = problem.r[i]
    y = data.V[15]
    for j in range(len(x)):
        y[j] = 0.0
    for i in range(g + n):
        p = data.p[at[i]]
        if p != 0.0:
            add_row(layout, at[i], p, problem.Z[i], y)
    add_lifted(layout, data, y, x)


@kernel(f"boolean(Layout, Rows, Data, Problem, {A1}, float64)", borrows=True)
def solve_roughly(layout: Layout, rows: Rows, data: Data, problem: Problem, x: Array, rough: float) -> bool:
    """Solve from p where E of these is above `rough`, by Newton's method; free motion x becomes what that leads to.

    Returns whether it did: else p and x stay as they are.
    """
    blocks, n, size = problem.counts[BLOCKS], problem.counts[BLOCK_ROWS], 0.0
    if n > 0:
        put_rates_of(layout, rows, data, problem, x)
        size = weight(problem)
    if not size > 0.0 or rests_stronger(problem):
        return False
    table = (problem.code[:blocks], problem.start[: blocks + 1], problem.P[:blocks])
    q, r, rho = problem.q[:n], problem.r[:n], problem.rho[:blocks]
    goal, same = rough / READY, True
    if not goal >= near_solution(problem.near, problem.W, q, table, rho, r, (goal, goal, 0.0), size):
        return False
    for i in range(n):
        same = same and r[i] == data.p[problem.at[problem.counts[JOINT_ROWS] + i]]
    if same:
        return False
    take_reactions(layout, data, problem, x)
    return True


@kernel(f"float64(Layout, Rows, Data, Problem, float64, {A1})", borrows=True)
def claimed(layout: Layout, rows: Rows, data: Data, problem: Problem, dt: float, x: Array) -> float:
    """Return the residual E of the impulses p in the problem as it is now; x is work space."""
    if problem.counts[BLOCK_ROWS] == 0:
        return 0.0
    put_free_motion(layout, rows, data, problem, dt, x)
    return residual(problem, weight(problem))


@kernel("UniTuple(float64, 2)(Layout, Rows, Data, Problem, float64, UniTuple(float64, 3), boolean)", borrows=True)
def solve(
    layout: Layout, rows: Rows, data: Data, problem: Problem, dt: float, goals: tuple[float, float, float], loose: bool
) -> tuple[float, float]:  # fmt: skip
    """Solve for v+ (data.V[PLUS]) and the impulses p of all rows, from those in p; return E and its rounding.

    u+ = J v+ + w; the mass, the force h and w are those in `data`. `goals`: see `near_solution`. loose: whether
    `hold` is left to the caller.
    """
    g, n, at, x, lam = problem.counts[JOINT_ROWS], problem.counts[BLOCK_ROWS], problem.at, data.V[PLUS], problem.lam
    E = floor = 0.0
    problem.near.size[DISAGREES] = 0
    put_free_motion(layout, rows, data, problem, dt, x)
    if n > 0:
        E, floor = solve_contacts(layout, rows, data, problem, goals)
    take_reactions(layout, data, problem, x)
    if not loose:
        hold(layout, rows, data, problem, x)
    if n == 1 and g == 0 and data.p[at[0]] > 0.0 and problem.code[0] == FRICTIONLESS:
        lam[0] = (row_dot(layout, rows.J, at[0], x) + data.w[at[0]]) / problem.W[0]  # rounding of the free motion
        y = data.V[15]
        for j in range(len(x)):
            y[j] = 0.0
        add_row(layout, at[0], -lam[0], problem.Z[0], y)
        add_lifted(layout, data, y, x)
    return E, floor
