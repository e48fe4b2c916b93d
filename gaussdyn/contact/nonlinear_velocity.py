"""Nonlinear velocity constraints on the velocity level: psi(t, q, v+) = 0 by repeated linearisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import EPS, Array
from ..linalg.factor import cholesky
from ..mechanics.rows import Row
from ..programs.solution.solution import Solution
from ..programs.solution.status import Status
from .reactions import reactions, rows_in_conflict
from .snapshot import LocalDynamics, rows_of

MAX_LINEARISATIONS = 60


def bends(row: Row) -> bool:
    """Return whether the motion of a row may depend nonlinearly on the velocity."""
    return row.level == "velocity" and row.kind != "dry"


def relinearised(
    dynamics: LocalDynamics, solution: Solution, solve_once: Callable[[LocalDynamics], Solution]
) -> Solution:
    """Repeat with the velocity constraints linearised at the last v+, until they hold there.

    This is Newton's method for the nonlinear program (sequential quadratic programming): the curvature of psi stands
    beside the mass, tied to the point of linearisation, and changes nothing once that has come to rest. Only an
    answer found without it is returned.
    """
    point, tangent, trial, curved = dynamics.v, dynamics, solution, False
    for _ in range(MAX_LINEARISATIONS):
        if trial.x is None or not trial.solved:
            return _refuted_tangent(dynamics, trial)
        if not curved and _psi_holds(tangent, trial):
            return trial
        rests = np.linalg.norm(trial.x - point) <= 1e-10 * (1e-3 + np.linalg.norm(trial.x))
        point, curved = trial.x, not (curved and rests)
        extra = _curvature(dynamics, point, reactions(tangent, trial)) if curved else 0.0 * dynamics.M
        tangent = _tangent(dynamics, point, extra)
        trial = solve_once(tangent)
    message = f"the velocity constraints are violated after {MAX_LINEARISATIONS} linearisations; take a smaller step"
    return solution.but(status=Status.MAX_ITERATIONS, x=trial.x, message=message)


def _curvature(dynamics: LocalDynamics, point: Array, reaction: dict[str, Array]) -> Array:
    """Return minus the second derivative of sum psi . r at `point`, as far as the mass stays positive with it."""
    step = 1e-5 * (1.0 + float(np.abs(point).max()))
    H = np.zeros_like(dynamics.M)
    for k in range(dynamics.nv):
        for side in (step, -step):
            moved = point.copy()
            moved[k] += side
            for row in rows_of(dynamics.system, dynamics.t, dynamics.q, moved):
                if bends(row):
                    H[k] -= reaction[row.id] @ row.J / (2.0 * side)
    L = dynamics.factor
    scaled = solve_triangular(L, solve_triangular(L, H + H.T, lower=True).T, lower=True)
    values, vectors = np.linalg.eigh(0.25 * (scaled + scaled.T))
    half = L @ vectors
    return np.ascontiguousarray((half * np.maximum(values, -0.8)) @ half.T)


def _tangent(dynamics: LocalDynamics, point: Array, extra: Array) -> LocalDynamics:
    """Return the problem with the velocity constraints linearised at `point`, and a mass `extra` tied to it."""
    fresh = {row.id: row for row in rows_of(dynamics.system, dynamics.t, dynamics.q, point) if bends(row)}
    rows = tuple(
        replace(row, J=fresh[row.id].J, rate=fresh[row.id].rate - fresh[row.id].J @ (point - dynamics.v))
        if row.id in fresh
        else row
        for row in dynamics.rows
    )
    if not extra.any():
        return replace(dynamics, rows=rows)
    M = dynamics.M + 0.5 * (extra + extra.T)
    return replace(dynamics, M=M, factor=cholesky("mass", M), h=dynamics.h + extra @ point, rows=rows)


def _refuted_tangent(dynamics: LocalDynamics, trial: Solution) -> Solution:
    """Return an unsolved linearised problem; a proof about it is one about psi only where psi is linear in v."""
    if trial.status is Status.INFEASIBLE and trial.certificate is not None:
        used = rows_in_conflict(dynamics, trial)
        if not any(bends(row) for row in dynamics.rows if row.id in used):
            return trial
    turned = rows_of(dynamics.system, dynamics.t, dynamics.q, dynamics.v + np.ones(dynamics.nv))
    there = {row.id: row.J for row in turned}  # of an impact only those that strike are rows
    pairs = [(row.J, there[row.id]) for row in dynamics.rows if bends(row)]
    if all(np.allclose(J, K, rtol=1e-9, atol=1e-9 * np.abs(J).max()) for J, K in pairs):
        return trial
    message = f"the velocity constraints could not be linearised: {trial.explain().rstrip('.')}; take a smaller step"
    return trial.but(status=Status.UNDECIDED, certificate=None, message=message)


def _psi_holds(tangent: LocalDynamics, solution: Solution) -> bool:
    """Return whether the velocity constraints hold at v+, and react along their gradients there.

    psi = 0 if bilateral; psi >= 0 if unilateral, and psi = 0 where it reacts.
    """
    assert solution.x is not None
    reaction = reactions(tangent, solution)
    used = {row.id: row.J for row in tangent.rows}
    largest = max((float(np.abs(r).max(initial=0.0)) for r in reaction.values()), default=0.0)
    for row in rows_of(tangent.system, tangent.t, tangent.q, solution.x):
        if not bends(row):
            continue
        acts = np.abs(reaction[row.id]) > 1e-9 * largest
        excess = np.where(acts | row.bilateral, np.abs(row.rate), np.maximum(-row.rate, 0.0))
        turned = np.where(acts, np.abs(row.J - used[row.id]).max(axis=1), 0.0)
        rounding = np.maximum(1e-12, 8.0 * EPS * np.abs(row.J) @ np.abs(solution.x))
        if (excess > rounding).any() or (turned > 1e-9 * np.abs(row.J).max()).any():
            return False
    return True
