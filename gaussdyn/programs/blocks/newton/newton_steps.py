"""Newton steps on the equations of a proximal point: by blocks, dense or sparse, with or without line search."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgesv
from scipy.sparse.linalg import splu

from ....arrays import Array
from ..scaled import Scaled
from . import costs
from .block_form import BlockForm, block_form
from .body_form import body_step, has_body_form

STALE = 8  # full steps without a smaller |F| that end them


def inner_newton(
    data: Scaled, alpha: float, centre: Array, r: Array, goal: float, limit: int, g: float | None = None
) -> tuple[float, int]:
    """Newton steps at fixed alpha and centre, from r, which is overwritten; returns |F| and the steps taken.

    The step of the equations is g rho; by default larger for a smaller alpha (rho / sqrt(alpha)): a tighter problem is
    closer to its modes.
    """
    from ...._jit import entry_of
    from .dense_newton import DenseProblem, newton_dense

    form = block_form(data)
    g = 1.0 / np.sqrt(min(max(alpha, 1e-12), 1.0)) if g is None else g
    if form is not None:
        return _inner_blocks(data, form, alpha, g, centre, r, goal, limit)
    rho = g * data.rho
    if data.small:
        problem = DenseProblem(data.dense(), data.W_abs, data.q, data.table, rho)
        size, steps = entry_of(newton_dense)(problem, g * alpha, centre, r, goal, limit)
        return float(size), int(steps)
    return _inner_large(data, alpha, rho, centre, r, goal, limit)


def full_newton(data: Scaled, alpha: float, centre: Array, goal: float, limit: int) -> tuple[Array, float, int]:
    """Newton steps at fixed alpha from the centre itself, without line search and with pivots; near a solution only.

    Returns the point with the least |F|, that |F|, and the steps taken.
    """
    from .dense_newton import linearize

    sizes, x, best, best_x, stale = np.diff(data.start), centre, np.inf, centre, 0
    prox, rho = np.repeat(alpha / data.rho, sizes), np.repeat(data.rho, sizes)
    F, Y = np.zeros(len(x)), np.zeros((len(data.code), 6, 6))
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
    """Solve the problem with a fixed proximal term by factors of 3x3 blocks; r becomes the answer."""

    from ...._jit import entry_of
    from .sparse_newton import SparseProblem, newton_space, newton_steps

    x = form.pad(r)
    laws, space = (data.code, form.sizes, data.P), newton_space(len(form.sizes), form.ordering, form.pairs)
    problem = SparseProblem(form.blocks, form.ordering, form.pairs, form.pad(data.q), laws, data.rho)
    size, steps = entry_of(newton_steps)(problem, alpha, g, form.pad(centre), x, goal, limit, space)
    r[:] = form.rows(x)
    return float(size), int(steps)


def _inner_large(
    data: Scaled, alpha: float, rho: Array, centre: Array, r: Array, goal: float, limit: int
) -> tuple[float, int]:
    """Solve the problem with a fixed proximal term by a library's factors; r becomes the answer."""

    from .dense_newton import line_search, linearize

    table, sizes, last = data.table, np.diff(data.start), np.inf
    prox, rho_rows = np.repeat(alpha / data.rho, sizes), np.repeat(rho, sizes)
    F, Y, size = np.zeros(len(r)), np.zeros((len(data.code), 6, 6)), np.inf
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
    if not sp.issparse(W) or W.nnz > costs.FULL * m * m:
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
    """Return the block diagonal matrix of the blocks Y (n, 6, 6), each cut to its size."""
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
