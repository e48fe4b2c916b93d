"""Adaptive integration of smooth motion with fast parts, explicit (`dop853`) or implicit (SciPy's Radau).

The explicit solver follows every period of a fast vibration; the implicit one (Radau IIA of order 5) passes over it,
and damps what is faster than its step. Which one is taken depends on how much the fastest part turns within a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...arrays import EPS, Array
from ...errors import GaussdynError, InputError
from ..dop853 import STAGES, NoStep, steps
from ..dop853 import Tolerance as LocalErrors

Method = Literal["auto", "DOP853", "Radau"]
METHODS = ("auto", "DOP853", "Radau")
NODES = np.array([(4.0 - 6.0**0.5) / 10.0, (4.0 + 6.0**0.5) / 10.0, 1.0])  # of Radau's quadrature, order 5
WEIGHTS = np.array([(16.0 - 6.0**0.5) / 36.0, (16.0 + 6.0**0.5) / 36.0, 1.0 / 9.0])
FAR = 1e3  # times its first size: from there on a motion is watched for an escape
SETTLED = 4000  # steps after which the pace of an integration is judged
HOPELESS = 10.0
NEAR = 1e-3  # of the time gone: an escape foreseen so soon is believed


class Escape(GaussdynError):
    """The motion leaves every bounded set in finite time; carries when, s."""

    def __init__(self, t: float, size: float) -> None:
        self.t = t
        super().__init__(
            f"the motion escapes to infinity at t = {t:.12g} s (|q| = {size:.3g} already): the forces are not "
            "bounded below by a potential that holds it; nothing is wrong with the integrator"
        )


class Stuck(GaussdynError):
    """The integrator needs more steps than it may take, or cannot take one; carries the part that was covered."""

    def __init__(self, reason: str, covered: float) -> None:
        self.covered = covered
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flow:
    """An initial value problem y' = slope(t, y), with what is collected on the way.

    Attributes
    ----------
    slope : callable
        slope(t, y) -> y', shape (n,).
    jacobian : callable
        jacobian(t, y) -> (n, n), for the implicit solver; it need only be right in the stiff parts.
    collect : callable
        collect(t, y) -> shape (m,): what is integrated beside the motion (impulses, work).
    places : int
        The first `places` components are coordinates, watched for an escape.
    """

    slope: Callable[[float, Array], Array]
    jacobian: Callable[[float, Array], Array]
    collect: Callable[[float, Array], Array]
    places: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmoothFlow:
    """The end of an integration: the last y, the integrals of what was collected, the number of steps accepted."""

    y: Array
    integrals: Array
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Local error per step: `rtol` relative, `atol` absolute (SI, or one per component); at most `max_steps` steps."""

    rtol: float
    atol: float | Array
    max_steps: int


def integrate(flow: Flow, t: float, y: Array, t_end: float, method: str, tolerance: Tolerance) -> SmoothFlow:
    """Integrate from t to t_end.

    Raises
    ------
    InputError
        The slope is not defined: at the start, or from some time on, whatever the step.
    Escape
        The motion goes to infinity before `t_end`.
    Stuck
        It needs more than `max_steps` steps, or steps too small for the clock.
    """
    total = np.zeros(len(flow.collect(t, y)))  # what is wrong at the start itself is raised here
    tried, covered, taken = _Tried(flow.slope), 0.0, 0
    first = float(np.abs(y[: flow.places]).max(initial=0.0)) + 1.0
    try:
        for one in _passed(replace(flow, slope=tried), t, y, t_end, method, tolerance):
            y, taken, tried.error, covered = one.y, taken + 1, None, (one.t - t) / (t_end - t)
            total += _collected(flow, one)
            _watch(flow, t, one, first, t_end)
            if one.t < t_end and (taken >= tolerance.max_steps or _hopeless(taken, covered, tolerance)):
                raise Stuck(f"{taken} steps cover only {100.0 * covered:.2g} % of it", covered)
    except NoStep as error:
        if tried.error is not None:
            raise tried.error from None
        raise Stuck(str(error), covered) from None
    return SmoothFlow(y=np.array(y), integrals=total, steps=taken)


def _hopeless(steps: int, covered: float, tolerance: Tolerance) -> bool:
    """Whether many times the steps allowed would be needed at this pace; not judged in a layer at the start."""
    return steps >= SETTLED and steps > HOPELESS * covered * tolerance.max_steps


class _Tried:
    """A slope that is NaN where it is not defined: a stage of a step too long then shortens the step.

    Where no step is short enough, `error` is what to raise.
    """

    def __init__(self, slope: Callable[[float, Array], Array]) -> None:
        self.slope = slope
        self.error: InputError | None = None

    def __call__(self, t: float, y: Array) -> Array:
        """Return y', or NaN."""
        if np.isfinite(y).all():
            try:
                return self.slope(t, y)
            except InputError as error:
                self.error = error
        return np.full(len(y), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """A step of length h (s) up to (t, y), its rate f there, and y in between."""

    t: float
    h: float
    y: Array
    f: Array
    at: Callable[[float], Array]


def _passed(flow: Flow, t: float, y: Array, t_end: float, method: str, tolerance: Tolerance) -> Iterator[Passed]:
    """Yield the steps; raise NoStep where none is short enough."""
    with np.errstate(over="ignore", invalid="ignore"):  # a slope that overflows ends the integration
        if method == "Radau":
            yield from _by_radau(flow, t, y, t_end, tolerance)
            return
        errors = LocalErrors(tolerance.rtol, np.broadcast_to(tolerance.atol, len(y)).copy())
        for piece in steps(flow.slope, t, y, t_end, errors):
            end = t_end if abs(t_end - piece.t_end) <= 2.0 * EPS * abs(t_end) else piece.t_end
            yield Passed(end, piece.h, piece.end, piece.K[STAGES], piece.at)


def _by_radau(flow: Flow, t: float, y: Array, t_end: float, tolerance: Tolerance) -> Iterator[Passed]:
    from scipy.integrate import Radau

    solver: Any = Radau(flow.slope, t, y, t_end, jac=flow.jacobian, rtol=tolerance.rtol, atol=tolerance.atol)
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed":
            raise NoStep(message)
        yield Passed(solver.t, solver.t - solver.t_old, solver.y, solver.f, solver.dense_output())


def _collected(flow: Flow, one: Passed) -> Array:
    """Return the integral over a step, by Radau's quadrature on what is in between."""
    times = (one.t - one.h + one.h * NODES[:2]).tolist()
    values = [*(flow.collect(s, one.at(s)) for s in times), flow.collect(one.t, one.y)]
    total: Array = one.h * (WEIGHTS @ np.array(values))
    return total


def _watch(flow: Flow, start: float, one: Passed, first: float, t_end: float) -> None:
    """Raise Escape where the coordinates grow like (t* - t)^-p with t* before the end, from their growth rate g.

    g = p / (t* - t) has g' = g^2 / p, so that t* = t + g / g'.
    """
    x, speed = one.y[: flow.places], one.f[: flow.places]
    size = float(np.abs(x).max(initial=0.0))
    if not size > FAR * first:
        return
    x = x / size
    g = float(x @ speed) / size / float(x @ x)
    rise = _rise(flow, one, g, x, size) if g > 0.0 else 0.0
    if rise > 0.0 and g / rise < NEAR * max(one.t - start, EPS) and one.t + g / rise <= t_end:
        raise Escape(one.t + g / rise, size)


def _rise(flow: Flow, one: Passed, g: float, x: Array, size: float) -> float:
    """Return dg/dt: (|v|^2 + x.a) / |x|^2 - 2 g^2, with the acceleration from the slope a little ahead."""
    n = flow.places
    h = 1e-6 / g
    v = one.f[:n] / size
    ahead = flow.slope(one.t + h, one.y + h * one.f)[:n] / size
    a = (ahead - v) / h
    return float((v @ v + x @ a) / (x @ x) - 2.0 * g * g)
