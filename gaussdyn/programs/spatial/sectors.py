"""The linear program about modes and sectors of contacts in space: does anything obey its conditions?

The conditions are those of the stand-alone checker. Multipliers of doubles, at a vertex, name the conditions that
contradict each other; the exact ones follow from these. Source: Farkas; Motzkin (strict conditions).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from ... import checker_spatial_several as checker
from ...arrays import Array
from ...linalg.rational import integer_row, null_vector, rational, text

STRICT = 1e-4  # of the reactions' size: what a strict condition asks for in the linear program
SUPPORT = 1e-10  # multipliers below are zero

State = Any  # "*", "D", "S", or a sector (chart, t, t)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Conditions of single contacts, each made once.

    Attributes
    ----------
    data : W, q, mu, mu_s
        Exact numbers, as the checker takes them.
    """

    data: Any
    made: dict[Any, Any] = field(default_factory=dict)

    def conditions(self, k: int, state: State, sides: int) -> Any:
        """Return the conditions of one contact: exact rows, doubles of length one (A, b), kinds, lengths."""
        key = k, state, sides
        if key not in self.made:
            rows, kinds = zip(*checker.of_contact(self.data, k, state, sides), strict=True)
            whole = [checker.integers(row) for row in rows]
            largest = [max(map(abs, row[:-1])) or 1 for row in whole]
            near = np.array([[x / most for x in row] for row, most in zip(whole, largest, strict=True)])
            length = np.maximum(np.linalg.norm(near[:, :-1], axis=1), 1e-300)
            near /= length[:, None]
            size = [rational(float(x)) * most for x, most in zip(length, largest, strict=True)]
            self.made[key] = whole, near[:, :-1], near[:, -1], np.array(kinds), size
        return self.made[key]


@dataclass(frozen=True, slots=True, eq=False)
class Sectors:
    """The linear program about the conditions of a node."""

    known: Known
    states: list[State]
    sides: int = checker.SIDES

    def refutation(self) -> dict[str, Any] | None:
        """Return the conditions that contradict each other, as a leaf has them; None if that is not shown."""
        A, b, kinds, exact, size = self.conditions()
        scale = max(np.abs(b).max(), 1e-300)
        value = b / scale + STRICT * (kinds == checker.ABOVE)
        lam, best = _multipliers(A, value, kinds)
        if best <= 0.0:
            return None
        chosen = np.flatnonzero(np.abs(lam) > SUPPORT).tolist()
        if checker.refuted(exact, kinds, chosen):
            return {"rows": chosen}
        every = list(range(len(exact)))
        if abs(lam @ b) < SUPPORT * scale:  # only a strict condition contradicts: lam.b = 0 as well
            A = np.column_stack([A, b / scale])
        near = _exactly(exact, A, lam, kinds, size)
        return {"rows": every, "multipliers": text(near)} if checker.refuted(exact, kinds, every, near) else None

    def amid(self) -> Array:
        """Return reactions as far as can be from the borders of all conditions."""
        A, b, kinds, *_ = self.conditions()
        equal = kinds == checker.EQUAL
        rows, n = np.column_stack([-A, ~equal]), A.shape[1]
        program = linprog(
            np.append(np.zeros(n), -1.0), A_ub=rows[~equal], b_ub=-b[~equal], A_eq=rows[equal], b_eq=-b[equal],
            bounds=[(None, None)] * n + [(None, max(np.abs(b).max(), 1.0))], method="highs",
        )  # fmt: skip
        return np.asarray(program.x[:n]) if program.status == 0 else np.zeros(n)

    def conditions(self) -> Any:
        """Return doubles of length one (A, b), kinds, exact rows and their length."""
        parts = [self.known.conditions(k, state, self.sides) for k, state in enumerate(self.states)]
        A, b, kinds = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
        exact, size = ([x for part in parts for x in part[i]] for i in (0, 4))
        return A, b, kinds, exact, size


def _multipliers(A: Array, b: Array, kinds: Any) -> tuple[Array, float]:
    """Return max lam.b, sum lam A = 0, sum |lam| = 1, lam >= 0 on inequalities, at a vertex; 0 if that fails."""
    equal = kinds == checker.EQUAL
    signed, value = np.concatenate([A, -A[equal]]), np.concatenate([b, -b[equal]])
    program = linprog(
        -value, A_eq=np.vstack([signed.T, np.ones(len(signed))]), b_eq=np.append(np.zeros(A.shape[1]), 1.0),
        method="highs",
    )  # fmt: skip
    if program.status != 0:
        return np.zeros(len(A)), 0.0
    lam = program.x[: len(A)]
    lam[equal] -= program.x[len(A) :]
    return lam, -float(program.fun)


def _exactly(exact: Any, A: Array, lam: Array, kinds: Any, size: list[Fraction]) -> list[int]:
    """Return multipliers of exact rows near those of the doubles A that cancel them exactly (zeros if there are none).

    Rows that are solved for come first: those of equalities, which may have any sign, and of large multipliers.
    """
    used = np.flatnonzero((kinds == checker.EQUAL) | (lam > SUPPORT))
    weights = np.where(kinds == checker.EQUAL, 1.0, np.abs(lam))[used]
    order = used[qr(A[used].T * weights, pivoting=True, mode="r")[1]].tolist()
    near = [rational(float(lam[i])) / size[i] for i in order]
    found = null_vector([integer_row([exact[i][j] for i in order])[0] for j in range(A.shape[1])], len(order), near)
    whole = [0] * len(exact)
    for i, x in zip(order, found or [], strict=False):
        whole[i] = x
    return whole
