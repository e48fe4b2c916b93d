"""Exact W and q of contacts whose rows depend on each other: doubles say so only up to rounding.

Contacts of one body have more rows than the body has velocities. The rows that depend on others are made exactly what
they nearly are: combinations of independent ones. Then reactions that are not unique stay so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...arrays import Array
from ...linalg.rational import DOUBLES, dot, rationals
from .modal_data import rounded

DEPENDENT = 1e-11  # of a row: what is left of it when it depends on others
MENDED = f"doubles; rows that depend on others within {DEPENDENT:g} were made to"


def consistent(W: Array, q: Array, normals: Sequence[int]) -> tuple[list[list[Fraction]], list[Fraction], str]:
    """Return the exact values of W and q, and in words what was done to the doubles.

    Parameters
    ----------
    W : Array, shape (n, n)
    q : Array, shape (n,)
    normals : sequence of int
        Rows that come first as independent ones, so that dependences among them are kept.
    """
    order = [*normals, *(i for i in range(len(q)) if i not in set(normals))]
    basis = _independent(W, order) if np.allclose(W, W.T, rtol=1e-12, atol=1e-12 * np.abs(W).max()) else order
    if len(basis) in (0, len(q)):
        return [rationals(row) for row in W.tolist()], rationals(q.tolist()), DOUBLES
    C: Array = np.asarray(
        np.linalg.solve(W[np.ix_(basis, basis)], W[basis]).T, dtype=np.float64
    )  # row i of W is C_i W_basis
    if np.abs(C @ W[basis] - W).max() > DEPENDENT * np.abs(W).max() or not _spanned(C, q, basis):
        return [rationals(row) for row in W.tolist()], rationals(q.tolist()), DOUBLES
    return *_spanned_exactly(C, W[np.ix_(basis, basis)], q[basis], basis), MENDED


def _spanned_exactly(
    C: Array, inner: Array, load: Array, basis: Sequence[int]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return C inner C^T and C load exactly, inner made symmetric, the rows of C that are the basis unit rows."""
    C[np.abs(C) < DEPENDENT * np.abs(C).max()] = 0.0
    factors, half, n = rounded(C), rounded(inner), len(basis)
    for k, i in enumerate(basis):
        factors[i] = [Fraction(j == k) for j in range(n)]
    whole = [[half[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    moved = [[dot(row, factor) for factor in factors] for row in whole]
    exact = [[dot(factor, column) for column in zip(*moved, strict=True)] for factor in factors]
    loads = rationals(load.tolist())
    return exact, [dot(factor, loads) for factor in factors]


def _spanned(C: Array, q: Array, basis: list[int]) -> bool:
    """Return whether q follows from its entries of the basis, as the motion of a body does."""
    return bool(np.abs(C @ q[basis] - q).max() <= DEPENDENT * max(np.abs(q).max(), 1e-300) * np.abs(C).max())


def _independent(W: Array, order: Sequence[int]) -> list[int]:
    """Return rows of a symmetric positive W none of which depends on the others, the first in this order."""
    left, kept = W.astype(float).copy(), []
    size = np.diag(W).copy()
    for i in order:
        if left[i, i] > DEPENDENT * size[i]:
            left -= np.outer(left[:, i], left[i]) / left[i, i]
            kept.append(i)
    return kept
