"""The exact solution of one block of every law, compiled.

A block alone is: find r with u = W r + q and (u, r) in the law, W (d, d) of any symmetry. Take-off and stick are
linear; slip in the plane is one of two linear systems; slip in space is the root of a secular equation, because
u_T = -a r_T with a scalar a >= 0. Moments (Rolling, Torsional) and the convex relaxation in space use Newton's method.
Every function returns whether it found a solution; W is padded to (6, 6), `work` (13, 6) is work space.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ...linalg.dense import solve_dense
from ..laws.projections import length, moment_room, natural
from .newton.dense_newton import DenseProblem, newton_dense

REGULAR = 1e-6  # determinant, over that of the diagonal, from which on a block needs no pivots
ROOTS = 30  # most Newton steps for the speed of slip


@kernel(f"UniTuple(float64, 4)({A2}, {A1}, float64, float64, {A1})", borrows=True)
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


@kernel("float64(float64, float64, float64, float64, float64)", borrows=True)
def inverse_newton(a: float, t: float, f: float, dt: float, df: float) -> float:
    """Return the Newton step from a for 1 / t(a) = 1 / f(a), which is nearly linear; -1 if there is none."""
    if not (f > 0.0 and t > 0.0):
        return -1.0
    slope = df / (f * f) - dt / (t * t)
    return a + (t - f) / (t * f) / slope if slope != 0.0 else -1.0


@kernel(f"boolean({A2}, {A1}, float64, float64, {A1})", borrows=True)
def slip_root(W: Array, q: Array, load: float, cap: float, r: Array) -> bool:
    """Put the slipping reaction of one block in space into r: a root a > 0 of |r_T(a)| = load |r_N(a)| + cap.

    The left side wins at a = 0 (else the block sticks) and the right side for large a, so a bracket exists; it
    safeguards the Newton steps.
    """
    low, high, a = 0.0, np.inf, 0.0
    top = 0.5 * (abs(W[1, 1]) + abs(W[2, 2])) + 1e-300
    for _ in range(300):
        t, f, dt, df = friction_at(W, q, load, a, r)
        g = t - f - cap
        if abs(g) <= 2e-16 * t:
            break
        low, high = (a, high) if g > 0.0 else (low, a)
        new = inverse_newton(a, t, f + cap, dt, df)
        if not low < new < high:
            new = 0.5 * (low + high) if high < 1e300 else 4.0 * a + top
        if new in (a, low, high):
            break
        a = new
    radius, t = (load * r[0] if load >= 0.0 else -load * abs(r[0])) + cap, length(r, 1, 3)
    if radius < 0.0 or not abs(t - radius) <= 1e-9 * (t + radius):
        return False
    shrink = radius / t if t > 0.0 else 1.0
    r[1], r[2] = r[1] * shrink, r[2] * shrink
    return True


@kernel(f"float64(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def misfit(code: int, d: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> float:
    """Return the size of the natural map of one block at r, relative to its data."""
    u, F = work[8], work[7]
    top = 0.0
    for i in range(d):
        u[i] = q[i]
        top += abs(W[i, i])
        for j in range(d):
            u[i] += W[i, j] * r[j]
    rho = d / top if top > 0.0 else 1.0
    natural(code, d, p, u, r, rho, F, work[:7])
    return length(F, 0, d) / (rho * length(q, 0, d) + length(r, 0, d) + 1e-300)


@kernel(f"boolean(int64, {A2}, {A1}, {A1}, {A2})", borrows=True)
def stick(d: int, W: Array, q: Array, r: Array, work: Array) -> bool:
    """Put r = -W^-1 q into r; a singular W is shifted at rounding level."""
    bound = 1e13 * (1e-300 + length(q, 0, d)) / (1e-300 + length(W[0], 0, d))
    B, x = work[:6], work[6, :d]
    for attempt in range(2):
        for i in range(d):
            x[i] = -q[i]
            for j in range(d):
                B[i, j] = W[i, j]
            B[i, i] += attempt * 1e-14 * abs(W[i, i])
        if solve_dense(B, x) and length(x, 0, d) < bound:
            for i in range(d):
                r[i] = x[i]
            return True
    return False


@kernel(f"boolean({A2}, {A1}, {A1})", borrows=True)
def guided_row(W: Array, q: Array, r: Array) -> bool:
    """Solve a BilateralSliding block, W[0, 0] r + W[0, 1] |r| + q = 0: of two solutions the one nearer to r."""
    plus, minus = W[0, 0] + W[0, 1], W[0, 0] - W[0, 1]
    push = -q[0] / plus if plus != 0.0 else -1.0
    pull = -q[0] / minus if minus != 0.0 else 1.0
    if push >= 0.0 and (pull >= 0.0 or abs(push - r[0]) <= abs(pull - r[0])):
        r[0] = push
        return True
    r[0] = pull if pull < 0.0 else r[0]
    return pull < 0.0


@kernel(f"boolean(int64, {A2}, {A1}, {A1}, {A1})", borrows=True)
def one_row(code: int, W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve a block of one row: Unilateral, Sliding, BilateralSliding, Dry."""
    w, b = W[0, 0], q[0]
    if code == 4:
        return guided_row(W, q, r)
    if code == 5:
        sticks = w > 0.0 and abs(b) <= p[1] * w
        r[0] = -b / w if sticks else (p[2] if b < 0.0 else -p[2])
        return True
    if b < 0.0 and w <= 0.0:
        return False
    r[0] = 0.0 if b >= 0.0 else -b / w
    return True


@kernel(f"boolean(int64, {A2}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def slip_plane(code: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> bool:
    """Solve a slipping block in the plane (Coulomb, BilateralCoulomb, Associated): the best of its linear modes."""
    x, best, n, t = work[9], np.inf, r[0], r[1]
    for mode in range(4 if code == 2 else 2):
        s, side = 1.0 - 2.0 * (mode % 2), 1.0 - 2.0 * (mode // 2)
        k = p[0] * s * side
        det, rhs = W[0, 0] - k * W[0, 1], q[0]
        if code == 7:
            det, rhs = det - k * (W[1, 0] - k * W[1, 1]), rhs - k * q[1]
        x[0] = -rhs / det if det != 0.0 else -side
        x[1] = -k * x[0]
        e = misfit(code, 2, W, q, p, x, work) if x[0] * side >= 0.0 else np.inf
        if e < best:
            best, n, t = e, x[0], x[1]
    r[0], r[1] = n, t
    return bool(best < 1e-9)


@kernel(f"boolean(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})")
def by_newton(code: int, d: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> bool:
    """Solve one block by Newton's method with a shrinking proximal term, in scaled variables."""
    size, top = length(q, 0, d), abs(W[0, 0])
    if not min(top, size) > 0.0:
        return False
    codes, start, P, V, b, x = (
        np.zeros(1, np.int64),
        np.zeros(2, np.int64),
        np.zeros((1, 4)),
        np.zeros((d, d)),
        np.zeros(d),
        np.zeros(d),
    )
    centre, y, none, rho, unit = np.zeros(d), np.zeros(6), np.zeros((0, 0)), np.ones(1), size / top
    codes[0], start[1], P[0, 0], P[0, 2], P[0, 3] = code, d, p[0], p[2], p[3]
    for i in range(d):
        b[i], x[i] = q[i] / size, r[i] / unit
        for j in range(d):
            V[i, j] = W[i, j] / top
    alpha, best = 1e-3, np.inf
    for _ in range(40):
        for i in range(d):
            centre[i] = x[i]
        e, _its = newton_dense(DenseProblem(V, none, b, (codes, start, P), rho), alpha, centre, x, 1e-16, 30)
        alpha = max(alpha * 0.1, 1e-15) if e < 1e-12 else min(alpha * 30.0, 1e3)
        for i in range(d):
            y[i] = x[i] * unit
        e = misfit(code, d, W, q, p, y, work)
        if e < best:
            best = e
            for i in range(d):
                r[i] = y[i]
        if best < 1e-15:
            break
    return bool(best < 1e-9)


@kernel(f"boolean(int64, int64, {A1}, {A1})", borrows=True)
def may_stick(code: int, d: int, p: Array, r: Array) -> bool:
    """Whether the reaction r lies in the static set of a block."""
    load = abs(r[0]) if code == 2 else r[0]
    if code == 5:
        return bool(length(r, 0, d) <= p[1])
    if code in (6, 8):
        return bool(moment_room(d, p, r) >= 0.0)
    return bool(length(r, 1, d) <= (p[0] if code == 7 else p[1]) * load)


@kernel(f"boolean(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def rest(code: int, d: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> bool:
    """Solve a block that sticks; r is left alone if it does not."""
    x = work[9]
    sticks = stick(d, W, q, x, work) and may_stick(code, d, p, x)
    for i in range(d):
        r[i] = x[i] if sticks else r[i]
    return bool(sticks)


@kernel(f"boolean({A2}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def dry_slip(W: Array, q: Array, p: Array, r: Array, work: Array) -> bool:
    """Solve a slipping Dry block of two rows."""
    B, b, x = work[:6], work[6], work[7]
    for i in range(3):
        B[0, i], B[i, 0], b[i] = 0.0, 0.0, 0.0
    B[0, 0] = 1.0
    for i in range(2):
        b[i + 1] = q[i]
        for j in range(2):
            B[i + 1, j + 1] = W[i, j]
    found = slip_root(B, b, 0.0, p[2], x)
    r[0], r[1] = x[1], x[2]
    return found


@kernel(f"boolean(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})", borrows=True, rare=True)
def slip(code: int, d: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> bool:
    """Solve a block that is closed and does not stick."""
    if code == 5:
        return dry_slip(W, q, p, r, work)
    if W[0, 0] == 0.0:
        return False
    if d == 2:
        return slip_plane(code, W, q, p, r, work)
    if p[0] == 0.0:
        r[0], r[1], r[2] = -q[0] / W[0, 0], 0.0, 0.0
        return True
    return slip_root(W, q, p[0] if code == 1 else -p[0], 0.0, r)


@kernel(f"boolean({A2}, {A1}, {A1}, {A1})", borrows=True)
def contact_in_plane(W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve a closed Coulomb contact in the plane by hand; false where its matrix is nearly singular or it has no say.

    It has none where both directions of slip obey the law, or neither.
    """
    mu, det = p[0], W[0, 0] * W[1, 1] - W[0, 1] * W[1, 0]
    if not det > REGULAR * W[0, 0] * W[1, 1] > 0.0:
        return False
    n, t = (W[0, 1] * q[1] - W[1, 1] * q[0]) / det, (W[1, 0] * q[0] - W[0, 0] * q[1]) / det
    if abs(t) <= p[1] * n:
        r[0], r[1] = n, t
        return True
    plus, minus = W[0, 0] - mu * W[0, 1], W[0, 0] + mu * W[0, 1]
    if not (plus > 0.0 and minus > 0.0):
        return False
    n, t = -q[0] / plus, -q[0] / minus  # r_N in slip forwards and backwards
    forwards = q[1] + (W[1, 0] - mu * W[1, 1]) * n > 0.0
    backwards = q[1] + (W[1, 0] + mu * W[1, 1]) * t < 0.0
    if forwards == backwards:
        return False
    r[0], r[1] = (n, -mu * n) if forwards else (t, mu * t)
    return True


@kernel(f"boolean({A2}, {A1}, {A1}, {A1})", borrows=True, rare=True)
def contact_in_space(W: Array, q: Array, p: Array, r: Array) -> bool:
    """Solve a closed Coulomb contact in space; false where its matrix is nearly singular, or it does not slip either.

    The normal row is eliminated once. Slip: u_T = -a r_T, a root of 1 / |r_T(a)| = 1 / (mu r_N(a)) by Newton's method.
    """
    mu, w = p[0], 1.0 / W[0, 0]
    k1, k2, load = W[0, 1] * w, W[0, 2] * w, -q[0] * w
    m11, m12, b1 = W[1, 1] - W[1, 0] * k1, W[1, 2] - W[1, 0] * k2, q[1] + W[1, 0] * load
    m21, m22, b2 = W[2, 1] - W[2, 0] * k1, W[2, 2] - W[2, 0] * k2, q[2] + W[2, 0] * load
    if not (m11 * m22 - m12 * m21 > REGULAR * m11 * m22 > 0.0 and m11 > REGULAR * W[1, 1] and m22 > REGULAR * W[2, 2]):
        return False
    a, limit = 0.0, p[1]
    for k in range(ROOTS):
        c11, c22 = m11 + a, m22 + a
        d = 1.0 / (c11 * c22 - m12 * m21)
        x, y = (m12 * b2 - c22 * b1) * d, (m21 * b1 - c11 * b2) * d
        n, t = load - k1 * x - k2 * y, np.sqrt(x * x + y * y)
        f = (limit if k == 0 else mu) * n
        if t <= f if k == 0 else abs(t - f) <= 2e-16 * t:
            r[0], r[1], r[2] = n, x, y
            return True
        f = mu * n
        if not (f > 0.0 and t > 0.0):
            return False
        dx, dy = (m12 * y - c22 * x) * d, (m21 * x - c11 * y) * d
        df, dt = -mu * (k1 * dx + k2 * dy), (x * dx + y * dy) / t
        new = a + (t - f) * t * f / (df * t * t - dt * f * f)
        if not 0.0 < new < np.inf:
            return False
        if abs(new - a) <= 4e-15 * new:
            r[0], r[1], r[2] = n, x * f / t, y * f / t
            return bool(abs(t - f) <= 1e-13 * t)
        a = new
    return False


@kernel(f"int64(int64, int64, {A2}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def simple_block(code: int, d: int, W: Array, q: Array, p: Array, r: Array, work: Array) -> int:
    """Solve a block unless it needs Newton's method: 1 solved, 0 no solution found, -1 for `by_newton` to do."""
    if d == 1:
        return one_row(code, W, q, p, r)
    if code in (1, 6, 7, 8):
        if q[0] >= (p[0] * length(q, 1, d) if code == 7 else 0.0):
            for i in range(d):
                r[i] = 0.0
            return 1
        if W[0, 0] <= 0.0:
            return 0
        if code == 1 and (contact_in_plane(W, q, p, r) if d == 2 else contact_in_space(W, q, p, r)):
            return 1
    if rest(code, d, W, q, p, r, work):
        return 1
    if code in (6, 8) or (code == 7 and d == 3):
        return -1
    return slip(code, d, W, q, p, r, work)
