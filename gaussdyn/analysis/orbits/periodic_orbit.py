"""Periodic orbits through events: shooting with the fundamental matrix, multipliers, equilibria in slip.

A forced orbit closes after a given period; an autonomous one has its period as an unknown, and a first point that stays
in the plane across the flow. Newton's method on y(T; y0) - y0 = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ..._show import brief
from ...arrays import Array, vector
from ...errors import InputError
from ...integrate.dop853 import Tolerance, take
from ...integrate.run.interrupts import interruptible
from ...integrate.shooting import Shot, closed
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene
from .variational_flow import Flow, MovingPhase, Stretch, autonomous, end_of, flow, phase_at, system_of

CLOSED = 1e-11
SETTLE, LOOK = 30.0, 12.0  # times the slowest natural time scale: how long a motion settles, and a return is looked for
FIRST = 0.1  # of the size of the orbit: a return that comes this close is tried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Orbit:
    """A motion that closes.

    Attributes
    ----------
    t, y : float, Array (2 n,)
        A point of it, in slip where there is slip.
    period : float
    multipliers : array of complex, shape (2 n,)
        Eigenvalues of the fundamental matrix over a period, by modulus, falling.
    Phi : Array, shape (2 n, 2 n)
    motion : Flow
        One period: events, phases.
    autonomous : bool
        Whether one multiplier is 1 because of the freedom in time.
    miss : float
        |y(T) - y(0)|.
    low, high : Array, shape (2 n,)
        Least and greatest values along it.
    params : dict of str to float
    """

    t: float
    y: Array
    period: float
    multipliers: Any
    Phi: Array
    motion: Flow
    autonomous: bool
    miss: float
    low: Array
    high: Array
    params: dict[str, float]

    __repr__ = brief

    @property
    def signature(self) -> tuple[str, ...]:
        """Kinds of its events, in order, turned so that it begins with the least."""
        kinds = self.motion.signature
        return min((kinds[k:] + kinds[:k] for k in range(len(kinds))), default=())

    @property
    def nontrivial(self) -> Any:
        """Multipliers without the one that is 1 for every autonomous orbit."""
        m = self.multipliers
        return np.delete(m, int(np.abs(m - 1.0).argmin())) if self.autonomous else m

    @property
    def stable(self) -> bool:
        """Whether all nontrivial multipliers are inside the unit circle."""
        return bool((np.abs(self.nontrivial) < 1.0).all())

    @property
    def sticks(self) -> bool:
        """Whether it has a phase of stick."""
        return any(one.phase.sticks for one in self.motion.stretches)


def extremes(motion: Flow) -> tuple[Array, Array]:
    """Return least and greatest values of every component of y along a motion, each shape (2 n,)."""
    nodes = np.concatenate([one.y for one in motion.stretches])
    low, high = nodes.min(axis=0), nodes.max(axis=0)
    for one in motion.stretches:
        rates = np.array([one.phase.rate(t, y) for t, y in zip(one.t.tolist(), one.y, strict=True)])
        for k, i in np.argwhere(rates[:-1] * rates[1:] < 0.0):
            y = _turning(one, int(k), int(i))
            low, high = np.minimum(low, y), np.maximum(high, y)
    return low, high


def _turning(one: Stretch, k: int, i: int) -> Array:
    """Return the state between nodes k and k + 1 where component i turns."""
    t0, y0, h = float(one.t[k]), np.asarray(one.y[k]), float(one.t[k + 1] - one.t[k])
    step = partial(take, one.phase.rate, t0, y0, one.phase.rate(t0, y0), tolerance=Tolerance(0.0, np.ones(len(y0))))
    piece = step(h)

    def slope(t: float) -> float:
        """Return the rate of component i within the step."""
        return float(one.phase.rate(t, piece.at(t))[i])

    if slope(t0) * slope(t0 + h) > 0.0:
        return y0
    there: Array = step(brentq(slope, t0, t0 + h, xtol=1e-9) - t0).end
    return there


def close_orbit(
    system: LagrangianSystem | Scene, y: Array, period: float, *, t: float = 0.0, autonomous: bool, rtol: float = 1e-12
) -> Orbit:
    """Correct a motion that nearly closes until it does.

    Parameters
    ----------
    system : LagrangianSystem, or Scene with one
    y : array_like, shape (2 n,)
        Near a point of the orbit.
    period : float
        Of the orbit (forced), or nearly (autonomous).
    t : float
        Time of that point.
    autonomous : bool

    Raises
    ------
    InputError
        It does not close: by how much it misses.
    """
    system = system_of(system)
    y = vector("y", y, 2 * system.nq)

    def follow(at: Array, length: float) -> Shot[Flow]:
        """Return the motion over a period, and by how much it misses."""
        found = flow(system, t, at, t + length, rtol=rtol)
        rate = found.phase.rate(found.t, found.y) if autonomous else None
        return Shot(found.y - at, found.Phi, max(1.0, float(np.abs(at).max())), found, rate)

    normal, words = _rate(phase_at(system, t, y), t, y), f"a motion from {y.tolist()}"
    at, length, shot = closed(
        follow, np.add, y, period, tol=CLOSED, normal=normal if autonomous else None, words=words,
        mend="Write another start= or period=.",
    )  # fmt: skip
    return _orbit(system, t, at, length, shot.motion, autonomous)


def _rate(phase: MovingPhase, t: float, y: Array) -> Array:
    """Return the direction of motion y' / |y'| at a point, which must not be an equilibrium."""
    f = phase.rate(t, y)
    size = float(np.linalg.norm(f))
    if size < 1e-9:
        raise InputError(
            "orbit",
            f"an equilibrium at {y.tolist()}, where |y'| = {size:.3g}",
            "a point in motion",
            "Start away from it: State(q=..., v=[0.1]).",
        )
    return f / size


def _orbit(system: LagrangianSystem, t: float, y: Array, period: float, found: Flow, autonomous: bool) -> Orbit:
    """Return a closed motion as an orbit: its multipliers, extremes, and by how much it misses itself."""
    rate = float(np.abs(found.phase.rate(found.t, found.y)).max())
    if autonomous and not found.passages and rate <= 1e-7 * max(1.0, float(np.abs(y).max())):
        raise InputError("orbit", f"a motion that ends in the equilibrium {y.tolist()}", "a motion that closes",
                         "Orbits of a continuum shrink to its centre, too: write period=...")  # fmt: skip
    m = np.linalg.eigvals(found.Phi).astype(complex)
    order = np.argsort(-np.abs(m), kind="stable")
    low, high = extremes(found)
    return Orbit(
        t=t, y=y.copy(), period=float(period), multipliers=m[order], Phi=found.Phi, motion=found,
        autonomous=autonomous, miss=float(np.abs(found.y - y).max()), low=low, high=high,
        params=dict(system.params),
    )  # fmt: skip


@interruptible
def periodic_orbit(
    system: Any,
    start: Sequence[float],
    *,
    period: float | None = None,
    settle: float | None = None,
    rtol: float = 1e-12,
) -> Orbit:
    """Find the orbit that a motion tends to.

    Parameters
    ----------
    system : LagrangianSystem, or Scene with one
    start : array_like, shape (2 n,)
        (q, v) at t = 0.
    period : float, optional
        Of what drives it: needed where something depends on the time. For an autonomous system a guess, which then
        replaces the search for a return.
    settle : float, optional
        How long to wait before a return is looked for, s; 0 corrects the start itself (unstable orbits). Default: 30
        periods of the drive, or 30 times 2 pi.

    Raises
    ------
    InputError
        No period where one is needed; no return is found; it does not close: by how much it misses.
    """
    system = system_of(system)
    y = vector("start", start, 2 * system.nq)
    free = autonomous(system)
    if not free and period is None:
        raise InputError("period", None, "the period of what drives it, s", "Write period=2 * numpy.pi / omega.")
    if not free and period is not None:
        _check_period(system, y, period)
    unit = period if period is not None else 2.0 * np.pi
    wait = SETTLE * unit if settle is None else settle
    wait = wait if free else np.ceil(wait / unit) * unit
    y = end_of(system, 0.0, y, wait, rtol=1e-10) if wait else y
    if not free:
        return close_orbit(system, y, unit, autonomous=False, rtol=rtol)
    if period is not None and not wait:
        return close_orbit(system, y, period, autonomous=True, rtol=rtol)
    y, guess = _return(system, y, LOOK * unit)
    return close_orbit(system, y, guess, autonomous=True, rtol=rtol)


def _check_period(system: LagrangianSystem, y: Array, period: float) -> None:
    """Raise InputError unless the field is the same after a period."""
    times = [0.137 * period * k for k in range(8)]
    phase = phase_at(system, 0.0, y)
    off = max(float(np.abs(phase.rate(t + period, y) - phase.rate(t, y)).max()) for t in times)
    if off > 1e-9:
        raise InputError("period", f"{period:.12g} s, after which the field differs by {off:.3g}",
                         "the period of what drives it, or a multiple", "Write period=2 * numpy.pi / w.")  # fmt: skip


def _return(system: LagrangianSystem, y: Array, look: float) -> tuple[Array, float]:
    """Return a point in slip of a motion that nearly repeats, and after how long."""
    found = flow(system, 0.0, y, look, rtol=1e-10)
    slips = [one for one in found.stretches if not one.phase.sticks and len(one.t) > 2]
    half = [one for one in slips if one.t[0] <= 0.5 * look] or slips
    if not half:
        raise InputError(
            "orbit",
            f"a motion that only sticks for {look:.3g} s",
            "a motion that slips",
            "Start faster: State(q=..., v=[1.0]).",
        )
    longest = max(half, key=lambda one: float(min(one.t[-1], 0.5 * look) - one.t[0]))
    k = int(np.searchsorted(longest.t, 0.5 * (longest.t[0] + min(longest.t[-1], 0.5 * look))))
    at, t0 = longest.y[min(k, len(longest.t) - 1)], float(longest.t[min(k, len(longest.t) - 1)])
    t = np.concatenate([one.t for one in found.stretches])
    states = np.concatenate([one.y for one in found.stretches])
    size = float(np.ptp(states, axis=0).max())
    if size < 1e-6:
        raise InputError(
            "orbit",
            f"a motion that comes to rest at {at.tolist()}",
            "a motion that goes on",
            "Drive it, or take friction away: --set mu=0.",
        )
    height = (states - at) @ _rate(longest.phase, t0, at)
    for i in np.flatnonzero((height[:-1] < 0.0) & (height[1:] >= 0.0) & (t[1:] > t0 + 1e-3)):
        share = -height[i] / (height[i + 1] - height[i])
        near = states[i] + share * (states[i + 1] - states[i])
        when = float(t[i] + share * (t[i + 1] - t[i])) - t0
        if np.linalg.norm(near - at) <= FIRST * size and when > 1e-2 * look / LOOK:
            return at, when
    raise InputError("orbit", f"a motion that does not return within {look:.3g} s", "a motion that repeats",
                     "It may be chaotic, or have a long period: write start=..., period=...")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RestPoint:
    """An equilibrium inside one mode, e.g. where a slider stands on a moving belt.

    Attributes
    ----------
    y : Array, shape (2 n,)
    phase : MovingPhase
    jacobian : Array, shape (2 n, 2 n)
    eigenvalues : array of complex
        By real part, falling.
    """

    y: Array
    phase: MovingPhase
    jacobian: Array
    eigenvalues: Any

    @property
    def stable(self) -> bool:
        """Whether all real parts are negative."""
        return bool((self.eigenvalues.real < 0.0).all())


def rest_point(system: LagrangianSystem | Scene, start: Any) -> RestPoint:
    """Find where the field of the phase in which a motion from `start` begins vanishes, by Newton's method.

    Raises
    ------
    InputError
        It does not converge, or ends where the phase does not hold: with the numbers.
    """
    system = system_of(system)
    y = vector("start", start, 2 * system.nq)
    phase = phase_at(system, 0.0, y)
    f = phase.rate(0.0, y)
    for _ in range(50):
        step = np.linalg.lstsq(phase.jacobian(0.0, y), -f, rcond=1e-13)[0]
        y = y + step
        f = phase.rate(0.0, y)
        if np.abs(step).max() <= 1e-15 * max(1.0, float(np.abs(y).max())):
            break
    least = phase.least(0.0, y)
    if not np.isfinite(f).all() or np.abs(f).max() > 1e-10 or least < 0.0:
        given = f"mode {phase.mode!r} at {y.tolist()}: |y'| = {np.abs(f).max():.3g}, least condition {least:.3g}"
        raise InputError(
            "equilibrium", given, "a zero of the field where the mode holds", "Look for it: equilibria(system)."
        )
    J = phase.jacobian(0.0, y)
    eigenvalues = np.linalg.eigvals(J).astype(complex)
    return RestPoint(y=y, phase=phase, jacobian=J, eigenvalues=eigenvalues[np.argsort(-eigenvalues.real)])
