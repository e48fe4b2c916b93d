"""One family of equilibria: intervals of one coordinate, regions of two, counted with proof.

Regions: cells whose sign is proved are coloured, the others are cut finer, until the pieces that are surely inside and
the pieces that are possibly inside match one to one; the same for what is outside. Apart from that the Euler number is
found from the points where the border is upright, and must be the number of pieces less that of holes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...linalg.intervals import Interval
from ...linalg.isolate import Zeros, columns, isolate, mean_value
from .rest_conditions import RestConditions, Smooth

COARSE, SPLIT, FINEST = 64, 256, 2048  # cells along a side of the window
MOST_PIECES = 24  # that are looked at one by one
TILT = 0.3  # rad: the direction of the height of which the border has extremes; generic
INSIDE, OUTSIDE, OPEN = 1, 2, 0
EIGHT = np.ones((3, 3), dtype=int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The equilibria for one value of the parameter.

    Attributes
    ----------
    value : float
        Of the parameter.
    components, holes : int
        Holes: bounded pieces of the complement.
    euler : int or None
        Euler number from the border; None where it could not be isolated.
    certified : bool
        Whether components and holes are proved, and the Euler number is their difference.
    cut : bool
        Whether the family reaches the edge of the window.
    intervals : tuple of (float, float)
        One coordinate: the families; two: the bounding box.
    borders : tuple of (str, str)
        One coordinate: which border ends it on either side, L+ (F = C), L- or window.
    area : tuple of (float, float)
        Two coordinates: bounds of the area; one: of the total length.
    reason : str
        What is missing for the proof.
    """

    value: float
    components: int
    holes: int
    euler: int | None
    certified: bool
    cut: bool
    intervals: tuple[tuple[float, float], ...] = ()
    borders: tuple[tuple[str, str], ...] = ()
    area: tuple[float, float] = (0.0, 0.0)
    reason: str = ""

    __repr__ = brief


def family(conditions: RestConditions, value: float, low: Array, high: Array) -> Family:
    """Return the equilibria in a window for one value of the parameter."""
    one = _intervals if conditions.size == 1 else _regions
    return one(conditions, float(value), np.asarray(low, dtype=float), np.asarray(high, dtype=float))


def zeros(functions: list[tuple[Smooth, tuple[int, ...]]], free: tuple[int, ...], fixed: dict[int, float], low: Any,
          high: Any, also: Smooth | None = None) -> Zeros:  # fmt: skip
    """Isolate the common zeros of derivatives of smooth functions in some of their variables; the others are fixed.

    `also` is a function that vanishes at all of them.
    """

    def full(X: list[Interval]) -> list[Interval]:
        """Return the boxes in all variables."""
        shape = X[0].lo.shape
        held = {i: Interval(np.full(shape, value)) for i, value in fixed.items()}
        held |= dict(zip(free, X, strict=True))
        return [held[i] for i in range(len(held))]

    def f(X: list[Interval]) -> list[Interval]:
        """Return the functions over boxes."""
        at = full(X)
        return [g.at(at, *index) for g, index in functions]

    def df(X: list[Interval]) -> list[list[Interval]]:
        """Return their derivatives over boxes."""
        at = full(X)
        return [[g.at(at, *index, j) for j in free] for g, index in functions]

    def further(g: Smooth, X: list[Interval]) -> list[Interval]:
        """Return what else must vanish, around the middles of boxes."""
        at, m = full(X), [x.mid for x in X]
        here = g.at(full([Interval(x) for x in m]))
        return [mean_value(here, [g.at(at, j) for j in free], X, m)]

    return isolate(f, df, low, high, also=None if also is None else partial(further, also))


def _intervals(conditions: RestConditions, value: float, low: Array, high: Array) -> Family:
    """Isolate the borders, then decide every gap between them by the sign in its middle."""
    ends, complete = _borders(conditions, value, low, high)
    pieces, borders, length = [], [], [0.0, 0.0]
    for left, right in itertools.pairwise(ends):
        middle = Interval(np.array([0.5 * (left[1] + right[0])]))
        signs = [side.at([middle, Interval(np.array([value]))]) for side in conditions.sides]
        if any((s.lo > 0.0).all() for s in signs):
            continue
        complete &= all((s.hi <= 0.0).all() for s in signs) and left[1] <= right[0]
        pieces.append((0.5 * (left[0] + left[1]), 0.5 * (right[0] + right[1])))
        borders.append((left[2], right[2]))
        length[0] += max(right[0] - left[1], 0.0)
        length[1] += right[1] - left[0]
    reason = "" if complete else f"a border touches or crosses where it cannot be told apart, near {value:.12g}"
    count = len(pieces)
    cut = any("window" in pair for pair in borders)
    return Family(
        value=value, components=count, holes=0, euler=count if complete else None, certified=complete, cut=cut,
        intervals=tuple(pieces), borders=tuple(borders), area=(length[0], length[1]), reason=reason,
    )  # fmt: skip


def _borders(
    conditions: RestConditions, value: float, low: Array, high: Array
) -> tuple[list[tuple[float, float, str]], bool]:
    """Return where borders and ends of the window lie, from low to high, with names, and whether all are found."""
    ends = [(float(low[0]), float(low[0]), "window"), (float(high[0]), float(high[0]), "window")]
    complete = True
    for side, label in zip(conditions.sides, ("L+", "L-"), strict=False):
        found = zeros([(side, ())], (0,), {1: value}, low, high)
        complete &= found.complete
        for a, b in zip(found.lo[:, 0], found.hi[:, 0], strict=True):
            name = label if len(conditions.sides) == 2 else _side_of(conditions, 0.5 * (a + b), value)
            ends.append((float(a), float(b), name))
    return sorted(ends), complete


def _side_of(conditions: RestConditions, q: float, value: float) -> str:
    """Return the border on which a point lies: the sign of F."""
    pull = Smooth(conditions.F[0], conditions.phi.x, conditions.phi.p, conditions.phi.values)
    return "L+" if float(pull.number([q, value])) > 0.0 else "L-"


@dataclass(slots=True)
class Cells:
    """A window cut into cells, of which those of unknown sign are cut again.

    Attributes
    ----------
    conditions, value, low, high : as of `family`
    state : array of int8, shape (n, n)
        INSIDE, OUTSIDE or OPEN, by (first, second coordinate).
    """

    conditions: RestConditions
    value: float
    low: Array
    high: Array
    state: Any = field(default_factory=lambda: np.zeros((COARSE, COARSE), dtype=np.int8))

    @property
    def size(self) -> int:
        """Cells along a side."""
        return len(self.state)

    def decide(self) -> None:
        """Prove the sign in as many open cells as possible."""
        at = np.argwhere(self.state == OPEN)
        if not len(at):
            return
        step = (self.high - self.low) / self.size
        lo, hi = self.low + at * step, self.low + (at + 1) * step
        X = [*columns(lo - 1e-12 * step, hi + 1e-12 * step), Interval(np.full(len(at), self.value))]
        inside, outside = signs(self.conditions, X)
        self.state[tuple(at[inside].T)] = INSIDE
        self.state[tuple(at[outside].T)] = OUTSIDE

    def refine(self) -> None:
        """Cut every cell into four."""
        self.state = np.kron(self.state, np.ones((2, 2), dtype=np.int8))
        self.decide()


def signs(conditions: RestConditions, X: list[Interval]) -> tuple[Any, Any]:
    """Return where boxes are surely inside the family, and surely outside."""
    value = tight(conditions.phi, X)
    inside, outside = value.hi < 0.0, value.lo > 0.0
    if conditions.pushes is not None:
        push = tight(conditions.pushes, X)
        inside, outside = inside & (push.lo > 0.0), outside | (push.hi < 0.0)
    return inside, outside


def tight(g: Smooth, X: list[Interval]) -> Interval:
    """Return values over boxes: plainly and around the middle, whichever is narrower."""
    plain, m = g.at(X), [x.mid for x in X]
    free = range(len(X) - 1)
    here = g.at([Interval(x) for x in m[:-1]] + X[-1:])
    around = mean_value(here, [g.at(X, i) for i in free], X[:-1], m[:-1])
    return Interval(np.maximum(plain.lo, around.lo), np.minimum(plain.hi, around.hi))


def _regions(conditions: RestConditions, value: float, low: Array, high: Array) -> Family:
    """Count pieces and holes on finer and finer cells, and compare with the Euler number of the border."""
    cells = Cells(conditions, value, low, high)
    cells.decide()
    low, high, tightened = _tightened(cells)
    if tightened:
        cells = Cells(conditions, value, low, high)
        cells.decide()
    while True:
        components, outer, sure = _pieces_and_holes(cells)
        edge = _at_edge(cells.state != OUTSIDE) == _at_edge(cells.state == INSIDE)
        if (sure and edge) or cells.size >= FINEST:
            break
        parts = _apart(cells) if cells.size == SPLIT else []
        if parts:
            return _joined([_regions(conditions, value, *part) for part in parts])
        cells.refine()
    inside = cells.state == INSIDE
    possible = cells.state != OUTSIDE
    cut = _at_edge(possible)
    euler, why = _euler(conditions, value, low, high, cut)
    reasons = _doubts(cells, sure, why)
    if not reasons and euler != components - outer:
        reasons.append(f"Euler number {euler}, but {components} pieces and {outer} holes")
    cell = float(np.prod((high - low) / cells.size))
    box = _box(possible, low, high)
    return Family(
        value=value, components=components, holes=outer, euler=euler, certified=not reasons, cut=cut, intervals=box,
        area=(float(inside.sum()) * cell, float(possible.sum()) * cell), reason="; ".join(reasons),
    )  # fmt: skip


def _pieces_and_holes(cells: Cells) -> tuple[int, int, bool]:
    """Return the numbers of pieces and of holes, and whether both are proved."""
    pieces, sure = _counted(cells.state != OUTSIDE, cells.state == INSIDE)
    holes, sure_holes = _counted(cells.state != INSIDE, cells.state == OUTSIDE, frame=True)
    return pieces, holes, sure and sure_holes


def _doubts(cells: Cells, sure: bool, why: str) -> list[str]:
    """Return what is missing for a proof: cells, and why there is no Euler number."""
    open_cells = f"{int((cells.state == OPEN).sum())} cells undecided at {cells.size} a side"
    return ([] if sure else [open_cells]) + ([why] if why else [])


def _at_edge(where: Any) -> bool:
    """Whether any of the outermost cells is marked."""
    return bool(where[0].any() or where[-1].any() or where[:, 0].any() or where[:, -1].any())


def _tightened(cells: Cells) -> tuple[Array, Array, bool]:
    """Return a window around what is possibly inside, where that is smaller."""
    at = np.argwhere(cells.state != OUTSIDE)
    if not len(at):
        return cells.low, cells.high, False
    step = (cells.high - cells.low) / cells.size
    first, last = np.maximum(at.min(axis=0) - 1.37, 0.0), np.minimum(at.max(axis=0) + 2.41, float(cells.size))
    return cells.low + first * step, cells.low + last * step, bool((last - first < 0.8 * cells.size).any())


def _apart(cells: Cells) -> list[tuple[Array, Array]]:
    """Return windows around pieces that lie apart and may be small against what is between them; none if they nest."""
    from scipy.ndimage import find_objects, label

    wide, count = label(cells.state != OUTSIDE, EIGHT)
    if not 2 <= count <= MOST_PIECES:
        return []
    n = cells.size
    first = np.array([[max(s.start - 1, 0) for s in piece] for piece in find_objects(wide)])
    last = np.array([[min(s.stop + 1, n) for s in piece] for piece in find_objects(wide)])
    for i in range(count):
        for j in range(i):
            if (first[i] < last[j]).all() and (first[j] < last[i]).all():
                return []
    step = (cells.high - cells.low) / n
    return [(cells.low + a * step, cells.low + b * step) for a, b in zip(first, last, strict=True)]


def _joined(parts: list[Family]) -> Family:
    """Return what families in separate windows are together."""
    numbers = [one.euler for one in parts]
    return Family(
        value=parts[0].value, components=sum(one.components for one in parts), holes=sum(one.holes for one in parts),
        euler=None if None in numbers else sum(x for x in numbers if x is not None),
        certified=all(one.certified for one in parts), cut=any(one.cut for one in parts),
        intervals=_around([one.intervals for one in parts if one.intervals]),
        area=(sum(one.area[0] for one in parts), sum(one.area[1] for one in parts)),
        reason="; ".join(dict.fromkeys(one.reason for one in parts if one.reason)),
    )  # fmt: skip


def _around(boxes: list[tuple[tuple[float, float], ...]]) -> tuple[tuple[float, float], ...]:
    """Return the box around boxes in the plane, none around none."""
    sides = zip(*boxes, strict=True)
    return tuple((min(low for low, _ in side), max(high for _, high in side)) for side in sides)


def _counted(possible: Any, sure: Any, *, frame: bool = False) -> tuple[int, bool]:
    """Return the number of pieces, and whether it is proved; with `frame`, of those that miss the frame."""
    from scipy.ndimage import label

    wide, many = label(possible, EIGHT)
    narrow, few = label(sure, EIGHT)
    pairs = np.unique(np.stack([wide[sure], narrow[sure]]), axis=1) if few else np.empty((2, 0), dtype=int)
    each = np.bincount(pairs[0], minlength=many + 1)[1:]
    if not frame:
        return int((each > 0).sum()), bool((each == 1).all())
    edge = np.unique(np.concatenate([wide[0], wide[-1], wide[:, 0], wide[:, -1]]))
    inner = np.setdiff1d(np.arange(1, many + 1), edge)
    edges_sure = np.unique(np.concatenate([narrow[0], narrow[-1], narrow[:, 0], narrow[:, -1]]))
    loose = [n for w, n in pairs.T if w not in inner and n not in edges_sure]  # perhaps a hole, perhaps not
    return len(inner), bool((each[inner - 1] == 1).all()) and not loose


def _box(possible: Any, low: Array, high: Array) -> tuple[tuple[float, float], ...]:
    at = np.argwhere(possible)
    if not len(at):
        return ()
    step = (high - low) / len(possible)
    a, b = low + at.min(axis=0) * step, low + (at.max(axis=0) + 1) * step
    return tuple((float(x), float(y)) for x, y in zip(a, b, strict=True))


def _euler(conditions: RestConditions, value: float, low: Array, high: Array, cut: bool) -> tuple[int | None, str]:
    """Return the Euler number of the family in the window from the extremes of a height along its border.

    With the height w = c.q and the border's tangent t, at a zero of (phi, t.grad phi) where w rises into the family a
    minimum along the border counts +1 and a maximum -1 (Morse theory of a height on a region with border). Where the
    window cuts the family its corners count +1 if w rises along both sides.
    """
    phi, c, s = conditions.phi, np.cos(TILT), np.sin(TILT)
    along = _combined(phi, (-s, c))
    found = zeros([(phi, ()), (along, ())], (0, 1), {2: value}, low, high)
    if not found.complete:
        return None, f"the border has a point that is no simple extreme near {found.left[0].mean(axis=0).tolist()}"
    X = [*columns(found.lo, found.hi), Interval(np.full(len(found.lo), value))]
    rise, bend = _combined(phi, (c, s)).at(X), _combined(along, (-s, c)).at(X)
    counts = np.ones(len(found.lo), dtype=bool)
    if conditions.pushes is not None:
        push = conditions.pushes.at(X)
        counts = push.lo > 0.0
        if (~counts & (push.hi >= 0.0)).any():
            return None, "the border passes a point without normal reaction"
    if (counts & (rise.holds() | bend.holds())).any():
        return None, "the border bends the other way where it is upright"
    total = int(np.where(counts & (rise.hi < 0.0), np.where(bend.lo > 0.0, 1, -1), 0).sum())
    if cut:
        corners, why = _corners(conditions, value, low, high)
        if corners is None:
            return None, why
        total += corners
    return total, ""


def _combined(g: Smooth, direction: tuple[float, float]) -> Smooth:
    """Return the derivative of g in a direction of (q1, q2)."""
    import sympy as sp

    slope = sum((sp.Rational(d) * g.derivative(i) for i, d in enumerate(direction)), sp.S.Zero)
    return Smooth(slope, g.x, g.p, g.values)


def _corners(conditions: RestConditions, value: float, low: Array, high: Array) -> tuple[int | None, str]:
    """Return how many corners of the family cut by the window lie lowest."""
    total, ends = 0, np.array([low, high])
    for j, side in itertools.product((0, 1), (0, 1)):
        lowest = _corners_on_edge(conditions, value, ends, j, side)
        if lowest is None:
            return None, "the border touches the edge of the window"
        total += lowest
    for a, b in itertools.product((0, 1), (0, 1)):
        X = [Interval(np.array([x])) for x in (ends[a, 0], ends[b, 1], value)]
        inside, outside = signs(conditions, X)
        if not (inside | outside).all():
            return None, "the border passes a corner of the window"
        total += int(inside.all() and a == 0 and b == 0)  # the height rises into the window only at its lowest corner
    return total, ""


def _corners_on_edge(conditions: RestConditions, value: float, ends: Array, j: int, side: int) -> int | None:
    """Return how many corners lie lowest where coordinate j is at an end of the window; None if not all are found."""
    total, edge = 0, {j: float(ends[side, j]), 2: value}
    low, high = ends[:, 1 - j : 2 - j]
    found = zeros([(conditions.phi, ())], (1 - j,), edge, low, high)
    if not found.complete:
        return None
    for lo, hi in zip(found.lo[:, 0], found.hi[:, 0], strict=True):
        at = [Interval(np.array([edge.get(i, 0.0)])) for i in range(3)]
        at[1 - j] = Interval(np.array([lo]), np.array([hi]))
        if conditions.pushes is None or (conditions.pushes.at(at).lo > 0.0).all():
            total += _lowest(conditions.phi, at, j, side)
    return total


def _lowest(phi: Smooth, X: list[Interval], j: int, side: int) -> int:
    """Return 1 if the height rises along both sides of the corner between an edge of the window and the border."""
    c = np.array([np.cos(TILT), np.sin(TILT)])
    slope = np.array([float(phi.at(X, i).mid[0]) for i in (0, 1)])
    edge = np.zeros(2)
    edge[1 - j] = -np.sign(slope[1 - j])
    border = np.array([-slope[1], slope[0]])
    border *= 1.0 if border[j] * (1 - 2 * side) > 0.0 else -1.0
    return int(edge @ c > 0.0 and border @ c > 0.0)
