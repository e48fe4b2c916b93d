"""Friction that sets in within a phase that began without any: when, and what it does, from closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.lagrangian import Contact, Friction, LagrangianSystem
from gaussdyn.mechanics.state import State

G, T = 9.81, dynamicsymbols._t
X, Y = dynamicsymbols("x y")
AT = sp.Rational(1, 10)  # s or m: where friction sets in


def block(mu, load=0):
    """Return a block on a floor, pulled along it by a load (N)."""
    floor = Contact(Y, X.diff(), mu=mu, name="b/f")
    return LagrangianSystem(
        [X, Y], kinetic=(X.diff() ** 2 + Y.diff() ** 2) / 2, potential=9.81 * Y - load * X, constraints=[floor]
    )  # fmt: skip


def run_of(system, v, t_end, **settings):
    """Return the run and its events as (kind, id, t), where run and audit are well."""
    run = simulate(system, State(t=0.0, q=np.zeros(system.nq), v=v), t_end, stepper=EventDriven(**settings))
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    return run, [(event.kind, event.id, event.t) for event in run.events]


@pytest.mark.parametrize("step", [None, 0.01])
def test_a_block_that_slides_onto_rough_ground_stops_there(step):
    run, events = run_of(block(sp.Max(0, X - AT) / 2), [1.5, 0.0], 2.0, step=step)
    w = math.sqrt(G / 2)  # x'' = -w^2 (x - 1/10) beyond the border
    assert [event[:2] for event in events] == [("slip", "b/f"), ("stick", "b/f")]
    assert events[0][2] == pytest.approx(0.1 / 1.5, rel=0, abs=1e-10)
    assert events[1][2] == pytest.approx(0.1 / 1.5 + 0.5 * math.pi / w, rel=0, abs=1e-10)
    assert run.final.q[0] == pytest.approx(0.1 + 1.5 / w, rel=0, abs=1e-10)


@pytest.mark.parametrize("at", [sp.Integer(0), AT])
def test_friction_that_jumps_or_grows_with_time(at):
    t0, mu = float(at), sp.Piecewise((0, at > T), (sp.Rational(1, 2), True)) if at else sp.Max(0, T) / 2
    run, events = run_of(block(mu), [1.5, 0.0], 1.0)
    stop = t0 + 1.5 / (0.5 * G) if at else math.sqrt(4.0 * 1.5 / G)
    assert [event[:2] for event in events] == [("slip", "b/f"), ("stick", "b/f")]
    assert events[0][2] == pytest.approx(t0, rel=0, abs=1e-10)
    assert events[1][2] == pytest.approx(stop, rel=0, abs=1e-10)
    assert run.final.v[0] == 0.0


def test_what_rests_when_friction_sets_in_sticks_and_slips_when_it_is_pulled_away():
    late = T - 2 * AT
    run, events = run_of(block(sp.Max(0, T - AT), load=3e5 * sp.Max(0, late) ** 5), [0.0, 0.0], 0.4)
    slip = brentq(lambda t: 3e5 * (t - 0.2) ** 5 - G * (t - 0.1), 0.25, 0.35, xtol=1e-15)
    assert [event[:2] for event in events] == [("stick", "b/f"), ("slip", "b/f")]
    assert [event[2] for event in events] == pytest.approx([0.1, slip], rel=0, abs=1e-10)
    speed = 5e4 * (0.2**6 - (slip - 0.2) ** 6) - 0.5 * G * (0.3**2 - (slip - 0.1) ** 2)
    assert run.final.v[0] == pytest.approx(speed, rel=0, abs=1e-9)


def test_dry_friction_whose_cap_sets_in():
    rail = Friction(X.diff(), cap=sp.Max(0, T - AT), name="rail")
    system = LagrangianSystem([X], kinetic=X.diff() ** 2 / 2, potential=0, constraints=[rail])
    run, events = run_of(system, [0.02], 0.5)
    assert [event[:2] for event in events] == [("slip", "rail"), ("stick", "rail")]
    assert [event[2] for event in events] == pytest.approx([0.1, 0.1 + 0.2], rel=0, abs=1e-10)
    assert run.final.q[0] == pytest.approx(0.002 + 0.02 * 0.2 - 0.2**3 / 6, rel=0, abs=1e-10)
