"""Solution sets of one mode as polyhedra, exactly: dimension, vertices, rays, and what belongs together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..linalg.rational import Row, eliminate, integer_row, null_space, solve
from .exact import ABOVE, AT_LEAST, EQUAL, feasible, maximise

Vector = tuple[Fraction, ...]
Generator = tuple[int, ...]  # homogeneous: (1, point) up to scale, or (0, direction)
Affine = Sequence[tuple[list[Fraction], Fraction]]  # rows over f and constants


@dataclass(frozen=True, slots=True)
class Hull:
    """Convex hull of vertices plus the cone of rays (a line is two opposite rays)."""

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...] = ()

    @property
    def is_point(self) -> bool:
        """Whether it is a single point."""
        return len(self.vertices) == 1 and not self.rays


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
    return sum((a * x for a, x in zip(row, f, strict=False) if a), Fraction(-row[-1]))


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
    return tuple(sum((a * x for a, x in zip(row, f, strict=True) if a), end) for row, end in primary)


def _wide_face(rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine, f: list[Fraction]) -> Face:
    """Describe a face whose equalities alone leave the forces free."""
    f, implied = _inner_point(rows, kinds, n, f)
    tight = tuple(i for i, x in enumerate(implied) if x and kinds[i] == AT_LEAST)
    fixed = [row[:-1] for i, row in enumerate(rows) if kinds[i] == EQUAL or i in tight]
    null = null_space(fixed, n)
    moves = [[sum((a * x for a, x in zip(row, d, strict=True) if a), Fraction(0)) for row, _ in primary] for d in null]
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
        rate = sum((a * x for a, x in zip(row, d, strict=False) if a), Fraction(0))
        if kind != EQUAL and rate < 0:
            size = min(size, slack(row, f) / (-2 * rate))
    return [size * x for x in d]


def _projection(
    rows: Sequence[Row], kinds: Sequence[int], n: int, primary: Affine, f: list[Fraction], moves: list[list[Fraction]]
) -> Hull:
    """Return vertices and rays of the closed face in the primary unknown.

    The hull grows from inside: every facet of the hull found so far is pushed outwards by a linear program until
    none gives way (convex hull method, Lassez & Lassez 1992).
    """
    frame, chosen = eliminate([integer_row(move)[0] for move in moves], len(primary))
    base = _point(primary, f)

    def outermost(c: Sequence[int]) -> Generator:
        """Return the homogeneous generator furthest along c in the chosen coordinates."""
        objective = [
            sum((ck * primary[j][0][i] for ck, j in zip(c, chosen, strict=True)), Fraction(0)) for i in range(n)
        ]
        best = maximise(rows, kinds, n, integer_row(objective)[0])
        if best.ray is None:
            y = _point(primary, best.point)
            return tuple(integer_row([Fraction(1), *(y[j] for j in chosen)])[0])
        ray = [sum((a * x for a, x in zip(primary[j][0], best.ray, strict=True)), Fraction(0)) for j in chosen]
        return tuple(integer_row([Fraction(0), *ray])[0])

    generators = _extreme(_grow(outermost, tuple(integer_row([Fraction(1), *(base[j] for j in chosen)])[0])))
    lift = [[Fraction(row[i], row[j]) for i in range(len(primary))] for row, j in zip(frame, chosen, strict=True)]
    vertices, rays = [], []
    for g in generators:
        t = [Fraction(x, g[0] or 1) - (base[j] if g[0] else 0) for x, j in zip(g[1:], chosen, strict=True)]
        moved = tuple(
            sum((x * row[i] for x, row in zip(t, lift, strict=True)), Fraction(0)) for i in range(len(primary))
        )
        if g[0]:
            vertices.append(tuple(a + b for a, b in zip(base, moved, strict=True)))
        else:
            rays.append(moved)
    return Hull(tuple(sorted(vertices)), tuple(sorted(rays)))


def _grow(push: Callable[[Sequence[int]], Generator], inside: Generator) -> list[Generator]:
    """Return generators of the cone over the face, starting from one point of it."""
    generators = [inside]
    width = len(inside)
    while True:
        normals = null_space([list(g) for g in generators], width)
        if not normals:
            break
        c = integer_row(normals[0])[0]
        for sign in (1, -1):
            g = push([sign * x for x in c[1:]])
            if sum(a * b for a, b in zip(c, g, strict=True)):
                generators.append(g)
                break
    facets = _Facets(generators)
    checked: set[Generator] = set()
    while True:
        facet = next((c for c in facets.normals if c not in checked and any(c[1:])), None)
        if facet is None:
            return generators
        g = push([-x for x in facet[1:]])
        if sum(a * b for a, b in zip(facet, g, strict=True)) < 0:
            generators.append(g)
            facets.add(g)
        else:
            checked.add(facet)


class _Facets:
    """Normals c >= 0 on all generators, by double description: they follow the hull as it grows."""

    def __init__(self, generators: Sequence[Generator]) -> None:
        width = len(generators[0])
        self.generators = list(generators)
        self.normals: list[Generator] = []
        for i in range(width):
            others = [list(g) for k, g in enumerate(generators) if k != i]
            c = tuple(integer_row(null_space(others, width)[0])[0])
            sign = 1 if sum(a * b for a, b in zip(c, generators[i], strict=True)) > 0 else -1
            self.normals.append(tuple(sign * x for x in c))

    def _tight(self, c: Generator) -> frozenset[int]:
        return frozenset(k for k, g in enumerate(self.generators) if not sum(a * b for a, b in zip(c, g, strict=True)))

    def add(self, g: Generator) -> None:
        """Add a generator: cut off the normals that are negative on it."""
        value = {c: sum(a * b for a, b in zip(c, g, strict=True)) for c in self.normals}
        tight = {c: self._tight(c) for c in self.normals}
        new = []
        for p in (c for c in self.normals if value[c] > 0):
            for m in (c for c in self.normals if value[c] < 0):
                common = tight[p] & tight[m]
                if any(common <= tight[c] for c in self.normals if c not in (p, m)):
                    continue
                mixed = [Fraction(value[p] * b - value[m] * a) for a, b in zip(p, m, strict=True)]
                new.append(tuple(integer_row(mixed)[0]))
        self.generators.append(g)
        self.normals = [c for c in self.normals if value[c] >= 0] + new


def _extreme(generators: Sequence[Generator]) -> list[Generator]:
    """Leave out the generators that lie in the cone of the others."""
    left = sorted(set(generators))
    for g in list(left):
        others = [x for x in left if x != g]
        if others and _in_cone(others, g):
            left = others
    return left


def _in_cone(generators: Sequence[Generator], g: Sequence[int]) -> bool:
    count = len(generators)
    rows = [[x[i] for x in generators] + [g[i]] for i in range(len(g))]
    rows += [[int(i == j) for j in range(count)] + [0] for i in range(count)]
    return feasible(rows, [EQUAL] * len(g) + [AT_LEAST] * count, count).point is not None


def meet(a: Hull, b: Hull) -> bool:
    """Whether two hulls have a point in common."""
    if a.is_point and b.is_point:
        return a.vertices == b.vertices
    columns: list[list[Fraction]] = []
    for sign, hull in ((1, a), (-1, b)):
        heads = [[Fraction(hull is a), Fraction(hull is b)]] * len(hull.vertices) + [[Fraction(0)] * 2] * len(hull.rays)
        columns += [head + [sign * x for x in g] for head, g in zip(heads, [*hull.vertices, *hull.rays], strict=True)]
    count, height = len(columns), len(columns[0])
    rows = [integer_row([*(c[i] for c in columns), Fraction(i < 2)])[0] for i in range(height)]
    rows += [[int(i == j) for j in range(count)] + [0] for i in range(count)]
    return feasible(rows, [EQUAL] * height + [AT_LEAST] * count, count).point is not None


def components(hulls: Sequence[Hull]) -> list[list[int]]:
    """Group hulls that hang together, each group and the groups in the order of their first member."""
    groups: list[list[int]] = []
    for i, hull in enumerate(hulls):
        touched = [group for group in groups if any(meet(hull, hulls[k]) for k in group)]
        merged = sorted([i, *(k for group in touched for k in group)])
        groups = [group for group in groups if group not in touched] + [merged]
    return sorted(groups)
