"""Derivatives of motions in which a contact goes on at the feature beside, as differences of runs have them."""

from __future__ import annotations

import numpy as np
import pytest
from late_modes import found_late

from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.fundamental_matrix import fundamental_matrix
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State

TABLE = Polygon(points=((-1.0, -1.0), (0.3, -1.0), (0.3, 0.0), (-1.0, 0.0)), name="table")
X, TURN, VX, SPIN = np.eye(6)[[0, 2, 3, 5]]
CASES = {  # body, place, speed, friction, displacements that keep what touches, times
    "puck": (disc("a", mass=2.0, radius=0.1), (0.1, 0.1, 0.0), (0.4, 0.0, 0.0), 0.0, (X, VX, SPIN), (0.6, 0.9)),
    "wheel": (
        disc("a", mass=2.0, radius=0.1), (0.2, 0.1, 0.0), (0.3, 0.0, -3.0), 5.0, (X - 10 * TURN, VX - 10 * SPIN), (0.4,)
    ),
    "crate": (
        box("a", mass=3.0, width=0.2, height=0.1), (0.05, 0.05, 0.0), (1.0, 0.0, 0.0), 0.2, (X, VX), (0.2, 0.3)
    ),
}  # fmt: skip


def made(case):
    body, place, speed, mu, *_ = CASES[case]
    system = PlanarSystem(bodies=[body], obstacles=[TABLE], contact=ContactLaw(mu=mu, eps_n=0.0))
    return system, system.state({"a": place}, {"a": speed})


def difference(system, state, t_end, way, h=1e-5):
    ends = []
    for x in (h, -h):
        there = State(t=0.0, q=system.move(state.q, x * way[:3], 1.0), v=state.v + x * way[3:])
        end = simulate(system, there, t_end, stepper=EventDriven()).final
        ends.append(np.concatenate((end.q, end.v)))
    return (ends[0] - ends[1]) / (2.0 * h)


@pytest.mark.parametrize("case", CASES)
def test_a_contact_that_is_handed_over_is_differentiated_as_runs_say(case):
    """It was off by half of itself: the contact that takes over was not there where rounding had the other one."""
    system, state = made(case)
    *_, ways, times = CASES[case]
    for t_end in times:
        found = fundamental_matrix(system, state, t_end)
        assert {"handed_over", "taken_over"} <= {one.kind for one in found.changes}
        expected = np.array([difference(system, state, t_end, way) for way in ways]).T
        assert np.abs(found.Phi @ np.array(ways).T - expected).max() < 1e-7 * np.abs(expected).max()


def test_events_whose_modes_are_found_only_when_the_motion_goes_on(monkeypatch):
    """The derivative where a crate stops is the same; one that is handed over so is refused."""
    crate = box("a", mass=2.0, width=0.2, height=0.1)
    stopping = PlanarSystem(bodies=[crate], obstacles=[TABLE], contact=ContactLaw(mu=0.5, eps_n=0.0))
    state = stopping.state({"a": (-0.5, 0.05, 0.0)}, {"a": (0.6, 0.0, 0.0)})
    expected = fundamental_matrix(stopping, state, 0.2)
    broken = found_late(monkeypatch)
    found = fundamental_matrix(stopping, state, 0.2)
    assert len(broken) == 2
    assert [one.kind for one in found.changes] == [one.kind for one in expected.changes]
    assert np.allclose(found.Phi, expected.Phi, rtol=0, atol=1e-8 * np.abs(expected.Phi).max())
    system, state = made("puck")
    broken[:] = [0.0]
    with pytest.raises(InputError, match=r"handed_over of a/table:e2 at 0\.5 s, whose modes were found later"):
        fundamental_matrix(system, state, 0.6)
