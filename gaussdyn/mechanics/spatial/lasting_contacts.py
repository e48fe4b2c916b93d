"""Contacts that are the same in every pose: of balls, and of the corners of convex shapes, over half-spaces.

There every gap is the distance of its point from the ground, wherever the shape is: such contacts are listed once.
"""

from __future__ import annotations

import math
from itertools import combinations

from ...arrays import IntArray
from ..collision.body_motions import BodyMotions
from ..collision.search import BOX, CAPSULE, ELLIPSOID, HALF_SPACE, MESH, SPHERE, Shapes
from .contacts import Contacts

POINTED = (SPHERE, CAPSULE, BOX, MESH, ELLIPSOID)  # what touches a plane in points that stay where they are
MOST = 24  # contacts: of more, most are far away


def lasting(contacts: Contacts, bodies: BodyMotions) -> Contacts | None:
    """Return the same with every contact there can be; None where that depends on the pose, or they are many."""
    few = contacts.found is None and 1 < len(contacts.shapes.labels) <= MOST
    if not few or not _only_on_planes(contacts.shapes):
        return None
    every = contacts.among(bodies, None, math.inf)
    return every if len(every.blanks) <= MOST else None


def _only_on_planes(shapes: Shapes) -> bool:
    """Whether all that may touch are pointed shapes over half-spaces of the ground."""
    off, s, table = set(shapes.arrays.off.tolist()), len(shapes.labels), shapes.arrays.table
    apart = ((i, j) for i, j in combinations(range(s), 2) if table[i, 1] != table[j, 1] and i * s + j not in off)
    return all(_over_plane(table[i], table[j]) or _over_plane(table[j], table[i]) for i, j in apart)


def _over_plane(shape: IntArray, plane: IntArray) -> bool:
    return int(shape[0]) in POINTED and int(plane[0]) == HALF_SPACE and int(plane[1]) < 0
