"""Robots from MJCF files: names, starts, what is left out, what is refused, contacts by MuJoCo's rules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from mutated_texts import mutated

import gaussdyn
from gaussdyn import ContactLaw, InputError, MoreauJean, read_robot
from gaussdyn.errors import BackendMissing
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.specs import system_of

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")

WALKER = """<mujoco model="walker"><option timestep="0.004" integrator="RK4"/>
<default><geom friction="0.8 .1 .1"/></default>
<worldbody><geom name="ground" type="plane" size="9 9 1" friction="0.5 .1 .1"/>
 <body name="trunk" pos="0 0 0.45"><freejoint name="root"/><geom name="shell" type="box" size=".2 .1 .05"/>
  <body name="leg/left" pos="0 .1 0"><joint name="hip" axis="0 1 0" range="-60 60" damping=".5"/>
   <geom name="thigh" type="capsule" fromto="0 0 0 0 0 -.2" size=".03" rgba="1 .2 .1 1"/>
   <body name="foot" pos="0 0 -.4"><geom type="sphere" size=".06" priority="1" friction="1.5 0 0"/>
    <geom name="badge" type="box" size=".01 .01 .01" contype="0" conaffinity="0"/></body></body></body>
 <body name="brick" pos="2 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" contype="2" conaffinity="1"/></body>
</worldbody>
<contact><exclude body1="trunk" body2="brick"/></contact>
<actuator><motor name="drive" joint="hip" gear="3" ctrlrange="-1 1" ctrllimited="true"/></actuator>
<keyframe><key name="high" qpos="0 0 1 1 0 0 0 .2 2 0 .1 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def walker(tmp_path: Path):
    (tmp_path / "walker.xml").write_text(WALKER)
    return read_robot(tmp_path / "walker.xml")


def test_names_are_those_of_the_file(walker) -> None:
    assert [body.name for body in walker.bodies] == ["trunk", "leg_left", "foot", "brick"]
    assert [joint.name for body in walker.bodies for joint in body.joints] == ["root", "hip", "joint2"]
    assert walker.actuators[0].name == "drive"
    assert walker.dt == 0.004
    assert "trunk.shell" not in walker.colours  # the grey that the compiler gives is no colour of the file
    drawn = {one["name"]: one.get("colour") for one in walker.system().drawables(walker.home)}
    assert drawn["leg_left.thigh"] == pytest.approx([1.0, 0.2, 0.1, 1.0])
    assert any("RK4" in line for line in walker.ignored)
    assert walker.system() is walker.system()


def test_coefficients_of_a_pair_follow_mujocos_rule(walker) -> None:
    """The larger friction, but that of the geom of higher priority; masks, parents, exclusions."""
    system, start = walker.system(), walker.start("high")
    state = system.state({"root": (0, 0, 0.35), "joint2": (0.1, 0, 0.1)})
    found = {row.id.replace(":", "/").split("/")[0]: row.mu for row in system.rows(0.0, state.q, start.v)}
    touching = {tuple(sorted(row.between)) for row in system.rows(0.0, state.q, start.v) if row.between[0]}
    assert ("brick", "ground_") in touching
    assert ("brick", "foot") in touching
    assert ("foot", "ground_") in touching
    assert not {("brick", "trunk"), ("leg_left", "trunk"), ("foot", "leg_left")} & touching
    assert found["foot.geom3"] == 1.5
    assert walker.contact in (ContactLaw(mu=0.8), ContactLaw(mu=1.5))


def test_a_start_is_named_and_mended(walker) -> None:
    with pytest.raises(InputError, match=r"foot.* overlap by 0\.01"):
        walker.start()
    state = walker.start(project=True)
    rows = walker.system().rows(0.0, state.q, state.v)
    assert min(row.gap for row in rows if not row.bilateral) >= -1e-11
    with pytest.raises(InputError, match="hip:high"):
        walker.start("high", joints={"hip": 2.0})
    with pytest.raises(InputError, match="Did you mean high"):
        walker.start("hihg")


def test_control_is_the_vector_of_actuators(walker) -> None:
    system, state = walker.system(), walker.start("high")
    told, free = (system.force(0.0, state.q, state.v, np.array([u])) for u in (7.0, 0.0))
    assert (told - free)[system.velocities("hip")] == pytest.approx([3.0])  # limited to 1, gear 3
    with pytest.raises(InputError, match="control"):
        system.force(0.0, state.q, state.v, np.zeros(2))


def test_a_run_is_as_good_as_any(walker, tmp_path: Path) -> None:
    """Names in columns and contacts, energy, a file to go on from, and a spec with the text of the model."""
    system, state = walker.system(), walker.start(project=True)
    step = MoreauJean(dt=2e-3)
    run = gaussdyn.simulate(system, state, 0.02, stepper=step, control=lambda t, state: [np.sin(9 * t)])
    assert run["hip.angle"][0] == state.q[system.coordinates("hip")][0]
    assert run.between("foot", "ground_").normal_force[-1] > 0.0
    assert np.abs(run["energy_error"]).max() < 1e-6  # M changes along a step: O(dt^2)
    again = system_of(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert "walker" in again.source
    twin = gaussdyn.simulate(again, state, 0.02, stepper=step, control=lambda t, state: [np.sin(9 * t)])
    assert np.array_equal(run.q, twin.q)


FIELD = """<asset><hfield name="hills" nrow="3" ncol="4" size="1.5 1 .5 .1"
 elevation="0 .1 .2 .3  .4 .5 .6 .7  .8 .9 1 .2"/></asset>"""


def test_ellipsoids_and_height_fields_are_those_of_mujoco(tmp_path: Path) -> None:
    import mujoco

    (tmp_path / "egg.xml").write_text(f"""<mujoco>{FIELD}<worldbody>
 <geom name="ground" type="hfield" hfield="hills" pos=".2 .1 .3" euler="0 0 30"/>
 <body name="egg" pos="0 0 2"><freejoint/>
  <geom name="shell" type="ellipsoid" size=".1 .2 .3" pos=".1 0 0" euler="0 20 40"/>
 </body></worldbody></mujoco>""")
    system = read_robot(tmp_path / "egg.xml").system()
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "egg.xml"))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    (field,) = system.obstacles
    assert field.corners.shape == (12, 3)
    corners = field.corners @ matrix_of(field.turn).T + field.at
    middle = corners.mean(axis=0)
    for corner in corners:
        start = np.append(corner[:2] + 1e-6 * (middle - corner)[:2], 5.0)
        depth = mujoco.mj_ray(m, d, start, [0.0, 0.0, -1.0], None, 1, -1, np.zeros(1, dtype=np.int32), None)
        assert 5.0 - depth == pytest.approx(corner[2], abs=2e-6)
    (shell,) = system.bodies[0].shapes
    assert shell.half == (0.1, 0.2, 0.3)
    assert (
        np.abs(matrix_of(shell.turn) @ np.diag([1, 2, 3]) - d.geom_xmat[1].reshape(3, 3) @ np.diag([1, 2, 3])).max()
        < 1e-12
    )


@pytest.mark.parametrize(("text", "words"), [
    ("<mujoco><worldbody><body><joint/><geom size='0'/></body></worldbody></mujoco>", "MuJoCo's compiler accepts"),
    ("<mujoco><wordbody/></mujoco>", "wordbody.*Did you mean worldbody"),
    ("<mujoco><worldbody><geom sise='1'/></worldbody></mujoco>", "sise.*line 1.*Did you mean size"),
    ("<mujoco><worldbody><geom name='a' size='1'/><geom name='a' size='1'/></worldbody></mujoco>", "'a'.*no other one"),
    ("<mujoco", "bad.xml.*written to its end"),
    ("", "written to its end"),
    (WALKER.replace("<worldbody>", FIELD + "<worldbody>").replace(
        'type="sphere" size=".06"', 'type="hfield" hfield="hills"'), "contacts of a height field on a body"),
    (WALKER.replace('<motor name="drive" joint="hip" gear="3" ctrlrange="-1 1" ctrllimited="true"/>',
                    '<muscle name="drive" joint="hip" lengthrange="0 1"/>'), "drive: a muscle"),
])  # fmt: skip
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.xml").write_text(text)
    with pytest.raises(InputError, match=words):
        read_robot(tmp_path / "bad.xml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file that is there"):
        read_robot(tmp_path / "none.xml")
    (tmp_path / "robot.stl").write_text("")
    with pytest.raises(InputError, match=r"ends in \.xml, or URDF"):
        read_robot(tmp_path / "robot.stl")


FULL = WALKER.replace('<geom name="shell"', '<site name="imu" pos=".1 0 0" size=".01"/><geom name="shell"').replace(
    "</actuator>", """<general name="slow" joint="hip" dyntype="filter" dynprm=".1" gainprm="2"/></actuator>
<tendon><fixed name="t" limited="true" range="-1 1" stiffness="2"><joint joint="hip" coef=".5"/></fixed></tendon>
<equality><weld body1="foot" body2="brick" active="false"/></equality>
<sensor><gyro site="imu"/><accelerometer site="imu"/><touch site="imu"/><force site="imu"/><tendonpos tendon="t"/>
<jointpos joint="hip"/><actuatorfrc actuator="slow"/><framequat objtype="geom" objname="shell"/></sensor>"""
)  # fmt: skip


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_mutated_files_are_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """No exception but InputError, no warning, nothing written; some of both kinds."""
    monkeypatch.chdir(tmp_path)
    rng, file, read = np.random.default_rng(seed), tmp_path / "mutated.xml", 0
    for _ in range(40 if seed == 0 else 1000):
        file.write_text(mutated(FULL, rng))
        try:
            read_robot(file).system()
            read += 1
        except InputError:
            pass
    assert 3 < read < 1000
    assert [path.name for path in tmp_path.iterdir()] == ["mutated.xml"]


def test_without_mujoco_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "walker.xml").write_text(WALKER)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(BackendMissing, match=r"gaussdyn\[mjcf\]"):
        read_robot(tmp_path / "walker.xml")


def test_a_run_goes_on_bit_for_bit(walker, tmp_path: Path) -> None:
    system, state, method, told = walker.system(), walker.start("high"), MoreauJean(dt=2e-3), np.array([0.4])
    whole = gaussdyn.simulate(system, state, 0.02, stepper=method, control=told)
    gaussdyn.simulate(system, state, 0.01, stepper=method, control=told, out=tmp_path / "run.h5", chunk=2)
    rest = gaussdyn.simulate(system, state, 0.02, stepper=method, control=told, out=tmp_path / "run.h5", resume=True)
    assert np.array_equal(whole.final.q, rest.final.q)
    assert np.array_equal(whole.final.v, rest.final.v)


def test_includes_meshes_and_masses_that_cannot_be_are_named_and_mended(tmp_path: Path) -> None:
    """With what to do; a body without mass gets a little on request, and the file's own numbers stay otherwise."""
    (tmp_path / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (tmp_path / "b.xml").write_text('<mujoco><include file="a.xml"/></mujoco>')
    with pytest.raises(InputError, match=r"already included.*take this <include> out"):
        read_robot(tmp_path / "a.xml")
    mesh = '<asset><mesh name="m" file="none.stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>'
    (tmp_path / "mesh.xml").write_text(f"<mujoco>{mesh}</mujoco>")
    with pytest.raises(InputError, match=r"none.stl.*relative to the file"):
        read_robot(tmp_path / "mesh.xml")
    body = '<body><joint name="{0}"/><inertial pos="0 0 0" mass="{1}" diaginertia="{2}"/></body>'
    bodies = body.format("light", "1e-20", "1e-20 1e-20 1e-20") + body.format("flat", 1, ".1 .1 .5")
    (tmp_path / "bad.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    with pytest.raises(InputError, match="mend=True"):
        read_robot(tmp_path / "bad.xml")
    light, flat = read_robot(tmp_path / "bad.xml", mend=True).bodies
    assert light.mass == pytest.approx(1e-3)
    assert flat.mass == 1.0
    moments = np.linalg.eigvalsh(flat.inertia)
    assert moments[2] <= moments[0] + moments[1] + 1e-12


@pytest.mark.parametrize(("condim", "law", "size"), [(4, (1.5, 0.01, 0.0), 4), (6, (1.5, 0.01, 0.003), 6)])
def test_torsional_and_rolling_friction_are_those_of_the_file(tmp_path: Path, condim, law, size) -> None:
    text = WALKER.replace('priority="1" friction="1.5 0 0"', f'priority="1" condim="{condim}" friction="1.5 .01 .003"')
    (tmp_path / "walker.xml").write_text(text)
    robot = read_robot(tmp_path / "walker.xml")
    state = robot.start(project=True)
    rows = robot.system().near(0.0, state.q, np.ones(14), 0.1).rows(0.0, state.q, state.v)
    foot = next(row for row in rows if "foot" in row.between)
    assert ((foot.mu, foot.mu_t, foot.mu_r), foot.size) == (law, size)


def test_what_flags_switch_off_is_not_there(tmp_path: Path) -> None:
    def read(flags: str):
        text = WALKER.replace("/>", f"><flag {flags}/></option>", 1)
        (tmp_path / "walker.xml").write_text(text.replace("<joint ", '<joint frictionloss=".1" ', 1))
        return read_robot(tmp_path / "walker.xml")

    def kinds(flags: str):
        return {row.kind for row in read(flags).system().blanks}

    assert kinds("sensor='disable'") == {"unilateral", "dry"}
    assert kinds("limit='disable'") == {"dry"}
    assert kinds("frictionloss='disable'") == {"unilateral"}
    assert kinds("constraint='disable'") == set()
    start = read("sensor='disable'").start(project=True)
    for flags, touches in (("sensor='disable'", True), ("contact='disable'", False), ("constraint='disable'", False)):
        assert bool(read(flags).system().near(0.0, start.q, start.v, 0.1).contacts.blanks) == touches
    assert read("gravity='disable'").gravity == (0.0, 0.0, 0.0)


def test_bodies_of_mocap_stand_where_they_are(tmp_path: Path) -> None:
    body = '<body name="hand" mocap="true" pos="0 0 2"><geom name="palm" size=".1"/></body></worldbody>'
    (tmp_path / "walker.xml").write_text(WALKER.replace("</worldbody>", body))
    robot = read_robot(tmp_path / "walker.xml")
    assert "motion of bodies by mocap: they stand: hand" in robot.ignored
    assert robot.system().frame(robot.home, "hand").x.tolist() == [0.0, 0.0, 2.0]


def test_explicit_pairs_touch_with_their_own_coefficients(tmp_path: Path) -> None:
    """Against masks, parents and exclusions, but in no other shapes of these bodies; condim 1 has no friction."""
    ball = '<geom name="{0}" size=".1" contype="0" conaffinity="0"/><geom size=".05" pos="0 0 .3"/>'
    bodies = "".join(
        f'<body name="{name}" pos="{x} 0 1"><freejoint/>{ball.format(name + "_ball")}</body>'
        for name, x in (("a", 0.0), ("b", 0.201), ("c", 0.402))
    )
    pairs = (
        '<pair geom1="a_ball" geom2="b_ball" friction=".3 .3 0 0 0"/><pair geom1="c_ball" geom2="b_ball" condim="1"/>'
    )
    rest = f'<contact>{pairs}<exclude body1="a" body2="b"/></contact>'
    (tmp_path / "balls.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody>{rest}</mujoco>")
    robot = read_robot(tmp_path / "balls.xml")
    state = robot.start()
    near = robot.system().near(0.0, state.q, np.ones(18), 0.1)
    found = {tuple(sorted(row.between)): row.mu for row in near.rows(0.0, state.q, state.v) if "ball" in row.id}
    assert found == {("a", "b"): 0.3, ("b", "c"): 0.0}
    others = {row.between for row in near.rows(0.0, state.q, state.v) if "ball" not in row.id}
    assert ("a", "b") not in others
