"""The velocity problem of an impact: a snapshot without duration, with the rows that are closed and their restitution.

Everything is built by `contact` (snapshot on the velocity level, assemble, resolve); this file only says which rows
of the system take part, and with which coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array, vector
from ...contact.reactions import reactions
from ...contact.resolve import resolve
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System, check_is_system
from ...programs.solution.solution import Solution

ONE_SIDED = ("unilateral", "contact")
Answer = Callable[..., Solution]
Known = tuple[tuple[Row, ...], Array]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Phase:
    """One velocity problem of an impact, solved.

    Attributes
    ----------
    name : str
        impact, compression, expansion, or the id of the contact that was struck.
    before : Array, shape (nv,)
        Velocity at its beginning.
    v : Array, shape (nv,)
        Velocity at its end; `before` where there is none.
    impulses : mapping of str to Array
        Impulse of every row that took part, N s, by id.
    works : mapping of str to float
        What each of them added to the kinetic energy, J: p . (u + u+) / 2. Of a row whose support moves by itself it
        is the work on the relative motion.
    dynamics : LocalDynamics
    solution : Solution
    own : mapping of str to Array
        The reactions of the velocity problem alone, N s, by id: without what it contains already.
    kept : float
        Fraction of all restitution that was kept, 1 unless it would have gained energy.
    """

    name: str
    before: Array
    v: Array
    impulses: Mapping[str, Array]
    works: Mapping[str, float]
    dynamics: LocalDynamics
    solution: Solution
    own: Mapping[str, Array] = field(default_factory=dict)
    kept: float = 1.0

    @property
    def gain(self) -> float:
        """Work of all impulses over the kinetic energy before them and their works without signs."""
        size = kinetic(self.dynamics.M, self.before) + sum(map(abs, self.works.values()))
        return sum(self.works.values()) / size if size > 0.0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Struck:
    """A system at an instant at which something may be struck.

    Attributes
    ----------
    system : System
    state : State
    closed : frozenset of str
        Ids of the one-sided rows that take part.
    activation : Activation
    start : mapping of str to Array or None
        Impulses that a velocity problem begins with, by id, N s.
    answer : callable
        What solves the velocity problems, begun with `start`; an audit has the reactions on record answer.
    share : float or None
        The fraction of all restitution that is kept, where that is known.
    known : LocalDynamics or None
        The velocity problem at one of the velocities, where it is known.
    """

    system: System
    state: State
    closed: frozenset[str]
    activation: Activation = field(default_factory=Activation)
    start: Mapping[str, Array] | None = None
    answer: Answer = resolve
    share: float | None = None
    known: LocalDynamics | None = None

    @classmethod
    def at(
        cls, system: System, state: State, closed: Collection[str] | None, activation: Activation | None,
        known: Known | None = None,
    ) -> Struck:  # fmt: skip
        """Return the system at a state, with the rows named (default: all closed gaps).

        Raises
        ------
        InputError
            No system, no state, or an id that is not a one-sided constraint on the position.
        """
        check_is_system("system", system)
        if not isinstance(state, State):
            raise InputError("state", type(state).__name__, "a State", "Write State(q=[...], v=[...]).")
        bare = cls(system=system, state=state, closed=frozenset(), activation=activation or Activation())
        found = bare.snapshot(state.v, known)
        rows = {row.id: row for row in found.rows if one_sided(row)}
        if closed is None:
            touching = frozenset(key for key, row in rows.items() if bare.activation.touches(row))
            return replace(bare, known=found, closed=touching)
        if isinstance(closed, str) or not all(isinstance(key, str) for key in closed):
            raise InputError("closed", repr(closed), "ids of rows, e.g. ['ball/floor']", "Write closed=['ball/floor'].")
        for key in closed:
            if key not in rows:
                raise InputError(
                    "closed",
                    repr(key),
                    f"one of {', '.join(sorted(rows)) or 'none: nothing can close'}",
                    f"Write closed={sorted(rows)[:1]}.",
                )
        return replace(bare, known=found, closed=frozenset(closed))

    def only(self, closed: Collection[str]) -> Struck:
        """Return the same with fewer closed rows."""
        return replace(self, closed=frozenset(closed))

    def dynamics(
        self, v: Array, eps_n: float | None = None, eps_t: float | None = None, share: float = 1.0
    ) -> LocalDynamics:
        """Return the velocity problem from v, without duration.

        Coefficients that are given are those of all rows; `share` is the fraction of all of them that counts.
        """
        dynamics = self.snapshot(v)
        return replace(dynamics, rows=tuple(self._taken(dynamics.rows, eps_n, eps_t, share)))

    def phase(
        self, name: str, dynamics: LocalDynamics, given: Mapping[str, Array] | None = None, start: Array | None = None
    ) -> Phase:
        """Solve a velocity problem; `given` are impulses that it contains already, `start` the velocity before them."""
        solution = self.answer(dynamics, start=self.start)
        before = dynamics.v if start is None else start
        if solution.x is None:
            return Phase(
                name=name, before=before, v=before, impulses={}, works={}, dynamics=dynamics, solution=solution
            )  # fmt: skip
        impulses, own = dict(given or {}), reactions(dynamics, solution)
        for key, p in own.items():
            impulses[key] = impulses[key] + p if key in impulses else p
        rows = {row.id: row for row in dynamics.rows}
        mean = 0.5 * (solution.x - before)
        works = {key: float(p @ (rows[key].rate + rows[key].J @ mean)) for key, p in impulses.items() if key in rows}
        return Phase(
            name=name, before=before, v=solution.x, impulses=impulses, works=works, dynamics=dynamics,
            solution=solution, own=own,
        )  # fmt: skip

    def snapshot(self, v: Array, known: Known | None = None) -> LocalDynamics:
        """Return the system at a velocity, without duration, with all its rows; `known` see `snapshot`."""
        t, q, last = self.state.t, self.state.q, self.known
        if last is None:
            state = State.trusted(t, q, v, self.state.memory)
            near = self.system.near(t, q, v, 0.0)
            return snapshot(near, state, level="velocity", activation=self.activation, known=known)
        if np.array_equal(v, last.v):
            return last
        v = vector("v", v)  # where it is and its mass are the same
        return replace(last, v=v, h=last.M @ v, rows=rows_of(last.system, t, q, v))

    def rows(self, v: Array) -> tuple[Row, ...]:
        """Return all rows at a velocity."""
        last = self.known
        if last is None or np.array_equal(v, last.v):
            return self.snapshot(v).rows
        return rows_of(last.system, self.state.t, self.state.q, v)

    def _taken(self, rows: tuple[Row, ...], eps_n: float | None, eps_t: float | None, share: float) -> list[Row]:
        """Return the rows that take part: gaps of the closed ones count as zero, all other one-sided gaps are open."""
        found = []
        for row in rows:
            if one_sided(row) and row.id not in self.closed:
                continue
            normal = row.eps_n if eps_n is None else eps_n
            tangential = row.eps_t if eps_t is None else eps_t
            values = 0.0 if one_sided(row) else row.gap, share * normal, share * tangential
            same = values == (row.gap, row.eps_n, row.eps_t)
            found.append(row if same else row.but(gap=values[0], eps_n=values[1], eps_t=values[2]))
        return found


def one_sided(row: Row) -> bool:
    """Return whether a row is a constraint that can open and close."""
    return row.kind in ONE_SIDED and row.level == "position"


def approaching(rows: Sequence[Row], closed: Collection[str], activation: Activation) -> dict[str, float]:
    """Return the speed (m/s, > 0) at which closed rows approach, by id; those within the activation's are at rest."""
    found = {row.id: -float(row.rate[0]) for row in rows if one_sided(row) and row.id in closed}
    return {key: speed for key, speed in found.items() if speed > activation.speed}


def kinetic(M: Array, v: Array) -> float:
    """Return 1/2 v M v, J."""
    return 0.5 * float(v @ np.asarray(M) @ v)
