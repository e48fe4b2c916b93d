"""Steps that leave nothing moving, to the last digits.

The residual of a contact problem sees relative speeds against those of free motion. Below it a body at rest would
creep; and where reactions are large against the masses that carry them, what rounding leaves of the speed of a heavy
body is a momentum that is not small. Where contacts that stick leave no motion at all, the speed left is removed, and
the reactions follow from the momentum, J^T dr = M dv: no mass spoils that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...arrays import Array
from ...contact.assemble import start_of_blocks
from ...contact.reactions import reactions
from ...contact.snapshot import LocalDynamics
from ...mechanics.rows import Row
from ...programs.blocks.verify import verified
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.solution.solution import Solution

REST = 1e-9  # of the speeds at hand: what may be left of none (if it is not, the residual will tell)
SINGULAR = 1e-6  # smallest over largest diagonal entry of a Cholesky factor from which all motion is held
ROUNDS = 8  # of cutting off what leaves a cone and restoring the momentum
INSIDE = 1.0 - 1e-13  # of the friction bound: where cutting ends
GONE = 1e-120  # m/s, N s; what is left of a motion that has stopped would go on shrinking until its square vanishes
WORSE = 4.0  # times the residual: the reactions are other ones, and its rounding too


def brought_to_rest(dynamics: LocalDynamics, solution: Solution, tol: float) -> Solution:
    """Return the solution with the speed removed that contacts which stick forbid, where they forbid any motion.

    Parameters
    ----------
    dynamics : LocalDynamics
        On the velocity level.
    solution : Solution
        Of its block problem.
    tol : float
        Residual E that counts as solved.
    """
    found, problem = solution.residuals, solution.problem
    if solution.x is None or found is None or not isinstance(problem, ComplementarityProblem):
        return solution
    if any(row.kind != "contact" for row in dynamics.rows):
        return solution
    p = reactions(dynamics, solution)
    pushing = [row for row in dynamics.rows if p[row.id].any()]
    held = _Held.of(dynamics, solution, pushing) if sum(row.size for row in pushing) >= dynamics.nv else None
    if held is None:
        return solution
    r = np.concatenate([p[row.id] for row in pushing])
    goal = held.J.T @ r + dynamics.M @ held.dx
    r += held.smallest(goal - held.J.T @ r)
    limit = max(tol, WORSE * found.E)
    for _ in range(ROUNDS):
        better = _verified(dynamics, solution, held.by_id(r), tol)
        if better.solved and better.residuals is not None and limit >= better.residuals.E:
            return better.but(x=solution.x + held.dx, message="")
        r = held.in_cones(r)
        r += held.smallest(goal - held.J.T @ r)
    return solution


def _verified(dynamics: LocalDynamics, solution: Solution, p: Mapping[str, Array], tol: float) -> Solution:
    """Return the solution that belongs to other reactions."""
    problem = solution.problem
    return verified(problem, problem, start_of_blocks(dynamics, p), solution.method, solution.iterations, tol)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Held:
    """Contacts that leave no motion.

    Attributes
    ----------
    rows : sequence of Row
    J : Array, shape (m, nv)
        All their components.
    factor : Array
        Cholesky factor of J^T J.
    dx : Array, shape (nv,)
        What brings the rest of their speed to zero, m/s.
    ends : Array
        Where the next contact begins in J.
    """

    rows: Sequence[Row]
    J: Array
    factor: tuple[Array, bool]
    dx: Array
    ends: Array

    @classmethod
    def of(cls, dynamics: LocalDynamics, solution: Solution, rows: Sequence[Row]) -> _Held | None:
        """Return None if they leave some motion free, or if something moves, or nothing at all."""
        assert solution.x is not None  # it is solved
        J = np.vstack([row.J for row in rows])
        u = J @ (solution.x - dynamics.v) + np.concatenate([row.rate for row in rows])
        speed = np.abs(dynamics.v) + np.abs(dynamics.x_free)
        left = REST if solution.solved else 1.0  # an answer that was not found may be that nothing moves
        if not u.any() or (np.abs(u) > left * (np.abs(J) @ speed).max()).any():
            return None
        try:
            factor = cho_factor(J.T @ J, lower=True)
        except np.linalg.LinAlgError:
            return None
        diagonal = np.diagonal(factor[0])
        if diagonal.min() <= SINGULAR * diagonal.max():
            return None
        ends = np.cumsum([row.size for row in rows])[:-1]
        return cls(rows=rows, J=J, factor=factor, dx=-cho_solve(factor, J.T @ u), ends=ends)

    def smallest(self, push: Array) -> Array:
        """Return the smallest r with J^T r = push."""
        return np.asarray(self.J @ cho_solve(self.factor, push))

    def by_id(self, r: Array) -> dict[str, Array]:
        """Return the reaction of every contact."""
        return {row.id: part for row, part in zip(self.rows, np.split(r, self.ends), strict=True)}

    def in_cones(self, r: Array) -> Array:
        """Return r with what leaves its cone cut off."""
        parts = [part.copy() for part in np.split(r, self.ends)]
        for row, part in zip(self.rows, parts, strict=True):
            part[0] = max(part[0], 0.0)
            most, size = max(row.mu, row.mu_s) * part[0] * INSIDE, float(np.linalg.norm(part[1:3]))
            part[1:3] *= min(1.0, most / size) if size > 0.0 else 1.0
        return np.concatenate(parts)
