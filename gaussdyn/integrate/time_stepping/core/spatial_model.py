"""A system of bodies in space as tables for the kernels of steps: nodes of its mass, shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.collision.features import WIDTH
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.trees.system import TreeSystem
from .records import Shapes


def nodes_of(system: SpatialSystem) -> tuple[IntArray, IntArray]:
    """Return where the diagonal blocks of the mass begin, and first node and end of every body, shape (n, 2).

    Every velocity is a node, but for turns about axes in which the inertia is not diagonal.
    """
    begins, own = [0], list[tuple[int, int]]()
    for body in system.bodies:
        J, first = np.asarray(body.inertia), len(begins) - 1
        for size in (1, 1, 1, *((1, 1, 1) if np.count_nonzero(J - np.diag(np.diag(J))) == 0 else (3,))):
            begins.append(begins[-1] + size)
        own.append((first, len(begins) - 1))
    return np.array(begins), np.array(own, dtype=np.int64).reshape(-1, 2)


def shapes_of(system: SpatialSystem | TreeSystem, node: IntArray, room: int) -> Shapes:
    """Return the shapes of a system whose bodies belong to these nodes, see `Shapes.node`, with room for contacts."""
    found, n = system.contacts.shapes, len(system.bodies)
    buffers = found.buffers(room)
    kinds, laws = _laws(system)
    R = np.zeros((n + 1, 3, 3))
    R[n] = np.eye(3)
    lists = [_contacts(buffers.room) for _ in range(2)]
    gravity = np.array([math.hypot(*system.gravity), *[0.0] * 5, -1.0, 0.0])
    return Shapes(
        buffers.shapes.value, buffers.space.value, kinds, laws, system.contacts.radii,
        np.zeros(n), np.zeros(n), node, np.zeros((n + 1, 3)), R, *lists[0], *lists[1], gravity,
        np.zeros((1, 7)), np.zeros((3, 3)),
    )  # fmt: skip


def _contacts(room: int) -> tuple[IntArray, IntArray, IntArray, Array]:
    return _count(room), _count(room, 2), _count(room, 4), np.zeros((room, WIDTH))


def _count(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)


def _laws(system: SpatialSystem | TreeSystem) -> tuple[IntArray, Array]:
    """Return the kind of every shape, and the law columns and row counts of all pairs of kinds."""
    kind, laws = system.contacts.laws_by_kind()
    return kind, np.array([[_law_columns(law) for law in line] for line in laws])


def _law_columns(law: Any) -> list[float]:
    """Return mu, mu_s, mu_t, mu_r, eps_n, eps_t and the number of rows."""
    return [law.mu, law.mu_s, law.mu_t, law.mu_r, law.eps_n, law.eps_t, float(law.size)]
