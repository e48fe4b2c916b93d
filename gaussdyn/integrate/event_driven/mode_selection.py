"""Which modes a phase has: a guess that is checked, else the full complementarity problem of `contact`.

A guess whose accelerations and reactions obey every inequality of its modes solves the complementarity problem.
Contacts at rest stick where they can (stick priority); where no guess holds the engine of the acceleration level is
asked, at the event and, where reactions vanish there, a little later along the old phase.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...contact.resolve import NO_MOTION, reactions, resolve
from ...contact.snapshot import Activation, snapshot
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..contact_modes import CLOSED, OPEN, Mode, Modes, parts_of, rough
from ..impact.problem import one_sided
from .guards import ONSET
from .phase_state import HOLDS, Instant, Place
from .rank_watch import jam_of
from .run_memory import Setting
from .slip_onset import aligned, speeds_up
from .smooth_phase import Phase

Sizes = tuple[float, float]
NONE: Sizes = (0.0, 0.0)
PULL = 1e-10  # of the largest force: a reaction below zero that is no rounding
TURNED_LITTLE = 0.9999  # cosine between the way of a slip now and a little later


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """The phase that begins at a state, or why there is none.

    Attributes
    ----------
    phase : Phase or None
    now : Instant or None
        Its beginning.
    failure : Solution or None
        Of the acceleration problem: NO_SOLUTION or INFEASIBLE with a certificate, or UNDECIDED.
    """

    phase: Phase | None
    now: Instant | None = None
    failure: Solution | None = None


def first_modes(rows: tuple[Row, ...], known: Modes, activation: Activation) -> dict[str, Mode]:
    """Return a guess of all modes: closed where nothing separates, sticking where nothing slips.

    Rows in `known` keep their direction of slip where they are too slow to have one of their own.
    """
    return {row.id: _guess(row, known.get(row.id), activation) for row in rows}


def _guess(row: Row, known: Mode | None, activation: Activation) -> Mode:
    if not (row.bilateral or row.kind == "dry" or closed(row, known, activation)):
        return OPEN
    mode = known if known is not None and known.closed else CLOSED
    return _moving(row, mode, activation)


def _moving(row: Row, mode: Mode, activation: Activation) -> Mode:
    """Return a closed mode with the directions in which a row slips and rolls."""
    if not rough(row):
        return CLOSED
    slip, roll = parts_of(row)
    slips, rolls = (
        _direction(row.rate[slip], mode.slip, activation),
        _direction(row.rate[roll], mode.roll, activation),
    )
    return mode if slips == mode.slip and rolls == mode.roll else mode.but(slip=slips, roll=rolls)


def closed(row: Row, known: Mode | None, activation: Activation) -> bool:
    """Whether a one-sided row may push: it touches and does not separate."""
    if row.level == "acceleration":
        return known is None or known.closed
    touches = activation.touches(row) if row.level == "position" else row.gap <= activation.speed
    return touches and (row.level == "velocity" or float(row.rate[0]) <= activation.speed)


def _direction(u: Array, known: tuple[float, ...], activation: Activation) -> tuple[float, ...]:
    speed = float(np.sqrt(u @ u))
    if speed <= activation.speed:
        return known
    return tuple((u / speed).tolist())


def choose(
    setting: Setting, state: State, place: Place, guesses: list[Modes], activation: Activation,
    later: Callable[[], State] | None = None, sizes: Sizes = NONE,
) -> Chosen:  # fmt: skip
    """Return the phase that begins at a state.

    Parameters
    ----------
    place : Place
        What the system says there.
    guesses : list of mappings of str to Mode
        Tried in this order before the complementarity problem is solved.
    later : callable, optional
        Returns a state a little later along the old phase, where what ended it is violated.
    sizes : (float, float)
        What forces (N) and accelerations (m/s^2) are measured by where all of them vanish together.
    """
    here, lawful, failure = list[Chosen](), list[Modes](), None
    for modes in guesses:
        phase = aligned(setting.phase(modes, place.rows), place, HOLDS)
        now = holds(phase, place, activation, sizes=sizes)
        if now and (later is None or _goes_on(phase, now, later, activation, sizes)):
            return _released(setting, place, Chosen(phase=phase, now=now), activation, sizes)
        here += [Chosen(phase=phase, now=now)] if now else []
    for at in (later(), state) if later is not None else (state,):
        read, said = modes_of_laws(setting.system, at, setting.control, activation, guesses[0])
        if read is None:
            failure = said if at is state or said.status in NO_MOTION else failure
            continue
        if at is not state:
            for chosen in here:  # its slips have turned by then: the accelerations of what opens say too much
                if chosen.phase is not None and _near(place.rows, chosen.phase.modes, read):
                    return chosen
            read = _as_here(setting, state, place.rows, read, at, said, activation)
        phase = aligned(setting.phase(read, place.rows), place, HOLDS)  # redundant reactions may be others than these
        now = holds(phase, place, activation, sizes=sizes)
        if now and (later is None or failure is None or _goes_on(phase, now, later, activation, sizes)):
            return Chosen(phase=phase, now=now)
        lawful.append(read)
    if failure is None:
        relieved = _relieved(setting, place, [*guesses, *lawful], activation, later, sizes)
        if relieved is not None:
            return relieved
    return Chosen(phase=None, failure=_named(setting, place, guesses, failure))


def _named(setting: Setting, place: Place, guesses: list[Modes], failure: Solution | None) -> Solution:
    """Return why there are no modes: the jam behind it, else when and at which contacts a problem has no solution.

    With its certificate where there is one; or none was found.
    """
    found = (jam_of(setting.phase(modes, place.rows), place) for modes in guesses)
    none_exists = failure is not None and failure.status in NO_MOTION
    if not none_exists and (jam := next(filter(None, found), "")):
        words = f"no modes were found at t = {place.t:.17g} s: {jam}."
        return (failure or _undecided(place.t)).but(status=Status.UNDECIDED, message=words)
    if failure is None:
        return _undecided(place.t)
    pushing = [row for row in place.rows if guesses[0].get(row.id, OPEN).closed]
    ids = sorted(row.id for row in pushing if not row.bilateral) or sorted(row.id for row in pushing)
    where = f"at t = {place.t:.17g} s" + (f", where {', '.join(ids)} may push" if ids else "")
    said = failure.message or ("there is no motion." if none_exists else "no accelerations were found.")
    return failure.but(message=f"{where}: {said}")


def _relieved(
    setting: Setting, place: Place, guesses: list[Modes], activation: Activation, later: Callable[[], State] | None,
    sizes: Sizes,
) -> Chosen | None:  # fmt: skip
    """Return a phase in which contacts that others make up for do not push, None where none holds.

    The corners of a face that slide in different directions have reactions that are not unique, and accelerations with
    them. The shortest ones may pull, or let something else close, where those of fewer corners do not: what they keep
    from closing keeps the others.
    """

    def tried(modes: Modes) -> Chosen | None:
        phase = aligned(setting.phase(modes, place.rows), place, HOLDS)
        now = holds(phase, place, activation, sizes=sizes)
        goes_on = now and (later is None or _goes_on(phase, now, later, activation, sizes))
        return Chosen(phase=phase, now=now) if goes_on else None

    for guess in guesses:
        modes, pulled = dict(guess), True
        while pulled and (phase := setting.phase(modes, place.rows)).redundant:
            normal = _normals(phase, place)
            least = sorted(normal, key=lambda key: normal[key])
            pulled = bool(least) and normal[least[0]] < 0.0
            for key in least[:1] if pulled else least:
                if (chosen := tried({**modes, key: OPEN})) is not None:
                    return chosen
            modes |= {key: OPEN for key in least[:1] if pulled}
    return None


def _normals(phase: Phase, place: Place) -> dict[str, float]:
    """Return the normal reactions of what is closed and one-sided, N, by id; none at a pole."""
    try:
        now = phase.at(place)
    except np.linalg.LinAlgError:
        return {}
    return {
        row.id: float(r[0]) for row, r in zip(now.rows, now.r, strict=True)
        if one_sided(row) and phase.modes[row.id].closed
    }  # fmt: skip


def _released(setting: Setting, place: Place, chosen: Chosen, activation: Activation, sizes: Sizes) -> Chosen:
    """Return the choice, with contacts open that pull and would open.

    Of bodies that fall together reactions may be smaller than what `holds` allows beside their weights.
    """
    phase, now = chosen.phase, chosen.now
    if phase is None or now is None or phase.redundant:
        return chosen
    pulls = {row.id for row, r in zip(now.rows, now.r, strict=True) if one_sided(row) and r[0] < -PULL * now.sizes[0]}
    if not pulls:
        return chosen
    freed = setting.phase({**phase.modes, **dict.fromkeys(pulls, OPEN)}, place.rows)
    then = holds(freed, place, activation, sizes=sizes)
    opens = then is not None and all(_normal(row, then) > 0.0 for row in then.rows if row.id in pulls)
    return Chosen(phase=freed, now=then) if opens else chosen


def _as_here(
    setting: Setting, state: State, rows: tuple[Row, ...], read: dict[str, Mode], at: State, said: Solution,
    activation: Activation,
) -> dict[str, Mode]:  # fmt: skip
    """Return modes that were read a little later, with the directions that slips in space have at the state itself."""
    slow = [row for row in rows if len(read[row.id].slip) == 2 and row.slip_speed <= activation.speed]
    if not slow:
        return read
    system, control = setting.system, setting.control
    r = reactions(snapshot(system, at, control=control, activation=activation), said)
    memory = {**state.memory, **r}
    here, _ = modes_of_laws(system, State(t=state.t, q=state.q, v=state.v, memory=memory), control, activation, read)
    return read if here is None or not _alike(rows, here, read) else here


def _alike(rows: tuple[Row, ...], one: Modes, other: Modes) -> bool:
    """Whether modes differ in their directions at most."""
    return all(one[row.id].name(row) == other[row.id].name(row) for row in rows)


def _near(rows: tuple[Row, ...], one: Modes, other: Modes) -> bool:
    """Whether modes are alike, and slip and roll almost the same way: where one has more than one slip it is that."""
    ways = [
        (x, y)
        for row in rows
        for x, y in ((one[row.id].slip, other[row.id].slip), (one[row.id].roll, other[row.id].roll))
    ]
    return _alike(rows, one, other) and all(np.dot(x, y) >= TURNED_LITTLE for x, y in ways if x)


def _goes_on(
    phase: Phase, now: Instant, later: Callable[[], State], activation: Activation, sizes: Sizes
) -> bool:  # fmt: skip
    """Whether slips that begin get faster, and what opens without acceleration goes on opening.

    Where a reaction vanishes at A < 0 (b falls through zero) nothing opens: beyond the event there is no acceleration.
    """
    allowed = _allowed(now, activation, sizes)["acceleration"]
    if not speeds_up(phase, now, later, activation.speed, allowed):
        return False
    opening = [k for k, row in enumerate(now.rows) if _still_open(row, phase.modes[row.id], activation)]
    opening = [k for k in opening if _normal(now.rows[k], now) <= allowed]
    if not opening:
        return True
    state = later()
    then = phase.instant(state.t, state.q, state.v)
    return all(_normal(then.rows[k], then) >= -allowed for k in opening)


def _still_open(row: Row, mode: Mode, activation: Activation) -> bool:
    touches = row.level == "position" and activation.touches(row) and abs(float(row.rate[0])) <= activation.speed
    return not mode.closed and touches


def _normal(row: Row, now: Instant) -> float:
    return float(row.J[0] @ now.a + row.drift[0])


def _undecided(t: float) -> Solution:
    words = f"no set of modes holds at t = {t:.17g} s: the solution of the contact problem lies on a border."
    return Solution(problem=None, status=Status.UNDECIDED, message=words)


def holds(
    phase: Phase, place: Place, activation: Activation, *, touching: float | None = None, sizes: Sizes = NONE
) -> Instant | None:  # fmt: skip
    """Return the instant if the modes of a phase solve the complementarity problem there, up to 1e-8 of its forces.

    Parameters
    ----------
    touching : float, optional
        Open gaps up to this may not close, m; default: what counts as closed.
    sizes : (float, float)
        What forces (N) and accelerations (m/s^2) are measured by where all of them vanish together.
    """
    try:
        now = phase.at(place)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(now.a).all():
        return None
    allowed = _allowed(now, activation, sizes)
    now = phase.sharing(now)
    if not all(g.value(now) >= -allowed[g.unit] or g.kind == "end" for g in phase.guards):
        return None
    if touching is not None:
        activation = replace(activation, gap=touching)
    ok = all(_onward(row, phase.modes[row.id], now, activation, allowed["acceleration"]) for row in now.rows)
    return now if ok else None


def _allowed(now: Instant, activation: Activation, sizes: Sizes = NONE) -> dict[str, float]:
    force, a = max(sizes[0], now.sizes[0]), max(sizes[1], *now.sizes[1:])
    return {"force": HOLDS * force, "acceleration": HOLDS * a, "place": activation.gap, "speed": activation.speed}


def _onward(row: Row, mode: Mode, now: Instant, activation: Activation, allowed: float) -> bool:
    """Whether what opens goes on opening, what touches goes on touching, and what begins to slip gets faster."""
    if not mode.closed:
        still = _still_open(row, mode, activation) or (row.level == "velocity" and row.gap <= activation.speed)
        return not still or _normal(row, now) >= -allowed
    stays = not one_sided(row) or abs(_normal(row, now)) <= allowed  # redundant rows may contradict one another
    return stays and not _fading(row, mode, now, activation, allowed)


def _fading(row: Row, mode: Mode, now: Instant, activation: Activation, allowed: float) -> set[str]:
    """Return which of slip and rolling are as good as at rest and get slower."""
    if not (mode.slip or mode.roll):
        return set()
    return {
        kind for kind, where, e in zip(("stop", "stop_roll"), parts_of(row), (mode.slip, mode.roll), strict=True)
        if e and float(np.dot(row.rate[where], e)) <= activation.speed
        and float(np.dot(row.J[where] @ now.a + row.drift[where], e)) < -allowed
    }  # fmt: skip


def stopping(phase: Phase, now: Instant, activation: Activation) -> dict[str, set[str]]:
    """Return the slips and rollings that have stopped, as near as counts, by row id."""
    allowed = _allowed(now, activation)["acceleration"]
    found = {
        row.id: _fading(row, phase.modes[row.id], now, activation, allowed)
        for row in now.rows if phase.modes[row.id].closed
    }  # fmt: skip
    return {key: kinds for key, kinds in found.items() if kinds}


def modes_of_laws(
    system: System, state: State, control: Array | None, activation: Activation, known: Modes
) -> tuple[dict[str, Mode] | None, Solution]:  # fmt: skip
    """Return the modes that the complementarity problem gives, None where it has no solution or none was found."""
    dynamics = snapshot(system, state, control=control, activation=activation)
    start = {row.id: state.memory[row.id] for row in dynamics.rows if row.id in state.memory}
    solution = resolve(dynamics, start=start or None)
    if not solution.solved or solution.x is None:
        return None, solution
    r, a = reactions(dynamics, solution), np.asarray(solution.x)
    force = max((float(np.abs(one).max(initial=0.0)) for one in r.values()), default=0.0)
    scale = float(np.abs(a).max(initial=0.0)), float(np.abs(dynamics.x_free).max(initial=0.0))
    small = HOLDS * force, HOLDS * max(scale)
    modes = {
        row.id: _mode(row, r.get(row.id), row.J @ a + row.drift, known.get(row.id, OPEN), activation, small)
        for row in dynamics.rows
    }
    return modes, solution


def _mode(row: Row, r: Array | None, u: Array, known: Mode, activation: Activation, small: tuple[float, float]) -> Mode:
    """Read the mode of one row off its reaction r (None: it does not act) and its acceleration u."""
    two_sided = row.bilateral or row.kind == "dry"
    if r is None and not two_sided:
        return OPEN
    pushes = r is not None and float(r[0]) > small[0]
    if not two_sided and not pushes and (float(u[0]) > small[1] or not known.closed):
        return OPEN
    if not rough(row):
        return CLOSED
    slip, roll = parts_of(row)
    new = [_slip(row.rate[where], u[where], activation, small[1]) for where in (slip, roll)]
    sign = 1.0 if r is None or row.kind != "bilateral_contact" else math.copysign(1.0, float(r[0]))
    return Mode(closed=True, slip=new[0], roll=new[1], sign=sign)


def _slip(rate: Array, u: Array, activation: Activation, small: float) -> tuple[float, ...]:
    for x, least in ((rate, activation.speed), (u, small)):
        size = float(np.sqrt(x @ x))
        if size > least:
            return tuple((x / size).tolist())
    return ()


def after_event(
    modes: Modes, now: Instant, fired: Mapping[str, set[str]], activation: Activation
) -> list[Modes]:  # fmt: skip
    """Return guesses of the modes after conditions have become zero: `fired` has their kinds by row id.

    What stops sticks, else turns back; what was held too weakly slips against its friction; what ceases to push opens;
    what closes, or has friction now where it had none, sticks, or slides on as it came.
    """
    first, second = dict(modes), dict(modes)
    for row, r in zip(now.rows, now.r, strict=True):
        for kind in sorted(fired.get(row.id, ())):
            if kind in ("touchdown", ONSET):
                first[row.id] = second[row.id] = _moving(row, CLOSED, activation)
                continue
            old = first[row.id]
            first[row.id], second[row.id] = next_mode(kind, row, r, old), next_mode(kind, row, r, old, back=True)
    return [first] if first == second else [first, second]


def next_mode(kind: str, row: Row, r: Array, old: Mode, *, back: bool = False) -> Mode:
    """Return the mode that may follow where a condition of a row with reaction r ends.

    back: what stops turns back, and does not stick.
    """
    if kind == "lift_off":
        return OPEN
    if kind == "end":
        return old
    if kind == "turn":
        return old.but(sign=-old.sign)
    if kind == "stop":
        return old.but(slip=tuple(-x for x in old.slip) if back else ())
    if kind == "stop_roll":
        return old.but(roll=tuple(-x for x in old.roll) if back else ())
    if not old.closed:
        return old
    slip, roll = parts_of(row)
    if kind == "slip":
        sign = math.copysign(1.0, float(r[0])) if row.kind == "bilateral_contact" else 1.0
        return old.but(slip=_against(r[slip]), sign=sign)
    return old.but(roll=_against(r[roll]))


def _against(friction: Array) -> tuple[float, ...]:
    size = float(np.sqrt(friction @ friction))
    return tuple((-friction / size).tolist()) if size > 0.0 else ()
