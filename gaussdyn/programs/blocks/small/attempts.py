"""A few contacts in one compiled call: scaled, swept, and solved by the proximal Newton method if need be.

The attempts are those with which `solve_blocks` begins; nothing here is a method of its own. Laws with parameters that
have units (Dry) and columns that act with |r| are left to the general way.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....linalg.sparse_rows import ROWS, Rows
from ...laws.natural_map import residual_within
from ...laws.projections import TABLE, Table, length, natural
from ..gauss_seidel.sweeps import one_sweep
from ..newton.dense_falling import FALLS, falling_within
from ..newton.dense_newton import SPACE, DenseProblem, DenseSpace, newton_within
from ..one_block import simple_block
from .rest import EVENED, NEAR, SPARE, fastest_slip, overloaded, rest_from

SPACES = f"Tuple(({A1}, {A2}, {A1}, {A3}, {A2}, {A3}, {A1}, {I1}, {A2}))"
Space = tuple[Array, Array, Array, Array, Array, Array, Array, IntArray, Array]
PROBLEM = f"Tuple(({ROWS}, {A1}, {TABLE}, {A1}, float64))"
Problem = tuple[Rows, Array, Table, Array, float]  # scaled: W by rows, q, laws, rho, |rho q|
SWEEPS = 2  # before Newton's method: they settle most modes
SLOW = 0.3  # slip (of |q|) after the sweeps up to which contacts may be at rest
RESTS = 8  # most tries to hold them
FIRM = 1e-4  # first fixed proximal term where these do not get there
BOLD = 10  # Newton steps within which a problem with a fixed one must be solved


@kernel(f"{SPACES}(int64, int64)")
def work_space(n: int, blocks: int) -> Space:
    """Return work space for problems of n rows in so many blocks."""
    numbers, W = np.zeros(n * n + n + blocks), np.zeros((n, n))
    sizes, D, V = np.zeros(blocks), np.zeros((blocks, 6, 6)), np.zeros((SPACE + 4, n))
    return (
        numbers,
        W,
        sizes,
        D,
        V,
        np.zeros((blocks, 6, 6)),
        np.zeros(2 * n * n),
        np.zeros(2 * n, np.int64),
        np.zeros((17, 6)),
    )


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, float64, {A1}, {A1}, float64, int64, {SPACES})")
def newton_at(
    problem: Problem, alpha: float, g: float, centre: Array, x: Array, goal: float, limit: int, space: Space
) -> tuple[float, int]:
    """Newton steps at fixed alpha and centre from x, with the step g rho; returns |F| / |rho q| and the steps."""
    _rows, q, table, rho, weight = problem
    _numbers, W, own, _D, V, Y, A, place, work = space
    for k in range(len(rho)):
        own[k] = g * rho[k]
    dense, within = DenseProblem(W, W[:0], q, table, own), DenseSpace(V, Y, A, place, work[:8])
    size, taken = newton_within(dense, g * alpha, centre, x, goal * weight, limit, within)
    return size / weight, taken


@kernel(f"float64({PROBLEM}, {A1}, {SPACES})", borrows=True)
def error_at(problem: Problem, r: Array, space: Space) -> float:
    """Return E of r."""
    rows, q, table, rho, weight = problem
    return residual_within(rows, space[1][:0], q, r, table, rho, space[8]) / weight


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, {A1}, float64, {SPACES})")
def resting(problem: Problem, tol: float, r: Array, E: float, space: Space) -> tuple[float, int]:
    """Try whether friction holds the contacts at rest, if little slips; r becomes the best point. Returns E and tries.

    The reactions found have the right directions where friction is just too weak, too.
    """
    _rows, q, table, _rho, _weight = problem
    W, V, A, place = space[1], space[4], space[6], space[7]
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


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, {A1}, float64, {SPACES})")
def falling(problem: Problem, tol: float, r: Array, E: float, space: Space) -> tuple[float, int]:
    """Newton's method with a falling proximal term, twice; r becomes the best point. Returns E and the steps.

    Where the equations for one step size stall, those for another do not.
    """
    _rows, q, table, rho, weight = problem
    _numbers, W, own, _D, V, Y, A, place, work = space
    x, steps = V[FALLS], 0
    dense, within = DenseProblem(W, W[:0], q, table, own), DenseSpace(V, Y, A, place, work[:8])
    for g, patience in ((3.0, 3), (30.0, 5)):
        x[:] = r
        for k in range(len(rho)):
            own[k] = g * rho[k]
        size, more = falling_within(dense, g, weight, x, tol, patience, within)
        steps += more
        new = error_at(problem, x, space) if np.isfinite(size) else np.inf
        if new < E:
            E = new
            r[:] = x
        if 0.1 * tol >= E:
            break
    return E, steps


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, {A1}, float64, {SPACES})", rare=True)
def bold_steps(problem: Problem, tol: float, r: Array, E: float, space: Space) -> tuple[float, int]:
    """Proximal Newton steps from r with a small alpha; r becomes the best point. Ends where it is not quick."""
    x, centre, alpha, steps = space[4][SPACE], space[4][SPACE + 1], FIRM, 0
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


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, int64, {A1}, {SPACES})", rare=True)
def proximal_dense(problem: Problem, tol: float, limit: int, r: Array, space: Space) -> tuple[float, int]:
    """The proximal point iteration of `backends.newton` from r = 0; r becomes the best point. Returns E and steps."""
    x, centre, steps, fails, alpha = space[4][SPACE], space[4][SPACE + 1], 0, 0, 1.0
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


@kernel(f"Tuple((float64, float64, float64))({ROWS}, {A1}, {A3}, {TABLE}, {A1}, {SPACES})", borrows=True)
def scale_into(rows: Rows, q: Array, D: Array, table: Table, rho: Array, space: Space) -> tuple[float, float, float]:
    """Put the problem with mean diagonal of W = 1 and |q| = 1 into the work space; return its |rho q|, w0 and q0."""
    numbers, W, _own, Ds, _V, _Y, _A, _place, _work = space
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
        for c in range(rows[2][i], rows[2][i + 1]):
            numbers[c] = rows[0][c] * inverse
            W[i, rows[1][c]] = numbers[c]
    for k in range(len(rho)):
        d = start[k + 1] - start[k]
        numbers[at + n + k] = rho[k] * w0
        for a in range(d):
            weight += (rho[k] * w0 * numbers[at + start[k] + a]) ** 2
            for c in range(d):
                Ds[k, a, c] = D[k, a, c] * inverse
    return float(np.sqrt(weight)), w0, q0


@kernel(f"float64({PROBLEM}, float64, {A1}, {SPACES})", borrows=True)
def sweep_some(problem: Problem, tol: float, r: Array, space: Space) -> float:
    """Sweep from r while that gains; return E as far as it was looked at, else infinity."""
    rows, b, table, _own, weight = problem
    E, change, work = np.inf, np.inf, space[8]
    for sweep in range(5):
        if sweep >= SWEEPS and change > 1e-3 * weight:
            break
        change = np.sqrt(one_sweep(rows, b, table, space[3], work[14], r, work[:14]))
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
    data, b, own = space[0][: n * n], space[0][n * n : n * n + n], space[0][n * n + n : n * n + n + len(rho)]
    problem = ((data, rows[1], rows[2]), b, table, own, weight)
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
        y = space[4][SPACE + 2]
        e, steps = proximal_dense(problem, tol, limit, y, space)
        if e < E or not np.isfinite(E):
            E = e
            r[:] = y
    for i in range(n):
        r[i] *= q0 / w0
    return E, steps
