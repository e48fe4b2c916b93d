"""The rim of a cap on an edge that passes under it: two contacts, normal to rim and edge, however flat it is."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.rim_kinematics import LEVEL_LINE
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder

RADIUS, HALF = 0.08, 0.1
CORNERS = np.array([[x, y, z] for z in (-1.0, 0.0) for y in (-0.3, 0.3) for x in (-0.3, 0.3)])
TABLES = Box(half=(0.3, 0.3, 0.5), at=(0, 0, -0.5), name="table"), ConvexMesh(vertices=CORNERS, name="table")
TILTS = 0.0, 1e-15, -1e-12, 1e-9, -1e-7, 1e-6, -1e-5, 1e-3, -1e-2
POSE = np.zeros(3), np.eye(3)


def tipped(tilt, turn=0.3):
    """Return the pose of a cylinder over the edge x = 0.3 of a table, tipped by an angle across the edge."""
    R = (Rotation.from_rotvec([tilt, 0, 0]) * Rotation.from_rotvec([0, 0, turn])).as_matrix()
    return np.array([0.27, 0.01, HALF + 1e-4]), R


def crossings(table, x, R, reach=0.02):
    found = Shapes.of({"b": (Cylinder(radius=RADIUS, half_length=HALF),)}, [table]).find([x], [R], reach)
    return {f.id: f.geometry(x, R, *POSE) for f in found if ":x" in f.id}


def exactly(x, R, side):
    """Return gap and normal where the lower rim crosses the edge on one side of its middle, with forty digits."""
    with mpmath.workdps(40):
        R, x = mpmath.matrix(R.tolist()), mpmath.matrix(x.tolist())

        def way(angle):
            """Return the way from the nearest point of the edge, and the direction along the rim."""
            p = x + R * mpmath.matrix([RADIUS * mpmath.cos(angle), RADIUS * mpmath.sin(angle), -HALF])
            return p - mpmath.matrix([0.3, p[1], 0]), R * mpmath.matrix([-mpmath.sin(angle), mpmath.cos(angle), 0])

        def slope(angle):
            d, t = way(angle)
            return d[0] * t[0] + d[2] * t[2]

        edge = mpmath.atan2(side * mpmath.sqrt(RADIUS**2 - 0.03**2), 0.03) - mpmath.atan2(R[1, 0], R[0, 0])
        d, t = way(mpmath.findroot(slope, edge))
        n = mpmath.matrix([t[2], 0, -t[0]]) / mpmath.sqrt(t[0] ** 2 + t[2] ** 2)
        n *= mpmath.sign(n[2])
        return float((d.T * n)[0]), np.array([float(k) for k in n])


@pytest.mark.parametrize("table", TABLES, ids=["box", "hull"])
def test_both_crossings_are_contacts_however_a_cap_is_tipped(table):
    for tilt in TILTS:
        x, R = tipped(tilt)
        found = crossings(table, x, R)
        assert len(found) == 2, tilt
        for key, (gap, n, point) in found.items():
            expected, normal = exactly(x, R, 1.0 if point[1] > 0.01 else -1.0)
            if RADIUS * abs(tilt) < LEVEL_LINE:  # no gap tells that it is tipped: the normal is that of the cap
                normal = R[:, 2] * [1.0, 0.0, 1.0]
            assert gap == pytest.approx(expected, abs=1e-16), (tilt, key)
            assert n == pytest.approx(normal, abs=1e-14), (tilt, key)


def test_crossings_keep_their_names_and_are_smooth_as_a_cap_turns_through_an_edge():
    """Fourth differences of gaps along a motion that tips the cap from one crossing to the other."""
    h, gaps = 1e-3, []
    for k in range(-8, 9):
        x, R = tipped(k * h, turn=0.3 + 0.2 * k * h)
        found = crossings(TABLES[0], x, R)
        gaps.append([found[key][0] for key in sorted(found)])
    assert len({len(gap) for gap in gaps}) == 1
    lowest = np.argmin(gaps, axis=1)
    assert {lowest[0], lowest[-1]} == {0, 1}
    assert np.abs(np.diff(gaps, n=4, axis=0)).max() < 10.0 * RADIUS * h**4


@pytest.mark.parametrize("table", TABLES, ids=["box", "hull"])
def test_crossings_of_a_flat_cap_keep_their_normal_from_where_the_edge_comes_over_it(table):
    """However little rounding tips it: as the crossings part they turn without bound, and so would their normals."""
    for tilt in (0.0, 1e-13, 1e-10):
        for cut in (2e-6, 1e-4, 0.02, 0.5):
            R = Rotation.from_rotvec([tilt, 0, 0]).as_matrix()
            x = np.array([0.3 - RADIUS * (1.0 - cut), 0.01, HALF])
            found = crossings(table, x, R, 1e-3)
            assert [key[:5] for key in sorted(found)] == ["b:x0/", "b:x1/"], (tilt, cut)
            for gap, n, point in found.values():
                side = RADIUS * np.sqrt(cut * (2.0 - cut))
                assert abs(point[1] - 0.01) == pytest.approx(side, abs=1e-9), (tilt, cut)
                assert abs(gap) < 2.0 * HALF * tilt + 1e-16
                assert n == pytest.approx([0.0, 0.0, 1.0], abs=2.0 * tilt + 1e-16)


def test_a_rim_that_has_left_a_face_by_less_than_any_overlap_is_on_its_edge_alone():
    """Its lowest point is past the edge: the face is not touched there, where the edge is nearer by 1e-13 m only."""
    R = Rotation.from_rotvec([0.0, 0.4, 0.0]) * Rotation.from_rotvec([0.0, 0.0, 0.7])
    R = (Rotation.from_rotvec([0.3, 0.0, 0.0]) * R).as_matrix()
    rim = R @ np.array([0.0, 0.0, -HALF])
    down = np.array([0.0, 0.0, 1.0]) - R[2, 2] * R[:, 2]
    low = rim - RADIUS * down / np.linalg.norm(down)
    for past in (1e-7, 1e-6, 1e-5, 1e-4):
        x = np.array([0.3 + past, 0.0, 0.0]) - low
        found = crossed(TABLES[0], x, R)
        assert [key for key, (gap, *_) in found.items() if abs(gap) < 1e-6] == ["b:rim0/table:e07"], past
    found = crossed(TABLES[0], np.array([0.3 - 1e-7, 0.0, 0.0]) - low, R)
    assert "b:rim0/table:f5" in found
    assert "b:rim0/table:e07" not in found


def crossed(table, x, R):
    found = Shapes.of({"b": (Cylinder(radius=RADIUS, half_length=HALF),)}, [table]).find([x], [R], 1e-3)
    return {f.id: f.geometry(x, R, *POSE) for f in found}


def outside(x, R):
    """Return how far points of the edge x = 0.3 of a table are from a cylinder, the least; below zero inside of it."""
    y = np.linspace(-0.3, 0.3, 1201)
    local = (np.column_stack([np.full_like(y, 0.3), y, np.zeros_like(y)]) - x) @ R
    beyond, far = np.abs(local[:, 2]) - HALF, np.hypot(local[:, 0], local[:, 1]) - RADIUS
    return np.where(beyond > 0.0, np.hypot(beyond, np.maximum(far, 0.0)), far).min()


@pytest.mark.parametrize("table", TABLES, ids=["box", "hull"])
def test_a_cylinder_that_lies_nearly_along_an_edge_touches_it_with_one_rim_or_the_other(table):
    """The way out is nearly across the axis there: rounding tells which rim is towards the table."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        tip = Rotation.from_rotvec(rng.normal(size=3) * 10.0 ** rng.uniform(-4.5, -2.5))
        R = (tip * Rotation.from_euler("x", np.pi / 2)).as_matrix()
        x, gap = (
            np.array([0.3 + 10.0 ** rng.uniform(-4, -1.3), rng.choice([0.0, 0.25]), 0.0]),
            rng.choice([-1e-7, 1e-7]),
        )
        low, high = 0.0, 2.0 * RADIUS
        for _ in range(50):
            x[2] = 0.5 * (low + high)
            low, high = (x[2], high) if outside(x, R) < gap else (low, x[2])
        found = Shapes.of({"b": (Cylinder(radius=RADIUS, half_length=HALF),)}, [table]).find([x], [R], 0.02)
        assert found, (x, R)
        nearest = min(f.geometry(*((x, R, *POSE) if f.id.startswith("b") else (*POSE, x, R)))[0] for f in found)
        assert nearest == pytest.approx(gap, abs=5e-6)  # points of the edge are 5e-4 m apart
