"""What a saved run tells with its system at hand: every saved state and step put into the equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, rows_of
from ...errors import GaussdynError
from ...integrate.energy import energy
from ...integrate.impact.impact_laws import law_of
from ...integrate.run.column_names import readings_of
from ...integrate.run.trajectory import Trajectory
from ...integrate.stepper import Repeats, for_run, near_of
from ...integrate.stepper_names import from_settings
from ...integrate.time_stepping.scheme import ROUNDING
from ...mechanics.system import System
from . import motion_figures as moving
from . import step_figures as figures
from .audit_check import AuditCheck
from .from_file import EXACT, RESIDUAL
from .motion_events import unnoted
from .ncp_residuals import NCP, ncp_residuals
from .recorded_events import untold
from .recorded_examinations import findings_told
from .recorded_motion import RecordedMotion
from .recorded_scheme import Scheme
from .recorded_step import RecordedStep, saved_record
from .recorded_tables import SAME, off_readings, off_sensors, places
from .repeated_step import repeated_step
from .saved_rows import SavedState

FIGURES = {"kinematics": EXACT, "momentum": 1e-10, "laws": RESIDUAL, "joint_rate": 1e-10}
RECORDED = {**FIGURES, "modes": 0.0, "work": 1e-10, "events": 0.0}
CORRECTED = 1e-7  # SI: a hundred times the gaps and rates that count as closed and as zero
FOLLOWED = dict.fromkeys(("kinematics", "momentum", "work"), moving.FOLLOWED)
MOVED = {
    **FIGURES, "modes": 0.0, **FOLLOWED, "impacts": RESIDUAL, "events": 0.0, "put_back": CORRECTED,
    "impulses": RESIDUAL,
}  # fmt: skip
FINEST = 1e-12  # SI: absolute errors per step that settings allow count up to this
LOOSE = 100.0  # times the relative error per step that the settings allow
CLOSED = 1e-10  # m; how deep a projected step may end


def state_series(run: Trajectory, system: System) -> tuple[list[AuditCheck], dict[str, Array]]:
    """Return all checks of saved states and steps, and the nine residuals of the steps that are judged as recorded."""
    settings = run.settings["stepper"]
    stepper = None if "theta" in settings else cast(Repeats, for_run(from_settings(settings)))
    located, project = bool(getattr(stepper, "located", False)), bool(settings.get("project", False))
    scheme = Scheme.of(settings) if stepper is None else None
    at_states, table, nine = _gone_over(run, system, located, scheme)
    allowed = _depth_allowed(run, at_states[:, 3], project and stepper is None)
    series = [
        AuditCheck(name="gap_column", t=run.t, values=at_states[:, 0], tol=EXACT, unit="m"),
        AuditCheck(name="energy_column", t=run.t, values=at_states[:, 1] / _scale(run), tol=EXACT),
        AuditCheck(name="gaps", t=run.t, values=at_states[:, 2], tol=allowed, unit="m"),
        AuditCheck(name="contact_places", t=run.t, values=at_states[:, 5], tol=_same(run), unit="m"),
        AuditCheck(name="joint_columns", t=run.t, values=at_states[:, 6], tol=EXACT),
        AuditCheck(name="sensor_columns", t=run.t, values=off_sensors(run, system), tol=EXACT),
        AuditCheck(name="outcomes", t=run.t, values=findings_told(run, system), tol=0.0),
    ]
    if project and stepper is None:  # what is off at the start is mended in the first step
        off = max(CLOSED, ROUNDING * float(np.abs(run.q).max(initial=0.0)))
        series.append(AuditCheck(name="joints", t=run.t[1:], values=at_states[1:, 4], tol=off, unit="m"))
    if stepper is None:
        return series + _checks(run, RECORDED, table), dict(zip(NCP, nine.T, strict=True))
    if located:
        return _moved(run, system, series), {}
    return series + _repeated(run, system, stepper), {}


def _gone_over(
    run: Trajectory, system: System, located: bool, scheme: Scheme | None
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return the figures of all states; with a scheme those of steps as they were recorded, and nine residuals, too."""
    n = len(run)
    at_states, table, nine = np.zeros((n, 7)), np.zeros((n - 1, len(RECORDED))), np.zeros((n - 1, len(NCP)))
    words = dict[str, set[str]]()
    if run.table is not None:
        run.table.made()
    for k in range(n):
        here = SavedState.of(run, system, k, located)
        at_states[k] = _state_figures(run, system, here)
        if scheme is not None and k > 0:
            step = RecordedStep.of(saved_record(run, system, here), scheme)
            before, words = words, figures.possible_modes(step)
            table[k - 1], nine[k - 1] = _figures(run, here, step, (before, words)), ncp_residuals(step)
    return at_states, table, nine


def _figures(
    run: Trajectory, here: SavedState, step: RecordedStep, words: tuple[dict[str, set[str]], dict[str, set[str]]]
) -> Sequence[float]:  # fmt: skip
    """Return the figures of a step in the order of `RECORDED`; `words`: possible modes before it and after."""
    said = {contact.id: contact.mode for contact in here.contacts}
    return (
        figures.kinematics(step), figures.momentum(step), figures.laws(step), figures.joint_rate(step),
        figures.modes(step, said, words[1]), _work(run, here.k, step), untold(run, here.k, *words),
    )  # fmt: skip


def _work(run: Trajectory, k: int, step: RecordedStep) -> float:
    """Return how far the work of the reactions in a step is from what the column gains, where that is known."""
    if run.saved[k] != run.saved[k - 1] + 1:
        return 0.0
    total, (done, size) = run["work_reactions"][k - 1 : k + 1], figures.work(step)
    size += float(np.abs(total).max()) + float(np.abs(run["kinetic"]).max() + np.abs(run["potential"]).max())
    return float(abs(total[1] - total[0] - done)) / (size or 1.0)


def _moved(run: Trajectory, system: System, series: list[AuditCheck]) -> list[AuditCheck]:
    """Return the checks of steps that follow differential equations."""
    settings = run.settings["stepper"]
    activation = Activation(**settings.get("activation", {}))
    law = law_of(settings.get("impact", {"name": "moreau"}))
    motions = {k: RecordedMotion.of(run, system, k, activation, law) for k in range(1, len(run))}
    table, depths = np.zeros((len(run) - 1, len(MOVED))), np.zeros(len(run))
    for k, motion in motions.items():
        follows = k + 1 < len(run) and run.saved[k + 1] == run.saved[k] + 1
        table[k - 1] = _motion_figures(run, k, motion, motions[k + 1] if follows else None)
        depths[k] = moving.depth(motion)
    tolerance = LOOSE * float(settings.get("rtol", 0.0))
    allowed = {name: max(tol, tolerance) if name in FOLLOWED else tol for name, tol in MOVED.items()}
    series = [replace(one, values=np.maximum(one.values, depths)) if one.name == "gaps" else one for one in series]
    return series + _checks(run, allowed, table)


def _motion_figures(
    run: Trajectory, k: int, motion: RecordedMotion, following: RecordedMotion | None
) -> Sequence[float]:  # fmt: skip
    """Return the figures of a step in the order of `MOVED`."""
    said = {contact.id: contact.mode for contact in run.contacts(k)}
    after = following.arcs[0] if following is not None and following.arcs else None
    atol = min(float(run.settings["stepper"].get("atol", 0.0)), FINEST)
    return (
        moving.kinematics(motion, atol), moving.momentum(motion, atol), moving.laws(motion), moving.joint_rate(motion),
        moving.modes(motion, said, after), _works(run, k, motion, atol), moving.impacts(motion),
        unnoted(motion, following), moving.put_back(motion), moving.impulses(motion),
    )  # fmt: skip


def _works(run: Trajectory, k: int, motion: RecordedMotion, atol: float) -> float:
    """Return how far the works of a step are from what the columns gain, where that is known."""
    if run.saved[k] != run.saved[k - 1] + 1:
        return 0.0
    total = np.array([run[name][k - 1 : k + 1] for name in ("work_reactions", "work_forces")])
    done, size = moving.work(motion, atol)
    size += float(np.abs(total).max()) + float(np.abs(run["kinetic"]).max() + np.abs(run["potential"]).max())
    return float(np.abs(total[:, 1] - total[:, 0] - done).max()) / (size or 1.0)


def _repeated(run: Trajectory, system: System, stepper: Repeats) -> list[AuditCheck]:
    """Return the checks of steps that are integrated again."""
    table = [_again(run, system, stepper, k) for k in range(1, len(run))]
    return _checks(run, FIGURES, np.array(table).reshape(len(table), len(FIGURES)))


def _again(run: Trajectory, system: System, stepper: Repeats, k: int) -> Sequence[float]:
    """Return the figures of a step integrated again; infinite ones where no motion begins as the run says."""
    try:
        return repeated_step(run, system, stepper, k).figures()
    except GaussdynError:
        return np.full(len(FIGURES), np.inf).tolist()


def _checks(run: Trajectory, names: dict[str, float], table: Array) -> list[AuditCheck]:
    return [
        AuditCheck(name=name, t=run.t[1:], values=table[:, k], tol=tol) for k, (name, tol) in enumerate(names.items())
    ]


def _state_figures(run: Trajectory, system: System, saved: SavedState) -> tuple[float, ...]:
    """Return what is off at a state.

    Errors of the gap and energy columns, depth, the fastest normal rate, the worst joint, errors of the places of
    contacts and of the columns of joints.
    """
    k, state, rows, said = saved.k, saved.state, saved.end, saved.said
    here = near_of(system, state, 0.0)  # a contact that the step did not look for is one all the same
    found = rows_of(here, state.t, state.q, state.v) if here is not system else ()
    column = max((abs(row.gap - said[row.id][0]) for row in rows), default=0.0)
    kinetic, potential = energy(system, state)
    far = abs(kinetic - run["kinetic"][k]) + abs(potential - run["potential"][k])
    sided = [row for row in (*rows, *found) if row.level == "position" and row.kind in ("contact", "unilateral")]
    depth = max((-row.gap for row in sided), default=0.0)
    speed = max((abs(float(row.rate[0])) for row in sided), default=0.0)
    joint = max((abs(row.gap) for row in rows if row.bilateral and row.level == "position"), default=0.0)
    placed = places(saved.contacts, {row.id: row for row in rows})
    readings = readings_of(system)
    forces = {key: reaction for key, (_, reaction) in said.items()}
    read = 0.0 if readings is None else off_readings(run, readings, k, state, forces)
    return column, float(far), max(depth, 0.0), speed, joint, placed, read


def _same(run: Trajectory) -> float:
    """Return how far points of contacts may be from those of their rows, m."""
    return SAME * max(1.0, float(np.abs(run.q).max(initial=0.0)))


def _depth_allowed(run: Trajectory, speeds: Array, projects: bool) -> float:
    """Return the depth that is allowed, m: what the first state has, and what the scheme leaves.

    Without projection that is what a closing contact may penetrate in the step in which it is seen, plus the drift of
    curved ones. Between saved states that are steps apart the fastest approach is not known: there its largest change
    is added.
    """
    start = max((-float(run[f"{key}.gap"][0]) for key in run.rows), default=0.0)
    start = max(start, *(-contact.gap for contact in run.contacts(0)), 0.0)
    if projects:
        return start + max(CLOSED, ROUNDING * float(np.abs(run.q).max(initial=0.0)))
    if (np.diff(run.saved) > 1).any():
        speeds = np.append(speeds, speeds.max() + np.abs(np.diff(speeds)).max())
    dt = float(run.steps.dt.max(initial=0.0))
    size = float(np.abs(run.v).max(initial=0.0))
    return start + dt * float(speeds.max(initial=0.0)) + (dt * size) ** 2 + 1e-9


def _scale(run: Trajectory) -> float:
    scale = float(np.abs(run["kinetic"]).max() + np.abs(run["potential"]).max())
    return scale if scale > 0.0 else 1.0
