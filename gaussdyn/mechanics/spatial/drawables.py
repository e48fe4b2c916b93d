"""What a system in space looks like: shapes as plain dictionaries, for the report to draw.

Every dictionary has ``shape`` and ``name``, lengths in m, ``turn`` a unit quaternion (w, x, y, z): ``point`` (at),
``segment`` (ends), ``sphere`` (at, turn, radius), ``capsule`` and ``cylinder`` (at, turn, radius, half_length; along
z), ``box`` and ``ellipsoid`` (at, turn, half), ``solid`` (at, turn, corners, and faces: which corners, counterclockwise
seen from outside; ``ground`` where these are the triangles of a surface), ``plane`` (at, normal). Obstacles that are no
planes have ``still`` besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of, quaternion_of
from ..collision.shapes import Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from ..collision.terrain.surfaces import HeightField, Mesh, Surface
from ..names import GROUND
from .bodies import SpatialBody
from .contacts import Obstacle
from .forces import Spring
from .kinematics import Motions, SpatialMarker
from .links import Link


class Posed(Protocol):
    """Place, shape (3,), and axes, shape (3, 3), of a frame in space."""

    @property
    def x(self) -> Array:
        """Place."""
        ...

    @property
    def R(self) -> Array:
        """Axes."""
        ...


def drawables(
    bodies: Sequence[SpatialBody], obstacles: Sequence[Obstacle], parts: Sequence[Any], motion: Motions
) -> list[dict[str, Any]]:
    """Return the shapes of bodies, obstacles, rods, strings and springs in one pose."""
    shapes = [drawn for body in bodies for drawn in _body(body, motion)]
    shapes += [drawn_obstacle(one, motion.body(getattr(one, "body", GROUND))) for one in obstacles]
    ties = [part for part in parts if isinstance(part, (Link, Spring))]
    return shapes + [_segment(f"{tie.a.label}~{tie.b.label}", (tie.a, tie.b), motion) for tie in ties]


def _body(body: SpatialBody, motion: Motions) -> list[dict[str, Any]]:
    pose = motion.body(body.name)
    if not body.shapes:
        return [{"shape": "point", "name": body.name, "at": pose.x.tolist()}]
    return [drawn_shape(f"{body.name}.{shape.name}" if shape.name else body.name, shape, pose) for shape in body.shapes]


def drawn_obstacle(obstacle: Obstacle, pose: Posed) -> dict[str, Any]:
    """Return an obstacle on a body, or on the ground, in the frame `pose`."""
    if not isinstance(obstacle, HalfSpace):
        return {**drawn_shape(obstacle.name, obstacle, pose), "still": True}
    at = pose.x + pose.R @ np.array(obstacle.point)
    normal = pose.R @ np.array(obstacle.normal)
    return {"shape": "plane", "name": obstacle.name, "at": at.tolist(), "normal": normal.tolist()}


def drawn_shape(name: str, shape: Shape | Surface, pose: Posed) -> dict[str, Any]:
    """Return a shape in the frame `pose`."""
    R: Array = pose.R if isinstance(shape, Sphere) else pose.R @ matrix_of(shape.turn)
    at = pose.x + pose.R @ np.array(shape.at)
    drawn = {"name": name, "at": at.tolist(), "turn": quaternion_of(R).tolist()}
    if isinstance(shape, Sphere):
        return {"shape": "sphere", **drawn, "radius": shape.radius}
    if isinstance(shape, (Capsule, Cylinder)):
        kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
        return {"shape": kind, **drawn, "radius": shape.radius, "half_length": shape.half_length}
    if isinstance(shape, ConvexMesh):
        corners, faces = shape.hull.corners.tolist(), [list(loop) for loop in shape.hull.faces]
        return {"shape": "solid", **drawn, "corners": corners, "faces": faces}
    if isinstance(shape, (Mesh, HeightField)):
        faces = shape.triangles.tolist()
        return {"shape": "solid", **drawn, "corners": shape.corners.tolist(), "faces": faces, "ground": True}
    if isinstance(shape, Ellipsoid):
        return {"shape": "ellipsoid", **drawn, "half": list(shape.half)}
    return {"shape": "box", **drawn, "half": list(shape.half)}


def _segment(name: str, ends: tuple[SpatialMarker, SpatialMarker], motion: Motions) -> dict[str, Any]:
    return {"shape": "segment", "name": name, "ends": [motion(marker).x.tolist() for marker in ends]}
