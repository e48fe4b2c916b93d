"""Existence without enumeration: a motion strictly inside all dual friction cones.

If W = J M^-1 J^T with M symmetric and some v has G v = b and u = J v + w with mu |u_T| < u_N at every contact, the
velocity problem has a solution (Klarbring and Pang 1998; Acary, Cadoux, Lemaréchal, Malick 2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ...arrays import Array
from ...linalg.rational import dot, eliminate, integer_row, rationals, text
from ..laws.laws import MU_S, Coulomb, Unilateral
from ..problems.complementarity import ComplementarityProblem
from .certificates import Certificate

Cut = tuple[Array, float]
CLAIM = "EXISTS: a motion strictly inside all cones proves that the velocity problem has a solution"
LARGEST = 200  # rows
SINGULAR = 60  # rows up to which a singular W is reduced to independent columns
CUTS = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cones:
    """G v = b and mu |u_T| < u_N for u = J v + w, contact by contact."""

    M: Array
    J: Array
    w: Array
    G: Array
    b: Array
    sizes: tuple[int, ...]
    mu: Array


def slater_certificate(problem: ComplementarityProblem) -> Certificate | None:
    """Return the proof that a solution exists; None if the criterion does not apply or finds nothing."""
    cones = _cones(problem)
    if cones is None:
        return None
    v = strictly_feasible(cones)
    exact = None if v is None else _on_rows(cones, v)
    if exact is None:
        return None
    document: dict[str, Any] = {
        **{key: [text(rationals(row)) for row in getattr(cones, key)] for key in ("M", "J", "G")},
        **{key: text(rationals(getattr(cones, key))) for key in ("w", "b", "mu")},
        "sizes": list(cones.sizes),
    }
    leaf = {"mode": "*", "witness": text(exact)}
    made = Certificate.of("slater", document, CLAIM, [leaf], {"numbers": "exact values of doubles"})
    return made if made.verify() else None


def _cones(problem: ComplementarityProblem) -> Cones | None:
    """Return the cones, or None if W is not known to be symmetric and positive semidefinite, or a law has others."""
    form = problem.form
    if any(type(law) not in (Unilateral, Coulomb) for law in problem.laws) or len(problem.q) > LARGEST:
        return None
    if form is None:  # W = J M^-1 J^T with independent columns J of W and M = their rows, if W is symmetric
        W = _dense(problem.W)
        chosen = _independent(W)
        M, J = W[np.ix_(chosen, chosen)], np.ascontiguousarray(W[:, chosen])
        G, w, b = np.zeros((0, len(M))), problem.q, np.zeros(0)
        good = bool((W == W.T).all()) and len(chosen) > 0
    else:
        M, J, G, w, b = _dense(form.M), _dense(form.J), _dense(form.G), form.w, form.b
        asymmetry = np.abs(M - M.T).max(initial=0.0)
        good = form.B is None and form.B_abs is None and asymmetry <= 1e-12 * np.abs(M).max(initial=0.0)
    sizes = tuple(int(x) for x in np.diff(problem.table.start))
    mu = problem.table.P[:, MU_S]
    return Cones(M=0.5 * (M + M.T), J=J, w=w, G=G, b=b, sizes=sizes, mu=mu) if good else None


def _independent(W: Array) -> list[int]:
    """Return columns that span those of W exactly; none if rounding decides their number or a singular W is large."""
    rank, size = int(np.linalg.matrix_rank(W)), len(W)
    if rank == size:
        return list(range(size))
    pivots = eliminate([integer_row(rationals(row))[0] for row in W], size)[1] if size <= SINGULAR else []
    return list(pivots) if len(pivots) == rank else []


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def strictly_feasible(cones: Cones) -> Array | None:
    """Return v with the largest margin u_N - mu |u_T| >= s (s <= 1), found by cutting planes; None if s <= 0."""
    cuts = [_cut(cones, k, e) for k, size in enumerate(cones.sizes) for e in _first_directions(size - 1)]
    for _ in range(CUTS):
        best = _widest(cones, cuts)
        if best is None:
            return None
        v, margin = best
        new = [_cut(cones, k, e) for k, e in _too_close(cones, v, 0.25 * margin)]
        if not new:
            return v
        cuts += new
    return None


def _first_directions(size: int) -> list[Array]:
    """Return directions of slip whose half-planes start the outer approximation of a cone."""
    return [np.zeros(size), *np.eye(size), *-np.eye(size)]


def _widest(cones: Cones, cuts: Sequence[Cut]) -> tuple[Array, float] | None:
    """Return v and the largest s with every cut >= s; None if s <= 0."""
    n, count = cones.J.shape[1], len(cones.b)
    reach = 1e6 * (1.0 + np.abs(cones.w).max(initial=0.0))
    rows, ends = np.array([row for row, _ in cuts]), np.array([end for _, end in cuts])
    equal = {"A_eq": np.c_[cones.G, np.zeros(count)], "b_eq": cones.b} if count else {}
    best = linprog(np.r_[np.zeros(n), -1.0], A_ub=np.c_[-rows, np.ones(len(rows))], b_ub=ends, **equal,
                   bounds=[(-reach, reach)] * n + [(None, 1.0)], method="highs")  # fmt: skip
    if best.status != 0 or best.x[-1] <= 1e-9:
        return None
    return np.asarray(best.x[:-1]), float(best.x[-1])


def _too_close(cones: Cones, v: Array, margin: float) -> Iterator[tuple[int, Array]]:
    """Yield the blocks whose margin is too small at v, with their directions of slip."""
    start = np.concatenate([[0], np.cumsum(cones.sizes)])
    u = cones.J @ v + cones.w
    for k, (first, last) in enumerate(pairwise(start)):
        slip = float(np.linalg.norm(u[first + 1 : last]))
        if u[first] - cones.mu[k] * slip < margin:
            yield k, u[first + 1 : last] / (slip or 1.0)


def _cut(cones: Cones, k: int, e: Array) -> Cut:
    """Return the row and the constant of u_N - mu e.u_T as a function of v."""
    at = sum(cones.sizes[:k])
    weights, part = np.r_[1.0, -cones.mu[k] * e], slice(at, at + cones.sizes[k])
    return weights @ cones.J[part], float(weights @ cones.w[part])


def _on_rows(cones: Cones, v: Array) -> list[Fraction] | None:
    """Return the exact v moved onto G v = b (shortest correction); None if the rows contradict each other."""
    exact, G = rationals(v), [rationals(row) for row in cones.G]
    gap = [b - dot(row, exact) for row, b in zip(G, rationals(cones.b), strict=True)]
    rows = [integer_row([*(dot(one, two) for two in G), g])[0] for one, g in zip(G, gap, strict=True)]
    reduced, pivots = eliminate(rows, len(G) + 1)
    if len(G) in pivots:
        return None
    y = [Fraction(0)] * len(G)
    for row, j in zip(reduced, pivots, strict=True):
        y[j] = Fraction(row[-1], row[j])
    return [x + dot(column, y) for x, column in zip(exact, zip(*G, strict=True), strict=True)] if any(gap) else exact
