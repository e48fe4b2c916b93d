from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")

from gaussdyn import InputError, plot
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.report.pictures import draw, png_url, points

SHAPES = [
    {"shape": "disc", "name": "wheel", "at": [0.0, 1.0], "radius": 0.5, "angle": 0.3},
    {"shape": "polygon", "name": "box", "points": [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]},
    {"shape": "segment", "name": "rod", "ends": [[0.0, 0.0], [2.0, 1.0]]},
    {"shape": "point", "name": "mass", "at": [3.0, 0.0]},
    {"shape": "halfplane", "name": "floor", "at": [0.0, 0.0], "normal": [0.0, 2.0]},
    {"shape": "something new", "name": "x"},
]


def test_a_run_is_drawn_and_written_as_png(run: Trajectory, tmp_path: Path) -> None:
    figure = plot(run, path=tmp_path / "run.png")
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[-1] == "Residual of every step"
    assert "Velocities" in titles
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_becomes_a_url_that_holds_it(run: Trajectory) -> None:
    kind, data = png_url(plot(run), dpi=20).split(",")
    assert kind == "data:image/png;base64"
    picture = base64.b64decode(data, validate=True)
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 8 * 20  # px: 8 inches at 20 dots


@pytest.mark.parametrize("name", ["run.unknown", "missing/run.png"])
def test_a_place_that_cannot_be_written_is_named(run: Trajectory, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="path"):
        plot(run, path=tmp_path / name)


def test_every_known_shape_leaves_something_on_the_axes() -> None:
    from matplotlib.figure import Figure

    for shape in SHAPES:
        axis = Figure().add_subplot()
        draw(axis, [shape], (-1.0, 3.0, -1.0, 3.0))
        assert bool(axis.lines or axis.patches) == (shape["shape"] != "something new")


def test_a_half_plane_is_filled_behind_its_normal() -> None:
    from matplotlib.figure import Figure

    axis = Figure().add_subplot()
    draw(axis, [SHAPES[4]], (-1.0, 1.0, -1.0, 1.0))
    corners = axis.patches[0].get_xy()
    assert corners[:, 1].max() == pytest.approx(0.0)
    assert corners[:, 1].min() < -1.0


def test_the_frame_holds_the_whole_disc() -> None:
    assert points(SHAPES[0]).tolist() == [[-0.5, 0.5], [0.5, 1.5]]
    assert points(SHAPES[5]).shape == (0, 2)
    assert np.array_equal(points(SHAPES[3]), [[3.0, 0.0]])


def test_the_legs_of_a_robot_whose_links_have_no_shapes_are_drawn() -> None:
    from gaussdyn.report.pictures import posed
    from tests.tree_cases import chain

    system = chain(3)
    ties = [one for one in posed(system, system.state().q) if one["shape"] == "segment"]
    assert len(ties) >= 2
    assert all(one["still"] for one in ties)
