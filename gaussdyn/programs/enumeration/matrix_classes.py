"""Classes of the matrix of an LCP, each decided exactly and with a witness where it does not hold; and the degree.

Cottle, Pang, Stone, The Linear Complementarity Problem (1992): P (unique for every q), column sufficient (convex
solution set for every q), strictly semimonotone (unique for q >= 0), copositive, R0 (bounded solution sets).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...linalg.rational import integer_row, null_space
from ..proof.exact_linear import ABOVE, AT_LEAST, EQUAL
from .enumerate import SearchTooLarge, find_solution
from .modal_problem import ModalProblem, lcp_problem
from .modes import Block, Condition, Mode

LARGEST_P = 16  # 2^n principal minors

Row = tuple[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """Whether a matrix is in a class.

    Attributes
    ----------
    name, meaning : str
    holds : bool or None
        None if the matrix is too large to decide.
    witness : tuple of Fraction or None
        A vector that shows that it does not hold.
    """

    name: str
    meaning: str
    holds: bool | None
    witness: tuple[Fraction, ...] | None = None


def matrix_classes(M: Sequence[Sequence[Any]]) -> tuple[Membership, ...]:
    """Return the membership of M in all classes known here."""
    return (is_p(M), is_column_sufficient(M), is_strictly_semimonotone(M), is_copositive(M), is_r0(M))


def is_p(M: Sequence[Sequence[Any]]) -> Membership:
    """All principal minors are positive; the witness x != 0 has x_i (M x)_i <= 0 for all i."""
    exact = lcp_problem(M, [0] * len(M)).W
    meaning = "exactly one solution for every q"
    if len(exact) > LARGEST_P:
        return Membership(name="P", meaning=meaning, holds=None)
    chosen = _bad_minor(exact, list(range(len(exact))), [])
    witness = None if chosen is None else _reversed_vector(exact, chosen)
    return Membership(name="P", meaning=meaning, holds=chosen is None, witness=witness)


def _bad_minor(M: list[list[Fraction]], left: list[int], taken: list[int]) -> list[int] | None:
    """Return indices of a principal minor that is not positive (Schur complements, Tsatsomeros and Li 2000)."""
    if not left:
        return None
    pivot, first = M[0][0], left[0]
    if pivot <= 0:
        return [*taken, first]
    smaller = [row[1:] for row in M[1:]]
    schur = [[x - row[0] * y / pivot for x, y in zip(row[1:], M[0][1:], strict=True)] for row in M[1:]]
    return _bad_minor(smaller, left[1:], taken) or _bad_minor(schur, left[1:], [*taken, first])


def _reversed_vector(M: list[list[Fraction]], chosen: list[int]) -> tuple[Fraction, ...]:
    """Return x with (M x)_i = 0 on all but the last chosen index, where x_i (M x)_i <= 0."""
    x = [Fraction(0)] * len(M)
    *first, last = chosen
    rows = [integer_row([M[i][j] for j in first] + [M[i][last]])[0] for i in first]
    part = next(v for v in null_space(rows, len(chosen)) if v[-1])
    for j, value in zip(chosen, part, strict=True):
        x[j] = value
    return tuple(x)


def is_column_sufficient(M: Sequence[Sequence[Any]]) -> Membership:
    """x_i (M x)_i <= 0 for all i only if all are zero."""
    keep, turn = (AT_LEAST, (0, 1)), (AT_LEAST, (-1, 0))
    block = _block({"+": (keep, turn), "-": ((AT_LEAST, (0, -1)), (AT_LEAST, (1, 0)))})
    strict = _block({"+": ((ABOVE, (0, 1)), (ABOVE, (-1, 0)))})
    problem = _homogeneous(M, block)
    return _search("column sufficient", "a convex set of solutions for every q", [
        replace(problem, blocks=tuple(strict if i == k else block for i in range(len(M)))) for k in range(len(M))
    ])  # fmt: skip


def is_strictly_semimonotone(M: Sequence[Sequence[Any]]) -> Membership:
    """Every x >= 0, x != 0 has some x_i > 0 with (M x)_i > 0."""
    block = _block({"0": ((EQUAL, (0, 1)),), "1": ((ABOVE, (0, 1)), (AT_LEAST, (-1, 0)))})
    return _search(
        "strictly semimonotone", "exactly one solution for every q >= 0", [_normalised(_homogeneous(M, block))]
    )


def is_copositive(M: Sequence[Sequence[Any]]) -> Membership:
    """x.M x >= 0 for all x >= 0 (for the symmetric part: semimonotone is the same)."""
    exact = lcp_problem(M, [0] * len(M)).W
    S = [
        [a + b for a, b in zip(row, column, strict=True)]
        for row, column in zip(exact, zip(*exact, strict=True), strict=True)
    ]
    block = _block({"0": ((EQUAL, (0, 1)),), "1": ((ABOVE, (0, 1)), (ABOVE, (-1, 0)))})
    return _search("copositive", "Lemke's method ends in a solution or a ray", [_normalised(_homogeneous(S, block))])


def is_r0(M: Sequence[Sequence[Any]]) -> Membership:
    """The LCP without load has the solution zero only."""
    block = _block({"0": ((EQUAL, (0, 1)), (AT_LEAST, (1, 0))), "1": ((EQUAL, (1, 0)), (AT_LEAST, (0, 1)))})
    return _search("R0", "a bounded set of solutions for every q", [_normalised(_homogeneous(M, block))])


def _block(modes: dict[str, tuple[Row, ...]]) -> Block:
    """Return a block of one motion and one force; conditions are (kind, (coefficient of u, of f))."""
    made = tuple(
        Mode(letter, tuple(Condition(kind, (Fraction(u),), (Fraction(f),)) for kind, (u, f) in sorted(rows)))
        for letter, rows in modes.items()
    )
    return Block(1, 1, made, ())


def _homogeneous(M: Sequence[Sequence[Any]], block: Block) -> ModalProblem:
    problem = lcp_problem(M, [0] * len(M))
    return replace(problem, blocks=(block,) * len(M))


def _normalised(problem: ModalProblem) -> ModalProblem:
    """Ask for x with sum x = 1, so that x = 0 is left out."""
    return replace(problem, side=((EQUAL, [Fraction(1)] * problem.forces, Fraction(1)),))


def _search(name: str, meaning: str, problems: Sequence[ModalProblem]) -> Membership:
    """The class holds if none of the problems has a solution."""
    try:
        found = next((x for x in map(find_solution, problems) if x is not None), None)
    except SearchTooLarge:
        return Membership(name=name, meaning=meaning, holds=None)
    witness = None if found is None else tuple(found[1].forces)
    return Membership(name=name, meaning=meaning, holds=found is None, witness=witness)
