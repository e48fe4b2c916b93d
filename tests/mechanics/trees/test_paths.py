"""Tendons through space: MuJoCo's forces, rates by differences, the tension of a string; loops closed by hinges."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import gaussdyn
from gaussdyn import InputError, MoreauJean, State, read_robot, resolve, snapshot
from gaussdyn.mechanics.specs import system_of
from gaussdyn.mechanics.trees import (
    Actuator,
    Connect,
    JointEquality,
    Leg,
    Round,
    SpatialTendon,
    TreeBody,
    TreeJoint,
    TreeSystem,
)

J = np.diag([0.02, 0.03, 0.04])
RINGS = [
    None,
    Round(body="ground", radius=0.3, shape="sphere", at=(0.4, 0.1, 0.05)),
    Round(body="middle", radius=0.2, at=(0.1, 0.0, 0.0), turn=(0.7, 0.5, -0.5, 0.1)),
    Round(body="middle", radius=0.2, at=(0.1, 0.0, 0.0), turn=(0.7, 0.5, -0.5, 0.1), mark=(0.0, 0.25)),
    Round(body="middle", radius=0.15, shape="sphere", at=(0.5, 0.1, 0.1)),
]


def three_bodies(*parts: object, actuators: tuple[Actuator, ...] = ()) -> TreeSystem:
    """A free body and a chain of a ball and a hinge."""
    free = TreeBody(name="far", joints=(TreeJoint(name="float", motion="free"),), mass=1.0, inertia=J)
    middle = TreeBody(name="middle", joints=(TreeJoint(name="ball", motion="ball"),), mass=1.0, inertia=J)
    hinge = TreeJoint(name="hinge", axis=(0, 1, 0), at=(-0.3, 0, 0))
    last = TreeBody(name="last", parent="middle", at=(0.6, 0, 0), joints=(hinge,), mass=1.0, inertia=J)
    return TreeSystem(bodies=[free, middle, last], parts=parts, actuators=actuators)  # type: ignore[arg-type]


@pytest.mark.parametrize("ring", RINGS)
def test_rates_are_the_slopes_of_lengths_and_drifts_those_of_rates(ring: Round | None) -> None:
    """By central differences along a motion at constant velocities, wherever it winds and wherever it does not."""
    leg = Leg(a="far", b="last", at_a=(0.1, 0.2, 0.0), at_b=(0.0, 0.1, 0.2), around=ring, share=0.5)
    system = three_bodies(SpatialTendon(name="string", legs=(leg,), high=9.0))
    rng, h, wound = np.random.default_rng(3), 1e-6, 0
    for _ in range(60):
        q = system.move(system.state({"float": (1.0, 0.2, 0.1)}).q, 0.7 * rng.normal(size=system.nv), 1.0)
        v = rng.normal(size=system.nv)
        here, before, after = (system.rows(0.0, system.move(q, v, s), v)[0] for s in (0.0, -h, h))
        slope, bend = (after.gap - before.gap) / (2 * h), (after.rate[0] - before.rate[0]) / (2 * h)
        assert here.rate[0] == pytest.approx(slope, abs=1e-8)
        assert here.J[0] @ v == pytest.approx(here.rate[0], abs=1e-13)
        assert here.drift[0] == pytest.approx(bend, rel=1e-6, abs=1e-6)
        straight = three_bodies(
            SpatialTendon(
                name="string", legs=(Leg(a=leg.a, b=leg.b, at_a=leg.at_a, at_b=leg.at_b, share=0.5),), high=9.0
            )
        )
        wound += abs(straight.rows(0.0, q, v)[0].gap - here.gap) > 1e-9
    assert (wound > 5) == (ring is not None)


def test_a_string_holds_a_mass_that_swings() -> None:
    """Its tension is m (g + v^2 / l) at the lowest point; it never pushes, and never stretches."""
    slides = tuple(TreeJoint(name=x, motion="slide", axis=axis) for x, axis in (("x", (1, 0, 0)), ("z", (0, 0, 1))))
    ball = TreeBody(name="ball", joints=slides, mass=2.0, inertia=J)  # type: ignore[arg-type]
    string = SpatialTendon(name="string", legs=(Leg(a="ground", b="ball"),), high=0.5)
    system = TreeSystem(bodies=[ball], parts=[string])
    state = system.state({"z": -0.5}, {"x": 3.0})
    assert resolve(snapshot(system, state)).r == pytest.approx([2.0 * (9.81 + 9.0 / 0.5)], rel=1e-12)
    run = gaussdyn.simulate(system, system.state({"x": 0.3, "z": 0.0}), 2.0, stepper=MoreauJean(dt=1e-3))
    assert run.status == "COMPLETED"
    assert run.statistics["unsolved_steps"] == 0
    far = np.hypot(run["x"], run["z"])
    assert far.max() <= 0.5 + 1e-10
    assert far.max() >= 0.5 - 1e-9
    assert far.min() == pytest.approx(0.3, abs=1e-3)
    assert run["string.high_gap"] == pytest.approx(0.5 - far, abs=1e-12)
    assert run["string.high_force"].min() >= 0.0
    assert run["string.high_force"].max() > 2.0 * 9.81
    again = system_of(json.loads(json.dumps(system.spec(), allow_nan=False)))
    assert again.spec() == system.spec()
    assert resolve(snapshot(again, state)).r == pytest.approx([2.0 * (9.81 + 9.0 / 0.5)], rel=1e-12)


def test_a_rope_over_a_pulley_is_atwoods_machine() -> None:
    """Its length is kept by an equality: a = g (m1 - m2) / (m1 + m2), with the rope around a cylinder."""

    def weight(name: str, x: float, mass: float) -> TreeBody:
        rail = TreeJoint(name=f"{name}_z", motion="slide", axis=(0, 0, 1))
        return TreeBody(name=name, at=(x, 0, -1), joints=(rail,), mass=mass, inertia=J)

    wheel = Round(body="ground", radius=0.2, turn=(math.sqrt(0.5), math.sqrt(0.5), 0, 0), mark=(0, 0.3))
    rope = SpatialTendon(name="rope", legs=(Leg(a="one", b="two", around=wheel),))
    length = 2.0 + 0.2 * math.pi
    held = JointEquality(name="held", one="rope", coefficients=(0.0,), zeros=(length, 0.0))
    system = TreeSystem(bodies=[weight("one", -0.2, 3.0), weight("two", 0.2, 1.0)], parts=[rope, held])
    found = resolve(snapshot(system, system.state()))
    assert found.x == pytest.approx([-9.81 / 2.0, 9.81 / 2.0], rel=1e-12)
    run = gaussdyn.simulate(system, system.state(), 0.2, stepper=MoreauJean(dt=1e-3))
    assert run["one_z"][-1] == pytest.approx(-0.25 * 9.81 * 0.04, rel=1e-9)


MODEL = """<mujoco><option timestep="0.002"/><worldbody>
<site name="top" pos=".1 .3 .9"/><geom name="post" type="cylinder" size=".12 1" pos=".45 0 .3" euler="80 10 0"
 contype="0" conaffinity="0"/>
<body name="far" pos=".9 .1 .4"><freejoint/><geom type="sphere" size=".05" mass="1" contype="0" conaffinity="0"/>
 <site name="hook" pos="0 .1 .1"/></body>
<body name="a" pos="0 0 .5"><joint name="ball" type="ball"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/>
 <geom name="hub" type="sphere" size=".09" pos=".3 0 .05" mass="0" contype="0" conaffinity="0"/>
 <geom name="drum" type="cylinder" size=".08 .2" pos=".5 0 0" euler="90 0 0" mass="0" contype="0" conaffinity="0"/>
 <site name="side" pos=".5 0 .1"/><site name="root" pos="0 .05 .1"/>
 <body name="b" pos=".5 0 0"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"
  contype="0" conaffinity="0"/><site name="tip" pos=".4 0 .02"/></body></body></worldbody>
<tendon>
 <spatial name="plain" stiffness="40" damping="3" springlength=".2"><site site="top"/><site site="hook"/></spatial>
 <spatial name="post" stiffness="9" springlength="0 .1"><site site="root"/><geom geom="post"/>
  <site site="hook"/></spatial>
 <spatial name="long" stiffness="7" damping="2"><site site="root"/><geom geom="drum" sidesite="side"/>
  <site site="tip"/>
  <pulley divisor="2"/><site site="top"/><geom geom="hub"/><site site="tip"/><pulley divisor="3"/><site site="hook"/>
  <site site="tip"/></spatial>
</tendon>
<actuator><general tendon="long" gear="3" gainprm="2" biastype="affine" biasprm=".1 -5 -.3"/></actuator></mujoco>"""


def test_forces_are_those_of_mujoco(tmp_path: Path) -> None:
    """The sum of bias, passive forces and actuators at random states, to 1e-12 of the largest of them.

    The hinge stays where the leg around the drum passes on the side of its mark, or over it.
    """
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    (tmp_path / "rope.xml").write_text(MODEL)
    system, m = read_robot(tmp_path / "rope.xml").system(), mujoco.MjModel.from_xml_string(MODEL)
    d, rng, wound = mujoco.MjData(m), np.random.default_rng(2), np.zeros(3)
    for _ in range(100):
        q = system.move(system.state().q, 0.8 * rng.normal(size=system.nv), 1.0)
        q[system.coordinates("hinge")] = rng.uniform(-1.2, 1.2)
        v, told = rng.normal(size=system.nv), rng.normal(size=1)
        d.qpos, d.qvel, d.ctrl = q, v, told
        mujoco.mj_forward(m, d)
        parts = [-d.qfrc_bias, d.qfrc_passive, d.qfrc_actuator]
        size = max(np.abs(part).max() for part in parts)
        assert np.abs(system.force(0.0, q, v, told) - sum(parts)).max() <= 1e-12 * size
        wound += [(d.wrap_obj[a : a + n] >= 0).any() for a, n in zip(d.ten_wrapadr, d.ten_wrapnum, strict=True)]
    assert wound[1] > 5
    assert wound[2] > 5


def test_what_a_path_cannot_be_is_named() -> None:
    with pytest.raises(InputError, match="outside of it"):
        Round(body="ground", radius=0.2, mark=(0.1, 0.0))
    with pytest.raises(InputError, match="of a cylinder"):
        Round(body="ground", radius=0.2, shape="sphere", mark=(0.3, 0.0))
    with pytest.raises(InputError, match="at least one Leg"):
        SpatialTendon(name="string", legs=())
    with pytest.raises(InputError, match="Did you mean far"):
        three_bodies(SpatialTendon(name="string", legs=(Leg(a="fra", b="last"),)))
    string = SpatialTendon(name="string", legs=(Leg(a="far", b="last"),))
    with pytest.raises(InputError, match="Did you mean string"):
        three_bodies(string, actuators=(Actuator(name="winch", tendon="strong"),))
    with pytest.raises(InputError, match="as it pulls on string"):
        Actuator(name="winch", tendon="string", factors={"hinge": 1.0})


def test_a_winch_pulls_both_ends() -> None:
    """With 5 N, gear 2, along the line between them, and nothing else."""
    string = SpatialTendon(name="string", legs=(Leg(a="far", b="last"),))
    system = three_bodies(string, actuators=(Actuator(name="winch", tendon="string", gear=2.0),))
    q, rest = system.state({"float": (2.0, 0.5, 1.0), "hinge": 0.4}).q, np.zeros(system.nv)
    pull = system.force(0.0, q, rest, np.array([5.0])) - system.force(0.0, q, rest, np.array([0.0]))
    way = system.frame(q, "far").x - system.frame(q, "last").x
    u = way / np.linalg.norm(way)
    expected = 10.0 * (system.jacobian(q, "far")[0] - system.jacobian(q, "last")[0]).T @ u
    assert pull == pytest.approx(expected, abs=1e-12)


def test_a_loop_closed_by_a_hinge_has_five_rows() -> None:
    """Rates and drifts by differences; it moves as the same loop that a ball closes, where that cannot tilt."""
    axes = {"axis_a": (0.0, 1.0, 0.0), "axis_b": (0.0, 2.0, 0.0)}
    pin = Connect(name="pin", a="last", b="far", at_a=(0.3, 0, 0), **axes)  # type: ignore[arg-type]
    system, rng, h = three_bodies(pin), np.random.default_rng(5), 1e-5
    assert [row.id for row in system.rows(0.0, system.state().q, np.zeros(system.nv))] == [
        "pin:turn_x", "pin:turn_y", "pin:x", "pin:y", "pin:z",
    ]  # fmt: skip
    for _ in range(10):
        q, v = system.move(system.state().q, 0.4 * rng.normal(size=system.nv), 1.0), rng.normal(size=system.nv)
        rows = [system.rows(0.0, system.move(q, v, s), v) for s in (0.0, -h, h)]
        for here, before, after in zip(*rows, strict=True):
            assert here.rate[0] == pytest.approx((after.gap - before.gap) / (2 * h), abs=1e-8)
            assert here.drift[0] == pytest.approx((after.rate[0] - before.rate[0]) / (2 * h), abs=1e-6)


def test_a_door_on_a_loop_of_hinges_turns_about_its_axis_alone() -> None:
    """A free body that one hinge closure holds swings as a pendulum: (J + m l^2) a = -m g l sin x."""
    body = TreeBody(name="door", joints=(TreeJoint(name="door", motion="free"),), mass=2.0, inertia=J)
    axes = {"axis_a": (0.0, 1.0, 0.0), "axis_b": (0.0, 1.0, 0.0)}
    pin = Connect(name="pin", a="door", b="ground", at_a=(0.0, 0.0, 0.5), **axes)  # type: ignore[arg-type]
    system = TreeSystem(bodies=[body], parts=[pin])
    q = np.array([0.5, 0.0, 0.0, math.cos(-math.pi / 4), 0.0, math.sin(-math.pi / 4), 0.0])  # the arm along x
    found = resolve(snapshot(system, State(q=q, v=np.zeros(6))))
    assert np.abs(found.x[4]) == pytest.approx(2.0 * 9.81 * 0.5 / (0.03 + 2.0 * 0.25), rel=1e-12)
    assert np.abs(found.x[[3, 5]]).max() <= 1e-12
    run = gaussdyn.simulate(system, State(q=q, v=np.zeros(6)), 1.0, stepper=MoreauJean(dt=1e-3))
    assert run.status == "COMPLETED"
    assert np.abs(run["door.y"]).max() <= 1e-10
    assert np.ptp(run["energy"]) <= 1e-4 * 9.81
    with pytest.raises(InputError, match="both axes"):
        Connect(name="pin", a="door", b="ground", axis_a=(0.0, 1.0, 0.0))
