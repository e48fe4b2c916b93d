"""A tilted cylinder whose lowest line leaves a face beside its lower rim: where it does it is no lower than the rim."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.contact.snapshot import rows_of
from gaussdyn.mechanics.spatial import ConvexMesh, Cylinder, SpatialSystem, solid

RADIUS, HALF = 0.1, 0.3
CORNERS = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.4, 0.0)]


@pytest.fixture(scope="module")
def system():
    roll = solid("roll", Cylinder(radius=RADIUS, half_length=HALF), density=1000.0)
    return SpatialSystem(bodies=[roll], obstacles=[ConvexMesh(name="table", vertices=CORNERS)])


def poses(count, rng):
    """Draw poses whose lower rim is over the face near its border y = 0.2, its lowest point 10 um deep."""
    for _ in range(count):
        turn = Rotation.from_euler("ZYZ", [0.0, np.pi / 2 + rng.uniform(1e-4, 0.09), rng.uniform(-3, 3)])
        yaw = rng.uniform(0.1, 0.9) + np.pi
        turn = Rotation.from_rotvec([0, 0, yaw]) * turn
        e = turn.apply([0.0, 0.0, 1.0])
        spoke = np.array([0.0, 0.0, 1.0]) - e[2] * e
        spoke *= -RADIUS / np.linalg.norm(spoke)
        low = np.array([rng.uniform(-0.1, 0.1), 0.2 - 10 ** rng.uniform(-6, -3), -1e-5])
        yield low - spoke - HALF * e, turn, spoke


def test_a_side_that_leaves_a_face_is_as_high_there_as_its_lowest_line(system):
    seen = 0
    for x, turn, spoke in poses(200, np.random.default_rng(3)):
        w, e = turn.as_quat(), turn.apply([0.0, 0.0, 1.0])
        start = system.state({"roll": (*x, w[3], *w[:3])})
        near = system.near(0.0, start.q, start.v, 1e-3)
        for row in rows_of(near, 0.0, start.q, start.v):
            if "/table:r" not in row.id:
                continue
            seen += 1
            along = (0.2 - (x + spoke)[1]) / e[1]  # to where the lowest line is over the border
            assert abs(along) <= HALF
            assert row.point[1] == pytest.approx(0.2, abs=1e-14)
            assert row.gap == pytest.approx((x + spoke + along * e)[2], abs=1e-14)
            assert row.gap >= -1e-5 - 1e-14
    assert seen > 50


def test_pinned_its_rate_is_that_of_its_gap(system):
    rng, h = np.random.default_rng(4), 1e-5
    for x, turn, _ in poses(40, rng):
        w, v = turn.as_quat(), rng.normal(size=6)
        q = system.state({"roll": (*x, w[3], *w[:3])}).q
        near = system.near(0.0, q, np.zeros(6), 1e-3).pinned()
        before, now, after = (
            {row.id: row for row in rows_of(near, 0.0, system.move(q, v, s), v) if "/table:r" in row.id}
            for s in (-h, 0.0, h)
        )
        for key, row in now.items():
            assert row.rate[0] == pytest.approx((after[key].gap - before[key].gap) / (2 * h), abs=1e-9)
            assert row.drift == pytest.approx((after[key].rate - before[key].rate) / (2 * h), abs=1e-7)
