"""Proof that no admissible motion exists: the linear relaxation of a block problem is empty (Farkas)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import Array
from ..laws.laws import BilateralCoulomb, BilateralSliding, Dry, Sliding, Unilateral
from ..problems.complementarity import ComplementarityProblem
from ..solution.wording import CONTACTS, Wording
from .certificates import Certificate, farkas_certificate
from .farkas import approximate, refute

LARGEST = 1500  # rows or unknowns; beyond it no proof is tried
BOUND = 1e9  # reactions (of |rho q|) up to which rows that contradict each other but for rounding are refuted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxation:
    """A x = b, C x >= d: what every solution obeys, whatever its modes; `names` says what each row is."""

    A: Array
    b: Array
    C: Array
    d: Array
    names: tuple[str, ...]


def refutation(problem: ComplementarityProblem, words: Wording = CONTACTS) -> Certificate | None:
    """Return an exact proof that the relaxation is empty, or None; `words` name its rows."""
    size = len(problem.q) if not _has_motion(problem) else len(problem.form.h)  # type: ignore[union-attr]
    if max(size, len(problem.q)) > LARGEST:
        return None
    rows = relaxation(problem, words)
    if not len(rows.names):
        return None
    C, d = (rows.C, rows.d) if len(rows.d) else (np.zeros((1, rows.A.shape[1])), np.array([-1.0]))  # 0 >= -1
    found = refute(rows.A, rows.b, C, d)
    if found is None:
        return None
    y, z = ([float(x) for x in part] for part in found)
    used = [name for name, x in zip(rows.names, [*y, *z], strict=False) if x != 0.0]
    claim = f"no {words.primary} obeys these rows together: {', '.join(used[:12])}" + (
        ", ..." if len(used) > 12 else ""
    )
    return farkas_certificate(rows.A, rows.b, C, d, y, z, claim=claim)


def bounded_refutation(problem: ComplementarityProblem, words: Wording = CONTACTS) -> Certificate | None:
    """Return an exact proof that no reaction up to BOUND |rho q| gives an admissible motion, or None.

    For rows that contradict each other but for their rounding: as doubles they leave room for a motion beyond all
    bounds, and no reaction beyond 4.5e7 |rho q| is ever called a solution.
    """
    if len(problem.q) > LARGEST:
        return None
    rows = _of_reactions(problem, words)
    N, rhs, n = np.vstack([rows.A, rows.C]), np.r_[rows.b, rows.d], rows.C.shape[1]
    w = approximate(N, rhs, len(rows.b)) if len(rhs) else None
    if w is None:
        return None
    left = N.T @ w
    top = BOUND * float(np.linalg.norm(np.repeat(problem.rho, np.diff(problem.table.start)) * problem.q))
    if not rhs @ w > 2.0 * top * float(np.abs(left).sum()):
        return None
    C, d = np.vstack([rows.C, np.eye(n), -np.eye(n)]), np.r_[rows.d, np.full(2 * n, -top)]
    guess = np.r_[w, np.maximum(-left, 0.0), np.maximum(left, 0.0)]
    used = [name for name, x in zip(rows.names, w, strict=True) if x != 0.0]
    by = f"by {words.reactions} up to {BOUND:.0e} |rho q|"
    claim = f"no {words.primary} {by} obeys these rows together: {', '.join(used[:12])}"
    return farkas_certificate(rows.A, rows.b, C, d, guess[: len(rows.b)], guess[len(rows.b) :], claim=claim)


def relaxation(problem: ComplementarityProblem, words: Wording = CONTACTS) -> Relaxation:
    """Return the linear conditions on the motion (global form), or on the reactions (local form)."""
    return _of_motion(problem, words) if _has_motion(problem) else _of_reactions(problem, words)


def _has_motion(problem: ComplementarityProblem) -> bool:
    form = problem.form
    return form is not None and form.B is None and form.B_abs is None


def _normals(problem: ComplementarityProblem) -> tuple[list[int], list[int]]:
    """Return the blocks with u_N >= 0 and those with u_N = 0."""
    laws = problem.table.laws
    closed = [k for k, law in enumerate(laws) if isinstance(law, (BilateralCoulomb, BilateralSliding))]
    tight = set(closed)
    return [k for k, law in enumerate(laws) if k not in tight and not isinstance(law, Dry)], closed


def _of_motion(problem: ComplementarityProblem, words: Wording) -> Relaxation:
    """G v = b, J_N v + w_N >= 0 (or = 0)."""
    form, (open_, closed) = problem.form, _normals(problem)
    assert form is not None
    J, G = (np.asarray(X.toarray() if sp.issparse(X) else X) for X in (form.J, form.G))
    at = problem.table.start[:-1]
    return Relaxation(
        A=np.vstack([G, J[at[closed]]]), b=np.r_[form.b, -form.w[at[closed]]],
        C=J[at[open_]], d=-form.w[at[open_]],
        names=tuple(
            [f"bilateral row {i}" for i in range(len(form.b))]
            + [f"{words.block} {k} ({words.u} = 0)" for k in closed]
            + [f"{words.block} {k} ({words.u} >= 0)" for k in open_]
        ),
    )  # fmt: skip


def _of_reactions(problem: ComplementarityProblem, words: Wording) -> Relaxation:
    """W r + q >= 0 on the normal rows; r >= 0 where the block is a row of an LCP.

    Columns that act with |r| get an unknown of their own, p >= |r|.
    """
    (open_, closed), m, at = _normals(problem), len(problem.q), problem.table.start[:-1]
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    bound = np.zeros((0, m))
    if problem.W_abs is not None:
        W_abs = problem.W_abs.toarray() if sp.issparse(problem.W_abs) else problem.W_abs
        W, bound = np.hstack([W, W_abs]), np.vstack([np.eye(m), -np.eye(m)])
    rows = [k for k in open_ if isinstance(problem.table.laws[k], (Unilateral, Sliding))]
    signs = np.hstack([np.eye(m)[at[rows]], np.zeros((len(rows), W.shape[1] - m))])
    sides = np.hstack([bound, np.vstack([np.eye(m)] * 2)]) if len(bound) else np.zeros((0, W.shape[1]))
    return Relaxation(
        A=W[at[closed]], b=-problem.q[at[closed]],
        C=np.vstack([W[at[open_]], signs, sides]), d=np.r_[-problem.q[at[open_]], np.zeros(len(rows) + len(sides))],
        names=tuple(
            [f"{words.block} {k} ({words.u} = 0)" for k in closed]
            + [f"{words.block} {k} ({words.u} >= 0)" for k in open_]
            + [f"{words.block} {k} ({words.r} >= 0)" for k in rows] + [f"|r| of row {i % m}" for i in range(len(sides))]
        ),
    )  # fmt: skip
