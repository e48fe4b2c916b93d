"""``gaussdyn equilibria``: one document, a picture, and what is wrong in words."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gaussdyn.cli import app

RUN = CliRunner()


def test_document_and_page(tmp_path):
    page = tmp_path / "trident.html"
    done = RUN.invoke(app, ["equilibria", "duffing_friction", "--param", "A", "--range", "-2", "5", "--at", "4.5",
                            "--json", "--report", str(page)])  # fmt: skip
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["schema"] == "gaussdyn/equilibria/1"
    assert [one["components"] for one in document["results"]] == [1, 3]
    assert [one["from"] for one in document["results"]] == [-2.0, pytest.approx(3.0, abs=1e-10)]
    assert {one["kind"] for one in document["bifurcations"]} == {"splitting"}
    assert document["at"][0]["components"] == 3
    assert document["complete"] is True
    text = page.read_text(encoding="utf-8")
    assert "splitting" in text
    assert "data:image/png;base64" in text


def test_picture_of_regions_and_words(tmp_path):
    done = RUN.invoke(app, ["equilibria", "rest_scenarios", "--param", "lam", "--range", "0.5", "1.5",
                            "--out", str(tmp_path / "split.png")])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "splitting at (0, 0)" in done.stdout.replace("(-0,", "(0,").replace(" -0)", " 0)")
    assert (tmp_path / "split.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["incline", "--param", "mu"], "LagrangianSystem"),
        (["duffing_friction", "--param", "B"], "parameter"),
        (["duffing_friction", "--param", "A", "--set", "A=1"], "does not move"),
        (["duffing_friction", "--param", "A", "--window", "1;2"], "LOW,HIGH"),
    ],
)
def test_bad_input_is_said(arguments, words):
    done = RUN.invoke(app, ["equilibria", *arguments])
    assert done.exit_code != 0
    assert words in str(done.exception) + done.output
