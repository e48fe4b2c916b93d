"""All reactions that the laws allow with the motion at a state: ranges, what hangs together, what would decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr

from ..._show import fitted, names
from ...arrays import Array, matrix
from ...contact.snapshot import LocalDynamics
from ...programs.conic.cone_slice import TOL, Support, Verdict
from ...programs.conic.support import support
from .allowed import Allowed
from .force_range import ForceRange
from .moves import RANK, middle_of, moves_at
from .quantity import Quantity, combination, unit_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReactionSet:
    """What `forces` returns.

    Attributes
    ----------
    dynamics : LocalDynamics
    allowed : Allowed
        Motion, names of the reactions, modes of the constraints, and the sets.
    unit : str
        N, or N s on the velocity level; N m and N m s of rows that turn.
    note : str
        What else is to be known of the motion.
    """

    dynamics: LocalDynamics
    allowed: Allowed
    unit: str
    note: str = ""
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        """Return how many reactions there are, and of what."""
        parts = [f"t={self.dynamics.t:g} s", f"{len(self.names)} reactions: {names(list(self.names))}"]
        return fitted("ReactionSet", [*parts, f"modes {self.allowed.modes}"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the reactions, in the order of all vectors of reactions."""
        return self.allowed.names

    @property
    def empty(self) -> bool:
        """Whether no reactions give the motion."""
        return bool(self.names) and self.ranges()[0].verdicts[0] is Verdict.EMPTY

    @property
    def unique(self) -> bool:
        """Whether there is one set of reactions only."""
        return not self.empty and all(one.unique for one in self.ranges())

    def range(self, of: Quantity) -> ForceRange:
        """Return the range of a reaction, of a sum, or of any linear combination; see `quantity.combination`.

        Raises
        ------
        InputError
            No such reaction, or a vector of the wrong length.
        """
        label, factors = combination(self.allowed, of)
        return self._ranges([label], factors[None])[0]

    def ranges(self) -> tuple[ForceRange, ...]:
        """Return the ranges of all reactions, in the order of `names`."""
        if "ranges" not in self._kept:
            self._kept["ranges"] = self._ranges(self.names, np.eye(len(self.names)))
        found: tuple[ForceRange, ...] = self._kept["ranges"]
        return found

    def largest(self, C: Array) -> Array:
        """Return the largest values of the rows of C, shape (k, R): the support function of the set.

        Raises
        ------
        InputError
            Rows of another length.
        """
        return np.asarray(np.max([one.value for one in self.supports(matrix("C", C, None, len(self.names)))], axis=0))

    def supports(self, C: Array) -> list[Support]:
        """Return the largest values of linear functions of r with their proofs, for every alternative."""
        found = []
        for one in self.allowed.alternatives:
            base = support(one.slice, C @ one.spread)
            shift = C @ one.offset
            moved = Support(slice=base.slice, C=base.C, verdicts=base.verdicts, value=base.value + shift,
                            points=base.points, multipliers=base.multipliers)  # fmt: skip
            found.append(moved)
        return found

    def _ranges(self, labels: Sequence[str], C: Array) -> tuple[ForceRange, ...]:
        """Return the ranges of linear functions of the reactions, shape (k, R)."""
        if not len(C):
            return ()
        found = self.supports(np.vstack([C, -C]))
        values = np.array([one.value for one in found])
        best = np.argmax(np.where(np.isnan(values), np.inf, values), axis=0)  # what is undecided decides nothing
        k, ends = len(C), np.arange(2 * len(C))
        at = np.array([self._reactions(one, which) for which, one in enumerate(found)])[best, ends]
        ends_at = values[best, ends].tolist()
        gaps = np.max([one.gaps() for one in found], axis=0)
        gap, size = (np.maximum(one[:k], one[k:]).tolist() for one in (gaps, np.abs(at).max(axis=1)))
        verdicts = [found[which].verdicts[end] for end, which in enumerate(best.tolist())]
        return tuple(
            ForceRange(of=labels[i], low=-ends_at[k + i], high=ends_at[i], low_at=at[k + i], high_at=at[i],
                       verdicts=(verdicts[k + i], verdicts[i]), gap=gap[i],
                       unit=unit_of(self.allowed, C[i], self.unit), size=size[i] or 1.0)
            for i in range(k)
        )  # fmt: skip

    def _reactions(self, found: Support, which: int) -> Array:
        """Return the reactions at every end, or the directions in which they may grow, one per row."""
        one = self.allowed.alternatives[which]
        bounded = [[verdict is not Verdict.UNBOUNDED] for verdict in found.verdicts]
        return np.asarray(found.points @ one.spread.T + np.array(bounded) * one.offset)

    def contains(self, reactions: Mapping[str, Array] | Array, tol: float = 1e-9) -> bool:
        """Whether some reactions, a vector or by id, are among those allowed, to a relative tolerance."""
        r = self.vector(reactions)
        size = max(float(np.abs(r).max(initial=0.0)), 1e-300)
        for one in self.allowed.alternatives:
            s = one.entries(r)
            same = np.abs(one.spread @ s + one.offset - r).max(initial=0.0)
            left = np.abs(one.slice.A @ s - one.slice.f).max(initial=0.0)
            if max(same, left, float(one.slice.outside(s[None])[0])) <= tol * size:
                return True
        return False

    def vector(self, reactions: Mapping[str, Array] | Array) -> Array:
        """Return reactions by id as one vector in the order of `names`."""
        if not isinstance(reactions, Mapping):
            return np.asarray(reactions, dtype=np.float64)
        r = np.zeros(len(self.names))
        for id, places in self.allowed.rows.items():
            if id in reactions:
                r[places] = reactions[id]
        return r

    def by_id(self, r: Array) -> dict[str, Array]:
        """Return a vector of reactions by id."""
        return {id: r[places] for id, places in self.allowed.rows.items()}

    def moves(self) -> Array:
        """Return a basis of what may be added to the reactions, from inside the set, shape (R, degree)."""
        if "moves" not in self._kept:
            parts = [moves_at(one, middle_of(one.slice)) for one in self.allowed.alternatives]
            together = np.hstack([np.zeros((len(self.names), 0)), *parts])
            U, s, _ = np.linalg.svd(together, full_matrices=False)
            self._kept["moves"] = U[:, s > RANK * max(float(s.max(initial=0.0)), 1e-300)]
        return np.asarray(self._kept["moves"])

    @property
    def degree(self) -> int:
        """How many numbers are free: 0 where the reactions are unique."""
        return int(self.moves().shape[1])

    def deciding(self) -> tuple[str, ...]:
        """Return names of reactions, as few as possible: whoever knows these knows all (measure them, e.g.)."""
        moves = self.moves()
        if not moves.size:
            return ()
        order = qr(moves.T, pivoting=True, mode="economic")[2]
        return tuple(self.names[k] for k in sorted(order[: moves.shape[1]]))

    def verify(self, tol: float = TOL) -> bool:
        """Whether the ends of all ranges are proved to a relative tolerance, recomputed from the data alone."""
        n = len(self.names)
        return all(one.verify(tol) for one in self.supports(np.vstack([np.eye(n), -np.eye(n)]))) if n else True

    def explain(self) -> str:
        """Return all ranges in words, and what would make them unique."""
        return "\n".join([*(one.explain() for one in self.ranges() if not self.empty), *self.summary()])

    def summary(self) -> list[str]:
        """Return what is to be said of the set as a whole."""
        if not self.names:
            return ["No constraint acts: there are no reactions."]
        if self.empty:
            return ["No reactions that the laws allow give this motion (a combination of the equations proves it)."]
        lines = []
        if self.degree:
            free = "1 number is" if self.degree == 1 else f"{self.degree} numbers are"
            known = ", ".join(self.deciding())
            lines = [f"{free} free: the motion does not depend on it. To know {known} would decide all others."]
        return lines + ([self.note] if self.note else [])

    def to_json(self) -> dict[str, Any]:
        """Return the set as the file formats describe it."""
        return {
            "t": self.dynamics.t, "unit": self.unit, "degree": self.degree, "unique": self.unique, "empty": self.empty,
            "modes": self.allowed.modes, "deciding": list(self.deciding()),
            "results": [one.to_json() for one in self.ranges()],
            "note": self.note or None,
        }  # fmt: skip
