"""Bouncing: a ball that comes to rest in finite time, and a row of balls."""

from __future__ import annotations

import math

import numpy as np

from ..playing import Field, Figure
from ..world import World
from .match import FLOOR, G, Match, ball

DT = 1e-3
RADIUS, HEIGHT, BOUNCE = 0.1, 1.0, 0.8  # m, m, restitution
SLOW = 0.05  # m/s: from the last moment at which it rises so fast on it counts as at rest
ROW, APART, SPEED = 5, 0.004, 1.0  # balls, m between them, m/s


def zeno_ball(field: Field) -> list[Figure]:
    """A ball dropped from 1 m with restitution 0.8: apexes e^2 h, e^4 h, ..., rest after finite time."""
    start = ball(RADIUS, 1.0, (0.0, 0.0, RADIUS + HEIGHT))
    world = World(bodies=(start,), walls=(FLOOR,), restitution=BOUNCE, flat=True)
    run = field.play(world, DT, 4.5)
    height, rate = run.states[:, 0, 2] - RADIUS, run.states[:, 0, 9]
    apex = run.at(math.sqrt(2.0 * HEIGHT / G) * (1.0 + BOUNCE))[0]
    reached = apex[2] - RADIUS + 0.5 * apex[9] ** 2 / G
    rising = np.flatnonzero(rate > SLOW)
    rest = run.t[rising[-1]] + (rate[rising[-1]] - SLOW) / G if len(rising) else math.nan
    return [
        Figure(name="first apex", unit="m", value=abs(float(reached) - BOUNCE**2 * HEIGHT)),
        Figure(name="time of rest", unit="s", value=abs(float(rest) - last_rise())),
        Figure(name="deepest in the floor", unit="m", value=max(0.0, -float(height.min()))),
    ]


def last_rise() -> float:
    """Return the last time at which the ball rises at `SLOW`, s."""
    t, v, last = math.sqrt(2.0 * HEIGHT / G), math.sqrt(2.0 * G * HEIGHT) * BOUNCE, 0.0
    while v > SLOW:
        last = t + (v - SLOW) / G
        t, v = t + 2.0 * v / G, v * BOUNCE
    return last


def cradle(field: Field) -> list[Figure]:
    """Equal balls a little apart, the first hits the row, e = 1: only the last one leaves, with its speed."""
    pitch = 2.0 * RADIUS + APART
    balls = tuple(
        ball(RADIUS, 1.0, (k * pitch - 0.05 * (k == 0), 0.0, 0.0), (SPEED * (k == 0), 0.0, 0.0)) for k in range(ROW)
    )
    world = World(bodies=balls, restitution=1.0, gravity=(0.0, 0.0, 0.0), flat=True)
    run = field.play(world, DT, 0.2, every=20)
    right = np.zeros((ROW, 3))
    right[-1, 0] = SPEED
    speed = run.last[:, 7:10]
    energy = 0.5 * float((speed**2).sum() + 0.4 * RADIUS**2 * (run.last[:, 10:] ** 2).sum())
    return [
        Figure(name="worst speed", unit="m/s", value=float(np.abs(speed - right).max())),
        Figure(name="energy", unit="J", value=abs(energy - 0.5 * SPEED**2)),
    ]


MATCHES = (
    Match(name="zeno_ball", title="A ball that bounces infinitely often in finite time", dt=DT, play=zeno_ball,
          exact="geometric series of flights"),
    Match(name="cradle", title="A cradle of five balls 4 mm apart", dt=DT, play=cradle,
          exact="each hands its momentum on"),
)  # fmt: skip
