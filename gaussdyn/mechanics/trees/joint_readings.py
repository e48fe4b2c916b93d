"""Columns of bodies and joints along a run in joint coordinates, the reactions of its joints among them.

A tree holds its joints without reactions. Over a step the bodies say what these were: M (v+ - v) / dt, less their
forces and those of contacts and loops, is a sum of what joints keep and what they leave free, and these span all
motions of the bodies once: one square system, whatever limits, motors and drives do along the free ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross, matrix_of
from ..joints.limits_motors import Part
from ..names import GROUND
from ..spatial.joint_table import Bond
from ..spatial.joints import BallJoint, Joint
from ..spatial.kinematics import Motions
from .joint_coordinates import FREE, BodyMotion, JointCoordinates, Tie

Column = tuple[str, Array]  # unit and one value per saved state


def joint_readings(pair: JointCoordinates, others: Sequence[Bond], run: Any) -> dict[str, Column]:
    """Return the columns that a run of the bodies would have, but for those that the run of the tree has.

    Parameters
    ----------
    pair : JointCoordinates
    others : sequence of joints and parts
        What acts on the bodies besides the tree.
    run : Trajectory
        Of the tree; reactions are means over the step before a saved state, zero in the first one.
    """
    known = pair.bodies.readings()
    heads = [*known.q, *known.v, *((name.replace(":", ".", 1), unit) for name, unit in known.more)]
    kept = [id for tie in pair.ties for id in tie.joint.ids]
    heads += [known.rows[id][1] for id in kept]
    names = {id: run.reaction_names(id) for id in known.rows}
    pushes = {id: np.column_stack([run[name] for name in own]) for id, own in names.items() if own}
    lines = [_line(pair, known, others, run, k, {id: f[k] for id, f in pushes.items()}) for k in range(len(run))]
    values = np.array(lines).reshape(len(run), len(heads))
    found = {name: (unit, np.ascontiguousarray(values[:, i])) for i, (name, unit) in enumerate(heads)}
    return {name: column for name, column in found.items() if name not in run}


def _line(
    pair: JointCoordinates, known: Any, others: Sequence[Bond], run: Any, k: int, forces: Mapping[str, Array]
) -> Array:  # fmt: skip
    """Return the numbers of one saved state; `forces` are those that the run of the tree has, by id."""
    t, q, v = float(run.t[k]), run.q[k], run.v[k]
    here = pair.motion(q)
    speed = here.S @ v
    own = _reactions(pair, others, run, k, here, forces)
    forces = {**forces, **own}
    angles = {name: float(q[pair.system.coordinates(name)][0]) for name in known.winding if _has(pair, name)}
    wound = dict(zip(known.winding, known.angles(here.q, speed)[0].tolist(), strict=True)) | angles
    more = known.read(t, here.q, speed, forces, wound)
    return np.concatenate([here.q, speed, more, [float(x[0]) for x in own.values()]])


def _reactions(
    pair: JointCoordinates, others: Sequence[Bond], run: Any, k: int, here: BodyMotion, forces: Mapping[str, Array]
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
    tied = {tie.joint.name for tie in pair.ties}
    acting: list[Any] = [one for one in others if not (isinstance(one, Part) and set(one.joints) <= tied)]
    acting += [one for one in bodies.joints if isinstance(one, Joint) and one.name not in tied and one not in acting]
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
