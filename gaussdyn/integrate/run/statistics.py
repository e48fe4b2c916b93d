"""What is known of a run as a whole: the maxima, the energy book and the contacts that an earlier run hands on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.rows import Row
from ...programs.solution.status import Status
from ..energy import EnergyBook
from ..stepper import Sizing
from ..stretch import LIMITS, Stretch, errors_of

ROW_DATA = ("kind", "level", "mu", "mu_s", "mu_r", "mu_t", "cap", "cap_s", "eps_n", "eps_t")


@dataclass(slots=True, kw_only=True)
class RunningStatistics:
    """Running totals, saved with every piece of a run: with the last state they are all that a resume needs.

    Attributes
    ----------
    book : EnergyBook
    count : int
        Steps taken.
    worst : dict of str to float
        Largest residual E, penetration and joint error (m), cone violation; number of unsolved steps.
    contacts : dict of str to str
        open, active, stick or slip of every row that can change, after the last step.
    sizing : dict of str to float
        Of steps whose length a tolerance decides: how many were rejected or forced, orders observed, lengths (s).
    rows : dict of str to dict
        Data of the rows that are columns, with the largest mu_s, mu_r, mu_t, cap_s so far.
    """

    book: EnergyBook
    count: int = 0
    worst: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    contacts: dict[str, str] = field(default_factory=dict)
    sizing: dict[str, float] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]]

    @classmethod
    def start(cls, book: EnergyBook, rows: tuple[Row, ...], named: frozenset[str]) -> RunningStatistics:
        """Open the totals with the rows of the first state."""
        data = {row.id: {name: getattr(row, name) for name in ROW_DATA} for row in rows if row.id in named}
        (joint, depth), totals = errors_of(rows), cls(book=book, rows=data)
        totals.worst.update({"joint": joint, "penetration": max(0.0, -depth)})
        return totals

    @classmethod
    def again(cls, running: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> RunningStatistics:
        """Return the totals that `document` saved, to the bit.

        Raises
        ------
        KeyError, TypeError
            If an entry is missing.
        """
        book = dict(running["book"]) | {"initial": tuple(running["book"]["initial"])}
        return cls(
            book=EnergyBook(**book),
            count=int(running["count"]),
            worst=defaultdict(float, running["worst"]),
            contacts=dict(running["contacts"]),
            sizing=dict(running.get("sizing", {})),
            rows={key: dict(data) for key, data in rows.items()},
        )

    def document(self) -> dict[str, Any]:
        """Return what `again` needs beside the rows, ready for JSON."""
        return {
            "count": self.count,
            "book": asdict(self.book),
            "worst": dict(self.worst),
            "contacts": dict(self.contacts),
            "sizing": dict(self.sizing),
        }

    def note_limits(self, ids: Sequence[str], limits: Array) -> None:
        """Enter the largest `LIMITS` of constraints, see `Stretch`; they may change with the state."""
        for key, found in zip(ids, limits.tolist(), strict=False):
            known = self.rows.get(key)
            if known is not None:
                for name, value in zip(LIMITS, found, strict=True):
                    known[name] = max(known.get(name, 0.0), value)

    def note(self, steps: Stretch) -> None:
        """Enter the residuals, the errors and the verdict of more steps."""
        worst, solved = self.worst, steps.status is Status.SOLVED
        for name, x in (("E", steps.E), ("cone", steps.cone), ("penetration", -steps.depth), ("joint", steps.joint)):
            worst[name] = max(worst[name], float(np.fmax.reduce(x)))
        worst["unsolved"] += 0 if solved else len(steps)
        self.count += len(steps)
        self.note_limits(steps.of.ids, steps.limits)
        for k, found in steps.sizing:
            self.note_sizing(found, float(steps.spans[k, 1]))

    def note_sizing(self, found: Sizing, dt: float) -> None:
        """Enter how the length of a step came about."""
        known = self.sizing
        more = {"rejected": found.rejected, "forced": found.forced, "orders": found.order is not None}
        for name, value in {**more, "order": found.order or 0.0}.items():
            known[name] = known.get(name, 0.0) + value
        known["shortest"], known["longest"] = min(known.get("shortest", dt), dt), max(known.get("longest", dt), dt)

    def statistics(self) -> dict[str, float | int | None]:
        """Return the statistics of a trajectory."""
        worst = self.worst
        return {
            "steps": self.count,
            "unsolved_steps": int(worst["unsolved"]),
            "max_residual": float(worst["E"]) if np.isfinite(worst["E"]) else None,
            "max_penetration_m": worst["penetration"],
            "max_joint_error_m": worst["joint"],
            "max_cone": worst["cone"],
            "energy_drift_rel": self.book.drift_rel,
            **(self._of_sizing() if self.sizing else {}),
        }

    def _of_sizing(self) -> dict[str, float | int | None]:
        """Return the statistics of steps whose length a tolerance decides; the order is that of smooth motion."""
        known = self.sizing
        return {
            "rejected_steps": int(known["rejected"]),
            "forced_steps": int(known["forced"]),
            "shortest_step_s": known["shortest"],
            "longest_step_s": known["longest"],
            "achieved_order": known["order"] / known["orders"] if known["orders"] else None,
        }
