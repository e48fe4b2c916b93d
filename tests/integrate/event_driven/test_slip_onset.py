"""The end of sticking where stick and slip meet and vanish (a fold): what comes next is not a slip from rest.

The axis of a top that precesses steadily is struck so that it nods; the tip sticks (Lagrange's top). As the axis rises
the normal force falls and friction turns outwards, under the mass centre. With W = (1 + l^2/k^2 (1 - a a^T))/m the tip
would leave the floor without reaction when b = -(W r)_N > 0; it sticks on, beside a slip and detachment, which have
become possible. At |r_T| = mu N the row A N + b = 0 of the slip from rest says A < 0: stick and slip meet there and
vanish, and detachment is the only motion left, with N > 0 up to that moment.
Source: A. P. Ivanov, Regular and Chaotic Dynamics 14 (2009), 5-6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from random_scenes import mixed
from scipy.integrate import solve_ivp

from gaussdyn import State, outcome, resolve, simulate, snapshot
from gaussdyn.contact.resolve import reactions
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.uniqueness_checks import accelerating
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.system import SpatialSystem

TIP, G, MASS, TILT = "top.tip/floor", 9.81, 0.1, 0.5
LENGTH, LONG, ACROSS = 0.03, 3e-4, 2e-4  # m from the tip to the mass centre; m^2, moments of inertia over the mass
AT_TIP = ACROSS + LENGTH**2  # m^2, moment across the axis at the tip, over the mass
DOWN = np.array([0.0, 0.0, -G])


@dataclass(frozen=True, kw_only=True)
class Nodding:
    """Lagrange's top by its axis a and its angular momentum L about the tip over the mass, up to |r_T| = mu N."""

    mu: float
    spin: float
    nod: float

    @property
    def precession(self):
        """Slow rate at which it would precess without nodding, rad/s."""
        c, L = math.cos(TILT), LONG * self.spin
        return (L - math.sqrt(L * L - 4.0 * AT_TIP * c * G * LENGTH)) / (2.0 * AT_TIP * c)

    @property
    def start(self):
        """(L, a) at the start."""
        a = np.array([math.sin(TILT), 0.0, math.cos(TILT)])
        turning = np.array([0.0, -self.nod, self.precession])
        return np.concatenate([AT_TIP * (turning - (a @ turning) * a) + LONG * self.spin * a, a])

    def reaction(self, y):
        """Return the force at the tip over the mass, m/s^2: that of the mass centre on its circle, and the weight."""
        L, a = y[:3], y[3:]
        turned = np.cross(LENGTH * np.cross(a, DOWN), a) + np.cross(L, np.cross(L, a) / AT_TIP)
        return np.asarray(LENGTH * turned / AT_TIP - DOWN)

    @cached_property
    def limit(self):
        """Time at which friction reaches its limit, s, and (L, a) then."""

        def left(_t, y):
            """Return mu N - |r_T|."""
            r = self.reaction(y)
            return float(self.mu * r[2] - math.hypot(r[0], r[1]))

        def rates(_t, y):
            return np.concatenate([LENGTH * np.cross(y[3:], DOWN), np.cross(y[:3], y[3:]) / AT_TIP])

        left.terminal = True
        found = solve_ivp(rates, (0.0, 0.1), self.start, "DOP853", rtol=1e-13, atol=1e-15, events=left)
        return float(found.t[-1]), np.asarray(found.y[:, -1])

    def top(self):
        """Return the system and its first state."""
        tip = Sphere(radius=0.0, at=(0.0, 0.0, -LENGTH), name="tip")
        inertia = (ACROSS * MASS, ACROSS * MASS, LONG * MASS)
        body, floor = SpatialBody(name="top", mass=MASS, inertia=inertia, shapes=(tip,)), HalfSpace(name="floor")
        law = ContactLaw(mu=self.mu)
        system = SpatialSystem(bodies=[body], obstacles=[floor], contact=law, gravity=(0.0, 0.0, -G))
        a = self.start[3:]
        velocity = LENGTH * np.cross(self.start[:3], a) / AT_TIP
        turning = (-self.precession * math.sin(TILT), -self.nod, self.spin)  # about the axes of the body
        place = (*(LENGTH * a), math.cos(TILT / 2), 0.0, math.sin(TILT / 2), 0.0)
        return system, system.state({"top": place}, {"top": (*velocity, *turning)})


def motions(system, state):
    """Letters of all accelerations at a state."""
    found = outcome(accelerating(system, State(t=state.t, q=state.q, v=state.v), None))
    return sorted("".join(one.modes) for one in found.components)


def test_a_top_detaches_although_its_normal_force_does_not_vanish():
    """Ivanov (2009), section 6; times and forces from Lagrange's top, integrated by scipy."""
    nodding = Nodding(mu=2.0, spin=300.0, nod=4.8)
    (system, first), (end, y) = nodding.top(), nodding.limit
    run = simulate(system, first, end + 5e-3, stepper=EventDriven())
    assert [(event.kind, event.id) for event in run.events] == [("lift_off", TIP)]
    assert run.events[0].t == pytest.approx(end, abs=1e-11)
    assert motions(system, first) == ["S"]
    state, N = first, []
    for early in (4e-3, 1e-6):
        state = simulate(system, state, end - early, stepper=EventDriven()).final
        d = snapshot(system, state, level="acceleration")
        N.append(reactions(d, resolve(d, start=dict(state.memory)))[TIP][0] / (MASS * G))
    assert 0.5 < nodding.reaction(y)[2] / G < N[0] < 0.7  # it falls, but not to zero
    assert N[1] == pytest.approx(nodding.reaction(y)[2] / G, abs=1e-4)
    assert motions(system, state) == ["+", "D", "S"]


def test_after_the_fold_comes_the_slip_that_is_left():
    """With less friction the tip cannot rise at the limit: another slip exists, and begins at full rate."""
    nodding = Nodding(mu=1.96, spin=320.0, nod=4.9)
    (system, first), (end, y) = nodding.top(), nodding.limit
    run = simulate(system, first, end + 1e-7, stepper=EventDriven())
    assert [event.kind for event in run.events] == ["slip"]
    assert run.events[0].t == pytest.approx(end, abs=1e-11)
    (row,) = system.near(0.0, run.final.q, run.final.v, 0.0).rows(0.0, run.final.q, run.final.v)
    slip = row.rate[1:] / (run.final.t - run.events[0].t)
    frame, a = row.J[:, :3], y[3:]
    W = np.eye(3) + LENGTH**2 / ACROSS * (np.eye(3) - np.outer(a, a))  # times the mass
    push = W @ frame.T @ np.array([1.0, *(-1.96 * slip / np.linalg.norm(slip))])
    free = -W @ nodding.reaction(y)
    N = -free[2] / push[2]
    assert 0.0 < N < 0.5 * nodding.reaction(y)[2]
    assert np.linalg.norm(slip) > 10.0
    assert frame[1:] @ (N * push + free) == pytest.approx(slip, rel=2e-3)


def test_errors_of_the_velocities_give_a_slip_from_rest_no_direction():
    """A ball sticks on another one until its friction is used up: its rate there, 1e-12 m/s, lies across its slip."""
    system, _ = mixed(3, 9735)
    q = (
        -0.2766884570202, -0.1365078961179, 0.1940503637605,
        0.586559400652, -0.586559400652, -0.3949026076221, 0.3949026076221,
        -0.1256580209394, -0.1992043736777, 0.5588849396338,
        0.6631123948147, 0.5566153825424, 0.2595424682281, -0.4279006601378,
        0.04839387388317, -0.08921055070139, 0.8109262767481,
        -0.05505408224698, 0.1486613683434, 0.9284657008546, 0.3358873143284,
    )  # fmt: skip
    v = (
        -0.719099604108, -0.4128803384858, 0.0, 0.0, 0.3140395712351, 0.0,
        -0.4630780855161, -0.6717179103721, 0.0, 1.2732418413, 0.387928588951, -2.044710223805,
        0.4570751443002, 0.1029858750539, -0.9735190545295, 6.312200309093, 12.04002392222, -1.334621736545,
    )  # fmt: skip
    run = simulate(system, State(t=0.3421, q=q, v=v), 0.3424, stepper=EventDriven(), project=True)
    assert run.status == "COMPLETED", run.stop
    assert [(event.kind, event.id) for event in run.events] == [("slip", "b1/b2")]
    k = run.t.tolist().index(run.events[0].t)
    at = run.state(k)
    row = next(row for row in system.near(at.t, at.q, at.v, 0.0).rows(at.t, at.q, at.v) if row.id == "b1/b2")
    assert np.abs(row.rate).max() < 1e-14
