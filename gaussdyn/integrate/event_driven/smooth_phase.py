"""A phase: smooth motion while no constraint changes its mode.

A mode says of every row whether it is closed, and which of its directions stick or slip. With all modes fixed the
Gauss accelerations are a smooth function of (t, q, v), beyond the end of the phase too:

    M a = h + B r,     G a + w = 0,     G: normal rows of what is closed, tangential rows of what sticks,

B = G^T except for sliding contacts, whose normal column is J_N^T - mu J_T^T e. Conditions say how far every mode is
from its end: gaps and normal reactions >= 0, friction left >= 0, slip against its direction >= 0.

Sources: Pfeiffer, Glocker (1996), Multibody dynamics with unilateral contacts, 4; the laws of `contact.assemble`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._jit import Held
from ...arrays import Array, IntArray
from ...contact.manifolds import extent_of
from ...linalg.redundant_rows import rank_of, redundant_of, solve_redundant
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..contact_modes import Mode, Modes, direction, held_components, limit_of, parts_of, rough, turned
from ..recorded_arcs import Trail
from .guards import Guard, guards_of
from .phase_state import Instant, Place, dependent, largest, over_mass, side_of
from .redundant_reactions import INSIDE, Cones, coupled, inside

if TYPE_CHECKING:
    from .compiled.phase_arrays import CompiledPhase


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A closed row: its number, the components that are held, the directions of those that slip."""

    k: int
    at: slice
    held: Array
    slips: tuple[tuple[slice, str, Array], ...]
    sign: float
    dry: bool
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Phase:
    """Smooth motion with fixed modes: a value with a right-hand side and conditions.

    Attributes
    ----------
    system : System
        With the contacts that may act (`System.near`).
    control : Array or None
    modes : mapping of str to Mode
        Of every row, by id.
    rows : tuple of Row
        Where it was made: their laws are those of all its states.
    guards : tuple of Guard
    units : tuple of str
        What their conditions are.
    sizes : tuple of int
        Of the rows.
    size : int
        Number of rows that are held.
    redundant : bool
        Whether they depend on one another, so that reactions are not unique.
    parts : tuple of Part
        What is closed.
    places, pushes : mapping of str to slice
        Where the numbers of rows stand among those of all rows, by id: of every one, of what is closed.
    names : mapping of str to str
        What it does, by id, see `Mode.name`.
    dependence : Held or None
        Where it is redundant: the `Redundant` of its rows where it was made.
    compiled : list of CompiledPhase
        Empty, or what kernels take it as.
    """

    system: System
    control: Array | None
    modes: Modes
    rows: tuple[Row, ...]
    guards: tuple[Guard, ...] = field(init=False)
    units: tuple[str, ...] = field(init=False)
    sizes: tuple[int, ...] = field(init=False)
    size: int = field(init=False)
    redundant: bool = field(init=False)
    parts: tuple[Part, ...] = field(init=False)
    places: Mapping[str, slice] = field(init=False)
    pushes: Mapping[str, slice] = field(init=False)
    names: Mapping[str, str] = field(init=False)
    dependence: Any = field(init=False, repr=False)
    compiled: list[CompiledPhase] = field(init=False, repr=False)
    _sloping: bool = field(init=False)

    def __post_init__(self) -> None:
        parts, guards, n, at = [], [], 0, 0
        places: dict[str, slice] = {}
        for k, row in enumerate(self.rows):
            mode = self.modes[row.id]
            guards += guards_of(k, row, mode)
            places[row.id] = slice(at, at + row.size)
            if mode.closed:
                part = _part(k, row, mode, n)
                parts.append(part)
                if (extent := extent_of(self.system, row.id)) is not None:
                    guards.append(Guard("end", row.id, k, "place", extent=extent))
                n += len(part.held)
            at += row.size
        slides = [part.at.start for part in parts if part.slips and not part.dry]
        held = [self.rows[part.k].J[part.held] for part in parts]
        names = {row.id: self.modes[row.id].name(row) for row in self.rows if self.modes[row.id].closed}
        values = {"parts": tuple(parts), "guards": tuple(guards), "size": n, "_sloping": bool(slides)}
        known: dict[str, Any] = {"redundant": dependent(held), "dependence": None, "compiled": [], "names": names}
        known |= {
            "places": places,
            "pushes": {key: places[key] for key in names},
            "units": tuple(dict.fromkeys(guard.unit for guard in guards)),
            "sizes": tuple([len(row.rate) for row in self.rows]),
        }
        if known["redundant"]:
            rolling = [i for part in parts for i in _rolling(self.rows[part.k], part)]
            known["dependence"] = Held(redundant_of(np.concatenate(held), rolling, slides))
        for name, value in {**values, **known}.items():
            object.__setattr__(self, name, value)

    @property
    def steady(self) -> bool:
        """Whether it is the same all the time: no direction of slip turns, and reactions are unique."""
        turning = any(len(mode.slip) > 1 or len(mode.roll) > 1 for mode in self.modes.values())
        return not turning and not self.redundant

    def but(self, modes: Modes, rows: tuple[Row, ...]) -> Phase:
        """Return the phase with other modes where its rows are these."""
        return replace(self, modes=modes, rows=rows)

    def serves(self, rows: tuple[Row, ...]) -> bool:
        """Whether it may begin with other rows of the same laws, too: none of what it holds depends on the rest."""
        if self.redundant or self.size < 2:
            return not self.redundant
        return not dependent([rows[part.k].J[part.held] for part in self.parts])

    def instant(self, t: float, q: Array, v: Array) -> Instant:
        """Return accelerations and reactions at one state."""
        return self.at(Place.of(self.system, t, q, v, self.control))

    def at(self, place: Place) -> Instant:
        """Return accelerations and reactions where the functions of the system have been asked already."""
        t, q, v, rows, M, h = place.t, place.q, place.v, place.rows, place.M, place.h
        if not self.parts:
            none, free = tuple(np.zeros(n) for n in self.sizes), over_mass(M, h)
            moved = largest(free)
            return Instant(t, q, v, rows, M, h, free, none, np.zeros(len(v)), free, (largest(h), moved, moved))
        G, B, w, given = self.columns(rows, v)
        n = len(w)
        known = np.empty((len(v), n + 1))
        known[:, :n], known[:, n] = B.T, h + given
        X = over_mass(M, known)
        free, W = X[:, n], G @ X[:, :n]
        r, side = self._reactions(G, W, -(G @ free + w))
        a = free + X[:, :n] @ r
        forces = self.spread(rows, v, r)
        sizes = largest(h, *forces), largest(a), largest(free)
        return Instant(t, q, v, rows, M, h, a, forces, B.T @ r + given, free, sizes, side=side)

    def conditions(self, now: Instant) -> Array:
        """Return how far every guard is from the end of the phase; >= 0 within it.

        Shared reactions well inside their cones are somewhere there, from state to state elsewhere: no condition.
        """
        return np.array(
            [min(guard.value(now), now.plenty if guard.unit == "force" else np.inf) for guard in self.guards]
        )

    def sharing(self, now: Instant) -> Instant:
        """Return the instant, with redundant reactions outside their cones replaced by others inside, if any are."""
        if not self.redundant or now.shared or all(g.unit != "force" or g.value(now) >= 0.0 for g in self.guards):
            return now
        forces = self._shared(now)
        sizes, plenty = (largest(now.h, *forces), *now.sizes[1:]), INSIDE * largest(*now.r)
        return replace(now, r=forces, sizes=sizes, shared=True, plenty=plenty)

    def _shared(self, now: Instant) -> tuple[Array, ...]:
        """Return reactions that move everything as those of `now` do, as far inside their cones as possible."""
        B = self.columns(now.rows, now.v)[1]
        r0 = np.concatenate([now.r[part.k][part.held] for part in self.parts])
        r = inside(B.T, r0, lambda: self._cones(now.rows))
        old, new = self.spread(now.rows, now.v, r0), self.spread(now.rows, now.v, r)
        # what does not shift keeps the friction of slips that have turned
        return tuple(was + (b - a) for was, a, b in zip(now.r, old, new, strict=True))

    def _cones(self, rows: Sequence[Row]) -> Cones:
        """Return the cones of all reactions that are held."""
        cones = Cones()
        for part in self.parts:
            row, mode = rows[part.k], self.modes[rows[part.k].id]
            if row.kind == "dry" and len(part.held):
                cones.add_disc(np.zeros(self.size), part.at, row.cap_s)
            if row.kind in ("bilateral", "dry"):
                continue
            normal = np.zeros(self.size)
            normal[part.at.start] = part.sign if row.kind == "bilateral_contact" else 1.0
            if row.kind != "bilateral_contact":
                cones.add(normal)
            if not rough(self.rows[part.k]):
                continue
            (slip, roll), moment = parts_of(row), row.moments[0][1] if row.moments else 0.0
            at = part.at.start + 1
            for where, free, limit in ((slip, mode.slip, limit_of(row, mode)), (roll, mode.roll, moment)):
                size = 0 if free else where.stop - where.start
                if size:
                    cones.add_disc(limit * normal, slice(at, at + size))
                at += size
        return cones

    def rates(self, now: Instant) -> Array:
        """Return the time derivatives of the conditions where they are known (gaps, slips), NaN elsewhere."""
        return np.array([guard.rate(now) for guard in self.guards])

    def turned(self, now: Instant) -> Phase:
        """Return the phase with the directions of slip, and the rank of its rows, as they are now; else itself."""
        new = {row.id: turned(row, self.modes[row.id], now.v) for row in now.rows}
        same = all(new[key] is self.modes[key] for key in new) and self._as_redundant(now.rows)
        return self if same else self.but({**self.modes, **new}, now.rows)

    def _as_redundant(self, rows: tuple[Row, ...]) -> bool:
        """Whether as many of the rows held depend on others as where the phase began, if any did."""
        if self.dependence is None:
            return True
        held = [rows[part.k].J[part.held] for part in self.parts]
        return rank_of(np.concatenate(held)) == len(self.dependence.value.chosen)

    def columns(self, rows: Sequence[Row], v: Array) -> tuple[Array, Array, Array, Array]:
        """Return G, B^T, the drift of the rows held, and the given friction, where velocities are v."""
        n, nv, given = self.size, len(v), np.zeros(len(v))
        G, w = np.empty((n, nv)), np.empty(n)
        B = np.empty((n, nv)) if self._sloping else G
        for part in self.parts:
            row = rows[part.k]
            J, drift = (row.J, row.drift) if part.whole else (row.J[part.held], row.drift[part.held])
            G[part.at], B[part.at], w[part.at] = J, J, drift
            for where, mu, e in part.slips:
                d = direction(row.rate[where], e, v)
                if part.dry:
                    given -= row.cap * (d @ row.J)
                    continue
                B[part.at.start] -= part.sign * getattr(row, mu) * (d @ row.J[where])
        return G, B, w, given

    def by_direction(self, now: Instant, turning: Sequence[tuple[int, slice]]) -> Array:
        """Return da / dangle for directions of slip, shape (n, nv), m/s^2 per rad; each is a row's number and its part.

        With M a = h + B^T r and G a + w = 0 a push f that turns with its direction changes a by P M^-1 df/dangle, where
        P = 1 - M^-1 B^T (G M^-1 B^T)^-1 G; of redundant reactions the shares are held.
        """
        G, B, _, _ = self.columns(now.rows, now.v)
        f = np.zeros((len(now.v), len(turning)))
        for part in self.parts:
            row = now.rows[part.k]
            for where, mu, e in part.slips:
                if (part.k, where) not in turning:
                    continue
                d = direction(row.rate[where], e, now.v)
                size = row.cap if part.dry else part.sign * getattr(row, mu) * now.r[part.k][0]
                f[:, turning.index((part.k, where))] = size * (d[1] * row.J[where][0] - d[0] * row.J[where][1])
        n = len(G)
        X = over_mass(now.M, np.column_stack((B.T, f)))
        W, GY = G @ X[:, :n], G @ X[:, n:]
        if self.dependence is None:
            pull = np.linalg.solve(W, -GY)
        else:
            pull = np.column_stack([self._reactions(G, W, -column)[0] for column in GY.T])
        return np.asarray((X[:, n:] + X[:, :n] @ pull).T)

    def explicit(self, rows: Sequence[Row], v: Array) -> Array:
        """Return the part of the rates of what is held that does not come from v: moving supports."""
        found = [(rows[part.k].rate - rows[part.k].J @ v)[part.held] for part in self.parts]
        return np.concatenate([np.zeros(0), *found])

    def slipping(self, W: Array) -> list[IntArray]:
        """Return the rows held that are coupled with slips, group by group."""
        label = coupled(W != 0.0)
        slips = {int(label[part.at.start]) for part in self.parts if part.slips and not part.dry}
        return [np.flatnonzero(label == k) for k in sorted(slips)]

    def _reactions(self, G: Array, W: Array, b: Array) -> tuple[Array, float]:
        """Solve W r = b, see `linalg.redundant_rows`; return the side of the poles, too, 0 where nothing slides."""
        if self.dependence is not None:
            both, side = np.column_stack((W, b)), np.zeros(1)
            self.dependence.value.G[:] = G
            if solve_redundant(self.dependence, both, side):
                raise np.linalg.LinAlgError("Singular matrix")
            return both[:, -1].copy(), float(side[0])
        if len(b) == 1:
            if W[0, 0] == 0.0:
                raise np.linalg.LinAlgError("Singular matrix")
            return b / W[0, 0], side_of(W) if self._sloping else 0.0
        return np.asarray(np.linalg.solve(W, b)), side_of(W) if self._sloping else 0.0

    def spread(self, rows: Sequence[Row], v: Array, r: Array) -> tuple[Array, ...]:
        """Return the reaction of every row, friction of slip included."""
        found = [np.zeros(n) for n in self.sizes]
        for part in self.parts:
            row, full = rows[part.k], found[part.k]
            full[part.held] = r[part.at]
            for where, mu, e in part.slips:
                d = direction(row.rate[where], e, v)
                full[where] = -row.cap * d if part.dry else -part.sign * getattr(row, mu) * full[0] * d
        return tuple(found)


def trail_of(phase: Phase, t: Array, h: Array, y: Array, r: Array) -> Trail:
    """Return n steps of lengths h (s): states y (n, s, nq + nv) and reactions r (n, s, m) of all rows."""
    nq, n = phase.system.nq, phase.system.nq + phase.system.nv
    return Trail(t=t, h=h, q=y[:, :, :nq], v=y[:, :, nq:n], r=r, pushes=phase.pushes, modes=phase.names)


def _rolling(row: Row, part: Part) -> list[int]:
    """Return the numbers, among all that is held, of the rolling resistance of a part."""
    _, roll = parts_of(row)
    return [part.at.start + i for i, k in enumerate(part.held.tolist()) if roll.start <= k < roll.stop]


def _part(k: int, row: Row, mode: Mode, n: int) -> Part:
    """Return what of a closed row is held and what slips."""
    (slip, roll), held = parts_of(row), held_components(row, mode)
    found = ((slip, "mu", mode.slip), (roll, "mu_t" if row.size == 4 else "mu_r", mode.roll))
    slips = tuple((where, mu, np.array(e)) for where, mu, e in found if e)
    return Part(
        k, slice(n, n + len(held)), np.array(held, dtype=np.int64), slips, mode.sign, row.kind == "dry",
        len(held) == row.size,
    )  # fmt: skip
