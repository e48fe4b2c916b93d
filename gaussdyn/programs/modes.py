"""Modes: the states of a block as linear conditions that partition them.

A mode holds equalities, inequalities and strict inequalities on the motions u and the forces f of its block. Every
state (u, f) that obeys the law lies in exactly one mode. The shared conditions hold in all modes of the block.

Letters: LCP 0 (z = 0, w > 0) and 1 (w = 0, z >= 0); planar contact D (detach), S (stick), + and - (begin to slip),
L (slide on); held on both sides with N < 0: s, p, m, l.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exact import ABOVE, AT_LEAST, EQUAL

Numbers = Sequence[Fraction]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


def _conditions(
    motions: int, *rows: tuple[int, Sequence[Any]] | tuple[int, Sequence[Any], Any]
) -> tuple[Condition, ...]:
    """Build conditions from (kind, coefficients of u then of f, bound), sorted by kind."""
    made = []
    for kind, numbers, *bound in rows:
        exact = tuple(Fraction(x) for x in numbers)
        made.append(Condition(kind, exact[:motions], exact[motions:], Fraction(bound[0]) if bound else Fraction(0)))
    return tuple(sorted(made, key=lambda c: c.kind))


def unilateral_block(letters: str = "01") -> Block:
    """0 <= u ⟂ f >= 0."""
    closed = (_conditions(1, (EQUAL, (0, 1)), (ABOVE, (1, 0))), _conditions(1, (EQUAL, (1, 0)), (AT_LEAST, (0, 1))))
    modes = tuple(Mode(letter, rows) for letter, rows in zip(letters, closed, strict=True))
    return Block(1, 1, modes, _conditions(1, (AT_LEAST, (0, 1)), (AT_LEAST, (1, 0))))


def contact_block(mu: Fraction, mu_s: Fraction, state: int = 0) -> Block:
    """Unilateral planar contact with u = (a_n, a_t), f = (r_n, r_t); state 0 at rest, 1 or -1 sliding along +-t."""
    detach = Mode("D", _conditions(2, (EQUAL, (0, 0, 1, 0)), (EQUAL, (0, 0, 0, 1)), (ABOVE, (1, 0, 0, 0))))
    load, touch = (AT_LEAST, (0, 0, 1, 0)), (EQUAL, (1, 0, 0, 0))
    closed, opening = (AT_LEAST, (0, 0, 1, 0)), (AT_LEAST, (1, 0, 0, 0))
    if state:
        slide = (EQUAL, (0, 0, state * mu, 1))
        return Block(2, 2, (detach, Mode("L", _conditions(2, touch, slide, load))),
                     _conditions(2, slide, opening, closed))  # fmt: skip
    cone = (AT_LEAST, (0, 0, mu_s, -1)), (AT_LEAST, (0, 0, mu_s, 1))
    stick = Mode("S", _conditions(2, touch, (EQUAL, (0, 1, 0, 0)), load, *cone))
    slips = tuple(
        Mode(letter, _conditions(2, touch, (EQUAL, (0, 0, s * mu, 1)), load, (ABOVE, (0, s, 0, 0))))
        for letter, s in (("+", 1), ("-", -1))
    )
    return Block(2, 2, (detach, stick, *slips), _conditions(2, opening, closed, *cone), mu_s > mu)


def bilateral_block(mu: Fraction, mu_s: Fraction, state: int = 0) -> Block:
    """Contact held on both sides: a_n = 0, |r_t| <= mu |r_n| against the slip; small letters have r_n < 0."""
    touch, modes = (EQUAL, (1, 0, 0, 0)), []
    for letters, side, load in (("LS+-", 1, (AT_LEAST, (0, 0, 1, 0))), ("lspm", -1, (ABOVE, (0, 0, -1, 0)))):
        if state:
            modes.append(Mode(letters[0], _conditions(2, touch, (EQUAL, (0, 0, side * state * mu, 1)), load)))
            continue
        cone = (AT_LEAST, (0, 0, side * mu_s, -1)), (AT_LEAST, (0, 0, side * mu_s, 1))
        modes.append(Mode(letters[1], _conditions(2, touch, (EQUAL, (0, 1, 0, 0)), load, *cone)))
        for letter, s in zip(letters[2:], (1, -1), strict=True):
            slip = (EQUAL, (0, 0, side * s * mu, 1)), (ABOVE, (0, s, 0, 0))
            modes.append(Mode(letter, _conditions(2, touch, load, *slip)))
    return Block(2, 2, tuple(modes), _conditions(2, touch), mu_s > mu)


def bilateral_sliding_block() -> Block:
    """u_n = 0 with forces (r, |r|): the friction of a sliding guide is carried by the second one."""
    size, touch = (AT_LEAST, (0, -1, 1)), (EQUAL, (1, 0, 0))
    push = Mode("L", _conditions(1, touch, (EQUAL, (0, -1, 1)), (AT_LEAST, (0, 1, 0))))
    pull = Mode("l", _conditions(1, touch, (EQUAL, (0, 1, 1)), (ABOVE, (0, -1, 0))))
    return Block(1, 2, (push, pull), _conditions(1, touch, size, (AT_LEAST, (0, 1, 1))))


def dry_block(cap: Fraction, cap_s: Fraction) -> Block:
    """|f| <= cap against the slip u, |f| <= cap_s at rest."""
    cone = (AT_LEAST, (0, -1), -cap_s), (AT_LEAST, (0, 1), -cap_s)
    modes = [Mode("S", _conditions(1, (EQUAL, (1, 0)), *cone))]
    for letter, s in (("+", 1), ("-", -1)):
        modes.append(Mode(letter, _conditions(1, (EQUAL, (0, 1), -s * cap), (ABOVE, (s, 0)))))
    return Block(1, 1, tuple(modes), _conditions(1, *cone), cap_s > cap)


def associated_block(mu: Fraction) -> Block:
    """The convex relaxation K* ∋ u ⟂ f ∈ K in the plane."""
    load, dual = (AT_LEAST, (0, 0, 1, 0)), [(AT_LEAST, (1, s * mu, 0, 0)) for s in (-1, 1)]
    cone = (AT_LEAST, (0, 0, mu, -1)), (AT_LEAST, (0, 0, mu, 1))
    inside = [(ABOVE, (1, s * mu, 0, 0)) for s in (-1, 1)]
    detach = Mode("D", _conditions(2, (EQUAL, (0, 0, 1, 0)), (EQUAL, (0, 0, 0, 1)), *inside))
    stick = Mode("S", _conditions(2, (EQUAL, (1, 0, 0, 0)), (EQUAL, (0, 1, 0, 0)), load, *cone))
    slips = tuple(
        Mode(
            letter, _conditions(2, (EQUAL, (1, -s * mu, 0, 0)), (EQUAL, (0, 0, s * mu, 1)), load, (ABOVE, (0, s, 0, 0)))
        )
        for letter, s in (("+", 1), ("-", -1))
    )
    return Block(2, 2, (detach, stick, *slips), _conditions(2, *dual, load, *cone))


def planar_blocks(mu: Numbers, mu_s: Numbers, bilateral: Sequence[bool], state: Sequence[int]) -> tuple[Block, ...]:
    """Return one planar contact block per contact."""
    make: dict[bool, Callable[[Fraction, Fraction, int], Block]] = {False: contact_block, True: bilateral_block}
    return tuple(make[both](*laws) for both, *laws in zip(bilateral, mu, mu_s, state, strict=True))  # type: ignore[arg-type]
