"""Ground made of triangles: meshes and height fields, plain checked values in space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._show import brief
from ....arrays import Array, IntArray, matrix, vector
from ....errors import InputError
from ....linalg.rotations import IDENTITY, unit_quaternion
from ...lengths import check_size, points_of
from ...names import check_name
from ..shapes import Quaternion, Triple, triple
from ..solid_hull import mass_integrals
from .surface_tables import edges_of, planes_of

MOST = 2_000_000  # triangles of a surface
THIN = 1e-12  # of the square of the size: a triangle with less area is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """An obstacle made of triangles: open like a floor, or closed like a rock; only its front can be touched.

    What is in one plane is one face: nothing catches at edges within it, nor at edges in a hollow. A moving body is
    made of convex parts instead, one `ConvexMesh` each.

    Parameters
    ----------
    vertices : array_like, shape (k, 3)
        m.
    faces : array_like of int, shape (F, 3)
        Three vertices each, counterclockwise seen from the front.
    at : (x, y, z)
        Where the origin of these axes is, m.
    turn : (w, x, y, z)
        Unit quaternion from the axes of the mesh to those of space.
    name : str

    Attributes
    ----------
    corners : Array, shape (V, 3)
        The vertices that faces use, m.
    triangles : IntArray, shape (F, 3)
        Their numbers.

    Raises
    ------
    InputError
        NaN, numbers of no vertex, a triangle without area, triangles that are turned against their neighbours, three at
        one edge, a closed surface that is inside out, too many triangles, an unusable name.
    """

    vertices: Any
    faces: Any
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""
    corners: Array = field(init=False, repr=False, compare=False)
    triangles: IntArray = field(init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        called = _called(self)
        points, faces = points_of(f"vertices of {called}", self.vertices), _numbers(self)
        if faces.min() < 0 or faces.max() >= len(points):
            raise InputError(
                f"faces of {called}",
                f"vertex {int(faces.min() if faces.min() < 0 else faces.max())}",
                f"numbers of the {len(points)} vertices, from 0",
                "Count from 0: faces = faces - faces.min().",
            )
        used = np.bincount(faces.ravel(), minlength=len(points)) > 0
        corners, triangles = points[used], (np.cumsum(used) - 1)[faces]
        check_surface(called, corners, triangles)
        object.__setattr__(self, "vertices", _tuples(points))
        object.__setattr__(self, "faces", _tuples(faces))
        _place(self, corners, triangles)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeightField:
    """Ground whose height is given over a grid; every cell is two triangles.

    Parameters
    ----------
    heights : array_like, shape (m, n)
        m; heights[i, j] is that of the point (j dx, i dy) of the grid.
    spacing : (dx, dy), or float
        Of the grid, m, > 0; one number for both.
    at : (x, y, z)
        Where the origin of the grid is, m.
    turn : (w, x, y, z)
        Unit quaternion from the axes of the grid to those of space.
    name : str

    Attributes
    ----------
    corners, triangles
        As those of `Mesh`.

    Raises
    ------
    InputError
        NaN, fewer than two rows or columns, a spacing that is not positive, too many cells, an unusable name.
    """

    heights: Any
    spacing: tuple[float, float] | float
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""
    corners: Array = field(init=False, repr=False, compare=False)
    triangles: IntArray = field(init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        called = _called(self)
        z = matrix(f"heights of {called}", self.heights)
        spacing = (self.spacing, self.spacing) if isinstance(self.spacing, (int, float)) else self.spacing
        dx, dy = vector(f"spacing of {called}", spacing, 2).tolist()
        if min(z.shape) < 2 or min(dx, dy) <= 0.0:
            given = f"{z.shape[0]} by {z.shape[1]} heights, spacing {dx:g}, {dy:g} m"
            raise InputError(
                f"heights of {called}",
                given,
                "two rows and columns or more, and a spacing > 0",
                "Write heights=numpy.zeros((10, 10)), spacing=(0.1, 0.1).",
            )
        check_size(f"spacing of {called}", dx, dy)
        check_size(f"heights of {called}", *np.abs(z).max(axis=0).tolist())
        _check_count(called, 2 * (z.shape[0] - 1) * (z.shape[1] - 1))
        object.__setattr__(self, "heights", _tuples(z))
        object.__setattr__(self, "spacing", (dx, dy))
        x, y = np.meshgrid(dx * np.arange(z.shape[1]), dy * np.arange(z.shape[0]))
        _place(self, np.column_stack([x.ravel(), y.ravel(), z.ravel()]), _cells(*z.shape))


Surface = Mesh | HeightField


def centre_of_box(surface: Surface) -> Array:
    """Return the middle of the box along its axes that holds a surface, in its axes, m."""
    middle: Array = 0.5 * (surface.corners.min(axis=0) + surface.corners.max(axis=0))
    return middle


def check_surface(name: str, corners: Array, triangles: IntArray) -> None:
    """Raise InputError unless triangles are a surface that is seen from its front.

    Raises
    ------
    InputError
        Triangles without area, turned against each other, three at one edge; a closed surface that is inside out.
    """
    size = float(np.ptp(corners, axis=0).max())
    normals, _ = planes_of(corners, triangles)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    if area.min() <= THIN * size * size or not normals.any(axis=1).all():
        worst = int(area.argmin())
        raise InputError(
            f"faces of {name}",
            f"triangle {worst} without area",
            "triangles",
            f"Leave it out: numpy.delete(faces, {worst}, axis=0).",
        )
    sides = np.sort(triangles.ravel() * len(corners) + np.roll(triangles, -1, axis=1).ravel())
    if (sides[1:] == sides[:-1]).any():
        mend = "Turn them all counterclockwise seen from the front; at an edge two may meet: faces[k] = faces[k][::-1]."
        raise InputError(f"faces of {name}", "triangles turned against each other", "one front for all", mend)
    closed = bool((edges_of(triangles)[:, 3] >= 0).all())
    if closed and mass_integrals(corners, triangles)[0] < 0.0:
        mend = "Reverse the order of the corners of every triangle: faces[:, ::-1]."
        raise InputError(f"faces of {name}", "a closed surface that is inside out", "its front outside", mend)


def _called(surface: Surface) -> str:
    """Return what messages call a surface."""
    return surface.name or ("a mesh" if isinstance(surface, Mesh) else "a height field")


def _tuples(rows: Array | IntArray) -> tuple[tuple[Any, ...], ...]:
    """Return rows as tuples of numbers; a third of the time of a tuple of each list, with a million rows."""
    return tuple(zip(*rows.T.tolist(), strict=True))


def _numbers(mesh: Mesh) -> IntArray:
    try:
        numbers = np.asarray(mesh.faces)
        with np.errstate(invalid="ignore"):
            given = numbers.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        numbers = given = np.zeros(0, dtype=np.int64)
    if numbers.dtype.kind not in "iu" and (given != numbers).any():
        mend = "Count vertices from 0: faces=[(0, 1, 2), (0, 2, 3)]."
        raise InputError(f"faces of {_called(mesh)}", "numbers that are not whole", "numbers of vertices", mend)
    if given.ndim != 2 or given.shape[1:] != (3,) or not len(given):
        mend = "Split faces with more corners into triangles: faces=[(0, 1, 2), (0, 2, 3)] for (0, 1, 2, 3)."
        said = f"shape {np.shape(given)}"
        raise InputError(f"faces of {_called(mesh)}", said, "shape (F, 3): three vertices each", mend)
    _check_count(_called(mesh), len(given))
    return given


def _check_count(name: str, count: int) -> None:
    if count > MOST:
        mend = "Make it coarser: trimesh.Trimesh.simplify_quadric_decimation(mesh)."
        raise InputError(f"faces of {name}", f"{count} triangles", f"at most {MOST}", mend)


def _cells(rows: int, columns: int) -> IntArray:
    """Return two triangles for every cell of a grid of points numbered row by row."""
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.column_stack([first, first + 1, first + columns + 1])
    upper = np.column_stack([first, first + columns + 1, first + columns])
    return np.stack([lower, upper], axis=1).reshape(-1, 3)


def _place(surface: Surface, corners: Array, triangles: IntArray) -> None:
    if surface.name:
        check_name("name of a surface", surface.name)
    object.__setattr__(surface, "corners", np.ascontiguousarray(corners))
    object.__setattr__(surface, "triangles", triangles.astype(np.int64))
    object.__setattr__(surface, "at", triple(f"at of {_called(surface)}", surface.at))
    object.__setattr__(surface, "turn", unit_quaternion(f"turn of {_called(surface)}", surface.turn))
