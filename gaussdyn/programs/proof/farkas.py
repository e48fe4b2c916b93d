"""Exact proofs that A x = b, C x >= d has no solution (Farkas): floats guess the rows, fractions prove."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from ...arrays import Array, matrix, vector
from ...linalg.cones import norms
from ...linalg.rational import rationals
from .certificates import exact_refutation
from .exact_linear import AT_LEAST, EQUAL

Vector = list[Fraction]


def refute(A: Array, b: Array, C: Array, d: Array, *, guess: Array | None = None) -> tuple[Vector, Vector] | None:
    """Return an exact Farkas vector (y, z) of {x : A x = b, C x >= d}, every double taken at its exact value.

    Parameters
    ----------
    A, b : Array, shapes (m, n), (m,)
    C, d : Array, shapes (k, n), (k,)
    guess : Array, shape (m + k,), optional
        A combination of rows thought to contradict itself; it is tried first.

    Returns
    -------
    tuple of lists of Fraction, or None
        A^T y + C^T z = 0, z >= 0, b.y + d.z > 0, exactly. None if the set is not empty, or so nearly not empty that
        no exact proof was found.
    """
    b, d = vector("b", b), vector("d", d)
    C = matrix("C", C, len(d))
    A = matrix("A", A, len(b), C.shape[1]) if len(b) else np.zeros((0, C.shape[1]))
    N, rhs, m = np.vstack([A, C]), np.r_[b, d], len(b)
    tried = set()
    for w in _guesses(N, rhs, m, guess):
        keep = np.flatnonzero(w)
        if tuple(keep) in tried:
            continue
        tried.add(tuple(keep))
        rows = [[*rationals(N[i]), *rationals([rhs[i]])] for i in keep]
        exact = exact_refutation(rows, [EQUAL if i < m else AT_LEAST for i in keep], w[keep])
        if exact is not None:
            lam = [Fraction(0)] * len(rhs)
            for i, value in zip(keep, exact, strict=True):
                lam[i] = value
            return lam[:m], lam[m:]
    return None


def approximate(N: Array, rhs: Array, m: int) -> Array | None:
    """Return w with N^T w = 0 and rhs.w > 0 up to rounding, w >= 0 beyond the first m rows; None if none is found."""
    length = norms(N)
    weight = 1.0 / np.where(length > 0.0, length, 1.0)
    found = _few_rows(N * weight[:, None], rhs * weight, m)
    return None if found is None else found * weight


def _guesses(N: Array, rhs: Array, m: int, given: Array | None) -> Iterator[Array]:
    """Yield approximate Farkas vectors, the cheapest first."""
    if given is not None and given.any():
        yield given
    length = norms(N)
    contradiction = (length == 0.0) & np.where(np.arange(len(rhs)) < m, rhs != 0.0, rhs > 0.0)
    if contradiction.any():
        yield np.where(np.arange(len(rhs)) == np.argmax(contradiction), np.sign(rhs), 0.0)
        return
    found = _walk(N, rhs, m)
    if found is None:
        return
    yield found
    weight = 1.0 / np.where(length > 0.0, length, 1.0)
    for search in (_few_rows, _many_rows):
        found = search(N * weight[:, None], rhs * weight, m)
        if found is not None:
            yield found * weight


def _walk(N: Array, rhs: Array, m: int) -> Array | None:
    """Look for the point of the set nearest to the origin; return the contradiction met, or None if there is one."""
    from ..active_set.dual_method import solve_rows
    from ..active_set.steps import SOLVED

    n = N.shape[1]
    _, w, _, info = solve_rows(np.eye(n), np.zeros(n), N, rhs, np.array([m]))
    return None if info[0] == SOLVED else w


def _few_rows(N: Array, rhs: Array, m: int) -> Array | None:
    """Return a Farkas vector at a vertex: the least sum of multipliers with N^T w = 0, rhs.w = 1."""
    k, scale = len(rhs), float(np.abs(rhs).max(initial=0.0)) or 1.0
    equal = np.vstack([np.hstack([N.T, -N[:m].T]), np.r_[rhs, -rhs[:m]] / scale])
    found = linprog(np.ones(k + m), A_eq=equal, b_eq=np.r_[np.zeros(N.shape[1]), 1.0], method="highs")
    return found.x[:k] - np.r_[found.x[k:], np.zeros(k - m)] if found.status == 0 else None


def _many_rows(N: Array, rhs: Array, m: int) -> Array | None:
    """Return a Farkas vector that uses as many inequalities as possible, which leaves room to repair its rounding.

    The largest sum of s with N^T w = 0, rhs.w >= 1, s <= z, 0 <= s <= 1 has s = 1 wherever some vector has z > 0.
    """
    k, scale, p = len(rhs), float(np.abs(rhs).max(initial=0.0)) or 1.0, len(rhs) - m
    cost = np.r_[np.zeros(k), -np.ones(p)]
    room = np.hstack([np.zeros((p, m)), -np.eye(p), np.eye(p)])
    gap = np.r_[-rhs / scale, np.zeros(p)]
    bounds = [(None, None)] * m + [(0.0, None)] * p + [(0.0, 1.0)] * p
    found = linprog(cost, A_ub=np.vstack([room, gap]), b_ub=np.r_[np.zeros(p), -1.0], bounds=bounds, method="highs",
                    A_eq=np.hstack([N.T, np.zeros((N.shape[1], p))]), b_eq=np.zeros(N.shape[1]))  # fmt: skip
    return np.asarray(found.x[:k]) if found.status == 0 else None
