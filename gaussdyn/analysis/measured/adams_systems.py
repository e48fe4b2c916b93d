"""One body on a joint, a distance or a spring, as the ADAMS runs describe it, built of bodies, joints and forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...linalg.rotations import matrix_of
from ...mechanics.joints.drives import Drive
from ...mechanics.joints.equation import Equation
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.forces import Spring
from ...mechanics.spatial.joint_equations import cosine, travel
from ...mechanics.spatial.joints import BallJoint, Hinge, Joint, Slider, Universal
from ...mechanics.spatial.kinematics import Motion, SpatialMarker, mark
from ...mechanics.spatial.links import Rod
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State

BODY, JOINT = "body", "joint"


class Cylindrical(Joint):
    """a moves along z of b and turns about it: four rows."""

    __slots__ = ()
    parts = ("x", "y", "tilt_x", "tilt_y")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b along x and y of b, and the cosines of z of a with them."""
        a, b = motion(self.a), motion(self.b)
        return (travel(a, b, 0), travel(a, b, 1), cosine(a, 2, b, 0), cosine(a, 2, b, 1))


class PointInPlane(Joint):
    """The point of a stays in the plane through b at right angles to z of b: one row."""

    __slots__ = ()
    parts = ("z",)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the component of x_a - x_b along z of b."""
        return (travel(motion(self.a), motion(self.b), 2),)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardeningDrive(Drive):
    """A torsional spring and damper with a part of its stiffness in proportion to the angle: k2 |x| x."""

    hardening: float = 0.0

    def _along(self, x: Equation) -> float:
        return Drive._along(self, x) - self.hardening * abs(x.value) * x.value


JOINTS: dict[str, type[Joint]] = {
    "revolute": Hinge, "spherical": BallJoint, "cylindrical": Cylindrical, "prismatic": Slider, "universal": Universal,
}  # fmt: skip


def system_of(case: Mapping[str, Any]) -> tuple[SpatialSystem, State]:
    """Return the system of a case and its start.

    Parameters
    ----------
    case : mapping
        Its attributes: mass, inertia_body, gravity, position, quaternion, velocity, angular_velocity, kind,
        marker_body, and those of its joint.

    Raises
    ------
    ValueError
        A kind of constraint that is not known here, or a joint that is driven.
    """
    body = SpatialBody(name=BODY, mass=float(case["mass"]), inertia=np.array(case["inertia_body"]))
    kind = str(case["kind"]).replace(":", " ").replace(",", " ").split()[0]
    if "speed" in case:
        raise ValueError("joints that are driven at a given speed are not known here")
    at = SpatialMarker(BODY, tuple(np.array(case["marker_body"]).tolist()), name="marker")
    joints, forces = _constraint(kind, case, at)
    gravity = tuple(np.array(case["gravity"], dtype=float).tolist())
    system = SpatialSystem(bodies=[body], joints=joints, forces=forces, gravity=gravity)
    turn = np.array(case["quaternion"], dtype=float)
    q = np.r_[case["position"], turn / np.linalg.norm(turn)]
    R = matrix_of(q[3:])
    v = np.r_[case["velocity"], R.T @ np.array(case["angular_velocity"], dtype=float)]
    return system, State(t=0.0, q=q, v=v)


def _constraint(kind: str, case: Mapping[str, Any], at: SpatialMarker) -> tuple[list[Any], list[Any]]:
    """Return the joints and the forces of a case."""
    if kind in JOINTS:
        turn = np.array(case["joint_quaternion"], dtype=float)
        turn /= np.linalg.norm(turn)
        frame = SpatialMarker("ground", tuple(np.array(case["joint_location"]).tolist()), tuple(turn.tolist()))
        return [JOINTS[kind](name=JOINT, a=at, b=frame)], _torsional(case)
    if kind not in ("spring", "distance", "revolute-spherical"):
        raise ValueError(f"a constraint of kind {kind!r} is not known here")
    ground = mark("ground", case["ground_point"], name="anchor")
    length = float(case["length_at_start"])
    if kind == "spring":
        sizes = {"stiffness": float(case["stiffness"]), "damping": float(case["damping"])}
        return [], [Spring(a=at, b=ground, length=length, **sizes)]
    if kind == "distance":
        return [Rod(a=at, b=ground, length=length)], []
    plane = mark("ground", case["ground_point"], axis=case["axis_ground"])
    return [Rod(a=at, b=ground, length=length), PointInPlane(name=JOINT, a=at, b=plane)], []


def _torsional(case: Mapping[str, Any]) -> list[Any]:
    """Return the spring and damper about the axis of a hinge, if there is one."""
    if "rotational_stiffness" not in case:
        return []
    sizes = {
        "stiffness": float(case["rotational_stiffness"]), "damping": float(case["rotational_damping"]),
        "hardening": float(case["rotational_stiffness2"]),
    }  # fmt: skip
    return [HardeningDrive(joint=JOINT, **sizes)]
