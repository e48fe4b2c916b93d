"""Friction opposes slip wherever a normal goes within a step: tangents of contacts come from two charts."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, State, audit, simulate
from gaussdyn.mechanics.collision.feature_kinematics import TURNOVER
from gaussdyn.mechanics.spatial import SpatialBody, Sphere
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.kinematics import mark

MU, RADIUS, DT = 0.3, 0.5, 1e-3


def pair(kind, eps_t=0.0):
    """Return two balls, free, free beside a joint, or in joint coordinates."""
    balls = [
        SpatialBody(name=name, mass=1.0, inertia=0.1 * np.eye(3), shapes=(Sphere(radius=RADIUS),)) for name in "ab"
    ]
    more = {}
    if kind != "free":
        pole = SpatialBody(name="pole", mass=1.0, inertia=0.1 * np.eye(3))
        balls.append(pole)
        held = BallJoint(name="j", a=mark("pole"), b=mark("ground"))
        more = {"joints": [held], "coordinates": kind}
    return SpatialSystem(bodies=balls, contact=ContactLaw(mu=MU, eps_t=eps_t), gravity=(0.0, 0.0, 0.0), **more)


def meeting(system, height, angle):
    """Return b beside a, about to slide round it so that the normal, from b into a, rises through a height."""
    side = np.sqrt(1.0 - height**2)
    n = np.array([side * np.cos(angle), side * np.sin(angle), height])
    up = np.array([-height * np.cos(angle), -height * np.sin(angle), side])
    across = np.cross(n, up)
    state = system.state({"a": (0.0, 0.0, 0.0), "b": tuple(-2.0 * RADIUS * n)})
    v = state.v.copy()
    v[6:9] = -1.5 * up + 0.3 * across + 0.2 * n
    return State(t=0.0, q=state.q, v=v)


@pytest.mark.parametrize("kind", ["free", "bodies", "joints"])
def test_friction_opposes_slip_where_the_normal_leaves_its_chart(kind):
    system = pair(kind)
    for past in (-0.01, 0.0003, 0.0008, 0.0012, 0.01):
        for angle in (0.0, 0.7, 2.0, 4.0):
            start = meeting(system, TURNOVER - past, angle)
            step = MoreauJean(dt=DT).advance(system, start, DT)
            change, v = step.state.v[6:9] - start.v[6:9], step.state.v
            n = step.state.q[0:3] - step.state.q[7:10]
            n /= np.linalg.norm(n)
            slip = v[6:9] - v[0:3] + np.cross(v[9:12], RADIUS * n) + np.cross(v[3:6], RADIUS * n)
            slip, push = slip - n * (n @ slip), change - n * (n @ change)
            assert np.linalg.norm(push) == pytest.approx(MU * abs(n @ change), rel=0.01)
            assert -(push @ slip) >= 0.9999 * np.linalg.norm(push) * np.linalg.norm(slip)
            run = simulate(system, start, DT, stepper=MoreauJean(dt=DT))
            assert audit(run, system=system).passed
            assert run.steps.E.max() <= 1e-12
            (contact,) = run.contacts(1)
            pushed = contact.force if contact.between[0] == "b" else -contact.force
            np.testing.assert_allclose(
                DT * pushed, change, atol=2e-3 * np.linalg.norm(change)
            )  # normals turn by so much
            np.testing.assert_allclose(step.rows[0].frame, contact.frame, atol=1e-15)
