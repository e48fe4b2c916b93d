"""Surfaces of triangles to look at, coarse enough for a page of a robot to stay small."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, IntArray

MOST, FEWEST = 40_000, 300  # triangles of a robot, and of each of its meshes
FINEST = 400  # cells along the longest side
FINER = 0.8


def share_of(meshes: int) -> int:
    """Return how many triangles each of so many meshes may have."""
    return max(FEWEST, MOST // max(meshes, 1))


def coarsened(vertices: Array, faces: IntArray, most: int) -> tuple[Array, IntArray]:
    """Return a surface with at most so many triangles: vertices in one cell of a grid become one.

    Parameters
    ----------
    vertices : Array, shape (k, 3)
        m.
    faces : IntArray, shape (F, 3)
    most : int

    Returns
    -------
    vertices, faces
        The mean of the vertices of a cell stands for them (Rossignac, Borrel 1993).
    """
    low, side = vertices.min(axis=0), max(float(np.ptp(vertices, axis=0).max()), 1e-300)
    found, cells = (vertices, faces), FINEST
    while len(found[1]) > most and cells > 1:
        found = _clustered(vertices, faces, np.minimum((vertices - low) * (cells / side), cells - 1).astype(np.int64))
        cells = int(FINER * cells)
    return found


def _clustered(vertices: Array, faces: IntArray, cell: IntArray) -> tuple[Array, IntArray]:
    _, number, count = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
    number = number.ravel()
    middle = np.column_stack([np.bincount(number, weights=x) for x in vertices.T]) / count[:, None]
    joined = number[faces]
    joined = joined[(joined != joined[:, [1, 2, 0]]).all(axis=1)]
    first = np.argmin(joined, axis=1)[:, None]
    turned = np.take_along_axis(joined, (first + np.arange(3)) % 3, axis=1)  # the same triangle begins the same way
    return middle, np.unique(turned, axis=0)
