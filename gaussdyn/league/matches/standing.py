"""Stacks and piles."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..playing import Field, Figure, Record
from ..world import Wall, World
from .match import FLOOR, G, Match, ball, block

DT = 1e-3
CUBES, TOP, EDGE = 20, 1000.0, 0.2  # number, mass of the topmost over that of the others, m
BALLS, RADIUS, WIDE = 200, 0.05, 0.30  # number, m, half the width of the box, m
SIDES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))


def stack(field: Field) -> list[Figure]:
    """Twenty cubes, the topmost 1000 times as heavy, at rest for 2 s."""
    half = 0.5 * EDGE
    cubes = tuple(block((half,) * 3, TOP if k == CUBES - 1 else 1.0, (0.0, 0.0, half + EDGE * k)) for k in range(CUBES))
    run = field.play(World(bodies=cubes, walls=(FLOOR,), mu=0.5, flat=True), DT, 2.0, every=20)
    moved = np.linalg.norm(run.states[:, :, :3] - run.states[0, :, :3], axis=2)
    heights = run.states[:, :, 2]
    gaps = np.diff(np.column_stack([np.full(len(run.t), -half), heights]), axis=1) - EDGE
    return [
        Figure(name="a cube moves by", unit="m", value=float(moved.max())),
        Figure(name="deepest overlap", unit="m", value=max(0.0, -float(gaps.min()))),
    ]


def pile(field: Field) -> list[Figure]:
    """Two hundred balls dropped into a box: nothing overlaps, energy never grows."""
    sides = tuple(Wall(point=(-x * WIDE, -y * WIDE, 0.0), normal=(x, y, 0.0)) for x, y in SIDES)
    bodies = tuple(ball(RADIUS, 1.0, tuple(place)) for place in _dropped().tolist())
    run = field.play(World(bodies=bodies, walls=(FLOOR, *sides), mu=0.5), DT, 1.0, every=10)
    energy = np.array([_energy(one) for one in run.states])
    return [
        Figure(name="deepest overlap", unit="m", value=max(0.0, _overlap(run))),
        Figure(name="gain of energy", unit="J", value=max(0.0, float(np.max(energy - np.minimum.accumulate(energy))))),
        Figure(name="simulated", unit="s", value=float(run.t[-1]), error=False),
    ]


def _dropped() -> Array:
    """Return places on a lattice, each moved a little."""
    k = np.arange(BALLS)
    grid = np.column_stack([0.11 * (k % 5 - 2), 0.11 * (k // 5 % 5 - 2), 0.06 + 0.115 * (k // 25)])
    return np.asarray(grid + np.random.default_rng(1).uniform(-0.004, 0.004, (BALLS, 3)))


def _overlap(run: Record) -> float:
    """Return by how much balls overlap at most, with each other or the box, in what was kept; m."""
    deepest = -np.inf
    for state in run.states:
        x = state[:, :3]
        away = np.linalg.norm(x[:, None] - x, axis=2) + 1e3 * np.eye(BALLS)
        walls = max(RADIUS - x[:, 2].min(), np.abs(x[:, :2]).max() + RADIUS - WIDE)
        deepest = max(deepest, 2.0 * RADIUS - float(away.min()), float(walls))
    return deepest


def _energy(state: Array) -> float:
    """Return kinetic and potential energy of the balls, J."""
    moment = 0.4 * RADIUS * RADIUS
    turning = moment * (state[:, 10:] ** 2).sum()
    return float(0.5 * ((state[:, 7:10] ** 2).sum() + turning) + G * state[:, 2].sum())


MATCHES = (
    Match(name="stack", title="Twenty cubes, the topmost 1000 times as heavy", dt=DT, play=stack, exact="all stay"),
    Match(name="pile", title="Two hundred balls dropped into a box", dt=DT, play=pile,
          exact="no overlap, no gain of energy (looked at every 10 ms)"),
)  # fmt: skip
