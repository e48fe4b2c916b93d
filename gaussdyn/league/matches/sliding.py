"""Balls and bricks that slide, roll or stay on a rough plane."""

from __future__ import annotations

import math

import numpy as np

from ...scenes.sliding.cue_ball import roll
from ..playing import Field, Figure
from ..world import World
from .match import FLOOR, G, Match, ball, block

DT = 1e-3
RADIUS = 0.1
CUE = 0.03  # m, radius of the cue ball


def thrown_ball(field: Field) -> list[Figure]:
    """A ball thrown flat at 2 m/s: v0 - mu g t until it rolls with 5/7 v0, and it never leaves the floor."""
    mu, v0 = 0.3, 2.0
    world = World(bodies=(ball(RADIUS, 1.0, (0.0, 0.0, RADIUS), (v0, 0.0, 0.0)),), walls=(FLOOR,), mu=mu, flat=True)
    run = field.play(world, DT, 1.0, every=20)
    return [
        Figure(name="speed after 0.1 s", unit="m/s", value=abs(float(run.at(0.1)[0, 7]) - (v0 - mu * G * 0.1))),
        Figure(name="speed at the end", unit="m/s", value=abs(float(run.last[0, 7]) - 5.0 / 7.0 * v0)),
        Figure(name="hop", unit="m", value=max(0.0, float(run.states[:, 0, 2].max()) - RADIUS)),
    ]


def cue_ball(field: Field) -> list[Figure]:
    """A ball with side spin and draw: a parabola until it rolls, then a straight line (Coriolis)."""
    mu, v0, spin = 0.2, 1.0, (20.0, -30.0, 10.0)
    motion = roll(v0, spin[0], spin[1], CUE, mu)
    world = World(bodies=(ball(CUE, 0.2, (0.0, 0.0, CUE), (v0, 0.0, 0.0), spin),), walls=(FLOOR,), mu=mu)
    t_end = math.ceil((motion.t_roll + 0.2) / DT) * DT
    run = field.play(world, DT, t_end, every=10)
    half = 0.5 * float(run.t[run.t < motion.t_roll][-1])
    half = float(run.t[np.argmin(np.abs(run.t - half))])
    return [
        Figure(
            name="velocity half way to rolling", unit="m/s", value=_off(run.at(half)[0, 7:9], motion.velocity(half))
        ),
        Figure(name="velocity at the end", unit="m/s", value=_off(run.last[0, 7:9], motion.v_end)),
        Figure(name="place at the end", unit="m", value=_off(run.last[0, :2], motion.place(t_end))),
    ]


def held_brick(field: Field) -> list[Figure]:
    """A brick on a slope at 99 % of the friction angle, 10 s: it does not move."""
    run = field.play(_slope(0.99), DT, 10.0, every=100)
    return [
        Figure(name="creep in 10 s", unit="m", value=_off(run.last[0, :2], np.zeros(2))),
        Figure(name="speed at the end", unit="m/s", value=float(np.linalg.norm(run.last[0, 7:9]))),
    ]


def sliding_brick(field: Field) -> list[Figure]:
    """A brick on a slope at 101 % of the friction angle: g (sin - mu cos) t after 2 s."""
    run = field.play(_slope(1.01), DT, 2.0, every=100)
    angle = math.atan(0.5 * 1.01)
    speed = 2.0 * G * (math.sin(angle) - 0.5 * math.cos(angle))
    return [Figure(name="speed at the end, relative", unit="1", value=abs(float(run.last[0, 7]) / speed - 1.0))]


def _slope(ratio: float) -> World:
    """Return a brick on a plane that is as steep as so many times the friction: gravity is turned instead."""
    mu, half = 0.5, (0.1, 0.1, 0.05)
    angle = math.atan(ratio * mu)
    gravity = G * math.sin(angle), 0.0, -G * math.cos(angle)
    return World(bodies=(block(half, 1.0, (0.0, 0.0, 0.05)),), walls=(FLOOR,), mu=mu, gravity=gravity, flat=True)


def _off(found: np.ndarray, right: np.ndarray) -> float:
    return float(np.linalg.norm(found - right))


MATCHES = (
    Match(name="thrown_ball", title="A ball thrown flat, from slip to roll", dt=DT, play=thrown_ball,
          exact="v0 - mu g t, then 5/7 v0; no hop"),
    Match(name="cue_ball", title="A cue ball with side spin", dt=DT, play=cue_ball,
          exact="Coriolis (1835): the slip keeps its direction until it rolls"),
    Match(name="held_brick", title="A brick at 99 % of the friction angle", dt=DT, play=held_brick,
          exact="it stays"),
    Match(name="sliding_brick", title="A brick at 101 % of the friction angle", dt=DT, play=sliding_brick,
          exact="uniform acceleration g (sin - mu cos)"),
)  # fmt: skip
