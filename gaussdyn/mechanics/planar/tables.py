"""The parts of a planar system as tables of numbers, for kernels (`row_kernels`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._kept import kept
from ...arrays import Array, IntArray
from ..joints.drives import Drive
from ..joints.equation import AS_ZERO
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor, Part
from ..joints.part_rows import DAMPER, WEAK, PartRow, part_rows
from ..names import GROUND
from .bodies import Marker
from .contacts import DryFriction, Link, PlanarContact, String
from .disc_contact import PlanarDiscContact
from .forces import Drag, Load, Shaking, Spring
from .joints import Hinge, Slider, Weld
from .kinematics import Layout
from .system import PlanarSystem

CONTACTS = (PlanarContact, PlanarDiscContact, Link, DryFriction)
FORCES = (Spring, Drag, Load, Shaking, Drive)
BONDS = (Hinge, Slider, Weld, Limit, JointFriction, Motor, Gear)
Entry = tuple[str, int, int, Any, dict[int, Any]]  # id, kind, rows, markers, data


@dataclass(frozen=True, slots=True, eq=False)
class PlanarTables:
    """Constraints (in the order of the rows) and forces of a system, see `row_kernels`.

    Attributes
    ----------
    numbers, data : arrays, shape (n, 10) and (n, 10)
        The `beside` last ones are second coordinates of gears, and no rows.
    parts, factors : arrays, shape (r, 3) and (r, 4)
        Of what acts on coordinates of joints, see `combine_rows`.
    forces, strength : arrays, shape (f, 5) and (f, 11)
    bodies : Array, shape (5, nv)
        The last row is free for a control.
    beside : int
    """

    numbers: IntArray
    data: Array
    parts: IntArray
    factors: Array
    forces: IntArray
    strength: Array
    bodies: Array
    beside: int


def serves(system: PlanarSystem) -> bool:
    """Return whether there are tables for all parts of a system; contacts of shapes have them once they are listed."""
    served = all(isinstance(one, CONTACTS) for one in system.contacts)
    served = served and all(isinstance(one, BONDS) for one in system.joints)
    return served and all(isinstance(one, FORCES) for one in system.forces)


@kept
def tables_of(system: PlanarSystem) -> PlanarTables | None:
    """Return the tables of a system; None where it has contacts not listed yet, or parts without a table.

    Contacts of shapes are listed at one state (`System.near`).
    """
    contacts = system.listed_contacts
    return None if contacts is None or not serves(system) else tables_with(system, contacts)


def tables_with(
    system: PlanarSystem, contacts: Sequence[Any], room: int = 0, dampers: Sequence[Entry] = ()
) -> PlanarTables:  # fmt: skip
    """Return the tables of a system with some contacts, with rows for `dampers_of`, and with room for more."""
    from .row_kernels import KIND, SIZE

    layout, entries = system.layout, sorted([*_entries(system, contacts), *dampers], key=lambda entry: entry[0])
    parts, factors, seconds = _parts(system, [entry[0] for entry in entries], dampers)
    entries += seconds
    n, f = len(entries) + room, len(system.forces)
    numbers, data = np.zeros((n, 10), dtype=np.int64), np.zeros((n, 10))
    for k, (_id, kind, size, markers, values) in enumerate(entries):
        _enter_markers(layout, markers, numbers[k], data[k])
        numbers[k, KIND], numbers[k, SIZE] = kind, size
        for column, value in values.items():
            data[k, column : column + np.size(value)] = value
    forces, strength = np.zeros((f, 5), dtype=np.int64), np.zeros((f, 11))
    for k, force in enumerate(system.forces):
        _enter_force(system, force, forces[k], strength[k])
    x, y = layout.momentum((1.0, 0.0)), layout.momentum((0.0, 1.0))
    weight = system.gravity[0] * x + system.gravity[1] * y
    bodies = np.array([1.0 / np.diagonal(system.mass(np.zeros(system.nq))), weight, x, y, np.zeros(system.nv)])
    return PlanarTables(numbers, data, parts, factors, forces, strength, bodies, len(seconds))


def _enter_markers(layout: Layout, markers: Sequence[Marker], numbers: IntArray, data: Array) -> None:
    """Enter where the bodies of markers begin, whether they turn, and where the markers are on them."""
    for k, marker in enumerate(markers):
        if marker.body == GROUND:
            numbers[1 + 2 * k] = -1
        else:
            numbers[1 + 2 * k], numbers[2 + 2 * k] = layout.start[marker.body], marker.body not in layout.points
        data[2 * k : 2 * k + 2] = marker.at


def _entries(system: PlanarSystem, contacts: Sequence[Any]) -> Iterator[Entry]:
    """Yield what every constraint is to the kernels."""
    yield from map(_of_contact, contacts)
    joints: Any = system.joints
    for joint in joints:
        if isinstance(joint, Part):
            yield from (_coordinate(system, line.id, line.joint) for line in part_rows(joint))
        else:
            yield from _of_joint(joint)


def _of_contact(one: Any) -> Entry:
    """Return the entry of a contact, a dry friction, a rod or a string."""
    from .row_kernels import BELT, CONTACT, DISC, DRY, LENGTH, NORMAL, RADIUS, ROD, STRING

    if isinstance(one, PlanarContact):
        plane = one.plane
        return one.id, CONTACT, one.size, one.markers, {NORMAL: plane.normal, RADIUS: one.radius, BELT: plane.belt}
    if isinstance(one, PlanarDiscContact):
        size = 2 if one.mu_s > 0.0 or one.eps_t != 0.0 else 1
        return one.id, DISC, size, one.markers, {RADIUS: one.radius_a, LENGTH: one.radius_b}
    if isinstance(one, DryFriction):
        return one.id, DRY, 1, one.markers, {NORMAL: one.direction, BELT: one.belt}
    return one.id, STRING if isinstance(one, String) else ROD, 1, one.markers, {LENGTH: one.length}


def _of_joint(joint: Any) -> Iterator[Entry]:
    """Yield the entry of every row of a joint."""
    from .row_kernels import CONTACT, LENGTH, NORMAL, OFFSET, TURN

    for id, part in zip(joint.ids, joint.parts, strict=True):
        if part == "turn":
            yield id, TURN, 1, joint.markers, {LENGTH: joint.angle}
        elif part == "across":
            x, y = joint.direction
            yield id, CONTACT, 1, joint.markers, {NORMAL: (-y, x)}
        else:
            yield id, OFFSET, 1, joint.markers, {NORMAL: (1.0, 0.0) if part == "x" else (0.0, 1.0)}


def dampers_of(system: PlanarSystem) -> list[tuple[Entry, float]]:
    """Return the entries of all dampers and drags, with their coefficients: those that have ends that move."""
    found = [one for force in system.forces for one in _damping(system, force)]
    found = [(kind, marks, data, damping) for kind, marks, data, damping in found if damping > WEAK and _moves(marks)]
    return [((f"{DAMPER}{k}", kind, 1, marks, data), damping) for k, (kind, marks, data, damping) in enumerate(found)]


def _damping(system: PlanarSystem, force: Any) -> Iterator[tuple[int, Any, dict[int, Any], float]]:
    """Yield kind, markers, data and coefficient of what resists a velocity; drags along both axes."""
    from .row_kernels import DRY, NORMAL, ROD

    if isinstance(force, Spring):
        yield ROD, force.markers, {}, force.damping
    elif isinstance(force, Drive):
        _id, kind, _size, markers, data = _coordinate(system, "", force.joint)
        yield kind, markers, data, force.damping
    elif isinstance(force, Drag):
        for axis in ((1.0, 0.0), (0.0, 1.0)):
            yield DRY, force.markers, {NORMAL: axis}, force.damping


def _moves(markers: Sequence[Marker]) -> bool:
    return any(marker.body != GROUND for marker in markers)


def _parts(
    system: PlanarSystem, ids: Sequence[str], dampers: Sequence[Entry]
) -> tuple[IntArray, Array, list[Entry]]:  # fmt: skip
    """Return the tables of what acts on joints, and the second coordinates, which come after all rows."""
    lines = [line for bond in system.joints if isinstance(bond, Part) for line in part_rows(bond)]
    lines += [PartRow(entry[0], "", gap=AS_ZERO) for entry in dampers]
    numbers, factors = np.zeros((len(lines), 3), dtype=np.int64), np.zeros((len(lines), 4))
    seconds: list[Entry] = []
    for r, line in enumerate(lines):
        other = len(ids) + len(seconds) if line.other else -1
        if line.other:
            seconds.append(_coordinate(system, line.id, line.other))
        numbers[r], factors[r] = (ids.index(line.id), other, line.gap), (*line.factors, *line.taken)
    return numbers, factors, seconds


def _coordinate(system: PlanarSystem, id: str, name: str) -> Entry:
    """Return the entry of the coordinate that a joint leaves free."""
    from .row_kernels import CONTACT, NORMAL, TURN

    joint = _joint(system, name)
    if isinstance(joint, Hinge):
        return id, TURN, 1, joint.markers, {}
    return id, CONTACT, 1, joint.markers, {NORMAL: joint.direction}


def _joint(system: PlanarSystem, name: str) -> Hinge | Slider:
    """Return a joint that leaves one coordinate free."""
    (found,) = (one for one in system.joints if isinstance(one, Hinge | Slider) and one.name == name)
    return found


def _enter_force(system: PlanarSystem, force: Any, numbers: IntArray, data: Array) -> None:
    """Enter a force; a drive on a hinge has no line."""
    from .row_kernels import DRAG, DRIVE, EFFORT, LINE, LOAD, SHAKING, SPEED, SPRING

    if isinstance(force, Shaking):
        numbers[0], angular = SHAKING, 2.0 * math.pi * force.frequency
        data[4:9] = force.amplitude, angular, force.phase, *force.direction
        return
    joint = _joint(system, force.joint) if isinstance(force, Drive) else force
    _enter_markers(system.layout, joint.markers, numbers, data)
    if isinstance(force, Drive):
        numbers[0] = DRIVE
        data[EFFORT : SPEED + 1] = force.effort, force.stiffness, force.damping, force.target, force.rate
        if isinstance(joint, Slider):
            data[LINE : LINE + 2] = joint.direction
    elif isinstance(force, Spring):
        numbers[0], data[4:7] = SPRING, (force.stiffness, force.length, force.damping)
    elif isinstance(force, Drag):
        numbers[0], data[4] = DRAG, force.damping
    else:
        numbers[0], data[4:7] = LOAD, (*force.force_xy, force.torque)
