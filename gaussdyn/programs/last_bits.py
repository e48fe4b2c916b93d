"""Sticking contacts with very large mu: mu |u_T| holds the rounding of u_T mu times, so that it must vanish exactly."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from .complementarity import ComplementarityProblem
from .laws import MU, Coulomb

LARGE = 100.0  # mu from which the rounding of u_T counts
TRIES = 3000


def settled(problem: ComplementarityProblem, r: Array, seed: int = 0) -> Array:
    """Return r with last bits changed at random until the slip of sticking contacts with large mu is zero as computed.

    The largest |u_T| of them, over two orders of summation (row by row, and that of a dense product), never grows.
    r itself is returned if there is no such contact.
    """
    from .sweep_kernels import motion

    table, W = problem.table, problem.rows
    large = np.flatnonzero((table.code == Coulomb.code) & (table.P[:, MU] > LARGE) & (r[table.start[:-1]] > 0.0))
    stuck = [k for k in large if _within(r[table.start[k] : table.start[k + 1]], 0.9 * table.P[k, MU])]
    if not len(stuck) or problem.W_abs is not None:
        return r
    rows = np.concatenate([np.arange(table.start[k], table.start[k + 1]) for k in stuck])
    slips = ~np.isin(rows, table.start)
    full = sp.csr_array((W.data, W.indices, W.indptr), shape=(len(r),) * 2)[rows]
    few = (full.data, full.indices.astype(np.int64), full.indptr.astype(np.int64))
    dense, q, u = full.toarray(), problem.q[rows], np.empty(len(rows))
    back = np.linalg.pinv(dense[:, rows], rcond=1e-10)
    near = np.unique(few[1])
    near = near[r[near] != 0.0]

    def slip(x: Array) -> float:
        """Return the fastest slip under `x`, u left behind; by both products, whichever rounds worse."""
        motion(few, q, x, u)
        return float(np.maximum(np.abs(u), np.abs(dense @ x + q))[slips].max(initial=0.0))

    draw, best, best_r = np.random.default_rng(seed), slip(r), r
    rest = back @ u
    for _ in range(TRIES if len(near) else 0):
        if best == 0.0:
            break
        x = best_r.copy()
        if draw.random() < 0.5 and np.abs(rest).max() <= 1e-8 * np.abs(x).max():
            x[rows] -= draw.choice([1.0, 0.5, 2.0, -1.0]) * rest
        some = draw.choice(near, size=min(len(near), int(draw.integers(1, 4))))
        x[some] += np.spacing(x[some]) * draw.integers(-2, 3, len(some))
        now = slip(x)
        if now <= best:
            best, best_r, rest = now, x, back @ u
    return best_r


def _within(r: Array, mu: float) -> bool:
    return bool(np.sqrt((r[1:] ** 2).sum()) < mu * r[0])
