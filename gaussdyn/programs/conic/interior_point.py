"""Compiled interior point for smallest values of linear functions over {x : A x = f, x in Lorentz cones}.

min q.x, A x = f, x in K has the dual max f.w, z = q - A^T w in K. Both are embedded in one homogeneous problem with
tau and kappa, which always has a solution: tau > 0 gives optimal x and w, kappa > 0 a ray x along which q falls for
ever, or a w that proves that the set is empty. One factorisation of A W^2 A^T in every iteration; A has few rows (as
many as the bodies have velocities), however many contacts there are.
Source: Xu, Hung, Ye (1996), A simplified homogeneous and self-dual linear programming algorithm; Vandenberghe (2010).

A problem is (A, f, q, start), a point (x, z, w, [tau, kappa]), its residuals (of the dual, of A x, [of the gap, q.x,
f.w, |A x|, |A^T w + z|]), a scaling (beta, v, lam, B = A W, S = B B^T,
U with U^T U = S), a step (rows of length m, rows of length n) is scratch.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, I1, kernel
from ...arrays import Array, IntArray
from ...linalg.dense import cholesky_upper, dot, solve_upper, solve_upper_transposed
from .lorentz import longest, product, quotient, scaled, scaling

ITERATIONS = 60
GOAL = 1e-12  # of the residuals; what is reached is judged by whoever asked
NEAR = 1e-9  # below which iterations that gain nothing end the search
RAY = 1e-10  # |A x| of a ray with q.x = -1, and |A^T w + z| of a proof with f.w = 1
BACK = 0.99  # share of the way to the boundary
OPTIMAL, UNBOUNDED, EMPTY, STALLED, GOES_ON = 0, 1, 2, 3, 4

PROBLEM = f"Tuple(({A2}, {A1}, {A1}, {I1}))"
POINT = f"Tuple(({A1}, {A1}, {A1}, {A1}))"
RESIDUALS = f"Tuple(({A1}, {A1}, {A1}))"
SCALING = f"Tuple(({A1}, {A1}, {A1}, {A2}, {A2}, {A2}))"
STEP = f"Tuple(({A2}, {A2}))"
Problem = tuple[Array, Array, Array, IntArray]
Point = tuple[Array, Array, Array, Array]
Residuals = tuple[Array, Array, Array]
Scaling = tuple[Array, Array, Array, Array, Array, Array]
Step = tuple[Array, Array]


@kernel(f"void({A2}, {A1}, {A1})")
def combined(B: Array, y: Array, out: Array) -> None:
    """Write B^T y."""
    out[:] = 0.0
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            out[j] += y[i] * B[i, j]


@kernel(f"void({A2}, {I1}, {SCALING})")
def factor(A: Array, start: IntArray, scale: Scaling) -> None:
    """Write B = A W and the Cholesky factor U of B B^T, made definite where rounding leaves it no more."""
    m, n = A.shape
    beta, v, _, B, S, U = scale
    top, shift = 0.0, 0.0
    for i in range(m):
        scaled(beta, v, start, A[i], False, B[i])
        for j in range(i + 1):
            S[i, j] = S[j, i] = dot(B[i], B[j], n)
        top = max(top, S[i, i])
    while cholesky_upper(S, U) >= 0 and shift < 1.0:
        shift = max(100.0 * shift, 1e-15)
        for i in range(m):
            S[i, i] += shift * top


@kernel(f"void({SCALING}, {A1}, {A1}, {A1}, {A1})")
def solve_factored(scale: Scaling, x: Array, rhs: Array, t: Array, r: Array) -> None:
    """Write the solution x of B B^T x = rhs, refined once; t and r are scratch."""
    _, _, _, B, _, U = scale
    m, n = B.shape
    x[:] = rhs
    solve_upper_transposed(U, x)
    solve_upper(U, x)
    combined(B, x, t)
    for i in range(m):
        r[i] = rhs[i] - dot(B[i], t, n)
    solve_upper_transposed(U, r)
    solve_upper(U, r)
    for i in range(m):
        x[i] += r[i]


@kernel(f"float64({PROBLEM}, {POINT}, {RESIDUALS})")
def residuals_of(problem: Problem, point: Point, residuals: Residuals) -> float:
    """Write the residuals of a point and return the largest, of x / tau and w / tau."""
    A, f, q, _ = problem
    x, z, w, h = point
    rd, rp, g = residuals
    m, n = A.shape
    combined(A, w, rd)
    for j in range(n):
        rd[j] += z[j]
    g[4], g[3] = np.sqrt(dot(rd, rd, n)), 0.0
    for i in range(m):
        value = dot(A[i], x, n)
        g[3] += value * value
        rp[i] = f[i] * h[0] - value
    for j in range(n):
        rd[j] -= q[j] * h[0]
    g[1], g[2], g[3] = dot(q, x, n), dot(f, w, m), np.sqrt(g[3])
    g[0] = h[1] + g[1] - g[2]
    return float(max(np.sqrt(dot(rp, rp, m)), np.sqrt(dot(rd, rd, n)), abs(g[1] - g[2])) / h[0])


@kernel(f"int64({POINT}, {A1}, {A1}, {A1})")
def certified(point: Point, g: Array, x_out: Array, w_out: Array) -> int:
    """Return whether a point is a ray or a proof that the set is empty, and write it."""
    x, _, w, h = point
    if h[1] > 1e3 * h[0] and g[1] < 0.0 and g[3] <= -RAY * g[1]:
        x_out[:] = x / -g[1]
        return UNBOUNDED
    if h[1] > 1e3 * h[0] and g[2] > 0.0 and g[4] <= RAY * g[2]:
        w_out[:] = w / g[2]
        return EMPTY
    return GOES_ON


@kernel(f"void({PROBLEM}, {RESIDUALS}, {SCALING}, {STEP}, float64, float64)")
def refine_step(problem: Problem, residuals: Residuals, scale: Scaling, step: Step, dtau: float, left: float) -> None:
    """Correct dw = p0 + p1 dtau, dx and dz as their equations have them, so that rounding is left to complementarity.

    Writes dw into short[0], the steps of x and z into long[4] and long[5], and scaled into long[6] and long[7].
    """
    A, f, q, start = problem
    rd, rp, _ = residuals
    beta, v, _, B, _, _ = scale
    short, long = step
    p0, p1, rhs, r = short[0], short[1], short[2], short[3]
    t1, u, d, dx, dz, t = long[1], long[4], long[5], long[6], long[7], long[8]
    m, n = B.shape
    scaled(beta, v, start, dx, False, u)
    for i in range(m):
        p0[i] += p1[i] * dtau
        rhs[i] = left * rp[i] + f[i] * dtau - dot(A[i], u, n)
    solve_factored(scale, p1, rhs, t, r)
    combined(B, p1, t1)
    for j in range(n):
        dx[j] += t1[j]
    scaled(beta, v, start, dx, False, u)
    combined(A, p0, d)
    for j in range(n):
        d[j] = q[j] * dtau - d[j] - left * rd[j]
    scaled(beta, v, start, d, False, dz)


@kernel(f"boolean({PROBLEM}, {POINT}, {RESIDUALS}, {SCALING}, {STEP})")
def advance(problem: Problem, point: Point, residuals: Residuals, scale: Scaling, step: Step) -> bool:
    """Take one step of predictor and corrector; whether the point is still inside.

    All directions are p0 + p1 dtau (of w) and t0 + t1 dtau (of W^-1 x), with the scaled x and z as far from lam.
    """
    _, f, q, start = problem
    x, z, w, h = point
    rd, rp, g = residuals
    beta, v, lam, B, _, _ = scale
    short, long = step
    p0, p1, rhs, r = short[0], short[1], short[2], short[3]
    t0, t1, Wq, Wr, u, d = long[0], long[1], long[2], long[3], long[4], long[5]
    dx, dz, t = long[6], long[7], long[8]
    m, n = B.shape
    dx[:] = 0.0
    dz[:] = 0.0
    scaled(beta, v, start, q, False, Wq)
    scaled(beta, v, start, rd, False, Wr)
    for i in range(m):
        rhs[i] = f[i] + dot(B[i], Wq, n)
    solve_factored(scale, p1, rhs, t, r)
    combined(B, p1, t1)
    for j in range(n):
        t1[j] -= Wq[j]
    below = h[1] / h[0] + dot(f, p1, m) - dot(Wq, t1, n)
    mu = (dot(lam, lam, n) + h[0] * h[1]) / len(start)
    sigma, used, dtau, dkappa, alpha = 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(2):
        left = 1.0 - sigma
        product(lam, lam, start, d)
        product(dx, dz, start, u)
        for j in range(n):
            d[j] = -d[j] - u[j]
        for k in start[:-1]:
            d[k] += sigma * mu
        dk = sigma * mu - h[0] * h[1] - dtau * dkappa
        quotient(lam, d, start, u)
        for j in range(n):
            t0[j] = u[j] + left * Wr[j]
        for i in range(m):
            rhs[i] = left * rp[i] - dot(B[i], t0, n)
        solve_factored(scale, p0, rhs, t, r)
        combined(B, p0, dx)
        for j in range(n):
            t0[j] += dx[j]
        dtau = (dk / h[0] + left * g[0] + dot(Wq, t0, n) - dot(f, p0, m)) / below
        for j in range(n):
            dx[j] = t0[j] + t1[j] * dtau
            dz[j] = u[j] - dx[j]
        dkappa = (dk - h[1] * dtau) / h[0]
        alpha = min(longest(lam, dx, start), longest(lam, dz, start), 1.0 / max(1e-10, -dtau / h[0], -dkappa / h[1]))
        alpha = min(1.0, BACK * alpha)
        sigma, used = (1.0 - alpha) ** 3, sigma
    refine_step(problem, residuals, scale, step, dtau, 1.0 - used)
    alpha = min(longest(lam, dx, start), longest(lam, dz, start), 1.0 / max(1e-10, -dtau / h[0], -dkappa / h[1]))
    alpha = min(1.0, BACK * alpha)
    for j in range(n):
        x[j] += alpha * u[j]
        z[j] += alpha * d[j]
    for i in range(m):
        w[i] += alpha * p0[i]
    h[0] += alpha * dtau
    h[1] += alpha * dkappa
    return bool(h[0] > 0.0 and np.isfinite(h[0]))


@kernel(f"int64({PROBLEM}, {A1}, {A1})")
def smallest(problem: Problem, x_out: Array, w_out: Array) -> int:
    """Minimise q.x over the set; write x and w (a ray, or a proof that the set is empty), return the status."""
    A, _, _, start = problem
    m, n = A.shape
    point = (np.zeros(n), np.zeros(n), np.zeros(m), np.ones(2))
    residuals = (np.empty(n), np.empty(m), np.empty(5))
    square = (np.empty((m, m)), np.empty((m, m)))
    scale = (np.empty(len(start) - 1), np.empty(n), np.empty(n), np.empty((m, n)), square[0], square[1])
    step = (np.empty((4, m)), np.empty((9, n)))
    x, z, w, h = point
    for k in start[:-1]:
        x[k] = z[k] = 1.0
    best, stale = np.inf, 0
    for _ in range(ITERATIONS):
        merit = residuals_of(problem, point, residuals)
        stale = 0 if merit < 0.7 * best else stale + 1
        if merit < best:
            best = merit
            x_out[:] = x / h[0]
            w_out[:] = w / h[0]
        if best <= GOAL or (best <= NEAR and stale >= 2):
            return OPTIMAL
        status = certified(point, residuals[2], x_out, w_out)
        if status != GOES_ON:
            return status
        scaling(x, z, start, scale[0], scale[1], scale[2])
        factor(A, start, scale)
        if not advance(problem, point, residuals, scale, step):
            break
    return OPTIMAL if best <= NEAR else STALLED


@kernel(f"void({A2}, {A1}, {A2}, {I1}, {A2}, {A2}, {I1})", entry=True)
def smallest_many(A: Array, f: Array, Q: Array, start: IntArray, X: Array, Y: Array, status: IntArray) -> None:
    """Minimise every row of Q over the set, one after the other."""
    for k in range(len(Q)):
        status[k] = smallest((A, f, Q[k], start), X[k], Y[k])
