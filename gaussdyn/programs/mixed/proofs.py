"""Proofs that a mixed problem has no solution: its linear relaxation is empty, or all of its modes are refuted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...arrays import Array
from ...linalg.rational import DOUBLES, text
from ..enumeration.certificate import prove
from ..enumeration.enumerate import Enumeration, enumerate_modes
from ..enumeration.modal_problem import ModalProblem, law_block
from ..enumeration.modes import equality_block
from ..laws.laws import Associated, Coulomb
from ..problems.mixed import Box, Equality, MixedBlock, MixedComplementarity
from ..proof.certificates import Certificate, farkas_certificate
from ..proof.farkas import refute
from .standard_form import StandardForm

LARGEST = 14  # rows of laws up to which all modes are examined
WIDEST = 120  # rows in all: exact numbers grow with them
LIMIT = 5_000  # leaves of the tree of modes

Side = tuple[Array, float, str]  # a row, its right side, and what it says


def relaxation_is_empty(problem: MixedComplementarity) -> Certificate | None:
    """Return an exact proof that no z obeys the linear conditions alone (w = 0, z >= 0, w >= 0, ...), or None."""
    A, b, C, d, names = _relaxation(problem)
    if not len(d):
        C, d, names = np.zeros((1, len(problem.q))), np.array([-1.0]), [*names, "0 >= -1"]
    found = refute(A, b, C, d)
    if found is None:
        return None
    y, z = ([float(x) for x in part] for part in found)
    used = [name for name, x in zip(names, [*y, *z], strict=True) if x != 0.0]
    claim = f"no z obeys these rows together: {', '.join(used[:12])}" + (", ..." if len(used) > 12 else "")
    return farkas_certificate(A, b, C, d, y, z, claim=claim)


def _relaxation(problem: MixedComplementarity) -> tuple[Array, Array, Array, Array, list[str]]:
    """Return A z = b, C z >= d, and what each row says."""
    unit = np.eye(len(problem.q))
    equal: list[Side] = []
    rows: list[Side] = []
    for start, block in zip(problem.starts, problem.blocks, strict=False):
        for i in range(start, start + block.size):
            if isinstance(block, Equality):
                equal.append((problem.M[i], -problem.q[i], f"w{i} = 0"))
            else:
                rows += _inequalities(problem, block, start, i, unit)
    sides = [
        (np.array([row for row, _, _ in side]).reshape(-1, len(problem.q)), np.array([end for _, end, _ in side]))
        for side in (equal, rows)
    ]
    return *sides[0], *sides[1], [name for _, _, name in equal + rows]


def _inequalities(problem: MixedComplementarity, block: MixedBlock, start: int, i: int, unit: Array) -> list[Side]:
    """Return the linear inequalities that row i of a block which begins at `start` implies; `unit` (n, n)."""
    if isinstance(block, Box):
        low, high = block.lower[i - start], block.upper[i - start]
        rows = [(unit[i], low, f"z{i} >= lower")] if np.isfinite(low) else []
        return rows + ([(-unit[i], -high, f"z{i} <= upper")] if np.isfinite(high) else [])
    if i == start:
        return [(problem.M[i], -problem.q[i], f"w{i} >= 0"), (unit[i], 0.0, f"z{i} >= 0")]
    if isinstance(block, Coulomb):
        return [(block.mu * unit[start] + s * unit[i], 0.0, f"|z{i}| <= mu z{start}") for s in (1.0, -1.0)]
    return []


def all_modes_of(problem: MixedComplementarity, form: StandardForm) -> tuple[Array | None, Certificate | None]:
    """Return (z' of a solution, None), (None, proof that there is none) or (None, None) where this does not decide.

    Only small problems of equalities, rows, boxes and planar contacts are examined, with exact numbers.
    """
    planar = all(law.size == 1 or (law.size == 2 and not isinstance(law, Associated)) for law in form.laws)
    if not planar or len(form.rest) > LARGEST or len(form.q) > WIDEST:
        return None, None
    modal, order = _modal(problem, form)
    found = enumerate_modes(modal, limit=LIMIT)
    if not found.complete:
        return None, None
    z = _first(found, order)
    return (z, None) if z is not None else (None, prove(found))


def _modal(problem: MixedComplementarity, form: StandardForm) -> tuple[ModalProblem, list[int]]:
    """Return the problem of modes, its rows in the order equalities, then laws; and that order."""
    order = [*form.equal.tolist(), *form.rest.tolist()]
    M, q = form.exact(problem)
    W = [[M[i][j] for j in order] for i in order]
    ends = [q[i] for i in order]
    blocks, documents = [equality_block()] * len(form.equal), [{"law": "equality"}] * len(form.equal)
    for k, law in enumerate(form.laws):
        block, document = law_block(law, k)
        blocks.append(block)
        documents.append(document or {})
    data = {"W": [text(row) for row in W], "q": text(ends), "blocks": documents}
    unit = [([Fraction(i == j) for j in range(len(order))], Fraction(0)) for i in range(len(order))]
    modal = ModalProblem(kind="blocks", W=W, q=ends, blocks=tuple(blocks), primary=unit, document=data, numbers=DOUBLES)
    return modal, order


def _first(found: Enumeration, order: list[int]) -> Array | None:
    """Return z' of the first solution, rounded to doubles."""
    for leaf in found.leaves:
        if leaf.face is not None:
            z = np.empty(len(order))
            z[order] = [float(x) for x in leaf.face.forces]
            return z
    return None
