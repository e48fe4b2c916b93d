"""Surfaces of triangles: distances by brute force, flat floors as half-spaces, the tree of boxes, bad surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.collision.terrain.surface_search import next_triangle
from gaussdyn.mechanics.collision.terrain.surface_tables import box_tree, surface_block
from gaussdyn.mechanics.collision.terrain.surfaces import HeightField, Mesh

CUBE = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * 0.2
THINGS = {
    "ball": Sphere(radius=0.2),
    "capsule": Capsule(radius=0.1, half_length=0.3),
    "box": Box(half=(0.2, 0.3, 0.1)),
    "rock": ConvexMesh(vertices=0.2 * np.random.default_rng(5).normal(size=(12, 3))),
    "cylinder": Cylinder(radius=0.2, half_length=0.1),
    "ellipsoid": Ellipsoid(half=(0.3, 0.2, 0.1)),
}


def hills(seed, size=9, rough=0.15):
    rng = np.random.default_rng(seed)
    return HeightField(heights=rough * rng.normal(size=(size, size)), spacing=(0.25, 0.25), name="hills")


def floor(cells=8, step=0.25):
    start = -0.5 * cells * step
    return HeightField(
        heights=np.zeros((cells + 1, cells + 1)), spacing=(step, step), at=(start, start, 0), name="floor"
    )


def _find(thing, ground, x, R, reach):
    return Shapes.of({"a": (thing,)}, [ground]).find([x], [R], reach)


def _geometry(feature, x, R):
    pose = {"a": (np.asarray(x, dtype=float), R), "ground": (np.zeros(3), np.eye(3))}
    return feature.geometry(*pose[feature.bodies[0]], *pose[feature.bodies[1]])


def _to_triangle(p, corners):
    """Return the distance of a point from a triangle: from its plane, else from its sides."""
    a, b, c = corners
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n)
    inside = all(np.cross(n, v - u) @ (p - u) >= 0.0 for u, v in ((a, b), (b, c), (c, a)))
    if inside:
        return abs(n @ (p - a))
    ends = []
    for u, v in ((a, b), (b, c), (c, a)):
        t = np.clip((p - u) @ (v - u) / ((v - u) @ (v - u)), 0.0, 1.0)
        ends.append(np.linalg.norm(p - u - t * (v - u)))
    return min(ends)


@pytest.mark.parametrize("seed", range(20))
def test_a_ball_over_hills_is_as_far_as_the_nearest_triangle(seed):
    ground, rng = hills(seed), np.random.default_rng(seed)
    x = np.array([*rng.uniform(0.3, 1.7, 2), 0.5])
    far = [_to_triangle(x, ground.corners[t]) for t in ground.triangles]
    r = min(far) - 1e-3
    found = _find(Sphere(radius=r), ground, x, np.eye(3), 2e-3)
    assert min(_geometry(f, x, np.eye(3))[0] for f in found) == pytest.approx(1e-3, abs=1e-14)


@pytest.mark.parametrize("name", THINGS)
def test_a_flat_floor_of_triangles_is_a_half_space(name):
    plane = HalfSpace(name="floor")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        R = Rotation.random(random_state=rng).as_matrix()
        x = [*rng.uniform(-0.3, 0.3, 2), 1.0]
        height = min(_geometry(f, x, R)[0] for f in _find(THINGS[name], plane, x, R, 5.0))
        x[2] -= height - 1e-3
        expected = sorted(_geometry(f, x, R)[0] for f in _find(THINGS[name], plane, x, R, 0.02))
        found = _find(THINGS[name], floor(), x, R, 0.02)
        gaps = sorted(_geometry(f, x, R)[0] for f in found)
        assert np.allclose(gaps, expected, rtol=0.0, atol=1e-14), [f.id for f in found]
        assert all(np.array_equal(_geometry(f, x, R)[1], [0, 0, 1]) for f in found)
        assert len({f.id.split("/")[1] for f in found}) == 1  # one face, wherever it is


@pytest.mark.drawn
@pytest.mark.parametrize("name", ["box", "rock", "cylinder", "capsule"])
def test_a_closed_mesh_is_the_solid_that_it_encloses(name):
    solid = ConvexMesh(vertices=CUBE, name="cube")
    quads = [(loop[0], loop[k], loop[k + 1]) for loop in solid.hull.faces for k in (1, 2)]
    mesh, met = Mesh(vertices=solid.hull.corners, faces=quads, name="cube"), 0
    for seed in range(examples(30, fast=12)):
        rng = np.random.default_rng(seed)
        R, way = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        way /= np.linalg.norm(way)
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            near = _find(THINGS[name], solid, middle * way, R, 0.0)
            low, high = (middle, high) if near else (low, middle)
        x = (high + 1e-4) * way
        expected = [_geometry(f, x, R)[0] for f in _find(THINGS[name], solid, x, R, 0.01)]
        gaps = [_geometry(f, x, R)[0] for f in _find(THINGS[name], mesh, x, R, 0.01)]
        assert gaps, seed
        assert min(gaps) == pytest.approx(min(expected), abs=1e-13), seed
        met += 1
    assert met == examples(30, fast=12)


def test_the_tree_leads_to_all_triangles_whose_boxes_meet_a_box():
    ground, rng = hills(3, size=12), np.random.default_rng(0)
    block, count = surface_block(ground.corners, ground.triangles, 0), len(ground.triangles)
    first = len(block) - len(box_tree(ground.corners[ground.triangles])) - count
    corners = ground.corners[ground.triangles]
    for _ in range(50):
        middle, half = rng.uniform(0.0, 2.75, 3) * [1, 1, 0.1], rng.uniform(0.01, 0.5, 3)
        low, high, place, found = middle - half, middle + half, 0, []
        box = (tuple(low), tuple(high))
        while (place := next_triangle(block, 0, box, place)) < count:
            found.append(int(block[first + place, 0]))
            place += 1
        meets = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
        assert sorted(found) == np.flatnonzero(meets).tolist()


def test_a_box_over_an_edge_and_on_a_ridge_stands_on_where_they_cross():
    table = Mesh(vertices=[(0, -1, 0), (1, -1, 0), (1, 1, 0), (0, 1, 0)], faces=[(0, 1, 2), (0, 2, 3)], name="table")
    box = Box(half=(0.1, 0.1, 0.1))
    found = _find(box, table, [0.02, 0.0, 0.1], np.eye(3), 1e-6)
    points = np.array([_geometry(f, [0.02, 0.0, 0.1], np.eye(3))[2] for f in found])
    assert np.allclose(sorted(points[:, 0]), [0.0, 0.0, 0.12, 0.12], atol=1e-12)
    roof = Mesh(
        vertices=[(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (0, -1, 0), (0, 1, 0)],
        faces=[(1, 2, 5), (1, 5, 4), (4, 5, 3), (4, 3, 0)], name="roof",
    )  # fmt: skip
    found = _find(box, roof, [0.02, 0.0, 0.1], np.eye(3), 1e-6)
    assert len(found) == 2
    assert all(np.allclose(_geometry(f, [0.02, 0.0, 0.1], np.eye(3))[1], [0, 0, 1]) for f in found)


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        ([(0, 0, 0), (1, 0, 0), (0, 1, np.nan)], [(0, 1, 2)], "finite"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)], "numbers of the 3 vertices"),
        ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)], "without area"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (1, 2, 3)], "turned against"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)], "inside out"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1)], "triangles"),
    ],
)
def test_what_is_no_surface_is_named(vertices, faces, words):
    with pytest.raises(InputError, match=words):
        Mesh(vertices=vertices, faces=faces, name="ground")


def test_height_fields_are_checked():
    with pytest.raises(InputError, match="two rows"):
        HeightField(heights=[[0.0, 1.0]], spacing=(1, 1), name="ground")
    with pytest.raises(InputError, match="spacing > 0"):
        HeightField(heights=np.zeros((2, 2)), spacing=(1, 0), name="ground")
