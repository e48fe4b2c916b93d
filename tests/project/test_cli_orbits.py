"""``gaussdyn orbits``: one document, a page, and what is wrong in words."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gaussdyn.cli import app

RUN = CliRunner()


def test_one_orbit(tmp_path):
    page = tmp_path / "orbit.html"
    done = RUN.invoke(app, ["orbits", "stribeck_belt", "--json", "--report", str(page)])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (one,) = document["results"]
    assert document["schema"] == "gaussdyn/orbits/1"
    assert abs(one["period"] - 6.637337523) < 1e-8
    assert [event["kind"] for event in one["events"]] == ["crossing", "stop", "release"]
    assert one["stable"] is True
    text = page.read_text(encoding="utf-8")
    assert "stop of belt" in text
    assert "data:image/png;base64" in text


@pytest.mark.slow
def test_a_branch_and_its_diagram(tmp_path):
    done = RUN.invoke(app, ["orbits", "stribeck_belt", "--set", "u=0.92", "--param", "u", "--range", "0.9", "0.93",
                            "--out", str(tmp_path / "branch.png")])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "end of the range, u = 0.9" in done.stdout
    assert (tmp_path / "branch.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["incline"], "LagrangianSystem"),
        (["stribeck_belt", "--param", "nu"], "parameter"),
        (["stribeck_belt", "--set", "u=1.3"], "comes to rest"),
        (["stribeck_belt", "--set", "eps=0.5", "--frequency", "nu"], "--frequency"),
        (["stribeck_belt", "--start", "a,b"], "numbers"),
        (["stribeck_belt", "--set", "u=0.92", "--param", "u", "--range", "0.2", "0.3"], "around 0.92"),
    ],
)
def test_bad_input_is_said(arguments, words):
    done = RUN.invoke(app, ["orbits", *arguments])
    assert done.exit_code != 0
    assert words in str(done.exception) + done.output
