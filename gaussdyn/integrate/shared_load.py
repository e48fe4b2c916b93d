"""Reactions of redundant rows: which of them obey the laws, where any do.

Rows that depend on one another leave the reactions r0 + Z y open. The shortest r0 is taken where it lies in all cones;
else the one that is farthest inside, a linear program (cones in space by their tangent planes, cut again where it
helps). The accelerations do not depend on it: Z spans what gives no force at all. Corners of a face that slide in
different directions have normals that depend on one another, but no such shares. Reactions that share nothing with
one another are shared apart: what one body cannot carry, or no share can help, says nothing about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..arrays import Array
from .instants import RANK

CUTS = 8  # linear programs solved for cones in space
FINE = 1e-11  # of the largest reaction: a cone is exact enough
INSIDE = 1e-3  # of the largest reaction: so far inside nobody asks how far exactly
SIDES = 8


@dataclass(slots=True, eq=False)
class Cones:
    """Half-spaces p . r + given >= slack in the space of reactions held, and the cones from which more are cut.

    Attributes
    ----------
    planes : list of Array
    given : list of float
        Of the planes, N: the cap of dry friction, else zero.
    discs : list of (Array, float, slice)
        limit . r + cap - |r[slice]| >= slack.
    """

    planes: list[Array] = field(default_factory=list)
    given: list[float] = field(default_factory=list)
    discs: list[tuple[Array, float, slice]] = field(default_factory=list)

    def add(self, plane: Array) -> None:
        """Add a half-space without a given force."""
        self.planes.append(plane)
        self.given.append(0.0)

    def add_disc(self, limit: Array, at: slice, cap: float = 0.0) -> None:
        """Add a cone, or with a cap (N) and no limit a disc: exact in the plane, by eight tangent planes in space."""
        size = at.stop - at.start
        if size == 1:
            edges: list[tuple[float, ...]] = [(1.0,), (-1.0,)]
        else:
            edges = [(float(np.cos(x)), float(np.sin(x))) for x in 2.0 * np.pi * np.arange(SIDES) / SIDES]
            self.discs.append((limit, cap, at))
        for e in edges:
            self.cut(limit, cap, at, np.array(e))

    def moved_by(self, Z: Array) -> Cones:
        """Return those that the columns of Z move."""
        part = Cones()
        for plane, given in zip(self.planes, self.given, strict=True):
            if np.abs(plane @ Z).max() > RANK * np.abs(plane).max():
                part.planes.append(plane)
                part.given.append(given)
        part.discs = [
            (limit, cap, at) for limit, cap, at in self.discs
            if max(np.abs(limit @ Z).max(), np.abs(Z[at]).max()) > RANK
        ]  # fmt: skip
        return part

    def slack(self, r: Array) -> float:
        """Return how far reactions are inside all cones, N."""
        return min([self.least(r), *(_room(r, *disc) for disc in self.discs)])

    def least(self, r: Array) -> float:
        """Return how far reactions are inside all half-spaces, N."""
        return min((float(plane @ r) + cap for plane, cap in zip(self.planes, self.given, strict=True)), default=np.inf)

    def cut(self, limit: Array, cap: float, at: slice, e: Array) -> None:
        """Add the plane that touches a cone in direction e."""
        plane = limit.copy()
        plane[at] -= e
        self.planes.append(plane)
        self.given.append(cap)


def inside(B: Array, r0: Array, cones: Callable[[], Cones]) -> Array:
    """Return the solution of B r = B r0 that is farthest inside the cones, and r0 where that is not found.

    Parameters
    ----------
    B : Array, shape (m, n)
        The generalised forces of reactions.
    r0 : Array, shape (n,)
    """
    Z = _null_space(B)
    if not Z.shape[1] or not r0.any():
        return r0
    found, all_cones = r0, cones()
    for part in _apart(Z, all_cones.planes):
        found = _farthest_inside(part, found, all_cones.moved_by(part))
    return found


def _farthest_inside(Z: Array, r0: Array, cones: Cones) -> Array:
    """Return r0 + Z y farthest inside the cones, and r0 where that is not found."""
    found, size = r0, float(np.abs(r0).max(initial=0.0))
    for _ in range(CUTS if cones.planes else 0):
        planes = np.array(cones.planes)
        y = _farthest(planes @ Z / size, (planes @ r0 + cones.given) / size)
        if y is None:
            return found
        found = r0 + Z @ y
        if cones.slack(found) > INSIDE * size:
            break
        slack = cones.least(found)  # which a cone is farther away from than the nearest plane says
        new = [
            (*disc, found[disc[2]] / np.linalg.norm(found[disc[2]]))
            for disc in cones.discs
            if np.linalg.norm(found[disc[2]]) > 0.0 and slack - _room(found, *disc) > FINE * size
        ]
        if not new:
            break
        for limit, cap, at, e in new:
            cones.cut(limit, cap, at, e)
    return found


def _apart(Z: Array, planes: Sequence[Array]) -> list[Array]:
    """Return bases of the parts of the span of Z whose reactions have nothing to do with one another, cones neither."""
    P = Z @ Z.T
    near, moves = np.abs(P) > RANK, np.diagonal(P) > RANK
    for plane in planes:
        on = (plane != 0.0) & moves
        near |= np.outer(on, on)
    label = connected_components(coo_array(near), directed=False)[1]
    found = []
    for one in np.unique(label[moves]):
        here = np.flatnonzero((label == one) & moves)
        U, s, _ = np.linalg.svd(P[np.ix_(here, here)])  # a projection: its singular values are 0 and 1
        part = np.zeros((len(P), int(np.count_nonzero(s > 0.5))))
        part[here] = U[:, s > 0.5]
        found.append(part)
    return found


def _room(r: Array, limit: Array, cap: float, at: slice) -> float:
    """Return how far reactions are inside one cone, N."""
    return float(limit @ r) + cap - float(np.linalg.norm(r[at]))


def _farthest(P: Array, c: Array) -> Array | None:
    """Maximise s <= 1 with P y + c >= s; None without an answer."""
    k = P.shape[1]
    A = np.hstack([-P, np.ones((len(P), 1))])
    cost = np.r_[np.zeros(k), -1.0]
    answer = linprog(cost, A_ub=A, b_ub=c, bounds=[(None, None)] * k + [(None, 1.0)], method="highs")
    return np.asarray(answer.x[:k]) if answer.status == 0 else None


def _null_space(B: Array) -> Array:
    singular, rows = np.linalg.svd(B)[1:]
    rank = int(np.count_nonzero(singular > RANK * singular[0]))
    return np.ascontiguousarray(rows[rank:].T)
