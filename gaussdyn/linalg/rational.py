"""Exact rational arithmetic: numbers, elimination, ranks and null spaces.

Rows are lists of Python integers; a positive factor of a row never matters, so every row is kept free of common
divisors. Nothing here rounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, isfinite, lcm
from typing import Any

import numpy as np

from ..errors import InputError
from ..mends import write

NUMBER = re.compile(r"[+-]?[0-9]+(/[0-9]*[1-9][0-9]*)?")
DIGITS = 4300  # of a string that Python turns into an integer

SMALLEST, LARGEST = Fraction(1, 10**100), Fraction(10**100)
DOUBLES = "exact values of doubles"

Row = list[int]


def rational(value: Any, name: str = "number") -> Fraction:
    """Return the exact value of a rational string "p/q", an integer, or a double (dyadic).

    Raises
    ------
    InputError
        If `value` is none of these, or not finite.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str) and len(value) > DIGITS:
        raise InputError(
            name,
            f"{value[:20]}... of {len(value)} characters",
            f"at most {DIGITS} characters",
            f"Round it: {name}=float({name}).",
        )
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return Fraction(value.strip())
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, (float, np.floating)) and isfinite(value):
        return Fraction(float(value))
    raise InputError(
        name,
        repr(value),
        'a finite number or a rational string such as "3/2"',
        write(name, "'3/2'") if name.isidentifier() else "Write '3/2', or 1.5.",
    )


def rationals(values: Iterable[Any], name: str = "number") -> list[Fraction]:
    """Return the exact values of a sequence of numbers."""
    return [rational(value, f"{name}[{i}]") for i, value in enumerate(values)]


def sensible(name: str, value: Any) -> None:
    """Refuse numbers in nested data whose products leave the range of doubles; other data pass.

    Raises
    ------
    InputError
        A number of a magnitude above 1e100, or below 1e-100 and not zero.
    """
    if isinstance(value, Mapping):
        for key, entry in value.items():
            sensible(str(key), entry)
    elif isinstance(value, (list, tuple)):
        for i, entry in enumerate(value):
            sensible(f"{name}[{i}]", entry)
    elif _number(value) and not SMALLEST <= (abs(rational(value)) or 1) <= LARGEST:
        raise InputError(
            name, value, "0, or a magnitude of 1e-100 to 1e100", f"Take other units: {name} = 1e3 * {name}."
        )


def _number(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= DIGITS and NUMBER.fullmatch(value.strip()) is not None
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def numbers_of(values: Any) -> str:
    """Say whether nested data hold doubles (then their exact dyadic values are meant) or rationals only."""
    return DOUBLES if _has_doubles(values) else "rational"


def _has_doubles(values: Any) -> bool:
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, (list, tuple)):
        return any(_has_doubles(value) for value in values)
    return isinstance(values, float)


def text(values: Iterable[Fraction | int]) -> list[str]:
    """Return rational strings, as certificates hold them."""
    return [str(value) for value in values]


def dot(a: Sequence[Fraction | int], b: Sequence[Fraction | int]) -> Fraction:
    """Return the scalar product over the length of b (a row may carry its right-hand side at the end)."""
    return Fraction(sum(x * y for x, y in zip(a, b, strict=False) if x and y))


def integer_row(row: Sequence[Fraction | int]) -> tuple[Row, Fraction]:
    """Return the row as coprime integers and the positive factor `scale` with integers = scale * row."""
    bottom = lcm(*(x.denominator for x in row)) if row else 1
    whole = [x.numerator * (bottom // x.denominator) for x in row]
    common = gcd(*whole) or 1
    return [x // common for x in whole], Fraction(bottom, common)


def eliminate(rows: Sequence[Sequence[int]], columns: int) -> tuple[list[Row], list[int]]:
    """Return the reduced row echelon form over the first `columns` columns, and the pivot columns.

    Every returned row is a vector of coprime integers; rows without a pivot are left out.
    """
    left = [list(row) for row in rows]
    done: list[Row] = []
    pivots: list[int] = []
    for j in range(columns):
        best = min((r for r in left if r[j]), key=lambda r: abs(r[j]), default=None)
        if best is None:
            continue
        left = [_cleared(r, best, j) for r in left if r is not best]
        done = [_cleared(r, best, j) for r in done] + [best]
        pivots.append(j)
    return done, pivots


def _cleared(row: Row, pivot: Row, j: int) -> Row:
    """Return row minus a multiple of pivot so that column j vanishes; the row keeps its sign."""
    if not row[j]:
        return row
    common = gcd(row[j], pivot[j])
    a, b = pivot[j] // common, row[j] // common
    if a < 0:
        a, b = -a, -b
    new = [a * x - b * y for x, y in zip(row, pivot, strict=True)]
    common = gcd(*new)
    return [x // common for x in new] if common > 1 else new


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of integer rows."""
    return len(eliminate(rows, len(rows[0]))[1]) if rows else 0


def null_space(rows: Sequence[Sequence[int]], n: int) -> list[list[Fraction]]:
    """Return a basis of {x : rows x = 0} with x of size n."""
    reduced, pivots = eliminate(rows, n)
    basis = []
    for free in (j for j in range(n) if j not in pivots):
        x = [Fraction(0)] * n
        x[free] = Fraction(1)
        for row, j in zip(reduced, pivots, strict=True):
            x[j] = Fraction(-row[free], row[j])
        basis.append(x)
    return basis


def solve(rows: Sequence[Sequence[int]], n: int) -> list[Fraction] | None:
    """Return the only solution of A x = b, rows = [A | b] of width n + 1; None if there is none or more than one."""
    reduced, pivots = eliminate(rows, n + 1)
    if pivots != list(range(n)):
        return None
    return [Fraction(row[n], row[j]) for j, row in enumerate(reduced)]


def combinations(rows: Sequence[Sequence[int]], targets: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Return for every target, which must lie in the span of the rows, factors with sum factors rows = target."""
    whole = [integer_row(target) for target in targets]
    width = len(rows)
    columns = [[*column] for column in zip(*rows, *(target for target, _ in whole), strict=True)]
    reduced, pivots = eliminate(columns, width)
    found = []
    for k, (_, scale) in enumerate(whole):
        factors = [Fraction(0)] * width
        for row, j in zip(reduced, pivots, strict=True):
            factors[j] = Fraction(row[width + k], row[j]) / scale
        found.append(factors)
    return found


def null_vector(rows: Sequence[Sequence[int]], n: int, guess: Sequence[Fraction]) -> Row | None:
    """Return coprime integers x near a multiple of `guess` with rows x = 0; None if there is none but zero.

    Free coordinates of the null space take the values of `guess`, the others follow.
    """
    reduced, pivots = eliminate(rows, n)
    free = [j for j in range(n) if j not in set(pivots)]
    x = [Fraction(0)] * n
    for j in free:
        x[j] = guess[j] if len(free) > 1 or not guess[j] else Fraction(1 if guess[j] > 0 else -1)
    for row, j in zip(reduced, pivots, strict=True):
        x[j] = -sum((row[i] * x[i] for i in free if row[i]), Fraction(0)) / row[j]
    return integer_row(x)[0] if any(x) else None
