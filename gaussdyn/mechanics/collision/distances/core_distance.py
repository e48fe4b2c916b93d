"""The signed distance of two convex polyhedra, compiled: the shapes without their skins, points and segments too.

It is the largest separation along any direction: of polyhedra that are apart their distance, of those that overlap the
shortest way out, with its sign turned. The directions that count are the normals of faces, and those across two edges
whose arcs of normals cross on the sphere. What is computed along a direction is never more than the signed distance,
however well that direction is known, and what is computed between two points never less.

Sources: D. Gregorius, The separating axis test between convex polyhedra, GDC (2013); C. Ericson, Real-time collision
detection (2005), 5.1.9, for segments.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...._jit import A2, I2, kernel, record
from ....arrays import Array, IntArray
from ..nearest_direction import row3
from ..vectors import V3, Vector, along, cross3, dot3

NONE = -1  # number of a face that an edge does not have
PARALLEL = 1e-20  # square of the sine below which edges have no direction across


@record(A2, I2, A2)
class Core(NamedTuple):
    """A convex polyhedron in space, a segment, or a point.

    Attributes
    ----------
    corners : Array, shape (c, 3)
        m.
    edges : IntArray, shape (e, 4)
        Two corners and two faces; -1: none.
    faces : Array, shape (f, 4)
        Outward normal, and n . x on the face, m.
    """

    corners: Array
    edges: IntArray
    faces: Array


@kernel(f"float64({A2}, {V3})", borrows=True)
def highest(corners: Array, n: Vector) -> float:
    """Return the largest n . x of corners."""
    most = -np.inf
    for k in range(len(corners)):
        most = max(most, dot3(n, row3(corners, k)))
    return most


@kernel(f"float64(Core, Core, {V3})", borrows=True)
def separation(a: Core, b: Core, n: Vector) -> float:
    """Return how far b is beyond a along n, of length one, or against it, m."""
    m = (-n[0], -n[1], -n[2])
    return max(-highest(b.corners, m) - highest(a.corners, n), -highest(a.corners, m) - highest(b.corners, n))


@kernel("boolean(Core, Core, int64, int64)", borrows=True)
def arcs_may_cross(a: Core, b: Core, e: int, g: int) -> bool:
    """Return whether the normals at edge e may meet those at edge g: faces of each are on both sides of the other."""
    u = along(row3(a.corners, a.edges[e, 1]), -1.0, row3(a.corners, a.edges[e, 0]))
    w = along(row3(b.corners, b.edges[g, 1]), -1.0, row3(b.corners, b.edges[g, 0]))
    if b.edges[g, 2] != NONE and dot3(u, row3(b.faces, b.edges[g, 2])) * dot3(u, row3(b.faces, b.edges[g, 3])) > 0.0:
        return False
    if a.edges[e, 2] == NONE:
        return True
    return dot3(w, row3(a.faces, a.edges[e, 2])) * dot3(w, row3(a.faces, a.edges[e, 3])) <= 0.0


@kernel("float64(Core, Core)", borrows=True)
def over_faces(a: Core, b: Core) -> float:
    """Return the largest height of b above a face of a, m; minus infinity without faces."""
    most = -np.inf
    for f in range(len(a.faces)):
        n = row3(a.faces, f)
        most = max(most, -highest(b.corners, (-n[0], -n[1], -n[2])) - a.faces[f, 3])
    return most


@kernel("float64(Core, Core)", borrows=True)
def across_edges(a: Core, b: Core) -> float:
    """Return the largest separation across an edge of a and one of b, m; minus infinity without."""
    most = -np.inf
    for e in range(len(a.edges)):
        u = along(row3(a.corners, a.edges[e, 1]), -1.0, row3(a.corners, a.edges[e, 0]))
        for g in range(len(b.edges)):
            if arcs_may_cross(a, b, e, g):
                w = along(row3(b.corners, b.edges[g, 1]), -1.0, row3(b.corners, b.edges[g, 0]))
                n = cross3(u, w)
                k2 = dot3(n, n)
                if k2 > PARALLEL * dot3(u, u) * dot3(w, w):
                    most = max(most, separation(a, b, along((0.0, 0.0, 0.0), 1.0 / math.sqrt(k2), n)))
    return most


@kernel(f"float64({V3}, {V3}, {V3}, {V3})", borrows=True)
def segments_apart(p: Vector, u: Vector, q: Vector, w: Vector) -> float:
    """Return the distance of p + s u and q + t w, s and t in [0, 1], m."""
    d = along(p, -1.0, q)
    a, e, b = dot3(u, u), dot3(w, w), dot3(u, w)
    c, f = dot3(u, d), dot3(w, d)
    n, s = cross3(u, w), 0.0  # products of lengths would lose the angle of edges that are nearly parallel
    across = dot3(n, n)
    if across > PARALLEL * a * e:
        s = min(1.0, max(0.0, dot3(n, cross3(w, d)) / across))
    t = min(1.0, max(0.0, (b * s + f) / e)) if e > 0.0 else 0.0
    s = min(1.0, max(0.0, (b * t - c) / a)) if a > 0.0 else 0.0
    r = along(along(d, s, u), -t, w)
    return math.sqrt(dot3(r, r))


@kernel("float64(Core, Core)", borrows=True)
def edges_apart(a: Core, b: Core) -> float:
    """Return the least distance of the edges of a from those of b, m; a point counts as an edge."""
    least = np.inf
    for e in range(max(1, len(a.edges))):
        p = row3(a.corners, a.edges[e, 0] if len(a.edges) > 0 else 0)
        u = along(row3(a.corners, a.edges[e, 1]), -1.0, p) if len(a.edges) > 0 else (0.0, 0.0, 0.0)
        for g in range(max(1, len(b.edges))):
            q = row3(b.corners, b.edges[g, 0] if len(b.edges) > 0 else 0)
            w = along(row3(b.corners, b.edges[g, 1]), -1.0, q) if len(b.edges) > 0 else (0.0, 0.0, 0.0)
            least = min(least, segments_apart(p, u, q, w))
    return least


@kernel(f"boolean(Core, int64, {V3})", borrows=True)
def is_within(a: Core, f: int, p: Vector) -> bool:
    """Return whether a point of the plane of face f is on it."""
    inside = True
    for g in range(len(a.faces)):
        inside = inside and (g == f or dot3(row3(a.faces, g), p) <= a.faces[g, 3])
    return inside


@kernel("float64(Core, Core)", borrows=True)
def above_faces(a: Core, b: Core) -> float:
    """Return the least height of a corner of b that is above a face of a, m; infinity where none is."""
    least = np.inf
    for f in range(len(a.faces)):
        n = row3(a.faces, f)
        for k in range(len(b.corners)):
            p = row3(b.corners, k)
            height = dot3(n, p) - a.faces[f, 3]
            if 0.0 <= height < least and is_within(a, f, along(p, -height, n)):
                least = height
    return least


@kernel("float64(Core, Core)", borrows=True, entry=True)
def core_distance(a: Core, b: Core) -> float:
    """Return the signed distance of two convex polyhedra, m."""
    faces = max(over_faces(a, b), over_faces(b, a))
    solid = len(a.faces) > 0 or len(b.faces) > 0
    if solid and faces <= 0.0:
        most = max(faces, across_edges(a, b))
        if most <= 0.0:
            return float(most)
    return float(min(above_faces(a, b), above_faces(b, a), edges_apart(a, b)))
