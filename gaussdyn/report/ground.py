"""What lies on the ground of a picture in space: a grid of a round width, and the shadows straight below bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..linalg.rotations import matrix_of

Shape = Mapping[str, Any]
CIRCLE = np.linspace(0.0, 2.0 * np.pi, 49)
SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
LEVEL = 0.1  # least height of the unit normal of what shadows fall on
CELLS = 8  # of a grid from side to side, at least


def round_length(most: float) -> float:
    """Return the longest of 1, 2, 5 times a power of ten that is no longer than `most` > 0."""
    power = float(10.0 ** np.floor(np.log10(most)))
    return max(k * power for k in (1.0, 2.0, 5.0) if k * power <= most)


def along(normal: Array) -> Array:
    """Return two directions across a unit normal, shape (2, 3): the first has no part along the axis nearest to it."""
    first = np.cross(normal, np.roll(np.eye(3)[int(np.argmax(np.abs(normal)))], -1))
    first /= np.linalg.norm(first)
    return np.array([np.cross(first, normal), first])


def square(plane: Shape, middle: Array, half: float) -> Array:
    """Return the corners of a square of a plane about the foot of a point, shape (4, 3), m."""
    foot, axes = _foot(plane, middle)
    return np.array([foot + half * (np.array(signs) @ axes) for signs in ((1, 1), (1, -1), (-1, -1), (-1, 1))])


def grid(plane: Shape, middle: Array, half: float) -> list[Array]:
    """Return the ends (2, 3) of the lines of that square; they stay where they are as the middle moves."""
    (foot, axes), found = _foot(plane, middle), list[Array]()
    width = round_length(2.0 * half / CELLS)
    offset = axes @ (foot - np.array(plane["at"], dtype=np.float64))
    for k in range(2):
        first, last = np.ceil((offset[k] - half) / width), np.floor((offset[k] + half) / width)
        for place in width * np.arange(first, last + 1.0) - offset[k]:
            found.append(foot + place * axes[k] + half * np.array([[-1.0], [1.0]]) * axes[1 - k])
    return found


def shadow(plane: Shape, shape: Shape) -> Array:
    """Return points of a plane whose hull is the shadow of a shape above it, light from above; none elsewhere."""
    normal, at = np.array(plane["normal"], dtype=np.float64), np.array(plane["at"], dtype=np.float64)
    edge = _edge(shape)
    if normal[2] < LEVEL or not len(edge) or (edge.mean(axis=0) - at) @ normal <= 0.0:
        return np.zeros((0, 3))
    return edge - np.outer((edge - at) @ normal / normal[2], [0.0, 0.0, 1.0])


def rim(shape: Shape, across: Array) -> Array:
    """Return the outline of an ellipsoid seen across two directions, rows of (2, 3): its points farthest along each."""
    frame = matrix_of(shape["turn"]) * shape["half"]
    m = (across @ frame).T @ np.stack([np.cos(CIRCLE), np.sin(CIRCLE)])
    found: Array = np.array(shape["at"]) + (frame @ (m / np.linalg.norm(m, axis=0))).T
    return found


def _foot(plane: Shape, middle: Array) -> tuple[Array, Array]:
    normal, at = np.array(plane["normal"], dtype=np.float64), np.array(plane["at"], dtype=np.float64)
    return middle - normal * (normal @ (middle - at)), along(normal)


def _edge(shape: Shape) -> Array:
    """Return points of a shape that hold it as seen from above, shape (m, 3), m; none of what has no width."""
    kind = shape["shape"]
    if kind == "ellipsoid":
        return rim(shape, np.eye(3)[:2])
    if kind not in ("sphere", "capsule", "cylinder", "box", "solid"):
        return np.zeros((0, 3))
    R, at = matrix_of(shape["turn"]), np.array(shape["at"], dtype=np.float64)
    if kind in ("box", "solid"):
        inside = SIGNS * np.array(shape["half"]) if kind == "box" else np.array(shape["corners"])
        return np.asarray(at + inside @ R.T, dtype=np.float64)
    circle = shape["radius"] * np.column_stack([np.cos(CIRCLE), np.sin(CIRCLE), np.zeros_like(CIRCLE)])
    ends = np.outer([-1.0, 1.0], shape.get("half_length", 0.0) * R[:, 2])
    if kind == "cylinder":
        circle = circle @ R.T
    return np.asarray(at + np.vstack([end + circle for end in ends]), dtype=np.float64)
