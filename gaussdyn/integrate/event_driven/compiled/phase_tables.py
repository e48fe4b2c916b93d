"""From a phase to what kernels work on: tables of its system, and what its modes make of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...._jit import nothing
from ....arrays import Array, IntArray
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.planar.tables import tables_of
from ....mechanics.rows import Row
from ....mechanics.spatial import mechanism
from ....mechanics.spatial.contacts import Contacts
from ....mechanics.spatial.row_kernels import Mechanism
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.trees.forest import moving_of, own_drives
from ....mechanics.trees.jointed_system import JointedSystem
from ....mechanics.trees.system import TreeSystem
from ...impact.problem import one_sided
from ...time_stepping.core.python_system import Answers
from ..guards import Guard, limit_name
from ..smooth_phase import Phase
from .records import (
    BORDER,
    DRY_SLIP,
    FOREST,
    FUNCTION,
    LIFT_OFF,
    PLANAR,
    ROLL,
    SLIP,
    SPATIAL,
    STOP,
    TOUCHDOWN,
    TURN,
    HeldRows,
    PhaseTables,
    PlanarParts,
    Room,
    SpatialContacts,
)

KINDS = {
    "touchdown": TOUCHDOWN, "lift_off": LIFT_OFF, "turn": TURN, "slip": SLIP, "stop": STOP, "roll": ROLL,
    "stop_roll": STOP, "end": BORDER,
}  # fmt: skip
FLYING, TURNING = {"touchdown"}, {"slip", "stop"}  # kinds of guards: nothing touches; something sticks or slides
Kept = list["MechanismTables | None"]  # of one run: empty, or the tables of its system
UNITS = {"place": 0, "speed": 1, "force": 2, "acceleration": 3}


class MechanismTables(NamedTuple):
    """Tables of joints and forces, the number of every row of joints, and the blocks of M^-1."""

    tables: Mechanism
    numbers: dict[str, int]
    inverse: Array


class Served(NamedTuple):
    """A phase for kernels, and who answers them where the system is Python."""

    tables: PhaseTables
    answers: Answers | None = None


def tables_of_phase(phase: Phase, known: Kept | None = None) -> Served:
    """Return a phase for kernels; a system that has no tables is asked.

    `known` keeps what phases of one system in space have in common; without it that is made anew.
    """
    system, made = phase.system, None
    if isinstance(system, PlanarSystem):
        made = _planar(phase, system)
    elif isinstance(system, (TreeSystem, JointedSystem)):
        made = _trees(phase, system) if type(system) in (TreeSystem, JointedSystem) else None
    elif isinstance(system, SpatialSystem):
        made = _spatial(phase, system, known)
    return _asked(phase) if made is None else Served(made)


def laws_of(phase: Phase) -> Array | None:
    """Return mu, mu_s, eps_n and eps_t of all rows (n, 4), None where kernels decide no event of a phase.

    They do where nothing touches, and where contacts of points in the plane stick or slide; not among redundant rows.
    """
    if phase.redundant:
        return None
    kinds, system = {guard.kind for guard in phase.guards}, phase.system
    if isinstance(system, PlanarSystem):
        served = system.detector is None and not system.joints and (kinds <= FLYING or bool(kinds & TURNING))
        served = served and all(map(one_sided, phase.rows))
    elif not isinstance(system, SpatialSystem) or isinstance(system, JointedSystem):
        return None
    else:
        joined = (row.kind == "bilateral" and row.level == "position" for row in phase.rows if not one_sided(row))
        served = kinds <= FLYING and all(joined)
    if not served or any(row.moments for row in phase.rows):
        return None
    return _table([[row.mu, row.mu_s, row.eps_n, row.eps_t] for row in phase.rows], 4, np.float64)  # type: ignore[no-any-return]


def _planar(phase: Phase, system: PlanarSystem) -> PhaseTables | None:
    tables = tables_of(system)
    if tables is None:
        return None
    bodies, n = tables.bodies, len(tables.numbers)
    if phase.control is not None:
        bodies = bodies.copy()
        bodies[4] = phase.control
    parts = PlanarParts(
        tables.numbers, tables.data, tables.parts, tables.factors, tables.forces, tables.strength, bodies,
        np.zeros((n, 7)),
    )  # fmt: skip
    return _filled(phase, 2 * np.arange(len(phase.rows)), 2 * n, bodies[0][:, None].copy())._replace(
        who=PLANAR, planar=parts
    )


def _spatial(phase: Phase, system: SpatialSystem, known: Kept | None) -> PhaseTables | None:
    """Return a phase of bodies in space."""
    known = [] if known is None else known
    if not known:
        known.append(mechanism_of(system))
    if known[0] is None or _unlisted(system.contacts):
        return None
    fixed, of_joint, inverse = known[0]
    tables = _with_contacts(phase, system.contacts, of_joint, len(system.bodies), inverse)
    return tables._replace(who=SPATIAL, mechanism=_own(fixed, phase.control))


def _trees(phase: Phase, system: TreeSystem | JointedSystem) -> PhaseTables | None:
    """Return a phase of trees; None where their tables do not say all of the system."""
    given, contacts = system.forest, system.contacts
    if given is None or _unlisted(contacts):
        return None
    told, push, drives = phase.control, np.zeros(system.nv), own_drives(given.drives)
    control = np.zeros(len(drives.control))
    if told is not None:
        (control if isinstance(system, TreeSystem) else push)[:] = told
    forest = given._replace(moving=moving_of(given.trees), drives=drives._replace(control=control))
    frames = nothing(Mechanism)._replace(
        x=forest.moving.x, R=forest.moving.R, velocity=np.zeros_like(forest.moving.x),
        omega=np.zeros_like(forest.moving.x),
    )  # fmt: skip
    of_joint = {blank.id: r for r, blank in enumerate(system.blanks)}
    tables = _with_contacts(phase, contacts, of_joint, len(forest.trees.inertia), np.zeros((system.nv, system.nv)))
    return tables._replace(who=FOREST, forest=forest, mechanism=frames, push=push)


def _unlisted(contacts: Contacts) -> bool:
    """Return whether there may be contacts that have not been looked for."""
    return contacts.found is None and len(contacts.shapes.labels) > 1


def _with_contacts(
    phase: Phase, contacts: Contacts, of_joint: Mapping[str, int], bodies: int, inverse: Array
) -> PhaseTables:  # fmt: skip
    """Return a phase of bodies in space with the contacts that were found, without who evaluates."""
    found, blanks, of_bodies = contacts.found, contacts.blanks, np.zeros((bodies + 1, 3))
    numbers = {**{blank.id: -1 - c for c, blank in enumerate(blanks)}, **of_joint}
    joint = _whole([numbers[row.id] for row in phase.rows])
    chart = _whole([contacts.charts.get(blank.id, 0) for blank in blanks])
    touches = nothing(SpatialContacts)._replace(joint=joint, chart=chart, moved=np.zeros(13), drift=of_bodies)
    start = np.cumsum([0, *(row.size for row in phase.rows)])
    tables = _filled(phase, start[:-1], int(start[-1]), inverse)
    if found is None or not blanks:
        return tables._replace(touches=touches)
    touches = touches._replace(
        bodies=np.ascontiguousarray(found.bodies), data=np.ascontiguousarray(found.data),
        frame=np.zeros((len(blanks), 6, 3)),
    )  # fmt: skip
    return tables._replace(touches=touches, kind=np.ascontiguousarray(found.kind))


def _asked(phase: Phase) -> Served:
    """Return a phase whose system is asked as a whole."""
    from .phase_functions import callback_of, function_of

    asked = function_of(phase)
    nv = phase.system.nv
    start = np.cumsum([0, *(row.size for row in phase.rows)])
    tables = _filled(phase, start[:-1], int(start[-1]), np.zeros((nv, nv)))
    callback = callback_of(asked.answers)
    tables = tables._replace(who=FUNCTION, function=asked.function, callback=callback, push=asked.push)
    return Served(tables, asked.answers)


def mechanism_of(system: SpatialSystem) -> MechanismTables | None:
    """Return the tables of a system in space, whatever its contacts; None where a part has none."""
    if not mechanism.has_tables(system):
        return None
    tables, lines = mechanism.mechanism_of(system)
    M = system.mass(np.zeros(system.nq))
    inverse = np.vstack([np.linalg.inv(M[k : k + 6, k : k + 6]) for k in range(0, system.nv, 6)])
    return MechanismTables(tables, {line.id: r for r, line in enumerate(lines)}, np.ascontiguousarray(inverse))


def _own(tables: Mechanism, control: Array | None) -> Mechanism:
    """Return tables with work space of their own, and a control."""
    names = ("x", "R", "velocity", "omega", "turn", "found", "load")
    own = tables._replace(**{name: getattr(tables, name).copy() for name in names})
    if control is not None:
        own.load[1] = control
    return own


def _filled(phase: Phase, start: IntArray, m: int, inverse: Array) -> PhaseTables:
    """Return what does not depend on who evaluates: the modes of rows that begin at `start`, and room for m rows."""
    n, nq, nv, h = len(phase.rows), phase.system.nq, phase.system.nv, phase.size
    room = Room(
        np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, nv)), np.zeros((h, nv)), np.zeros((h, nv)),
        np.zeros((h, h + 1)), np.zeros((3, nv)), np.zeros(5),
    )  # fmt: skip
    size = _whole([row.size for row in phase.rows])
    blocks = inverse.reshape(-1, inverse.shape[1], inverse.shape[1])
    mass: Array = np.zeros_like(inverse)
    if inverse.any():  # it does not depend on the place
        mass[:] = np.linalg.inv(blocks).reshape(inverse.shape)
    return _empty()._replace(
        nq=nq, nv=nv, start=_whole(start), size=size, inverse=inverse, mass=mass, push=np.zeros(nv),
        held=_held(phase, start.tolist(), m), room=room,
        redundant=_empty().redundant if phase.dependence is None else phase.dependence.value,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _empty() -> PhaseTables:
    """Return a record of empty arrays, which nobody writes to."""
    return nothing(PhaseTables)


def _held(phase: Phase, start: Sequence[int], m: int) -> HeldRows:
    at, closed = np.full(m, -1, dtype=np.int64), np.zeros(len(phase.rows), dtype=np.int64)
    slips: list[list[int]] = []
    pull: list[list[float]] = []
    for part in phase.parts:
        row, first = phase.rows[part.k], start[part.k]
        for number, component in enumerate(part.held.tolist(), start=part.at.start):
            at[first + component] = number
        closed[part.k] = -1 if row.level == "acceleration" else row.kind != "dry" and row.level == "position"
        for where, mu, e in part.slips:
            strength = row.cap if part.dry else part.sign * getattr(row, mu)
            slips.append([part.k, first + where.start, len(e), part.dry])
            pull.append([strength, *_two(e.tolist())])
    guards, limits = [], []
    for guard in phase.guards:
        row = phase.rows[guard.k]
        numbers, values = _guard(guard, row, start[guard.k])
        guards.append(numbers)
        limits.append(values)
    return HeldRows(
        phase.size, at, closed, _table(slips, 4, np.int64), _table(pull, 3, np.float64),
        _table(guards, 5, np.int64), _table(limits, 3, np.float64),
    )  # fmt: skip


def _guard(guard: Guard, row: Row, start: int) -> tuple[list[int], list[float]]:
    """Return numbers and limits of a guard."""
    dry, mode, where = row.kind == "dry", guard.mode, guard.part
    kind = DRY_SLIP if dry and guard.kind == "slip" else KINDS[guard.kind]
    limit = getattr(row, name) if (name := limit_name(guard, row)) else 0.0
    ahead = (mode.sign, 0.0) if kind == TURN else _two(guard.ahead)
    return [kind, guard.k, start + where.start, where.stop - where.start, UNITS[guard.unit]], [*ahead, limit]


def _two(e: Sequence[float]) -> tuple[float, float]:
    return (float(e[0]) if e else 0.0), (float(e[1]) if len(e) > 1 else 0.0)


def _whole(x: Any) -> IntArray:
    return np.array(x, dtype=np.int64)


def _table(lines: Sequence[Sequence[float]], columns: int, kind: Any) -> Any:
    return np.array(lines, dtype=kind).reshape(len(lines), columns)
