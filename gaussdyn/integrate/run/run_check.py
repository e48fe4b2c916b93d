"""Whether the parts of a run that was read fit together: shapes, numbers of lines, and what documents must say."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..contact_modes import FREE
from ..impact.history import KINDS
from ..stretch import WORDS
from .contact_history import COMPONENTS, MOST, ContactTable
from .mode_events import EVENT_KINDS
from .step_evidence import StepEvidence, places_of
from .uniqueness_checks import OUTCOMES
from .values import StepTable

if TYPE_CHECKING:
    from .trajectory import Trajectory

NUMBERS, INTEGERS = "fiu", "iu"
STATUS = ("COMPLETED", "STOPPED")
ROW_WORDS = ("kind", "level")
ROW_NUMBERS = ("mu", "mu_s", "mu_r", "cap", "cap_s", "eps_n", "eps_t")
STATISTICS = ("max_residual", "max_penetration_m", "max_joint_error_m", "max_cone", "energy_drift_rel")

ANEW = "The file is damaged: gaussdyn run SCENE --out run.h5 makes it again."


def check_run(run: Trajectory, *, whole: bool) -> None:
    """Refuse a run whose parts do not fit together.

    Parameters
    ----------
    run : Trajectory
    whole : bool
        Whether it begins at its first step; pieces count their states from there, too.

    Raises
    ------
    InputError
        Names the part.
    """
    n = len(run.t) if np.ndim(run.t) == 1 else 0
    if not n and whole:
        raise InputError("state/t", f"shape {np.shape(run.t)}", "at least one saved state", ANEW)
    nq, nv = len(run.final.q), len(run.final.v)
    shapes = {"t": (n,), "before_t": (n,), "q": (n, nq), "before_q": (n, nq), "v": (n, nv), "before_v": (n, nv)}
    for name, shape in shapes.items():
        _array(f"state/{name}", getattr(run, name), shape)
    for name, column in run.columns.items():
        _array(f"columns/{name}", column.values, (n,))
    _check_steps(run.steps, counted=bool(run.evidence))
    most = len(run.steps.t) if whole else np.iinfo(np.int64).max
    _indices("state/saved", run.saved, (n,), most + 1)
    if run.table is not None:
        _check_table(run.table, n)
    _check_evidence(run, nq, nv)
    _check_certificates(run)
    _check_documents(run)


def _check_evidence(run: Trajectory, nq: int, nv: int) -> None:
    """Refuse evidence, events and impacts of steps that there are not, or of another system."""
    _check_numbers_of_steps(run)
    _words("events/kind", [event.kind for event in run.events], EVENT_KINDS)
    _words("impacts/kind", [strike.kind for strike in run.impacts], KINDS)
    for step, one in run.evidence.items():
        _check_sizes(step, one, nq, nv)


def _check_numbers_of_steps(run: Trajectory) -> None:
    """Refuse evidence and impacts of steps below 0, and saved steps without evidence."""
    if any(step < 0 for step in run.evidence) or any(strike.step < 0 for strike in run.impacts):
        raise InputError("impacts, starts", "a number of a step below 0", "numbers from 0", ANEW)
    first = min(run.evidence, default=0)  # runs of earlier versions that were resumed have some from there on
    if missing := {int(k) for k in run.saved if k >= first} - run.evidence.keys() if run.evidence else set():
        raise InputError("evidence/step", f"no step {min(missing)}", "every saved step", ANEW)


def _check_sizes(step: int, one: StepEvidence, nq: int, nv: int) -> None:
    """Refuse evidence of a step whose coordinates and velocities are not as many as the system has."""
    if not all(_finite(place, nq) for place in places_of(one)):
        raise InputError("evidence", f"step {step}", f"places of {nq} finite coordinates", ANEW)
    if not _finite(one.foreseen, nq + nv):
        both = f"{nq + nv} finite coordinates and velocities"
        raise InputError("evidence", f"foreseen of step {step}", both, ANEW)
    if any(arc.q.shape[1] != nq or arc.v.shape[1] != nv for arc in one.arcs):
        samples = f"samples of {nq} coordinates and {nv} velocities"
        raise InputError("evidence", f"arcs of step {step}", samples, ANEW)


def _finite(x: Array | None, size: int) -> bool:
    """Return whether there is no x, or one of so many finite numbers."""
    return x is None or (len(x) == size and bool(np.isfinite(x).all()))


def _check_certificates(run: Trajectory) -> None:
    """Refuse proofs that are no documents of docs/certificates.md."""
    for proof in run.certificates:
        said = json.loads(proof.document)
        if not isinstance(said, dict) or not {"kind", "claim", "problem", "leaves"} <= set(said):
            allowed = "certificates as docs/certificates.md describes them"
            raise InputError("certificates", proof.document[:40], allowed, ANEW)


def _check_steps(steps: StepTable, counted: bool) -> None:
    """Refuse tables of steps that do not fit together; `counted`: they are none of an earlier version."""
    m = len(steps.t) if np.ndim(steps.t) == 1 else 0
    for name in ("t", "dt", "E", "friction_margin", "restitution"):
        _array(f"steps/{name}", getattr(steps, name), (m,))
    for name in ("status", "outcome"):
        _array(f"steps/{name}", getattr(steps, name), (m,), "U")
    _array("steps/events", steps.events, (m,), INTEGERS)
    if m and steps.events.min() < 0 and (counted or (steps.events != -1).any()):  # -1: of an earlier version
        raise InputError("steps/events", int(steps.events.min()), "numbers of events", ANEW)
    _words("steps/outcome", steps.outcome, OUTCOMES)


def _check_table(table: ContactTable, n: int) -> None:
    """Refuse a table of contacts of n states whose columns do not fit together, or with a contact twice in a state."""
    m, d = len(table.index), table.point.shape[-1] if np.ndim(table.point) == 2 else 0
    width = MOST if np.shape(table.reaction)[1:] == (MOST,) else COMPONENTS
    shapes = {"gap": (m,), "mu": (m,), "mu_s": (m,), "reaction": (m, width), "point": (m, d), "frame": (m, d, d)}
    for name, shape in shapes.items():
        _array(f"contacts/{name}", getattr(table, name), shape)
    if d not in (2, 3):
        raise InputError("contacts/point", f"{d} coordinates", "2 or 3", ANEW)
    _array("contacts/mode", table.mode, (m,), "U")
    _indices("contacts/index", table.index, (m,), len(table.ids))
    _indices("contacts/size", table.size, (m,), width + 1)
    if (beyond := (np.arange(width) >= table.size[:, None]) & (table.reaction != 0.0)).any():
        line = int(np.flatnonzero(beyond.any(axis=1))[0])
        given = f"{table.reaction[line].tolist()} in line {line}"
        raise InputError("contacts/reaction", given, f"{table.size[line]} components, then zeros", ANEW)
    _indices("contacts/offsets", table.offsets, (n + 1,), m + 1)
    if table.offsets[0] != 0 or table.offsets[-1] != m or (np.diff(table.offsets) < 0).any():
        raise InputError("contacts/offsets", "numbers that do not rise", f"rising numbers from 0 to {m}", ANEW)
    _words("contacts/mode", table.mode, (FREE, *WORDS))
    state = np.repeat(np.arange(n), np.diff(table.offsets))
    lines = list(zip(state.tolist(), table.index.tolist(), strict=True))
    if len(set(table.ids)) < len(table.ids) or len(set(lines)) < len(lines):
        raise InputError("contacts/index", "a contact twice", "one line for a contact in a state", ANEW)
    if len(table.bodies) != len(table.ids):
        raise InputError("contacts/bodies", f"{len(table.bodies)} pairs", f"{len(table.ids)}, one for every id", ANEW)


def _check_documents(run: Trajectory) -> None:
    """Refuse documents in which something is missing that a resume, an audit or a report looks for."""
    if run.status not in STATUS or (run.status == "STOPPED") != (run.stop is not None):
        raise InputError("status", run.status, "COMPLETED, or STOPPED with a reason", ANEW)
    if run.stop is not None:
        _number("stop", run.stop.t)
        _kind("stop", run.stop.reason, str, "a reason in words")
    for name in ("settings", "versions", "statistics", "rows", "running"):
        _kind(name, getattr(run, name), Mapping, "an object")
    _check_settings(run.settings)
    _check_statistics(run.statistics)
    for key, row in run.rows.items():
        _check_row(f"rows.{key}", row)
    _check_running(run.running)


def _check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse settings without the scene, the end, the stepper, or with numbers that are none."""
    for key in ("scene", "start"):
        _kind(f"settings.{key}", settings.get(key), str, "a text")
    _number("settings.t_end", settings.get("t_end"))
    _kind("settings.stepper", settings.get("stepper"), Mapping, "the settings of a stepper")
    for key, value in _kind("settings.params", settings.get("params", {}), Mapping, "numbers by name").items():
        _number(f"settings.params.{key}", value)
    _kind("settings.system", settings.get("system", {}), Mapping, "an object")
    save = settings.get("save", 1)
    if type(save) is not int or save < 1:
        raise InputError("settings.save", save, "an integer >= 1", ANEW)


def _check_statistics(statistics: Mapping[str, Any]) -> None:
    """Refuse statistics without a number of steps, or with figures that are no numbers."""
    steps = statistics.get("steps")
    if type(steps) is not int or steps < 0:
        raise InputError("statistics.steps", steps, "a number of steps", ANEW)
    for key in STATISTICS:
        if statistics.get(key) is not None:
            _number(f"statistics.{key}", statistics[key])


def _check_row(name: str, row: Any) -> None:
    """Refuse the document of a row without its words and numbers."""
    _kind(name, row, Mapping, "an object")
    for key in ROW_WORDS:
        _kind(f"{name}.{key}", row.get(key), str, "a word")
    for key in ROW_NUMBERS:
        _number(f"{name}.{key}", row.get(key))
    _number(f"{name}.mu_t", row.get("mu_t", 0.0))  # runs of earlier versions have none


def _check_running(running: Mapping[str, Any]) -> None:
    """Refuse running sums (count, energy book, worst figures, modes) that a resumed run could not go on from."""
    _kind("running.count", running.get("count"), int, "a number of steps")
    for key in ("book", "worst", "contacts"):
        _kind(f"running.{key}", running.get(key), Mapping, "an object")
    for key, value in running["worst"].items():
        _number(f"running.worst.{key}", value)
    for key, value in running["contacts"].items():
        _kind(f"running.contacts.{key}", value, str, "a word")
    for key, value in running["book"].items():
        for part in value if isinstance(value, list) else [value]:
            _number(f"running.book.{key}", part)


def _array(name: str, x: Any, shape: tuple[int, ...], kinds: str = NUMBERS) -> None:
    """Refuse an array of another shape, or of another kind (`numpy.dtype.kind`)."""
    found = np.asarray(x)
    empty = kinds == "U" and found.size == 0  # files keep no words as no bytes
    if found.shape != shape or not (empty or found.dtype.kind in kinds):
        raise InputError(name, f"{found.dtype} of shape {found.shape}", f"shape {shape}", ANEW)


def _words(name: str, found: Iterable[str], known: Collection[str]) -> None:
    """Refuse words that are not known."""
    if strange := set(map(str, found)) - set(known):
        raise InputError(name, ", ".join(sorted(strange)), ", ".join(sorted(set(known))), ANEW)


def _indices(name: str, x: Any, shape: tuple[int, ...], end: int) -> None:
    """Refuse an array of another shape, or of anything but whole numbers from 0 up to before `end`."""
    _array(name, x, shape, INTEGERS)
    if np.size(x) and not 0 <= int(np.min(x)) <= int(np.max(x)) < end:
        raise InputError(name, f"{np.min(x)} to {np.max(x)}", f"0 to {end - 1}", ANEW)


def _number(name: str, value: Any) -> None:
    """Refuse what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(name, repr(value), "a number", ANEW)


def _kind(name: str, value: Any, kind: Any, allowed: str) -> Any:
    """Return a value of this type; refuse all others."""
    if isinstance(value, bool) or not isinstance(value, kind):
        raise InputError(name, repr(value), allowed, ANEW)
    return value
