"""Initial states that joints can hold: which constraints a state violates, and the nearest state that violates none.

Nearest means in the metric of the mass: positions by Gauss-Newton steps, minimise 1/2 dx^T M dx with gap + J dx = 0 and
q = move(q, dx, 1), then velocities likewise. Contacts of bodies that overlap are another matter: they are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Array, scalar
from ...errors import InputError
from ...linalg.factor import cholesky
from ..rows import Row
from ..state import State
from ..system import System

MAX_STEPS = 60
RANK = 1e-10  # relative singular value below which a row repeats others (a closed chain in the plane, say)
SHOWN = 6  # violations that a message lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A constraint that a state violates.

    Attributes
    ----------
    id : str
        Of the constraint.
    what : str
        "gap" (m, rad) or "rate" (m/s, rad/s).
    value : float
        What it is, where it should be zero (or not negative, for limits and strings).
    """

    id: str
    what: str
    value: float

    def __str__(self) -> str:
        return f"{self.id}: {self.what} {self.value:.3g}"


def violations(system: System, state: State, *, tol: float = 1e-9) -> tuple[Violation, ...]:
    """Return the joints, rods, limits and strings that a state violates: their gaps, and the rates of those that hold.

    Constraints on the velocity level count where rest obeys them (rolling, skates, gears). Those that drive (motors)
    do not: they may set in with an impulse.

    Parameters
    ----------
    system : System
    state : State
    tol : float
        Largest gap (m, rad) that counts as none; for rates relative to the speeds there are.
    """
    tol = scalar("tol", tol, low=0.0, open_low=True)
    found, rows = [], joint_rows(system, state)
    driving = _driving(system, state) if any(row.level == "velocity" for row in rows) else frozenset()
    for row in rows:
        gap = float(row.gap) if row.level == "position" else 0.0
        if gap < -tol or (row.bilateral and gap > tol):
            found.append(Violation(id=row.id, what="gap", value=gap))
        elif row.bilateral and row.id not in driving and _moves(row, state, tol):
            found.append(Violation(id=row.id, what="rate", value=_fastest(row)))
    return tuple(found)


def _driving(system: System, state: State) -> frozenset[str]:
    """Return the constraints on the velocity level that rest does not obey."""
    rest = joint_rows(system, replace(state, v=np.zeros(system.nv)))
    return frozenset(row.id for row in rest if row.level == "velocity" and np.any(row.rate))


def _moves(row: Row, state: State, tol: float) -> bool:
    """Return whether a constraint that holds has a rate."""
    n = 1 if row.kind == "bilateral_contact" else row.size
    speeds = 1.0 + np.abs(row.J[:n]) @ np.abs(state.v)
    return bool((np.abs(row.rate[:n]) > tol * speeds).any())


def _fastest(row: Row) -> float:
    """Return the rate of the largest size, with its sign."""
    rates = row.rate[:1] if row.kind == "bilateral_contact" else row.rate
    return float(rates[np.argmax(np.abs(rates))])


def check_initial(system: System, state: State, *, project: bool = False, tol: float = 1e-9) -> State:
    """Return a state that joints, rods, limits and strings can hold: the given one, or the nearest if `project`.

    Raises
    ------
    InputError
        Violated constraints, named with their violation; with `project`, constraints that no state nearby holds.
    """
    found = violations(system, state, tol=tol)
    if not found:
        return state
    if project:
        return projected(system, state, tol=tol)
    mend = "Correct the state, or pass project=True to move it to the nearest one that they hold."
    raise InputError("state", _listed(found), "a state that the joints hold", mend)


def projected(system: System, state: State, *, tol: float = 1e-9) -> State:
    """Return the nearest state that violates no joint, rod, limit or string, and moves as they allow.

    Raises
    ------
    InputError
        None was found near the given one; names what is left of the violations.
    """
    placed = _placed(system, state, 1e-3 * tol)
    moved = _moving(system, placed, 1e-3 * tol)
    left = violations(system, moved, tol=tol)
    if left:
        mend = (
            "The joints contradict one another, or the state is too far off: place the bodies nearer to it: "
            "system.state(place={...})."
        )
        raise InputError("state", f"after projection {_listed(left)}", "a state near one that the joints hold", mend)
    return moved


def joint_rows(system: System, state: State) -> list[Row]:
    """Return all rows but contacts between bodies, dry friction and constraints on the acceleration."""
    rows = system.near(state.t, state.q, state.v, 0.0).rows(state.t, state.q, state.v)
    kept = (row for row in rows if row.level != "acceleration" and row.kind != "dry")
    return [row for row in kept if row.bilateral or (row.kind == "unilateral" and row.between == ("", ""))]


def _placed(system: System, state: State, tol: float) -> State:
    """Return the state with coordinates at which the gaps are closed; limits and strings once violated are shut."""
    shut: set[str] = set()

    def errors(at: State) -> tuple[Array, Array]:
        """Return the gaps to be closed and their Jacobian."""
        rows = [row for row in joint_rows(system, at) if row.level == "position"]
        shut.update(row.id for row in rows if row.gap < 0.0)
        rows = [row for row in rows if row.bilateral or row.id in shut]
        return np.array([row.gap for row in rows]), _stacked(rows, system.nv)

    def moved(at: State, step: Array) -> State:
        """Return the state a step further."""
        return replace(at, q=system.move(at.q, step, 1.0))

    return _newton(system, state, errors, moved, tol)


def _moving(system: System, state: State, tol: float) -> State:
    """Return the state with velocities at which bilateral constraints of both levels hold."""

    def errors(at: State) -> tuple[Array, Array]:
        """Return the rates to be stopped and their Jacobian."""
        rows = [row for row in joint_rows(system, at) if row.bilateral]
        return np.array([row.rate[0] for row in rows]), _stacked(rows, system.nv)

    def moved(at: State, step: Array) -> State:
        """Return the state with its velocity changed."""
        return replace(at, v=at.v + step)

    return _newton(system, state, errors, moved, tol)


def _newton(
    system: System,
    state: State,
    errors: Callable[[State], tuple[Array, Array]],
    moved: Callable[[State, Array], State],
    tol: float,
) -> State:
    """Repeat the smallest step, in the metric of the mass, that would make the linearised errors vanish."""
    e, J = errors(state)
    for _ in range(MAX_STEPS):
        if np.abs(e).max(initial=0.0) <= tol:
            break
        step = _smallest(cholesky("mass(q)", system.mass(state.q)), J, -e)
        trials = [moved(state, 0.5**k * step) for k in range(6)]
        found = next((x for x in trials if np.linalg.norm(errors(x)[0]) < np.linalg.norm(e)), None)
        if found is None:
            break
        state = found
        e, J = errors(state)
    return state


def _smallest(L: Array, J: Array, e: Array) -> Array:
    """Return the dx of least dx^T M dx with J dx = e (in least squares where rows repeat or contradict), M = L L^T."""
    half = solve_triangular(L, J.T, lower=True).T
    y = np.linalg.lstsq(half, e, rcond=RANK)[0]
    return np.asarray(solve_triangular(L, y, lower=True, trans="T"))


def _stacked(rows: Sequence[Row], nv: int) -> Array:
    return np.vstack([np.zeros((0, nv)), *(row.J[:1] for row in rows)])


def _listed(found: Sequence[Violation]) -> str:
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(map(str, found[:SHOWN])) + more
