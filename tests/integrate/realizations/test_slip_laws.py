"""Stribeck's law in event-driven runs, against scipy's integrator with its own events."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from evidence import first
from scipy.integrate import solve_ivp
from small_systems import Plain
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.lagrangian.friction_law import slip_law
from gaussdyn.mechanics.lagrangian.system import Contact, Friction, LagrangianSystem
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State

G, K, BELT, END = 9.81, 10.0, 0.5, 6.0
SLOW, FAST, FADES, VISCOUS = 0.35, 0.2, 0.1, 0.02


def coefficient(w):
    """Of the slip speed: falls to that of fast slip, and rises again slowly."""
    return FAST + (SLOW - FAST) * np.exp(-abs(w) / FADES) + VISCOUS * abs(w)


def by_scipy():
    """Return times of release and of catch: it rides to k x = mu(0) g, then slips backwards until it has the speed."""
    t, kinds, y = SLOW * G / K / BELT, [], [SLOW * G / K, BELT]
    while t < END:
        kinds.append(("slip", t))

        def caught(t, y):
            return y[1] - BELT

        caught.terminal, caught.direction = True, 1.0
        slip = solve_ivp(
            lambda t, y: [y[1], -K * y[0] + coefficient(BELT - y[1]) * G], (t, END), y, events=caught,
            method="DOP853", rtol=1e-13, atol=1e-14, first_step=1e-6,
        )  # fmt: skip
        if slip.status != 1:
            break
        t, x = float(slip.t[-1]), float(slip.y[0, -1])
        kinds.append(("stick", t))
        t, y = t + (SLOW * G / K - x) / BELT, [SLOW * G / K, BELT]
    return kinds


def stribeck(N, w):
    return N * sp.sign(w) * (FAST + (SLOW - FAST) * sp.exp(-sp.Abs(w) / FADES)) + VISCOUS * N * w


def on_a_contact():
    """The law as a coefficient of friction, the load as the reaction of a contact."""
    x, y = dynamicsymbols("x y", real=True)
    w, N, speed = sp.Symbol("w", real=True), sp.Symbol("N", positive=True), x.diff() - BELT
    law = slip_law(stribeck(N, w), w, {}, N=N)
    return LagrangianSystem(
        {x: "m", y: "m"}, kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=K * x**2 / 2 + G * y,
        constraints=[Contact(gap=y, slip=speed, mu=law.mu.subs(w, speed), name="belt")], compile=False, name="contact",
    ), State(q=[0.0, 0.0], v=[BELT, 0.0])  # fmt: skip


def under_a_load():
    """The same law under a given load: what holds at rest, and a force."""
    x = dynamicsymbols("x", real=True)
    w, speed = sp.Symbol("w", real=True), x.diff() - BELT
    law = slip_law(stribeck(G, w), w, {})
    return LagrangianSystem(
        {x: "m"}, kinetic=x.diff() ** 2 / 2, potential=K * x**2 / 2, forces=[-law.rest.subs(w, speed)],
        constraints=[Friction(speed, cap=law.cap, name="belt")], compile=False, name="load",
    ), State(q=[0.0], v=[BELT])  # fmt: skip


@pytest.mark.parametrize("made", first(1, [on_a_contact, under_a_load]))
def test_stick_and_slip_with_stribecks_law_agree_with_scipy(made):
    system, state = made()
    run = simulate(system, state, END, stepper=EventDriven())
    expected = by_scipy()
    assert run.status == "COMPLETED"
    assert [event.kind for event in run.events] == [kind for kind, _ in expected]
    assert len(expected) >= 4
    np.testing.assert_allclose([event.t for event in run.events], [t for _, t in expected], rtol=0, atol=2e-10)


def test_a_guide_whose_load_and_reaction_vanish_together():
    """A bead in a guide: h = (0, A sin 3t), N = -A sin 3t; mu |N| brakes it until v0 = mu A / 3 (4 + 1 - cos 3t)."""
    x, y = dynamicsymbols("x y", real=True)
    A, mu, v0 = 20.0, 0.2, 6.0
    guide = Contact(gap=y, slip=x.diff(), mu=mu, kind="bilateral", name="guide")
    bead = LagrangianSystem(
        [x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, forces=[0, A * sp.sin(3 * dynamicsymbols._t)],
        constraints=[guide], compile=False, name="bead",
    )  # fmt: skip
    run = simulate(bead, State(q=[0.0, 0.0], v=[v0, 0.0]), 3.0, stepper=EventDriven())
    assert run.status == "COMPLETED"
    expected = [np.pi / 3, 2 * np.pi / 3, (2 * np.pi + np.arccos(5.0 - 3.0 * v0 / (mu * A))) / 3]
    np.testing.assert_allclose([event.t for event in run.events if event.t > 0.0], expected, atol=1e-11)
    assert [event.kind for event in run.events if event.t > 0.0] == ["turn", "turn", "stick"]


class Brake(Plain):
    """Dry friction whose cap is c0 + x."""

    def __init__(self, c0):
        self.c0 = c0

    def rows(self, t, q, v):
        return (Row(id="brake", kind="dry", J=[[1.0]], rate=v, drift=[0.0], cap=self.c0 + max(float(q[0]), 0.0)),)


@pytest.mark.parametrize(("cap", "kinds"), [(1e-12, ["stick"]), (0.0, ["slip", "stick"])], ids=["faint", "none"])
def test_friction_that_sets_in_from_a_cap_of_zero_is_not_passed_over(cap, kinds):
    """It is x'' = -x until the speed vanishes: x = sin t; from no cap at all it sets in as a slip, at once."""
    run = simulate(Brake(cap), State(q=[0.0], v=[1.0]), 3.0, stepper=EventDriven())
    assert [event.kind for event in run.events] == kinds
    assert run.events[-1].t == pytest.approx(np.pi / 2, abs=1e-11)
    assert run.events[0].t == pytest.approx(0.0 if len(kinds) == 2 else np.pi / 2, abs=1e-11)
    assert run.final.q == pytest.approx([1.0], abs=1e-11)
