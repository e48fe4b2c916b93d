"""Bodies that joints hold by reactions, as trees in joint coordinates: the same motion, without rows for joints."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.rotations import conjugate, matrix_of, product, quaternion_of
from ..contact_law import ContactLaw
from ..joints.drives import Drive
from ..joints.limits_motors import JointFriction, Limit
from ..joints.limits_motors import Part as Acting
from ..names import GROUND
from ..spatial.forces import Force
from ..spatial.joint_table import Bond
from ..spatial.joints import BallJoint, Joint, Slider, Universal, Weld
from ..spatial.kinematics import Motions, SpatialMarker
from ..spatial.links import Rod, String
from ..spatial.system import SpatialSystem
from ..state import State
from .bodies import TreeBody, TreeJoint
from .forest_state import ForestState
from .parts import Closing
from .sensors import Sensor
from .system import TreeSystem
from .tables import together

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
class BodyMotion:
    """How bodies move with joints: velocities are S v, accelerations S a + drift.

    Attributes
    ----------
    q : Array, shape (7 n,)
        Where the bodies are.
    S : Array, shape (6 n, nv)
    drift : Array, shape (6 n,)
    """

    q: Array
    S: Array
    drift: Array


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
        limits = {one.joint: one for one in self.bodies.joints if isinstance(one, Limit)}
        for tie in self.ties:
            joints |= _coordinates(tie, motion, limits.get(tie.joint.name))
        for k, body in enumerate(self.bodies.bodies):
            if body.name + FREE in self.system.places.joints:
                joints[body.name + FREE] = state.q[7 * k : 7 * k + 7]
        q = self.system.state(joints).q
        v: Array = np.linalg.lstsq(self.motion(q).S, state.v, rcond=None)[0].astype(np.float64)
        return State(t=state.t, q=q, v=v)

    def back(self, state: State) -> State:
        """Return the state of the bodies at a state of the tree."""
        motion = self.motion(state.q)
        return State(t=state.t, q=motion.q, v=motion.S @ state.v)

    def motion(self, q: Array, v: Array | None = None) -> BodyMotion:
        """Return how the bodies move with the tree at one state of it."""
        n, seen = len(self.bodies.bodies), ForestState.at(self.system.forest, q, v).bodies()
        nv, place = self.system.nv, self.system.places.bodies
        x, S, drift = np.empty((n, 7)), np.empty((n, 6, nv)), np.empty((n, 6))
        for k, body in enumerate(self.bodies.bodies):
            b = place[body.name]
            R = seen.R[b]
            x[k, :3], x[k, 3:] = seen.x[b], quaternion_of(R)
            turn = R.T @ seen.turn[b]
            S[k, :3], S[k, 3:] = seen.J[b, :, :nv], turn[:, :nv]
            drift[k, :3], drift[k, 3:] = seen.drift[b], turn[:, nv]
        return BodyMotion(x.ravel(), S.reshape(6 * n, nv), drift.ravel())


def in_joint_coordinates(system: SpatialSystem) -> JointCoordinates:
    """Return the tree that moves as a system of bodies does.

    Its joints are those of a spanning tree from the ground out; those that are left close loops.

    Raises
    ------
    InputError
        What trees do not have: what acts on joints that close a loop.
    """
    found, others, pushes = tree_of(system)
    named = {f"a {type(one).__name__} that closes a loop" for one in others if isinstance(one, Joint)}
    named |= {type(one).__name__ for one in (*others, *pushes) if not isinstance(one, Joint)}
    if named:
        mend = 'SpatialSystem(..., coordinates="joints") has them; or list the joints of the loop in another order.'
        text = "ball joints, hinges, universal joints, sliders, welds, limits, dry friction, "
        text += "motors, gears, drives, springs, loads, drags, shaking, rods, strings"
        raise InputError("joints, forces", ", ".join(sorted(named)), text, mend)
    return found


def tree_of(system: SpatialSystem) -> tuple[JointCoordinates, tuple[Bond, ...], tuple[Force, ...]]:
    """Return the tree that moves as a system of bodies does, but for those joints and forces that are named.

    What trees have no tables for: what acts on a joint that closes a loop.
    """
    joints = [one for one in system.joints if isinstance(one, Joint)]
    ties, left = _spanning([body.name for body in system.bodies], joints)
    loops = [one for one in left if isinstance(one, Closing)]
    tied = {tie.joint.name for tie in ties}
    links = [one for one in system.joints if isinstance(one, (Rod, String))]
    limits, frictions = _taken(system, tied)
    held = [*limits.values(), *frictions.values()]
    acting = [
        one for one in system.joints
        if isinstance(one, Acting) and tied.issuperset(one.joints) and not any(one is other for other in held)
    ]  # fmt: skip
    pushes = tuple(one for one in system.forces if isinstance(one, Drive) and one.joint not in tied)
    forces = [one for one in system.forces if not any(one is other for other in pushes)]
    hung = {tie.child.body: tie for tie in ties}
    order = [*(body.name for body in system.bodies if body.name not in hung), *(tie.child.body for tie in ties)]
    given = {body.name: body for body in system.bodies}
    bodies = _sorted([_body(given[name], hung.get(name), limits, frictions) for name in order])
    pairs = {**_pairs(system, bodies), **system.pairs}
    sensors = [one for tie in ties for one in _reactions(tie)]
    tree = TreeSystem(
        bodies=bodies, obstacles=system.obstacles, parts=[*loops, *links, *acting, *forces],
        gravity=system.gravity, contact=system.contact, pairs=pairs, sensors=() if loops else sensors,
    )  # fmt: skip
    taken = [*(tie.joint for tie in ties), *loops, *links, *held, *acting]
    others = tuple(one for one in system.joints if not any(one is other for other in taken))
    return JointCoordinates(system, tree, ties), others, pushes


def _taken(system: SpatialSystem, tied: Collection[str]) -> tuple[dict[str, Limit], dict[str, JointFriction]]:
    """Return the limits and dry friction that joints of trees have, by name of the joint; the others are parts."""
    limits, frictions = dict[str, Limit](), dict[str, JointFriction]()
    for one in system.joints:
        if isinstance(one, Limit) and one.joint in tied and one.eps_n == 0.0:
            limits.setdefault(one.joint, one)
        if isinstance(one, JointFriction) and one.joint in tied and one.cap == one.cap_s:
            frictions.setdefault(one.joint, one)
    return limits, frictions


def _pairs(system: SpatialSystem, bodies: Sequence[TreeBody]) -> dict[tuple[str, str], ContactLaw | None]:
    """Return the laws of pairs that trees treat otherwise by themselves, but for those that the system names.

    What joints connect does not touch, obstacles among it; but what hangs on a body may touch those welded to it.
    """
    named = {(min(pair), max(pair)) for pair in system.pairs}
    joined, fixed = (
        system.joint_table.joined,
        [x.name for x in system.obstacles if getattr(x, "body", GROUND) == GROUND],
    )
    pairs: dict[tuple[str, str], ContactLaw | None] = {}
    for one, other in joined - named:
        ends = [(one, name) for name in fixed] if other == GROUND else [(one, other)]
        ends = [(other, name) for name in fixed] if one == GROUND else ends
        pairs |= {(min(pair), max(pair)): None for pair in ends if (min(pair), max(pair)) not in named}
    base = {GROUND: GROUND}
    for body in bodies:
        base[body.name] = body.name if body.joints else base[body.parent]
    beside = {pair for pair in together(bodies, ()) if base[pair[0]] != base[pair[1]]}
    return pairs | dict.fromkeys(beside - joined - named, system.contact)


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


def _body(body: Any, tie: Tie | None, limits: Mapping[str, Limit], frictions: Mapping[str, JointFriction]) -> TreeBody:
    plain = {"name": body.name, "mass": body.mass, "inertia": body.inertia, "shapes": tuple(body.shapes)}
    if tie is None:
        return TreeBody(joints=(TreeJoint(name=body.name + FREE, motion="free"),), **plain)
    turn = product(tie.parent.turn, conjugate(np.array(tie.child.turn)))  # of the child, where the markers coincide
    at = np.array(tie.parent.at) - matrix_of(turn) @ np.array(tie.child.at)
    return TreeBody(
        parent=tie.parent.body, at=tuple(at.tolist()), turn=tuple(turn.tolist()),
        joints=_moves(tie, limits.get(tie.joint.name), frictions.get(tie.joint.name)), **plain,
    )  # fmt: skip


def _moves(tie: Tie, limit: Limit | None, friction: JointFriction | None) -> tuple[TreeJoint, ...]:
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
    rub = friction.cap if friction else 0.0
    kind: Any = "slide" if isinstance(tie.joint, Slider) else "hinge"
    return (TreeJoint(name=name, motion=kind, axis=along(Z), at=at, low=low, high=high, friction=rub),)


def _coordinates(tie: Tie, motion: Motions, limit: Limit | None) -> dict[str, Any]:
    """Return the coordinates of a joint; an angle with limits is taken within half a turn of their middle."""
    joint, name = tie.joint, tie.joint.name
    if isinstance(joint, Weld):
        return {}
    if isinstance(joint, BallJoint):
        parent, child = motion(tie.parent), motion(tie.child)
        R = matrix_of(tie.child.turn)
        return {name: quaternion_of(R @ parent.R.T @ child.R @ R.T)}
    if limit is not None and joint.coordinate == "angle":
        return {name: joint.free(motion, 0.5 * (limit.low + limit.high)).value}
    values = [one.value for one in joint.free_motions(motion)]
    return dict(zip((f"{name}_1", f"{name}_2"), values, strict=True)) if len(values) == 2 else {name: values[0]}


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
