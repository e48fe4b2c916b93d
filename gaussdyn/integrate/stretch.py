"""Steps in a row as arrays: what a run records of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, IntArray, stacked
from ..mechanics.placed_contacts import Listed, Placed
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from ..programs.solution.residuals import MODES
from ..programs.solution.status import Status
from .contact_modes import FREE, INACTIVE
from .energy import Books, EnergyBook, energy
from .stepper import Sizing, Step

if TYPE_CHECKING:
    from .impact.history import ImpactRecord
    from .mode_changes import Change

WORDS = (INACTIVE, *MODES[1:], "active", INACTIVE, FREE)  # of modes by their numbers in kernels; -1: did not act
NUMBER = {word: k for k, word in enumerate(WORDS)} | {INACTIVE: 0, FREE: -1}
LIMITS = ("mu_s", "mu_r", "mu_t", "cap_s")
_limits = attrgetter(*LIMITS)
MOMENT = 0.05  # s
NoteKind = Literal["unsettled", "crowded", "cut"]
UNSETTLED: Final = "unsettled"
CROWDED: Final = "crowded"
SHORTENED: Final = "cut"
NO_ROW: Final = "step"  # id of the event of a piece of a step in which there is no row that it could name
Note = tuple[int, NoteKind, str]  # step, kind and id of an event


class Late(Mapping[str, Array]):
    """What a state remembers, made when it is first asked for.

    `others` is what is no impulse of a constraint, None if that is not known before.
    """

    __slots__ = ("_found", "_make", "others")

    def __init__(self, make: Callable[[], dict[str, Array]], others: Mapping[str, Array] | None = None) -> None:
        self._make, self.others = make, others
        self._found: dict[str, Array] | None = None

    @property
    def whole(self) -> dict[str, Array]:
        """All of it."""
        if self._found is None:
            self._found = self._make()
        return self._found

    def __getitem__(self, key: str) -> Array:
        """Return what is remembered by this name."""
        return self.whole[key]

    def __iter__(self) -> Iterator[str]:
        """Go over the names."""
        return iter(self.whole)

    def __len__(self) -> int:
        """Return how much is remembered."""
        return len(self.whole)

    def __reduce__(self) -> tuple[type[dict[str, Array]], tuple[dict[str, Array]]]:
        """Travel as a plain dict."""
        return dict, (self.whole,)


class Constraints(NamedTuple):
    """What the rows of steps are of.

    Attributes
    ----------
    ids : tuple of str, length R
    start : IntArray, shape (R + 1,)
        The first row of each.
    changes : array of bool, shape (R,)
        Whether it may open, stick or slip.
    """

    ids: tuple[str, ...]
    start: IntArray
    changes: NDArray[np.bool_]


class Traces(NamedTuple):
    """What n steps leave behind that shows how they were taken.

    Attributes
    ----------
    ids : tuple of str, length R
        The constraints.
    acts : array of bool, shape (n, R)
        Which of them acted.
    place, placed : Array (n, nq) and array of bool (n,)
        See `Step.place`, and where there is one.
    passes : IntArray, shape (n,)
        How often the positions were projected.
    shifts, places : Array, shapes (n, p, R) and (n, p, nq)
        See `Shift`; `places` is empty where they are not known.
    foreseen : Array, shape (n, nq + nv)
        See `Step.foreseen`; NaN where there is none.
    tried, tries : IntArray (n,) and Array (n, t, nq)
        How often they were tried before, and where they ended then, see `Step.tries`.
    """

    ids: tuple[str, ...]
    acts: NDArray[np.bool_]
    place: Array
    placed: NDArray[np.bool_]
    passes: IntArray
    shifts: Array
    places: Array
    foreseen: Array
    tried: IntArray
    tries: Array


class Steps(Protocol):
    """Steps by their numbers."""

    def __call__(self, k: int) -> Step:
        """Return the k-th step."""
        ...

    def chosen(self, steps: IntArray) -> Steps:
        """Return some of them."""
        ...

    @property
    def kind(self) -> Hashable:
        """What is equal for those that are taken by the same kernels with the same constraints, None for no others."""
        ...

    def placed(self, more: Sequence[Any] = ()) -> Placed | None:
        """Return their contacts at their ends, then at those of `more` of this kind; None: rows have to be asked."""
        ...

    def listed(self, more: Sequence[Any] = ()) -> Listed | None:
        """Return the contacts that `near` lists, at their ends, then those of `more` of this kind; None as `placed`."""
        ...

    def traces(self) -> Traces | None:
        """Return how they were taken; None: each has to be asked."""
        ...


class Each(NamedTuple):
    """Steps that were taken one by one; None where none was taken."""

    all: tuple[Any, ...]

    def __call__(self, k: int) -> Step:
        """Return the k-th."""
        return self.all[k]  # type: ignore[no-any-return]

    def chosen(self, steps: IntArray) -> Each:
        """Return some of them."""
        return Each(tuple(self.all[k] for k in steps.tolist()))

    @property
    def kind(self) -> None:
        """Each is taken by itself."""

    def placed(self, more: Sequence[Any] = ()) -> None:
        """Return None: each has rows."""

    def listed(self, more: Sequence[Any] = ()) -> None:
        """Return None: each has rows."""

    def traces(self) -> None:
        """Return None: each says all by itself."""


class Strung(Each):
    """Steps of others by their numbers there, one after another."""

    def __call__(self, k: int) -> Step:
        """Return the k-th."""
        steps, at = self.all[k]
        return steps(at)  # type: ignore[no-any-return]

    def chosen(self, steps: IntArray) -> Strung:
        """Return some of them."""
        return Strung(tuple(self.all[k] for k in steps.tolist()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretch:
    """n steps in a row with the same constraints; what is seldom asked for is made of `step` then.

    Attributes
    ----------
    step : Steps
    known : tuple of Row or None
        All rows at the end of a single step.
    end : State
        After the last one.
    spans : Array, shape (n, 3)
        Start, length and end, s.
    before_q, before_v, q, v : Array, shapes (n, nq) and (n, nv)
        At the beginning and at the end of every step.
    control : Array, shape (n, k)
    E, cone, restitution : Array, shape (n,)
        Residual, how far impulses leave their cones (relative), fraction of all restitution that was kept.
    books : Books
    depth, joint : Array, shape (n,)
        Lowest gap (0 if none is negative) and largest error of joints at the end, m.
    of : Constraints
    gap, impulses : Array, shapes (n, R) and (n, m)
        Gaps at the end, m; impulses of the rows, zero where they did not act.
    mode : IntArray, shape (n, R)
        Numbers of `WORDS`.
    limits : Array, shape (r, 4)
        The largest `LIMITS` of the first constraints: of all but contacts of shapes.
    status : Status
        Of the contact problems.
    notes : tuple of Note
        Steps whose laws hold at the middle, and pieces of those that were cut.
    changes, impacts : tuple of (int, Change) and of (int, ImpactRecord)
        What steps of such steppers passed, see `Step`, with the numbers of these.
    sizing : tuple of (int, Sizing)
        How the lengths of steps came about, with the numbers of these.
    """

    step: Steps
    end: State
    spans: Array
    before_q: Array
    before_v: Array
    q: Array
    v: Array
    control: Array
    E: Array
    cone: Array
    restitution: Array
    books: Books
    depth: Array
    joint: Array
    of: Constraints
    gap: Array
    impulses: Array
    mode: IntArray
    limits: Array
    known: tuple[Row, ...] | None = None
    status: Status = Status.SOLVED
    notes: tuple[Note, ...] = ()
    changes: tuple[tuple[int, Change], ...] | None = None
    impacts: tuple[tuple[int, ImpactRecord], ...] = ()
    sizing: tuple[tuple[int, Sizing], ...] = ()

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.spans)

    def rows(self, k: int) -> tuple[Row, ...]:
        """Return all rows at the end of a step."""
        return self.step(k).rows if self.known is None else self.known

    def starts(self, first: State) -> Iterator[State]:
        """Go over the states from which the steps were taken, of which this is the first."""
        yield first
        yield from (self.step(k).state for k in range(len(self) - 1))

    @property
    def sound(self) -> int:
        """How many steps there are before the first one that ends in numbers that are not finite."""
        sound = np.isfinite(np.column_stack([self.q, self.v])).all(axis=1)
        return len(self) if sound.all() else int(sound.argmin())

    def until(self, n: int) -> Stretch:
        """Return the first n > 0 steps."""
        notes = tuple(note for note in self.notes if note[0] < n)
        return replace(self.chosen(np.arange(n)), notes=notes, end=self.step(n - 1).state)

    def chosen(self, steps: IntArray) -> Stretch:
        """Return some of the steps, without `notes`."""
        cut = {name: getattr(self, name)[steps] for name in LINES}
        books, step = Books(*(x[steps] for x in self.books)), self.step.chosen(steps)
        some, known = self.impacts or self.changes or self.sizing, self.changes
        at = {k: j for j, k in enumerate(steps.tolist())} if some else {}
        impacts = tuple((at[k], strike) for k, strike in self.impacts if k in at)
        changes = known if known is None else tuple((at[k], change) for k, change in known if k in at)
        sizing = tuple((at[k], one) for k, one in self.sizing if k in at)
        return replace(
            self, **cut, books=books, step=step, notes=(), impacts=impacts, changes=changes, sizing=sizing
        )  # fmt: skip

    @staticmethod
    def joined(parts: Sequence[Stretch]) -> Stretch:
        """Return steps with the same constraints that were taken one after another, all of them solved."""
        if len(parts) == 1:
            return parts[0]
        firsts = list(accumulate(map(len, parts[:-1]), initial=0))
        return replace(
            parts[0], **stacked(parts, LINES),
            books=Books(*map(np.concatenate, zip(*(one.books for one in parts), strict=True))),
            step=Strung(tuple([(one.step, k) for one in parts for k in range(len(one))])), end=parts[-1].end,
            known=None, limits=np.max([one.limits for one in parts], axis=0),
            notes=_renumbered(firsts, [one.notes for one in parts]),
            changes=None if parts[0].changes is None else _renumbered(firsts, [one.changes or () for one in parts]),
            impacts=_renumbered(firsts, [one.impacts for one in parts]),
            sizing=_renumbered(firsts, [one.sizing for one in parts]),
        )  # fmt: skip

    @staticmethod
    def at_start(state: State, rows: tuple[Row, ...], control: Array | None, book: EnergyBook) -> Stretch:
        """Return the first state of a run, as a step of one second in which nothing happened."""
        none, energies = np.zeros(1), (book.kinetic, book.potential, 0.0, 0.0, 0.0)
        return Stretch(
            step=Each((None,)), end=state, spans=np.array([[state.t, 1.0, state.t]]), **_ends(state, state, control),
            E=none, cone=none, restitution=none, books=Books(*np.array(energies)[:, None]), **_of_rows(rows, {}, {}),
        )  # fmt: skip

    @staticmethod
    def of_step(step: Step, system: System) -> Stretch:
        """Return one step as a stretch."""
        own = getattr(step, "stretch", None)
        if own is not None:
            found: Stretch = own()
            return found
        start, end, work, residuals = step.start, step.state, step.work, step.solution.residuals
        energies = energy(system, end) if step.energy is None else step.energy
        E, cone = (0.0, 0.0) if residuals is None else (residuals.E, residuals.cone or 0.0)
        notes: tuple[Note, ...] = ((0, UNSETTLED, step.unsettled), (0, CROWDED, step.crowded), (0, SHORTENED, step.cut))
        books = (*energies, work.reactions, work.forces, work.projection)
        return Stretch(
            step=Each((step,)), end=end, spans=np.array([[start.t, step.dt, end.t]]),
            **_ends(start, end, step.control), **_of_rows(step.rows, step.reactions, step.modes), E=np.array([E]),
            cone=np.array([cone]), restitution=np.array([step.restitution]), books=Books(*np.array(books)[:, None]),
            status=step.solution.status, notes=tuple(note for note in notes if note[2]),
            changes=None if step.changes is None else tuple((0, one) for one in step.changes),
            impacts=tuple((0, one) for one in step.impacts),
            sizing=() if step.sizing is None else ((0, step.sizing),),
        )  # fmt: skip


def one_by_one(
    take: Callable[[State, int, float], Stretch | None], state: State, n: int, t_max: float
) -> tuple[Stretch, ...]:  # fmt: skip
    """Return up to n solved steps, as many as take a moment.

    ``take(state, n, due)`` gives up to n from a state, no more once the clock shows `due`, and None for none. What is
    recorded together costs less, and keys and clocks are looked at in between.
    """
    found: list[Stretch] = []
    left, due = n, time.monotonic() + MOMENT
    try:
        while left > 0 and state.t < t_max and time.monotonic() < due:
            more = take(state, left, due)
            if more is None:
                break
            found.append(more)
            state, left = more.end, left - len(more)
    except Exception:
        if not found:  # else it is raised again by the next call, once these steps are recorded
            raise
    parts = groupby(found, key=lambda one: (one.of.ids, one.of.start.tobytes()))
    return tuple(Stretch.joined(list(alike)) for _, alike in parts)


def _renumbered(firsts: Sequence[int], parts: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[Any, ...]:
    """Return notes (step, what, ..) on single steps of stretches, whose first steps have these numbers."""
    return tuple([(first + k, *what) for first, own in zip(firsts, parts, strict=True) for k, *what in own])


def _ends(start: State, end: State, control: Array | None) -> dict[str, Any]:
    """Return the states around a step, and the control in it."""
    told, before = np.zeros(0) if control is None else control, {"before_q": start.q[None], "before_v": start.v[None]}
    return {**before, "q": end.q[None], "v": end.v[None], "control": told[None]}


def _of_rows(rows: tuple[Row, ...], reactions: Mapping[str, Array], modes: Mapping[str, str]) -> dict[str, Any]:
    """Return what a single step did to its rows."""
    joint, depth = errors_of(rows)
    of = constraints_of(rows)
    start, p = of.start, np.zeros(of.start[-1])
    for k, row in enumerate(rows):
        if row.id in reactions:
            p[start[k] : start[k + 1]] = reactions[row.id]
    return {
        "of": of, "depth": np.array([depth]),
        "joint": np.array([joint]), "gap": np.array([[row.gap for row in rows]]), "impulses": p[None], "known": rows,
        "mode": np.array([[NUMBER[modes.get(row.id, FREE)] for row in rows]], dtype=np.int64),
        "limits": limits_of(rows),
    }  # fmt: skip


def constraints_of(rows: Sequence[Row]) -> Constraints:
    """Return what rows are of."""
    changes = np.array([row.kind != "bilateral" for row in rows], dtype=np.bool_)
    start = np.array([*accumulate([len(row.rate) for row in rows], initial=0)])
    return Constraints(tuple([row.id for row in rows]), start, changes)


def limits_of(rows: Sequence[Row]) -> Array:
    """Return the `LIMITS` of rows, shape (n, 4)."""
    return np.array([_limits(row) for row in rows]).reshape(-1, 4)


def errors_of(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the largest error of joints, and the lowest gap (0 if none is negative), m."""
    placed = [row for row in rows if row.level == "position" and row.kind != "dry"]
    gaps = (row.gap for row in placed if not row.bilateral)
    return max((abs(row.gap) for row in placed if row.bilateral), default=0.0), min(0.0, min(gaps, default=0.0))


LINES = (
    "spans", "before_q", "before_v", "q", "v", "control", "E", "cone", "restitution", "depth", "joint", "gap",
    "impulses", "mode",
)  # fmt: skip
