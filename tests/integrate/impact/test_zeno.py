"""Contacts that bounce side by side: each strikes at its own time and comes to rest at the end of its own sequence."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.contact.snapshot import Activation, rows_of
from gaussdyn.integrate.contact_modes import CLOSED, OPEN
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.phase_state import Place
from gaussdyn.integrate.event_driven.simultaneous_contacts import parted
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State

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
    assert (np.diff([event.t for event in run.events]) >= 0.0).all()
    for k, (end, e) in enumerate(zip(ends, eps, strict=True)):
        key, fall = f"ball{k}/floor", end * (1.0 - e) / (1.0 + e)
        (rest,) = (event.t for event in run.events if event.kind == "accumulation" and event.id == key)
        assert rest == pytest.approx(end, rel=0, abs=1e-12)
        impacts = np.array([event.t for event in run.events if event.kind == "impact" and event.id == key])
        flights = end - 2.0 * fall * e / (1.0 - e) * e ** np.arange(len(impacts))
        for least, tol in ((1e-3, 1e-12), (1e-5, 1e-10)):  # a gap rounded by 1e-17 m moves slow impacts
            early = flights < end - least
            np.testing.assert_allclose(impacts[early], flights[early], rtol=0, atol=tol)
    np.testing.assert_allclose(run.q[-1][1::3], R, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.v[-1], 0.0, rtol=0, atol=1e-13)
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def test_two_balls_come_to_rest_one_as_the_other_still_bounces():
    check((0.3, 0.300001), (0.3, 0.1))


def test_balls_that_fall_alike_come_to_rest_together():
    check((0.3, 0.3, 0.3), (0.2, 0.2, 0.2))


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, -1e-7, -1e-6, -1e-5, -1e-4, -1e-3])
def test_two_balls_come_to_rest_at_nearly_the_same_time(later):
    check((1.0, 1.0 + later), (0.5, 0.8))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1e-4, 1e-5, 1e-6, 1e-7])
def test_six_balls_come_to_rest_within_a_short_time(spread):
    rng = np.random.default_rng(round(-np.log10(spread)))
    check(tuple(0.5 + spread * rng.random(6)), tuple(rng.uniform(0.1, 0.7, 6)))


def test_balls_land_together_that_bounce_apart_from_then_on():
    fall, eps = 0.2, (0.2, 0.5, 0.0)
    check(tuple(fall * (1.0 + e) / (1.0 - e) for e in eps[:2]), eps[:2])


def landing(above):
    """A stack of two boxes and a ball beside it that fall onto a floor, 3e-10 m and as much as given above it."""
    names, law = ("low", "high"), ContactLaw(mu=0.5, eps_n=0.4)
    system = PlanarSystem(
        bodies=[*(box(name, mass=1.0, width=0.4, height=0.2) for name in names), disc("ball", mass=1.0, radius=R)],
        obstacles=[HalfPlane(name="floor")], contact=law,
    )  # fmt: skip
    v = (0.0, -1e-3, 0.0)
    state = system.state(
        {"low": (0.0, 0.1 + 3e-10, 0.0), "high": (0.0, 0.3 + 3e-10, 0.0), "ball": (2.0, R + above, 0.0)},
        dict.fromkeys(("low", "high", "ball"), v),
    )  # fmt: skip
    return system, state


@pytest.mark.parametrize("above", first(1, [1e-10, 5e-10, 9e-10]))
def test_a_ball_does_not_strike_with_a_stack_that_lands_beside_it(above):
    system, state = landing(above)
    run = simulate(system, state, 1e-4, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    first = {}
    for event in run.events:
        if event.kind == "impact":
            first.setdefault(event.id, event.t)
    own = 2.0 * above / (1e-3 + np.sqrt(1e-6 + 2.0 * G * above))
    assert first["ball/floor"] == pytest.approx(own, rel=0, abs=1e-12)
    corners = {t for key, t in first.items() if key.startswith("low") and "floor" in key}
    assert len(corners) == 1
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def place(heights, rates):
    names = [f"ball{k}" for k in range(len(heights))]
    system = PlanarSystem(
        bodies=[disc(name, mass=1.0, radius=R) for name in names], obstacles=[HalfPlane(name="floor")]
    )  # fmt: skip
    state = system.state(
        {name: (float(k), R + h, 0.0) for k, (name, h) in enumerate(zip(names, heights, strict=True))},
        {name: (0.0, u, 0.0) for name, u in zip(names, rates, strict=True)},
    )  # fmt: skip
    t, q, v = state.t, state.q, state.v
    return Place(t, q, v, rows_of(system, t, q, v), system.mass(q), np.zeros(len(v)))


def test_gaps_are_open_that_close_later_and_rise():
    here = place((0.0, 5e-10, 5e-10, 5e-10, 5e-10, 1e-13), (-1e-3, -1e-3, 1e-3, 0.0, -1e-3, -1.0))
    known = {row.id: OPEN for row in here.rows} | {"ball4/floor": CLOSED}
    found = parted(here, known, {"ball0/floor"}, Activation())
    assert found.aloft == {"ball1/floor", "ball2/floor"}  # ball3 rests, ball4 was held, ball5 touches down now
    assert found.gap == Activation().gap


def test_gaps_of_one_body_are_closed_with_those_that_touch():
    system = PlanarSystem(bodies=[box("box", mass=1.0, width=0.4, height=0.2)], obstacles=[HalfPlane(name="floor")])
    turned = State(t=0.0, q=np.array([0.0, 0.1 + 3e-10, 1e-9]), v=np.array([0.0, -1e-3, 0.0]))
    rows = rows_of(system, 0.0, turned.q, turned.v)
    here = Place(0.0, turned.q, turned.v, rows, system.mass(turned.q), np.zeros(3))
    low = min(rows, key=lambda row: row.gap).id
    assert parted(here, {}, {low}, Activation()).aloft == frozenset()
    assert len(parted(here, {}, (), Activation()).aloft) == 2
