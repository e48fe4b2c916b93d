"""The block laws, compiled: projection with derivative, natural map, spectra of diagonal blocks.

Codes and parameters are those of `law_table.LawTable`: 0 Unilateral, 1 Coulomb, 2 BilateralCoulomb, 3 Sliding,
4 BilateralSliding, 5 Dry, 6 Rolling, 7 Associated, 8 Torsional; p = (mu, mu_s, cap, mu_r), with mu_t in the place of
cap where an even number of rows ends with the spin. Blocks are padded to 6 rows.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, A3, I1, kernel
from ...arrays import Array, IntArray
from ...linalg.sparse_rows import ROWS, Rows


@kernel(f"float64({A1}, int64, int64)", borrows=True)
def length(x: Array, i: int, j: int) -> float:
    """Return the norm of x[i:j]."""
    s = 0.0
    for k in range(i, j):
        s += x[k] * x[k]
    return float(np.sqrt(s))


@kernel(f"void({A1}, int64, int64, float64, float64, float64, {A1}, {A2})", borrows=True)
def disc(x: Array, i: int, j: int, growth: float, radius: float, limit: float, y: Array, Y: Array) -> None:
    """Put into y[i:j] the point of the disc nearest to x[i:j], and into Y its derivative.

    Within `limit` (>= radius) the block sticks and y = x; beyond it y lies on the radius, which grows with x[0] at
    the rate `growth`.
    """
    t = length(x, i, j)
    if t <= limit and limit > 0.0:
        for a in range(i, j):
            y[a] = x[a]
            Y[a, a] = 1.0
        return
    inverse = 1.0 / t if t > 0.0 else 0.0
    f = radius * inverse
    for a in range(i, j):
        y[a] = f * x[a]
        Y[a, 0] += growth * x[a] * inverse
        Y[a, a] += f
        for b in range(i, j):
            Y[a, b] -= f * (x[a] * inverse) * (x[b] * inverse)


@kernel(f"void({A1}, int64, float64, {A1}, {A2})", borrows=True)
def cone(x: Array, d: int, mu: float, y: Array, Y: Array) -> None:
    """Project x on {|x_T| <= mu x_N}, with the derivative."""
    t = length(x, 1, d)
    if mu * t <= -x[0]:
        return
    if t <= mu * x[0]:
        for a in range(d):
            y[a] = x[a]
            Y[a, a] = 1.0
        return
    k = 1.0 / (1.0 + mu * mu)
    y[0] = (x[0] + mu * t) * k
    Y[0, 0] = k
    for a in range(1, d):
        y[a] = mu * y[0] * x[a] / t
        Y[0, a] = k * mu * x[a] / t
        Y[a, 0] = Y[0, a]
        Y[a, a] = mu * y[0] / t
    f = mu * mu * k - mu * y[0] / t
    for a in range(1, d):
        for b in range(1, d):
            Y[a, b] += f * (x[a] / t) * (x[b] / t)


@kernel(f"void({A1}, int64, float64, {A1})", borrows=True)
def onto_cone(x: Array, d: int, mu: float, y: Array) -> None:
    """Put into y, which is zero, the projection of x on {|x_T| <= mu x_N}: `cone` without the derivative."""
    t = length(x, 1, d)
    if mu * t <= -x[0]:
        return
    inside = t <= mu * x[0]
    y[0] = x[0] if inside else (x[0] + mu * t) / (1.0 + mu * mu)
    f = 1.0 if inside else mu * y[0] / t
    for a in range(1, d):
        y[a] = f * x[a]


@kernel(f"void(int64, int64, {A1}, {A1}, {A1}, {A2})", borrows=True)
def reaction_map(code: int, d: int, p: Array, x: Array, y: Array, Y: Array) -> None:
    """Return the admissible reaction y(x) at x = r - rho u, and a generalised derivative Y (Alart, Curnier 1991).

    The law holds exactly where r = y(r - rho u). Unlike the projection of De Saxcé's form the map is not shifted
    by mu |u_T|, so that its derivative is simple and Newton's method quick.
    """
    for a in range(d):
        y[a] = 0.0
        for b in range(d):
            Y[a, b] = 0.0
    load, bilateral = x[0], code in (2, 4)
    if code == 5:
        disc(x, 0, d, 0.0, p[2], p[1], y, Y)
    elif code == 7:
        cone(x, d, p[0], y, Y)
    elif load > 0.0 or bilateral:
        y[0], Y[0, 0] = load, 1.0
        sign = 1.0 if load >= 0.0 else -1.0
        if code in (1, 2):
            disc(x, 1, d, p[0] * sign, p[0] * sign * load, p[1] * sign * load, y, Y)
        elif code in (6, 8):
            disc(x, 1, 3, p[0], p[0] * load, p[0] * load, y, Y)
            if d >= 5:
                disc(x, 3, 5, p[3], p[3] * load, p[3] * load, y, Y)
            if d % 2 == 0:
                disc(x, d - 1, d, p[2], p[2] * load, p[2] * load, y, Y)


@kernel(f"UniTuple(float64, 3)(int64, {A1})", borrows=True)
def moment_lengths(d: int, x: Array) -> tuple[float, float, float]:
    """Return |x_T|, |x_R| and |x_S| of a block (N, T1, T2), then (R1, R2), then (S); zero for what it has not."""
    return length(x, 1, 3), length(x, 3, 5) if d >= 5 else 0.0, abs(x[d - 1]) if d % 2 == 0 else 0.0


@kernel(f"float64(int64, {A1}, {A1})", borrows=True)
def moment_shift(d: int, p: Array, u: Array) -> float:
    """Return mu |u_T| + mu_r |u_R| + mu_t |u_S|, by which u^ differs from u in its normal row."""
    s, t, w = moment_lengths(d, u)
    return float(p[0] * s + p[3] * t + (p[2] * w if d % 2 == 0 else 0.0))


@kernel(f"float64(int64, {A1}, {A1})", borrows=True)
def moment_room(d: int, p: Array, r: Array) -> float:
    """Return how far r is inside its discs, the least of them."""
    s, t, w = moment_lengths(d, r)
    room = p[0] * r[0] - s
    if d >= 5:
        room = min(room, p[3] * r[0] - t)
    return float(min(room, p[2] * r[0] - w) if d % 2 == 0 else room)


@kernel(f"void(int64, {A1}, {A1}, {A1})", borrows=True)
def moment_cone(d: int, x: Array, p: Array, y: Array) -> None:
    """Project x on {|x_T| <= mu x_N, |x_R| <= mu_r x_N, |x_S| <= mu_t x_N}, those that the block has.

    y_N is a zero of n - x_N - sum of mu max(s - mu n, 0), which rises with n. With all parts taken as outside their
    discs n is too small; those that lie inside there do so at the zero, too, and are left out until none is left.
    Distances from x do not tell the right parts: near the tip of the cone all are equally far but for rounding.
    """
    s, t, w = moment_lengths(d, x)
    mu, mu_r, mu_t = p[0], p[3] if d >= 5 else 0.0, p[2] if d % 2 == 0 else 0.0
    a = b = c = 1.0
    n = -1.0
    for _ in range(4):
        n = (x[0] + a * mu * s + b * mu_r * t + c * mu_t * w) / (1.0 + a * mu * mu + b * mu_r * mu_r + c * mu_t * mu_t)
        left = a + b + c
        a, b, c = a if mu * n <= s else 0.0, b if mu_r * n <= t else 0.0, c if mu_t * n <= w else 0.0
        if a + b + c == left or n <= 0.0:
            break
    y[0] = max(n, 0.0)
    f = 1.0 if s <= mu * y[0] else mu * y[0] / s
    g = 1.0 if t <= mu_r * y[0] else mu_r * y[0] / t
    y[1], y[2] = f * x[1], f * x[2]
    if d >= 5:
        y[3], y[4] = g * x[3], g * x[4]
    if d % 2 == 0:
        y[d - 1] = x[d - 1] * (1.0 if w <= mu_t * y[0] else mu_t * y[0] / w)


@kernel(f"void(int64, int64, {A1}, {A1}, {A1})", borrows=True)
def static_excess(code: int, d: int, p: Array, r: Array, y: Array) -> None:
    """Put into y the part of r outside the static set (mu_s or c_s in p[1]): zero where the block may stick."""
    for a in range(d):
        y[a] = 0.0
    i = 0 if code == 5 else 1
    t, radius = length(r, i, d), p[1] if code == 5 else p[1] * abs(r[0])
    if code == 1:
        inside = t <= p[1] * r[0]
        n = r[0] if inside else max((r[0] + p[1] * t) / (1.0 + p[1] * p[1]), 0.0)
        y[0], radius = r[0] - n, p[1] * n
    if t > radius:
        for a in range(i, d):
            y[a] = r[a] * (1.0 - radius / t)


@kernel(f"void(int64, int64, {A1}, {A1}, {A1}, float64, {A1}, {A2})", borrows=True)
def sliding_map(code: int, d: int, p: Array, u: Array, r: Array, rho: float, F: Array, work: Array) -> None:
    """Put into F the natural map of one block without regard to mu_s; work (7, 6)."""
    Y, x = work, work[6]
    for a in range(d):
        x[a], F[a] = r[a] - rho * u[a], 0.0
    if code == 1:
        x[0] -= rho * p[0] * length(u, 1, d)
        onto_cone(x, d, p[0], F)
    elif code == 2:
        F[0] = x[0]
        disc(x, 1, d, 0.0, p[0] * abs(r[0]), p[0] * abs(r[0]), F, Y)
    elif code == 5:
        disc(x, 0, d, 0.0, p[2], p[2], F, Y)
    elif code in (6, 8):
        x[0] -= rho * moment_shift(d, p, u)
        moment_cone(d, x, p, F)
    else:
        reaction_map(code, d, p, x, F, Y)
    for a in range(d):
        F[a] = r[a] - F[a]


@kernel(f"void(int64, int64, {A1}, {A1}, {A1}, float64, {A1}, {A2})", borrows=True)
def natural(code: int, d: int, p: Array, u: Array, r: Array, rho: float, F: Array, work: Array) -> None:
    """Put into F the natural map r - P(r - rho u^) of one block, u^ = u + mu |u_T| n; work (7, 6).

    Where friction at rest is the stronger one, the smaller of this and the residual of sticking. Open contacts, of
    which there may be many, are seen at first sight.
    """
    if code == 1 and u[0] >= 0.0 and length(r, 0, d) == 0.0:
        for a in range(d):
            F[a] = 0.0
        return
    x = work[6]
    sliding_map(code, d, p, u, r, rho, F, work)
    if code in (1, 2, 5) and p[1] > (p[2] if code == 5 else p[0]):
        static_excess(code, d, p, r, x)
        for a in range(d):
            x[a] = np.sqrt((rho * u[a]) ** 2 + x[a] ** 2)
        if length(x, 0, d) < length(F, 0, d):
            for a in range(d):
                F[a] = x[a]


@kernel(f"void({A2}, int64, int64, int64)", borrows=True)
def rotate(S: Array, i: int, j: int, d: int) -> None:
    """Annihilate S[i, j] of a symmetric matrix by one Jacobi rotation."""
    z = (S[j, j] - S[i, i]) / (2.0 * S[i, j])
    t = (1.0 if z >= 0.0 else -1.0) / (abs(z) + np.hypot(1.0, z))
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = t * c
    for k in range(d):
        a, b = S[i, k], S[j, k]
        S[i, k], S[j, k] = c * a - s * b, s * a + c * b
    for k in range(d):
        a, b = S[k, i], S[k, j]
        S[k, i], S[k, j] = c * a - s * b, s * a + c * b


@kernel(f"void({A2}, int64)", borrows=True)
def diagonalise(S: Array, d: int) -> None:
    """Turn the symmetric S[:d, :d] into the diagonal matrix of its eigenvalues (cyclic Jacobi)."""
    for _ in range(30):
        off, total = 0.0, 0.0
        for i in range(d):
            total += S[i, i] * S[i, i]
            for j in range(i):
                off += S[i, j] * S[i, j]
        if off <= 1e-34 * total:
            break
        for i in range(d - 1):
            for j in range(i + 1, d):
                if S[i, j] != 0.0:
                    rotate(S, i, j, d)


@kernel(f"UniTuple(float64, 2)({A2}, int64)", borrows=True)
def extreme_eigenvalues(S: Array, d: int) -> tuple[float, float]:
    """Return the lowest and the highest eigenvalue of the symmetric S[:d, :d], which may be overwritten.

    Three rows: the roots of the cubic by cosines (Smith, Comm. ACM 4, 1961), to rounding of |S|.
    """
    if d == 2:
        mean, p = 0.5 * (S[0, 0] + S[1, 1]), np.hypot(0.5 * (S[0, 0] - S[1, 1]), S[0, 1])
        return mean - p, mean + p
    if d == 3:
        mean = (S[0, 0] + S[1, 1] + S[2, 2]) / 3.0
        a, b, c = S[0, 0] - mean, S[1, 1] - mean, S[2, 2] - mean
        x, y, z = S[0, 1], S[0, 2], S[1, 2]
        off = x * x + y * y + z * z
        if off <= 1e-32 * mean * mean:  # contacts of spheres, say
            return min(S[0, 0], S[1, 1], S[2, 2]), max(S[0, 0], S[1, 1], S[2, 2])
        p = np.sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0)
        if not p > 0.0:
            return mean, mean
        a, b, c, x, y, z = a / p, b / p, c / p, x / p, y / p, z / p
        half = 0.5 * (a * (b * c - z * z) - x * (x * c - z * y) + y * (x * z - b * y))
        angle = np.arccos(min(1.0, max(-1.0, half))) / 3.0
        return mean + 2.0 * p * np.cos(angle + 2.0943951023931953), mean + 2.0 * p * np.cos(angle)
    diagonalise(S, d)
    low, high = S[0, 0], S[0, 0]
    for i in range(1, d):
        low, high = min(low, S[i, i]), max(high, S[i, i])
    return low, high


@kernel(f"void({A1}, {I1}, int64, int64, int64, int64, {A1})", borrows=True)
def entries_of(data: Array, indices: IntArray, low: int, high: int, first: int, d: int, out: Array) -> None:
    """Put the entries of columns first, ..., first + d - 1 of a row data[low:high] with sorted columns into out."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < first:
            low = middle + 1
        else:
            high = middle
    while low < end and indices[low] < first + d:
        out[indices[low] - first] = data[low]
        low += 1


@kernel(f"UniTuple(boolean, 3)({ROWS}, {I1}, {A1}, boolean, {A3}, {A2}, {A1})", entry=True)
def block_spectra(
    rows: Rows, start: IntArray, q: Array, one_sided: bool, D: Array, out: Array, rho: Array
) -> tuple[bool, bool, bool]:  # fmt: skip
    """Extract the diagonal blocks of a matrix (columns sorted) into D (n, 6, 6), and what is told by them.

    Rows of out: lowest, highest eigenvalue, norm. rho_k = 1 / highest; where that is not positive 1 / |W_kk|; where
    W_kk = 0 one over the mean |W_jj|, else 1. Returns whether all numbers are finite (else nothing is done), whether
    no lowest eigenvalue is below -1e-9 |W_kk|, and whether r = 0 obeys all laws at first sight: q = 0, or all blocks
    are `one_sided` and begin with a row q >= 0.
    """
    data, indices, indptr = rows
    S, n, mean, monotone, still, finite = np.zeros((6, 6)), len(start) - 1, 0.0, True, True, True
    for i in range(len(data)):
        finite &= data[i] - data[i] == 0.0
    for i in range(len(q)):
        finite &= q[i] - q[i] == 0.0
        still &= q[i] == 0.0
    if not finite:
        return False, True, False
    apart = one_sided
    for k in range(n):
        first, d, total = start[k], start[k + 1] - start[k], 0.0
        for i in range(d):
            entries_of(data, indices, indptr[first + i], indptr[first + i + 1], first, d, D[k, i])
        for i in range(d):
            for j in range(d):
                S[i, j] = 0.5 * (D[k, i, j] + D[k, j, i])
                total += D[k, i, j] ** 2
        out[k, 2] = np.sqrt(total)
        out[k, 0], out[k, 1] = extreme_eigenvalues(S, d)
        mean += out[k, 2] / n
        monotone &= not out[k, 0] < -1e-9 * out[k, 2]
        apart &= q[first] >= 0.0
    for k in range(n):
        scale = out[k, 1] if out[k, 1] > 0.0 else out[k, 2]
        rho[k] = 1.0 / (scale if scale > 0.0 else (mean if mean > 0.0 else 1.0))
    return True, monotone, still or apart


TABLE = f"Tuple(({I1}, {I1}, {A2}))"


Table = tuple[IntArray, IntArray, Array]
