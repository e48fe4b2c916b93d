"""Steps while the directions of slow slips are stiff: they are unknowns, as friction turns them at once.

Friction turns a slip in space towards the direction that it keeps, at the rate mu N W / |u|: without bound where a slip
begins, so that explicit steps are as short as |u|. The motion itself is smooth. A step of Radau's collocation takes the
directions e(t_i) at its stages as unknowns, with u(t_i) along e(t_i): Newton's method for them, iteration for the rest.

Source: Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.5 (Radau IIA).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from ...arrays import Array
from ...linalg.redundant_rows import RANK
from ..contact_modes import direction, parts_of
from ..dop853 import STAGES, Piece
from .phase_state import Instant, Place
from .smooth_phase import Phase

ORDER = 7  # stages, and degree of the dense output
SWEEPS, NEWTON = 40, 4  # iterations of a step; those that ask anew how accelerations depend on the directions
SMALL = 0.02  # of the tolerance: last change of the stages
LOST = 1e20  # of the tolerance: stages that move so far do not come back, and what they give soon is no number
TINY = 1e-300  # m/s
FASTEST = 0.2  # rad: directions are moved no further in one iteration

Weight = Callable[[Array, Array], Array]
Slope = Callable[[float, Array], Array]


def _radau() -> tuple[Array, Array, Array, Array]:
    """Return nodes, coefficients A, weights of the error, and what takes slopes to `Piece.dense`."""
    last = np.zeros(ORDER + 1)
    last[ORDER - 1 :] = -1.0, 1.0
    c = np.sort(0.5 * (1.0 + np.real(legendre.legroots(last))))  # complex numbers since numpy 2.5
    c[-1] = 1.0
    powers = np.eye(ORDER)
    V = np.column_stack([legendre.legval(2.0 * c - 1.0, p) for p in powers])
    rise = [0.5 * legendre.legint(p, lbnd=-1) for p in powers]
    A = np.linalg.solve(V.T, np.array([legendre.legval(2.0 * c - 1.0, p) for p in rise])).T
    few = np.delete(np.arange(ORDER), ORDER // 2)
    fewer = np.zeros(ORDER)
    fewer[few] = np.linalg.solve(V[few, :-1].T, np.array([legendre.legval(1.0, p) for p in rise[:-1]]))
    basis = np.column_stack([c ** (k // 2 + 1) * (1.0 - c) ** ((k + 1) // 2) for k in range(ORDER)])
    return c, np.asarray(A), np.asarray(A[-1] - fewer), np.asarray(np.linalg.solve(basis, A))


C, A, MISSED, DENSE = _radau()


@dataclass(frozen=True, slots=True, eq=False)
class Turning:
    """A direction that turns: the number of its row, its components there, and how it points at the beginning."""

    k: int
    part: slice
    e: tuple[float, ...]


def turnings(phase: Phase) -> tuple[Turning, ...]:
    """Return the slips and rollings of a phase that have a direction in a plane."""
    found = []
    for k, row in enumerate(phase.rows):
        mode = phase.modes[row.id]
        if len(mode.slip) < 2 and len(mode.roll) < 2:
            continue
        for part, e in zip(parts_of(row), (mode.slip, mode.roll), strict=True):
            if mode.closed and len(e) == 2:
                found.append(Turning(k, part, e))
    return tuple(found)


def slowest(ones: Sequence[Turning], now: Instant) -> float:
    """Return the speed of the slowest of some slips, infinite without any."""
    return min((float(np.hypot(*now.rows[one.k].rate[one.part])) for one in ones), default=np.inf)


def changing(ones: Sequence[Turning], now: Instant) -> float:
    """Return the time in which a slip may change by as much as it is, s: it may stop then, or turn round."""
    least = np.inf
    for one in ones:
        row = now.rows[one.k]
        speed, gain = (float(np.hypot(*x)) for x in (row.rate[one.part], (row.J @ now.a + row.drift)[one.part]))
        if speed < least * gain:
            least = speed / gain
    return least


def beginning(phase: Phase, now: Instant, still: float) -> tuple[Turning, ...]:
    """Return the slips that friction turns as they begin: no faster than what is still (m/s), but getting faster.

    One that gets slower stops: explicit steps lead to where it does, while its direction is lost in rounding.
    """
    slow = [one for one in turnings(phase) if slowest((one,), now) <= still and _gain(one, now) > 0.0]
    return movable(phase, now, slow) if slow else ()


def _gain(one: Turning, now: Instant) -> float:
    """Return the acceleration of a slip along its direction, m/s^2."""
    row = now.rows[one.k]
    e = direction(row.rate[one.part], np.array(one.e), now.v)
    return float(np.dot(e, row.J[one.part] @ now.a + row.drift[one.part]))


def movable(phase: Phase, now: Instant, ones: Sequence[Turning]) -> tuple[Turning, ...]:
    """Return the slips whose directions the rows held leave free.

    Others stand still, as those of a body lying, or move along a line, as the rolling of a bar does: friction does not
    turn them.
    """
    G = phase.columns(now.rows, now.v)[0]
    length = np.linalg.norm(G, axis=1)
    G = G / np.where(length > 0.0, length, 1.0)[:, None]
    found = []
    for one in ones:
        J = now.rows[one.k].J[one.part]
        left = J.T - G.T @ np.linalg.lstsq(G.T, J.T, rcond=RANK)[0]
        if float(np.linalg.svd(left, compute_uv=False)[-1]) > np.sqrt(RANK) * float(np.abs(J).max()):
            found.append(one)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlipTurn:
    """One step of collocation from (t, y), y = (q, v, what is summed up).

    Attributes
    ----------
    phase : Phase
    slope : callable
        slope(t, y), with the directions that the velocities have.
    slope_of : callable
        The same from an `Instant`.
    weight : callable
        weight(y, end) -> 1 / tolerance of every component.
    nq, nv : int
    turning : tuple of Turning
    """

    phase: Phase
    slope: Slope
    slope_of: Callable[[Instant], Array]
    weight: Weight
    nq: int
    nv: int
    turning: tuple[Turning, ...]

    def take(self, t: float, y: Array, first: Array, h: float) -> Piece:
        """Return the step of length h (s), with an infinite error where its equations are not solved.

        `first` is slope(t, y).

        Raises
        ------
        LinAlgError
            A stage is at or beyond a pole.
        """
        K, solved, pull = self._solved(t, y, h)
        end = y + h * (A[-1] @ K)
        w = self.weight(y, end)
        missed = h * (MISSED @ K) * w
        error = float(np.sqrt(missed @ missed / max(int(np.count_nonzero(w)), 1))) if solved else np.inf
        slopes = np.zeros((STAGES + 4, len(y)))
        slopes[0] = first
        if solved:
            slopes[STAGES] = self.slope(t + h, end)
        return Piece(self.slope, t, h, y, end, slopes, error, h * pull, h * (DENSE @ K))

    def _solved(self, t: float, y: Array, h: float) -> tuple[Array, bool, float]:
        """Return the slopes at the stages, whether they are solved, and the fastest rate at which a slip turns."""
        times, w, pull = t + h * C, self.weight(y, y), 0.0
        place, Y, J = self._place(t, y), np.tile(y, (ORDER, 1)), np.zeros((0, 0))
        places = [self._place(ti, y) for ti in times]
        angle = np.tile([self._angle(one, place) for one in self.turning], (ORDER, 1))
        K = np.zeros_like(Y)
        for sweep in range(SWEEPS):
            now = [self._at(place, x) for place, x in zip(places, angle, strict=True)]
            slopes = np.array([self.slope_of(one) for one in now])
            if not np.isfinite(slopes).all():
                break
            K = slopes
            was, Y = Y, y + h * (A @ K)
            moved = float(np.abs((Y - was) * w).max())
            if not moved <= LOST:
                break
            places = [self._place(ti, Yi) for ti, Yi in zip(times, Y, strict=True)]
            if sweep < NEWTON:
                J, pull = self._jacobian(now, places, angle, h)
            off = np.concatenate([self._across(place, x) for place, x in zip(places, angle, strict=True)])
            angle = angle + np.clip(np.linalg.solve(J, -off).reshape(angle.shape), -FASTEST, FASTEST)
            if sweep > 1 and moved <= SMALL:
                return K, True, pull
        return K, False, pull

    @staticmethod
    def _angle(one: Turning, place: Place) -> float:
        e = direction(place.rows[one.k].rate[one.part], np.array(one.e), place.v)
        return float(np.arctan2(e[1], e[0]))

    def _place(self, t: float, y: Array) -> Place:
        q, v = y[: self.nq], y[self.nq : self.nq + self.nv]
        return Place.of(self.phase.system, t, q, v, self.phase.control)

    def _at(self, place: Place, angle: Array) -> Instant:
        """Return the instant with friction against given directions of slip."""
        rates = {one.k: place.rows[one.k].rate.copy() for one in self.turning}
        for one, x in zip(self.turning, angle, strict=True):
            e = np.array([np.cos(x), np.sin(x)])
            rates[one.k][one.part] = e if e @ one.e >= 0.0 else -e
        rows = tuple(row.but(rate=rates[k]) if k in rates else row for k, row in enumerate(place.rows))
        return self.phase.at(Place(place.t, place.q, place.v, rows, place.M, place.h))

    def _across(self, place: Place, angle: Array) -> Array:
        """Return the slips across their directions, m/s."""
        u = [place.rows[one.k].rate[one.part] for one in self.turning]
        return np.array([-np.sin(x) * d[0] + np.cos(x) * d[1] for x, d in zip(angle, u, strict=True)])

    def _jacobian(self, now: list[Instant], places: list[Place], angle: Array, h: float) -> tuple[Array, float]:
        """Return how slips across their directions change with these, and how fast friction turns them at the end."""
        n, turning = len(self.turning), [(one.k, one.part) for one in self.turning]
        J, pull = np.empty((ORDER, n, ORDER, n)), 0.0
        ahead, across = np.stack((np.cos(angle), np.sin(angle))), np.stack((-np.sin(angle), np.cos(angle)))
        rows = np.array([[across[:, i, m] @ place.rows[one.k].J[one.part] for m, one in enumerate(self.turning)]
                         for i, place in enumerate(places)])  # fmt: skip
        for j, here in enumerate(now):
            da = self.phase.by_direction(here, turning)
            J[:, :, j, :] = h * A[:, j, None, None] * (rows @ da.T)
        for i, place in enumerate(places):
            for m, one in enumerate(self.turning):
                u = place.rows[one.k].rate[one.part]
                if i == ORDER - 1:
                    pull = max(pull, abs(J[i, m, i, m]) / (h * A[i, i] * max(float(np.hypot(*u)), TINY)))
                J[i, m, i, m] -= float(ahead[:, i, m] @ u)
        return J.reshape(ORDER * n, ORDER * n), pull
