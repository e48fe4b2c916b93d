"""A system of bodies in space as tables for kernels: joints, limits, motors, gears, forces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...linalg.rotations import matrix_of
from ..joints.drives import Drive
from ..joints.equation import AS_VALUE, AS_ZERO
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from ..joints.part_rows import DAMPER, WEAK, part_rows
from ..names import GROUND
from .forces import Drag, Load, Shaking, Spring
from .joints import BallJoint, Hinge, Slider, Universal, Weld
from .kinematics import SpatialMarker
from .links import Rod, String
from .row_kernels import (
    ALONG,
    ANGLE,
    COSINE,
    DISTANCE,
    DRAG,
    FIRST,
    HELD_POINT,
    KIND,
    LOAD,
    OFFSET,
    SECOND,
    SHAKING,
    SPIN,
    TRAVEL,
    TWIST,
    Mechanism,
)
from .system import SpatialSystem

POINTS = tuple((OFFSET, k, 0) for k in range(3))
TURNS = tuple((TWIST, k, 0) for k in range(3))
EQUATIONS = {
    BallJoint: POINTS,
    Hinge: (*POINTS, (COSINE, 2, 0), (COSINE, 2, 1)),
    Universal: (*POINTS, (COSINE, 0, 1)),
    Slider: ((TRAVEL, 0, 0), (TRAVEL, 1, 0), *TURNS),
    Weld: (*POINTS, *TURNS),
}  # kind, axis of a and axis of b of what each keeps at zero, in the order of its ids; TRAVEL: axis of b


class JointRow(NamedTuple):
    """One row: its equations and their factors, what is taken from value and rate, what its gap is, and the bodies.

    damping : float
        Of a damper, which has no row in Python.
    """

    id: str
    equations: tuple[int, int]
    factors: tuple[float, float]
    taken: tuple[float, float]
    gap: int
    bodies: tuple[int, ...]
    damping: float = 0.0


@dataclass(slots=True)
class Tables:
    """Equations, rows and forces as they are entered.

    Attributes
    ----------
    system : SpatialSystem
    equations : list of (int, ...)
        Kind, bodies of a and b, axes.
    markers : list of sequences of float
    rows : list of JointRow
    """

    system: SpatialSystem
    equations: list[tuple[int, ...]] = field(default_factory=list)
    markers: list[Sequence[float]] = field(default_factory=list)
    rows: list[JointRow] = field(default_factory=list)

    def equation(self, kind: int, a: SpatialMarker, b: SpatialMarker, first: int, second: int, middle: float) -> int:
        """Enter an equation; return its number."""
        self.equations.append((kind, self.body(a), self.body(b), first, second))
        frames = [(*m.at, *matrix_of(m.turn).ravel()) for m in (a, b)]
        self.markers.append([*frames[0], *frames[1], middle])
        return len(self.equations) - 1

    def body(self, marker: SpatialMarker) -> int:
        """Return the number of a body; the ground comes last."""
        layout = self.system.layout
        return len(layout.bodies) if marker.body == GROUND else layout.place[marker.body]

    def free(self, name: str, middle: float = 0.0) -> int:
        """Enter the coordinate that a joint leaves free; return its number."""
        joint = self.system.joint_table.named[name]
        if joint.coordinate == "angle":
            return self.equation(ANGLE, joint.a, joint.b, 0, 0, middle)
        return self.equation(TRAVEL, joint.a, joint.b, 2, 0, 0.0)

    def row(
        self, id: str, e: int, factor: float = 1.0, *, taken: tuple[float, float] = (0.0, 0.0), gap: int = AS_VALUE,
        other: tuple[int, float] = (-1, 0.0), damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Enter the row factor x - taken, with a second equation if there is one."""
        bodies = [b for k in (e, other[0]) if k >= 0 for b in self.equations[k][1:3]]
        own = tuple(b for b in bodies if b < len(self.system.bodies))
        self.rows.append(JointRow(id, (e, other[0]), (factor, other[1]), taken, gap, own, damping))

    def bond(self, one: Any) -> None:
        """Enter a joint, rod or string."""
        if isinstance(one, (Rod, String)):
            sign = -1.0 if isinstance(one, String) else 1.0
            e = self.equation(DISTANCE, one.a, one.b, 0, 0, 0.0)
            self.row(one.id, e, sign, taken=(sign * one.length, 0.0))
            return
        for id, (kind, first, second) in zip(one.ids, EQUATIONS[type(one)], strict=True):
            self.row(id, self.equation(kind, one.a, one.b, first, second, 0.0))

    def part(self, one: Any) -> None:
        """Enter what acts on the coordinate of a joint."""
        for line in part_rows(one):
            other = self.free(line.other) if line.other else -1
            self.row(
                line.id, self.free(line.joint, line.middle), line.factors[0], taken=line.taken, gap=line.gap,
                other=(other, line.factors[1]),
            )  # fmt: skip

    def damper(self, e: int, damping: float) -> None:
        """Enter the damper along an equation, if it has any strength and an end that moves."""
        if damping > WEAK and min(self.equations[e][1:3]) < len(self.system.bodies):
            self.row(f"{DAMPER}{e}", e, gap=AS_ZERO, damping=damping)

    def drag(self, one: Drag) -> None:
        """Enter a drag as dampers: of its marker along the axes of space, and of the turns about them."""
        for kind, damping in ((OFFSET, one.damping), (SPIN, one.spin_damping)):
            for k in range(3 if damping > 0.0 else 0):
                self.damper(self.equation(kind, one.point, SpatialMarker(GROUND), k, 0, 0.0), damping)

    def force(self, one: Any) -> tuple[tuple[int, int], list[float]]:
        """Return what stands in the tables of forces."""
        if isinstance(one, Spring):
            e = self.equation(DISTANCE, one.a, one.b, 0, 0, 0.0)
            self.damper(e, one.damping)
            return (ALONG, e), [0.0, one.stiffness, one.damping, one.length, 0.0, 0.0]
        if isinstance(one, Drive):
            e = self.free(one.joint, one.target)
            self.damper(e, one.damping)
            return (ALONG, e), [one.effort, one.stiffness, one.damping, one.target, one.rate, 0.0]
        if isinstance(one, Shaking):
            size = [one.amplitude * x for x in one.direction]
            return (SHAKING, -1), [*size, 2.0 * math.pi * one.frequency, one.phase, 0.0]
        e = self.equation(OFFSET, one.point, SpatialMarker(GROUND), 0, 0, 0.0)
        if isinstance(one, Drag):
            self.drag(one)
            return (DRAG, e), [one.damping, one.spin_damping, 0.0, 0.0, 0.0, 0.0]
        return (LOAD, e), [*one.force_xyz, *one.moment]


def has_tables(system: SpatialSystem) -> bool:
    """Return whether there are tables for all parts of a system."""
    if type(system) is not SpatialSystem:
        return False
    bonds = all(type(one) in (*EQUATIONS, Rod, String) for one in system.joint_table.bonds)
    parts = all(type(one) in (Limit, JointFriction, Motor, Gear) for one in system.joint_table.parts)
    return bonds and parts and all(type(one) in (Spring, Drag, Load, Drive, Shaking) for one in system.forces)


def mechanism_of(system: SpatialSystem) -> tuple[Mechanism, list[JointRow]]:
    """Return the tables of a system, and its rows, those of neighbours beside each other."""
    tables, forces = _entered(system)
    return _of(tables, forces)


def mechanism_and_free(system: SpatialSystem) -> tuple[Mechanism, list[JointRow], dict[str, int]]:
    """Return the same with the coordinates of hinges and sliders, and the numbers of these equations by joint."""
    tables, forces = _entered(system)
    free = {name: tables.free(name) for name, joint in system.joint_table.named.items() if joint.coordinate}
    return *_of(tables, forces), free


def _entered(system: SpatialSystem) -> tuple[Tables, list[tuple[tuple[int, int], list[float]]]]:
    """Return the tables with all joints and parts, and what stands in those of forces."""
    tables = Tables(system)
    for bond in system.joint_table.bonds:
        tables.bond(bond)
    for part in system.joint_table.parts:
        tables.part(part)
    return tables, [tables.force(one) for one in system.forces]


def _of(
    tables: Tables, forces: Sequence[tuple[tuple[int, int], list[float]]]
) -> tuple[Mechanism, list[JointRow]]:  # fmt: skip
    system = tables.system
    n, nv = len(system.bodies), system.nv
    rows = sorted(tables.rows, key=lambda row: (max(row.bodies), min(row.bodies), row.id))
    equations = _whole(tables.equations, len(tables.equations), 5)
    _note_points(equations, rows)
    inertia = np.array([body.inertia for body in system.bodies])
    ball = np.array([np.array_equal(J, J[0, 0] * np.eye(3)) for J in inertia], dtype=np.int64)
    R, e = np.zeros((n + 1, 3, 3)), len(tables.equations)
    R[n] = np.eye(3)
    weight = np.concatenate([[*(body.mass * np.array(system.gravity)), 0.0, 0.0, 0.0] for body in system.bodies])
    return Mechanism(
        np.zeros((n + 1, 3)), R, np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), np.zeros((n + 1, 3, 6)),
        np.array([[body.mass] for body in system.bodies]), inertia, ball, np.array([weight, np.zeros(nv)]),
        equations, _real(tables.markers, e, 25), np.zeros((e, 14)),
        _whole([(*row.equations, row.gap) for row in rows], len(rows), 3),
        _real([(*row.factors, *row.taken) for row in rows], len(rows), 4),
        _whole([kind for kind, _ in forces], len(forces), 2), _real([x for _, x in forces], len(forces), 6),
    ), rows  # fmt: skip


def _note_points(equations: IntArray, rows: list[JointRow]) -> None:
    """Note the first of three rows one after the other that are all components of a joint's offset.

    Dampers have no gap, and are taken one by one.
    """
    for r in range(len(rows) - 2):
        if rows[r].damping:
            continue
        three = [rows[r + k].equations[0] for k in range(3)]
        kinds = [tuple(equations[e, [KIND, FIRST]].tolist()) for e in three]
        if kinds == [(OFFSET, 0), (OFFSET, 1), (OFFSET, 2)] and three == list(range(three[0], three[0] + 3)):
            equations[three[0], SECOND] = HELD_POINT


def _whole(rows: Sequence[Sequence[int]], n: int, columns: int) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(n, columns)


def _real(rows: Sequence[Sequence[float]], n: int, columns: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(n, columns)
