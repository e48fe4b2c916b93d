"""All mechanisms in which something gives way at a limit load: is there one, or does statics not say how it moves?"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...programs.conic.cone_slice import FREE, RAY, Cone, ConeSlice
from .allowed import Alternative
from .moves import middle_of, moves_at

INSIDE = 1e-7  # relative to the largest: reactions that are further inside their cone do not let it move


def free_mechanisms(one: Alternative, load: Array, s: Array, y: Array) -> Array:
    """Return what may be added to the mechanism of a limit load, with the same power of the load, shape (nv, k).

    No columns: the mechanism is unique. Otherwise the slip is kinematically indeterminate: several motions use up
    the load at the limit, and only masses and history tell which it will be. By complementarity the mechanisms of a
    limit are all y that the reactions s at the limit leave free: nothing where a contact sticks inside its cone, slip
    along one ray where it is on its edge, the dual cone where it carries nothing.

    Parameters
    ----------
    one : Alternative
    load : array_like, shape (nv,)
    s, y : array_like, shapes (n,), (m,)
        Reactions and multiplier of the limit.
    """
    A, m = one.slice.A, len(one.slice.f)
    forces, rates = (INSIDE * max(float(np.abs(x).max(initial=0.0)), 1e-300) for x in (s, y @ A))
    pieces = [_moves(cone, s[a:b], y @ A[:, a:b], forces, rates)
              for cone, a, b in zip(one.slice.cones, one.slice.start, one.slice.start[1:], strict=False)]  # fmt: skip
    n = sum(F.shape[1] for F, _, _ in pieces)
    equal, at, place = np.zeros((one.slice.n + 1, m + n)), np.zeros(m + n), m
    equal[:-1, :m], equal[-1, : len(load)], at[:m] = A.T, load, y
    for (F, _, z), a, b in zip(pieces, one.slice.start, one.slice.start[1:], strict=False):
        equal[a:b, place : place + F.shape[1]] = -F
        at[place : place + F.shape[1]] = z
        place += F.shape[1]
    cones = (*(FREE,) * m, *(cone for _, cones, _ in pieces for cone in cones))
    slice = ConeSlice(A=equal, f=equal @ at, cones=cones)
    spread = np.eye(len(load), m + n)
    return moves_at(Alternative(slice, np.zeros(len(load)), spread), middle_of(slice))


def _moves(cone: Cone, s: Array, z: Array, forces: float, rates: float) -> tuple[Array, tuple[Cone, ...], Array]:
    """Return F, cones and w of the motions F w, w in the cones, that one reaction lets be; F w is next to z."""
    tail = float(np.linalg.norm(s[1:]))
    if cone.kind == "free" or s[0] - tail / cone.mu > forces:
        return np.zeros((len(s), 0)), (), np.zeros(0)
    if s[0] > forces:  # on the edge: along the ray of the motion, or against the reaction where it rests
        ray = z if z[0] > rates else np.r_[cone.mu * tail, -s[1:]]
        F = ray[:, None] / float(np.linalg.norm(ray))
        return F, (RAY,), np.maximum(F.T @ z, 0.0)
    w = z.copy()
    w[0] = max(w[0], float(np.linalg.norm(w[1:])) / cone.mu)
    return np.eye(len(s)), (Cone("cone", len(s), 1.0 / cone.mu) if len(s) > 1 else RAY,), w
