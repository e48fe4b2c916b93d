"""What may be added to a point inside a slice of cones without leaving it: how many numbers are free, and which."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...linalg.cones import norms
from ...programs.conic.cone_slice import ConeSlice, Verdict
from ...programs.conic.support import support
from .allowed import Alternative
from .force_range import SAME

INNER = 1e-7  # relative to the forces: what is further from the edge of its cone is inside
RANK = 1e-9


def middle_of(slice: ConeSlice) -> Array | None:
    """Return a point s inside a slice, shape (n,); None if it is empty."""
    found = support(slice, np.vstack([np.eye(slice.n), -np.eye(slice.n)]))
    inside = [k for k, verdict in enumerate(found.verdicts) if verdict is Verdict.BOUNDED]
    if Verdict.EMPTY in found.verdicts or not (inside or slice.n == 0):
        free = support(slice, np.zeros((1, slice.n)))
        return None if free.verdicts[0] is not Verdict.BOUNDED else np.asarray(free.points[0])
    middle = found.points[inside].mean(axis=0) if inside else np.zeros(0)
    rays = [k for k, verdict in enumerate(found.verdicts) if verdict is Verdict.UNBOUNDED]
    return np.asarray(middle + sum((found.points[k] for k in rays), np.zeros(slice.n)))


def moves_at(one: Alternative, middle: Array | None) -> Array:
    """Return what may be added to the reactions of an alternative near a point inside."""
    if middle is None or not one.slice.n:
        return np.zeros((len(one.offset), 0))
    columns = []
    size = INNER * max(float(np.abs(middle).max(initial=0.0)), 1e-300)
    for cone, a, b in zip(one.slice.cones, one.slice.start, one.slice.start[1:], strict=False):
        tail = float(np.linalg.norm(middle[a + 1 : b]))
        room = np.inf if cone.kind == "free" else cone.mu * middle[a] - tail if b > a + 1 else middle[a]
        if room > size:
            columns.append(np.eye(one.slice.n)[:, a:b])
        elif middle[a] > size:  # all of them lie on one ray of the cone
            ray = np.zeros((one.slice.n, 1))
            ray[a:b, 0] = middle[a:b]
            columns.append(ray)
    if not columns:
        return np.zeros((len(one.offset), 0))
    F = np.hstack(columns)
    A = one.slice.A @ F
    _, s, V = np.linalg.svd(A)
    rank = int((s > RANK * max(float(s.max(initial=0.0)), 1e-300)).sum())
    moves = one.spread @ F @ V[rank:].T
    return np.asarray(moves[:, norms(moves.T) > SAME] if moves.size else moves)
