"""The side of a cylinder that nearly runs along an edge: both ends of what they share, and where they cross."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.features import LINE_LINE, Feature
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder

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


def segments_apart(p, e, reach, b, u, half):
    """Return the distance of two segments, from a fine grid and bounds that narrow."""
    low, high = -reach, reach
    for _ in range(60):
        s = np.linspace(low, high, 9)
        q = p + s[:, None] * e
        t = np.clip((q - b) @ u, -half, half)
        d = np.linalg.norm(q - b - t[:, None] * u, axis=1)
        k = int(d.argmin())
        low, high = s[max(k - 1, 0)], s[min(k + 1, 8)]
    return float(d.min())


def crossings(count, rng):
    """Draw poses in which side and edge cross in the midst of what they share, and the angle between them."""
    tipped = np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0)
    for _ in range(count):
        sine = 10 ** rng.uniform(-3.5, -1.5)
        lean = Rotation.from_rotvec(tipped * sine**2 * rng.uniform(-0.05, 0.05) / RADIUS)
        turn = lean * Rotation.from_rotvec(OUT * sine) * Rotation.from_euler("x", np.pi / 2)
        yield np.array([0.3, rng.uniform(-0.1, 0.1), 0.0]) + (RADIUS + 1e-5) * OUT, turn.as_matrix(), sine


@pytest.mark.parametrize("angle", [0.0999999, 0.1000001, 0.4, 1.5])
def test_beyond_an_end_the_gap_is_that_of_the_end_at_every_angle(angle):
    """Of the axis of a capsule and an edge, whether they nearly run along each other or not: it jumps at no angle."""
    rng, half = np.random.default_rng(3), 0.3
    data = np.array([0, 0, 0, 0, 0, -1, RADIUS, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, HALF, half], dtype=float)
    one = Feature(id="b:axis/table:e", kind=LINE_LINE, bodies=("b", "table"), data=data)
    for beyond in rng.uniform(-1.8, 1.8, 12):
        R = Rotation.from_euler("zx", [rng.uniform(-0.02, 0.02), angle - np.pi / 2]).as_matrix()
        x = np.array([RADIUS + 1e-4, 0.0, 0.0]) + beyond * HALF * R[:, 2] + [0.0, rng.uniform(-0.1, 0.1), 0.0]
        apart = segments_apart(x, R[:, 2], HALF, np.zeros(3), np.array([0.0, 1.0, 0.0]), half)
        assert one.geometry(x, R, *POSE)[0] == pytest.approx(apart - RADIUS, abs=1e-13)


@pytest.mark.parametrize("shape", [Cylinder, Capsule])
@pytest.mark.parametrize("table", TABLES, ids=["box", "hull"])
def test_the_crossing_of_a_side_and_an_edge_ends_where_these_end(shape, table):
    """Tipped so that lines without ends would cross far outside: the gap is that of the ends, and moves as they do.

    The gap is the distance of two segments; a cylinder has its rim there, as near to second order in the angle.
    """
    rng, looked = np.random.default_rng(2), 0
    shapes = Shapes.of({"b": (shape(radius=RADIUS, half_length=HALF),)}, [table])
    for x, R, sine in crossings(30, rng):
        for one in shapes.find([x], [R], REACH):
            if one.kind != LINE_LINE:
                continue
            for tip in (0.0, *rng.uniform(-0.02, 0.02, 6)):
                Q = Rotation.from_rotvec(tip * np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0)).as_matrix() @ R
                gap = one.geometry(*((x, Q, *POSE) if one.bodies[0] == "b" else (*POSE, x, Q)))[0]
                apart = segments_apart(x, Q[:, 2], HALF, np.array([0.3, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.3)
                slant = 2.0 * (abs(tip) + sine) ** 2 * RADIUS if shape is Cylinder else 0.0
                assert -1e-14 <= gap - (apart - RADIUS) <= slant + 1e-14
                looked += 1
    assert looked > 100
