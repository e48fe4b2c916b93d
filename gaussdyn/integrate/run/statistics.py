"""What is known of a run as a whole: the maxima, the energy book and the contacts that an earlier run hands on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.rows import Row
from ..energy import EnergyBook
from ..stepper import Sizing

ROW_DATA = ("kind", "level", "mu", "mu_s", "mu_r", "mu_t", "cap", "cap_s", "eps_n", "eps_t")
LIMITS = ("mu_s", "mu_r", "mu_t", "cap_s")


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
        totals = cls(book=book, rows=data)
        totals.note_rows(rows)
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

    def note_rows(self, rows: tuple[Row, ...]) -> None:
        """Enter gaps and limits at the end of a step."""
        for row in rows:
            if row.level == "position" and row.kind != "dry":
                if row.bilateral:
                    self.worst["joint"] = max(self.worst["joint"], abs(row.gap))
                else:
                    self.note_gap(row.gap)
            known = self.rows.get(row.id)
            if known is not None:
                for name in LIMITS:  # they may change with the state
                    known[name] = max(known.get(name, 0.0), getattr(row, name))

    def note_gap(self, gap: float) -> None:
        """Enter a gap at the end of a step, m."""
        if gap < 0.0:
            self.worst["penetration"] = max(self.worst["penetration"], -gap)

    def note_step(self, E: float, cone: float, solved: bool) -> None:
        """Enter the residual and the verdict of one more step."""
        self.count += 1
        self.worst["E"] = max(self.worst["E"], E)
        self.worst["cone"] = max(self.worst["cone"], cone)
        self.worst["unsolved"] += not solved

    def note_steps(self, E: Array, cone: Array, gap: Array) -> None:
        """Enter n > 0 solved steps by their numbers, each of shape (n,): residual, cone and smallest gap."""
        self.note_step(float(np.fmax.reduce(E)), float(np.fmax.reduce(cone)), solved=True)
        self.note_gap(float(np.fmin.reduce(gap)))
        self.count += len(E) - 1

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
