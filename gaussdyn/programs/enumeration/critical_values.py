"""Exact values of a parameter at which the number of solutions changes, e.g. the critical friction of a rod.

Where every mode's system is linear in the parameter, row by row, its determinant and the numerators of all its slacks
are polynomials. The count can change only at their real roots. The polynomials are found exactly by interpolation,
their roots by Sturm sequences, and the count is taken by enumeration between the roots and at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from ...errors import InputError
from ...linalg.sturm import Polynomial, isolate, refine, squarefree, trimmed, value
from ..proof.exact_linear import EQUAL
from .enumerate import System, enumerate_modes
from .modal_problem import ModalProblem

LARGEST = 1024  # modes
BITS = 80  # a root that is not rational is returned within 2^-BITS
SIMPLE = (10**3, 10**6, 10**9, 10**12)  # denominators of rational roots that are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Critical:
    """A value of the parameter at which the set of solutions changes.

    Attributes
    ----------
    value : Fraction
    exact : bool
        Whether `value` is the root itself, or an approximation within 2^-80.
    before, at, after : (verdict, count)
        Just below, at (if exact), and just above it.
    """

    value: Fraction
    exact: bool
    before: tuple[str, int | None]
    at: tuple[str, int | None] | None
    after: tuple[str, int | None]


def critical_values(
    make: Callable[[Fraction], ModalProblem], low: Fraction, high: Fraction, degree: int
) -> tuple[Critical, ...]:
    """Return all values in (low, high) at which the verdict or the count changes.

    Parameters
    ----------
    make : callable
        The problem for a value of the parameter; every condition must be linear in it.
    low, high : Fraction
    degree : int
        Largest number of rows of a mode that depend on the parameter.

    Raises
    ------
    InputError
        If the problem has too many modes.
    """
    roots = _Roots(make, low, high, degree).all()
    marks = [low, *(x for root in roots for x in (root.low, root.high)), high]
    between = [_count(make, (a + b) / 2) for a, b in pairwise(marks)][::2]
    found = []
    for root, (before, after) in zip(roots, pairwise(between), strict=True):
        at = _count(make, root.low) if root.low == root.high else None
        if before != after or at not in (None, before):
            value = (root.low + root.high) / 2
            found.append(Critical(value=value, exact=at is not None, before=before, at=at, after=after))
    return tuple(found)


def _count(make: Callable[[Fraction], ModalProblem], value: Fraction) -> tuple[str, int | None]:
    found = enumerate_modes(make(value))
    return found.verdict, found.count


@dataclass(frozen=True, slots=True, order=True)
class Root:
    """An interval with one root, or the root itself (low = high)."""

    low: Fraction
    high: Fraction


class _Roots:
    """Collects the roots of all determinants and slacks of all modes."""

    def __init__(self, make: Callable[[Fraction], ModalProblem], low: Fraction, high: Fraction, degree: int) -> None:
        self.low, self.high = low, high
        if make(low).size > LARGEST:
            raise InputError(
                "problem", f"{make(low).size} modes", f"at most {LARGEST}", "Leave contacts out: contacts=[...]."
            )
        self.nodes = [low + (high - low) * Fraction(k, degree + 2) for k in range(degree + 3)]
        self.systems = [System(make(x)) for x in self.nodes]

    def all(self) -> list[Root]:
        """Return all roots in (low, high), in order, without repetition."""
        distinct = {tuple(squarefree(p)) for p in self._polynomials()}
        return _apart(sorted({root for p in distinct for root in roots_between(p, self.low, self.high)}))

    def _polynomials(self) -> Iterator[Polynomial]:
        """Yield determinant and slack numerators of every mode as polynomials of the parameter."""
        blocks = self.systems[0].problem.blocks
        seen: set[tuple[Fraction, ...]] = set()
        for modes in product(*(range(len(block.modes)) for block in blocks)):
            samples = [_numerators(system, modes) for system in self.systems]
            for values in zip(*samples, strict=True):
                if any(values) and values not in seen:
                    seen.add(values)
                    polynomial = interpolate(self.nodes, values)
                    if len(polynomial) > 1:
                        yield polynomial


def _numerators(system: System, modes: tuple[int, ...]) -> list[Fraction]:
    """Return det and det * slack of every inequality of a mode; nothing but zeros if its system is not square."""
    rows = [
        [Fraction(x) / scale for x in row]
        for b, m in enumerate(modes)
        for row, scale in zip(system.rows[b][m], system.scales[b][m], strict=True)
    ]
    kinds = [kind for b, m in enumerate(modes) for kind in system.kinds[b][m]]
    equal = [row for row, kind in zip(rows, kinds, strict=True) if kind == EQUAL]
    others = [row for row, kind in zip(rows, kinds, strict=True) if kind != EQUAL]
    if len(equal) != system.n:
        return [Fraction(0)] * (1 + len(others))
    found = [determinant([row[:-1] for row in equal])]
    # det * (c.f - b) with A f = e is the determinant of [[A, e], [c, b]] with its sign turned
    return found + [-determinant([*equal, row]) for row in others]


def determinant(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the determinant of a square matrix."""
    left, value = [list(row) for row in rows], Fraction(1)
    while left:
        k = next((k for k, row in enumerate(left) if row[0]), None)
        if k is None:
            return Fraction(0)
        top = left.pop(k)
        value *= top[0] * (-1) ** k
        left = [[x - row[0] / top[0] * y for x, y in zip(row[1:], top[1:], strict=True)] for row in left]
    return value


def interpolate(nodes: Sequence[Fraction], values: Sequence[Fraction]) -> Polynomial:
    """Return the polynomial through the points, without leading zeros (Newton's divided differences)."""
    table = list(values)
    for k in range(1, len(nodes)):
        for i in range(len(nodes) - 1, k - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - k])
    result: list[Fraction] = []
    for c, x in zip(reversed(table), reversed(nodes), strict=True):
        shifted = [Fraction(0), *result]
        result = [a - x * b for a, b in zip(shifted, [*result, Fraction(0)], strict=True)]
        result = [result[0] + c, *result[1:]] if result else [c]
    return trimmed(result)


def roots_between(p: Sequence[int | Fraction], low: Fraction, high: Fraction) -> list[Root]:
    """Return the roots of a squarefree polynomial in (low, high): itself where it is rational and simple."""
    found = []
    for a, b in isolate(p):
        bits = BITS + int(max(abs(a), abs(b))).bit_length()
        a, b = refine(p, a, b, bits)
        guesses = [low, high, *(((a + b) / 2).limit_denominator(size) for size in SIMPLE)]
        exact = next((x for x in guesses if a < x < b and not value(p, x)), None)
        while exact is None and (a < low < b or a < high < b):  # on which side
            bits *= 2
            a, b = refine(p, a, b, bits)
        root = Root(a, b) if exact is None else Root(exact, exact)
        if low < root.high and root.low < high and exact not in (low, high):
            found.append(root)
    return found


def _apart(roots: list[Root]) -> list[Root]:
    """Leave out roots whose intervals overlap with the one before."""
    kept: list[Root] = []
    for root in roots:
        if not kept or root.low > kept[-1].high:
            kept.append(root)
        elif root.low == root.high:
            kept[-1] = root
    return kept
