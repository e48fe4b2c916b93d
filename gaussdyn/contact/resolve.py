"""One solve at one state, from the constraints that act to the reactions, on either level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arrays import Array
from ..errors import InputError, keeps_interrupts
from ..programs.method import Method
from ..programs.solution.residuals import TOL
from ..programs.solution.solution import Solution
from ..programs.solution.status import Status
from ..programs.solve import solve
from .active_set import ActiveSet, OmegaStatus, active_set
from .admissible_set import AdmissibleSet, admissible_set
from .assemble import assemble, start_of_blocks
from .gauss_program import gauss_program
from .nonlinear_velocity import bends, relinearised
from .rank_note import rank_note
from .reactions import reactions as reactions
from .reactions import rows_in_conflict
from .snapshot import LocalDynamics, check_dynamics

NO_MOTION = (Status.INFEASIBLE, Status.NO_SOLUTION)
GAUSS_METHODS = ("active_set", "osqp", "clarabel", "cvxpy")  # all others solve blocks, frictionless ones too


@keeps_interrupts
def resolve(
    dynamics: LocalDynamics,
    *,
    method: Method | None = None,
    convex: Sequence[Callable[[Any], Any]] = (),
    start: Mapping[str, Array] | None = None,
    tol: float = TOL,
    thorough: bool = True,
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
    start : mapping, optional
        Reactions to begin with, by id, as `reactions` returned them: where friction leaves several motions, one
        near these is found first.
    tol : float
        Residual E up to which a problem with friction counts as solved; a method that is given has its own.
    thorough : bool
        Whether to go on where nothing quick solves it, see `solve`.

    Returns
    -------
    Solution
        x: acceleration (m/s^2) or v+ (m/s), shape (nv,). Its `problem` is a `QuadraticProgram` (lam in the order of
        the rows of Omega's A, r and u in the order of C) or a `ComplementarityProblem` (lam, r and u as `assemble`
        orders them); `reactions` maps both back to the constraints. Where the state has no acceleration: status
        IMPACT_NEEDED or PENETRATING, x None, and the constraints at fault in the message. Where it is proved that
        no motion exists: INFEASIBLE or NO_SOLUTION, x None, and a certificate. Where bilateral constraints lose rank
        the message says so, and that limits along branches may be others.

    Raises
    ------
    InputError
        `dynamics` is no snapshot, or `method` or `convex` do not apply.
    """
    check_dynamics(dynamics)
    if method is not None and (isinstance(method, type) or not hasattr(method, "solve")):
        raise InputError(
            "method", repr(method), "a method, e.g. ActiveSet() or GaussSeidel(), or None", "Write method=ActiveSet()."
        )
    if active_set(dynamics).status is not OmegaStatus.READY:
        return _refused(dynamics, active_set(dynamics))
    solution = _solve(dynamics, method, convex, start, tol, thorough)
    if dynamics.level == "velocity" and any(bends(row) for row in dynamics.rows):
        return relinearised(dynamics, solution, lambda near: _solve(near, method, convex, start, tol, thorough))
    return _with_note(dynamics, solution)


def _solve(
    dynamics: LocalDynamics,
    method: Method | None,
    convex: Sequence[Callable[[Any], Any]],
    start: Mapping[str, Array] | None,
    tol: float,
    thorough: bool,
) -> Solution:
    """Solve the Gauss program, or with friction the block problem."""
    gauss = method is None or method.name in GAUSS_METHODS
    if gauss and not active_set(dynamics).rough:
        omega = admissible_set(dynamics, convex=convex)
        answer = solve(gauss_program(dynamics, omega), method=_with_convex(method, omega))
    elif convex:
        raise InputError(
            "convex",
            "constraints in CVXPY with friction or a method for blocks",
            "neither of these",
            "Leave method out: resolve(problem, convex=...), with mu = 0.",
        )
    elif gauss and method is not None:
        raise InputError("method", method, "a method for blocks, because friction acts", "Try GaussSeidel().")
    else:
        known = start_of_blocks(dynamics, start) if start else None
        answer = solve(assemble(dynamics), method=method, start=known, tol=tol, thorough=thorough)
    return _without_motion(dynamics, answer) if answer.status in NO_MOTION else answer


def _with_note(dynamics: LocalDynamics, solution: Solution) -> Solution:
    """Return an answer that says so where constraints lose rank at the state."""
    known = solution.solved or solution.status is Status.INFEASIBLE
    note = rank_note(dynamics, moves=solution.solved) if known else ""
    if not note:
        return solution
    return solution.but(message=f"{solution.message or solution.status.advice} But {note}.")


def _without_motion(dynamics: LocalDynamics, answer: Solution) -> Solution:
    """Return an answer that proves that there is no motion: without one, and with the constraints in its message."""
    if answer.status is Status.INFEASIBLE and answer.certificate is not None:
        names = rows_in_conflict(dynamics, answer)
        about = f"{', '.join(names)} contradict each other" if len(names) > 1 else f"{', '.join(names)} cannot be met"
        return answer.but(x=None, message=f"no motion obeys all constraints: {about}; the certificate proves it.")
    return answer.but(x=None)


def _with_convex(method: Method | None, omega: AdmissibleSet) -> Method | None:
    if not omega.convex:
        return method
    from ..programs.quadratic.backends.cvxpy_ import Cvxpy

    if method is None:
        return Cvxpy(constraints=omega.convex)
    if isinstance(method, Cvxpy):
        return replace(method, constraints=(*method.constraints, *omega.convex))
    raise InputError("method", method, "Cvxpy", "Only it knows a user's convex constraints: method=None.")


def _refused(dynamics: LocalDynamics, active: ActiveSet) -> Solution:
    """Return the status of a state that has no acceleration, naming the constraints at fault."""
    status, rows = Status(str(active.status)), {row.id: row for row in dynamics.rows}
    named = [f"{rows[id].kind} {id} (value {rows[id].gap:.3g}, rate {rows[id].rate[0]:.3g})" for id in active.at_fault]
    return Solution(problem=None, status=status, message=f"{', '.join(named)}: {status.advice}")
