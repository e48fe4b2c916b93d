"""The block laws: what a reaction r may be, given the relative velocity (or acceleration) u of its block.

A law is one small frozen value. It knows its size, its projection, and its natural map, whose zeros are exactly
the pairs (u, r) that obey the law. Blocks are ordered (N, T1, T2); r_N >= 0 pushes. The map is written once, for
many blocks of the same law, so that an audit of 20 000 contacts costs one pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, scalar
from ...errors import InputError
from ...linalg.cones import norms, project_disc, project_friction_cone, project_moment_cone

MU, MU_S, CAP, MU_R = range(4)  # columns of the parameter table
STEEP = 100.0  # friction from which on the rounding of u_T counts in mu |u_T|
BORDER = 1e-8  # a block nearer than this (in units of |rho q|) to the border of two modes is degenerate


@dataclass(frozen=True, slots=True)
class Law:
    """Base of all laws: parameters (mu, mu_s, cap, mu_r) and the number of rows `dim` of its block."""

    code: ClassVar[int] = -1
    cone: ClassVar[bool] = False  # a law whose block W_kk must be positive semidefinite

    @property
    def size(self) -> int:
        """Number of rows of the block."""
        return 1

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (mu, mu_s, cap, mu_r), zero where the law has no such parameter."""
        return (0.0, 0.0, 0.0, 0.0)

    def friction_rows(self) -> Array:
        """Return the coefficient of every row on which friction in proportion to r_N acts, shape (dim,)."""
        return np.zeros(self.size)

    def project(self, r: Array) -> Array:
        """Return the admissible reaction nearest to r, shape (dim,)."""
        return np.asarray(type(self).project_many(r[None, :], np.array([self.parameters()]))[0])

    def residual(self, u: Array, r: Array, rho: float = 1.0) -> Array:
        """Return the natural map of (u, r), shape (dim,): zero exactly where the law holds."""
        P = np.array([self.parameters()])
        return np.asarray(type(self).natural_map(u[None, :], r[None, :], np.array([rho]), P)[0])

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Project the rows of R (n, dim); P (n, 4) holds the parameters of each block."""
        return np.maximum(R, 0.0)

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return the natural map of n blocks: U, R (n, dim), step sizes rho (n,), parameters P (n, 4)."""
        return R - np.maximum(R - rho[:, None] * U, 0.0)


@dataclass(frozen=True, slots=True)
class Unilateral(Law):
    """0 <= u ⟂ r >= 0: frictionless contact, joint limit, row of an LCP. Block size 1."""

    code: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Coulomb(Law):
    """Exact Coulomb friction in De Saxcé's form: K* ∋ u + mu |u_T| n ⟂ r ∈ K = {|r_T| <= mu r_N}.

    Parameters
    ----------
    mu : float
        Coefficient of sliding friction, >= 0, dimensionless.
    mu_s : float, optional
        Coefficient at rest, >= mu (default mu): a sticking block may hold |r_T| <= mu_s r_N.
    dim : int
        3 for a contact in space, 2 in the plane.
    """

    mu: float
    mu_s: float = field(default=-1.0)
    dim: int = 3
    code: ClassVar[int] = 1
    cone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_friction(self, "mu", "mu_s")
        _check_dim(self, (2, 3))

    @property
    def size(self) -> int:
        """Number of rows of the block."""
        return self.dim

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (mu, mu_s, 0, 0)."""
        return (self.mu, self.mu_s, 0.0, 0.0)

    def friction_rows(self) -> Array:
        """Return (0, mu, ...)."""
        return np.array([0.0] + [self.mu] * (self.dim - 1))

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Project on the friction cone K(mu)."""
        return project_friction_cone(R, P[:, MU])

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return r - P_K(r - rho u^); for mu_s > mu the smaller of this and the residual of sticking."""
        shifted = U.copy()
        shifted[:, 0] += P[:, MU] * norms(U[:, 1:])
        slipping = R - project_friction_cone(R - rho[:, None] * shifted, P[:, MU])
        return _or_sticking(slipping, U, R - project_friction_cone(R, P[:, MU_S]), rho, P)


@dataclass(frozen=True, slots=True)
class BilateralCoulomb(Coulomb):
    """u_N = 0 and |r_T| <= mu |r_N| against the slip: a slider in a guide, a bipod, a rod held on its support."""

    code: ClassVar[int] = 2
    cone: ClassVar[bool] = False

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Keep r_N, project r_T on the disc of radius mu |r_N|."""
        return np.hstack([R[:, :1], project_disc(R[:, 1:], P[:, MU] * np.abs(R[:, 0]))])

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return (rho u_N, r_T - P(r_T - rho u_T)) with the disc of radius mu |r_N|."""
        load, step = np.abs(R[:, 0]), rho[:, None]
        tangential = R[:, 1:] - project_disc(R[:, 1:] - step * U[:, 1:], P[:, MU] * load)
        slipping = np.hstack([step * U[:, :1], tangential])
        over = np.hstack([0.0 * R[:, :1], R[:, 1:] - project_disc(R[:, 1:], P[:, MU_S] * load)])
        return _or_sticking(slipping, U, over, rho, P)


@dataclass(frozen=True, slots=True)
class Sliding(Law):
    """Acceleration level with slip: r_T = -mu r_N e is eliminated into B, leaving one unsymmetric LCP row.

    Parameters
    ----------
    mu : float
        Coefficient of sliding friction, >= 0.
    direction : tuple of float
        Unit slip direction e in the tangent basis, one number in the plane, two in space.
    """

    mu: float
    direction: tuple[float, ...] = (1.0,)
    code: ClassVar[int] = 3

    def __post_init__(self) -> None:
        scalar("mu", self.mu, low=0.0)
        e = tuple(float(x) for x in np.atleast_1d(self.direction))
        if len(e) not in (1, 2) or abs(sum(x * x for x in e) - 1.0) > 1e-9:
            raise InputError(
                "direction", self.direction, "a unit vector of 1 or 2 components", "Write d / numpy.linalg.norm(d)."
            )
        object.__setattr__(self, "direction", e)

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (mu, mu, 0, 0)."""
        return (self.mu, self.mu, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class BilateralSliding(Sliding):
    """u_N = 0 and r_T = -mu |r_N| e: two modes, because the friction depends on the sign of r_N."""

    code: ClassVar[int] = 4

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Return R: every normal reaction is admissible."""
        return R.copy()

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return rho u_N."""
        return rho[:, None] * U


@dataclass(frozen=True, slots=True)
class Dry(Law):
    """|r| <= c against the slip: friction under a given load (joint friction, belt, motor saturation).

    Parameters
    ----------
    c : float
        Largest friction force while slipping, N (or impulse, N s), >= 0.
    c_s : float, optional
        Largest force at rest, >= c (default c).
    dim : int
        1 or 2.
    """

    c: float
    c_s: float = field(default=-1.0)
    dim: int = 1
    code: ClassVar[int] = 5

    def __post_init__(self) -> None:
        _check_friction(self, "c", "c_s")
        _check_dim(self, (1, 2))

    @property
    def size(self) -> int:
        """Number of rows of the block."""
        return self.dim

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (0, c_s, c, 0): the static cap stands in the place of mu_s."""
        return (0.0, self.c_s, self.c, 0.0)

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Project on the disc of radius c."""
        return project_disc(R, P[:, CAP])

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return r - P(r - rho u) with the disc of radius c (or sticking within c_s)."""
        slipping = R - project_disc(R - rho[:, None] * U, P[:, CAP])
        return _smaller(slipping, rho[:, None] * U, R - project_disc(R, P[:, MU_S]), P[:, MU_S] > P[:, CAP])


@dataclass(frozen=True, slots=True)
class Rolling(Law):
    """Coulomb friction with rolling resistance: K = {|r_T| <= mu r_N, |r_R| <= mu_r r_N}. Block size 5.

    Parameters
    ----------
    mu : float
        Sliding friction, >= 0.
    mu_r : float
        Rolling resistance, >= 0, in the length unit of the rows R1, R2.
    """

    mu: float
    mu_r: float
    code: ClassVar[int] = 6
    cone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar("mu", self.mu, low=0.0)
        scalar("mu_r", self.mu_r, low=0.0)

    @property
    def size(self) -> int:
        """Number of rows of the block."""
        return 5

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (mu, mu, 0, mu_r)."""
        return (self.mu, self.mu, 0.0, self.mu_r)

    def friction_rows(self) -> Array:
        """Return (0, mu, mu, mu_r, mu_r)."""
        return np.array([0.0, self.mu, self.mu, self.mu_r, self.mu_r])

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Project on the rolling cone."""
        return project_moment_cone(R, moment_discs(R.shape[1], P))

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return r - P_K(r - rho u^) with u^_N = u_N + mu |u_T| + mu_r |u_R|."""
        return moment_map(U, R, rho, P)


@dataclass(frozen=True, slots=True)
class Torsional(Law):
    """Coulomb friction with torsional friction: K = {|r_T| <= mu r_N, |r_S| <= mu_t r_N}; with rolling resistance, too.

    S is the spin about the normal. Block size 4, rows (N, T1, T2, S); 6 with `mu_r`, rows (N, T1, T2, R1, R2, S).

    Parameters
    ----------
    mu : float
        Sliding friction, >= 0.
    mu_t : float
        Torsional friction, >= 0, in the length unit of the row S: that of a patch of radius a with even pressure
        is 2/3 mu a.
    mu_r : float, optional
        Rolling resistance, >= 0, in the length unit of the rows R1, R2; None: the block has no such rows.
    """

    mu: float
    mu_t: float
    mu_r: float | None = None
    code: ClassVar[int] = 8
    cone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar("mu", self.mu, low=0.0)
        scalar("mu_t", self.mu_t, low=0.0)
        if self.mu_r is not None:
            scalar("mu_r", self.mu_r, low=0.0)

    @property
    def size(self) -> int:
        """Number of rows of the block."""
        return 4 if self.mu_r is None else 6

    def parameters(self) -> tuple[float, float, float, float]:
        """Return (mu, mu, mu_t, mu_r): torsion stands in the place of the cap."""
        return (self.mu, self.mu, self.mu_t, self.mu_r or 0.0)

    def friction_rows(self) -> Array:
        """Return (0, mu, mu, mu_t), or (0, mu, mu, mu_r, mu_r, mu_t)."""
        rolling = [] if self.mu_r is None else [self.mu_r] * 2
        return np.array([0.0, self.mu, self.mu, *rolling, self.mu_t])

    @staticmethod
    def project_many(R: Array, P: Array) -> Array:
        """Project on the cone."""
        return project_moment_cone(R, moment_discs(R.shape[1], P))

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return r - P_K(r - rho u^) with u^_N = u_N + mu |u_T| + mu_t |u_S| (+ mu_r |u_R|)."""
        return moment_map(U, R, rho, P)


def moment_discs(size: int, P: Array) -> list[tuple[slice, Array]]:
    """Return the rows and the coefficients (n,) of the discs of a block with friction of so many rows."""
    discs = [(slice(1, 3), P[:, MU])] + ([(slice(3, 5), P[:, MU_R])] if size >= 5 else [])
    return [*discs, (slice(size - 1, size), P[:, CAP])] if size in (4, 6) else discs


def moment_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
    """Return r - P_K(r - rho u^) of blocks whose friction has several discs: u^_N = u_N + sum of mu |u| over them."""
    discs, shifted = moment_discs(R.shape[1], P), U.copy()
    shifted[:, 0] += sum(mu * norms(U[:, rows]) for rows, mu in discs)
    return R - project_moment_cone(R - rho[:, None] * shifted, discs)


@dataclass(frozen=True, slots=True)
class Associated(Coulomb):
    """The convex relaxation K* ∋ u ⟂ r ∈ K. It lifts sliding bodies: for comparison only, it is not Coulomb's law."""

    code: ClassVar[int] = 7
    cone: ClassVar[bool] = True

    def friction_rows(self) -> Array:
        """Return zeros: the law is monotone, its friction does not follow the slip."""
        return np.zeros(self.dim)

    @staticmethod
    def natural_map(U: Array, R: Array, rho: Array, P: Array) -> Array:
        """Return r - P_K(r - rho u)."""
        return R - project_friction_cone(R - rho[:, None] * U, P[:, MU])


def _or_sticking(slipping: Array, U: Array, excess: Array, rho: Array, P: Array) -> Array:
    return _smaller(slipping, rho[:, None] * U, excess, P[:, MU_S] > P[:, MU])


def _smaller(slipping: Array, motion: Array, excess: Array, allowed: NDArray[np.bool_]) -> Array:
    """Return, block by block, the residual of slipping or of sticking (u = 0, r within the static set)."""
    sticking = np.sqrt(motion**2 + excess**2)
    better = allowed & (norms(sticking) < norms(slipping))
    return np.where(better[:, None], sticking, slipping)


def _check_friction(law: Law, low_name: str, high_name: str) -> None:
    """Check two coefficients of friction, and put the one in slip for one at rest that is not given."""
    low = scalar(low_name, getattr(law, low_name), low=0.0)
    high = getattr(law, high_name)
    if isinstance(high, float) and high == -1.0:
        high = low
    high = scalar(high_name, high, low=0.0)
    if high < low:
        raise InputError(
            high_name,
            high,
            f">= {low_name} = {low:g}",
            f"Friction at rest is never the weaker one: {high_name}={low:g}.",
        )
    object.__setattr__(law, low_name, low)
    object.__setattr__(law, high_name, high)


def _check_dim(law: Coulomb | Dry, allowed: tuple[int, ...]) -> None:
    if law.dim not in allowed:
        raise InputError("dim", law.dim, " or ".join(map(str, allowed)), f"Write dim={allowed[0]}.")


LAWS: tuple[type[Law], ...] = (
    Unilateral, Coulomb, BilateralCoulomb, Sliding, BilateralSliding, Dry, Rolling, Associated, Torsional,
)  # fmt: skip
