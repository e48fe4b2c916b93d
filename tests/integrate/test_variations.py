"""Derivatives of motions through an event: closed forms of a mass on a spring that falls onto a floor, and bounces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.integrate.fundamental_matrix import Stretch, fundamental_matrix
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import Position, UserSystem

G, W = 9.81, 3.0


def swing(eps=0.0, floor=0.0):
    """A mass on a spring (W rad/s) over a floor."""
    constraint = Position(lambda t, q: q[0] - floor, eps_n=eps)
    return UserSystem(1, [[1.0]], lambda t, q, v: -W * W * q - G, [constraint])


def exact(y, t):
    """The motion without a floor, and its derivative: turns about the rest length."""
    c, s = math.cos(W * t), math.sin(W * t)
    Y = np.array([[c, s / W], [-W * s, c]])
    rest = np.array([-G / W**2, 0.0])
    return rest + Y @ (y - rest), Y


@pytest.mark.parametrize(("eps", "speed"), [(0.0, 0.3), (0.5, -1.2), (0.5, 0.3), (1.0, -1.8), (1.0, 0.3)])
def test_a_bounce_multiplies_the_derivative_by_the_saltation(eps, speed):
    """S = [[-eps, 0], [-(1 + eps) G / u, -eps]] with u before, det S = eps^2; with eps = 0 it stays on the floor."""
    y, end = np.array([1.0, speed]), 0.6
    found = fundamental_matrix(swing(eps), State(q=y[:1], v=y[1:]), end)
    hit = next(one for one in found.changes if one.kind == "impact")
    (there, before), (_, after) = exact(y, hit.t), exact(y, end - hit.t)
    np.testing.assert_allclose([*hit.before.q, *hit.before.v], there, rtol=0, atol=1e-11)
    assert abs(there[0]) <= 1e-12
    u = float(there[1])
    S = np.array([[-eps, 0.0], [-(1.0 + eps) * G / u, -eps]]) if eps else np.zeros((2, 2))
    np.testing.assert_allclose(found.Phi, after @ S @ before, rtol=0, atol=1e-10)
    assert np.linalg.det(found.Phi) == pytest.approx(eps**2, abs=1e-10)  # no damper: only impacts lose phase volume


def test_the_lowest_minimum_inside_is_told():
    y = np.array([0.0, 5.0])  # it swings about -G / W^2: seen from 4 m below it never comes down to zero
    found = fundamental_matrix(swing(floor=-4.0), State(q=y[:1], v=y[1:]), 2.5, lowest=True)
    size = math.hypot(G / W**2, 5.0 / W)
    (low,) = [one.low for one in found.parts if isinstance(one, Stretch)]
    assert low[0] == pytest.approx(4.0 - G / W**2 - size, rel=0, abs=1e-11)
    assert found.state.t == 2.5
