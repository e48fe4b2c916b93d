"""Columns of jointed systems: names of bodies and joints, with units; numbered names go on working."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from joint_cases import ARM, CHAIN, CHAIN_RATES, arm, chain

from gaussdyn import InputError, MoreauJean, SpatialSystem, Trajectory, build, simulate
from gaussdyn.integrate.run.column_names import heads_of
from gaussdyn.mechanics.planar import Drive, JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial import Hinge, brick, mark
from gaussdyn.report.series import groups

STEPPER = MoreauJean(dt=1e-3)
DRIVE = Drive(joint="rail", effort=0.5, stiffness=30.0, damping=2.0, target=0.1, rate=0.2)


@pytest.fixture(scope="module")
def planar_run() -> Trajectory:
    parts = (
        Motor(joint="shoulder", rate=1.0),
        JointFriction(joint="elbow", cap=0.2),
        Limit(joint="elbow", low=-2, high=2),
    )
    system = arm(*parts, forces=(DRIVE, Drive(joint="shoulder", effort=0.7)))
    start = system.state(joints=ARM, rates={"elbow": 0.5})
    return simulate(system, start, 0.02, stepper=STEPPER)


@pytest.fixture(scope="module")
def spatial_run() -> Trajectory:
    system = chain(forces=(Drive(joint="hip", effort=0.3), Drive(joint="tube", stiffness=50.0)))
    return simulate(system, system.state(joints=CHAIN, rates=CHAIN_RATES), 0.02, stepper=STEPPER)


def test_bodies_have_names_and_units_and_go_by_their_numbers_too(
    planar_run: Trajectory, spatial_run: Trajectory
) -> None:
    for run in (planar_run, spatial_run):
        assert run.stop is None
        assert not any(name[0] in "qv" and name[1:].isdigit() for name in run.names)
        assert all(":" not in name or name.endswith("dry.gap") for name in run.names)
        for letter, x in (("q", run.q), ("v", run.v)):
            assert all(np.array_equal(run[f"{letter}{k}"], x[:, k]) for k in range(x.shape[1]))
    assert [planar_run.unit(f"lower.{x}") for x in ("x", "angle", "vy", "omega")] == ["m", "rad", "m/s", "rad/s"]
    assert [spatial_run.unit(f"four.{x}") for x in ("z", "qw", "vx", "wz")] == ["m", "1", "m/s", "rad/s"]
    assert np.array_equal(planar_run["lower.omega"], planar_run.v[:, 8])
    assert np.array_equal(spatial_run["four.wz"], spatial_run.v[:, 23])
    with pytest.raises(InputError, match=r"(?s)'q99'"):
        planar_run["q99"]


def test_joints_of_a_planar_arm(planar_run: Trajectory) -> None:
    run = planar_run
    assert run["elbow.angle"] == pytest.approx(run["lower.angle"] - run["upper.angle"], abs=1e-14)
    assert run["shoulder.angle"] == pytest.approx(7.0 + run.t, abs=1e-6)  # by its motor, full turns counted
    assert run["elbow.rate"] == pytest.approx(run["lower.omega"] - run["upper.omega"], abs=1e-14)
    assert run["rail.position"] == pytest.approx(run["carriage.x"], abs=1e-12)
    assert [run.unit(f"rail.{x}") for x in ("position", "rate", "force", "reaction")] == ["m", "m/s", "N", "N"]
    supplied = 0.5 - 30.0 * (run["rail.position"] - 0.1) - 2.0 * (run["rail.rate"] - 0.2)
    assert run["rail.force"] == pytest.approx(supplied, abs=1e-12)
    assert np.array_equal(run["shoulder.torque"], run["shoulder.motor_torque"] + 0.7)
    assert run["shoulder.motor_torque"][1:].all()
    assert run.unit("shoulder.torque") == run.unit("elbow.friction_torque") == "N m"
    assert abs(run["elbow.friction_torque"]).max() == pytest.approx(0.2)
    assert np.array_equal(run["elbow.low_gap"], run["elbow:low.gap"])
    assert run["elbow.reaction"] == pytest.approx(np.hypot(run["elbow:x.r"], run["elbow.reaction_y"]))
    assert run["rail.reaction_moment"] == pytest.approx(abs(run["rail.reaction_turn"]))
    assert abs(run["elbow.error_x"]).max() < 1e-9
    # Newton's law of the lower rod: the elbow carries what accelerates it, and its weight
    force = np.diff(run["lower.vy"]) / 1e-3 + 9.81
    assert run["elbow.reaction_y"][1:] == pytest.approx(force, rel=1e-9)


def test_joints_of_a_chain_in_space(spatial_run: Trajectory) -> None:
    run = spatial_run
    assert run["hip.angle"][0] == pytest.approx(0.7)
    assert np.diff(run["hip.angle"]) == pytest.approx(0.5e-3 * (run["hip.rate"][1:] + run["hip.rate"][:-1]), abs=1e-8)
    assert [run[f"knee.turn_{x}"][0] for x in "xyz"] == pytest.approx(CHAIN["knee"])
    assert [run[f"knee.rate_{x}"][0] for x in "xyz"] == pytest.approx(CHAIN_RATES["knee"])
    assert [run[f"cardan.angle_{k}"][0] for k in (1, 2)] == pytest.approx(CHAIN["cardan"])
    assert np.diff(run["tube.position"]) == pytest.approx(
        0.5e-3 * (run["tube.rate"][1:] + run["tube.rate"][:-1]), abs=1e-8
    )
    assert run["tube.force"] == pytest.approx(-50.0 * run["tube.position"], abs=1e-12)
    assert set(run["hip.torque"]) == {0.3}
    pull = np.sqrt(sum(run[f"knee.reaction_{x}"] ** 2 for x in "xyz"))
    assert run["knee.reaction"] == pytest.approx(pull)
    assert "knee.reaction_moment" not in run
    twist = np.sqrt(sum(run[f"seam.reaction_turn_{x}"] ** 2 for x in "xyz"))
    assert run["seam.reaction_moment"] == pytest.approx(twist)


def wheel() -> SpatialSystem:
    """A flat brick that a motor turns about its axis at 40 rad/s."""
    axle = Hinge(name="axle", a=mark("wheel"), b=mark("ground"))
    return SpatialSystem(
        bodies=[brick("wheel", mass=1.0, half=(0.2, 0.2, 0.05))], joints=[axle, Motor(joint="axle", rate=40.0)]
    )


def test_full_turns_of_a_hinge_in_space_count_whatever_is_saved_and_after_a_resume(tmp_path: Path) -> None:
    """Nearly a turn between two saved states; the angle in a file goes on where an interrupted run ended."""
    system, stepper, out = wheel(), MoreauJean(dt=2e-3), tmp_path / "run.h5"
    start = system.state(joints={"axle": -3.0})
    whole = simulate(system, start, 0.4, stepper=stepper, save=70)
    turned = 2.0 * math.atan(0.5 * 40.0 * stepper.dt) / stepper.dt  # the angular velocity of Cayley's map, rad/s
    assert whole["axle.angle"] == pytest.approx(-3.0 + turned * whole.t, abs=1e-9)
    simulate(system, start, 0.2, stepper=stepper, save=70, out=out, chunk=30)
    again = simulate(system, start, 0.4, stepper=stepper, save=70, out=out, resume=True)
    assert again.state_hash == whole.state_hash
    assert again.names == whole.names
    assert all(np.array_equal(again[name], whole[name]) for name in whole.names)
    kept = Trajectory.load(out)
    assert np.array_equal(kept["q3"], whole["wheel.qw"])
    assert np.array_equal(kept["axle:tilt_x.r"], whole["axle.reaction_tilt_x"])


def test_names_of_a_scene_come_first() -> None:
    run = simulate(build("four_bar"), t_end=0.01)
    assert run.columns["v0.angle"].also == ""
    assert np.array_equal(run["q2"], run["v0.angle"])
    assert "q2" in run.names
    assert run.columns["v0.x"].also == "q0"


def test_a_joint_called_like_its_body_keeps_the_colon() -> None:
    system = arm()
    readings = system.readings()
    clash = {name.replace("elbow", "lower"): unit for name, unit in readings.more}
    heads = heads_of(
        system.state({}), None, (), {}, type(readings)(readings.q, readings.v, {}, tuple(clash.items()), readings.read)
    )
    assert heads["lower.angle"] == ("rad", "q8")
    assert heads["lower:angle"] == ("rad", "")
    assert heads["lower.rate"] == ("rad/s", "lower:rate")


def test_charts_put_joints_together(planar_run: Trajectory) -> None:
    found = {(group.title, group.unit): group.names for group in groups(planar_run)}
    assert found["Joints", "rad"] == ("shoulder.angle", "elbow.angle")
    assert found["Drives", "N m"] == ("shoulder.torque",)
    assert "carriage.x" in found["Coordinates", "m"]
    assert {"elbow.reaction", "elbow.reaction_x"} <= set(found["Reactions, mean over a step", "N"])
    assert not any(title == "Outputs" for title, _ in found)


def test_outputs_may_not_take_a_number(planar_run: Trajectory) -> None:
    system = arm()
    with pytest.raises(InputError, match="q0"):
        heads_of(system.state({}), None, (), {"q0": ("m", lambda state: 0.0)}, system.readings())
    assert math.isfinite(planar_run["energy"][-1])
