"""Rigid bodies in space: masses, inertias and shapes.

Coordinates of a body are (x, y, z) of its mass centre, m, and the unit quaternion (qw, qx, qy, qz) that turns body axes
into space; its velocity is (vx, vy, vz) in space, m/s, and (wx, wy, wz) in body axes, rad/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, matrix, scalar, vector
from ...errors import InputError
from ..collision.compound import Compound, flattened
from ..collision.mass import fill_of, joined
from ..collision.shapes import SHAPES, Box, Capsule, Shape, Sphere, Triple
from ..names import check_name

Moments = tuple[Triple, Triple, Triple]
ROUNDED = 1e-12  # relative; a disc has I1 + I2 = I3 exactly, but for rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialBody:
    """A rigid body with a frame in its mass centre.

    Parameters
    ----------
    name : str
    mass : float
        kg, > 0.
    inertia : array_like, shape (3,) or (3, 3)
        About the mass centre in body axes, kg m^2: the moments about x, y and z, or the whole matrix.
    shapes : sequence of shapes, see `collision.shapes`, or Compound
        What it touches others with; several need different names. Of a compound it keeps the
        parts. Without shapes it touches nothing.

    Raises
    ------
    InputError
        Mass not positive; an inertia that is not symmetric positive definite, or that no mass distribution has
        (I1 + I2 < I3); an unusable name; two shapes of one name.
    """

    name: str
    mass: float
    inertia: Any
    shapes: Sequence[Any] = ()

    def __post_init__(self) -> None:
        check_name("name of a body", self.name)
        shapes = flattened(self.shapes if isinstance(self.shapes, Sequence) else (self.shapes,))
        _check_shapes(self.name, shapes)
        object.__setattr__(self, "mass", scalar(f"mass of {self.name}", self.mass, low=0.0, open_low=True))
        object.__setattr__(self, "inertia", _moments(f"inertia of {self.name}", self.inertia))
        object.__setattr__(self, "shapes", shapes)

    @property
    def radius(self) -> float:
        """Of the ball about the mass centre that holds all shapes, m."""
        return max((shape.reach for shape in self.shapes), default=0.0)


def ball(name: str, *, mass: float, radius: float) -> SpatialBody:
    """Return a homogeneous ball: inertia 2/5 m r^2."""
    r, m = _size(f"radius of {name}", radius), scalar(f"mass of {name}", mass)
    return SpatialBody(name=name, mass=mass, inertia=[0.4 * m * r * r] * 3, shapes=(Sphere(radius=r),))


def brick(name: str, *, mass: float, half: ArrayLike) -> SpatialBody:
    """Return a homogeneous box with half sides (a, b, c), m: inertia m (b^2 + c^2) / 3 about x, and so on."""
    a, b, c = (_size(f"half of {name}", x) for x in vector(f"half of {name}", half, 3).tolist())
    third = scalar(f"mass of {name}", mass) / 3.0
    inertia = [third * (b * b + c * c), third * (a * a + c * c), third * (a * a + b * b)]
    return SpatialBody(name=name, mass=mass, inertia=inertia, shapes=(Box(half=(a, b, c)),))


def pill(name: str, *, mass: float, radius: float, half_length: float) -> SpatialBody:
    """Return a homogeneous capsule along z: a cylinder of length 2 half_length between two half balls, m."""
    r, h = _size(f"radius of {name}", radius), _size(f"half_length of {name}", half_length)
    m = scalar(f"mass of {name}", mass)
    cylinder = m * h / (h + 2.0 * r / 3.0)
    caps = m - cylinder
    along = cylinder * r * r / 2.0 + 0.4 * caps * r * r
    across = cylinder * (r * r / 4.0 + h * h / 3.0) + caps * (0.4 * r * r + h * h + 0.75 * h * r)
    return SpatialBody(
        name=name, mass=mass, inertia=[across, across, along], shapes=(Capsule(radius=r, half_length=h),)
    )


def solid(name: str, shapes: Shape | Compound | Sequence[Shape | Compound], *, density: float) -> SpatialBody:
    """Return a homogeneous body made of shapes: their mass and inertia, with its frame moved into the mass centre.

    Parameters
    ----------
    name : str
    shapes : shape, Compound, or sequence of these
        In any frame with the axes of the body; they are moved so that its origin is the mass centre. Where they overlap
        the mass counts twice.
    density : float
        kg/m^3, > 0.

    Raises
    ------
    InputError
        A density that is not positive; a shape without volume.
    """
    parts = tuple(shapes) if isinstance(shapes, Sequence) else (shapes,)
    _check_shapes(name, flattened(parts))
    rho = scalar(f"density of {name}", density, low=0.0, open_low=True)
    if not parts:
        raise InputError(f"shapes of {name}", "none", "at least one shape", "Write shapes=[Sphere(radius=0.05)].")
    whole = joined([fill_of(shape) for shape in parts])
    moved = [replace(shape, at=tuple((np.array(shape.at) - whole.centre).tolist())) for shape in parts]
    return SpatialBody(name=name, mass=rho * whole.volume, inertia=rho * whole.inertia, shapes=moved)


def _size(name: str, value: float) -> float:
    return scalar(name, value, low=0.0, open_low=True)


def _check_shapes(name: str, shapes: tuple[Any, ...]) -> None:
    """Raise InputError unless these are shapes with different names."""
    for shape in shapes:
        if not isinstance(shape, Shape):
            mend = "Ground of triangles is an obstacle; a body is made of convex parts: ConvexMesh, or decomposed(...)."
            raise InputError(f"shapes of {name}", repr(shape), SHAPES, mend)
    names = [shape.name for shape in shapes]
    if len(set(names)) < len(names):
        raise InputError(
            f"shapes of {name}", f"names {names}", "different names", 'Give each shape a name: name="left".'
        )


def _moments(name: str, given: Any) -> Moments:
    """Return the inertia as a matrix; raise InputError unless some rigid body has it."""
    values = np.asarray(given, dtype=object)
    if values.ndim == 2:
        I = matrix(name, given, 3, 3)
    else:
        I = np.diag(vector(name, given, 3))
    if np.abs(I - I.T).max() > ROUNDED * np.abs(I).max():
        raise InputError(name, I.tolist(), "a symmetric matrix", "Write inertia=0.5 * (I + I.T).")
    I = 0.5 * (I + I.T)
    diagonal = not (I - np.diag(np.diag(I))).any()
    principal = np.asarray(np.diag(I) if diagonal else np.linalg.eigvalsh(I), dtype=np.float64)
    names = ("Ixx", "Iyy", "Izz") if diagonal else ("I1", "I2", "I3")
    _check_principal(name, principal, names)
    a, b, c = (tuple(row) for row in I.tolist())
    return a, b, c


def _check_principal(name: str, principal: Array, names: tuple[str, str, str]) -> None:
    """Raise InputError unless the principal moments are positive and none exceeds the sum of the others."""
    shown = ", ".join(f"{axis} = {x:.6g}" for axis, x in zip(names, principal, strict=True))
    if principal.min() <= 0.0:
        low = names[int(principal.argmin())]
        mend = f"{low} <= 0: give the body some thickness about that axis: inertia=(1e-3, 1e-3, 1e-3)."
        raise InputError(name, shown, "positive moments of inertia (kg m^2)", mend)
    k = int(principal.argmax())
    others = [axis for axis in names if axis != names[k]]
    if 2.0 * principal[k] > principal.sum() * (1.0 + ROUNDED):
        shown += f", too large by {2.0 * principal[k] - principal.sum():.3g}"
        text = f"{' + '.join(others)} >= {names[k]}, which every mass distribution obeys"
        raise InputError(name, shown, text, "Compare with brick(...), ball(...) or pill(...).")
