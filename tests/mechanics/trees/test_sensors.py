"""Sensors of trees: laws of statics and kinematics, MuJoCo's own readings, and what is said of wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tree_cases import link

import gaussdyn
from gaussdyn import ContactLaw, InputError, MoreauJean, read_robot
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.specs import system_of
from gaussdyn.mechanics.trees import Actuator, Sensor, Site, TreeJoint, TreeSystem
from gaussdyn.mechanics.trees.site_volumes import meets

WEIGHT = 1.4 * 9.81


def standing() -> TreeSystem:
    """A ball that stands, with a rod on it that dry friction holds."""
    ball = link("foot", "ground", TreeJoint(name="root", motion="free"), centre=(0, 0, 0),
                shapes=(spatial.Sphere(radius=0.1, name="sole"),))  # fmt: skip
    shin = link("shin", "foot", TreeJoint(name="ankle", axis=(0, 1, 0), friction=20.0), centre=(0, 0, 0.1))
    return TreeSystem(
        bodies=[ball, shin], obstacles=[spatial.HalfSpace(name="floor")], contact=ContactLaw(mu=0.8),
        actuators=[Actuator(name="drive", factors={"ankle": 2.0})],
        sites=[Site(name="under", body="foot", at=(0, 0, -0.1), half=(0.02,) * 3),
               Site(name="above", body="foot", at=(0.2, 0, 0.1), half=(0.02,) * 3)],
        sensors=[
            Sensor(name="pressed", reads="touch", of="under"), Sensor(name="idle", reads="touch", of="above"),
            Sensor(name="imu", reads="accelerometer", of="shin", at=(0, 0, 0.1)),
            Sensor(name="load", reads="force", of="shin"), Sensor(name="ground_load", reads="force", of="foot"),
            Sensor(name="whole", reads="subtreecom", of="foot"), Sensor(name="bend", reads="jointpos", of="ankle"),
            Sensor(name="push", reads="actuatorfrc", of="drive"),
            Sensor(name="few", reads="touch", of="under", cutoff=3.0),
        ],
    )  # fmt: skip


def test_what_stands_weighs_what_it_weighs() -> None:
    system = standing()
    masses = [body.mass for body in system.bodies]
    run = gaussdyn.simulate(system, system.state({"root": (0, 0, 0.1)}), 0.02, stepper=MoreauJean(dt=1e-3),
                            control=np.array([0.25]))  # fmt: skip
    assert run["pressed"][1:] == pytest.approx(WEIGHT, rel=1e-9)
    assert run["few"][1:] == pytest.approx(3.0)
    assert run["idle"] == pytest.approx(0.0)
    assert run["imu"] == pytest.approx(np.tile([0.0, 0.0, 9.81], (len(run), 1)), abs=1e-8)
    assert run["load"][1:] == pytest.approx(np.tile([0.0, 0.0, 9.81 * masses[1]], (len(run) - 1, 1)), abs=1e-8)
    assert run["ground_load"][1:] == pytest.approx(np.zeros((len(run) - 1, 3)), abs=1e-8)
    assert run["push"] == pytest.approx(0.25)
    assert np.array_equal(run["ankle"], run["bend"])
    assert run["root"].shape == (len(run), 7)
    assert run.unit("pressed") == "N"


def test_forces_of_a_shape_at_one_time_and_over_an_interval() -> None:
    system = standing()
    run = gaussdyn.simulate(system, system.state({"root": (0, 0, 0.1)}), 0.02, stepper=MoreauJean(dt=1e-3))
    for pair in (
        run.between("foot", "floor"),
        run.between("sole", "floor"),
        run.forces("sole"),
        run.forces("foot.sole"),
    ):
        assert pair.over(0.0035, 0.0185) == pytest.approx([0.0, 0.0, WEIGHT], abs=1e-8)
        assert pair.at(0.01) == pytest.approx([0.0, 0.0, WEIGHT], abs=1e-8)
    assert run.forces("floor").at(0.01) == pytest.approx([0.0, 0.0, -WEIGHT], abs=1e-8)
    with pytest.raises(InputError, match="begin < end"):
        run.forces("foot").over(0.01, 0.01)
    with pytest.raises(InputError, match="bodies with contacts"):
        run.forces("sool")


def test_momentum_changes_by_the_mean_force_of_a_drop() -> None:
    """Over an impact the mean of the contact force is the change of momentum, and weight."""
    system = standing()
    run = gaussdyn.simulate(system, system.state({"root": (0, 0, 0.105)}), 0.05, stepper=MoreauJean(dt=1e-3))
    J = system.jacobian(run.q[-1], "foot")[0]
    gained = sum(
        one.mass * (system.jacobian(run.q[k], one.name, one.centre)[0] @ run.v[k]) * sign
        for one in system.bodies for k, sign in ((-1, 1.0), (0, -1.0))
    )  # fmt: skip
    assert J.shape == (3, system.nv)
    assert run.forces("foot").over(0.0, 0.05)[2] * 0.05 == pytest.approx(gained[2] + WEIGHT * 0.05, rel=1e-9)


ARM = """<mujoco><option gravity="0 0 -9.81" timestep="1e-6"/><worldbody>
<body name="a" pos="0 0 1"><freejoint name="root"/>
 <geom name="g" size=".1 .2 .3" type="box" contype="0" conaffinity="0"/>
 <site name="imu" pos=".1 .2 .1" euler="20 30 40"/>
 <body name="b" pos=".3 0 0"><joint name="h" axis="1 2 0" damping="2"/><joint name="s" type="slide" axis="0 1 1"/>
  <geom type="capsule" size=".05 .2" pos=".1 0 0" contype="0" conaffinity="0"/>
  <site name="wrist" pos=".1 0 .1" euler="10 0 0"/>
  <body name="c" pos="0 .2 .1" euler="0 40 0"><joint name="ball" type="ball"/>
   <geom type="box" size=".1 .05 .02" contype="0" conaffinity="0"/></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="h" coef=".4"/><joint joint="s" coef="-.7"/></fixed></tendon>
<actuator><position name="p" joint="h" kp="10" kv="2" gear="3"/><motor tendon="t" gear="2"/></actuator>
<sensor><jointpos joint="h"/><jointvel joint="s"/><jointactuatorfrc joint="h"/><ballquat joint="ball"/>
 <ballangvel joint="ball"/><tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="p"/>
 <actuatorvel actuator="p"/><actuatorfrc actuator="p"/><gyro site="imu"/><velocimeter site="wrist"/>
 <accelerometer name="acc" site="wrist"/><framepos objtype="body" objname="c"/><framequat objtype="xbody" objname="c"/>
 <framexaxis objtype="site" objname="wrist"/><framelinvel objtype="geom" objname="g"/>
 <frameangvel objtype="site" objname="imu"/><subtreecom body="b"/><subtreelinvel body="b"/><clock/>
 <force name="f" site="wrist"/><torque name="m" site="wrist"/><magnetometer site="imu"/></sensor></mujoco>"""


def test_readings_are_those_of_mujoco(tmp_path: Path) -> None:
    """At a random state, after one step of a microsecond: states exactly, means over it to what it changes."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    (tmp_path / "arm.xml").write_text(
        ARM.replace('objname="g"', 'objname="g"').replace("<geom size", '<geom name="g" size')
    )
    robot, rng = read_robot(tmp_path / "arm.xml"), np.random.default_rng(2)
    assert any("magnetometer" in line for line in robot.ignored)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    d, system = mujoco.MjData(m), robot.system()
    d.qvel[:], told = rng.normal(size=m.nv), rng.normal(size=m.nu)
    mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
    state = gaussdyn.State(q=d.qpos.copy(), v=d.qvel.copy())
    run = gaussdyn.simulate(system, state, 1e-6, stepper=MoreauJean(dt=1e-6), control=told)
    d.qpos[:], d.qvel[:], d.ctrl[:], d.time = run.final.q, run.final.v, told, 1e-6
    mujoco.mj_forward(m, d)
    theirs = d.sensordata[:-3]
    ours = np.array([run[name][-1] for sensor in robot.sensors for name in sensor.names])
    slow = np.array([one.name in ("acc", "f", "m") for one in robot.sensors for _ in one.names])
    turns = slice(3, 7)  # quaternions have two signs
    assert len(ours) == len(theirs)
    assert np.abs(theirs[slow]).min() > 1e-2
    assert np.abs(ours - theirs)[~slow] == pytest.approx(0.0, abs=1e-9), turns
    assert np.abs(ours - theirs)[slow] == pytest.approx(0.0, abs=2e-3)


def test_a_spec_has_sites_and_sensors_and_a_file_their_columns(tmp_path: Path) -> None:
    system = standing()
    again = system_of(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert again.spec() == system.spec()
    state, method = system.state({"root": (0, 0, 0.11)}), MoreauJean(dt=1e-3)
    whole = gaussdyn.simulate(system, state, 0.04, stepper=method)
    gaussdyn.simulate(system, state, 0.02, stepper=method, out=tmp_path / "run.h5", chunk=7)
    rest = gaussdyn.simulate(system, state, 0.04, stepper=method, out=tmp_path / "run.h5", chunk=7, resume=True)
    assert np.array_equal(whole["imu"], gaussdyn.Trajectory.load(tmp_path / "run.h5")["imu"])
    assert np.array_equal(whole["load"], rest["load"])
    J, turn = system.jacobian(state.q, "above")
    assert np.array_equal(J, system.jacobian(state.q, "foot", (0.2, 0, 0.1))[0])
    assert system.frame(state.q, "above").x == pytest.approx([0.2, 0.0, 0.21])
    assert turn.shape == (3, system.nv)


@pytest.mark.parametrize("site", [
    Site(name="s", body="b", half=(0.2, 1, 1)), Site(name="s", body="b", form="ellipsoid", half=(0.3, 0.2, 0.1)),
    Site(name="s", body="b", form="box", half=(0.3, 0.2, 0.1)),
    Site(name="s", body="b", form="capsule", half=(0.1, 0.3, 1)),
], ids=lambda site: site.form)  # fmt: skip
def test_rays_meet_volumes_where_some_of_their_points_are_inside(site: Site) -> None:
    rng, a = np.random.default_rng(3), np.array(site.half)

    def inside(x: np.ndarray) -> np.ndarray:
        if site.form == "box":
            return (np.abs(x) <= a).all(axis=1)
        if site.form == "capsule":
            z = x[:, 2] - np.clip(x[:, 2], -a[1], a[1])
            return x[:, 0] ** 2 + x[:, 1] ** 2 + z**2 <= a[0] ** 2
        return ((x / (a if site.form == "ellipsoid" else a[0])) ** 2).sum(axis=1) <= 1.0

    seen = []
    for _ in range(200):
        start, way = 0.25 * rng.normal(size=3), rng.normal(size=3)
        way /= np.linalg.norm(way)
        there = bool(inside(start + np.linspace(0.0, 3.0, 3001)[:, None] * way).any())
        seen.append((there, meets(site, start, way)))
    assert sum(one != other for one, other in seen) <= 2  # rays that touch between two points
    assert 20 < sum(one for one, _ in seen) < 180


@pytest.mark.parametrize(("sensor", "words"), [
    (Sensor(name="x", reads="jointpos", of="ankel"), "Did you mean ankle"),
    (Sensor(name="x", reads="touch", of="foot"), "site of sensor x"),
    (Sensor(name="E", reads="clock"), "names that no other column"),
])  # fmt: skip
def test_wrong_sensors_are_named(sensor: Sensor, words: str) -> None:
    given = standing()

    def run() -> None:
        system = TreeSystem(bodies=given.bodies, sensors=[sensor], sites=given.sites)
        gaussdyn.simulate(system, system.state(), 0.01)

    with pytest.raises(InputError, match=words):
        run()
    with pytest.raises(InputError, match="Did you mean accelerometer"):
        Sensor(name="x", reads="acelerometer")
