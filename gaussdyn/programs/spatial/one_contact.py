"""All motions of one contact in space: detach, rest, and every direction of slip; exactly, with a proof.

Where the solutions depend on an equality of the data (an arbitrarily small change could make more or fewer of them)
`degenerate` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import atan2, degrees, isqrt
from typing import Any

from ..._show import brief
from ...linalg.rational import dot, text
from ...linalg.sturm import common, count, derivative, isolate, refine
from ..proof.certificates import Certificate
from .arcs import Arc, arcs, nonempty
from .contact import SlipEquation, SpatialContact, direction, leading
from .rest import Rest, rest

BITS = 80  # of the interval around t = tan(angle / 2)
NOUNS = {"spatial_body": "acceleration", "spatial_contact": "motion"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialMotion:
    """One motion of the contact; rows (n, t1, t2).

    Attributes
    ----------
    letter : str
        D detach, S stick, + begin to slip, L slide on.
    motion, reaction : tuple of Fraction
        u and r; for slips evaluated in the middle of `sector`.
    exact : bool
        Whether they are exact.
    forces_unique : bool
    sector : (Fraction, Fraction) or None
        Interval of t = tan(angle / 2) that holds exactly one direction of slip, this one.
    """

    letter: str
    motion: tuple[Fraction, ...]
    reaction: tuple[Fraction, ...]
    exact: bool = True
    forces_unique: bool = True
    sector: tuple[Fraction, Fraction] | None = None

    @property
    def angle(self) -> float:
        """Direction of the motion along the plane, degrees from t1 towards t2."""
        return degrees(atan2(self.motion[2], self.motion[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialMotions:
    """The complete set of motions of one contact, or why it is not known.

    Attributes
    ----------
    motions : tuple of SpatialMotion
    arcs : tuple of Arc
        Continua of slip directions.
    ray : tuple of Fraction or None
        While it slides: added to the last motion any number of times, another one.
    leaves : tuple of dict
        Proof of every mode; empty if undecided.
    degenerate, undecided : str
    """

    motions: tuple[SpatialMotion, ...] = ()
    arcs: tuple[Arc, ...] = ()
    ray: tuple[Fraction, ...] | None = None
    leaves: tuple[dict[str, Any], ...] = ()
    degenerate: str = ""
    undecided: str = ""

    __repr__ = brief

    @property
    def continuum(self) -> bool:
        """Whether the motions are not isolated."""
        return bool(self.arcs) or self.ray is not None

    def certificate(self, contact: SpatialContact, facts: dict[str, Any]) -> Certificate:
        """Return the proof."""
        noun = NOUNS[contact.kind]
        number = len(self.motions)
        several = f"MULTIPLE: exactly {number} values of {noun} solve the problem"
        said = ("NONE: no mode has a solution", f"UNIQUE: exactly one {noun} solves the problem", several)
        claim = f"CONTINUUM: the solutions fill a continuum of {noun}" if self.continuum else said[min(number, 2)]
        return Certificate.of(contact.kind, contact.stated(), claim, self.leaves, {"numbers": contact.numbers, **facts})


def motions(contact: SpatialContact) -> SpatialMotions:
    """Return all motions of a contact."""
    return _at_rest(contact) if contact.slip is None else _sliding(contact)


def _at_rest(contact: SpatialContact) -> SpatialMotions:
    """Return the motions of a contact at rest: detach, stick, grazing, slips, and arcs of slips."""
    resting = rest(contact)
    if not resting.decided:
        return SpatialMotions(undecided="degenerate: the reactions of rest come near the friction cone at infinity")
    equation = contact.equation()
    free = _unbound(contact, equation)
    if free:
        return SpatialMotions(undecided=free)
    found, leaves = [], []
    for part, leaf in (_detach(contact), _stick(contact, resting), _grazing(contact)):
        found += part
        leaves += leaf
    slips, sectors = _slips(contact, equation)
    fields = arcs(equation) if not equation.f else ()
    said = tuple(_degenerate(contact, equation, resting, bool(fields)))
    return SpatialMotions(
        motions=tuple(found + slips), arcs=fields, leaves=(*leaves, *sectors), degenerate="; ".join(said)
    )


Part = tuple[list[SpatialMotion], list[dict[str, Any]]]


def _detach(contact: SpatialContact) -> Part:
    if contact.q[0] <= 0:
        return [], [{"mode": "D", "refutation": ["1"]}]
    one = SpatialMotion(letter="D", motion=contact.q, reaction=(Fraction(0),) * 3)
    return [one], [{"mode": "D", "witness": text(contact.q)}]


def _stick(contact: SpatialContact, resting: Rest) -> Part:
    if resting.reaction is None:
        return [], [{"mode": "S", "refutation": text(resting.refutation or [])}]
    zero = (Fraction(0),) * 3
    one = SpatialMotion(letter="S", motion=zero, reaction=tuple(resting.reaction), forces_unique=resting.unique)
    return [one], [{"mode": "S", "witness": text(resting.reaction)}]


def _grazing(contact: SpatialContact) -> Part:
    """Slip without a reaction: u = q with q_n = 0."""
    if contact.q[0] or not any(contact.q):
        return [], []
    one = SpatialMotion(letter="+", motion=contact.q, reaction=(Fraction(0),) * 3)
    return [one], [{"mode": "+", "witness": text(contact.q)}]


def _slips(contact: SpatialContact, equation: SlipEquation) -> Part:
    """Return all slips with N > 0, and sectors of directions that hold one or none each."""
    if not equation.f:
        return [], [{"mode": "+", "slips": -1 if nonempty(equation) else 0}]
    found: list[SpatialMotion] = []
    cuts: list[Fraction] = []
    holds: list[int] = []
    for interval in isolate(equation.f):
        if count(equation.f, equation.positive, *interval):
            low, high = refine(equation.f, *interval, BITS)
            found.append(_slip(contact, equation, (low + high) / 2, (low, high)))
            cuts += [low, high]
            holds += [0, 1]
    if equation.at_infinity():
        found.append(_slip(contact, equation, None, None))
    ends = ["-inf", *text(cuts), "inf"]
    sectors = [
        {"mode": "+", "sector": [low, high], "slips": n}
        for low, high, n in zip(ends, ends[1:], [*holds, 0], strict=False)
    ]
    return found, [*sectors, {"mode": "+", "sector": ["inf", "inf"], "slips": int(equation.at_infinity())}]


def _slip(
    contact: SpatialContact, equation: SlipEquation, t: Fraction | None, sector: tuple[Fraction, Fraction] | None
) -> SpatialMotion:
    e, N = direction(t), equation.normal(t)
    r = (N, -contact.mu * N * e[0], -contact.mu * N * e[1])
    u = contact.motion(r)
    return SpatialMotion(letter="+", motion=(Fraction(0), *u[1:]), reaction=r, exact=t is None, sector=sector)


def _sliding(contact: SpatialContact) -> SpatialMotions:
    """Return all motions of a contact that slides: it detaches or slides on, r = N (1, -mu e)."""
    found, leaves = _detach(contact)
    x, y = contact.slip or (Fraction(0), Fraction(0))
    length = root(x * x + y * y)
    exact = length * length == x * x + y * y
    push = (Fraction(1), -contact.mu * x / length, -contact.mu * y / length)
    rates = [sign_of_root(row[0], -contact.mu * (row[1] * x + row[2] * y), x * x + y * y) for row in contact.W]
    q, ray, said = contact.q, None, "" if contact.q[0] else "degenerate: no normal load"
    if not rates[0]:
        said = "degenerate: friction exactly critical, the normal motion does not depend on the reaction"
        if not q[0]:
            moves = any(rates[1:])
            found.append(SpatialMotion(letter="L", motion=q, reaction=(Fraction(0),) * 3, forces_unique=moves))
            ray = (Fraction(0), *(dot(row, push) for row in contact.W[1:])) if moves else None
    elif rates[0] * q[0] <= 0:
        N = -q[0] / dot(contact.W[0], push)
        r = (N, N * push[1], N * push[2])
        u = (Fraction(0), *contact.motion(r)[1:])
        found.append(SpatialMotion(letter="L", motion=u, reaction=r, exact=exact))
    slides = -1 if ray is not None else sum(one.letter == "L" for one in found)
    leaf = {"mode": "L", "slides": slides}
    return SpatialMotions(motions=tuple(found), ray=ray, leaves=(*leaves, leaf), degenerate=said)


def sign_of_root(x: Fraction, y: Fraction, square: Fraction) -> int:
    """Return the sign of x + y / sqrt(square)."""
    z = x * abs(x) * square + y * abs(y)
    return (z > 0) - (z < 0)


def root(square: Fraction) -> Fraction:
    """Return the square root, exactly where it is rational, else with a relative error below 2^-BITS."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shift = 2 * (BITS + square.denominator.bit_length())
    return Fraction(isqrt((square.numerator << shift) // square.denominator), 1 << shift // 2)


def _unbound(contact: SpatialContact, equation: SlipEquation) -> str:
    """Return why slips are not decided: without normal load, N is free in some direction; "" if they are."""
    if contact.q[0]:
        return ""
    if not equation.f:
        return "degenerate: no normal load, and the normal motion depends on no reaction in slip"
    both = common(equation.top, equation.bottom)
    shared = common(equation.f, both)
    ends = [leading(p, degree) for p, degree in ((equation.f, 2), (equation.top, 4), (equation.bottom, 4))]
    if isolate(shared) or not any(ends):
        return "degenerate: no normal load, and any normal reaction goes with some direction of slip"
    return ""


def _degenerate(contact: SpatialContact, equation: SlipEquation, resting: Rest, arc: bool) -> Iterator[str]:
    """Yield what is special: what an arbitrarily small change of the data may change."""
    if arc:
        yield "degenerate: a continuum of slip directions"
    if not contact.q[0]:
        yield "degenerate: no normal load"
    if resting.border:
        yield "degenerate: rest is exactly at its friction limit"
    if resting.reaction is not None and not resting.unique:
        yield "degenerate: reactions balance each other without load"
    if equation.f and _double(equation):
        yield "degenerate: two slip directions coincide"
    elif equation.f and _on_border(equation):
        yield "degenerate: a slip direction on the border of being possible"


def _double(equation: SlipEquation) -> bool:
    """Whether a slip is a multiple root."""
    twice = common(equation.f, derivative(equation.f))
    top, below = leading(equation.f, equation.even[0]), leading(equation.f, equation.even[0] - 1)
    return count(twice, equation.positive) > 0 or (equation.at_infinity() and not top and not below)


def _on_border(equation: SlipEquation) -> bool:
    """Whether N or s is zero, and the other not negative, at a root."""
    f_end, *ends = equation.ends()
    if not f_end and min(ends) == 0:
        return True
    for g, h in (equation.positive, equation.positive[::-1]):
        shared = common(equation.f, g)
        if count(shared, [h]) or isolate(common(shared, h)):
            return True
    return False
