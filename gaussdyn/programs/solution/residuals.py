"""How right an answer is, recomputed from the problem alone. All figures are dimensionless."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import EPS, Array, IntArray
from ...linalg.cones import norms
from ..frozen import maker
from ..laws.laws import BORDER
from ..problems.complementarity import ComplementarityProblem, LinearComplementarity
from ..problems.mixed import MixedComplementarity
from ..problems.quadratic import QuadraticProgram

if TYPE_CHECKING:
    from .solution import Solution

TOL = 1e-12
MODES = ("open", "stick", "slip", "degenerate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """Residuals of an answer.

    Attributes
    ----------
    E : float
        The target: |r - P(r - rho u^)| / |rho q|, rho_k = 1 / lambda_max of the symmetric part of W_kk; for a
        quadratic program the largest of stationarity, feasibility and complementarity.
    floor : float
        Rounding floor eps |r| / |rho q|: no residual can be expected below ten times this.
    rel_q, rel_s : float
        The same map with rho = 1, over |q|, and over max(|q|, |r|, |u|) (what FCLib and Siconos use).
    viol_u : float
        Distance of u^ from the dual cone, over |q|: a huge reaction cannot hide it.
    penetration, cone, slip, angle, work : float
        max(-u_N)+ / |q|; max(|r_T| - mu r_N)+ / |r|; max |u_T| of sticking contacts / |q|; angle in rad between
        -r_T and u_T of slipping contacts; sum r.u / (|r| |q|).
    """

    E: float
    floor: float = 0.0
    rel_q: float | None = None
    rel_s: float | None = None
    viol_u: float | None = None
    penetration: float | None = None
    cone: float | None = None
    slip: float | None = None
    angle: float | None = None
    work: float | None = None

    def small(self, tol: float = TOL) -> bool:
        """Whether E <= max(tol, 10 eps |r| / |rho q|): the definition of SOLVED.

        Never with |r| above 4.5e7 |rho q|, nor with E above 1e-8: where a reaction runs to infinity rounding hides any
        residual (at 1e16 the map itself is exactly 0), and above 1e-8 no mode is settled.
        """
        E, floor = self.E, self.floor
        return floor <= BORDER and (tol >= E or min(10.0 * floor, BORDER) >= E)

    def to_json(self) -> dict[str, float | None]:
        """Return the figures under the keys of the file formats (null where unknown or not finite)."""
        values = asdict(self)
        del values["floor"]
        return {key: x if x is not None and np.isfinite(x) else None for key, x in values.items()}


_figures = maker(Residuals)
UNKNOWN = Residuals(E=float("inf"))  # of an answer that is not finite, or whose sizes overflow


def residuals(problem: Any, answer: Solution) -> Residuals:
    """Recompute the residuals of an answer to a quadratic program, an LCP, a mixed or a block problem."""
    if isinstance(problem, QuadraticProgram):
        x = np.zeros(problem.n) if answer.x is None else answer.x
        return kkt_residuals(problem, x, answer.lam, answer.r)
    if isinstance(problem, LinearComplementarity):
        return block_residuals(problem.blocks(), answer.r)
    if isinstance(problem, MixedComplementarity):
        return mixed_residuals(problem, answer.r)
    return block_residuals(problem, answer.r)


def kkt_residuals(program: QuadraticProgram, x: Array, y: Array, z: Array) -> Residuals:
    """Return the KKT residual of (x, y, z).

    Stationarity is relative to |g| + |A^T y + C^T z|; feasibility row by row to |b_i| + |A_i| |x| (so that a row of
    small numbers is not lost beside large ones), which bounds the same figure taken over all rows together;
    complementarity to the product of the two scales. Where |x| is only rounding of the free motion (at most
    100 eps |g| / |H|: a body at rest under a load), |g| / |H| stands for |x| in the scale of feasibility.
    The floor is eps times the larger of |H| |x| and the sum of |w_i| |N_i| (multiplier times row), over
    |g| + |A^T y + C^T z|, but at most 1e-8: x and multipliers stored in double precision can balance no better.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        force, slack, length = program.A.T @ y + program.C.T @ z, program.C @ x - program.d, _norm(x)
        load, lengths, of_slack = _positive(_norm(program.g) + _norm(force)), norms(program.A), norms(program.C)
        stationarity = _norm(program.H @ x + program.g - force) / load
        gap = np.concatenate((np.abs(program.A @ x - program.b), np.maximum(-slack, 0.0)))
        stiffness = _norm(program.H)
        reach = _norm(program.g) / _positive(stiffness)
        span = length if length > 100.0 * EPS * reach else reach
        sizes = np.concatenate((np.abs(program.b) + lengths * span, np.abs(program.d) + of_slack * span))
        feasibility = float((gap / np.where(sizes > 0, sizes, 1.0)).max(initial=0.0))
        complementarity = float(np.abs(z * slack).sum()) / (load * _positive(_norm(sizes)))
        pulling = _norm(np.minimum(z, 0.0)) / _positive(_norm(z))
        effort = float(np.abs(y) @ lengths + np.abs(z) @ of_slack)
        floor = min(EPS * max(stiffness * length, effort) / load, BORDER)
    known = all(map(math.isfinite, (stationarity, feasibility, complementarity, pulling, floor, load, _norm(sizes))))
    return Residuals(E=max(stationarity, feasibility, complementarity + pulling), floor=floor) if known else UNKNOWN


def mixed_residuals(problem: MixedComplementarity, z: Array) -> Residuals:
    """Return the residual of a point of a mixed problem.

    E is the largest entry of the natural map over the largest entry of q (as it is where q = 0), and the floor what the
    rounding of the products M_ij z_j makes of it.
    """
    size = float(np.abs(problem.q).max(initial=0.0)) or 1.0
    worst = float(np.abs(problem.natural_map(z)).max(initial=0.0)) / size
    floor = EPS * float((np.abs(problem.M) @ np.abs(z)).max(initial=0.0)) / size
    return Residuals(E=worst, floor=floor, rel_q=worst) if np.isfinite([worst, floor]).all() else UNKNOWN


def step_sizes(problem: ComplementarityProblem) -> Array:
    """Return rho_k of every block, shape (blocks,).

    1 / lambda_max of the symmetric part of W_kk; if that is not positive 1 / |W_kk|; if W_kk = 0 one over the mean
    of |W_jj|, else 1.
    """
    return problem.rho


def block_residuals(problem: ComplementarityProblem, r: Array, rho: Array | None = None) -> Residuals:
    """Return all residuals of the reaction r; u is recomputed as W r + q."""
    return examine(problem, r, rho)[0]


def modes(problem: ComplementarityProblem, u: Array, r: Array, rho: Array | None = None) -> tuple[str, ...]:
    """Return open, stick, slip or degenerate for every block.

    Degenerate: the block lies on the border of two modes within 1e-8 of |rho q|.
    """
    rho = problem.rho if rho is None else rho
    u, r, rho = (np.ascontiguousarray(x, np.float64) for x in (u, r, rho))
    table, codes = problem.table, np.empty(len(rho), np.int64)
    _kernels()[1](table.arrays, problem.q, u, r, rho, BORDER, np.empty(12), codes)
    return _names(codes)


def examine(
    problem: ComplementarityProblem, r: Array, rho: Array | None = None
) -> tuple[Residuals, tuple[str, ...], Array]:
    """Return the residuals, the modes and the motion u of the reaction r, in one pass over the blocks."""
    rho, table = problem.rho if rho is None else rho, problem.table
    r = np.ascontiguousarray(r, np.float64)
    u, out, codes = problem.q.copy(), np.empty(10), table.code.copy()  # written over: quicker than a new one
    if problem.W_abs is not None:
        u += np.asarray(problem.W_abs @ np.abs(r)).ravel()
    finite = _kernels()[0](problem.rows.arrays, table.arrays, problem.q, r, rho, u, out, codes)
    if not finite and not np.isfinite(r).all():
        return Residuals(E=np.inf), ("degenerate",) * len(rho), problem.q
    return _figures(*out.tolist()), _names(codes), u


def natural_map(problem: ComplementarityProblem, u: Array, r: Array, rho: Array) -> Array:
    """Return r - P(r - rho u^), block by block, shape (m,), by the laws' own definitions."""
    F = np.zeros_like(r)
    for law, blocks, rows in problem.table.groups():
        F[rows] = law.natural_map(u[rows], r[rows], rho[blocks], problem.table.P[blocks])
    return F


@cache
def _kernels() -> tuple[Any, Any]:
    from ..._jit import entry_of
    from .residual_kernels import audit, examined

    return entry_of(examined), entry_of(audit)


def _names(codes: IntArray) -> tuple[str, ...]:
    return _named(codes.tobytes())


@lru_cache(maxsize=64)  # the same in many a step
def _named(codes: bytes) -> tuple[str, ...]:
    return tuple([MODES[c] for c in np.frombuffer(codes, np.int64).tolist()])


def _positive(x: float) -> float:
    return x if x > 0 else 1.0


def _norm(x: Array) -> float:
    return math.sqrt(np.add.reduce(x * x, axis=None))
