"""A rod whose tip digs into the floor: one motion, none, or two (Painleve 1895)."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from ...arrays import Array
from ..playing import Field, Figure
from ..world import Body, Rod, World
from .match import FLOOR, G, Match

DT, SPAN = 1e-4, 0.05  # s
HALF, RADIUS, ANGLE, SLIP = 0.5, 0.005, math.pi / 3.0, -1.0  # m, m, rad to the floor, m/s of the tip
MOMENT = HALF * HALF / 3.0  # of a rod of 1 kg, kg m^2
STUCK = 0.01  # m/s


def rod_sticks(field: Field) -> list[Figure]:
    """Friction 1: the tip slides, slows down, and sticks after 22 ms."""
    run = field.play(_rod(1.0, 0.0), DT, SPAN)
    speed = np.abs(_tip(run.states)[:, 0])
    slow = np.flatnonzero(speed < STUCK)
    when = math.inf
    if len(slow):  # between two states speed falls evenly
        when = float(np.interp(-STUCK, -speed[slow[0] - 1 : slow[0] + 1], run.t[slow[0] - 1 : slow[0] + 1]))
    return [
        Figure(name="time until the tip is below 1 cm/s", unit="s", value=abs(when - slowed(STUCK))),
        Figure(name="speed of the tip at the end", unit="m/s", value=float(speed[-1])),
    ]


def rod_jams(mu: float, omega: float, field: Field) -> list[Figure]:
    """No exact motion to compare with: whether the engine says so, what it does, and no gain of energy."""
    run = field.play(_rod(mu, omega), DT, SPAN)
    tip, energy = _tip(run.states), _energy(run.states)
    return [
        Figure(name="gain of energy", unit="J", value=max(0.0, float(energy.max() - energy[0]))),
        Figure(
            name="tip along the floor after 1 ms",
            unit="m/s",
            value=float(tip[np.argmin(np.abs(run.t - 1e-3)), 0]),
            error=False,
        ),
        Figure(name="tip upwards at the end", unit="m/s", value=float(tip[-1, 1]), error=False),
    ]


def _rod(mu: float, omega: float) -> World:
    """Return the rod on its tip, sliding towards -x; omega raises it, rad/s."""
    lean = math.pi / 2.0 - ANGLE
    arm = HALF * np.array([math.cos(ANGLE), 0.0, math.sin(ANGLE)])
    spin = np.array([0.0, -omega, 0.0])
    grip = arm + np.array([0.0, 0.0, RADIUS])  # from the point that touches
    velocity = np.array([SLIP, 0.0, 0.0]) + np.cross(spin, grip)
    body = Body(
        mass=1.0, inertia=(MOMENT, MOMENT, 1e-4), place=tuple(grip.tolist()), velocity=tuple(velocity.tolist()),
        turn=(math.cos(lean / 2.0), 0.0, math.sin(lean / 2.0), 0.0), spin=tuple(spin.tolist()),
        shape=Rod(radius=RADIUS, half_length=HALF),
    )  # fmt: skip
    return World(bodies=(body,), walls=(FLOOR,), mu=mu, flat=True)


def _tip(states: Array) -> Array:
    """Return the velocity of the lowest point of the tip, along the floor and upwards, shape (k, 2), m/s."""
    one = states[:, 0]
    w, x, y, z = one[:, 3:7].T
    axis = np.column_stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])
    arm = -HALF * axis - np.array([0.0, 0.0, RADIUS])
    return np.asarray((one[:, 7:10] + np.cross(one[:, 10:], arm))[:, [0, 2]])


def _energy(states: Array) -> Array:
    one = states[:, 0]
    return np.asarray(0.5 * (one[:, 7:10] ** 2).sum(axis=1) + 0.5 * MOMENT * one[:, 11] ** 2 + G * one[:, 2])


@lru_cache(maxsize=8)
def slowed(speed: float) -> float:
    """Return when the sliding tip with friction 1 is as slow as `speed`, s: the motion integrated to 1e-12."""
    from scipy.integrate import solve_ivp

    def rates(_t: float, y: Array) -> list[float]:
        """Return the rates of angle, angular velocity and velocity of the centre along the floor."""
        a, h = HALF * math.cos(y[0]), HALF * math.sin(y[0])
        lever = -a + (h + RADIUS)  # of normal force and friction about the centre; friction is as large, towards +x
        normal = (G - h * y[1] ** 2) / (1.0 - a * lever / MOMENT)
        return [y[1], lever * normal / MOMENT, normal]

    def slow(_t: float, y: Array) -> float:
        """Return the speed of the tip above the one asked for."""
        return float(-(y[2] + y[1] * (HALF * math.sin(y[0]) + RADIUS)) - speed)

    slow.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(rates, (0.0, SPAN), [ANGLE, 0.0, SLIP], "DOP853", events=slow, rtol=1e-12, atol=1e-14)
    return float(found.t_events[0][0])


MATCHES = (
    Match(name="rod_sticks", title="Painlevé's rod, friction 1: it sticks", dt=DT, play=rod_sticks,
          exact="the sliding motion integrated to 1e-12"),
    Match(name="rod_without_motion", title="Painlevé's rod, friction 1.8: no motion exists", dt=DT,
          play=partial(rod_jams, 1.8, 0.0), exact="no acceleration obeys the laws: an engine should say so"),
    Match(name="rod_with_two_motions", title="Painlevé's rod, friction 1.8, rising: two motions exist", dt=DT,
          play=partial(rod_jams, 1.8, 6.0), exact="two accelerations obey the laws: an engine should say so"),
)  # fmt: skip
