"""The generalised principle of Gauss: released, actual and conceivable motions, and the identity between them.

Released (f): M a_f = Phi. Actual (r): M a_r = Phi + Q. Conceivable (m): every a with Q.(a - a_r) = 0. Then
    Z_mf = Z_mr + Z_rf,     Z_ab = 1/2 (a - b)^T M (a - b),
so that the actual motion is nearest to the released one among all conceivable ones. Source: Kozlov (2008), 1.3-2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, matrix, scalar, vector
from ..errors import InputError
from ..linalg.factor import cholesky, solve_spd
from .admissible_set import AdmissibleSet, OmegaRow


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussIdentity:
    """Z_mf = Z_mr + Z_rf, term by term (N^2/kg).

    Attributes
    ----------
    Z_mf, Z_mr, Z_rf : float
        Deviations of conceivable from released, conceivable from actual, actual from released motion.
    """

    Z_mf: float
    Z_mr: float
    Z_rf: float

    @property
    def error(self) -> float:
        """|Z_mf - Z_mr - Z_rf| over the largest of them; 0 where all vanish."""
        largest = max(self.Z_mf, self.Z_mr, self.Z_rf)
        return abs(self.Z_mf - self.Z_mr - self.Z_rf) / largest if largest > 0.0 else 0.0

    @property
    def holds(self) -> bool:
        """Whether it holds to 1e-12."""
        return self.error <= 1e-12


def deviation(M: Array, a: Array, b: Array) -> float:
    """Return Z = 1/2 (a - b)^T M (a - b), Gauss's measure of how far a is from b."""
    far = a - b
    return 0.5 * float(far @ M @ far)


def gauss_identity(M: Array, released: Array, actual: Array, conceivable: Array) -> GaussIdentity:
    """Return the three deviations between released, actual and conceivable accelerations, each of shape (n,).

    The identity holds exactly for motions that are conceivable, Q.(conceivable - actual) = 0 with
    Q = M (actual - released); for others `error` says by how much it fails.

    Raises
    ------
    InputError
        NaN, wrong shapes, a mass that is not positive definite.
    """
    M = matrix("M", M)
    n = len(M)
    M = matrix("M", M, n, n)
    cholesky("M", M)
    f, r, m = (vector(name, x, n) for name, x in _named(released, actual, conceivable))
    return GaussIdentity(Z_mf=deviation(M, m, f), Z_mr=deviation(M, m, r), Z_rf=deviation(M, r, f))


def conceivable_from_force(M: Array, Phi: Array, Q: Array) -> AdmissibleSet:
    """Return the motions that are conceivable beside a force Q: (Q, a) = (Q, M^-1 (Phi + Q)); all of them if Q = 0.

    It asks nothing about where the force comes from.
    """
    M = matrix("M", M)
    n = len(M)
    Phi, Q = vector("Phi", Phi, n), vector("Q", Q, n)
    if not Q.any():
        return _plane(np.zeros((0, n)), np.zeros(0))
    actual = solve_spd(cholesky("M", M), Phi + Q)
    return _plane(Q[None, :], np.array([Q @ actual]))


def conceivable_from_constraint(g_v: Array, rest: float) -> AdmissibleSet:
    """Return the motions that a constraint g(v, x, t) = 0 leaves open: (g_v, a) = -rest, rest = g_t + (g_x, v).

    Raises
    ------
    InputError
        g_v = 0: there the constraint says nothing about the acceleration.
    """
    g_v = vector("g_v", g_v)
    if not g_v.any():
        raise InputError(
            "g_v", g_v, "a vector that is not zero", "It is singular at this velocity: State(q=..., v=1.01 * v)."
        )
    return _plane(g_v[None, :], np.array([-scalar("rest", rest)]))


def constraint_force(M: Array, Phi: Array, g_v: Array, rest: float) -> tuple[float, Array]:
    """Return lam and Q = lam g_v of an ideal constraint: lam = -(rest + g_v.M^-1 Phi) / (g_v.M^-1 g_v)."""
    M = matrix("M", M)
    L, n = cholesky("M", M), len(M)
    g_v, Phi = vector("g_v", g_v, n), vector("Phi", Phi, n)
    lam = -(scalar("rest", rest) + float(g_v @ solve_spd(L, Phi))) / float(g_v @ solve_spd(L, g_v))
    return lam, lam * g_v


def _named(released: Array, actual: Array, conceivable: Array) -> tuple[tuple[str, Array], ...]:
    return ("released", released), ("actual", actual), ("conceivable", conceivable)


def _plane(A: Array, b: Array) -> AdmissibleSet:
    n = A.shape[1]
    row = OmegaRow(id="conceivable", component=0, kind="bilateral", level="acceleration")
    return AdmissibleSet(
        A=A, b=b, C=np.zeros((0, n)), d=np.zeros(0), rows=(row,) * len(A), level="acceleration"
    )  # fmt: skip
