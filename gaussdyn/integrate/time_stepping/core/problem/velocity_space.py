"""Newton's equations in velocity space, for more rows than there are velocities to speak of.

With the rows Z = J L^-1, M = L^T L, reactions r move z = Z^T r = L (velocity), and W = Z Z^T is never formed. A Newton
step (`near_solution`) asks of every block

    B dr + rho Y Z dz = -F,    B = I - (1 - alpha) Y,    dz = Z^T dr

so that dz comes first, and every block follows by itself:

    (I + Z^T E Z) dz = -Z^T B^-1 F,    dr = -B^-1 F - E Z dz,    E = rho B^-1 Y

A row of Z reaches from a link to the root of its tree. Velocities are eliminated from the leaves, last ones first: the
factor has entries where M has, and beside them only where links of two branches touch (Featherstone, Rigid body
dynamics algorithms, 2008, 6.5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, A3, I1, kernel, record
from .....arrays import Array, IntArray
from .....linalg.envelope import part_dot

TINY = 1e-13  # of its diagonal entry: a pivot that is none


@record(I1, I1, A2, A2, A2, I1, A3, A3, A1)
class VelocitySpace(NamedTuple):
    """The rows of blocks, and a factor.

    Attributes
    ----------
    used : IntArray, shape (1,)
        Whether problems are solved here, W being unknown.
    high : IntArray, shape (m,)
        Where the entries of rows end.
    Z : Array, shape (m, nv)
    U, L : Array, shape (nv, nv)
        Rows of the upper factor, whose diagonal is one, and columns of the lower one; both to the right of the
        diagonal.
    end : IntArray, shape (nv,)
        Where their entries end.
    E, inverse : Array, shape (n, 6, 6)
        rho B^-1 Y, and B^-1.
    z : Array, shape (nv,)
        Work space.
    """

    used: IntArray
    high: IntArray
    Z: Array
    U: Array
    L: Array
    end: IntArray
    E: Array
    inverse: Array
    z: Array


def room(n: int, Z: Array) -> VelocitySpace:
    """Return room for n blocks with rows Z (m, nv), which are shared."""
    m, nv = Z.shape
    used, high, end = (np.zeros(k, dtype=np.int64) for k in (1, m, nv))
    square, blocks = [np.zeros((nv, nv)) for _ in range(2)], [np.zeros((n, 6, 6)) for _ in range(2)]
    return VelocitySpace._make([used, high, Z, *square, end, *blocks, np.zeros(nv)])


@kernel(f"void({A1}, float64, {A1}, int64, int64)", borrows=True)
def add_part(y: Array, scale: float, x: Array, low: int, high: int) -> None:
    """Add scale x to y, low <= i < high."""
    for i in range(low, high):
        y[i] += scale * x[i]


@kernel("float64(VelocitySpace, int64, int64)", borrows=True)
def product(space: VelocitySpace, i: int, j: int) -> float:
    """Return an entry of W."""
    return part_dot(space.Z[i], space.Z[j], 0, min(space.high[i], space.high[j]))


@kernel(f"void(VelocitySpace, {I1}, int64, {A3})", borrows=True)
def diagonal_blocks(space: VelocitySpace, start: IntArray, blocks: int, D: Array) -> None:
    """Put those of W."""
    for k in range(blocks):
        first = start[k]
        for i in range(first, start[k + 1]):
            for j in range(first, i + 1):
                D[k, i - first, j - first] = D[k, j - first, i - first] = product(space, i, j)


@kernel(f"void(VelocitySpace, {A1}, {A1}, {A1})", borrows=True)
def move_by(space: VelocitySpace, q: Array, r: Array, u: Array) -> None:
    """Put u = Z Z^T r + q."""
    z = space.z
    for j in range(len(z)):
        z[j] = 0.0
    for i in range(len(q)):
        if r[i] != 0.0:
            add_part(z, r[i], space.Z[i], 0, space.high[i])
    for i in range(len(q)):
        u[i] = q[i] + part_dot(space.Z[i], z, 0, space.high[i])


@kernel(f"void({A2}, {A2}, int64, float64, float64, {A2})", borrows=True)
def comply(Y: Array, inverse: Array, d: int, rho: float, alpha: float, E: Array) -> None:
    """Put the inverse of B = I - (1 - alpha) Y and E = rho B^-1 Y; B is lower but for a positive part: no pivots."""
    for a in range(d):
        for c in range(d):
            inverse[a, c] = (1.0 if a == c else 0.0) - (1.0 - alpha) * Y[a, c]
    for k in range(d):
        pivot = 1.0 / inverse[k, k]
        inverse[k, k] = 1.0
        for c in range(d):
            inverse[k, c] *= pivot
        for a in range(d):
            if a != k:
                f = inverse[a, k]
                inverse[a, k] = 0.0
                for c in range(d):
                    inverse[a, c] -= f * inverse[k, c]
    for a in range(d):
        for c in range(d):
            s = 0.0
            for e in range(d):
                s += inverse[a, e] * Y[e, c]
            E[a, c] = rho * s


@kernel(f"void({A1}, UniTuple(float64, 3), {A2}, int64, int64, int64)", borrows=True)
def add_three(y: Array, scales: tuple[float, float, float], X: Array, first: int, low: int, high: int) -> None:
    """Add the multiples of three rows of X from `first` on to y, low <= i < high, which is read and written once."""
    s0, s1, s2 = scales
    x0, x1, x2 = X[first], X[first + 1], X[first + 2]
    for i in range(low, high):
        y[i] = ((y[i] + s0 * x0[i]) + s1 * x1[i]) + s2 * x2[i]


@kernel("void(VelocitySpace, int64, int64, boolean, int64)", borrows=True)
def add_contact(space: VelocitySpace, k: int, first: int, same: bool, high: int) -> None:
    """Do what `add_block` does for a block of three rows."""
    Z, E = space.Z, space.E[k]
    for x in range(high):
        z0, z1, z2 = Z[first, x], Z[first + 1, x], Z[first + 2, x]
        if z0 == 0.0 and z1 == 0.0 and z2 == 0.0:
            continue
        a = z0 * E[0, 0] + z1 * E[1, 0] + z2 * E[2, 0]
        b = z0 * E[0, 1] + z1 * E[1, 1] + z2 * E[2, 1]
        c = z0 * E[0, 2] + z1 * E[1, 2] + z2 * E[2, 2]
        add_three(space.U[x], (a, b, c), Z, first, x, high)
        if not same:
            d = E[0, 0] * z0 + E[0, 1] * z1 + E[0, 2] * z2
            e = E[1, 0] * z0 + E[1, 1] * z1 + E[1, 2] * z2
            f = E[2, 0] * z0 + E[2, 1] * z1 + E[2, 2] * z2
            add_three(space.L[x], (d - a, e - b, f - c), Z, first, x, high)


@kernel(f"boolean({A2}, int64)", borrows=True)
def symmetric(E: Array, d: int) -> bool:
    """Return whether E[:d, :d] is."""
    for a in range(d):
        for c in range(a):
            if E[a, c] != E[c, a]:
                return False
    return True


@kernel("void(VelocitySpace, int64, int64, int64)", borrows=True)
def add_block(space: VelocitySpace, k: int, first: int, d: int) -> None:
    """Add Z^T E Z of a block to U, and what is not symmetric of it to L."""
    Z, E, high, same = space.Z, space.E[k], space.high[first], symmetric(space.E[k], d)
    for a in range(1, d):
        high = max(high, space.high[first + a])
    if d == 3:
        add_contact(space, k, first, same, high)
        return
    for x in range(high):
        for c in range(d):
            left = right = 0.0
            for a in range(d):
                left += Z[first + a, x] * E[a, c]
                right += E[c, a] * Z[first + a, x]
            if left != 0.0:
                add_part(space.U[x], left, Z[first + c], x, high)
            if not same and left != right:
                add_part(space.L[x], right - left, Z[first + c], x, high)


@kernel(f"boolean({A2}, {A2}, {I1})", borrows=True)
def factor_upper_lower(U: Array, L: Array, end: IntArray) -> bool:
    """Factorise the matrix with the upper part U and the transposed lower part L, in place; False if it is singular.

    What stands to the right of the last entry of a row or column stays zero, and costs nothing.
    """
    n = len(end)
    for i in range(n - 1, -1, -1):
        upper, lower, last = U[i], L[i], n
        while last > i + 1 and upper[last - 1] == 0.0 and lower[last - 1] == 0.0:
            last -= 1
        end[i] = last
        for j in range(last - 1, i, -1):
            both = min(last, end[j])
            upper[j] = (upper[j] - part_dot(upper, L[j], j + 1, both)) / L[j, j]
            lower[j] -= part_dot(lower, U[j], j + 1, both)
        pivot = lower[i] - part_dot(upper, lower, i + 1, last)
        if not abs(pivot) > TINY * abs(lower[i]):
            return False
        lower[i] = pivot
    return True


@kernel(f"void({A2}, {A2}, {I1}, {A1})", borrows=True)
def solve_upper_lower(U: Array, L: Array, end: IntArray, b: Array) -> None:
    """Solve in place with the factors of `factor_upper_lower`."""
    n = len(end)
    for i in range(n - 1, -1, -1):
        b[i] -= part_dot(U[i], b, i + 1, end[i])
    for i in range(n):
        row = L[i]
        value = b[i] / row[i]
        b[i] = value
        for j in range(i + 1, end[i]):
            b[j] -= row[j] * value


@kernel(f"boolean(VelocitySpace, {A3}, {I1}, {I1}, {A1}, float64)", borrows=True)
def factor_motion(space: VelocitySpace, Y: Array, place: IntArray, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of I + Z^T E Z of the blocks that have a place; False if it is singular."""
    nv, U, L = len(space.z), space.U, space.L
    for i in range(nv):
        for j in range(i, nv):
            U[i, j] = L[i, j] = 0.0
        U[i, i] = 1.0
    for k in range(len(rho)):
        d = start[k + 1] - start[k]
        if place[start[k]] >= 0:
            comply(Y[k], space.inverse[k], d, rho[k], alpha, space.E[k])
            add_block(space, k, start[k], d)
    for i in range(nv):
        for j in range(i, nv):
            L[i, j] += U[i, j]
    return factor_upper_lower(U, L, space.end)


@kernel(f"void(VelocitySpace, {I1}, {I1}, int64, {A1}, {A1})", borrows=True)
def step_in_motion(
    space: VelocitySpace, place: IntArray, start: IntArray, blocks: int, F: Array, dr: Array
) -> None:  # fmt: skip
    """Put the Newton step dr; blocks without a place step to no reaction."""
    z, Z, high = space.z, space.Z, space.high
    for j in range(len(z)):
        z[j] = 0.0
    for k in range(blocks):
        first, d, inverse = start[k], start[k + 1] - start[k], space.inverse[k]
        for a in range(d):
            s = 0.0
            if place[first] < 0:
                s = -F[first + a]
            else:
                for c in range(d):
                    s -= inverse[a, c] * F[first + c]
            dr[first + a] = s
            if s != 0.0:
                add_part(z, s, Z[first + a], 0, high[first + a])
    solve_upper_lower(space.U, space.L, space.end, z)
    for k in range(blocks):
        first, d, E = start[k], start[k + 1] - start[k], space.E[k]
        for c in range(d if place[first] >= 0 else 0):
            s = part_dot(Z[first + c], z, 0, high[first + c])
            for a in range(d):
                dr[first + a] -= E[a, c] * s
