"""Modes: the states of a block as linear conditions that partition them.

A mode holds equalities, inequalities and strict inequalities on the motions u and the forces f of its block. Every
state (u, f) that obeys the law lies in exactly one mode. The shared conditions hold in all modes of the block.

Letters: LCP 0 (z = 0, w > 0) and 1 (w = 0, z >= 0); planar contact D (detach), S (stick), + and - (begin to slip),
L (slide on); held on both sides with N < 0: s, p, m, l; equality E (u = 0, f free).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL

Numbers = Sequence[Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """motion . u + force . f = bound, >= bound or > bound on the variables of one block."""

    kind: int
    motion: tuple[Fraction, ...]
    force: tuple[Fraction, ...]
    bound: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Mode:
    """One state of a block: a letter and its conditions, equalities first, strict ones last."""

    letter: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: hashing rationals is slow
class Block:
    """All modes of a block, and the conditions that hold in every one of them.

    Attributes
    ----------
    motions, forces : int
        Number of rows of u and of f that belong to the block.
    stronger_at_rest : bool
        Whether friction at rest is stronger than in slip.
    """

    motions: int
    forces: int
    modes: tuple[Mode, ...]
    shared: tuple[Condition, ...]
    stronger_at_rest: bool = False

    @property
    def letters(self) -> str:
        """The letters of the modes, in order."""
        return "".join(mode.letter for mode in self.modes)

    @property
    def options(self) -> list[tuple[Condition, ...]]:
        """The conditions of every mode, and after them those that all modes share."""
        return [*(mode.conditions for mode in self.modes), self.shared]


def _row(motions: int, kind: int, *numbers: Any, bound: Any = 0) -> Condition:
    """Return a condition from its coefficients of u, then of f."""
    exact = tuple(ONE if x == 1 else ZERO if x == 0 else Fraction(x) for x in numbers)
    return Condition(kind, exact[:motions], exact[motions:], Fraction(bound))


def _mode(letter: str, *conditions: Condition) -> Mode:
    return Mode(letter, _ordered(*conditions))


def _ordered(*conditions: Condition) -> tuple[Condition, ...]:
    return tuple(sorted(conditions, key=lambda c: c.kind))


def equality_block() -> Block:
    """u = 0, f free: one mode."""
    held = _row(1, EQUAL, 1, 0)
    return Block(1, 1, (_mode("E", held),), (held,))


def unilateral_block(letters: str = "01") -> Block:
    """0 <= u ⟂ f >= 0."""
    opened = _mode(letters[0], _row(1, EQUAL, 0, 1), _row(1, ABOVE, 1, 0))
    closed = _mode(letters[1], _row(1, EQUAL, 1, 0), _row(1, AT_LEAST, 0, 1))
    return Block(1, 1, (opened, closed), _ordered(_row(1, AT_LEAST, 0, 1), _row(1, AT_LEAST, 1, 0)))


def contact_block(mu: Fraction, mu_s: Fraction, state: int = 0) -> Block:
    """Unilateral planar contact with u = (a_n, a_t), f = (r_n, r_t); state 0 at rest, 1 or -1 sliding along +-t."""
    touch, load, opening = _row(2, EQUAL, 1, 0, 0, 0), _row(2, AT_LEAST, 0, 0, 1, 0), _row(2, AT_LEAST, 1, 0, 0, 0)
    detach = _mode("D", _row(2, EQUAL, 0, 0, 1, 0), _row(2, EQUAL, 0, 0, 0, 1), _row(2, ABOVE, 1, 0, 0, 0))
    if state:
        slide = _row(2, EQUAL, 0, 0, state * mu, 1)
        return Block(2, 2, (detach, _mode("L", touch, slide, load)), _ordered(slide, opening, load))
    cone = _row(2, AT_LEAST, 0, 0, mu_s, -1), _row(2, AT_LEAST, 0, 0, mu_s, 1)
    stick = _mode("S", touch, _row(2, EQUAL, 0, 1, 0, 0), load, *cone)
    slips = tuple(
        _mode(letter, touch, _row(2, EQUAL, 0, 0, s * mu, 1), load, _row(2, ABOVE, 0, s, 0, 0))
        for letter, s in (("+", 1), ("-", -1))
    )
    return Block(2, 2, (detach, stick, *slips), _ordered(opening, load, *cone), mu_s > mu)


def bilateral_block(mu: Fraction, mu_s: Fraction, state: int = 0) -> Block:
    """Contact held on both sides: a_n = 0, |r_t| <= mu |r_n| against the slip; small letters have r_n < 0."""
    touch, still, modes = _row(2, EQUAL, 1, 0, 0, 0), _row(2, EQUAL, 0, 1, 0, 0), []
    push, pull = _row(2, AT_LEAST, 0, 0, 1, 0), _row(2, ABOVE, 0, 0, -1, 0)
    for letters, side, load in (("LS+-", 1, push), ("lspm", -1, pull)):
        if state:
            modes.append(_mode(letters[0], touch, _row(2, EQUAL, 0, 0, side * state * mu, 1), load))
            continue
        cone = _row(2, AT_LEAST, 0, 0, side * mu_s, -1), _row(2, AT_LEAST, 0, 0, side * mu_s, 1)
        modes.append(_mode(letters[1], touch, still, load, *cone))
        for letter, s in zip(letters[2:], (1, -1), strict=True):
            slip = _row(2, EQUAL, 0, 0, side * s * mu, 1), _row(2, ABOVE, 0, s, 0, 0)
            modes.append(_mode(letter, touch, load, *slip))
    return Block(2, 2, tuple(modes), (touch,), mu_s > mu)


def bilateral_sliding_block() -> Block:
    """u_n = 0 with forces (r, |r|): the friction of a sliding guide is carried by the second one."""
    size, touch = _row(1, AT_LEAST, 0, -1, 1), _row(1, EQUAL, 1, 0, 0)
    push = _mode("L", touch, _row(1, EQUAL, 0, -1, 1), _row(1, AT_LEAST, 0, 1, 0))
    pull = _mode("l", touch, _row(1, EQUAL, 0, 1, 1), _row(1, ABOVE, 0, -1, 0))
    return Block(1, 2, (push, pull), _ordered(touch, size, _row(1, AT_LEAST, 0, 1, 1)))


def dry_block(cap: Fraction, cap_s: Fraction) -> Block:
    """|f| <= cap against the slip u, |f| <= cap_s at rest."""
    cone = _row(1, AT_LEAST, 0, -1, bound=-cap_s), _row(1, AT_LEAST, 0, 1, bound=-cap_s)
    modes = [_mode("S", _row(1, EQUAL, 1, 0), *cone)]
    for letter, s in (("+", 1), ("-", -1)):
        modes.append(_mode(letter, _row(1, EQUAL, 0, 1, bound=-s * cap), _row(1, ABOVE, s, 0)))
    return Block(1, 1, tuple(modes), cone, cap_s > cap)


def associated_block(mu: Fraction) -> Block:
    """The convex relaxation K* ∋ u ⟂ f ∈ K in the plane."""
    load, dual = _row(2, AT_LEAST, 0, 0, 1, 0), [_row(2, AT_LEAST, 1, s * mu, 0, 0) for s in (-1, 1)]
    cone = _row(2, AT_LEAST, 0, 0, mu, -1), _row(2, AT_LEAST, 0, 0, mu, 1)
    inside = [_row(2, ABOVE, 1, s * mu, 0, 0) for s in (-1, 1)]
    detach = _mode("D", _row(2, EQUAL, 0, 0, 1, 0), _row(2, EQUAL, 0, 0, 0, 1), *inside)
    stick = _mode("S", _row(2, EQUAL, 1, 0, 0, 0), _row(2, EQUAL, 0, 1, 0, 0), load, *cone)
    slips = []
    for letter, s in (("+", 1), ("-", -1)):
        slip = _row(2, EQUAL, 1, -s * mu, 0, 0), _row(2, EQUAL, 0, 0, s * mu, 1)
        slips.append(_mode(letter, *slip, load, _row(2, ABOVE, 0, s, 0, 0)))
    return Block(2, 2, (detach, stick, *slips), _ordered(*dual, load, *cone))


def planar_blocks(mu: Numbers, mu_s: Numbers, bilateral: Sequence[bool], state: Sequence[int]) -> tuple[Block, ...]:
    """Return one planar contact block per contact."""
    return tuple(_planar_block(*law) for law in zip(bilateral, mu, mu_s, state, strict=True))


@lru_cache(maxsize=4096)
def _planar_block(both: bool, mu: Fraction, mu_s: Fraction, state: int) -> Block:
    return (bilateral_block if both else contact_block)(mu, mu_s, state)
