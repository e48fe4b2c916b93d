"""Slips that come down to zero just where friction could not hold them, from closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.forces import Shaking
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial import forces
from gaussdyn.mechanics.spatial.bodies import ball, brick
from gaussdyn.mechanics.spatial.system import SpatialSystem

G, MU, A, W, START, LATER = 9.81, 0.2, 6.0, 2.0 * math.pi, 0.5, 0.05
LOWEST = (math.pi + math.asin(MU * G / A)) / W  # s: the floor shaken by -A sin W t pushes as much as friction holds
LAW = ContactLaw(mu=MU, eps_n=0.0)


def speed(t, since):
    """Return what a slip gains from one time to another, m/s."""
    return A / W * (math.cos(W * t) - math.cos(W * since)) - MU * G * (t - since)


def slider(dim, slow, across):
    """Return a box on the floor whose slip would be `slow` at its lowest, but for `across` (m/s) at right angles."""
    v = slow - speed(LOWEST, START)
    if dim == 2:
        body, shaking = box("b", mass=2.0, width=0.2, height=0.1), Shaking(amplitude=A, frequency=1.0)
        system = PlanarSystem(bodies=[body], obstacles=[HalfPlane(name="floor")], forces=[shaking], contact=LAW)
        return system, replace(system.state({"b": (0.0, 0.05, 0.0)}, {"b": (v, 0.0, 0.0)}), t=START)
    body, shaking = brick("b", mass=2.0, half=(0.1, 0.1, 0.05)), forces.Shaking(amplitude=A, frequency=1.0)
    system = SpatialSystem(bodies=[body], obstacles=[HalfSpace(name="floor")], forces=[shaking], contact=LAW)
    return system, replace(system.state({"b": (0.0, 0.0, 0.05)}, {"b": (v, across, 0.0)}), t=START)


@pytest.mark.parametrize(("dim", "slow", "across"), first(3, [
    (2, 0.0, 0.0), (2, -1e-3, 0.0), (3, 0.0, 1e-7), (3, -1e-12, 0.0), (2, -1e-12, 0.0), (2, -1e-9, 0.0),
    (2, 1e-12, 0.0), (2, 1e-10, 0.0), (3, 0.0, 0.0),
]))  # fmt: skip
def test_a_slip_that_grazes_zero_goes_on_and_one_that_comes_below_sticks_until_friction_is_used_up(dim, slow, across):
    system, state = slider(dim, slow, across)
    run = simulate(system, state, LOWEST + LATER, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    expected = speed(LOWEST + LATER, LOWEST) + max(slow, 0.0)
    assert run.v[-1][0] == pytest.approx(expected, rel=0, abs=1e-11)
    assert np.abs(run.v[-1][1:]).max() < 1e-11
    kinds = {event.kind for event in run.events}
    assert kinds in (set(), {"stick", "slip"})
    if slow < -1e-10:  # it has surely stopped
        assert kinds == {"stick", "slip"}
        stops = min(event.t for event in run.events)
        goes_on = max(event.t for event in run.events)
        assert abs(slow + speed(stops, LOWEST)) < 1e-12
        assert goes_on == pytest.approx(LOWEST, rel=0, abs=1e-11)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("along", first(2, [0.5, -8.0, -2.0]))  # it turns by 63, 173 and 153 degrees
def test_a_slip_that_turns_across_the_way_that_it_began_with_stops_where_it_does(along):
    """A ball that slides under a pull: u' = f - b u / |u| with b = 7/2 mu g, so that b |u| + f u falls evenly."""
    f, b, u = 3.0, 3.5 * MU * G, np.array([1.0, along])
    system = SpatialSystem(
        bodies=[ball("b", mass=2.0, radius=0.1)], obstacles=[HalfSpace(name="floor")], gravity=(0.0, f, -G), contact=LAW
    )  # fmt: skip
    state = system.state({"b": (0.0, 0.0, 0.1)}, {"b": (*u, 0.0)})
    stops = (b * float(np.hypot(*u)) + f * along) / (b**2 - f**2)
    run = simulate(system, state, 1.1 * stops, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["stick"]
    assert run.events[0].t == pytest.approx(stops, abs=1e-10)
    assert audit(run, system).max["put_back"] < 1e-9  # of the velocity, where it stops
