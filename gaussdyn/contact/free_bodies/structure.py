"""Contacts between free rigid bodies, stored by their geometry: a frame and two arms, never a Jacobian.

The velocity of a body is (v, omega), both in the axes of space. Contact c of the pair (a, b) moves with

    u = R (v_b + omega_b x rb - v_a - omega_a x ra),    rows of R = N, T1, T2, N pointing into b,

and a = -1 is something that does not move. The contacts of pair k are first[k]:first[k+1]; slot[k] holds the places of
the blocks (b, b), (a, a), (b, a), (a, b) in the matrix of `linalg.block_lu`, -1 where there is none.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, A3, I1, kernel
from ..._jit.block_product import add_congruent, add_moved
from ...arrays import Array, IntArray
from .body_problem import Contacts


@kernel(f"void(int64, {A2}, {A2})", borrows=True)
def copy_rows(n: int, x: Array, y: Array) -> None:
    """Put y = x for the first n rows of three."""
    for c in range(n):
        for k in range(3):
            y[c, k] = x[c, k]


@kernel(f"void(Contacts, {A2}, {A2})", borrows=True)
def relative_motion(contacts: Contacts, v: Array, u: Array) -> None:
    """Put u = J v, shape (contacts, 3)."""
    pair, first, _slot, R, ra, rb = contacts
    for k in range(len(first) - 1):
        a, b = pair[k, 0], pair[k, 1]
        for c in range(first[k], first[k + 1]):
            x = v[b, 0] + v[b, 4] * rb[c, 2] - v[b, 5] * rb[c, 1]
            y = v[b, 1] + v[b, 5] * rb[c, 0] - v[b, 3] * rb[c, 2]
            z = v[b, 2] + v[b, 3] * rb[c, 1] - v[b, 4] * rb[c, 0]
            if a >= 0:
                x -= v[a, 0] + v[a, 4] * ra[c, 2] - v[a, 5] * ra[c, 1]
                y -= v[a, 1] + v[a, 5] * ra[c, 0] - v[a, 3] * ra[c, 2]
                z -= v[a, 2] + v[a, 3] * ra[c, 1] - v[a, 4] * ra[c, 0]
            for i in range(3):
                u[c, i] = R[c, i, 0] * x + R[c, i, 1] * y + R[c, i, 2] * z


@kernel(f"void(Contacts, {A2}, {A2})", borrows=True)
def add_wrench(contacts: Contacts, p: Array, F: Array) -> None:
    """Put F += J^T p, shape (bodies, 6)."""
    pair, first, _slot, R, ra, rb = contacts
    for k in range(len(first) - 1):
        a, b = pair[k, 0], pair[k, 1]
        for c in range(first[k], first[k + 1]):
            x = R[c, 0, 0] * p[c, 0] + R[c, 1, 0] * p[c, 1] + R[c, 2, 0] * p[c, 2]
            y = R[c, 0, 1] * p[c, 0] + R[c, 1, 1] * p[c, 1] + R[c, 2, 1] * p[c, 2]
            z = R[c, 0, 2] * p[c, 0] + R[c, 1, 2] * p[c, 1] + R[c, 2, 2] * p[c, 2]
            F[b, 0] += x
            F[b, 1] += y
            F[b, 2] += z
            F[b, 3] += rb[c, 1] * z - rb[c, 2] * y
            F[b, 4] += rb[c, 2] * x - rb[c, 0] * z
            F[b, 5] += rb[c, 0] * y - rb[c, 1] * x
            if a >= 0:
                F[a, 0] -= x
                F[a, 1] -= y
                F[a, 2] -= z
                F[a, 3] -= ra[c, 1] * z - ra[c, 2] * y
                F[a, 4] -= ra[c, 2] * x - ra[c, 0] * z
                F[a, 5] -= ra[c, 0] * y - ra[c, 1] * x


@kernel(f"void({A3}, {A2}, {A2})", borrows=True)
def block_multiply(M: Array, x: Array, y: Array) -> None:
    """Put y = M x for M of one mass and one 3x3 matrix per body: M (bodies, 4, 3), mass in M[:, 3, 0]."""
    for i in range(len(M)):
        m = M[i, 3, 0]
        y[i, 0], y[i, 1], y[i, 2] = m * x[i, 0], m * x[i, 1], m * x[i, 2]
        for k in range(3):
            y[i, 3 + k] = M[i, k, 0] * x[i, 3] + M[i, k, 1] * x[i, 4] + M[i, k, 2] * x[i, 5]


@kernel(f"boolean({A2})", inline=True, borrows=True)
def isotropic(E: Array) -> bool:
    """Return whether a 3x3 matrix is a multiple of the unit matrix."""
    off = E[0, 1] == 0.0 and E[0, 2] == 0.0 and E[1, 0] == 0.0 and E[1, 2] == 0.0 and E[2, 0] == 0.0 and E[2, 1] == 0.0
    return bool(off and E[0, 0] == E[1, 1] and E[0, 0] == E[2, 2])


@kernel(f"void(float64, {A1}, {A2})", borrows=True)
def add_isotropic(e: float, r: Array, K: Array) -> None:
    """Put K += e [1, -[r]x]^T [1, -[r]x]."""
    x, y, z = e * r[0], e * r[1], e * r[2]
    for i in range(3):
        K[i, i] += e
    K[0, 4] += z
    K[0, 5] -= y
    K[1, 3] -= z
    K[1, 5] += x
    K[2, 3] += y
    K[2, 4] -= x
    K[4, 0] += z
    K[5, 0] -= y
    K[3, 1] -= z
    K[5, 1] += x
    K[3, 2] += y
    K[4, 2] -= x
    K[3, 3] += y * r[1] + z * r[2]
    K[4, 4] += x * r[0] + z * r[2]
    K[5, 5] += x * r[0] + y * r[1]
    xy, xz, yz = x * r[1], x * r[2], y * r[2]
    K[3, 4] -= xy
    K[4, 3] -= xy
    K[3, 5] -= xz
    K[5, 3] -= xz
    K[4, 5] -= yz
    K[5, 4] -= yz


@kernel(f"void(Contacts, int64, {A3}, {A2})", borrows=True)
def add_stiffness(contacts: Contacts, k: int, E: Array, K: Array) -> None:
    """Put K (6, 6) = J_b^T E J_b summed over the contacts of pair k, J_b = R [1, -[rb]x].

    Contacts that are open cost nothing, those that stick little.
    """
    first, R, rb = contacts.first, contacts.R, contacts.rb
    for i in range(6):
        for j in range(6):
            K[i, j] = 0.0
    for c in range(first[k], first[k + 1]):
        if not isotropic(E[c]):
            add_congruent(K, R, rb, E, c)
        elif E[c, 0, 0] != 0.0:
            add_isotropic(E[c, 0, 0], rb[c], K)


@kernel(f"void({A3}, {I1}, int64, {A3})", borrows=True)
def put_masses(M: Array, rank: IntArray, blocks: int, B: Array) -> None:
    """Put B = M into the first `blocks` blocks."""
    for m in range(blocks):
        for i in range(6):
            for j in range(6):
                B[m, i, j] = 0.0
    for n in range(len(M)):
        k = rank[n]
        for i in range(3):
            B[k, i, i] = M[n, 3, 0]
            for j in range(3):
                B[k, 3 + i, 3 + j] = M[n, i, j]


@kernel(f"void(Contacts, {A3}, {A3}, {I1}, int64, {A3})")
def assemble(contacts: Contacts, E: Array, M: Array, rank: IntArray, blocks: int, B: Array) -> None:
    """Put B = M + J^T E J into the first `blocks` blocks; E (contacts, 3, 3) in contact axes, of any symmetry.

    The contacts of a pair are summed into one 6x6 matrix at the centre of b; a sees the same matrix moved by
    d = x_b - x_a, because J_a = -J_b X with X = [[1, -[d]x], [0, 1]].
    """
    pair, first, slot, _R, ra, rb = contacts
    put_masses(M, rank, blocks, B)
    K = np.empty((6, 6))
    for k in range(len(first) - 1):
        c = first[k]
        if first[k + 1] == c:
            continue
        add_stiffness(contacts, k, E, K)
        if pair[k, 0] >= 0:
            d = (ra[c, 0] - rb[c, 0], ra[c, 1] - rb[c, 1], ra[c, 2] - rb[c, 2])
            add_moved(B, K, d, (slot[k, 0], slot[k, 1], slot[k, 2], slot[k, 3]))
        else:
            own = B[slot[k, 0]]
            for i in range(6):
                for j in range(6):
                    own[i, j] += K[i, j]
