"""What happens along a branch of periodic orbits: test functions and margins brought to zero.

Fold, period doubling, torus birth along the arc between two orbits; changes of the order of events at fixed parameters,
because there branches of piecewise smooth systems bend sharply; a Hopf bifurcation from the equilibrium.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ...arrays import Array
from ...errors import InputError
from ...mechanics.lagrangian.system import LagrangianSystem
from .corrector import Change, Corrector, closed_at
from .periodic_orbit import Orbit, rest_point
from .variational_flow import system_of


def hopf(system: LagrangianSystem, parameter: str, low: float, high: float, start: Any) -> Change:
    """Locate where a pair of eigenvalues of an equilibrium in slip crosses the imaginary axis.

    Raises
    ------
    InputError
        The pair stays on one side: the real parts at both ends.
    """
    system = system_of(system)
    place = {"y": np.array(start, dtype=float)}

    def real_part(p: float) -> float:
        """Return the greatest real part of a complex pair."""
        found = rest_point(system.with_params(**{parameter: p}), place["y"])
        place["y"] = found.y
        pair = found.eigenvalues[np.abs(found.eigenvalues.imag) > 1e-9]
        return float(pair.real.max()) if len(pair) else float(found.eigenvalues.real.max())

    ends = real_part(low), real_part(high)
    if ends[0] * ends[1] > 0.0:
        given = f"{low:.9g} to {high:.9g}, with real parts {ends[0]:.3g} and {ends[1]:.3g}"
        raise InputError(
            f"range of {parameter}",
            given,
            "a range over which a pair crosses the imaginary axis",
            f"Widen it: low={low - 0.5:g}, high={high + 0.5:g}.",
        )
    p = float(brentq(real_part, low, high, xtol=1e-14, rtol=8.9e-16))
    eigenvalues = rest_point(system.with_params(**{parameter: p}), place["y"]).eigenvalues
    return Change(kind="hopf", value=p, orbit=None, angle=float(np.abs(eigenvalues.imag).max()), size=abs(real_part(p)))


def between(corrector: Corrector, a: tuple[float, Orbit], b: tuple[float, Orbit], X: Array, tangent: Array) -> None:
    """Locate what happens between two neighbouring orbits."""
    (pa, one), (pb, two) = a, b
    end = np.array([*two.y, *([two.period] if corrector.autonomous else []), pb / corrector.scale])
    length = float(tangent @ (end - X))

    def on_arc(s: float) -> tuple[float, Orbit]:
        """Return the orbit at arclength s from the first one."""
        found = corrector.corrected(X + s / length * (end - X), X, tangent, s)
        if found is None:
            raise InputError(
                "branch",
                f"{corrector.parameter} near {pa:.9g}",
                "a branch that can be followed",
                "Take smaller steps: step=Tolerance(1e-8).",
            )
        return float(found[0][-1]) * corrector.scale, corrector.orbit(found[0])

    try:
        for kind, test in TESTS.items() if one.signature == two.signature else ():
            fa, fb = test(one), test(two)
            if fa is not None and fb is not None and fa * fb < 0.0 and max(abs(fa), abs(fb)) < 1e6:
                _located(corrector, kind, test, on_arc, length, (one, two))
        _turned(corrector, on_arc, X, end, tangent, length, (one, two))
        if one.signature != two.signature:
            corrector.changes.append(_changed_events(corrector, (pa, one), (pb, two)))
    except InputError as error:
        corrector.changes.append(Change(kind="not located", value=0.5 * (pa + pb), orbit=None, size=float("nan"),
                                   before=one.signature, after=(*two.signature, str(error))))  # fmt: skip


def _doubling(orbit: Orbit) -> float:
    """Return the product of all 1 + multiplier."""
    return float(np.prod(1.0 + orbit.multipliers).real)


def _torus(orbit: Orbit) -> float | None:
    """Return |mu|^2 - 1 of the complex pair nearest the unit circle; None without one."""
    m = orbit.nontrivial
    pair = m[m.imag > 1e-9]
    return float(min((abs(one) ** 2 - 1.0 for one in pair), key=abs)) if len(pair) else None


TESTS: dict[str, Callable[[Orbit], float | None]] = {"period doubling": _doubling, "torus birth": _torus}


def _located(
    corrector: Corrector, kind: str, test: Callable[[Orbit], float | None],
    on_arc: Callable[[float], tuple[float, Orbit]],
    length: float, ends: tuple[Orbit, Orbit],
) -> None:  # fmt: skip
    """Bring a test function to zero along the arc."""

    def value(s: float) -> float:
        """Return the test function at arclength s."""
        if s in (0.0, length):
            orbit = ends[int(s != 0.0)]
        else:
            orbit = on_arc(s)[1]
        found = test(orbit)
        return np.nan if found is None else found

    s = float(brentq(value, 0.0, length, xtol=1e-13))
    p, orbit = on_arc(s)
    size = abs(test(orbit) or 0.0)
    if size > 1e-4:
        return  # it jumps: the order of the events changes there
    pair = orbit.nontrivial[np.abs(orbit.nontrivial.imag) > 1e-9]
    angle = float(np.abs(np.angle(pair)).max()) if kind == "torus birth" and len(pair) else 0.0
    corrector.changes.append(Change(kind=kind, value=p, orbit=orbit, angle=angle, size=size,
                               before=ends[0].signature, after=ends[1].signature))  # fmt: skip


def _turned(
    corrector: Corrector, on_arc: Callable[[float], tuple[float, Orbit]], X: Array, end: Array, tangent: Array,
    length: float,
    ends: tuple[Orbit, Orbit],
) -> None:  # fmt: skip
    """Locate a fold: the parameter turns back along the branch, and one more multiplier is 1."""
    after = corrector.tangent(end, tangent)
    if tangent[-1] * after[-1] >= 0.0 or ends[0].signature != ends[1].signature:
        return
    h = 1e-4 * length

    def slope(s: float) -> float:
        """Return dp/ds."""
        return (on_arc(s + h)[0] - on_arc(s - h)[0]) / (2.0 * h)

    if slope(2.0 * h) * slope(length - 2.0 * h) > 0.0:
        return
    s = float(brentq(slope, 2.0 * h, length - 2.0 * h, xtol=1e-8))
    p, orbit = on_arc(s)
    size = float(np.abs(orbit.nontrivial - 1.0).min())
    corrector.changes.append(Change(kind="fold", value=p, orbit=orbit, size=size, before=ends[0].signature,
                               after=ends[1].signature))  # fmt: skip


def _changed_events(corrector: Corrector, a: tuple[float, Orbit], b: tuple[float, Orbit]) -> Change:
    """Locate where the order of the events changes, at fixed parameters: margins of both sides vanish there."""
    (pa, one), (pb, two) = a, b
    touching = _counts(one)["crossing"] == _counts(two)["crossing"]
    most = max(_counts(one)["crossing"], _counts(two)["crossing"])
    seen: dict[float, Orbit] = {pa: one, pb: two}

    def margin(p: float) -> float:
        """Return how far from the change, positive on the side of the first orbit."""
        if p not in seen:
            near = sorted(seen, key=lambda known: abs(known - p))[:3]
            found = closed_at(corrector, p, *(seen[known] for known in near))
            if found is None:
                raise InputError(
                    "branch",
                    f"{corrector.parameter} = {p:.12g}",
                    "a parameter for which an orbit closes",
                    "Take smaller steps: step=Tolerance(1e-8).",
                )
            seen[p] = found
        orbit = seen[p]
        if not touching:
            return _left(orbit, "crossing" if _counts(orbit)["crossing"] == most else "stop")
        return _touch(orbit) if orbit.signature == one.signature else -_touch(orbit)

    p = float(brentq(margin, pa, pb, xtol=4e-16, rtol=8.9e-16))
    margin(p)
    size = min(abs(margin(known)) for known in list(seen))
    names = _counts(one), _counts(two)
    kind = (
        "grazing-sliding" if touching else "stick onset" if names[0]["stop"] != names[1]["stop"] else "overshoot onset"
    )
    return Change(kind=kind, value=p, orbit=seen[p], size=size, before=one.signature, after=two.signature)


def _counts(orbit: Orbit) -> Counter[str]:
    return Counter(orbit.motion.signature)


def _touch(orbit: Orbit) -> float:
    """Return how far an orbit is from touching: the least slip inside a phase, or the shortest stick, squared."""
    sticks = [float(one.t[-1] - one.t[0]) ** 2 for one in orbit.motion.stretches if one.phase.sticks]
    found = [one.lowest for one in orbit.motion.stretches if one.lowest_of is not None and one.lowest_of.kind == "stop"]
    return min([*sticks, *found], default=1.0)


def _left(orbit: Orbit, kind: str) -> float:
    """Return the friction that is left (< 0: lacks) where slip vanishes, at the event nearest to the border."""
    ones = [one for one in orbit.motion.passages if one.kind == kind]
    return min([1.0, *(one.phase.friction_left(one.t, one.y, one.id) for one in ones)], key=abs)
