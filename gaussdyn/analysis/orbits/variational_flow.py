"""Motion through events together with its derivative with respect to where it began: the fundamental matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array, vector
from ...errors import InputError
from ...integrate.dop853 import NoStep
from ...integrate.event_driven.event_location import Crossing
from ...integrate.event_driven.guards import Guard
from ...integrate.saltation import saltation
from ...integrate.variations import varied
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene
from .symbolic_phases import HOLDS, MovingPhase, Phases

TIGHT = 1e-9  # a guard this close to zero when a phase begins has just been used
RISES = 1e-12  # rate above which it leaves zero at once
MOST = 400  # events in one flow


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
    before, after : str
        Modes.
    """

    t: float
    kind: str
    id: str
    y: Array
    S: Array
    before: str
    after: str


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A phase of a motion: its mode, ends, states and lowest guard.

    Attributes
    ----------
    t : Array, shape (m,)
    y : Array, shape (m, 2 n)
    lowest : float
        Least value of a guard inside, where it has a minimum that is no end of the phase; inf if it has none.
    lowest_at : float
    lowest_of : Guard or None
    """

    mode: str
    t: Array
    y: Array
    lowest: float
    lowest_at: float
    lowest_of: Guard | None


@dataclass(slots=True, eq=False)
class Flow:
    """What a motion from (t, y) came to.

    Attributes
    ----------
    t, y, mode : float, Array, str
        At the end.
    Phi : Array, shape (2 n, 2 n)
        dy(end) / dy(begin) at fixed times.
    passages : list of Passage
    stretches : list of Stretch
    """

    t: float
    y: Array
    mode: str
    Phi: Array
    passages: list[Passage] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def signature(self) -> tuple[str, ...]:
        """Kinds of the events, in order."""
        return tuple(one.kind for one in self.passages)


def flow(
    phases: Phases | LagrangianSystem | Scene, t: float, y: Array, t_end: float, *, rtol: float = 1e-12,
    mode: str | None = None, stop_after: int | None = None,
) -> Flow:  # fmt: skip
    """Follow a motion from (t, y) to t_end through all its events.

    Parameters
    ----------
    phases : Phases, LagrangianSystem, or Scene with one
    t, t_end : float
        s.
    y : array_like, shape (2 n,)
        (q, v) at t.
    rtol : float
        Of the integrator.
    mode : str, optional
        In which it begins; found from y if not given.
    stop_after : int, optional
        Stop after so many events.

    Raises
    ------
    InputError
        Another kind of system, a state of another length; more than `MOST` events: chatter.
    """
    phases = Phases.of(phases)
    y = vector("y", y, 2 * phases.n)
    out = Flow(t, y, mode or phases.mode_at(t, y.tolist()), np.eye(len(y)))
    while out.t < t_end:
        found = _phase(phases, out, t_end, rtol)
        if found is None:
            break
        _pass(phases, out, found)
        if len(out.passages) >= MOST:
            given = f"{MOST} events up to t = {out.t:.9g} s"
            raise InputError(
                "motion", given, "finitely many events", "It chatters: end earlier, t_end=..., or write eps_n=0."
            )
        if stop_after is not None and len(out.passages) >= stop_after:
            break
    return out


def _phase(phases: Phases, out: Flow, t_end: float, rtol: float) -> Crossing | None:
    """Go on to the end of the phase or of the time; return what ended it."""
    phase = phases.moving(out.mode)
    if (now := _at_once(phase, out)) is not None:
        return now
    try:
        on = varied(phase, out.t, out.y, t_end, rtol)
    except NoStep as error:
        given, mend = str(error), f"Take a shorter motion: t_end={0.5 * (out.t + t_end):.3g}."
        raise InputError("motion", given, "a field that stays finite", mend) from None
    out.stretches.append(Stretch(out.mode, on.times, on.states, *on.low))
    out.t, out.y, out.Phi = on.t, on.y, on.Y @ out.Phi
    return on.found


def _at_once(phase: MovingPhase, out: Flow) -> Crossing | None:
    """Return the condition that ends a phase where it begins."""
    seen = phase.look(out.t, out.y)
    for k, (guard, value, rate) in enumerate(zip(phase.guards, seen.g, seen.rate, strict=True)):
        falls = rate < -TIGHT if value >= -TIGHT else rate <= RISES or value < -10.0 * HOLDS
        if value <= TIGHT and falls and not _just(out, guard):
            return Crossing(t=out.t, guard=guard, k=k)
    return None


def _just(out: Flow, guard: Guard) -> bool:
    """Whether a guard has ended the phase before at the same time."""
    return bool(out.passages) and out.passages[-1].t == out.t and out.passages[-1].kind == "impact" and (
        guard.kind == "touchdown")  # fmt: skip


def _pass(phases: Phases, out: Flow, found: Crossing) -> None:
    """Change the mode at an event, with the jump of the state and of its derivatives."""
    t, y, mode, guard = out.t, out.y, out.mode, found.guard
    k, slope = guard.k, phases.slopes(mode, t, y.tolist())[found.k]
    R, R_t, after_y = None, None, y
    if guard.kind == "stop":
        after = phases.settled(mode, k, t, y.tolist())
        kind = "stop" if after[k] == "s" else "crossing" if after[k] != mode[k] else "touch"
    elif guard.kind == "slip":
        kind, after = "release", mode[:k] + ("+" if guard.ahead[0] > 0.0 else "-") + mode[k + 1 :]
    elif guard.kind == "lift_off":
        kind, after = "lift_off", mode[:k] + "o" + mode[k + 1 :]
    else:
        after_y, D = phases.jump(mode, k, t, y.tolist())
        R_t, R = D[:, 0], D[:, 1:]
        kind, after = _landed(phases, mode, k, t, after_y)
    before_f, after_f = phases.field(mode, t, y.tolist()), phases.field(after, t, after_y.tolist())
    S = saltation(before_f, after_f, float(slope[0]), slope[1:], R, R_t)
    out.passages.append(Passage(t, kind, guard.id, y.copy(), S, mode, after))
    out.y, out.mode, out.Phi = after_y, after, S @ out.Phi


def _landed(phases: Phases, mode: str, k: int, t: float, y: Array) -> tuple[str, str]:
    """Return what follows an impact: it flies off again, or stays."""
    row = phases.system.rows(t, y[: phases.n], y[phases.n :])[k]
    if float(row.rate[0]) > TIGHT:
        return "impact", mode
    letter = "c" if row.size == 1 else "s" if abs(float(row.rate[-1])) <= TIGHT else "+" if row.rate[-1] > 0 else "-"
    after = mode[:k] + letter + mode[k + 1 :]
    after = phases.settled(after, k, t, y.tolist()) if letter == "s" else after
    values = zip(phases.phase(after).guards, phases.values(after, t, y.tolist()), strict=True)
    leaves = any(g.kind == "lift_off" and g.k == k and x < 0.0 for g, x in values)
    return ("impact", mode) if leaves else ("landing", after)
