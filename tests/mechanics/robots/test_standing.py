"""A quadruped that holds its pose on a slope: what sticks does not creep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import MoreauJean, State, read_robot, simulate

pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
QUADRUPED = Path(__file__).resolve().parents[3] / "examples/quadruped.xml"
LEGS = ("front_left", "front_right", "rear_left", "rear_right")


@pytest.mark.slow
def test_feet_do_not_creep_on_a_slope() -> None:
    """Friction 0.8 holds on 20 degrees: once it stands no foot moves, and the feet carry it within their cones."""
    slope = np.radians(20.0)
    robot = replace(read_robot(QUADRUPED), gravity=(9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope)))
    system, start = robot.system(), robot.start("stand")
    joints = [one.factors[0][0] for one in system.actuators]
    q, v = ([at(name).start for name in joints] for at in (system.coordinates, system.velocities))
    goal = start.q[q]

    def hold(t: float, state: State) -> np.ndarray:
        return 60.0 * (goal - state.q[q]) - 1.5 * state.v[v]

    def feet(state: State) -> np.ndarray:
        frames = [system.frame(state.q, f"{leg}_shank") for leg in LEGS]
        return np.array([frame.x + frame.R @ [0.0, 0.0, -0.2] for frame in frames])

    run = simulate(system, start, 1.2, stepper=MoreauJean(dt=robot.dt), control=hold)
    assert run.status == "COMPLETED"
    assert feet(run.final) == pytest.approx(feet(run.state(500)), abs=1e-12)
    pairs = [run.between(f"{leg}_shank", "floor") for leg in LEGS]
    weight = sum(body.mass for body in robot.bodies) * 9.81
    assert sum(pair.normal_force[-1] for pair in pairs) == pytest.approx(weight * np.cos(slope), rel=1e-3)
    assert min(pair.margin[-1] for pair in pairs) > 0.0
