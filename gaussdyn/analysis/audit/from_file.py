"""What a saved run tells without its system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...arrays import EPS, Array
from ...integrate.energy import REST
from ...integrate.run.contact_history import ContactTable
from ...integrate.run.setup import WORKS
from ...integrate.run.trajectory import Trajectory
from ...mechanics.rows import MOMENTS, Row
from ...programs.solution.status import Status
from .audit_check import AuditCheck
from .recorded_events import events_due
from .recorded_tables import CLOCK, events_told, first_state, steps_told

EXACT = 1e-12  # numbers that must agree up to rounding
RESIDUAL = 1e-8  # above this the mode of a contact is not settled
DRIFT = 1e-2  # energy that the step size may lose or gain, relative


def file_series(run: Trajectory) -> list[AuditCheck]:
    """Return all checks that need no system."""
    whole = (column.values for column in run.columns.values() if not column.partial)
    numbers = np.column_stack([*whole, run.q, run.v])
    checks = {
        "finite": (np.where(np.isfinite(numbers).all(axis=1), 0.0, np.inf), 0.0, "1"),
        "columns": (_columns(run), 0.0, "SI"),
        "order": (np.r_[0.0, -np.minimum(np.diff(run.t), 0.0)], 0.0, "s"),
        "before": (before_errors(run), 0.0, "SI"),
        "clock": (_clock(run), CLOCK, "1"),
        "contacts": (_contacts(run), 0.0, "SI"),
        "cone": (_cone(run), EXACT, "1"),
        "energy_sum": (_energy(run), EXACT, "1"),
        "energy_drift": (_drift(run), DRIFT, "1"),
        "event_table": (events_due(run), 0.0, "1"),
    }
    series = [AuditCheck(name=name, t=run.t, values=x, tol=tol, unit=unit) for name, (x, tol, unit) in checks.items()]
    return [*series, *_steps(run), *_final(run)]


def _steps(run: Trajectory) -> list[AuditCheck]:
    """Return status and residual of every step, saved or not."""
    steps = run.steps
    unsolved = (steps.status != str(Status.SOLVED)).astype(np.float64)
    return [
        AuditCheck(name="unsolved", t=steps.t, values=unsolved, tol=0.0),
        AuditCheck(name="residual", t=steps.t, values=steps.E, tol=RESIDUAL),
        AuditCheck(name="step_table", t=steps.t, values=steps_told(run), tol=0.0),
        AuditCheck(name="event_times", t=steps.t, values=events_told(run), tol=CLOCK),
    ]


def _final(run: Trajectory) -> list[AuditCheck]:
    """Return whether the last state is the saved one and has the hash and the maxima that the run claims."""
    final = run.final
    same = final.t == run.t[-1] and np.array_equal(final.q, run.q[-1]) and np.array_equal(final.v, run.v[-1])
    worst = float(run.steps.E.max(initial=0.0))
    claimed = run.statistics.get("max_residual")
    depth = max((-_gap(run, key).min() for key, row in run.rows.items() if _one_sided(row)), default=0.0)
    allowed = run.statistics.get("max_penetration_m")
    verdicts = {
        "first_state": first_state(run),
        "final_state": same,
        "state_hash": final.digest() == run.state_hash,
        "max_residual": claimed is None or worst == claimed,
        "max_penetration": allowed is None or depth <= allowed,
        "step_count": run.statistics.get("steps") == len(run.steps.t),
    }
    t = run.t[-1:]
    return [AuditCheck(name=name, t=t, values=np.where([ok], 0.0, np.inf), tol=0.0) for name, ok in verdicts.items()]


def _columns(run: Trajectory) -> Array:
    """Return how far the columns of time and state are from the states."""
    far = np.abs(run["t"] - run.t)
    for name, x in (("q", run.q), ("v", run.v)):
        for k in range(x.shape[1]):
            far = np.maximum(far, np.abs(run[f"{name}{k}"] - x[:, k]))
    return far


def _clock(run: Trajectory) -> Array:
    """Return how far the times around a step are from its length, relative to it, less the rounding of the times."""
    found, k = np.zeros(len(run)), np.flatnonzero(run.saved > 0)
    if not len(k):
        return found
    dt, t = run.steps.dt[run.saved[k] - 1], np.abs(run.t[k])
    far = np.abs(run.t[k] - run.before_t[k] - dt) + np.abs(run.t[k] - run.steps.t[run.saved[k] - 1])
    found[k] = np.maximum(far - 8.0 * EPS * t, 0.0) / dt
    return found


def before_errors(run: Trajectory) -> Array:
    """Return how far the state before a step is from the saved one, where that is saved too."""
    far = np.zeros(len(run))
    follows = np.flatnonzero(np.diff(run.saved) == 1) + 1
    for now, before in ((run.t[:, None], run.before_t[:, None]), (run.q, run.before_q), (run.v, run.before_v)):
        far[follows] = np.maximum(far[follows], np.abs(before[follows] - now[follows - 1]).max(axis=1, initial=0.0))
    return far


def _contacts(run: Trajectory) -> Array:
    """Return how far the table of contacts is from the columns of those that have some; inf where a line is missing."""
    far, table = np.zeros(len(run)), run.table
    if table is None:
        return far
    for key in run.rows:
        r = run.reactions(key)
        if key not in table.ids or r is None:
            continue
        lines = np.flatnonzero(table.index == table.ids.index(key))
        state = np.searchsorted(table.offsets, lines, side="right") - 1
        found = np.full(len(run), np.inf)
        off = np.abs(table.gap[lines] - _gap(run, key)[state])
        found[state] = np.maximum(off, np.abs(table.reaction[lines, : r.shape[1]] - r[state]).max(axis=1, initial=0.0))
        far = np.maximum(far, found)
    return far


def _cone(run: Trajectory) -> Array:
    """Return how far the reactions are outside their cones, relative to those of the state, contacts included.

    Reactions are impulses over the time between two numbers that are rounded: a given cap is met no better than that.
    Nor is any met better than all n are solved together: to E, and to rounding, of |rho q|. That is the momentum that
    they end, up to sqrt(n) times their sum, and the one along slips that go on: of short steps by far the most.
    """
    out, total, count = np.zeros(len(run)), np.zeros(len(run)), np.zeros(len(run))
    taken = np.where(run.saved > 0, run.steps.dt[run.saved - 1] if len(run.steps.dt) else np.inf, np.inf)
    rounded = EPS * np.abs(run.t) / taken
    for key, row in run.rows.items():
        r = run.reactions(key)
        if r is None:
            continue
        size = np.abs(r).max(axis=1)
        total, count = total + size, count + (size > 0.0)
        out = np.maximum(out, outside(r, row, rounded))
    if run.table is not None:
        state = np.searchsorted(run.table.offsets, np.arange(len(run.table.index)), side="right") - 1
        own = ~np.isin(run.table.index, [k for k, key in enumerate(run.table.ids) if key in run.rows])
        size = np.abs(run.table.reaction).max(axis=1, initial=0.0) * own
        np.maximum.at(out, state, _outside_lines(run.table) * own)
        np.add.at(total, state, size)
        np.add.at(count, state, size > 0.0)
    out = _positive(out - _unsolved(run))
    relative: Array = out / np.where(total > 0.0, np.sqrt(count) * total, 1.0)
    return relative


def _unsolved(run: Trajectory) -> Array:
    """Return what the residual of a step, and rounding, leave of the momentum in it, as a mean force over it, N.

    2 T / |v| is the momentum of a mass that moves, and of many about that.
    """
    found, k = np.zeros(len(run)), np.flatnonzero(run.saved > 0)
    steps, speed = run.saved[k] - 1, np.linalg.norm(run.v[k], axis=1)
    momentum = 2.0 * run["kinetic"][k] / np.where(speed > 0.0, speed, 1.0)
    found[k] = (run.steps.E[steps] + 8.0 * EPS) * momentum / run.steps.dt[steps]
    return found


def _outside_lines(table: ContactTable) -> Array:
    """Return the excess of every line of the table of contacts, N; how large moments may be rows alone say."""
    load, slip = table.reaction[:, 0], np.linalg.norm(table.reaction[:, 1:3], axis=1)
    return _positive(np.maximum(-load, np.where(table.size > 1, slip - table.mu_s * load, 0.0)))


def outside(r: Array, row: Mapping[str, Any], rounded: Array) -> Array:
    """Return the excess of the reactions r (n, k) of one row, N, with the largest friction that it may have.

    `rounded` is what rounding of the time leaves of them, relative, shape (n,).
    """
    kind = row["kind"]
    if kind == "bilateral":
        return np.zeros(len(r))
    if kind == "dry":
        return _positive(np.linalg.norm(r, axis=1) - row["cap_s"] * (1.0 + rounded))
    load = np.abs(r[:, 0]) if kind == "bilateral_contact" else r[:, 0]
    slip = np.linalg.norm(r[:, 1:3], axis=1) - row["mu_s"] * load
    for rows, name in MOMENTS.get(r.shape[1], ()):
        slip = np.maximum(slip, np.linalg.norm(r[:, rows], axis=1) - row.get(name, 0.0) * load)
    return np.maximum(_positive(-load), _positive(slip) if r.shape[1] > 1 else 0.0)


def off_cones(rows: Iterable[Row], impulses: Mapping[str, Array]) -> float:
    """Return how far impulses are outside their cones, relative to the largest."""
    size = max((float(np.abs(p).max()) for p in impulses.values()), default=0.0)
    names = ("kind", "mu_s", "mu_r", "mu_t")
    out = [
        float(outside(impulses[row.id][None], {n: getattr(row, n) for n in names}, np.zeros(1))[0])
        for row in rows if row.kind not in ("dry", "bilateral")
    ]  # fmt: skip
    return max(out, default=0.0) / (size or 1.0)


def _energy(run: Trajectory) -> Array:
    """Return how far energy and its error are from their parts, relative to the largest energy."""
    energy = run["kinetic"] + run["potential"]
    error = energy - energy[0] - sum(run[name] for name in WORKS)
    scale = float(np.abs(run["kinetic"]).max() + np.abs(run["potential"]).max() + np.abs(run["work_reactions"]).max())
    far: Array = np.abs(run["energy"] - energy) + np.abs(run["energy_error"] - error)
    return far / (scale if scale > 0.0 else 1.0)


def _drift(run: Trajectory) -> Array:
    """Return the energy error relative to the largest kinetic + |potential - initial|."""
    scale = float((run["kinetic"] + np.abs(run["potential"] - run["potential"][0])).max())
    moves = bool((np.abs(run.v) > REST).any())
    return np.abs(run["energy_error"]) / (scale if scale > 0.0 and moves else 1.0)


def _gap(run: Trajectory, key: str) -> Array:
    return run[f"{key}.gap"]


def _one_sided(row: Mapping[str, Any]) -> bool:
    return bool(row["level"] == "position" and row["kind"] in ("contact", "unilateral"))


def _positive(x: Array) -> Array:
    return np.maximum(x, 0.0)
