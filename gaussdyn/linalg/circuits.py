"""Minimal dependent sets of rows: the circuits of a matrix, with the combinations that vanish.

A circuit is a set of rows that depend on each other, of which any one may go and the rest are independent. Its
combination is a vector of the left null space of smallest support (elementary vector, Rockafellar 1969).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.linalg import qr

from ..arrays import Array, IntArray, matrix

RANK = 1e-9  # singular values, of rows of length one, that count as zero
ZERO = 1e-8  # entries of a combination, relative to the largest, that count as zero
MOST = 5000  # choices of rows up to which all circuits are listed; beyond it a fundamental set


@dataclass(frozen=True, slots=True, eq=False)
class Circuits:
    """Dependences among the rows of a matrix.

    Attributes
    ----------
    rank : int
    factors : Array, shape (k, rows)
        Combinations of rows that vanish, one per circuit; the largest entry of each is 1.
    complete : bool
        Whether all circuits are listed, or as many as make up all others.
    gap : float
        Smallest singular value that counts as one, over the largest that does not (rows of length one); inf if none.
    """

    rank: int
    factors: Array
    complete: bool
    gap: float

    @property
    def degree(self) -> int:
        """How many rows are too many."""
        return int(self.factors.shape[1]) - self.rank

    def sets(self) -> list[tuple[int, ...]]:
        """Return the rows of every circuit, the shortest first."""
        return [tuple(int(i) for i in np.flatnonzero(row)) for row in self.factors]

    def needed(self) -> tuple[int, ...]:
        """Return the rows that stand in no circuit: none of them may go."""
        return tuple(int(i) for i in np.flatnonzero(~(self.factors != 0.0).any(axis=0)))


def circuits(J: Array) -> Circuits:
    """Return the circuits of the rows of J, shape (rows, n).

    Raises
    ------
    InputError
        Numbers that are not finite.
    """
    J = matrix("J", J)
    rows = len(J)
    length = np.linalg.norm(J, axis=1)
    scaled = J / np.where(length > 0.0, length, 1.0)[:, None]
    U, s, _ = np.linalg.svd(scaled) if J.size else (np.eye(rows), np.zeros(0), None)
    rank = int((s > RANK).sum())
    below = float(s[rank]) if rank < len(s) else 0.0
    gap = float(s[rank - 1]) / max(below, 1e-17) if rank else np.inf
    N = U[:, rank:].T  # left null space
    d = len(N)
    if not d:
        return Circuits(rank, np.zeros((0, rows)), True, gap)
    loose = np.flatnonzero(np.linalg.norm(N, axis=0) > ZERO).astype(np.int64)
    complete = comb(len(loose), d - 1) <= MOST
    found = _distinct(_all(N, loose) if complete else _fundamental(N, scaled))
    factors = found / np.where(length > 0.0, length, 1.0)
    largest = np.take_along_axis(factors, np.abs(factors).argmax(axis=1)[:, None], axis=1)
    return Circuits(rank, factors / largest, complete, gap)


def _all(N: Array, loose: IntArray) -> Iterator[Array]:
    """Yield combinations that vanish on as many rows as can be asked for."""
    d = len(N)
    for chosen in combinations(loose, d - 1):
        _, s, V = np.linalg.svd(N[:, list(chosen)].T) if d > 1 else (None, np.zeros(0), np.eye(1))
        if (s > ZERO).sum() == d - 1:
            yield V[-1] @ N


def _fundamental(N: Array, J: Array) -> Iterator[Array]:
    """Yield for every row outside a basis the combination with rows of the basis that vanishes."""
    order = qr(J.T, pivoting=True, mode="r")[1]
    outside = order[len(J) - len(N) :]
    yield from np.linalg.solve(N[:, outside], N)


def _distinct(found: Iterator[Array]) -> Array:
    """Return the combinations with distinct supports, the shortest first, small entries set to zero."""
    kept: dict[tuple[int, ...], Array] = {}
    for row in found:
        clean = np.where(np.abs(row) > ZERO * np.abs(row).max(), row, 0.0)
        kept.setdefault(tuple(np.flatnonzero(clean)), clean)
    return np.array([kept[key] for key in sorted(kept, key=lambda key: (len(key), key))])
