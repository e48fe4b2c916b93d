"""``gaussdyn forces``: ranges in words and as one document, of scenes and of runs, and what is wrong in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gaussdyn import build, simulate
from gaussdyn.cli import app

RUN = CliRunner()


def test_ranges_in_words_with_what_would_decide() -> None:
    done = RUN.invoke(app, ["forces", "table", "--exact"])
    assert done.exit_code == 0, done.output
    assert "table.foot0/floor.N is between 0 and 3 N (exactly 0 to 3)" in done.stdout
    assert "2 numbers are free" in done.stdout


def test_one_document_of_a_leg_and_of_a_sum(tmp_path: Path) -> None:
    page, picture = tmp_path / "legs.html", tmp_path / "legs.svg"
    done = RUN.invoke(app, ["forces", "four_legs", "--of", "leg3", "--of", "floor", "--json",
                            "--pair", "leg0.T1", "leg1.T1", "--report", str(page), "--out", str(picture)])  # fmt: skip
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["schema"] == "gaussdyn/forces/1"
    assert [one["unique"] for one in document["results"]] == [False, True]
    assert document["results"][1]["low"] == pytest.approx(20.0 * 9.81, abs=1e-8)
    assert document["verified"] is True
    assert document["pair"]["bounded"] is True
    assert "leg3" in page.read_text(encoding="utf-8")
    assert picture.stat().st_size > 1000


def test_a_run_is_looked_at_where_it_was_saved(tmp_path: Path) -> None:
    file = tmp_path / "run.h5"
    simulate(build("table"), t_end=0.05).save(file)
    done = RUN.invoke(app, ["forces", str(file), "--at", "0.02", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["t"] == pytest.approx(0.02, abs=2e-3)
    assert set(document["modes"].values()) == {"slips"}


@pytest.mark.parametrize(("arguments", "said"), [
    (["nothing"], "neither such a file nor such a scene"),
    (["table", "--of", "legx"], "a word in the ids of contacts"),
    (["four_legs", "--exact"], "no single polyhedron"),
    (["table", "--out", "x.bmp"], "a file ending in"),
    (["table", "--set", "mu"], "NAME=NUMBER"),
])  # fmt: skip
def test_what_is_wrong_is_said(arguments: list[str], said: str) -> None:
    done = RUN.invoke(app, ["forces", *arguments])
    assert done.exit_code != 0
    assert said in str(done.exception) + done.output


def test_a_time_beyond_the_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.h5"
    simulate(build("table"), t_end=0.01).save(file)
    done = RUN.invoke(app, ["forces", str(file), "--at", "7"])
    assert "a time of the run" in str(done.exception) + done.output


@pytest.mark.parametrize("command", ["forces", "margins"])
def test_a_run_brings_its_own_parameters_and_a_scene_of_the_catalogue(
    cli: Callable[..., Any], tmp_path: Path, command: str
) -> None:
    run = simulate(build("incline"), t_end=0.002)
    run.save(known := tmp_path / "known.h5")
    replace(run, scene="elsewhere").save(unknown := tmp_path / "unknown.h5")
    set_too, not_listed = cli(command, known, "--set", "mu=0.3"), cli(command, unknown)
    assert (set_too.code, not_listed.code) == (2, 2)
    assert "leave --set" in set_too.err
    assert "elsewhere" in not_listed.err
    assert "gaussdyn run table --out run.h5" in not_listed.err
