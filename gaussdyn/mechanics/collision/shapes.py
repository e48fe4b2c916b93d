"""Shapes of bodies in space and the half-spaces they rest on: plain checked values in a body's frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, matrix_of, unit_quaternion
from ...mends import numbers
from ..lengths import check_size, length, points_of
from ..names import GROUND, check_name
from .solid_hull import (
    MOST_CORNERS,
    Polyhedron,
    check_convex,
    hull_of,
    loops_of,
    mass_integrals,
    refuse_corners,
    triangles_of,
)

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sphere:
    """A ball; with radius 0 a body-fixed point.

    Parameters
    ----------
    radius : float
        m, >= 0.
    at : (x, y, z)
        Its centre in the body's frame, from the mass centre, m.
    name : str
        Needed where a body has several shapes.

    Raises
    ------
    InputError
        A negative radius, NaN, an unusable name.
    """

    radius: float
    at: Triple = (0.0, 0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        _name("sphere", self.name)
        object.__setattr__(self, "radius", length("radius of a sphere", self.radius, zero=True))
        object.__setattr__(self, "at", triple("at of a sphere", self.at))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return math.hypot(*self.at) + self.radius


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """All points within `radius` of a segment along the local z axis, from -half_length to half_length.

    Parameters
    ----------
    radius, half_length : float
        m, >= 0 and > 0. With radius 0 a needle.
    at : (x, y, z)
        Its centre in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from the capsule's axes to the body's.
    name : str

    Raises
    ------
    InputError
        A length out of range, a quaternion that is not a unit one, NaN, an unusable name.
    """

    radius: float
    half_length: float
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        _name("capsule", self.name)
        half_length = length("half_length of a capsule", self.half_length)
        object.__setattr__(self, "radius", length("radius of a capsule", self.radius, zero=True))
        object.__setattr__(self, "half_length", half_length)
        object.__setattr__(self, "at", triple("at of a capsule", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a capsule", self.turn))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return math.hypot(*self.at) + self.half_length + self.radius


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangular block.

    Corner number c has the local coordinates +-half, positive in x, y, z where the bits 1, 2, 4 of c are set. Face
    2 k is the negative one of axis k, face 2 k + 1 the positive one. Edges 4 k to 4 k + 3 run along axis k; bits 1
    and 2 say where the next two axes (cyclic) are positive.

    Parameters
    ----------
    half : (a, b, c)
        Half of its sides, m, > 0.
    at : (x, y, z)
        Its centre in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from the box's axes to the body's.
    name : str

    Raises
    ------
    InputError
        A side that is not positive, a quaternion that is not a unit one, NaN, an unusable name.
    """

    half: Triple
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        _name("box", self.name)
        half = triple("half of a box", self.half)
        if min(half) <= 0.0:
            raise InputError(
                "half of a box", half, "three numbers > 0", "They are half of the sides, in m: half=(0.1, 0.1, 0.1)."
            )
        check_size("half of a box", *half)
        object.__setattr__(self, "half", half)
        object.__setattr__(self, "at", triple("at of a box", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a box", self.turn))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return math.hypot(*self.at) + math.hypot(*self.half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ellipsoid:
    """An ellipsoid.

    Parameters
    ----------
    half : (a, b, c)
        Half axes along x, y and z, m, > 0.
    at : (x, y, z)
        Its centre in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from the ellipsoid's axes to the body's.
    name : str

    Raises
    ------
    InputError
        A half axis that is not positive, a quaternion that is not a unit one, NaN, an unusable name.
    """

    half: Triple
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        _name("ellipsoid", self.name)
        half = triple("half of an ellipsoid", self.half)
        if min(half) <= 0.0:
            raise InputError(
                "half of an ellipsoid", half, "three numbers > 0", "They are its half axes, in m: half=(0.1, 0.1, 0.2)."
            )
        check_size("half of an ellipsoid", *half)
        object.__setattr__(self, "half", half)
        object.__setattr__(self, "at", triple("at of an ellipsoid", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of an ellipsoid", self.turn))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return math.hypot(*self.at) + max(self.half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cylinder:
    """A round cylinder along the local z axis, from -half_length to half_length; thin ones are discs and coins.

    Where a cap lies flat it stands on eight points of its rim, the first of them on the local x axis; tilted, on the
    lowest point of the rim.

    Parameters
    ----------
    radius, half_length : float
        m, > 0.
    at : (x, y, z)
        Its centre in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from the cylinder's axes to the body's.
    name : str

    Raises
    ------
    InputError
        A length that is not positive, a quaternion that is not a unit one, NaN, an unusable name.
    """

    radius: float
    half_length: float
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        _name("cylinder", self.name)
        for key in ("radius", "half_length"):
            object.__setattr__(self, key, length(f"{key} of a cylinder", getattr(self, key)))
        object.__setattr__(self, "at", triple("at of a cylinder", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a cylinder", self.turn))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return math.hypot(*self.at) + math.hypot(self.radius, self.half_length)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvexMesh:
    """The convex hull of points: a polyhedron.

    Corners are numbered as the points that are corners of the hull; `hull` holds them, edges and faces.

    Parameters
    ----------
    vertices : array_like, shape (k, 3)
        Points in the shape's axes, m; those inside the hull, or in the middle of a face or edge, are left out.
    faces : sequence of sequences of int, optional
        Corners of every face, counterclockwise seen from outside: only to be checked against the hull.
    at : (x, y, z)
        Where the origin of these axes is in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from the shape's axes to the body's.
    name : str

    Attributes
    ----------
    hull : Polyhedron
        In the shape's axes.
    centre : Array, shape (3,)
        Of its volume, in the shape's axes, m.

    Raises
    ------
    InputError
        Fewer than four points, points in one plane, NaN, sizes that are none of a body, too many corners or faces, an
        unusable name; faces that leave the surface open, are inside out, or make a solid that is not convex.
    """

    vertices: Any
    faces: Any = ()
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""
    hull: Polyhedron = field(init=False, repr=False, compare=False)
    centre: Array = field(init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        what = f"vertices of {self.name or 'a convex mesh'}"
        _name("convex mesh", self.name)
        points = points_of(what, self.vertices)
        hull = hull_of(what, points)
        faces = loops_of(what.replace("vertices", "faces", 1), self.faces)
        if len(hull.corners) > MOST_CORNERS:
            refuse_corners(what, len(points), len(hull.corners))
        if faces:
            check_convex(what.replace("vertices", "faces", 1), points, faces, hull)
        object.__setattr__(self, "faces", faces)
        object.__setattr__(self, "vertices", tuple(map(tuple, points.tolist())))
        object.__setattr__(self, "hull", hull)
        object.__setattr__(self, "centre", mass_integrals(hull.corners, triangles_of(hull.faces))[1])
        object.__setattr__(self, "at", triple("at of a convex mesh", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a convex mesh", self.turn))

    @property
    def reach(self) -> float:
        """Radius of the ball about the origin of the body's frame that holds the shape, m."""
        return float(np.linalg.norm(self.hull.corners @ matrix_of(self.turn).T + self.at, axis=1).max())


Shape = Sphere | Capsule | Box | Cylinder | ConvexMesh | Ellipsoid
SHAPES = "Sphere, Capsule, Box, Cylinder, ConvexMesh or Ellipsoid"


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfSpace:
    """An obstacle that fills one side of a plane.

    Parameters
    ----------
    name : str
    point : (x, y, z)
        A point of the plane, m.
    normal : (x, y, z)
        From the obstacle outwards; scaled to length one.
    body : str
        The body it is fixed to (point and normal then in the body's frame); the ground by default.

    Raises
    ------
    InputError
        A zero normal, NaN, an unusable name.
    """

    name: str
    point: Triple = (0.0, 0.0, 0.0)
    normal: Triple = (0.0, 0.0, 1.0)
    body: str = GROUND

    def __post_init__(self) -> None:
        check_name("name of a half-space", self.name)
        if self.body != GROUND:
            check_name(f"body of {self.name}", self.body)
        object.__setattr__(self, "point", triple(f"point of {self.name}", self.point))
        object.__setattr__(self, "normal", direction(f"normal of {self.name}", self.normal))


def triple(name: str, value: object) -> Triple:
    """Return `value` as three finite floats."""
    x, y, z = vector(name, value, 3).tolist()  # type: ignore[arg-type]
    return x, y, z


def direction(name: str, value: object) -> Triple:
    """Return `value` scaled to length one.

    Raises
    ------
    InputError
        If it is zero or not three finite numbers.
    """
    x, y, z = triple(name, value)
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise InputError(
            name,
            (x, y, z),
            "a direction: three numbers that are not all zero",
            numbers(name, 3),
        )
    return (x, y, z) if abs(length - 1.0) < 1e-15 else (x / length, y / length, z / length)


def _name(kind: str, name: str) -> None:
    if name:
        check_name(f"name of a {kind}", name)
