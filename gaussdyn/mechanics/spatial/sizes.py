"""A warning where bodies and obstacles differ so much in size that some of them seem to be in another unit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from ..collision.terrain.surfaces import HeightField, Surface

UNITS = 500.0  # sizes that differ by more are warned of
MEND = "Lengths are in m; from a file in millimetres: read_mesh(path, scale=1e-3)."


def warn_of_units(names: Sequence[str], radii: Array, obstacles: Sequence[HalfSpace | Shape | Surface]) -> None:
    """Warn where some lengths seem to be in another unit: of bodies, or of the largest body and obstacle.

    What lies below is often much wider than a body, but hardly as much thicker, unless it is a landscape; small pins
    may bear a large body.

    Parameters
    ----------
    names : sequence of str
        Of the bodies.
    radii : Array, shape (n,)
        Of the balls about the origins of their frames that hold the bodies, m; 0 without shapes.
    obstacles : sequence
    """
    bodies = sorted(
        (float(r), f"{name!r} reaches {r:.3g} m from its middle") for name, r in zip(names, radii, strict=True)
    )
    bodies = [body for body in bodies if body[0] > 0.0]
    if not bodies:
        return
    pairs = [(bodies[-1], bodies[0])]
    sized = [(obstacle.name, _half_sides(obstacle)) for obstacle in obstacles if not isinstance(obstacle, HalfSpace)]
    if sized:
        wide, wide_name = max((float(np.linalg.norm(half)), name) for name, half in sized)
        pairs.append((bodies[-1], (wide, f"{wide_name!r} {wide:.3g} m")))
    lands = {obstacle.name for obstacle in obstacles if isinstance(obstacle, HeightField)}
    if solids := [(float(half.min()), name) for name, half in sized if name not in lands]:
        thick, name = max(solids)
        pairs.append(((thick, f"{name!r} is {2.0 * thick:.3g} m thick"), bodies[-1]))
    for (large, said), (small, of) in pairs:
        if 0.0 < UNITS * small <= large:
            text = f"sizes: {said}, {of}. Is one of them in another unit? {MEND}"
            warnings.warn(text, UserWarning, stacklevel=6)
            return


def _half_sides(shape: Shape | Surface) -> Array:
    """Return half of the sides of the box about a shape, along its axes, shape (3,), m."""
    match shape:
        case Sphere():
            sides = [shape.radius] * 3
        case Capsule():
            sides = [shape.radius, shape.radius, shape.radius + shape.half_length]
        case Box() | Ellipsoid():
            sides = list(shape.half)
        case Cylinder():
            sides = [shape.radius, shape.radius, shape.half_length]
        case ConvexMesh():
            sides = list(0.5 * np.ptp(shape.hull.corners, axis=0))
        case _:
            sides = list(0.5 * np.ptp(shape.corners, axis=0))
    return np.array(sides)
