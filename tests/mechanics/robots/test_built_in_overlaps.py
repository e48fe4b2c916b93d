"""Shapes that no joint parts: named, and on request out of touch; what can be moved apart is moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError, MoreauJean, State, read_robot, simulate
from gaussdyn.cli.robot_command import touches_always
from gaussdyn.mechanics.initial.overlap import least_overlaps, overlaps, pushed_apart

LINK = '<inertial><mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>'


def ball(radius: float, x: float = 0.0) -> str:
    return f'<collision><origin xyz="{x} 0 0"/><geometry><sphere radius="{radius}"/></geometry></collision>'


def motor(tmp_path: Path, reach: float) -> Path:
    """A rotor within a stator two joints away, a horn that turns into the housing's bump or not, 1 m above a floor."""
    text = f"""<robot name="motor">
      <link name="stator">{LINK}{ball(0.10)}{ball(0.05, reach)}</link>
      <link name="plate">{LINK}</link>
      <link name="rotor">{LINK}{ball(0.08)}{ball(0.05, 0.3)}</link>
      <joint name="one" type="continuous"><parent link="stator"/><child link="plate"/><axis xyz="0 0 1"/></joint>
      <joint name="two" type="continuous"><parent link="plate"/><child link="rotor"/><axis xyz="0 0 1"/></joint>
    </robot>"""
    file = tmp_path / "motor.urdf"
    file.write_text(text)
    return file


def test_a_rotor_in_its_stator(tmp_path: Path) -> None:
    file = motor(tmp_path, reach=-0.3)
    with pytest.raises(InputError, match=r"rotor.* overlap by 0.18 m.*mend=True"):
        read_robot(file, floor=-1.0).start(project=True)
    robot = read_robot(file, mend=True, floor=-1.0)
    (said,) = [line for line in robot.ignored if line.startswith("contact of")]
    assert said.endswith("in one another by 0.18 m")
    run = simulate(robot.system(), robot.start(), 0.05, stepper=MoreauJean(dt=1e-3))
    assert run.status == "COMPLETED"
    assert run.statistics["unsolved_steps"] == 0


def test_what_can_turn_out_of_the_way_still_touches(tmp_path: Path) -> None:
    """The horn of the rotor begins within a bump of the stator, out of which it turns; only the shaft is let be."""
    robot = read_robot(motor(tmp_path, reach=0.32), mend=True)
    (said,) = [line for line in robot.ignored if line.startswith("contact of")]
    assert said.endswith("in one another by 0.18 m")
    system = robot.system()
    assert [round(one.depth, 12) for one in overlaps(system, State(q=robot.home, v=np.zeros(2)))] == [0.08]
    assert overlaps(system, robot.start(project=True), tolerance=1e-10) == []
    start = robot.start(joints={"one": 0.2}, project=True)  # not where both directions are alike: the nearest
    x = 0.3 * np.array([np.cos(start.q.sum()), np.sin(start.q.sum())])
    assert 0.1 <= np.hypot(x[0] - 0.32, x[1]) < 0.101  # they touch, but for what a round overshoots


def test_overlaps_that_are_left_are_the_least(tmp_path: Path) -> None:
    system = read_robot(motor(tmp_path, reach=0.32)).system()
    start = State(q=np.array([0.01, 0.0]), v=np.zeros(2))
    with pytest.raises(InputError):
        pushed_apart(system, start)
    (left,) = least_overlaps(system, start)
    assert left.depth == pytest.approx(0.18, abs=1e-6)


def test_flanges_of_a_hinge_do_not_touch(tmp_path: Path) -> None:
    """Two discs that lie on one another however the upper one turns; a lever that merely begins on the lower one."""
    disc = '<collision><origin xyz="0 0 {z}"/><geometry><box size=".2 .2 .1"/></geometry></collision>'
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 {z}"/>'
        f'<axis xyz="{axis}"/></joint>'
        for name, kind, parent, child, axis, z in (
            ("one", "fixed", "base", "plate", "0 0 1", 0.0),
            ("pan", "continuous", "plate", "gear", "0 0 1", 0.0),
            ("two", "continuous", "gear", "head", "0 0 1", 0.1),
            ("tilt", "continuous", "head", "arm", "0 1 0", 0.2),
            ("three", "continuous", "arm", "lever", "0 1 0", 0.0),
        )
    )
    shapes = {"base": disc.format(z=0.0), "head": disc.format(z=0.0), "lever": ball(0.05, 0.0)}
    links = "".join(
        f'<link name="{name}">{LINK}{shapes.get(name, "")}</link>'
        for name in ("base", "plate", "gear", "head", "arm", "lever")
    )
    links = links.replace('<origin xyz="0.0 0 0"/>', '<origin xyz="0 0 -0.1"/>')  # the ball begins on the head
    (tmp_path / "flanges.urdf").write_text(f'<robot name="flanges">{links}{joints}</robot>')
    (told,) = touches_always(read_robot(tmp_path / "flanges.urdf", base="free"))
    assert "head" in told
    assert "--mend" in told
    robot = read_robot(tmp_path / "flanges.urdf", base="free", mend=True)
    (said,) = [line for line in robot.ignored if line.startswith("contact of")]
    assert said.startswith("contact of base")
    assert said.endswith("head: on one another wherever joints stand")
    run = simulate(robot.system(), robot.start(rates={"two": 1.0}), 0.02, stepper=MoreauJean(dt=1e-3))
    assert run.status == "COMPLETED"
    assert run.event_counts == {}
