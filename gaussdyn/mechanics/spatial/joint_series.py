"""What the joints of bodies in space leave free, and what their rows exert, at many states at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._jit import Held
from ...arrays import Array
from ...linalg.rotations import logarithm, quaternion_of
from ..joints.drives import Drive
from ..joints.equation import Equation
from ..names import GROUND
from .joints import BallJoint, Joint, Universal
from .kinematics import SpatialMarker, Turns
from .mechanism import JointRow, mechanism_and_free
from .row_kernels import RATE, VALUE, WRENCH_A, Mechanism
from .system import SpatialSystem

Series = tuple[list[Array], list[Array]]


@dataclass(frozen=True, slots=True, eq=False)
class JointTables:
    """The tables of a system of which `has_tables` is true, with work space of its own.

    Attributes
    ----------
    system : SpatialSystem
    mechanism : Mechanism
    rows : mapping of str to JointRow
        By id.
    free : mapping of str to int
        The equations of coordinates, by joint.
    drives : mapping of Drive to int
        Those of drives.
    """

    system: SpatialSystem
    mechanism: Mechanism
    rows: Mapping[str, JointRow]
    free: Mapping[str, int]
    drives: Mapping[Drive, int]

    @staticmethod
    def of(system: SpatialSystem) -> JointTables:
        """Return the tables of a system."""
        mechanism, rows, free = mechanism_and_free(system)
        forces = zip(system.forces, mechanism.forces[:, 1].tolist(), strict=True)
        drives = {one: e for one, e in forces if isinstance(one, Drive)}
        return JointTables(system, mechanism, {row.id: row for row in rows}, free, drives)

    def forces(self, t: Array, q: Array, v: Array) -> Array:
        """Return the generalised forces at n states, shape (n, nv)."""
        from .equation_series import forces_along

        h, held = np.zeros(v.shape), _held(self.mechanism)
        forces_along(held, t, q, v, h)
        return h

    def at(self, q: Array, v: Array) -> JointSeries:
        """Return all joints at n states, shapes (n, nq) and (n, nv)."""
        from .equation_series import equations_along

        found, held = np.empty((len(q), *self.mechanism.found.shape)), _held(self.mechanism)
        equations_along(held, q, v, found)
        return JointSeries(self, Turns(self.system.layout, q, v), found)


def _held(mechanism: Mechanism) -> Any:
    return Held(mechanism)


@dataclass(frozen=True, slots=True, eq=False)
class JointSeries:
    """Joints at n states; wrenches are (force, moment about the mass centre), in space, on the bodies of a and of b.

    Attributes
    ----------
    tables : JointTables
    turns : Turns
        Axes of markers.
    found : Array, shape (n, e, 14)
        See `Mechanism`.
    """

    tables: JointTables
    turns: Turns
    found: Array

    def free(self, joint: Joint) -> Series:
        """Return values and rates of the motions that a joint leaves free, arrays of shape (n,)."""
        if joint.coordinate:
            x = self.found[:, self.tables.free[joint.name]]
            return [x[:, VALUE]], [x[:, RATE]]
        (A, omega), (B, own) = self.turns(joint.a), self.turns(joint.b)
        turn, spin = B.transpose(0, 2, 1) @ A, omega - own
        if isinstance(joint, Universal):
            values = [np.arctan2(-turn[:, 2, 0], turn[:, 0, 0]), np.arctan2(-turn[:, 1, 2], turn[:, 1, 1])]
            return values, [(axis * spin).sum(axis=1) for axis in (B[:, :, 1], A[:, :, 0])]
        vectors = np.array([logarithm(quaternion_of(one)) for one in turn]).reshape(-1, 3)
        return list(vectors.T), list((B.transpose(0, 2, 1) @ spin[:, :, None])[:, :, 0].T)

    def along(self, drive: Drive) -> Array:
        """Return what a drive exerts, shape (n,)."""
        x = self.found[:, self.tables.drives[drive]]
        there = Equation(x[:, VALUE], np.zeros(0), x[:, RATE], 0.0)  # type: ignore[arg-type]
        found: Any = drive.along(lambda *_: there)
        return found  # type: ignore[no-any-return]

    def body(self, marker: SpatialMarker) -> int:
        """Return the number of the body of a marker; the ground comes last."""
        return -1 if marker.body == GROUND else self.turns.layout.place[marker.body]

    def all_of(self, joint: Joint) -> Array:
        """Return what a joint keeps, in the order of its ids, then what it leaves free, as wrenches: (n, 6, 12)."""
        kept = [self.found[:, self.tables.rows[id].equations[0], WRENCH_A:] for id in joint.ids]
        if joint.coordinate:
            return np.stack([*kept, self.found[:, self.tables.free[joint.name], WRENCH_A:]], axis=1)
        axes = np.zeros((len(self.found), 0, 3))
        if isinstance(joint, BallJoint):
            axes = np.broadcast_to(np.eye(3), (len(self.found), 3, 3))
        elif isinstance(joint, Universal):
            axes = np.stack([self.turns(joint.b)[0][:, :, 1], self.turns(joint.a)[0][:, :, 0]], axis=1)
        none = np.zeros(axes.shape)
        return np.concatenate([np.stack(kept, axis=1), np.concatenate([none, axes, none, -axes], axis=2)], axis=1)

    def of_row(self, id: str) -> list[tuple[int, int, Array]]:
        """Return the bodies (a, b) and the wrench at unit force, shape (n, 12), of every equation of a row."""
        row, found = self.tables.rows[id], []
        for e, factor in zip(row.equations, row.factors, strict=True):
            if e >= 0:
                a, b = self.tables.mechanism.equations[e, 1:3].tolist()
                found.append((a, b, factor * self.found[:, e, WRENCH_A:]))
        return found
