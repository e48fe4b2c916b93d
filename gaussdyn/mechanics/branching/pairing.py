"""Which half-branches are two ends of one smooth branch, and what its tangent is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...arrays import Array

SNAP = 0.05  # how far the tangent of a half-branch may be from the line of the cone that it belongs to
SAME = 1e-3
DEGENERATE = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halves:
    """Half-branches where they pierce spheres.

    Attributes
    ----------
    radii : Array, shape (4,)
    d : Array, shape (h, 4, k)
        Unit vectors in ker J.
    """

    radii: Array
    d: Array


def cone_lines(forms: Array, own: Array) -> Array:
    """Return unit vectors along the lines of the tangent cone, shape (n, 2), where ker J is a plane with one equation.

    Two lines for an indefinite form, one (with multiplicity two) for a degenerate one.
    """
    if forms.shape[1] != 2 or own.shape[1] != 1:
        return np.zeros((0, forms.shape[1]))
    form = np.tensordot(own[:, 0], forms, axes=1)
    values, vectors = np.linalg.eigh(form)
    low, high = float(values[0]), float(values[1])
    size = max(abs(low), abs(high))
    if size == 0.0 or low * high > DEGENERATE * size**2:
        return np.zeros((0, 2))
    if min(abs(low), abs(high)) <= DEGENERATE * size:
        return vectors[:, [int(np.abs(values).argmin())]].T
    down, up = np.sqrt(-low), np.sqrt(high)
    lines = [up * vectors[:, 0] + sign * down * vectors[:, 1] for sign in (1.0, -1.0)]
    return np.array([line / np.linalg.norm(line) for line in lines])


def joined(halves: Halves, lines: Array) -> tuple[list[tuple[int, ...]], list[Array]]:
    """Return pairs of half-branches (single ones where there is no partner) and their tangents in ker J."""
    tangents = np.array([_limit(halves.radii, d) for d in halves.d])
    known = np.zeros(len(tangents), dtype=bool)
    for j, t in enumerate(tangents):
        for line in lines:
            far = min(np.linalg.norm(t - line), np.linalg.norm(t + line))
            if far < SNAP:
                tangents[j], known[j] = np.copysign(1.0, t @ line) * line, True
                break
    pairs = _paired(halves, tangents)
    return pairs, [tangents[ends[0]] for ends in pairs]


def _limit(radii: Array, d: Array) -> Array:
    """Return the direction at radius zero, by the cubic through four radii."""
    powers = radii[:, None] ** np.arange(len(radii))[None]
    t = np.linalg.solve(powers, d)[0]
    return np.asarray(t / np.linalg.norm(t))


def _costs(halves: Halves, tangents: Array) -> Array:
    """Return how rough the curve is that two half-branches make, 1000 where they do not go opposite ways."""
    n = len(tangents)
    cost = np.full((n, n), 1e3)
    for i in range(n):
        for j in range(n):
            if i != j and np.linalg.norm(tangents[i] + tangents[j]) < 2.0 * SNAP:
                cost[i, j] = _roughness(halves, i, j, tangents[i])
    return cost


def _paired(halves: Halves, tangents: Array) -> list[tuple[int, ...]]:
    """Join every half-branch to the opposite one with which it makes the smoothest curve."""
    cost = _costs(halves, tangents)
    pairs: list[tuple[int, ...]] = []
    left = set(range(len(tangents)))
    for i in sorted(left):
        if i not in left:
            continue
        side = [a for a in left if tangents[a] @ tangents[i] > 1.0 - SAME]
        other = [a for a in left if tangents[a] @ tangents[i] < -1.0 + SAME]
        rows, columns = linear_sum_assignment(cost[np.ix_(side, other)])
        matched = {side[a]: other[b] for a, b in zip(rows, columns, strict=True)}
        pairs += [(a, matched[a]) if a in matched else (a,) for a in side]
        pairs += [(b,) for b in other if b not in matched.values()]
        left -= {*side, *other}
    return pairs


def _roughness(halves: Halves, i: int, j: int, t: Array) -> float:
    """Return how badly one polynomial fits both halves, relative to how far they are from the tangent."""
    x = np.concatenate([halves.radii[:, None] * halves.d[i], halves.radii[:, None] * halves.d[j]])
    s = x @ t
    rest = x - s[:, None] * t[None]
    size = float(np.abs(halves.radii).max())
    powers = (s / size)[:, None] ** np.arange(1, 6)[None]
    off = rest - powers @ np.linalg.lstsq(powers, rest, rcond=None)[0]
    return float(np.linalg.norm(off))
