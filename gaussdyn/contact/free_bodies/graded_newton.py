"""Newton's method on the modes of contacts with a proximal term that begins large and falls from step to step.

With a small term from the beginning impulses of contacts that depend on one another, and have not yet their right
modes, run away by as much as rates disagree over the term. A large one holds them; where it falls threefold in every
step the modes follow, and at its end Newton's method converges as always. Unlike proximal points it solves no problem
within a problem: a step is one factorisation. Source: Rockafellar (1976) for the term; the schedule is measured.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...linalg.block_lu import Ordering
from .body_problem import BodyProblem, BodyWork, Iterate
from .coulomb import linearise_modes
from .newton import motion, newton_step, residual, rounding_floor, without_impulses
from .structure import copy_rows

BEGIN, LEAST = 0.1, 1e-8  # of the local compliance: the proximal term
FALLS, QUIETLY = 0.3, 0.1  # its factor from step to step, and where no mode has changed
PATIENCE = 12  # steps without a better point
AWAY, LARGE, STEPS = 30.0, 0.05, 3  # times the best E and more than that for so many steps: impulses run away
AGAIN, MORE, SLOWLY = 0.01, 30.0, 0.5  # the largest term from there, times that of the best point, and how it falls


@kernel("Tuple((float64, int64, float64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64)", borrows=True)
def graded_newton(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, limit: int
) -> tuple[float, int, float]:  # fmt: skip
    """Take steps from p until E <= tol, `limit` at most; p becomes the best point met.

    From where impulses run away it goes back once to the best point. Returns E, the number of factorisations, and the
    least residual to ask for; v and u belong to p.
    """
    p, u, best, _start, v = iterate
    n, E, factors, waited, far, back = problem.contacts.first[-1], np.inf, 0, 0, 0, False
    alpha, at, falls = BEGIN, BEGIN, FALLS
    scale, floor = without_impulses(problem, work, p, v, u, best)
    while True:
        motion(problem, p, work.F, v, u)
        now = residual(problem, scale, p, u)
        waited, far = waited + 1, far + 1 if now > max(AWAY * E, LARGE) else 0
        if now < E:
            E, waited, at = now, 0, alpha
            copy_rows(n, p, best)
            floor = rounding_floor(problem, scale, p)
        lost = waited > PATIENCE or far == STEPS
        if max(tol, floor) >= E or factors == limit or not np.isfinite(now) or (lost and back):
            break
        if lost:
            alpha, falls, waited, far, back = min(AGAIN, MORE * at), SLOWLY, 0, 0, True
            copy_rows(n, best, p)
            motion(problem, p, work.F, v, u)
        changed = linearise_modes(n, problem.mu, problem.rho, alpha, p, u, work, True)
        newton_step(problem, ordering, work, p, True)
        factors += 1
        alpha = max(LEAST, alpha * (falls if changed > 0 else QUIETLY))
    copy_rows(n, best, p)
    motion(problem, p, work.F, v, u)
    return E, factors, floor
