"""What recorded states and impulses tell: every step put into the equations of motion and the laws."""

from __future__ import annotations

import difflib

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...errors import InputError
from ...integrate.energy import REST, energy
from ...integrate.run.step_evidence import StepEvidence
from ...integrate.stepper import near_of
from ...integrate.time_stepping.scheme import ROUNDING
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from . import step_figures as figures
from .audit_check import AuditCheck
from .from_file import DRIFT, EXACT, RESIDUAL, off_cones
from .ncp_residuals import NCP, ncp_residuals
from .recorded_states import RecordedStates
from .recorded_step import Record, RecordedStep, acting_of
from .saved_rows import one_sided

CLOSED = 1e-10  # m; how far gaps and joints may be off, beside what they were at the start
FIGURES = {"kinematics": EXACT, "momentum": 1e-10, "laws": RESIDUAL, "cone": EXACT, "joint_rate": 1e-10}


def states_series(states: RecordedStates, system: System) -> tuple[list[AuditCheck], dict[str, Array]]:
    """Return all checks of recorded states, and the nine residuals of their steps.

    Raises
    ------
    InputError
        States of other sizes than the system has, impulses of rows that it does not have there.
    """
    if (system.nq, system.nv) != (states.q.shape[1], states.v.shape[1]):
        given = f"(nq, nv) = {(states.q.shape[1], states.v.shape[1])}"
        raise InputError(
            "q, v",
            given,
            f"{(system.nq, system.nv)}, as {states.scene} has",
            "Build the system as it was: build(NAME, ...).system.",
        )
    n = len(states.t)
    table, nine, books = np.zeros((n - 1, len(FIGURES))), np.zeros((n - 1, len(NCP))), np.zeros((2, n))
    for k in range(1, n):
        record = _record(states, system, k)
        step = RecordedStep.of(record, states.scheme)
        table[k - 1], nine[k - 1] = _figures(step), ncp_residuals(step)
        books[:, k] = figures.work(step)[0] + _power(step), _of_rule(step)
    t = states.t[1:]
    series = [AuditCheck(name=name, t=t, values=table[:, k], tol=tol) for k, (name, tol) in enumerate(FIGURES.items())]
    return [*_of_places(states, system), *series, _energy(states, system, books)], dict(zip(NCP, nine.T, strict=True))


def _record(states: RecordedStates, system: System, k: int) -> Record:
    """Return what is on record of the step that ended in state k."""
    start, state = (State(t=float(states.t[i]), q=states.q[i], v=states.v[i]) for i in (k - 1, k))
    dt, given = float(states.t[k] - states.t[k - 1]), states.impulses[k - 1]
    local = near_of(system, start, dt)
    begin, rows = (rows_of(local, one.t, one.q, one.v) for one in (start, state))
    if hasattr(local, "taking") and not given.keys() <= (known := {row.id for row in rows}):
        local = local.taking(known | given.keys(), near_of(system, state, dt))
        begin, rows = (rows_of(local, one.t, one.q, one.v) for one in (start, state))
    impulses = {row.id: _cut(row, given.get(row.id, np.zeros(row.size))) for row in rows}
    for key in given.keys() - impulses.keys():
        near = difflib.get_close_matches(key, impulses, n=3, cutoff=0.2)
        mend = (
            f"Nearest: {', '.join(near)}. Write {near[0]!r}."
            if near
            else "Shapes that are apart have no rows: look at "
            "[row.id for row in system.near(t, q, v, dt).rows(t, q, v)], and leave out impulses of 0."
        )
        raise InputError("contacts/id", f"{key!r} at t = {state.t:g} s", "the id of a row that may act there", mend)
    evidence = StepEvidence(acts=acting_of(rows, impulses, set(given)))
    return Record(
        whole=system,
        system=local,
        start=start,
        state=state,
        dt=dt,
        begin=begin,
        end=rows,
        impulses=impulses,
        evidence=evidence,
        control=None if states.control is None else states.control[k],
    )


def _cut(row: Row, p: Array) -> Array:
    """Return an impulse with as many components as the row has; those beyond must be 0."""
    if len(p) < row.size or p[row.size :].any():
        raise InputError(
            "contacts/impulse",
            f"{p.tolist()} for {row.id}",
            f"{row.size} components, then zeros",
            f"Write numpy.pad(p, (0, 6 - {row.size})).",
        )
    return p[: row.size]


def _figures(step: RecordedStep) -> tuple[float, ...]:
    """Return the figures of a step in the order of `FIGURES`."""
    moved, balance, E = figures.kinematics(step), figures.momentum(step), figures.laws(step)
    return moved, balance, E, off_cones(step.dynamics.rows, step.record.impulses), figures.joint_rate(step)


def _power(step: RecordedStep) -> float:
    """Return the work of the forces that the potential does not cover, J."""
    d = step.dynamics
    return d.dt * float(d.system.power(d.t, d.q, 0.5 * (d.v + step.record.state.v), d.control))


def _of_rule(step: RecordedStep) -> float:
    """Return the energy that the rule of a step adds, J: it may move otherwise than the mean velocity, which works."""
    system, start, state = step.record.whole, step.record.start, step.record.state
    ruled, mean = (
        float(system.potential(state.t, system.move(start.q, start.v + share * (state.v - start.v), step.record.dt)))
        for share in (step.scheme.moves, 0.5)
    )
    return ruled - mean


def _of_places(states: RecordedStates, system: System) -> list[AuditCheck]:
    """Return how deep gaps are and how far joints are open at the states."""
    depth, joint = np.zeros(len(states.t)), np.zeros(len(states.t))
    for k, (t, q, v) in enumerate(zip(states.t.tolist(), states.q, states.v, strict=True)):
        rows = rows_of(near_of(system, State(t=t, q=q, v=v), 0.0), t, q, v)
        depth[k] = max((-row.gap for row in rows if one_sided(row)), default=0.0)
        joint[k] = max((abs(row.gap) for row in rows if row.bilateral and row.level == "position"), default=0.0)
    off = max(CLOSED, ROUNDING * float(np.abs(states.q).max(initial=0.0)))
    found = {"gaps": np.maximum(depth, 0.0), "joints": joint}
    return [AuditCheck(name=name, t=states.t, values=x, tol=off + float(x[0]), unit="m") for name, x in found.items()]


def _energy(states: RecordedStates, system: System, books: Array) -> AuditCheck:
    """Return how far the energy is from that of the start and all work since, what the rule of steps adds among it.

    It is relative to the largest kinetic + |potential - initial|. `books` (2, n): work, and what the rule adds, J.
    """
    parts = [
        energy(system, State(t=t, q=q, v=v)) for t, q, v in zip(states.t.tolist(), states.q, states.v, strict=True)
    ]
    kinetic, potential = (np.array(x) for x in zip(*parts, strict=True))
    error = np.abs(kinetic + potential - kinetic[0] - potential[0] - np.cumsum(books.sum(axis=0)))
    scale = float((kinetic + np.abs(potential - potential[0])).max())
    moves = bool((np.abs(states.v) > REST).any())
    return AuditCheck(name="energy", t=states.t, values=error / (scale if scale > 0.0 and moves else 1.0), tol=DRIFT)
