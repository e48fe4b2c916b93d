"""Bodies that joints hold by reactions, as trees in joint coordinates: the same motion, without rows for joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.rotations import conjugate, matrix_of, product, quaternion_of
from ..joints.limits_motors import JointFriction, Limit
from ..names import GROUND
from ..spatial.joints import BallJoint, Hinge, Joint, Slider, Universal, Weld
from ..spatial.kinematics import Motions, SpatialMarker
from ..spatial.system import SpatialSystem
from ..state import State
from .bodies import TreeBody, TreeJoint, Turn
from .parts import Connect
from .sensors import Sensor
from .system import TreeSystem

FREE = "_free"  # the joint of a body that no joint ties to the ground, after its name
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Tie:
    """A joint of the spanning tree: `child` hangs on `parent`; `turned` says that the child has the marker b."""

    joint: Joint
    parent: SpatialMarker
    child: SpatialMarker
    turned: bool


@dataclass(frozen=True, slots=True, eq=False)
class JointCoordinates:
    """A system of bodies and the tree that moves as it does; get one by `in_joint_coordinates`.

    Reactions of joints are sensors of the tree: ``run["hip_force"]`` and ``run["hip_moment"]`` are what a body and all
    that hangs on it exert on its parent, in the axes of the child's marker. Where loops are closed there are none.

    Attributes
    ----------
    bodies : SpatialSystem
    system : TreeSystem
    ties : sequence of Tie
        In the order of the bodies of the tree, without free ones.
    """

    bodies: SpatialSystem
    system: TreeSystem
    ties: Sequence[Tie]

    def state(self, state: State) -> State:
        """Return the state of the tree at a state of the bodies, which its joints allow.

        Angles and travels are those that the joints have; velocities fit those of the bodies best, exactly if the
        joints allow them.
        """
        motion = Motions(self.bodies.layout, state.t, state.q, state.v)
        joints: dict[str, Any] = {}
        for tie in self.ties:
            joints |= _coordinates(tie, motion)
        for k, body in enumerate(self.bodies.bodies):
            if body.name + FREE in self.system.places.joints:
                joints[body.name + FREE] = state.q[7 * k : 7 * k + 7]
        q = self.system.state(joints).q
        v: Array = np.linalg.lstsq(self._jacobian(q), state.v, rcond=None)[0].astype(np.float64)
        return State(t=state.t, q=q, v=v)

    def back(self, state: State) -> State:
        """Return the state of the bodies at a state of the tree."""
        frames = [self.system.frame(state.q, body.name) for body in self.bodies.bodies]
        q = np.concatenate([[*frame.x, *quaternion_of(frame.R)] for frame in frames])
        return State(t=state.t, q=q, v=self._jacobian(state.q) @ state.v)

    def _jacobian(self, q: Array) -> Array:
        """Return the velocities of the bodies per velocity of the tree, shape (6 n, nv)."""
        lines = []
        for body in self.bodies.bodies:
            J, turn = self.system.jacobian(q, body.name)
            lines += [J, self.system.frame(q, body.name).R.T @ turn]
        return np.vstack(lines)


def in_joint_coordinates(system: SpatialSystem) -> JointCoordinates:
    """Return the tree that moves as a system of bodies does.

    Its joints are those of a spanning tree from the ground out; ball joints and welds that are left close loops.

    Raises
    ------
    InputError
        What trees do not have: other joints that close a loop, rods, motors, gears, springs and other forces.
    """
    joints = [one for one in system.joints if isinstance(one, (BallJoint, Hinge, Universal, Slider, Weld))]
    limits, frictions = _taken(system, joints)
    ties, loops = _spanning([body.name for body in system.bodies], joints)
    held = {tie.child.body: tie for tie in ties}
    order = [*(body.name for body in system.bodies if body.name not in held), *(tie.child.body for tie in ties)]
    given = {body.name: body for body in system.bodies}
    bodies = _sorted([_body(given[name], held.get(name), limits, frictions) for name in order])
    on_ground = [tie.child.body for tie in ties if tie.parent.body == GROUND]
    fixed = [one.name for one in system.obstacles if getattr(one, "body", GROUND) == GROUND]
    apart = {(min(a, b), max(a, b)): None for a in on_ground for b in fixed}
    named = {(min(pair), max(pair)) for pair in system.pairs}
    sensors = [one for tie in ties for one in _reactions(tie)]
    tree = TreeSystem(
        bodies=bodies, obstacles=system.obstacles, parts=[_closure(one) for one in loops], gravity=system.gravity,
        contact=system.contact, pairs={pair: None for pair in apart if pair not in named} | dict(system.pairs),
        sensors=() if loops else sensors,
    )  # fmt: skip
    return JointCoordinates(system, tree, ties)


def _taken(system: SpatialSystem, joints: Sequence[Joint]) -> tuple[dict[str, Limit], dict[str, float]]:
    """Return limits and dry friction by name of the joint."""
    limits = {one.joint: one for one in system.joints if isinstance(one, Limit)}
    frictions = {one.joint: one.cap for one in system.joints if isinstance(one, JointFriction)}
    rest = [one for one in system.joints if one not in joints and not isinstance(one, (Limit, JointFriction))]
    others = [type(one).__name__ for one in (*rest, *system.forces)]
    others += [f"Limit of {one.joint} with restitution" for one in limits.values() if one.eps_n > 0.0]
    scalars = {one.name for one in joints if isinstance(one, (Hinge, Slider))}
    others += [f"limit or friction of {name}" for name in {*limits, *frictions} - scalars]
    if others:
        mend = "Write the tree by hand: gaussdyn.mechanics.trees has springs, actuators and gears of its own."
        raise InputError("joints, forces", ", ".join(sorted(set(others))), "ball, hinge, universal, slider, weld", mend)
    return limits, frictions


def _spanning(names: Sequence[str], joints: Sequence[Joint]) -> tuple[list[Tie], list[Joint]]:
    """Return the joints that hang each body on another one, from the ground out, and those that close loops."""
    reached, ties, left = {GROUND}, list[Tie](), list(joints)
    while left or len(reached) <= len(names):
        further = next((one for one in left if (one.a.body in reached) != (one.b.body in reached)), None)
        if further is not None:
            left.remove(further)
            turned = further.a.body in reached
            ends = (further.a, further.b) if turned else (further.b, further.a)
            ties.append(Tie(further, *ends, turned))
            reached.add(ends[1].body)
        elif len(reached) <= len(names):
            reached.add(next(name for name in names if name not in reached))  # it is free
        else:
            break
    return ties, left


def _body(body: Any, tie: Tie | None, limits: Mapping[str, Limit], frictions: Mapping[str, float]) -> TreeBody:
    plain = {"name": body.name, "mass": body.mass, "inertia": body.inertia, "shapes": tuple(body.shapes)}
    if tie is None:
        return TreeBody(joints=(TreeJoint(name=body.name + FREE, motion="free"),), **plain)
    turn = product(tie.parent.turn, conjugate(np.array(tie.child.turn)))  # of the child, where the markers coincide
    at = np.array(tie.parent.at) - matrix_of(turn) @ np.array(tie.child.at)
    return TreeBody(
        parent=tie.parent.body, at=tuple(at.tolist()), turn=tuple(turn.tolist()),
        joints=_moves(tie, limits.get(tie.joint.name), frictions.get(tie.joint.name, 0.0)), **plain,
    )  # fmt: skip


def _moves(tie: Tie, limit: Limit | None, friction: float) -> tuple[TreeJoint, ...]:
    """Return what a joint leaves free, in the frame of the child."""
    R, at, name = matrix_of(tie.child.turn), tie.child.at, tie.joint.name
    sign = -1.0 if tie.turned else 1.0

    def along(axis: Sequence[float]) -> Any:
        return tuple((sign * R @ np.array(axis)).tolist())

    if isinstance(tie.joint, Weld):
        return ()
    if isinstance(tie.joint, BallJoint):
        return (TreeJoint(name=name, motion="ball", at=at),)
    if isinstance(tie.joint, Universal):
        first = TreeJoint(name=f"{name}_1", axis=along(Y), at=at)
        second = TreeJoint(name=f"{name}_2", axis=along(X), at=at)
        return (second, first) if tie.turned else (first, second)
    low, high = (limit.low, limit.high) if limit else (-math.inf, math.inf)
    kind: Any = "slide" if isinstance(tie.joint, Slider) else "hinge"
    return (TreeJoint(name=name, motion=kind, axis=along(Z), at=at, low=low, high=high, friction=friction),)


def _coordinates(tie: Tie, motion: Motions) -> dict[str, Any]:
    """Return the coordinates of a joint."""
    joint, name = tie.joint, tie.joint.name
    if isinstance(joint, Weld):
        return {}
    if isinstance(joint, BallJoint):
        parent, child = motion(tie.parent), motion(tie.child)
        R = matrix_of(tie.child.turn)
        return {name: quaternion_of(R @ parent.R.T @ child.R @ R.T)}
    values = [one.value for one in joint.free_motions(motion)]
    return dict(zip((f"{name}_1", f"{name}_2"), values, strict=True)) if len(values) == 2 else {name: values[0]}


def _closure(joint: Joint) -> Connect:
    if not isinstance(joint, (BallJoint, Weld)):
        given = f"a {type(joint).__name__} that closes a loop"
        raise InputError(f"joint {joint.name}", given, "a ball joint or a weld", "List those of the loop last.")
    turn: Turn | None = None
    if isinstance(joint, Weld):
        w, x, y, z = product(joint.b.turn, conjugate(np.array(joint.a.turn))).tolist()
        turn = (w, x, y, z)
    return Connect(name=joint.name, a=joint.a.body, b=joint.b.body, at_a=joint.a.at, at_b=joint.b.at, turn=turn)


def _reactions(tie: Tie) -> tuple[Sensor, Sensor]:
    name, of, at, turn = tie.joint.name, tie.child.body, tie.child.at, tie.child.turn
    return (
        Sensor(name=f"{name}_force", reads="force", of=of, at=at, turn=turn),
        Sensor(name=f"{name}_moment", reads="torque", of=of, at=at, turn=turn),
    )


def _sorted(bodies: Sequence[TreeBody]) -> list[TreeBody]:
    """Return bodies after their parents, otherwise in their order."""
    done, found, left = {GROUND}, list[TreeBody](), list(bodies)
    while left:
        one = next(body for body in left if body.parent in done)
        left.remove(one)
        done.add(one.name)
        found.append(one)
    return found
