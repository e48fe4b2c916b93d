"""Where shapes touch: the contacts of every pair that count at a pose, where they end, and which come in their place.

The signed distance of two shapes is smooth piece by piece: every piece is the gap of two features, e.g. of a corner and
an edge, and means nothing beside them. So a run that has to locate events follows the gaps of features, and asks here
which of them are the distance of their shapes (`manifolds_at`), how far a contact is from the end of its features
(`room_of`), and, where it has come there, with which features the shapes touch from now on.

Systems say which features may act (`System.near`), where those of a contact end (`extent`), and take contacts that were
found elsewhere (`taking`). Detection holds on to features a little beyond their end, so that rounding decides nothing;
here the end itself counts: at it, shapes are moved on to see which features touch then.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..mechanics.borders import Crossing, Extent
from ..mechanics.collision.tangent_frames import into_chart
from ..mechanics.rows import Row
from ..mechanics.system import System
from .pair_manifolds import Pair, pair_of_shapes
from .snapshot import Activation, rows_of

NARROW = 1e-10  # s, times max(1, t): shorter steps are not repeated, neither for overlooked contacts nor for guesses
END = 1e-11  # m: a contact so near to the end of a feature is at it
GLANCE = 1e-6  # s: over which it is seen how fast a contact comes to an end
STILL = 1e-8  # m/s: slower it does not
ALIKE = 1e-8  # m, 1: rows of J that push the same way
FURTHER = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # m: how far beyond an end it is looked which features touch
MOMENT = 1e-3  # s: how long that may take at most
MANY = 24  # contacts, besides those that touch: more are not listed for one step, which is shortened instead
BESIDE = 1e-5  # of J: how near to the place where one contact ends another one begins that goes on with its work


class Here(NamedTuple):
    """A state."""

    t: float
    q: Array
    v: Array


class Known(NamedTuple):
    """What a phase knows of contacts: a system with them, their ids, and those that are closed."""

    system: System
    ids: Collection[str]
    closed: Collection[str]


@dataclass(frozen=True, slots=True, eq=False)
class Manifolds:
    """The contacts of shapes that may act: a system with them, and its rows.

    Attributes
    ----------
    system : System
    rows : tuple of Row
    shorter : float
        Steps must not be longer, for features that would overlap without touching or contacts that are not listed, s.
    """

    system: System
    rows: tuple[Row, ...]
    shorter: float = math.inf


def manifolds_at(
    whole: System, here: Here, reach: float, counts: Activation, closed: Collection[str], held: Known | None = None
) -> Manifolds:  # fmt: skip
    """Find the contacts of shapes that may act within a time (s).

    Parameters
    ----------
    counts : Activation
        When gaps are closed and rates zero.
    closed : collection of str
        Ids of what was closed so far.
    held : Known, optional
        Its closed contacts stay until their own ends; without it what ends here is handed on.
    """
    found = _acting(whole, here, reach, counts, closed)
    if found.system is whole:
        return found
    if held is None:
        system = _single(_going_on(whole, found, here, counts.gap), found, here, counts.gap, whole)
    else:
        system = _keeping(found, held, here.q, counts.gap)
    if system is found.system:
        return found
    system = _steady(system, rows_of(system, *here))
    return replace(found, system=system, rows=rows_of(system, *here))


def doubles(system: System, here: Here, rows: Sequence[Row], gap: float) -> frozenset[str]:
    """Return which features pass their own end where another one of their shapes pushes the same way, and goes on.

    As the tip of a capsule and its axis, where one begins as the other ends: both say that the shapes touch there, but
    with other second rates.
    """
    pairs = [
        (one.id, other.id) for one, other in _coinciding(rows, gap)
        if np.allclose(one.J[0], other.J[0], rtol=0.0, atol=ALIKE)
        and extent_of(system, one.id) is not None and extent_of(system, other.id) is not None
    ]  # fmt: skip
    there = system.move(here.q, here.v, GLANCE) if pairs else here.q
    return frozenset(
        key for key, other in pairs if not _within(system, key, there) and _within(system, other, there)
    )  # fmt: skip


def goes_on(one: Row, other: Row) -> bool:
    """Whether a contact pushes two shapes as another one of them does that ends: in the same way, at the same place."""
    near = np.abs(one.J[0] - other.J[0]).max() <= BESIDE * np.abs(one.J[0]).max()
    return bool(near) and pair_of_shapes(one.id) == pair_of_shapes(other.id)


def overlaps(whole: System, here: Here, known: Collection[str], depth: float) -> dict[str, float]:
    """Return the gaps below -depth (m) of shapes that overlap with features that are not known, by id.

    Within their own ends: a corner that has just come past the border of a face is still found over it.
    """
    near = whole.near(*here, 0.0)
    under = [row for row in rows_of(near, *here) if row.id not in known and _opens(row) and row.gap < -depth]
    return {row.id: row.gap for row in under if _within(near, row.id, here.q)}


def touching(whole: System, places: Array, known: Collection[str]) -> Sequence[int]:
    """Return in which of the poses, shape (n, nq), shapes may touch with features that are not known."""
    asked = getattr(whole, "touching", None)
    return range(len(places)) if asked is None else cast("list[int]", asked(places, known))


def passing_time(whole: System, q: Array, v: Array, dt: float) -> float:
    """Return the least time (s) in which shapes that may meet within dt pass each other; inf where there are none."""
    asked = getattr(whole, "transit", None)
    return math.inf if asked is None else float(asked(q, v, dt))


def extent_of(system: System, key: str) -> Extent | Crossing | None:
    """Return where the features of a contact end; None where they do not."""
    asked = getattr(system, "extent", None)
    return None if asked is None else asked(key)


def room_of(system: System, key: str, q: Array) -> float | None:
    """Return how far a contact is from the end of its features, m; None where they have none."""
    extent = extent_of(system, key)
    return None if extent is None else extent.room(q)


def check_borders(system: System) -> None:
    """Raise InputError where shapes touch with features whose ends are not known: a phase would go on past them."""
    if lost := getattr(system, "without_borders", ()):
        mend = "Write stepper=MoreauJean(), or convex shapes (ConvexMesh, Box) in their place."
        raise InputError("system", f"shapes {', '.join(lost)}", "no surfaces, nor ellipsoids over edges", mend)


def turns(old: System, new: System, rows: Sequence[Row]) -> dict[str, Array]:
    """Return what turns tangential components of the contacts whose chart is another one now, by id."""
    was, now = _charts(old), _charts(new)
    return {
        row.id: into_chart(row.frame[0], now[row.id]) for row in rows
        if row.frame is not None and row.id in now and was.get(row.id, now[row.id]) != now[row.id]
    }  # fmt: skip


def _acting(whole: System, here: Here, reach: float, counts: Activation, closed: Collection[str]) -> Manifolds:
    """Find the features that may act.

    Features of shapes that meet later may overlap in the pose of now, where they do not mean a gap: then less far.
    The same where they have just crossed so: a segment that began with them would end at once, again and again.
    """
    near, shorter = _foreseen(whole, here, reach)
    reach = min(reach, shorter)
    while True:
        near = _pinned(whole, near)
        rows = rows_of(near, *here)
        found = Manifolds(_steady(near, rows), rows, shorter)
        deep = {row.id for row in rows if _opens(row) and _touches_now(row, counts, closed)}
        if not deep or found.system is whole or reach == 0.0:
            return found
        if deep <= {row.id for row in rows_of(whole.near(*here, 0.0), *here)}:
            return found
        reach = 0.25 * reach if reach > NARROW else 0.0
        shorter = reach or shorter
        near = whole.near(*here, reach)


def _foreseen(whole: System, here: Here, reach: float) -> tuple[System, float]:
    """Return the system with the contacts that may act within a time, and within which time if that is less, else inf.

    What flies far between others meets few of them soon.
    """
    near, shorter = whole.near(*here, reach), math.inf
    most = MANY if _count(near) <= MANY else MANY + _count(whole.near(*here, 0.0))
    while _count(near) > most and reach > NARROW:
        reach = shorter = 0.5 * reach
        near = whole.near(*here, reach)
    return near, shorter


def _count(system: System) -> int:
    return int(getattr(system, "contact_count", 0))


def _going_on(whole: System, found: Manifolds, here: Here, gap: float) -> System:
    """Return the system with those features in place of the ones that end here that shapes touch with from now on.

    Points over the rim of a face have no end of their own: they stay if shapes still touch there further on.
    """
    (t, q, v), system = here, found.system
    paces = _ending(found, q, v, gap)
    if not paces:
        return system
    known, pairs, on = _ids(found.rows), {pair_of_shapes(key) for key in paces}, system
    for far in FURTHER:
        there = system.move(q, v, min(far / max(paces.values()), MOMENT))
        later = whole.near(t, there, v, 0.0)
        ids = _ids(row for row in rows_of(later, t, there, v) if pair_of_shapes(row.id) in pairs)
        new = {pair_of_shapes(key) for key in ids - known if _within(later, key, there)}
        gone = paces.keys() - {key for key in paces if _stays(key, ids, new, later, there)}
        if gone:
            on = system.taking((known | ids) - gone, later)  # type: ignore[attr-defined]
        if len(gone) == len(paces):
            break
    if on is system:
        return system
    there = system.move(q, v, min(FURTHER[-1] / max(paces.values()), MOMENT))
    touch = _ids(row for row in rows_of(whole.near(t, there, v, 0.0), t, there, v) if row.gap <= gap)
    return _without_ended(on, _ids(rows_of(on, t, q, v)), touch, pairs)


def _stays(key: str, ids: set[str], new: set[tuple[str, str]], later: System, there: Array) -> bool:
    """Return whether a feature is among those of further on, and no `new` one stands in for it past its end."""
    return key in ids and (pair_of_shapes(key) not in new or _within(later, key, there))


def _without_ended(system: System, ids: set[str], touch: set[str], pairs: set[tuple[str, str]]) -> System:
    """Return the system without those of its features that have no end, and of pairs that do not touch with them."""
    ended = {key for key in ids - touch if pair_of_shapes(key) in pairs and extent_of(system, key) is None}
    return system.taking(ids - ended, system) if ended else system  # type: ignore[attr-defined]


def _ids(rows: Iterable[Row]) -> set[str]:
    return {row.id for row in rows}


def _single(system: System, found: Manifolds, here: Here, gap: float, whole: System) -> System:
    """Return the system without points over rims where other features of their shapes touch at the same point.

    As where the end of a capsule comes over a face: from there on its axis passes over the rim nowhere. Not without a
    corner over which a rim comes where it begins to cross the edge there: both go on.
    """
    rows = found.rows if system is found.system else rows_of(system, *here)
    same = _coinciding(rows, gap)
    double = {
        one.id for one, other in same if extent_of(system, one.id) is None and extent_of(system, other.id) is not None
    }  # fmt: skip
    taking = getattr(system, "taking", None)
    if not double or taking is None:
        return system
    t, there = here.t, system.move(here.q, here.v, GLANCE)
    double -= {row.id for row in rows_of(whole.near(t, there, here.v, 0.0), t, there, here.v)}
    kept: System = taking({row.id for row in rows} - double, system)
    return kept


def _coinciding(rows: Sequence[Row], gap: float) -> list[tuple[Row, Row]]:
    """Return the pairs, in both orders, of features of the same two shapes that touch at the same point."""
    touch = [(pair_of_shapes(row.id), row) for row in rows if row.level == "position" and abs(row.gap) <= gap]
    alike = defaultdict[Pair, list[Row]](list)
    for pair, row in touch:
        alike[pair].append(row)
    return [
        (one, other) for pair, one in touch for other in alike[pair]
        if other is not one and _same(one.point, other.point, gap)
    ]  # fmt: skip


def _same(a: Array | None, b: Array | None, gap: float) -> bool:
    return a is not None and b is not None and float(np.abs(a - b).max()) <= gap


def _keeping(found: Manifolds, held: Known, q: Array, gap: float) -> System:
    """Return the system with closed contacts that are known and before their ends, though others were found."""
    ids, system = {row.id for row in found.rows}, found.system
    lost = {key for key in held.closed if key not in ids and extent_of(held.system, key) is not None}
    if not lost:
        return system
    pairs = {pair_of_shapes(key) for key in lost}
    touching = [row.id for row in found.rows if row.id not in held.ids and abs(row.gap) <= gap]
    new = [key for key in touching if pair_of_shapes(key) in pairs]
    beyond = {key for key in new if (room := room_of(system, key, q)) is not None and room <= END}
    return system.taking((ids - beyond) | lost, held.system)  # type: ignore[attr-defined, no-any-return]


def _ending(found: Manifolds, q: Array, v: Array, gap: float) -> dict[str, float]:
    """Return the closed contacts that pass the end of a feature now, and how fast (m/s)."""
    paces = {}
    for row in found.rows:
        extent = extent_of(found.system, row.id) if row.level == "position" and abs(row.gap) <= gap else None
        if extent is None or (room := extent.room(q)) > END:
            continue
        pace = (room - extent.room(found.system.move(q, v, GLANCE))) / GLANCE
        if pace > STILL:
            paces[row.id] = pace
    return paces


def _within(system: System, key: str, q: Array) -> bool:
    """Whether a contact is not beyond the end of its features: ends of capsules are found there, too."""
    room = room_of(system, key, q)
    return room is None or room >= 0.0


def _opens(row: Row) -> bool:
    return row.level == "position" and row.kind in ("unilateral", "contact")


def _touches_now(row: Row, counts: Activation, closed: Collection[str]) -> bool:
    """Whether a gap is below zero, or closes, or is closed: then its features have to be those that touch now."""
    least = -counts.speed if row.id in closed else counts.speed
    return row.gap < -counts.gap or (row.gap <= counts.gap and float(row.rate[0]) < least)


def _steady(system: System, rows: tuple[Row, ...]) -> System:
    """Return the system with contacts in space that keep the chart of their tangents, and their place on an edge."""
    return system.steady(rows) if hasattr(system, "steady") else system


def _pinned(whole: System, near: System) -> System:
    """Return the system with points over rims that stay on their edges, as `_steady` leaves them.

    Where shapes meet later such a point may be far from its rim now, with a gap below zero.
    """
    return near.pinned() if near is not whole and hasattr(near, "pinned") else near


def _charts(system: System) -> Mapping[str, int]:
    return getattr(system, "charts", {})
