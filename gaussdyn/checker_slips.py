"""Proves how many motions have given slips of contacts in space: bounds of numbers and Krawczyk's operator.

Standard library only; part of `checker_spatial_several`. Unknown are the reactions of sticking contacts, and for every
slipping one N' = N / (1 + t^2) and the half-angle tangent t of its direction. With them reactions are
r = N' (1 + t^2, -mu c, -mu s), and the equations u = W r + q = 0 (held rows), c u_2 - s u_1 = 0 are polynomials.
Source: Neumaier, Interval Methods for Systems of Equations (1990), 5.1.
"""

from fractions import Fraction
from math import floor
from typing import Any

TILT = Fraction(1, 5)  # half-angle tangent of the turn of all charts: borders of sectors keep off symmetric directions
TURN = (1 - TILT**2) / (1 + TILT**2), 2 * TILT / (1 + TILT**2)  # its cosine and sine
BITS = 240  # behind the point
UNIT = 2**BITS
ROUNDS = 12
SINGULAR = 1e-13  # pivots of doubles
UNPROVED = None  # neither no motion nor one


def motions(data: Any, states: Any, held: Any) -> Any:
    """Return how many motions, 0 or 1, have these states (D, S, or a sector of slips), or UNPROVED."""
    return enclosed(Slips(data, states, held))[0]


def enclosed(mode: Any) -> Any:
    """Return how many motions there are, or UNPROVED, and a box around them."""
    box, inside = mode.start(), False
    for _ in range(ROUNDS if box else 0):
        near = mode.krawczyk(box)
        if near is None:
            break
        if apart(near, box):
            return 0, box
        inside = inside or within(near, box)
        old, box = box, cut(near, box)
        signs = [x.sign() for x in (*mode.signs(box), *mode.places(box))]
        if -1 in signs:
            return 0, box
        if inside and 0 not in signs:
            return 1, box
        if all(10 * (x.hi - x.lo) > 9 * (y.hi - y.lo) for x, y in zip(box, old, strict=True)):
            break  # it does not shrink: the sector is too wide
    return UNPROVED, box


def differ(data: Any, states: Any, held: Any, fixed: int, ends: Any, box: Any) -> bool:
    """Return whether for every N' of a contact between the ends there is one motion in the box, not always the same."""
    box = [bounds(lo, hi) for lo, hi in box]
    low, high = ends
    mode = Slips(data, states, held, {fixed: bounds(low, high)})
    near = mode.krawczyk(box) if low < high and len(box) == len(mode.unknown) else None
    if near is None or not within(near, box) or any(x.sign() < 1 for x in mode.signs(near)):
        return False
    found = []
    for end in ends:  # one that lies between rounded bounds is as good
        mode, at = Slips(data, states, held, {fixed: bounds(end)}), near
        for _ in range(ROUNDS):
            at = cut(mode.krawczyk(at) or at, at)
        found.append(mode.motion(at))
    return apart(*found)


def within(near: Any, box: Any) -> bool:
    """Return whether bounds lie inside others."""
    return all(x.lo < p.lo and p.hi < x.hi for p, x in zip(near, box, strict=True))


def apart(near: Any, box: Any) -> bool:
    """Return whether bounds have nothing in common with others."""
    return any(p.hi < x.lo or x.hi < p.lo for p, x in zip(near, box, strict=True))


def cut(near: Any, box: Any) -> Any:
    """Return what bounds have in common with others."""
    return [p.cut(x) for p, x in zip(near, box, strict=True)]


def numerators(sign: int, t: Any) -> Any:
    """Return the direction of a half-angle tangent in a chart, times 1 + t^2."""
    return turned((ONE - t.square()).signed(sign), (t + t).signed(sign))


def turned(c: Any, s: Any) -> Any:
    """Return a vector turned by the tilt of the charts."""
    return COSINE * c - SINE * s, SINE * c + COSINE * s


class Slips:
    """The equations of some contacts that slip in sectors, beside others that stick or detach.

    `unknown` names them: ("r", row) of sticking contacts, ("N", contact), then ("t", contact).
    """

    def __init__(self, data: Any, states: Any, held: Any, fixed: Any = None) -> None:
        W, q, mu, mu_s = data
        self.W = [[bounds(x) if x else None for x in row] for row in W]
        self.q, self.mu, self.mu_s = ([bounds(x) for x in values] for values in (q, mu, mu_s))
        self.states, self.held, self.fixed = states, held, fixed or {}
        self.slipping = [k for k, x in enumerate(states) if not isinstance(x, str)]
        self.unknown = [("r", 3 * k + i) for k, x in enumerate(states) if x == "S" for i in range(3)]
        self.unknown += [("N", k) for k in self.slipping if k not in self.fixed]
        self.linear = len(self.unknown)
        self.unknown += [("t", k) for k in self.slipping]

    def values(self, x: Any) -> Any:
        """Return N' and t of every slipping contact."""
        named = dict(zip(self.unknown, x, strict=True))
        return {k: (self.fixed.get(k, named.get(("N", k))), named["t", k]) for k in self.slipping}

    def push(self, k: int, t: Any) -> Any:
        """Return the reaction of a contact for N' = 1, by row."""
        c, s = numerators(self.states[k][0], t)
        return {3 * k: ONE + t.square(), 3 * k + 1: -(self.mu[k] * c), 3 * k + 2: -(self.mu[k] * s)}

    def turning(self, k: int, t: Any) -> Any:
        """Return the derivative of the direction times 1 + t^2."""
        sign = self.states[k][0]
        return turned((t + t).signed(-sign), (ONE + ONE).signed(sign))

    def reactions(self, x: Any) -> Any:
        """Return all reactions by row."""
        r = {i: value for (what, i), value in zip(self.unknown, x, strict=True) if what == "r"}
        for k, (N, t) in self.values(x).items():
            r |= {i: N * y for i, y in self.push(k, t).items()}
        return r

    def motion(self, x: Any) -> Any:
        """Return u."""
        r = self.reactions(x)
        return [self.moved(i, r) + end for i, end in enumerate(self.q)]

    def moved(self, i: int, r: Any) -> Any:
        """Return row i of W r."""
        return total(w * y for j, y in r.items() if (w := self.W[i][j]) is not None)

    def equations(self, x: Any) -> Any:
        """Return what is zero at a motion."""
        u, at = self.motion(x), self.values(x)
        across = [crossed(numerators(self.states[k][0], at[k][1]), u[3 * k + 1 : 3 * k + 3]) for k in self.slipping]
        return [u[i] for i in self.held] + across

    def jacobian(self, x: Any) -> Any:
        """Return the derivatives of `equations`."""
        u, at, columns = self.motion(x), self.values(x), []
        for what, k in self.unknown:
            if what == "r":
                change = {k: ONE}
            else:
                N, t = at[k]
                c, s = self.turning(k, t)
                slope = {3 * k: t + t, 3 * k + 1: -(self.mu[k] * c), 3 * k + 2: -(self.mu[k] * s)}
                change = self.push(k, t) if what == "N" else {i: N * y for i, y in slope.items()}
            column = [self.moved(i, change) for i in self.held]
            for m in self.slipping:
                moved = [self.moved(3 * m + i, change) for i in (1, 2)]
                across = crossed(numerators(self.states[m][0], at[m][1]), moved)
                if (what, k) == ("t", m):
                    across = across + crossed(self.turning(k, at[k][1]), u[3 * k + 1 : 3 * k + 3])
                column.append(across)
            columns.append(column)
        return [list(row) for row in zip(*columns, strict=True)]

    def start(self) -> Any:
        """Return a box that holds all motions of the sectors; None if the reactions are not bounded by it.

        With the directions given the held rows are linear in the other unknowns: A y = -q with A = 1 - E after a
        multiplication with an inverse C of its middle, so that |y - C b| <= |E| |y|, |y| <= |C b| / (1 - |E|).
        """
        turns = [bounds(*self.states[k][1:]).wider() for k in self.slipping]
        A = [row[: self.linear] for row in self.jacobian([ZERO] * self.linear + turns)][: self.linear]
        C = inverse(A)
        if C is None:
            return None
        E = [[x.size() for x in row] for row in rest(C, A)]
        b = [-self.q[i] for i in self.held]
        middle = [total(c * x for c, x in zip(row, b, strict=True)) for row in C]
        radius = radii(E, middle)
        if radius is None:
            return None
        return [Bounds(m.lo - 2 * r, m.hi + 2 * r) for m, r in zip(middle, radius, strict=True)] + turns

    def krawczyk(self, box: Any) -> Any:
        """Return bounds of all roots in the box; where they lie inside it there is exactly one. None if singular."""
        middle = [x.middle() for x in box]
        J = self.jacobian(box)
        P = inverse(J)
        if P is None:
            return None
        value, found = self.equations(middle), []
        for row, far, x in zip(P, rest(P, J), middle, strict=True):
            step = total(p * f for p, f in zip(row, value, strict=True))
            found.append(x - step + total(e * (y - m) for e, y, m in zip(far, box, middle, strict=True)))
        return found

    def signs(self, x: Any) -> Any:
        """Return what is positive at a motion of these modes."""
        u, r, at = self.motion(x), self.reactions(x), self.values(x)
        for k, state in enumerate(self.states):
            if state == "D":
                yield u[3 * k]
            elif state == "S":
                n, a, b = (r[3 * k + i] for i in range(3))
                yield from (n, (self.mu_s[k] * n).square() - a.square() - b.square())
            else:
                c, s = numerators(state[0], at[k][1])
                yield from (at[k][0], c * u[3 * k + 1] + s * u[3 * k + 2])

    def places(self, x: Any) -> Any:
        """Return what is positive inside the sectors."""
        for k, (_, t) in self.values(x).items():
            _, low, high = self.states[k]
            yield from (t - bounds(low), bounds(high) - t)


class Bounds:
    """A number between lo and hi, integers in units of 2^-BITS; all operations round outwards."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: int, hi: int) -> None:
        self.lo, self.hi = lo, hi

    def __add__(self, other: Any) -> Any:
        return Bounds(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Any:
        return Bounds(-self.hi, -self.lo)

    def __sub__(self, other: Any) -> Any:
        return Bounds(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other: Any) -> Any:
        ends = (self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi)
        return Bounds(min(ends) >> BITS, -(-max(ends) >> BITS))

    def square(self) -> Any:
        """Return its square."""
        low, high = sorted((abs(self.lo), abs(self.hi)))
        return Bounds(0 if self.lo < 0 < self.hi else low * low >> BITS, -(-high * high >> BITS))

    def signed(self, sign: int) -> Any:
        """Return the bounds, or those of the negative number."""
        return self if sign > 0 else -self

    def size(self) -> int:
        """Return the largest magnitude, in units."""
        return max(abs(self.lo), abs(self.hi))

    def cut(self, other: Any) -> Any:
        """Return what both hold."""
        return Bounds(max(self.lo, other.lo), min(self.hi, other.hi))

    def middle(self) -> Any:
        """Return a number in the middle."""
        return Bounds(half := (self.lo + self.hi) // 2, half)

    def wider(self) -> Any:
        """Return bounds half as wide again: a root near the border of a sector lies inside its box."""
        quarter = (self.hi - self.lo) // 4
        return Bounds(self.lo - quarter, self.hi + quarter)

    def sign(self) -> int:
        """Return 1 or -1 where both ends have that sign, else 0."""
        return int(self.lo > 0) - int(self.hi < 0)


def bounds(lo: Any, hi: Any = None) -> Bounds:
    """Return the bounds of an exact number, or of those between two."""
    return Bounds(floor(lo * UNIT), -floor(-(lo if hi is None else hi) * UNIT))


ZERO, ONE = Bounds(0, 0), Bounds(UNIT, UNIT)
COSINE, SINE = (bounds(x) for x in TURN)


def total(terms: Any) -> Any:
    """Return a sum."""
    lo = hi = 0
    for x in terms:
        lo, hi = lo + x.lo, hi + x.hi
    return Bounds(lo, hi)


def crossed(a: Any, b: Any) -> Any:
    """Return a_1 b_2 - a_2 b_1."""
    return a[0] * b[1] - a[1] * b[0]


def rest(C: Any, A: Any) -> Any:
    """Return bounds of 1 - C A."""
    columns = [*zip(*A, strict=True)]
    return [
        [(ONE if i == j else ZERO) - total(c * x for c, x in zip(row, column, strict=True))
         for j, column in enumerate(columns)]
        for i, row in enumerate(C)
    ]  # fmt: skip


def radii(E: Any, middle: Any) -> Any:
    """Return how far y is from the middle at most where |y - middle| <= E |y|; None where E does not bound it."""
    contraction = max(map(sum, E))
    if contraction >= UNIT:
        return None
    bound = [max(x.size() for x in middle) * UNIT // (UNIT - contraction) + 1] * len(middle)
    for _ in range(2):
        radius = [sum(e * y for e, y in zip(row, bound, strict=True)) // UNIT + 1 for row in E]
        bound = [m.size() + r for m, r in zip(middle, radius, strict=True)]
    return radius


def inverse(A: Any) -> Any:
    """Return nearly the inverse of the middle of bounds, None if it is singular (any C is right in `rest`)."""
    n = len(A)
    rows = [[(x.lo + x.hi) / 2 / UNIT for x in row] + [float(i == j) for j in range(n)] for i, row in enumerate(A)]
    for j in range(n):
        p = max(range(j, n), key=lambda i: abs(rows[i][j]))
        if not abs(rows[p][j]) > SINGULAR * max(map(abs, rows[p][:n])):
            return None
        rows[j], rows[p] = rows[p], rows[j]
        rows[j] = [x / rows[j][j] for x in rows[j]]
        rows = [
            row if i == j else [x - row[j] * y for x, y in zip(row, rows[j], strict=True)] for i, row in enumerate(rows)
        ]
    return [[Bounds(x := floor(Fraction(y) * UNIT), x) for y in row[n:]] for row in rows]
