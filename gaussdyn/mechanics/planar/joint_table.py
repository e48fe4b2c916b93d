"""The joints of a planar system, and what acts on the coordinates that they leave free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...mends import other_name
from ..joints.columns import JointColumns
from ..joints.drives import Drive
from ..joints.equation import Equation
from ..joints.limits_motors import Part
from ..names import GROUND, nearest
from ..rows import Row
from .joints import Hinge, Joint
from .kinematics import Layout, Motion


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """Joints by name, and limits, frictions, motors and gears, which name joints."""

    joints: dict[str, Joint]
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, layout: Layout, given: Sequence[Any]) -> Linkage:
        """Sort out and check the joints of a system.

        Raises
        ------
        InputError
            A marker on an unknown body, an angle of a point mass, a name used twice, an unknown joint.
        """
        joints: dict[str, Joint] = {}
        for joint in given:
            if not isinstance(joint, Joint):
                continue
            if joint.name in joints:
                raise InputError("joints", f"two called {joint.name!r}", "different names", other_name(joint.name))
            joints[joint.name] = joint
            for marker in joint.markers:
                layout.check(marker)
                if not isinstance(joint, Hinge) and marker.body != GROUND:
                    layout.check_turns(marker.body)
        linkage = cls(joints, tuple(part for part in given if isinstance(part, Part)))
        for part in linkage.parts:
            for name in part.joints:
                part.check(linkage.check(layout, name))
        return linkage

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of all rows."""
        return tuple(id for one in (*self.joints.values(), *self.parts) for id in one.ids)

    @property
    def joined(self) -> frozenset[tuple[str, str]]:
        """The pairs of bodies that a joint connects."""
        return frozenset((joint.a.body, joint.b.body) for joint in self.joints.values())

    def columns(self, layout: Layout, forces: Sequence[Any]) -> JointColumns:
        """Return the columns of the joints; hinges of point masses have no angle."""
        names = self.joints.items()
        free = {name: () if layout.points & {one.a.body, one.b.body} else one.freedoms for name, one in names}
        return JointColumns(self.joints, free, self.parts, [force for force in forces if isinstance(force, Drive)])

    def check(self, layout: Layout, name: str) -> str:
        """Return what a joint leaves free, "turn" or "travel"; raise InputError without such a joint or coordinate."""
        if name not in self.joints:
            raise InputError("joint", repr(name), *nearest(name, self.joints))
        joint = self.joints[name]
        if not joint.coordinate:
            raise InputError(
                f"joint {name}",
                type(joint).__name__,
                "a Hinge or a Slider, which have one coordinate",
                f'Write Hinge(name={name!r}, a=Marker("arm", (0.0, 0.0)), b=fixed(0.0, 0.0)).',
            )
        for marker in joint.markers:
            if marker.body != GROUND:
                layout.check_turns(marker.body)
        return joint.coordinate

    def check_forces(self, layout: Layout, forces: Sequence[Any]) -> None:
        """Raise InputError if a force names an unknown body or joint."""
        for force in forces:
            if isinstance(force, Drive):
                self.check(layout, force.joint)
            else:
                for marker in force.markers:
                    layout.check(marker)

    def asked(self, force: Any, motion: Motion) -> tuple[Any, ...]:
        """Return what a force wants to know: how markers move and, for a drive, how its joint does."""
        if not isinstance(force, Drive):
            return (motion,)

        return (motion, self.free_at(motion))

    def free_at(self, motion: Motion) -> Callable[..., Equation]:
        """Return the function that gives the coordinate of a joint at one state, by the joint's name."""

        def free(name: str, middle: float = 0.0) -> Equation:
            """Return the coordinate of a joint."""
            return self.joints[name].free(motion)

        return free

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return all rows at one state."""
        free = self.free_at(motion)
        rows = [row for joint in self.joints.values() for row in joint.rows(motion)]
        return tuple(rows + [row for part in self.parts for row in part.rows(free)])
