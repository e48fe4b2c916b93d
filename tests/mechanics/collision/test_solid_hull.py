"""Hulls and their volumes against Qhull and closed forms, and what cannot be a solid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.mass import fill_of, joined
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Sphere
from gaussdyn.mechanics.collision.solid_hull import hull_of
from gaussdyn.mechanics.collision.solid_tables import block_of, box_polyhedron
from gaussdyn.mechanics.collision.solids import climb, climb_below, farthest_corner, radius_of
from gaussdyn.mechanics.spatial import ball, brick, pill, solid

SPHERICAL = np.random.default_rng(0).normal(size=(1900, 3))
SPHERICAL /= np.linalg.norm(SPHERICAL, axis=1)[:, None]
HALF = np.array([0.1, 0.2, 0.3])
CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * HALF


def test_flat_faces_are_whole_and_points_within_them_are_left_out():
    inside = [[0.0, 0.0, 0.3], [0.1, 0.0, 0.3], [0.0, 0.05, 0.1]]  # in a face, in an edge, inside
    hull = hull_of("box", np.vstack([CORNERS, inside]))
    assert np.array_equal(hull.corners, CORNERS)
    assert sorted(map(len, hull.faces)) == [4] * 6
    assert len(hull.edges) == 12


@pytest.mark.parametrize("seed", range(5))
def test_random_hulls_obey_euler_and_hold_their_points(seed):
    points = np.random.default_rng(seed).normal(size=(40, 3))
    hull = hull_of("rock", points)
    assert len(hull.corners) - len(hull.edges) + len(hull.faces) == 2
    assert (points @ hull.normals.T - hull.offsets).max() < 1e-14
    for a, b, left, right in hull.edges.tolist():
        assert {a, b} <= set(hull.faces[left])
        assert {a, b} <= set(hull.faces[right])
        loop = hull.faces[left]
        assert loop[(loop.index(a) + 1) % len(loop)] == b


def test_volumes_are_those_of_qhull_and_of_closed_forms():
    points = np.random.default_rng(3).normal(size=(30, 3)) + 5.0
    assert fill_of(ConvexMesh(vertices=points)).volume == pytest.approx(ConvexHull(points).volume, rel=1e-13)
    tetrahedron = fill_of(ConvexMesh(vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert tetrahedron.volume == pytest.approx(1.0 / 6.0, rel=1e-15)
    assert np.allclose(tetrahedron.centre, 0.25, rtol=1e-15)
    assert np.allclose(np.diag(tetrahedron.inertia), 2 * 3.0 / 80.0 / 6.0, rtol=1e-14)  # 3/80 V per axis, two axes
    assert np.allclose(tetrahedron.spread[0, 1], -1.0 / 480.0, rtol=1e-13)


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, -0.5, 0.5)])
def test_a_mesh_of_a_box_fills_what_the_box_fills(turn):
    at = (0.3, -0.2, 0.1)
    mesh, box = fill_of(ConvexMesh(vertices=CORNERS, at=at, turn=turn)), fill_of(Box(half=HALF, at=at, turn=turn))
    assert mesh.volume == pytest.approx(box.volume, rel=1e-14)
    assert np.allclose(mesh.centre, box.centre, atol=1e-15)
    assert np.allclose(mesh.inertia, box.inertia, atol=1e-16)


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        (Sphere(radius=0.2), ball("a", mass=1.0, radius=0.2)),
        (Box(half=HALF), brick("a", mass=1.0, half=HALF)),
        (Capsule(radius=0.1, half_length=0.3), pill("a", mass=1.0, radius=0.1, half_length=0.3)),
    ],
)
def test_inertia_of_shapes_is_that_of_the_bodies_made_of_them(shape, body):
    fill = fill_of(shape)
    assert np.allclose(fill.inertia / fill.volume, body.inertia, rtol=1e-14)


def test_a_cylinder_is_the_limit_of_prisms_and_an_ellipsoid_a_squeezed_ball():
    r, h, n = 0.2, 0.5, 100
    angle = 2 * np.pi * np.arange(n) / n
    rim = np.column_stack([r * np.cos(angle), r * np.sin(angle)])
    prism = fill_of(ConvexMesh(vertices=np.vstack([np.column_stack([rim, np.full(n, z)]) for z in (-h, h)])))
    exact = fill_of(Cylinder(radius=r, half_length=h))
    assert prism.volume == pytest.approx(exact.volume, rel=1e-3)
    assert np.allclose(np.diag(prism.inertia), np.diag(exact.inertia), rtol=2e-3)
    egg = fill_of(Ellipsoid(half=HALF))
    assert np.allclose(np.diag(egg.spread) / egg.volume, HALF**2 / 5.0)


def test_a_solid_has_its_frame_in_the_mass_centre():
    body = solid(
        "hammer",
        [Box(half=(0.2, 0.02, 0.02), name="handle"), Sphere(radius=0.05, at=(0.25, 0.0, 0.0), name="head")],
        density=800.0,
    )
    whole = joined([fill_of(shape) for shape in body.shapes])
    assert np.abs(whole.centre).max() < 1e-17
    assert body.mass == pytest.approx(800.0 * (8 * 0.2 * 0.02 * 0.02 + 4 / 3 * np.pi * 0.05**3), rel=1e-14)
    assert np.allclose(np.array(body.inertia), 800.0 * whole.inertia, rtol=1e-13)


@pytest.mark.parametrize(
    ("vertices", "words"),
    [
        (CORNERS[:3], "3 points"),
        (CORNERS[:4], "volume 0"),
        (np.zeros((6, 3)), "volume 0"),
        (np.where(CORNERS > 0.25, np.nan, CORNERS), "nan"),
        (np.zeros((4, 2)), "shape"),
        (SPHERICAL, "1800 corners"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_mesh_is_named(vertices, words):
    with pytest.raises(InputError, match=words):
        ConvexMesh(vertices=vertices)


def test_solids_need_a_density_and_a_volume():
    with pytest.raises(InputError, match="density"):
        solid("a", Box(half=HALF), density=0.0)
    with pytest.raises(InputError, match="volume"):
        solid("a", Sphere(radius=0.0), density=1.0)
    with pytest.raises(InputError, match="half_length"):
        Cylinder(radius=0.1, half_length=0.0)


def test_boxes_in_tables_are_numbered_as_boxes():
    solid_box = box_polyhedron(Box(half=HALF))
    bits = [[bool(c >> a & 1) for a in range(3)] for c in range(8)]
    assert np.array_equal(solid_box.corners > 0, bits)
    for e, (a, b) in enumerate(solid_box.edges[:, :2].tolist()):
        assert b - a == 1 << e // 4
    block = block_of(solid_box, 7)
    assert block[0].tolist() == [8, 12, 6, 14, 22, 46]
    for f, loop in enumerate(solid_box.faces):
        c = solid_box.corners[list(loop)]
        n = np.cross(c[1] - c[0], c[2] - c[1])
        assert np.allclose(n / np.linalg.norm(n), solid_box.normals[f])


@pytest.mark.parametrize("solid", [box_polyhedron(Box(half=HALF)), hull_of("rock", SPHERICAL[:30])])
def test_no_corner_is_farther_than_the_one_found_and_none_outside_the_ball(solid):
    solids, rng = block_of(solid, 0), np.random.default_rng(4)
    for n in [*rng.normal(size=(60, 3)), *np.eye(3), *-np.eye(3)]:
        way, heights = tuple(n.tolist()), solid.corners @ n
        found = [farthest_corner(solids, 0, way), *(climb(solids, 0, k, way) for k in range(len(heights)))]
        assert np.allclose(heights[found], heights.max(), rtol=0.0, atol=1e-15)
        for most in (heights.max() - 1e-9, heights.max() + 1e-9):
            below = [climb_below(solids, 0, k, way, most) for k in range(len(heights))]
            assert below == ([-1] * len(below) if most < heights.max() else found[1:])
    length = np.linalg.norm(solid.corners, axis=1).max()
    assert length < radius_of(solids, 0) < (1.0 + 1e-11) * length


def test_moved_hulls_keep_their_faces():
    hull = hull_of("rock", np.random.default_rng(1).normal(size=(12, 3)))
    shift = np.array([1.0, -2.0, 0.5])
    moved = hull.moved(shift)
    turned = Rotation.identity().apply(hull.corners) + shift
    assert np.allclose([(turned @ n).max() for n in moved.normals], moved.offsets, atol=1e-14)


CUBE_FACES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def test_faces_of_a_convex_solid_are_accepted():
    mesh = ConvexMesh(vertices=CORNERS, faces=CUBE_FACES)
    assert sorted(map(len, mesh.hull.faces)) == [4] * 6


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (CORNERS, CUBE_FACES[:5], "open surface .4 sides"),
        (CORNERS, [loop[::-1] for loop in CUBE_FACES], "inside out"),
        (CORNERS, [CUBE_FACES[0][::-1], *CUBE_FACES[1:]], "turned against"),
        (CORNERS, [(0, 2, 3, 9), *CUBE_FACES[1:]], "numbers of the 8 points"),
        (  # a cube whose top is pressed in
            [*CORNERS, (0.0, 0.0, 0.0)],
            [CUBE_FACES[0], *CUBE_FACES[2:], (4, 5, 8), (5, 7, 8), (7, 6, 8), (6, 4, 8)],
            "not convex: 83.333%",
        ),
    ],
)
def test_surfaces_that_are_no_convex_solid_are_named_with_the_mend(vertices, faces, words):
    with pytest.raises(InputError, match=words):
        ConvexMesh(vertices=vertices, faces=faces)
