"""The derivative of an event-driven motion with respect to where it begins, for systems of every kind.

A run says which phases it passes and when (`Stretch`), and what happens between them (`Passage`): the variational
equations are integrated along its own steps (`variations`), and jump at its events (`event_derivatives`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .._show import brief
from ..arrays import Array
from ..errors import InputError
from ..mechanics.state import State
from ..mechanics.system import System
from .dop853 import NoStep
from .event_derivatives import Passage, facing, frame, jumped, kernels_of, phase_of, set_in, sets_in
from .event_driven.integrator import EventDriven
from .event_driven.phase_state import Place
from .event_driven.smooth_phase import Phase
from .mode_changes import Change
from .mode_memory import BROKEN, all_remembered
from .recorded_arcs import Arc
from .shooting import Shot, closed
from .stepper import Step
from .variations import Dip, VariedPhase

NOTED = {"user", "undecided"}  # kinds of events at which nothing changes
CLOSED = 1e-10  # of the largest coordinate or velocity, at least 1: a motion that misses by less closes


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Steps of one phase.

    Attributes
    ----------
    phase : Phase
    arcs : sequence of Arc
    low : (float, float, Guard or None)
        The lowest minimum of a condition inside: value, time, which; inf if none has one, or none was looked for.
    """

    phase: Phase
    arcs: Sequence[Arc]
    low: Dip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linearised:
    """A motion and its derivative.

    Attributes
    ----------
    state : State
        At the end.
    Phi : Array, shape (2 nv, 2 nv)
        d(q, v)(end) / d(q, v)(begin) at fixed times, displacements of q as velocities measure them.
    parts : tuple of Stretch and Passage
        The motion, and the events on the way.
    """

    state: State
    Phi: Array
    parts: tuple[Stretch | Passage, ...] = field(repr=False)

    __repr__ = brief

    @property
    def changes(self) -> tuple[Change, ...]:
        """The events on the way."""
        return tuple(change for one in self.parts if isinstance(one, Passage) for change in one.changes)

    @property
    def multipliers(self) -> Array:
        """Eigenvalues of Phi, by modulus, falling: Floquet's if the motion closes."""
        m = np.linalg.eigvals(self.Phi).astype(complex)
        return m[np.argsort(-np.abs(m), kind="stable")]


def fundamental_matrix(
    system: System, state: State, t_end: float, *, stepper: EventDriven | None = None, control: Array | None = None,
    lowest: bool = False,
) -> Linearised:  # fmt: skip
    """Follow a motion through its events, with its derivative with respect to where it begins.

    Displacements have to keep what is held at the beginning: columns of others say what the equations make of them.

    Parameters
    ----------
    system : System
    state : State
    t_end : float
        s.
    stepper : EventDriven, optional
    control : Array, optional
        The same all the time.
    lowest : bool
        Whether minima of conditions inside phases are looked for, see `Stretch`.

    Returns
    -------
    Linearised

    Raises
    ------
    InputError
        Several events at one time, a grazing touch, friction that jumps as it sets in, or sets in at rest,
        infinitely many impacts, a run that stops.
    """
    stepper, parts, Phi = stepper or EventDriven(), list[Stretch | Passage](), np.eye(2 * system.nv)
    for step in follow_run(system, state, t_end, stepper, control):
        known = parts[-1].after if parts and isinstance(parts[-1], Passage) else None
        for part in _parts(system, state, step, control, stepper, known):
            if isinstance(part, Passage):
                Phi = part.S @ Phi
                parts.append(part)
            else:
                Phi, low = _along(*part, Phi, lowest)
                parts.append(Stretch(*part, low))
        state = step.state
    return Linearised(state=state, Phi=Phi, parts=tuple(parts))


def follow_run(
    system: System, state: State, t_end: float, stepper: EventDriven, control: Array | None
) -> Iterator[Step]:  # fmt: skip
    """Yield the steps of a run up to a time.

    Raises
    ------
    InputError
        It stops before.
    """
    stepper = stepper.for_run()
    while state.t < t_end:
        step = stepper.advance(system, state, t_end, control=control)
        _check_goes_on(step, state.t)
        yield step
        state = step.state


def _parts(
    system: System, state: State, step: Step, control: Array | None, stepper: EventDriven, known: Phase | None
) -> Iterator[Passage | tuple[Phase, Sequence[Arc]]]:  # fmt: skip
    """Yield the phases of a step with their arcs, and its events; `known` may be its first phase."""
    changes = [one for one in step.changes or () if one.kind not in NOTED]
    start = State(t=step.arcs[0].t, q=step.arcs[0].q[0], v=step.arcs[0].v[0]) if step.arcs else state
    begins = bool(changes and step.arcs) and sets_in(system, start, changes)
    early = [] if begins else _found_late(state, changes)
    if early:
        passage = jumped(system, early, control, stepper, None)
        known = passage.after
        yield passage
    changes = changes[len(early) :]
    if changes and BROKEN in step.state.memory:
        given = f"{changes[0].kind} of {changes[0].id} at {step.state.t:.9g} s, whose modes were found later"
        raise InputError("motion", given, "events that modes follow", f"Write t_end={step.state.t:.6g}.")
    modes = changes[0].modes_before if changes else all_remembered(step.state.memory)
    left = tuple(step.arcs)
    while left:
        phase = phase_of(system, State(t=left[0].t, q=left[0].q[0], v=left[0].v[0]), modes, control, known)
        many, (arc, k) = len(left) if phase.steady else 1, (left[0], len(left[0].nodes) // 2)
        if not phase.steady:
            phase = facing(phase, known, Place.of(phase.system, float(arc.times[k]), arc.q[k], arc.v[k], control))
        known = phase
        yield known, left[:many]
        left = left[many:]
    if begins:
        yield set_in(system, start, changes, control)
    elif changes:
        yield jumped(system, changes, control, stepper, known)


def _along(phase: Phase, arcs: Sequence[Arc], Phi: Array, lowest: bool) -> tuple[Array, Dip]:
    """Return what has become of a derivative after some arcs of a phase, and the lowest minimum of a condition."""
    system, nq, nv = phase.system, phase.system.nq, phase.system.nv
    Y = np.vstack([frame(system, arcs[0].q[0]) @ Phi[:nv], Phi[nv:]])
    try:
        Y, low = VariedPhase(kernels_of(phase)).along(arcs, Y, lowest)
    except NoStep as error:
        mend = f"Take a shorter motion: t_end={arcs[0].t:.6g}."
        raise InputError("motion", str(error), "a field that stays finite", mend) from None
    return np.vstack([np.linalg.lstsq(frame(system, arcs[-1].q[-1]), Y[:nq], rcond=None)[0], Y[nq:]]), low


def _found_late(state: State, changes: list[Change]) -> list[Change]:
    """Return the events before this step that had found no modes: they are found where it begins."""
    return [one for one in changes if BROKEN in state.memory and one.t <= state.t]


def _check_goes_on(step: Step, t: float) -> None:
    if step.ends or not step.solution.solved:
        given = f"a run that stops at t = {step.state.t:.9g} s: {step.ends or step.solution.message}"
        raise InputError("motion", given, "a motion that goes on", f"Write t_end={t:.6g}.")


def close_motion(
    system: System, state: State, period: float, *, stepper: EventDriven | None = None, control: Array | None = None
) -> tuple[State, Linearised]:  # fmt: skip
    """Correct a motion that nearly closes after a given period until it does, by Newton's method.

    Parameters
    ----------
    state : State
        Near a point of the orbit at which nothing that touches keeps it from being displaced.
    period : float
        s.

    Returns
    -------
    (State, Linearised)
        A point of the orbit, and one period from there: its `multipliers` are Floquet's.

    Raises
    ------
    InputError
        It does not close: by how much it misses; else as `fundamental_matrix`.
    """
    nv = system.nv

    def follow(at: State, length: float) -> Shot[Linearised]:
        """Return the motion over a period, and by how much it misses."""
        found = fundamental_matrix(system, at, at.t + length, stepper=stepper, control=control)
        way = np.linalg.lstsq(frame(system, at.q), found.state.q - at.q, rcond=None)[0]
        size = max(1.0, float(np.abs(at.q).max()), float(np.abs(at.v).max()))
        return Shot(np.concatenate((way, found.state.v - at.v)), found.Phi, size, found)

    def move(at: State, by: Array) -> State:
        """Return a state displaced."""
        return State(t=at.t, q=system.move(at.q, by[:nv], 1.0), v=at.v + by[nv:])

    mend = "Write another state, or period=.."
    at, _, shot = closed(follow, move, state, period, tol=CLOSED, mend=mend)
    return at, shot.motion
