"""All simultaneous slips of a few contacts in space, by branch and prune over their directions.

With the directions e_k given, u_n = 0 is linear in the normal reactions. By Cramer's rule N_k = n_k / d, and with
U_k = d q_tk + sum_l c_kl n_l the motions are the roots of G_k = e_k x U_k at which n_k / d > 0 and e_k.U_k / d > 0. All
of these are trigonometric polynomials: no division. Boxes of directions are cut where enclosures contradict that;
Krawczyk's operator proves that a box holds exactly one root. Two further tests keep boxes from piling up: u_n = 0
and e_k x u_k = 0 are 2 p equations for p unknown N_k, so all their minors vanish (where d and all n vanish, G says
nothing); and y.u = y.q for y W = 0, where contacts of one body are coupled: combinations of these alone refute all
directions but those of its rigid motions. What is left when the boxes are
too many or too small is returned: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...linalg.interval_fields import Field, constant, cosine_and_sine
from ...linalg.intervals import Interval, cos, sin
from ...linalg.rational import dot, integer_row, null_space

START = {1: 64, 2: 16, 3: 8, 4: 6}  # sectors per contact at the start
OVERLAP = 1.25  # boxes reach beyond their neighbours' borders, so that no root lies on a border of all
ROUNDING = 1e-14
SMALLEST = 1e-6  # rad
BOXES = 60_000  # at once
REGULAR = 1e-10  # of the squares of couplings: where they do not determine a combination any will do

Matrix = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slips:
    """Roots of p contacts that slip together.

    Attributes
    ----------
    angles, radius : Array, shape (k, p)
        Enclosures of the roots with N > 0 and s > 0, rad.
    left : Array, shape (j, p)
        Centres of boxes that are not decided; empty if the list is complete.
    boxes : int
        Boxes looked at.
    """

    angles: Array
    radius: Array
    left: Array
    boxes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fields:
    """Enclosures over boxes: G and speeds S per contact, numerators n and their denominator d, and what tests need.

    `minors` vanish at a motion; `couples` holds y_k.e_k for every y with y.u = 0.
    """

    G: list[Field]
    minors: list[Field]
    couples: list[list[Field]]
    S: list[Field]
    n: list[Field]
    d: Field

    @property
    def signs(self) -> Array:
        """Signs that must agree, shape (1 + 2 p, m): d, n, S; 0 where not known."""
        return np.array([f.sign() for f in (self.d, *self.n, *self.S)])


@dataclass(frozen=True, kw_only=True, eq=False)
class SlipSystem:
    """u = W r + q of p contacts that all slip, rows (n, t1, t2) each."""

    W: Matrix
    q: Sequence[Fraction]
    mu: Sequence[Fraction]

    def fields(self, lo: Array, hi: Array) -> Fields:
        """Return the enclosures over boxes of angles, shape (m, p)."""
        m, p = lo.shape
        turn = [cosine_and_sine(lo[:, k], hi[:, k], k, p) for k in range(p)]
        zero = constant(Fraction(0), p, m)

        def pushed(row: int, k: int) -> Field:
            """Motion in a row for a unit normal reaction of contact k."""
            W, f = self.W[row], self.mu[k]
            parts = [constant(W[3 * k], p, m)]
            parts += [constant(-f * x, p, m) * e for x, e in zip(W[3 * k + 1 : 3 * k + 3], turn[k], strict=True) if x]
            return sum(parts[1:], parts[0])

        A = [[pushed(3 * i, k) for k in range(p)] for i in range(p)]
        load = [constant(-self.q[3 * i], p, m) for i in range(p)]
        d = _determinant(A)
        n = [_determinant([[*row[:k], b, *row[k + 1 :]] for row, b in zip(A, load, strict=True)]) for k in range(p)]
        along = [[pushed(row, k) for k in range(p)] + [constant(self.q[row], p, m)] for row in range(3 * p) if row % 3]
        G, S, across = [], [], []
        for i, (cosine, sine) in enumerate(turn):
            x, y = along[2 * i : 2 * i + 2]
            across.append([cosine * b - sine * a for a, b in zip(x, y, strict=True)])
            U = [sum((a * b for a, b in zip(row, n, strict=False)), row[-1] * d + zero) for row in (x, y)]
            G.append(cosine * U[1] - sine * U[0])
            S.append(cosine * U[0] + sine * U[1])
        normal = [[*row, -b] for row, b in zip(A, load, strict=True)]
        minors = [
            _determinant([*some, *pair]) for some in combinations(normal, p - 1) for pair in combinations(across, 2)
        ]
        couples = [
            [constant(a, p, m) * c + constant(b, p, m) * s for a, b, (c, s) in zip(y[1::3], y[2::3], turn, strict=True)]
            for y in self.coupled
        ]
        return Fields(G=G, S=S, n=n, d=d, minors=minors, couples=couples)

    def reactions(self, angle: Array, radius: Array) -> list[Field]:
        """Return enclosures of all reactions at a root, as fields of one box without gradient."""
        at, found = self.fields((angle - radius)[None], (angle + radius)[None]), []
        for k, n in enumerate(at.n):
            N = Field((n.value / at.d.value)[None])
            way = Interval(angle - radius, angle + radius)[k : k + 1]
            friction = [constant(-self.mu[k], 0, 1) * Field(e(way)[None]) * N for e in (cos, sin)]
            found += [N, *friction]
        return found

    @cached_property
    def coupled(self) -> list[list[Fraction]]:
        """Vectors y with y W = 0 and y.q = 0, so that y.u = 0."""
        columns = [integer_row([row[j] for row in self.W])[0] for j in range(len(self.q))]
        return [y for y in null_space(columns, len(self.q)) if dot(y, self.q) == 0]

    @cached_property
    def couplings(self) -> Array:
        """The tangential parts of those vectors, of length one, shape (j, p, 2): their normal parts meet u_n = 0."""
        rows = np.zeros((len(self.coupled), len(self.mu), 2))
        for row, y in zip(rows, self.coupled, strict=True):
            row[:, 0], row[:, 1] = [float(x) for x in y[1::3]], [float(x) for x in y[2::3]]
        sizes = np.sqrt((rows * rows).sum(axis=(1, 2)))
        return np.asarray(rows[sizes > 0.0] / sizes[sizes > 0.0, None, None])


def uncoupled(Y: Array, c: Array, r: float) -> NDArray[np.bool_]:
    """Return the boxes of directions in which no speeds s > 0 obey all couplings, sum_k s_k y_k.e_k = 0 for every y.

    A combination z of the couplings whose coefficients are positive for every direction of the box refutes it
    (Gordan); the one that makes them all 1 at the centre is tried, and a turn by r changes one by |z.y_k| r at most.

    Parameters
    ----------
    Y : Array, shape (j, p, 2)
        The tangential parts of the vectors y.
    c : Array, shape (m, p)
        Centres of the boxes, rad.
    r : float
        Half their size.
    """
    if not len(Y) or not len(c):
        return np.zeros(len(c), dtype=bool)
    e = np.stack([np.cos(c), np.sin(c)], axis=-1)
    C = np.einsum("jka,mka->mjk", Y, e)
    gram = np.einsum("mji,mjk->mik", C, C)
    eye = np.eye(c.shape[1])
    z = np.einsum("mjk,mk->mj", C, np.linalg.solve(gram + REGULAR * eye, np.ones((len(c), len(eye), 1)))[..., 0])
    pull = np.einsum("mj,jka->mka", z, Y)
    size = np.einsum("mj,jk->mk", np.abs(z), np.abs(Y).sum(axis=2))
    least = np.einsum("mka,mka->mk", pull, e) - np.linalg.norm(pull, axis=2) * r - 1e3 * ROUNDING * size
    return np.asarray((least > 0.0).all(axis=1), dtype=bool)


def _determinant(A: list[list[Field]]) -> Field:
    if len(A) == 1:
        return A[0][0]
    terms = [row[0] * _determinant([[*other[1:]] for other in A if other is not row]) for row in A]
    found = terms[0]
    for i, term in enumerate(terms[1:], start=1):
        found = found - term if i % 2 else found + term
    return found


def slips(system: SlipSystem, boxes: int = BOXES) -> Slips:
    """Return all motions in which all contacts of the system slip."""
    p = len(system.mu)
    step = 2 * pi / START[p]
    cells = np.stack(np.meshgrid(*[np.arange(START[p])] * p, indexing="ij"), axis=-1).reshape(-1, p)
    c: Any = (cells + 0.5) * step - pi
    half, looked = step / 2, 0
    roots: list[tuple[Array, Array, Array, Array]] = []  # box centre, its radius, enclosure
    while len(c):
        c = c[~uncoupled(system.couplings, c, half * OVERLAP)]
        looked += len(c)
        c, found = _pass(system, c, half * OVERLAP) if len(c) else (c, [])
        roots += found
        if len(c) and (half < SMALLEST or len(c) * 2**p > boxes):
            return _result(system, roots, c, looked)
        half /= 2
        corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * p, indexing="ij"), axis=-1).reshape(-1, p)
        c = (c[:, None, :] + half * corners).reshape(-1, p)
    return _result(system, roots, c, looked)


Root = tuple[Array, Array, Array, Array]


def _pass(system: SlipSystem, c: Array, r: float) -> tuple[Array, list[Root]]:
    """Return the centres of the boxes that must be split, and the boxes proved to hold one root each."""
    wide = system.fields(c - r, c + r)
    at = system.fields(c, c)
    keep = np.logical_not(_excluded(wide, at, r))
    c, wide, at = c[keep], _chosen(wide, keep), _chosen(at, keep)
    if not len(c):
        return c, []
    centre, radius = _krawczyk(wide, at, c, r)
    inside = (np.abs(centre - c) + radius < r * (1 - ROUNDING)).all(axis=1)
    outside = (np.abs(centre - c) - radius > r * (1 + ROUNDING)).any(axis=1)
    found = [(c[i], np.full(c.shape[1], r), centre[i], radius[i]) for i in np.flatnonzero(inside)]
    return c[~inside & ~outside], found


def _chosen(fields: Fields, keep: Array) -> Fields:
    return Fields(
        G=[f[keep] for f in fields.G], S=[f[keep] for f in fields.S], n=[f[keep] for f in fields.n], d=fields.d[keep],
        minors=[f[keep] for f in fields.minors], couples=[[f[keep] for f in y] for y in fields.couples],
    )  # fmt: skip


def _mean_value(wide: Field, at: Field, r: float) -> Field:
    """Return the enclosure f(c) + f'(box) (box - c), cut with the plain one."""
    slope, value, middle = wide.slope, wide.value, at.value
    reach = r * np.maximum(np.abs(slope.lo), np.abs(slope.hi)).sum(axis=0) * (1 + ROUNDING)
    near = Interval(np.maximum(middle.lo - reach, value.lo), np.minimum(middle.hi + reach, value.hi))
    return Field(near[None])


def _excluded(wide: Fields, at: Fields, r: float) -> Array:
    """Return the boxes without a motion: G is not zero, or d, n and S have not all the same sign."""
    zero = zip([*wide.G, *wide.minors], [*at.G, *at.minors], strict=True)
    alike = zip([wide.d, *wide.n, *wide.S], [at.d, *at.n, *at.S], strict=True)
    turned = np.array([_mean_value(f, g, r).sign() != 0 for f, g in zero]).any(axis=0)
    signs = np.array([_mean_value(f, g, r).sign() for f, g in alike])
    found = turned | ((signs > 0).any(axis=0) & (signs < 0).any(axis=0))
    for y in wide.couples:  # sum s_k y_k.e_k = 0 with all s_k > 0
        parts = np.array([f.sign() for f in y])
        found |= (parts > 0).all(axis=0) | (parts < 0).all(axis=0)
    return np.asarray(found)


def _krawczyk(wide: Fields, at: Fields, c: Array, r: float) -> tuple[Array, Array]:
    """Return centre and radius of Krawczyk's operator K = c - Y G(c) + (1 - Y G'(box)) (box - c)."""
    lo = np.array([f.slope.lo for f in wide.G]).transpose(2, 0, 1)
    hi = np.array([f.slope.hi for f in wide.G]).transpose(2, 0, 1)
    J, spread = (lo + hi) / 2, (hi - lo) / 2 * (1 + ROUNDING)
    low, high = (np.array([getattr(f.value, end) for f in at.G]).T for end in ("lo", "hi"))
    G, error = (low + high) / 2, (high - low) / 2 * (1 + ROUNDING) + 1e-300
    regular = np.abs(np.linalg.det(J)) > 1e-300
    Y = np.linalg.inv(np.where(regular[:, None, None], J, np.eye(J.shape[1])))
    size = np.abs(Y)
    step = (Y @ G[:, :, None])[:, :, 0]
    far = np.abs(np.eye(J.shape[1]) - Y @ J) + size @ spread + ROUNDING * (1 + size @ np.abs(J))
    radius = (size @ (error + ROUNDING * np.abs(G))[:, :, None])[:, :, 0] + far.sum(axis=2) * r * (1 + ROUNDING)
    return np.where(regular[:, None], c - step, c), np.where(regular[:, None], radius + ROUNDING, np.inf)


def _result(system: SlipSystem, roots: list[Root], left: Array, looked: int) -> Slips:
    """Return each root once, with the signs of its N and s decided."""
    kept: list[Root] = []
    unsure = list(left)
    for box, reach, *rough in roots:
        root = (box, reach, *_refined(system, *rough))
        same = [_turned(root[2] - other[0]) for other in kept]  # from the centres of other boxes with one root
        if any((np.abs(gap) + root[3] < other[1]).all() for gap, other in zip(same, kept, strict=True)):
            continue
        if any((np.abs(gap) - root[3] < other[1]).all() for gap, other in zip(same, kept, strict=True)):
            unsure.append(root[2])
        kept.append(root)
    angles, radius = [], []
    for _, _, middle, width in kept:
        signs = system.fields((middle - width)[None], (middle + width)[None]).signs[:, 0]
        if (signs > 0).any() and (signs < 0).any():
            continue
        if (signs == 0).any():
            unsure.append(middle)
            continue
        angles.append(_turned(middle))
        radius.append(width)
    p = len(system.mu)
    return Slips(angles=np.array(angles).reshape(-1, p), radius=np.array(radius).reshape(-1, p),
                 left=np.array(unsure).reshape(-1, p), boxes=looked)  # fmt: skip


def _turned(x: Array) -> Array:
    """Return angles between -pi and pi."""
    return np.asarray((x + np.pi) % (2 * np.pi) - np.pi)


def _refined(system: SlipSystem, centre: Array, radius: Array) -> tuple[Array, Array]:
    """Return a smaller enclosure of a root."""
    for _ in range(6):
        r = float(radius.max())
        wide, at = system.fields((centre - r)[None], (centre + r)[None]), system.fields(centre[None], centre[None])
        middle, width = _krawczyk(wide, at, centre[None], r)
        if not (width[0] < 0.9 * radius).all():
            break
        centre, radius = middle[0], width[0]
    return centre, radius
