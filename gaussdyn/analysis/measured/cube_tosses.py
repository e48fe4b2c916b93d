"""Recorded tosses of a cube on a floor: what is known of them, where a run begins, and how far it is off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product as corners
from pathlib import Path
from typing import Literal

import numpy as np

from ...arrays import Array
from ...linalg.rotations import conjugate, exponential, logarithm, matrix_of, product
from .recorded_file import recorded

GRAVITY = 9.61  # m/s^2: median of the first falls; the recorded scale of lengths or times is off by 2 %
INERTIA = 0.00081  # kg m^2 about each axis, the source's
ALOFT = 0.004  # m above the source's floor: a sample with all corners higher counts as flight
FLIGHT = (4, 12)  # samples of the first flight that the start is fitted to, at least and at most
OTHER_FACE = 45.0  # degrees at the end: beyond, the cube lies on another face
CORNERS = np.array(list(corners((-1.0, 1.0), repeat=3)))

Part = Literal["fit", "test", "all"]
Predictor = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CubeTosses:
    """All tosses, by name.

    Attributes
    ----------
    tosses : dict of str to Array, shape (n, 13)
        x, y, z (m), unit quaternion (w first), velocity (m/s, in space), angular velocity (rad/s, body axes).
    dt, half, mass : float
        Between samples, s; half an edge, m; kg.
    """

    tosses: dict[str, Array]
    dt: float
    half: float
    mass: float

    @staticmethod
    def load(folder: Path) -> CubeTosses:
        """Read the tosses."""
        with recorded(folder, "tosses") as file:
            found = {name: np.asarray(file[name][()], dtype=float) for name in sorted(file)}
            dt, half, mass = (float(file.attrs[key]) for key in ("dt_s", "half_width_m", "mass_kg"))
        return CubeTosses(tosses=found, dt=dt, half=half, mass=mass)

    def names(self, part: Part) -> list[str]:
        """Return a fixed part: 60 of 400 to fit, 150 others to report on, or all."""
        place = np.arange(len(self.tosses))
        fit, test = (place % 8 == 0) | (place % 40 == 3), np.isin(place % 8, (1, 4, 6))
        chosen = {"all": place >= 0, "fit": fit, "test": test}[part]
        return [name for name, taken in zip(self.tosses, chosen, strict=True) if taken]

    def times(self, name: str) -> Array:
        """Return the times of the samples of a toss, s."""
        return np.arange(len(self.tosses[name]), dtype=np.float64) * self.dt

    def lowest(self, states: Array) -> Array:
        """Return the height of the lowest corner of each state, m."""
        up = _third_rows(states[:, 3:7]) @ (self.half * CORNERS.T)
        return np.asarray(states[:, 2] + up.min(axis=1))

    def flight(self, name: str) -> int:
        """Return the number of samples before the first contact."""
        low = self.lowest(self.tosses[name]) < ALOFT
        return int(np.argmax(low)) if low.any() else len(low)

    def start(self, name: str, offset: float = 0.0) -> Array:
        """Return the state at the first sample: the free motion nearest to the first flight.

        The recorded velocities are differences to the sample before, so they belong half a sample earlier and carry
        the noise of two samples; where the flight is too short to fit they are taken, moved to the sample.

        Parameters
        ----------
        name : str
        offset : float
            Of the mass centre, which moves freely, from the centre of the cube, whose state this is; see `shifted`.
        """
        states = self.tosses[name]
        count = min(self.flight(name), FLIGHT[1])
        start: Array = states[0].copy()
        start[9] -= 0.5 * GRAVITY * self.dt
        if count < FLIGHT[0]:
            return start
        centre = free_motion(shifted(states[:count], offset), self.dt)
        return np.asarray(shifted(centre[None], -offset)[0])


def shifted(states: Array, offset: float) -> Array:
    """Return states (n, 13) of the point so far along the cube's z axis, m: other places and velocities."""
    if offset == 0.0:
        return states
    found: Array = states.copy()
    for one in found:
        R = matrix_of(one[3:7])
        one[:3] += offset * R[:, 2]
        one[7:10] += R @ np.cross(one[10:], (0.0, 0.0, offset))
    return found


def free_motion(states: Array, dt: float) -> Array:
    """Return the state at the first of some samples in flight that the nearest free motion has."""
    t = np.arange(len(states), dtype=np.float64) * dt
    line = np.column_stack([np.ones(len(t)), t])
    fall = np.column_stack([np.zeros((len(t), 2)), -0.5 * GRAVITY * t * t])
    start: Array = states[0].copy()
    start[:3], start[7:10] = np.linalg.lstsq(line, states[:, :3] - fall, rcond=None)[0]
    start[3:7], start[10:] = _steady_turn(states, t, line)
    return start


def _steady_turn(states: Array, t: Array, line: Array) -> tuple[Array, Array]:
    """Return the orientation at t = 0 and the constant angular velocity (body axes) nearest to the recorded ones."""
    q, w = states[0, 3:7], np.median(states[1:, 10:], axis=0)
    for _ in range(5):
        left = []
        for moment, seen in zip(t, states[:, 3:7], strict=True):
            turn = exponential(w * moment)
            rest = logarithm(product(conjugate(product(q, turn)), seen))
            left.append(_rotated(turn, rest))
        off, rate = np.linalg.lstsq(line, np.array(left), rcond=None)[0]
        q, w = product(q, exponential(off)), w + rate
    return q / np.linalg.norm(q), w


def _rotated(q: Array, x: Array) -> Array:
    """Return x turned by q."""
    return product(product(q, np.r_[0.0, x]), conjugate(q))[1:]


def _third_rows(q: Array) -> Array:
    """Return the third rows of the matrices of quaternions (n, 4): heights of points of the body."""
    w, x, y, z = q.T
    return np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)


def angles(one: Array, other: Array) -> Array:
    """Return the angles between orientations (n, 4), degrees."""
    cosine = np.abs(np.sum(one * other, axis=1)) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    return np.asarray(np.degrees(2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))))


def middle(values: Array) -> float:
    """Return the mean of the middle third: nearly the median, but it does not jump from toss to toss."""
    count = len(values)
    return float(np.sort(values)[count // 3 : count - count // 3].mean())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TossErrors:
    """How far predictions are off, one entry per toss: means over a toss, and at its end.

    Attributes
    ----------
    position, position_end : Array
        Of the centre, as a part of the width of the cube.
    rotation, rotation_end : Array
        Degrees.
    deepest : Array
        Of the lowest corner below the floor, m.
    failed : int
        Predictions that broke off or were no numbers; the start is held in their place.
    """

    position: Array
    rotation: Array
    position_end: Array
    rotation_end: Array
    deepest: Array
    failed: int

    @property
    def objective(self) -> float:
        """What is fitted: middle position plus middle rotation over 90 degrees; see `middle`."""
        return middle(self.position) + middle(self.rotation) / 90.0

    def summary(self) -> dict[str, float]:
        """Return medians, quantiles and shares, ready for JSON."""
        return {
            "position_percent": 100.0 * float(np.median(self.position)),
            "position_90_percent": 100.0 * float(np.quantile(self.position, 0.9)),
            "rotation_deg": float(np.median(self.rotation)),
            "rotation_90_deg": float(np.quantile(self.rotation, 0.9)),
            "end_position_percent": 100.0 * float(np.median(self.position_end)),
            "end_rotation_deg": float(np.median(self.rotation_end)),
            "other_face_percent": 100.0 * float(np.mean(self.rotation_end > OTHER_FACE)),
            "deepest_mm": 1e3 * float(np.median(self.deepest)),
            "failed": self.failed,
            "tosses": len(self.position),
        }


def errors(
    tosses: CubeTosses, names: Iterable[str], predict: Predictor, floor: float, offset: float = 0.0
) -> TossErrors:
    """Compare predictions with the recordings, over all samples after the first.

    Parameters
    ----------
    tosses : CubeTosses
    names : iterable of str
    predict : callable
        ``predict(start, t)`` returns the states at the times t, shape (len(t), 13), the first one being the start.
    floor : float
        Height of the floor, m, for the deepest corner.
    offset : float
        Of the mass centre along the cube's z axis, m, for the starts.
    """
    rows, failed = [], 0
    for name in names:
        seen, start = tosses.tosses[name], tosses.start(name, offset)
        made = predict(start, tosses.times(name))
        if made.shape != seen.shape or not np.isfinite(made).all():
            made, failed = np.tile(start, (len(seen), 1)), failed + 1
        way = np.linalg.norm(made[1:, :3] - seen[1:, :3], axis=1) / (2.0 * tosses.half)
        turn = angles(made[1:, 3:7], seen[1:, 3:7])
        deep = max(0.0, floor - float(tosses.lowest(made).min()))
        rows.append((way.mean(), turn.mean(), way[-1], turn[-1], deep))
    position, rotation, position_end, rotation_end, deepest = np.array(rows).T
    return TossErrors(
        position=position, rotation=rotation, position_end=position_end, rotation_end=rotation_end, deepest=deepest,
        failed=failed,
    )  # fmt: skip
