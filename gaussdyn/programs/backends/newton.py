"""Proximal semismooth Newton: the method that finishes what the others begin, and solves most problems alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgesv
from scipy.sparse.linalg import splu

from ...arrays import Array
from ..complementarity import ComplementarityProblem, LinearComplementarity
from ..solution import Solution
from .block_form import BlockForm, block_form
from .body_form import body_step, has_body_form
from .scaled import Scaled

CHUNK = 25  # Newton steps after which the clock is looked at, at the end of a proximal step
STALE = 8  # full steps without a smaller |F| that end them
FULL = 0.2  # a Newton matrix with more entries than this is treated as dense


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalNewton:
    """Newton's method on the Alart-Curnier equations with line search, inside a proximal point iteration.

    Each outer step solves the problem with u + alpha (r - last r) in place of u, so that a rank deficient W does no
    harm; alpha falls tenfold after every success. After Alart and Curnier (CMAME 92, 1991) and, for the proximal
    outer loop, Acary, Bremond and Huber (2018).

    Attributes
    ----------
    alpha : float
        First proximal term, in units of 1 / rho; > 0.
    floor : float
        Smallest proximal term.
    newton_steps : int
        Most Newton steps in all.
    seconds : float
        Wall time after which the best point is returned.
    tol : float
        Residual E to reach.
    bold : bool
        Whether to begin with a fixed rho and an alpha that falls a hundredfold, as long as that is quick (from points
        whose modes are nearly right; problems by 3x3 blocks only).
    """

    alpha: float = 1.0
    floor: float = 1e-9
    newton_steps: int = 400
    seconds: float = 20.0
    tol: float = 1e-12
    bold: bool = False
    name: ClassVar[str] = "proximal_newton"

    def solve(self, problem: ComplementarityProblem | LinearComplementarity) -> Solution:
        """Solve from r = 0, verify and return."""
        from ..verify import run

        return run(self, problem)

    def improve(self, data: Scaled, r: Array) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the Newton steps taken."""
        form = block_form(data)
        if form is not None:
            return self._by_blocks(data, form, r)
        stop = time.perf_counter() + self.seconds
        best, best_r, steps, fails = data.residual(r), r.copy(), 0, 0
        x, centre, alpha = r.copy(), r.copy(), self.alpha
        while best > 0.1 * self.tol and steps < self.newton_steps and fails < 8:
            if time.perf_counter() > stop:
                break
            goal = max(0.03 * self.tol, min(1e-2 * best, 1e-2))
            limit = min(15, self.newton_steps - steps)
            inner, taken = inner_newton(data, alpha, centre, x, goal * data.weight, limit)
            steps += taken + 1
            E = data.residual(x) if np.isfinite(inner) else np.inf
            if inner / data.weight > max(self.tol, 0.1 * min(best, 1.0)) or not np.isfinite(E):
                alpha, fails, x = min(alpha * 7.0, 1e3), fails + 1, centre.copy()
                continue
            centre = x.copy()
            alpha = max(0.1 * alpha, self.floor)
            fails = 0 if best > E else fails + 1
            if best > E:
                best, best_r = E, x.copy()
        return best_r, steps

    def _by_blocks(self, data: Scaled, form: BlockForm, r: Array) -> tuple[Array, int]:
        """The same iteration in compiled calls of a few Newton steps each, as the time allows."""
        from ..sparse_kernels import proximal_steps

        stop, steps, laws = time.perf_counter() + self.seconds, 0, (data.code, form.sizes, data.P)
        points, q = np.array([form.pad(r)] * 3), form.pad(data.q)
        best = data.residual(r)
        state = np.array([self.alpha, self.floor, 0.0, best if np.isfinite(best) else 1e300, float(self.bold)])
        while steps < self.newton_steps and time.perf_counter() < stop:
            limit = min(CHUNK, self.newton_steps - steps)
            _, taken = proximal_steps(
                form.blocks, form.ordering, form.pairs, q, laws, data.rho, data.weight, state, self.tol, limit, points
            )
            steps += taken
            if taken < limit:
                break
        return form.rows(points[0]), steps


def inner_newton(
    data: Scaled, alpha: float, centre: Array, r: Array, goal: float, limit: int, g: float | None = None
) -> tuple[float, int]:
    """Newton steps at fixed alpha and centre, from r, which is overwritten; returns |F| and the steps taken.

    The step of the equations is g rho; by default larger for a smaller alpha (rho / sqrt(alpha)): a tighter problem is
    closer to its modes.
    """
    from ..newton_kernels import newton_dense

    form = block_form(data)
    g = 1.0 / np.sqrt(min(max(alpha, 1e-12), 1.0)) if g is None else g
    if form is not None:
        return _inner_blocks(data, form, alpha, g, centre, r, goal, limit)
    rho = g * data.rho
    if data.small:
        size, steps = newton_dense(data.dense(), data.W_abs, data.q, data.table, rho, g * alpha, centre, r, goal, limit)
        return float(size), int(steps)
    return _inner_large(data, alpha, rho, centre, r, goal, limit)


def full_newton(data: Scaled, alpha: float, centre: Array, goal: float, limit: int) -> tuple[Array, float, int]:
    """Newton steps at fixed alpha from the centre itself, without line search and with pivots; near a solution only.

    Returns the point with the least |F|, that |F|, and the steps taken.
    """
    from ..newton_kernels import linearize

    sizes, x, best, best_x, stale = np.diff(data.start), centre, np.inf, centre, 0
    prox, rho = np.repeat(alpha / data.rho, sizes), np.repeat(data.rho, sizes)
    F, Y = np.zeros(len(x)), np.zeros((len(data.code), 5, 5))
    for it in range(limit + 1):
        linearize(data.table, data.rho, data.motion(x) + prox * (x - centre), x, F, Y)
        size = float(np.sqrt(F @ F))
        stale = 0 if best > size else stale + 1
        if best > size:
            best, best_x = size, x
        if best <= goal or it == limit or stale > STALE or not np.isfinite(size):
            break
        dr = _newton_step(data, Y, rho, prox, x, F)
        if dr is None:
            break
        x = x + dr
    return best_x, best, it


def _inner_blocks(
    data: Scaled, form: BlockForm, alpha: float, g: float, centre: Array, r: Array, goal: float, limit: int
) -> tuple[float, int]:
    from ..sparse_kernels import newton_space, newton_steps

    x = form.pad(r)
    size, steps = newton_steps(
        form.blocks, form.ordering, form.pairs, form.pad(data.q), (data.code, form.sizes, data.P), data.rho, alpha, g,
        form.pad(centre), x, goal, limit, newton_space(len(form.sizes), form.ordering, form.pairs),
    )  # fmt: skip
    r[:] = form.rows(x)
    return float(size), int(steps)


def _inner_large(
    data: Scaled, alpha: float, rho: Array, centre: Array, r: Array, goal: float, limit: int
) -> tuple[float, int]:
    from ..newton_kernels import line_search, linearize

    table, sizes, last = data.table, np.diff(data.start), np.inf
    prox, rho_rows = np.repeat(alpha / data.rho, sizes), np.repeat(rho, sizes)
    F, Y, size = np.zeros(len(r)), np.zeros((len(data.code), 5, 5)), np.inf
    for it in range(limit + 1):
        u = data.motion(r) + prox * (r - centre)
        linearize(table, rho, u, r, F, Y)
        size = float(np.sqrt(F @ F))
        if size <= goal or it == limit or not np.isfinite(size) or 0.5 * last < size < 1e-10:
            return size, it
        last = size
        dr = _newton_step(data, Y, rho_rows, prox, r, F)
        if dr is None:
            return size, it
        step = r + dr
        du = data.motion(step) + prox * (step - centre) - u
        r += line_search(table, rho, u, r, du, dr) * dr
    return size, limit


def _newton_step(data: Scaled, Y: Array, rho: Array, prox: Array, r: Array, F: Array) -> Array | None:
    """Solve (I - Y + Y rho (W + prox)) dr = -F, sparse or dense; None if the matrix is singular."""
    if has_body_form(data):
        return body_step(data, Y, rho, prox, F)
    m = len(r)
    blocks = _block_diagonal(data, Y)
    W = data.W
    if len(data.W_abs):
        W = W + data.W_abs * np.where(r >= 0.0, 1.0, -1.0)
    if not sp.issparse(W) or W.nnz > FULL * m * m:
        A = blocks @ (rho[:, None] * (W.toarray() if sp.issparse(W) else W)) - blocks.toarray() * (1.0 - rho * prox)
        A[np.diag_indices(m)] += 1.0
        dr, info = dgesv(A, -F)[2:]
        return np.asarray(dr) if info == 0 and np.isfinite(dr).all() else None
    A = blocks @ (sp.diags_array(rho) @ W + sp.diags_array(rho * prox - 1.0)) + sp.eye_array(m)
    try:
        dr = splu(sp.csc_matrix(A)).solve(-F)
    except RuntimeError:  # exactly singular
        return None
    return np.asarray(dr) if np.isfinite(dr).all() else None


def _block_diagonal(data: Scaled, Y: Array) -> sp.csr_array:
    """Return the block diagonal matrix of the blocks Y (n, 5, 5), each cut to its size."""
    sizes = np.diff(data.start)
    rows, cols, values = [], [], []
    for d in np.unique(sizes):
        pick = sizes == d
        index = data.start[:-1][pick][:, None] + np.arange(d)
        rows.append(np.repeat(index, d, axis=1).ravel())
        cols.append(np.tile(index, (1, d)).ravel())
        values.append(Y[pick, :d, :d].ravel())
    triple = (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols)))
    return sp.csr_array(triple, shape=(data.start[-1],) * 2)
