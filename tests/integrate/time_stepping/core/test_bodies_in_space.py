"""Bodies in space that joints and friction hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.mechanics.collision.shapes import Box, HalfSpace, Sphere
from gaussdyn.mechanics.spatial.bodies import SpatialBody, brick
from gaussdyn.mechanics.spatial.joints import BallJoint, Weld
from gaussdyn.mechanics.spatial.kinematics import mark
from gaussdyn.mechanics.spatial.system import SpatialSystem


def test_a_body_that_joints_hold_altogether_may_be_touched() -> None:
    """W of its contacts is nothing but the rounding of what joints take away; the ball on it rests all the same."""
    weld = Weld(name="nail", a=mark("plate", (0.1, -0.2, 0.05)), b=mark("ground", (0.1, -0.2, 0.05)))
    plate = SpatialBody(name="plate", mass=0.3, inertia=(2e-3, 1e-3, 3e-3), shapes=[Box(half=(0.5, 0.4, 0.1))])
    ball = SpatialBody(name="ball", mass=1.0, inertia=(4e-3,) * 3, shapes=[Sphere(radius=0.1)])
    floor = HalfSpace(name="floor", normal=(0.0, 0.0, 1.0), point=(0.0, 0.0, -0.1))
    system = SpatialSystem(
        bodies=[plate, ball], joints=[weld], obstacles=[floor], contact=ContactLaw(mu=0.5),
        pairs={("floor", "plate"): ContactLaw(mu=0.5)},
    )  # fmt: skip
    state = system.state({"ball": (0.2, 0.1, 0.2)})
    step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
    assert step.solution.solved
    assert np.abs(step.state.v).max() <= 1e-12
    pushes = [p[0] for key, p in step.reactions.items() if "ball" in key]
    assert sum(pushes) == pytest.approx(9.81e-3, rel=1e-9)


def test_what_friction_holds_does_not_creep_while_what_hangs_on_it_swings() -> None:
    """The box stands on its friction alone; two rods on ball joints swing from its edge."""
    box, half = brick("box", mass=4.0, half=(0.2, 0.1, 0.05)), math.sqrt(0.5)
    rods = [SpatialBody(name=name, mass=0.1, inertia=(2e-3, 2e-3, 1e-4)) for name in ("upper", "lower")]
    pins = [("box", (0.2, 0.0, 0.0), "upper"), ("upper", (0.0, 0.0, -0.25), "lower")]
    joints = [BallJoint(name=rod, a=mark(rod, (0.0, 0.0, 0.25)), b=mark(on, at)) for on, at, rod in pins]
    system = SpatialSystem(
        bodies=[box, *rods], joints=joints, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.8)
    )
    level = (half, 0.0, -half, 0.0)
    state = system.state(
        {"box": (0.0, 0.0, 0.05), "upper": (0.45, 0.0, 0.05, *level), "lower": (0.95, 0.0, 0.05, *level)}
    )
    for _ in range(50):
        step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
        assert isinstance(step, CompiledStep)
        state = step.state
        assert np.abs(state.v[:6]).max() <= 1e-20
    assert np.abs(state.v[6:]).max() > 0.1
