"""The slow manifold: springs and dashpots carry the rigid reactions and nothing vibrates; and what is beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ...arrays import Array
from ...contact.resolve import reactions, resolve
from ...contact.snapshot import snapshot
from ...errors import InputError
from ...linalg.factor import cholesky, solve_spd
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control, held_control, near_of
from .force_laws import SpringLaw, tangential
from .stepping import Realized, spring_key

AHEAD = 1e-5  # s over which the change of the reactions is taken
JUMP = 1e-2  # share by which no reaction changes smoothly within that time
RANK = 1e-10


class Realization(Protocol):
    """A stepper that puts forces in the place of constraints: `Penalty`, `Viscous`."""

    def realized(self) -> Realized:
        """Return the law and how it is integrated."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Soft:
    """The soft rows that carry a reaction at a state, one line per component."""

    rows: tuple[Row, ...]
    r: tuple[Array, ...]
    L: Array


def slow_start(system: System, state: State, stepper: Realization, *, control: Control | None = None) -> State:
    """Return the state on the slow manifold of a realization next to a state of the rigid motion.

    Springs are as long as the rigid reactions r stretch them, gap = -r/k and s = -r_T/k_T, and move as r changes,
    gap' = -r'/k; viscous rows slip at -r/N. What is left of the vibration is of the order of its next term, 1/N^2 in
    energy.

    Raises
    ------
    InputError
        The state has no rigid acceleration (an impact, or bodies that overlap), or the stepper has no soft rows.
    """
    law = _law(stepper)
    local = near_of(system, state, 0.0)
    value = held_control(control, state)
    now = _rigid_reactions(local, state, value, frozenset())
    soft = _soft(local, law, state, now)
    later = _later(local, state, value, now)
    q = _placed(local, law, state, soft)
    v = _moving(local, law, replace(state, q=q), soft, {key: (later[key] - now[key]) / AHEAD for key in now})
    springs = {}
    for row, r in zip(soft.rows, soft.r, strict=True):
        n = law.springs(row)
        if n:
            springs[spring_key(row)] = -(r if row.kind == "dry" else r[1 : 1 + n]) / law.slip_stiffness
    return State(t=state.t, q=q, v=v, memory={**state.memory, **springs})


def _law(stepper: Realization) -> SpringLaw:
    law = stepper.realized().law if hasattr(stepper, "realized") else None
    if not isinstance(law, SpringLaw):
        raise InputError(
            "stepper",
            repr(stepper),
            "a Penalty or a Viscous",
            "Write Penalty(stiffness=1e4): only these have a slow manifold.",
        )
    return law


def _rigid_reactions(
    system: System, state: State, control: Array | None, closed: frozenset[str]
) -> dict[str, Array]:  # fmt: skip
    """Return the reactions of the rigid motion, N, by id; joints and the rows in `closed` count as closed."""
    dynamics = snapshot(system, state, control=control)
    rows = tuple(_shut(row) if row.id in closed or row.bilateral else row for row in dynamics.rows)
    dynamics = replace(dynamics, rows=rows)
    solution = resolve(dynamics)
    if solution.x is None:
        raise InputError(
            "state",
            solution.explain(),
            "a state with a rigid acceleration",
            "Start after the impact: State(q=..., v=..., t=...).",
        )
    return reactions(dynamics, solution)


def _shut(row: Row) -> Row:
    if row.level != "position":
        return row
    rate = row.rate.copy()
    rate[0] = 0.0
    return replace(row, gap=0.0, rate=rate)


def _later(system: System, state: State, control: Array | None, now: Mapping[str, Array]) -> dict[str, Array]:
    """Return the reactions a little later in the rigid motion, those of now where there is none."""
    push = np.zeros(system.nv)
    rows = {row.id: row for row in system.rows(state.t, state.q, state.v)}
    for key, r in now.items():
        push += rows[key].J.T @ r
    L = cholesky("mass(q)", np.asarray(system.mass(state.q)))
    a = solve_spd(L, np.asarray(system.force(state.t, state.q, state.v, control)) + push)
    q = system.move(state.q, state.v + 0.5 * AHEAD * a, AHEAD)
    later = State(t=state.t + AHEAD, q=q, v=state.v + AHEAD * a)
    try:
        found = _rigid_reactions(system, later, control, frozenset(key for key, r in now.items() if r.any()))
    except InputError:
        return dict(now)
    return {key: _followed(r, found.get(key, r)) for key, r in now.items()}


def _followed(now: Array, later: Array) -> Array:
    """Return a reaction a little later, that of now where it has jumped: a contact begins or ceases to slip."""
    smooth = np.abs(later - now).max(initial=0.0) <= JUMP * np.abs(now).max(initial=0.0)
    return later if smooth else now


def _soft(system: System, law: SpringLaw, state: State, now: Mapping[str, Array]) -> _Soft:
    rows = [row for row in system.rows(state.t, state.q, state.v) if law.role(row) == "soft"]
    rows = [row for row in rows if row.id in now and now[row.id].any()]
    L = cholesky("mass(q)", np.asarray(system.mass(state.q)))
    return _Soft(rows=tuple(rows), r=tuple(now[row.id] for row in rows), L=L)


def _placed(system: System, law: SpringLaw, state: State, soft: _Soft) -> Array:
    """Return coordinates at which the normal springs carry their reactions."""
    carrying = [(row, r) for row, r in zip(soft.rows, soft.r, strict=True) if row.level == "position"]
    q = state.q
    for _ in range(3):
        rows = {row.id: row for row in system.rows(state.t, q, state.v)}
        wanted = [(rows[row.id].J[:1], -r[:1] / law.k(row) - rows[row.id].gap) for row, r in carrying]
        q = system.move(q, _step(soft.L, wanted), 1.0)
    return q


def _moving(system: System, law: SpringLaw, state: State, soft: _Soft, change: Mapping[str, Array]) -> Array:
    """Return velocities with which springs follow their reactions, and viscous rows carry theirs."""
    rows, wanted = {row.id: row for row in system.rows(state.t, state.q, state.v)}, []
    for old, r in zip(soft.rows, soft.r, strict=True):
        row = rows[old.id]
        if row.level == "position":
            wanted.append((row.J[:1], -change[row.id][:1] / law.k(row) - row.rate[:1]))
        n = tangential(row)
        if law.viscosity > 0.0 and (row.level == "velocity" or n):
            part = slice(1, 1 + n) if row.level == "position" else slice(None)
            if law.mode(row, np.zeros(0), r) in (None, "stick"):
                wanted.append((row.J[part], -r[part] / law.viscosity - row.rate[part]))
    return state.v + _step(soft.L, wanted)


def _step(L: Array, wanted: list[tuple[Array, Array]]) -> Array:
    """Return the smallest change, in the metric of the mass, with the wanted change of every row."""
    if not wanted:
        return np.zeros(len(L))
    G, e = np.vstack([J for J, _ in wanted]), np.concatenate([x for _, x in wanted])
    back = solve_spd(L, np.ascontiguousarray(G.T))
    return np.asarray(back @ np.linalg.lstsq(G @ back, e, rcond=RANK)[0])


def fast_energy(system: System, state: State, stepper: Realization, *, control: Control | None = None) -> float:
    """Return the energy of the vibration across the constraints, J: 1/2 k y^2 + 1/2 y' (G M^-1 G^T)^-1 y'.

    y = gap + r/k is the distance from the slow manifold, r the reaction of the rigid motion at the same coordinates.
    Only rows that carry one are counted; open contacts are not. NaN where the state has no rigid acceleration.
    """
    law = _law(stepper)
    local = near_of(system, state, 0.0)
    rows = local.rows(state.t, state.q, state.v)
    closed = frozenset(row.id for row in rows if row.gap < 0.0)
    try:
        now = _rigid_reactions(local, state, held_control(control, state), closed)
    except InputError:
        return float("nan")
    soft = _soft(local, law, state, now)
    kept = [(row, r) for row, r in zip(soft.rows, soft.r, strict=True) if row.level == "position"]
    if not kept:
        return 0.0
    G = np.vstack([row.J[:1] for row, _ in kept])
    later = _later(local, state, held_control(control, state), now)
    rate = np.array([row.rate[0] + (later[row.id] - r)[0] / AHEAD / law.k(row) for row, r in kept])
    stretched = sum(0.5 * law.k(row) * (row.gap + r[0] / law.k(row)) ** 2 for row, r in kept)
    S = G @ solve_spd(soft.L, np.ascontiguousarray(G.T))
    return float(stretched + 0.5 * rate @ np.linalg.lstsq(S, rate, rcond=RANK)[0])
