"""The same motion from three programs: for x, for the reaction rho = H x + g, and for the multipliers.

With H = M and g = -h the minimiser x of the Gauss program is the acceleration a, and rho = M a - h the reaction.
Grzesikiewicz, Jarzebowska and Wakulicz (1993), equations (7)-(11), with their misprints corrected: the reaction
program minimises over rho in M Omega - h, and it is the Gauss program in other variables, not its Lagrange dual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, vector
from ...linalg.factor import cholesky, solve_spd
from ..problems.quadratic import QuadraticProgram

PROXIMAL = tuple(max(1e-5 * 0.3**k, 1e-10) for k in range(60))  # weights, for a W with a diagonal of ones


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReactionProgram:
    """Minimise 1/2 rho^T H^-1 rho over rho in H Omega + g.

    Attributes
    ----------
    program : QuadraticProgram
        In the unknown rho; its multipliers are those of the original program.
    factor : Array, shape (n, n)
        Lower Cholesky factor of the original H.
    g : Array, shape (n,)
        Original linear term.
    """

    program: QuadraticProgram
    factor: Array
    g: Array

    def motion(self, rho: Array) -> Array:
        """Return x = H^-1 (rho - g), shape (n,)."""
        return solve_spd(self.factor, vector("rho", rho, len(self.g)) - self.g)


def reaction_program(program: QuadraticProgram) -> ReactionProgram:
    """Return the program for the reaction rho = H x + g = A^T y + C^T z, equivalent to `program`."""
    L = cholesky("H", program.H)
    inverse = solve_spd(L, np.eye(program.n))
    free = solve_spd(L, -program.g)
    A, C = (np.ascontiguousarray(solve_spd(L, rows.T).T) for rows in (program.A, program.C))
    b, d = program.b - program.A @ free, program.d - program.C @ free
    inner = QuadraticProgram(H=(inverse + inverse.T) / 2, g=np.zeros(program.n), A=A, b=b, C=C, d=d)
    return ReactionProgram(program=inner, factor=L, g=program.g)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MultiplierDual:
    """Minimise 1/2 w^T W w - q^T w over w = (y, z), y free, z >= 0: the Lagrange dual.

    Attributes
    ----------
    W : Array, shape (p, p)
        N H^-1 N^T with N = (A, C): semidefinite only, where rows are dependent.
    q : Array, shape (p,)
        (b, d) - N x_free: what the rows ask beyond the free motion.
    equalities : int
        Number of y.
    primal : QuadraticProgram
        The program that this is the dual of.
    """

    W: Array
    q: Array
    equalities: int
    primal: QuadraticProgram

    def objective(self, w: Array) -> float:
        """Return 1/2 w^T W w - q^T w."""
        return float(0.5 * w @ self.W @ w - self.q @ w)

    def motion(self, w: Array) -> Array:
        """Return x = H^-1 (A^T y + C^T z - g), shape (n,)."""
        w = vector("w", w, len(self.q))
        m = self.equalities
        force = self.primal.A.T @ w[:m] + self.primal.C.T @ w[m:]
        return solve_spd(cholesky("H", self.primal.H), force - self.primal.g)

    def solve(self) -> Array:
        """Return minimising multipliers w (p,), found without the primal.

        W may be singular, so the proximal point method is used: each pass minimises with 1/2 eps |w - w_last|^2
        added, a strictly convex program; on quadratic programs few passes are needed (Rockafellar 1976). The dual is
        unbounded where the primal is infeasible, and w then means nothing: check the motion.
        """
        from ..active_set.dual_method import solve_rows

        p, m = len(self.q), self.equalities
        diagonal = np.diag(self.W)
        scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        W, q, w = self.W / np.outer(scale, scale), self.q / scale, np.zeros(p)
        bounds, guess = np.eye(p)[m:], np.zeros(1, dtype=np.int64)
        best, least = w, np.inf
        for eps in PROXIMAL:
            w, _, state, _ = solve_rows(W + eps * np.eye(p), -q - eps * w, bounds, np.zeros(p - m), guess)
            w[m:] = np.maximum(w[m:], 0.0)
            guess = np.r_[0, np.flatnonzero(state > 0)]
            pull = W @ w - q
            error = float(np.abs(np.r_[pull[:m], np.minimum(w, pull)[m:]]).max(initial=0.0))
            best, least = (w, error) if error < least else (best, least)
            if error <= 1e-14 * np.abs(q).max(initial=0.0):
                break
        return best / scale


def multiplier_dual(program: QuadraticProgram) -> MultiplierDual:
    """Return the Lagrange dual of `program`."""
    L = cholesky("H", program.H)
    N, rhs = np.vstack([program.A, program.C]), np.r_[program.b, program.d]
    W = N @ solve_spd(L, N.T)
    return MultiplierDual(
        W=(W + W.T) / 2, q=rhs - N @ solve_spd(L, -program.g), equalities=len(program.b), primal=program
    )
