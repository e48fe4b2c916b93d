"""Small parts of a trajectory: a column, an event, why a run ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._show import cut, fitted, span
from ...arrays import Array, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One named output: its unit and one value per saved state, shape (n,).

    also: another name that it goes by, such as ``q0`` for the coordinate ``rod.x``; empty if it has none.
    partial: whether it may be NaN or infinite where it does not apply, as margins are.
    """

    unit: str
    values: Array
    also: str = ""
    partial: bool = False

    def __repr__(self) -> str:
        """Return the unit, how many values, and between what."""
        return f"Column({self.unit!r}, {len(self.values)} values, {span(self.values)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change of a constraint: its time (s), its kind, and the id of the row.

    Kinds: touchdown and lift_off (a unilateral row begins or ceases to push), stick and slip (a closed contact
    comes to rest or begins to slide), unsettled (the laws of the step hold at its midpoint, not at its end, because
    its passes would not settle: joints near a singular state, contacts that flicker; or because an impact at the row
    would gain energy otherwise), crowded (the row closed in this step on a body that others hold, or pushes most in a
    pile; the laws hold at its midpoint), cut (the step is a piece of one that was cut, as its contact problem cost too
    much; the row pushes most), branch_point (branches of the configuration space meet; the id is the
    number of the point and of the branch on which it was reached), chosen (the run begins with one of several motions
    that the laws allow; the id names the contacts). Runs by events also know those of `mode_changes.Change`: impact,
    handed_over, reversal, accumulation and others. With time stepping `t` is the end of the step in which it was seen.
    """

    t: float
    kind: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why and when (s) a run ended early."""

    t: float
    reason: str

    def __repr__(self) -> str:
        """Return when and why, the reason as it is unless it is very long."""
        return f"Stop(t={self.t:.6g}, reason={cut(self.reason, 600)!r})"


Text = NDArray[np.str_]
NOT_UNIQUE = ("MULTIPLE", "CONTINUUM")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepTable:
    """One entry per step taken, saved or not.

    Attributes
    ----------
    t, dt : Array, shape (steps,)
        End and length of every step, s.
    status : array of str, shape (steps,)
        How its contact problem ended (`Status`).
    E : Array, shape (steps,)
        Residual, recomputed from the contact problem, dimensionless.
    outcome : array of str, shape (steps,)
        UNIQUE, MULTIPLE, CONTINUUM, NONE, UNDECIDED or NOT_EXAMINED, of the acceleration at the step's beginning.
    friction_margin : Array, shape (steps,)
        Factor by which all friction may grow there before the acceleration ceases to be unique; below 1 it is not.
        inf: friction never matters; NaN: not examined, or not known.
    restitution : Array, shape (steps,)
        Fraction of all restitution that was kept: below 1 in impacts that would have gained energy with all of it.
    events : IntArray, shape (steps,)
        Number of events of every step, -1 where that was not kept.
    """

    t: Array
    dt: Array
    status: Text
    E: Array
    outcome: Text
    friction_margin: Array = field(default_factory=lambda: np.zeros(0))
    restitution: Array = field(default_factory=lambda: np.zeros(0))
    events: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if len(self.friction_margin) != len(self.t):
            object.__setattr__(self, "friction_margin", np.full(len(self.t), np.nan))
        if len(self.restitution) != len(self.t):
            object.__setattr__(self, "restitution", np.ones(len(self.t)))
        if len(self.events) != len(self.t):
            object.__setattr__(self, "events", np.full(len(self.t), -1))

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.t)

    @property
    def choice(self) -> str:
        """When first, and in how many steps, one of several motions was taken, in words; "" if that is not known."""
        several = np.flatnonzero(np.isin(self.outcome, NOT_UNIQUE))
        if not len(several):
            return ""
        k = int(several[0])
        since = "at the start" if k == 0 else f"at t = {self.t[k] - self.dt[k]:g} s"
        examined = int(np.count_nonzero(self.outcome != "NOT_EXAMINED"))
        counted = f"{self.outcome[k]}, {len(several)} of {examined} examined steps"
        return f"takes one of several motions that the laws allow, first {since} ({counted})"

    def __repr__(self) -> str:
        """Return how many steps, over what time, and how they went."""
        if not len(self):
            return "StepTable(0 steps)"
        counts = [f"{n} {word}" for word, n in Counter(map(str, self.status)).most_common(4)]
        found = [f"{n} {word}" for word, n in Counter(map(str, self.outcome)).most_common(4)]
        parts = [f"{len(self)} steps", f"t = {span(self.t)} s", f"dt = {span(self.dt)} s"]
        parts += [f"status: {', '.join(counts)}", f"E = {span(self.E)}"]
        return fitted("StepTable", [*parts, f"outcome: {', '.join(found)}"])
