"""Which features of shapes touch where one of them ends: at the end of an edge or the border of a face.

Systems that find contacts of shapes say where the features of a contact end (`extent`), and can hand over the contacts
of another pose (`taking`). Detection holds on to features a little beyond their end, so that rounding decides nothing;
here the end itself counts: at it, shapes are moved on to see which features touch then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...errors import InputError
from ...mechanics.borders import Crossing, Extent
from ...mechanics.rows import Row
from ...mechanics.system import System

END = 1e-11  # m: a contact so near to the end of a feature is at it
GLANCE = 1e-6  # s: over which it is seen how fast a contact comes to an end
STILL = 1e-8  # m/s: slower it does not
FURTHER = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # m: how far beyond an end it is looked which features touch
MOMENT = 1e-3  # s: how long that may take at most


def extent_of(system: System, key: str) -> Extent | Crossing | None:
    """Return where the features of a contact end; None where they do not."""
    asked = getattr(system, "extent", None)
    return None if asked is None else asked(key)


def check_borders(system: System) -> None:
    """Raise InputError where shapes touch with features whose ends are not known: a phase would go on past them."""
    if lost := getattr(system, "without_borders", ()):
        mend = "Write stepper=MoreauJean(), or convex shapes (ConvexMesh, Box) in their place."
        raise InputError("system", f"shapes {', '.join(lost)}", "no surfaces, nor ellipsoids over edges", mend)


def room_of(system: System, key: str, q: Array) -> float | None:
    """Return how far a contact is from the end of its features, m; None where they have none."""
    extent = extent_of(system, key)
    return None if extent is None else extent.room(q)


def going_on(whole: System, system: System, rows: Sequence[Row], t: float, q: Array, v: Array, gap: float) -> System:
    """Return the system with those features in place of the ones that end here that shapes touch with from now on.

    Points over the rim of a face have no end of their own: they stay if shapes still touch there further on.

    Parameters
    ----------
    whole, system : System
        With all contacts, and with those found here.
    gap : float
        Gaps up to this are closed, m.
    """
    paces = _ending(system, rows, q, v, gap)
    if not paces:
        return system
    known, pairs, found = {row.id for row in rows}, {_pair(key) for key in paces}, system
    for far in FURTHER:
        there = system.move(q, v, min(far / max(paces.values()), MOMENT))
        later = whole.near(t, there, v, 0.0)
        ids = {row.id for row in rows_of(later, t, there, v) if _pair(row.id) in pairs}
        new = {_pair(key) for key in ids - known if _within(later, key, there)}
        gone = {key for key in paces if key not in ids or (_pair(key) in new and not _within(later, key, there))}
        if gone:
            found = system.taking((known | ids) - gone, later)  # type: ignore[attr-defined]
        if len(gone) == len(paces):
            break
    if found is system:
        return system
    there = system.move(q, v, min(FURTHER[-1] / max(paces.values()), MOMENT))
    touch = {row.id for row in rows_of(whole.near(t, there, v, 0.0), t, there, v) if row.gap <= gap}
    ids = {row.id for row in rows_of(found, t, q, v)}
    left = {key for key in ids - touch if _pair(key) in pairs and extent_of(found, key) is None}
    return found.taking(ids - left, found) if left else found  # type: ignore[attr-defined]


def keeping(
    system: System, rows: Sequence[Row], old: System, known: Collection[str], closed: Collection[str],
    q: Array, gap: float,
) -> System:  # fmt: skip
    """Return the system with closed contacts of an old one that are before their ends, though others were found.

    Parameters
    ----------
    rows : sequence of Row
        Of the system.
    known, closed : collection of str
        Rows of the old system, and those of them that are closed.
    gap : float
        Gaps up to this are closed, m.
    """
    ids = {row.id for row in rows}
    lost = {key for key in closed if key not in ids and extent_of(old, key) is not None}
    if not lost:
        return system
    pairs = {_pair(key) for key in lost}
    new = [row.id for row in rows if row.id not in known and abs(row.gap) <= gap and _pair(row.id) in pairs]
    beyond = {key for key in new if (room := room_of(system, key, q)) is not None and room <= END}
    return system.taking((ids - beyond) | lost, old)  # type: ignore[attr-defined, no-any-return]


def _ending(system: System, rows: Sequence[Row], q: Array, v: Array, gap: float) -> dict[str, float]:
    """Return the closed contacts that pass the end of a feature now, and how fast (m/s)."""
    found = {}
    for row in rows:
        extent = extent_of(system, row.id) if row.level == "position" and abs(row.gap) <= gap else None
        if extent is None or (room := extent.room(q)) > END:
            continue
        pace = (room - extent.room(system.move(q, v, GLANCE))) / GLANCE
        if pace > STILL:
            found[row.id] = pace
    return found


def _within(system: System, key: str, q: Array) -> bool:
    """Whether a contact is not beyond the end of its features: ends of capsules are found there, too."""
    room = room_of(system, key, q)
    return room is None or room >= 0.0


def _pair(key: str) -> frozenset[str]:
    """Return the names of the two shapes of a contact."""
    return frozenset(side.split(":")[0] for side in key.split("/"))
