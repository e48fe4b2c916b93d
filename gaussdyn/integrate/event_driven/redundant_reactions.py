"""Reactions of redundant rows: which of them obey the laws, where any do.

Rows that depend on one another leave the reactions r0 + Z y open. The shortest r0 is taken where it lies in all cones;
else the one that is farthest inside: a linear program (cones in space by tangent planes), and near the border of curved
cones Newton's method along the central path, which ends in the middle of those that are equally far inside. The
accelerations do not depend on it: Z spans what gives no force at all. Corners of a face that slide in different
directions have normals that depend on one another, but no such shares. Reactions that share nothing with one another
are shared apart: what one body cannot carry, or no share can help, says nothing about the others.

Source: Boyd, Vandenberghe (2004), Convex Optimization, 11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from ..._jit import A1, A2, kernel
from ...arrays import Array, BoolArray, IntArray
from ...linalg.redundant_rows import RANK

FINE = 1e-13  # of the largest reaction: how near to the farthest inside is near enough
INSIDE = 1e-3  # of the largest reaction: so far inside nobody asks how far exactly
SIDES = 8
SHARPER, CENTRED, NEWTON = 100.0, 0.25, 500  # of the central path: factor, Newton decrement, steps at most
PACES, ENOUGH = 30, 0.1  # of the length of such a step: tries, slope left


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
        part, planes = Cones(), np.array(self.planes).reshape(-1, len(Z))
        size = np.abs(planes).max(axis=1, initial=0.0)
        for k in np.flatnonzero(np.abs(planes @ Z).max(axis=1, initial=0.0) > RANK * size).tolist():
            part.planes.append(self.planes[k])
            part.given.append(self.given[k])
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
    size, planes = float(np.abs(r0).max(initial=0.0)), np.array(cones.planes)
    y = _farthest(planes @ Z, (planes @ r0 + cones.given) / size) if cones.planes else None
    if y is None:
        return r0
    found = r0 + Z @ (size * y)
    if not cones.discs or cones.slack(found) > INSIDE * size:
        return found
    return r0 + Z @ (size * _deepest(Depths.of(cones, r0, Z, size)))


def coupled(linked: BoolArray) -> IntArray:
    """Return for every row the first one that it is linked with, at once or through others.

    A search in a sparse graph takes ten times as long to begin as this takes for the few rows of a phase.
    """
    n, label = len(linked), np.arange(len(linked))
    both = linked | linked.T | np.eye(n, dtype=bool)
    while ((first := np.where(both, label, n).min(axis=1, initial=n)) != label).any():
        label = first
    return label


def _apart(Z: Array, planes: Sequence[Array]) -> list[Array]:
    """Return bases of the parts of the span of Z whose reactions have nothing to do with one another, cones neither."""
    P = Z @ Z.T
    near, moves = np.abs(P) > RANK, np.diagonal(P) > RANK
    on = ((np.array(planes).reshape(-1, len(Z)) != 0.0) & moves).astype(np.float64)
    label = coupled(near | (on.T @ on > 0.0))
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


@dataclass(frozen=True, slots=True, eq=False)
class Depths:
    """Half-spaces A z + a >= 0 and cones L z + l >= |X z + x| in z = (y, slack), relative to the largest reaction."""

    A: Array
    a: Array
    L: Array
    l: Array
    X: Array
    x: Array

    @staticmethod
    def of(cones: Cones, r0: Array, Z: Array, size: float) -> Depths:
        """Return what has to hold for r0 + size Z y to have a slack, of at most 1."""
        planes, limits = np.array(cones.planes), np.array([limit for limit, _, _ in cones.discs])
        caps = np.array([cap for _, cap, _ in cones.discs])
        parts = [Z[at] for _, _, at in cones.discs]
        flat, most = np.zeros((len(parts), 2, 1)), np.zeros((1, Z.shape[1]))
        return Depths(
            A=np.hstack([np.vstack([planes @ Z, most]), -np.ones((len(planes) + 1, 1))]),
            a=np.append((planes @ r0 + cones.given) / size, 1.0),
            L=np.hstack([limits @ Z, -np.ones((len(limits), 1))]), l=(limits @ r0 + caps) / size,
            X=np.concatenate([np.array(parts), flat], axis=2), x=np.array([r0[at] for _, _, at in cones.discs]) / size,
        )  # fmt: skip

    def outside(self) -> Array:
        """Return z with y = 0 that is well inside all of them: its slack is below zero enough."""
        z = np.zeros(self.A.shape[1])
        z[-1] = np.append(self.a, self.l - np.linalg.norm(self.x, axis=1)).min() - 1.0
        return z

    def slope(self, z: Array) -> tuple[Array, Array] | None:
        """Return gradient and Hessian of the barrier -sum log(A z + a) - sum log((L z + l)^2 - |X z + x|^2).

        None where rounding has led beyond a border: far away, where nothing bounds some of z.
        """
        rows = self.A / (self.A @ z + self.a)[:, None]
        l, x = self.L @ z + self.l, self.X @ z + self.x
        room = _square(l, x)
        if not room.min() > 0.0:
            return None
        curved = 2.0 * (l[:, None] * self.L - (x[:, None, :] @ self.X)[:, 0]) / room[:, None]
        X = self.X / np.sqrt(room)[:, None, None]
        flat = X.reshape(-1, X.shape[2])
        bent = (self.L / room[:, None]).T @ self.L - flat.T @ flat
        return -rows.sum(axis=0) - curved.sum(axis=0), rows.T @ rows + curved.T @ curved - 2.0 * bent

    def pace(self, z: Array, d: Array, pull: float) -> float:
        """Return s > 0 where the barrier less s pull is nearly least along z + s d: it is convex, falls at first."""
        p, dp = self.A @ z + self.a, self.A @ d
        l, x, dl, dx = self.L @ z + self.l, self.X @ z + self.x, self.L @ d, self.X @ d
        c = _square(l, x), 2.0 * (l * dl - (x * dx).sum(axis=1)), dl * dl - (dx * dx).sum(axis=1)
        return least_along(p, dp, l, dl, np.array(c), pull)


@kernel(f"float64({A1}, {A1}, {A1}, {A1}, {A2}, float64, float64)", borrows=True)
def slope_along(p: Array, dp: Array, l: Array, dl: Array, c: Array, s: float, pull: float) -> float:
    """Return the slope of the barrier less s pull at s, NaN beyond a border."""
    slope = -pull
    for i in range(len(p)):
        room = p[i] + s * dp[i]
        if not room > 0.0:
            return np.nan
        slope -= dp[i] / room
    for i in range(len(l)):
        room = c[0, i] + s * (c[1, i] + s * c[2, i])
        if not (room > 0.0 and l[i] + s * dl[i] > 0.0):
            return np.nan
        slope -= (c[1, i] + 2.0 * s * c[2, i]) / room
    return slope


@kernel(f"float64({A1}, {A1}, {A2}, float64)", borrows=True)
def bend_along(p: Array, dp: Array, c: Array, s: float) -> float:
    """Return the second derivative of the barrier at s."""
    bend = 0.0
    for i in range(len(p)):
        bend += (dp[i] / (p[i] + s * dp[i])) ** 2
    for i in range(c.shape[1]):
        room = c[0, i] + s * (c[1, i] + s * c[2, i])
        bend += ((c[1, i] + 2.0 * s * c[2, i]) / room) ** 2 - 2.0 * c[2, i] / room
    return bend


@kernel(f"float64({A1}, {A1}, {A1}, {A1}, {A2}, float64)", borrows=True, entry=True)
def least_along(p: Array, dp: Array, l: Array, dl: Array, c: Array, pull: float) -> float:
    """Return s where the barrier less s pull is nearly least, by Newton's method kept within a bracket.

    Parameters
    ----------
    p, dp : Array, shape (n,)
        Half-spaces p + s dp > 0.
    l, dl : Array, shape (m,)
        Cones l + s dl > 0 with
    c : Array, shape (3, m)
        (c0 + s c1 + s^2 c2) > 0.
    """
    first = slope_along(p, dp, l, dl, c, 0.0, pull)
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(PACES):
        slope = slope_along(p, dp, l, dl, c, s, pull)
        if np.isnan(slope):
            high, s = s, 0.5 * (low + s)
            continue
        if abs(slope) <= ENOUGH * abs(first):
            return s
        low, high = (s, high) if slope < 0.0 else (low, s)
        s -= slope / bend_along(p, dp, c, s)
        if not low < s < high:
            s = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return low


def _square(l: Array, x: Array) -> Array:
    size = np.linalg.norm(x, axis=1)
    return np.asarray((l - size) * (l + size))


def _deepest(depths: Depths) -> Array:
    """Return y with the largest slack, by Newton's method along the central path."""
    z = depths.outside()
    last, sharp, least = z, 1.0, (len(depths.a) + 2.0 * len(depths.l)) / FINE
    for _ in range(NEWTON):
        found = depths.slope(z)
        if found is None:
            return last[:-1]
        last, (slope, H) = z, found
        slope[-1] -= sharp
        step = np.asarray(np.linalg.lstsq(H, -slope, rcond=None)[0], np.float64)
        decrement = max(-float(slope @ step), 0.0) ** 0.5
        if decrement <= CENTRED:
            z = z + step
            if sharp >= least:
                break
            sharp = min(SHARPER * sharp, least)
            continue
        z = z + depths.pace(z, step, sharp * float(step[-1])) * step
    return z[:-1]
