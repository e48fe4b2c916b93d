"""Recorded tosses of a cube, where the recordings are there: no exact answer, but the world's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.measured.cube_tosses import GRAVITY, INERTIA, CubeTosses, errors
from ...analysis.measured.recorded_file import VARIABLE
from ...arrays import Array
from ...linalg.rotations import conjugate, matrix_of, product
from ..engines.protocol import DEFAULTS
from ..playing import Field, Figure
from ..world import Block, Body, Wall, World
from .match import Match

STEPS = 8  # per sample
EVERY = 5  # of the 150 tosses kept apart, so many-th are played


class Numbers(NamedTuple):
    """What was found best for an engine on the tosses to be fitted: friction, restitution, height of the floor, m."""

    mu: float
    restitution: float
    floor: float = -0.001


BEST = {
    ("gaussdyn", DEFAULTS): Numbers(0.1806, 0.15),
    ("MuJoCo", DEFAULTS): Numbers(0.215, 0.0),
    ("MuJoCo", "stiff"): Numbers(0.185, 0.075),
    ("Drake", DEFAULTS): Numbers(0.17, 0.0),
    ("Drake", "sap"): Numbers(0.18, 0.0),
    ("Drake", "stiff"): Numbers(0.17, 0.0),  # it knows no restitution
}
OTHERS = Numbers(0.18, 0.15)


def cube_tosses(field: Field) -> list[Figure]:
    """Predict tosses from their first flight to their end."""
    tosses = CubeTosses.load(Path(os.environ[VARIABLE]))
    numbers = BEST.get(field.who, OTHERS)

    def predict(start: Array, t: Array) -> Array:
        """Return the states at the samples; spins come and go in body axes."""
        made = field.play(_world(tosses, start, numbers), tosses.dt / STEPS, float(t[-1]), every=STEPS)
        rows = made.states[:, 0]
        spins = [matrix_of(one[3:7]).T @ one[10:] for one in rows]
        return np.column_stack([rows[:, :10], spins])

    found = errors(tosses, tosses.names("test")[::EVERY], predict, numbers.floor)
    return [
        Figure(name="position, median, of the width", unit="%", value=100.0 * float(np.median(found.position))),
        Figure(name="rotation, median", unit="deg", value=float(np.median(found.rotation))),
        Figure(name="predictions that broke off", unit="1", value=float(found.failed)),
    ]


def _world(tosses: CubeTosses, start: Array, numbers: Numbers) -> World:
    turn = start[3:7] / np.linalg.norm(start[3:7])
    spin = product(product(turn, np.r_[0.0, start[10:]]), conjugate(turn))[1:]
    place, velocity, w = (tuple(x.tolist()) for x in (start[:3], start[7:10], spin))
    body = Body(
        mass=tosses.mass, inertia=(INERTIA,) * 3, place=place, turn=tuple(turn.tolist()), velocity=velocity, spin=w,
        shape=Block(half=(tosses.half,) * 3),
    )  # fmt: skip
    floor = Wall(point=(0.0, 0.0, numbers.floor), normal=(0.0, 0.0, 1.0))
    return World(
        bodies=(body,), walls=(floor,), mu=numbers.mu, restitution=numbers.restitution, gravity=(0.0, 0.0, -GRAVITY)
    )


MATCHES = (
    Match(name="tosses", title="Recorded tosses of a cube", dt=1.0 / 148.0 / STEPS, play=cube_tosses,
          exact="recordings (DAIRLab, contact-nets) of the cube as published; numbers found for each engine"),
)  # fmt: skip
