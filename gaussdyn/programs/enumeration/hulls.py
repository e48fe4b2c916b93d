"""Convex hulls in exact arithmetic: vertices and rays of a set known by linear programs, and what hangs together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ...linalg.rational import dot, integer_row, null_space
from ..proof.exact_linear import AT_LEAST, EQUAL, feasible

Vector = tuple[Fraction, ...]
Generator = tuple[int, ...]  # homogeneous: (1, point) up to scale, or (0, direction)


@dataclass(frozen=True, slots=True)
class Hull:
    """Convex hull of vertices plus the cone of rays (a line is two opposite rays)."""

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...] = ()

    @property
    def is_point(self) -> bool:
        """Whether it is a single point."""
        return len(self.vertices) == 1 and not self.rays


def homogeneous(head: int, coordinates: Sequence[Fraction]) -> Generator:
    """Return a point (head 1) or a direction (head 0) as coprime integers."""
    return tuple(integer_row([Fraction(head), *coordinates])[0])


def grow(outermost: Callable[[Sequence[int]], Generator], inside: Generator) -> list[Generator]:
    """Return the vertices and rays of a polyhedron of full dimension, as generators of the cone over it.

    The hull grows from inside: every facet of the hull found so far is pushed outwards by a linear program until none
    gives way (convex hull method, Lassez and Lassez 1992).

    Parameters
    ----------
    outermost : callable
        Returns the generator furthest along a direction.
    inside : Generator
        A point of the polyhedron.
    """
    generators = _spanning(outermost, inside)
    facets, checked = _Facets(generators), {(1, *[0] * (len(inside) - 1))}
    while open_ := [c for c in facets.normals if c not in checked]:
        g = outermost([-x for x in open_[0][1:]])
        if dot(open_[0], g) < 0:
            facets.add(g)
        else:
            checked.add(open_[0])
    return _extreme(facets.generators)


def _spanning(outermost: Callable[[Sequence[int]], Generator], inside: Generator) -> list[Generator]:
    """Return independent generators, as many as there are homogeneous coordinates."""
    generators = [inside]
    while normals := null_space(generators, len(inside)):
        c = integer_row(normals[0])[0]
        g = outermost(c[1:])
        generators.append(g if dot(c, g) else outermost([-x for x in c[1:]]))
    return generators


class _Facets:
    """Normals c >= 0 on all generators, by double description: they follow the hull as it grows."""

    def __init__(self, generators: Sequence[Generator]) -> None:
        width = len(generators[0])
        self.generators = list(generators)
        self.normals: list[Generator] = []
        for i in range(width):
            others = [g for k, g in enumerate(generators) if k != i]
            c = tuple(integer_row(null_space(others, width)[0])[0])
            sign = 1 if dot(c, generators[i]) > 0 else -1
            self.normals.append(tuple(sign * x for x in c))

    def _tight(self, c: Generator) -> frozenset[int]:
        return frozenset(k for k, g in enumerate(self.generators) if not dot(c, g))

    def add(self, g: Generator) -> None:
        """Add a generator: cut off the normals that are negative on it."""
        value = {c: dot(c, g) for c in self.normals}
        tight = {c: self._tight(c) for c in self.normals}
        pairs = product((c for c in self.normals if value[c] > 0), (c for c in self.normals if value[c] < 0))
        new = []
        for p, m in pairs:
            common = tight[p] & tight[m]
            if not any(common <= tight[c] for c in self.normals if c not in (p, m)):  # p and m are neighbours
                mixed = [value[p] * b - value[m] * a for a, b in zip(p, m, strict=True)]
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
