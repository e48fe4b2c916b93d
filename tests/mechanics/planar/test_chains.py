"""Chains of segments as ground: over a level one bodies go as over a plane."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import MoreauJean, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import HalfPlane, PlanarBody, PlanarSystem
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, chain, rectangle

LEVEL = [(-1.0 + 0.25 * k, 0.0) for k in range(17)]
ROUND = Polygon(points=[(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)], radius=0.05)


def _end(shape, ground):
    """Return where a shape of height 0.2 m that slides over ground at 2 m/s, and brakes, comes to."""
    body = PlanarBody(name="b", mass=1.0, inertia=0.1, shapes=(shape,))
    system = PlanarSystem(bodies=[body], obstacles=ground, contact=ContactLaw(mu=0.3), gravity=(0.0, -9.81))
    state = system.state({"b": (0.0, 0.1, 0.0)}, {"b": (2.0, 0.0, 0.0)})
    return simulate(system, state, 0.6, stepper=MoreauJean(dt=1e-3)).q[-1]


@pytest.mark.parametrize("shape", [Disc(radius=0.1), rectangle(0.3, 0.2), ROUND], ids=["disc", "box", "round"])
def test_nothing_catches_at_inner_points_of_a_level_chain(shape):
    end = _end(shape, chain("road", LEVEL))
    assert end[0] > 0.6  # two points on
    np.testing.assert_allclose(end, _end(shape, [HalfPlane(name="floor")]), rtol=0, atol=1e-11)


def test_chains_are_named_and_checked():
    assert [part.name for part in chain("road", LEVEL)][:2] == ["road00", "road01"]
    with pytest.raises(InputError, match="points of road"):
        chain("road", LEVEL[:1])
