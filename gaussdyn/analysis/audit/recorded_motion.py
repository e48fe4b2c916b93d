"""Smooth motion as the run recorded it, put into the equations of motion.

Between events a run keeps samples (`Arc`) of places, velocities and reactions. With masses, forces and rows of the
system at every sample,

    a_i = M^-1 (h + J^T r_i),      v+ - v = h sum b_i a_i,      q+ - q = h sum b_i qdot_i,

are evaluated and compared; nothing is solved or integrated again. At an event velocities jump (`ImpactRecord`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...integrate.impact.impact_laws import ImpactLaw
from ...integrate.recorded_arcs import Arc
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.values import Event
from ...linalg.factor import solve_spd
from ...mechanics.state import State
from ...mechanics.system import System
from .recorded_impacts import JudgedImpact
from .saved_rows import control_of, ends_of, events_of, listing, local_system, said_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """The system at one sample of an arc.

    Attributes
    ----------
    dynamics : LocalDynamics
        M, h and all rows there.
    r : mapping of str to Array
        Recorded reactions, N.
    """

    dynamics: LocalDynamics
    r: Mapping[str, Array]

    @cached_property
    def push(self) -> Array:
        """Generalised force of all reactions, shape (nv,); NaN where rows push that the system does not have."""
        known = {row.id: row for row in self.dynamics.rows}
        if any(key not in known and x.any() for key, x in self.r.items()):
            return np.full(len(self.dynamics.v), np.nan)
        parts = (known[key].J.T @ x for key, x in self.r.items() if key in known)
        return sum(parts, np.zeros(len(self.dynamics.v)))

    @cached_property
    def pushes(self) -> Array:
        """Size of the terms of `push`, shape (nv,)."""
        known = {row.id: row for row in self.dynamics.rows}
        parts = (np.abs(known[key].J.T) @ np.abs(x) for key, x in self.r.items() if key in known)
        return sum(parts, np.zeros(len(self.dynamics.v)))

    @cached_property
    def a(self) -> Array:
        """Acceleration, shape (nv,)."""
        if np.isnan(self.push).any():
            return self.push
        return np.asarray(solve_spd(self.dynamics.factor, self.dynamics.h + self.push))


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedArc:
    """One arc with the system at its samples."""

    arc: Arc
    samples: tuple[Sample, ...]

    @classmethod
    def of(
        cls, arc: Arc, system: System, control: Array | None, activation: Activation, earlier: Sequence[Arc] = ()
    ) -> RecordedArc:  # fmt: skip
        """Evaluate a system along an arc; contacts may have been found already along `earlier` ones."""
        local = _along(system, arc, earlier)
        samples = []
        for i, t in enumerate(arc.times.tolist()):
            state = State(t=t, q=arc.q[i], v=arc.v[i])
            found = snapshot(local, state, activation=activation, control=control)
            samples.append(Sample(dynamics=found, r={key: r[i] for key, r in arc.reactions.items()}))
        return cls(arc=arc, samples=tuple(samples))


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedMotion:
    """What is on record of one step that follows differential equations.

    Attributes
    ----------
    whole, system : System
        What was run, and with the contacts at the end of the step.
    start, state : State
        Before and after.
    dt : float
        s.
    arcs : tuple of RecordedArc
    impacts : tuple of JudgedImpact
    events : tuple of Event
    impulses : mapping of str to Array
        That the run claims of the step, N s, by row id.
    forces : mapping of str to Array
        Reactions right after it, N.
    control : Array or None
    activation : Activation
    """

    whole: System
    system: System
    start: State
    state: State
    dt: float
    arcs: tuple[RecordedArc, ...]
    impacts: tuple[JudgedImpact, ...]
    events: tuple[Event, ...]
    impulses: Mapping[str, Array]
    forces: Mapping[str, Array]
    control: Array | None
    activation: Activation

    @classmethod
    def of(cls, run: Trajectory, system: System, k: int, activation: Activation, law: ImpactLaw) -> RecordedMotion:
        """Return what a run says of the step that ended in saved state k."""
        start, state, dt = ends_of(run, k)
        number, control = int(run.saved[k]), control_of(run, k)
        evidence = run.evidence.get(number)
        arcs, forces = ((), {}) if evidence is None else (evidence.arcs, evidence.forces)
        local = local_system(run, system, k, located=True)
        rows = rows_of(local, state.t, state.q, state.v)
        return cls(
            whole=system, system=local, start=start, state=state, dt=dt, control=control, activation=activation,
            arcs=tuple(RecordedArc.of(arc, system, control, activation, arcs[:i]) for i, arc in enumerate(arcs)),
            impacts=tuple(
                JudgedImpact.of(strike, system, law, activation) for strike in run.impacts if strike.step == number
            ),
            events=events_of(run, k),
            impulses={key: dt * reaction for key, (_, reaction) in said_of(run, k, rows).items()}, forces=forces,
        )  # fmt: skip

    def seams(self) -> list[tuple[State, State]]:
        """Return the ends of arcs and jumps with the beginnings of what follows, from the start of the step on."""
        links = self.links()
        ends = [self.start, *(end for _, end in links)]
        return list(zip(ends, [*(first for first, _ in links), self.state], strict=True))

    def links(self) -> list[tuple[State, State]]:
        """Return the states at the beginning and at the end of every arc and every jump, in their order."""
        found = [
            (State(t=a.t, q=a.q[0], v=a.v[0]), State(t=a.t_end, q=a.q[-1], v=a.v[-1]))
            for a in (one.arc for one in self.arcs)
        ]
        for strike in (one.record for one in self.impacts):
            jump = tuple(State(t=strike.t, q=strike.q, v=v) for v in (strike.before, strike.after))
            at = next((i for i, (first, _) in enumerate(found) if first.t >= strike.t), len(found))
            while (
                at < len(found) and found[at][0].t == strike.t == found[at][1].t
            ):  # jumps at one time keep their order
                at += 1
            found.insert(at, (jump[0], jump[1]))
        return found


def _along(system: System, arc: Arc, earlier: Sequence[Arc]) -> System:
    """Return the system with the contacts that push along an arc, in the tangents that they have where it begins."""
    first, *others = (State(t=t, q=q, v=v) for t, q, v in zip(arc.times.tolist(), arc.q, arc.v, strict=True))
    places = [(one, 0.0) for one in others]
    places += [(State(t=one.t, q=one.q[0], v=one.v[0]), one.h) for one in (arc, *reversed(earlier))]
    local = listing(system, first, arc.reactions, places)
    steady = getattr(local, "steady", None)
    return local if steady is None or local is system else steady(rows_of(local, first.t, first.q, first.v))
