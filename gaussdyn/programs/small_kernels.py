"""A few contacts in one compiled call: scaled, swept, polished, and solved by the proximal Newton method if need be.

The attempts are those with which `solve_blocks` begins; nothing here is a method of its own. Laws with parameters that
have units (Dry) and columns that act with |r| are left to the general way.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array
from .block_kernels import simple_block
from .law_kernels import A1, A2, A3, length, natural
from .newton_kernels import TABLE, Table, newton_dense
from .sweep_kernels import ROWS, Rows, gauss_seidel, residual

PROBLEM = f"Tuple(({A2}, {A2}, {A1}, {ROWS}, {A3}, {TABLE}, {A1}))"
Problem = tuple[Array, Array, Array, Rows, Array, Table, Array]


@kernel(f"float64({PROBLEM}, float64, float64, {A1}, float64, {A1}, {A1}, float64, int64)")
def newton_from(
    problem: Problem, weight: float, alpha: float, r: Array, E: float, x: Array, centre: Array, tol: float, limit: int
) -> float:
    """Newton steps at fixed alpha from r, which becomes the answer if that is better than E; returns E of r."""
    W, none, q, rows, _, table, rho = problem
    scaled_rho = rho / np.sqrt(min(max(alpha, 1e-12), 1.0))
    for i in range(len(r)):
        x[i], centre[i] = r[i], r[i]
    newton_dense(W, none, q, table, scaled_rho, alpha / np.sqrt(min(max(alpha, 1e-12), 1.0)), centre, x, tol, limit)
    new = residual(rows, none, q, x, table, rho) / weight
    if new < E:
        for i in range(len(r)):
            r[i] = x[i]
    return min(new, E) if np.isfinite(new) else E


@kernel(f"Tuple((float64, int64))({PROBLEM}, float64, float64, int64, {A1})")
def proximal_dense(problem: Problem, weight: float, tol: float, limit: int, r: Array) -> tuple[float, int]:
    """The proximal point iteration of `backends.newton` from r = 0; r becomes the best point. Returns E and steps."""
    W, none, q, rows, _, table, rho = problem
    n, steps, fails, alpha = len(q), 0, 0, 1.0
    x, centre = np.zeros(n), np.zeros(n)
    r[:] = 0.0
    best = residual(rows, none, q, r, table, rho) / weight
    while best > 0.1 * tol and steps < limit and fails < 8:
        g = 1.0 / np.sqrt(min(max(alpha, 1e-12), 1.0))
        goal = max(0.03 * tol, min(1e-2 * best, 1e-2))
        size, taken = newton_dense(
            W, none, q, table, g * rho, g * alpha, centre, x, goal * weight, min(15, limit - steps)
        )
        steps += taken + 1
        E = residual(rows, none, q, x, table, rho) / weight if np.isfinite(size) else np.inf
        if size / weight > max(tol, 0.1 * min(best, 1.0)) or not np.isfinite(E):
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
    """Solve the only block there is, exactly; return E. W is padded to (5, 5), `work` (16, 5) is work space."""
    code, d, p = table[0][0], table[1][1], table[2][0]
    x, b, u, F = work[12], work[13], work[14], work[15]  # the rest serves `simple_block`
    for a in range(d):
        x[a], b[a] = r[a], q[a]
    if simple_block(code, d, W, b, p, x, work) <= 0:
        return np.inf
    for a in range(d):
        r[a], u[a] = x[a], q[a]
        for c in range(d):
            u[a] += W[a, c] * x[c]
    natural(code, d, p, u, x, rho, F, b, work[:5])
    return length(F, 0, d) / (rho * length(q, 0, d) + 1e-300)


@kernel(f"Tuple((float64, int64))({ROWS}, {A1}, {A3}, {TABLE}, {A1}, float64, int64, {A1})")
def first_attempts(
    rows: Rows, q: Array, D: Array, table: Table, rho: Array, tol: float, limit: int, r: Array
) -> tuple[float, int]:
    """Solve from r = 0: five sweeps and a polish, then at most `limit` proximal Newton steps.

    Returns the residual E and the steps (0 if the sweeps were enough); r becomes the best point. W is dense in `rows`.
    """
    n, start = len(q), table[1]
    if len(rho) == 1:
        E = one_alone(D[0], q, table, rho[0], r, np.zeros((16, 5)))
        if 0.1 * tol >= E:
            return E, 0
        r[:] = 0.0
    w0, top = 0.0, 0.0
    for k in range(len(start) - 1):
        for a in range(start[k + 1] - start[k]):
            w0 += abs(D[k, a, a]) / n
            top = max(top, abs(q[start[k] + a]))
    w0 = w0 if w0 > 0.0 else 1.0
    b = q / top
    q0 = top * length(b, 0, n)
    data = rows[0] / w0
    b, own, none = q / q0, rho * w0, np.zeros((0, 0))
    problem = (data.reshape(n, n), none, b, (data, rows[1], rows[2]), D / w0, table, own)
    weight = 0.0
    for k in range(len(own)):
        for i in range(start[k], start[k + 1]):
            weight += (own[k] * b[i]) ** 2
    weight, steps, x, centre, y = np.sqrt(weight), 0, np.zeros(n), np.zeros(n), np.zeros(n)
    gauss_seidel(problem[3], none, b, table, problem[4], r, 5 if len(own) > 1 else 1)
    E = residual(problem[3], none, b, r, table, own) / weight
    last = np.inf
    for attempt in range(4):
        if (0.1 if attempt == 0 else 0.3) * tol >= E or 0.9 * last < E:
            break
        last, alpha = E, 1e-8 if attempt < 2 else 1e-5
        E = newton_from(problem, weight, alpha, r, E, x, centre, 0.01 * tol * weight, 8)
    if limit > 0 and not tol >= E:
        e, steps = proximal_dense(problem, weight, tol, limit, y)
        if e < E or not np.isfinite(E):
            E = e
            r[:] = y
    for i in range(n):
        r[i] *= q0 / w0
    return E, steps


@kernel(f"float64({ROWS}, {A2}, {A3}, {TABLE}, {A1}, float64, int64, {A2})")
def first_attempts_many(
    rows: Rows, Q: Array, D: Array, table: Table, rho: Array, tol: float, limit: int, R: Array
) -> float:
    """`first_attempts` for every row of Q in one call; returns the largest E, and the reactions in the rows of R."""
    worst = 0.0
    for k in range(len(Q)):
        R[k] = 0.0
        E, _ = first_attempts(rows, Q[k], D, table, rho, tol, limit, R[k])
        worst = max(worst, E)
    return worst
