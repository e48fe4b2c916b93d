"""One step of the theta scheme as a contact problem on the velocity level.

    q_m = move(q, v, (1 - theta) dt),                M, J and the directions of the reactions at (t_m, q_m)
    M (v+ - v) = dt h(t_m, q_m, v_theta) + J^T p,    v_theta = (1 - theta) v + theta v+
    q+ = move(q, v_theta, dt),                       the laws hold for (u+, p), u+ = rate at (t+, q+, v+)

Reactions act at the midpoint, the laws hold at the end: for theta = 1/2 and motion without impacts the map is
symmetric, so of order 2, and what it adds to the gap of a closed contact telescopes instead of piling up. The end of
the step is not known beforehand, so u+ is written J x + w with w from a guess of v+, and the guess is refined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import EPS, Array, vector
from ..contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ..errors import InputError
from ..linalg.factor import cholesky, solve_spd
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from .stepper import check_same_rows

LOOSER = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guess:
    """The contact problem for one guess of v+, and the end of the step that the guess leads to.

    Attributes
    ----------
    dynamics : LocalDynamics
        Rows that act only, each with w of u+ = J x + w folded into its rate.
    force : Array, shape (nv,)
        h(t_m, q_m, v_theta), N.
    q, rows
        Coordinates and all rows at the end of the step.
    """

    dynamics: LocalDynamics
    force: Array
    q: Array
    rows: tuple[Row, ...]

    def far_from(self, other: Guess) -> float:
        """Return the largest change of the data of the contact problem, relative to its own size.

        Momentum counts fully, since its errors add up from step to step, and so do the directions of the reactions;
        the laws are imposed anew in every step, so that a change of their rates counts by the factor `LOOSER`.
        """
        mine, theirs = self.dynamics, other.dynamics
        speed = np.abs(mine.v) + np.abs(mine.x_free)
        momentum = float((np.abs(mine.M) @ speed).max(initial=0.0))
        far = _ratio(np.abs(mine.h - theirs.h).max(initial=0.0), momentum)
        for row, old in zip(mine.rows, theirs.rows, strict=True):
            scale = float((np.abs(row.J) @ speed).max(initial=0.0))
            far = max(far, _ratio((np.abs(row.J - old.J) @ speed).max(initial=0.0), scale))
            far = max(far, LOOSER * _ratio(np.abs(row.rate - old.rate).max(initial=0.0), scale))
        return far


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThetaProblem:
    """Everything about one step that does not depend on its unknown v+.

    Attributes
    ----------
    system : System
        With the contacts that may act within the step.
    start : State
    dt, theta : float
    t_end : float
        Time at the end, s (not recomputed from dt, so that times do not pile up rounding errors).
    middle : LocalDynamics
        The system at (t_m, q_m, v) with all rows.
    bounce : mapping of str to Array
        Restitution term of every row that acts, m/s, by id.
    softened : Array or None
        theta dt times minus the symmetric part of dh/dv: stands beside M where forces depend on v so strongly that
        plain iteration would not converge.
    """

    system: System
    start: State
    dt: float
    theta: float
    t_end: float
    middle: LocalDynamics
    bounce: Mapping[str, Array]
    softened: Array | None = None

    @classmethod
    def at(
        cls, system: System, start: State, *, dt: float, theta: float, t_end: float,
        activation: Activation, control: Array | None,
    ) -> ThetaProblem:  # fmt: skip
        """Evaluate the system at the midpoint, and find the rows that act.

        Raises
        ------
        InputError
            What a function of the system returns is not finite or has a wrong shape; the function is named.
        """
        rest = (1.0 - theta) * dt
        system = system.near(start.t, start.q, start.v, dt)
        q = _move(system, start.q, start.v, rest)
        state = State(t=start.t + rest, q=q, v=start.v)
        middle = snapshot(
            system, state, level="velocity", dt=dt, ahead=0.0, activation=activation, control=control
        )  # fmt: skip
        bounce = _acting(system, start, middle, rest)
        return cls(system=system, start=start, dt=dt, theta=theta, t_end=t_end, middle=middle, bounce=bounce)

    def first(self) -> Guess:
        """Return the contact problem for v+ as it would be with the reactions of the last step."""
        middle = self.middle
        p = np.zeros(middle.nv)
        for row in middle.rows:
            last = self.start.memory.get(row.id)
            if last is not None and row.id in self.bounce and len(last) == row.size:
                p += row.J.T @ last
        return self.guess(middle.x_free + solve_spd(middle.factor, p))

    def guess(self, v_plus: Array) -> Guess:
        """Return the contact problem for a guess of v+."""
        middle, start = self.middle, self.start
        v_theta = (1.0 - self.theta) * start.v + self.theta * v_plus
        force = self._force(v_theta)
        q = _move(self.system, start.q, v_theta, self.dt)
        rows = rows_of(self.system, self.t_end, q, v_plus)
        seen = self._seen(v_plus, v_theta, rows)
        M, factor, h = middle.M, middle.factor, middle.M @ start.v + self.dt * force
        if self.softened is not None:
            M, h = M + self.softened, h + self.softened @ v_plus
            factor = cholesky("mass(q) - theta dt dh/dv", M)
        return Guess(dynamics=replace(middle, M=M, factor=factor, h=h, rows=seen), force=force, q=q, rows=rows)

    def soften(self, v_plus: Array) -> ThetaProblem:
        """Return the problem with the velocity dependence of the force taken beside the mass."""
        v_theta, n = (1.0 - self.theta) * self.start.v + self.theta * v_plus, self.middle.nv
        force, D = self._force(v_theta), np.zeros((n, n))
        for k in range(n):
            step = np.sqrt(EPS) * max(1.0, abs(v_theta[k]))
            moved = v_theta.copy()
            moved[k] += step
            D[:, k] = (self._force(moved) - force) / step
        softened = -0.5 * self.theta * self.dt * (D + D.T)
        positive = np.linalg.eigvalsh(self.middle.M + softened)[0] > 0.0
        return replace(self, softened=softened) if positive else self

    def _force(self, v: Array) -> Array:
        middle = self.middle
        return vector("force(t, q, v)", self.system.force(middle.t, middle.q, v, middle.control), middle.nv)

    def _seen(self, v_plus: Array, v_theta: Array, end: tuple[Row, ...]) -> tuple[Row, ...]:
        """Return the rows that act, as the contact problem shall see them: u+ = J x + w, w folded into the rate."""
        v, rows = self.middle.v, self.middle.rows
        if any(row.level != "position" for row in rows):  # their J depends on v
            rows = rows_of(self.system, self.middle.t, self.middle.q, v_theta)
        check_same_rows(end, rows)
        found = []
        for row, last in zip(rows, end, strict=True):
            if row.id not in self.bounce:
                continue
            if row.level == "acceleration":
                found.append(row)
                continue
            rate = last.rate - row.J @ (v_plus - v) + self.bounce[row.id]
            found.append(replace(row, level="position", gap=0.0, rate=rate, eps_n=0.0, eps_t=0.0))
        return tuple(found)


def _acting(system: System, start: State, middle: LocalDynamics, rest: float) -> dict[str, Array]:
    """Return the restitution term of every row that acts, by id.

    A unilateral row acts if it is closed at the midpoint; if it pushed in the last step (then it ended that step at
    zero rate, and what its gap shows now is the error of the scheme); or if it is closed and at rest at the start.
    """
    begin: dict[str, Row] = {}

    def at_start(row: Row) -> Row:
        """Return the row at the start of the step."""
        if not begin:
            rows = rows_of(system, start.t, start.q, start.v)
            check_same_rows(rows, middle.rows)
            begin.update({one.id: one for one in rows})
        return begin[row.id]

    found = {}
    for row in middle.rows:
        if _always(row) or row.gap <= middle.activation.gap or _pushed(start, row):
            bounces = row.level == "position" and (row.eps_n != 0.0 or row.eps_t != 0.0)
            found[row.id] = _restitution(at_start(row), middle.activation) if bounces else np.zeros(row.size)
        elif row.gap - rest * row.rate[0] <= middle.activation.gap and _rests(at_start(row), middle.activation):
            found[row.id] = np.zeros(row.size)
    return found


def _always(row: Row) -> bool:
    return row.kind == "dry" or row.bilateral or row.level != "position"


def _pushed(start: State, row: Row) -> bool:
    last = start.memory.get(row.id)
    return last is not None and bool(last.size) and float(last[0]) > 0.0


def _rests(row: Row, activation: Activation) -> bool:
    return row.gap <= activation.gap and abs(float(row.rate[0])) <= activation.speed


def _restitution(row: Row, activation: Activation) -> Array:
    """Return eps times the approaching rate at the start: nothing where the contact does not approach."""
    term = np.zeros(row.size)
    if row.kind not in ("contact", "unilateral") or row.rate[0] >= -activation.speed:
        return term
    term[0] = row.eps_n * row.rate[0]
    term[1:3] = row.eps_t * row.rate[1:3]
    return term


def _move(system: System, q: Array, v: Array, dt: float) -> Array:
    return vector("move(q, v, dt)", system.move(q, v, dt), len(q))


def _ratio(change: float, scale: float) -> float:
    if not np.isfinite(change):
        raise InputError("rows(t, q, v)", "rates that overflow", "finite rates", "Take a smaller step.")
    return float(change) / scale if scale > 0.0 else float(change)
