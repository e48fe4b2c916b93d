"""The side of a cylinder that nearly runs along an edge: both ends of what they share, and where they cross."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder

RADIUS, HALF, REACH = 0.08, 0.1, 3e-3
CORNERS = np.array([[x, y, z] for z in (-1.0, 0.0) for y in (-0.3, 0.3) for x in (-0.3, 0.3)])
TABLES = Box(half=(0.3, 0.3, 0.5), at=(0, 0, -0.5), name="table"), ConvexMesh(vertices=CORNERS, name="table")
OUT = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
POSE = np.zeros(3), np.eye(3)


def touching(table, x, R):
    found = Shapes.of({"b": (Cylinder(radius=RADIUS, half_length=HALF),)}, [table]).find([x], [R], REACH)
    assert len({f.id for f in found}) == len(found)
    return {f.id: f.geometry(*((x, R, *POSE) if f.bodies[0] == "b" else (*POSE, x, R))) for f in found}


def poses(count, rng):
    """Draw poses near the edge x = 0.3: angles between side and edge, and where they cross, or would."""
    for _ in range(count):
        across, y = 10 ** rng.uniform(-6, -1.2), rng.choice([-0.25, 0.0, 0.27]) + rng.uniform(-0.05, 0.05)
        turn = Rotation.from_rotvec(OUT * across) * Rotation.from_euler("x", np.pi / 2)
        lean = Rotation.from_rotvec(np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0) * across * rng.uniform(-0.3, 0.3))
        yield np.array([0.3, y, 0.0]) + (RADIUS + 1e-5) * OUT, (lean * turn).as_matrix()


@pytest.mark.parametrize("table", TABLES, ids=["box", "hull"])
def test_both_ends_of_what_a_side_shares_with_an_edge_are_contacts_wherever_they_cross(table):
    """Each end has the distance of its corner from the axis, or of its rim from the edge but for the tilt's square."""
    for x, R in poses(40, np.random.default_rng(1)):
        found = touching(table, x, R)
        axis, ends = R[:, 2], {}
        for y in (-0.3, 0.3):
            d = x - [0.3, y, 0.0]
            if abs(d @ axis) < HALF:
                ends["table:c"] = np.linalg.norm(np.cross(d, axis)) - RADIUS
        for rim in range(2):
            end = x + (HALF if rim else -HALF) * axis
            if abs(end[1]) < 0.3:
                ends[f"b:rim{rim}/table:e"] = np.hypot(end[0] - 0.3, end[2]) - RADIUS
        assert len(ends) == 2
        for name, gap in ends.items():
            near = [g for key, (g, *_) in found.items() if key.startswith(name)]
            assert len(near) == 1 or gap > 0.9 * REACH, (gap, name, sorted(found))
            for g in near:
                assert g == pytest.approx(gap, abs=0.1 * RADIUS * (1.0 - abs(axis[1])) + 1e-15)
