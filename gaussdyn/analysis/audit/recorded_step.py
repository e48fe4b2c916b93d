"""A time step as the run recorded it, put into the equations of motion and the laws of contact.

Nothing is solved: with rows, masses and forces where the record says (`scheme`, `StepEvidence`),

    M (v+ - v) = dt h + J^T p,      (u+, p) in the laws,      q+ = moved coordinates + recorded shifts

are evaluated for the velocities and impulses of the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...contact.snapshot import LocalDynamics, rows_of, snapshot
from ...integrate.run.step_evidence import StepEvidence
from ...integrate.run.trajectory import Trajectory
from ...integrate.stretch import CROWDED, UNSETTLED
from ...linalg.factor import solve_spd
from ...mechanics.collision.tangent_frames import along_chart_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System, coriolis_of
from .recorded_scheme import Scheme
from .saved_rows import SavedState, at_middle, control_of, one_sided

IDLE = ("inactive", "degenerate")  # modes of rows that may act without a push


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """What is on record of one step.

    Attributes
    ----------
    whole, system : System
        What was run, and with the contacts of this step.
    start, state : State
        Before and after.
    dt : float
        s.
    begin, end : tuple of Row
        All rows at the start and at the end.
    impulses : mapping of str to Array
        N s, by row id.
    evidence : StepEvidence
    control : Array or None
    kept : float
        Fraction of all restitution.
    middle : mapping of str to str
        Rows because of which the laws hold at the middle, by kind of event.
    """

    whole: System
    system: System
    start: State
    state: State
    dt: float
    begin: tuple[Row, ...]
    end: tuple[Row, ...]
    impulses: Mapping[str, Array]
    evidence: StepEvidence
    control: Array | None = None
    kept: float = 1.0
    middle: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedStep:
    """One step with everything evaluated.

    Attributes
    ----------
    record : Record
    scheme : Scheme
    dynamics : LocalDynamics
        M, h and the rows that acted where the step has them; J (v+ - v) + rate is what their laws see.
    """

    record: Record
    scheme: Scheme
    dynamics: LocalDynamics

    @property
    def bounces(self) -> bool:
        """Whether a row that pushes restores something: else there is no restitution of which a part could be kept."""
        pushed = {key for key in self.record.evidence.acts if self.record.impulses[key].any()}
        first = (row for row in self.record.begin if row.id in pushed)
        return any(_restitution(row, self.scheme).any() for row in first)

    @classmethod
    def of(cls, record: Record, scheme: Scheme) -> RecordedStep:
        """Evaluate the system for a step."""
        placed = _placed(record, scheme)
        seen = tuple(_seen(record, scheme, placed.rows))
        return cls(record=record, scheme=scheme, dynamics=replace(placed, rows=seen))

    def moved(self) -> Array:
        """Return where the velocities and the recorded shifts lead, shape (nq,); NaN if rows push that did not act."""
        record, acts = self.record, set(self.record.evidence.acts)
        v, v_plus, system = record.start.v, record.state.v, record.system
        q = system.move(record.start.q, v + self.scheme.moves * (v_plus - v), record.dt)
        for pushes, place in record.evidence.shifts:
            there = q if place is None else place
            known = {row.id: row for row in rows_of(system, record.state.t, there, v_plus)}
            if not pushes.keys() <= known.keys() & acts:
                return np.full(len(q), np.nan)
            push = sum((s * known[key].J[0] for key, s in pushes.items()), np.zeros(len(v)))
            q = system.move(q, solve_spd(self.dynamics.factor, push), 1.0)
        return np.asarray(q)


def saved_record(run: Trajectory, system: System, here: SavedState) -> Record:
    """Return what a run says of the step that ended in a saved state."""
    k, end = here.k, here.end
    impulses = {key: here.dt * reaction for key, (_, reaction) in here.said.items()}
    evidence = run.evidence.get(int(run.saved[k]))
    if evidence is None:  # of an earlier version
        idle = {one.id for one in here.contacts if one.mode in IDLE}
        evidence = StepEvidence(acts=acting_of(end, impulses, idle))
    if run.settings["stepper"].get("corrections", True) or not hasattr(system, "force_foreseen"):
        evidence = replace(evidence, foreseen=None)  # laws are claimed to hold where the step ends
    return Record(
        whole=system, system=here.local, start=here.start, state=here.state, dt=here.dt, end=end, impulses=impulses,
        evidence=evidence, control=control_of(run, k), kept=float(run.steps.restitution[run.saved[k] - 1]),
        middle=at_middle(run, k), begin=here.begin,
    )  # fmt: skip


def acting_of(rows: tuple[Row, ...], impulses: Mapping[str, Array], idle: set[str]) -> tuple[str, ...]:
    """Return the rows that acted as far as impulses tell: all but gaps without any, unless they are said to be idle."""
    return tuple(row.id for row in rows if not one_sided(row) or impulses[row.id].any() or row.id in idle)


def _placed(record: Record, scheme: Scheme) -> LocalDynamics:
    """Return M, dt h + M v and all rows where the step has them, rates with the velocity of the forces."""
    start, dt, place = record.start, record.dt, record.evidence.place
    q = record.system.move(start.q, start.v, scheme.rows * dt) if place is None else place
    mean = start.v + scheme.force * (record.state.v - start.v)
    v = _velocity_of_forces(record, scheme)
    there = State(t=start.t + scheme.rows * dt, q=q, v=v)
    found = snapshot(record.system, there, activation=scheme.activation, control=record.control)
    h = found.h
    if record.evidence.foreseen is not None:
        h = record.system.force_foreseen(there.t, q, v, mean, record.control)  # type: ignore[attr-defined]
    h = h + coriolis_of(record.system, q, v - start.v)
    return replace(found, level="velocity", dt=dt, v=start.v, h=found.M @ start.v + dt * h)


def _seen(record: Record, scheme: Scheme, rows: tuple[Row, ...]) -> Iterator[Row]:
    """Yield the rows that acted with the rate that makes J (v+ - v) + rate what their laws see."""
    v, v_plus, acts = record.start.v, record.state.v, set(record.evidence.acts)
    led = _state_of_laws(record)
    rows_there = record.end if led is record.state else rows_of(record.system, led.t, led.q, led.v)
    last = {row.id: row for row in rows_there}
    begin = {row.id: row for row in record.begin}
    for row in rows:
        if row.id not in acts:
            continue
        if row.level == "acceleration":
            yield row
            continue
        first, at_end = along_chart_of(row, begin[row.id]), along_chart_of(row, last[row.id])
        u = _motion(record, scheme, row, at_end) + _from_start(record, scheme, row, first)
        yield row.but(level="position", gap=0.0, rate=u - row.J @ (v_plus - v), eps_n=0.0, eps_t=0.0)


def _from_start(record: Record, scheme: Scheme, row: Row, first: Row) -> Array:
    """Return what the law of a row sees beside its motion: that it bounces, or may close; `first`: at the start."""
    gap = scheme.activation.gap
    ahead = CROWDED in record.middle and one_sided(row) and first.gap > gap
    silent = ahead and not record.impulses[row.id][0] > 0.0
    bounce = np.zeros(row.size) if silent else record.kept * _restitution(first, scheme)
    if ahead and bounce[0] == 0.0:  # what is open at the start closes at a constant rate
        bounce[0] += max(row.gap, 0.0) / (scheme.force * record.dt)
    return bounce


def _velocity_of_forces(record: Record, scheme: Scheme) -> Array:
    """Return the velocity that forces see, dampers of a step without corrections aside."""
    v = record.start.v
    return v + scheme.force * (_state_of_laws(record).v - v)


def _state_of_laws(record: Record) -> State:
    """Return the end for which the laws hold: where the step ends, or where it was foreseen to end."""
    nq, foreseen = record.system.nq, record.evidence.foreseen
    return record.state if foreseen is None else State(t=record.state.t, q=foreseen[:nq], v=foreseen[nq:])


def _motion(record: Record, scheme: Scheme, row: Row, last: Row) -> Array:
    """Return u+ of a row: its rate at the end, or where the rows stand."""
    v, v_plus = record.start.v, record.state.v
    if scheme.laws == "end" and not record.middle.keys() & {UNSETTLED, CROWDED}:
        return last.rate + row.J @ (v_plus - _state_of_laws(record).v)
    v_force = _velocity_of_forces(record, scheme)
    if scheme.laws == "end" and row.kind == "bilateral" and row.level == "position":
        return 2.0 * row.rate + row.J @ (v + v_plus - 2.0 * v_force)  # the mean rate is zero: it does no work
    return row.rate + row.J @ (v_plus - v_force)


def _restitution(row: Row, scheme: Scheme) -> Array:
    """Return eps times the rate before the step, of a contact that approaches."""
    term = np.zeros(row.size)
    if one_sided(row) and row.rate[0] < -scheme.activation.speed:
        term[0] = row.eps_n * row.rate[0]
        term[1:3] = row.eps_t * row.rate[1:3]
    return term
