"""``gaussdyn bench robots``, without the peer: what it says of runs that end early."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gaussdyn import ComplementarityProblem, solve
from gaussdyn.cli import app
from gaussdyn.errors import SolveFailed
from gaussdyn.league import robot_race
from gaussdyn.programs.laws.laws import Unilateral


def test_a_run_that_ends_early_is_said_and_ends_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    file, begun = tmp_path / "cart.xml", list[bool]()
    file.write_text("<mujoco/>")
    failed = solve(ComplementarityProblem(W=[[0.0]], q=[-1.0], laws=[Unilateral()]))

    def stops(_file, _steps, random):
        begun.append(random)
        raise SolveFailed(failed)

    monkeypatch.setattr(robot_race, "race", stops)
    said = CliRunner().invoke(app, ["bench", "robots", str(file), "--json"])
    assert said.exit_code == 3
    assert begun == [False, True]
    found = json.loads(said.stdout)
    assert found["results"] == []
    assert [words.partition(":")[0] for words in found["stopped"]] == ["cart held", "cart random"]
