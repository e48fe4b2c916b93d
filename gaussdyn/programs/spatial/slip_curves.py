"""Continua of motions of contacts that slip: their normal reactions are free, and the motion follows them.

Where the held rows of u = 0 depend on each other (four slipping contacts of a plane), one normal reaction may be
chosen. If for every choice between two ends there is one motion in a box (Krawczyk), and not always the same, they fill
a curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ... import checker_slips as slips
from ... import checker_spatial_several as checker
from ...arrays import Array
from ...linalg.rational import integer_row, rational, text
from .sectors import State

PARTS = (Fraction(1, 100), Fraction(1, 1000), Fraction(1, 10000))  # of N': how much of a curve is followed
STEPS, SMALL_STEP = 10, 1e-13  # of Newton's method


def curve(data: Any, states: list[State], dropped: int, r: Array) -> Any:
    """Return a leaf that proves a continuum of motions near reactions r, a system and a root of it; None without.

    Parameters
    ----------
    data : W, q, mu, mu_s
    states : list
        One mode or sector per contact.
    dropped : int
        A held row that follows from the others.
    """
    held = [i for i in checker.held_rows(states) if i != dropped]
    start = _start(states, r)
    slipping = [k for k, x in enumerate(states) if not isinstance(x, str) and start["N", k] > 0]
    for fixed in slipping:
        mode = slips.Slips(data, states, held, {fixed: slips.bounds(start["N", fixed])})
        x = _newton(mode, [slips.bounds(start[name]) for name in mode.unknown])
        found = x and _followed(data, states, held, fixed, start["N", fixed], x)
        if found:
            sectors = [x if isinstance(x, str) else [x[0], *text(x[1:])] for x in states]
            about = {"mode": checker.letters(states), "states": sectors, "fixed": fixed, "dropped": dropped}
            return {**about, **found}, mode, x
    return None


def dependent(data: Any, held: Sequence[int]) -> int | None:
    """Return a held normal row that follows from the others, if there is just one row too many."""
    W, q, *_ = data
    rows = [integer_row([*W[i], q[i]])[0] for i in held]
    if (whole := checker.rank(rows)) != len(held) - 1:
        return None
    fewer = [i for k, i in enumerate(held) if i % 3 == 0 and checker.rank(rows[:k] + rows[k + 1 :]) == whole]
    return fewer[-1] if fewer else None


def _followed(data: Any, states: list[State], held: list[int], fixed: int, N: Fraction, x: list[Any]) -> Any:
    """Return the ends of N' between which motions differ, and their box, as a leaf has them; None without."""
    for part in PARTS:
        ends = N * (1 - part), N * (1 + part)
        reach = _reach(slips.Slips(data, states, held, {fixed: slips.bounds(*ends)}), x)
        if reach is None:
            return None
        box = [(Fraction(a.lo - b, slips.UNIT), Fraction(a.hi + b, slips.UNIT)) for a, b in zip(x, reach, strict=True)]
        if slips.differ(data, states, held, fixed, ends, box):
            return {"values": text(ends), "box": [text(pair) for pair in box]}
    return None


def _start(states: list[State], r: Array) -> dict[Any, Any]:
    """Return where Newton's method begins, by the names of the unknowns."""
    found: dict[Any, Any] = {("r", i): rational(float(x)) for i, x in enumerate(r)}
    for k, x in enumerate(states):
        if not isinstance(x, str):
            t = (x[1] + x[2]) / 2
            found |= {("t", k): t, ("N", k): rational(float(r[3 * k])) / (1 + t * t)}
    return found


def _newton(mode: slips.Slips, x: list[Any]) -> list[Any] | None:
    """Return a root near x; None if the method does not come to one."""
    for _ in range(STEPS):
        P = slips.inverse(mode.jacobian(x))
        if P is None:
            return None
        F = mode.equations(x)
        step = [slips.total(p * f for p, f in zip(row, F, strict=True)) for row in P]
        x = [(a - b).middle() for a, b in zip(x, step, strict=True)]
        if max(b.size() for b in step) < SMALL_STEP * max(a.size() for a in x):
            return x
    return None


def _reach(mode: slips.Slips, x: list[Any]) -> list[int] | None:
    """Return how far the unknowns go while the fixed one goes from end to end, with room."""
    P = slips.inverse(mode.jacobian(x))
    if P is None:
        return None
    F, room = mode.equations(x), slips.UNIT // 10**12
    return [2 * slips.total(p * f for p, f in zip(row, F, strict=True)).size() + room for row in P]
