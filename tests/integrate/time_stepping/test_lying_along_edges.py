"""Cylinders that are set down along the edge of a table, all but parallel to it: a line of contact, crossing or not."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.shapes import Box, Cylinder
from gaussdyn.mechanics.spatial import solid
from tests.evidence import examples

CYLINDER = Cylinder(radius=0.1, half_length=0.15)
TABLE = Box(half=(0.3, 0.25, 0.2), name="table")


@pytest.mark.drawn
def test_a_cylinder_that_rolls_off_an_edge_along_it_goes_on_and_overlaps_nowhere():
    """At angles of 1e-7 to 0.1 rad: 38 of 100 from 1e-3 rad on stopped in the position projection, 18 below."""
    system = SpatialSystem(bodies=[solid("b", CYLINDER, density=1000.0)], obstacles=[TABLE], contact=ContactLaw(mu=0.5))
    rng = np.random.default_rng(0)
    for k in range(examples(200, fast=4)):
        turn = Rotation.from_rotvec(rng.normal(size=3) * 10 ** rng.uniform(-7, -1))
        beyond = rng.uniform(0.0, 0.02)
        turn = np.roll((turn * Rotation.from_euler("x", np.pi / 2)).as_quat(), 1)
        start = system.state({"b": (0.3 + beyond, 0.195, 0.2 + np.sqrt(0.01 - beyond**2) + 1e-4, *turn)})
        run = simulate(system, start, 0.06, stepper=MoreauJean(dt=1e-3), project=True)
        deepest = min(system.distances(q, 0.05).get(("b", "table"), 1.0) for q in run.q[::4])
        assert run.status == "COMPLETED", (k, run.stop)
        assert deepest > -1e-9, k
