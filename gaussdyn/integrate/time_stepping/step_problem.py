"""One step of the theta scheme as a contact problem on the velocity level.

    q_m = move(q, v, (1 - theta) dt),                M, J and the directions of the reactions at (t_m, q_m)
    M (v+ - v) = dt h(t_m, q_m, v_theta) + J^T p,    v_theta = (1 - theta) v + theta v+
    q+ = projection of move(q, v_theta, dt),         the laws hold for (u+, p), u+ = rate at (t+, q+, v+)

Reactions act at the midpoint, the laws hold at the end: for theta = 1/2 and motion without impacts the map is
symmetric, so of order 2, up to what the projection removes, which is of third order per step. The end of the step is
not known beforehand, so u+ is written J x + w with w from a guess of v+, and the guess is refined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Array, vector
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...errors import InputError
from ...linalg.factor import cholesky, solve_spd
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Shift, check_same_rows, near_of
from .active_contacts import acting, joining, late, one_sided, restitution, rows_at_start
from .free_motion import FreeMotion
from .position_projection import Place, projected
from .redundant_joints import Dependence, dependence

LOOSER = 0.05
SLOW = 1e-9  # of the speeds at hand: what is left of a normal rate that the law makes zero
CANCELS = 1e-12  # of the speeds that the impulses would bring about one by one: the same where these cancel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guess:
    """The contact problem for one guess of v+, and the end of the step that the guess leads to.

    Attributes
    ----------
    problem : ThetaProblem
        What it is a guess for.
    dynamics : LocalDynamics
        Rows that act only, each with w of u+ = J x + w folded into its rate.
    v_plus : Array, shape (nv,)
        The guess.
    force : Array, shape (nv,)
        h(t_m, q_m, v_theta), N.
    end, moved : Place
        Coordinates and all rows at the end of the step; the same before the projection.
    late : tuple of str
        Rows that do not act and end below zero: they should act.
    contrary : bool
        Whether dependent joints contradict one another, as they do before passes settle.
    """

    problem: ThetaProblem
    dynamics: LocalDynamics
    v_plus: Array
    force: Array
    end: Place
    moved: Place
    late: tuple[str, ...] = ()
    contrary: bool = False

    @property
    def speed(self) -> Array:
        """The largest speeds at hand, shape (nv,): before, without reactions, and where rows ask for some, after."""
        speed = np.abs(self.dynamics.v) + np.abs(self.dynamics.x_free)
        return speed + np.abs(self.v_plus) if self.problem.driven else speed

    def stopped(self, v_plus: Array, p: Mapping[str, Array]) -> frozenset[str]:
        """Return the rows whose law is met without any speed left: u_N = 0, restitution included.

        That is the same for all reactions that lead to v+, where it is not known which of the contacts push. What
        rounding leaves of u_N is as large as what single impulses p (N s) do to it, for they may cancel.
        """
        change, speed = v_plus - self.dynamics.v, SLOW * self.speed + CANCELS * self._reach(p)
        return frozenset(
            row.id for row in self.dynamics.rows if row.J[0] @ change + row.rate[0] <= float(np.abs(row.J[0]) @ speed)
        )

    def _reach(self, p: Mapping[str, Array]) -> Array:
        """Return the speeds that impulses would bring about if none of them acted against another, shape (nv,)."""
        push = np.zeros(self.dynamics.nv)
        for row in self.dynamics.rows:
            if row.id in p:
                push += np.abs(row.J.T) @ np.abs(p[row.id])
        return np.abs(solve_spd(self.dynamics.factor, np.eye(len(push)))) @ push

    def moves_most(self, other: Guess) -> str:
        """Return the row whose predicted rate differs most, empty without rows."""
        pairs = zip(self.dynamics.rows, other.dynamics.rows, _lengths(self.dynamics), strict=True)
        far = {row.id: float(np.abs(row.rate - old.rate).max()) / (length or 1.0) for row, old, length in pairs}
        return max(far, key=lambda key: far[key], default="")

    def far_from(self, other: Guess) -> float:
        """Return the largest change of the data of the contact problem, relative to its own size.

        Momentum counts fully, since its errors add up from step to step, and so do the directions of the reactions;
        the laws are imposed anew in every step, so that a change of their rates counts by the factor `LOOSER`.
        """
        mine, theirs = self.dynamics, other.dynamics
        speed = self.speed
        size = np.abs(mine.M) @ speed
        far = _ratio(np.abs(mine.h - theirs.h).max(initial=0.0), float(size.max(initial=0.0)))
        fastest = float(np.sqrt(speed @ size))
        for row, old, length in zip(mine.rows, theirs.rows, _lengths(mine), strict=True):
            scale = length * fastest  # no smaller than |J v|, and no smaller for directions across the motion
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
    project : bool
        Whether positions are projected.
    tol : float
        Residual E of the contact problem that counts as solved.
    middle : LocalDynamics
        The system at (t_m, q_m, v) with all rows.
    bounce : mapping of str to Array
        Restitution term of every row that acts, m/s, by id.
    free : FreeMotion
        The motion under the force alone.
    dependent : Dependence or None
        Joints whose rows depend on one another at the midpoint.
    softened : Array or None
        theta dt times minus the symmetric part of dh/dv: stands beside M where forces depend on v so strongly that
        plain iteration would not converge.
    unsettled : str
        The row because of which the laws hold at the midpoint of this step (Moreau's classical rule); empty where
        they hold at the end, as they should.
    ahead : frozenset of str
        Contacts that were open at the start of a crowded step, see `crowded`.
    kept : float
        The fraction of all restitution that is kept, 1 unless an impact would gain energy.
    whole : System
        With whatever contacts there may be.
    added : frozenset of str
        Contacts that were found at the end of the step only, see `unlisted`.
    """

    system: System
    start: State
    dt: float
    theta: float
    t_end: float
    project: bool
    tol: float
    middle: LocalDynamics
    bounce: Mapping[str, Array]
    free: FreeMotion
    dependent: Dependence | None = None
    softened: Array | None = None
    unsettled: str = ""
    ahead: frozenset[str] = frozenset()
    kept: float = 1.0
    whole: System
    added: frozenset[str] = frozenset()

    @classmethod
    def at(
        cls, system: System, start: State, *, dt: float, theta: float, t_end: float, project: bool, tol: float,
        activation: Activation, control: Array | None,
    ) -> ThetaProblem:  # fmt: skip
        """Evaluate the system at the midpoint, and find the rows that act.

        Raises
        ------
        InputError
            What a function of the system returns is not finite or has a wrong shape; the function is named.
        """
        rest = (1.0 - theta) * dt
        whole, system = system, near_of(system, start, dt)
        q = _move(system, start.q, start.v, rest)
        state = State(t=start.t + rest, q=q, v=start.v)
        middle = snapshot(
            system, state, level="velocity", dt=dt, ahead=0.0, activation=activation, control=control
        )  # fmt: skip
        middle, dependent = dependence(system, start, middle)
        return cls(
            system=system, start=start, dt=dt, theta=theta, t_end=t_end, project=project, tol=tol, middle=middle,
            bounce=acting(system, start, middle, rest), free=FreeMotion(middle=middle, theta=theta),
            dependent=dependent, whole=whole,
        )  # fmt: skip

    @property
    def fault(self) -> str:
        """Why joints that depend on one another allow no such step, empty where they do."""
        return "" if self.dependent is None else self.dependent.fault

    @property
    def driven(self) -> bool:
        """Whether rows that bind speeds act, such as motors: they may ask for speeds that nothing had before."""
        return any(row.level == "velocity" and row.bilateral for row in self.middle.rows)

    def first(self) -> Guess:
        """Return the contact problem for v+ as it would be with the reactions of the last step."""
        last = self.start.memory
        known = {row.id: last[row.id] for row in self.middle.rows if row.id in last and row.id in self.bounce}
        fit = {row.id: known[row.id] for row in self.middle.rows if row.id in known and len(known[row.id]) == row.size}
        free = self.free.started(self._push(fit))
        pushing = frozenset(key for key, p in fit.items() if p[0] > 0.0)
        v_plus = free.velocity(self._push(fit))
        if not self._plausible(v_plus):  # after an impact, whose impulse will not act again
            free = self.free.started(self._push({}))
            v_plus = free.velocity(self._push({}))
        return replace(self, free=free).guess(v_plus, pushing)

    def after(self, last: Guess, v_plus: Array, p: Mapping[str, Array]) -> Guess:
        """Return the contact problem for the velocity v+ and the reactions p that solve the last one."""
        push = last.dynamics.M @ v_plus - last.dynamics.h  # J^T p
        return self.guess(self.free.velocity(push, v_plus), last.stopped(v_plus, p))

    def guess(self, v_plus: Array, stopped: frozenset[str]) -> Guess:
        """Return the contact problem for a guess of v+ and of the contacts whose law leaves them no speed."""
        middle, start = self.middle, self.start
        v_theta = (1.0 - self.theta) * start.v + self.theta * v_plus
        force = self.free.force(v_theta)
        q = _move(self.system, start.q, v_theta, self.dt)
        moved = Place(q=q, rows=rows_of(self.system, self.t_end, q, v_plus))
        check_same_rows(moved.rows, middle.rows)
        end = self._projected(moved, v_plus, stopped) if self.project else moved
        behind = late(middle, end.rows, self.bounce, (1.0 - self.theta) * self.dt)
        M, factor, h = middle.M, middle.factor, middle.M @ start.v + self.dt * force
        if self.softened is not None:
            M, h = M + self.softened, h + self.softened @ v_plus
            factor = cholesky("mass(q) - theta dt dh/dv", M)
        seen = self._seen(v_plus, v_theta, end.rows)
        dynamics = replace(middle, M=M, factor=factor, h=h, rows=seen)
        found = Guess(
            problem=self, dynamics=dynamics, v_plus=v_plus, force=force, end=end, moved=moved, late=behind
        )  # fmt: skip
        if self.dependent is None:
            return found
        contrary = self.dependent.contrary(dynamics, seen, found.speed)
        return replace(found, dynamics=replace(dynamics, rows=self.dependent.cleared(seen)), contrary=contrary)

    def joined(self, ids: Iterable[str]) -> ThetaProblem:
        """Return the problem in which further rows act."""
        new = joining(self.system, self.start, self.middle, ids, self.added)
        return replace(self, bounce={**self.bounce, **new})

    def independent(self) -> ThetaProblem:
        """Return the problem with all rows as they are: joints that contradict one another show it there."""
        return replace(self, dependent=None)

    def without(self, ids: Iterable[str]) -> ThetaProblem:
        """Return the problem in which some rows no longer act."""
        gone = frozenset(ids)
        return replace(self, bounce={key: rate for key, rate in self.bounce.items() if key not in gone})

    def soften(self, v_plus: Array) -> ThetaProblem:
        """Return the problem with the velocity dependence of the force taken beside the mass."""
        D = self.free.slope_at((1.0 - self.theta) * self.start.v + self.theta * v_plus)
        softened = -0.5 * self.theta * self.dt * (D + D.T)
        positive = np.linalg.eigvalsh(self.middle.M + softened)[0] > 0.0
        return replace(self, softened=softened) if positive else self

    def at_middle(self, id: str) -> ThetaProblem:
        """Return the problem with the laws at the midpoint, because the row `id` does not settle at the end.

        It no longer depends on where the step ends, so that it has no passes to converge.
        """
        return replace(self, unsettled=id, softened=None if id else self.softened)

    def crowded(self, id: str, pushing: Collection[str]) -> ThetaProblem:
        """Return the problem of a step in which the row `id` closes on a body that others hold, or else this one.

        The laws hold at the midpoint, and all contacts act. Those that were open at the start close as their gaps
        say, at a constant rate; those of them that push restore as if they had been closed.
        """
        if not id:
            return self
        begin = rows_at_start(self.system, self.start, self.middle)
        gap, sided = self.middle.activation.gap, [row.id for row in self.middle.rows if one_sided(row)]
        ahead = frozenset(key for key in sided if begin[key].gap > gap)
        terms = {key: np.zeros(begin[key].size) for key in sided if key in ahead or key not in self.bounce}
        terms |= {key: restitution(begin[key], self.middle.activation) for key in ahead if key in pushing}
        return replace(self.at_middle(id), bounce={**self.bounce, **terms}, ahead=ahead)

    def keeping(self, share: float) -> ThetaProblem:
        """Return the problem with a fraction of all restitution."""
        return replace(self, kept=share)

    def restores(self) -> bool:
        """Return whether any contact leaves with restitution."""
        return any(self.rebounds(key) for key in self.bounce)

    def rebounds(self, id: str) -> bool:
        """Return whether a contact leaves with restitution."""
        return bool(self.bounce[id].any())

    def _projected(self, moved: Place, v_plus: Array, stopped: frozenset[str]) -> Place:
        """Return the end of the step with its position errors removed; contacts that do not leave are held.

        With the laws at the midpoint gaps need not end closed: they are held as far as that is no strain.
        """
        held = {row.id: self._ends_at(row) for row in self.middle.rows if row.id in stopped and one_sided(row)}
        cleared = list if self.dependent is None else self.dependent.cleared
        loosely = bool(self.unsettled) and not all(map(self.rebounds, held))
        end = projected(self.system, self.t_end, moved, v_plus, self.middle.factor, self.bounce, held, cleared, loosely)
        if self.dependent is None:
            return end
        return replace(end, shifts=tuple(Shift(self.dependent.shared(one.pushes)) for one in end.shifts))

    def _ends_at(self, row: Row) -> float:
        """Return the gap with which a contact that pushes ends the step, m: closed if it does not rebound.

        One that closes at the height s within the step and rebounds ends at eps_n^2 s: its speed being eps_n times
        that before, so its energy, potential included, is eps_n^2 times the energy before.
        """
        if not self.rebounds(row.id):
            return 0.0
        before = row.gap - (1.0 - self.theta) * self.dt * float(row.rate[0])
        return (self.kept * row.eps_n) ** 2 * max(before, 0.0)

    def _plausible(self, v_plus: Array) -> bool:
        """Return whether a guess of v+ has an energy that can come from the start and the force."""
        M, v = self.middle.M, self.start.v
        speed = np.abs(v) + np.abs(self.middle.x_free)
        return bool(v_plus @ M @ v_plus <= 4.0 * float(speed @ np.abs(M) @ speed))

    def _push(self, p: Mapping[str, Array]) -> Array:
        """Return J^T p of all rows, shape (nv,), N s."""
        total = np.zeros(self.middle.nv)
        for row in self.middle.rows:
            if row.id in p:
                total += row.J.T @ p[row.id]
        return total

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
            rate = self._rate_at_middle(row) if self.unsettled else last.rate - row.J @ (v_plus - v)
            rate = rate + self.kept * self.bounce[row.id]
            if row.id in self.ahead and not self.bounce[row.id].any():
                rate[0] += max(row.gap, 0.0) / (self.theta * self.dt)
            found.append(row.but(level="position", gap=0.0, rate=rate, eps_n=0.0, eps_t=0.0))
        return tuple(found)

    def _rate_at_middle(self, row: Row) -> Array:
        """Return the rate of a row at (t_m, q_m, v), but of a joint twice that.

        The mean of the rates with v and with v+ is zero then, so that the joint does no work; a rate with v+ alone
        would take the energy of the rate with v, which is small and not zero.
        """
        return 2.0 * row.rate if row.kind == "bilateral" and row.level == "position" else row.rate


def _move(system: System, q: Array, v: Array, dt: float) -> Array:
    return vector("move(q, v, dt)", system.move(q, v, dt), len(q))


def _lengths(dynamics: LocalDynamics) -> list[float]:
    """Return the length of the longest component of every row in the metric of the inverse mass: max |L^-1 J^T|."""
    rows = dynamics.rows
    if not rows:
        return []
    X = solve_triangular(dynamics.factor, np.vstack([row.J for row in rows]).T, lower=True, check_finite=False)
    lengths = np.sqrt((X * X).sum(axis=0))
    starts = np.cumsum([0, *(row.size for row in rows[:-1])])
    found: list[float] = np.maximum.reduceat(lengths, starts).tolist()
    return found


def _ratio(change: float, scale: float) -> float:
    if not np.isfinite(change):
        raise InputError("rows(t, q, v)", "rates that overflow", "finite rates", "Take a smaller step.")
    return float(change) / scale if scale > 0.0 else float(change)
