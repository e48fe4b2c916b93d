"""An ellipsoid rocks without slip on curved ground: the frequency says both curvatures and the contact's rate."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import solid

HALF = (0.06, 0.05, 0.03)
R = 0.08  # m, of what it stands on
ALONG_Y = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # turns z to -y: a quarter about x
GROUND = {
    "sphere": (Sphere(radius=R, at=(0, 0, -R), name="base"), R),
    "capsule": (Capsule(radius=R, half_length=0.1, turn=ALONG_Y, at=(0, 0, -R), name="base"), R),
    "cylinder": (Cylinder(radius=R, half_length=0.1, turn=ALONG_Y, at=(0, 0, -R), name="base"), R),
    "cap": (Cylinder(radius=R, half_length=0.1, at=(0, 0, -0.1), name="base"), np.inf),
    "box": (Box(half=(0.1, 0.1, 0.1), at=(0, 0, -0.1), name="base"), np.inf),
    "mesh": (ConvexMesh(vertices=[(-1, -1, 0), (2, 0, 0), (-1, 1, 0), (0, 0, -1)], name="base"), np.inf),
    "ellipsoid": (Ellipsoid(half=(0.06, 0.1, 0.03), at=(0, 0, -0.03), name="base"), 0.06**2 / 0.03),
}


@pytest.mark.parametrize("name", GROUND)
def test_small_rocking_has_the_frequency_of_both_curvatures(name):
    """w^2 = g (r R / (r + R) - c) / (k^2 + c^2) about y, r and R the radii of curvature, k that of gyration."""
    ground, radius = GROUND[name]
    a, _, c = HALF
    r = a * a / c
    lever = r if np.isinf(radius) else r * radius / (r + radius)
    omega = np.sqrt(9.81 * (lever - c) / ((a * a + c * c) / 5.0 + c * c))
    system = SpatialSystem(
        bodies=[solid("egg", Ellipsoid(half=HALF), density=1e3)], obstacles=[ground], contact=ContactLaw(mu=5.0)
    )
    start = system.state({"egg": (0, 0, c)}, {"egg": (1e-3 * c, 0, 0, 0, 1e-3, 0)})
    period = 2.0 * np.pi / omega
    run = simulate(system, start, period, stepper=MoreauJean(dt=period / 200))
    angle = 2.0 * run.q[:, 5]
    assert angle.max() == pytest.approx(1e-3 / omega, rel=2e-3)
    assert run.v[-1][4] == pytest.approx(1e-3, rel=2e-3)
    assert np.abs(run.v[:, [1, 3, 5]]).max() < 1e-9
    assert run.statistics["max_penetration_m"] < 1e-10
