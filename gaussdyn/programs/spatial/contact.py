"""One contact in space, exactly: u = W r + q with rows (n, t1, t2), at rest or slipping along a given direction.

In a beginning slip along e, r = N (1, -mu e) with N >= 0, u_n = 0 and u_t = s e with s > 0. Written with
e = E / D, E = (1 - t^2, 2 t), D = 1 + t^2, the directions are the real roots of a quartic in t = tan(angle / 2) at
which N and s are positive; the direction (-1, 0) is t = infinity.
Source: Ivanov, Bifurcations in systems with friction (2009), 5.4, corrected; Daviet, Bertails-Descoubes,
Boissieux (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..._show import brief
from ...linalg.rational import DOUBLES, dot, rational, rationals, text
from ...linalg.sturm import Polynomial, derivative, plus, times, value
from ..laws.laws import BilateralCoulomb, Coulomb
from ..problems.complementarity import ComplementarityProblem

Vector = Sequence[Fraction]
COSINE: Polynomial = [1, 0, -1]
SINE: Polynomial = [0, 2]
D: Polynomial = [1, 0, 1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialContact:
    """u = W r + q of one contact in space, with exact numbers.

    Attributes
    ----------
    W : rows of Fraction, shape (3, 3)
        Need be neither symmetric nor regular.
    q : Fraction, shape (3,)
    mu, mu_s : Fraction
        0 <= mu <= mu_s.
    slip : (x, y) or None
        Direction in which the contact slides, of any length; None at rest.
    kind, document : str, dict
        How certificates state it.
    numbers : str
        "rational", or how doubles were taken.
    """

    W: tuple[tuple[Fraction, ...], ...]
    q: tuple[Fraction, ...]
    mu: Fraction
    mu_s: Fraction
    slip: tuple[Fraction, Fraction] | None = None
    kind: str = "spatial_contact"
    document: dict[str, Any] = field(default_factory=dict)
    numbers: str = "rational"

    __repr__ = brief

    def motion(self, r: Vector) -> tuple[Fraction, ...]:
        """Return u = W r + q."""
        return tuple(dot(row, r) + x for row, x in zip(self.W, self.q, strict=True))

    def stated(self) -> dict[str, Any]:
        """Return the data as certificates hold them."""
        if self.document:
            return self.document
        document: dict[str, Any] = {"W": [text(row) for row in self.W], "q": text(self.q)}
        document.update(mu=str(self.mu), mu_s=str(self.mu_s), slip=None if self.slip is None else text(self.slip))
        return document

    def equation(self) -> SlipEquation:
        """Return the polynomials whose roots are the directions of a beginning slip."""
        return slip_equation(self.W, self.q, self.mu)


def block_contact(problem: ComplementarityProblem) -> SpatialContact | None:
    """Return a problem of one block in space, its doubles taken at their exact values; None if it is another one."""
    (law, *others) = problem.laws or (None,)
    if others or not isinstance(law, Coulomb) or isinstance(law, BilateralCoulomb) or law.dim != 3:
        return None
    dense = problem.W if hasattr(problem.W, "tolist") else problem.W.toarray()
    W, q = tuple(tuple(rationals(row)) for row in dense.tolist()), tuple(rationals(problem.q))
    return SpatialContact(W=W, q=q, mu=rational(law.mu), mu_s=rational(law.mu_s), numbers=DOUBLES)


@dataclass(frozen=True, slots=True, eq=False)
class SlipEquation:
    """Directions of a beginning slip with N > 0: f = 0 where all of `positive` are positive.

    Attributes
    ----------
    f : polynomial
    positive : two polynomials
        Signs of N and of the speed s.
    even : (int, (int, int))
        Even degrees up to which f and `positive` count: their leading coefficients are their values at t = infinity.
    top, bottom : polynomials
        N = top / bottom.
    """

    f: Polynomial
    positive: tuple[Polynomial, Polynomial]
    even: tuple[int, tuple[int, int]]
    top: Polynomial
    bottom: Polynomial

    def at_infinity(self) -> bool:
        """Whether the direction (-1, 0) is a slip."""
        return not self.ends()[0] and all(x > 0 for x in self.ends()[1:])

    def normal(self, t: Fraction | None) -> Fraction:
        """Return N at t; None is infinity."""
        if t is not None:
            return value(self.top, t) / value(self.bottom, t)
        even = max(len(self.top), len(self.bottom)) - 1
        return leading(self.top, even) / leading(self.bottom, even)

    def ends(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return the values of f and of `positive` in the direction (-1, 0), up to positive factors."""
        (g, h), (even, (even_g, even_h)) = self.positive, self.even
        return leading(self.f, even), leading(g, even_g), leading(h, even_h)

    def everywhere(self) -> Polynomial:
        """Return the polynomial among whose roots every arc on which `positive` are positive has one.

        It is the numerator of the derivative of their product over D^k, which vanishes at both ends of an arc.
        """
        product, half = times(*self.positive), sum(self.even[1]) // 2
        return plus(times(derivative(product), D), times([0, -2 * half], product))


def leading(p: Polynomial, degree: int) -> Fraction:
    """Return the coefficient of t^degree."""
    return Fraction(p[degree]) if len(p) > degree else Fraction(0)


def slip_equation(W: Sequence[Vector], q: Vector, mu: Fraction) -> SlipEquation:
    """Return the equation of the directions of slip, see the module; unknown N is eliminated."""
    E = (COSINE, SINE)
    A, *C = (plus(times(row[0], D), times(-mu * row[1], COSINE), times(-mu * row[2], SINE)) for row in W)
    if q[0]:  # N = -q_n D / A
        V = [plus(times(x, A), times(-q[0], c)) for x, c in zip(q[1:], C, strict=True)]
        f, speed = cross(E, V), plus(times(COSINE, V[0]), times(SINE, V[1]))
        return SlipEquation(f, (times(-q[0], A), times(-q[0], speed)), (4, (2, 4)), times(-q[0], D), A)
    load: list[Polynomial] = [[q[1]], [q[2]]]  # A = 0, and N from the balance across the slip
    side, friction = cross(E, load), cross(E, C)
    positive = times(-1, side, friction), times(cross(load, C), friction)
    return SlipEquation(A, positive, (2, (6, 6)), times(-1, D, side), friction)


def cross(a: Sequence[Polynomial], b: Sequence[Polynomial]) -> Polynomial:
    """Return a_1 b_2 - a_2 b_1."""
    return plus(times(a[0], b[1]), times(-1, a[1], b[0]))


def direction(t: Fraction | None) -> tuple[Fraction, Fraction]:
    """Return e at t = tan(angle / 2); (-1, 0) for None."""
    if t is None:
        return Fraction(-1), Fraction(0)
    return value(COSINE, t) / value(D, t), value(SINE, t) / value(D, t)
