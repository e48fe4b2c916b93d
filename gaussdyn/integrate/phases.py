"""A phase: smooth motion while no constraint changes its mode.

A mode says of every row whether it is closed, and which of its directions stick or slip. With all modes fixed the
Gauss accelerations are a smooth function of (t, q, v), beyond the end of the phase too:

    M a = h + B r,     G a + w = 0,     G: normal rows of what is closed, tangential rows of what sticks,

B = G^T except for sliding contacts, whose normal column is J_N^T - mu J_T^T e. Conditions say how far every mode is
from its end: gaps and normal reactions >= 0, friction left >= 0, slip against its direction >= 0.

Sources: Pfeiffer, Glocker (1996), Multibody dynamics with unilateral contacts, 4; the laws of `contact.assemble`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array
from ..mechanics.rows import Row
from ..mechanics.system import System
from .shared_load import Cones, inside

AT_REST = 1e-12  # m/s: below this a slip has no direction of its own
RANK = 1e-10  # singular values below this, relative, belong to redundant rows
_DIAGONALS: deque[tuple[Array, Array | None]] = deque(maxlen=8)  # of masses that do not change, None if not diagonal
PLAINLY = 1e-8  # of the product of their squares: the Gram determinant of two rows that are independent
FLAT = 1e-14  # determinants below this, relative to the rows, have no sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What one row does during a phase.

    Attributes
    ----------
    closed : bool
    slip : tuple of float
        Unit direction of slip, one or two components; empty: sticks, or has no friction.
    roll : tuple of float
        Unit direction of rolling, for rows with rolling resistance; empty: does not roll.
    sign : float
        Of the normal reaction of a bilateral contact that slips.
    """

    closed: bool = False
    slip: tuple[float, ...] = ()
    roll: tuple[float, ...] = ()
    sign: float = 1.0

    def name(self, row: Row) -> str:
        """Return open, active, stick or slip."""
        if not self.closed:
            return "open"
        return ("slip" if self.slip else "stick") if rough(row) else "active"


OPEN, CLOSED = Mode(), Mode(closed=True)
Modes = Mapping[str, Mode]


def rough(row: Row) -> bool:
    """Whether a row carries friction that can act."""
    return row.frictional and max(row.mu_s, row.mu_r, row.cap_s) > 0.0


def parts_of(row: Row) -> tuple[slice, slice]:
    """Return which components of a row are its slip, and which its rolling (empty where it has no resistance)."""
    if row.kind == "dry":
        return slice(0, row.size), slice(0, 0)
    return slice(1, min(row.size, 3)), slice(3, 5) if row.mu_r > 0.0 else slice(0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """A condition that ends the phase where it falls below zero.

    Attributes
    ----------
    kind : str
        touchdown, lift_off, slip, stop, roll, stop_roll, turn (the normal reaction of a bilateral contact that slips
        changes its sign).
    id : str
    k : int
        Number of the row.
    unit : str
        place, speed, acceleration or force.
    """

    kind: str
    id: str
    k: int
    unit: str


@dataclass(slots=True, eq=False)
class Instant:
    """The motion at one instant of a phase.

    Attributes
    ----------
    t, q, v : float, Array (nq,), Array (nv,)
    rows : tuple of Row
    M, h, a : Array
        Mass, generalised force without reactions, acceleration.
    r : tuple of Array
        Reaction of every row, one component per row of the constraint, N.
    push : Array, shape (nv,)
        Generalised force of all reactions.
    shared : bool
        Whether redundant reactions have been put inside their cones.
    side : float
        Sign of det G M^-1 B where contacts slide, 0 if unknown: where it changes reactions have a pole (Painleve).
    """

    t: float
    q: Array
    v: Array
    rows: tuple[Row, ...]
    M: Array
    h: Array
    a: Array
    r: tuple[Array, ...]
    push: Array
    shared: bool = False
    side: float = 0.0


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
        At the beginning of the phase.
    watches : tuple of Watch
    size : int
        Number of rows that are held.
    redundant : bool
        Whether they depend on one another, so that reactions are not unique.
    parts : tuple of Part
        What is closed.
    """

    system: System
    control: Array | None
    modes: Modes
    rows: tuple[Row, ...]
    watches: tuple[Watch, ...] = field(init=False)
    size: int = field(init=False)
    redundant: bool = field(init=False)
    parts: tuple[Part, ...] = field(init=False)
    _sloping: bool = field(init=False)

    def __post_init__(self) -> None:
        parts, watches, n = [], [], 0
        for k, row in enumerate(self.rows):
            mode = self.modes[row.id]
            watches += _watches(k, row, mode)
            if mode.closed:
                part = _part(k, row, mode, n)
                parts.append(part)
                n += len(part.held)
        sloping = any(part.slips and not part.dry for part in parts)
        held = [self.rows[part.k].J[part.held] for part in parts]
        values = {"parts": tuple(parts), "watches": tuple(watches), "size": n, "_sloping": sloping}
        for name, value in {**values, "redundant": dependent(held)}.items():
            object.__setattr__(self, name, value)

    def but(self, modes: Modes) -> Phase:
        """Return the phase with other modes."""
        return replace(self, modes=modes)

    def instant(self, t: float, q: Array, v: Array) -> Instant:
        """Return accelerations and reactions at one state."""
        system = self.system
        rows, M = system.rows(t, q, v), system.mass(q)
        h = system.force(t, q, v, self.control)
        if not self.parts:
            none = tuple(np.zeros(row.size) for row in rows)
            return Instant(t, q, v, rows, M, h, over_mass(M, h), none, np.zeros(len(v)))
        G, B, w, given = self.columns(rows, len(v))
        n = len(w)
        known = np.empty((len(v), n + 1))
        known[:, :n], known[:, n] = B.T, h + given
        X = over_mass(M, known)
        free, W = X[:, n], G @ X[:, :n]
        r = self._reactions(W, -(G @ free + w))
        a = free + X[:, :n] @ r
        side = side_of(W) if self._sloping and not self.redundant else 0.0
        return Instant(t, q, v, rows, M, h, a, self._spread(rows, r), B.T @ r + given, side=side)

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Return a, shape (nv,): the right-hand side of v' = a."""
        return self.instant(t, q, v).a

    def local(self, now: Instant) -> tuple[Array, Array]:
        """Return G (size, nv) and w = G M^-1 B (size, size) of the rows that are held."""
        G, B, _, _ = self.columns(now.rows, len(now.v))
        return G, G @ over_mass(now.M, B.T)

    def conditions(self, now: Instant) -> Array:
        """Return how far every watch is from the end of the phase; >= 0 within it.

        Redundant reactions that are outside their cones are replaced in `now` by others that are inside, if any are.
        """
        found = self._conditions(now)
        forces = [k for k, watch in enumerate(self.watches) if watch.unit == "force"]
        if not self.redundant or not forces or now.shared or found[forces].min() >= 0.0:
            return found
        now.r, now.shared = self._shared(now), True
        return self._conditions(now)

    def impulses(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, ...]:
        """Return integrated reactions p by rows, inside their cones where they are redundant and can be."""
        cuts = np.cumsum([row.size for row in self.rows])[:-1]
        parts = tuple(np.split(p, cuts)) if len(self.rows) else ()
        if not self.redundant:
            return parts
        now = self.instant(t, q, v)
        now.r = parts
        self.conditions(now)
        return now.r

    def _conditions(self, now: Instant) -> Array:
        return np.array([_VALUE[watch.kind](now, watch.k, self.modes[watch.id]) for watch in self.watches])

    def _shared(self, now: Instant) -> tuple[Array, ...]:
        """Return reactions that move everything as those of `now` do, as far inside their cones as possible."""
        G, B, _, _ = self.columns(now.rows, len(now.v))
        r0 = np.concatenate([now.r[part.k][part.held] for part in self.parts])
        r = inside(G @ over_mass(now.M, B.T), r0, lambda: self._cones(now.rows))
        return self._spread(now.rows, r)

    def _cones(self, rows: Sequence[Row]) -> Cones:
        """Return the cones of all reactions that are held."""
        cones = Cones()
        for part in self.parts:
            row, mode = rows[part.k], self.modes[rows[part.k].id]
            if row.kind in ("bilateral", "dry"):
                continue
            normal = np.zeros(self.size)
            normal[part.at.start] = part.sign if row.kind == "bilateral_contact" else 1.0
            if row.kind != "bilateral_contact":
                cones.planes.append(normal)
            if not rough(row):
                continue
            slip, roll = parts_of(row)
            at = part.at.start + 1
            for where, free, limit in ((slip, mode.slip, limit_of(row, mode)), (roll, mode.roll, row.mu_r)):
                size = 0 if free else where.stop - where.start
                if size:
                    cones.add_disc(limit * normal, slice(at, at + size))
                at += size
        return cones

    def rates(self, now: Instant) -> Array:
        """Return the time derivatives of the conditions where they are known (gaps, slips), NaN elsewhere."""
        return np.array([_rate(now, watch, self.modes[watch.id]) for watch in self.watches])

    def turned(self, now: Instant) -> Phase:
        """Return the phase with the directions of slip as they are now; itself where no direction turns."""
        new = {row.id: _turned(row, self.modes[row.id]) for row in now.rows}
        return self if all(new[key] is self.modes[key] for key in new) else self.but({**self.modes, **new})

    def columns(self, rows: Sequence[Row], nv: int) -> tuple[Array, Array, Array, Array]:
        """Return G, B^T, the drift of the rows held, and the given friction."""
        n, given = self.size, np.zeros(nv)
        G, w = np.empty((n, nv)), np.empty(n)
        B = np.empty((n, nv)) if self._sloping else G
        for part in self.parts:
            row = rows[part.k]
            J, drift = (row.J, row.drift) if part.whole else (row.J[part.held], row.drift[part.held])
            G[part.at], B[part.at], w[part.at] = J, J, drift
            for where, mu, e in part.slips:
                d = direction(row.rate[where], e)
                if part.dry:
                    given -= row.cap * (d @ row.J)
                    continue
                B[part.at.start] -= part.sign * getattr(row, mu) * (d @ row.J[where])
        return G, B, w, given

    def explicit(self, rows: Sequence[Row], v: Array) -> Array:
        """Return the part of the rates of what is held that does not come from v: moving supports."""
        found = [(rows[part.k].rate - rows[part.k].J @ v)[part.held] for part in self.parts]
        return np.concatenate([np.zeros(0), *found])

    def _reactions(self, W: Array, b: Array) -> Array:
        """Solve W r = b; the shortest solution where rows are redundant."""
        if len(b) == 1:
            if W[0, 0] == 0.0:
                raise np.linalg.LinAlgError("Singular matrix")
            found: Array = b / W[0, 0]
            return found
        if self.redundant:
            return np.asarray(np.linalg.lstsq(W, b, rcond=RANK)[0])
        return np.asarray(np.linalg.solve(W, b)) if len(b) else b

    def _spread(self, rows: Sequence[Row], r: Array) -> tuple[Array, ...]:
        """Return the reaction of every row, friction of slip included."""
        found = [np.zeros(row.size) for row in rows]
        for part in self.parts:
            row, full = rows[part.k], found[part.k]
            full[part.held] = r[part.at]
            for where, mu, e in part.slips:
                d = direction(row.rate[where], e)
                full[where] = -row.cap * d if part.dry else -part.sign * getattr(row, mu) * full[0] * d
        return tuple(found)


def over_mass(M: Array, x: Array) -> Array:
    """Return M^-1 x for one or several columns; diagonals of masses that do not change (read-only) are kept."""
    constant = not M.flags.writeable
    if constant:
        for known, diagonal in _DIAGONALS:
            if known is M:
                return np.asarray(np.linalg.solve(M, x)) if diagonal is None else (x.T / diagonal).T
        diagonal = np.diagonal(M).copy()
        alone = not np.count_nonzero(M - np.diag(diagonal)) and diagonal.all()
        _DIAGONALS.append((M, diagonal if alone else None))
        return over_mass(M, x)
    return np.asarray(np.linalg.solve(M, x))


def dependent(held: Sequence[Array]) -> bool:
    """Whether rows depend on one another."""
    if sum(map(len, held)) < 2:
        return False
    G = np.vstack(held)
    if len(G) == 2:
        a, b, c = float(G[0] @ G[0]), float(G[1] @ G[1]), float(G[0] @ G[1])
        if a * b - c * c > PLAINLY * a * b:
            return False
    length = np.linalg.norm(G, axis=1)
    s = np.linalg.svd(G / np.where(length > 0.0, length, 1.0)[:, None], compute_uv=False)
    return len(s) < len(G) or bool(s[-1] <= RANK * s[0])


def side_of(W: Array) -> float:
    """Return the sign of a determinant, 0 where rounding decides."""
    if len(W) == 1:
        return float(np.sign(W[0, 0]))
    length = np.sqrt((W * W).sum(axis=1))
    sign, size = np.linalg.slogdet(W / np.where(length > 0.0, length, 1.0)[:, None])
    return float(sign) if size > math.log(FLAT) else 0.0


def direction(u: Array, e: Array) -> Array:
    """Return the direction of slip on the line of u that is nearer to e; e at rest and in the plane.

    So the motion goes on smoothly where the slip passes through zero on a straight line.
    """
    if len(e) == 1:
        return e
    speed = math.hypot(u[0], u[1])
    if speed <= AT_REST:
        return e
    d: Array = u / (speed if u @ e >= 0.0 else -speed)
    return d


def _part(k: int, row: Row, mode: Mode, n: int) -> Part:
    """Return what of a closed row is held and what slips."""
    (slip, roll), held = parts_of(row), held_components(row, mode)
    found = ((slip, "mu", mode.slip), (roll, "mu_r", mode.roll))
    slips = tuple((where, mu, np.array(e)) for where, mu, e in found if e)
    return Part(
        k, slice(n, n + len(held)), np.array(held, dtype=np.int64), slips, mode.sign, row.kind == "dry",
        len(held) == row.size,
    )  # fmt: skip


def held_components(row: Row, mode: Mode) -> list[int]:
    """Return which components of a row are held: what is closed, and what sticks."""
    if not mode.closed:
        return []
    if row.kind == "bilateral":
        return list(range(row.size))
    (slip, roll), found = parts_of(row), [] if row.kind == "dry" else [0]
    if rough(row):
        found += [] if mode.slip else list(range(slip.start, slip.stop))
        found += [] if mode.roll else list(range(roll.start, roll.stop))
    return found


def _watches(k: int, row: Row, mode: Mode) -> list[Watch]:
    """Return the conditions of one row."""
    unit = {"position": "place", "velocity": "speed", "acceleration": "acceleration"}[row.level]
    if not mode.closed:
        return [Watch("touchdown", row.id, k, unit)]
    found = [] if row.bilateral or row.kind == "dry" else [Watch("lift_off", row.id, k, "force")]
    if not rough(row):
        return found
    found.append(Watch("stop", row.id, k, "speed") if mode.slip else Watch("slip", row.id, k, "force"))
    if mode.slip and row.kind == "bilateral_contact":
        found.append(Watch("turn", row.id, k, "force"))
    if row.mu_r > 0.0 and row.kind == "contact":
        found.append(Watch("stop_roll", row.id, k, "speed") if mode.roll else Watch("roll", row.id, k, "force"))
    return found


def value_open(now: Instant, k: int, mode: Mode) -> float:
    """Return the gap of an open row, or what takes its place on the other levels."""
    row = now.rows[k]
    return row.gap if row.level != "acceleration" else float(row.J[0] @ now.a + row.drift[0])


def _friction_left(now: Instant, k: int, mode: Mode) -> float:
    row, r = now.rows[k], now.r[k]
    if row.kind == "dry":
        return row.cap_s - _length(r)
    return limit_of(row, mode) * abs(float(r[0])) - _length(r[1:3])


def limit_of(row: Row, mode: Mode) -> float:
    """Return the friction coefficient of a contact that sticks."""
    return row.mu if row.mu_r > 0.0 and not mode.roll else row.mu_s


def _rolling_left(now: Instant, k: int, mode: Mode) -> float:
    return now.rows[k].mu_r * float(now.r[k][0]) - _length(now.r[k][3:5])


def _slipping(now: Instant, k: int, mode: Mode) -> float:
    where, _ = parts_of(now.rows[k])
    return float(np.dot(now.rows[k].rate[where], mode.slip))


def _rolling(now: Instant, k: int, mode: Mode) -> float:
    return float(np.dot(now.rows[k].rate[3:5], mode.roll))


_VALUE = {
    "touchdown": value_open,
    "lift_off": lambda now, k, mode: float(now.r[k][0]),
    "turn": lambda now, k, mode: mode.sign * float(now.r[k][0]),
    "slip": _friction_left,
    "stop": _slipping,
    "roll": _rolling_left,
    "stop_roll": _rolling,
}


def _rate(now: Instant, watch: Watch, mode: Mode) -> float:
    """Return the rate of a condition; NaN where it is not known."""
    row = now.rows[watch.k]
    if watch.kind == "touchdown" and row.level == "position":
        return float(row.rate[0])
    if watch.kind == "touchdown" and row.level == "velocity":
        return float(row.J[0] @ now.a + row.drift[0])
    if watch.kind == "stop":
        where, _ = parts_of(row)
        return float(np.dot(row.J[where] @ now.a + row.drift[where], mode.slip))
    return math.nan


def _turned(row: Row, mode: Mode) -> Mode:
    """Return a mode with its directions as the row has them now."""
    if len(mode.slip) < 2 and len(mode.roll) < 2:
        return mode
    slip, roll = parts_of(row)
    new = [tuple(direction(row.rate[where], np.array(e)).tolist()) if e else e for where, e in
           ((slip, mode.slip), (roll, mode.roll))]  # fmt: skip
    return replace(mode, slip=new[0], roll=new[1])


def _length(x: Array) -> float:
    return abs(float(x[0])) if len(x) == 1 else math.sqrt(float(x @ x))
