"""The derivative of an event-driven motion with respect to where it begins, for systems of every kind.

A run says which phases it passes and when; their variational equations are integrated by kernels
(`event_driven.compiled.phase_variations`), and jump at its events by `saltation`. Displacements are those of
velocities: q is displaced along `System.move`, so that a body in space has six of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._show import brief
from ..arrays import Array
from ..errors import InputError
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from .contact_modes import OPEN, Modes, rough
from .event_driven.compiled.phase_arrays import CompiledPhase
from .event_driven.compiled.phase_variations import AT, SHIFT, WEIGHTS, VariedPhase
from .event_driven.integrator import EventDriven
from .event_driven.smooth_phase import Phase
from .impact.impact import impact
from .mode_changes import Change
from .mode_memory import BROKEN, all_remembered
from .saltation import saltation
from .shooting import Shot, closed
from .stepper import Step
from .variations import varied

RTOL = 1e-11
NOTED = {"user", "undecided"}  # kinds of events at which nothing changes
GUARDS = {
    "impact": "touchdown", "touchdown": "touchdown", "lift_off": "lift_off", "stick": "stop", "reversal": "stop",
    "slip": "slip", "turn": "turn", "roll": "roll", "stop_roll": "stop_roll", "handed_over": "end", "taken_over": "end",
}  # fmt: skip
ALIKE = 1e-6  # relative: conditions that vanish together, as those of the corners of a face, have one surface
CONTINUOUS = 1e-8  # of the largest rate: where friction sets in fields that differ by less are the same
CLOSED = 1e-10  # of the largest coordinate or velocity, at least 1: a motion that misses by less closes
BESIDE = 1e-9, 1e-7, 1e-5  # s: so far from a handover the other feature is looked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linearised:
    """A motion and its derivative.

    Attributes
    ----------
    state : State
        At the end.
    Phi : Array, shape (2 nv, 2 nv)
        d(q, v)(end) / d(q, v)(begin) at fixed times, displacements of q as velocities measure them.
    changes : tuple of Change
        The events on the way.
    """

    state: State
    Phi: Array
    changes: tuple[Change, ...]

    __repr__ = brief

    @property
    def multipliers(self) -> Array:
        """Eigenvalues of Phi, by modulus, falling: Floquet's if the motion closes."""
        m = np.linalg.eigvals(self.Phi).astype(complex)
        return m[np.argsort(-np.abs(m), kind="stable")]


def fundamental_matrix(
    system: System, state: State, t_end: float, *, stepper: EventDriven | None = None, control: Array | None = None
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

    Returns
    -------
    Linearised

    Raises
    ------
    InputError
        Several events at one time, a grazing touch, friction that jumps as it sets in, or sets in at rest,
        infinitely many impacts, a run that stops.
    """
    stepper, passed = (stepper or EventDriven()).for_run(), list[Change]()
    Phi = np.eye(2 * system.nv)
    while state.t < t_end:
        step = stepper.advance(system, state, t_end, control=control)
        _check_goes_on(step, state.t)
        Phi, changes = _over_step(system, state, step, Phi, control=control, stepper=stepper)
        passed += changes
        state = step.state
    return Linearised(state=state, Phi=Phi, changes=tuple(passed))


def _over_step(
    system: System, state: State, step: Step, Phi: Array, *, control: Array | None, stepper: EventDriven
) -> tuple[Array, list[Change]]:
    """Return the derivative at the end of a step, of that at its beginning, and the events of the step."""
    changes = [one for one in step.changes or () if one.kind not in NOTED]
    start = State(t=step.arcs[0].t, q=step.arcs[0].q[0], v=step.arcs[0].v[0]) if step.arcs else state
    begins = bool(changes and step.arcs) and _sets_in(system, start, changes)
    early = [] if begins else _found_late(state, changes)
    if early:
        Phi = _jumped(system, early, control, stepper) @ Phi
    changes = changes[len(early) :]
    if changes and BROKEN in step.state.memory:
        given = f"{changes[0].kind} of {changes[0].id} at {step.state.t:.9g} s, whose modes were found later"
        raise InputError("motion", given, "events that modes follow", f"Write t_end={step.state.t:.6g}.")
    Phi = _along_arcs(system, step, changes, control, Phi)
    if begins:
        _set_in(system, start, changes, control)
    elif changes:
        Phi = _jumped(system, changes, control, stepper) @ Phi
    return Phi, early + changes


def _found_late(state: State, changes: list[Change]) -> list[Change]:
    """Return the events before this step that had found no modes: they are found where it begins."""
    return [one for one in changes if BROKEN in state.memory and one.t <= state.t]


def _along_arcs(system: System, step: Step, changes: list[Change], control: Array | None, Phi: Array) -> Array:
    """Return the derivative at the end of the smooth motion of a step, of that at its beginning."""
    modes = changes[0].modes_before if changes else None
    for arc in step.arcs:
        at = State(t=arc.t, q=arc.q[0], v=arc.v[0])
        own = all_remembered(step.state.memory) if modes is None else modes
        Phi = _along(_phase(system, at, own, control), at, arc.t_end, Phi)
    return Phi


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
        way = np.linalg.lstsq(_frame(system, at.q), found.state.q - at.q, rcond=None)[0]
        size = max(1.0, float(np.abs(at.q).max()), float(np.abs(at.v).max()))
        return Shot(np.concatenate((way, found.state.v - at.v)), found.Phi, size, found)

    def move(at: State, by: Array) -> State:
        """Return a state displaced."""
        return State(t=at.t, q=system.move(at.q, by[:nv], 1.0), v=at.v + by[nv:])

    mend = "Write another state, or period=.."
    at, _, shot = closed(follow, move, state, period, tol=CLOSED, mend=mend)
    return at, shot.motion


def _sets_in(system: System, before: State, changes: Sequence[Change]) -> bool:
    """Whether what changes is that friction sets in where there was none of before, and all begins to slip then."""
    rows = system.near(before.t, before.q, before.v, 0.0).rows(before.t, before.q, before.v)
    smooth = {row.id for row in rows if row.frictional and not rough(row)}
    ones = [one for one in changes if one.id in smooth and one.kind in ("slip", "stick", "roll")]
    for one in ones:
        if one.kind != "slip" or len(ones) < len(changes):
            how = "at rest" if one.kind == "stick" else "beside another event"
            given = f"friction of {one.id} that sets in at {one.t:.9g} s, {how}"
            mend = f"Write t_end={one.t:.6g} to end there, or begin later."
            raise InputError("motion", given, "friction that sets in as something slides, alone", mend)
    return bool(ones)


def _set_in(system: System, start: State, changes: Sequence[Change], control: Array | None) -> None:
    """Check that nothing jumps where friction sets in: the fields before and after agree there, so that S = 1.

    The phase before is that of its `start`: at the event there is friction, and what does not slip would stick.
    """
    first, last = changes[0], changes[-1]
    f = _rates(_phase(system, start, first.modes_before, control), first.before)
    off = np.abs(_rates(_phase(system, last.after, last.modes_after, control), last.after) - f).max()
    if off > CONTINUOUS * np.abs(f).max():
        given = f"friction of {first.id} that jumps as it sets in at {first.t:.9g} s"
        mend = f"Write t_end={first.t:.6g} to end there, or begin later."
        raise InputError("motion", given, "friction that begins at zero", mend)


def _phase(system: System, at: State, modes: Modes, control: Array | None) -> Phase:
    """Return the phase of modes, turned as slips are at a state."""
    near, rows = _near(system, at, modes)
    phase = Phase(system=near, control=control, modes={row.id: modes.get(row.id, OPEN) for row in rows}, rows=rows)
    return phase.turned(phase.instant(at.t, at.q, at.v))


def _near(system: System, at: State, modes: Modes) -> tuple[System, tuple[Row, ...]]:
    """Return the system with the contacts that may act at a state, and all rows: those that are closed among them.

    Where a contact is handed over two features meet, and rounding says which of them is there: a little earlier, or
    later, it is the other one.
    """
    closed = {key for key, mode in modes.items() if mode.closed}
    for h in (0.0, *(sign * x for x in BESIDE for sign in (1.0, -1.0))):
        near = system.near(at.t, system.move(at.q, at.v, h), at.v, 0.0)
        rows = tuple(near.rows(at.t, at.q, at.v))
        if closed <= {row.id for row in rows}:
            return near, rows
    lost = ", ".join(sorted(closed - {row.id for row in rows}))
    given = f"contacts that are not there at {at.t:.9g} s: {lost}"
    raise InputError("motion", given, "contacts with features", f"Write t_end={at.t:.6g} to end there, or begin later.")


def _kernels(phase: Phase) -> CompiledPhase:
    return CompiledPhase.of(phase, EventDriven().accuracy)


def _along(phase: Phase, start: State, t_end: float, Phi: Array) -> Array:
    """Go on along a phase."""
    system, nv = phase.system, phase.system.nv
    E = _frame(system, start.q)
    Y = np.vstack([E @ Phi[:nv], Phi[nv:]])
    moving, y = VariedPhase(_kernels(phase)), np.concatenate((start.q, start.v))
    on = varied(moving, start.t, y, t_end, RTOL, Y, length=t_end - start.t)
    q, dq, dv = on.y[: system.nq], on.Y[: system.nq], on.Y[system.nq :]
    return np.vstack([np.linalg.lstsq(_frame(system, q), dq, rcond=None)[0], dv])


def _frame(system: System, q: Array) -> Array:
    """Return dq of every velocity, shape (nq, nv)."""
    return np.column_stack([system.qdot(q, e) for e in np.eye(system.nv)])


def _rates(phase: Phase, at: State) -> Array:
    """Return the rates of displacements, (v, a)."""
    return np.concatenate((at.v, phase.instant(at.t, at.q, at.v).a))


def _derivative(system: System, at: State, f: Callable[[State], Array]) -> tuple[Array, Array]:
    """Return df/dt and df/d(q, v) by four displaced states for each."""
    nv, size = system.nv, max(1.0, float(np.abs(at.v).max()))
    columns = []
    for k in range(-1, 2 * nv):
        h, e = SHIFT * size, np.zeros(2 * nv)
        if k >= 0:
            e[k] = 1.0
        total: Array = np.zeros(1)
        for far, weight in zip(AT, WEIGHTS, strict=True):
            x = far * h
            there = State(t=at.t + x if k < 0 else at.t, q=system.move(at.q, x * e[:nv], 1.0), v=at.v + x * e[nv:])
            total = total + weight / h * f(there)
        columns.append(total)
    return columns[0], np.array(columns[1:]).T


def _jumped(system: System, changes: Sequence[Change], control: Array | None, stepper: EventDriven) -> Array:
    """Return the saltation matrix of the changes at one time."""
    first, last = changes[0], changes[-1]
    ids = {one.id for one in changes if one.kind in ("impact", "touchdown")}
    if any(one.t != first.t for one in changes) or any(one.kind not in GUARDS for one in changes):
        what = ", ".join(f"{one.kind} of {one.id} at {one.t:.9g} s" for one in changes)
        raise InputError("motion", what, "events that are apart", "Begin, or end, elsewhere: t_end=..")
    before = _phase(system, first.before, first.modes_before, control)
    after = _phase(system, last.after, last.modes_after, control)
    causes = [one for one in changes if one.id in ids] or changes
    f, R, R_t = _rates(before, first.before), None, None
    phi_t, phi_y = _surface(before, first.before, causes, f)
    if any(one.kind == "impact" for one in changes):
        closed = ids | {key for key, mode in first.modes_before.items() if mode.closed}
        near, struck = before.system, partial(_struck, before.system, closed, stepper)
        dt, dy = _derivative(near, first.before, struck)
        nv = near.nv
        R, R_t = np.vstack([np.eye(nv, 2 * nv), dy]), np.concatenate((np.zeros(nv), dt))
    return saltation(f, _rates(after, last.after), phi_t, phi_y, R, R_t)


def _struck(system: System, closed: set[str], stepper: EventDriven, at: State) -> Array:
    """Return the velocity after an impact."""
    v: Array = impact(system, at, law=stepper.impact, closed=closed).v
    return v


def _surface(phase: Phase, at: State, causes: Sequence[Change], f: Array) -> tuple[float, Array]:
    """Return the derivatives of the condition that ends a phase, over its rate; of all causes they are the same."""
    kernels = _kernels(phase)
    wanted = {(one.id, GUARDS[one.kind]) for one in causes}
    numbers = [k for k, guard in enumerate(phase.guards) if (guard.id, guard.kind) in wanted]

    def conditions(there: State) -> Array:
        """Return them at a state."""
        y = np.concatenate((there.q, there.v, np.zeros(kernels.size - kernels.states)))
        return kernels.look(there.t, y).g[numbers]

    if not numbers:
        named = sorted({guard.id for guard in phase.guards})
        raise InputError("motion", f"an event of {sorted(wanted)}", f"one of {named}", "Write t_end=.. before it.")
    dt, dy = _derivative(phase.system, at, conditions)
    rate = dt + dy @ f
    if (np.abs(rate) <= 1e-9 * (np.abs(dt) + np.abs(dy) @ np.abs(f))).any():
        raise InputError(
            "motion", f"{sorted(wanted)} that grazes", "an event that is crossed", "Write State(q=q + 1e-6, ..)."
        )
    found = np.column_stack((dt, dy)) / rate[:, None]
    if np.abs(found - found[0]).max() > ALIKE * np.abs(found).max():
        given = f"{sorted(wanted)} at one time"
        raise InputError("motion", given, "events that are apart", "Write State(q=q + 1e-6, ..).")
    return float(found[0, 0]), found[0, 1:]
