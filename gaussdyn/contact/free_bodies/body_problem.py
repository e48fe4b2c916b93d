"""Contact problems of free bodies as kernels take them, with the space that solvers work in.

Shapes: n bodies; k pairs (a, b) of them with c contacts in all, a = -1 being something that does not move.
"""

from __future__ import annotations

from typing import NamedTuple

from ..._jit import A1, A2, A3, I1, I2, record
from ...arrays import Array, IntArray


@record(I2, I1, I2, A3, A2, A2, by_value=True)
class Contacts(NamedTuple):
    """Contacts by their geometry, see `structure`.

    Attributes
    ----------
    pair : IntArray, shape (k, 2)
        The bodies (a, b) of every pair.
    first : IntArray, shape (k + 1,)
        The contacts of pair k are first[k]:first[k + 1]; the last entry says how many contacts there are.
    slot : IntArray, shape (k, 4)
        Where the blocks (b, b), (a, a), (b, a), (a, b) stand in the matrix of `linalg.block_lu`, -1: there is none.
    R : Array, shape (c, 3, 3)
        Frames: rows N, T1, T2, N pointing into b.
    ra, rb : Array, shape (c, 3)
        Arms from the centres of a and b, m.
    """

    pair: IntArray
    first: IntArray
    slot: IntArray
    R: Array
    ra: Array
    rb: Array


@record("Contacts", A3, A3, A2, A2, A1, A1, by_value=True)
class BodyProblem(NamedTuple):
    """M v = h + J^T p, u = J v + w, every (u_c, p_c) in Coulomb's law.

    Attributes
    ----------
    contacts : Contacts
    M, inverse : Array, shape (n, 4, 3)
        Mass (kg) and matrix of inertia (kg m^2) of every body, and their inverses, see `structure.block_multiply`.
    h : Array, shape (n, 6)
        Momentum without impulses, N s and N m s.
    w : Array, shape (c, 3)
        Relative velocity that is added, m/s.
    mu : Array, shape (c,)
        Friction; 0: none, negative: a gap that is held.
    rho : Array, shape (c,)
        Scales 1 / lambda_max(W_cc), kg.
    """

    contacts: Contacts
    M: Array
    inverse: Array
    h: Array
    w: Array
    mu: Array
    rho: Array


@record(A3, A3, *[A2] * 6, I1, by_value=True)
class BodyWork(NamedTuple):
    """Work space of Newton's method.

    Attributes
    ----------
    B : Array, shape (blocks, 6, 6)
        The matrix M + J^T E J, and its factors.
    E, e : shapes (c, 3, 3) and (c, 3)
        The linearised laws, dp = e - E du.
    dp, du : Array, shape (c, 3)
    dv, F, y : Array, shape (n, 6)
        The direction in the velocities; a momentum; what the solution of the factors needs.
    mode : IntArray, shape (c,)
        OPEN, STICK or SLIP.
    """

    B: Array
    E: Array
    e: Array
    dp: Array
    du: Array
    dv: Array
    F: Array
    y: Array
    mode: IntArray


@record(*[A2] * 5, by_value=True)
class Iterate(NamedTuple):
    """Impulses and the velocities that belong to them.

    Attributes
    ----------
    p, u : Array, shape (c, 3)
        Impulses, N s, and relative velocities, m/s.
    best : Array, shape (c, 3)
        The best impulses met.
    other : Array, shape (c, 3)
        Other impulses: the first ones, those laid aside, or the pushes of a projection.
    v : Array, shape (n, 6)
        Velocities of the bodies, m/s and rad/s.
    """

    p: Array
    u: Array
    best: Array
    other: Array
    v: Array
