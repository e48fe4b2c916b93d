"""Seams between surfaces that lie side by side: what bodies can touch of their edges is what the whole of them has.

A surface is material behind its triangles: about an edge it fills a wedge. Where edges of several surfaces run along
each other, their wedges make one: if it is as wide as half a turn or wider, nothing is run into there, as within one
mesh; otherwise the edge is touched from between the faces of the one wedge. Where a seam is covered in part only, its
edge stays as it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ....arrays import Array, IntArray
from ....linalg.rotations import matrix_of
from ..solid_tables import COLUMNS
from .surface_tables import edges_of
from .surfaces import Surface

NEAR = 1e-7  # of the size of a surface: edges this far apart run along each other
LEVEL = 1e-7  # rad: a bend by less is none
ALIKE = 1e-5  # components of directions of lines that may be one; lines by as much of the size
SHIFTS = (0.37, 0.87)  # of the cells in which lines are looked up
NEITHER = np.array([0.3141, 0.5926, 0.7415])  # a direction that no edge is across, to tell both ways along a line
QUARTER = 0.5 * math.pi
BACK = 1e-6  # of the size: a face that ends in others is run into so far from there, see `primitives.LEVEL`
Wedge = tuple[float, float, bool, bool]
"""From where to where (rad) material is about an edge, and whether its left face, and its right one, are within it."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A surface, in space.

    Attributes
    ----------
    row : int
        First row of its block.
    corners : Array, shape (V, 3)
        m.
    triangles : IntArray, shape (F, 3)
    edges : IntArray, shape (E, 4)
        As in `surface_tables.edges_of`.
    turn : Array, shape (3, 3)
        From its axes to those of space.
    size : float
        Of the box that holds it, m.
    """

    row: int
    corners: Array
    triangles: IntArray
    edges: IntArray
    turn: Array
    size: float


def ground_of(surface: Surface, row: int) -> Ground:
    """Return a surface as it is in space; its block begins with a row."""
    turn = matrix_of(surface.turn)
    corners = surface.corners @ turn.T + np.array(surface.at)
    size = float(np.ptp(corners, axis=0).max())
    return Ground(row, corners, surface.triangles, edges_of(surface.triangles), turn, size)


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Edges that may be part of a seam: surface, number, both ends along the way `u` of a line with point `foot`."""

    surface: IntArray
    edge: IntArray
    start: Array
    end: Array
    u: Array
    foot: Array


def with_seams(solids: Array, grounds: Sequence[Ground]) -> Array:
    """Return the table of solids where edges and corners of seams are those of the surfaces together.

    Parameters
    ----------
    solids : Array, shape (k, 6)
    grounds : sequence of Ground
        Those that everything may touch that may touch one of them.
    """
    lines = _lines(grounds)
    table, more = solids.copy(), list[Array]()
    kept, passing = dict[tuple[int, int], int](), defaultdict[tuple[int, int], set[tuple[int, int]]](set)
    for k, others in _along(lines, grounds):
        a, e = int(lines.surface[k]), int(lines.edge[k])
        for other in others.tolist():
            for corner in grounds[a].edges[e, :2].tolist():
                passing[a, corner].add((int(lines.surface[other]), int(lines.edge[other])))
        m = int(solids[grounds[a].row, 5]) + e  # its row
        wedge = _wedge(grounds, lines, k, others) if solids[m, 5] > 0.0 else None
        if wedge is None:
            continue
        for side in range(2):
            if wedge[2 + side]:
                _draw_back(table, grounds[a], e, side)
        if wedge[1] - wedge[0] > math.pi - LEVEL:
            table[m, 5] = 0.0
            continue
        table[m, 3] = -2.0 - (len(solids) + len(more))
        more.append(_normals(grounds[a], e, wedge))
        if any(_same_ends(lines, k, other) and lines.surface[other] < a for other in others.tolist()):
            kept[a, e] = m
    _corners(table, grounds, passing, more)
    for m in kept.values():
        table[m, 5] = 0.0  # the other surface has it
    return np.concatenate([table, *[rows.reshape(-1, COLUMNS) for rows in more]])


def _lines(grounds: Sequence[Ground]) -> Lines:
    """Return the edges of surfaces that are where another one is."""
    surfaces, numbers, firsts, lasts = list[IntArray](), list[IntArray](), list[Array](), list[Array]()
    least, most = (
        np.array([way(g.corners, axis=0) + more * NEAR * g.size for g in grounds])
        for way, more in ((np.min, -1.0), (np.max, 1.0))
    )
    for a, ground in enumerate(grounds):
        p, q = (ground.corners[ground.edges[:, k]] for k in range(2))
        low, high = np.minimum(p, q), np.maximum(p, q)
        shared = np.zeros(len(p), dtype=bool)
        for b in np.flatnonzero(np.all((least[a] <= most) & (least <= most[a]), axis=1)).tolist():
            if b != a:
                shared |= np.all(low <= most[b], axis=1) & np.all(least[b] <= high, axis=1)
        found = np.flatnonzero(shared)
        surfaces.append(np.full(len(found), a))
        numbers.append(found)
        firsts.append(p[found])
        lasts.append(q[found])
    p, q = np.concatenate(firsts), np.concatenate(lasts)
    middle = p.mean(axis=0) if len(p) else np.zeros(3)
    p, q = p - middle, q - middle
    way = q - p
    forward = way @ NEITHER > 0.0
    u = np.where(forward, 1.0, -1.0)[:, None] * way / np.linalg.norm(way, axis=1)[:, None]
    ends = np.stack([np.vecdot(p, u), np.vecdot(q, u)])
    foot = p - np.vecdot(p, u)[:, None] * u
    return Lines(np.concatenate(surfaces), np.concatenate(numbers), ends.min(axis=0), ends.max(axis=0), u, foot)


def _along(lines: Lines, grounds: Sequence[Ground]) -> Iterator[tuple[int, IntArray]]:
    """Return one by one the edges that some of other surfaces run along, and these."""
    if not len(lines.edge):
        return
    sizes = np.array([ground.size for ground in grounds])
    keys = np.hstack([lines.u / ALIKE, lines.foot / (10.0 * ALIKE * sizes.max())])
    cells = [np.unique(np.round(keys + shift), axis=0, return_inverse=True)[1].ravel() for shift in SHIFTS]
    members = [np.split(np.argsort(c, kind="stable"), np.cumsum(np.bincount(c))[:-1]) for c in cells]
    shared = np.zeros(len(lines.edge), dtype=bool)
    for c in cells:
        least, most = np.full(c.max() + 1, len(grounds)), np.full(c.max() + 1, -1)
        np.minimum.at(least, c, lines.surface)
        np.maximum.at(most, c, lines.surface)
        shared |= (least < most)[c]
    for k in np.flatnonzero(shared).tolist():
        near = np.concatenate([found[c[k]] for found, c in zip(members, cells, strict=True)])
        near = np.unique(near[lines.surface[near] != lines.surface[k]])
        slack = NEAR * np.minimum(sizes[lines.surface[near]], sizes[lines.surface[k]])
        over = (lines.start[near] < lines.end[k] - slack) & (lines.end[near] > lines.start[k] + slack)
        for ends in (lines.start, lines.end):
            off = lines.foot[near] + ends[near][:, None] * lines.u[near] - lines.foot[k]
            off = off - (off @ lines.u[k])[:, None] * lines.u[k]
            over &= np.linalg.norm(off, axis=1) <= slack
        if over.any():
            yield k, near[over]


def _wedge(grounds: Sequence[Ground], lines: Lines, k: int, others: IntArray) -> Wedge | None:
    """Return the wedge about edge k where it is narrowest; None where the edge is alone."""
    ground, e = grounds[int(lines.surface[k])], int(lines.edge[k])
    n, u = _normal(ground, ground.edges[e, 2]), _way(ground, e)
    basis = np.stack([np.cross(n, u), n, u])
    own, best, shown = _wedge_of(ground, e, basis), (0.0, math.inf), [False, False]
    slack = NEAR * ground.size
    cuts = np.unique(np.clip(np.r_[lines.start[others], lines.end[others], lines.start[k], lines.end[k]],
                             lines.start[k], lines.end[k]))  # fmt: skip
    for low, high in pairwise(cuts.tolist()):
        if high - low <= slack:
            continue
        middle = 0.5 * (low + high)
        here = others[(lines.start[others] < middle) & (lines.end[others] > middle)]
        if not len(here):
            return None
        wedges = [_beside(grounds[int(lines.surface[o])], int(lines.edge[o]), basis, own) for o in here]
        one = _together((own[0], own[1]), wedges)
        best = one if one[1] - one[0] < best[1] - best[0] else best
        shown = [shown[0] or one[1] < own[1] + LEVEL, shown[1] or one[0] > own[0] - LEVEL]
    return (*best, not shown[0], not shown[1])


def _draw_back(table: Array, ground: Ground, e: int, side: int) -> None:
    """Let the face on the left (0) or right (1) of an edge end before it: there it goes on within other surfaces."""
    f = int(ground.edges[e, 2 + side])
    if f >= 0:
        first = int(table[int(table[ground.row + 1, 0]) + f, 4])
        row = first + int(np.flatnonzero(table[first : first + 3, 1] == e)[0])
        table[row, 5] += BACK * ground.size


def _way(ground: Ground, e: int) -> Array:
    a, b = ground.corners[ground.edges[e, :2]]
    found: Array = (b - a) / np.linalg.norm(b - a)
    return found


def _normal(ground: Ground, f: int) -> Array:
    """Return the normal of a triangle, in space."""
    a, b, c = ground.corners[ground.triangles[f]]
    n = np.cross(b - a, c - a)
    found: Array = n / np.linalg.norm(n)
    return found


def _wedge_of(ground: Ground, e: int, basis: Array) -> tuple[float, float, bool]:
    """Return from where to where there is material about an edge, and whether it is a border.

    Angles are about the third vector of the basis, from the first. A border counts as a quarter turn.
    """
    angles, u = [math.nan, math.nan], _way(ground, e)
    forward = float(u @ basis[2]) > 0.0
    for side, f in enumerate(ground.edges[e, 2:4].tolist()):
        if f >= 0:
            n = _normal(ground, f)
            inward = basis[:2] @ (np.cross(n, u) if side == 0 else np.cross(u, n))
            angles[side] = math.atan2(inward[1], inward[0])
    high, low = angles if forward else angles[::-1]
    if math.isnan(low):
        return high - QUARTER, high, True
    if math.isnan(high):
        return low, low + QUARTER, True
    return high - (high - low) % (2.0 * math.pi), high, False


def _beside(ground: Ground, e: int, basis: Array, own: tuple[float, float, bool]) -> tuple[float, float]:
    """Return the wedge of another edge; borders that meet make one surface, whatever is behind them."""
    low, high, border = _wedge_of(ground, e, basis)
    if border and own[2] and float(_way(ground, e) @ basis[2]) < 0.0:
        return own[1] - (own[1] - low) % (2.0 * math.pi), own[1]
    return low, high


def _together(wedge: tuple[float, float], others: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a wedge with all others that hang together with it."""
    low, high = wedge
    for _ in others:
        for first, last in others:
            width, turn = last - first, 2.0 * math.pi
            start = low - LEVEL + (first - low + LEVEL) % turn
            if start <= high + LEVEL:
                high = max(high, start + width)
            if start + width >= low + turn - LEVEL:
                low = min(low, start - turn)
    return low, high


def _normals(ground: Ground, e: int, wedge: Wedge) -> Array:
    """Return the normals at both sides of a wedge, in the axes of the surface: one row."""
    n, u = _normal(ground, ground.edges[e, 2]), _way(ground, e)
    across = np.cross(n, u)
    low, high = wedge[0] - QUARTER, wedge[1] + QUARTER
    both = [math.cos(angle) * across + math.sin(angle) * n for angle in (high, low)]
    return np.concatenate([ground.turn.T @ one for one in both])


def _same_ends(lines: Lines, k: int, other: int) -> bool:
    slack = 10.0 * NEAR * (lines.end[k] - lines.start[k])
    return bool(max(abs(lines.start[k] - lines.start[other]), abs(lines.end[k] - lines.end[other])) <= slack)


def _corners(
    table: Array, grounds: Sequence[Ground], passing: dict[tuple[int, int], set[tuple[int, int]]], more: list[Array]
) -> None:
    """Say of corners of seams whether an edge there is convex, and which edges of other surfaces are there."""
    for (a, k), edges in sorted(passing.items()):
        ground = grounds[a]
        m = int(table[ground.row, 3]) + k
        first, p = int(table[m, 3]), ground.corners[k]
        near = table[first : first + int(table[m, 4]), 0].astype(np.int64)
        ways, taken = list[Array](), False
        for b, e in sorted(edges):
            found, corner = _ways_from(table, grounds[b], e, p, NEAR * min(ground.size, grounds[b].size))
            ways += list(found @ ground.turn)
            taken = taken or (b < a and corner >= 0 and table[int(table[grounds[b].row, 3]) + corner, 5] > 0.0)
        if taken or not (table[int(table[ground.row, 5]) + near, 5] > 0.0).any():
            table[m, 5] = 0.0
        elif ways:
            table[m, 5] = float(len(table) + len(more))
            more.append(np.array([len(ways), 0.0, 0.0, 0.0, 0.0, 0.0]))
            more += [np.concatenate([way, np.zeros(3)]) for way in ways]


def _ways_from(table: Array, ground: Ground, e: int, p: Array, slack: float) -> tuple[Array, int]:
    """Return the ways along a surface from a point on its edge e to the corners about, and the corner there, or -1."""
    ends = ground.edges[e, :2]
    here = np.linalg.norm(ground.corners[ends] - p, axis=1) <= slack
    if here.any():
        corner = int(ends[here.argmax()])
        first, count = table[int(table[ground.row, 3]) + corner, 3:5].astype(np.int64)
        near = table[first : first + count, 1].astype(np.int64)
        return ground.corners[near] - ground.corners[corner], corner
    t = (p - ground.corners[ends[0]]) @ _way(ground, e)
    if not slack < t < np.linalg.norm(ground.corners[ends[1]] - ground.corners[ends[0]]) - slack:
        return np.zeros((0, 3)), -1
    others = [ground.triangles[f] for f in ground.edges[e, 2:4] if f >= 0]
    ways = [*(ground.corners[ends] - p), *(ground.corners[t[~np.isin(t, ends)][0]] - p for t in others)]
    return np.array(ways), -1
