"""A branch of periodic orbits over a parameter, by pseudo-arclength, with its bifurcations located.

Between two points of the branch every test function that changes its sign is brought to zero (`orbit_changes`): fold,
period doubling, torus birth, and where the order of the events changes: a grazing with the beginning of stick, a
crossing that becomes a stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, scalar
from ..errors import InputError
from .orbit_changes import between, hopf
from .periodic import Orbit
from .smooth_phases import Phases
from .walk import Change, Walk, closed_at, size_of

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


def branch_of_orbits(
    phases: Phases, orbit: Orbit, parameter: str, low: float, high: float, *,
    period: Callable[[Phases], float] | None = None, step: float = 0.0, most: int = 400,
    progress: Callable[[float], None] | None = None,
) -> Branch:  # fmt: skip
    """Follow an orbit over a range of a parameter, both ways.

    Parameters
    ----------
    phases : Phases
        With the parameters of the orbit.
    orbit : Orbit
    parameter : str
    low, high : float
    period : callable, optional
        Phases -> period of what drives it; needed for forced orbits.
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
    values = phases.system.params
    if parameter not in values:
        raise InputError("parameter", repr(parameter), ", ".join(values))
    low, high = scalar(f"low of {parameter}", low), scalar(f"high of {parameter}", high)
    p0 = float(values[parameter])
    if not low <= p0 <= high or not low < high:
        raise InputError(f"range of {parameter}", f"{low:g} to {high:g}", f"low < high, around {p0:g} of the orbit")
    if not orbit.autonomous and period is None:
        raise InputError("period", None, "a function: phases -> period of the drive")
    parts, reached = [], {"low": p0, "high": p0}

    def tell(p: float) -> None:
        """Report how much of the range has been seen."""
        reached["low"], reached["high"] = min(reached["low"], p), max(reached["high"], p)
        if progress is not None:
            progress((reached["high"] - reached["low"]) / (high - low))

    for direction in (-1.0, 1.0):
        walk = Walk(phases, parameter, low, high, orbit.autonomous, period, t=orbit.t, scale=high - low)
        parts.append((*_followed(walk, orbit, p0, direction, step or 1.0 / 60.0, most, tell), walk.changes))
    (left, end_left, before), (right, end_right, after) = parts
    orbits = [*(one for _, one in reversed(left[1:])), *(one for _, one in right)]
    found = [*(_reversed(one) for one in reversed(before)), *after]
    return Branch(
        parameter=parameter, unit=phases.system.units[parameter],
        values=np.array([*(p for p, _ in reversed(left[1:])), *(p for p, _ in right)]), orbits=tuple(orbits),
        changes=tuple(found), ends=(end_left, end_right),
    )  # fmt: skip


def _reversed(one: Change) -> Change:
    return replace(one, before=one.after, after=one.before)


def _followed(
    walk: Walk, orbit: Orbit, p0: float, direction: float, ds: float, most: int, tell: Callable[[float], None]
) -> tuple[list[tuple[float, Orbit]], str]:
    """Follow the branch one way until the range, the orbit or the patience ends."""
    found = [(p0, orbit)]
    X = walk.pack(orbit, p0)
    along = np.zeros(len(X))
    along[-1] = direction
    largest, longest = size_of(orbit), 6.0 * ds
    while len(found) < most:
        tangent = walk.tangent(X, along)
        if found[1:] == [] and tangent[-1] * direction < 0.0:
            tangent = -tangent
        one = _step(walk, X, tangent, ds, longest, size_of(found[-1][1])) or _over_a_kink(
            walk, found[-1], tangent, longest
        )
        if one is None:
            if walk.autonomous and len(found) > 1 and size_of(found[-1][1]) < 5.0 * COLLAPSED * largest:
                return found, _hopf_end(walk, found)
            return found, f"no step along the branch at {walk.parameter} = {found[-1][0]:.9g}"
        after, ds, easy = one
        p = float(after[-1]) * walk.scale
        if not walk.low <= p <= walk.high:
            edge = walk.low if p < walk.low else walk.high
            last = _on_edge(walk, X, tangent, ds, edge)
            if last is not None:
                between(walk, found[-1], (edge, last), X, tangent)
                found.append((edge, last))
            return found, f"end of the range, {walk.parameter} = {edge:.9g}"
        here = walk.orbit(after)
        between(walk, found[-1], (p, here), X, tangent)
        found.append((p, here))
        tell(p)
        largest = max(largest, size_of(here))
        if walk.autonomous and size_of(here) < COLLAPSED * largest:
            return found, _hopf_end(walk, found)
        along, X = after - X, after
        X = _anchored(walk, here, p, X)
        if len(X) != len(along) or X is not after:
            along = np.zeros(len(X))
            along[-1] = np.sign(after[-1] - found[-2][0] / walk.scale) or direction
        ds = min(longest, ds * 1.4) if easy else ds
    return found, f"{most} orbits"


def _step(
    walk: Walk, X: Array, tangent: Array, ds: float, longest: float, size: float
) -> tuple[Array, float, bool] | None:
    """Return the next point, the step it took, and whether it was easy."""
    while ds > LEAST * longest:
        one = walk.corrected(X + ds * tangent, X, tangent, ds)
        if one is not None:
            orbit = None
            try:
                orbit = walk.orbit(one[0])
            except InputError:
                orbit = None
            if orbit is not None and 0.5 * size < size_of(orbit) < 2.0 * size:
                return one[0], ds, one[1] <= EASY
        ds *= 0.5
    return None


def _over_a_kink(
    walk: Walk, last: tuple[float, Orbit], tangent: Array, longest: float
) -> tuple[Array, float, bool] | None:
    """Return a point beyond a change of events, where branches of piecewise smooth systems bend sharply.

    The parameter goes on, whatever the arc does.
    """
    p0, orbit = last
    side = float(np.sign(tangent[-1]))
    for k in range(9, -1, -1):
        p = p0 + side * longest * walk.scale * 0.5**k
        if not walk.low <= p <= walk.high:
            continue
        after = closed_at(walk, p, orbit)
        if after is not None and after.signature != orbit.signature and 0.5 < size_of(after) / size_of(orbit) < 2.0:
            return walk.pack(after, p), 0.1 * longest, False
    return None


def _anchored(walk: Walk, orbit: Orbit, p: float, X: Array) -> Array:
    """Return the unknowns with a first point that is far from all events, where the old one is not."""
    if not walk.autonomous:
        return X
    phases, best = walk.at(p), (-np.inf, orbit.y)
    first = min(phases.values(orbit.motion.mode, orbit.t, orbit.y.tolist()), default=np.inf)
    for one in orbit.motion.stretches:
        if "s" in one.mode:
            continue
        for t, y in zip(one.t.tolist(), one.y, strict=True):
            least = min(phases.values(one.mode, t, y.tolist()), default=np.inf)
            if least > best[0]:
                best = (least, y)
    if first >= 0.3 * best[0]:
        return X
    return np.array([*best[1], orbit.period, p / walk.scale])


def _on_edge(walk: Walk, X: Array, tangent: Array, ds: float, edge: float) -> Orbit | None:
    """Return the orbit at the end of the range."""
    share = (edge / walk.scale - X[-1]) / (tangent[-1] if tangent[-1] else np.inf)
    guess = X + np.clip(share, -abs(ds), abs(ds)) * tangent
    guess[-1] = edge / walk.scale
    try:
        return walk.orbit(guess)
    except InputError:
        return None


def _hopf_end(walk: Walk, found: list[tuple[float, Orbit]]) -> str:
    """Locate the Hopf bifurcation in which small orbits end."""
    (p1, one), (p2, two) = found[-2], found[-1]
    slope = (size_of(one) ** 2 - size_of(two) ** 2) / (p1 - p2)  # the square of the size grows linearly
    guess = p2 - size_of(two) ** 2 / slope
    width = 4.0 * abs(guess - p2) + 1e-6
    try:
        change = hopf(walk.phases, walk.parameter, guess - width, guess + width, 0.5 * (two.low + two.high))
    except InputError as error:
        return f"small orbits at {walk.parameter} = {p2:.9g}; {error}"
    walk.changes.append(change)
    return f"Hopf bifurcation at {walk.parameter} = {change.value:.12g}"
