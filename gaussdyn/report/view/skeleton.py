"""What holds bodies in space together, as shapes to draw, and where their common mass centre is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.spatial.joints import Joint
from ...mechanics.spatial.kinematics import Motions
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.system import System


def skeleton(system: System, q: Array) -> tuple[list[dict[str, Any]], list[float] | None]:
    """Return the joints of a system in one pose, and its mass centre (x, y, z), m.

    Joints are dictionaries with ``shape`` = joint, ``name``, ``kind`` (the class or motion), ``at``, m, and ``axis``,
    a unit vector. Trees have segments from joint to joint besides, for bodies that have no shape to be seen by.
    Systems that are neither bodies in space nor trees have no joints and None.
    """
    if isinstance(system, SpatialSystem):
        pair = getattr(system, "pair", None)  # of a system in joint coordinates
        return _of_bodies(system, q) if pair is None else _of_bodies(pair.bodies, pair.motion(q).q)
    from ...mechanics.trees.system import TreeSystem

    return _of_trees(system, q) if isinstance(system, TreeSystem) else ([], None)


def _of_bodies(system: SpatialSystem, q: Array) -> tuple[list[dict[str, Any]], list[float]]:
    motion = Motions(system.layout, 0.0, q, np.zeros(system.nv))
    joints = [one for one in system.joints if isinstance(one, Joint)]
    found = [_drawn(one.name, type(one).__name__.lower(), motion(one.a).x, motion(one.a).R[:, 2]) for one in joints]
    masses = np.array([body.mass for body in system.bodies])
    return found, (masses @ q.reshape(-1, 7)[:, :3] / masses.sum()).tolist()


def _of_trees(system: Any, q: Array) -> tuple[list[dict[str, Any]], list[float]]:
    from ...mechanics.trees.forest_state import ForestState

    state = ForestState.at(system.forest, q)
    frames = [state.frame(k) for k in range(len(system.bodies))]
    found = [
        _drawn(joint.name, joint.motion, frame.x + frame.R @ joint.at, frame.R @ joint.axis)
        for body, frame in zip(system.bodies, frames, strict=True)
        for joint in body.joints
        if joint.motion != "free"
    ]
    masses = np.array([body.mass for body in system.bodies])
    centres = [frame.x + frame.R @ body.centre for body, frame in zip(system.bodies, frames, strict=True)]
    return found + _bones(system, frames), (masses @ np.array(centres) / masses.sum()).tolist()


def _bones(system: Any, frames: list[Any]) -> list[dict[str, Any]]:
    """Return segments from the joint of every body to those that hang on it, or to its shapes where none does."""
    anchors = {
        body.name: frame.x + frame.R @ (body.joints[0].at if body.joints else (0.0, 0.0, 0.0))
        for body, frame in zip(system.bodies, frames, strict=True)
    }
    parents = {body.parent for body in system.bodies}
    ties = [(body.parent, body.name, anchors[body.name]) for body in system.bodies if body.parent in anchors]
    ties += [
        (body.name, shape.name, frame.x + frame.R @ shape.at)
        for body, frame in zip(system.bodies, frames, strict=True)
        if body.name not in parents and body.parent in anchors
        for shape in body.shapes
    ]
    return [
        {"shape": "segment", "name": f"{one}~{other}", "ends": [anchors[one].tolist(), end.tolist()]}
        for one, other, end in ties
    ]


def _drawn(name: str, kind: str, at: Array, axis: Array) -> dict[str, Any]:
    return {"shape": "joint", "name": name, "kind": kind, "at": at.tolist(), "axis": axis.tolist()}
