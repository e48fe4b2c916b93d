"""Families of equilibria of systems with dry friction, and how they change as a parameter moves.

Where |F| < C friction holds the system, so that equilibria fill intervals (one coordinate) or regions (two). Their
number and shape change where the border |F| = C has a critical point: g = 0, grad g = 0. Those are isolated with proof,
and named by the signs of A = dg/dlam and of the Hessian B. Source: Ivanov (2009), section 3, corrected.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..._show import brief
from ...arrays import Array, scalar
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...linalg.intervals import Interval
from ...linalg.isolate import columns
from ...mechanics.lagrangian.system import LagrangianSystem
from .family import Family, family, tight, zeros
from .rest_conditions import RestConditions, Smooth, rest_conditions

SAME = 1e-11  # relative: critical values this close are one event of several points
DEGENERATE = "degenerate"
MOST_HEAPS = 6
FARTHEST = 1000.0  # where equilibria are looked for, unless a window is given
# (dimension, sign of A, sign of det B, sign of the trace) -> what happens as the parameter grows
LOCAL = {
    (1, 1, 1, 1): "death", (1, -1, 1, 1): "birth", (1, 1, -1, -1): "splitting", (1, -1, -1, -1): "merging",
    (2, 1, 1, 1): "death", (2, -1, 1, 1): "birth", (2, 1, 1, -1): "perforation", (2, -1, 1, -1): "filling of a hole",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Bifurcation:
    """One critical point of the border.

    Attributes
    ----------
    value : float
        Of the parameter.
    low, high : float
        Enclosure of it.
    q : tuple of float
        Where.
    kind : str
        death, birth, splitting, merging, perforation, filling of a hole, opening of a hole, closing of a hole;
        two of them where pieces and holes change together at several points; degenerate.
    border : str
        L+ (F = C) or L- (F = -C) for one coordinate, |F| = C for two.
    A, det : float
        dg/dlam, determinant of the Hessian B of g; g = +-F - C for one coordinate, |F|^2 - C^2 for two.
    change : int
        Of the Euler number as the parameter grows: -sign(A) sign(det B).
    certified : bool
        Whether it is proved that there is exactly one critical point in the enclosure, with these signs.
    """

    value: float
    low: float
    high: float
    q: tuple[float, ...]
    kind: str
    border: str
    A: float
    det: float
    change: int
    certified: bool

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equilibria:
    """Families over a range of a parameter.

    Attributes
    ----------
    parameter, unit : str
    low, high : float
        Range.
    names, units : tuple of str
        Coordinates of the families.
    window : tuple of (float, float)
        Where they were looked for.
    bifurcations : tuple of Bifurcation
        By value.
    families : tuple of Family
        One for every piece of the range between bifurcations, in its middle.
    complete : bool
        Whether it is proved that there are no other bifurcations in the window.
    consistent : bool or None
        Whether every change of the Euler number is the sum over its critical points; None: not to be said.
    conditions : RestConditions
    """

    parameter: str
    unit: str
    low: float
    high: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    window: tuple[tuple[float, float], ...]
    bifurcations: tuple[Bifurcation, ...]
    families: tuple[Family, ...]
    complete: bool
    consistent: bool | None
    conditions: RestConditions

    __repr__ = brief

    def at(self, value: float) -> Family:
        """Return the equilibria for one value of the parameter."""
        low, high = np.array(self.window).T
        return family(self.conditions, scalar(self.parameter, value), low, high)

    def values(self) -> list[float]:
        """Return the different values at which the families change."""
        return [float(np.mean([one.value for one in group])) for group in _groups(self.bifurcations)]


@interruptible
def equilibria(
    system: LagrangianSystem,
    parameter: str,
    low: float,
    high: float,
    *,
    window: Sequence[tuple[float, float]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Equilibria:
    """Find the equilibria of a system with dry friction over a range of a parameter.

    Parameters
    ----------
    system : LagrangianSystem
        One constraint with friction; see `rest_conditions`.
    parameter : str
    low, high : float
        Range of the parameter.
    window : sequence of (low, high), optional
        Where to look, one pair per coordinate; by default around what is found.
    progress : callable, optional
        Is told the share that is done.

    Raises
    ------
    InputError
        See `rest_conditions`; an empty range or window; no equilibrium in the whole range.
    """
    low, high = scalar(f"low of {parameter}", low), scalar(f"high of {parameter}", high)
    if not high > low:
        raise InputError(
            f"range of {parameter}",
            f"{low:g} to {high:g}",
            "low < high",
            f"Write low={min(low, high):g}, high={max(low, high) + (low == high):g}.",
        )
    conditions = rest_conditions(system, parameter)
    ends = _window(conditions, low, high) if window is None else _checked(conditions, window)
    found = _critical(conditions, ends, low, high)
    middles = _between(found, low, high)
    families = []
    for k, middle in enumerate(middles):
        families.append(family(conditions, middle, ends[:, 0], ends[:, 1]))
        if progress is not None:
            progress((k + 1) / len(middles))
    if not any(one.components for one in families) and not found:
        least = _least(conditions, ends, low, high)
        given = f"{low:g} to {high:g}, where |F| - C is at least {least:.6g} in the window {ends.tolist()}"
        raise InputError(
            f"range of {parameter}",
            given,
            "a range in which friction can hold the system",
            "Raise the friction: --set mu=1.",
        )
    named = _named(found, families)
    return Equilibria(
        parameter=parameter, unit=conditions.unit, low=low, high=high, names=conditions.names, units=conditions.units,
        window=tuple((float(a), float(b)) for a, b in ends), bifurcations=named, families=tuple(families),
        complete=all(one.certified for one in named) and _consistent(named, families) is not False,
        consistent=_consistent(named, families),
        conditions=conditions,
    )  # fmt: skip


def _between(found: Sequence[Bifurcation], low: float, high: float) -> list[float]:
    """Return values of the parameter between those at which families change: one each."""
    cuts = [low, *(float(np.mean([one.value for one in group])) for group in _groups(found)), high]
    return [0.5 * (a + b) for a, b in itertools.pairwise(cuts) if b > a]


def _critical(conditions: RestConditions, ends: Array, low: float, high: float) -> list[Bifurcation]:
    """Isolate all points with g = 0, grad g = 0 in the window and the range; what is left undecided is degenerate."""
    n = conditions.size
    found: list[Bifurcation] = []
    labels = ("L+", "L-") if len(conditions.sides) == 2 else ("|F| = C",)
    for g, label in zip(conditions.sides or (conditions.phi,), labels, strict=True):
        functions: list[tuple[Smooth, tuple[int, ...]]] = [(g, ()), *((g, (i,)) for i in range(n))]
        box = np.array([*ends, [low, high]]).T
        points = zeros(functions, tuple(range(n + 1)), {}, box[0], box[1], _singular(conditions))
        proved = [_bifurcation(conditions, g, label, lo, hi) for lo, hi in zip(points.lo, points.hi, strict=True)]
        heaps = [_degenerate(g, label, heap) for heap in _heaps(points.left, box)]
        found += [one for one in (*proved, *heaps) if one is not None]
    return sorted(found, key=lambda one: (one.value, one.q))


def _singular(conditions: RestConditions) -> Smooth | None:
    """Return det dF/dq where it vanishes at a critical point of |F|^2 - C^2: for constant C, J^T F = 0, F != 0."""
    g = conditions.phi
    if conditions.size == 1 or any(conditions.C.diff(x) != 0 for x in g.x[:2]):
        return None
    a, b = conditions.F
    x, y = g.x[:2]
    return Smooth(a.diff(x) * b.diff(y) - a.diff(y) * b.diff(x), g.x, g.p, g.values)


def _bifurcation(conditions: RestConditions, g: Smooth, label: str, lo: Array, hi: Array) -> Bifurcation | None:
    """Read the signs of A and B at a critical point; None if it is not on the border of a family."""
    X, n = columns(lo[None], hi[None]), conditions.size
    outside, inner = _beside(conditions, g, X)
    if outside:
        return None
    A, B = g.at(X, n), [[g.at(X, i, j) for j in range(n)] for i in range(n)]
    det = B[0][0] if n == 1 else B[0][0] * B[1][1] - B[0][1] * B[0][1]
    trace = B[0][0] if n == 1 else B[0][0] + B[1][1]
    s = (_sign(A), _sign(det), _sign(trace))
    regular = inner and s[0] != 0 and s[1] != 0
    kind = LOCAL.get((n, *s), "saddle") if regular else DEGENERATE
    return Bifurcation(
        value=float(0.5 * (lo[-1] + hi[-1])), low=float(lo[-1]), high=float(hi[-1]),
        q=tuple(float(x) for x in 0.5 * (lo + hi)[:-1]), kind=kind, border=label, A=float(A.mid[0]),
        det=float(det.mid[0]), change=-s[0] * s[1] if regular else 0, certified=regular,
    )  # fmt: skip


def _beside(conditions: RestConditions, g: Smooth, X: list[Interval]) -> tuple[bool, bool]:
    """Return whether a point on the border g = 0 surely breaks another condition, and whether it surely obeys all."""
    others = [_sign(side.at(X)) for side in conditions.sides if side is not g]
    if conditions.pushes is not None:
        others.append(-_sign(conditions.pushes.at(X)))
    return 1 in others, all(sign == -1 for sign in others)


def _sign(x: Interval) -> int:
    return 1 if (x.lo > 0.0).all() else -1 if (x.hi < 0.0).all() else 0


def _heaps(left: Array, box: Array) -> list[Array]:
    """Return undecided boxes in heaps, arrays of shape (k, 2, n + 1), of those that are close together."""
    heaps: list[list[Array]] = []
    near = 1e-2 * (box[1] - box[0])
    for one in left:
        home = next((heap for heap in heaps if (np.abs(one.mean(axis=0) - heap[0].mean(axis=0)) <= near).all()), None)
        if home is not None:
            home.append(one)
        elif len(heaps) < MOST_HEAPS:
            heaps.append([one])
    return [np.array(heap) for heap in heaps]


def _degenerate(g: Smooth, label: str, heap: Array) -> Bifurcation:
    """Return what is known of a critical point that could not be proved to be a single regular one."""
    lo, hi = heap[:, 0].min(axis=0), heap[:, 1].max(axis=0)
    best = heap.mean(axis=1)[np.abs([g.number(middle) for middle in heap.mean(axis=1)]).argmin()]
    n = len(best) - 1
    B = np.array([[float(g.number(best, i, j)) for j in range(n)] for i in range(n)])
    return Bifurcation(
        value=float(best[-1]), low=float(lo[-1]), high=float(hi[-1]), q=tuple(float(x) for x in best[:-1]),
        kind=DEGENERATE, border=label, A=float(g.number(best, n)), det=float(np.linalg.det(B)), change=0,
        certified=False,
    )  # fmt: skip


def _groups(found: Sequence[Bifurcation]) -> list[list[Bifurcation]]:
    """Return bifurcations at the same value together."""
    groups: list[list[Bifurcation]] = []
    for one in found:
        near = groups and abs(one.value - groups[-1][-1].value) <= SAME * max(1.0, abs(one.value))
        if near:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _named(found: Sequence[Bifurcation], families: Sequence[Family]) -> tuple[Bifurcation, ...]:
    """Name the saddles by what they did to pieces and holes: locally a bridge breaks, and only the whole tells more."""
    from dataclasses import replace

    named: list[Bifurcation] = []
    for k, group in enumerate(_groups(found)):
        before, after = families[k], families[k + 1]
        rest = [one for one in group if one.kind != "saddle"]
        pieces = after.components - before.components - sum({"death": -1, "birth": 1}.get(o.kind, 0) for o in rest)
        holes = (
            after.holes - before.holes - sum({"perforation": 1, "filling of a hole": -1}.get(o.kind, 0) for o in rest)
        )
        for one in group:
            named.append(replace(one, kind=_bridge(one, pieces, holes)) if one.kind == "saddle" else one)
    return tuple(named)


def _bridge(one: Bifurcation, pieces: int, holes: int) -> str:
    """Return in words what happens to a region whose pieces and holes change by so many."""
    breaks = one.change > 0
    if breaks and pieces >= 0 and holes == 0:
        return "splitting"
    if breaks and pieces == 0:
        return "opening of a hole"
    if not breaks and holes == 0:
        return "merging"
    if not breaks and pieces == 0:
        return "closing of a hole"
    return "splitting, opening of a hole" if breaks else "merging, closing of a hole"


def _consistent(found: Sequence[Bifurcation], families: Sequence[Family]) -> bool | None:
    """Return whether Euler numbers change by the sums over critical points."""
    if any(one.euler is None or one.cut for one in families) or any(one.kind == DEGENERATE for one in found):
        return None
    changes = [sum(one.change for one in group) for group in _groups(found)]
    numbers = [one.euler for one in families if one.euler is not None]
    return all(b - a == change for a, b, change in zip(numbers, numbers[1:], changes, strict=False))


def _checked(conditions: RestConditions, window: Sequence[tuple[float, float]]) -> Array:
    ends = np.array([[scalar("window", x) for x in pair] for pair in window], dtype=float)
    if ends.shape != (conditions.size, 2) or not (ends[:, 1] > ends[:, 0]).all():
        raise InputError(
            "window",
            window,
            f"{conditions.size} pairs low < high, of {', '.join(conditions.names)}",
            f"Write window={[(-1.0, 1.0)] * conditions.size}.",
        )
    return ends


def _window(conditions: RestConditions, low: float, high: float) -> Array:
    """Return a window that holds the families with some room; one turn for angles, and at most +-`FARTHEST`.

    It shrinks from there, so that a family far from the others is not left out.
    """
    angles, lams = np.array([unit == "rad" for unit in conditions.units]), np.linspace(low, high, 33)
    half = np.where(angles, np.pi, FARTHEST)
    for _ in range(40):
        smaller = np.where(angles, half, np.maximum(1.2 * _reach(conditions, half, lams), 1.0))
        if (smaller > 0.9 * half).all():
            break
        half = np.minimum(half, smaller)
    # generic ends: borders like to pass through round numbers
    return np.stack([-1.0137 * half, 1.0251 * half], axis=1) if not angles.any() else np.stack([-half, half], axis=1)


def _reach(conditions: RestConditions, half: Array, lams: Array) -> Array:
    """Return how far the families may go along every coordinate, within +-half, by intervals: thin ones count too."""
    count = 400 if conditions.size == 1 else 60
    ends = [np.linspace(-h, h, count + 1) for h in half] + [lams]
    lo, hi = (np.stack([g.ravel() for g in np.meshgrid(*parts, indexing="ij")], axis=1)
              for parts in ([e[:-1] for e in ends], [e[1:] for e in ends]))  # fmt: skip
    X = columns(lo, hi)
    with np.errstate(all="ignore"):
        possible = np.all([~(tight(g, X).lo > 0.0) for g in conditions.sides or (conditions.phi,)], axis=0)
    far = np.maximum(np.abs(lo), np.abs(hi))[possible, :-1]
    return far.max(axis=0) if len(far) else np.zeros(conditions.size)


def _least(conditions: RestConditions, ends: Array, low: float, high: float) -> float:
    """Return the least excess |F| - C in the window, on a grid."""
    count = 2001 if conditions.size == 1 else 161
    grid = np.meshgrid(*(np.linspace(a, b, count) for a, b in ends), np.linspace(low, high, 21), indexing="ij")
    pull = [Smooth(F, conditions.phi.x, conditions.phi.p, conditions.phi.values) for F in (*conditions.F, conditions.C)]
    with np.errstate(all="ignore"):
        *F, C = [np.broadcast_to(g.number(grid), grid[0].shape) for g in pull]
    return float(np.nanmin(np.sqrt(sum(np.square(part) for part in F)) - C))
