"""Slips in space while friction turns them faster than they move: against the motion integrated explicitly by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from gaussdyn import EventDriven, State, UserSystem, simulate
from gaussdyn.integrate.slip_turn import DENSE, ORDER, A, C
from gaussdyn.mechanics.constraints import Position

G, MU = 9.81, 0.3
WX, WY = 2.1, 1.3  # rad/s


def pull(t):
    """Acceleration by the load, m/s^2: it turns and grows."""
    return np.array([6.0 * np.sin(WX * t), 1.0 + 2.5 * np.sin(WY * t)])


def coin(eps=0.0):
    floor = Position(lambda t, q: q[2], mu=MU, eps_n=eps, tangent=lambda t, q: np.eye(3)[:2])
    return UserSystem(3, np.eye(3) * 0.7, lambda t, q, v: 0.7 * np.array([*pull(t), -G]), constraints=[floor])


def test_a_slip_that_begins_in_space_and_turns_agrees_with_many_small_explicit_steps():
    begins = brentq(lambda t: np.hypot(*pull(t)) - MU * G, 0.0, 0.6, xtol=1e-15)
    e = pull(begins) / (MU * G)
    grows = (np.hypot(*pull(begins + 1e-6)) - np.hypot(*pull(begins - 1e-6))) / 2e-6
    small = 1e-4  # s: from here on u = grows t^2 / 2; directions that are wrong by this much are soon forgotten

    def slope(t, y):
        return np.concatenate((y[2:], pull(t) - MU * G * y[2:] / np.hypot(*y[2:])))

    y = np.concatenate((grows * small**3 / 6.0 * e, grows * small**2 / 2.0 * e))
    way = solve_ivp(slope, (begins + small, begins + 0.2), y, method="DOP853", rtol=1e-11, atol=1e-14)
    run = simulate(coin(), State(q=np.zeros(3), v=np.zeros(3)), begins + 0.2, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["slip"]
    assert run.events[0].t == pytest.approx(begins, abs=1e-12)
    np.testing.assert_allclose(np.r_[run.q[-1][:2], run.v[-1][:2]], way.y[:, -1], rtol=0, atol=1e-11)


def test_collocation_integrates_polynomials_of_its_degree_exactly():
    for k in range(ORDER):
        np.testing.assert_allclose(A @ C**k, C ** (k + 1) / (k + 1), atol=1e-14)
        x, F = 0.37, DENSE @ C**k
        y = 0.0
        for j, f in enumerate(F[::-1]):
            y = (y + f) * (x if j % 2 == 0 else 1.0 - x)
        assert y == pytest.approx(x ** (k + 1) / (k + 1), abs=1e-13)
    assert A[-1] @ C ** (2 * ORDER - 2) == pytest.approx(1.0 / (2 * ORDER - 1), abs=1e-14)  # order 2 n - 1 at the end
