"""The examples run, are short, and print what they should."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHORT = {
    "user_system": ("OK: mass", "COMPLETED", "impacts: [0.40"),
    "scene_with_audit": ("COMPLETED", "angle at the end", "checks hold"),
    "recorded_problem": ("8 contacts, SOLVED", "unique: False"),
    "heavy_on_light": ("COMPLETED", "9819.81", "friction left: "),
    "painleve": ("NONE, 0 motions", "MULTIPLE, 2 motions"),
}


@pytest.mark.parametrize("name", SHORT)
def test_example_runs_and_says_what_it_found(name, capsys):
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 25
    runpy.run_path(str(path), run_name="__main__")
    out = capsys.readouterr().out
    for words in SHORT[name]:
        assert words in out
