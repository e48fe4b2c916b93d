"""The answer: status, reactions, residuals recomputed from the problem, and what is unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._html import card, counts
from ...arrays import Array
from ...errors import SolveFailed
from .status import Status

if TYPE_CHECKING:
    from ..proof.certificates import Certificate
    from .residuals import Residuals


Unique = Sequence[bool | None]  # whether u, and whether r, is the only one; None: not known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Solution:
    """The answer to a problem; it audits itself.

    Attributes
    ----------
    problem : QuadraticProgram, LinearComplementarity or ComplementarityProblem
        What was solved.
    status : Status
    x : Array or None
        Primary unknown: acceleration (m/s^2), velocity (m/s), z of an LCP; None if there is none to return.
    lam : Array
        Multipliers of the equalities (reactions of the bilateral rows).
    r : Array
        Reactions of the blocks, or multipliers of the inequalities.
    u : Array
        Relative motion of the blocks, or slack C x - d of the inequalities.
    modes : tuple of str
        Mode of every block: open, stick, slip, degenerate (contacts); active, inactive (rows of a program). Of a row
        0 <= u ⟂ r >= 0, as of an LCP: open for r = 0 < u, stick for u = 0 < r, degenerate for u = r = 0.
    residuals : Residuals
        Dimensionless, recomputed from the problem.
    unique : pair of bool or None
        Whether the motion, and whether the reactions, are the only ones; None if not known. Of a block problem it is
        found out when first asked for; `u_unique` and `r_unique` name the two.
    null_space : Array, shape (multipliers, k)
        Directions in which (lam, r) may move without a change of the motion, where known.
    certificate : Certificate or None
        Proof, for INFEASIBLE and NO_SOLUTION.
    """

    problem: Any
    status: Status
    x: Array | None = None
    lam: Array = field(default_factory=lambda: np.zeros(0))
    r: Array = field(default_factory=lambda: np.zeros(0))
    u: Array = field(default_factory=lambda: np.zeros(0))
    modes: tuple[str, ...] = ()
    residuals: Residuals | None = None
    unique: Unique = (None, None)
    null_space: Array | None = None
    method: str = ""
    iterations: int = 0
    certificate: Certificate | None = None
    message: str = ""

    def __repr__(self) -> str:
        """Return one line: status, residual, sizes, method."""
        error = "" if self.residuals is None else f", E={self.residuals.E:.1e}"
        return f"Solution({self.status}{error}, blocks={len(self.modes)}, method={self.method!r})"

    def _repr_html_(self) -> str:
        """Return a card for notebooks: status, residuals, modes, uniqueness."""
        known = {True: "yes", False: "no", None: "not known"}
        rows = {
            "method": f"{self.method}, {self.iterations} iterations", "blocks": counts(Counter(self.modes)),
            "motion unique": known[self.unique[0]], "reactions unique": known[self.unique[1]],
        }  # fmt: skip
        error = "" if self.residuals is None else f"residual E = {self.residuals.E:.2g}"
        return card("Solution", f"{self.status} {error}", rows, kind="good" if self.solved else "bad")

    @property
    def u_unique(self) -> bool | None:
        """Whether the motion is the only one; None if not known."""
        return self.unique[0]

    @property
    def r_unique(self) -> bool | None:
        """Whether the reactions are the only ones; None if not known."""
        return self.unique[1]

    @property
    def solved(self) -> bool:
        """Whether the status is SOLVED."""
        return self.status is Status.SOLVED

    def audit(self) -> Residuals:
        """Recompute the residuals from the problem and the answer alone, never from solver state."""
        from .residuals import residuals

        return residuals(self.problem, self)

    def require(self) -> Solution:
        """Return self if SOLVED.

        Raises
        ------
        SolveFailed
            Otherwise; carries this solution.
        """
        if not self.solved:
            raise SolveFailed(self)
        return self

    def but(self, **changes: Any) -> Solution:
        """Return a copy with the given fields changed."""
        return replace(self, **changes)

    def explain(self) -> str:
        """Return the status and what to do about it, in words of the problem: contacts, an LCP, a program."""
        from .wording import wording

        return f"{self.status}: {self.message or wording(self.problem).explain(self.status)}"
