"""The solutions of one mode as a polyhedron, exactly: a point inside, its dimension, and its hull."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from ...linalg.rational import Row, dot, eliminate, integer_row, null_space, solve
from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL, feasible, maximise
from .hulls import Generator, Hull, Vector, grow, homogeneous

Affine = Sequence[tuple[list[Fraction], Fraction]]  # rows over f and constants


@dataclass(frozen=True, slots=True)
class Face:
    """All solutions of one mode.

    Attributes
    ----------
    forces : list of Fraction
        One of them, strictly inside (every inequality that can be strict is).
    implied : list of int or None
        Multipliers that prove which inequalities hold with equality on the whole face.
    step : list of Fraction or None
        forces + step is a solution too, with another primary unknown; None if the primary unknown is fixed.
    hull : Hull
        Closure of the face in the primary unknown.
    forces_unique : bool
    tight : tuple of int
        Inequalities that hold with equality on the whole face.
    """

    forces: list[Fraction]
    implied: Row | None
    step: list[Fraction] | None
    hull: Hull
    forces_unique: bool
    tight: tuple[int, ...]


def slack(row: Row, f: Sequence[Fraction]) -> Fraction:
    """Return A f - b."""
    return dot(row, f) - row[-1]


def holds(value: Fraction, kind: int) -> bool:
    """Whether a slack satisfies its condition."""
    return value == 0 if kind == EQUAL else value > 0 if kind == ABOVE else value >= 0


def face(rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine) -> Face | Row:
    """Return all solutions of a mode, or the multipliers that prove that there is none."""
    f = solve([row for row, kind in zip(rows, kinds, strict=True) if kind == EQUAL], n)
    if f is not None:
        slacks = [slack(row, f) for row in rows]
        if all(holds(x, kind) for x, kind in zip(slacks, kinds, strict=True)):
            tight = tuple(i for i, x in enumerate(slacks) if x == 0 and kinds[i] == AT_LEAST)
            return Face(f, None, None, Hull((_point(primary, f),)), True, tight)
    found = feasible(rows, kinds, n)
    if found.point is None:
        return found.multipliers or []
    return _wide_face(rows, kinds, n, primary, found.point)


def _point(primary: Affine, f: Sequence[Fraction]) -> Vector:
    return tuple(dot(row, f) + end for row, end in primary)


def _wide_face(rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine, f: list[Fraction]) -> Face:
    """Describe a face whose equalities alone leave the forces free."""
    f, implied = _inner_point(rows, kinds, n, f)
    tight = tuple(i for i, x in enumerate(implied) if x and kinds[i] == AT_LEAST)
    fixed = [row[:-1] for i, row in enumerate(rows) if kinds[i] == EQUAL or i in tight]
    null = null_space(fixed, n)
    moves = [[dot(row, d) for row, _ in primary] for d in null]
    proof = implied if tight else None
    if not any(any(move) for move in moves):
        return Face(f, proof, None, Hull((_point(primary, f),)), not null, tight)
    step = _step(rows, kinds, f, next(d for d, move in zip(null, moves, strict=True) if any(move)))
    hull = _projection(rows, kinds, n, primary, f, moves)
    return Face(f, proof, step, hull, False, tight)


def _inner_point(rows: Sequence[Row], kinds: Sequence[int], n: int, f: list[Fraction]) -> tuple[list[Fraction], Row]:
    """Return a solution with as many positive slacks as possible, and the proof that the others are zero."""
    implied = [0] * len(rows)
    for i, kind in enumerate(kinds):
        if kind != AT_LEAST or implied[i] or slack(rows[i], f) > 0:
            continue
        strict = [ABOVE if k == i else other for k, other in enumerate(kinds)]
        found = feasible(rows, strict, n)
        if found.point is None:
            implied = [a + b for a, b in zip(implied, found.multipliers or [], strict=True)]
        else:
            f = [(a + b) / 2 for a, b in zip(f, found.point, strict=True)]
    return f, implied


def _step(rows: Sequence[Row], kinds: Sequence[int], f: list[Fraction], d: list[Fraction]) -> list[Fraction]:
    """Return a multiple of d that keeps f + step strictly inside."""
    size = Fraction(1)
    for row, kind in zip(rows, kinds, strict=True):
        rate = dot(row, d)
        if kind != EQUAL and rate < 0:
            size = min(size, slack(row, f) / (-2 * rate))
    return [size * x for x in d]


def _projection(
    rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine, f: list[Fraction], moves: list[list[Fraction]]
) -> Hull:
    """Return vertices and rays of the closed face in the primary unknown.

    Some coordinates of the primary unknown, as many as it has free directions, determine the others: the hull is
    grown in these.
    """
    frame, chosen = eliminate([integer_row(move)[0] for move in moves], len(primary))
    base = _point(primary, f)
    outermost = partial(_outermost, rows, kinds, n, [primary[j] for j in chosen])
    lift = list(zip(*([Fraction(x, row[j]) for x in row] for row, j in zip(frame, chosen, strict=True)), strict=True))
    start = [base[j] for j in chosen]
    vertices, rays = [], []
    for g in grow(outermost, homogeneous(1, start)):
        if g[0]:
            vertices.append(_lifted([Fraction(x, g[0]) for x in g[1:]], start, lift, base))
        else:
            rays.append(tuple(dot(row, g[1:]) for row in lift))
    return Hull(tuple(sorted(vertices)), tuple(sorted(rays)))


def _outermost(rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine, c: Sequence[int]) -> Generator:
    """Return the generator furthest along c in the coordinates of the primary unknown."""
    columns = zip(*(row for row, _ in primary), strict=True)
    best = maximise(rows, kinds, n, integer_row([dot(c, column) for column in columns])[0])
    if best.ray is not None:
        return homogeneous(0, [dot(row, best.ray) for row, _ in primary])
    return homogeneous(1, [dot(row, best.point) + end for row, end in primary])


def _lifted(vertex: Sequence[Fraction], start: Sequence[Fraction], lift: Sequence[Vector], base: Vector) -> Vector:
    """Return the vertex in all coordinates of the primary unknown, from base, which is start in the chosen ones."""
    moves = [x - y for x, y in zip(vertex, start, strict=True)]
    return tuple(a + dot(row, moves) for a, row in zip(base, lift, strict=True))
