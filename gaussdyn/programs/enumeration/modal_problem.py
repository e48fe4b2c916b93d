"""Problems of blocks with exact numbers: what is enumerated and what certificates are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import scipy.sparse as sp

from ..._show import brief
from ...errors import InputError
from ...linalg.rational import DOUBLES, dot, numbers_of, rational, rationals, text
from ..laws.laws import Associated, BilateralCoulomb, BilateralSliding, Coulomb, Dry, Law, Sliding, Unilateral
from ..problems.complementarity import ComplementarityProblem, LinearComplementarity
from .modes import (
    Block,
    Condition,
    Numbers,
    associated_block,
    bilateral_block,
    bilateral_sliding_block,
    contact_block,
    dry_block,
    unilateral_block,
)

Rows = list[list[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModalProblem:
    """u = W f + q with exact numbers, and one mode per block: what is enumerated.

    Attributes
    ----------
    kind : str
        lcp, planar_body or blocks: how the certificate states the problem.
    W : list of list of Fraction, shape (motions, forces)
    q : list of Fraction, shape (motions,)
    blocks : tuple of Block
        Motions and forces belong to the blocks in order.
    primary : list of (list of Fraction, Fraction)
        The primary unknown as rows over the forces and a constant: what solutions are told apart by.
    document : dict
        The exact data as certificates hold them.
    numbers : str
        "rational", or "exact values of doubles".
    side : tuple of (kind, row over the forces, bound)
        Further conditions on the forces.
    """

    kind: Literal["lcp", "planar_body", "blocks"]
    W: Rows
    q: list[Fraction]
    blocks: tuple[Block, ...]
    primary: list[tuple[list[Fraction], Fraction]]
    document: dict[str, Any] = field(default_factory=dict)
    numbers: str = "rational"
    side: tuple[tuple[int, list[Fraction], Fraction], ...] = ()

    __repr__ = brief

    @property
    def forces(self) -> int:
        """Number of force variables."""
        return sum(block.forces for block in self.blocks)

    @property
    def size(self) -> int:
        """Number of modes: the product over the blocks."""
        count = 1
        for block in self.blocks:
            count *= len(block.modes)
        return count

    def offsets(self) -> list[tuple[int, int]]:
        """Return the first motion and the first force of every block."""
        at, found = (0, 0), []
        for block in self.blocks:
            found.append(at)
            at = (at[0] + block.motions, at[1] + block.forces)
        return found

    def motion(self, f: Numbers) -> list[Fraction]:
        """Return u = W f + q."""
        return [dot(row, f) + q for row, q in zip(self.W, self.q, strict=True)]

    def point(self, f: Numbers) -> tuple[Fraction, ...]:
        """Return the primary unknown for the forces f."""
        return tuple(dot(row, f) + end for row, end in self.primary)

    def conditions(self, block: int, option: int | None) -> tuple[Condition, ...]:
        """Return the conditions of a mode of a block, or the shared ones (None)."""
        return self.blocks[block].shared if option is None else self.blocks[block].modes[option].conditions


def lcp_problem(M: Sequence[Sequence[Any]], q: Sequence[Any]) -> ModalProblem:
    """Return 0 <= z ⟂ M z + q >= 0 with exact numbers (rational strings, integers, or doubles taken exactly).

    Raises
    ------
    InputError
        Entries that are not numbers, or wrong shapes.
    """
    ends = [rational(x, "q") for x in q]
    W = [[rational(x, "M") for x in row] for row in M]
    n = len(ends)
    if len(W) != n or any(len(row) != n for row in W):
        raise InputError(
            "M",
            f"{len(W)} rows of {sorted({len(row) for row in W})} entries",
            f"shape ({n}, {n})",
            f"Write M=numpy.zeros(({n}, {n})).tolist().",
        )
    unit = [([Fraction(i == j) for j in range(n)], Fraction(0)) for i in range(n)]
    document = {"M": [text(row) for row in W], "q": text(ends)}
    numbers = numbers_of([[list(row) for row in M], list(q)])
    return ModalProblem(kind="lcp", W=W, q=ends, blocks=(unilateral_block(),) * n, primary=unit, document=document,
                        numbers=numbers)  # fmt: skip


def block_problem(problem: ComplementarityProblem) -> ModalProblem:
    """Return a problem of blocks of one or two rows, its doubles taken at their exact values.

    The primary unknown is the motion u of the blocks. Certificates know all laws but `Associated` and
    `BilateralSliding`.

    Raises
    ------
    InputError
        A block with more than two rows: its modes are not linear.
    """
    W = [rationals(row) for row in _dense(problem.W)]
    blocks, documents, columns = [], [], []
    for k, law in enumerate(problem.laws):
        block, document = law_block(law, k)
        blocks.append(block)
        documents.append(document)
        columns += [(k, i) for i in range(block.forces)]
    at = problem.table.start
    W_abs = None if problem.W_abs is None else [rationals(row) for row in _dense(problem.W_abs)]
    wide = [[_entry(row, absolute, int(at[k]), i, law) for (k, i) in columns for law in (problem.laws[k],)]
            for row, absolute in zip(W, W_abs or W, strict=True)]  # fmt: skip
    q = rationals(problem.q)
    document = {} if None in documents else {"W": [text(row) for row in W], "q": text(q), "blocks": documents}
    return ModalProblem(kind="blocks", W=wide, q=q, blocks=tuple(blocks), primary=list(zip(wide, q, strict=True)),
                        document=document, numbers=DOUBLES)  # fmt: skip


def _entry(row: Numbers, absolute: Numbers, start: int, i: int, law: Law) -> Fraction:
    """Return the column of W, or for the second force of a sliding guide, the column of W_abs."""
    return absolute[start] if isinstance(law, BilateralSliding) and i == 1 else row[start + i]


def _dense(W: Any) -> Any:
    return (W.toarray() if sp.issparse(W) else W).tolist()


def law_block(law: Law, k: int) -> tuple[Block, dict[str, Any] | None]:
    """Return the modes of a law, and how a certificate states it (None: not at all).

    Raises
    ------
    InputError
        Its modes are not linear.
    """
    mu, mu_s, cap, _ = (rational(x) for x in law.parameters())
    if isinstance(law, (Coulomb, Dry)) and law.dim > (1 if isinstance(law, Dry) else 2):
        raise InputError(
            f"laws[{k}]",
            law,
            "blocks whose modes are linear: at most one tangential row",
            "Write solve(problem, method=GaussSeidel()).",
        )
    if isinstance(law, Unilateral):
        return unilateral_block("DL"), {"law": "unilateral"}
    if isinstance(law, BilateralSliding):
        return bilateral_sliding_block(), None
    if isinstance(law, Sliding):
        return unilateral_block("DL"), {"law": "unilateral"}
    if isinstance(law, Associated):
        return associated_block(mu), None
    if isinstance(law, Dry):
        return dry_block(cap, mu_s), {"law": "dry", "c": str(cap), "c_s": str(mu_s)}
    if isinstance(law, Coulomb):
        both = isinstance(law, BilateralCoulomb)
        return (bilateral_block if both else contact_block)(mu, mu_s), contact_document(mu, mu_s, both, 0)
    raise InputError(f"laws[{k}]", law, "a law whose modes are linear", "Write Coulomb(0.3), with mu_s = mu.")


def contact_document(mu: Fraction, mu_s: Fraction, bilateral: bool, state: int) -> dict[str, Any]:
    """Return how certificates state a planar contact."""
    return {"law": "contact", "mu": str(mu), "mu_s": str(mu_s), "bilateral": bilateral, "state": state}


def modal_problem(problem: ModalProblem | LinearComplementarity | ComplementarityProblem) -> ModalProblem:
    """Return any problem that can be enumerated with exact numbers.

    Raises
    ------
    InputError
        A law whose modes are not linear, or another kind of problem.
    """
    if isinstance(problem, ModalProblem):
        return problem
    if isinstance(problem, LinearComplementarity):
        return lcp_problem(problem.M.tolist(), problem.q.tolist())
    if isinstance(problem, ComplementarityProblem):
        return block_problem(problem)
    raise InputError(
        "problem",
        type(problem).__name__,
        "an LCP or a problem of blocks of one or two rows",
        "Write solve(problem, method=GaussSeidel()).",
    )
