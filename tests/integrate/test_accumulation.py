"""Sequences of impacts that end side by side: when each of them does, from the sum of its flights."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.accumulation import Rebound
from gaussdyn.integrate.event_driven import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import PlanarSystem
from gaussdyn.mechanics.planar_bodies import disc
from gaussdyn.mechanics.planar_contacts import HalfPlane

G, R = 9.81, 0.1


def bouncing(ends, eps):
    """Discs side by side that fall from rest and come to rest at given times, each with its restitution."""
    names = [f"ball{k}" for k in range(len(ends))]
    system = PlanarSystem(
        bodies=[disc(name, mass=1.0 + k, radius=R) for k, name in enumerate(names)],
        obstacles=[HalfPlane(name="floor")],
        pairs={(name, "floor"): ContactLaw(eps_n=e) for name, e in zip(names, eps, strict=True)},
    )  # fmt: skip
    high = [0.5 * G * (t * (1.0 - e) / (1.0 + e)) ** 2 for t, e in zip(ends, eps, strict=True)]
    return system, system.state(
        {name: (float(k), R + h, 0.0) for k, (name, h) in enumerate(zip(names, high, strict=True))}
    )


def check(ends, eps):
    system, state = bouncing(ends, eps)
    run = simulate(system, state, max(ends) + 0.1, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    for k, (end, e) in enumerate(zip(ends, eps, strict=True)):
        key, fall = f"ball{k}/floor", end * (1.0 - e) / (1.0 + e)
        (rest,) = (event.t for event in run.events if event.kind == "accumulation" and event.id == key)
        assert rest == pytest.approx(end, rel=0, abs=1e-12)
        impacts = [event.t for event in run.events if event.kind == "impact" and event.id == key]
        flights = end - 2.0 * fall * e / (1.0 - e) * e ** np.arange(len(impacts))
        for least, tol in ((1e-3, 1e-12), (1e-5, 1e-10)):  # a gap rounded by 1e-17 m moves slow impacts
            early = flights < end - least
            np.testing.assert_allclose(np.array(impacts)[early], flights[early], rtol=0, atol=tol)
    np.testing.assert_allclose(run.q[-1][1::3], R, rtol=0, atol=1e-13)
    assert not run.v[-1].any()
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_two_balls_come_to_rest_one_as_the_other_still_bounces():
    check((0.3, 0.300001), (0.3, 0.1))


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, -1e-6, -1e-5, -1e-4, -1e-3])
def test_two_balls_come_to_rest_at_nearly_the_same_time(later):
    check((1.0, 1.0 + later), (0.5, 0.8))


@pytest.mark.slow
def test_three_balls_come_to_rest_together():
    check((0.5, 0.5, 0.5 + 1e-6), (0.3, 0.6, 0.7))


def test_a_prediction_that_is_the_same_stays_as_it_is():
    g, e, t, u = 10.0, 0.8, 0.0, 1.0
    last = Rebound(t=t, speed=u)
    rng = np.random.default_rng(1)
    found = []
    while u > 1e-4:
        t, u = t + 2.0 * u / g, e * u
        noise = rng.uniform(-1.0, 1.0) * 3e-17 / u
        last = last.then(t + noise, u + g * noise)
        found.append(last.end)
    assert found[-1] == found[-20] == pytest.approx(2.0 / g / (1.0 - e), abs=1e-12)
