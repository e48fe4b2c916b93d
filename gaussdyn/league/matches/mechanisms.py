"""A heavy top on a pin, and four-bar linkages through their flattened state."""

from __future__ import annotations

import math

import numpy as np

from ...scenes.linkages.four_bar import reference
from ...scenes.spinning.spinning_top import ACROSS, LENGTH, LONG, T_END, precess
from ..playing import Field, Figure
from ..world import GROUND, Body, Pin, World
from .match import G, Match

TOP_DT, BAR_DT = 5e-4, 1e-3
SPIN, TILT, MASS = 150.0, 0.4, 0.1  # rad/s, rad, kg
LOOPS, PUSH, SPAN = 3, 1.0, 3.0  # number, m/s of the tops, s
THIN = 1e-3  # kg m^2, of a rod about its axis
Y = (0.0, 1.0, 0.0)


def heavy_top(field: Field) -> list[Figure]:
    """Lagrange's top on a ball joint: it precesses and nods."""
    axis = np.array([math.sin(TILT), 0.0, math.cos(TILT)])
    turn = math.cos(TILT / 2.0), 0.0, math.sin(TILT / 2.0), 0.0
    moments = ACROSS * MASS, ACROSS * MASS, LONG * MASS
    place, spin = tuple((LENGTH * axis).tolist()), tuple((SPIN * axis).tolist())
    top = Body(mass=MASS, inertia=moments, place=place, turn=turn, spin=spin)
    pin = Pin(first=GROUND, second=0, point=(0.0, 0.0, 0.0))
    run = field.play(World(bodies=(top,), pins=(pin,)), TOP_DT, T_END, every=10)
    pointing = run.last[0, :3] / np.linalg.norm(run.last[0, :3])
    reach = np.linalg.norm(run.states[:, 0, :3], axis=1)
    return [
        Figure(name="axis at the end", unit="rad", value=float(np.linalg.norm(pointing - precess(SPIN, TILT)))),
        Figure(name="pin off by", unit="m", value=float(np.abs(reach - LENGTH).max())),
    ]


def four_bar(field: Field) -> list[Figure]:
    """Three four-bar linkages in a row fall over, through the state in which all rods lie in a line."""
    run = field.play(linkage(), BAR_DT, SPAN, every=10)
    phi, _ = reference(LOOPS, PUSH, G, SPAN)
    rods = run.last[: LOOPS + 1]
    angles = np.arctan2(2.0 * rods[:, 0] - 2.0 * np.arange(LOOPS + 1), 2.0 * rods[:, 2])
    off = np.abs((angles - phi + math.pi) % (2.0 * math.pi) - math.pi)
    energy = np.array([_energy(one) for one in run.states])
    return [
        Figure(name="angle at the end", unit="rad", value=float(off.max()) if run.complete else math.nan),
        Figure(name="energy, relative", unit="1", value=float(np.abs(energy / energy[0] - 1.0).max())),
        Figure(name="pins on the ground off by", unit="m", value=float(np.abs(_radii(run.states) - 0.5).max())),
    ]


def linkage() -> World:
    """Return upright rods on the ground, 1 m apart, and level rods between their tops; rods of 1 m and 1 kg."""
    moment = 1.0 / 12.0
    up = [
        Body(mass=1.0, inertia=(moment, moment, THIN), place=(float(k), 0.0, 0.5), velocity=(0.5 * PUSH, 0.0, 0.0),
             spin=(0.0, PUSH, 0.0))
        for k in range(LOOPS + 1)
    ]  # fmt: skip
    level = [
        Body(mass=1.0, inertia=(THIN, moment, moment), place=(k + 0.5, 0.0, 1.0), velocity=(PUSH, 0.0, 0.0))
        for k in range(LOOPS)
    ]
    feet = [Pin(first=GROUND, second=k, point=(float(k), 0.0, 0.0), axis=Y) for k in range(LOOPS + 1)]
    heads = [Pin(first=k, second=LOOPS + 1 + k, point=(float(k), 0.0, 1.0), axis=Y) for k in range(LOOPS)]
    loops = [Pin(first=k + 1, second=LOOPS + 1 + k, point=(k + 1.0, 0.0, 1.0), axis=Y) for k in range(LOOPS)]
    return World(bodies=(*up, *level), pins=(*feet, *heads, *loops), flat=True)


def _energy(state: np.ndarray) -> float:
    """Return kinetic and potential energy of the rods, J; it is positive while they are upright."""
    moving = 0.5 * float((state[:, 7:10] ** 2).sum() + (state[:, 11] ** 2).sum() / 12.0)
    return moving + G * float(state[:, 2].sum())


def _radii(states: np.ndarray) -> np.ndarray:
    """Return how far the centres of the upright rods are from their pins, m."""
    feet = np.column_stack([np.arange(LOOPS + 1), np.zeros(LOOPS + 1), np.zeros(LOOPS + 1)])
    return np.asarray(np.linalg.norm(states[:, : LOOPS + 1, :3] - feet, axis=2))


MATCHES = (
    Match(name="heavy_top", title="Lagrange's top on a ball joint", dt=TOP_DT, play=heavy_top,
          exact="Lagrange (1788), integrated to 1e-12 in another form"),
    Match(name="four_bar", title="Three four-bar linkages through the flattened state", dt=BAR_DT, play=four_bar,
          exact="IFToMM benchmark A02: one pendulum, integrated to 1e-13"),
)  # fmt: skip
