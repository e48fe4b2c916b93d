"""Mass, centre and inertia of homogeneous bodies in the plane: closed forms, and polygons with many corners."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.planar import Disc, Polygon, Stadium, box, plate, rectangle


def outline(corners, r, pieces):
    """Return many points on the rim of a convex core with a skin."""
    angles = np.linspace(0.0, 2.0 * np.pi, pieces, endpoint=False)
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.array(corners)[(ways @ np.array(corners).T).argmax(axis=1)] + r * ways


def integrals(points):
    """Return area, centre and second moment about it of a polygon (Green's formulas)."""
    x, y = points.T
    u, v = np.roll(points, -1, axis=0).T
    w = x * v - u * y
    area = w.sum() / 2.0
    centre = np.array([((x + u) * w).sum(), ((y + v) * w).sum()]) / (6.0 * area)
    about = ((x * x + x * u + u * u + y * y + y * v + v * v) * w).sum() / 12.0
    return area, centre, about - area * centre @ centre


@pytest.mark.parametrize("seed", range(6))
def test_round_corners_and_ends_are_those_of_a_polygon_with_ever_more_corners(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, 5))
    corners, r = np.column_stack([np.cos(angles), np.sin(angles)]) + rng.normal(size=2), rng.uniform(0.1, 0.5)
    shape = Polygon(points=corners.tolist(), radius=r) if seed % 2 else Stadium(a=corners[0], b=corners[1], radius=r)
    body = plate("a", shape, density=3.0)
    area, centre, moment = integrals(outline(shape.corners, r, 100_000))
    shift = np.array(shape.corners[0]) - body.shapes[0].corners[0]
    assert [body.mass / 3.0, *shift, body.inertia / 3.0] == pytest.approx([area, *centre, moment], abs=2e-9)


def test_closed_forms():
    whole = plate("a", rectangle(0.4, 0.2), density=10.0)
    same = box("a", mass=0.8, width=0.4, height=0.2)
    assert (whole.mass, whole.inertia) == pytest.approx((same.mass, same.inertia), rel=1e-15)
    coin = plate("a", Disc(radius=0.2, at=(3.0, 4.0)), density=2.0)
    assert (coin.mass, coin.inertia) == pytest.approx((0.08 * math.pi, 0.0016 * math.pi), rel=1e-15)
    assert coin.shapes[0].at == pytest.approx((0.0, 0.0))
    two = plate("a", [Disc(radius=0.1, at=(k, 1.0), name=f"d{k}") for k in (-1, 1)], density=1.0)
    assert two.inertia == pytest.approx(2.0 * 0.01 * math.pi * (1.0 + 0.005), rel=1e-14)
    assert [shape.at for shape in two.shapes] == [(-1.0, 0.0), (1.0, 0.0)]


def test_what_has_no_mass_is_refused():
    for shapes, density, what in (
        (Stadium(a=(0, 0), b=(1, 0)), 1.0, "area"), ((), 1.0, "area"), (Disc(radius=0.1), 0.0, "density"),
        (Disc(radius=0.1), float("nan"), "density"), ("disc", 1.0, "shapes of a"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=what):
            plate("a", shapes, density=density)
