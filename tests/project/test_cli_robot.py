"""``gaussdyn robot``: what a file holds, what is missing, a run with a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gaussdyn import Trajectory

pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
Cli = Callable[..., Any]
QUADRUPED = Path(__file__).resolve().parents[2] / "examples/quadruped.xml"


def test_a_check_says_what_there_is(cli: Cli) -> None:
    answer = cli("robot", QUADRUPED, "--check", "--json")
    found = answer.document
    assert answer.code == 0
    assert found["schema"] == "gaussdyn/robot/1"
    assert (found["holds"]["hinges"], found["holds"]["free joints"], found["holds"]["actuators"]) == (12, 1, 12)
    assert found["missing"] == []
    assert any("integrator" in line for line in found["ignored"])
    answer = cli("robot", QUADRUPED)
    assert answer.code == 0
    assert "18 velocities" in answer.out
    assert "left_knee:high" in answer.out  # the file's own start breaks the limits of the knees


def test_what_is_missing_is_listed(cli: Cli, tmp_path: Path) -> None:
    """A foot that sticks in the place of a motor."""
    motor, glue = (
        '<motor name="front_left_swing" joint="front_left_swing"/>',
        '<adhesion body="trunk" ctrlrange="0 1"/>',
    )
    (tmp_path / "glue.xml").write_text(QUADRUPED.read_text().replace(motor, glue))
    answer = cli("robot", tmp_path / "glue.xml", "--check")
    assert answer.code == 1
    assert answer.out.count("cannot be had yet") == 1
    assert "transmission by body" in answer.out


def test_a_run_may_go_without_corrections(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "run.h5"
    words = ("--keyframe", "stand", "--run", "0.02", "--no-corrections", "--out", file, "--json")
    assert cli("robot", QUADRUPED, *words).document["run"]["status"] == "COMPLETED"
    assert Trajectory.load(file).settings["stepper"]["corrections"] is False


def test_a_run_is_written(cli: Cli, tmp_path: Path) -> None:
    page, file = tmp_path / "run.html", tmp_path / "run.h5"
    words = ("--keyframe", "stand", "--run", "0.02", "--report", page, "--out", file, "--json")
    answer = cli("robot", QUADRUPED, *words)
    found = answer.document
    assert answer.code == 0
    assert found["run"]["status"] == "COMPLETED"
    assert found["run"]["steps"] == 10
    assert page.stat().st_size > 10_000
    assert file.exists()


@pytest.mark.parametrize(("words", "said"), [
    (("--run", "1", "--keyframe", "stnd"), "Did you mean stand"),
    (("--report", "x.html"), "no --run"),
    (("--run", "1"), "--project"),
    (("--run", "-1"), "--run"),
])  # fmt: skip
def test_bad_input_is_named(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answer = cli("robot", QUADRUPED, *words)
    assert answer.code == 2
    assert said in answer.err


URDF = """<robot name="pair"><link name="base"/>
<link name="leg"><inertial><origin xyz="0 0 -.2"/><mass value="1"/><inertia ixx=".02" iyy=".02" izz="{izz}"/></inertial>
<collision><origin xyz="0 0 -.3"/><geometry><sphere radius=".05"/></geometry></collision></link>
<joint name="hip" type="revolute"><parent link="base"/><child link="leg"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="2" velocity="1"/></joint></robot>"""


def test_a_urdf_file_is_looked_at_run_and_mended(cli: Cli, tmp_path: Path) -> None:
    file, page = tmp_path / "leg.urdf", tmp_path / "run.html"
    file.write_text(URDF.format(izz=".01"))
    found = cli("robot", file, "--check", "--json").document
    assert (found["holds"]["links"], found["holds"]["revolute joints"], found["missing"]) == (2, 1, [])
    answer = cli("robot", file, "--floor", "-0.36", "--run", "0.02", "--report", page, "--json")
    assert answer.code == 0
    assert answer.document["run"]["status"] == "COMPLETED"
    assert page.stat().st_size > 10_000
    file.write_text(URDF.format(izz=".1"))
    answer = cli("robot", file, "--check")
    assert answer.code == 2
    assert "leg.urdf, line 2: inertia of link leg" in answer.err
    assert "--mend" in answer.err
    answer = cli("robot", file, "--check", "--mend")
    assert answer.code == 0
    assert "(mended)" in answer.out
    assert cli("robot", file, "--mend", "--base", "loose").code == 2
