"""Reports in every format, and what is refused before a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("plotly")
pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")

from gaussdyn import InputError, build, simulate
from gaussdyn.integrate.trajectory import Trajectory
from gaussdyn.mechanics.scene import Scene
from gaussdyn.report.animation import animate
from gaussdyn.report.write import check_report, write_report

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".html": b"<!doctype html>"}


@pytest.fixture(scope="module")
def sliding() -> tuple[Scene, Trajectory]:
    scene = build("incline", mu=0.2)
    return scene, simulate(scene, t_end=0.02)


@pytest.mark.parametrize("ending", STARTS)
def test_the_ending_decides_the_format(sliding: tuple[Scene, Trajectory], tmp_path: Path, ending: str) -> None:
    scene, run = sliding
    path = write_report(tmp_path / f"run{ending.upper()}", run, scene)
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
    with pytest.raises(InputError, match="ffmpeg"):
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


def test_places_that_cannot_be_written_are_named(sliding: tuple[Scene, Trajectory], tmp_path: Path) -> None:
    scene, run = sliding
    for ending in (".gif", ".png", ".html"):
        with pytest.raises((InputError, OSError), match="missing"):
            write_report(tmp_path / "missing" / f"run{ending}", run, scene)
