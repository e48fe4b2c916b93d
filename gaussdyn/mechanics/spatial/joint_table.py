"""The joints of a system in space, and what acts on their coordinates, as one table of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..joints.columns import JointColumns
from ..joints.drives import Drive
from ..joints.equation import Equation
from ..joints.limits_motors import Part
from ..names import nearest
from ..rows import Row
from .forces import Force, Shaking
from .joint_equations import hinge_turn
from .joints import Hinge, Joint
from .kinematics import Motions, SpatialLayout, Turns
from .links import Rod, String

Bond = Joint | Rod | String | Part


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints and links, and limits, frictions, motors and gears, which name joints.

    Attributes
    ----------
    bonds : tuple of Joint, Rod and String
    parts : tuple of Limit, JointFriction, Motor and Gear
    named : dict of str to Joint
    """

    bonds: tuple[Joint | Rod | String, ...]
    parts: tuple[Part, ...]
    named: dict[str, Joint]

    @staticmethod
    def of(layout: SpatialLayout, given: Sequence[Bond]) -> Joints:
        """Sort out and check the joints of a system.

        Raises
        ------
        InputError
            Something else, a marker on an unknown body, a name used twice, an unknown joint.
        """
        for part in given:
            if not isinstance(part, Bond) or type(part) is Joint:
                raise InputError(
                    "joints",
                    repr(part),
                    "joints, rods, strings, limits, frictions, motors and gears",
                    'Write joints=[Hinge(name="hip", a=..., b=...)].',
                )
        bonds = tuple(part for part in given if not isinstance(part, Part))
        parts = tuple(part for part in given if isinstance(part, Part))
        for bond in bonds:
            for marker in bond.markers:
                layout.check(marker)
        _check_names(given)
        joints = Joints(bonds, parts, {bond.name: bond for bond in bonds if isinstance(bond, Joint)})
        for part in parts:
            for name in part.joints:
                part.check(joints.check(name))
        return joints

    @property
    def joined(self) -> frozenset[tuple[str, str]]:
        """The pairs of bodies that a joint connects, each sorted; rods and strings do not count."""
        return frozenset((min(joint.bodies), max(joint.bodies)) for joint in self.named.values())

    def check(self, name: str) -> str:
        """Return what the joint leaves free, "angle" or "travel"; raise InputError without such a joint."""
        if name not in self.named:
            raise InputError("joint", repr(name), *nearest(name, self.named))
        joint = self.named[name]
        if not joint.coordinate:
            raise InputError(
                f"joint {name}",
                type(joint).__name__,
                "a Hinge or a Slider, which have one coordinate",
                f'Write Hinge(name={name!r}, a=SpatialMarker("arm", (0.0, 0.0, 0.0)), b=fixed(0.0, 0.0, 0.0)).',
            )
        return joint.coordinate

    def columns(self, forces: Sequence[Any]) -> JointColumns:
        """Return the columns of the joints."""
        free = {name: joint.freedoms for name, joint in self.named.items()}
        return JointColumns(self.named, free, self.parts, [force for force in forces if isinstance(force, Drive)])

    @property
    def hinges(self) -> tuple[Hinge, ...]:
        """The joints whose angle winds."""
        return tuple(joint for joint in self.named.values() if isinstance(joint, Hinge))

    def angles(self, layout: SpatialLayout, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the angles (..., h) of all h hinges in [-pi, pi], rad, and their rates, rad/s, at q (..., nq)."""
        turns = Turns(layout, q, v)
        angles, rates = np.empty((2, *q.shape[:-1], len(self.hinges)))
        for k, joint in enumerate(self.hinges):
            angles[..., k], rates[..., k] = hinge_turn(turns(joint.a), turns(joint.b))
        return angles, rates

    def check_forces(self, layout: SpatialLayout, forces: Sequence[Any]) -> tuple[Force, ...]:
        """Return the forces; raise InputError for something else, an unknown body or joint."""
        for force in forces:
            if not isinstance(force, Force):
                raise InputError(
                    "forces",
                    repr(force),
                    "Spring, Drag, Load, Drive, Shaking",
                    'Write forces=[Load(point=SpatialMarker("ball", (0.0, 0.0, 0.0)), force=(1.0, 0.0, 0.0))].',
                )
            if isinstance(force, Drive):
                self.check(force.joint)
            elif not isinstance(force, Shaking):
                for marker in force.markers:
                    layout.check(marker)
        return tuple(forces)

    def free(self, motion: Motions, name: str, middle: float = 0.0) -> Equation:
        """Return the coordinate that a hinge or slider leaves free, an angle within pi of `middle`."""
        if name not in self.named:
            self.check(name)
        return self.named[name].free(motion, middle)

    def rows(self, motion: Motions) -> tuple[Row, ...]:
        """Return all rows at one state."""
        if not self.bonds:
            return ()

        def free(name: str, middle: float = 0.0) -> Equation:
            """Return the coordinate of a joint at this state."""
            return self.named[name].free(motion, middle)

        rows = [row for bond in self.bonds for row in bond.rows(motion)]
        rows += [row for part in self.parts for row in part.rows(free)]
        return tuple(rows)


def _check_names(given: Sequence[Bond]) -> None:
    ids = sorted(id for part in given for id in part.ids)
    for left, right in pairwise(ids):
        if left == right:
            raise InputError(
                "joints", f"two rows called {left!r}", "different names", 'Write name="left_knee" for one of them.'
            )
