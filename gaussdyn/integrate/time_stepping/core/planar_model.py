"""A planar system as tables for the kernels, joints included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....arrays import Array
from ....mechanics.planar.contacts import DryFriction, Link, PlanarContact, String
from ....mechanics.planar.disc_contact import PlanarDiscContact
from ....mechanics.planar.forces import Drag, Load, Shaking, Spring
from ....mechanics.planar.joints import Hinge, Slider, Weld
from ....mechanics.planar.row_kernels import (
    BELT,
    CONTACT,
    DISC,
    DRY,
    KIND,
    LENGTH,
    NORMAL,
    OFFSET,
    RADIUS,
    ROD,
    SIZE,
    STRING,
    TURN,
)  # fmt: skip
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.planar.tables import enter_force, enter_markers
from .records import Planar

PARTS = (PlanarContact, PlanarDiscContact, Link, DryFriction)
FORCES = (Spring, Drag, Load, Shaking)
Entry = tuple[str, int, int, Any, dict[int, Any]]  # id, kind, rows, markers, data


def serves(system: PlanarSystem) -> bool:
    """Return whether there are tables for all parts of a system."""
    served = all(isinstance(one, PARTS) for one in system.contacts)
    served = served and all(isinstance(one, (Hinge, Slider, Weld)) for one in system.joints)
    served = served and all(isinstance(one, FORCES) for one in system.forces)
    q = np.zeros(system.nq)
    return served and system.near(0.0, q, q, 0.0) is system


def planar_of(system: PlanarSystem, law: Array) -> Planar:
    """Return the tables of a system whose constraints have the laws (n, 6)."""
    layout, entries = system.layout, sorted(_entries(system), key=lambda entry: entry[0])
    n, f, nv = len(entries), len(system.forces), system.nv
    numbers, data = np.zeros((n, 10), dtype=np.int64), np.zeros((n, 10))
    for k, (_id, kind, size, markers, values) in enumerate(entries):
        enter_markers(layout, markers, numbers[k], data[k])
        numbers[k, KIND], numbers[k, SIZE] = kind, size
        for column, value in values.items():
            data[k, column : column + np.size(value)] = value
    forces, strength = np.zeros((f, 5), dtype=np.int64), np.zeros((f, 9))
    for k, force in enumerate(system.forces):
        enter_force(layout, force, forces[k], strength[k])
    x, y = layout.momentum((1.0, 0.0)), layout.momentum((0.0, 1.0))
    weight = system.gravity[0] * x + system.gravity[1] * y
    bodies = np.array([1.0 / np.diagonal(system.mass(np.zeros(nv))), weight, x, y, np.zeros(nv)])
    return Planar(
        numbers, data, forces, strength, bodies, np.zeros((2 * n, nv)), np.zeros((n, 7)), np.zeros(2 * nv), law
    )  # fmt: skip


def _entries(system: PlanarSystem) -> Iterator[Entry]:
    """Yield what every constraint is to the kernels."""
    for one in system.contacts:
        if isinstance(one, PlanarContact):
            plane = one.plane
            yield one.id, CONTACT, one.size, one.markers, {NORMAL: plane.normal, RADIUS: one.radius, BELT: plane.belt}
        elif isinstance(one, PlanarDiscContact):
            size = 2 if one.mu_s > 0.0 or one.eps_t != 0.0 else 1
            yield one.id, DISC, size, one.markers, {RADIUS: one.radius_a, LENGTH: one.radius_b}
        elif isinstance(one, DryFriction):
            yield one.id, DRY, 1, one.markers, {NORMAL: one.direction, BELT: one.belt}
        else:
            yield one.id, STRING if isinstance(one, String) else ROD, 1, one.markers, {LENGTH: one.length}
    joints: Any = system.joints
    for joint in joints:
        for id, part in zip(joint.ids, joint.parts, strict=True):
            if part == "turn":
                yield id, TURN, 1, joint.markers, {LENGTH: joint.angle}
            elif part == "across":
                x, y = joint.direction
                yield id, CONTACT, 1, joint.markers, {NORMAL: (-y, x)}
            else:
                yield id, OFFSET, 1, joint.markers, {NORMAL: (1.0, 0.0) if part == "x" else (0.0, 1.0)}
