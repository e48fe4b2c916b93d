"""The page that plays a run and can be turned: one file, nothing from elsewhere, small."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from made_up_run import make_run

from gaussdyn import InputError, build, simulate


def test_a_view_is_one_file_that_loads_nothing(tmp_path: Path) -> None:
    scene = build("launched_cube")
    run = simulate(scene, t_end=20 * scene.dt)
    text = run.view(tmp_path / "view.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert 'id="plotly"' not in text
    assert scene.title in text
    assert len(text) < 100_000


def test_a_planar_run_has_no_renderer_of_space(tmp_path: Path) -> None:
    scene = build("incline", mu=0.2)
    text = simulate(scene, t_end=0.02).view(tmp_path / "view.html").read_text(encoding="utf-8")
    assert "webgl2" not in text
    assert "gaussdynFlat" in text


def test_the_text_of_a_run_is_never_markup(tmp_path: Path) -> None:
    scene = build("launched_cube")
    run = simulate(scene, t_end=5 * scene.dt)
    named = replace(scene, title="<b>bold</b>")
    text = run.view(tmp_path / "view.html", scene=named).read_text(encoding="utf-8")
    assert "<b>bold" not in text


def test_what_cannot_be_shown_is_refused_with_what_to_do(tmp_path: Path) -> None:
    run = make_run(50)
    with pytest.raises(InputError, match=r"run\.view\(path, scene=system\)"):
        run.view(tmp_path / "view.html")
    with pytest.raises(InputError, match=r"\.html"):
        run.view(tmp_path / "view.png")
    assert list(tmp_path.iterdir()) == []
