"""Real roots of polynomials with rational coefficients, exactly: counts, counts under sign conditions, isolation.

A polynomial is a list of coefficients, the constant first, without zeros at the end; [] is zero. A place on the line
is a Fraction, or INFINITY or -INFINITY. Sources: Sturm (1829); Tarski (1951); Basu, Pollack, Roy, Algorithms in Real
Algebraic Geometry (2006), chapter 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

from .rational import integer_row

Number = Fraction | int
Polynomial = list[Number]
Place = Fraction | float
INFINITY = float("inf")


def trimmed(p: Sequence[Number]) -> Polynomial:
    """Return the polynomial without zeros at its end."""
    end = len(p)
    while end and not p[end - 1]:
        end -= 1
    return list(p[:end])


def plus(*terms: Sequence[Number]) -> Polynomial:
    """Return the sum."""
    found: Polynomial = [0] * max(map(len, terms), default=0)
    for term in terms:
        for i, x in enumerate(term):
            found[i] += x
    return trimmed(found)


def times(*factors: Sequence[Number] | Number) -> Polynomial:
    """Return the product; a number counts as a constant."""
    found: Polynomial = [1]
    for factor in factors:
        p = [factor] if isinstance(factor, (Fraction, int)) else factor
        new: Polynomial = [0] * max(len(found) + len(p) - 1, 0)
        for i, x in enumerate(found):
            for j, y in enumerate(p):
                new[i + j] += x * y
        found = trimmed(new)
    return found


def derivative(p: Sequence[Number]) -> Polynomial:
    """Return p'."""
    return [i * x for i, x in enumerate(p)][1:]


def primitive(p: Sequence[Number]) -> list[int]:
    """Return p times the positive number that makes its coefficients coprime integers."""
    return integer_row(p)[0] if p else []


def remainder(p: Sequence[int], q: Sequence[int]) -> list[int]:
    """Return p modulo q times a positive number, primitive; both with integer coefficients."""
    rest, last = list(p), abs(q[-1])
    while len(rest) >= len(q):
        shift, factor = len(rest) - len(q), rest[-1] if q[-1] > 0 else -rest[-1]
        rest = [last * x - factor * q[i - shift] if i >= shift else last * x for i, x in enumerate(rest[:-1])]
        while rest and not rest[-1]:
            rest.pop()
    return primitive(rest)


def common(p: Sequence[Number], q: Sequence[Number]) -> list[int]:
    """Return the greatest common divisor, up to a factor."""
    a, b = primitive(trimmed(p)), primitive(trimmed(q))
    while b:
        a, b = b, remainder(a, b)
    return a


def squarefree(p: Sequence[Number]) -> Polynomial:
    """Return a polynomial with the same roots, each once."""
    twice = common(p, derivative(p))
    rest, found = trimmed(p), [Fraction(0)] * (len(p) - len(twice) + 1)
    while rest:
        shift = len(rest) - len(twice)
        found[shift] = Fraction(rest[-1]) / twice[-1]
        rest = plus(rest[:-1], times([0] * shift + [-found[shift]], twice[:-1]))
    return list(primitive(found))


def value(p: Sequence[Number], x: Fraction) -> Fraction:
    """Return p(x)."""
    total: Number = 0
    bottom, power = x.denominator, 1  # one fraction at the end
    for a in reversed(p):
        total = total * x.numerator + a * power
        power *= bottom
    return Fraction(total * bottom, power)


def sign(p: Sequence[Number], x: Place) -> int:
    """Return the sign of p at a place, at infinity that of its leading term."""
    if not p:
        return 0
    if isinstance(x, (Fraction, int)):
        y: Number = value(p, Fraction(x))
    else:
        y = p[-1] if x > 0 or len(p) % 2 else -p[-1]
    return (y > 0) - (y < 0)


def tarski(f: Sequence[Number], g: Sequence[Number], low: Place, high: Place) -> int:
    """Return #{f = 0, g > 0} - #{f = 0, g < 0} between two places where f is not zero; roots count once."""
    whole = primitive(f)
    chain = [whole, remainder(primitive(times(derivative(whole), g)), whole)]
    while chain[-1]:
        chain.append([-x for x in remainder(chain[-2], chain[-1])])
    return _variations(chain, low) - _variations(chain, high)


def _variations(chain: Sequence[Sequence[Number]], x: Place) -> int:
    signs = [s for p in chain if (s := sign(p, x))]
    return sum(a != b for a, b in pairwise(signs))


def count(
    f: Sequence[Number], positive: Sequence[Sequence[Number]], low: Place = -INFINITY, high: Place = INFINITY
) -> int:
    """Return the number of roots of f between two places (no roots themselves) where all of `positive` are > 0.

    Roots count once. [g > 0] = (sign g^2 + sign g) / 2, so this is a mean of Tarski queries over products.
    """
    if len(f) < 2:
        return 0
    f = primitive(f)
    reduced = [remainder(primitive(g), f) for g in positive]
    total = 0
    for powers in product((1, 2), repeat=len(reduced)):
        g = [1]
        for factor, power in zip(reduced, powers, strict=True):
            g = remainder(primitive(times(g, *[factor] * power)), f)
        total += tarski(f, g, low, high)
    return total >> len(reduced)


def isolate(f: Sequence[Number]) -> list[tuple[Fraction, Fraction]]:
    """Return disjoint open intervals, in order, each around one distinct real root of f; their ends are no roots."""
    if len(f) < 2:
        return []
    bound = 2 + max(abs(Fraction(x) / f[-1]) for x in f[:-1])
    left, found = [(-bound, bound, count(f, [], -bound, bound))], []
    while left:
        low, high, roots = left.pop()
        if roots == 1:
            found.append((low, high))
        elif roots:
            middle = _no_root(f, low, high)
            first = count(f, [], low, middle)
            left += [(low, middle, first), (middle, high, roots - first)]
    return sorted(found)


def _no_root(f: Sequence[Number], low: Fraction, high: Fraction) -> Fraction:
    """Return a place near the middle of an interval that is no root."""
    part = Fraction(1, 2)
    while not value(f, low + part * (high - low)):
        part = part * Fraction(15, 16)
    return low + part * (high - low)


def refine(f: Sequence[Number], low: Fraction, high: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return a smaller interval around the only root between low and high, of width 2^-bits max(1, |root|) at most."""
    f = squarefree(f)  # it changes its sign at every root
    width = Fraction(1, 2**bits)
    at_low = sign(f, low)
    while high - low > width * max(Fraction(1), abs(low)):
        middle = (low + high) / 2
        middle = Fraction(round(middle * 2 ** (bits + 8)), 2 ** (bits + 8))  # short numbers
        here = sign(f, middle)
        if here == 0:
            low, high = max(low, middle - width / 4), min(high, middle + width / 4)
            break
        low, high = (middle, high) if here == at_low else (low, middle)
    return low, high
