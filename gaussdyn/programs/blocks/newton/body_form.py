"""Newton steps in the space of bodies: for many contacts whose global form is known, so that W need not be factored.

With dx = M^-1 (B dr + G^T dlam), G dx = 0 and C = I - Y + Y rho prox (block diagonal) the Newton step
(C + Y rho W) dr = -F becomes (M + B C^-1 Y rho J) dx - G^T dlam = -B C^-1 F: as many unknowns as the bodies have
velocities, with the graph of the bodies.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from ....arrays import Array
from ...problems.complementarity import GlobalForm
from ..scaled import Scaled

LEAST_BLOCKS = 1500  # below, elimination by blocks of contacts is quicker


def has_body_form(data: Scaled) -> bool:
    """Whether `body_step` serves the problem."""
    return comes_by_bodies(data.form, len(data.code), int(np.diff(data.start).max()))


def comes_by_bodies(form: GlobalForm | None, blocks: int, widest: int) -> bool:
    """Whether `body_step` serves a problem that is not scaled yet: many blocks of at most 3 rows, a sparse form."""
    if form is None or blocks < LEAST_BLOCKS or form.B_abs is not None or widest > 3:
        return False
    return bool(sp.issparse(form.M) and sp.issparse(form.J))


def body_step(data: Scaled, Y: Array, rho: Array, prox: Array, F: Array) -> Array | None:
    """Solve (I - Y + Y rho (W + prox)) dr = -F; None if the matrix is singular. Y (n, 6, 6); rho, prox by rows."""
    form = data.form
    assert form is not None
    sizes = np.diff(data.start)
    n, first = len(sizes), data.start[:-1]
    rows = np.minimum(first[:, None] + np.arange(3), len(F) - 1)  # places past a block's end are masked below
    used = np.arange(3) < sizes[:, None]
    Y3 = np.where(used[:, :, None] & used[:, None, :], Y[:, :3, :3], 0.0)
    C = np.tile(np.eye(3), (n, 1, 1)) - Y3 * (1.0 - (rho * prox)[rows])[:, None, :]
    try:
        inverse = np.linalg.inv(C)
    except np.linalg.LinAlgError:
        return None
    E = _assembled(inverse @ (Y3 * rho[rows][:, None, :]), rows, used, len(F))
    push = _assembled(inverse, rows, used, len(F)) @ F
    B = form.J.T if form.B is None else form.B
    K = data.mass * form.M + B @ (E @ form.J)
    load = -(B @ push)
    if len(form.b):
        G = sp.csr_array(form.G)
        K = sp.block_array([[K, -G.T], [G, None]])
        load = np.concatenate([load, np.zeros(len(form.b))])
    try:
        dx = splu(sp.csc_matrix(K), diag_pivot_thresh=0.01).solve(load)
    except RuntimeError:  # exactly singular
        return None
    dr = -push - E @ (form.J @ dx[: len(form.h)])
    return np.asarray(dr) if np.isfinite(dr).all() else None


def _assembled(blocks: Array, rows: Array, used: NDArray[np.bool_], m: int) -> sp.csr_array:
    """Return the block diagonal matrix of blocks (n, 3, 3) without the places that are not used."""
    both = used[:, :, None] & used[:, None, :]
    i, j = np.repeat(rows[:, :, None], 3, axis=2), np.repeat(rows[:, None, :], 3, axis=1)
    return sp.csr_array((blocks[both], (i[both], j[both])), shape=(m, m))
