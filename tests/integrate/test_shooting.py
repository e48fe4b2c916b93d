"""Shooting on a limit cycle with a closed form: r' = r (1 - r^2), angle' = w, so that r = 1 and T = 2 pi / w."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.integrate.shooting import Shot, closed

W = 3.0


def flow(y, t):
    r, angle = np.hypot(*y), np.arctan2(y[1], y[0])
    far = r / np.sqrt(r**2 + (1.0 - r**2) * np.exp(-2.0 * t))
    return far * np.array([np.cos(angle + W * t), np.sin(angle + W * t)])


def field(y):
    return (1.0 - y @ y) * y + W * np.array([-y[1], y[0]])


def follow(y, t):
    h = 1e-6
    Phi = np.array([(flow(y + h * e, t) - flow(y - h * e, t)) / (2.0 * h) for e in np.eye(2)]).T
    end = flow(y, t)
    return Shot(end - y, Phi, 1.0, None, field(end))


@pytest.mark.parametrize("seed", range(5))
def test_point_and_period_are_those_of_the_limit_cycle(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-np.pi, np.pi)
    start = rng.uniform(0.7, 1.4) * np.array([np.cos(angle), np.sin(angle)])
    guess = 2.0 * np.pi / W * rng.uniform(0.9, 1.1)
    normal = field(start) / np.linalg.norm(field(start))
    y, T, shot = closed(follow, np.add, start, guess, tol=1e-12, normal=normal, mend="Write period=..")
    assert np.hypot(*y) == pytest.approx(1.0, abs=1e-10)
    assert pytest.approx(2.0 * np.pi / W, abs=1e-10) == T
    assert abs(normal @ (y - start)) < 1e-12
    multipliers = np.sort(np.abs(np.linalg.eigvals(shot.Phi)))
    np.testing.assert_allclose(multipliers, [np.exp(-2.0 * T), 1.0], atol=1e-7)


def test_where_the_period_is_given_only_the_point_moves_and_what_does_not_close_says_by_how_much():
    y, T, _ = closed(follow, np.add, np.array([0.8, 0.3]), 2.0 * np.pi / W, tol=1e-11, mend="Write period=..")
    assert abs(T - 2.0 * np.pi / W) == 0.0
    assert np.hypot(*y) == pytest.approx(1.0, abs=1e-9)

    def drifts(y, t):
        return Shot(np.array([1.0]), np.eye(1), 1.0, None)

    with pytest.raises(InputError, match="misses its beginning by 1 at best"):
        closed(drifts, np.add, np.zeros(1), 1.0, tol=1e-12, mend="Write period=..")
