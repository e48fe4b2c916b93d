"""Smoothed cone projections, and steps of pseudo-arclength along the central path they define, on W by 3x3 blocks.

In self-dual variables x = S r / sqrt(rho) and y = sqrt(rho) u^ / S with S = (mu, 1, 1), the law is x, y in the cone
|x_T| <= x_N and x.y = 0. Its smoothed form x = p_tau(x - y), with |u_T| in y made sqrt(|u_T|^2 + tau^2), says
x o y = tau^2 e (Chen and Tseng, Math. Program. 95, 2003): one curve in (x, log tau), which may turn back, down to a
solution. Contact k may have its own tau_k = weight_k tau. Vectors are (n, 3), `sizes` (n,) the rows that the cone of a
contact takes (1: no friction); rows beyond have r = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering
from ....linalg.block_lu3 import BLOCKS, Blocks, factorise3, fill, solve3, times

LEVEL, STRIDE, SLOPE, ORIENTATION, FOLDS = 0, 1, 2, 3, 4  # places in `state`: log tau, length of the next step,
# d log tau / ds, sign that joins it to that of the determinant (0: not known yet), turns so far
CORRECTIONS, STRAIGHT, LONGEST, SHORTEST = 10, 0.7, 0.5, 1e-12


@record(BLOCKS, "Ordering", A2, I1, A1, by_value=True)
class PathProblem(NamedTuple):
    """The contact problem u = W r + q of n contacts, in self-dual variables.

    Attributes
    ----------
    blocks : tuple
        W by blocks, see `linalg.block_lu3`.
    ordering : Ordering
        In which it is factorised.
    q : Array, shape (n, 3)
    sizes : IntArray, shape (n,)
        The rows that the cone of a contact takes.
    weights : Array, shape (n,)
        tau_k / tau.
    """

    blocks: Blocks
    ordering: Ordering
    q: Array
    sizes: IntArray
    weights: Array


@record(*[A3] * 4, A2, I1, by_value=True)
class PathSpace(NamedTuple):
    """Work space of a path.

    Attributes
    ----------
    V : Array, shape (9, n, 3)
        Vectors: u, F, dF / d log tau, three of work space, the steps across and along the path.
    C, D : Array, shape (n, 3, 3)
        dF = C dr + D du.
    B : Array, shape (blocks, 3, 3)
        The factors of C + D W.
    work : Array, shape (6, 3)
    idle : IntArray, shape (n,)
        By rank: which contacts have D = 0.
    """

    V: Array
    C: Array
    D: Array
    B: Array
    work: Array
    idle: IntArray


@kernel("Tuple((float64, float64))(float64, float64)", borrows=True)
def smoothed_half_line(x: float, tau: float) -> tuple[float, float]:
    """Return f = (x + g) / 2 and g = sqrt(x^2 + 4 tau^2); df/dx = f / g and df/dtau = 2 tau / g."""
    g = np.sqrt(x * x + 4.0 * tau * tau)
    return 0.5 * (x + g) if x > 0.0 else 2.0 * tau * tau / (g - x), g


@kernel(f"void({A1}, int64, float64, {A1}, {A2}, {A1})", borrows=True)
def smoothed_projection(z: Array, d: int, tau: float, p: Array, P: Array, slope: Array) -> None:
    """Put the smoothed projection of z on |z_T| <= z_N into p, with its derivatives P in z and `slope` in tau.

    The function of the half line acts on the two eigenvalues z_N +- |z_T|; d = 1 is the half line itself.
    """
    if d == 1:
        f, g = smoothed_half_line(z[0], tau)
        p[0], P[0, 0], slope[0] = f, f / g, 2.0 * tau / g
        return
    t = np.sqrt(z[1] * z[1] + z[2] * z[2])
    a, b = (z[1] / t, z[2] / t) if t > 0.0 else (1.0, 0.0)
    f, g = smoothed_half_line(z[0] + t, tau)
    f_low, g_low = smoothed_half_line(z[0] - t, tau)
    mean, half = 0.5 * (f / g + f_low / g_low), 0.5 * (f / g - f_low / g_low)
    across = (f + f_low) / (g + g_low)  # = (f - f_low) / (2 t), without its cancellation
    p[0], p[1], p[2] = 0.5 * (f + f_low), across * z[1], across * z[2]
    s, turn = tau / g + tau / g_low, tau / g - tau / g_low
    slope[0], slope[1], slope[2] = s, turn * a, turn * b
    P[0, 0], P[0, 1], P[0, 2] = mean, half * a, half * b
    P[1, 0], P[1, 1], P[1, 2] = half * a, mean * a * a + across * b * b, (mean - across) * a * b
    P[2, 0], P[2, 1], P[2, 2] = half * b, (mean - across) * a * b, mean * b * b + across * a * a


@kernel(f"void({I1}, {A1}, float64, {A2}, {A3}, {A3}, {A3}, {A2})", borrows=True)
def central_laws(
    sizes: IntArray, weights: Array, tau: float, r: Array, V: Array, C: Array, D: Array, work: Array
) -> None:
    """Put F = r - p_tau(r - u^) into V[1], dF / d log tau into V[2], and dF = C dr + D du, from u in V[0]."""
    u, F, Ft = V[0], V[1], V[2]
    z, p, slope, P = work[0], work[1], work[2], work[3:6]
    for k in range(len(r)):
        own, d = tau * weights[k], sizes[k]
        s = np.sqrt(u[k, 1] ** 2 + u[k, 2] ** 2 + own * own) if d > 1 else np.inf
        z[0] = r[k, 0] - u[k, 0] - (s if d > 1 else 0.0)
        z[1], z[2] = r[k, 1] - u[k, 1], r[k, 2] - u[k, 2]
        smoothed_projection(z, d, own, p, P, slope)
        for i in range(3):
            for j in range(3):
                C[k, i, j] = 1.0 if i == j else 0.0
                D[k, i, j] = 0.0
            F[k, i], Ft[k, i] = r[k, i], 0.0
            if i < d:
                F[k, i] -= p[i]
                Ft[k, i] = own * (P[i, 0] * own / s - slope[i])
                for j in range(d):
                    C[k, i, j] -= P[i, j]
                    D[k, i, j] = P[i, j] + (P[i, 0] * u[k, j] / s if j > 0 else 0.0)


@kernel(f"float64(PathProblem, float64, {A2}, PathSpace)", borrows=True)
def central_map(problem: PathProblem, tau: float, r: Array, space: PathSpace) -> float:
    """`central_laws` at u = W r + q; returns |F|."""
    V, C, D, _B, work, _idle = space
    u, F, total, q = V[0], V[1], 0.0, problem.q
    times(problem.blocks, r, u)
    for k in range(len(r)):
        for i in range(3):
            u[k, i] += q[k, i]
    central_laws(problem.sizes, problem.weights, tau, r, V, C, D, work)
    for k in range(len(r)):
        total += F[k, 0] ** 2 + F[k, 1] ** 2 + F[k, 2] ** 2
    return float(np.sqrt(total))


@kernel("float64(PathProblem, PathSpace)", borrows=True)
def factorised(problem: PathProblem, space: PathSpace) -> float:
    """Factorise C + D W; return the sign of its determinant."""
    V, C, D, B, _work, idle = space
    V[3][:] = 0.0
    fill(problem.blocks, problem.ordering.rank, C, D, V[3], B, idle)
    factorise3(problem.ordering, B, idle)
    sign = 1.0
    for k in range(len(C)):
        A = B[k]
        det = A[0, 0] * (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]) - A[0, 1] * (A[1, 0] * A[2, 2] - A[1, 2] * A[2, 0])
        det += A[0, 2] * (A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0])
        sign = -sign if det < 0.0 else sign
    return sign


@kernel(f"void(PathProblem, {A2}, {A2}, PathSpace)")
def refined(problem: PathProblem, b: Array, x: Array, space: PathSpace) -> None:
    """Solve (C + D W) x = b with the factors, and refine x once: elimination without pivots loses digits."""
    V, C, D, B, _work, idle = space
    Wx, rest, y = V[3], V[4], V[5]
    x[:] = b
    solve3(problem.ordering, B, idle, x, y)
    times(problem.blocks, x, Wx)
    for k in range(len(b)):
        for i in range(3):
            v = b[k, i]
            for j in range(3):
                v -= C[k, i, j] * x[k, j] + D[k, i, j] * Wx[k, j]
            rest[k, i] = v
    solve3(problem.ordering, B, idle, rest, y)
    x += rest


@kernel("PathSpace(int64, Ordering)", entry=True)
def path_space(n: int, ordering: Ordering) -> PathSpace:
    """Return the work space for n contacts."""
    B = np.zeros((len(ordering.order) + 2 * len(ordering.rows), 3, 3))
    V, C, D = np.zeros((9, n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    return PathSpace(V, C, D, B, np.zeros((6, 3)), np.zeros(n, np.int64))


@kernel(f"float64(PathProblem, float64, int64, {A2}, PathSpace)", entry=True)
def centre(problem: PathProblem, tau: float, limit: int, r: Array, space: PathSpace) -> float:
    """Newton's method with a halving line search for the point of the path at tau, from r; returns |F|."""
    V = space.V
    size = central_map(problem, tau, r, space)
    for _ in range(limit):
        if size <= 1e-12 or not np.isfinite(size):
            break
        factorised(problem, space)
        refined(problem, -V[1], V[6], space)
        last, step, t = r.copy(), V[6].copy(), 1.0
        while t > 1e-3:
            r[:] = last + t * step
            new = central_map(problem, tau, r, space)
            if new < (1.0 - 0.1 * t) * size:
                break
            t *= 0.5
        size = new
    return size


@kernel(f"int64(PathProblem, {A1}, float64, {A2}, {A2}, {A1}, PathSpace)")
def corrected(
    problem: PathProblem, state: Array, scale: float, tangent: Array, x: Array, level: Array, space: PathSpace
) -> int:
    """Bring (x, level[0]) back to the path across its tangent; the next tangent's x is left in V[7] (times -1).

    level[1] becomes the sign of the determinant. Returns the Newton steps; -1 if they do not converge.
    """
    V, last, delta = space.V, np.inf, np.inf
    for it in range(CORRECTIONS):
        tau = np.exp(level[0])
        size = central_map(problem, tau, x, space) / np.sqrt((x * x).sum())
        level[1] = factorised(problem, space)
        refined(problem, V[2], V[7], space)
        if size < 1e-12 or (it > 0 and size < 1e-5 * tau and delta < 1e-3 * state[STRIDE]):
            return it
        if not size < 1e10 or (it > 0 and size > 2.0 * last and size > 1e-11):
            return -1
        refined(problem, -V[1], V[6], space)
        move = -scale * (tangent * V[6]).sum() / (state[SLOPE] - scale * (tangent * V[7]).sum())
        step = V[6] - move * V[7]
        level[0] += move
        x += step
        last, delta = size, np.sqrt(scale * (step * step).sum() + move * move)
    return -1


@kernel(f"void(PathProblem, {A2}, {A2}, {A1}, PathSpace)")
def departed(problem: PathProblem, r: Array, tangent: Array, state: Array, space: PathSpace) -> None:
    """Set the tangent at r such that tau falls, and the orientation that belongs to it."""
    V = space.V
    central_map(problem, np.exp(state[LEVEL]), r, space)
    sign = factorised(problem, space)
    refined(problem, V[2], V[7], space)
    size = np.sqrt((V[7] * V[7]).sum() / (r * r).sum() + 1.0)
    tangent[:] = V[7] / size
    state[SLOPE], state[ORIENTATION] = -1.0 / size, -sign


@kernel(f"int64(PathProblem, int64, float64, {A2}, {A2}, {A1}, PathSpace)", entry=True)
def follow(
    problem: PathProblem, limit: int, goal: float, r: Array, tangent: Array, state: Array, space: PathSpace
) -> int:  # fmt: skip
    """Follow the path from r until tau < goal, for at most `limit` steps, accepted or not; return their number.

    A step is accepted if the tangent turns by less than 45 degrees. The sign of d log tau / ds is that of the
    determinant times the orientation, which is how the path is followed through a fold and not back.
    """
    V, level, steps = space.V, np.zeros(2), 0
    if state[ORIENTATION] == 0.0:
        departed(problem, r, tangent, state, space)
    while steps < limit and state[LEVEL] >= np.log(goal) and state[STRIDE] > SHORTEST:
        steps += 1
        scale = 1.0 / (r * r).sum()
        x = r + state[STRIDE] * tangent
        level[0] = state[LEVEL] + state[STRIDE] * state[SLOPE]
        taken = corrected(problem, state, scale, tangent, x, level, space)
        slope = state[ORIENTATION] * level[1] / np.sqrt(scale * (V[7] * V[7]).sum() + 1.0)
        along = slope * state[SLOPE] - slope * scale * (V[7] * tangent).sum()
        if taken < 0 or not along > STRAIGHT:
            state[STRIDE] *= 0.5
            continue
        state[FOLDS] += 1.0 if slope * state[SLOPE] < 0.0 else 0.0
        r[:] = x
        tangent[:] = -slope * V[7]
        state[LEVEL], state[SLOPE] = level[0], slope
        state[STRIDE] *= 1.7 if taken <= 3 and along > 0.95 else 1.0 if taken <= 5 else 0.7
        state[STRIDE] = min(state[STRIDE], LONGEST)
    return steps
