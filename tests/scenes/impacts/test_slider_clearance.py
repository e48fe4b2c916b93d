"""The slider-crank with clearance by itself: its laws, and the published run, which is that of steps of 0.1 ms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.scenes.impacts.slider_clearance import J3, L1, L2, M1, M2, M3, SliderCrank

G = 9.81
ONE = SliderCrank(clearance=1e-3, eps=0.4, mu=0.01)
START = np.zeros(3), np.array([150.0, -75.0, 0.0])


def energy(y):
    """Kinetic and potential energy from the speeds of the middles of the bodies."""
    (a, b, _), v = y[:3], y[3:]
    joint = L1 * v[0] * np.array([-math.sin(a), math.cos(a)])
    end = joint + L2 * v[1] * np.array([-math.sin(b), math.cos(b)])
    fast = M1 * joint @ joint / 4 + M2 * (joint + end) @ (joint + end) / 4 + M3 * end @ end
    spin = 7.4e-5 * v[0] ** 2 + 5.9e-4 * v[1] ** 2 + J3 * v[2] ** 2
    high = L1 * math.sin(a), L1 * math.sin(a) + L2 * math.sin(b)
    return 0.5 * (fast + spin) + G * (M1 * high[0] / 2 + M2 * (high[0] + high[1]) / 2 + M3 * high[1])


def test_a_flight_keeps_the_energy_and_an_impact_obeys_newton_and_coulomb():
    hits, end, _ = ONE.motion(*START)
    t, before = ONE.flight(0.0, np.concatenate(START), 1.0)
    assert energy(before) == pytest.approx(energy(np.concatenate(START)), rel=1e-12)
    assert energy(end) == pytest.approx(energy(hits[1][1]), rel=1e-12)
    after = hits[0][1]
    assert t == hits[0][0]
    rows = [ONE.jacobians(after[:3], k) for k in (0, 1)]  # both corners of the upper side
    for normal, _ in rows:
        assert normal @ after[3:] == pytest.approx(-0.4 * (normal @ before[3:]), rel=1e-9)
    push = ONE.mass(after[:3]) @ (after - before)[3:]
    p = np.linalg.lstsq(np.array([rows[0][0], rows[1][0], rows[0][1]]).T, push, rcond=None)[0]
    assert p[2] == pytest.approx(-0.01 * (p[0] + p[1]) * np.sign(rows[0][1] @ after[3:]), rel=1e-6)
    assert energy(after) < energy(before)


def published(h, steps):
    """The scheme of the published run: theta = 1/2, the mass at the end of the step; corners act half a step ahead."""
    q, v = START
    for _ in range(steps):
        begin, q_end, u = ONE.mass(q) @ ONE.acceleration(q, v), q + h * v, v
        for _ in range(20):
            M = ONE.mass(q_end)
            u = v + 0.5 * h * np.linalg.solve(M, begin + ONE.mass(q_end) @ ONE.acceleration(q_end, u))
            q_end = q + 0.5 * h * (v + u)
        acts = np.flatnonzero(ONE.gaps(q) + 0.5 * h * np.array([ONE.jacobians(q, k)[0] @ v for k in range(4)]) <= 0.0)
        if len(acts):
            rows = [ONE.jacobians(0.5 * (q + q_end), int(k)) for k in acts]
            held = np.array([normal for normal, _ in rows])
            push = np.array([normal + ONE.mu * tangent for normal, tangent in rows])  # the slider slips inwards
            p = np.linalg.lstsq(held @ np.linalg.solve(M, push.T), -held @ (ONE.eps * v + u), rcond=None)[0]
            u = u + np.linalg.solve(M, push.T @ p)
        q, v = q + 0.5 * h * (v + u), u
    return q, v


def test_the_published_figures_are_those_of_steps_of_a_tenth_of_a_millisecond():
    """Siconos' example (projected positions), in free flight and after the first impact, to three digits and more."""
    q, v = published(1e-4, 19)
    np.testing.assert_allclose([q[0] / (2.0 * math.pi), q[1]], [0.0419993, -0.129378], rtol=5e-5)
    np.testing.assert_allclose(v[:2], [122.5677, -57.80374], rtol=1e-4)
    q, v = published(1e-4, 28)
    np.testing.assert_allclose(v[:2], [107.6147, -52.15284], rtol=5e-4)
    (t, _), *_ = ONE.motion(*START)[0]
    assert 2.6e-3 < t <= 2.8e-3  # its first impulse is in the step to 2.8 ms, half a step ahead


def test_the_published_scheme_tends_to_the_exact_flight_with_order_one():
    _, exact = ONE.flight(0.0, np.concatenate(START), 1.9e-3)
    errors = [np.abs(published(h, round(1.9e-3 / h))[1][:2] - exact[3:5]).max() for h in (1e-4, 5e-5, 2.5e-5)]
    assert errors[0] > 0.2  # rad/s of 122: three digits need shorter steps
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 2.0, rtol=0.1)
