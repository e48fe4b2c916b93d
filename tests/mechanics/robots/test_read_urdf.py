"""URDF files: against MuJoCo's compiler, against closed forms, and what is wrong with one, by file and line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutated_texts import mutated

import gaussdyn
from gaussdyn import ContactLaw, InputError, MoreauJean, read_robot
from gaussdyn.mechanics.robots import inertias
from gaussdyn.mechanics.robots.read_robot import survey
from gaussdyn.mechanics.specs import system_of

BODY = (
    '<inertial><origin xyz=".1 .05 0" rpy=".2 .1 .3"/><mass value="{m}"/>'
    '<inertia ixx=".1" ixy=".01" ixz=".02" iyy=".2" iyz=".03" izz=".25"/></inertial>'
)
ZOO = f"""<?xml version="1.0"?>
<robot name="zoo">
 <material name="red"><color rgba="1 0 0 1"/></material>
 <link name="base">{BODY.format(m=3)}
  <visual><geometry><box size="1 1 1"/></geometry><material name="red"/></visual></link>
 <link name="arm">{BODY.format(m=2)}
  <collision><origin xyz="0 0 .1" rpy="1 2 3"/><geometry><box size=".1 .2 .3"/></geometry></collision>
  <collision name="tip"><geometry><sphere radius=".1"/></geometry></collision></link>
 <link name="tool">{BODY.format(m=0.3)}</link>
 <link name="slider">{BODY.format(m=1)}</link>
 <link name="wheel">{BODY.format(m=1)}</link>
 <link name="puck">{BODY.format(m=1.5)}</link>
 <link name="balloon">{BODY.format(m=0.5)}</link>
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1 2 3" rpy=".3 .2 .1"/>
  <axis xyz="1 2 3"/><limit lower="-1" upper="2" effort="5" velocity="3"/><dynamics damping=".3" friction=".2"/></joint>
 <joint name="flange" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz=".1 0 .4" rpy="1 0 .5"/></joint>
 <joint name="lift" type="prismatic"><parent link="tool"/><child link="slider"/><origin xyz=".1 0 0" rpy="0 .3 0"/>
  <axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="0" velocity="0"/></joint>
 <joint name="spin" type="continuous"><parent link="slider"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
 <joint name="glide" type="planar"><parent link="base"/><child link="puck"/><origin xyz="0 2 3" rpy=".3 .2 .1"/>
  <axis xyz="1 -2 3"/></joint>
 <joint name="fly" type="floating"><parent link="base"/><child link="balloon"/>
  <origin xyz="0 -2 3" rpy=".3 .2 .1"/></joint>
</robot>"""
ARM = f"""<robot name="arm">
<link name="base"/>
<link name="upper">{BODY.format(m=1)}</link>
<link name="lower">{BODY.format(m=1)}
<collision><geometry><sphere radius=".1"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/><origin xyz="0 0 -1"/>
<limit lower="-1" upper="1" effort="9" velocity="1"/><mimic joint="shoulder" multiplier="2" offset=".1"/></joint>
</robot>"""


def read(folder: Path, text: str, **options: Any) -> gaussdyn.mechanics.robots.robot.Robot:
    (folder / "robot.urdf").write_text(text)
    return read_robot(folder / "robot.urdf", **options)


def test_mass_and_forces_are_those_of_mujocos_compiler(tmp_path: Path) -> None:
    """Every kind of joint, inertias that are turned, links fixed to others: M and bias to 1e-12."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    robot = read(tmp_path, ZOO)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.urdf"))
    d, system, rng = mujoco.MjData(m), robot.system(), np.random.default_rng(0)
    assert robot.home == pytest.approx(m.qpos0, abs=1e-15)
    limits = m.jnt_range[m.jnt_limited.astype(bool)].tolist()
    assert [[one.low, one.high] for body in robot.bodies for one in body.joints if one.limited] == limits
    for _ in range(5):
        d.qpos[:], d.qvel[:] = m.qpos0, rng.normal(size=m.nv)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        mujoco.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, M, d.qM) if hasattr(d, "qM") else mujoco.mj_fullM(m, d, M)
        q, v = d.qpos.copy(), d.qvel.copy()
        assert np.abs(system.mass(q) - M).max() < 1e-12 * np.abs(M).max()
        h = d.qfrc_passive - d.qfrc_bias
        assert np.abs(system.force(0.0, q, v) - h).max() < 1e-12 * np.abs(h).max()


def test_what_a_file_says_is_there(tmp_path: Path) -> None:
    robot = read(tmp_path, ZOO, base="free", floor=-1.0, contact=ContactLaw(mu=0.7))
    system = robot.system()
    assert [body.name for body in robot.bodies] == ["base", "arm", "tool", "slider", "wheel", "puck", "balloon"]
    assert [one.name for one in robot.actuators] == ["shoulder", "lift", "spin"]
    assert robot.bodies[1].joints[0].effort_high == 5.0
    assert robot.colours == {"base": (1.0, 0.0, 0.0, 1.0)}
    assert any("shoulder 3" in line for line in robot.ignored)
    state = robot.start(joints={"root": (0.0, 0.0, 0.5)})
    assert system.nv == 6 + 3 + 3 + 6
    assert system.frame(state.q, "balloon").x == pytest.approx([0.0, -2.0, 3.5])
    seen = {one["name"]: one.get("colour") for one in system.drawables(state.q)}
    assert seen["base"] == [1.0, 0.0, 0.0, 1.0]
    assert seen["arm.tip"] is None
    again = system_of(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert again.spec() == system.spec()


def test_a_mimic_joint_follows(tmp_path: Path) -> None:
    robot = read(tmp_path, ARM)
    with pytest.raises(InputError, match="elbow_mimic"):
        robot.start()
    state = robot.start(joints={"shoulder": 0.2}, project=True)
    run = gaussdyn.simulate(robot.system(), state, 0.1, stepper=MoreauJean(dt=2e-3), control=np.array([3.0]))
    assert run.status == "COMPLETED"
    assert run["elbow.angle"] == pytest.approx(2.0 * run["shoulder.angle"] + 0.1, abs=1e-9)
    assert np.ptp(run["shoulder.angle"]) > 1e-3


def test_a_fixed_joint_neither_follows_nor_leads(tmp_path: Path) -> None:
    """Fixed, it says nothing; what mimics one stands at its offset."""
    fixed = ARM.replace('name="elbow" type="revolute"', 'name="elbow" type="fixed"')
    robot = read(tmp_path, fixed)
    assert robot.parts == ()
    assert "mimic of joint elbow, which is fixed" in robot.ignored
    led = read(tmp_path, ARM.replace('name="shoulder" type="revolute"', 'name="shoulder" type="fixed"'))
    run = gaussdyn.simulate(led.system(), led.start(project=True), 0.05, stepper=MoreauJean(dt=2e-3))
    assert run["elbow.angle"] == pytest.approx(0.1, abs=1e-9)


BAD = [
    (("</robot>", ""), r"line 1\d: given no element found.*Was it written to its end"),
    (('<link name="base"/>', '<link name="base"/><lonk/>'),
     r"line 2: <robot>: given element <lonk>.*Did you mean link"),
    (('<axis xyz="0 1 0"/>\n', '<axis xyz="0 1 0" xzy="1"/>\n'), r"line 6: <axis>: given attribute xzy"),
    (('<link name="base"/>', '<link name="upper"/>'), r"line 3: links: given two called 'upper'.*line 2 has not"),
    (('name="elbow" type="revolute"', 'name="shoulder" type="revolute"'),
     r"line 8: joints: given two called 'shoulder'"),
    (('type="revolute"><parent link="upper"', 'type="hinge"><parent link="upper"'), r"line 8: type of joint elbow"),
    (('<parent link="upper"/>', '<parent link="uper"/>'), r"line 8: parent of joint elbow.*Did you mean upper"),
    (('<parent link="base"/>', '<parent link="lower"/>'), r"circle"),
    (('<child link="lower"/>', '<child link="upper"/>'), r"line 8: child of joint elbow"),
    (('<link name="base"/>', '<link name="base"/><link name="more"/>'),
     r"line 2: links that no joint holds: given base, more"),
    (('lower="-1" upper="1"', 'lower="2" upper="1"'), r"line 7: limits of joint shoulder: given lower 2, upper 1"),
    (('<limit lower="-1" upper="1" effort="9" velocity="1"/></joint>', "</joint>"),
     r"line 6: joint shoulder: given no <limit>"),
    (('mimic joint="shoulder"', 'mimic joint="elbow"'), r"line 9: mimic of joint elbow: given itself"),
    (('mimic joint="shoulder"', 'mimic joint="sholder"'), r"Did you mean shoulder"),
    (('ixx=".1"', 'ixx="-.1"'), r"line 3: inertia of link upper.*negative.*mend=True"),
    (('izz=".25"', 'izz="2.5"'), r"line 3: inertia of link upper.*exceeds the sum"),
    (('<mass value="1"/>', '<mass value="0"/>'), r"line 3: inertia of link upper: given an inertia without a mass"),
    (('<link name="lower">' + BODY.format(m=1), '<link name="lower">'),
     r"line 4: link lower: given no mass moves with it"),
    (('xyz="0 0 -1"', 'xyz="0 0 inf"'), r"line 8: xyz of <origin>: given '0 0 inf'; allowed: 3 numbers"),
    (('radius=".1"', 'radius="0"'), r"line 5: radius of <sphere>"),
    (('<sphere radius=".1"/>', '<mesh filename="a.stl"/>'), r"line 5: filename of <mesh>: given 'a.stl'"),
    (("<robot name=", '<!DOCTYPE r [<!ENTITY a "b">]><robot name='), r"entities"),
    (('<link name="base"/>', '<xacro:include filename="a"/><link name="base"/>'),
     r"line 2: <xacro:include>.*Run xacro"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), BAD)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    assert change[0] in ARM
    with pytest.raises(InputError, match=words):
        read(tmp_path, ARM.replace(*change, 1))


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"robot.urdf, line 1: file: given <mujoco>"):
        read(tmp_path, "<mujoco/>")


def test_impossible_inertias_are_mended_on_request(tmp_path: Path) -> None:
    """The nearest second moments that are not negative; a small ball for what has no inertia; all of it is said."""
    text = (
        ARM.replace('izz=".25"', 'izz="2.5"', 1).replace(BODY.format(m=1), "").replace("<link name", "<link  name", 1)
    )
    robot = read(tmp_path, text, mend=True)
    assert sum("(mended)" in line for line in robot.ignored) == 2
    assert all(not inertias.impossible(np.array(body.inertia)) for body in robot.bodies)
    plate = np.diag([1.0, 2.0, 4.0])
    assert inertias.mended(plate) == pytest.approx(np.diag([1.5, 2.5, 4.0]))
    assert inertias.mended(np.diag([1.0, 2.0, 2.5])) == pytest.approx(np.diag([1.0, 2.0, 2.5]))


def test_a_mesh_that_is_not_there_is_left_out_on_request(tmp_path: Path) -> None:
    robot = read(tmp_path, ARM.replace('<sphere radius=".1"/>', '<mesh filename="package://a/b.stl"/>'), mend=True)
    assert any("a mesh that is not there" in line for line in robot.ignored)


def test_what_other_programs_put_there_is_left_out(tmp_path: Path) -> None:
    text = ARM.replace("</robot>", '<gazebo/><transmission name="t"/><drake:joint/></robot>')
    text = text.replace("<robot name", '<robot xmlns:drake="d" name')
    left = read(tmp_path, text).ignored
    assert {"elements <gazebo>: for other programs", "elements <drake:joint>: for other programs"} <= set(left)
    odd = text.replace("<gazebo/>", "<gazbo/>")
    assert any("gazbo" in line for line in read(tmp_path, odd, mend=True).ignored)
    found = survey(tmp_path / "robot.urdf", mend=True)
    assert found["holds"]["links"] == 3
    assert found["missing"] == []


def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="base"):
        read(tmp_path, ARM, base="loose")
    (tmp_path / "robot.xml").write_text("<mujoco/>")
    with pytest.raises(InputError, match="a URDF file"):
        read_robot(tmp_path / "robot.xml", floor=0.0)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_mutated_files_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """No exception but InputError, no warning, no end of time."""
    rng, read_ones, words = np.random.default_rng(seed), 0, set()
    for _ in range(60 if seed == 0 else 1000):
        try:
            read(tmp_path, mutated(ZOO, rng), mend=bool(rng.integers(2))).system()
            read_ones += 1
        except InputError as error:
            words.add(re.sub(r"\d+", "", str(error))[:40])
    assert read_ones > 5
    assert len(words) > 8


def test_a_cylinder_and_a_mesh_stand_on_a_floor(tmp_path: Path) -> None:
    can = '<cylinder radius=".1" length=".4"/>'
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.2, 0.2)]
    (tmp_path / "crate.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners))
    for shape in (can, '<mesh filename="crate.obj"/>'):
        text = (
            '<robot name="can"><link name="can"><inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".01" '
            f'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>{shape}</geometry></collision></link></robot>'
        )
        robot = read(tmp_path, text, base="free", floor=-0.2)
        run = gaussdyn.simulate(robot.system(), robot.start(), 0.01, stepper=MoreauJean(dt=1e-3))
        assert str(run.status) == "COMPLETED"
        assert run.forces("can").force[-1] == pytest.approx([0.0, 0.0, 9.81], abs=1e-9)
