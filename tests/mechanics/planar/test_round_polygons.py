"""Polygons with round corners: distances by least squares, standing, rolling over a corner, drawings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import examples
from scipy.optimize import minimize

from gaussdyn import MoreauJean, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import HalfPlane, PlanarBody, PlanarSystem
from gaussdyn.mechanics.planar.shapes import Polygon, drawn_corners


def _regular(n, size, radius, lean=0.0):
    angles = lean + 2.0 * np.pi * np.arange(n) / n
    return Polygon(points=[(size * math.cos(a), size * math.sin(a)) for a in angles], radius=radius)


def _distance(one, other):
    """Return the distance of two convex polygons, by quadratic programming over weights of their corners."""
    n, m = len(one), len(other)
    both = np.vstack([one, -other])
    sums = [{"type": "eq", "fun": lambda w, part=part: w[part].sum() - 1.0} for part in (slice(0, n), slice(n, n + m))]
    start = np.concatenate([np.full(n, 1.0 / n), np.full(m, 1.0 / m)])
    found = minimize(lambda w: ((w @ both) ** 2).sum(), start, jac=lambda w: 2.0 * both @ (w @ both),
                     bounds=[(0.0, 1.0)] * (n + m), constraints=sums, method="SLSQP",
                     options={"ftol": 1e-15, "maxiter": 500})  # fmt: skip
    return math.sqrt(found.fun)


def _placed(shape, x, y, angle):
    """Return the corners of a core in the plane."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array(shape.corners) @ np.array([[c, s], [-s, c]]) + (x, y)


@pytest.mark.drawn
def test_the_gap_is_the_distance_of_the_cores_less_both_radii():
    for seed in range(examples(40, fast=10)):
        rng = np.random.default_rng(seed)
        a, b = (_regular(int(rng.integers(3, 7)), 0.5, rng.uniform(0.05, 0.3)) for _ in range(2))
        bodies = [PlanarBody(name=name, mass=1.0, inertia=1.0, shapes=(s,)) for name, s in (("a", a), ("b", b))]
        system, lean, way = PlanarSystem(bodies=bodies), rng.uniform(0, 6), np.array([math.cos(seed), math.sin(seed)])

        def open_by(far, a=a, b=b, lean=lean, way=way):
            return _distance(_placed(a, 0, 0, lean), _placed(b, *(far * way), 1.0)) - a.radius - b.radius

        far = 2.22 - open_by(2.2)
        state = system.state({"a": (0.0, 0.0, lean), "b": (*(far * way), 1.0)})
        rows = system.near(0.0, state.q, state.v, 1.0).rows(0.0, state.q, state.v)  # what may fall 9.81 m
        assert min(row.gap for row in rows) == pytest.approx(open_by(far), abs=1e-7)


def test_a_round_square_stands_on_the_middles_of_its_corners_and_rolls_over_one():
    """It stands until its weight is beyond the middle of a round corner; tilted, it turns about it at a height r."""
    half, r, mass, inertia = 0.4, 0.1, 1.0, 0.1
    square = Polygon(points=[(-half, -half), (half, -half), (half, half), (-half, half)], radius=r)
    body = PlanarBody(name="b", mass=mass, inertia=inertia, shapes=(square,))
    for slope, stands in ((0.99, True), (1.01, False)):
        lean = math.atan(slope * half / (half + r))
        gravity = (9.81 * math.sin(lean), -9.81 * math.cos(lean))
        system = PlanarSystem(
            bodies=[body], obstacles=[HalfPlane(name="floor")], contact=ContactLaw(mu=2.0), gravity=gravity
        )
        run = simulate(system, system.state({"b": (0.0, half + r, 0.0)}), 0.2, stepper=MoreauJean(dt=1e-3))
        assert bool(abs(run["b.angle"][-1]) < 1e-9) == stands
    x, y, angle = (run[f"b.{name}"][-1] for name in ("x", "y", "angle"))
    way = math.hypot(half, half)
    low = math.atan2(-half, half) + angle  # where the middle of the corner is, from the centre
    assert y + way * math.sin(low) == pytest.approx(r, abs=1e-9)
    assert x + way * math.cos(low) == pytest.approx(half - r * angle, abs=1e-5)  # it rolls: its middle goes r times


def test_its_drawing_is_a_smooth_rim():
    shape = _regular(5, 0.5, 0.2)
    rim = np.array(drawn_corners(shape))
    corners = np.array(shape.corners)
    assert np.linalg.norm(rim[:, None] - corners[None], axis=2).min(axis=1) == pytest.approx(0.2)
    assert _regular(4, 1.0, 0.0).corners == drawn_corners(_regular(4, 1.0, 0.0))
    with pytest.raises(InputError, match="radius of a polygon"):
        _regular(4, 1.0, -0.1)
