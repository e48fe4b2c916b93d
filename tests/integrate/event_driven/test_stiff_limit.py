"""Springs in the limit: closed form, stiff springs by scipy, Routh's method in space, and what has no limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from impact_cases import Contacts
from scipy.integrate import solve_ivp

from gaussdyn import EventDriven, State, build, outcome, simulate, snapshot
from gaussdyn.integrate.event_driven.painleve_passage import passage
from gaussdyn.integrate.event_driven.stiff_limit import spring_limit

G = 9.81


class Pushed(Contacts):
    """Closed contacts under a constant force."""

    def __init__(self, M, J, mu, push):
        super().__init__(M, J, mu)
        self.push = push

    def force(self, t, q, v, control=None):
        return self.push


def sliding(rng, dim):
    """A random contact that slides where no acceleration exists, and the velocity: A < 0, b < 0."""
    while True:
        L, J = rng.normal(size=(dim, dim)), np.eye(dim)[None]
        system = Pushed(L @ L.T + 0.3 * np.eye(dim), J, rng.uniform(0.5, 3.0, 1), np.zeros(dim))
        v = np.r_[0.0, rng.normal(size=dim - 1)]
        e, W = np.r_[0.0, v[1:] / np.linalg.norm(v)], system.W
        if W[0, 0] - system.mu[0] * W[0] @ e < -0.2 * W[0, 0]:
            system.push = -system.M[0] * rng.uniform(0.5, 2.0)  # the free acceleration closes the gap
            return system, v


def routh(W, mu, u):
    """The rate with which a contact is left: the normal impulse as time, friction against the slip, work given back."""

    def slope(p, y):
        e = y[1:-1] / np.linalg.norm(y[1:-1])
        return np.r_[W[:, 0] - mu * W[:, 1:] @ e, y[0]]

    def stops(p, y):
        return np.linalg.norm(y[1:-1]) - 1e-9

    stops.terminal = True
    found = solve_ivp(slope, (0.0, 1e3), np.r_[u, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, events=stops)
    u_N, work = found.y[0, -1], found.y[-1, -1]
    T = -np.linalg.solve(W[1:, 1:], W[1:, 0])
    assert np.linalg.norm(T) <= mu  # it sticks to the end
    return math.sqrt(u_N**2 - 2.0 * work * (W[0, 0] + W[0, 1:] @ T))


@pytest.mark.parametrize(("dim", "seed"), first(1, [(2, 1), (3, 2)]))
def test_limit_is_that_of_routh(dim, seed):
    system, v = sliding(np.random.default_rng(seed), dim)
    dynamics = snapshot(system, system.start(v))
    found = spring_limit(dynamics, 0.0)
    assert not found.reason
    exact = routh(system.W, system.mu[0], v)
    assert found.v == pytest.approx(np.r_[exact, np.zeros(dim - 1)], abs=10.0 * found.error * np.abs(v).max())
    assert found.error <= 1e-6
    assert system.M @ (found.v - v) == pytest.approx(found.impulses["c0"], abs=1e-7)


def stiff(mu, angle, slip, k):
    """Speed with which a rod is left by a spring of stiffness k in its tip, friction rigid: Newton's laws by scipy.

    In the time t sqrt(k), with the depth of the spring times sqrt(k).
    """
    I, w = 1.0 / 3.0, math.sqrt(k)

    def slope(y, sticks):
        depth, theta, _, v, om = y
        c, s, N = math.cos(theta), math.sin(theta), max(depth, 0.0)
        # the slip is u + s om, its rate T + s om' + c om^2 / w, om' = (-c N + s T) / I
        T = (-c * om**2 / w + s * c * N / I) / (1.0 + s * s / I) if sticks else mu * N
        return [c * om - v, om / w, T, N - G / w, (-c * N + s * T) / I]

    def stops(t, y):
        return y[2] + math.sin(y[1]) * y[4]

    def opens(t, y):
        return y[0]

    stops.terminal = opens.terminal = True
    opens.direction, how = -1, {"method": "DOP853", "rtol": 1e-11, "atol": 1e-15}
    one = solve_ivp(lambda t, y: slope(y, False), (0.0, 400.0), [0.0, angle, slip, 0.0, 0.0], events=stops, **how)
    two = solve_ivp(lambda t, y: slope(y, True), (0.0, 400.0), one.y[:, -1], events=opens, **how)
    _, theta, _, v, om = two.y[:, -1]
    return v - math.cos(theta) * om


@pytest.mark.slow
def test_stiff_springs_tend_to_the_limit():
    mu, angle, slip = 1.45, 1.08, -1.3
    scene = build("painleve_rod", mu=mu, angle=angle, slip=slip)
    found = passage(scene.system, scene.state, by="compliance")
    assert found.solved
    assert found.duration == 0.0
    assert found.error <= 1e-6
    row = scene.system.rows(0.0, scene.state.q, scene.state.v)[0]
    normal = float(row.J[0] @ found.v)
    W = row.J @ np.linalg.solve(scene.system.mass(scene.state.q), row.J.T)
    p, D = abs(slip / (abs(W[0, 1]) - mu * W[1, 1])), W[0, 0] - W[0, 1] ** 2 / W[1, 1]
    A = W[0, 0] - mu * abs(W[0, 1])
    assert normal == pytest.approx(math.sqrt(-D * A * p * p + (A * p) ** 2), rel=1e-7)
    errors = [abs(stiff(mu, angle, slip, k) - normal) / normal for k in (1e12, 1e14, 1e16)]
    assert errors[0] > 6.0 * errors[1] > 36.0 * errors[2]
    assert errors[2] <= 1e-4
    after = np.abs(scene.system.mass(scene.state.q) @ (found.v - scene.state.v) - row.J.T @ found.impulses[row.id])
    assert after.max() <= 1e-7


def test_a_run_passes_by_the_limit():
    scene = build("painleve_rod")
    run = simulate(scene, t_end=5e-3, stepper=EventDriven(on_none="compliance"))
    assert run.status == "COMPLETED"
    assert run.events[0].kind == "none_passed_by_compliance"
    limit = passage(scene.system, scene.state, by="compliance")
    assert run["rod.tip/floor.gap"][-1] > 0.0
    assert run.statistics["energy_drift_rel"] <= 1e-12
    row = scene.system.rows(0.0, scene.state.q, scene.state.v)[0]
    assert float(row.J[0] @ limit.v) == pytest.approx(0.0918743302, abs=1e-9)


def test_contacts_that_cannot_open_are_not_left():
    scene = build("painleve_klein")
    found = passage(scene.system, scene.state, by="compliance")
    assert outcome(snapshot(scene.system, scene.state)).verdict == "NONE"
    assert not found.solved
    assert "contacts that may open" in found.reason
    assert isinstance(found.state, State)
