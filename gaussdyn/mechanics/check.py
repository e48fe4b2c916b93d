"""Find what is wrong with a system: Jacobians, drift terms, mass, qdot and power that do not fit together.

Everything is compared with differences of what the system itself says one level below: gaps with rates, rates with
drift terms, energy with power. A finding names the function, the constraint and the component.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .._show import brief
from ..arrays import Array, matrix, scalar, vector
from ..errors import InputError
from ..linalg.factor import cholesky
from ..mends import write
from .rows import Row
from .state import State
from .system import System, check_is_system
from .user.differences import derivative, gradient

Reader = Callable[[str, float, Array, Array], Row]
KEPT = 2000  # states whose rows are kept while they are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    what : str
        mass, force, qdot, move, rows, jacobian, rate, drift or power.
    where : str
        The constraint or the function.
    message : str
        What was found and what was expected, in words.
    state : State
        Where.
    """

    what: str
    where: str
    message: str
    state: State

    def __str__(self) -> str:
        place = f"t={self.state.t:.4g}, q={np.round(self.state.q, 4)}, v={np.round(self.state.v, 4)}"
        return f"{self.what} of {self.where}: {self.message} (at {place})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport:
    """What `check_system` found; falsy findings mean that nothing is wrong at the states examined.

    Attributes
    ----------
    states : int
        How many states were examined.
    findings : tuple of Finding
        The first of each kind and place.
    """

    states: int
    findings: tuple[Finding, ...] = field(default=())

    __repr__ = brief

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        if self.ok:
            return f"OK: mass, force, qdot, move, rows and power agree with differences at {self.states} states"
        lines = [f"{len(self.findings)} finding(s) at {self.states} states:"]
        return "\n".join(lines + [f"  - {finding}" for finding in self.findings])


def check_system(
    system: System,
    *,
    states: Iterable[State] | None = None,
    samples: int = 5,
    seed: int = 0,
    tol: float = 1e-6,
) -> SystemReport:
    """Compare what a system says about itself with differences, at random states.

    Parameters
    ----------
    system : System
    states : iterable of State, optional
        Where to look; needed where not every (q, v) is a configuration. Default: `samples` states with q and v normally
        distributed and t in [0, 1]; what the system's `move` puts right by itself (unit quaternions) is put right.
    samples, seed : int
        Of the random states.
    tol : float
        Largest difference, relative to the size of the terms, that passes.

    Returns
    -------
    SystemReport
        ``print(report)`` reads it out; ``report.ok`` tells whether nothing was found.
    """
    check_is_system("system", system)
    chosen = _random_states(system, samples, seed) if states is None else tuple(states)
    if not chosen or not all(isinstance(state, State) for state in chosen):
        raise InputError("states", repr(states), "one State or more in a list", "Write [State(q=[...], v=[...])].")
    scalar("tol", tol, low=0.0, open_low=True)
    found: dict[tuple[str, str], Finding] = {}
    for state in chosen:
        here = system.near(state.t, state.q, state.v, AROUND)  # the same rows at every state nearby
        here = here.pinned() if hasattr(here, "pinned") else here
        for check in (_mass, _force, _qdot, _move, _rows, _power):
            for what, where, message in check(here, state, tol):
                found.setdefault((what, where), Finding(what=what, where=where, message=message, state=state))
    return SystemReport(states=len(chosen), findings=tuple(found.values()))


Report = Iterator[tuple[str, str, str]]
AROUND = 0.25  # s: contacts that may act within this time are examined, and no difference reaches further


def _random_states(system: System, samples: int, seed: int) -> tuple[State, ...]:
    for name, value, low in (("samples", samples, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
            raise InputError(name, repr(value), f"an integer >= {low}", write(name, low))
    rng, rest, found = np.random.default_rng(seed), np.zeros(system.nv), []
    for _ in range(samples):
        q, v, t = rng.normal(size=system.nq), rng.normal(size=system.nv), float(rng.uniform())
        with contextlib.suppress(InputError):  # named by the checks
            q = vector("move(q, 0, 0)", system.move(q, rest, 0.0), system.nq)
        found.append(State(q=q, v=v, t=t))
    return tuple(found)


def _mass(system: System, state: State, tol: float) -> Report:
    try:
        M = matrix("mass(q)", system.mass(state.q), system.nv, system.nv)
    except InputError as error:
        yield "mass", "the system", str(error)
        return
    gap = np.abs(M - M.T)
    if gap.max() > 1e-12 * np.abs(M).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        yield "mass", "the system", f"not symmetric: M[{i},{j}] = {M[i, j]:.6g}, M[{j},{i}] = {M[j, i]:.6g}"
        return
    try:
        cholesky("mass(q)", M)
    except InputError as error:
        yield "mass", "the system", str(error)


def _force(system: System, state: State, tol: float) -> Report:
    try:
        vector("force(t, q, v)", system.force(state.t, state.q, state.v), system.nv)
    except InputError as error:
        yield "force", "the system", str(error)


def _qdot(system: System, state: State, tol: float) -> Report:
    try:
        here = vector("qdot(q, v)", system.qdot(state.q, state.v), system.nq)
        rest = vector("qdot(q, v)", system.qdot(state.q, np.zeros(system.nv)), system.nq)
        double = vector("qdot(q, v)", system.qdot(state.q, 2.0 * state.v), system.nq)
    except InputError as error:
        yield "qdot", "the system", str(error)
        return
    gap = np.abs(double - 2.0 * here + rest)
    if gap.max(initial=0.0) > tol * (1.0 + np.abs(here).max(initial=0.0)):
        yield "qdot", "the system", f"not affine in v: component {int(np.argmax(gap))} bends by {gap.max():.3g}"


def _move(system: System, state: State, tol: float) -> Report:
    """Compare the motion at constant velocity with qdot, and with going back."""
    q, v = state.q, state.v
    try:
        still = vector("move(q, v, 0)", system.move(q, v, 0.0), system.nq)
        back = vector("move(q, v, dt)", system.move(system.move(q, v, 0.01), v, -0.01), system.nq)
        dq = vector("qdot(q, v)", system.qdot(q, v), system.nq)
        slope = _along(system, state, "move", lambda s, x: x)
    except InputError as error:
        yield "move", "the system", str(error)
        return
    size = 1.0 + np.abs(q).max(initial=0.0)
    for what, text, gap, allowed in (
        ("move", "move(q, v, 0) is not q", still - q, tol * size),
        ("move", "moving back does not return to q", back - q, 1e-4 * size),
        ("qdot", "it is not the rate of move at dt = 0", slope - dq, tol * (1.0 + np.abs(dq).max(initial=0.0))),
    ):
        if np.abs(gap).max(initial=0.0) > allowed:
            k = int(np.argmax(np.abs(gap)))
            yield what, "the system", f"{text}: component {k} is off by {gap[k]:.3g}"
            return


def _rows(system: System, state: State, tol: float) -> Report:
    """Compare every row with differences; blame qdot if more position constraints than not disagree with it."""
    try:
        rows = tuple(system.rows(state.t, state.q, state.v))
    except InputError as error:
        yield "rows", "the system", str(error)
        return
    names = [row.id for row in rows]
    if len(set(names)) < len(names):
        yield "rows", "the system", f"the same id twice: {sorted({n for n in names if names.count(n) > 1})}"
        return
    try:
        read = _reader(system)
        yield from _blame(system, state, [found for row in rows for found in _row(system, state, row, read, tol)], rows)
    except InputError as error:
        yield "rows", "the system", str(error)


def _blame(system: System, state: State, found: Sequence[tuple[str, str, str]], rows: Sequence[Row]) -> Report:
    positions = {row.id for row in rows if row.level == "position" and row.kind != "dry"}
    wrong = {where for what, where, _ in found if what in ("jacobian", "rate") and where in positions}
    if len(wrong) > 1 and wrong == positions:
        text = "the gaps of all position constraints change along qdot otherwise than their rates say"
        yield "qdot", "the system", text
    yield from found


def _row(system: System, state: State, row: Row, read: Reader, tol: float) -> Report:
    """Compare J with the rates, the rate with the gap, the drift with the rates along the motion."""
    if row.J.shape[1] != system.nv:
        yield "jacobian", row.id, f"shape {row.J.shape}, expected ({row.size}, {system.nv})"
        return
    if row.level == "acceleration":
        return
    t, q, v = state.t, state.q, state.v

    def again(t: float, q: Array, v: Array) -> Row:
        """Return the row at another state."""
        return read(row.id, t, q, v)

    if row.level == "position" and row.kind != "dry":
        wrong = list(_against_gap(system, state, row, again, tol))
        if wrong:  # what follows from a wrong Jacobian is not told apart
            yield from wrong
            return
    slope = gradient(f"rate of {row.id}", lambda x: again(t, q, x).rate, v)
    wrong = list(_differs("jacobian", row.id, row.J, slope, tol, "d rate / d v"))
    drift = _along(system, state, f"rate of {row.id}", lambda s, x: again(s, x, v).rate)
    text = "the change of the rate along the motion, v constant"
    yield from wrong or _differs("drift", row.id, row.drift, drift, tol, text)


def _against_gap(
    system: System, state: State, row: Row, again: Callable[[float, Array, Array], Row], tol: float
) -> Report:
    """Compare the normal row with the change of the gap, velocity by velocity, and with time."""
    t, q, v = state.t, state.q, state.v

    def slope(e: Array) -> Array:
        """Return the change of the gap with the velocity e, time standing still."""
        return derivative(f"gap of {row.id}", lambda s: again(t, system.move(q, e, s), v).gap)

    rest = slope(np.zeros(system.nv))  # dq/dt may not vanish with v
    n = np.stack([slope(e) - rest for e in np.eye(system.nv)], axis=1)
    text = "the change of the gap with that velocity (or qdot is wrong)"
    wrong = list(_differs("jacobian", row.id, row.J[:1], n, tol, text))
    change = _along(system, state, f"gap of {row.id}", lambda s, x: again(s, x, v).gap)
    yield from wrong or _differs("rate", row.id, row.rate[:1], change, tol, "the change of the gap along the motion")


def _power(system: System, state: State, tol: float) -> Report:
    """Compare the power with the energy balance of the free motion: v.h + 1/2 v.(dM/dt) v + dV/dt."""
    t, q, v = state.t, state.q, state.v
    try:
        said = scalar("power(t, q, v)", float(system.power(t, q, v)))
        supply = float(v @ vector("force(t, q, v)", system.force(t, q, v), system.nv))
        kinetic = 0.5 * _along(system, state, "kinetic energy", lambda s, x: float(v @ system.mass(x) @ v))[0]
        potential = _along(system, state, "potential", lambda s, x: system.potential(s, x))[0]
    except (InputError, ValueError, TypeError):
        return  # named by the other checks
    expected = supply + kinetic + potential
    if abs(said - expected) > tol * (1.0 + abs(supply) + abs(kinetic) + abs(potential)):
        text = "v.h + 1/2 v.(dM/dt) v + dV/dt, the balance of force, mass and potential"
        yield "power", "the system", f"{said:.6g}, expected {expected:.6g}, which is {text}"


def _reader(system: System) -> Reader:
    """Return (id, t, q, v) -> the row with this id; states at which one row is looked at serve the others too."""
    known: dict[tuple[float, bytes, bytes], dict[str, Row]] = {}

    def read(id: str, t: float, q: Array, v: Array) -> Row:
        """Return the row of that id."""
        key = (t, q.tobytes(), v.tobytes())
        if key not in known:
            if len(known) > KEPT:
                known.clear()
            known[key] = {row.id: row for row in system.rows(t, q, v)}
        if id not in known[key]:
            raise InputError(
                "rows(t, q, v)",
                f"no row {id!r} at a state nearby",
                "the same ids at every state",
                f"Return it always: Row(id={id!r}, ...).",
            )
        return known[key][id]

    return read


def _along(system: System, state: State, name: str, f: Callable[[float, Array], ArrayLike]) -> Array:
    """Return the derivative of f(t, q) along the motion at constant v."""
    speed = float(np.abs(system.qdot(state.q, state.v)).max(initial=0.0))
    return derivative(name, lambda s: f(state.t + s, system.move(state.q, state.v, s)), speed=speed)


def _differs(what: str, where: str, given: Array, expected: Array, tol: float, text: str) -> Report:
    gap = np.abs(given - expected)
    if gap.max(initial=0.0) <= tol * (1.0 + np.abs(expected).max(initial=0.0)):
        return
    k = tuple(int(i) for i in np.unravel_index(np.argmax(gap), gap.shape))
    place = f"[{', '.join(map(str, k))}]"
    yield what, where, f"{place} is {given[k]:.6g}, expected {expected[k]:.6g}, {text}"
