"""Brick walls of any size as contact problems in global form, with bilateral rows: what solvers are measured on.

Bricks in running bond stand on the ground: four contacts where two of them touch. The ground tilts a little, so that
friction works, and some neighbours are bolted together (three bilateral rows each).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...arrays import Array, IntArray
from ...programs.laws.laws import Coulomb
from ...programs.problems.complementarity import GlobalForm

LENGTH, DEPTH, HEIGHT = 0.4, 0.2, 0.2  # m
DENSITY = 2000.0  # kg/m^3
TILT = 0.1  # rad
GRAVITY, STEP = 9.81, 1e-3  # m/s^2, s
BOLTED = 10  # one brick in so many is bolted to its right neighbour


def wall(contacts: int, mu: float = 0.6) -> tuple[GlobalForm, list[Coulomb]]:
    """Return the first time step of a wall about as high (in courses) as it is wide (in bricks), at rest.

    Parameters
    ----------
    contacts : int
        About how many contacts; a wall of n courses of n bricks has about 8 n^2.
    mu : float

    Returns
    -------
    GlobalForm
        Unknowns: velocity (m/s) and angular velocity (rad/s), in space axes, of every brick; reactions are impulses.
    list of Coulomb
        One law per contact, all the same.
    """
    n = max(round((contacts / 8.0) ** 0.5), 2)
    bricks = [(course, *ends) for course in range(n) for ends in _course(n, course % 2 == 1)]
    centres = np.array([(0.5 * (a + b), 0.0, (course + 0.5) * HEIGHT) for course, a, b in bricks])
    meetings = _meetings(bricks)
    points = np.array([point for _, _, point in meetings])
    upper, lower = (np.array([pair[k] for pair in meetings]) for k in range(2))
    axes = np.eye(3)[[2, 0, 1]]
    J = _rows(points, upper, centres, axes) - _rows(points, lower, centres, axes)
    law = Coulomb(mu)
    M, h = _inertia(bricks)
    G = _bolts(bricks, centres)
    form = GlobalForm(M=M, h=h, J=J, w=np.zeros(3 * len(points)), G=G, b=np.zeros(G.shape[0]))
    return form, [law] * len(points)


def _course(n: int, odd: bool) -> list[tuple[float, float]]:
    """Return the ends of the bricks of a course; odd ones begin and end with half a brick."""
    ends = np.arange(n + 1) * LENGTH
    if odd:
        ends = np.r_[0.0, np.arange(n) * LENGTH + 0.5 * LENGTH, n * LENGTH]
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _meetings(bricks: list[tuple[int, float, float]]) -> list[tuple[int, int, tuple[float, float, float]]]:
    """Return (upper brick, lower brick or -1 for the ground, point) of every contact."""
    found = []
    for k, (course, a, b) in enumerate(bricks):
        below = [(j, c, d) for j, (other, c, d) in enumerate(bricks[:k]) if other == course - 1 and c < b and a < d]
        for j, c, d in below if course else [(-1, a, b)]:
            for x in (max(a, c), min(b, d)):
                found += [(k, j, (x, y, course * HEIGHT)) for y in (-0.5 * DEPTH, 0.5 * DEPTH)]
    return found


def _rows(points: Array, body: IntArray, centres: Array, axes: Array) -> sp.csr_array:
    """Return the rows of the velocities along the axes of points that belong to bodies; no body (-1): zeros."""
    k, a = np.flatnonzero(body >= 0), np.arange(len(axes))
    arm = points[k] - centres[body[k]]
    values = np.concatenate([np.tile(axes, (len(k), 1, 1)), np.cross(arm[:, None, :], axes[None])], axis=2)
    rows = np.broadcast_to((len(axes) * k[:, None] + a)[:, :, None], values.shape)
    columns = np.broadcast_to((6 * body[k])[:, None, None] + np.arange(6), values.shape)
    shape = (len(axes) * len(points), 6 * len(centres))
    return sp.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape)


def _inertia(bricks: list[tuple[int, float, float]]) -> tuple[sp.csr_array, Array]:
    """Return the masses and M times the free velocity after one step under gravity on the tilted ground."""
    width = np.array([b - a for _, a, b in bricks])
    mass = DENSITY * DEPTH * HEIGHT * width
    squares = np.stack([np.full_like(width, DEPTH**2 + HEIGHT**2), width**2 + HEIGHT**2, width**2 + DEPTH**2], axis=1)
    diagonal = np.concatenate([np.tile(mass[:, None], 3), mass[:, None] / 12.0 * squares], axis=1)
    free = np.zeros_like(diagonal)
    free[:, 0], free[:, 2] = STEP * GRAVITY * np.sin(TILT), -STEP * GRAVITY * np.cos(TILT)
    return sp.csr_array(sp.diags_array(diagonal.ravel())), (diagonal * free).ravel()


def _bolts(bricks: list[tuple[int, float, float]], centres: Array) -> sp.csr_array:
    """Return the bilateral rows: the middle of the joint belongs to both neighbours."""
    left = np.array([k for k in range(0, len(bricks) - 1, BOLTED) if bricks[k][0] == bricks[k + 1][0]], dtype=np.int64)
    points = np.array([(bricks[k][2], 0.0, centres[k][2]) for k in left]).reshape(-1, 3)
    return sp.csr_array(_rows(points, left, centres, np.eye(3)) - _rows(points, left + 1, centres, np.eye(3)))
