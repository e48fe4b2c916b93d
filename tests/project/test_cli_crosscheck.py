"""gaussdyn crosscheck: its document, its table, its picture, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., object]


@pytest.mark.slow
def test_document_and_picture(cli: Cli, tmp_path: Path) -> None:
    picture = tmp_path / "errors.svg"
    answer = cli(
        "crosscheck", "pendulum", "--with", "penalty,smooth", "--stiffness", "1e5,1e6", "--start", "slow", "--t-end",
        "0.1", "--report", picture, "--json",
    )  # fmt: skip
    found = answer.document
    assert answer.code == 0
    assert (found["schema"], found["scene"], found["start"]) == ("gaussdyn/crosscheck/1", "pendulum", "slow")
    assert found["report"] == str(picture)
    assert [one["name"] for one in found["results"]] == ["penalty", "smooth"]
    assert 0.9 < found["results"][0]["orders"]["position"]["value"] < 1.1
    text = picture.read_text()
    assert "<svg" in text


def test_table_for_people_and_a_page(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    answer = cli("crosscheck", "free_body", "--with", "penalty, smooth", "--t-end", "0.1", "--report", page)
    assert "gaussdyn crosscheck free_body" in page.read_text()
    assert answer.code == 0
    assert "penalty: does not apply" in answer.out
    assert "it agrees" in answer.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "unknown"),
        (("pendulum", "--with", "magic"), "penalty, viscous, smooth"),
        (("pendulum", "--stiffness", "1e3,big"), "numbers with commas"),
        (("pendulum", "--stiffness", "1e4,1e3"), "rising"),
        (("pendulum", "--t-end", "-1"), "Write --t-end 1."),
        (("pendulum", "--set", "amplitude=9"), "amplitude"),
        (("pendulum", "--report", "errors.docx"), ".svg"),
    ],
)
def test_bad_input(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answer = cli("crosscheck", *words)
    assert answer.code == 2
    assert answer.out == ""
    if said != "unknown":
        assert said in answer.err
