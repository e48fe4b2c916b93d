"""What limits the prediction of tosses: how far it moves when one thing is changed, friction toss by toss, growth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...linalg.rotations import exponential, product
from .cube_tosses import GRAVITY, CubeTosses, angles, shifted
from .toss_prediction import STEPS, TossParameters, predictor

Predict = Callable[[Array, Array], Array]
GROWTH = (0, 2, 5, 10, 20, 30, 45, 60)  # samples after the first contact
FRICTIONS = np.linspace(0.14, 0.22, 17)  # tried toss by toss


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far predictions move for one change: medians over tosses of the means over each.

    Attributes
    ----------
    change : str
    position_percent, rotation_deg : float
        Of the width of the cube, and degrees.
    other_face_percent : float
        Share of tosses that end on another face than without the change.
    """

    change: str
    position_percent: float
    rotation_deg: float
    other_face_percent: float


def shifts(tosses: CubeTosses, names: list[str], parameters: TossParameters, *, seed: int = 0) -> list[Shift]:
    """Return how far our own predictions move for changes as large as what is not known of the recordings."""
    start = _starts(tosses, names, parameters)
    usual = _made(tosses, names, start, predictor(tosses, parameters))
    mu, e, floor = parameters.mu, parameters.eps_n, parameters.floor
    wide = replace(tosses, half=tosses.half + 0.0005)
    central = replace(parameters, offset=0.0)
    others: dict[str, tuple[dict[str, Array], Predict]] = {
        "mass centre in the middle": (_starts(tosses, names, central), predictor(tosses, central)),
        "inertia 5 % more": (start, predictor(tosses, replace(parameters, inertia=1.05 * parameters.inertia))),
        "half the step": (start, predictor(tosses, parameters, 2 * STEPS)),
        "floor 0.5 mm higher": (start, predictor(tosses, replace(parameters, floor=floor + 0.0005))),
        "half edge 0.5 mm longer": (start, predictor(wide, parameters)),
        "orientation at the start off by 0.5 deg": (_turned(start, seed), predictor(tosses, parameters)),
        "restitution 0.1 more": (start, predictor(tosses, replace(parameters, eps_n=e + 0.1))),
        "friction 5 % more": (start, predictor(tosses, replace(parameters, mu=1.05 * mu))),
        "friction 10 % more": (start, predictor(tosses, replace(parameters, mu=1.1 * mu))),
    }
    return [_shift(tosses, change, usual, _made(tosses, names, *other)) for change, other in others.items()]


def _starts(tosses: CubeTosses, names: list[str], parameters: TossParameters) -> dict[str, Array]:
    return {name: tosses.start(name, parameters.offset) for name in names}


def _made(tosses: CubeTosses, names: list[str], start: dict[str, Array], predict: Predict) -> dict[str, Array]:
    return {name: predict(start[name], tosses.times(name)) for name in names}


def _turned(start: dict[str, Array], seed: int) -> dict[str, Array]:
    """Return the starts with orientations turned by half a degree about axes at random."""
    draws = np.random.default_rng(seed)
    found = {}
    for name, state in start.items():
        axis = draws.normal(size=3)
        turn = exponential(np.radians(0.5) * axis / np.linalg.norm(axis))
        found[name] = np.r_[state[:3], product(state[3:7], turn), state[7:]]
    return found


def _shift(tosses: CubeTosses, change: str, usual: dict[str, Array], other: dict[str, Array]) -> Shift:
    """Return by how much other settings move the ends of the tosses."""
    both = [(usual[name], other[name]) for name in usual if len(usual[name]) == len(other[name])]
    ways = [np.linalg.norm(a[1:, :3] - b[1:, :3], axis=1).mean() / (2.0 * tosses.half) for a, b in both]
    turns = [angles(a[1:, 3:7], b[1:, 3:7]) for a, b in both]
    return Shift(
        change=change, position_percent=100.0 * float(np.median(ways)),
        rotation_deg=float(np.median([x.mean() for x in turns])),
        other_face_percent=100.0 * float(np.mean([x[-1] > 45.0 for x in turns])),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnFriction:
    """Friction chosen toss by toss with the recording in hand: what is left then, and how much it varies.

    Attributes
    ----------
    mu : Array
        Best friction of each toss, of those tried.
    position, rotation : Array
        Errors with it: parts of the width, degrees.
    """

    mu: Array
    position: Array
    rotation: Array

    def summary(self) -> dict[str, float]:
        """Return medians, and the quartiles of the friction, ready for JSON."""
        low, middle, high = np.quantile(self.mu, [0.25, 0.5, 0.75]).tolist()
        return {
            "position_percent": 100.0 * float(np.median(self.position)),
            "rotation_deg": float(np.median(self.rotation)),
            "mu_low_quartile": low, "mu_median": middle, "mu_high_quartile": high,
        }  # fmt: skip


def own_friction(tosses: CubeTosses, names: list[str], parameters: TossParameters) -> OwnFriction:
    """Return the friction, toss by toss, that brings each nearest to its recording (position and rotation / 90)."""
    predictors = [predictor(tosses, replace(parameters, mu=float(mu))) for mu in FRICTIONS]
    found = []
    for name in names:
        seen, start, t = tosses.tosses[name], tosses.start(name, parameters.offset), tosses.times(name)
        tried = []
        for mu, predict in zip(FRICTIONS.tolist(), predictors, strict=True):
            made = predict(start, t)
            if len(made) == len(seen):
                way = float(np.linalg.norm(made[1:, :3] - seen[1:, :3], axis=1).mean() / (2.0 * tosses.half))
                turn = float(angles(made[1:, 3:7], seen[1:, 3:7]).mean())
                tried.append((way + turn / 90.0, mu, way, turn))
        found.append(min(tried)[1:])
    mu, position, rotation = np.array(found).T
    return OwnFriction(mu=mu, position=position, rotation=rotation)


def flight_errors(tosses: CubeTosses, names: list[str], offset: float = 0.0) -> tuple[float, float]:
    """Return the median errors of the flight before the first contact, which no law of contact decides (part, deg)."""
    ways, turns = [], []
    for name in names:
        count = tosses.flight(name)
        if count < 5:
            continue
        seen, t = shifted(tosses.tosses[name][:count], offset), tosses.times(name)[:count]
        start = shifted(tosses.start(name, offset)[None], offset)[0]
        place = start[:3] + t[:, None] * start[7:10] - np.outer(0.5 * GRAVITY * t * t, (0.0, 0.0, 1.0))
        turn = np.array([product(start[3:7], exponential(start[10:] * moment)) for moment in t])
        ways.append(np.linalg.norm(place[1:] - seen[1:, :3], axis=1).mean() / (2.0 * tosses.half))
        turns.append(angles(turn[1:], seen[1:, 3:7]).mean())
    return float(np.median(ways)), float(np.median(turns))


def growth(tosses: CubeTosses, names: list[str], parameters: TossParameters) -> list[tuple[float, float, float]]:
    """Return (s after the first contact, median error of position as a part of the width, of rotation in degrees)."""
    predict = predictor(tosses, parameters)
    after: dict[int, list[tuple[float, float]]] = {count: [] for count in GROWTH}
    for name in names:
        seen, first = tosses.tosses[name], tosses.flight(name)
        made = predict(tosses.start(name, parameters.offset), tosses.times(name))
        for count, found in after.items():
            k = first + count
            if k < min(len(seen), len(made)):
                way = float(np.linalg.norm(made[k, :3] - seen[k, :3])) / (2.0 * tosses.half)
                found.append((way, float(angles(made[k : k + 1, 3:7], seen[k : k + 1, 3:7])[0])))
    medians = {count: np.median(np.array(found), axis=0) for count, found in after.items() if found}
    return [(count * tosses.dt, float(way), float(turn)) for count, (way, turn) in medians.items()]
