"""The parts of a planar system as tables of numbers, for kernels (`row_kernels`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array, IntArray
from ..names import GROUND
from .bodies import Marker
from .contacts import DryFriction, Link, PlanarContact, String
from .disc_contact import PlanarDiscContact
from .forces import Drag, Load, Shaking, Spring
from .kinematics import Layout
from .system import PlanarSystem

SERVED = (PlanarContact, PlanarDiscContact, Link, DryFriction)


@dataclass(frozen=True, slots=True, eq=False)
class PlanarTables:
    """Constraints (in the order of the rows) and forces of a system, see `row_kernels`.

    Attributes
    ----------
    numbers, data : arrays, shape (n, 10) and (n, 10)
    forces, strength : arrays, shape (f, 5) and (f, 9)
    bodies : Array, shape (5, nv)
        The last row is free for a control.
    """

    numbers: IntArray
    data: Array
    forces: IntArray
    strength: Array
    bodies: Array


@lru_cache(maxsize=32)
def tables_of(system: PlanarSystem) -> PlanarTables | None:
    """Return the tables of a system; None where it has joints, contacts not listed yet, or parts without a table.

    Contacts of shapes are listed at one state (`System.near`).
    """
    contacts = system.listed_contacts
    served = contacts is not None and all(isinstance(one, SERVED) for one in contacts)
    served = served and all(isinstance(one, (Spring, Drag, Load, Shaking)) for one in system.forces)
    if not served or system.joints:
        return None
    assert contacts is not None
    layout, n, f = system.layout, len(contacts), len(system.forces)
    numbers, data = np.zeros((n, 10), dtype=np.int64), np.zeros((n, 10))
    forces, strength = np.zeros((f, 5), dtype=np.int64), np.zeros((f, 9))
    for k, contact in enumerate(contacts):
        _enter_contact(layout, contact, numbers[k], data[k])
    for k, force in enumerate(system.forces):
        enter_force(layout, force, forces[k], strength[k])
    x, y = layout.momentum((1.0, 0.0)), layout.momentum((0.0, 1.0))
    weight = system.gravity[0] * x + system.gravity[1] * y
    bodies = np.array([1.0 / np.diagonal(system.mass(np.zeros(system.nq))), weight, x, y, np.zeros(system.nv)])
    return PlanarTables(numbers, data, forces, strength, bodies)


def enter_markers(layout: Layout, markers: Sequence[Marker], numbers: IntArray, data: Array) -> None:
    """Enter where the bodies of markers begin, whether they turn, and where the markers are on them."""
    for k, marker in enumerate(markers):
        if marker.body == GROUND:
            numbers[1 + 2 * k] = -1
        else:
            numbers[1 + 2 * k], numbers[2 + 2 * k] = layout.start[marker.body], marker.body not in layout.points
        data[2 * k : 2 * k + 2] = marker.at


def _enter_contact(layout: Layout, contact: Any, numbers: IntArray, data: Array) -> None:
    from .row_kernels import BELT, CONTACT, DISC, DRY, KIND, LENGTH, NORMAL, RADIUS, ROD, SIZE, STRING

    enter_markers(layout, contact.markers, numbers, data)
    numbers[SIZE] = 1
    if isinstance(contact, PlanarContact):
        numbers[KIND], numbers[SIZE] = CONTACT, contact.size
        data[NORMAL : NORMAL + 2], data[RADIUS], data[BELT] = contact.plane.normal, contact.radius, contact.plane.belt
    elif isinstance(contact, PlanarDiscContact):
        numbers[KIND], numbers[SIZE] = DISC, 2 if contact.mu_s > 0.0 or contact.eps_t != 0.0 else 1
        data[RADIUS], data[LENGTH] = contact.radius_a, contact.radius_b
    elif isinstance(contact, DryFriction):
        numbers[KIND], data[NORMAL : NORMAL + 2], data[BELT] = DRY, contact.direction, contact.belt
    else:
        numbers[KIND], data[LENGTH] = STRING if isinstance(contact, String) else ROD, contact.length


def enter_force(layout: Layout, force: Any, numbers: IntArray, data: Array) -> None:
    """Enter a force."""
    from .row_kernels import DRAG, LOAD, SHAKING, SPRING

    if isinstance(force, Shaking):
        numbers[0], angular = SHAKING, 2.0 * math.pi * force.frequency
        data[4:9] = force.amplitude, angular, force.phase, *force.direction
        return
    enter_markers(layout, force.markers, numbers, data)
    if isinstance(force, Spring):
        numbers[0], data[4:7] = SPRING, (force.stiffness, force.length, force.damping)
    elif isinstance(force, Drag):
        numbers[0], data[4] = DRAG, force.damping
    else:
        numbers[0], data[4:7] = LOAD, (*force.force_xy, force.torque)
