"""The friction cone as a pyramid of k facets: an LCP for Lemke's method, with an error O(1/k^2) in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Array, IntArray
from ...laws.law_table import LawTable
from ...laws.laws import CAP, MU, Coulomb, Dry, Sliding, Unilateral
from ..scaled import Scaled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FacetedLcp:
    """0 <= z ⟂ M z + q >= 0 with the reaction r = T z.

    z holds, block by block, r_N and the parts beta >= 0 of r_T along the facets' directions, then one bound lam on the
    slip of each block with friction (Stewart and Trinkle 1996; Anitescu and Potra 1997).
    """

    M: Array
    q: Array
    T: Array


def has_pyramid(table: LawTable) -> bool:
    """Whether every law has a faceted form: of one cone, with no more friction at rest than in slip."""
    for law in set(table.laws):
        mu, at_rest, cap, _mu_r = law.parameters()  # at rest: mu_s, or the cap at rest of dry friction
        if type(law) not in (Unilateral, Sliding, Coulomb, Dry) or at_rest > max(mu, cap):
            return False
    return True


def facets_are_exact(table: LawTable) -> bool:
    """Whether the faceted form is the law itself: no block has two tangential rows."""
    return has_pyramid(table) and all(law.size - (not isinstance(law, Dry)) < 2 for law in set(table.laws))


def faceted_lcp(data: Scaled, facets: int) -> FacetedLcp:
    """Build the LCP of a scaled problem whose laws all have pyramids."""
    columns: list[dict[int, float]] = []  # of T
    owner: list[int] = []  # friction block of each column, -1: none
    limits: list[tuple[float, float, int]] = []  # mu, cap and the column of r_N of each friction block
    for k in range(len(data.code)):
        first, d = int(data.start[k]), int(data.start[k + 1] - data.start[k])
        dry = data.code[k] == Dry.code
        normal = -1
        if not dry:
            normal = len(columns)
            columns.append({first: 1.0})
            owner.append(-1)
        tangent = first if dry else first + 1
        if d - (not dry) > 0:
            for direction in _directions(d - (not dry), facets):
                columns.append({tangent + a: float(x) for a, x in enumerate(direction)})
                owner.append(len(limits))
            limits.append((data.P[k, MU], data.P[k, CAP], normal))
    return _assemble(data, columns, np.array(owner, dtype=np.int64), limits)


def _assemble(
    data: Scaled, columns: list[dict[int, float]], owner: IntArray, limits: list[tuple[float, float, int]]
) -> FacetedLcp:
    """Return the LCP of columns of r, with a multiplier for each limit on the columns that it owns."""
    n, f = len(columns), len(limits)
    T = np.zeros((len(data.q), n + f))
    for j, column in enumerate(columns):
        for i, x in column.items():
            T[i, j] = x
    M, q = T.T @ (data.dense() @ T), T.T @ data.q
    used = np.flatnonzero(owner >= 0)
    M[used, n + owner[used]] = 1.0
    M[n + owner[used], used] = -1.0
    for row, (mu, cap, normal) in enumerate(limits):
        q[n + row] = cap
        if normal >= 0:
            M[n + row, normal] = mu
    return FacetedLcp(M=M, q=q, T=T)


def _directions(tangents: int, facets: int) -> Array:
    if tangents == 1:
        return np.array([[1.0], [-1.0]])
    angle = 2.0 * np.pi * np.arange(facets) / facets
    return np.column_stack([np.cos(angle), np.sin(angle)])
