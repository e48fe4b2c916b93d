"""The index of a solution and the degree of a problem: a check that an enumeration is complete.

With x = f - u block by block, the laws turn x into (u, f) continuously and linearly on the cones of the modes, so
that F(x) = u - W f is a piecewise linear map and solutions are F(x) = q. If reactions cannot balance each other
without load, the sum of the signs of det F over all solutions is the same for every q off the borders: the degree.
For an LCP the index of a solution is the sign of det M_aa over its active set a.
"""

from __future__ import annotations

from fractions import Fraction

from ...linalg.rational import Row, integer_row, null_space
from ..proof.exact_linear import EQUAL
from .enumerate import Enumeration, Leaf
from .modal_problem import ModalProblem


def index_sum(enumeration: Enumeration) -> int | None:
    """Return the sum of the indices of all solutions.

    None where it means nothing: an incomplete enumeration, a solution on a border or not isolated, a law with
    mu_s > mu (its graph is not a manifold), or blocks with more forces than motions.
    """
    problem = enumeration.problem
    regular = all(block.motions == block.forces and not block.stronger_at_rest for block in problem.blocks)
    solved = [leaf for leaf in enumeration.leaves if leaf.face is not None]
    if not (regular and enumeration.complete) or not all(_isolated(leaf) for leaf in solved):
        return None
    return sum(index(problem, leaf.modes) for leaf in solved)


def _isolated(leaf: Leaf) -> bool:
    return leaf.face is not None and leaf.face.forces_unique and not leaf.face.tight and leaf.face.hull.is_point


def index(problem: ModalProblem, modes: tuple[int, ...]) -> int:
    """Return the sign of det F on the cone of a mode, normalised to +1 where nothing touches; 0 if singular."""
    columns_F: list[list[Fraction]] = []
    columns_x: list[list[Fraction]] = []
    n = len(problem.q)
    for b, ((at_u, at_f), option) in enumerate(zip(problem.offsets(), modes, strict=True)):
        block = problem.blocks[b]
        rows = [integer_row(c.motion + c.force)[0] for c in problem.conditions(b, option) if c.kind == EQUAL]
        for v in null_space(rows, block.motions + block.forces):
            u, f = v[: block.motions], v[block.motions :]
            F = [-sum((problem.W[i][at_f + j] * f[j] for j in range(block.forces)), Fraction(0)) for i in range(n)]
            x = [Fraction(0)] * n
            for i in range(block.motions):
                F[at_u + i] += u[i]
                x[at_u + i] = f[i] - u[i]
            columns_F.append(F)
            columns_x.append(x)
    if len(columns_F) != n:
        return 0
    return (-1 if n % 2 else 1) * _sign(columns_F) * _sign(columns_x)


def _sign(rows: list[list[Fraction]]) -> int:
    """Return the sign of the determinant of a square matrix."""
    left: list[Row] = [integer_row(row)[0] for row in rows]
    sign = 1
    while left:
        k = next((k for k, row in enumerate(left) if row[0]), None)
        if k is None:
            return 0
        if k:
            left[0], left[k] = left[k], left[0]
            sign = -sign
        top, *rest = left
        sign *= 1 if top[0] > 0 else -1
        left = [_eliminated(row, top) for row in rest]
    return sign


def _eliminated(row: Row, top: Row) -> Row:
    """Return what is left of a row where its first entry is taken out by the row on top, times a positive number."""
    share = row[0] if top[0] > 0 else -row[0]
    left = [abs(top[0]) * x - share * y for x, y in zip(row[1:], top[1:], strict=True)]
    return integer_row([Fraction(x) for x in left])[0] if any(left) else left
