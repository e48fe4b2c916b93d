"""One step of a realization: integrate the forced motion, and tell what happened as every stepper does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import EPS, Array, scalar
from ...contact.snapshot import Activation, rows_of, snapshot
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..stepper import Control, Rebuilt, Step, Work, check_same_rows, check_span, held_control, near_of
from .drift_correction import held
from .equations_of_motion import ForcedMotion, ForceLaw
from .ode import METHODS, Flow, SmoothFlow, Stuck, Tolerance, integrate

TURNS = 400.0  # radians within a step up to which every vibration is followed explicitly


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How the equations of motion are integrated within a step.

    Parameters
    ----------
    method : str
        DOP853 (explicit), Radau (implicit, damps vibrations faster than its steps), or auto: DOP853 up to 400 rad of
        the fastest vibration per step, else Radau.
    rtol, atol : float
        Local error per internal step, relative and absolute (SI).
    max_steps : int
        Internal steps allowed within one step.

    Raises
    ------
    InputError
        Unknown method, tolerances out of range.
    """

    method: str = "auto"
    rtol: float = 1e-10
    atol: float = 1e-12
    max_steps: int = 200_000

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError("method", repr(self.method), ", ".join(METHODS), one_of("method", self.method, METHODS))
        object.__setattr__(self, "rtol", scalar("rtol", self.rtol, low=3e-14, high=1e-2))
        object.__setattr__(self, "atol", scalar("atol", self.atol, low=0.0, high=1.0, open_low=True))
        if isinstance(self.max_steps, bool) or not isinstance(self.max_steps, int) or self.max_steps < 1:
            raise InputError("max_steps", repr(self.max_steps), "an integer >= 1", "Write max_steps=100000.")

    def settings(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_steps": self.max_steps}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Realized:
    """A law, and how its motion is integrated: what every realization hands to `advance`.

    Attributes
    ----------
    name : str
        Of the stepper.
    law : ForceLaw
    dt : float
    stiffness : float
        What can be made smaller where the integrator cannot follow.
    accuracy : Accuracy
    alpha : float
        Baumgarte's constant of rigid rows, 1/s.
    project : bool
        Whether rigid rows are put back exactly at the end of every step.
    """

    name: str
    law: ForceLaw
    dt: float
    stiffness: float
    accuracy: Accuracy
    alpha: float = 0.0
    project: bool = True

    def advance(self, system: System, state: State, t_max: float, control: Control | None) -> Step:
        """Return one step of length dt, or shorter if it would pass `t_max`."""
        check_span(state, t_max)
        dt, t_end = span(self.dt, state.t, t_max)
        value = held_control(control, state)
        local, tries = near_of(system, state, dt), list[Array]()
        while True:
            motion = ForcedMotion(system=local, law=self.law, alpha=self.alpha, control=value)
            rows = rows_of(local, state.t, state.q, state.v)
            flow = self._flow(motion, state, rows, dt, t_end)
            step = self._step(motion, state, rows, flow, dt, t_end)
            more = _overlooked(system, local, state, step)
            if more is None:
                return replace(step, tries=tuple(tries))
            tries.append(step.state.q)
            local = more

    def rebuild(self, system: System, start: State, state: State, dt: float, control: Array | None) -> Rebuilt:
        """Return the step as it comes out again; what reacts is shown as rows that hold, with the same impulses."""
        step = self.advance(system, start, state.t, control)
        v, shown = step.state.v, []
        h = step.dynamics.M @ v
        for row in step.rows:
            p = step.reactions[row.id]
            if p.any():
                h = h - row.J.T @ p
                kept = replace(row, kind="bilateral", level="position", mu=0.0, rate=-row.J @ (v - start.v))
                shown.append(kept)
        dynamics = replace(step.dynamics, h=h, rows=tuple(shown))
        return Rebuilt(dynamics=dynamics, q=step.state.q)

    def outputs(self, system: System) -> dict[str, tuple[str, Callable[[State], float]]]:
        """Return the columns that such a run has beside those of every run: what its springs hold."""

        def held_by_springs(state: State) -> float:
            """Return the energy in all springs at a state, J."""
            rows = rows_of(near_of(system, state, 0.0), state.t, state.q, state.v)
            stretched = zip(rows, springs_of(self.law, rows, state.memory), strict=True)
            return sum(self.law.energy(row, s) for row, s in stretched)

        return {"spring_energy": ("J", held_by_springs)}

    def check(self, system: System, state: State, wanted: str) -> None:
        """Raise InputError unless the law knows every row and stands for at least one; `wanted` says which."""
        rows = rows_of(near_of(system, state, 0.0), state.t, state.q, state.v)
        roles = [self.law.role(row) for row in rows]
        if wanted and near_of(system, state, 0.0) is system and "soft" not in roles:
            listed = ", ".join(f"{row.id} ({row.kind}, {row.level})" for row in rows) or "none"
            raise InputError(
                f"constraints for {self.name}", listed, wanted, "Write MoreauJean(dt=1e-3), or another realization."
            )
        self._check_resolved(rows, state)

    def _check_resolved(self, rows: tuple[Row, ...], state: State) -> None:
        """Raise InputError where rounding of the coordinates alone makes forces of the size of 1 N and more."""
        reach = float(np.abs(state.q).max(initial=0.0)) or 1.0
        noise = 4.0 * EPS * reach * self.stiffness
        if noise > 1.0 and any(row.level == "position" for row in rows):
            raise InputError(
                "stiffness",
                self.stiffness,
                f"<= {self.stiffness / noise:.2g}",
                f"Rounding limits it: stiffness={0.5 * self.stiffness / noise:.2g}.",
            )

    def _flow(self, motion: ForcedMotion, state: State, rows: tuple[Row, ...], dt: float, t_end: float) -> SmoothFlow:
        y = np.concatenate([state.q, state.v, *springs_of(self.law, rows, state.memory)])
        forced = Flow(
            slope=motion.slope, jacobian=motion.jacobian, collect=motion.collect, places=len(state.q)
        )  # fmt: skip
        fastest = motion.fastest(state.t, y)
        a = self.accuracy
        method = a.method if a.method != "auto" else "DOP853" if fastest * dt <= TURNS else "Radau"
        tolerance = Tolerance(rtol=a.rtol, atol=self._atol(state, y, method, fastest), max_steps=a.max_steps)
        try:
            return integrate(forced, state.t, y, t_end, method, tolerance)
        except Stuck as stuck:
            raise self._too_stiff(stuck, state.t, dt, fastest) from None

    def _atol(self, state: State, y: Array, method: str, fastest: float) -> float | Array:
        """Return the absolute tolerance; where vibrations are passed over, velocities get that of places times rate.

        A place out by e makes a velocity of up to rate e: to hold it closer is to follow every period. Velocities of
        the slow motion are as good as places need them.
        """
        if method != "Radau" or self.name != "penalty":
            return self.accuracy.atol
        atol = np.full(len(y), self.accuracy.atol)
        atol[len(state.q) : len(state.q) + len(state.v)] *= max(1.0, fastest)
        return atol

    def _too_stiff(self, stuck: Stuck, t: float, dt: float, fastest: float) -> InputError:
        """Return the error that says how stiff it may be: the number of steps grows like the fastest rate."""
        exponent = 2.0 if self.name == "penalty" else 1.0
        largest = self.stiffness * max(stuck.covered, 1e-6) ** exponent
        given = f"{self.stiffness:g}, whose fastest part turns {fastest * dt:.3g} rad within dt = {dt:g} s"
        mend = f"At t = {t:g} s: {stuck}. Take a smaller stiffness or dt, more max_steps, or a slow start."
        return InputError("stiffness", given, f"about {largest:.1g} at the most", mend)

    def _step(
        self, motion: ForcedMotion, start: State, before: tuple[Row, ...], flow: SmoothFlow, dt: float, t_end: float
    ) -> Step:  # fmt: skip
        q, v, _ = motion.split(flow.y)
        if self.project:
            q, v = held(motion.system, self.law, t_end, q, v)
        y = np.concatenate([q, v, flow.y[len(q) + len(v) :]])
        end = motion.forces(t_end, y)
        rows = rows_of(motion.system, t_end, q, v)
        check_same_rows(rows, before)
        cuts = np.cumsum([row.size for row in rows])
        impulses = dict(zip((row.id for row in rows), np.split(flow.integrals[:-2], cuts[:-1]), strict=False))
        springs = dict(zip((row.id for row in rows), self._springs(rows, motion.split(y)[2]), strict=True))
        modes = {row.id: self.law.mode(row, springs[row.id], r) for row, r in zip(rows, end.r, strict=True)}
        state = State(t=t_end, q=q, v=v, memory=_memory(start.memory, rows, impulses, springs))
        solution = Solution(problem=None, status=Status.SOLVED, x=v, method=self.name, iterations=flow.steps)
        return Step(
            start=start,
            state=state,
            dt=dt,
            solution=solution,
            dynamics=snapshot(
                motion.system, start, level="velocity", dt=dt, activation=Activation(), control=motion.control
            ),
            reactions=impulses,
            modes={key: mode for key, mode in modes.items() if mode is not None},
            rows=rows,
            work=Work(reactions=float(flow.integrals[-2]), forces=float(flow.integrals[-1])),
            control=motion.control,
        )  # fmt: skip

    def _springs(self, rows: tuple[Row, ...], s: Array) -> list[Array]:
        return np.split(s, np.cumsum([self.law.springs(row) for row in rows])[:-1]) if rows else []


def _overlooked(system: System, local: System, start: State, step: Step) -> System | None:
    """Return the system with the contacts, too, that have come to overlap in a step without them; None without any."""
    if local is system or not hasattr(local, "taking"):
        return None
    end, known = step.state, {row.id for row in step.rows}
    here = near_of(system, end, 0.0)
    beside, deep = ({row.id for row in rows_of(here, at.t, at.q, at.v) if _below(row)} for at in (start, end))
    new = deep - beside - known  # features beside each other have gaps below zero that mean nothing
    return local.taking(known | new, here) if new else None


def _below(row: Row) -> bool:
    """Return whether a gap that may open is below zero."""
    return row.level == "position" and not row.bilateral and row.gap < 0.0


def span(dt: float, t: float, t_max: float) -> tuple[float, float]:
    """Return the length and the end of the next step: on the grid k dt where t is, and no sliver at the end."""
    k = round(t / dt)
    near = 1e-9 * dt + 8.0 * EPS * abs(t_max)
    t_end = (k + 1) * dt if abs(t - k * dt) <= near else t + dt
    if t_max > t_end + near:
        return t_end - t, t_end
    return t_max - t, t_max


def springs_of(law: ForceLaw, rows: tuple[Row, ...], memory: Mapping[str, Array]) -> list[Array]:
    """Return the springs of all rows as a state remembers them, relaxed where it does not."""
    found = []
    for row in rows:
        n, known = law.springs(row), memory.get(spring_key(row))
        found.append(np.array(known) if known is not None and len(known) == n else np.zeros(n))
    return found


def spring_key(row: Row) -> str:
    """Return the name under which a state remembers the slipping springs of a row."""
    return f"{row.id}:spring"


def _memory(
    old: Mapping[str, Array], rows: tuple[Row, ...], impulses: Mapping[str, Array], springs: Mapping[str, Array]
) -> dict[str, Array]:  # fmt: skip
    """Return what the next step must know: reactions and stretched springs, and what is not ours."""
    ours = {row.id for row in rows} | {spring_key(row) for row in rows}
    kept = {key: value for key, value in old.items() if key not in ours and "/" not in key}
    kept |= {key: p for key, p in impulses.items() if p.any()}
    return kept | {spring_key(row): springs[row.id] for row in rows if springs[row.id].any()}
