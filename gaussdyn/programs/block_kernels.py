"""The exact solution of one block of every law, and block Gauss-Seidel sweeps with it, compiled.

A block alone is: find r with u = W r + q and (u, r) in the law, W (d, d) of any symmetry. Take-off and stick are
linear; slip in the plane is one of two linear systems; slip in space is the root of a secular equation, because
u_T = -a r_T with a scalar a >= 0. Rolling and the convex relaxation in space use Newton's method on the block.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from .law_kernels import A1, A2, A3, I1, length, natural
from .newton_kernels import newton_dense, solve_dense


@kernel(f"UniTuple(float64, 4)({A2}, {A1}, float64, float64, {A1})")
def friction_at(W: Array, q: Array, load: float, a: float, r: Array) -> tuple[float, float, float, float]:
    """Put r with u_N = 0 and u_T = -a r_T into r (3); return |r_T|, load |r_N| and their derivatives in a.

    The sign of `load` says which normal reactions count: positive r_N itself, negative |r_N|.
    """
    w = 1.0 / W[0, 0]
    m11, m12 = W[1, 1] - W[1, 0] * W[0, 1] * w + a, W[1, 2] - W[1, 0] * W[0, 2] * w
    m21, m22 = W[2, 1] - W[2, 0] * W[0, 1] * w, W[2, 2] - W[2, 0] * W[0, 2] * w + a
    b1, b2 = q[1] - W[1, 0] * q[0] * w, q[2] - W[2, 0] * q[0] * w
    det = m11 * m22 - m12 * m21
    d = 1.0 / (det if det != 0.0 else 1e-300)
    x, y = -(m22 * b1 - m12 * b2) * d, -(m11 * b2 - m21 * b1) * d
    dx, dy = -(m22 * x - m12 * y) * d, -(m11 * y - m21 * x) * d
    n, dn = -(q[0] + W[0, 1] * x + W[0, 2] * y) * w, -(W[0, 1] * dx + W[0, 2] * dy) * w
    r[0], r[1], r[2] = n, x, y
    t = np.sqrt(x * x + y * y)
    sign = 1.0 if load >= 0.0 or n < 0.0 else -1.0
    return t, sign * load * n, (x * dx + y * dy) / (t if t > 0.0 else 1.0), sign * load * dn


@kernel(f"boolean({A2}, {A1}, float64, float64, {A1})")
def slip_root(W: Array, q: Array, load: float, cap: float, r: Array) -> bool:
    """Put the slipping reaction of one block in space into r: a root a > 0 of |r_T(a)| = load |r_N(a)| + cap.

    The left side wins at a = 0 (else the block sticks) and the right side for large a, so a bracket exists. Newton's
    method on the difference of the inverses, which is nearly linear in a, safeguarded by the bracket.
    """
    low, high, a = 0.0, np.inf, 0.0
    top = 0.5 * (abs(W[1, 1]) + abs(W[2, 2])) + 1e-300
    for _ in range(300):
        t, f, dt, df = friction_at(W, q, load, a, r)
        f += cap
        g = t - f
        if abs(g) <= 2e-16 * t:
            break
        if g > 0.0:
            low = a
        else:
            high = a
        new = -1.0
        if f > 0.0 and t > 0.0:
            slope = df / (f * f) - dt / (t * t)
            if slope != 0.0:
                new = a + g / (t * f) / slope
        if not low < new < high:
            new = 0.5 * (low + high) if high < 1e300 else 4.0 * a + top
        if new == a or new == low or new == high:
            break
        a = new
    radius, t = (load * r[0] if load >= 0.0 else -load * abs(r[0])) + cap, length(r, 1, 3)
    if radius < 0.0:
        return False
    if t > 0.0:
        r[1], r[2] = r[1] * radius / t, r[2] * radius / t
    return abs(t - radius) <= 1e-9 * (t + radius)


@kernel(f"float64(int64, int64, {A2}, {A1}, {A1}, {A1}, {A1}, {A1}, {A2})")
def misfit(code: int, d: int, W: Array, q: Array, p: Array, r: Array, u: Array, F: Array, Y: Array) -> float:
    """Return the size of the natural map of one block at r, relative to its data."""
    top, x = 0.0, np.zeros(5)
    for i in range(d):
        u[i] = q[i]
        top += abs(W[i, i])
        for j in range(d):
            u[i] += W[i, j] * r[j]
    rho = d / top if top > 0.0 else 1.0
    natural(code, d, p, u, r, rho, F, x, Y)
    return length(F, 0, d) / (rho * length(q, 0, d) + length(r, 0, d) + 1e-300)


@kernel(f"boolean(int64, {A2}, {A1}, {A2}, {A1})")
def stick(d: int, W: Array, q: Array, A: Array, r: Array) -> bool:
    """Put r = -W^-1 q into r; a singular W is shifted at rounding level."""
    for attempt in range(2):
        shift = 0.0
        for i in range(d):
            shift += 1e-14 * abs(W[i, i]) * attempt
        B, x = np.zeros((d, d)), np.zeros(d)
        for i in range(d):
            x[i] = -q[i]
            for j in range(d):
                B[i, j] = W[i, j]
            B[i, i] += shift
        if solve_dense(B, x) and length(x, 0, d) < 1e13 * (1e-300 + length(q, 0, d)) / (1e-300 + length(W[0], 0, d)):
            for i in range(d):
                r[i] = x[i]
            return True
    return False


@kernel(f"boolean(int64, {A2}, {A1}, {A1}, {A1})")
def one_row(code: int, W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve a block of one row: Unilateral, Sliding, BilateralSliding (W[0, 1] acts with |r|), Dry."""
    w, b = W[0, 0], q[0]
    if code == 5:
        if w > 0.0 and abs(b) <= p[1] * w:
            r[0] = -b / w
        else:
            r[0] = p[2] if b < 0.0 else -p[2]
        return True
    if code == 4:
        plus, minus = w + W[0, 1], w - W[0, 1]
        push = -b / plus if plus != 0.0 else -1.0
        pull = -b / minus if minus != 0.0 else 1.0
        if push >= 0.0 and (pull >= 0.0 or abs(push - r[0]) <= abs(pull - r[0])):
            r[0] = push
        elif pull < 0.0:
            r[0] = pull
        else:
            return False
        return True
    if b >= 0.0:
        r[0] = 0.0
    elif w > 0.0:
        r[0] = -b / w
    else:
        return False
    return True


@kernel(f"boolean(int64, {A2}, {A1}, {A1}, {A1})")
def slip_plane(code: int, W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve a slipping block in the plane (Coulomb, BilateralCoulomb, Associated): the best of its linear modes."""
    u, F, Y, x, best = np.zeros(5), np.zeros(5), np.zeros((5, 5)), np.zeros(5), np.inf
    sides = 2 if code == 2 else 1
    found0, found1 = r[0], r[1]
    for mode in range(2 * sides):
        s, side = 1.0 - 2.0 * (mode % 2), 1.0 - 2.0 * (mode // 2)
        if code == 7:
            a, b = W[0, 0] - p[0] * s * W[0, 1], W[1, 0] - p[0] * s * W[1, 1]
            det = a - p[0] * s * b
            x[0] = -(q[0] - p[0] * s * q[1]) / det if det != 0.0 else -1.0
        else:
            det = W[0, 0] - p[0] * s * side * W[0, 1]
            x[0] = -q[0] / det if det != 0.0 else -side
        if x[0] * side < 0.0:
            continue
        x[1] = -p[0] * s * side * x[0]
        e = misfit(code, 2, W, q, p, x, u, F, Y)
        if e < best:
            best, found0, found1 = e, x[0], x[1]
    r[0], r[1] = found0, found1
    return bool(best < 1e-9)


@kernel(f"boolean(int64, int64, {A2}, {A1}, {A1}, {A1})")
def by_newton(code: int, d: int, W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve one block by Newton's method with a shrinking proximal term, in scaled variables."""
    top = 0.0
    for i in range(d):
        top = max(top, abs(W[i, i]))
    size = length(q, 0, d)
    if top == 0.0 or size == 0.0:
        return False
    V, none, b, x, c = np.zeros((d, d)), np.zeros((0, 0)), np.zeros(d), np.zeros(d), np.zeros(d)
    codes, start, P, rho = np.full(1, code), np.zeros(2, np.int64), np.zeros((1, 4)), np.ones(1)
    start[1] = d
    for i in range(4):
        P[0, i] = p[i] * (top / size if i == 2 else 1.0)
    for i in range(d):
        b[i] = q[i] / size
        x[i] = r[i] * top / size
        for j in range(d):
            V[i, j] = W[i, j] / top
    alpha, u, F, Y, best = 1e-3, np.zeros(5), np.zeros(5), np.zeros((5, 5)), np.inf
    y = np.zeros(5)
    for _ in range(40):
        for i in range(d):
            c[i] = x[i]
        e, _its = newton_dense(V, none, b, codes, start, P, rho, alpha, c, x, 1e-16, 30)
        alpha = alpha * 0.1 if e < 1e-12 else min(alpha * 30.0, 1e3)
        alpha = max(alpha, 1e-15)
        for i in range(d):
            y[i] = x[i] * size / top
        e = misfit(code, d, W, q, p, y, u, F, Y)
        if e < best:
            best = e
            for i in range(d):
                r[i] = y[i]
        if best < 1e-15:
            break
    return bool(best < 1e-9)


@kernel(f"boolean(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})")
def one_block(code: int, d: int, W: Array, q: Array, p: Array, r: Array, A: Array) -> bool:
    """Put the exact solution of one block into r[:d]; False (r as near as could be) if none was found.

    W is padded to (5, 5); for BilateralSliding W[0, 1] holds the part that acts with |r|.
    """
    if d == 1:
        return one_row(code, W, q, p, r)
    unilateral = code == 1 or code == 6 or code == 7
    if unilateral:
        slip = 0.0 if code != 7 else p[0] * length(q, 1, d)
        if q[0] >= slip:
            for i in range(d):
                r[i] = 0.0
            return True
        if W[0, 0] <= 0.0:
            return False
    x = np.zeros(5)
    if stick(d, W, q, A, x):
        load = abs(x[0]) if code == 2 else x[0]
        limit = max(p[0], p[1]) if code != 7 else p[0]
        sticks = length(x, 1, d) <= limit * load
        if code == 5:
            sticks = length(x, 0, d) <= p[1]
        if code == 6:
            sticks = length(x, 1, 3) <= p[0] * load and length(x, 3, 5) <= p[3] * load
        if sticks:
            for i in range(d):
                r[i] = x[i]
            return True
    if code == 6 or (code == 7 and d == 3):
        return by_newton(code, d, W, q, p, r)
    if code == 5:
        B, b, y = np.zeros((5, 5)), np.zeros(5), np.zeros(5)
        B[0, 0] = 1.0
        for i in range(2):
            b[i + 1] = q[i]
            for j in range(2):
                B[i + 1, j + 1] = W[i, j]
        ok = slip_root(B, b, 0.0, p[2], y)
        r[0], r[1] = y[1], y[2]
        return ok
    if W[0, 0] == 0.0:
        return False
    if d == 2:
        return slip_plane(code, W, q, p, r)
    if p[0] == 0.0:
        r[0], r[1], r[2] = -q[0] / W[0, 0], 0.0, 0.0
        return True
    return slip_root(W, q, p[0] if code == 1 else -p[0], 0.0, r)


@kernel(f"float64({A1}, {I1}, {I1}, {A1}, {A1}, {I1}, {I1}, {A2}, {A1}, {A1})")
def residual(
    data: Array, indices: IntArray, indptr: IntArray, q: Array, r: Array, code: IntArray, start: IntArray, P: Array,
    rho: Array, extra: Array,
) -> float:  # fmt: skip
    """Return |r - P(r - rho u^)| with u = W r + q + extra."""
    total, U, R, F, x, Y = 0.0, np.zeros(5), np.zeros(5), np.zeros(5), np.zeros(5), np.zeros((5, 5))
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            i = first + a
            s = q[i] + extra[i]
            for e in range(indptr[i], indptr[i + 1]):
                s += data[e] * r[indices[e]]
            U[a], R[a] = s, r[i]
        natural(code[k], d, P[k], U, R, rho[k], F, x, Y)
        total += length(F, 0, d) ** 2
    return float(np.sqrt(total))


@kernel(
    f"Tuple((int64, float64, int64))({A1}, {I1}, {I1}, {A2}, {A1}, {I1}, {I1}, {A2}, {A3}, {A1}, {A1}, int64, float64)"
)
def gauss_seidel(
    data: Array, indices: IntArray, indptr: IntArray, W_abs: Array, q: Array, code: IntArray, start: IntArray, P: Array,
    D: Array, rho: Array, r: Array, limit: int, tol: float,
) -> tuple[int, float, int]:  # fmt: skip
    """Sweep over the blocks, solving each exactly with the others fixed, until the residual is below tol.

    Returns (sweeps, residual, blocks without a solution in the last sweep); r becomes the answer.
    """
    b, x, A, extra = np.zeros(5), np.zeros(5), np.zeros((5, 5)), np.zeros(len(q))
    n, e, failed = len(code), np.inf, 0
    for it in range(1, limit + 1):
        failed = 0
        for k in range(n):
            first, d = start[k], start[k + 1] - start[k]
            for a in range(d):
                i = first + a
                s = q[i]
                for c in range(indptr[i], indptr[i + 1]):
                    s += data[c] * r[indices[c]]
                for c in range(d):
                    s -= D[k, a, c] * r[first + c]
                if len(W_abs) > 0:
                    for c in range(len(q)):
                        s += W_abs[i, c] * abs(r[c])
                    if code[k] == 4:
                        s -= W_abs[i, i] * abs(r[i])
                b[a], x[a] = s, r[i]
            if code[k] == 4 and len(W_abs) > 0:
                D[k, 0, 1] = W_abs[first, first]
            if not one_block(code[k], d, D[k], b, P[k], x, A):
                failed += 1
            for a in range(d):
                r[first + a] = x[a]
        if n > 1 and it % 5 != 0 and it != limit:
            continue
        if len(W_abs) > 0:
            for i in range(len(q)):
                extra[i] = 0.0
                for c in range(len(q)):
                    extra[i] += W_abs[i, c] * abs(r[c])
        e = residual(data, indices, indptr, q, r, code, start, P, rho, extra)
        if e <= tol or not np.isfinite(e) or n == 1:
            return it, e, failed
    return limit, e, failed
