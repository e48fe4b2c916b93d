"""Existence without enumeration: a motion strictly inside all dual friction cones.

If W = J M^-1 J^T with M symmetric and some v has G v = b and u = J v + w with mu |u_T| < u_N at every contact, the
velocity problem has a solution (Klarbring and Pang 1998; Acary, Cadoux, Lemaréchal, Malick 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..arrays import Array
from ..linalg.rational import eliminate, integer_row, rationals, text
from .certificates import Certificate
from .complementarity import ComplementarityProblem
from .laws import MU_S, BilateralCoulomb, BilateralSliding, Coulomb, Sliding, Unilateral

CLAIM = "EXISTS: a motion strictly inside all cones proves that the velocity problem has a solution"
LARGEST = 200  # rows
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
    known = all(isinstance(law, (Unilateral, Coulomb)) and not isinstance(law, (BilateralCoulomb, Sliding, BilateralSliding))
                for law in problem.laws)  # fmt: skip
    form, sizes = problem.form, tuple(int(x) for x in np.diff(problem.table.start))
    if not known or len(problem.q) > LARGEST:
        return None
    if form is None:  # W = J M^-1 J^T with J = M = W, if W is exactly symmetric and invertible
        W, empty = (
            np.asarray(problem.W.toarray() if sp.issparse(problem.W) else problem.W),
            np.zeros((0, len(problem.q))),
        )
        same = bool((W == W.T).all()) and np.linalg.matrix_rank(W) == len(W)
        return (
            Cones(M=W, J=W, w=problem.q, G=empty, b=np.zeros(0), sizes=sizes, mu=problem.table.P[:, MU_S])
            if same
            else None
        )
    if form.B is not None or form.B_abs is not None:
        return None
    M, J, G = (np.asarray(X.toarray() if sp.issparse(X) else X) for X in (form.M, form.J, form.G))
    if np.abs(M - M.T).max(initial=0.0) > 1e-12 * np.abs(M).max(initial=0.0):
        return None
    return Cones(M=0.5 * (M + M.T), J=J, w=form.w, G=G, b=form.b, sizes=sizes, mu=problem.table.P[:, MU_S])


def strictly_feasible(cones: Cones) -> Array | None:
    """Return v with the largest margin u_N - mu |u_T| >= s (s <= 1), found by cutting planes; None if s <= 0."""
    n, start = cones.J.shape[1], np.concatenate([[0], np.cumsum(cones.sizes)])
    cuts = [_cut(cones, k, np.eye(size - 1)[i] * sign) for k, size in enumerate(cones.sizes)
            for i in range(size - 1) for sign in (1.0, -1.0)]  # fmt: skip
    cuts += [_cut(cones, k, np.zeros(size - 1)) for k, size in enumerate(cones.sizes)]
    reach = 1e6 * (1.0 + np.abs(cones.w).max(initial=0.0))
    for _ in range(CUTS):
        rows, ends = np.array([row for row, _ in cuts]), np.array([end for _, end in cuts])
        best = linprog(np.r_[np.zeros(n), -1.0], A_ub=np.c_[-rows, np.ones(len(rows))], b_ub=ends,
                       A_eq=np.c_[cones.G, np.zeros(len(cones.b))] if len(cones.b) else None,
                       b_eq=cones.b if len(cones.b) else None,
                       bounds=[(-reach, reach)] * n + [(None, 1.0)], method="highs")  # fmt: skip
        if best.status != 0 or best.x[-1] <= 1e-9:
            return None
        v, new = np.asarray(best.x[:-1]), []
        for k, size in enumerate(cones.sizes):
            u = cones.J[start[k] : start[k + 1]] @ v + cones.w[start[k] : start[k + 1]]
            slip = float(np.linalg.norm(u[1:]))
            if u[0] - cones.mu[k] * slip < 0.25 * best.x[-1]:
                new.append(_cut(cones, k, u[1:] / slip if slip > 0 else np.zeros(size - 1)))
        if not new:
            return v
        cuts += new
    return None


def _cut(cones: Cones, k: int, e: Array) -> tuple[Array, float]:
    """Return the row and the constant of u_N - mu e.u_T as a function of v."""
    at = sum(cones.sizes[:k])
    weights = np.r_[1.0, -cones.mu[k] * e]
    part = slice(at, at + cones.sizes[k])
    return weights @ cones.J[part], float(weights @ cones.w[part])


def _on_rows(cones: Cones, v: Array) -> Sequence[Fraction] | None:
    """Return the exact v moved onto G v = b (shortest correction); None if the rows contradict each other."""
    exact = rationals(v)
    G = [rationals(row) for row in cones.G]
    gap = [b - sum((a * x for a, x in zip(row, exact, strict=True)), Fraction(0))
           for row, b in zip(G, rationals(cones.b), strict=True)]  # fmt: skip
    if not any(gap):
        return exact
    rows = [
        [*(sum((a * c for a, c in zip(one, two, strict=True)), Fraction(0)) for two in G), g]
        for one, g in zip(G, gap, strict=True)
    ]
    reduced, pivots = eliminate([integer_row(row)[0] for row in rows], len(G) + 1)
    if len(G) in pivots:
        return None
    y = [Fraction(0)] * len(G)
    for row, j in zip(reduced, pivots, strict=True):
        y[j] = Fraction(row[-1], row[j])
    return [x + sum((row[i] * t for row, t in zip(G, y, strict=True)), Fraction(0)) for i, x in enumerate(exact)]
