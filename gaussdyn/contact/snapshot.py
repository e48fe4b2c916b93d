"""Everything about a system at one state: the only place where a system's functions are called for a solve."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .._show import fitted, names, short, span
from ..arrays import Array, matrix, scalar, vector
from ..errors import InputError
from ..linalg.factor import cholesky, solve_spd
from ..mechanics.rows import LateRow, Row
from ..mechanics.scene import Scene
from ..mechanics.state import State
from ..mechanics.system import System
from ..mends import one_of

Level = Literal["acceleration", "velocity"]
_KEPT: deque[tuple[Array, Array, Array]] = deque(maxlen=8)  # masses that do not change: as given, M, factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """When a constraint counts as closed, and when its rate counts as zero.

    Attributes
    ----------
    gap : float
        |phi| up to this is closed, m; > 0. Well above rounding of the coordinates, well below any clearance.
    speed : float
        |phi'|, |psi| and slip up to this are zero, m/s; > 0. An event-driven run needs it above the error of its
        root finder.
    aloft : frozenset of str
        Ids of gaps that are open however small they are: of contacts that are known to be on their way.

    Raises
    ------
    InputError
        If a tolerance is not positive and finite.
    """

    gap: float = 1e-9
    speed: float = 1e-9
    aloft: frozenset[str] = field(default=frozenset(), repr=False)

    def __post_init__(self) -> None:
        for name in ("gap", "speed"):
            object.__setattr__(self, name, scalar(f"Activation.{name}", getattr(self, name), low=0.0, open_low=True))

    def touches(self, row: Row) -> bool:
        """Return whether the gap of a row counts as closed."""
        return row.gap <= self.gap and row.id not in self.aloft


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalDynamics:
    """A system at one state, on one level: M x = h + reactions.

    Attributes
    ----------
    system : System
    level : str
        acceleration: x = a, reactions are forces; velocity: x = v+ at the end of the step, reactions are impulses.
    dt : float
        Step, s (velocity level; 0 is the pure impact problem; 0 on the acceleration level).
    ahead : float
        What is left of the step for the position update, s: an open gap is watched if it can close within it.
    t, q, v : float, Array (nq,), Array (nv,)
    M, factor : Array, shape (nv, nv)
        Mass matrix and its lower Cholesky factor.
    h : Array, shape (nv,)
        Generalised force, N (acceleration level); M v + dt * force, N s (velocity level).
    rows : tuple of Row
        Every constraint of the system, open ones included.
    activation : Activation
    control : Array or None
    x_free : Array, shape (nv,)
        The motion without reactions: M x_free = h.
    answers : dict
        What was asked of it, see `_kept`.
    """

    system: System
    level: Level
    dt: float
    ahead: float
    t: float
    q: Array
    v: Array
    M: Array
    factor: Array
    h: Array
    rows: tuple[Row, ...]
    activation: Activation
    control: Array | None = None
    x_free: Array = field(init=False, repr=False)
    answers: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "x_free", solve_spd(self.factor, self.h))

    def __repr__(self) -> str:
        """Return of what it is, when, and the constraints with their gaps."""
        near = sorted(self.rows, key=lambda row: row.gap)
        rows = [f"{row.id} ({row.kind}, gap {row.gap:.3g})" for row in near]
        parts = [short(self.system).split("(")[0], f"level={self.level}", f"t={self.t:g} s", f"nq={len(self.q)}"]
        parts += [f"nv={self.nv}", f"v = {span(self.v)}", f"h = {span(self.h)}", f"{len(rows)} rows: {names(rows)}"]
        return fitted("LocalDynamics", parts)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v)


def snapshot(
    system: System | Scene,
    state: State | None = None,
    *,
    level: Level = "acceleration",
    dt: float = 0.0,
    ahead: float | None = None,
    activation: Activation | None = None,
    control: Array | None = None,
    known: tuple[tuple[Row, ...], Array] | None = None,
) -> LocalDynamics:
    """Evaluate a system at a state.

    Parameters
    ----------
    system : System or Scene
        A scene brings the start, with the contacts near it, and its control there.
    state : State
        A system needs one.
    level : str
        "acceleration" (x = a) or "velocity" (x = v+ at the end of a step, impacts included).
    dt : float
        Step, s, on the velocity level; 0 is the pure impact problem.
    ahead : float, optional
        Time left for the position update after this state, s; default `dt`. A midpoint rule passes dt/2.
    activation : Activation, optional
        Default ``Activation()``.
    control : array_like, optional
        Passed on to ``system.force``.
    known : pair of tuple of Row and Array, optional
        The rows and the force at this very state, where the system has just been asked for them.

    Raises
    ------
    InputError
        State of a wrong shape, dt < 0; NaN, a wrong shape, a mass that is not symmetric positive definite (the
        coordinate is named), or repeated row ids from the functions of the system (the function is named).
    """
    if level not in ("acceleration", "velocity"):
        raise InputError(
            "level", repr(level), "'acceleration' or 'velocity'", one_of("level", level, ("acceleration", "velocity"))
        )
    if isinstance(system, Scene):
        system, state, control = _at_start(system, state, dt, control)
    if known is None:
        state, dt = _checked(system, state, activation), scalar("dt", dt, low=0.0)
    assert state is not None
    if level == "acceleration" and dt > 0:
        raise InputError("dt", dt, "0 on the acceleration level", "Pass level='velocity' for a time step.")
    q, v = state.q, state.v
    if known is None:
        q, v = vector("q of the state", q, system.nq), vector("v of the state", v, system.nv)
    control = None if control is None else vector("control", control)
    M, factor = _factored(system, q)
    rows, h = known or (rows_of(system, state.t, q, v), system.force(state.t, q, v, control))
    force = vector("force(t, q, v)", h, system.nv)
    return LocalDynamics(
        system=system,
        level=level,
        dt=dt,
        ahead=dt if ahead is None else scalar("ahead", ahead, low=0.0),
        t=state.t,
        q=q,
        v=v,
        M=M,
        factor=factor,
        h=force if level == "acceleration" else M @ v + dt * force,
        rows=rows,
        activation=Activation() if activation is None else activation,
        control=control,
    )


def rows_at_start(system: System, state: State, control: Array | None = None) -> tuple[Row, ...]:
    """Return the rows at a state, once all that the system says there has been checked as `snapshot` does.

    The mass matrix of bodies that know their energy without it was checked when they were made, and it may be large.
    """
    q, v = vector("q of the state", state.q, system.nq), vector("v of the state", state.v, system.nv)
    if getattr(system, "kinetic_energy", None) is None:
        _factored(system, q)
    rows = rows_of(system, state.t, q, v)
    vector("force(t, q, v)", system.force(state.t, q, v, control), system.nv)
    return rows


def check_dynamics(dynamics: object) -> None:
    """Raise InputError unless this is what `snapshot` returns."""
    if not isinstance(dynamics, LocalDynamics):
        given = type(dynamics).__name__
        raise InputError("dynamics", given, "a LocalDynamics", "It is made by snapshot(system, state).")


def _at_start(
    scene: Scene, state: State | None, dt: float, control: Array | None
) -> tuple[System, State, Array | None]:  # fmt: skip
    """Return the system of a scene with the contacts near its start (or the state given), that state, its control."""
    state = _is_state(scene.state if state is None else state)
    if control is None and scene.control is not None:
        control = scene.control(state.t, state)
    return scene.system.near(state.t, state.q, state.v, dt), state, control


def _checked(system: object, state: object, activation: object) -> State:
    if not (hasattr(system, "rows") and hasattr(system, "mass")):
        mend = "E.g. UserSystem(nq, mass, force, constraints)."
        raise InputError("system", type(system).__name__, "a System or a Scene", mend)
    if activation is not None and not isinstance(activation, Activation):
        raise InputError("activation", repr(activation), "an Activation", "Write Activation(gap=1e-9, speed=1e-9).")
    return _is_state(state)


def _is_state(state: object) -> State:
    if not isinstance(state, State):
        given = "nothing" if state is None else type(state).__name__
        raise InputError("state", given, "a State", "Write State(q=[...], v=[...]); only a Scene brings its own.")
    return state


def rows_of(system: System, t: float, q: Array, v: Array) -> tuple[Row, ...]:
    """Return the rows of a system, checked: every J has nv columns, no id occurs twice."""
    rows = tuple(system.rows(t, q, v))
    seen: set[str] = set()
    for row in rows:
        late = isinstance(row, LateRow)  # made for this system: a wide J need not be there to be looked at
        if not late and row.J.shape[1] != system.nv:
            raise InputError(
                f"J of {row.id}",
                f"shape {row.J.shape}",
                f"({row.size}, {system.nv}), nv columns",
                f"Write J = numpy.zeros(({row.size}, {system.nv})).",
            )
        if row.id in seen:
            raise InputError(
                "rows(t, q, v)",
                f"the id {row.id!r} twice",
                "one id per constraint",
                f"Write Row(id={row.id + '2'!r}, ...).",
            )
        seen.add(row.id)
    return rows


def _factored(system: System, q: Array) -> tuple[Array, Array]:
    """Return M and its factor; those of a read-only array that a system returns again are kept."""
    given = system.mass(q)
    constant = unchanging(given)
    for known, M, factor in tuple(_KEPT) if constant else ():
        if known is given and len(M) == system.nv:
            return M, factor
    M = checked_mass(given, system.nv)
    factor = cholesky("mass(q)", M)
    if constant:
        _KEPT.append((given, M, factor))
    return M, factor


def unchanging(given: object) -> bool:
    """Return whether it is an array that nobody can change: who has seen it knows it."""
    return isinstance(given, np.ndarray) and given.base is None and not given.flags.writeable


def checked_mass(given: Array, nv: int) -> Array:
    """Return M as `System.mass` gave it; raise InputError unless it is a symmetric (nv, nv) matrix."""
    M = matrix("mass(q)", given, nv, nv)
    if nv == 1 or (M == M.T).all():
        return M
    gap = np.abs(M - M.T)
    if gap.size and gap.max() > 1e-12 * np.abs(M).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        raise InputError(
            "mass(q)",
            f"M[{i},{j}] = {M[i, j]:g}, M[{j},{i}] = {M[j, i]:g}",
            "a symmetric matrix",
            "Write M = 0.5 * (M + M.T).",
        )
    return M
