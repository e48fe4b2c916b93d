"""Shapes in space as the camera sees them."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import build, plot, simulate
from gaussdyn.mechanics import spatial
from gaussdyn.report.camera import seen, seen_in_turn, view

TURN = [np.cos(0.4), np.sin(0.4) * 0.6, 0.0, np.sin(0.4) * 0.8]


def test_the_view_is_a_rotation_with_z_upright():
    np.testing.assert_allclose(view() @ view().T, np.eye(3), atol=1e-15)
    assert np.linalg.det(view()) == pytest.approx(1.0)
    assert view()[0, 2] == 0.0
    assert view()[1, 2] > 0.9


def test_planar_shapes_stay_as_they_are():
    shapes = build("incline").system.drawables(build("incline").state.q)
    assert seen(shapes) == shapes


def test_a_ball_is_a_disc_of_its_radius():
    (flat,) = seen([{"shape": "sphere", "name": "ball", "at": [1.0, 2.0, 3.0], "turn": TURN, "radius": 0.5}])
    assert (flat["shape"], flat["radius"], flat["name"]) == ("disc", 0.5, "ball")
    np.testing.assert_allclose(flat["at"], (view() @ [1.0, 2.0, 3.0])[:2])


def test_of_a_box_three_faces_are_seen_and_together_cover_its_outline():
    from scipy.spatial import ConvexHull

    half = np.array([0.3, 0.2, 0.1])
    faces = seen([{"shape": "box", "name": "box", "at": [0.0, 0.0, 1.0], "turn": TURN, "half": half}])
    assert [face["shape"] for face in faces] == ["polygon"] * 3
    points = np.vstack([face["points"] for face in faces])
    areas = sum(ConvexHull(face["points"]).volume for face in faces)
    assert areas == pytest.approx(ConvexHull(points).volume)  # they do not overlap


def test_bodies_keep_their_numbers_whichever_is_in_front():
    front, back = view()[2], -view()[2]
    balls = [{"shape": "sphere", "name": name, "turn": TURN, "radius": 0.1} for name in "ab"]
    for places in ((front, back), (back, front)):
        flat = seen([{**ball, "at": at.tolist()} for ball, at in zip(balls, places, strict=True)])
        assert {shape["name"]: shape["number"] for shape in flat} == {"a": 0, "b": 1}


def test_obstacles_are_known_from_bodies_from_every_side():
    place = {"at": [0.0, 0.0, 0.0], "turn": TURN}
    for shape in (
        {"shape": "box", "half": [1.0, 1.0, 1.0]},
        {"shape": "sphere", "radius": 1.0},
        {"shape": "cylinder", "radius": 1.0, "half_length": 1.0},
    ):
        found = seen([{**shape, **place, "name": "post", "still": True}, {**shape, **place, "name": "body"}])
        assert {flat["name"]: flat.get("still", False) for flat in found} == {"post": True, "body": False}


def test_the_ground_is_as_large_as_what_is_on_it_wherever_corners_are_counted_from():
    """A mesh far from the origin of its corners is no larger than one about it; a capsule counts its length."""
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * 0.1
    plane = {"shape": "plane", "name": "floor", "at": [0.0, 0.0, -0.1], "normal": [0.0, 0.0, 1.0]}
    sides = []
    for off in (0.0, 3.0):
        mesh = {"shape": "solid", "name": "a", "at": [-off, 0.0, 0.0], "turn": [1.0, 0.0, 0.0, 0.0], "faces": []}
        mesh |= {"corners": corners + np.array([off, 0.0, 0.0]), "ground": True}
        (ground,) = seen([plane, mesh])
        sides.append(np.ptp(ground["points"], axis=0))
    assert sides[1] == pytest.approx(sides[0])
    pill = {"shape": "capsule", "name": "pill", "at": [0.0, 0, 0], "turn": TURN, "radius": 0.01, "half_length": 0.1}
    (ground, _) = seen([plane, pill])
    assert np.ptp(ground["points"], axis=0)[0] > 0.2


@pytest.mark.parametrize("turn", [[1.0, 0, 0, 0], TURN])
def test_a_capsule_is_as_wide_as_its_radius(turn):
    shape = {"shape": "capsule", "name": "pill", "at": [0.0, 0, 0], "turn": turn, "radius": 0.2, "half_length": 1.0}
    (flat,) = seen([shape])
    points = np.array(flat["points"])
    widths = [np.ptp(points @ [np.cos(a), np.sin(a)]) for a in np.linspace(0, np.pi, 20_000)]
    assert min(widths) == pytest.approx(0.4, rel=3e-3)


def test_a_mesh_of_a_box_is_seen_as_the_box():
    half = np.array([0.3, 0.2, 0.1])
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * half
    mesh = spatial.ConvexMesh(vertices=corners, turn=TURN)
    box = {"shape": "box", "name": "a", "at": [0.0, 0.0, 1.0], "turn": TURN, "half": half}
    drawn = {"shape": "solid", "name": "a", "at": [0.0, 0.0, 1.0], "turn": list(mesh.turn)}
    drawn |= {"corners": mesh.hull.corners, "faces": [list(loop) for loop in mesh.hull.faces]}
    first, second = (
        {tuple(sorted(map(tuple, np.round(face["points"], 12).tolist()))) for face in seen([shape])}
        for shape in (box, drawn)
    )
    assert first == second
    assert len(first) == 3


@pytest.mark.parametrize("turn", [[1.0, 0, 0, 0], TURN])
def test_a_cylinder_is_as_high_and_wide_as_its_points(turn):
    from gaussdyn.linalg.rotations import matrix_of

    r, h = 0.2, 0.5
    shape = {"shape": "cylinder", "name": "can", "at": [0.0, 0, 0], "turn": turn, "radius": r, "half_length": h}
    side, cap = seen([shape])
    drawn = np.vstack([side["points"], cap["points"]])
    angle = np.linspace(0, 2 * np.pi, 2000)
    rims = [np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(2000, z)]) for z in (-h, h)]
    points = (np.vstack(rims) @ matrix_of(turn).T @ view().T)[:, :2]
    for a in np.linspace(0, np.pi, 7):
        e = [np.cos(a), np.sin(a)]
        assert np.ptp(drawn @ e) == pytest.approx(np.ptp(points @ e), rel=5e-3)


@pytest.mark.parametrize("turn", [[1.0, 0, 0, 0], TURN])
def test_the_outline_of_an_ellipsoid_is_that_of_its_points(turn):
    from gaussdyn.linalg.rotations import matrix_of

    at, half = np.array([0.1, -0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    (flat,) = seen([{"shape": "ellipsoid", "name": "egg", "at": at.tolist(), "turn": turn, "half": half.tolist()}])
    points = np.random.default_rng(0).normal(size=(200_000, 3))
    points = at + (points / np.linalg.norm(points, axis=1)[:, None] * half) @ matrix_of(turn).T
    for angle in np.linspace(0, np.pi, 7):
        e = [np.cos(angle), np.sin(angle)]
        assert np.ptp(np.array(flat["points"]) @ e) == pytest.approx(np.ptp((points @ view().T)[:, :2] @ e), rel=5e-3)


def test_what_is_near_covers_what_is_far_and_the_ground_lies_below():
    ball = {"shape": "sphere", "turn": [1.0, 0, 0, 0], "radius": 0.1}
    near, far = view()[2] * 3.0, -view()[2] * 3.0
    ground = {"shape": "plane", "name": "floor", "at": [0.0, 0, -1], "normal": [0.0, 0, 1]}
    shapes = [{**ball, "name": "near", "at": near.tolist()}, ground, {**ball, "name": "far", "at": far.tolist()}]
    assert [flat["name"] for flat in seen(shapes)] == ["floor", "far", "near"]


FLOOR = {"shape": "plane", "name": "floor", "at": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}


@pytest.mark.parametrize(("heights", "half"), [([0.0, 0.0], 1.0), ([2.0, 2.0], 2.0), ([0.0, 0.2], 0.13), ([], 1.0)])
def test_the_ground_below_points_is_as_large_as_their_motion_or_height(heights, half):
    points = [[{"shape": "point", "name": "mass", "at": [0.0, 0.0, z]}] for z in heights] or [[]]
    poses = seen_in_turn([[*pose, FLOOR] for pose in points])
    for pose in poses:
        corners = np.array(pose[0]["points"])
        assert pose[0]["ground"]
        assert corners.mean(axis=0) == pytest.approx([0.0, 0.0])
        assert np.ptp(corners[:, 0]) == pytest.approx(2.0 * half * (np.cos(np.pi / 6) + 0.5))


def test_a_needle_is_seen_as_a_segment():
    shape = {"shape": "capsule", "at": [0.0, 0, 0], "turn": [1.0, 0, 0, 0], "radius": 0.0, "half_length": 1.0}
    (flat,) = seen([shape])
    assert np.ptp(np.array(flat["points"])[:, 1]) == pytest.approx(2.0 * np.cos(np.deg2rad(20.0)))


@pytest.mark.parametrize(
    ("shapes", "names"), [((), ("run.html", "run.gif", "run.png")), ((spatial.Sphere(radius=0.0),), ("run.gif",))]
)
def test_bodies_without_extent_have_pages_and_pictures(shapes, names, tmp_path):
    body = spatial.SpatialBody(name="mass", mass=1.0, inertia=np.eye(3), shapes=shapes)
    system = spatial.SpatialSystem(bodies=[body], obstacles=[spatial.HalfSpace(name="floor")])
    run = simulate(system, system.state({"mass": (0.0, 0.0, 0.0)}), 2e-3)
    for name in names:
        plot(run, path=tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_ground_of_triangles_hides_no_body_and_its_far_faces_come_first():
    corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, -9, 0]]
    ground = {"shape": "solid", "name": "ground", "at": [0.0, -9.0, 0.0], "turn": [1, 0, 0, 0], "corners": corners,
              "faces": [[0, 4, 1], [0, 1, 2], [0, 2, 3]], "ground": True}  # fmt: skip
    ball = {"shape": "sphere", "name": "ball", "at": [0.0, 5.0, 0.1], "turn": TURN, "radius": 0.1}
    *faces, last = seen([ball, ground])
    assert (len(faces), last["name"]) == (3, "ball")
    assert [len(face["points"]) for face in faces] == [3, 3, 3]
    lowest = [np.mean(face["points"], axis=0)[1] for face in faces]  # what is near is low in a picture from above
    assert lowest == sorted(lowest, reverse=True)


def test_a_height_field_is_marked_as_ground():
    field = spatial.HeightField(name="hills", heights=[[0, 1], [1, 0]], spacing=(1.0, 1.0))
    system = spatial.SpatialSystem(bodies=[spatial.ball("b", mass=1.0, radius=0.1)], obstacles=[field])
    drawn = {one["name"]: one for one in system.drawables(system.state({"b": (0, 0, 9)}).q)}
    assert drawn["hills"]["ground"]
    assert "ground" not in drawn["b"]
