"""All motions of two to four contacts in space: every combination of detach (D), stick (S) and slip (+).

Sticking contacts are eliminated exactly, detached ones carry nothing, the directions of the slipping ones are found by
branch and prune (`slip_directions`). Where the reactions of sticking contacts are not unique, rest is decided by
linear programs with polygons inside and around the friction cones. The list is complete if `left` is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import cos, pi, tan

import numpy as np

from ...arrays import Array
from ...linalg.interval_fields import Field, constant
from ...linalg.rational import dot, eliminate, integer_row, null_space
from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL, feasible
from .contact import direction
from .rest import in_cone, square
from .slip_directions import BOXES, SlipSystem, slips

MOST = 4  # contacts
SIDES = (12, 48, 192)  # of the polygons in place of a friction cone, one after the other

Vector = tuple[Fraction, ...]
Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialContacts:
    """u = W r + q of several contacts in space at rest, rows (n, t1, t2) each, with exact numbers."""

    W: Rows
    q: Vector
    mu: Vector
    mu_s: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralMotion:
    """One motion.

    Attributes
    ----------
    modes : str
        One letter per contact.
    motion, reaction : tuple of float, length 3 n
        u and one r.
    radius : float
        Bound of the error of the slip directions, rad; 0 where nothing slips.
    forces_unique : bool
    """

    modes: str
    motion: tuple[float, ...]
    reaction: tuple[float, ...]
    radius: float = 0.0
    forces_unique: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralMotions:
    """Motions, and what is left undecided: (modes, why).

    Attributes
    ----------
    motions : tuple of SeveralMotion
    left : tuple of (str, str)
    boxes : int
        Boxes of directions that were looked at.
    """

    motions: tuple[SeveralMotion, ...]
    left: tuple[tuple[str, str], ...]
    boxes: int


def several_motions(contacts: SpatialContacts, *, boxes: int = BOXES) -> SeveralMotions:
    """Return all motions of up to four contacts; `boxes` bounds the directions looked at at once."""
    found: list[SeveralMotion] = []
    left: list[tuple[str, str]] = []
    looked = 0
    for modes in map("".join, product("DS+", repeat=len(contacts.mu))):
        answer = Mode(contacts, modes).solve(boxes)
        found += answer.motions
        left += answer.left
        looked += answer.boxes
    return SeveralMotions(motions=tuple(found), left=tuple(left), boxes=looked)


class Mode:
    """One combination of letters."""

    def __init__(self, contacts: SpatialContacts, modes: str) -> None:
        self.contacts, self.modes = contacts, modes
        rows = {letter: [k for k, x in enumerate(modes) if x == letter] for letter in "DS+"}
        self.detached, self.sticking, self.slipping = rows["D"], rows["S"], rows["+"]

    def solve(self, boxes: int) -> SeveralMotions:
        """Return the motions of this combination."""
        stuck = _rows(self.sticking)
        inverse = _inverse([[self.contacts.W[i][j] for j in stuck] for i in stuck])
        if inverse is None:
            return self._redundant()
        return self._slipping(inverse, boxes) if self.slipping else self._still(inverse)

    def _still(self, inverse: Rows) -> SeveralMotions:
        """Nothing slips: one linear system, exactly."""
        stuck = _rows(self.sticking)
        r = [Fraction(0)] * len(self.contacts.q)
        for i, row in zip(stuck, inverse, strict=True):
            r[i] = -dot(row, [self.contacts.q[j] for j in stuck])
        u = [dot(row, r) + x for row, x in zip(self.contacts.W, self.contacts.q, strict=True)]
        margins = [u[3 * k] for k in self.detached]
        for k in self.sticking:
            part, mu = r[3 * k : 3 * k + 3], self.contacts.mu_s[k]
            margins.append(square(part, part, mu) if in_cone(part, mu) else Fraction(-1))
        if min(margins) < 0:
            return _none()
        if min(margins) == 0:
            return _left(self.modes, "degenerate: on the border of its mode")
        return SeveralMotions(motions=(_motion(self.modes, u, r),), left=(), boxes=0)

    def _slipping(self, inverse: Rows, boxes: int) -> SeveralMotions:
        """Eliminate the sticking contacts, find the directions, and look at the other contacts afterwards."""
        c, stuck, free = self.contacts, _rows(self.sticking), _rows(self.slipping)
        back = [[-dot(row, [c.W[j][f] for j in stuck]) for f in free] for row in inverse]  # r_stuck = back r + rest
        rest = [-dot(row, [c.q[j] for j in stuck]) for row in inverse]
        columns = [[row[j] for row in back] for j in range(len(free))]
        W = [
            [row[f] + dot([row[j] for j in stuck], column) for f, column in zip(free, columns, strict=True)]
            for row in c.W
        ]
        q = [c.q[i] + dot([c.W[i][j] for j in stuck], rest) for i in range(len(c.q))]
        system = SlipSystem(W=[W[i] for i in free], q=[q[i] for i in free], mu=[c.mu[k] for k in self.slipping])
        slip = slips(system, boxes)
        found: list[SeveralMotion] = []
        left: list[tuple[str, str]] = []
        if len(slip.left):
            where = np.degrees(slip.left[0]).round(3).tolist()
            left.append((self.modes, f"{len(slip.left)} boxes of directions, e.g. at {where} degrees"))
        for angle, radius in zip(slip.angles, slip.radius, strict=True):
            r = system.reactions(angle, radius)
            u = [_linear(row, r, end) for row, end in zip(W, q, strict=True)]
            held = [_linear(row, r, end) for row, end in zip(back, rest, strict=True)]
            signs = [u[3 * k].sign()[0] for k in self.detached]
            for k, at in zip(self.sticking, range(0, len(stuck), 3), strict=True):
                signs += [held[at].sign()[0], _margin(held[at : at + 3], c.mu_s[k]).sign()[0]]
            if min(signs, default=1) == 1:
                found.append(self._motion(u, dict(zip([*stuck, *free], [*held, *r], strict=True)), radius))
            elif min(signs) == 0:
                left.append((self.modes, "a contact on the border of its mode"))
        return SeveralMotions(motions=tuple(found), left=tuple(left), boxes=slip.boxes)

    def _motion(self, u: Sequence[Field], r: Mapping[int, Field], radius: Array) -> SeveralMotion:
        still = {*_rows(self.sticking), *(3 * k for k in self.slipping)}
        motion = tuple(0.0 if i in still else _middle(x) for i, x in enumerate(u))
        reaction = tuple(_middle(r[i]) if i in r else 0.0 for i in range(len(u)))
        return SeveralMotion(modes=self.modes, motion=motion, reaction=reaction, radius=float(radius.max()))

    def _redundant(self) -> SeveralMotions:
        """Sticking contacts whose reactions are not unique: polygons around the cones refute, inside them prove."""
        for sides in SIDES:
            if feasible(*self._integers(sides, outside=True)).point is None:
                return _none()
            if self.slipping:
                return _left(self.modes, "slip beside contacts whose reactions are not unique")
            r = feasible(*self._integers(sides, outside=False)).point
            if r is not None and self.detached and not self._moves_alike():
                return _left(self.modes, "detachment beside contacts whose reactions are not unique")
            if r is not None:
                u = [dot(row, r) + x for row, x in zip(self.contacts.W, self.contacts.q, strict=True)]
                return SeveralMotions(motions=(_motion(self.modes, u, r, unique=False),), left=(), boxes=0)
        return _left(self.modes, "rest near the limit of friction")

    def _moves_alike(self) -> bool:
        """Whether what is free in the reactions of the sticking contacts moves nothing: y W = 0 where W_SS y = 0."""
        stuck, W = _rows(self.sticking), self.contacts.W
        free = null_space([integer_row([W[i][j] for j in stuck])[0] for i in stuck], len(stuck))
        return not any(dot([row[j] for j in stuck], y) for y in free for row in W)

    def _integers(self, sides: int, outside: bool) -> tuple[list[list[int]], list[int], int]:
        rows, kinds, n = self.program(sides, outside)
        return [row for row, _ in rows], kinds, n

    def program(self, sides: int, outside: bool) -> tuple[list[tuple[list[int], Fraction]], list[int], int]:
        """Return linear rows (integers, their factor) of this combination over r, kinds and width.

        Polygons lie around the friction cones or inside them.
        """
        c, rows, kinds = self.contacts, [], []
        n = len(c.q)
        for k, letter in enumerate(self.modes):
            for i in range(3 * k, 3 * k + 3):
                motion = [*c.W[i], -c.q[i]]
                if letter == "S" or (letter == "+" and i == 3 * k):
                    rows.append(motion)
                    kinds.append(EQUAL)
                elif letter == "D":
                    rows.append([Fraction(i == j) for j in range(n)] + [Fraction(0)])
                    kinds.append(EQUAL)
                    if i == 3 * k:
                        rows.append(motion)
                        kinds.append(ABOVE)
            if letter != "D":
                for row in polygon(c.mu_s[k] if letter == "S" else c.mu[k], sides, outside):
                    rows.append([Fraction(0)] * (3 * k) + list(row) + [Fraction(0)] * (n - 3 * k - 2))
                    kinds.append(AT_LEAST)
        return [integer_row(row) for row in rows], kinds, n


def polygon(mu: Fraction, sides: int, outside: bool) -> Iterator[Vector]:
    """Yield rows a with a.r >= 0: a pyramid around the cone |r_t| <= mu r_n, or inside it (an even number of sides)."""
    shrink = Fraction(1) if outside else Fraction(int(10**6 * cos(pi / sides + 1e-4)), 10**6)  # sides are rounded
    for k in range(1 - sides // 2, sides // 2 + 1):
        t = Fraction(round(2**16 * tan(pi * k / sides)), 2**16) if 2 * k != sides else None
        c, s = direction(t)
        yield shrink * mu, -c, -s


def _linear(row: Sequence[Fraction], r: Sequence[Field], end: Fraction) -> Field:
    """Return row . r + end as an enclosure."""
    return sum((constant(x, 0, 1) * y for x, y in zip(row, r, strict=True) if x), constant(end, 0, 1))


def _margin(r: Sequence[Field], mu: Fraction) -> Field:
    """Return mu^2 r_n^2 - |r_t|^2."""
    return constant(mu * mu, 0, 1) * r[0] * r[0] - r[1] * r[1] - r[2] * r[2]


def _middle(x: Field) -> float:
    return float(x.value.mid[0])


def _rows(contacts: Sequence[int]) -> list[int]:
    return [3 * k + i for k in contacts for i in range(3)]


def _inverse(A: Rows) -> list[list[Fraction]] | None:
    """Return the inverse, None for a singular matrix."""
    n = len(A)
    rows = [integer_row([*row, *(Fraction(i == j) for j in range(n))])[0] for i, row in enumerate(A)]
    reduced, pivots = eliminate(rows, n)
    if pivots != list(range(n)):
        return None
    return [[Fraction(x, row[i]) for x in row[n:]] for i, row in enumerate(reduced)]


def _motion(modes: str, u: Sequence[Fraction], r: Sequence[Fraction], *, unique: bool = True) -> SeveralMotion:
    return SeveralMotion(modes=modes, motion=tuple(map(float, u)), reaction=tuple(map(float, r)), forces_unique=unique)


def _none() -> SeveralMotions:
    return SeveralMotions(motions=(), left=(), boxes=0)


def _left(modes: str, why: str) -> SeveralMotions:
    return SeveralMotions(motions=(), left=((modes, why),), boxes=0)
