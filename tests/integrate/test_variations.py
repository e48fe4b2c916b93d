"""Derivatives of motions through an event: closed forms of a swing that falls onto a floor and bounces there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from gaussdyn.integrate.event_driven.event_location import Seen
from gaussdyn.integrate.event_driven.guards import Guard
from gaussdyn.integrate.saltation import saltation
from gaussdyn.integrate.variations import varied

G, W = 9.81, 3.0


@dataclass(frozen=True)
class Throw:
    """y = (height, speed) of a mass on a spring (W rad/s) that falls onto a floor."""

    guards: tuple[Guard, ...] = (Guard("touchdown", "floor", 0, "place"),)
    redundant: bool = False

    def slope(self, t, z):
        A = np.array([[0.0, 1.0], [-W * W, 0.0]])
        return np.concatenate([A @ z[:2] + (0.0, -G), (A @ z[2:].reshape(2, 2)).ravel()])

    def look(self, t, z):
        return Seen(t, z[:1], z[1:2])


def exact(y, t):
    """The motion without a floor, and its derivative: turns about the rest length."""
    c, s = math.cos(W * t), math.sin(W * t)
    Y = np.array([[c, s / W], [-W * s, c]])
    rest = np.array([-G / W**2, 0.0])
    return rest + Y @ (y - rest), Y


@pytest.mark.parametrize("seed", range(5))
def test_a_throw_and_its_derivative_end_at_the_floor(seed):
    y = np.array([1.0, np.random.default_rng(seed).uniform(-2.0, 2.0)])
    on = varied(Throw(), 0.0, y, 3.0, 1e-12)
    there, Y = exact(y, on.t)
    assert on.found is not None
    assert abs(there[0]) <= 1e-12
    assert there[1] < 0.0
    np.testing.assert_allclose(on.y, there, rtol=0, atol=1e-11)
    np.testing.assert_allclose(on.Y, Y, rtol=0, atol=1e-10)


@pytest.mark.parametrize("eps", [0.0, 0.5, 1.0])
def test_a_bounce_multiplies_it_by_the_saltation(eps):
    y, end = np.array([1.0, 0.3]), 0.9

    def bounced(y):
        """Where it is at the end, after one bounce, and dy / dy(begin) by the equations."""
        on = varied(Throw(), 0.0, y, 3.0, 1e-13)
        R = np.diag([1.0, -eps])
        before, after = (Throw().slope(on.t, np.concatenate([x, np.zeros(4)]))[:2] for x in (on.y, R @ on.y))
        S = saltation(before, after, 0.0, np.array([1.0, 0.0]), R)
        last, Y = exact(R @ on.y, end - on.t)
        return last, Y @ S @ on.Y

    h = 1e-4
    differences = np.array([
        (8.0 * (bounced(y + h * e)[0] - bounced(y - h * e)[0]) - bounced(y + 2 * h * e)[0] + bounced(y - 2 * h * e)[0])
        / (12.0 * h) for e in np.eye(2)
    ]).T  # fmt: skip
    np.testing.assert_allclose(bounced(y)[1], differences, rtol=0, atol=1e-8)


def test_the_lowest_minimum_inside_is_told():
    y = np.array([0.0, 5.0])  # it swings about -G / W^2: seen from 4 m below it never comes down to zero

    class Swing(Throw):
        def look(self, t, z):
            return Seen(t, z[:1] + 4.0, z[1:2])

    on = varied(Swing(), 0.0, y, 2.5, 1e-12)
    size = math.hypot(G / W**2, 5.0 / W)
    assert on.found is None
    assert on.low[0] == pytest.approx(4.0 - G / W**2 - size, rel=0, abs=1e-11)
    assert on.t == 2.5
