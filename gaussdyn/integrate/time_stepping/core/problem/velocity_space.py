"""Newton's equations in velocity space, for more rows than there are velocities to speak of.

With the rows J reactions r change velocities by M^-1 J^T r, and W = J M^-1 J^T is never formed. A Newton step
(`near_solution`) asks of every block

    B dr + rho Y J dv = -F,    B = I - (1 - alpha) Y,    M dv = J^T dr

so that dv comes first, and every block follows by itself:

    (M + J^T E J) dv = -J^T B^-1 F,    dr = -B^-1 F - E J dv,    E = rho B^-1 Y

Rows of one velocity alone, of dry joints say, stand on the diagonal. Others reach from a link to the root of its tree.
Velocities are eliminated from the leaves, last ones first: the factor has entries where M has, and beside them only
where links of two branches touch (Featherstone, Rigid body dynamics algorithms, 2008, 6.5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, A3, I1, kernel, record
from .....arrays import Array, IntArray
from .....linalg.envelope import part_dot
from ..records import ALONE, HIGH, LOW, Layout, Rows

TINY = 1e-13  # of its diagonal entry: a pivot that is none


@record(*[I1] * 3, *[A2] * 3, "Layout", A2, A2, I1, I1, A3, A3, A1)
class VelocitySpace(NamedTuple):
    """The rows of blocks, and a factor.

    Attributes
    ----------
    used : IntArray, shape (1,)
        Whether problems are solved here, W being unknown.
    low, high : IntArray, shape (m,)
        Where the entries of rows begin and end.
    J, Z : Array, shape (m, nv)
        Rows, and J L^-1 with M = L^T L: `Problem.Z` itself.
    M : Array, shape (nv, nv)
        The mass: `Data.M` itself.
    layout : Layout
    U, L : Array, shape (nv, nv)
        Rows of the upper factor, whose diagonal is one, and columns of the lower one; both to the right of the
        diagonal.
    wide, end : IntArray, shape (nv,)
        Where the entries of rows of M end, and those of the factor.
    E, yields : Array, shape (n, 6, 6)
        rho B^-1 Y, and B^-1.
    v : Array, shape (nv,)
        Work space.
    """

    used: IntArray
    low: IntArray
    high: IntArray
    J: Array
    Z: Array
    M: Array
    layout: Layout
    U: Array
    L: Array
    wide: IntArray
    end: IntArray
    E: Array
    yields: Array
    v: Array


def room(n: int, layout: Layout, M: Array, Z: Array) -> VelocitySpace:
    """Return room for n blocks; M (nv, nv) and Z (m, nv) are shared."""
    m, nv = Z.shape
    used, low, high = (np.zeros(k, dtype=np.int64) for k in (1, m, m))
    square, ends = [np.zeros((nv, nv)) for _ in range(2)], [np.zeros(nv, dtype=np.int64) for _ in range(2)]
    blocks, first = [np.zeros((n, 6, 6)) for _ in range(2)], (used, low, high, np.zeros((m, nv)), Z, M, layout)
    return VelocitySpace._make([*first, *square, *ends, *blocks, np.zeros(nv)])


@kernel(f"void({A1}, float64, {A1}, int64, int64)", borrows=True)
def add_part(y: Array, scale: float, x: Array, low: int, high: int) -> None:
    """Add scale x to y, low <= i < high."""
    for i in range(low, high):
        y[i] += scale * x[i]


@kernel(f"void(VelocitySpace, {I1}, int64, {A3})", borrows=True)
def diagonal_blocks(space: VelocitySpace, start: IntArray, blocks: int, D: Array) -> None:
    """Put those of W = Z Z^T."""
    Z, high = space.Z, space.high
    for k in range(blocks):
        first = start[k]
        for i in range(first, start[k + 1]):
            for j in range(first, i + 1):
                s = part_dot(Z[i], Z[j], 0, min(high[i], high[j]))
                D[k, i - first, j - first] = D[k, j - first, i - first] = s


@kernel(f"void(VelocitySpace, Rows, {I1}, int64)", borrows=True)
def take_rows(space: VelocitySpace, rows: Rows, at: IntArray, n: int) -> None:
    """Put the n rows `at`, and where those of M end."""
    reach, low, high, M, nv = space.layout.reach, space.low, space.high, space.M, len(space.v)
    for i in range(n):
        row, alone = rows.J[at[i]], reach[at[i], ALONE] - 1
        low[i], high[i] = (reach[at[i], LOW], reach[at[i], HIGH]) if alone < 0 else (alone, alone + 1)
        own = space.J[i]
        for j in range(low[i], high[i]):
            own[j] = row[j]
    for i in range(nv):
        last = nv
        while M[i, last - 1] == 0.0:
            last -= 1
        space.wide[i] = last


@kernel(f"void(VelocitySpace, int64, float64, {A1})", borrows=True)
def add_row(space: VelocitySpace, i: int, scale: float, x: Array) -> None:
    """Add a multiple of row i to x."""
    low, high = space.low[i], space.high[i]
    if high == low + 1:
        x[low] += scale * space.J[i, low]
    elif scale != 0.0:
        add_part(x, scale, space.J[i], low, high)


@kernel(f"float64(VelocitySpace, int64, {A1})", borrows=True)
def row_dot(space: VelocitySpace, i: int, x: Array) -> float:
    """Return J[i] . x."""
    low, high = space.low[i], space.high[i]
    if high == low + 1:
        return float(space.J[i, low] * x[low])
    return part_dot(space.J[i], x, low, high)


@kernel(f"void(VelocitySpace, {A1}, {A1}, {A1})", borrows=True)
def move_by(space: VelocitySpace, q: Array, r: Array, u: Array) -> None:
    """Put u = Z Z^T r + q."""
    z, Z, high = space.v, space.Z, space.high
    for j in range(len(z)):
        z[j] = 0.0
    for i in range(len(q)):
        if r[i] != 0.0:
            add_part(z, r[i], Z[i], 0, high[i])
    for i in range(len(q)):
        u[i] = q[i] + part_dot(Z[i], z, 0, high[i])


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


@kernel("void(VelocitySpace, int64, int64, boolean)", borrows=True)
def add_contact(space: VelocitySpace, k: int, first: int, same: bool) -> None:
    """Do what `add_block` does for a block of three rows."""
    J, E, high = space.J, space.E[k], space.high[first]
    for x in range(space.low[first], high):
        z0, z1, z2 = J[first, x], J[first + 1, x], J[first + 2, x]
        if z0 == 0.0 and z1 == 0.0 and z2 == 0.0:
            continue
        a = E[0, 0] * z0 + E[0, 1] * z1 + E[0, 2] * z2
        b = E[1, 0] * z0 + E[1, 1] * z1 + E[1, 2] * z2
        c = E[2, 0] * z0 + E[2, 1] * z1 + E[2, 2] * z2
        add_three(space.L[x], (a, b, c), J, first, x, high)
        if not same:
            a = z0 * E[0, 0] + z1 * E[1, 0] + z2 * E[2, 0]
            b = z0 * E[0, 1] + z1 * E[1, 1] + z2 * E[2, 1]
            c = z0 * E[0, 2] + z1 * E[1, 2] + z2 * E[2, 2]
            add_three(space.U[x], (a, b, c), J, first, x, high)


@kernel(f"boolean({A2}, int64)", borrows=True)
def symmetric(E: Array, d: int) -> bool:
    """Return whether E[:d, :d] is."""
    for a in range(d):
        for c in range(a):
            if E[a, c] != E[c, a]:
                return False
    return True


@kernel("void(VelocitySpace, int64, int64, int64, boolean)", borrows=True)
def add_block(space: VelocitySpace, k: int, first: int, d: int, same: bool) -> None:
    """Add J^T E J of a block of d rows: its lower part, transposed, to L, its upper one to U unless they are the same.

    All its rows end at one place.
    """
    J, E, low, high = space.J, space.E[k], space.low[first], space.high[first]
    if d == 3:
        add_contact(space, k, first, same)
        return
    for x in range(low, high):
        for c in range(d):
            upper = lower = 0.0
            for a in range(d):
                upper += J[first + a, x] * E[a, c]
                lower += E[c, a] * J[first + a, x]
            if lower != 0.0:
                add_part(space.L[x], lower, J[first + c], x, high)
            if not same and upper != 0.0:
                add_part(space.U[x], upper, J[first + c], x, high)


@kernel(f"void(VelocitySpace, {I1}, {I1}, int64)", borrows=True)
def begin_factor(space: VelocitySpace, place: IntArray, start: IntArray, blocks: int) -> None:
    """Put M into U and L, and where their rows end once the blocks that have a place are added."""
    J, M, end = space.J, space.M, space.end
    for i in range(len(end)):
        end[i] = space.wide[i]
    for k in range(blocks):
        first, d = start[k], start[k + 1] - start[k]
        high = space.high[first]
        for x in range(space.low[first], high if place[first] >= 0 else 0):
            for a in range(d if end[x] < high else 0):
                end[x] = high if J[first + a, x] != 0.0 else end[x]
    for i in range(len(end)):
        row, upper, lower = M[i], space.U[i], space.L[i]
        for j in range(i, end[i]):
            upper[j] = lower[j] = row[j]


@kernel(f"boolean({A2}, {A2}, {I1}, boolean)", borrows=True)
def factor_upper_lower(U: Array, L: Array, end: IntArray, same: bool) -> bool:
    """Factorise the matrix with the upper part U and the transposed lower part L, in place; False if it is singular.

    What stands to the right of the `end` of a row or column is zero, and is not read. same: it is symmetric, and U is
    not read either.
    """
    for i in range(len(end) - 1, -1, -1):
        upper, lower, last = U[i], L[i], end[i]
        for j in range(last - 1, i, -1):
            both = min(last, end[j])
            lower[j] -= part_dot(lower, U[j], j + 1, both)
            if same:
                upper[j] = lower[j] / L[j, j]
            else:
                upper[j] = (upper[j] - part_dot(upper, L[j], j + 1, both)) / L[j, j]
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
def put_blocks(space: VelocitySpace, Y: Array, place: IntArray, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put E and B^-1 of the blocks that have a place; return whether E is symmetric: nothing slips."""
    same = True
    for k in range(len(rho)):
        d, y, E = start[k + 1] - start[k], Y[k, 0, 0], space.E[k]
        if place[start[k]] < 0:
            continue
        if d == 1:
            space.yields[k, 0, 0] = 1.0 / (1.0 - (1.0 - alpha) * y)
            E[0, 0] = rho[k] * space.yields[k, 0, 0] * y
        else:
            comply(Y[k], space.yields[k], d, rho[k], alpha, E)
            same = same and symmetric(E, d)
    return same


@kernel(f"boolean(VelocitySpace, {A3}, {I1}, {I1}, {A1}, float64)", borrows=True, rare=True)
def factor_motion(space: VelocitySpace, Y: Array, place: IntArray, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of M + J^T E J of the blocks that have a place; False if it is singular."""
    begin_factor(space, place, start, len(rho))
    same = put_blocks(space, Y, place, start, rho, alpha)
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        low = space.low[first]
        if place[first] < 0:
            continue
        if d == 1 and space.high[first] == low + 1:
            scale = space.E[k, 0, 0] * space.J[first, low] ** 2
            space.L[low, low], space.U[low, low] = space.L[low, low] + scale, space.U[low, low] + scale
        else:
            add_block(space, k, first, d, same)
    return factor_upper_lower(space.U, space.L, space.end, same)


@kernel(f"void(VelocitySpace, {I1}, {I1}, int64, {A1}, {A1}, {A1})", borrows=True, rare=True)
def step_in_motion(
    space: VelocitySpace, place: IntArray, start: IntArray, blocks: int, F: Array, dr: Array, du: Array
) -> None:  # fmt: skip
    """Put the Newton step dr, and du = J dv, what it changes rates by; blocks without a place come to no reaction."""
    v = space.v
    for j in range(len(v)):
        v[j] = 0.0
    for k in range(blocks):
        first, d, yields = start[k], start[k + 1] - start[k], space.yields[k]
        for a in range(d):
            s = 0.0
            if place[first] < 0:
                s = -F[first + a]
            else:
                for c in range(d):
                    s -= yields[a, c] * F[first + c]
            dr[first + a] = s
            add_row(space, first + a, s, v)
    solve_upper_lower(space.U, space.L, space.end, v)
    for k in range(blocks):
        first, d, E = start[k], start[k + 1] - start[k], space.E[k]
        for c in range(d):
            s = row_dot(space, first + c, v)
            du[first + c] = s
            for a in range(d if place[first] >= 0 else 0):
                dr[first + a] -= E[a, c] * s
