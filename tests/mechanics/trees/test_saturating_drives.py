"""Drives with velocity gains and force limits: their law holds at the mean velocity of every step."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first
from scipy.integrate import solve_ivp

from gaussdyn import ContactLaw, MoreauJean, audit, simulate
from gaussdyn.mechanics.spatial import HalfSpace, Sphere
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem

M = 2.0  # kg


def slider(kp: float, kv: float, limit: float) -> TreeSystem:
    """A mass on a rail, driven to where it is told."""
    joint = TreeJoint(name="rail", motion="slide", axis=(1, 0, 0))
    body = TreeBody(name="cart", joints=(joint,), mass=M, inertia=0.01 * np.eye(3))
    return TreeSystem(bodies=[body], actuators=[_servo("rail", kp, kv, limit)], gravity=(0, 0, 0))


def arm(links: int, kp: float, kv: float, limit: float) -> TreeSystem:
    """Links that hang from the ceiling, each driven, above a floor that the last one meets."""
    bodies = [
        TreeBody(
            name=f"link{k}", parent=f"link{k - 1}" if k else "ground", at=(0, 0, -0.3 * (k > 0)),
            joints=(TreeJoint(name=f"joint{k}", axis=(0, 1, 0)),), mass=1.0, centre=(0, 0, -0.15),
            inertia=np.diag([0.01, 0.01, 0.001]), shapes=(Sphere(radius=0.02, at=(0, 0, -0.3)),),
        )
        for k in range(links)
    ]  # fmt: skip
    floor = HalfSpace(name="floor", point=(0, 0, -0.27 * links))
    servos = [_servo(f"joint{k}", kp, kv, limit) for k in range(links)]
    return TreeSystem(bodies=bodies, actuators=servos, obstacles=[floor], contact=ContactLaw(mu=0.6))


def _servo(joint: str, kp: float, kv: float, limit: float) -> Actuator:
    return Actuator(
        name=f"servo_{joint}", factors={joint: 1.0}, gain=(kp, 0, 0), bias=(0, -kp, -kv),
        force_low=-limit, force_high=limit,
    )  # fmt: skip


def test_it_follows_the_equation_through_its_limits() -> None:
    """Full force, then braking, then the exponential end: against an adaptive integration of the same law."""
    kp, kv, limit = 400.0, 60.0, 10.0

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], float(np.clip(kp * (1.0 - y[0]) - kv * y[1], -limit, limit)) / M]

    exact = solve_ivp(rate, (0.0, 1.5), [0.0, 0.0], rtol=1e-10, atol=1e-12, max_step=1e-2, dense_output=True).sol
    errors = []
    for dt in (2e-3, 1e-3):
        system = slider(kp, kv, limit)
        run = simulate(system, system.state(), 1.5, stepper=MoreauJean(dt=dt), control=lambda t, state: [1.0])
        errors.append(np.abs(run.q[:, 0] - exact(run.t)[0]).max())
    assert errors[1] < 2e-5
    assert errors[1] < errors[0]


@pytest.mark.parametrize("kv", [1e2, 1e4, 1e6])
def test_a_stiff_one_arrives_and_stays(kv: float) -> None:
    """At the velocity that it asks for, kp / kv of what is missing, once its force suffices: an exponential."""
    system, dt = slider(2.0 * kv, kv, 50.0), 0.01
    run = simulate(system, system.state(), 3.0, stepper=MoreauJean(dt=dt, theta=1.0), control=lambda t, state: [1.0])
    left = 1.0 - run.q[:, 0]
    speed_up = M * 2.0 / 50.0  # s, in which the limit gives it the speed of the exponential
    late = run.t > speed_up + 5 * dt
    assert np.all(np.diff(left[late]) <= 0.0)
    assert left[-1] == pytest.approx(0.0, abs=3.0 * np.exp(-2.0 * (3.0 - speed_up)))
    assert np.all(left > -1e-9)


GAINS = [(1e2, 1e1, 0.5), (1e5, 1e5, 1.0), (1e3, 1e2, 1.0), (1e4, 1e3, 0.5)]


@pytest.mark.parametrize(("kp", "kv", "theta"), first(2, GAINS + [(kp, kv, 1.5 - theta) for kp, kv, theta in GAINS]))
def test_every_step_of_an_arm_obeys_the_law(kp: float, kv: float, theta: float) -> None:
    """Momentum balance with the clipped forces at the mean velocity, through saturation and contact, in every step."""
    system = arm(3, kp, kv, 20.0)
    start, dt = system.state({f"joint{k}": 0.9 * (-1) ** k for k in range(3)}), 2e-3
    goal = np.array([0.5, -0.5, 0.5])
    stepper = MoreauJean(dt=dt, theta=theta)
    run = simulate(system, start, 0.3, stepper=stepper, control=lambda t, state: goal)
    assert run.status == "COMPLETED"
    assert run.statistics["unsolved_steps"] == 0
    report = {check.name: check for check in audit(run, system).series}
    assert report["momentum"].passed
    assert report["laws"].passed
