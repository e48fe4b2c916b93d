"""One solve at one state, from the constraints that act to the reactions, on either level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import EPS, Array
from ..errors import InputError
from ..mechanics.rows import Row
from ..programs.complementarity import ComplementarityProblem
from ..programs.quadratic import QuadraticProgram
from ..programs.solution import Solution, Status
from ..programs.solve import Method, solve
from .activation import OmegaStatus, active_set
from .assemble import assemble, blocks
from .gauss import gauss_program
from .omega import AdmissibleSet, admissible_set
from .snapshot import LocalDynamics, rows_of

MAX_LINEARISATIONS = 100


def resolve(
    dynamics: LocalDynamics, *, method: Method | None = None, convex: Sequence[Callable[[Any], Any]] = ()
) -> Solution:
    """Find the motion at a state: the acceleration, or the velocity at the end of a step.

    Without friction the Gauss program is solved, with friction the complementarity problem of blocks. On the
    velocity level nonlinear velocity constraints are linearised anew until |psi(t, q, v+)| <= 1e-12 (or the rounding
    error of psi, where that is larger).

    Parameters
    ----------
    dynamics : LocalDynamics
    method : Method, optional
        None picks one.
    convex : sequence of callables
        A user's convex constraints in CVXPY, see `admissible_set`; not together with friction.

    Returns
    -------
    Solution
        x: acceleration (m/s^2) or v+ (m/s), shape (nv,). Its `problem` is a `QuadraticProgram` (lam in the order of
        the rows of Omega's A, r and u in the order of C) or a `ComplementarityProblem` (lam, r and u as `assemble`
        orders them); `reactions` maps both back to the constraints. Where the state has no acceleration: status
        IMPACT_NEEDED or PENETRATING, x None, and the constraints at fault in the message.
    """
    omega = admissible_set(dynamics, convex=convex)
    if omega.status is not OmegaStatus.READY:
        return _refused(omega)
    solution = _solve(dynamics, omega, method)
    if dynamics.level == "velocity" and any(_bends(row) for row in dynamics.rows):
        return _relinearised(dynamics, omega, method, solution)
    return solution


def reactions(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Return the reaction of every constraint that acts, by id.

    Parameters
    ----------
    dynamics : LocalDynamics
        What `resolve` was given.
    solution : Solution
        What it returned.

    Returns
    -------
    dict
        One vector per id with one component per row of the constraint (N, T1, T2, ..), friction included: forces
        in N, impulses in N s on the velocity level. M x = h + sum of J^T reaction over the constraints. Empty if
        there is no solution.
    """
    if solution.x is None or active_set(dynamics).status is not OmegaStatus.READY:
        return {}
    if isinstance(solution.problem, QuadraticProgram):
        return _from_rows(dynamics, solution)
    return _from_blocks(dynamics, solution)


def _solve(dynamics: LocalDynamics, omega: AdmissibleSet, method: Method | None) -> Solution:
    """Solve the Gauss program, or with friction the block problem."""
    program = gauss_program(dynamics, omega)
    if not active_set(dynamics).rough:
        return solve(program, method=_with_convex(method, omega))
    if omega.convex:
        raise InputError("convex", "constraints in CVXPY together with friction", "either of the two")
    problem = assemble(dynamics)
    if _contradictory(problem):  # no law of friction can mend that: the Gauss program carries the Farkas proof
        relaxed = solve(program)
        if not relaxed.solved:
            return relaxed
    return solve(problem, method=method)


def _with_convex(method: Method | None, omega: AdmissibleSet) -> Method | None:
    if not omega.convex:
        return method
    from ..programs.backends.cvxpy_ import Cvxpy

    if method is None:
        return Cvxpy(constraints=omega.convex)
    if isinstance(method, Cvxpy):
        return replace(method, constraints=(*method.constraints, *omega.convex))
    raise InputError("method", method, "Cvxpy", "Only it knows a user's convex constraints.")


def _contradictory(problem: ComplementarityProblem) -> bool:
    """Return whether no motion at all satisfies the bilateral rows G x = b."""
    form = problem.form
    if form is None or not len(form.b):
        return False
    x = problem.recover(np.zeros(len(problem.q)))[0]
    scale = np.linalg.norm(form.b) + np.linalg.norm(form.G) * np.linalg.norm(x)
    return bool(np.linalg.norm(form.G @ x - form.b) > 1e-10 * scale)


def _refused(omega: AdmissibleSet) -> Solution:
    """Return the status of a state that has no acceleration."""
    status = Status(str(omega.status))
    return Solution(problem=None, status=status, message=f"{', '.join(omega.at_fault)}: {status.advice}")


def _bends(row: Row) -> bool:
    """Return whether the motion of a row may depend nonlinearly on the velocity."""
    return row.level == "velocity" and row.kind != "dry"


def _relinearised(dynamics: LocalDynamics, omega: AdmissibleSet, method: Method | None, solution: Solution) -> Solution:
    """Repeat with the velocity constraints linearised at the last v+, until they hold there.

    The point of linearisation moves by a fraction of the step, halved whenever the step does not shrink: the undamped
    iteration circles or diverges where psi is strongly curved.
    """
    tangent, point, fraction, last = dynamics, dynamics.v, 1.0, np.inf
    for _ in range(MAX_LINEARISATIONS):
        if solution.x is None or not solution.solved or _psi_holds(tangent, solution):
            return solution
        step = solution.x - point
        length = float(np.linalg.norm(step))
        fraction, last = (0.5 * fraction if length > 0.7 * last else fraction), length
        point = point + fraction * step
        tangent = replace(dynamics, rows=_tangent_rows(dynamics, point))
        solution = _solve(tangent, admissible_set(tangent, convex=omega.convex), method)
    message = f"the velocity constraints are violated after {MAX_LINEARISATIONS} linearisations; take a smaller step"
    return solution.but(status=Status.MAX_ITERATIONS, message=message)


def _tangent_rows(dynamics: LocalDynamics, point: Array) -> tuple[Row, ...]:
    """Return the rows with the velocity constraints linearised at `point`, written as rates at v."""
    fresh = {row.id: row for row in rows_of(dynamics.system, dynamics.t, dynamics.q, point) if _bends(row)}
    return tuple(
        replace(row, J=fresh[row.id].J, rate=fresh[row.id].rate - fresh[row.id].J @ (point - dynamics.v))
        if row.id in fresh
        else row
        for row in dynamics.rows
    )


def _psi_holds(tangent: LocalDynamics, solution: Solution) -> bool:
    """Return whether the velocity constraints hold at v+, and react along their gradients there.

    psi = 0 if bilateral; psi >= 0 if unilateral, and psi = 0 where it reacts.
    """
    assert solution.x is not None
    reaction = reactions(tangent, solution)
    used = {row.id: row.J for row in tangent.rows}
    largest = max((float(np.abs(r).max(initial=0.0)) for r in reaction.values()), default=0.0)
    for row in rows_of(tangent.system, tangent.t, tangent.q, solution.x):
        if not _bends(row):
            continue
        acts = np.abs(reaction[row.id]) > 1e-9 * largest
        excess = np.where(acts | row.bilateral, np.abs(row.rate), np.maximum(-row.rate, 0.0))
        turned = np.where(acts, np.abs(row.J - used[row.id]).max(axis=1), 0.0)
        rounding = np.maximum(1e-12, 8.0 * EPS * np.abs(row.J) @ np.abs(solution.x))
        if (excess > rounding).any() or (turned > 1e-9 * np.abs(row.J).max()).any():
            return False
    return True


def _from_rows(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Map the multipliers of a Gauss program back: y of the equalities, then z of the inequalities."""
    omega, multipliers = admissible_set(dynamics), np.concatenate([solution.lam, solution.r])
    size = {row.id: row.size for row in dynamics.rows}
    found: dict[str, Array] = {row.id: np.zeros(size[row.id]) for row in omega.rows}
    for row, value in zip(omega.rows, multipliers, strict=True):
        found[row.id][row.component] = value
    return found


def _from_blocks(dynamics: LocalDynamics, solution: Solution) -> dict[str, Array]:
    """Map the reactions of a block problem back, in the order in which `assemble` takes them."""
    found: dict[str, Array] = {}
    lam, r = solution.lam, solution.r
    for part in blocks(dynamics):
        row, n = part.active.row, len(part.take)
        if part.law is not None:
            found[row.id], r = part.reaction(r[:n]), r[n:]
        elif row.kind == "dry":
            found[row.id] = part.spread[:, 0].copy()
        else:
            found[row.id], lam = part.reaction(lam[:n]), lam[n:]
    return found
