"""Columns of bodies and joints along a run in joint coordinates, the reactions of its joints among them.

A tree holds its joints without reactions. Over a step the bodies say what these were: M (v+ - v) / dt, less their
forces and those of contacts and loops, is a sum of what joints keep and what they leave free, and these span all
motions of the bodies once, whatever limits, motors and drives do along the free ones: six numbers for each joint, from
the ends of the tree, whose opposites act on the body before it (`readings_along`), or one square system (`one_by_one`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross, matrix_of
from ..joints.limits_motors import Part
from ..names import GROUND
from ..spatial.joint_series import JointSeries, JointTables
from ..spatial.joints import BallJoint, Joint
from ..spatial.kinematics import Motions, poses_at
from ..spatial.mechanism import has_tables
from .forest_state import ForestSeries
from .joint_coordinates import FREE, BodyMotion, JointCoordinates, Tie

Column = tuple[str, Array, str]  # unit, one value per saved state, and another name that it goes by
AT_ONCE = 2048  # states: no more numbers of all rows are held
MOMENTS = {4: [0], 5: [1, 2], 6: [1, 2, 0]}  # about which axes of the frame contacts of so many components have moments


def joint_readings(pair: JointCoordinates, run: Any) -> dict[str, Column]:
    """Return the columns that a run of the bodies would have, those among them that the run of the tree has, too.

    Parameters
    ----------
    pair : JointCoordinates
    run : Trajectory
        Of the tree; reactions are means over the step before a saved state, zero in the first one.
    """
    known = pair.bodies.readings()
    heads = [*known.q, *known.v, *((name.replace(":", ".", 1), unit) for name, unit in known.more)]
    kept = [id for tie in pair.ties for id in tie.joint.ids]
    heads += [known.rows[id][1] for id in kept]
    acting = dict.fromkeys([*known.rows, *(id for one in pair.bodies.joints for id in one.ids)])
    names = {id: run.reaction_names(id) for id in acting}
    pushes = {id: np.column_stack([run[name] for name in own]) for id, own in names.items() if own}
    along = readings_along if has_tables(pair.bodies) else one_by_one  # parts of classes of your own are asked
    values = along(pair, run, pushes)
    also = {known.rows[id][1][0]: f"{id}.r" for id in kept}
    return {
        name: (unit, np.ascontiguousarray(values[:, i]), also.get(name, "")) for i, (name, unit) in enumerate(heads)
    }


class Lot(NamedTuple):
    """Saved states of a run and those before their steps, as in `Trajectory`, with their contacts."""

    t: Array
    q: Array
    v: Array
    before_t: Array
    before_q: Array
    before_v: Array
    table: Any

    @property
    def middle_t(self) -> Array:
        """The middles of the steps, s."""
        return 0.5 * (self.before_t + self.t)


def readings_along(pair: JointCoordinates, run: Any, pushes: Mapping[str, Array]) -> Array:
    """Return the numbers of `joint_readings` at all states at once, shape (n, columns).

    Parameters
    ----------
    pair : JointCoordinates
        Of a system with tables for all its parts.
    run : Trajectory
    pushes : mapping of str to Array, shape (n, k)
        The reactions that the run has, by id.
    """
    tables, table, found = JointTables.of(pair.bodies), run.table.made(), []
    for k in range(0, len(run), AT_ONCE):
        some = slice(k, k + AT_ONCE)
        t, q, v, before_t, before_q, before_v = (getattr(run, name)[some] for name in Lot._fields[:-1])
        lot = Lot(t, q, v, before_t, before_q, before_v, table.take(some))
        found.append(_readings_of(pair, lot, tables, {id: f[some] for id, f in pushes.items()}))
    return np.concatenate(found)


def _readings_of(
    pair: JointCoordinates, run: Lot, tables: JointTables, pushes: Mapping[str, Array]
) -> Array:  # fmt: skip
    """Return the numbers of a lot of states."""
    known, tree = pair.bodies.joint_table, ForestSeries.of(pair.system.forest)
    number = np.array([pair.system.places.bodies[body.name] for body in pair.bodies.bodies], dtype=np.int64)
    mean = 0.5 * (run.before_v + run.v)
    middle = tree.moved(run.before_q, mean, 0.5 * (run.t - run.before_t))
    (Q, V), (_, V0) = tree.bodies(number, run.q, run.v), tree.bodies(number, run.before_q, run.before_v)
    left = _left(pair, run, (Q, V - V0), tables.forces(run.middle_t, *(there := tree.bodies(number, middle, mean))))
    here, own = tables.at(Q, V), _reactions_along(pair, tables.at(*there), left, pushes)
    forces = {**pushes, **{id: np.where(run.t > run.before_t, r, 0.0)[:, None] for id, r in own.items()}}
    angles = {
        joint.name: run.q[:, pair.system.coordinates(joint.name).start]
        for joint in known.hinges if joint.name in pair.system.places.joints
    }  # fmt: skip
    more = known.columns(pair.bodies.forces).values(here.free, here.along, forces, angles)
    kept = [forces[id] for tie in pair.ties for id in tie.joint.ids]
    return np.column_stack([Q, V, *(np.broadcast_to(x, len(Q)) for x in more), *kept])


def _left(pair: JointCoordinates, run: Lot, moved: tuple[Array, Array], forces: Array) -> Array:
    """Return what joints and rows have to exert on the bodies, (n, 6 m); moved: where they are, what they gained."""
    dt = run.t - run.before_t
    left: Array = _momenta(pair, moved[1]) / np.where(dt > 0.0, dt, 1.0)[:, None]
    return left - forces - _contacts_along(pair, run, moved[0])


def _reactions_along(
    pair: JointCoordinates, joints: JointSeries, left: Array, pushes: Mapping[str, Array]
) -> dict[str, Array]:  # fmt: skip
    """Return the reactions (n,) of the joints of the tree by id; `left` has moments in the axes of the bodies."""
    wrench = left.reshape(len(left), -1, 6)
    wrench[:, :, 3:] = (joints.turns.R[:, :-1] @ wrench[:, :, 3:, None])[..., 0]
    wrench = np.concatenate([wrench, np.zeros((len(left), 1, 6))], axis=1)  # the ground takes any
    for id in (id for one in _acting(pair) for id in one.ids):
        for a, b, unit in joints.of_row(id) if id in pushes else ():
            wrench[:, a] -= pushes[id] * unit[:, :6]
            wrench[:, b] -= pushes[id] * unit[:, 6:]
    return _from_the_ends(pair, joints, wrench)


def _momenta(pair: JointCoordinates, v: Array) -> Array:
    """Return M v of the bodies, shape (n, 6 m): each by itself, so that the bits of a state do not depend on others."""
    bodies, moved = pair.bodies.bodies, v.reshape(len(v), -1, 6)
    inertia, mass = np.array([body.inertia for body in bodies]), np.array([[body.mass] for body in bodies])
    turning = (inertia @ moved[:, :, 3:, None])[..., 0]
    return np.concatenate([mass * moved[:, :, :3], turning], axis=2).reshape(v.shape)


def _acting(pair: JointCoordinates) -> list[Any]:
    """Return what acts on the bodies beside the joints of the tree, and along no motion that these leave free."""
    tied = {tie.joint.name for tie in pair.ties}
    return [
        one for one in pair.bodies.joints
        if not (set(one.joints) <= tied if isinstance(one, Part) else isinstance(one, Joint) and one.name in tied)
    ]  # fmt: skip


def _from_the_ends(pair: JointCoordinates, joints: JointSeries, wrench: Array) -> dict[str, Array]:
    """Return the reactions (n,) of the joints of the tree by id, from what is left for them to exert, (n, b + 1, 6)."""
    found: dict[str, Array] = {}
    for tie in reversed(pair.ties):
        every = joints.all_of(tie.joint)
        first, second = every[..., :6], every[..., 6:]
        on_child, on_parent = (second, first) if tie.turned else (first, second)
        child, parent = joints.body(tie.child), joints.body(tie.parent)
        r: Array = np.linalg.solve(on_child.transpose(0, 2, 1), wrench[:, child, :, None]).astype(np.float64)
        wrench[:, parent] -= (on_parent.transpose(0, 2, 1) @ r)[..., 0]
        found |= {id: r[:, i, 0] for i, id in enumerate(tie.joint.ids)}
    return found


def _contacts_along(pair: JointCoordinates, run: Lot, Q: Array) -> Array:
    """Return the forces of contacts on the bodies, shape (n, 6 m), which are at Q, shape (n, 7 m)."""
    place, table = pair.bodies.layout.place, run.table
    x, R = poses_at(Q)
    f = np.zeros((len(Q), len(place), 6))
    lines = np.flatnonzero(~np.isnan(table.frame[:, 0, 0]))
    state = np.repeat(np.arange(len(Q)), np.diff(table.offsets))[lines]
    frame, r, size = table.frame[lines], table.reaction[lines], table.size[lines]
    force, turning = (r[:, None, :3] @ frame)[:, 0], np.zeros((len(lines), 3))
    for n in {*MOMENTS} & {*size.tolist()}:
        own, axes = size == n, MOMENTS[n]
        turning[own] = (r[own, None, 3:n] @ frame[own][:, axes])[:, 0]
    for side, sign in enumerate((1.0, -1.0)):
        names = [pair_of[side].partition(".")[0] for pair_of in table.bodies]
        body = np.array([place.get(name, -1) if name != GROUND else -1 for name in names], dtype=np.int64)
        k = body[table.index[lines]] if len(lines) else np.zeros(0, dtype=np.int64)
        on = np.flatnonzero(k >= 0)
        at = state[on], k[on]
        moment = np.cross(table.point[lines][on] - x[at], force[on]) + turning[on]
        pushed = np.concatenate([force[on], (moment[:, None] @ R[at])[:, 0]], axis=1)
        np.add.at(f, at, sign * pushed)
    return f.reshape(len(Q), -1)


def one_by_one(pair: JointCoordinates, run: Any, pushes: Mapping[str, Array]) -> Array:
    """Return what `readings_along` does, asking all parts at every state."""
    known = pair.bodies.readings()
    lines = [_line(pair, known, run, k, {id: f[k] for id, f in pushes.items()}) for k in range(len(run))]
    return np.array(lines).reshape(len(run), -1)


def _line(
    pair: JointCoordinates, known: Any, run: Any, k: int, forces: Mapping[str, Array]
) -> Array:  # fmt: skip
    """Return the numbers of one saved state; `forces` are those that the run of the tree has, by id."""
    t, q, v = float(run.t[k]), run.q[k], run.v[k]
    here = pair.motion(q)
    speed = here.S @ v
    own = _reactions(pair, run, k, here, forces)
    forces = {**forces, **own}
    angles = {name: float(q[pair.system.coordinates(name)][0]) for name in known.winding if _has(pair, name)}
    wound = dict(zip(known.winding, known.angles(here.q, speed)[0].tolist(), strict=True)) | angles
    more = known.read(t, here.q, speed, forces, wound)
    return np.concatenate([here.q, speed, more, [float(x[0]) for x in own.values()]])


def _reactions(
    pair: JointCoordinates, run: Any, k: int, here: BodyMotion, forces: Mapping[str, Array]
) -> dict[str, Array]:  # fmt: skip
    """Return the mean reactions of the joints of the tree over the step that ended in saved state k, by id."""
    kept, dt = [id for tie in pair.ties for id in tie.joint.ids], float(run.t[k] - run.before_t[k])
    if not dt > 0.0:
        return {id: np.zeros(1) for id in kept}
    mean, bodies = 0.5 * (run.before_v[k] + run.v[k]), pair.bodies
    middle = pair.motion(pair.system.move(run.before_q[k], mean, 0.5 * dt))
    t, speed = 0.5 * float(run.before_t[k] + run.t[k]), middle.S @ mean
    motion = Motions(bodies.layout, t, middle.q, speed)
    change = here.S @ run.v[k] - pair.motion(run.before_q[k]).S @ run.before_v[k]
    left = bodies.layout.mass @ change / dt - bodies.force(t, middle.q, speed)
    left -= _of_contacts(pair, run, k, here.q.reshape(-1, 7))
    acting = _acting(pair)
    for row in (row for one in acting for row in one.rows(_free(pair, motion) if isinstance(one, Part) else motion)):
        left -= row.J.T @ forces.get(row.id, np.zeros(len(row.J)))
    keeps, leaves = _keeps(pair, motion), _leaves(pair, motion)
    found = np.linalg.solve(np.vstack([keeps, leaves]).T, left)
    return {id: found[i : i + 1] for i, id in enumerate(kept)}


def _free(pair: JointCoordinates, motion: Motions) -> Any:
    return lambda joint, middle=0.0: pair.bodies.joint_table.free(motion, joint, middle)


def _has(pair: JointCoordinates, name: str) -> bool:
    return name in pair.system.places.joints


def _keeps(pair: JointCoordinates, motion: Motions) -> Array:
    """Return the equations that the joints of the tree keep, per velocity of the bodies."""
    rows = [row.J for tie in pair.ties for row in tie.joint.rows(motion)]
    return np.vstack([np.zeros((0, pair.bodies.nv)), *rows])


def _leaves(pair: JointCoordinates, motion: Motions) -> Array:
    """Return the motions that they leave free, and those of free bodies."""
    parts = [np.zeros((0, pair.bodies.nv))]
    for tie in pair.ties:
        parts += [_turning(tie, motion)] if isinstance(tie.joint, BallJoint) else []
        parts += [] if isinstance(tie.joint, BallJoint) else [x.J[None] for x in tie.joint.free_motions(motion)]
    for k, body in enumerate(pair.bodies.bodies):
        if _has(pair, body.name + FREE):
            parts.append(np.eye(pair.bodies.nv)[6 * k : 6 * k + 6])
    return np.vstack(parts)


def _turning(tie: Tie, motion: Motions) -> Array:
    """Return the turning of one marker against the other, in axes of space."""
    found: Array = motion(tie.joint.a).turn - motion(tie.joint.b).turn
    return found


def _of_contacts(pair: JointCoordinates, run: Any, k: int, where: Array) -> Array:
    """Return the forces of contacts on the bodies, shape (6 n,), which are at `where`, shape (n, 7)."""
    f = np.zeros(pair.bodies.nv)
    place = pair.bodies.layout.place
    for touch in run.contacts(k):
        if touch.force is None or touch.point is None:
            continue
        turning = _moment(touch)
        for sign, name in zip((1.0, -1.0), touch.between, strict=True):
            body = name.partition(".")[0]
            if body != GROUND and body in place:
                x, R = where[place[body], :3], matrix_of(where[place[body], 3:])
                at = slice(6 * place[body], 6 * place[body] + 6)
                moment = R.T @ (cross(touch.point - x, touch.force) + turning)
                f[at] += sign * np.concatenate([touch.force, moment])
    return f


def _moment(touch: Any) -> Array:
    """Return the moment of a contact with rolling or torsional friction, in space."""
    own, frame = touch.reaction[3:], touch.frame
    if len(own) == 0:
        return np.zeros(3)
    axes = {1: frame[:1], 2: frame[1:], 3: frame[[1, 2, 0]]}[len(own)]
    found: Array = own @ axes
    return found
