"""What a saved run tells with its system at hand: every saved step is rebuilt from the two states around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...contact.reactions import law_residual
from ...contact.snapshot import LocalDynamics, rows_of
from ...integrate.energy import energy
from ...integrate.impact.history import Past
from ...integrate.impact.zeno import Rest
from ...integrate.run.column_names import component_names
from ...integrate.run.mode_events import CROWDED, RESTED, UNSETTLED
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.values import Event
from ...integrate.stepper import Stepper, near_of
from ...integrate.stepper_names import from_settings
from ...integrate.time_stepping.position_projection import ALLOWED, ROUNDING
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from .audit_check import AuditCheck
from .from_file import EXACT, RESIDUAL, before_errors
from .projection_slack import PUSHED, unexplained

FIGURES = {"kinematics": EXACT, "momentum": 1e-10, "laws": RESIDUAL, "joint_rate": 1e-10}
IDLE = ("inactive", "degenerate")  # modes of rows that may act without a push: the projection may have passed by them


def state_series(run: Trajectory, system: System) -> list[AuditCheck]:
    """Return all checks that rebuild the saved states and steps."""
    stepper = from_settings(run.settings["stepper"])
    located = bool(getattr(stepper, "located", False))
    at_states = np.array([_state_figures(run, system, k, located) for k in range(len(run))])
    allowed = _depth_allowed(run, at_states[:, 3], bool(getattr(stepper, "project", False)))
    series = [
        AuditCheck(name="gap_column", t=run.t, values=at_states[:, 0], tol=EXACT, unit="m"),
        AuditCheck(name="energy_column", t=run.t, values=at_states[:, 1] / _scale(run), tol=EXACT),
        AuditCheck(name="gap", t=run.t, values=at_states[:, 2], tol=allowed, unit="m"),
    ]
    # A search for events from a state in which no step began may take for ever.
    foreign = before_errors(run) > 0.0 if located else np.zeros(len(run), dtype=bool)
    steps = [
        (np.inf,) * len(FIGURES) if foreign[k] else _SavedStep.of(run, system, stepper, k).figures()
        for k in range(1, len(run))
    ]
    table = np.array(steps).reshape(len(steps), len(FIGURES))
    for k, (name, tol) in enumerate(FIGURES.items()):
        series.append(AuditCheck(name=name, t=run.t[1:], values=table[:, k], tol=tol))
    return series


def _state_figures(run: Trajectory, system: System, k: int, located: bool) -> tuple[float, float, float, float]:
    """Return errors of the gap and energy columns, the deepest penetration, and the fastest normal rate."""
    state = State(t=float(run.t[k]), q=run.q[k], v=run.v[k])
    here = near_of(system, state, 0.0)  # a contact that the step did not look for is one all the same
    rows = rows_of(_local(run, system, k, located), state.t, state.q, state.v)
    said = _said(run, k, rows)
    found = rows_of(here, state.t, state.q, state.v) if here is not system else ()
    column = max((abs(row.gap - said[row.id][0]) for row in rows), default=0.0)
    kinetic, potential = energy(system, state)
    far = abs(kinetic - run["kinetic"][k]) + abs(potential - run["potential"][k])
    sided = [row for row in (*rows, *found) if row.level == "position" and row.kind in ("contact", "unilateral")]
    depth = max((-row.gap for row in sided), default=0.0)
    speed = max((abs(float(row.rate[0])) for row in sided), default=0.0)
    return column, float(far), max(depth, 0.0), speed


def _depth_allowed(run: Trajectory, speeds: Array, projects: bool) -> float:
    """Return the depth that is allowed, m: what the first state has, and what the scheme leaves.

    Without projection that is what a closing contact may penetrate in the step in which it is seen, plus the drift of
    curved ones. Between saved states that are steps apart the fastest approach is not known: there its largest change
    is added.
    """
    start = max((-float(run[f"{key}.gap"][0]) for key in run.rows), default=0.0)
    start = max(start, *(-contact.gap for contact in run.contacts(0)), 0.0)
    if projects:
        return start + max(ALLOWED, ROUNDING * float(np.abs(run.q).max(initial=0.0)))
    if (np.diff(run.saved) > 1).any():
        speeds = np.append(speeds, speeds.max() + np.abs(np.diff(speeds)).max())
    dt = float(run.steps.dt.max(initial=0.0))
    size = float(np.abs(run.v).max(initial=0.0))
    return start + dt * float(speeds.max(initial=0.0)) + (dt * size) ** 2 + 1e-9


def _scale(run: Trajectory) -> float:
    scale = float(np.abs(run["kinetic"]).max() + np.abs(run["potential"]).max())
    return scale if scale > 0.0 else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _SavedStep:
    """One saved step, rebuilt: its states, its dynamics, and the impulses that the run claims (N s)."""

    system: System
    start: State
    state: State
    dt: float
    dynamics: LocalDynamics
    q: Array
    impulses: dict[str, Array]
    forces: float | None
    places: tuple[tuple[Row, ...], ...]
    shift: float

    @classmethod
    def of(cls, run: Trajectory, system: System, stepper: Stepper, k: int) -> _SavedStep:
        """Rebuild the step that ended in saved state k; rows that react count as closed, and those said to be idle."""
        dt = float(run.steps.dt[run.saved[k] - 1])
        state = State(t=float(run.t[k]), q=run.q[k], v=run.v[k])
        start = State(t=float(run.before_t[k]), q=run.before_q[k], v=run.before_v[k])
        located = bool(getattr(stepper, "located", False))  # it finds by itself what was kept
        rows = rows_of(_local(run, system, k, located), state.t, state.q, state.v)
        impulses = {key: dt * reaction for key, (_, reaction) in _said(run, k, rows).items()}
        idle = set() if located else {one.id for one in run.contacts(k) if one.mode in IDLE}
        acts = {key: p for key, p in impulses.items() if p.any() or key in idle}
        start = replace(start, memory={**run.starts.get(int(run.saved[k]), {}), **acts})
        there = _events(run, k)
        extra: dict[str, Any] = {event.kind: event.id for event in there if event.kind in (UNSETTLED, CROWDED)}
        kept = float(run.steps.restitution[run.saved[k] - 1])
        if located:
            kinds = [event.kind for event in there if event.t == state.t]
            times = tuple(sorted({event.t for event in there}))
            impacts = tuple(strike for strike in run.impacts if strike.step == run.saved[k])
            past = Past(times=times, rests=_rests(there, start.t), impacts=impacts)
            extra |= {"past": past, "event": kinds[0] if kinds else ""}
        elif kept != 1.0:
            extra["restitution"] = kept
        rebuilt = stepper.rebuild(system, start, state, dt, _saved_control(run, k), **extra)
        return cls(
            system=system, start=start, state=state, dt=dt, dynamics=rebuilt.dynamics, q=rebuilt.q, impulses=impulses,
            forces=rebuilt.laws, places=rebuilt.places or (rebuilt.dynamics.rows,),
            shift=rebuilt.shift,
        )  # fmt: skip

    def figures(self) -> tuple[float, float, float, float]:
        """Return the errors of kinematics and momentum, the residual of the laws, and the rate of the joints."""
        return self._kinematics(), self._momentum(), self._laws(), self._joint_rate()

    def _kinematics(self) -> float:
        off = unexplained(self.system, self.q, self.state.q, self.places, self.dynamics.factor)
        off = np.maximum(off - PUSHED * self.shift, 0.0)
        return _relative(off, np.abs(self.start.q) + np.abs(self.q))

    def _momentum(self) -> float:
        """Return the largest |M v+ - h - J^T p| of a coordinate, relative to its terms."""
        d = self.dynamics
        gain, size = d.M @ self.state.v - d.h, np.abs(d.M) @ (np.abs(self.state.v) + np.abs(self.start.v)) + np.abs(d.h)
        for row in d.rows:
            p = self.impulses.get(row.id, np.zeros(row.size))
            gain, size = gain - row.J.T @ p, size + np.abs(row.J.T) @ np.abs(p)
        return float(np.abs(gain).max(initial=0.0)) / float(size.max(initial=0.0) or 1.0)

    def _laws(self) -> float:
        """Return the residual E of the claimed impulses in the contact problem; reactions of rows that do not act."""
        if self.forces is not None:
            return self.forces
        acting = {row.id for row in self.dynamics.rows}
        rounding = EXACT * max((float(np.abs(p).max()) for p in self.impulses.values()), default=0.0)
        if any((np.abs(p) > rounding).any() for key, p in self.impulses.items() if key not in acting):
            return float("inf")
        return law_residual(self.dynamics, self.impulses)

    def _joint_rate(self) -> float:
        """Return the largest rate of an equality at the end of the step, relative to the largest speed."""
        worst = 0.0
        # A joint at rest beside bodies that gravity would move has rounding of the size of their free motion.
        speeds = np.abs(self.start.v) + np.abs(self.state.v) + np.abs(self.dynamics.x_free)
        reach = np.full(len(speeds), speeds.max(initial=0.0))
        for row in self.dynamics.rows:
            if row.bilateral:
                n = 1 if row.kind == "bilateral_contact" else row.size
                rate = row.J @ (self.state.v - self.start.v)
                rate = (rate + (self.dt * row.drift if row.level == "acceleration" else row.rate))[:n]
                worst = max(worst, _relative(np.abs(rate), np.abs(row.J[:n]) @ reach))
        return worst


def _events(run: Trajectory, k: int) -> tuple[Event, ...]:
    """Return the events of the step that ended in saved state k; of older runs those that their times say."""
    counts, step = run.steps.events, int(run.saved[k])
    if (counts[:step] >= 0).all():
        end = int(counts[:step].sum())
        return run.events[end - int(counts[step - 1]) : end]
    return tuple(event for event in run.events if run.before_t[k] < event.t <= run.t[k])


def _rests(there: Sequence[Event], start: float) -> dict[str, Rest]:
    """Return which sequences of impacts end in a step, by row id, and the last impact before each of them.

    Contacts that come to rest at one time do so from the last impact of any of them.
    """
    ends = {event.id: event.t for event in there if event.kind == RESTED}
    impacts = [event for event in there if event.kind == "impact"]
    found = {}
    for key, rest in ends.items():
        own = [event.t for event in impacts if ends.get(event.id) == rest and event.t <= rest]
        found[key] = Rest(end=rest, last=max(own, default=start))
    return found


def _local(run: Trajectory, system: System, k: int, located: bool) -> System:
    """Return the system with the contacts of the step that ended in saved state k; at its end if that was located.

    With those, too, that the run names and that are found only there.
    """
    state = State(t=float(run.t[k]), q=run.q[k], v=run.v[k])
    if located or not run.saved[k]:
        return near_of(system, state, 0.0)
    dt = float(run.steps.dt[run.saved[k] - 1])
    start = State(t=float(run.before_t[k]), q=run.before_q[k], v=run.before_v[k])
    local = near_of(system, start, dt)
    if local is system or not hasattr(local, "taking"):
        return local
    known = {row.id for row in rows_of(local, start.t, start.q, start.v)}
    named = {contact.id for contact in run.contacts(k)}
    return local if named <= known else local.taking(known | named, near_of(system, state, 0.0))


def _said(run: Trajectory, k: int, rows: Sequence[Row]) -> dict[str, tuple[float, Array]]:
    """Return the gap and the mean reaction of every row that the run claims; an infinite gap where it says nothing."""
    found = {row.id: (np.inf, np.zeros(row.size)) for row in rows}
    found |= {contact.id: (contact.gap, contact.reaction) for contact in run.contacts(k)}
    for row in rows:
        name = f"{row.id}.gap"
        if name in run:
            r = np.array([float(run[f"{row.id}.{part}"][k]) for part in component_names(row)])
            found[row.id] = float(run[name][k]), r
    return found


def _saved_control(run: Trajectory, k: int) -> Array | None:
    found: list[float] = []
    while f"control{len(found)}" in run:
        found.append(float(run[f"control{len(found)}"][k]))
    return np.array(found) if found else None


def _relative(error: Array, size: Array) -> float:
    scale = float(size.max(initial=0.0))
    worst = float(error.max(initial=0.0))
    return worst / scale if scale > 0.0 else worst
