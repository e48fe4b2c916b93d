"""From a state of a system to a problem with exact numbers that can be enumerated.

Mass, force, Jacobians and drifts are doubles with rounding noise; where contacts are redundant, noise would decide
whether their equations agree. So they are first rounded to multiples of 2^-36 of their largest entry, and everything
after that is exact: the answer, and its certificate, are about the rounded data, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..linalg.rational import eliminate, integer_row, rational, text
from ..programs.modal import ModalProblem, contact_document
from ..programs.modes import Block, bilateral_block, contact_block, dry_block, unilateral_block
from .activation import ActiveRow, OmegaStatus, active_set
from .snapshot import LocalDynamics

BITS = 36
ROUNDED = f"doubles of a state, rounded to multiples of 2^-{BITS} of their largest entry"

Rows = list[list[Fraction]]


def rounded(x: Array) -> list[Any]:
    """Return the entries as Fractions, rounded to a multiple of a power of two near 2^-36 of the largest."""
    top = float(np.abs(x).max(initial=0.0))
    if top == 0.0:
        return [[Fraction(0)] * x.shape[1] for _ in x] if x.ndim == 2 else [Fraction(0)] * len(x)
    unit = Fraction(2) ** (int(np.floor(np.log2(top))) - BITS)
    exact = np.vectorize(lambda value: round(Fraction(float(value)) / unit) * unit, otypes=[object])(x)
    return [list(row) for row in exact] if x.ndim == 2 else list(exact)


def dynamics_problem(dynamics: LocalDynamics) -> ModalProblem:
    """Return the planar contact problem at a state: u = W r + q for all constraints that act.

    Raises
    ------
    InputError
        No acceleration exists at this state, or a contact in space rests (its modes are not linear).
    """
    active = active_set(dynamics)
    if active.status is not OmegaStatus.READY:
        given = f"{active.status} at {', '.join(active.at_fault)}"
        raise InputError("dynamics", given, "a state with an acceleration", "Solve the velocity level first.")
    parts = [_part(dynamics, one) for one in active.rows]
    M, h = rounded(dynamics.M), rounded(dynamics.h)
    held = [i for i, part in enumerate(parts) if part.block is None and part.force is None]
    acting = [part for part in parts if part.block is not None]
    for part in parts:
        if part.force is not None:
            h = [a + b for a, b in zip(h, part.force, strict=True)]
    G = [row for i in held for row in parts[i].J]
    g = [-x for i in held for x in parts[i].w]
    J = [row for part in acting for row in part.J]
    B = [row for part in acting for row in part.B]
    w = [x for part in acting for x in part.w]
    columns = _constrained_solve(M, G, [h, *B], g)
    W = [[_dot(row, x) for x in columns[1:]] for row in J]
    q = [_dot(row, columns[0]) + x for row, x in zip(J, w, strict=True)]
    documents = [part.document for part in acting]
    document = {"W": [text(row) for row in W], "q": text(q), "blocks": documents} if None not in documents else {}
    blocks = tuple(part.block for part in acting if part.block is not None)
    return ModalProblem(kind="blocks", W=W, q=q, blocks=blocks, primary=list(zip(W, q, strict=True)),
                        document=document, numbers=ROUNDED)  # fmt: skip


class _Part:
    """One constraint: rows J of its motion, rows B^T of its reaction, drift w, its block, or its given force."""

    __slots__ = ("B", "J", "block", "document", "force", "w")

    def __init__(self, J: Rows, w: list[Fraction], block: Block | None, document: dict[str, Any] | None) -> None:
        self.J, self.B, self.w = J, J, w
        self.block, self.document = block, document
        self.force: list[Fraction] | None = None


def _part(dynamics: LocalDynamics, active: ActiveRow) -> _Part:
    row = active.row
    J, w = rounded(row.J), _drift(active.w)
    if row.kind == "dry":
        return _dry(dynamics, active, J, w)
    if row.kind == "bilateral" or (row.bilateral and not active.rough):
        count = row.size if row.kind == "bilateral" else 1
        return _Part(J[:count], w[:count], None, None)
    if not active.rough:
        return _Part(J[:1], w[:1], unilateral_block("DL"), {"law": "unilateral"})
    slip = dynamics.level == "acceleration" and row.slip_speed > dynamics.activation.speed
    if row.size == 2:
        state = int(np.sign(row.rate[1])) if slip else 0
        mu, mu_s = rational(row.mu), rational(row.mu_s)
        make = bilateral_block if row.bilateral else contact_block
        return _Part(J, w, make(mu, mu_s, state), contact_document(mu, mu_s, row.bilateral, state))
    if not slip or row.bilateral or row.mu_r > 0:
        raise InputError(row.id, "a contact in space at rest", "planar contacts, or sliding ones")
    part = _Part(J[:1], w[:1], unilateral_block("DL"), {"law": "unilateral"})
    e = rounded(row.rate[1:3] / row.slip_speed)
    mu = rational(row.mu)
    part.B = [[a - mu * (e[0] * b + e[1] * c) for a, b, c in zip(*J[:3], strict=True)]]
    return part


def _dry(dynamics: LocalDynamics, active: ActiveRow, J: Rows, w: list[Fraction]) -> _Part:
    """Friction under a given load: a given force where it slips, else a block."""
    row = active.row
    if row.size > 1:
        raise InputError(row.id, "dry friction in two directions", "one direction: its modes are linear")
    scale = Fraction(1) if dynamics.level == "acceleration" else rational(dynamics.dt)
    cap, cap_s = scale * rational(row.cap), scale * rational(row.cap_s)
    if dynamics.level == "acceleration" and row.slip_speed > dynamics.activation.speed:
        part = _Part(J, w, None, None)
        part.force = [-cap * int(np.sign(row.rate[0])) * x for x in J[0]]
        return part
    return _Part(J, w, dry_block(cap, cap_s), {"law": "dry", "c": str(cap), "c_s": str(cap_s)})


def _drift(w: Array) -> list[Fraction]:
    """Return the drift, with what is rounding noise beside its largest entry, or beside 1e-9, left out."""
    return [Fraction(0) if abs(x) < 1e-12 else x for x in rounded(w)]


def _constrained_solve(M: Rows, G: Rows, loads: Sequence[Sequence[Fraction]], g: list[Fraction]) -> Rows:
    """Return x with M x = load + G^T lam, G x = g for the first load, G x = 0 for the others; redundant G dropped."""
    n = len(M)
    kept = _independent(G)
    size = n + len(kept)
    rows = []
    for i in range(n):
        rows.append([*M[i], *(-G[k][i] for k in kept), *(load[i] for load in loads)])
    for k in kept:
        rows.append([*G[k], *[Fraction(0)] * len(kept), g[k], *[Fraction(0)] * (len(loads) - 1)])
    reduced, pivots = eliminate([integer_row(row)[0] for row in rows], size)
    if pivots != list(range(size)):
        raise InputError("mass", "a singular matrix after rounding", "a mass of moderate condition")
    return [[Fraction(reduced[i][size + k], reduced[i][i]) for i in range(n)] for k in range(len(loads))]


def _independent(G: Rows) -> list[int]:
    """Return the bilateral rows that are independent in floating point, so that noise does not contradict itself."""
    kept: list[int] = []
    basis: list[Array] = []
    for k, row in enumerate(G):
        x = np.array([float(a) for a in row])
        size = np.linalg.norm(x)
        for _ in range(2):
            for b in basis:
                x = x - (b @ x) * b
        if np.linalg.norm(x) > 1e-9 * size > 0:
            kept.append(k)
            basis.append(x / np.linalg.norm(x))
    return kept


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
