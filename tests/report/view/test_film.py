"""The film of a run: what moves, what acts, and how much of it there is."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_run import make_run

from gaussdyn import build, simulate
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.mechanics.scene import Scene
from gaussdyn.report.view.film import FRAMES, box, cone_length, film, frames, tracks


@pytest.fixture(scope="module")
def sliding() -> tuple[Scene, Trajectory]:
    scene = build("incline", mu=0.2)
    return scene, simulate(scene, t_end=0.05)


def test_every_state_in_which_something_happens_is_a_frame() -> None:
    run = make_run(20_000)
    (event,) = run.events
    chosen = frames(run, 10)
    assert len(chosen) <= FRAMES + 1
    assert {0, len(run) - 1, int(np.searchsorted(run.t, event.t))} <= set(chosen.tolist())
    assert len(frames(run, 100_000)) < len(chosen)


def test_a_short_run_is_filmed_whole(sliding: tuple[Scene, Trajectory]) -> None:
    scene, run = sliding
    found = film(scene.system, run)
    assert found is not None
    np.testing.assert_allclose(found["t"], run.t, rtol=1e-8)
    assert not found["space"]


def test_the_film_shows_where_the_bodies_are(sliding: tuple[Scene, Trajectory]) -> None:
    scene, run = sliding
    found = film(scene.system, run)
    assert found is not None
    by_name = {track["name"]: track for track in found["shapes"]}
    for k in (0, len(run) - 1):
        (true,) = (s for s in scene.system.drawables(run.q[k]) if s["name"] == "block")
        np.testing.assert_allclose(by_name["block"]["moving"]["points"][k], true["points"], atol=1e-5)
    (plane,) = (track for track in found["shapes"] if track["shape"] == "halfplane")
    assert not plane["moving"]


def test_the_film_shows_the_reactions(sliding: tuple[Scene, Trajectory]) -> None:
    """The block slides: both contacts use all of the cone, and all of them together carry m g cos(slope)."""
    scene, run = sliding
    found = film(scene.system, run)
    assert found is not None
    lines = found["contacts"][-1]
    weight = run.params.get("mass", 1.0) * 9.81
    slope = run.params["slope"]
    total = np.sum([line[4] for line in lines], axis=0)
    normal = np.array(lines[0][3])
    assert {found["modes"][line[1]] for line in lines} == {"slip"}
    assert total @ normal == pytest.approx(weight * np.cos(slope), rel=1e-2)
    for line in lines:
        push = np.dot(line[4], line[3])
        rub = np.linalg.norm(np.array(line[4]) - push * np.array(line[3]))
        assert rub == pytest.approx(found["mu"][line[0]] * push, rel=1e-2)


def test_a_shape_that_comes_and_goes_is_null_where_it_is_not() -> None:
    ball = {"shape": "disc", "name": "ball", "at": [0.0, 1.0], "radius": 0.5, "angle": 0.0}
    found = tracks([[ball], [], [ball | {"at": [1.0, 1.0]}]], 6)
    (track,) = found
    assert track["moving"]["at"] == [[0.0, 1.0], None, [1.0, 1.0]]
    assert track["moving"]["radius"] == [0.5, None, 0.5]


def test_two_shapes_of_one_name_are_two_tracks() -> None:
    one = {"shape": "point", "name": "mass", "at": [0.0, 1.0]}
    found = tracks([[one, one | {"at": [2.0, 1.0]}]], 6)
    assert [track["fixed"]["at"] for track in found] == [[0.0, 1.0], [2.0, 1.0]]


def test_the_box_holds_balls_and_forgets_planes() -> None:
    middle, half = box(
        [
            {"shape": "sphere", "name": "a", "at": [0.0, 0.0, 2.0], "radius": 1.0, "turn": [1.0, 0.0, 0.0, 0.0]},
            {"shape": "plane", "name": "p", "at": [99.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]},
        ]
    )
    np.testing.assert_allclose(middle, [0.0, 0.0, 2.0])
    np.testing.assert_allclose(half, [1.0, 1.0, 1.0])


def test_cones_are_as_long_as_small_bodies_that_travel_far() -> None:
    rod = [{"shape": "segment", "name": "rod", "ends": [[0.0, 0.0], [0.1, 0.0]]}]
    assert cone_length(rod, 10.0) == pytest.approx(0.09)
    assert cone_length(rod, 0.1) == pytest.approx(0.03)
    assert cone_length([{"shape": "point", "name": "mass", "at": [0.0, 0.0]}], 1.0) == pytest.approx(0.2)


def test_a_mesh_that_stays_is_kept_once() -> None:
    """A thousand corners in hundreds of frames: what is the same object in all of them is rounded once and fixed."""
    vertices, faces = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.1234567]], [[0, 1, 2]]
    still = {"shape": "solid", "name": "rock", "turn": [1.0, 0.0, 0.0, 0.0], "corners": vertices, "faces": faces}
    (track,) = tracks([[still | {"at": [0.1 * k, 0.0, 0.0]}] for k in range(3)], 4)
    assert track["fixed"]["corners"][2] == [0.0, 1.0, 0.1235]
    assert track["fixed"]["faces"] == faces
    assert list(track["moving"]) == ["at"]


def test_the_box_holds_the_corners_of_a_mesh_where_it_stands() -> None:
    corners = {"corners": [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]], "faces": [[0, 1, 2]]}
    quarter = [float(np.sqrt(0.5)), 0.0, 0.0, float(np.sqrt(0.5))]  # about z
    middle, half = box([{"shape": "solid", "name": "m", "at": [5.0, 0.0, 0.0], "turn": quarter, **corners}])
    np.testing.assert_allclose(middle[:2], [4.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(half[:2], [1.0, 0.5], atol=1e-12)
