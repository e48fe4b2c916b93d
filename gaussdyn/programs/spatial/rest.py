"""Rest of one contact in space, exactly: is there an r in the friction cone with W r = -q, and a proof if not.

The cone is {r : |r_t| <= mu r_n}. A refutation is y with k = W^T y in the dual cone, |k_t| mu <= k_n, and y.q > 0:
every r of the cone would give 0 <= k.r = -y.q < 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ...linalg.rational import dot, eliminate, integer_row, null_space
from .contact import SpatialContact

Numbers = Sequence[Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """What is known about rest.

    Attributes
    ----------
    reaction : list of Fraction or None
        An r of the cone with W r = -q.
    refutation : list of Fraction or None
        y that proves that there is none.
    unique : bool
        Whether there is only one such r.
    border : bool
        Whether r lies on the border of the cone.
    """

    reaction: list[Fraction] | None = None
    refutation: list[Fraction] | None = None
    unique: bool = True
    border: bool = False

    @property
    def decided(self) -> bool:
        """Whether there is a reaction or a refutation."""
        return self.reaction is not None or self.refutation is not None


def rest(contact: SpatialContact) -> Rest:
    """Decide whether the contact can rest; undecided only where the reactions come near the cone at infinity."""
    rows = [integer_row([*row, -x])[0] for row, x in zip(contact.W, contact.q, strict=True)]
    r = _particular(rows)
    if r is None:  # the rows of W contradict each other: y W = 0, y.q = 1
        y = next(y for y in null_space(_columns(contact.W), 3) if dot(y, contact.q))
        return Rest(refutation=[x / dot(y, contact.q) for x in y])
    free = null_space([row[:3] for row in rows], 3)
    found = (_point, _line, _plane, _space)[len(free)](r, free, contact.mu_s)
    if isinstance(found, Rest):
        return found
    columns = zip(zip(*contact.W, strict=True), found, strict=True)
    return Rest(refutation=_particular([integer_row([*column, x])[0] for column, x in columns]))


Found = Rest | list[Fraction]  # or k of the dual cone, a combination of the rows of W, with k.r < 0


def square(r: Numbers, other: Numbers, mu: Fraction) -> Fraction:
    """Return mu^2 r_n s_n - r_t.s_t; with itself >= 0 inside the double cone."""
    return mu * mu * r[0] * other[0] - r[1] * other[1] - r[2] * other[2]


def in_cone(r: Numbers, mu: Fraction) -> bool:
    """Whether |r_t| <= mu r_n."""
    return r[0] >= 0 and square(r, r, mu) >= 0


def _columns(W: Sequence[Numbers]) -> list[list[int]]:
    return [integer_row(column)[0] for column in zip(*W, strict=True)]


def _particular(rows: Sequence[Sequence[int]]) -> list[Fraction] | None:
    """Return a solution of [A | b], the free unknowns zero, or None."""
    n = len(rows[0]) - 1
    reduced, pivots = eliminate(rows, n + 1)
    if n in pivots:
        return None
    x = [Fraction(0)] * n
    for row, j in zip(reduced, pivots, strict=True):
        x[j] = Fraction(row[n], row[j])
    return x


def _point(r: list[Fraction], _free: object, mu: Fraction) -> Found:
    """W regular: the only r lies in the cone, or a plane parts it from the cone."""
    if in_cone(r, mu):
        return Rest(reaction=r, border=square(r, r, mu) == 0)
    return parting(r, mu)


def parting(r: Numbers, mu: Fraction) -> list[Fraction]:
    """Return k of the dual cone with k.r < 0 for an r outside the cone."""
    side = r[1] * r[1] + r[2] * r[2]
    if not side:
        return [Fraction(1), Fraction(0), Fraction(0)]
    most = side / (mu * r[0]) if mu * r[0] > 0 else None  # |r_t| <= rho < most
    return [mu * root_above(side, most), -r[1], -r[2]]


def root_above(square: Fraction, most: Fraction | None) -> Fraction:
    """Return a rational number rho with sqrt(square) <= rho < most (most > sqrt(square), None: infinite)."""
    bits = 8
    while True:
        rho = Fraction(isqrt((square.numerator << 2 * bits) // square.denominator) + 1, 1 << bits)
        if most is None or rho < most:
            return rho
        bits *= 2


def _line(r: list[Fraction], free: list[list[Fraction]], mu: Fraction) -> Found:
    """W of rank 2: a line of reactions r + s n."""
    n = _inward(free[0])
    a, b, c = square(n, n, mu), square(n, r, mu), square(r, r, mu)
    if mu == 0:
        return _frictionless_line(r, n)
    if a > 0 or (a == 0 and b > 0):  # towards the inside of the cone
        return Rest(reaction=_far_along(r, n, mu), unique=False)
    if a == 0:
        if b < 0 or c < 0:
            return [mu * mu * n[0], -n[1], -n[2]] if b < 0 else Rest()
        return Rest(reaction=_far_along(r, n, mu), unique=False, border=True)
    middle = [x - b / a * y for x, y in zip(r, n, strict=True)]  # where the line comes nearest to the axis
    inside = square(middle, middle, mu)
    if inside >= 0 and middle[0] >= 0:
        return Rest(reaction=middle, unique=inside == 0, border=inside == 0)
    return _parting_line(middle, n, inside, mu)


def _inward(n: list[Fraction]) -> list[Fraction]:
    """Return the direction of a line that points to larger normal forces, if one does."""
    if n[0] < 0 or (n[0] == 0 and any(x < 0 for x in n)):
        return [-x for x in n]
    return n


def _frictionless_line(r: list[Fraction], n: list[Fraction]) -> Found:
    """The same for mu = 0, where the cone is the ray of (1, 0, 0)."""
    side = n[1] * n[1] + n[2] * n[2]
    step = -(r[1] * n[1] + r[2] * n[2]) / side if side else max(Fraction(0), -r[0])
    middle = [x + step * y for x, y in zip(r, n, strict=True)]
    if any(middle[1:]):
        return [Fraction(0), -middle[1], -middle[2]]
    if middle[0] >= 0:
        return Rest(reaction=middle, unique=bool(side), border=True)
    return [Fraction(1), -n[0] * n[1] / side, -n[0] * n[2] / side]


def _far_along(r: list[Fraction], n: list[Fraction], mu: Fraction) -> list[Fraction]:
    s = Fraction(0)
    while not in_cone([x + s * y for x, y in zip(r, n, strict=True)], mu):
        s = 2 * s + 1
    return [x + s * y for x, y in zip(r, n, strict=True)]


def _parting_line(middle: list[Fraction], n: list[Fraction], inside: Fraction, mu: Fraction) -> list[Fraction]:
    """Return k of the dual cone with k.n = 0 and k.middle < 0."""
    if inside >= 0:
        return [-mu * mu * middle[0], middle[1], middle[2]]
    m = _orthogonal(n, middle, mu)
    step = Fraction(1)
    while square(m, m, mu) + step * step * inside < 0:
        step /= 2
    x = [a + step * b for a, b in zip(m, middle, strict=True)]
    return [mu * mu * x[0], -x[1], -x[2]]


def _orthogonal(a: Numbers, b: Numbers, mu: Fraction) -> list[Fraction]:
    """Return m with m_n > 0 that is orthogonal to a and b in the sense of `square`."""
    (p, q, r), (x, y, z) = ([mu * mu * a[0], -a[1], -a[2]], [mu * mu * b[0], -b[1], -b[2]])
    m = [q * z - r * y, r * x - p * z, p * y - q * x]
    return m if m[0] > 0 else [-w for w in m]


def _plane(r: list[Fraction], free: list[list[Fraction]], mu: Fraction) -> Found:
    """W of rank 1: a plane k.r = c of reactions."""
    k = null_space([integer_row(n)[0] for n in free], 3)[0]
    c = dot(k, r)
    if c == 0:
        return Rest(reaction=[Fraction(0)] * 3, unique=mu * mu * (k[1] ** 2 + k[2] ** 2) < k[0] ** 2)
    if c < 0:
        k, c = [-x for x in k], -c
    side = k[1] * k[1] + k[2] * k[2]
    if k[0] <= 0 and mu * mu * side <= k[0] * k[0]:  # -k in the dual cone
        return [-x for x in k]
    if not side:
        return Rest(reaction=[c / k[0], Fraction(0), Fraction(0)], unique=mu == 0)
    most = mu * side / -k[0] if k[0] < 0 else None
    rho = root_above(side, most)
    inner = [Fraction(1), mu * k[1] / rho, mu * k[2] / rho]
    return Rest(reaction=[c / dot(k, inner) * x for x in inner], unique=mu == 0)


def _space(_r: object, _free: object, _mu: Fraction) -> Found:
    """W = 0, and q = 0."""
    return Rest(reaction=[Fraction(0)] * 3, unique=False)
