"""What an event makes of the derivative of a motion: the modes beside it, and its saltation matrix by differences.

Displacements are those of velocities: q is displaced along `System.move`, so that a body in space has six of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from .contact_modes import OPEN, Modes, parts_of, rough
from .event_driven.compiled.phase_arrays import CompiledPhase
from .event_driven.compiled.phase_variations import AT, OF_BOTH, SHIFT, STILL
from .event_driven.integrator import EventDriven
from .event_driven.phase_state import Place
from .event_driven.smooth_phase import Phase
from .impact.impact import impact
from .impact.problem import one_sided
from .mode_changes import Change
from .saltation import saltation

GUARDS = {
    "impact": "touchdown", "touchdown": "touchdown", "lift_off": "lift_off", "stick": "stop", "reversal": "stop",
    "slip": "slip", "turn": "turn", "roll": "roll", "stop_roll": "stop_roll", "handed_over": "end", "taken_over": "end",
}  # fmt: skip
ALIKE = 1e-6  # relative: conditions that vanish together, as those of the corners of a face, have one surface
CONTINUOUS = 1e-8  # of the largest rate: where friction sets in fields that differ by less are the same
ACCURACY = EventDriven().accuracy
NEARBY = 3e-6  # m, rad, s: farther than that shapes may touch elsewhere, as corners do that pass the end of an edge
BESIDE = 1e-9, 1e-7, 1e-5  # s: so far from a handover the other feature is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """The events at one time.

    Attributes
    ----------
    changes : tuple of Change
    S : Array, shape (2 nv, 2 nv)
        Saltation matrix.
    before, after : Phase
    """

    changes: tuple[Change, ...]
    S: Array
    before: Phase
    after: Phase

    @property
    def t(self) -> float:
        """When, s."""
        return self.changes[0].t


def sets_in(system: System, before: State, changes: Sequence[Change]) -> bool:
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


def set_in(system: System, start: State, changes: Sequence[Change], control: Array | None) -> Passage:
    """Return friction that sets in, where nothing jumps: the fields before and after agree there, so that S = 1.

    The phase before is that of its `start`: at the event there is friction, and what does not slip would stick.
    """
    first, last = changes[0], changes[-1]
    before, after = (
        phase_of(system, at, modes, control)
        for at, modes in ((start, first.modes_before), (last.after, last.modes_after))
    )
    f = rates(before, first.before)
    off = np.abs(rates(after, last.after) - f).max()
    if off > CONTINUOUS * np.abs(f).max():
        given = f"friction of {first.id} that jumps as it sets in at {first.t:.9g} s"
        mend = f"Write t_end={first.t:.6g} to end there, or begin later."
        raise InputError("motion", given, "friction that begins at zero", mend)
    return Passage(tuple(changes), np.eye(len(f)), before, after)


def phase_of(
    system: System, at: State, modes: Modes, control: Array | None, known: Phase | None = None
) -> Phase:  # fmt: skip
    """Return the phase of modes, turned as slips are at a state; the one that is known, if it is the same."""
    near, rows = _near(system, at, modes)
    if known is not None and known.steady and known.system is near and known.modes == modes:
        return known
    phase = Phase(system=near, control=control, modes={row.id: modes.get(row.id, OPEN) for row in rows}, rows=rows)
    return phase.turned(phase.instant(at.t, at.q, at.v))


def facing(phase: Phase, last: Phase | None, at: Place | None = None) -> Phase:
    """Return the phase with its directions of slip and rolling in space as they are at a place in its midst.

    Those that a run remembers are of where it has ended: a slip may have turned by more than a right angle before, and
    just before it stops rounding turns it. Where it hardly moves it goes on as in the `last` phase.
    """
    modes, before = dict(phase.modes), {} if last is None else last.modes
    rates = {row.id: row for row in at.rows} if at is not None else {}
    for key, mode in phase.modes.items():
        old, row = before.get(key, OPEN), rates.get(key)
        ways = [
            was if len(was) == len(new) == 2 else new for was, new in ((old.slip, mode.slip), (old.roll, mode.roll))
        ]
        if row is not None:
            ways = [_way(row.rate[where], way) for where, way in zip(parts_of(row), ways, strict=True)]
        modes[key] = mode.but(slip=ways[0], roll=ways[1])
    return phase.but(modes, phase.rows)


def _way(u: Array, known: tuple[float, ...]) -> tuple[float, ...]:
    """Return the direction of a slip u in space, if it moves; else the one that is known."""
    speed = float(np.linalg.norm(u))
    return known if len(known) < 2 or speed <= STILL else tuple((u / speed).tolist())


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


def kernels_of(phase: Phase) -> CompiledPhase:
    """Return a phase for the kernels."""
    return CompiledPhase.of(phase, ACCURACY)


def frame(system: System, q: Array) -> Array:
    """Return dq of every velocity, shape (nq, nv)."""
    return np.column_stack([system.qdot(q, e) for e in np.eye(system.nv)])


def rates(phase: Phase, at: State) -> Array:
    """Return the rates of displacements, (v, a)."""
    return np.concatenate((at.v, phase.instant(at.t, at.q, at.v).a))


def _derivative(system: System, at: State, f: Callable[[State], Array]) -> tuple[Array, Array]:
    """Return df/dt and df/d(q, v) by four displaced states for each."""
    nv, size = system.nv, max(1.0, float(np.abs(at.v).max()))
    columns = []
    for k in range(-1, 2 * nv):
        h, e = SHIFT * size if k >= nv else NEARBY, np.zeros(2 * nv)
        if k >= 0:
            e[k] = 1.0
        total: Array = np.zeros(1)
        for far, weight in zip(AT, OF_BOTH, strict=True):
            x = far * h
            there = State(t=at.t + x if k < 0 else at.t, q=system.move(at.q, x * e[:nv], 1.0), v=at.v + x * e[nv:])
            total = total + weight / h * f(there)
        columns.append(total)
    return columns[0], np.array(columns[1:]).T


def jumped(
    system: System, changes: Sequence[Change], control: Array | None, stepper: EventDriven, known: Phase | None
) -> Passage:  # fmt: skip
    """Return the changes at one time with their saltation matrix; `known` may be the phase before."""
    first, last = changes[0], changes[-1]
    ids = {one.id for one in changes if one.kind in ("impact", "touchdown")}
    if any(one.t != first.t for one in changes) or any(one.kind not in GUARDS for one in changes):
        what = ", ".join(f"{one.kind} of {one.id} at {one.t:.9g} s" for one in changes)
        raise InputError("motion", what, "events that are apart", "Begin, or end, elsewhere: t_end=..")
    before = phase_of(system, first.before, first.modes_before, control, known)
    before = before if before.steady else facing(before, known)
    after = phase_of(system, last.after, last.modes_after, control)
    causes = [one for one in changes if one.id in ids] or changes
    f, R, R_t = rates(before, first.before), None, None
    phi_t, phi_y = _surface(before, first.before, causes, f)
    if any(one.kind == "impact" for one in changes):
        held = {row.id for row in before.rows if one_sided(row) and first.modes_before.get(row.id, OPEN).closed}
        near, struck = before.system, partial(_struck, before.system, (ids, held - ids), stepper)
        dt, dy = _derivative(near, first.before, struck)
        nv = near.nv
        R, R_t = np.vstack([np.eye(nv, 2 * nv), dy]), np.concatenate((np.zeros(nv), dt))
    S = saltation(f, rates(after, last.after), phi_t, phi_y, R, R_t)
    return Passage(tuple(changes), S, before, after)


def _struck(system: System, closed: tuple[set[str], set[str]], stepper: EventDriven, at: State) -> Array:
    """Return the velocity after an impact of some contacts, while others are held."""
    ids, held = closed
    v: Array = impact(system, _kept(system, held, at), law=stepper.impact, closed=ids | held).v
    return v


def _kept(system: System, held: set[str], at: State) -> State:
    """Return a displaced state with what is held brought back: displacements of motions keep it.

    An impact has a kink there: what approaches takes part in it with its restitution, what separates does not.
    """
    for _ in range(2):
        rows, back = _held(system, held, at)
        at = State(t=at.t, q=system.move(at.q, -back @ [row.gap for row in rows], 1.0), v=at.v)
    rows, back = _held(system, held, at)
    return State(t=at.t, q=at.q, v=at.v - back @ [row.rate[0] for row in rows])


def _held(system: System, held: set[str], at: State) -> tuple[list[Row], Array]:
    """Return the rows that are held, and the shortest displacement for each unit of their gaps, shape (nv, k)."""
    rows = [row for row in system.rows(at.t, at.q, at.v) if row.id in held]
    back: Array = np.linalg.pinv(np.reshape([row.J[0] for row in rows], (-1, system.nv)))
    return rows, back


def _surface(phase: Phase, at: State, causes: Sequence[Change], f: Array) -> tuple[float, Array]:
    """Return the derivatives of the condition that ends a phase, over its rate; of all causes they are the same."""
    kernels = kernels_of(phase)
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
