"""Volume, centre and inertia of homogeneous shapes: closed forms, and exact integrals over polyhedra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.rotations import matrix_of
from .compound import Compound
from .shapes import Capsule, ConvexMesh, Cylinder, Ellipsoid, Shape, Sphere
from .solid_hull import mass_integrals, triangles_of


class Fill(NamedTuple):
    """What a homogeneous body of density one has.

    Attributes
    ----------
    volume : float
        m^3.
    centre : Array, shape (3,)
        Of volume, m.
    spread : Array, shape (3, 3)
        Integral of x x^T about the centre, m^5.
    """

    volume: float
    centre: Array
    spread: Array

    @property
    def inertia(self) -> Array:
        """About the centre, m^5: of density one."""
        return float(np.trace(self.spread)) * np.eye(3) - self.spread


def fill_of(shape: Shape | Compound) -> Fill:
    """Return volume, centre and spread of a shape in the frame of its body."""
    if isinstance(shape, Compound) and shape.surface is None:
        return joined([fill_of(part) for part in shape.shapes])
    own = _own(shape)
    R = np.eye(3) if isinstance(shape, Sphere) else matrix_of(shape.turn)
    return Fill(own.volume, np.array(shape.at) + R @ own.centre, R @ own.spread @ R.T)


def joined(fills: Sequence[Fill]) -> Fill:
    """Return what shapes that do not overlap have together."""
    volume = sum(one.volume for one in fills)
    centre: Array = sum((one.volume * one.centre for one in fills), np.zeros(3)) / volume
    arms = [one.centre - centre for one in fills]
    parts = [one.spread + one.volume * np.outer(arm, arm) for one, arm in zip(fills, arms, strict=True)]
    return Fill(volume, centre, np.sum(parts, axis=0))


def _own(shape: Shape | Compound) -> Fill:
    """Return the same in the axes of the shape."""
    if isinstance(shape, Compound):
        return _inside(shape)
    if isinstance(shape, ConvexMesh):
        return Fill(*mass_integrals(shape.hull.corners, triangles_of(shape.hull.faces)))
    if isinstance(shape, Sphere):
        squares, volume = _ball(shape.radius)
    elif isinstance(shape, Cylinder):
        squares, volume = _rod(shape.radius, shape.half_length)
    elif isinstance(shape, Capsule):
        squares, volume = _pill(shape.radius, shape.half_length)
    elif isinstance(shape, Ellipsoid):
        a, b, c = shape.half
        volume = 4.0 / 3.0 * math.pi * a * b * c
        squares = [volume * x * x / 5.0 for x in shape.half]
    else:
        a, b, c = shape.half
        volume = 8.0 * a * b * c
        squares = [volume * x * x / 3.0 for x in shape.half]
    if volume == 0.0:
        raise InputError(
            "radius", 0.0, "a shape with a volume", "Write radius=0.05, or mass= and inertia= of the body."
        )
    return Fill(volume, np.zeros(3), np.diag(squares))


def _inside(compound: Compound) -> Fill:
    """Return the same of what its surface encloses."""
    surface = compound.surface
    assert surface is not None
    R = matrix_of(surface.turn)
    own = Fill(*mass_integrals(surface.corners, surface.triangles))
    return Fill(own.volume, np.array(surface.at) + R @ own.centre, R @ own.spread @ R.T)


def _ball(r: float) -> tuple[list[float], float]:
    volume = 4.0 / 3.0 * math.pi * r**3
    return [volume * r * r / 5.0] * 3, volume


def _rod(r: float, h: float) -> tuple[list[float], float]:
    volume = 2.0 * math.pi * r * r * h
    return [volume * r * r / 4.0, volume * r * r / 4.0, volume * h * h / 3.0], volume


def _pill(r: float, h: float) -> tuple[list[float], float]:
    """Return the same of a rod with two half balls, whose centres are 3/8 r beyond its ends."""
    (across, _, along), rod = _rod(r, h)
    (cap, _, _), ball = _ball(r)
    return [across + cap, across + cap, along + cap + ball * (h * h + 0.75 * h * r)], rod + ball
