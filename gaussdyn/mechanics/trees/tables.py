"""From bodies, couplings and actuators to the tables of the kernels, and back from names to their places there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...arrays import Array, IntArray
from ...errors import InputError
from ...linalg.rotations import conjugate, matrix_of, product
from ...mends import other_name
from ..collision.shapes import Triple
from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from ..names import GROUND, nearest
from ..rows import Kind, Level
from ..spatial.forces import Drag, Load, Shaking, Spring
from ..spatial.joints import BallJoint, Hinge, Slider, Weld
from ..spatial.links import Rod, String
from .bodies import MOTIONS, TreeBody, TreeJoint, box_of
from .forest import (
    ABOVE,
    ALONG,
    BALL,
    CYLINDER,
    DAMPING,
    EQUAL,
    FACE,
    FREE_SIDE,
    KIND,
    LAST,
    LEAN,
    MEET,
    PACE,
    PARENT,
    PLANE,
    RUB,
    SPACE,
    SPHERE,
    SWING,
    TAUT,
    Couplings,
    Drives,
    Forest,
    Paths,
    Trees,
    moving_of,
)
from .parts import (
    Actuator,
    Closing,
    Connect,
    Fluid,
    JointEquality,
    Leg,
    Lined,
    Part,
    SpatialTendon,
    Straight,
    Tendon,
    Unlined,
)

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True, eq=False)
class RowName:
    """One row of the joints: its id, kind, level and coefficients as in `Row`."""

    id: str
    kind: Kind
    cap: float = 0.0
    level: Level = "position"
    eps_n: float = 0.0
    cap_s: float = -1.0


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where bodies, joints and lines stand in the tables, by name.

    Attributes
    ----------
    bodies : dict of str to int
        The ground has the last number.
    joints : dict of str to tuple
        The joint, its number, its first coordinate and its first velocity.
    lines : dict of str to int
        Of tendons and of hinges and sliders.
    """

    bodies: dict[str, int]
    joints: dict[str, tuple[TreeJoint, int, int, int]]
    lines: dict[str, int]

    def body(self, what: str, name: str) -> int:
        """Return the number of a body."""
        return _known(what, name, self.bodies)

    def velocity(self, what: str, name: str) -> int:
        """Return the velocity of a hinge or slider."""
        return _known(what, name, {name: v for name, (one, _, _, v) in self.joints.items() if one.velocities == 1})

    def line(self, what: str, name: str) -> int:
        """Return the number of the line of a joint or tendon."""
        return _known(what, name, self.lines)


def _known(what: str, name: str, known: Mapping[str, Known]) -> Known:
    """Return what has a name; InputError if nothing has."""
    if name not in known:
        raise InputError(what, repr(name), *nearest(name, known))
    return known[name]


def places_of(bodies: Sequence[TreeBody], parts: Sequence[Part], actuators: Sequence[Actuator]) -> Places:
    """Return where everything stands.

    Raises
    ------
    InputError
        Names used twice, a parent that does not come before.
    """
    numbers: dict[str, int] = {}
    joints: dict[str, tuple[TreeJoint, int, int, int]] = {}
    q = v = 0
    for body in bodies:
        if body.name in numbers:
            raise InputError("bodies", f"two called {body.name!r}", "different names", other_name(body.name))
        if body.parent != GROUND and body.parent not in numbers:
            mend = "Bodies come after their parents. " + nearest(body.parent, numbers)[1]
            raise InputError(f"parent of {body.name}", repr(body.parent), "ground or a body before it", mend)
        numbers[body.name] = len(numbers)
        for joint in body.joints:
            if joint.name in joints:
                raise InputError("joints", f"two called {joint.name!r}", "different names", other_name(joint.name))
            joints[joint.name] = joint, len(joints), q, v
            q, v = q + joint.coordinates, v + joint.velocities
    numbers[GROUND] = len(numbers)
    tendons = [_name(part, k) for k, part in enumerate(parts) if isinstance(part, Lined)]
    scalars = [name for name, (joint, *_) in joints.items() if joint.velocities == 1]
    lines = dict(zip(tendons, range(len(tendons)), strict=True))
    first = len(tendons) + sum(isinstance(part, Drive) for part in parts) + len(actuators)
    lines |= {name: first + k for k, name in enumerate(scalars) if name not in lines}
    return Places(numbers, joints, lines)


def forest_of(
    bodies: Sequence[TreeBody], parts: Sequence[Part], actuators: Sequence[Actuator], gravity: Triple, fluid: Fluid
) -> tuple[Forest, Places, list[RowName]]:  # fmt: skip
    """Return the tables, where everything stands in them, and the names of the rows, in the order of ids."""
    places = places_of(bodies, parts, actuators)
    trees = _damped(_trees(bodies, places, gravity, fluid), places, parts)
    trees = _pushed(trees, places, parts)
    rows = sorted(_rows(places, parts), key=lambda row: row[0].id)
    kinds = np.array([(*kind, _shared(trees, kind)) for _, kind, _ in rows], dtype=np.int64).reshape(len(rows), 5)
    numbers = np.array([[*x, *(0.0,) * (7 - len(x))] for _, _, x in rows]).reshape(len(rows), 7)
    forest = Forest(trees, moving_of(trees), _drives(places, trees, parts, actuators), Couplings(kinds, numbers))
    return forest, places, [row for row, _, _ in rows]


def together(bodies: Sequence[TreeBody], fixed: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of bodies, or bodies and obstacles, that do not touch by themselves, their names sorted.

    Bodies without joints are one with their parent. What is one does not touch, nor does it touch what it hangs on;
    but what hangs on the ground may touch its obstacles.
    """
    base: dict[str, str] = {GROUND: GROUND}  # body -> the one that it is a part of
    above: dict[str, str] = {}
    for body in bodies:
        base[body.name] = body.name if body.joints else base[body.parent]
        above[body.name] = base[body.parent]
    off = {(body.name, name) for body in bodies if base[body.name] == GROUND for name in fixed}
    for one in bodies:
        for other in bodies:
            a, b = base[one.name], base[other.name]
            if one.name < other.name and (a == b or above.get(a) == b != GROUND or above.get(b) == a != GROUND):
                off.add((one.name, other.name))
    return frozenset((min(pair), max(pair)) for pair in off)


def _trees(bodies: Sequence[TreeBody], places: Places, gravity: Triple, fluid: Fluid) -> Trees:
    n, joints = len(bodies), [joint for joint, *_ in places.joints.values()]
    table, frames, inertia = np.zeros((n + 1, 5), dtype=np.int64), np.zeros((n, 12)), np.zeros((n, 11))
    box, dofs = np.zeros((n + 1, 12)), []
    table[n] = n, n, 0, 0, -1
    count = 0
    for b, body in enumerate(bodies):
        p = places.bodies[body.parent]
        table[b] = p, b if p == n else table[p, 1], count, len(body.joints), table[p, 4]
        frames[b] = *body.at, *matrix_of(body.turn).T.ravel()
        J = np.array(body.inertia)
        inertia[b] = body.mass, *body.centre, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2], body.lift
        box[b] = box_of(body.mass, J)
        for joint in body.joints:
            q, scalar = places.joints[joint.name][2], joint.velocities == 1
            for _ in range(joint.velocities):
                dofs.append((table[b, 4], b, q if scalar else -1))
                table[b, 4] = len(dofs) - 1
        count += len(body.joints)
    box[n, :2] = fluid.density, fluid.viscosity
    entries = [
        (MOTIONS.index(joint.motion), q, v, _owner(table, k), _aligned(joint.axis))
        for joint, k, q, v in places.joints.values()
    ]
    losses = [(joint.armature, joint.damping) for joint in joints for _ in range(joint.velocities)]
    springs = [[joint.stiffness, *joint.rest, *(0.0,) * (7 - joint.coordinates)] for joint in joints]
    return Trees(
        table, frames, inertia, _whole(entries, 5), _real([(*x.at, *x.axis, x.zero) for x in joints], 7),
        _real(springs, 8), _whole(dofs, 3), _real(losses, 2), box, np.zeros(0, dtype=np.int64), np.zeros((0, 11)),
        np.zeros((0, 5)), np.array(gravity),
    )  # fmt: skip


def _damped(trees: Trees, places: Places, parts: Sequence[Part]) -> Trees:
    """Return trees whose joints have the damping of drives beside their own: steps take it beside the mass."""
    losses = trees.losses.copy()
    for part in (one for one in parts if isinstance(one, Drive)):
        losses[places.velocity("joint of a drive", part.joint), DAMPING] += part.damping
    return trees._replace(losses=losses)


def _pushed(trees: Trees, places: Places, parts: Sequence[Part]) -> Trees:
    """Return trees with their loads and drags, and the shaking of their frame."""
    bodies, pushes = [], []
    shaken = [
        (*(one.amplitude * np.array(one.direction)).tolist(), 2.0 * math.pi * one.frequency, one.phase)
        for one in parts if isinstance(one, Shaking)
    ]  # fmt: skip
    for part in parts:
        if isinstance(part, (Load, Drag)):
            bodies.append(places.body(f"point of a {type(part).__name__}", part.point.body))
            given = (
                (*part.force_xyz, *part.moment, 0.0, 0.0)
                if isinstance(part, Load)
                else (*(0.0,) * 6, part.damping, part.spin_damping)
            )
            pushes.append((*part.point.at, *given))
    return trees._replace(pushed=np.array(bodies, dtype=np.int64), pushes=_real(pushes, 11), shaking=_real(shaken, 5))


def _aligned(axis: Triple) -> int:
    """Return 1 + the number of the coordinate axis that an axis is, less than 0 the other way; 0 if it is none."""
    along = [k for k in range(3) if abs(axis[k]) == 1.0]
    return 0 if np.count_nonzero(axis) != 1 or not along else int(np.sign(axis[along[0]])) * (1 + along[0])


def _owner(table: IntArray, joint: int) -> int:
    """Return the body of a joint."""
    return int(np.flatnonzero((table[:-1, 2] <= joint) & (joint < table[:-1, 2] + table[:-1, 3]))[0])


def _drives(places: Places, trees: Trees, parts: Sequence[Part], actuators: Sequence[Actuator]) -> Drives:
    tendons = [part for part in parts if isinstance(part, Lined)]
    pushing = [part for part in parts if isinstance(part, Drive)]
    named = {one.name: one for one in tendons if isinstance(one, SpatialTendon)}
    legs = [_legs(one, named) for one in (*tendons, *pushing, *actuators)]
    lines = [
        _line(places, trees, one, own)
        for one, (own, _) in zip((*tendons, *pushing, *actuators), legs, strict=True)
    ]  # fmt: skip
    lines += [{v: 1.0} for joint, _, _, v in places.joints.values() if joint.velocities == 1]
    start = np.cumsum([0, *map(len, lines)])
    dof = np.array([d for line in lines for d in line], dtype=np.int64)
    factor = np.array([x for line in lines for x in line.values()], dtype=np.float64)
    limits = [(*_inputs(one), one.force_low, one.force_high) for one in actuators]
    acting = [(*one.gain, *one.bias, *own) for one, own in zip(actuators, limits, strict=True)]
    joints = [joint for joint, *_ in places.joints.values()]
    effort = [(joint.effort_low, joint.effort_high) for joint in joints for _ in range(joint.velocities)]
    springs = [*((*_pull(one), 0.0, 0.0) for one in tendons), *(_spring(places, one) for one in pushing)]
    return Drives(
        start, dof, factor, _real(springs, 6), _real(acting, 10), _real(effort, 2), np.zeros(len(actuators)),
        np.zeros(len(trees.dofs)), np.zeros(len(actuators)), np.full(len(actuators), FREE_SIDE),
        _paths(places, trees, legs, len(lines)),
    )  # fmt: skip


def _line(
    places: Places, trees: Trees, one: Lined | Drive | Actuator, legs: Sequence[Leg]
) -> dict[int, float]:  # fmt: skip
    """Return the velocities of a line and their factors; those of a line through space are put at every place."""
    if isinstance(one, Drive):
        return {places.velocity("joint of a drive", one.joint): 1.0}
    if isinstance(one, (Tendon, Actuator)) and one.factors:
        return _factors(places, one.name, one.factors)
    return dict.fromkeys(_reached(places, trees, legs), 0.0)


def _spring(places: Places, drive: Drive) -> tuple[float, ...]:
    """Return a drive as a tendon, but for its damping: joints have that."""
    winds = float(places.joints[drive.joint][0].motion == "hinge")
    return drive.stiffness, 0.0, drive.target, drive.target, drive.effort + drive.damping * drive.rate, winds


def _name(part: Lined, k: int) -> str:
    """Return the name of the line of the k-th part, which no joint and no other part has."""
    return part.name if isinstance(part, (Tendon, SpatialTendon)) else f"/line{k}"


def _pull(one: Lined) -> tuple[float, float, float, float]:
    """Return stiffness and damping along a line, and the lengths between which it is slack."""
    if isinstance(one, (Rod, String)):
        return 0.0, 0.0, 0.0, 0.0
    return one.stiffness, one.damping, *((one.length, one.length) if isinstance(one, Spring) else one.slack)


def _legs(one: Lined | Drive | Actuator, named: dict[str, SpatialTendon]) -> tuple[tuple[Leg, ...], float]:
    """Return the legs of a line, and how often they count; none of a linear combination of coordinates."""
    if isinstance(one, SpatialTendon):
        return one.legs, 1.0
    if isinstance(one, Straight):
        return (Leg(a=one.a.body, at_a=one.a.at, b=one.b.body, at_b=one.b.at),), 1.0
    if isinstance(one, Actuator) and one.tendon:
        return _known(f"tendon of {one.name}", one.tendon, named).legs, one.gear
    return (), 1.0


def _reached(places: Places, trees: Trees, legs: Sequence[Leg]) -> list[int]:
    """Return the velocities that move what legs run along."""
    found: set[int] = set()
    bodies = [name for leg in legs for name in (leg.a, leg.b, *((leg.around.body,) if leg.around else ()))]
    for b in {places.body("body of a leg", name) for name in bodies}:
        k = int(trees.bodies[b, LAST])
        while k >= 0:
            found.add(k)
            k = int(trees.dofs[k, ABOVE])
    return sorted(found)


def _paths(places: Places, trees: Trees, legs: Sequence[tuple[Sequence[Leg], float]], lines: int) -> Paths:
    start, ends, numbers = [0], [], []
    for own, often in legs:
        for leg in own:
            a, b = (places.body("body of a leg", name) for name in (leg.a, leg.b))
            ring, wound = leg.around, [0.0] * 15
            kind, c = 0, 0
            if ring is not None:
                kind, c = SPHERE if ring.shape == "sphere" else CYLINDER, places.body("body of a Round", ring.body)
                wound = [*ring.at, *matrix_of(ring.turn).T.ravel(), ring.radius, *ring.mark]
            ends.append((a, b, kind, c))
            numbers.append((*leg.at_a, *leg.at_b, often * leg.share, *wound))
        start.append(len(ends))
    start += [len(ends)] * (lines + 1 - len(start))
    nv, nq = len(trees.dofs), len(trees.dofs) + int((trees.joints[:, KIND] >= BALL).sum())
    return Paths(
        np.array(start), _whole(ends, 4), _real(numbers, 22), np.zeros(lines), np.zeros(nv), np.zeros(10), np.zeros(3),
        np.full(nq, np.nan),
    )  # fmt: skip


def _inputs(actuator: Actuator) -> tuple[float, float]:
    """Return the limits of what the force of an actuator sees: its state, if it has one, else what it is told."""
    if actuator.dynamics == "none":
        return actuator.control_low, actuator.control_high
    return actuator.state_low, actuator.state_high


def _factors(places: Places, name: str, factors: Any) -> dict[int, float]:
    """Return factors by velocity."""
    found: dict[int, float] = {}
    for joint, factor in factors:
        v = places.velocity(f"joint of {name}", joint)
        found[v] = found.get(v, 0.0) + factor
    return found


Entry = tuple[RowName, tuple[int, int, int, int], Sequence[float]]


def _rows(places: Places, parts: Sequence[Part]) -> list[Entry]:
    """Return name, kind and numbers of all rows."""
    found: list[Entry] = []
    for joint, number, _, v in places.joints.values():
        if joint.motion == "ball" and joint.limited:
            row = RowName(f"{joint.name}:high", "unilateral")
            found.append((row, (SWING, number, 0, 0), (joint.high, *joint.start)))
        elif joint.limited:
            found += _limits(joint.name, joint.low, joint.high, places.lines[joint.name])
        for k in range(joint.velocities if joint.friction > 0.0 else 0):
            id = f"{joint.name}:friction" + (str(k) if joint.velocities > 1 else "")
            found.append((RowName(id, "dry", joint.friction), (RUB, -1, v + k, 0), ()))
    for k, part in enumerate(parts):
        found += _of_line(places.lines[_name(part, k)], part) if isinstance(part, Lined) else _of_part(places, part)
    return found


def _of_line(line: int, part: Lined) -> list[Entry]:
    """Return the rows of a tendon, a rod or a string, by the number of its line; springs have none."""
    if isinstance(part, Rod):
        return [(RowName(part.id, "bilateral"), (EQUAL, line, -1, 0), (part.length,))]
    if isinstance(part, String):
        return [(RowName(part.id, "unilateral", eps_n=part.eps_n), (TAUT, line, 0, 0), (-1.0, -part.length))]
    if isinstance(part, Spring):
        return []
    rows = _limits(part.name, part.low, part.high, line, ALONG if isinstance(part, Tendon) else TAUT)
    if part.friction > 0.0:
        rows.append((RowName(f"{part.name}:friction", "dry", part.friction), (RUB, line, 0, 0), ()))
    return rows


def _of_part(places: Places, part: Unlined) -> list[Entry]:
    """Return the rows of an equality, of what acts on a joint, or of a closure; forces have none."""
    if isinstance(part, (Drive, Load, Drag, Shaking)):
        return []
    if isinstance(part, (Motor, Gear, JointFriction)):
        return [_paced(places, part)]
    if isinstance(part, Limit):
        return _limits(part.joint, part.low, part.high, places.line("joint of a Limit", part.joint), eps_n=part.eps_n)
    if isinstance(part, JointEquality):
        one = places.line(f"joint of {part.name}", part.one)
        other = places.line(f"other joint of {part.name}", part.other) if part.other else -1
        numbers = (*part.zeros, *part.coefficients)
        return [(RowName(part.name, "bilateral"), (EQUAL, one, other, 0), numbers)]
    return _of_joint(places, part) if isinstance(part, Closing) else _of_connect(places, part)


def _of_connect(places: Places, part: Connect) -> list[Entry]:
    """Return the rows of a closure."""
    a, b = (places.body(f"body of {part.name}", name) for name in (part.a, part.b))
    points = (*part.at_a, *part.at_b)
    found: list[Entry] = [
        (RowName(f"{part.name}:{axis}", "bilateral"), (MEET, a, b, k), points) for k, axis in enumerate("xyz")
    ]
    if part.turn is not None:
        found += [
            (RowName(f"{part.name}:turn_{axis}", "bilateral"), (FACE, a, b, 0), (*part.turn, *unit))
            for axis, unit in zip("xyz", np.eye(3).tolist(), strict=True)
        ]
    if part.axis_a is not None and part.axis_b is not None:
        across = np.linalg.svd(np.array([part.axis_b]))[2][1:]
        found += [
            (RowName(f"{part.name}:turn_{axis}", "bilateral"), (LEAN, a, b, 0), (*part.axis_a, *direction.tolist()))
            for axis, direction in zip("xy", across, strict=True)
        ]
    return found


def _of_joint(places: Places, joint: Closing) -> list[Entry]:
    """Return the rows of a joint that closes a loop: those that bodies have for it, in the axes that they have."""
    a, b = (places.body(f"marker of {joint.name}", end.body) for end in joint.markers)
    at, A, B = (*joint.a.at, *joint.b.at), matrix_of(joint.a.turn).T.tolist(), matrix_of(joint.b.turn).T.tolist()
    found: list[tuple[tuple[int, int, int, int], Sequence[float]]] = [((MEET, a, b, SPACE + k), at) for k in range(3)]
    if isinstance(joint, Slider):
        found = [((PLANE, a, b, 0), (*joint.a.at, *n, float(np.dot(n, joint.b.at)))) for n in B[:2]]
    if isinstance(joint, (Slider, Weld)):
        turn = product(joint.b.turn, conjugate(np.array(joint.a.turn))).tolist()
        found += [((FACE, a, b, 0), (*turn, *B[k])) for k in range(3)]
    elif not isinstance(joint, BallJoint):
        leans = ((A[2], B[0]), (A[2], B[1])) if isinstance(joint, Hinge) else ((A[0], B[1]),)
        found += [((LEAN, a, b, 0), (*of_a, *of_b)) for of_a, of_b in leans]
    return [(RowName(id, "bilateral"), *row) for id, row in zip(joint.ids, found, strict=True)]


def _paced(places: Places, part: Motor | Gear | JointFriction) -> Entry:
    """Return the row of a motor, a gear or dry friction."""
    one, (id,) = places.velocity(f"joint of a {type(part).__name__}", part.joint), part.ids
    if isinstance(part, Gear):
        other = places.velocity("other joint of a Gear", part.other)
        return RowName(id, "bilateral", level="velocity"), (PACE, one, other, 0), (0.0, part.ratio)
    if isinstance(part, JointFriction):
        return RowName(id, "dry", part.cap, cap_s=part.cap_s), (RUB, -1, one, 0), ()
    if part.cap < math.inf:
        return RowName(id, "dry", part.cap), (RUB, -1, one, 0), (part.rate,)
    return RowName(id, "bilateral", level="velocity"), (PACE, one, -1, 0), (part.rate, 0.0)


def _shared(trees: Trees, kind: tuple[int, int, int, int]) -> int:
    """Return the last body on the way to both bodies of a closure, the ground if there is none; -1 of other rows."""
    what, one, other, _ = kind
    if what != MEET:
        return -1
    ground, parents, before = len(trees.inertia), trees.bodies[:, PARENT], {one}
    while one != ground:
        one = int(parents[one])
        before.add(one)
    while other not in before:
        other = int(parents[other])
    return other


def _limits(name: str, low: float, high: float, line: int, what: int = ALONG, eps_n: float = 0.0) -> list[Entry]:
    stops = (("high", high, -1.0), ("low", low, 1.0))
    return [
        (RowName(f"{name}:{side}", "unilateral", eps_n=eps_n), (what, line, 0, 0), (sign, sign * stop))
        for side, stop, sign in stops
        if math.isfinite(stop)
    ]


def _whole(rows: Sequence[Any], columns: int) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def _real(rows: Sequence[Any], columns: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(len(rows), columns)
