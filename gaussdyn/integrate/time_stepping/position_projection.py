"""Position projection: the shortest way back to joints that hold and gaps that are not negative.

    minimise 1/2 d^T M d   subject to   G d = -phi,   J_N d >= -gap,        q <- move(q, d, 1)

repeated until nothing is violated (Newton's method); one pass is in `projection_program`. Velocities are not touched.
Where nothing is violated nothing moves, not even by rounding.

Source: Golub, Van Loan (2013), Matrix Computations, 5.5 and 6.2: minimum norm solutions of rank-deficient and of
equality-constrained least squares, in the metric of the mass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...arrays import EPS, Array, vector
from ...contact.snapshot import rows_of
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..stepper import Shift
from .projection_program import push_apart

Mask = NDArray[np.bool_]
CLOSE = 1e-11  # m; violations up to this are left as they are
ALLOWED = 1e-10  # m; a step that ends with more than this has failed
PASSES = 20  # gaps whose normals become parallel (a ball over an edge and its face) fall by a factor of four in each
SLOWEST = 0.25  # fall of the violation in three passes: what falls less has gaps to hold that no place has together
STRAIN = 100.0  # squared length of a shift in that of the gaps it removes; more is that of nearly dependent gaps
RANK = 1e-10  # singular values below this, relative, belong to redundant rows
ROUNDING = 32.0 * EPS  # of the coordinates, relative: no gap can be smaller
NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """Coordinates with all rows evaluated there.

    Attributes
    ----------
    q : Array, shape (nq,)
    rows : tuple of Row
    fault : str
        The row that is violated, and by how much, where the projection failed.
    shifts : tuple of Shift
        The passes of the projection that moved it here.
    """

    q: Array
    rows: tuple[Row, ...]
    fault: str = ""
    shifts: tuple[Shift, ...] = ()


def projected(
    system: System,
    t: float,
    place: Place,
    v: Array,
    L: Array,
    acts: Collection[str],
    held: Mapping[str, float] = NONE,
    cleared: Callable[[Sequence[Row]], Sequence[Row]] = list,
    loosely: bool = False,
) -> Place:
    """Return the nearest place at which joints hold and no gap is negative.

    Parameters
    ----------
    system : System
    t : float
    place : Place
        Where the step ended.
    v : Array, shape (nv,)
        Velocity with which the rows are evaluated.
    L : Array, shape (nv, nv)
        Lower Cholesky factor of M, the metric.
    acts : collection of str
        Rows that are obeyed; others may be violated.
    held : mapping of str to float
        Contacts that shall end with a given gap (m). Where no place has them all, as of a ball that bounces off an edge
        and its face, none is held.
    cleared : callable
        Takes from rows that depend on one another what they do not share.
    loosely : bool
        Whether contacts are held only as far as the shift is in proportion to the gaps.

    Returns
    -------
    Place
        The very same one if nothing is violated.
    """
    moved, off = place, []
    for _ in range(PASSES):
        limit = _limit(CLOSE, place.q)
        obeyed = [row for row in place.rows if row.id in acts and in_place(row)]
        off.append(max((violation(row, held) for row in obeyed), default=0.0))
        if off[-1] <= limit:
            return place
        if held and len(off) > 3 and off[-1] > max(SLOWEST * off[-4], allowed(place.q)):
            return projected(system, t, moved, v, L, acts, NONE, cleared)
        d, s, held = _way_back(cleared(obeyed), L, held, 0.1 * limit, loosely)
        q = vector("move(q, v, dt)", system.move(place.q, d, 1.0), len(place.q))
        pushes = dict(zip((row.id for row in obeyed), s.tolist(), strict=True))
        place = Place(q=q, rows=rows_of(system, t, q, v), shifts=(*place.shifts, Shift(pushes)))
    return _judged(place, acts)


def violation(row: Row, held: Mapping[str, float] = NONE) -> float:
    """Return |phi| of a joint, the depth of a contact, how far one that is held is off (m); 0 for other rows."""
    if not in_place(row):
        return 0.0
    if row.bilateral:
        return abs(row.gap)
    return abs(row.gap - held[row.id]) if row.id in held else -min(row.gap, 0.0)


def in_place(row: Row) -> bool:
    """Return whether a row restricts the coordinates."""
    return row.level == "position" and row.kind != "dry"


def allowed(q: Array) -> float:
    """Return the depth with which a step may end at a place, m."""
    return _limit(ALLOWED, q)


def _limit(least: float, q: Array) -> float:
    return max(least, ROUNDING * float(np.abs(q).max(initial=0.0)))


def _judged(place: Place, acts: Collection[str]) -> Place:
    """Return the place, with its fault if a row is violated by more than is allowed."""
    worst = max((row for row in place.rows if row.id in acts), key=violation)
    if violation(worst) <= allowed(place.q):
        return place
    words = f"{worst.id} is violated by {violation(worst):.3g} m after {PASSES} passes of the position projection"
    return replace(place, fault=words)


def _way_back(
    rows: Sequence[Row], L: Array, held: Mapping[str, float], enough: float, loosely: bool
) -> tuple[Array, Array, Mapping[str, float]]:
    """Return the displacement of one pass, its pushes, and the contacts that are held from now on: all, or none.

    Where the gaps of those held contradict one another, or are held loosely and strain, they are only kept from closing
    further.
    """
    X, scale = _scaled(np.array([row.J[0] for row in rows]), L)
    gap, joint = np.array([row.gap for row in rows]), np.array([row.bilateral for row in rows])
    linear = bool(joint.all())  # nothing that may open

    def shift(short: Array, equal: Mask) -> tuple[Array, Array]:
        """Return the least shift, in the metric, that removes the gaps, by least squares where they contradict."""
        return _least(X, -short / scale) if linear else push_apart(X, short / scale, equal, enough / scale)

    if held:
        kept = np.array([row.id in held for row in rows])
        short = gap - np.array([held.get(row.id, 0.0) for row in rows])
        y, p = shift(short, joint | kept)
        left = np.abs(short + scale * (X @ y))[kept].max(initial=0.0)
        agree = left <= max(CLOSE, 0.1 * np.abs(short[kept]).max(initial=0.0))
        lacking = np.where(joint | kept, short, np.minimum(short, 0.0)) / scale
        if agree and not (loosely and y @ y > STRAIN * (lacking @ lacking)):
            return _unscaled(y, L), p / scale, held
    y, p = shift(gap, joint)
    return _unscaled(y, L), p / scale, NONE


def _least(X: Array, b: Array) -> tuple[Array, Array]:
    """Return the shortest y = X^T p with X y = b, and p; by least squares where rows, of length one, contradict."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    told = s > RANK * s.max(initial=0.0)
    part = np.divide(U.T @ b, s, out=np.zeros_like(s), where=told)
    return np.asarray(Vt.T @ part), np.asarray(U @ np.divide(part, s, out=np.zeros_like(s), where=told))


def _unscaled(y: Array, L: Array) -> Array:
    """Return the displacement of a shift in the metric L L^T."""
    return np.asarray(solve_triangular(L, y, lower=True, trans="T"))


def _scaled(A: Array, L: Array) -> tuple[Array, Array]:
    """Return the rows A L^-T scaled to length one, and their lengths (one for rows of zeros)."""
    X = solve_triangular(L, A.T, lower=True).T
    length = np.linalg.norm(X, axis=1)
    scale = np.where(length > 0.0, length, 1.0)
    return X / scale[:, None], scale
