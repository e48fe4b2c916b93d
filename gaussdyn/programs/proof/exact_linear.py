"""Exact linear feasibility and optimisation: every answer comes with its proof. Nothing here rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from ...arrays import Array
from ...linalg.rational import Row, null_vector

EQUAL, AT_LEAST, ABOVE, FREE = range(4)  # A f = b, A f >= b, A f > b, no condition


@dataclass(frozen=True, slots=True)
class Feasibility:
    """The proved answer to: is there an f with A f = b, A f >= b, A f > b (by kinds)?

    Attributes
    ----------
    point : list of Fraction or None
        Such an f.
    multipliers : list of int or None
        Otherwise one integer per row, >= 0 on inequalities, with sum lam A = 0 and sum lam b > 0, or = 0 with a
        positive one on a strict row (Farkas, Motzkin).
    """

    point: list[Fraction] | None
    multipliers: Row | None


def feasible(rows: Sequence[Sequence[int]], kinds: Sequence[int], n: int) -> Feasibility:
    """Decide exactly whether a system has a solution; rows = [A | b] of width n + 1.

    A strict row counts as A f >= b + delta with an infinitesimal delta. Least-index pivoting on the dictionary of
    slacks ends after finitely many steps (Bland 1977; with a zero objective every dictionary is dual feasible).
    """
    return _Dictionary(rows, kinds, n).run()


@dataclass(frozen=True, slots=True)
class Optimum:
    """The largest value of a linear objective over a nonempty closed system.

    Attributes
    ----------
    point : list of Fraction
        Where it is reached; if unbounded, some admissible point.
    ray : list of Fraction or None
        An admissible direction along which the objective grows for ever, or None.
    """

    point: list[Fraction]
    ray: list[Fraction] | None


def maximise(rows: Sequence[Sequence[int]], kinds: Sequence[int], n: int, objective: Sequence[int]) -> Optimum:
    """Maximise objective . f over a nonempty system, strict rows counted as not strict (Bland's rule).

    Raises
    ------
    ValueError
        If the system is empty.
    """
    closed = [AT_LEAST if kind == ABOVE else kind for kind in kinds]
    dictionary = _Dictionary([*rows, [*objective, 0]], [*closed, FREE], n)
    if dictionary.run().point is None:
        raise ValueError("maximise: the system is empty")
    return dictionary.climb()


class _Dictionary:
    """Slacks as functions of the nonbasic variables: D * basic = T nonbasic + c0 + c1 delta, all integers, D > 0."""

    def __init__(self, rows: Sequence[Sequence[int]], kinds: Sequence[int], n: int) -> None:
        self.n, self.m = n, len(rows)
        self.kinds = [FREE] * n + list(kinds)  # variables: f_0 .. f_{n-1}, then one slack per row
        self.T = [[*row[:n], -row[n], -int(kind == ABOVE)] for row, kind in zip(rows, kinds, strict=True)]
        self.basic = [n + i for i in range(self.m)]
        self.nonbasic = list(range(n))
        self.D = 1

    def run(self) -> Feasibility:
        """Return the verdict with its proof."""
        for kind in (EQUAL, AT_LEAST, ABOVE):
            for i in range(self.m):
                if self.kinds[self.basic[i]] == kind:
                    self._expel_free(i)
        while True:
            bad = self._violated()
            if bad is None:
                return Feasibility(self._point(), None)
            entering = self._entering(bad)
            if entering is None:
                return Feasibility(None, self._proof(bad))
            self._pivot(bad, entering)

    def climb(self) -> Optimum:
        """Maximise the last row from a feasible dictionary."""
        for i in [i for i in range(self.m) if self.kinds[self.basic[i]] == EQUAL]:
            columns = [j for j in range(self.n) if self.T[i][j] and self.kinds[self.nonbasic[j]] != EQUAL]
            if columns:
                self._pivot(i, min(columns, key=lambda j: self.nonbasic[j]))
        while (c := self._improving()) is not None:
            rows = [i for i in range(self.m) if self.T[i][c] < 0 and self.kinds[self.basic[i]] == AT_LEAST]
            if not rows:
                return Optimum(self._point(), self._direction(c))
            self._pivot(min(rows, key=lambda i: (Fraction(self.T[i][self.n], -self.T[i][c]), self.basic[i])), c)
        return Optimum(self._point(), None)

    def _improving(self) -> int | None:
        """Return the column of least index along which the last row grows, or None."""
        top = self.T[self.basic.index(self.n + self.m - 1)]
        good = []
        for j, variable in enumerate(self.nonbasic):
            kind = self.kinds[variable]
            if (top[j] > 0 and kind != EQUAL) or (top[j] and kind == FREE):
                good.append(j)
        return min(good, key=lambda j: self.nonbasic[j], default=None)

    def _direction(self, c: int) -> list[Fraction]:
        """Return how f moves when the nonbasic variable of column c changes so that the last row grows."""
        sign = 1 if self.T[self.basic.index(self.n + self.m - 1)][c] > 0 else -1
        f = [Fraction(0)] * self.n
        if self.nonbasic[c] < self.n:
            f[self.nonbasic[c]] = Fraction(sign)
        for row, variable in zip(self.T, self.basic, strict=True):
            if variable < self.n:
                f[variable] = Fraction(sign * row[c], self.D)
        return f

    def _expel_free(self, i: int) -> None:
        """Make row i nonbasic in exchange for a free variable; an equality may also take an inequality's place."""
        columns = [j for j in range(self.n) if self.T[i][j]]
        free = [j for j in columns if self.kinds[self.nonbasic[j]] == FREE]
        if free:
            self._pivot(i, min(free, key=lambda j: abs(self.T[i][j])))

    def _violated(self) -> int | None:
        """Return the row of the violated basic variable of least index."""
        worst = None
        for i, variable in enumerate(self.basic):
            value = tuple(self.T[i][self.n :])
            kind = self.kinds[variable]
            wrong = value != (0, 0) if kind == EQUAL else kind != FREE and value < (0, 0)
            if wrong and (worst is None or variable < self.basic[worst]):
                worst = i
        return worst

    def _entering(self, i: int) -> int | None:
        """Return the column of least index that can mend row i."""
        sign = -1 if tuple(self.T[i][self.n :]) > (0, 0) else 1
        good = [
            j for j in range(self.n)
            if sign * self.T[i][j] > 0 and self.kinds[self.nonbasic[j]] not in (EQUAL, FREE)
        ]  # fmt: skip
        return min(good, key=lambda j: self.nonbasic[j], default=None)

    def _pivot(self, r: int, c: int) -> None:
        """Exchange the basic variable of row r with the nonbasic variable of column c (integer pivoting)."""
        p, top = self.T[r][c], self.T[r]
        sign = 1 if p > 0 else -1
        for i, row in enumerate(self.T):
            if i == r:
                continue
            a = row[c]
            new = [sign * (p * x - a * y) // self.D for x, y in zip(row, top, strict=True)]
            new[c] = sign * a
            self.T[i] = new
        new = [-sign * x for x in top]
        new[c] = sign * self.D
        self.T[r], self.D = new, abs(p)
        self.basic[r], self.nonbasic[c] = self.nonbasic[c], self.basic[r]

    def _point(self) -> list[Fraction]:
        """Return f for a delta small enough that every inequality holds."""
        delta = Fraction(1)
        for row, variable in zip(self.T, self.basic, strict=True):
            c0, c1 = row[self.n :]
            if self.kinds[variable] in (AT_LEAST, ABOVE) and c1 < 0:
                delta = min(delta, Fraction(c0, -2 * c1))
        f = [Fraction(0)] * self.n
        for row, variable in zip(self.T, self.basic, strict=True):
            if variable < self.n:
                f[variable] = (row[self.n] + row[self.n + 1] * delta) / self.D
        return f

    def _proof(self, i: int) -> Row:
        """Return the multipliers read off the row that cannot be mended."""
        sign = -1 if tuple(self.T[i][self.n :]) > (0, 0) else 1
        lam = [0] * self.m
        lam[self.basic[i] - self.n] = sign * self.D
        for j, variable in enumerate(self.nonbasic):
            if variable >= self.n:
                lam[variable - self.n] = -sign * self.T[i][j]
        return lam


def prove_empty(rows: Sequence[Row], kinds: Sequence[int], guess: Array) -> Row | None:
    """Return exact multipliers (see `Feasibility`) near a float guess, or None if rounding gives no proof.

    Parameters
    ----------
    rows : integer rows [A | b]
    guess : Array, shape (rows,)
        Multipliers for the rows divided by their largest coefficient of A.
    """
    size = np.abs(guess)
    for cut in (1e-9, 1e-13):
        support = [int(i) for i in np.flatnonzero(size > cut * size.max(initial=0.0))]
        lam = [0] * len(rows)
        part = [rows[i] for i in support], [kinds[i] for i in support], [float(guess[i]) for i in support]
        found = _combination(*part)
        if found is None:
            continue
        for i, x in zip(support, found, strict=True):
            lam[i] = x
        if proves_empty(rows, kinds, lam):
            return lam
    return None


def proves_empty(rows: Sequence[Row], kinds: Sequence[int], lam: Sequence[int]) -> bool:
    """Whether the multipliers, which are known to cancel A, have the right signs and a contradiction."""
    if any(x < 0 for x, kind in zip(lam, kinds, strict=True) if kind != EQUAL):
        return False
    value = sum(x * row[-1] for x, row in zip(lam, rows, strict=True) if x)
    return value > 0 or (value == 0 and any(x and kind == ABOVE for x, kind in zip(lam, kinds, strict=True)))


def _combination(rows: Sequence[Row], kinds: Sequence[int], guess: Sequence[float]) -> Row | None:
    """Return integers lam near `guess` with sum lam A = 0.

    A row with one coefficient only takes up whatever stands in its column, so that the others need not.
    """
    takes = _takers(rows, kinds)
    left = sorted(set(range(len(rows))) - set(takes.values()))
    if not left:
        return None
    columns = [j for j in range(len(rows[0]) - 1) if j not in takes]
    exact = [Fraction(guess[i]) / (max(map(abs, rows[i][:-1]), default=0) or 1) for i in left]
    part = null_vector([[rows[i][j] for i in left] for j in columns], len(left), exact)
    if part is None:
        return None
    lam, scale = [0] * len(rows), lcm(*(rows[i][j] for j, i in takes.items()))
    for i, x in zip(left, part, strict=True):
        lam[i] = x * scale
    for j, i in takes.items():
        lam[i] = -sum(lam[k] * rows[k][j] for k in left if rows[k][j]) // rows[i][j]
    return lam


def _takers(rows: Sequence[Row], kinds: Sequence[int]) -> dict[int, int]:
    """Return for every column the row that has its only coefficient there, an equality if there is one."""
    takes: dict[int, int] = {}
    for i, row in enumerate(rows):
        where = [j for j, x in enumerate(row[:-1]) if x]
        if len(where) == 1 and (where[0] not in takes or kinds[i] == EQUAL):
            takes[where[0]] = i
    return takes
