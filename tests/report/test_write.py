"""Reports in every format, and what is refused before a run."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("plotly")
pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")

from gaussdyn import InputError, Position, State, UserSystem, build, plot, simulate
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.mechanics.scene import Scene
from gaussdyn.report.animation import animate
from gaussdyn.report.write import check_report, write_report

pytestmark = pytest.mark.xdist_group("written pages")  # what they share is made once

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".html": b"<!doctype html>"}


@pytest.fixture(scope="module")
def sliding() -> tuple[Scene, Trajectory]:
    scene = build("incline", mu=0.2)
    return scene, simulate(scene, t_end=0.02)


@pytest.fixture(scope="module")
def falling() -> Trajectory:
    system = UserSystem(nq=1, mass=[[1.0]], force=[-9.81])
    return simulate(system, State(q=[1.0], v=[0.0]), 0.02)


@pytest.mark.parametrize("ending", STARTS)
def test_the_ending_decides_the_format(falling: Trajectory, tmp_path: Path, ending: str) -> None:
    path = write_report(tmp_path / f"run{ending.upper()}", falling)
    assert path.read_bytes().startswith(STARTS[ending])


@pytest.mark.parametrize("name", ["incline", "launched_cube"])
def test_a_moving_picture_moves(tmp_path: Path, name: str) -> None:
    from PIL import Image

    scene = build(name)
    run = simulate(scene, t_end=20 * scene.dt, examine="off")
    path = animate(run, scene, tmp_path / "run.gif", seconds=0.5, rate=8)
    with Image.open(path) as film:
        assert film.n_frames == 4
        first = np.array(film.convert("RGB"))
        film.seek(film.n_frames - 1)
        assert (first != np.array(film.convert("RGB"))).any()


def test_mp4_without_ffmpeg_is_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match=r"\.pdf, \.gif; \.mp4 where ffmpeg"):
        check_report(Path("run.mp4"))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    check_report(Path("run.mp4"))


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_an_mp4_is_written(sliding: tuple[Scene, Trajectory], tmp_path: Path) -> None:
    scene, run = sliding
    path = animate(run, scene, tmp_path / "run.mp4", seconds=0.5, rate=8)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_an_unknown_ending_is_refused_before_the_run() -> None:
    for name in ("run.txt", "run"):
        with pytest.raises(InputError, match=r"\.html"):
            check_report(Path(name))


def test_a_moving_picture_of_nothing_is_refused_before_the_run() -> None:
    scene = build("zeno_ball")
    check_report(Path("run.gif"), scene)
    bare = replace(scene, system=UserSystem(nq=1, mass=[[1.0]], force=[-9.81]))
    with pytest.raises(InputError, match="drawables"):
        check_report(Path("run.gif"), bare)
    check_report(Path("run.png"), bare)


def test_places_that_cannot_be_written_are_named(sliding: tuple[Scene, Trajectory], tmp_path: Path) -> None:
    scene, run = sliding
    for ending in (".gif", ".png", ".html"):
        with pytest.raises((InputError, OSError), match="missing"):
            write_report(tmp_path / "missing" / f"run{ending}", run, scene)


def ball() -> UserSystem:
    """A ball on the ground, with a shape."""
    ground = Position(lambda t, q: q[0], name="ground")

    def shapes(q: Any) -> list[dict[str, Any]]:
        return [{"shape": "disc", "name": "ball", "at": [0.0, float(q[0])], "radius": 0.1}]

    return UserSystem(1, [[1.0]], lambda t, q, v, control: [-9.81], [ground], drawables=shapes)


@pytest.mark.slow
def test_a_system_of_your_own_has_a_page_and_a_film(tmp_path: Path) -> None:
    system, moving = ball(), "The scene in motion"
    run = simulate(system, State(q=[0.2], v=[0.0]), 0.02, control=lambda t, state: [0.0])
    assert moving in run.page(tmp_path / "run.html").read_text(encoding="utf-8")
    assert plot(run, path=tmp_path / "again.html") == tmp_path / "again.html"
    assert plot(run, path=tmp_path / "run.gif").read_bytes().startswith(b"GIF8")
    assert len(plot(run, scene=system).axes) > len(plot(run).axes)
    known = Trajectory.load(run.save(tmp_path / "run.h5"))
    assert known.system is None
    page = known.page(tmp_path / "known.html").read_text(encoding="utf-8")
    assert moving not in page
    assert "gaussdyn outcome" not in page
    assert moving in known.page(tmp_path / "shown.html", scene=system).read_text(encoding="utf-8")
    with pytest.raises(InputError, match="scene=system"):
        plot(known, path=tmp_path / "known.gif")


def test_a_scene_from_a_file_is_built_again_for_its_page(sliding: tuple[Scene, Trajectory], tmp_path: Path) -> None:
    page = Trajectory.load(sliding[1].save(tmp_path / "run.h5")).page(tmp_path / "run.html").read_text(encoding="utf-8")
    assert sliding[0].title in page
    assert "The scene in motion" in page


def test_other_endings_and_systems_are_refused_before_any_work(
    sliding: tuple[Scene, Trajectory], tmp_path: Path
) -> None:
    scene, run = sliding
    other = build("launched_cube").system
    for act, named in {
        lambda: plot(run, path=tmp_path / "run.xyz"): r"\.html.*\.png.*\.gif",
        lambda: run.page(tmp_path / "run.gif"): r"\.html",
        lambda: run.page(tmp_path / "run.html", scene=other): "nq, nv",
        lambda: run.page(tmp_path / "run.html", scene=3): "System",
        lambda: run.save(tmp_path / "run.csv"): r"\.h5.*to_csv",
        lambda: simulate(scene, out=tmp_path / "run.csv", resume=True): r"\.h5",
    }.items():
        with pytest.raises(InputError, match=named):
            act()
    assert list(tmp_path.iterdir()) == []
