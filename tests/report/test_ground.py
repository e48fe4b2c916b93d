"""Grids and shadows on the ground of pictures in space, and the frames of pictures of a motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.report.camera import seen, seen_in_turn
from gaussdyn.report.ground import grid, round_length, shadow
from gaussdyn.report.pictures import draw, frames

TURN = [np.cos(0.4), np.sin(0.4) * 0.6, 0.0, np.sin(0.4) * 0.8]
SLOPE = {"shape": "plane", "name": "slope", "at": [0.3, 0.0, -1.0], "normal": [-0.6, 0.0, 0.8]}
SOLIDS = [
    {"shape": "box", "half": [0.3, 0.2, 0.1]},
    {"shape": "ellipsoid", "half": [0.3, 0.2, 0.1]},
    {"shape": "sphere", "radius": 0.3},
    {"shape": "cylinder", "radius": 0.3, "half_length": 0.2},
    {"shape": "capsule", "radius": 0.1, "half_length": 0.2},
]


def _inside(shape: dict, rng: np.random.Generator) -> np.ndarray:
    """Return many points of a shape on its surface or in it, found without its outline."""
    ball = rng.normal(size=(40_000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    kind, h = shape["shape"], shape.get("half_length", 0.0)
    if kind == "box":
        found = np.sign(ball) * shape["half"]
    elif kind == "ellipsoid":
        found = ball * shape["half"]
    elif kind == "cylinder":
        rims = ball[:, :2] / np.linalg.norm(ball[:, :2], axis=1)[:, None]
        found = np.column_stack([shape["radius"] * rims, h * np.sign(ball[:, 2])])
    else:
        found = shape["radius"] * ball + np.outer(np.sign(ball[:, 2]), [0.0, 0.0, h])
    return found @ matrix_of(shape["turn"]).T + shape["at"]


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda one: one["shape"])
def test_a_shadow_is_that_of_all_points_of_a_body(solid):
    shape = {**solid, "name": "a", "at": [0.1, -0.2, 0.5], "turn": TURN}
    fallen = shadow(SLOPE, shape)
    normal, at = np.array(SLOPE["normal"]), np.array(SLOPE["at"])
    assert np.abs((fallen - at) @ normal).max() < 1e-15
    points = _inside(shape, np.random.default_rng(1))
    assert ConvexHull(fallen[:, :2]).volume == pytest.approx(ConvexHull(points[:, :2]).volume, rel=5e-3)
    for one in (np.min, np.max):
        assert one(fallen[:, :2], axis=0) == pytest.approx(one(points[:, :2], axis=0), abs=2e-3)


def test_below_the_ground_and_on_walls_there_are_no_shadows():
    ball = {"shape": "sphere", "name": "a", "at": [0.0, 0.0, -9.0], "turn": TURN, "radius": 0.1}
    assert len(shadow(SLOPE, ball)) == 0
    assert len(shadow({**SLOPE, "normal": [1.0, 0.0, 0.0]}, {**ball, "at": [9.0, 0.0, 0.0]})) == 0


def test_the_lines_of_a_grid_stay_where_they_are_as_the_picture_moves():
    """All distances between lines of two grids are whole multiples of a round width, at least eight in a side."""
    normal = np.array(SLOPE["normal"])
    width = round_length(2.0 / 8)
    assert width == 0.2
    for across in (np.array([0.0, 1.0, 0.0]), np.cross(normal, [0.0, 1.0, 0.0])):
        places = [
            ends[0] @ across
            for middle in ([0.0, 0.0, 0.0], [0.37, 1.21, 0.5])
            for ends in grid(SLOPE, np.array(middle), 1.0)
            if abs((ends[1] - ends[0]) @ across) < 1e-12
        ]
        steps = (np.array(places) - places[0]) / width
        assert len(places) >= 16
        assert np.abs(steps - np.round(steps)).max() < 1e-9


def test_pictures_follow_a_body_that_goes_far_and_stand_still_otherwise():
    floor = {"shape": "plane", "name": "floor", "at": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    ball = {"shape": "sphere", "name": "a", "turn": TURN, "radius": 0.1}
    for way, same in ((0.2, True), (5.0, False)):
        poses = seen_in_turn([[{**ball, "at": [x, 0.0, 0.1]}, floor] for x in (0.0, way)])
        first, second = frames([(0.0, poses[0]), (1.0, poses[1])])
        assert (first == second) == same
        assert first[1] - first[0] == pytest.approx(second[1] - second[0])
        for frame, pose in zip((first, second), poses, strict=True):
            (at,) = [one["at"] for one in pose if one["shape"] == "disc"]
            assert frame[0] < at[0] - 0.1
            assert at[0] + 0.1 < frame[1]


def test_what_is_seen_from_space_has_a_bar_in_the_place_of_axes():
    from matplotlib.figure import Figure

    axis = Figure().add_subplot()
    draw(axis, seen([{"shape": "sphere", "name": "a", "at": [0.0, 0, 0], "turn": TURN, "radius": 0.5}]), (-1, 1, -1, 1))
    assert not axis.axison
    (text,) = axis.texts
    bar = axis.lines[-1].get_xdata()
    assert f"{bar[1] - bar[0]:g} m" == text.get_text() == "0.5 m"


def test_parts_of_a_body_have_its_colour_and_what_has_a_colour_keeps_it():
    from matplotlib.figure import Figure

    parts = [{"shape": "disc", "name": f"wheel.{k}", "at": [k, 0.0], "radius": 0.2, "angle": 0.0} for k in range(3)]
    other = {**parts[0], "name": "crank", "at": [0.0, 1.0]}
    axis = Figure().add_subplot()
    draw(axis, [*parts, other, {**other, "name": "red", "colour": [1.0, 0.0, 0.0, 1.0]}], (-1, 3, -1, 3))
    colours = [patch.get_edgecolor() for patch in axis.patches]
    assert len(set(colours[:3])) == 1
    assert colours[3] != colours[0]
    assert colours[4] == (1.0, 0.0, 0.0, 1.0)
    flat = seen([{**one, "shape": "sphere", "at": [*one["at"], 0.0], "turn": TURN} for one in (*parts, other)])
    assert {one["name"]: one["number"] for one in flat} == {"wheel.0": 0, "wheel.1": 0, "wheel.2": 0, "crank": 1}
