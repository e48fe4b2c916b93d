"""Shapes in space as a camera sees them: planar shapes that `pictures` can draw, the farthest first.

The camera is parallel (no perspective), looks down from the front right, and keeps z upright.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..linalg.rotations import matrix_of
from .ground import CIRCLE, grid, rim, shadow, square

Shape = Mapping[str, Any]
Seen = tuple[int, float, dict[str, Any]]  # layer, height towards the camera, planar shape
PLANE, GROUND, BODY = range(3)  # layers, drawn one after the other: the ground never hides what is on it
AZIMUTH, ELEVATION = np.deg2rad(-60.0), np.deg2rad(20.0)
FLAT = ("disc", "polygon", "halfplane")  # already planar
FACED = ("box", "solid", "cylinder")  # drawn face by face
UNIT = 1.0  # half the side of the ground where nothing has an extent, m
ROUND = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])


def view() -> Array:
    """Return the directions right, up and towards the camera, rows of a rotation (3, 3)."""
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    towards = np.array([np.cos(AZIMUTH) * np.cos(ELEVATION), np.sin(AZIMUTH) * np.cos(ELEVATION), np.sin(ELEVATION)])
    return np.array([right, np.cross(towards, right), towards])


def seen(shapes: Sequence[Shape], unit: float = UNIT) -> list[dict[str, Any]]:
    """Return the shapes of one pose as planar shapes, numbered by their bodies; those of planar systems as they are.

    `unit` is half the side of the ground below bodies without extent, m.
    """
    if not any(_in_space(shape) for shape in shapes):
        return [dict(shape) for shape in shapes]
    middle, half = _size(shapes)
    size = middle, half or unit
    found = [
        flat for shape in shapes for flat in (_faces(shape) if shape["shape"] in FACED else [_flattened(shape, size)])
    ]
    bodies = list(dict.fromkeys(body_of(shape) for shape in shapes))  # in an order that no pose changes
    looks = {
        shape.get("name", ""): {key: shape[key] for key in ("still", "colour") if shape.get(key)} for shape in shapes
    }
    ordered = [flat for *_, flat in sorted(found, key=lambda one: one[:2])]
    return [{**flat, "number": bodies.index(body_of(flat)), **looks[flat["name"]]} for flat in ordered]


def body_of(shape: Shape) -> str:
    """Return the name of the body of a shape, which its own name begins with."""
    return str(shape.get("name", "")).partition(".")[0]


def seen_in_turn(poses: Sequence[Sequence[Shape]]) -> list[list[dict[str, Any]]]:
    """Return the poses of a motion as planar shapes, with what lies on the ground.

    Below points the ground is as large as the motion, or as high.
    """
    every = [shape for pose in poses for shape in pose if _in_space(shape)]
    middle, half = _size(every)
    planes = [shape for shape in every if shape["shape"] == "plane"]
    heights = [abs(float(np.dot(shape["normal"], middle - shape["at"]))) for shape in planes]
    return [_furnished(pose, max([half, *heights]) or UNIT) for pose in poses]


def from_space(flat: Sequence[Shape]) -> bool:
    """Return whether planar shapes are what the camera sees of shapes in space."""
    return any("number" in shape for shape in flat)


def _furnished(shapes: Sequence[Shape], unit: float) -> list[dict[str, Any]]:
    """Return what is seen, and between the ground and what stands on it grids and shadows."""
    flat = seen(shapes, unit)
    if not from_space(flat):
        return flat
    below, (middle, half) = sum(bool(one.get("ground")) for one in flat), _size(shapes)
    return [*flat[:below], *_on_ground(shapes, (middle, half or unit)), *flat[below:]]


def _on_ground(shapes: Sequence[Shape], size: tuple[Array, float]) -> list[dict[str, Any]]:
    """Return the grids of all planes, and the shadows of bodies on them."""
    found = list[dict[str, Any]]()
    for plane in (shape for shape in shapes if shape["shape"] == "plane" and _ground(shape, size)):
        common = {"name": plane.get("name", ""), "ground": True}
        for ends in grid(plane, *size):
            found.append({"shape": "segment", "ends": (ends @ view().T)[:, :2].tolist(), **common})
        for points in (shadow(plane, shape) for shape in shapes if not shape.get("still") and "ground" not in shape):
            if len(points):
                found.append({"shape": "polygon", "points": _hull(points @ view().T), "shadow": True, **common})
    return found


def _in_space(shape: Shape) -> bool:
    if shape["shape"] in FLAT:
        return False
    return len(np.atleast_1d(shape.get("at", shape.get("ends", [[0.0, 0.0]])[0]))) == 3


def _flattened(shape: Shape, size: tuple[Array, float]) -> Seen:
    """Return the layer, the height towards the camera and the planar shape."""
    kind, name = shape["shape"], shape.get("name", "")
    if kind == "segment":
        ends = np.array(shape["ends"]) @ view().T
        return BODY, float(ends[:, 2].mean()), {"shape": "segment", "name": name, "ends": ends[:, :2].tolist()}
    if kind == "plane":
        return PLANE, 0.0, {"shape": "polygon", "name": name, "points": _ground(shape, size), "ground": True}
    at = view() @ np.array(shape["at"])
    if kind == "sphere":
        flat = {"shape": "disc", "at": at[:2].tolist(), "radius": shape["radius"], "angle": _mark(shape)}
    elif kind == "capsule":
        flat = {"shape": "polygon", "points": _pill(shape)}
    elif kind == "ellipsoid":
        flat = {"shape": "polygon", "points": _outline(shape)}
    else:
        flat = {"shape": "point", "at": at[:2].tolist()}
    return BODY, float(at[2]), {"name": name, **flat}


def _faces(shape: Shape) -> list[Seen]:
    """Return the faces of a box, polyhedron or cylinder that look towards the camera, and the side of a cylinder."""
    R, at, found = matrix_of(shape["turn"]), view()[2] @ np.array(shape["at"]), []
    for corners in LOOPS[shape["shape"]](shape, view()[2] @ R):
        flat = (np.array(shape["at"]) + corners @ R.T) @ view().T
        polygon = {"shape": "polygon", "name": shape.get("name", ""), "points": flat[:, :2].tolist()}
        found.append((_layer(shape), float(flat[:, 2].mean() if "ground" in shape else at), polygon))
    return found


def _layer(shape: Shape) -> int:
    return GROUND if "ground" in shape else BODY


def _box_loops(shape: Shape, towards: Array) -> list[Array]:
    """Return the corners of the faces that look towards the camera, in the axes of the shape."""
    return [np.insert(ROUND, k, np.sign(towards[k]) or -1.0, axis=1) * np.array(shape["half"]) for k in range(3)]


def _solid_loops(shape: Shape, towards: Array) -> list[Array]:
    corners = np.array(shape["corners"])
    loops = [corners[loop] for loop in shape["faces"]]
    return [loop for loop in loops if np.cross(loop[:-1] - loop[0], loop[1:] - loop[0]).sum(axis=0) @ towards > 0.0]


def _cylinder_loops(shape: Shape, towards: Array) -> list[Array]:
    """Return the half of the side that looks towards the camera, and the cap in front."""
    h = (shape["half_length"] if towards[2] > 0.0 else -shape["half_length"]) * np.ones_like(CIRCLE)
    near = np.arctan2(towards[1], towards[0]) + CIRCLE / 2.0 - np.pi / 2.0
    rims = [shape["radius"] * np.column_stack([np.cos(a), np.sin(a)]) for a in (near, CIRCLE)]
    front, back = np.column_stack([rims[0], h]), np.column_stack([rims[0], -h])
    return [np.vstack([front, back[::-1]]), np.column_stack([rims[1], h])]


LOOPS = {"box": _box_loops, "solid": _solid_loops, "cylinder": _cylinder_loops}


def _mark(shape: Shape) -> float:
    """Return the angle of a radius that turns with a sphere."""
    x, y, _ = view() @ matrix_of(shape["turn"])[:, 0]
    return float(np.arctan2(y, x))


def _pill(shape: Shape) -> list[list[float]]:
    axis = matrix_of(shape["turn"])[:, 2] * shape["half_length"]
    ends = (np.array([shape["at"] + axis, shape["at"] - axis]) @ view().T)[:, :2]
    rim = shape["radius"] * np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], axis=1)
    return _hull(np.vstack([ends[0] + rim, ends[1] + rim]))


def _outline(shape: Shape) -> list[list[float]]:
    """Return the outline of an ellipsoid in the picture."""
    points: list[list[float]] = (rim(shape, view()[:2]) @ view().T)[:, :2].tolist()
    return points


def _hull(points: Array) -> list[list[float]]:
    """Return the corners of the convex hull of points in the picture, in order; of points in a line its ends."""
    from scipy.spatial import ConvexHull, QhullError

    flat = points[:, :2]
    try:
        order = ConvexHull(flat).vertices
    except QhullError:
        order = np.lexsort(flat.T)[[0, -1]]
    corners: list[list[float]] = flat[order].tolist()
    return corners


def _ground(shape: Shape, size: tuple[Array, float]) -> list[list[float]]:
    """Return a square of the plane below the scene."""
    corners: list[list[float]] = (square(shape, *size) @ view().T)[:, :2].tolist()
    return corners if abs(view()[2] @ np.array(shape["normal"])) > 1e-6 else []


def _size(shapes: Sequence[Shape]) -> tuple[Array, float]:
    """Return the middle of all bodies, and a half side that holds them, m; 0 without extent."""
    points = np.vstack([_span(shape) for shape in shapes if shape["shape"] != "plane"] or [np.zeros((1, 3))])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = max((_reach(shape) for shape in shapes if "ground" not in shape), default=0.0)
    return (low + high) / 2.0, 1.3 * (float((high - low).max()) / 2.0 + margin)


def _span(shape: Shape) -> Array:
    """Return points between which a shape is, shape (m, 3), m."""
    if "corners" in shape:
        corners = np.array(shape["at"] + np.array(shape["corners"]) @ matrix_of(shape["turn"]).T)
        return np.array([corners.min(axis=0), corners.max(axis=0)])
    places = np.atleast_2d(shape.get("at", shape.get("ends")))
    return np.vstack([places - _reach(shape), places + _reach(shape)])


def _reach(shape: Shape) -> float:
    """Return how far a shape goes from its place, or the middle of its corners, along its axes, m."""
    if "corners" in shape:
        return float(np.ptp(shape["corners"], axis=0).max()) / 2.0
    halves = max(np.max(shape.get("half", 0.0)), shape.get("half_length", 0.0))
    return float(halves) + float(shape.get("radius", 0.0))
