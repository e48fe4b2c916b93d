"""From a phase to what kernels work on: tables of its system, and what its modes make of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...._jit import nothing
from ....arrays import Array, IntArray
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.planar.tables import tables_of
from ....mechanics.rows import Row
from ....mechanics.spatial.row_kernels import Mechanism
from ....mechanics.spatial.system import SpatialSystem
from ...contact_modes import limit_of
from ...impact.problem import one_sided
from ...time_stepping.core import spatial_model
from ..guards import Guard
from ..smooth_phase import Phase
from .records import (
    BORDER,
    DRY_SLIP,
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
UNITS = {"place": 0, "speed": 1, "force": 2}


class MechanismTables(NamedTuple):
    """Tables of joints and forces, the number of every row of joints, and the blocks of M^-1."""

    tables: Mechanism
    numbers: dict[str, int]
    inverse: Array


def tables_of_phase(phase: Phase, known: Kept | None = None) -> PhaseTables | None:
    """Return a phase for kernels; None if they cannot serve it.

    `known` keeps what phases of one system in space have in common; without it that is made anew.

    That is where reactions are not unique, or a part of the system has no table.
    """
    served = not phase.redundant and all(guard.kind in KINDS and guard.unit in UNITS for guard in phase.guards)
    if not served or any(row.level == "acceleration" for row in phase.rows):
        return None
    if isinstance(phase.system, PlanarSystem):
        return _planar(phase, phase.system)
    if not isinstance(phase.system, SpatialSystem) or phase.system.coordinates == "joints":
        return None
    return _spatial(phase, phase.system, known)


def laws_of(phase: Phase) -> Array | None:
    """Return mu, mu_s, eps_n and eps_t of all rows (n, 4), None where kernels decide no event of a phase.

    They do where nothing touches, and where contacts of points in the plane stick or slide.
    """
    kinds, system = {guard.kind for guard in phase.guards}, phase.system
    if isinstance(system, PlanarSystem):
        served = system.detector is None and not system.joints and (kinds <= FLYING or bool(kinds & TURNING))
        served = served and all(map(one_sided, phase.rows))
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
    if known[0] is None or system.contacts.found is None:
        return None
    fixed, of_joint, inverse = known[0]
    found, blanks = system.contacts.found, system.contacts.blanks
    of_contact = {blank.id: -1 - c for c, blank in enumerate(blanks)}
    numbers = {**of_contact, **of_joint}
    joint = _whole([numbers[row.id] for row in phase.rows])
    chart = _whole([system.contacts.charts.get(blank.id, 0) for blank in blanks])
    touches = SpatialContacts(
        joint, chart, np.ascontiguousarray(found.bodies), np.ascontiguousarray(found.data), np.zeros(13),
        np.zeros((len(blanks), 6, 3)), np.zeros(3),
    )  # fmt: skip
    start = np.cumsum([0, *(row.size for row in phase.rows)])
    tables = _filled(phase, start[:-1], int(start[-1]), inverse)
    kind = np.ascontiguousarray(found.kind)
    return tables._replace(who=SPATIAL, kind=kind, mechanism=_own(fixed, phase.control), touches=touches)


def mechanism_of(system: SpatialSystem) -> MechanismTables | None:
    """Return the tables of a system in space, whatever its contacts; None where a part has none."""
    if not spatial_model.serves(system):
        return None
    tables, lines = spatial_model.mechanism_of(system)
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
    mass = np.abs(np.linalg.inv(blocks)).reshape(inverse.shape)
    return _empty()._replace(
        nq=nq, nv=nv, start=_whole(start), size=size, inverse=inverse, size_of_mass=mass,
        held=_held(phase, start.tolist(), m), room=room,
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
        closed[part.k] = row.kind != "dry" and row.level == "position"
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
    limit = row.cap_s if dry else row.moments[0][1] if guard.kind == "roll" else limit_of(row, mode)
    ahead = (mode.sign, 0.0) if kind == TURN else _two(guard.ahead)
    return [kind, guard.k, start + where.start, where.stop - where.start, UNITS[guard.unit]], [*ahead, limit]


def _two(e: Sequence[float]) -> tuple[float, float]:
    return (float(e[0]) if e else 0.0), (float(e[1]) if len(e) > 1 else 0.0)


def _whole(x: Any) -> IntArray:
    return np.array(x, dtype=np.int64)


def _table(lines: Sequence[Sequence[float]], columns: int, kind: Any) -> Any:
    return np.array(lines, dtype=kind).reshape(len(lines), columns)
