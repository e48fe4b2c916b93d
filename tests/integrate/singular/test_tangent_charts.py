"""Slips where the tangents of a contact come from another chart: the motion is that of the same scene, turned."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.collision.feature_kinematics import TURNOVER
from gaussdyn.mechanics.collision.shapes import Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem

R, r = 1.0, 0.1


def over_a_dome(top, mu_r=0.0):
    """Run a ball that slides, and spins, over the top of a fixed sphere; gravity points against the unit vector."""
    azimuth, height = 0.7, top
    flat = np.sqrt(1.0 - height * height)
    up = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), height])
    on = np.array([height * np.cos(azimuth), height * np.sin(azimuth), -flat])
    turn = np.column_stack((on, np.cross(up, on), up))
    a = 0.03
    system = SpatialSystem(
        bodies=[ball("a", mass=2.0, radius=r)], obstacles=[Sphere(name="dome", radius=R)],
        gravity=tuple(-9.81 * up), contact=ContactLaw(mu=0.3, mu_r=mu_r),
    )  # fmt: skip
    place = (R + r) * turn @ (-np.sin(a), 0.0, np.cos(a))
    speed = turn @ (1.2 * np.cos(a), 0.0, 1.2 * np.sin(a))
    spin = turn @ (6.0, -4.0, 3.0)
    run = simulate(system, system.state({"a": place}, {"a": (*speed, *spin)}), 0.06, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    omega = matrix_of(run.q[-1, 3:]) @ run.v[-1, 3:]
    return run, np.concatenate([turn.T @ run.q[-1, :3], turn.T @ run.v[-1, :3], turn.T @ omega])


@pytest.mark.parametrize("mu_r", [0.0, 0.001])
def test_a_slip_goes_on_where_the_tangents_come_from_another_chart(mu_r):
    run, end = over_a_dome(TURNOVER, mu_r)
    other, expected = over_a_dome(0.6, mu_r)
    assert end == pytest.approx(expected, abs=1e-11)
    assert [(e.kind, e.id) for e in run.events] == [(e.kind, e.id) for e in other.events]
    (contact,), (same,) = run.contacts(len(run) - 1), other.contacts(len(other) - 1)
    (first,) = run.contacts(0)
    assert first.frame[0][2] > TURNOVER + 0.01 > TURNOVER - 0.01 > contact.frame[0][2], "passes the border"
    assert contact.reaction[0] == pytest.approx(same.reaction[0], rel=1e-10)
