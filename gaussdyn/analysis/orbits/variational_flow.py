"""Motion through events together with its derivative with respect to where it began: the fundamental matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ...arrays import Array, vector
from ...errors import InputError
from ...integrate.dop853 import NoStep, Piece, Slope, Tolerance, arrived, steps
from ...mechanics.lagrangian.system import LagrangianSystem
from ...mechanics.scene import Scene
from .saltation import saltation
from .symbolic_phases import HOLDS, Guard, Phases

SAMPLES = np.linspace(0.0, 1.0, 9)
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
        guard = _phase(phases, out, t_end, rtol)
        if guard is None:
            break
        _pass(phases, out, guard)
        if len(out.passages) >= MOST:
            given = f"{MOST} events up to t = {out.t:.9g} s"
            raise InputError(
                "motion", given, "finitely many events", "It chatters: end earlier, t_end=..., or write eps_n=0."
            )
        if stop_after is not None and len(out.passages) >= stop_after:
            break
    return out


def _phase(phases: Phases, out: Flow, t_end: float, rtol: float) -> Guard | None:
    """Go on to the end of the phase or of the time; return the guard that ended it."""
    phase, p, n = phases.phase(out.mode), phases.p, len(out.y)
    extended = phase.extended

    def field(t: float, z: Array) -> Array:
        """Return (y', Y')."""
        return np.array(extended(t, *z.tolist(), *p))

    z = np.concatenate([out.y, np.eye(n).ravel()])
    armed, now = _armed(phases, out)
    if now is not None:
        return now
    tolerance = Tolerance(max(rtol, 3e-14), rtol * np.concatenate([np.full(n, 1.0), np.full(n * n, 1e2)]))
    times, states, low, t, guard = [out.t], [out.y], (np.inf, 0.0, None), t_end, None
    try:
        for piece in steps(field, out.t, z, t_end, tolerance):
            found, low = _search(phases, phase.mode, piece, n, armed, low)
            if found is not None:
                t, guard = found
                t, z = _polished(phases, out.mode, field, piece, t, guard, n, tolerance)
                break
            z = piece.end
            times.append(piece.t_end)
            states.append(z[:n])
    except NoStep:
        given, mend = f"t = {times[-1]:.9g} s", f"Take a shorter motion: t_end={0.5 * times[-1]:.3g}."
        raise InputError("motion", given, "a field that stays finite", mend) from None
    if guard is not None:
        times.append(t)
        states.append(z[:n].copy())
    out.stretches.append(Stretch(out.mode, np.array(times), np.array(states), *low))
    out.t, out.y, out.Phi = t, z[:n].copy(), z[n:].reshape(n, n) @ out.Phi
    return guard


def _armed(phases: Phases, out: Flow) -> tuple[list[bool], Guard | None]:
    """Return which guards may end the phase, and the one that ends it at once."""
    guards, y = phases.phase(out.mode).guards, out.y.tolist()
    values = phases.values(out.mode, out.t, y)
    if min(values, default=1.0) > TIGHT:
        return [True] * len(values), None
    rates = phases.slopes(out.mode, out.t, y) @ np.concatenate([[1.0], phases.field(out.mode, out.t, y)])
    for guard, value, rate in zip(guards, values, rates, strict=True):
        falls = rate < -TIGHT if value >= -TIGHT else rate <= RISES or value < -10.0 * HOLDS
        if value <= TIGHT and falls and not _just(out, guard):
            return [], guard
    return [value > TIGHT or float(rate) > RISES for value, rate in zip(values, rates, strict=True)], None


def _just(out: Flow, guard: Guard) -> bool:
    """Whether a guard has ended the phase before at the same time."""
    return bool(out.passages) and out.passages[-1].t == out.t and out.passages[-1].kind == "impact" and (
        guard.kind == "touchdown")  # fmt: skip


def _search(
    phases: Phases, mode: str, piece: Piece, n: int, armed: list[bool], low: Any
) -> tuple[tuple[float, Guard] | None, Any]:
    """Return the first zero of a guard in a step, and the lowest minimum of a guard so far."""
    guards = phases.phase(mode).guards
    if not guards:
        return None, low
    times = piece.t + piece.h * SAMPLES
    states = [piece.at(t)[:n].tolist() for t in times.tolist()]
    values = np.array([phases.values(mode, t, y) for t, y in zip(times.tolist(), states, strict=True)])
    best: tuple[float, Guard] | None = None

    def value(t: float, j: int) -> float:
        """Return guard j on the dense output."""
        return phases.values(mode, t, piece.at(t)[:n].tolist())[j]

    def rate(t: float, j: int) -> float:
        """Return the rate of guard j on the dense output."""
        y = piece.at(t)[:n].tolist()
        return float(phases.slopes(mode, t, y)[j] @ np.concatenate([[1.0], phases.field(mode, t, y)]))

    for j, guard in enumerate(guards):
        g = values[:, j]
        begin = 0 if armed[j] else int(np.argmax(g > 0.0)) if (g > 0.0).any() else len(g)
        if begin == len(g):
            if g[-1] < -TIGHT and best is None:
                best = (piece.t, guard)
            continue
        armed[j] = True
        at, g = _risen(value, times[begin:], g[begin:], j)
        t = _fall(value, at, g, j)
        if t is None:
            t, low = _dip(value, rate, at, g, j, guard, low)
        if np.isfinite(t) and (best is None or t < best[0]):
            best = (t, guard)
    return best, low


def _fall(value: Any, at: Array, g: Array, j: int) -> float | None:
    """Return where the samples of a guard first come down to zero, if they do."""
    below = np.flatnonzero(g <= 0.0)
    if not len(below):
        return None
    k = int(below[0])
    if k == 0 or g[k] == 0.0:
        return float(at[k])
    return float(brentq(value, at[k - 1], at[k], args=(j,), xtol=1e-15, rtol=1e-15))


def _risen(value: Any, at: Array, g: Array, j: int) -> tuple[Array, Array]:
    """Put the first sample of a guard that rises from zero to where it is positive."""
    if g[0] > 0.0:
        return at, g
    for k in range(1, 40):
        t = float(at[0] + (at[1] - at[0]) * 0.5**k)
        first = value(t, j)
        if first > 0.0:
            return np.array([t, *at[1:]]), np.array([first, *g[1:]])
    return at, g


def _dip(value: Any, rate: Any, at: Array, g: Array, j: int, guard: Guard, low: Any) -> tuple[float, Any]:
    """Look between samples for a minimum; return where the guard falls below zero there (inf if not)."""
    last = len(g) - 1
    for k in range(last + 1):
        if g[k] > g[max(k - 1, 0)] or g[k] > g[min(k + 1, last)]:
            continue
        a, b = float(at[max(k - 1, 0)]), float(at[min(k + 1, last)])
        a -= 1e-3 * (b - a) if k == 0 else 0.0  # a minimum just where two steps meet belongs to the second
        if not (rate(a, j) <= 0.0 <= rate(b, j)):
            continue
        t = float(brentq(rate, a, b, args=(j,), xtol=1e-15, rtol=1e-15))
        least = float(value(t, j))
        if least < 0.0:
            return float(brentq(value, a, t, args=(j,), xtol=1e-15, rtol=1e-15)), low
        if least < low[0]:
            low = (least, t, guard)
    return np.inf, low


def _polished(
    phases: Phases, mode: str, field: Slope, piece: Piece, t: float, guard: Guard, n: int, tolerance: Tolerance
) -> tuple[float, Array]:
    """Integrate again from the beginning of the step to the event, and correct by Newton's method."""
    j, z = phases.phase(mode).guards.index(guard), piece.y
    if t - piece.t > 1e-13 * max(1.0, abs(t)):
        z = arrived(field, piece.t, z, t, tolerance._replace(atol=1e-2 * tolerance.atol))
    for _ in range(3):
        y = z[:n].tolist()
        value = phases.values(mode, t, y)[j]
        f = field(t, z)
        rate = float(phases.slopes(mode, t, y)[j] @ np.concatenate([[1.0], f[:n]]))
        if abs(rate) < 1e-8 or abs(value) > 1e-6 or abs(value / rate) < 1e-16:
            break
        t, z = t - value / rate, z - f * (value / rate)
    return t, z


def _pass(phases: Phases, out: Flow, guard: Guard) -> None:
    """Change the mode at an event, with the jump of the state and of its derivatives."""
    t, y, mode, k = out.t, out.y, out.mode, guard.k
    id_ = phases.derived.model.elements[k].id
    j = phases.phase(mode).guards.index(guard)
    slope = phases.slopes(mode, t, y.tolist())[j]
    R, R_t, after_y = None, None, y
    if guard.kind == "stop":
        after = phases.settled(mode, k, t, y.tolist())
        kind = "stop" if after[k] == "s" else "crossing" if after[k] != mode[k] else "touch"
    elif guard.kind == "slip":
        kind, after = "release", mode[:k] + ("+" if guard.sign > 0 else "-") + mode[k + 1 :]
    elif guard.kind == "lift_off":
        kind, after = "lift_off", mode[:k] + "o" + mode[k + 1 :]
    else:
        after_y, D = phases.jump(mode, k, t, y.tolist())
        R_t, R = D[:, 0], D[:, 1:]
        kind, after = _landed(phases, mode, k, t, after_y)
    before_f, after_f = phases.field(mode, t, y.tolist()), phases.field(after, t, after_y.tolist())
    S = saltation(before_f, after_f, float(slope[0]), slope[1:], R, R_t)
    out.passages.append(Passage(t, kind, id_, y.copy(), S, mode, after))
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
