"""Lyapunov-Schmidt reduction: the constraints near a configuration, as few equations in the directions of its kernel.

    q = q0 (+) (K x + R w),    U^T phi(q) = 0 gives w(x),    g(x) = N^T phi(q(x)) = 0

K spans the kernel of J (velocities that the constraints do not notice), R its complement, N the kernel of J^T, U the
range of J. g vanishes to second order at x = 0; its zeros are the branches.
Source: Golubitsky, Schaeffer (1985), Singularities and Groups in Bifurcation Theory I, chapter VII.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from ..._show import brief
from ...arrays import EPS, Array
from ...errors import InputError
from .configuration_space import ConfigurationSpace

CLEAR = 10.0  # a singular value within this factor of the tolerance is neither zero nor not
TURNS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reduction:
    """The constraints split by a rank-revealing factorization at a configuration.

    Attributes
    ----------
    space : ConfigurationSpace
    q : Array, shape (nq,)
    rank : int
        r, of J.
    values : Array, shape (min(m, nv),)
        Singular values of J, falling.
    K : Array, shape (nv, k)
        Orthonormal basis of ker J.
    R : Array, shape (nv, r)
    U : Array, shape (m, r)
    N : Array, shape (m, c)
        Orthonormal basis of ker J^T.
    """

    space: ConfigurationSpace
    q: Array
    rank: int
    values: Array
    K: Array
    R: Array
    U: Array
    N: Array

    __repr__ = brief

    @classmethod
    def at(cls, space: ConfigurationSpace, q: Array, tol: float) -> Reduction:
        """Factor J at q.

        Raises
        ------
        InputError
            A singular value within a factor of ten of the tolerance: it is named.
        """
        J = space.jacobian(q)
        U, s, Vt = np.linalg.svd(J, full_matrices=True)
        size = max(float(s[0]) if s.size else 0.0, tol)  # rows of zeros have no scale of their own
        part = s / size
        doubtful = np.flatnonzero((part > tol / CLEAR) & (part < tol * CLEAR))
        if s.size and s[0] > tol and doubtful.size:
            k = int(doubtful[0])
            given = f"{tol:g}, but singular value {k + 1} of J is {part[k]:.3g} of the largest"
            mend = (
                f"The values are {_listed(part)}: take rank_tol=1e-6 or another in a wider gap, or a "
                "configuration nearer to the point."
            )
            raise InputError("rank_tol", given, "a tolerance that separates the singular values", mend)
        rank = int((part > tol).sum()) if s.size and s[0] > tol else 0
        K, R = np.ascontiguousarray(Vt[rank:].T), np.ascontiguousarray(Vt[:rank].T)
        return cls(space=space, q=q, rank=rank, values=s, K=K, R=R, U=U[:, :rank], N=U[:, rank:])

    @property
    def freedom(self) -> int:
        """k, the dimension of ker J."""
        return int(self.K.shape[1])

    def lift(self, x: Array, w: Array | None = None) -> tuple[Array, Array]:
        """Return the configuration over x at which U^T phi = 0, and its w.

        Raises
        ------
        InputError
            There is none near: x is too large.
        """
        along = self.K @ x
        w = np.zeros(self.rank) if w is None else w
        q = self.space.at(self.q, along + self.R @ w)
        phi, J = self.space.both(q)
        off = self.U.T @ phi
        limit = self.space.rounding(q) / 16.0
        for _ in range(TURNS):
            size = float(np.abs(off).max(initial=0.0))
            if size <= limit:
                break
            try:
                further = w - np.linalg.solve(self.U.T @ J @ self.R, off)
            except np.linalg.LinAlgError:
                break
            place = self.space.at(self.q, along + self.R @ further)
            phi, J = self.space.both(place)
            off = self.U.T @ phi
            if not np.abs(off).max(initial=0.0) < 0.9 * size:
                if size <= 16.0 * limit:  # nothing but rounding is left
                    break
                raise InputError(
                    "radius",
                    float(np.linalg.norm(x)),
                    "a smaller radius around the configuration",
                    f"Write radius={0.5 * float(np.linalg.norm(x)):.2g}.",
                )
            q, w = place, further
        return q, w

    def value(self, x: Array) -> Array:
        """Return g(x), shape (c,)."""
        return np.asarray(self.N.T @ self.space.gaps(self.lift(x)[0]))

    def sloped(self, x: Array) -> tuple[Array, Array]:
        """Return g(x), shape (c,), and dg/dx, shape (c, k): exact where coordinates add, nearly so for rotations."""
        phi, J = self.space.both(self.lift(x)[0])
        turned = self.U.T @ J
        follow = -np.linalg.solve(turned @ self.R, turned @ self.K)
        return self.N.T @ phi, self.N.T @ J @ (self.K + self.R @ follow)

    def forms(self) -> Array:
        """Return the matrices of n_i v^T phi'' v on ker J, shape (c, k, k), by polarization: no differences."""
        k, basis = self.freedom, self.K.T

        def bent(v: Array) -> Array:
            """Return n_i v^T phi'' v, shape (c,)."""
            return np.asarray(self.N.T @ self.space.bend(self.q, v))

        own = [bent(v) for v in basis]
        found = np.zeros((self.N.shape[1], k, k))
        for i, j in combinations_with_replacement(range(k), 2):
            mixed = own[i] if i == j else 0.5 * (bent(basis[i] + basis[j]) - own[i] - own[j])
            found[:, i, j] = found[:, j, i] = mixed
        return found

    def noise(self) -> float:
        """Return the size of g that rounding makes."""
        return 8.0 * self.space.rounding(self.q) + EPS * float(self.values.max(initial=0.0))


def _listed(values: Array) -> str:
    return ", ".join(f"{x:.2e}" for x in values[-6:])
