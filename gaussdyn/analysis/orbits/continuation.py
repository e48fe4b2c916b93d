"""A branch of periodic orbits over a parameter, by pseudo-arclength, with its bifurcations located.

Between two points of the branch every test function that changes its sign is brought to zero (`bifurcations`): fold,
period doubling, torus birth, and where the order of the events changes: a grazing with the beginning of stick, a
crossing that becomes a stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._show import brief
from ...arrays import Array, scalar
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene
from ...mends import one_of
from .bifurcations import between, hopf
from .corrector import Change, Corrector, closed_at, size_of
from .periodic_orbit import Orbit
from .variational_flow import system_of

COLLAPSED = 0.03  # of the largest orbit: smaller ones are taken for the end in a Hopf bifurcation
EASY = 4  # corrections
LEAST = 2e-2  # of the longest step: then the branch is taken to bend


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """Orbits along a branch.

    Attributes
    ----------
    parameter, unit : str
    values : Array, shape (m,)
        Of the parameter; it may turn back.
    orbits : tuple of Orbit
    changes : tuple of Change
        Along the branch.
    ends : tuple of (str, str)
        Why it stopped on either side.
    """

    parameter: str
    unit: str
    values: Array
    orbits: tuple[Orbit, ...]
    changes: tuple[Change, ...]
    ends: tuple[str, str]

    __repr__ = brief


@interruptible
def branch_of_orbits(
    system: LagrangianSystem | Scene, orbit: Orbit, parameter: str, low: float, high: float, *,
    period: Callable[[LagrangianSystem], float] | None = None, step: float = 0.0, most: int = 400,
    progress: Callable[[float], None] | None = None,
) -> Branch:  # fmt: skip
    """Follow an orbit over a range of a parameter, both ways.

    Parameters
    ----------
    system : LagrangianSystem, or Scene with one
        With the parameters of the orbit.
    orbit : Orbit
    parameter : str
    low, high : float
    period : callable, optional
        System -> period of what drives it; needed for forced orbits.
    step : float
        First step along the branch; 1/60 of the range by default.
    most : int
        Orbits at most, either way.
    progress : callable, optional
        Is told the share of the range that is done.

    Raises
    ------
    InputError
        An unknown parameter, an empty range, an orbit outside of it.
    """
    system = system_of(system)
    p0, low, high = _range_around(system, parameter, low, high)
    if not orbit.autonomous and period is None:
        raise InputError(
            "period",
            None,
            "a function: system -> period of the drive",
            "Write period=lambda system: 2 * numpy.pi / system.params['omega'].",
        )
    parts, reached = [], {"low": p0, "high": p0}

    def tell(p: float) -> None:
        """Report how much of the range has been seen."""
        reached["low"], reached["high"] = min(reached["low"], p), max(reached["high"], p)
        if progress is not None:
            progress((reached["high"] - reached["low"]) / (high - low))

    for direction in (-1.0, 1.0):
        corrector = Corrector(system, parameter, low, high, orbit.autonomous, period, t=orbit.t, scale=high - low)
        side = _Side(corrector, orbit, p0, direction, step or 1.0 / 60.0)
        end = side.follow(most, tell)
        parts.append((side.found, end, corrector.changes))
    (left, end_left, before), (right, end_right, after) = parts
    orbits = [*(one for _, one in reversed(left[1:])), *(one for _, one in right)]
    found = [*(_reversed(one) for one in reversed(before)), *after]
    return Branch(
        parameter=parameter, unit=system.units[parameter],
        values=np.array([*(p for p, _ in reversed(left[1:])), *(p for p, _ in right)]), orbits=tuple(orbits),
        changes=tuple(found), ends=(end_left, end_right),
    )  # fmt: skip


def _range_around(system: LagrangianSystem, parameter: str, low: float, high: float) -> tuple[float, float, float]:
    """Return the value of a parameter in a range of it, and its ends, as numbers; see `branch_of_orbits`."""
    values = system.params
    if parameter not in values:
        raise InputError("parameter", repr(parameter), ", ".join(values), one_of("parameter", parameter, values))
    low, high = scalar(f"low of {parameter}", low), scalar(f"high of {parameter}", high)
    p0 = float(values[parameter])
    if not low <= p0 <= high or not low < high:
        raise InputError(
            f"range of {parameter}",
            f"{low:g} to {high:g}",
            f"low < high, around {p0:g} of the orbit",
            f"Write low={p0 - 0.1:g}, high={p0 + 0.1:g}.",
        )
    return p0, low, high


def _reversed(one: Change) -> Change:
    return replace(one, before=one.after, after=one.before)


class _Side:
    """A branch on one side of the orbit that it begins with.

    Parameters
    ----------
    direction : float
        Sign in which the parameter goes first.
    ds : float
        First step.
    """

    def __init__(self, corrector: Corrector, orbit: Orbit, p0: float, direction: float, ds: float) -> None:
        self.corrector, self.direction = corrector, direction
        self.found = [(p0, orbit)]
        self.X = corrector.pack(orbit, p0)
        self.along = self._outward(direction)
        self.ds, self.longest, self.largest = ds, 6.0 * ds, size_of(orbit)

    def follow(self, most: int, tell: Callable[[float], None]) -> str:
        """Go on until the range, the orbit or the patience ends; return which."""
        while len(self.found) < most:
            end = self._go_on()
            if end:
                return end
            tell(self.found[-1][0])
        return f"{most} orbits"

    def _go_on(self) -> str:
        """Find one more orbit; return why there is none, or why it is the last."""
        corrector, last = self.corrector, self.found[-1]
        tangent = corrector.tangent(self.X, self.along)
        if len(self.found) == 1 and tangent[-1] * self.direction < 0.0:
            tangent = -tangent
        one = _step(corrector, self.X, tangent, self.ds, self.longest, size_of(last[1]))
        one = one or _over_a_kink(corrector, last, tangent, self.longest)
        if one is None:
            if len(self.found) > 1 and self._collapsed(5.0 * COLLAPSED):
                return _hopf_end(corrector, self.found)
            return f"no step along the branch at {corrector.parameter} = {last[0]:.9g}"
        after, self.ds, easy = one
        p = float(after[-1]) * corrector.scale
        if not corrector.low <= p <= corrector.high:
            return self._end(tangent, corrector.low if p < corrector.low else corrector.high)
        here = corrector.orbit(after)
        between(corrector, last, (p, here), self.X, tangent)
        self.found.append((p, here))
        self.largest = max(self.largest, size_of(here))
        if self._collapsed(COLLAPSED):
            return _hopf_end(corrector, self.found)
        self._move(after)
        self.ds = min(self.longest, self.ds * 1.4) if easy else self.ds
        return ""

    def _collapsed(self, share: float) -> bool:
        """Whether the last orbit is so small that a Hopf bifurcation is near."""
        return self.corrector.autonomous and size_of(self.found[-1][1]) < share * self.largest

    def _end(self, tangent: Array, edge: float) -> str:
        """Take the orbit at the end of the range, if it is found."""
        last = _on_edge(self.corrector, self.X, tangent, self.ds, edge)
        if last is not None:
            between(self.corrector, self.found[-1], (edge, last), self.X, tangent)
            self.found.append((edge, last))
        return f"end of the range, {self.corrector.parameter} = {edge:.9g}"

    def _move(self, after: Array) -> None:
        """Go on from `after`; where the first point of the orbit is chosen anew, only the sign of the way is known."""
        (before, _), (p, here) = self.found[-2:]
        self.along, self.X = after - self.X, _anchored(self.corrector, here, p, after)
        if self.X is not after:
            self.along = self._outward(float(np.sign(after[-1] - before / self.corrector.scale)) or self.direction)

    def _outward(self, sign: float) -> Array:
        along = np.zeros(len(self.X))
        along[-1] = sign
        return along


def _step(
    corrector: Corrector, X: Array, tangent: Array, ds: float, longest: float, size: float
) -> tuple[Array, float, bool] | None:
    """Return the next point, the step it took, and whether it was easy."""
    while ds > LEAST * longest:
        one = corrector.corrected(X + ds * tangent, X, tangent, ds)
        if one is not None:
            try:
                orbit = corrector.orbit(one[0])
            except InputError:
                orbit = None
            if orbit is not None and 0.5 * size < size_of(orbit) < 2.0 * size:
                return one[0], ds, one[1] <= EASY
        ds *= 0.5
    return None


def _over_a_kink(
    corrector: Corrector, last: tuple[float, Orbit], tangent: Array, longest: float
) -> tuple[Array, float, bool] | None:
    """Return a point beyond a change of events, where branches of piecewise smooth systems bend sharply.

    The parameter goes on, whatever the arc does.
    """
    p0, orbit = last
    side = float(np.sign(tangent[-1]))
    for k in range(9, -1, -1):
        p = p0 + side * longest * corrector.scale * 0.5**k
        if not corrector.low <= p <= corrector.high:
            continue
        after = closed_at(corrector, p, orbit)
        if after is not None and after.signature != orbit.signature and 0.5 < size_of(after) / size_of(orbit) < 2.0:
            return corrector.pack(after, p), 0.1 * longest, False
    return None


def _anchored(corrector: Corrector, orbit: Orbit, p: float, X: Array) -> Array:
    """Return the unknowns with a first point that is far from all events, where the old one is not."""
    if not corrector.autonomous:
        return X
    best, first = (-np.inf, orbit.y), orbit.motion.phase.least(orbit.t, orbit.y)
    for one in orbit.motion.stretches:
        if one.phase.sticks:
            continue
        for t, y in zip(one.t.tolist(), one.y, strict=True):
            least = one.phase.least(t, y)
            if least > best[0]:
                best = (least, y)
    if first >= 0.3 * best[0]:
        return X
    return np.array([*best[1], orbit.period, p / corrector.scale])


def _on_edge(corrector: Corrector, X: Array, tangent: Array, ds: float, edge: float) -> Orbit | None:
    """Return the orbit at the end of the range."""
    share = (edge / corrector.scale - X[-1]) / (tangent[-1] if tangent[-1] else np.inf)
    guess = X + np.clip(share, -abs(ds), abs(ds)) * tangent
    guess[-1] = edge / corrector.scale
    try:
        return corrector.orbit(guess)
    except InputError:
        return None


def _hopf_end(corrector: Corrector, found: list[tuple[float, Orbit]]) -> str:
    """Locate the Hopf bifurcation in which small orbits end."""
    (p1, one), (p2, two) = found[-2], found[-1]
    slope = (size_of(one) ** 2 - size_of(two) ** 2) / (p1 - p2)  # the square of the size grows linearly
    guess = p2 - size_of(two) ** 2 / slope
    width = 4.0 * abs(guess - p2) + 1e-6
    try:
        change = hopf(corrector.system, corrector.parameter, guess - width, guess + width, 0.5 * (two.low + two.high))
    except InputError as error:
        return f"small orbits at {corrector.parameter} = {p2:.9g}; {error}"
    corrector.changes.append(change)
    return f"Hopf bifurcation at {corrector.parameter} = {change.value:.12g}"
