"""Newton's method for a few blocks, with a proximal term in the matrix that falls with the residual; compiled.

The dense brother of `sparse_falling.falling_steps`: no problem inside a problem, and the last reactions as the centre,
so that the term only chooses among the steps of a singular matrix.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ....linalg.dense import solve_dense
from ...laws.projections import length
from .dense_newton import DenseProblem, DenseSpace, linearize_into, newton_matrix, proximal_motion, step_into

SHARE = 0.03  # proximal term per residual
LEAST, MOST = 1e-10, 1e-2  # between these
QUICK = 14  # most steps
FALLS = 8  # vectors of work space that `falling_within` takes


@kernel(f"Tuple((float64, int64))(DenseProblem, float64, float64, {A1}, float64, int64, DenseSpace)")
def falling_within(
    problem: DenseProblem, g: float, weight: float, r: Array, tol: float, patience: int, space: DenseSpace
) -> tuple[float, int]:
    """Newton steps from r, which becomes the best point; returns |F| / weight and the steps taken.

    The equations belong to the step sizes of the problem, g times those of the residual. Ends after as many steps as
    `patience` that lower the least residual by less than a tenth. The work space has FALLS vectors.
    """
    W, none, q, table, rho = problem
    V, Y, A, place, work = space
    n, steps, stale = len(q), 0, 0
    u, F, du, dr, prox, step, b, best = V[0], V[1], V[2], V[3], V[4], V[5], V[6], V[7]
    for i in range(n):
        prox[i], best[i] = 0.0, r[i]
    proximal_motion(W, none, q, prox, r, r, u)
    linearize_into(table, rho, u, r, F, Y, work[6], work[7])
    size = length(F, 0, n) / weight
    least = size
    while size > 0.1 * tol and steps < QUICK and stale < patience and np.isfinite(size):
        alpha = g * min(max(SHARE * size, LEAST), MOST)
        m = newton_matrix(problem, alpha, r, space)
        if not solve_dense(A[: m * m].reshape((m, m)), b[:m]):
            break
        for i in range(n):
            dr[i] = b[place[i]] if place[i] >= 0 else dr[i]
            step[i] = r[i] + dr[i]
        steps += 1
        proximal_motion(W, none, q, prox, r, step, du)
        linearize_into(table, rho, du, step, F, Y, work[6], work[7])
        last, size = size, length(F, 0, n) / weight
        if size * size <= 0.9 * last * last:  # the full step, as nearly always
            for i in range(n):
                u[i], r[i] = du[i], step[i]
        else:
            for i in range(n):
                du[i] -= u[i]
            t = step_into(table, rho, u, r, du, dr, (last * weight) ** 2, work)
            for i in range(n):
                r[i] += t * dr[i]
            proximal_motion(W, none, q, prox, r, r, u)
            linearize_into(table, rho, u, r, F, Y, work[6], work[7])
            size = length(F, 0, n) / weight
        stale = 0 if size < 0.9 * least else stale + 1
        if size < least:
            least = size
            for i in range(n):
                best[i] = r[i]
    for i in range(n):
        r[i] = best[i]
    return least, steps
