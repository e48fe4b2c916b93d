"""Surfaces of triangles as blocks of the table of solids, for the kernels: as in `solid_tables`, and a tree of boxes.

What differs from a polyhedron: a border edge has -1 as its right face, an edge of a seam -2 less the row of its normals
(see `seams`, which also puts rows of ways into column 5 of corners); column 5 of corners and edges says (1) where the
surface is convex, so that something can rest on them; triangles in one plane that hang together are one face in labels,
the first of them. After the loops come

* one row per triangle, in the order of the tree: the triangle, and the face it counts as;
* boxes: of every triangle in that order, then of eight boxes of the level below, up to one.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Array, IntArray
from ..solid_hull import FLAT, morton_order
from ..solid_tables import HEAD, block_of_loops

FAN = 8  # boxes in a box


def surface_block(corners: Array, triangles: IntArray, start: int) -> Array:
    """Return the block of a surface that begins with row `start`."""
    normals, offsets = planes_of(corners, triangles)
    edges = edges_of(triangles)
    size = float(np.ptp(corners, axis=0).max())
    convex, level = _bends(corners, triangles, edges, normals, offsets, FLAT * size)
    V, E, F = len(corners), len(edges), len(triangles)
    faces = (triangles.ravel(), np.full(F, 3))
    block = block_of_loops(corners, edges, np.column_stack([normals, offsets]), faces, start)
    block[HEAD + V + 2 * E : HEAD + V + 3 * E, 5] = convex
    block[HEAD + np.unique(edges[convex, :2]), 5] = 1.0
    order = morton_order(corners[triangles].mean(axis=1))
    rows = np.zeros((F, 6))
    rows[:, 0], rows[:, 1] = order, joined(F, edges[level, 2:])[order]
    return np.concatenate([block, rows, box_tree(corners[triangles[order]])])


def planes_of(corners: Array, triangles: IntArray) -> tuple[Array, Array]:
    """Return normals of length one, and offsets; zeros for triangles without area."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(length > 0.0, length, 1.0)[:, None]
    return normals, np.einsum("ij,ij->i", normals, a)


def edges_of(triangles: IntArray) -> IntArray:
    """Return the edges, shape (E, 4): corners, the triangle on the left on the way, and on the right or -1."""
    ways = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    faces = np.tile(np.arange(len(triangles)), 3)
    low, high = ways.min(axis=1), ways.max(axis=1)
    order = np.lexsort((ways[:, 0] != low, high, low))
    low, high, forward, faces = low[order], high[order], (ways[:, 0] == low)[order], faces[order]
    first = np.flatnonzero(np.r_[True, (np.diff(low) != 0) | (np.diff(high) != 0)])
    two = np.diff(np.r_[first, len(low)]) == 2
    last = np.where(two, first + 1, first)
    turned = ~forward[first]  # only a border: it runs from its larger to its smaller corner
    ends = np.where(turned, high[first], low[first]), np.where(turned, low[first], high[first])
    return np.column_stack([*ends, faces[first], np.where(two, faces[last], -1)])


def _bends(
    corners: Array, triangles: IntArray, edges: IntArray, normals: Array, offsets: Array, flat: float
) -> tuple[Array, Array]:
    """Return which edges are convex (borders are), and which are within a plane."""
    left, right = edges[:, 2], edges[:, 3]
    others = triangles[right]
    far = others[np.arange(len(edges)), _third(others, edges[:, :2])]
    rise = np.einsum("ij,ij->i", normals[left], corners[far]) - offsets[left]
    inner = right >= 0
    return ~inner | (rise < -flat), inner & (np.abs(rise) <= flat)


def _third(triangles: IntArray, ends: IntArray) -> IntArray:
    """Return which corner of every triangle is none of two."""
    found: IntArray = np.argmax((triangles != ends[:, :1]) & (triangles != ends[:, 1:]), axis=1)
    return found


def joined(count: int, pairs: IntArray) -> IntArray:
    """Return for every triangle the first of those that hang together with it by pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(pairs))
    graph = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    groups, number = connected_components(graph, directed=False)
    first = np.full(groups, count, dtype=np.int64)
    np.minimum.at(first, number, np.arange(count))
    found: IntArray = first[number]
    return found


def box_tree(triangles: Array) -> Array:
    """Return lower and upper corners of the boxes of all levels, shape (k, 6), of triangles, shape (F, 3, 3)."""
    level = np.hstack([triangles.min(axis=1), triangles.max(axis=1)])
    levels = [level]
    while len(level) > 1:
        starts = np.arange(0, len(level), FAN)
        low, high = (np.minimum.reduceat(level[:, :3], starts), np.maximum.reduceat(level[:, 3:], starts))
        level = np.hstack([low, high])
        levels.append(level)
    return np.concatenate(levels)
