"""Polyhedral slices over the rationals: ranges, vertices and rays without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...errors import InputError
from ...linalg.rational import dot, eliminate, integer_row, null_space
from ..enumeration.hulls import Hull, grow, homogeneous
from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL, feasible, maximise

Vector = Sequence[Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRange:
    """Smallest and largest value of a linear function.

    Attributes
    ----------
    low, high : Fraction or None
        None where it falls or grows for ever.
    low_at, high_at : tuple of Fraction
        Where they are reached, or a direction along which it goes on for ever.
    """

    low: Fraction | None
    high: Fraction | None
    low_at: tuple[Fraction, ...]
    high_at: tuple[Fraction, ...]

    @property
    def unique(self) -> bool:
        """Whether there is one value only."""
        return self.low is not None and self.low == self.high


@dataclass(frozen=True, slots=True)
class ExactSlice:
    """{s : A s = f, s_j >= 0 unless free}.

    Parameters
    ----------
    A : sequence of sequences of Fraction
    f : sequence of Fraction
    free : sequence of bool

    Raises
    ------
    InputError
        The set is empty (`refutation` proves it).
    """

    A: Sequence[Vector]
    f: Vector
    free: Sequence[bool]

    def rows(self) -> tuple[list[list[int]], list[int]]:
        """Return integer rows [A | f] and their kinds, as `exact_linear` takes them."""
        rows = [integer_row([*row, value])[0] for row, value in zip(self.A, self.f, strict=True)]
        signs = [[int(i == j) for j in range(self.n)] + [0] for i, free in enumerate(self.free) if not free]
        return rows + signs, [EQUAL] * len(rows) + [AT_LEAST] * len(signs)

    @property
    def n(self) -> int:
        """Number of entries."""
        return len(self.free)

    def point(self) -> list[Fraction] | None:
        """Return a point of the set, None if it is empty."""
        return feasible(*self.rows(), self.n).point

    def range(self, c: Vector) -> ExactRange:
        """Return the smallest and the largest value of c.s.

        Raises
        ------
        InputError
            A function of another length; an empty set.
        """
        if len(c) != self.n:
            raise InputError("c", f"{len(c)} entries", f"{self.n} entries", f"Write c=numpy.zeros({self.n}).")
        rows, kinds = self.rows()
        if not any(c):
            return ExactRange(low=Fraction(0), high=Fraction(0), low_at=(), high_at=())
        ends = []
        for sign in (-1, 1):
            try:
                best = maximise(rows, kinds, self.n, integer_row([sign * x for x in c])[0])
            except ValueError:
                raise InputError(
                    "A, f", "an empty set", "a set with points", "Look first: polyhedron.point() is not None."
                ) from None
            ends.append((None, tuple(best.ray)) if best.ray else (dot(c, best.point), tuple(best.point)))
        (low, low_at), (high, high_at) = ends
        return ExactRange(low=low, high=high, low_at=low_at, high_at=high_at)

    def proves(self, c: Vector, bound: Fraction) -> bool:
        """Whether Motzkin multipliers refute c.s > bound."""
        rows, kinds = self.rows()
        return feasible([*rows, integer_row([*c, bound])[0]], [*kinds, ABOVE], self.n).point is None

    def image(self, C: Sequence[Vector]) -> Hull:
        """Return vertices and rays of the values of all functions C together.

        Raises
        ------
        InputError
            The set is empty.
        """
        rows, kinds = self.rows()
        inside = self.point()
        if inside is None:
            raise InputError("A, f", "an empty set", "a set with points", "Look first: polyhedron.point() is not None.")
        frame, chosen = self._directions(C)
        base = [dot(row, inside) for row in C]
        if not chosen:
            return Hull((tuple(base),))
        columns = list(zip(*(C[j] for j in chosen), strict=True))

        def outermost(direction: Sequence[int]) -> tuple[int, ...]:
            """Return the generator furthest along a direction of the chosen functions."""
            goal = integer_row([dot(direction, column) for column in columns])[0]
            best = maximise(rows, kinds, self.n, goal)
            values = [dot(C[j], best.ray if best.ray is not None else best.point) for j in chosen]
            return homogeneous(int(best.ray is None), values)

        start = [base[j] for j in chosen]
        hull = [_lifted(g, base, start, frame, chosen) for g in grow(outermost, homogeneous(1, start))]
        return Hull(tuple(sorted(x for head, x in hull if head)), tuple(sorted(x for head, x in hull if not head)))

    def _directions(self, C: Sequence[Vector]) -> tuple[list[list[int]], list[int]]:
        """Return how the functions can move together: a basis in echelon form, and the functions that are free."""
        rows, kinds = self.rows()
        tight = [row[:-1] for row, kind in zip(rows, kinds, strict=True) if kind == EQUAL]
        tight += [row[:-1] for i, row in enumerate(rows) if kinds[i] == AT_LEAST and self._stuck(rows, kinds, i)]
        moves = [[dot(row, d) for row in C] for d in null_space(tight, self.n)]
        return eliminate([integer_row(move)[0] for move in moves], len(C)) if moves else ([], [])

    def _stuck(self, rows: list[list[int]], kinds: list[int], i: int) -> bool:
        """Whether an entry is zero all over the set."""
        strict = [ABOVE if k == i else kind for k, kind in enumerate(kinds)]
        return feasible(rows, strict, self.n).point is None


def _lifted(
    g: Sequence[int], base: Vector, start: Vector, frame: list[list[int]], chosen: list[int]
) -> tuple[bool, tuple[Fraction, ...]]:
    """Return the values of all functions at a generator in the chosen ones."""
    t = [Fraction(x, g[0]) - y for x, y in zip(g[1:], start, strict=True)] if g[0] else [Fraction(x) for x in g[1:]]
    moved = [
        sum((Fraction(row[i], row[j]) * x for row, j, x in zip(frame, chosen, t, strict=True)), Fraction(0))
        for i in range(len(base))
    ]
    return bool(g[0]), tuple(a + b for a, b in zip(base, moved, strict=True)) if g[0] else tuple(moved)
