"""Jumps of velocities as the run recorded them, put into the laws of impact.

The reactions of every velocity problem are on record. The law asks for its problems one after the other, as in the run,
and has the recorded reactions for an answer: each of them leaves a residual E, and the last one a velocity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import EPS, Array
from ...contact.active_set import OmegaStatus, active_set
from ...contact.assemble import assemble, start_of_blocks
from ...contact.reactions import law_residual
from ...contact.resolve import resolve
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...integrate.impact.history import ImpactRecord
from ...integrate.impact.impact_laws import ImpactLaw, Moreau, OneByOne
from ...integrate.impact.problem import Phase, Struck, kinetic
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.blocks.verify import verified
from ...programs.laws.laws import BORDER
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .saved_rows import listing, one_sided
from .step_figures import relative

STOPPED = 1e-9  # m/s, times the largest speed, at least one: contacts that come to rest are slower
ROUNDED = 1e-9  # of the kinetic energy: more is a gain
SUMMED = 10.0  # roundings of velocities for each impact that they are a sum of
NOTHING = Solution(problem=None, status=Status.UNDECIDED)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedImpact:
    """A jump of the velocity, and what is wrong with it.

    Attributes
    ----------
    record : ImpactRecord
    residual : float
        The largest of: E of its velocity problems, what the velocity after it is off, relative; inf where the law asks
        for other problems, or it gains energy that the law does not give.
    impulses : mapping of str to Array
        Of all its problems together, N s, by row id.
    approaching : tuple of str
        The rows that approach before it.
    rebounding : tuple of str
        Of contacts that come to rest (kind rest) those that had just rebounded: their further impacts are passed.
    """

    record: ImpactRecord
    residual: float
    impulses: Mapping[str, Array]
    approaching: tuple[str, ...]
    rebounding: tuple[str, ...] = ()

    @property
    def moved(self) -> set[str]:
        """The rows that have impulses."""
        return _pushed(self.record)

    @classmethod
    def of(cls, record: ImpactRecord, system: System, law: ImpactLaw, activation: Activation) -> JudgedImpact:
        """Put a jump into its law."""
        if len(record.q) != system.nq or not len(record.before) == len(record.after) == system.nv:
            return cls(record=record, residual=np.inf, impulses={}, approaching=())
        state = State(t=record.t, q=record.q, v=record.before)
        ids = _pushed(record)
        local = listing(system, state, ids)
        rows = {row.id: row for row in rows_of(local, state.t, state.q, state.v)}
        if record.kind != "impact":
            return cls._other(record, local, rows, activation)
        sided = {key for key in ids if key in rows and one_sided(rows[key])}
        told = Told(record.problems, np.abs(record.before))
        struck = Struck(
            system=local, state=state, closed=frozenset(sided), activation=activation, answer=told.answer,
            share=record.kept,
        )  # fmt: skip
        phases = law.strike(struck, record.before)
        wrong = told.residual if told.all_asked and _allowed(phases, law) else np.inf
        off = relative(np.abs(phases[-1].v - record.after), np.abs(record.before) + np.abs(record.after))
        closing = tuple(key for key in sorted(sided) if rows[key].rate[0] < -activation.speed)
        return cls(
            record=record, residual=max(wrong, off), impulses=summed([p.impulses for p in phases]), approaching=closing
        )

    @classmethod
    def _other(
        cls, record: ImpactRecord, local: System, rows: Mapping[str, Row], activation: Activation
    ) -> JudgedImpact:  # fmt: skip
        """Judge a passage, or contacts that come to rest: momentum, and how contacts move afterwards.

        A passage gains no energy; what contacts gain that come to rest is judged with what follows (`recorded_rests`).
        """
        total = summed(record.problems)
        d = snapshot(local, State(t=record.t, q=record.q, v=record.before), activation=activation)
        push = sum((rows[key].J.T @ p for key, p in total.items() if key in rows), np.zeros(len(d.v)))
        gain, size = (
            np.abs(d.M @ (record.after - record.before) - push),
            np.abs(d.M) @ (np.abs(d.v) + np.abs(record.after)),
        )
        change = kinetic(d.M, record.after) - kinetic(d.M, record.before)
        gains = record.kind != "rest" and change > ROUNDED * kinetic(d.M, record.before)
        fails = gains or not total.keys() <= rows.keys()
        reach = STOPPED * max(1.0, float(np.abs(record.before).max(initial=0.0)))
        for key in total.keys() & rows.keys():
            after = float(rows[key].rate[0] + rows[key].J[0] @ (record.after - record.before))
            stopped = abs(after) <= reach if record.kind == "rest" else after >= -reach
            fails = fails or (one_sided(rows[key]) and not stopped)
        found, left = ({}, _rebounding(total, rows, activation)) if record.kind == "rest" else (total, ())
        residual = np.inf if fails else relative(gain, size)
        return cls(record=record, residual=residual, impulses=found, approaching=(), rebounding=left)


def _rebounding(ids: Iterable[str], rows: Mapping[str, Row], activation: Activation) -> tuple[str, ...]:
    """Return the contacts among these that open."""
    found = (key for key in sorted(ids) if key in rows and one_sided(rows[key]))
    return tuple(key for key in found if rows[key].rate[0] > activation.speed)


def _pushed(record: ImpactRecord) -> set[str]:
    """Return the ids of the rows that have impulses."""
    return {key for own in record.problems for key in own}


@dataclass(slots=True)
class Told:
    """Recorded reactions that answer for velocity problems, one after the other, and the largest residual E of them.

    `fastest` (nv,) are the largest speeds so far: where hundreds of impacts follow one another bodies hardly move in
    the last ones, and velocities are rounded as those are that were taken away.
    """

    problems: Sequence[Mapping[str, Array]]
    fastest: Array
    asked: int = 0
    residual: float = 0.0

    @property
    def all_asked(self) -> bool:
        """Whether all of them have been asked for, and no others."""
        return self.asked == len(self.problems)

    def answer(self, dynamics: LocalDynamics, *, start: Mapping[str, Array] | None = None) -> Solution:
        """Return the solution that the next reactions are, with their residual."""
        self.asked += 1
        if self.asked > len(self.problems) or active_set(dynamics).status is not OmegaStatus.READY:
            return NOTHING
        problem, own = assemble(dynamics), self.problems[self.asked - 1]
        if not own.keys() <= {row.id for row in dynamics.rows}:
            return NOTHING
        if not problem.laws:  # joints alone: one solution
            found = resolve(dynamics)
            self.residual = max(self.residual, _unbalanced(dynamics, own, found.x))
            return found
        found = verified(problem, problem, start_of_blocks(dynamics, own), "recorded", tol=BORDER)
        self.fastest = np.maximum(self.fastest, np.abs(dynamics.v))
        off = SUMMED * (self.asked - 1) * EPS * self.fastest
        self.residual = max(self.residual, law_residual(dynamics, own, sums=self.asked, off=off))
        self.residual = max(self.residual, _unbalanced(dynamics, own, found.x))
        return found.but(status=Status.SOLVED)


def _unbalanced(dynamics: LocalDynamics, own: Mapping[str, Array], v: Array | None) -> float:
    """Return how far reactions, those of joints among them, are from what leads to a velocity, relative."""
    if v is None:
        return 0.0
    M, h = dynamics.M, dynamics.h
    pushes = [(row.J.T, own[row.id]) for row in dynamics.rows if row.id in own]
    gain = M @ v - h - sum((J @ p for J, p in pushes), np.zeros(len(v)))
    size = np.abs(M) @ np.abs(v) + np.abs(h) + sum((np.abs(J) @ np.abs(p) for J, p in pushes), np.zeros(len(v)))
    return relative(np.abs(gain), size)


def _allowed(phases: Sequence[Phase], law: ImpactLaw) -> bool:
    """Return whether all velocity problems are on record, and none gains energy where the law has it that none does."""
    passive = isinstance(law.law if isinstance(law, OneByOne) else law, Moreau)
    return all(phase.solution.solved and not (passive and phase.gain > BORDER) for phase in phases)


def summed(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Return the sums of impulses, by id."""
    total: dict[str, Array] = {}
    for own in parts:
        for key, p in own.items():
            total[key] = total[key] + p if key in total else p
    return total
