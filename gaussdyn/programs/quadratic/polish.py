"""The end that all methods for quadratic programs share: exact active set, multipliers, residuals, status."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...arrays import Array, IntArray
from ...errors import InputError
from ...linalg.cones import norms
from ..problems.quadratic import QuadraticProgram
from ..solution.residuals import TOL, Residuals, kkt_residuals
from ..solution.solution import Solution
from ..solution.status import Status
from .multipliers import Multipliers, active_rows, least_multipliers

NEAR = 1e-10  # slack, relative as in `active_rows`, of a row that may be meant to be active


def quadratic(problem: Any, name: str) -> QuadraticProgram:
    """Return the problem if it is a quadratic program.

    Raises
    ------
    InputError
        If the method does not apply to it.
    """
    if not isinstance(problem, QuadraticProgram):
        given = type(problem).__name__
        raise InputError("problem", given, f"a QuadraticProgram for the method {name}", "Use solve(problem).")
    return problem


@np.errstate(over="ignore", invalid="ignore")
def finish(program: QuadraticProgram, guess: IntArray, name: str, iterations: int = 0) -> Solution:
    """Solve from a guessed active set, and verify.

    The guessed rows are made active as far as they are independent, those that pull are released, and violated rows
    are brought in until there is none: a good guess is confirmed in one pass, a bad one costs steps, not digits.

    Parameters
    ----------
    guess : IntArray
        Inequalities thought active, the surest first; may be empty.
    name, iterations :
        Of the method that made the guess.
    """
    from ..active_set.dual_method import solve_rows
    from ..active_set.steps import INFEASIBLE

    m = len(program.b)
    N, rhs = np.concatenate((program.A, program.C)), np.concatenate((program.b, program.d))
    x, w, state, info = solve_rows(program.H, program.g, N, rhs, np.concatenate(([m], m + guess)))
    steps = iterations + int(info[1])
    if info[0] == INFEASIBLE:
        return refuted(program, w, name, steps)
    found = kkt_residuals(program, x, w[:m], w[m:])
    off = found.E > TOL
    if off:
        touched = np.r_[np.ones(m, dtype=np.bool_), active_rows(program, x, NEAR)]
        x, w = _refined(program, x, w, np.flatnonzero(touched | (state > 0)))
    y, z = w[:m], w[m:]
    only = Multipliers(y=y, z=z, null_space=np.zeros((len(w), 0)))
    active = int((active_rows(program, x) | (z > 0.0)).sum())
    dependent = int((state > 0).sum()) < m + active
    return verified(program, x, only, name, steps, least=dependent, known=None if off else found)


def _refined(program: QuadraticProgram, x: Array, w: Array, rows: IntArray) -> tuple[Array, Array]:
    """Return (x, w) after one Newton step on the equations of the active rows, where that is the better answer.

    The active-set method keeps independent rows only. Where these are badly conditioned, the others hold less well
    than they could; here all rows that are touched share the rounding error.
    """
    n, m, N = program.n, len(program.b), np.vstack([program.A, program.C])[rows]
    kkt = np.block([[program.H, -N.T], [N, np.zeros((len(rows), len(rows)))]])
    off = np.r_[program.H @ x + program.g - N.T @ w[rows], N @ x - np.r_[program.b, program.d][rows]]
    step = np.linalg.lstsq(kkt, off, rcond=None)[0]
    closer, pushes = x - step[:n], w.copy()
    pushes[rows] -= step[n:]
    pushes[m:] = np.maximum(pushes[m:], 0.0)
    before, after = (kkt_residuals(program, a, b[:m], b[m:]).E for a, b in ((x, w), (closer, pushes)))
    return (closer, pushes) if after < before else (x, w)


@np.errstate(over="ignore", invalid="ignore")
def verified(
    program: QuadraticProgram, x: Array, found: Multipliers, name: str, iterations: int, *, least: bool = False,
    known: Residuals | None = None,
) -> Solution:  # fmt: skip
    """Return the answer with residuals recomputed from the program, unless they are `known`.

    `least`: choose the smallest multipliers first.
    """
    residuals = kkt_residuals(program, x, found.y, found.z) if known is None else known
    if least and residuals.small(1e-9):
        smallest = least_multipliers(program, x, found.y, found.z)
        again = kkt_residuals(program, x, smallest.y, smallest.z)
        if max(TOL, residuals.E) >= again.E:
            found, residuals = smallest, again
        else:  # rounding of huge multipliers: rather balanced to the last digit than the smallest
            found = replace(smallest, y=found.y, z=found.z)
    solved = residuals.small()
    active = active_rows(program, x) | (found.z > 0.0)
    return Solution(
        problem=program,
        status=Status.SOLVED if solved else Status.MAX_ITERATIONS,
        x=x,
        lam=found.y,
        r=found.z,
        u=program.C @ x - program.d,
        modes=tuple("active" if a else "inactive" for a in active),
        residuals=residuals,
        unique=(True, found.unique) if solved else (None, None),
        null_space=found.null_space if solved else None,
        method=name,
        iterations=iterations,
    )


def as_found(program: QuadraticProgram, x: Array, y: Array, z: Array, name: str, iterations: int) -> Solution:
    """Return a library's own point with its residuals, unpolished: SOLVED only if they are small."""
    unknown = Multipliers(y=y, z=z, null_space=np.zeros((len(y) + len(z), 0)))
    found = verified(program, x, unknown, name, iterations)
    return found.but(unique=(found.u_unique, None), null_space=None)


def unit_rows(program: QuadraticProgram) -> tuple[Array, Array, Array]:
    """Return the rows of A and C scaled to length one, their right-hand sides, and their lengths (1 for zeros)."""
    N, rhs = np.vstack([program.A, program.C]), np.r_[program.b, program.d]
    length = norms(N)
    length[length == 0.0] = 1.0
    return N / length[:, None], rhs / length, length


def refuted(program: QuadraticProgram, ray: Array | None, name: str, iterations: int) -> Solution:
    """Return INFEASIBLE with an exact proof, or UNDECIDED: the rows contradict each other only up to rounding."""
    from ..proof.certificates import farkas_certificate
    from ..proof.farkas import refute

    m = len(program.b)
    nothing = Solution(
        problem=program, status=Status.UNDECIDED, lam=np.zeros(m), r=np.zeros(len(program.d)), method=name,
        iterations=iterations,
    )  # fmt: skip
    vectors = refute(program.A, program.b, program.C, program.d, guess=ray)
    proof, about = None, ""
    if vectors is not None:
        top = max(abs(value) for value in (*vectors[0], *vectors[1]))
        y, z = ([float(value / top) for value in part] for part in vectors)
        about = _rows_at_fault(*vectors)
        proof = farkas_certificate(program.A, program.b, program.C, program.d, y, z, claim=about)
    if proof is None:
        return nothing.but(
            message="the rows contradict each other up to rounding, without an exact proof: move a bound."
        )
    return nothing.but(
        status=Status.INFEASIBLE, certificate=proof, message=f"no point satisfies the constraints: {about}."
    )


def _rows_at_fault(y: list[Fraction], z: list[Fraction]) -> str:
    """Name the rows that a Farkas vector combines."""
    named = (("equalities", y), ("inequalities", z))
    rows = [(name, ", ".join(str(i) for i, value in enumerate(values) if value)) for name, values in named]
    return " and ".join(f"{name} {listed}" for name, listed in rows if listed) + " contradict each other"


@np.errstate(over="ignore", invalid="ignore")
def likely_active(program: QuadraticProgram, x: Array, z: Array) -> IntArray:
    """Return the inequalities whose multiplier outweighs their slack, the surest first."""
    lengths = np.where(norms(program.C) > 0, norms(program.C), 1.0)
    load = float(np.linalg.norm(program.g)) + float(np.abs(z * lengths).max(initial=0.0)) or 1.0
    size = np.abs(program.d) + lengths * float(np.linalg.norm(x))
    push, slack = z * lengths / load, (program.C @ x - program.d) / np.where(size > 0, size, 1.0)
    rows = np.flatnonzero(push > np.maximum(slack, 0.0))
    return np.asarray(rows[np.argsort(-push[rows], kind="stable")], dtype=np.int64)
