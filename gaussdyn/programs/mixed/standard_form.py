"""Every block of a mixed problem as an equality or a law: boxes become rows with dry friction, or rows u ⟂ r.

z = shift + sign z', w = sign w'. A box [a, b] is dry friction of size (b - a)/2 about its middle; with one open side it
is a row 0 <= z' ⟂ w' >= 0, and with two an equality.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...arrays import Array, IntArray
from ...linalg.rational import rationals
from ..laws.laws import Dry, Law, Unilateral
from ..problems.mixed import Box, Equality, MixedComplementarity


@dataclass(frozen=True, slots=True, eq=False)
class StandardForm:
    """The problem over z': w' = M z' + q with equalities on some rows and laws on the others.

    Attributes
    ----------
    M, q : Array, shapes (n, n), (n,)
    sign, shift : Array, shape (n,)
        z = shift + sign z'.
    equal : IntArray
        Rows with w' = 0.
    rest : IntArray
        Rows of the laws, block by block.
    laws : tuple of Law
    """

    M: Array
    q: Array
    sign: Array
    shift: Array
    equal: IntArray
    rest: IntArray
    laws: tuple[Law, ...]

    def exact(self, problem: MixedComplementarity) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return M and q with exact numbers: every double of the problem at its value, the shift without rounding."""
        sign, shift = rationals(self.sign.tolist()), exact_shift(problem)
        rows = [rationals(row) for row in problem.M.tolist()]
        M = [[a * s * t for a, t in zip(row, sign, strict=True)] for row, s in zip(rows, sign, strict=True)]
        ends = rationals(problem.q.tolist())
        moved = [
            sum((a * x for a, x in zip(row, shift, strict=True) if x), end) for row, end in zip(rows, ends, strict=True)
        ]
        return M, [s * x for s, x in zip(sign, moved, strict=True)]


def standard_form(problem: MixedComplementarity) -> StandardForm:
    """Return the problem with an equality or a law on every row."""
    equal: list[int] = []
    rest: list[int] = []
    laws: list[Law] = []
    sign, at = np.ones(len(problem.q)), problem.starts
    for start, block in zip(at, problem.blocks, strict=False):
        rows = range(start, start + block.size)
        if isinstance(block, Equality):
            equal += rows
        elif isinstance(block, Box):
            for i, low, high in zip(rows, block.lower, block.upper, strict=True):
                law = _law_of_side(low, high)
                (equal if law is None else rest).append(i)
                laws += [] if law is None else [law]
                sign[i] = -1.0 if low == -np.inf and high < np.inf else 1.0
        else:
            rest += rows
            laws.append(block)
    shift = np.array([float(x) for x in exact_shift(problem)])
    M = sign[:, None] * problem.M * sign
    return StandardForm(M, sign * problem.motion(shift), sign, shift, _rows(equal), _rows(rest), tuple(laws))


def _law_of_side(low: float, high: float) -> Law | None:
    """Return what a row of a box is, moved to its middle or its only end; None for an equality."""
    if np.isfinite([low, high]).all():
        return Dry((high - low) / 2.0)
    return Unilateral() if np.isfinite([low, high]).any() else None


def exact_shift(problem: MixedComplementarity) -> list[Fraction]:
    """Return the middles of boxes, the ends of those open on one side, and else 0."""
    shift = [Fraction(0)] * len(problem.q)
    for start, block in zip(problem.starts, problem.blocks, strict=False):
        for i in range(block.size if isinstance(block, Box) else 0):
            finite = [Fraction(x) for x in (block.lower[i], block.upper[i]) if np.isfinite(x)]  # type: ignore[union-attr]
            shift[start + i] = sum(finite, Fraction(0)) / max(len(finite), 1)
    return shift


def _rows(found: list[int]) -> IntArray:
    return np.array(found, dtype=np.int64)
