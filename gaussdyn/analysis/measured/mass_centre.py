"""Where the mass centre of the cube is, by its flights alone, and on which faces it ends: no contact law decides it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from .cube_tosses import FLIGHT, CubeTosses

FACES = ("-x", "+x", "-y", "+y", "-z", "+z")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MassCentre:
    """What moves freely in flight, nearest to the recordings.

    Attributes
    ----------
    place, error : Array, shape (3,)
        Of the mass centre in the axes of the cube, from the centre that was recorded, and its standard error; m.
    gravity : Array, shape (3,)
        m/s^2.
    left, left_without : float
        Root mean square of what is left over of the places, with the mass centre there and in the centre; m.
    below : dict of str to int
        Tosses that end on each face, by its outward axis: the heavy side is at the bottom more often.
    """

    place: Array
    error: Array
    gravity: Array
    left: float
    left_without: float
    below: dict[str, int]

    def summary(self) -> dict[str, object]:
        """Return it ready for JSON."""
        return {
            "place_mm": (1e3 * self.place).tolist(), "error_mm": (1e3 * self.error).tolist(),
            "gravity": self.gravity.tolist(), "left_mm": 1e3 * self.left, "left_without_mm": 1e3 * self.left_without,
            "below": self.below,
        }  # fmt: skip


def mass_centre(tosses: CubeTosses, names: list[str]) -> MassCentre:
    """Find the point of the cube that moves on parabolas, by linear least squares over flights.

    The place of the recorded centre is x + v t + g t^2 / 2 - R(t) c: x and v are each flight's own, g and c are common.
    """
    parts, seen = [], []
    for name in names:
        count = tosses.flight(name)
        if count >= 2 * FLIGHT[0]:
            one = _of_flight(tosses.tosses[name][:count], tosses.times(name)[:count])
            parts.append(one[0])
            seen.append(one[1])
    A, y = np.concatenate(parts), np.concatenate(seen)
    found, left = _solved(A, y)
    spread = np.linalg.inv(A.T @ A) * left**2
    return MassCentre(
        place=found[:3], error=np.sqrt(np.diag(spread))[:3], gravity=found[3:], left=left,
        left_without=_solved(A[:, 3:], y)[1], below=_below(tosses, names),
    )  # fmt: skip


def _of_flight(states: Array, t: Array) -> tuple[Array, Array]:
    """Return the equations of a flight for (c, g), without its own x and v, and what was seen."""
    line = np.column_stack([np.ones(len(t)), t])
    rest = np.eye(len(t)) - line @ np.linalg.pinv(line)
    turns = np.array([matrix_of(q / np.linalg.norm(q)) for q in states[:, 3:7]])
    parts = []
    for axis in range(3):
        fall = np.zeros((len(t), 3))
        fall[:, axis] = rest @ (0.5 * t * t)
        parts.append(np.column_stack([-rest @ turns[:, axis, :], fall]))
    return np.concatenate(parts), (rest @ states[:, :3]).T.ravel()


def _solved(A: Array, y: Array) -> tuple[Array, float]:
    """Return the least squares solution, and the root mean square of what is left."""
    found = np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], dtype=np.float64)
    return found, float(np.sqrt(np.mean((y - A @ found) ** 2)))


def _below(tosses: CubeTosses, names: list[str]) -> dict[str, int]:
    """Return how many tosses end on each face."""
    found = dict.fromkeys(FACES, 0)
    for name in names:
        down = -matrix_of(tosses.tosses[name][-1, 3:7])[2]
        axis = int(np.argmax(np.abs(down)))
        found[FACES[2 * axis + int(down[axis] > 0.0)]] += 1
    return found
