"""A few contacts in one compiled call: scaled, swept, and solved by the proximal Newton method if need be.

The attempts are those with which `solve_blocks` begins; nothing here is a method of its own. Laws with parameters that
have units (Dry) and columns that act with |r| are left to the general way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.sparse_rows import ROWS, Rows
from ...laws.natural_map import residual_within
from ...laws.projections import TABLE, Table, length, natural
from ..gauss_seidel.sweeps import one_sweep
from ..newton.dense_falling import FALLS, falling_within
from ..newton.dense_newton import SPACE, DenseProblem, DenseSpace, newton_within
from ..one_block import simple_block
from .rest import EVENED, NEAR, SPARE, fastest_slip, overloaded, rest_from

SWEEPS = 2  # before Newton's method: they settle most modes
SLOW = 0.3  # slip (of |q|) after the sweeps up to which contacts may be at rest
RESTS = 8  # most tries to hold them
FIRM = 1e-4  # first fixed proximal term where these do not get there
BOLD = 10  # Newton steps within which a problem with a fixed one must be solved


@record(ROWS, A1, TABLE, A1, "float64", by_value=True)
class SmallProblem(NamedTuple):
    """A problem u = W r + q of n rows, scaled: the mean diagonal of W is one, and |q|.

    Attributes
    ----------
    rows : Rows
        W.
    q : Array, shape (n,)
    table : Table
        The laws.
    rho : Array, shape (blocks,)
    weight : float
        |rho q|.
    """

    rows: Rows
    q: Array
    table: Table
    rho: Array
    weight: float


@record(A1, A2, A1, A3, A2, A3, A1, I1, A2, by_value=True)
class SmallSpace(NamedTuple):
    """Work space for n rows in so many blocks.

    Attributes
    ----------
    numbers : Array, shape (n n + n + blocks,)
        The entries of W by rows, q and rho, scaled.
    W : Array, shape (n, n)
    own : Array, shape (blocks,)
        Step sizes of the equations of a method.
    D : Array, shape (blocks, 6, 6)
        Diagonal blocks of W.
    V : Array, shape (SPACE + 4, n)
        Vectors of Newton's method, then those of the attempts.
    Y, A, place :
        See `DenseSpace`.
    work : Array, shape (17, 6)
    """

    numbers: Array
    W: Array
    own: Array
    D: Array
    V: Array
    Y: Array
    A: Array
    place: IntArray
    work: Array


@kernel("SmallSpace(int64, int64)")
def work_space(n: int, blocks: int) -> SmallSpace:
    """Return work space for problems of n rows in so many blocks."""
    numbers, W = np.zeros(n * n + n + blocks), np.zeros((n, n))
    sizes, D, V = np.zeros(blocks), np.zeros((blocks, 6, 6)), np.zeros((SPACE + 4, n))
    Y, A, place = np.zeros((blocks, 6, 6)), np.zeros(2 * n * n), np.zeros(2 * n, np.int64)
    return SmallSpace(numbers, W, sizes, D, V, Y, A, place, np.zeros((17, 6)))


@kernel(f"Tuple((float64, int64))(SmallProblem, float64, float64, {A1}, {A1}, float64, int64, SmallSpace)")
def newton_at(
    problem: SmallProblem, alpha: float, g: float, centre: Array, x: Array, goal: float, limit: int, space: SmallSpace
) -> tuple[float, int]:
    """Newton steps at fixed alpha and centre from x, with the step g rho; returns |F| / |rho q| and the steps."""
    W, own, rho = space.W, space.own, problem.rho
    for k in range(len(rho)):
        own[k] = g * rho[k]
    dense = DenseProblem(W, W[:0], problem.q, problem.table, own)
    within = DenseSpace(space.V, space.Y, space.A, space.place, space.work[:8])
    size, taken = newton_within(dense, g * alpha, centre, x, goal * problem.weight, limit, within)
    return size / problem.weight, taken


@kernel(f"float64(SmallProblem, {A1}, SmallSpace)", borrows=True)
def error_at(problem: SmallProblem, r: Array, space: SmallSpace) -> float:
    """Return E of r."""
    rows, q, table, rho, weight = problem
    return residual_within(rows, space.W[:0], q, r, table, rho, space.work) / weight


@kernel(f"Tuple((float64, int64))(SmallProblem, float64, {A1}, float64, SmallSpace)")
def resting(problem: SmallProblem, tol: float, r: Array, E: float, space: SmallSpace) -> tuple[float, int]:
    """Try whether friction holds the contacts at rest, if little slips; r becomes the best point. Returns E and tries.

    The reactions found have the right directions where friction is just too weak, too.
    """
    q, table, W, V, A, place = problem.q, problem.table, space.W, space.V, space.A, space.place
    if not fastest_slip(W, q, table, r) < SLOW:
        return E, 0
    x, last = V[FALLS], np.inf
    x[:] = r
    for k in range(RESTS):  # r_N, and with it the weights, are mostly right the second time
        if not rest_from(W, q, table, x, NEAR if k == 0 else -NEAR, place, V[:4], A):
            return E, k
        new = error_at(problem, x, space)
        if new < E:
            E = new
            r[:] = x
        if 0.1 * tol >= E or not (k == 0 or new < 0.5 * last) or overloaded(table, x, SPARE if k == 0 else EVENED):
            return E, k + 1
        last = new
    return E, RESTS


@kernel(f"Tuple((float64, int64))(SmallProblem, float64, {A1}, float64, SmallSpace)")
def falling(problem: SmallProblem, tol: float, r: Array, E: float, space: SmallSpace) -> tuple[float, int]:
    """Newton's method with a falling proximal term, twice; r becomes the best point. Returns E and the steps.

    Where the equations for one step size stall, those for another do not.
    """
    W, own, rho, x, steps = space.W, space.own, problem.rho, space.V[FALLS], 0
    dense = DenseProblem(W, W[:0], problem.q, problem.table, own)
    within = DenseSpace(space.V, space.Y, space.A, space.place, space.work[:8])
    for g, patience in ((3.0, 3), (30.0, 5)):
        x[:] = r
        for k in range(len(rho)):
            own[k] = g * rho[k]
        size, more = falling_within(dense, g, problem.weight, x, tol, patience, within)
        steps += more
        new = error_at(problem, x, space) if np.isfinite(size) else np.inf
        if new < E:
            E = new
            r[:] = x
        if 0.1 * tol >= E:
            break
    return E, steps


@kernel(f"Tuple((float64, int64))(SmallProblem, float64, {A1}, float64, SmallSpace)", rare=True)
def bold_steps(problem: SmallProblem, tol: float, r: Array, E: float, space: SmallSpace) -> tuple[float, int]:
    """Proximal Newton steps from r with a small alpha; r becomes the best point. Ends where it is not quick."""
    x, centre, alpha, steps = space.V[SPACE], space.V[SPACE + 1], FIRM, 0
    x[:] = r
    for _ in range(4):
        centre[:] = x
        goal = max(0.03 * tol, min(0.1 * E, 1e-2))
        size, taken = newton_at(problem, alpha, 1.0, centre, x, goal, BOLD, space)
        steps += taken
        new = error_at(problem, x, space) if np.isfinite(size) else np.inf
        quick = new < 0.5 * E
        if new < E:
            E = new
            r[:] = x
        if 0.1 * tol >= E or not quick:
            break
        alpha = 1e-2 * alpha
    return E, steps


@kernel(f"Tuple((float64, int64))(SmallProblem, float64, int64, {A1}, SmallSpace)", rare=True)
def proximal_dense(problem: SmallProblem, tol: float, limit: int, r: Array, space: SmallSpace) -> tuple[float, int]:
    """The proximal point iteration of `backends.newton` from r = 0; r becomes the best point. Returns E and steps."""
    x, centre, steps, fails, alpha = space.V[SPACE], space.V[SPACE + 1], 0, 0, 1.0
    r[:] = 0.0
    x[:] = 0.0
    centre[:] = 0.0
    best = error_at(problem, r, space)
    while best > 0.1 * tol and steps < limit and fails < 8:
        g = 1.0 / np.sqrt(min(max(alpha, 1e-12), 1.0))
        goal = max(0.03 * tol, min(1e-2 * best, 1e-2))
        size, taken = newton_at(problem, alpha, g, centre, x, goal, min(15, limit - steps), space)
        steps += taken + 1
        E = error_at(problem, x, space) if np.isfinite(size) else np.inf
        if size > max(tol, 0.1 * min(best, 1.0)) or not np.isfinite(E):
            alpha, fails = min(alpha * 7.0, 1e3), fails + 1
            x[:] = centre
            continue
        centre[:] = x
        alpha, fails = max(0.1 * alpha, 1e-9), 0 if best > E else fails + 1
        if best > E:
            best = E
            r[:] = x
    return best, steps


@kernel(f"float64({A2}, {A1}, {TABLE}, float64, {A1}, {A2})", borrows=True)
def one_alone(W: Array, q: Array, table: Table, rho: float, r: Array, work: Array) -> float:
    """Solve the only block there is, exactly; return E. W is padded to (6, 6), `work` (17, 6) is work space."""
    code, d, p = table[0][0], table[1][1], table[2][0]
    x, b, u, F = work[13], work[14], work[15], work[16]  # the rest serves `simple_block`
    for a in range(d):
        x[a], b[a] = r[a], q[a]
    if simple_block(code, d, W, b, p, x, work) <= 0:
        return np.inf
    for a in range(d):
        r[a], u[a] = x[a], q[a]
        for c in range(d):
            u[a] += W[a, c] * x[c]
    natural(code, d, p, u, x, rho, F, work[:7])
    return length(F, 0, d) / (rho * length(q, 0, d) + 1e-300)


@kernel(f"Tuple((float64, float64, float64))({ROWS}, {A1}, {A3}, {TABLE}, {A1}, SmallSpace)", borrows=True)
def scale_into(
    rows: Rows, q: Array, D: Array, table: Table, rho: Array, space: SmallSpace
) -> tuple[float, float, float]:
    """Put the problem with mean diagonal of W = 1 and |q| = 1 into the work space; return its |rho q|, w0 and q0."""
    numbers, W, Ds, (data, indices, indptr) = space.numbers, space.W, space.D, rows
    start, n, w0, top, size, weight = table[1], len(q), 0.0, 0.0, 0.0, 0.0
    for k in range(len(start) - 1):
        for a in range(start[k + 1] - start[k]):
            w0 += abs(D[k, a, a]) / n
            top = max(top, abs(q[start[k] + a]))
    w0 = w0 if w0 > 0.0 else 1.0
    for i in range(n):
        size += (q[i] / top) ** 2
    q0, inverse, at = top * np.sqrt(size), 1.0 / w0, n * n
    for i in range(n):
        numbers[at + i] = q[i] / q0
        for j in range(n):
            W[i, j] = 0.0
        for c in range(indptr[i], indptr[i + 1]):
            numbers[c] = data[c] * inverse
            W[i, indices[c]] = numbers[c]
    for k in range(len(rho)):
        d = start[k + 1] - start[k]
        numbers[at + n + k] = rho[k] * w0
        for a in range(d):
            weight += (rho[k] * w0 * numbers[at + start[k] + a]) ** 2
            for c in range(d):
                Ds[k, a, c] = D[k, a, c] * inverse
    return float(np.sqrt(weight)), w0, q0


@kernel(f"float64(SmallProblem, float64, {A1}, SmallSpace)", borrows=True)
def sweep_some(problem: SmallProblem, tol: float, r: Array, space: SmallSpace) -> float:
    """Sweep from r while that gains; return E as far as it was looked at, else infinity."""
    weight, work = problem.weight, space.work
    E, change = np.inf, np.inf
    for sweep in range(5):
        if sweep >= SWEEPS and change > 1e-3 * weight:
            break
        change = np.sqrt(one_sweep(problem.rows, problem.q, problem.table, space.D, work[14], r, work[:14]))
        if 0.1 * tol * weight >= change or sweep == SWEEPS - 1 or sweep == 4:
            E = error_at(problem, r, space)
            if 0.1 * tol >= E:
                break
    return E


@kernel(f"Tuple((float64, int64))({ROWS}, {A1}, {A3}, {TABLE}, {A1}, float64, int64, {A1})", entry=True)
def first_attempts(
    rows: Rows, q: Array, D: Array, table: Table, rho: Array, tol: float, limit: int, r: Array
) -> tuple[float, int]:
    """Solve from r: a few sweeps, Newton's method from there, then at most `limit` proximal Newton steps from r = 0.

    Returns the residual E and the steps (0 if the sweeps were enough); r becomes the best point. With a negative
    `limit` Newton's method alone, at once: of several solutions it finds one near r, where sweeps may run away.
    """
    if len(rho) == 1 and limit >= 0:
        E = one_alone(D[0], q, table, rho[0], r, np.zeros((17, 6)))
        if 0.1 * tol >= E:
            return E, 0
        r[:] = 0.0
    n, space = len(q), work_space(len(q), len(rho))
    weight, w0, q0 = scale_into(rows, q, D, table, rho, space)
    for i in range(n):
        r[i] *= w0 / q0
    data, b, own = space.numbers[: n * n], space.numbers[n * n : n * n + n], space.numbers[n * n + n :]
    problem = SmallProblem((data, rows[1], rows[2]), b, table, own, weight)
    E, steps = np.inf, 0
    if limit >= 0:
        E = sweep_some(problem, tol, r, space)
        if not 0.1 * tol >= E:
            E, steps = resting(problem, tol, r, E, space)
    if not 0.1 * tol >= E:
        E, more = falling(problem, tol, r, E, space)
        steps += more
    if limit >= 0 and not 0.1 * tol >= E:
        E, more = bold_steps(problem, tol, r, E, space)
        steps += more
    if limit > 0 and not tol >= E:
        y = space.V[SPACE + 2]
        e, steps = proximal_dense(problem, tol, limit, y, space)
        if e < E or not np.isfinite(E):
            E = e
            r[:] = y
    for i in range(n):
        r[i] *= q0 / w0
    return E, steps
