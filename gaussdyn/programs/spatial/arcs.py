"""Continua of slip directions: where the equation of the directions vanishes altogether (W unsymmetric or indefinite).

With a symmetric positive definite W there are none: there s has the sign of -N for every direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import atan, degrees

from ...linalg.sturm import Polynomial, count, isolate, refine, sign, times
from .contact import SlipEquation

BITS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """All directions between two angles, ends not included, degrees; start < end, 360 apart for all directions.

    Attributes
    ----------
    start, end : float
    stops : bool
        Whether the speed goes to zero at one of the ends, so that the arc hangs together with rest.
    """

    start: float
    end: float
    stops: bool = False


def nonempty(equation: SlipEquation) -> bool:
    """Whether some direction is a slip although no equation fixes it."""
    (g, h), (_, g_end, h_end) = equation.positive, equation.ends()
    if not g or not h:
        return False
    inner = equation.everywhere()
    if not inner:  # the product is the same in all directions
        return sign(g, Fraction(0)) > 0 and sign(h, Fraction(0)) > 0
    return (g_end > 0 and h_end > 0) or count(inner, equation.positive) > 0


def arcs(equation: SlipEquation) -> tuple[Arc, ...]:
    """Return all arcs of directions in which `positive` are positive."""
    if not nonempty(equation):
        return ()
    g, h = equation.positive
    roots = isolate(times(g, h))
    cells = [Fraction(0)] if not roots else [roots[0][0], *(high for _, high in roots)]
    holds = [sign(g, t) > 0 and sign(h, t) > 0 for t in cells]
    borders = [_border(g, h, root) for root in roots]
    _, g_end, h_end = equation.ends()
    through = g_end > 0 and h_end > 0  # the direction (-1, 0) belongs to the first and the last cell
    seam = g_end > 0 and not through
    edges = [(-180.0, seam), *borders, (180.0, seam)]
    sides = zip(holds, pairwise(edges), strict=True)
    found = [Arc(start=a, end=b, stops=stop or last) for inside, ((a, stop), (b, last)) in sides if inside]
    return _joined(found) if through else tuple(found)


def _border(g: Polynomial, h: Polynomial, root: tuple[Fraction, Fraction]) -> tuple[float, bool]:
    """Return the angle of a root of g h between two half-angle tangents, degrees; whether the speed is zero there."""
    angle = degrees(2 * atan(float(sum(refine(times(g, h), *root, BITS)) / 2)))
    return angle, count(h, [g], *root) > 0


def _joined(found: list[Arc]) -> tuple[Arc, ...]:
    """Return the arcs, the first and the last as one."""
    if len(found) == 1:
        return tuple(found)
    first, *rest, last = found
    whole = Arc(start=last.start - 360.0, end=first.end, stops=first.stops or last.stops)
    return (whole, *rest)
