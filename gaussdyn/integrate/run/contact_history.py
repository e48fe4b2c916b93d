"""Contacts that come and go: one line per contact and saved state, and what can be asked of them.

Bodies that meet by collision detection have other contacts in every state, so these are no columns but a ragged table:
the lines ``offsets[k]:offsets[k + 1]`` belong to saved state k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._show import Many, fitted, names, short, span
from ...arrays import Array, IntArray, scalar, stacked
from ...errors import InputError
from ...mechanics.rows import Row
from ..contact_forces import SPACE, is_contact

COMPONENTS, MOST = 5, 6  # N, T1, T2 and two moments; with rolling and torsion at once three
LINES = ("index", "gap", "size", "reaction", "point", "frame", "mu", "mu_s", "mode")
FIELDS = ("offsets", "ids", "bodies", *LINES)
Line = tuple[Row, Array, str]  # a row, its mean force over a step (N), and its mode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contact:
    """One contact at one saved state.

    Attributes
    ----------
    id : str
    between : pair of str
        The two bodies; the normal points into the first.
    gap : float
        m.
    reaction : Array, shape (k,)
        Mean force over the step that ended there, N: (N), (N, T), (N, T1, T2) and the moments, N m.
    mode : str
        open, stick, slip, active, degenerate; open at the start of a run. inactive: a time step kept it from closing,
        with no push left at its end.
    mu, mu_s : float
        Friction while sliding and at rest.
    point : Array or None, shape (d,)
        Where it is in space, m.
    frame : Array or None, shape (d, d)
        Directions N, T1, T2 in space.
    """

    id: str
    between: tuple[str, str]
    gap: float
    reaction: Array
    mode: str
    mu: float
    mu_s: float
    point: Array | None = None
    frame: Array | None = None

    def __repr__(self) -> str:
        """Return which contact it is, what it does, and with what force."""
        parts = [repr(self.id), str(self.mode), f"gap={self.gap:.3g} m", f"reaction={short(self.reaction)} N"]
        parts += [f"mu={self.mu:g}", f"mu_s={self.mu_s:g}", f"between={self.between}"]
        return fitted("Contact", [*parts, f"point={short(self.point)}", f"normal={short(self.normal)}"])

    @property
    def normal(self) -> Array | None:
        """Unit vector from the second body into the first."""
        return None if self.frame is None else self.frame[0]

    @property
    def force(self) -> Array | None:
        """Force on the first body in space, N (None where the directions are not known)."""
        if self.frame is None:
            return None
        r = self.reaction[: len(self.frame)]
        found: Array = r @ self.frame[: len(r)]
        return found

    @property
    def margin(self) -> float:
        """Share of the friction that is not used: 1 nothing is, 0 all is; NaN without friction or load."""
        return float(friction_left(self.reaction[None, :], np.array([self.mu_s]))[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairForce:
    """What one body does to another at all saved states of a run, mean over the step that ended there.

    Attributes
    ----------
    t : Array, shape (n,)
        s.
    force : Array, shape (n, d)
        On the first body, N.
    normal_force : Array, shape (n,)
        Sum of the normal reactions, N.
    margin : Array, shape (n,)
        Least share of the friction left at a contact that pushes, in [0, 1]; NaN where none pushes with friction.
    points : tuple of Array, shapes (k, d)
        Contact points of the contacts that push, m.
    """

    t: Array
    force: Array
    normal_force: Array
    margin: Array
    points: tuple[Array, ...]

    def __repr__(self) -> str:
        """Return over what time, how often they touch, and how large the forces are."""
        pushing = sum(len(one) > 0 for one in self.points)
        size = np.linalg.norm(self.force, axis=1)
        parts = [f"{len(self.t)} states, t = {span(self.t)} s", f"pushing in {pushing} of them"]
        parts += [f"|force| = {span(size)} N", f"normal_force = {span(self.normal_force)} N"]
        return fitted("PairForce", [*parts, f"margin = {span(self.margin)}"])

    def at(self, t: float) -> Array:
        """Return the force on the first body at a time (s): that of the step around it, shape (d,), N."""
        found: Array = self.force[int(np.searchsorted(self.t, self._within("t", t)))]
        return found

    def over(self, begin: float, end: float) -> Array:
        """Return the mean force on the first body from `begin` to `end` (s), shape (d,), N.

        Between two saved states the force is that of the later one: exactly so where every step is saved.

        Raises
        ------
        InputError
            Times outside the run, or in the wrong order.
        """
        begin, end = self._within("begin", begin), self._within("end", end)
        if not begin < end:
            raise InputError("begin, end", (begin, end), "begin < end", "Write begin, end = sorted((begin, end)).")
        cuts = np.clip(self.t, begin, end)
        found: Array = np.diff(cuts) @ self.force[1:] / (end - begin)
        return found

    def _within(self, what: str, t: float) -> float:
        t = scalar(what, t)
        if not self.t[0] <= t <= self.t[-1]:
            raise InputError(
                what,
                t,
                f"a time in [{self.t[0]:g}, {self.t[-1]:g}] s",
                f"The run reached no further: {what}={self.t[-1]:g}.",
            )
        return t


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContactTable:
    """All contacts of a run that come and go, and all others whose bodies and directions are known.

    Attributes
    ----------
    offsets : IntArray, shape (n + 1,)
    ids : tuple of str
        Every contact that was ever there.
    bodies : tuple of pairs of str
        The bodies of each id; empty names where they are not known.
    index : IntArray, shape (m,)
        Which id a line is about.
    gap, mu, mu_s : Array, shape (m,)
    size : IntArray, shape (m,)
        Number of reaction components.
    reaction : Array, shape (m, 5)
        Mean force over the step, N; zero where a contact has fewer components.
    point, frame : Array, shapes (m, d), (m, d, d)
        NaN where not known.
    mode : array of str, shape (m,)
    """

    offsets: IntArray
    ids: tuple[str, ...] = ()
    bodies: tuple[tuple[str, str], ...] = ()
    index: IntArray
    gap: Array
    size: IntArray
    reaction: Array
    point: Array
    frame: Array
    mu: Array
    mu_s: Array
    mode: NDArray[np.str_]

    def __repr__(self) -> str:
        """Return how much there is, between which bodies, in which modes."""
        modes = [f"{n} {word}" for word, n in Counter(map(str, self.mode)).most_common(5)]
        parts = [f"{len(self.offsets) - 1} states", f"{len(self.index)} lines ({', '.join(modes)})"]
        parts += [f"{len(self.ids)} contacts: {names(self.ids)}", f"bodies: {names(self.names())}"]
        return fitted("ContactTable", [*parts, f"gap = {span(self.gap)} m"])

    def at(self, k: int) -> tuple[Contact, ...]:
        """Return the contacts at saved state k, in the order of their ids."""
        return Many(self._contact(line) for line in range(self.offsets[k], self.offsets[k + 1]))

    def between(self, t: Array, one: str, other: str = "") -> PairForce:
        """Return what `other` (all others if empty) does to `one`; lines whose directions are not known are left out.

        Both are bodies or shapes, see `sides`.
        """
        pairs = [sides(id, pair) for id, pair in zip(self.ids, self.bodies, strict=True)]
        n, signs = len(self.offsets) - 1, np.array([_sign_of(pair, one, other) for pair in pairs])
        sign = signs[self.index] if len(self.index) else np.zeros(0)
        chosen = np.flatnonzero((sign != 0.0) & ~np.isnan(self.frame[:, 0, 0]))
        r, state = self.reaction[chosen], np.repeat(np.arange(n), np.diff(self.offsets))[chosen]
        d = self.point.shape[1]
        force, load, margin = np.zeros((n, d)), np.zeros(n), np.full(n, np.inf)
        np.add.at(force, state, sign[chosen, None] * np.einsum("mi,mij->mj", r[:, :d], self.frame[chosen]))
        np.add.at(load, state, r[:, 0])
        left = friction_left(r, self.mu_s[chosen])
        np.minimum.at(margin, state, np.where(np.isnan(left), np.inf, left))
        pushing = chosen[r[:, 0] != 0.0]
        cuts = np.searchsorted(pushing, self.offsets[1:-1])
        points = tuple(np.split(self.point[pushing], cuts)) if n else ()
        return PairForce(
            t=t, force=force, normal_force=load, margin=np.where(np.isinf(margin), np.nan, margin), points=points
        )

    def names(self) -> tuple[str, ...]:
        """Return the bodies that have contacts."""
        return tuple(sorted({name for pair in self.bodies for name in pair if name}))

    def shapes(self) -> tuple[str, ...]:
        """Return all names that bodies with contacts and their shapes go by."""
        pairs = (sides(id, pair) for id, pair in zip(self.ids, self.bodies, strict=True))
        return tuple(sorted({name for pair in pairs for names in pair for name in names}))

    def made(self) -> ContactTable:
        """Return the table, all of it made: sooner done at once than state by state."""
        return self

    def take(self, states: slice) -> ContactTable:
        """Return the contacts of a range of saved states."""
        low, high, _ = states.indices(len(self.offsets) - 1)
        lines = slice(int(self.offsets[low]), int(self.offsets[high]))
        cut = {name: getattr(self, name)[lines] for name in LINES}
        return ContactTable(
            offsets=self.offsets[low : high + 1] - self.offsets[low], ids=self.ids, bodies=self.bodies, **cut
        )

    def in_order(self, states: IntArray) -> ContactTable:
        """Return the table with its states in the order of these numbers, one of each."""
        if (np.diff(states) > 0).all():
            return self
        order, counts = np.argsort(states), np.diff(self.offsets)
        offsets = np.concatenate([[0], np.cumsum(counts[order])])
        lines = np.repeat(self.offsets[:-1][order] - offsets[:-1], counts[order]) + np.arange(offsets[-1])
        cut = {name: getattr(self, name)[lines] for name in LINES}
        return ContactTable(offsets=offsets, ids=self.ids, bodies=self.bodies, **cut)

    def _contact(self, line: int) -> Contact:
        key, known = int(self.index[line]), not np.isnan(self.frame[line, 0, 0])
        return Contact(
            id=self.ids[key],
            between=self.bodies[key],
            gap=float(self.gap[line]),
            reaction=self.reaction[line, : self.size[line]],
            mode=str(self.mode[line]),
            mu=float(self.mu[line]),
            mu_s=float(self.mu_s[line]),
            point=self.point[line] if known else None,
            frame=self.frame[line] if known else None,
        )


class LateTable(ContactTable):
    """A table that is made when it is first asked for: finding where contacts are takes longer than many a step."""

    __slots__ = ("_make",)

    @staticmethod
    def of(make: Callable[[slice], ContactTable]) -> LateTable:
        """Return the table of saved states; `make` gives that of some of them."""
        table = object.__new__(LateTable)
        object.__setattr__(table, "_make", make)
        return table

    def at(self, k: int) -> tuple[Contact, ...]:
        """Return the contacts at saved state k; those of others are not made for it."""
        make = self._waits()
        return super().at(k) if make is None else make(slice(k, k + 1)).at(0)

    def made(self) -> ContactTable:
        """Return the table, all of it made."""
        make = self._waits()
        if make is not None:
            made = make(slice(None))
            for one in FIELDS:
                object.__setattr__(self, one, getattr(made, one))
            object.__setattr__(self, "_make", None)
        return self

    def _waits(self) -> Callable[[slice], ContactTable] | None:
        """Return what makes the table, None if it is made; a copy with other values (`replace`) always is."""
        return getattr(self, "_make", None)

    def __getattr__(self, name: str) -> Any:
        """Make the table."""
        if name not in FIELDS:
            raise AttributeError(name)
        return object.__getattribute__(self.made(), name)


def sides(id: str, bodies: tuple[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return what the two sides of a contact go by: the body, its shape (``body.shape``), the shape alone (``shape``).

    The ids of contacts that collision detection finds name the shapes.
    """
    labels = [part.partition(":")[0] for part in id.split("/")]
    return _known_as(bodies[0], labels), _known_as(bodies[1], labels)


def _known_as(body: str, labels: Sequence[str]) -> frozenset[str]:
    found = {body}
    for label in labels:
        owner, _, shape = label.partition(".")
        found |= {label, shape} if owner == body else set()
    return frozenset(found - {""})


def _sign_of(pair: tuple[frozenset[str], frozenset[str]], one: str, other: str) -> float:
    """Return 1 where `one` is on the first side and `other` (or all, if empty) on the second, -1 where exchanged."""
    first, second = pair
    if one in first and (other in second or (not other and one not in second)):
        return 1.0
    return -1.0 if one in second and (other in first or (not other and one not in first)) else 0.0


def friction_left(r: Array, mu_s: Array) -> Array:
    """Return 1 - |r_T| / (mu_s |r_N|) of every line, shape (m,); NaN without friction or without load.

    Parameters
    ----------
    r : Array, shape (m, k)
        Components N, T1, T2, ...
    mu_s : Array, shape (m,)
    """
    allowed = mu_s * np.abs(r[:, 0])
    loaded = allowed > 0.0
    share = np.linalg.norm(r[:, 1:3], axis=1) / np.where(loaded, allowed, 1.0)
    return np.where(loaded, 1.0 - share, np.nan)


def table_of(states: Sequence[Sequence[Line]]) -> ContactTable:
    """Return the table of (row, mean force, mode) lists, one list per saved state."""
    lines = [line for state in states for line in state]
    bodies: dict[str, tuple[str, str]] = {}
    for row, _, _ in lines:
        bodies.setdefault(row.id, row.between)
    places = {key: k for k, key in enumerate(bodies)}
    point, frame = _points_and_frames([row for row, _, _ in lines])
    return ContactTable(
        offsets=np.cumsum([0, *map(len, states)], dtype=np.int64),
        ids=tuple(bodies),
        bodies=tuple(bodies.values()),
        index=np.array([places[row.id] for row, _, _ in lines], dtype=np.int64),
        gap=np.array([row.gap for row, _, _ in lines], dtype=np.float64),
        size=np.array([row.size for row, _, _ in lines], dtype=np.int64),
        reaction=_reactions(lines),
        point=point,
        frame=frame,
        mu=np.array([row.mu for row, _, _ in lines], dtype=np.float64),
        mu_s=np.array([row.mu_s for row, _, _ in lines], dtype=np.float64),
        mode=np.array([mode for _, _, mode in lines], dtype=np.str_),
    )


def _points_and_frames(rows: Sequence[Row]) -> tuple[Array, Array]:
    """Return points and directions of rows, shapes (m, d) and (m, d, d), NaN of those that are no contacts."""
    m, d = len(rows), next((len(row.frame) for row in rows if row.frame is not None), SPACE)
    point, frame = np.full((m, d), np.nan), np.full((m, d, d), np.nan)
    for k, row in enumerate(rows):
        if is_contact(row) and row.frame is not None and row.point is not None:
            point[k], frame[k] = row.point, row.frame
    return point, frame


def _reactions(lines: Sequence[Line]) -> Array:
    """Return the mean forces of lines, filled up with zeros, shape (m, k)."""
    found = np.zeros((len(lines), max([COMPONENTS, *(row.size for row, _, _ in lines)])))
    for k, (_, force, _) in enumerate(lines):
        found[k, : len(force)] = force
    return found


def empty_table(states: int) -> ContactTable:
    """Return the table of a run without contacts that come and go."""
    return table_of([[] for _ in range(states)])


def joined(tables: Sequence[ContactTable]) -> ContactTable:
    """Return tables one after another as one."""
    bodies: dict[str, tuple[str, str]] = {}
    for table in tables:
        for key, pair in zip(table.ids, table.bodies, strict=True):
            bodies.setdefault(key, pair)
    places = {key: k for k, key in enumerate(bodies)}
    full = [table for table in tables if len(table.index)] or list(tables[:1])
    widest = max(table.reaction.shape[1] for table in full)
    full = [replace(one, reaction=np.pad(one.reaction, ((0, 0), (0, widest - one.reaction.shape[1])))) for one in full]
    data = stacked(full, LINES)
    news = [np.array([places[key] for key in table.ids], dtype=np.int64)[table.index] for table in full]
    data["index"] = np.concatenate(news)
    counts = np.concatenate([np.diff(table.offsets) for table in tables])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return ContactTable(offsets=offsets, ids=tuple(bodies), bodies=tuple(bodies.values()), **data)
