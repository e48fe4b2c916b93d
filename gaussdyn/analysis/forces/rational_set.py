"""The same sets over the rationals, where they are polyhedra: frictionless contacts, joints, friction in the plane.

Doubles of a state carry rounding noise, which would make redundant equations contradict each other. So each of them is
first replaced by the simple fraction that it is meant to be (0.6 by 3/5), or, where there is none, rounded to a
multiple of 2^-36 of the largest entry, as for the count of motions. Everything after that is exact.
The modes are those of the state; the motion is solved for anew, together with one set of reactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...arrays import Array
from ...contact.assemble import Block, blocks
from ...contact.outcome.modal_data import BITS, rounded
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...linalg.rational import dot, rationals
from ...programs.conic.polyhedron import ExactRange, ExactSlice
from ...programs.enumeration.hulls import Hull
from .allowed import Allowed, Alternative
from .quantity import Quantity, combination
from .reaction_set import ReactionSet

LARGEST = 40  # unknowns: motion and reactions
NOISE = 1e-12  # drifts below it are rounding
SIMPLE, MEANT = 10**6, 1e-14  # largest denominator, and how near (relative to the largest entry) a fraction has to be
NUMBERS = f"doubles of a state, each the fraction that it is near, or rounded to multiples of 2^-{BITS}"

Rows = list[list[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExactReactions:
    """All reactions of a state, exactly.

    Attributes
    ----------
    allowed : Allowed
    slice : ExactSlice
        Of s, with r = offset + spread s.
    offset : tuple of Fraction
    spread : list of lists of Fraction
    numbers : str
        Which numbers it is about.
    """

    allowed: Allowed
    slice: ExactSlice
    offset: tuple[Fraction, ...]
    spread: Rows
    numbers: str = NUMBERS

    def range(self, of: Quantity) -> ExactRange:
        """Return smallest and largest value of a quantity; `ReactionSet.range` says what may be asked.

        Raises
        ------
        InputError
            No such reaction, or a vector of the wrong length.
        """
        _, factors = combination(self.allowed, of)
        c = rationals(factors)
        found, shift = self.slice.range(self._on_entries(c)), dot(c, self.offset)
        ends = [None if end is None else end + shift for end in (found.low, found.high)]
        return ExactRange(low=ends[0], high=ends[1], low_at=found.low_at, high_at=found.high_at)

    def proves(self, of: Quantity, bound: Fraction) -> bool:
        """Whether multipliers refute that the quantity is above a bound."""
        _, factors = combination(self.allowed, of)
        c = rationals(factors)
        return self.slice.proves(self._on_entries(c), bound - dot(c, self.offset))

    def hull(self, *of: Quantity) -> Hull:
        """Return vertices and rays of the values that some quantities, all reactions by default, take together."""
        chosen = [rationals(combination(self.allowed, one)[1]) for one in of or self.allowed.names]
        found = self.slice.image([self._on_entries(c) for c in chosen])
        shift = [dot(c, self.offset) for c in chosen]
        moved = tuple(tuple(x + y for x, y in zip(vertex, shift, strict=True)) for vertex in found.vertices)
        return Hull(moved, found.rays)

    def _on_entries(self, c: Sequence[Fraction]) -> list[Fraction]:
        return [dot(c, column) for column in zip(*self.spread, strict=True)]


def exact(found: ReactionSet) -> ExactReactions:
    """Return a set of reactions over the rationals.

    Raises
    ------
    InputError
        Contacts in space that stick, constraints that are held on both sides with friction, more unknowns than exact
        arithmetic is quick for, or a motion whose modes rounding does not confirm.
    """
    dynamics, (first, *others) = found.dynamics, found.allowed.alternatives
    if others or not first.slice.polyhedral:
        mend = "Its certified ranges are there: reactions.range(of)."
        raise InputError("reactions", "no single polyhedron", "frictionless or planar contacts, and joints", mend)
    if dynamics.nv + first.slice.n > LARGEST:
        given = f"{dynamics.nv} velocities and {first.slice.n} reactions"
        raise InputError(
            "reactions", given, f"at most {LARGEST} together", "Certified ranges have no such limit: found.range(...)."
        )
    return _solved(dynamics, found.allowed, first)


def _solved(dynamics: LocalDynamics, allowed: Allowed, one: Alternative) -> ExactReactions:
    """Solve for motion and reactions, and keep the reactions that give this motion."""
    parts, nv, zero = blocks(dynamics), dynamics.nv, Fraction(0)
    spread, offset = [_meant_row(row) for row in one.spread], _meant_row(one.offset)
    B, h = _pushes(dynamics, parts, spread, offset)
    own, right = [rationals(row) for row in one.slice.A[nv:]], _meant_row(one.slice.f[nv:])
    E, e = _at_rest(parts, allowed)
    A = [[*inertia, *(-x for x in push)] for inertia, push in zip(_meant(dynamics.M), B, strict=True)]
    A += [[*[zero] * nv, *row] for row in own]
    A += [[*row, *[zero] * one.slice.n] for row in E]
    free = [True] * nv + [cone.kind == "free" for cone in one.slice.cones]
    point = ExactSlice(A, [*h, *right, *e], free).point()
    if point is None:
        mend = "Certified ranges do not depend on it: reactions.range(of)."
        raise InputError("reactions", "a state whose modes hold up to rounding only", "modes that hold exactly", mend)
    s = point[nv:]
    load = [dot(row, s) for row in B] + right
    return ExactReactions(allowed=allowed, slice=ExactSlice(B + own, load, free[nv:]),
                          offset=tuple(offset), spread=spread)  # fmt: skip


def _pushes(
    dynamics: LocalDynamics, parts: Sequence[Block], spread: Rows, offset: list[Fraction]
) -> tuple[Rows, list[Fraction]]:
    """Return J^T spread, what the entries push in each coordinate, and h + J^T offset, what else does."""
    J = [row for part in parts for row in _meant(part.active.row.J)]
    columns = [*zip(*J, strict=True)] or [()] * dynamics.nv
    B = [[dot(column, entry) for entry in zip(*spread, strict=True)] for column in columns]
    return B, [x + dot(offset, column) for x, column in zip(_meant_row(dynamics.h), columns, strict=True)]


def _at_rest(parts: Sequence[Block], allowed: Allowed) -> tuple[Rows, list[Fraction]]:
    """Return rows and right-hand sides of what does not move: E x = e."""
    E: Rows = []
    e: list[Fraction] = []
    for part in parts:
        mode = allowed.modes[part.active.row.id]
        rows = _held_rows(part, mode)
        if rows:
            E += _meant(part.J[:rows])
            e += [-x for x in _drift(part.w[:rows])]
    return E, e


def _held_rows(part: Block, mode: str) -> int:
    """Return how many rows of a constraint do not move in a mode."""
    if mode == "open" or not part.take:
        return 0
    if mode in ("held", "sticks"):
        return len(part.take)
    return 0 if part.active.row.kind == "dry" else 1


def _drift(w: Array) -> list[Fraction]:
    return [Fraction(0) if abs(x) < NOISE else x for x in _meant_row(w)]


def _meant(x: Array) -> Rows:
    """Return the fractions that the entries of a matrix are meant to be."""
    plain, near = rounded(x), MEANT * float(np.abs(x).max(initial=0.0))
    return [[_simple(float(a), b, near) for a, b in zip(*pair, strict=True)] for pair in zip(x, plain, strict=True)]


def _meant_row(x: Array) -> list[Fraction]:
    return _meant(x[None])[0] if x.size else []


def _simple(value: float, plain: Fraction, near: float) -> Fraction:
    found = Fraction(value).limit_denominator(SIMPLE)
    return found if abs(float(found) - value) <= near else plain
