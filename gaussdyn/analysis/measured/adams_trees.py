"""The ADAMS cases in joint coordinates: one body of a tree, without rows for its joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of, quaternion_of
from ...mechanics.spatial.joints import Hinge
from ...mechanics.spatial.kinematics import Motions
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from ...mechanics.trees.bodies import TreeBody, TreeJoint
from ...mechanics.trees.forest_state import ForestState
from ...mechanics.trees.system import TreeSystem
from .adams_systems import BODY


def tree_of(case: Mapping[str, Any], bodies: SpatialSystem, start: State) -> tuple[TreeSystem, State] | None:
    """Return the tree that moves as the body of a case, and its start, where all coordinates of joints are zero.

    A line of constant length is two hinges at the ground and a ball at the body; one that stays in a plane is one hinge
    less. None of springs between points, and of those of hinges that harden: they are no joints of trees.
    """
    if float(case.get("rotational_stiffness2", 0.0)) != 0.0 or str(case["kind"]).startswith("spring"):
        return None
    x, R = start.q[:3], matrix_of(start.q[3:])
    turn = tuple((start.q[3:] / np.linalg.norm(start.q[3:])).tolist())
    inertia: Any = np.diag(np.array(case["inertia_body"], dtype=float))
    body = TreeBody(
        name=BODY, at=tuple(x.tolist()), turn=turn, joints=_joints(case, x, R, _angle(bodies, start)),
        mass=float(case["mass"]), inertia=inertia,
    )  # fmt: skip
    tree = TreeSystem(bodies=[body], gravity=tuple(np.array(case["gravity"], dtype=float).tolist()))
    state = tree.state()
    v = np.linalg.lstsq(_jacobian(tree, state.q), np.r_[start.v[:3], R @ start.v[3:]], rcond=None)[0]
    return tree, State(t=0.0, q=state.q, v=np.asarray(v))


def _joints(case: Mapping[str, Any], x: Array, R: Array, angle: float) -> tuple[TreeJoint, ...]:
    """Return the joints one after the other, in the frame of the body as it starts."""
    kind = str(case["kind"]).replace(":", " ").replace(",", " ").split()[0]
    marker: Any = tuple(np.array(case["marker_body"], dtype=float).tolist())
    if "ground_point" in case:
        return _line(case, x, R, marker)
    if kind == "spherical":
        return (TreeJoint(name="ball", motion="ball", at=marker),)
    axis = tuple((R.T @ matrix_of(np.array(case["joint_quaternion"], dtype=float))[:, 2]).tolist())
    slide = TreeJoint(name="slide", motion="slide", axis=axis)
    if kind == "prismatic":
        return (slide,)
    stiffness, damping = (float(case.get(f"rotational_{key}", 0.0)) for key in ("stiffness", "damping"))
    hinge = TreeJoint(
        name="hinge", axis=axis, at=marker, zero=angle, rest=(0.0,), stiffness=stiffness, damping=damping
    )  # fmt: skip
    return (hinge,) if kind == "revolute" else (slide, hinge)


def _line(case: Mapping[str, Any], x: Array, R: Array, marker: Any) -> tuple[TreeJoint, ...]:
    """Return what turns a line about its point on the ground, and the ball at its other end."""
    anchor: Any = tuple((R.T @ (np.array(case["ground_point"], dtype=float) - x)).tolist())
    line = np.array(marker) - np.array(anchor)
    if "axis_ground" in case:
        axes = [R.T @ np.array(case["axis_ground"], dtype=float)]
    else:
        fall = np.cross(line, R.T @ np.array(case["gravity"], dtype=float))  # the line must not come to lie along it
        first = fall if fall.any() else np.cross(line, np.eye(3)[int(np.argmin(np.abs(line)))])
        axes = [first, np.cross(line, first)]
    hinges = [TreeJoint(name=f"line{k}", axis=tuple(axis.tolist()), at=anchor) for k, axis in enumerate(axes)]
    return (*hinges, TreeJoint(name="ball", motion="ball", at=marker))


def _angle(bodies: SpatialSystem, start: State) -> float:
    """Return the angle of the hinge at the start; 0 without one."""
    motion = Motions(bodies.layout, start.t, start.q, start.v)
    hinges = [one for one in bodies.joints if isinstance(one, Hinge)]
    return float(hinges[0].free_motions(motion)[0].value) if hinges else 0.0


def _jacobian(tree: TreeSystem, q: Array) -> Array:
    """Return velocity and angular velocity in space per velocity of the tree, shape (6, nv)."""
    return np.vstack(tree.jacobian(q, BODY))


def of_body(tree: TreeSystem, state: State, a: Array) -> tuple[Array, Array, Array]:
    """Return place and quaternion (7,), velocities (6,) and accelerations (6,) in space."""
    here = ForestState.at(tree.forest, state.q, state.v)
    k, moving = tree.places.body("body", BODY), here.bodies()
    J, bias = _jacobian(tree, state.q), np.r_[moving.drift[k], here.placed.moving.bias[k, :3]]
    return np.r_[moving.x[k], quaternion_of(moving.R[k])], J @ state.v, J @ a + bias
