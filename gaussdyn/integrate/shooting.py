"""Periodic motions by shooting: a motion that nearly closes is corrected until it does, by Newton's method.

    (Phi - 1) dy + f dT = -(y(T) - y),    n . (sum of dy) = 0,

with the fundamental matrix Phi over a period and the field f at its end; dT, and the plane n across the flow in which
the first point stays, only where the period is not given. How a motion is followed, and what its points are, is the
caller's: `fundamental_matrix` (any system, a given period), `analysis.orbits` (points y = (q, v)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ..arrays import Array
from ..errors import InputError

CORRECTIONS, HALVES = 40, 5
CUT = 1e-13  # of the largest singular value: directions below are left as they are
LONGEST = 10.0  # by which factor a period may change in one correction
Point = TypeVar("Point")
Motion = TypeVar("Motion")


@dataclass(frozen=True, slots=True, eq=False)
class Shot(Generic[Motion]):
    """A motion over a period.

    Attributes
    ----------
    miss : Array, shape (n,)
        y(T) - y, as displacements.
    Phi : Array, shape (n, n)
        Derivative of the end with respect to the beginning.
    size : float
        What `miss` is small against.
    motion : Motion
    rate : Array, shape (n,), optional
        The field at the end; needed where the period is free.
    """

    miss: Array
    Phi: Array
    size: float
    motion: Motion
    rate: Array | None = None


def closed(
    follow: Callable[[Point, float], Shot[Motion]], move: Callable[[Point, Array], Point], start: Point, period: float,
    *, tol: float, normal: Array | None = None, words: str = "a motion", mend: str,
) -> tuple[Point, float, Shot[Motion]]:  # fmt: skip
    """Correct the first point, and the period where it is free, until a motion closes.

    Parameters
    ----------
    follow : callable
        ``follow(y, T)`` is the shot from a point.
    move : callable
        ``move(y, dy)`` is a point displaced.
    tol : float
        Of |miss| over `Shot.size`.
    normal : Array, shape (n,), optional
        Across the flow, where the period is free.
    words, mend : str
        Of the error.

    Raises
    ------
    InputError
        It does not close: by how much it misses at best.
    """
    base, y, T, best, halves = start, start, period, np.inf, 0
    step, gone = np.zeros(0), np.zeros(0)
    for _ in range(CORRECTIONS):
        shot = follow(y, T)
        n, off = len(shot.miss), float(np.abs(shot.miss).max())
        if off > best and halves < HALVES:  # Newton's method may jump to and fro across an event
            step, halves = 0.5 * step, halves + 1
            y, T, gone = move(base, step[:n]), T - float(step[n]), gone - step[:n]
            continue
        best, halves = min(best, off), 0
        if off <= tol * shot.size:
            return y, T, shot
        gone = gone if len(gone) else np.zeros(n)
        step = _correction(shot, gone, normal)
        if not np.isfinite(step).all() or not T / LONGEST < T + step[n] < LONGEST * T:
            break
        base, y, T, gone = y, move(y, step[:n]), T + float(step[n]), gone + step[:n]
    given = f"{words} that misses its beginning by {best:.3g} at best after {T:.9g} s"
    raise InputError("orbit", given, "a motion that closes", mend)


def _correction(shot: Shot[Motion], gone: Array, normal: Array | None) -> Array:
    """Return the displacement of the first point, and the change of the period, shape (n + 1,)."""
    n = len(shot.miss)
    A = shot.Phi - np.eye(n)
    if normal is None or shot.rate is None:
        return np.append(np.linalg.lstsq(A, -shot.miss, rcond=CUT)[0], 0.0)
    A = np.block([[A, shot.rate[:, None]], [normal[None], np.zeros((1, 1))]])
    return np.asarray(np.linalg.lstsq(A, np.append(-shot.miss, -normal @ gone), rcond=CUT)[0])
