"""How right an answer is, recomputed from the problem alone. All figures are dimensionless."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import EPS, Array
from ..linalg.cones import norms
from .complementarity import ComplementarityProblem, LinearComplementarity, diagonal_blocks
from .laws import CAP, MU, MU_R, Associated, BilateralCoulomb, BilateralSliding, Coulomb, Dry, Law, Rolling, Sliding
from .quadratic import QuadraticProgram

if TYPE_CHECKING:
    from .solution import Solution

TOL = 1e-12


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
        """Whether E <= max(tol, 10 eps |r| / |rho q|): the definition of SOLVED."""
        return bool(np.isfinite(self.E) and max(tol, 10.0 * self.floor) >= self.E)

    def to_json(self) -> dict[str, float | None]:
        """Return the figures under the keys of the file formats (null where unknown or not finite)."""
        values = asdict(self)
        del values["floor"]
        return {key: x if x is not None and np.isfinite(x) else None for key, x in values.items()}


def residuals(problem: Any, answer: Solution) -> Residuals:
    """Recompute the residuals of an answer to a quadratic program, an LCP or a block problem."""
    if isinstance(problem, QuadraticProgram):
        x = np.zeros(problem.n) if answer.x is None else answer.x
        return kkt_residuals(problem, x, answer.lam, answer.r)
    if isinstance(problem, LinearComplementarity):
        return block_residuals(problem.blocks(), answer.r)
    return block_residuals(problem, answer.r)


def kkt_residuals(program: QuadraticProgram, x: Array, y: Array, z: Array) -> Residuals:
    """Return the KKT residual of (x, y, z).

    Stationarity is relative to |g| + |A^T y + C^T z|, feasibility to |b, d| + |A, C| |x|, complementarity to the
    product of the two scales of z and of the slack.
    """
    force = program.A.T @ y + program.C.T @ z
    slack = program.C @ x - program.d
    stationarity = _norm(program.H @ x + program.g - force) / _positive(_norm(program.g) + _norm(force))
    size = _norm(np.r_[program.b, program.d]) + _norm(np.vstack([program.A, program.C])) * _norm(x)
    gap = np.r_[program.A @ x - program.b, np.minimum(slack, 0.0)]
    feasibility = _norm(gap) / _positive(size)
    scale = _positive(_norm(program.g) + _norm(force)) * _positive(size)
    complementarity = float(np.abs(z * slack).sum()) / scale + _norm(np.minimum(z, 0.0)) / _positive(_norm(z))
    return Residuals(E=max(stationarity, feasibility, complementarity))


def step_sizes(problem: ComplementarityProblem) -> Array:
    """Return rho_k of every block, shape (blocks,).

    1 / lambda_max of the symmetric part of W_kk; if that is not positive 1 / |W_kk|; if W_kk = 0 one over the mean
    of |W_jj|, else 1.
    """
    table = problem.table
    top, size = np.zeros(len(table.code)), np.zeros(len(table.code))
    for _, blocks, rows in table.groups():
        D = diagonal_blocks(problem.W, rows)
        top[blocks] = np.linalg.eigvalsh((D + D.transpose(0, 2, 1)) / 2)[:, -1]
        size[blocks] = np.linalg.norm(D, axis=(1, 2))
    scale = np.where(top > 0, top, size)
    mean = float(size.mean()) if len(size) else 0.0
    return np.asarray(1.0 / np.where(scale > 0, scale, mean if mean > 0 else 1.0))


def block_residuals(problem: ComplementarityProblem, r: Array, rho: Array | None = None) -> Residuals:
    """Return all residuals of the reaction r; u is recomputed as W r + q."""
    if not np.isfinite(r).all():
        return Residuals(E=np.inf)
    table, q, u = problem.table, problem.q, problem.motion(r)
    rho = step_sizes(problem) if rho is None else rho
    rho_rows = np.repeat(rho, np.diff(table.start))
    weighted, plain = natural_map(problem, u, r, rho), natural_map(problem, u, r, np.ones_like(rho))
    scale = _norm(rho_rows * q)
    return Residuals(
        E=_relative(_norm(weighted), scale),
        floor=EPS * _relative(_norm(r), scale) if scale > EPS else 0.0,
        rel_q=_relative(_norm(plain), _norm(q)),
        rel_s=_relative(_norm(plain), max(_norm(q), _norm(r), _norm(u))),
        **_physical(problem, u, r, rho),
    )


def natural_map(problem: ComplementarityProblem, u: Array, r: Array, rho: Array) -> Array:
    """Return r - P(r - rho u^), block by block, shape (m,)."""
    F = np.zeros_like(r)
    for law, blocks, rows in problem.table.groups():
        F[rows] = law.natural_map(u[rows], r[rows], rho[blocks], problem.table.P[blocks])
    return F


def modes(problem: ComplementarityProblem, u: Array, r: Array, rho: Array | None = None) -> tuple[str, ...]:
    """Return open, stick, slip or degenerate for every block.

    Degenerate: the block lies on the border of two modes within 1e-8 of |rho q|.
    """
    rho = step_sizes(problem) if rho is None else rho
    table, names = problem.table, np.empty(len(problem.table.code), dtype=object)
    tol = 1e-8 * _positive(_norm(np.repeat(rho, np.diff(table.start)) * problem.q))
    for law, blocks, rows in table.groups():
        R, U, P = r[rows], rho[blocks][:, None] * u[rows], table.P[blocks]
        room, motion = _room_and_motion(law, U, R, P)
        inner = np.where(room > tol, "stick", np.where(motion > tol, "slip", "degenerate"))
        if issubclass(law, (BilateralCoulomb, BilateralSliding, Dry)):
            names[blocks] = inner
            continue
        closed = np.where(U[:, 0] > tol, "open", "degenerate")
        names[blocks] = np.where(R[:, 0] > tol, inner, closed)
    return tuple(str(name) for name in names)


def _room_and_motion(law: type[Law], U: Array, R: Array, P: Array) -> tuple[Array, Array]:
    """Return how far r_T is inside its disc, and how fast the block slips (both as reactions)."""
    if issubclass(law, Dry):
        return P[:, CAP] - norms(R), norms(U)
    if issubclass(law, Rolling):
        room = np.minimum(P[:, MU] * R[:, 0] - norms(R[:, 1:3]), P[:, MU_R] * R[:, 0] - norms(R[:, 3:5]))
        return room, np.maximum(norms(U[:, 1:3]), norms(U[:, 3:5]))
    if issubclass(law, Coulomb):
        return P[:, MU] * np.abs(R[:, 0]) - norms(R[:, 1:]), norms(U[:, 1:])
    if issubclass(law, Sliding):
        return np.full(len(R), -np.inf), np.full(len(R), np.inf)
    return np.full(len(R), np.inf), np.zeros(len(R))


def _physical(problem: ComplementarityProblem, u: Array, r: Array, rho: Array) -> dict[str, float]:
    """Return viol_u, penetration, cone, slip, angle and work."""
    table, dual = problem.table, 0.0
    worst = {"penetration": 0.0, "cone": 0.0, "slip": 0.0, "angle": 0.0}
    state = np.array(modes(problem, u, r, rho))
    for law, blocks, rows in table.groups():
        U, R, P, name = u[rows], r[rows], table.P[blocks], state[blocks]
        dual += float((_dual_excess(law, U, P) ** 2).sum())
        approach = np.abs(U[:, 0]) if issubclass(law, (BilateralCoulomb, BilateralSliding)) else -U[:, 0]
        if not issubclass(law, Dry):
            worst["penetration"] = max(worst["penetration"], float(approach.max(initial=0.0)))
        if issubclass(law, (Coulomb, Rolling)):
            T, F = U[:, 1:3], R[:, 1:3]
            load = np.abs(R[:, 0]) if issubclass(law, BilateralCoulomb) else R[:, 0]
            limit = np.where(name == "stick", np.maximum(P[:, 1], P[:, MU]), P[:, MU])
            worst["cone"] = max(worst["cone"], float((norms(F) - limit * load).max(initial=0.0)))
            worst["slip"] = max(worst["slip"], float(norms(T[name == "stick"]).max(initial=0.0)))
            worst["angle"] = max(worst["angle"], _angle(-F[name == "slip"], T[name == "slip"]))
    nq, nr = _norm(problem.q), _norm(r)
    return {
        "viol_u": _relative(np.sqrt(dual), nq),
        "penetration": _relative(worst["penetration"], nq),
        "cone": worst["cone"] / nr if nr > 0 else 0.0,
        "slip": _relative(worst["slip"], nq),
        "angle": worst["angle"],
        "work": float(r @ u) / (nr * nq) if nr * nq > 0 else 0.0,
    }


def _dual_excess(law: type[Law], U: Array, P: Array) -> Array:
    """Return u^ - P_K*(u^) of every block: how far the motion violates the law, whatever the reaction."""
    if issubclass(law, Dry):
        return np.zeros_like(U)
    if issubclass(law, (BilateralCoulomb, BilateralSliding)):
        return U[:, :1]
    if issubclass(law, (Associated, Coulomb, Rolling)):
        shifted = U.copy()
        if not issubclass(law, Associated):
            spin = P[:, MU_R] * norms(U[:, 3:]) if issubclass(law, Rolling) else 0.0
            shifted[:, 0] += P[:, MU] * norms(U[:, 1:3]) + spin
        return np.asarray(law.project_many(-shifted, P))
    return np.minimum(U, 0.0)


def _angle(F: Array, T: Array) -> float:
    """Return the largest angle in rad between the rows of F and T (1 or 2 columns)."""
    if not len(F):
        return 0.0
    if F.shape[1] == 1:
        return float(np.where(F[:, 0] * T[:, 0] < 0, np.pi, 0.0).max())
    cross, dot = F[:, 0] * T[:, 1] - F[:, 1] * T[:, 0], (F * T).sum(axis=1)
    return float(np.abs(np.arctan2(cross, dot)).max())


def _relative(value: float, scale: float) -> float:
    """Return value / scale, or the value itself where the scale is at rounding level."""
    return float(value / scale if scale > EPS else value)


def _positive(x: float) -> float:
    return x if x > 0 else 1.0


def _norm(x: Array) -> float:
    return float(np.sqrt((x * x).sum()))
