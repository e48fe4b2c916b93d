"""A planar system as tables for the kernels, joints included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.contact_law import ContactLaw
from ....mechanics.joints.drives import Drive
from ....mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor, Part
from ....mechanics.joints.part_rows import part_rows
from ....mechanics.planar.contacts import DryFriction, Link, PlanarContact, String
from ....mechanics.planar.disc_contact import PlanarDiscContact
from ....mechanics.planar.forces import Drag, Load, Shaking, Spring
from ....mechanics.planar.joints import Hinge, Slider, Weld
from ....mechanics.planar.row_kernels import (
    BELT,
    CONTACT,
    DISC,
    DRIVE,
    DRY,
    EFFORT,
    KIND,
    LENGTH,
    LINE,
    NORMAL,
    OFFSET,
    RADIUS,
    ROD,
    SIZE,
    SPEED,
    STRING,
    TURN,
    A,
    B,
)  # fmt: skip
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.planar.tables import enter_force, enter_markers
from .records import Planar, Touches

PARTS = (PlanarContact, PlanarDiscContact, Link, DryFriction)
FORCES = (Spring, Drag, Load, Shaking, Drive)
BONDS = (Hinge, Slider, Weld, Limit, JointFriction, Motor, Gear)
Entry = tuple[str, int, int, Any, dict[int, Any]]  # id, kind, rows, markers, data


def serves(system: PlanarSystem) -> bool:
    """Return whether there are tables for all parts of a system."""
    served = all(isinstance(one, PARTS) for one in system.contacts)
    served = served and all(isinstance(one, BONDS) for one in system.joints)
    served = served and all(isinstance(one, FORCES) for one in system.forces)
    q = np.zeros(system.nq)
    frozen = system.detector is not None and system.near(0.0, q, q, 0.0) is system  # to contacts that were found
    return served and not frozen


def planar_of(system: PlanarSystem, law: Array, room: int) -> Planar:
    """Return the tables of a system whose constraints have the laws (n, 6), with room for contacts of shapes."""
    layout, entries = system.layout, sorted(_entries(system), key=lambda entry: entry[0])
    parts, factors, seconds = _parts(system, [entry[0] for entry in entries])
    entries += seconds
    n, f, nv = len(entries) + (room + 1 if room else 0), len(system.forces), system.nv
    numbers, data = np.zeros((n, 10), dtype=np.int64), np.zeros((n, 10))
    for k, (_id, kind, size, markers, values) in enumerate(entries):
        enter_markers(layout, markers, numbers[k], data[k])
        numbers[k, KIND], numbers[k, SIZE] = kind, size
        for column, value in values.items():
            data[k, column : column + np.size(value)] = value
    forces, strength = np.zeros((f, 5), dtype=np.int64), np.zeros((f, 11))
    for k, force in enumerate(system.forces):
        if isinstance(force, Drive):
            _enter_drive(system, force, forces[k], strength[k])
        else:
            enter_force(layout, force, forces[k], strength[k])
    x, y = layout.momentum((1.0, 0.0)), layout.momentum((0.0, 1.0))
    weight = system.gravity[0] * x + system.gravity[1] * y
    bodies = np.array([1.0 / np.diagonal(system.mass(np.zeros(nv))), weight, x, y, np.zeros(nv)])
    return Planar(
        numbers, data, parts, factors, forces, strength, bodies, np.zeros((2 * n, nv)), np.zeros((n, 7)),
        np.zeros(2 * nv), np.vstack([law, np.zeros((room, 6))]), len(seconds),
    )  # fmt: skip


def moved(planar: Planar) -> list[tuple[int, ...]]:
    """Return the velocities on which each entry of the tables depends, those of second coordinates with the first."""
    own = []
    for numbers in planar.numbers.tolist():
        sides = (A,) if numbers[KIND] == DRY else (A, B)
        own.append({numbers[side] + j for side in sides if numbers[side] >= 0 for j in range(2 + numbers[side + 1])})
    for entry, other, _gap in planar.parts.tolist():
        own[entry] |= own[other] if other >= 0 else set()
    return [tuple(one) for one in own]


def touches_of(system: PlanarSystem, room: int) -> Touches:
    """Return the shapes of a system, with room for some contacts; those given one by one are left out."""
    detector = system.detector
    assert detector is not None
    off = detector.labels({contact.id for contact in system.contacts})
    laws = np.array([_law_columns(law) for law in detector.laws])
    found, ahead = (np.zeros((room, 4), dtype=np.int64) for _ in range(2))
    return Touches(detector.outlines(off), laws, found, ahead, np.array([np.hypot(*system.gravity)]))


def _law_columns(law: ContactLaw) -> list[float]:
    """Return mu, mu_s, cap, mu_r, eps_n, eps_t and the number of rows."""
    size = 2.0 if law.mu_s > 0.0 or law.eps_t != 0.0 else 1.0
    return [law.mu, law.mu_s, 0.0, 0.0, law.eps_n, law.eps_t, size]


def _parts(system: PlanarSystem, ids: Sequence[str]) -> tuple[IntArray, Array, list[Entry]]:
    """Return the tables of what acts on joints, and the second coordinates, which come after all rows."""
    lines = [line for bond in system.joints if isinstance(bond, Part) for line in part_rows(bond)]
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
    joint = _joint(system, name)
    if isinstance(joint, Hinge):
        return id, TURN, 1, joint.markers, {}
    return id, CONTACT, 1, joint.markers, {NORMAL: joint.direction}


def _joint(system: PlanarSystem, name: str) -> Hinge | Slider:
    """Return a joint that leaves one coordinate free."""
    (found,) = (one for one in system.joints if isinstance(one, Hinge | Slider) and one.name == name)
    return found


def _enter_drive(system: PlanarSystem, one: Drive, numbers: IntArray, data: Array) -> None:
    """Enter a drive; what is on a hinge has no line."""
    joint = _joint(system, one.joint)
    enter_markers(system.layout, joint.markers, numbers, data)
    numbers[KIND] = DRIVE
    data[EFFORT : SPEED + 1] = one.effort, one.stiffness, one.damping, one.target, one.rate
    if isinstance(joint, Slider):
        data[LINE : LINE + 2] = joint.direction


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
        if isinstance(joint, Part):
            yield from (_coordinate(system, line.id, line.joint) for line in part_rows(joint))
            continue
        for id, part in zip(joint.ids, joint.parts, strict=True):
            if part == "turn":
                yield id, TURN, 1, joint.markers, {LENGTH: joint.angle}
            elif part == "across":
                x, y = joint.direction
                yield id, CONTACT, 1, joint.markers, {NORMAL: (-y, x)}
            else:
                yield id, OFFSET, 1, joint.markers, {NORMAL: (1.0, 0.0) if part == "x" else (0.0, 1.0)}
