"""Tangents of contacts in space in either of their two charts."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.contact.snapshot import rows_of
from gaussdyn.mechanics.collision.feature_kinematics import TURNOVER
from gaussdyn.mechanics.collision.shapes import Sphere
from gaussdyn.mechanics.collision.tangent_frames import chart_of, turned_components
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem

LAW = ContactLaw(mu=0.4, mu_r=0.01)


def beside(rise, azimuth, speed=(0.3, -0.8, 2.0, 1.0, 2.0, -3.0)):
    """Return a ball that touches a fixed sphere where the normal has the z component `rise`."""
    system = SpatialSystem(bodies=[ball("a", mass=1.0, radius=0.1)], obstacles=[Sphere(name="dome", radius=1.0)],
                           contact=LAW)  # fmt: skip
    flat = np.sqrt(1.0 - rise * rise)
    n = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), rise])
    return system, system.state({"a": 1.1 * n}, {"a": speed})


@pytest.mark.parametrize("azimuth", [0.3, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("up", [True, False])
def test_a_contact_keeps_the_chart_of_its_tangents_through_the_border(azimuth, up):
    """Row, rate and second rate are those of the motion on: differences of the rate across the border show it."""
    system, state = beside(TURNOVER + (1e-4 if up else -1e-4), azimuth)
    frozen = system.near(0.0, state.q, state.v, 0.1)
    here = rows_of(frozen, 0.0, state.q, state.v)
    steady, h = frozen.steady(here), 1e-5

    def at(t):
        """Return the contact at a time of the motion without acceleration."""
        return rows_of(steady, 0.0, steady.move(state.q, state.v, t), state.v)[0]

    across = next(s * 1e-3 for s in (1.0, -1.0) if chart_of(at(s * 1e-3).frame[0]) != chart_of(here[0].frame[0]))
    row = at(across)
    assert row.frame @ row.frame.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(row.frame) == pytest.approx(1.0, abs=1e-14)
    assert np.abs(row.frame - here[0].frame).max() < 1e-2, "no jump"
    assert row.rate == pytest.approx(row.J @ state.v, abs=1e-14)
    slope = (at(across + h).rate - at(across - h).rate) / (2.0 * h)
    assert slope == pytest.approx(row.drift, abs=1e-8), "second rate without acceleration"
    assert np.abs(rows_of(frozen, 0.0, steady.move(state.q, state.v, across), state.v)[0].J - row.J).max() > 0.1


def test_tangential_parts_turn_with_their_chart():
    x = np.array([3.0, 1.0, 0.0, 0.0, 2.0])
    Q = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert turned_components(x, Q).tolist() == [3.0, 0.0, 1.0, -2.0, 0.0]
    assert turned_components(x[:1], Q).tolist() == [3.0]
