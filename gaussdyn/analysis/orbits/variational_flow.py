"""Motions of systems from symbols as orbits see them: y = (q, v), its derivative, its events, its phases.

The motion is that of a run from event to event, its derivative that of `integrate.fundamental_matrix`; here both get
the names that orbits have for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from ...arrays import Array, vector
from ...errors import InputError
from ...integrate.contact_modes import CLOSED, rough
from ...integrate.event_derivatives import Passage as Events
from ...integrate.event_derivatives import kernels_of
from ...integrate.event_driven.event_loop import begin
from ...integrate.event_driven.guards import Guard
from ...integrate.event_driven.integrator import EventDriven
from ...integrate.event_driven.smooth_phase import Phase
from ...integrate.fundamental_matrix import Stretch as Steps
from ...integrate.fundamental_matrix import follow_run, fundamental_matrix
from ...integrate.variations import VariedPhase
from ...mechanics.lagrangian.equations import equations
from ...mechanics.lagrangian.expressions import symbol, symbols
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene
from ...mechanics.state import State

KINDS = {"reversal": "crossing", "stick": "stop", "slip": "release", "touchdown": "landing"}  # others are called alike
FIRST = ("touchdown", "impact")  # of the events at one time the one that they are called by


@dataclass(frozen=True, slots=True, eq=False)
class MovingPhase:
    """A phase as orbits ask it: y' and its derivative, conditions.

    `mode` is one letter per constraint: o (open), c (closed, or held), s (sticks), + and - (slips along its tangent, or
    against it), / (slips in space).
    """

    phase: Phase

    @property
    def mode(self) -> str:
        """Its letters."""
        return "".join(_letter(self.phase, k) for k in range(len(self.phase.rows)))

    @property
    def sticks(self) -> bool:
        """Whether something that may slip sticks."""
        return "s" in self.mode

    def rate(self, t: float, y: Array) -> Array:
        """Return y'."""
        return VariedPhase(kernels_of(self.phase)).slope(t, np.asarray(y))

    def jacobian(self, t: float, y: Array) -> Array:
        """Return dy'/dy."""
        n = len(y)
        return VariedPhase(kernels_of(self.phase)).slope(t, np.concatenate((y, np.eye(n).ravel())))[n:].reshape(n, n).T

    def least(self, t: float, y: Array) -> float:
        """Return the least condition, inf without any: below zero the phase has ended."""
        return float(VariedPhase(kernels_of(self.phase)).look(t, y).g.min(initial=math.inf))

    def friction_left(self, t: float, y: Array, key: str) -> float:
        """Return the friction that is left at a contact if it sticks; below zero it cannot."""
        modes = {**self.phase.modes, key: CLOSED}
        held, n = self.phase.but(modes, self.phase.rows), len(y) // 2
        now = held.instant(t, y[:n], y[n:])
        return min(guard.value(now) for guard in held.guards if guard.id == key and guard.kind == "slip")


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """An event of a motion.

    Attributes
    ----------
    t : float
    kind : str
        crossing, stop, release, impact, lift_off, landing.
    id : str
        Of the constraint.
    y : Array
        Before it.
    S : Array, shape (2 n, 2 n)
        Saltation matrix.
    phase, then : MovingPhase
        Before and after it.
    """

    t: float
    kind: str
    id: str
    y: Array
    S: Array
    phase: MovingPhase
    then: MovingPhase

    @property
    def before(self) -> str:
        """Modes before it."""
        return self.phase.mode

    @property
    def after(self) -> str:
        """Modes after it."""
        return self.then.mode

    @classmethod
    def of(cls, events: Events) -> Passage:
        """Return the events at one time of a run."""
        ranks = {kind: k for k, kind in enumerate(FIRST)}
        one = min(events.changes, key=lambda change: ranks.get(change.kind, len(FIRST)))
        y, phases = as_y(events.changes[0].before), (MovingPhase(events.before), MovingPhase(events.after))
        return cls(events.t, KINDS.get(one.kind, one.kind), one.id, y, events.S, *phases)


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A phase of a motion: ends of its steps, states there and its lowest guard.

    Attributes
    ----------
    phase : MovingPhase
    t : Array, shape (m,)
    y : Array, shape (m, 2 n)
    lowest : float
        Least value of a guard inside, where it has a minimum that is no end of the phase; inf if it has none.
    lowest_of : Guard or None
    """

    phase: MovingPhase
    t: Array
    y: Array
    lowest: float
    lowest_of: Guard | None

    @property
    def mode(self) -> str:
        """Letters of its modes."""
        return self.phase.mode

    @classmethod
    def of(cls, steps: Steps) -> Stretch:
        """Return the steps of one phase of a run."""
        arcs = steps.arcs
        t = np.array([*(arc.t for arc in arcs), arcs[-1].t_end])
        y = np.array([np.concatenate((arc.q[k], arc.v[k])) for arc, k in [*((arc, 0) for arc in arcs), (arcs[-1], -1)]])
        return cls(MovingPhase(steps.phase), t, y, steps.low[0], steps.low[2])


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """What a motion from (t, y) came to.

    Attributes
    ----------
    t, y : float, Array
        At the end.
    phase : MovingPhase
        There.
    Phi : Array, shape (2 n, 2 n)
        dy(end) / dy(begin) at fixed times.
    passages : list of Passage
    stretches : list of Stretch
    """

    t: float
    y: Array
    phase: MovingPhase
    Phi: Array
    passages: list[Passage]
    stretches: list[Stretch]

    @property
    def mode(self) -> str:
        """Modes at the end."""
        return self.phase.mode

    @property
    def signature(self) -> tuple[str, ...]:
        """Kinds of the events, in order."""
        return tuple(one.kind for one in self.passages)


def flow(system: LagrangianSystem | Scene, t: float, y: Array, t_end: float, *, rtol: float = 1e-12) -> Flow:
    """Follow a motion from (t, y) to t_end through all its events, with its derivative.

    Parameters
    ----------
    system : LagrangianSystem, or Scene with one
    t, t_end : float
        s.
    y : array_like, shape (2 n,)
        (q, v) at t.
    rtol : float
        Of the integrator.

    Raises
    ------
    InputError
        Another kind of system, a state of another length; as `fundamental_matrix`.
    """
    system = system_of(system)
    found = fundamental_matrix(system, _state(system, t, y), t_end, stepper=_stepper(rtol), lowest=True)
    passages = [Passage.of(one) for one in found.parts if isinstance(one, Events)]
    stretches = [Stretch.of(one) for one in found.parts if isinstance(one, Steps)]
    last = found.parts[-1]
    phase = MovingPhase(last.after if isinstance(last, Events) else last.phase)
    return Flow(found.state.t, as_y(found.state), phase, found.Phi, passages, stretches)


def end_of(system: LagrangianSystem, t: float, y: Array, t_end: float, *, rtol: float = 1e-12) -> Array:
    """Return y at t_end; errors as `flow`."""
    *_, last = follow_run(system, _state(system, t, y), t_end, _stepper(rtol), None)
    return as_y(last.state)


def phase_at(system: LagrangianSystem, t: float, y: Array) -> MovingPhase:
    """Return the phase in which a motion begins.

    Raises
    ------
    InputError
        There is none: why.
    """
    segment = begin(_stepper(1e-12).segment(system, _state(system, t, y), t + 1.0), t + 1.0)
    if segment.phase is None:
        given = "a state without accelerations" if segment.failure is None else segment.failure.explain()
        raise InputError("motion", given, "a state from which a motion begins", "Start elsewhere: State(q=..., v=...).")
    return MovingPhase(segment.phase)


def system_of(system: object) -> LagrangianSystem:
    """Return a system from symbols, or that of a scene, compiled: orbits ask it very often.

    Raises
    ------
    InputError
        A system of another kind.
    """
    system = system.system if isinstance(system, Scene) else system
    if not isinstance(system, LagrangianSystem):
        mend = "Write it as a LagrangianSystem(...); close_motion corrects motions of every kind of system."
        raise InputError("system", type(system).__name__, "a LagrangianSystem", mend)
    return system.as_compiled()


def autonomous(system: LagrangianSystem) -> bool:
    """Whether nothing depends on the time for these values of the parameters."""
    parameters = system.params
    values = dict(zip(symbols("p", len(parameters)), map(sp.Float, parameters.values()), strict=True))
    e = equations(system.model)
    parts = [*e.h, *(x for rows in e.rows for x in (rows.gap, *rows.rate, *rows.drift, *rows.coefficients))]
    return not any(symbol("t") in sp.sympify(x).subs(values).free_symbols for x in parts)


def as_y(state: State) -> Array:
    """Return (q, v)."""
    return np.concatenate((state.q, state.v))


def _state(system: LagrangianSystem, t: float, y: Array) -> State:
    y = vector("y", y, 2 * system.nq)
    return State(t=t, q=y[: system.nq], v=y[system.nq :])


def _stepper(rtol: float) -> EventDriven:
    return EventDriven(rtol=rtol, atol=0.1 * rtol)


def _letter(phase: Phase, k: int) -> str:
    row = phase.rows[k]
    mode = phase.modes[row.id]
    if not mode.closed:
        return "o"
    if not rough(row):
        return "c"
    return "s" if not mode.slip else "/" if len(mode.slip) > 1 else "+" if mode.slip[0] > 0.0 else "-"
