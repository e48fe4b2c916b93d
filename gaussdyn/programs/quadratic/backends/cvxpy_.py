"""The readable reference: the program as one writes it on paper, in CVXPY, with any convex constraints added."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ....arrays import Array, scalar
from ....errors import InputError
from ...problems.quadratic import QuadraticProgram
from ...solution.residuals import Residuals, kkt_residuals
from ...solution.solution import Solution
from ...solution.status import Status
from ..polish import as_found, finish, likely_active, quadratic, refuted

Convex = Callable[[Any], list[Any]]
ZOOMS = (1e-2, 1e-3)  # sizes, relative to |x|, at which a program with added constraints is solved again
TOL_CONVEX = 1e-8  # residual that counts as solved where constraints of the user's own were added


@dataclass(frozen=True, slots=True, kw_only=True)
class Cvxpy:
    """CVXPY calling Clarabel.

    Parameters
    ----------
    constraints : tuple of callables
        Each takes the CVXPY variable x (n,) and returns a list of CVXPY constraints on it, all convex.
    tol : float
        Accuracy asked of the library, in (0, 1e-4].
    polish : bool
        Finish on the exact active set (programs without added constraints only).

    Raises
    ------
    InputError
        A setting is out of range.

    Notes
    -----
    With added constraints the answer is verified to 1e-8 only, by the first-order condition f.(x' - x) >= 0 for the
    force f of the added constraints and all x' near x that satisfy them, and there is no certificate. Its `problem`
    is the quadratic program in which they are replaced by their supporting half-space at x: one inequality more, at
    the end, whose multiplier is 1 and whose row is the force that they exert. An answer that satisfies the added
    constraints without any force is returned as that of the plain program, with all its digits.
    """

    name: ClassVar[str] = "cvxpy"
    constraints: tuple[Convex, ...] = ()
    tol: float = 1e-12
    polish: bool = True

    def __post_init__(self) -> None:
        scalar("tol", self.tol, low=0.0, high=1e-4, open_low=True)

    def solve(self, problem: QuadraticProgram) -> Solution:
        """Solve, verify, and return the answer.

        Raises
        ------
        InputError
            `problem` is not a quadratic program, or an added constraint is not convex in the sense of CVXPY.
        """
        quadratic(problem, self.name)
        if not problem.n:
            return finish(problem, np.zeros(0, dtype=np.int64), self.name)
        if not self.constraints:
            found = self._optimum(problem, ())
            return self._plain(problem, found)
        free = finish(problem, np.zeros(0, dtype=np.int64), self.name)
        if free.x is None or violation(self.constraints, free.x) <= 1e-12 * (1.0 + float(np.linalg.norm(free.x))):
            return free
        return self._supported(problem, self._sharpened(problem))

    def _plain(self, problem: QuadraticProgram, found: tuple[Array, Array, Array] | None) -> Solution:
        if found is None:
            return refuted(problem, None, self.name, 0)
        x, y, z = found
        if self.polish:
            return finish(problem, likely_active(problem, x, z), self.name)
        return as_found(problem, x, y, z, self.name, 0)

    def _supported(self, problem: QuadraticProgram, found: tuple[Array, Array, Array] | None) -> Solution:
        """Return the answer as that of the program with the supporting half-space of the added constraints."""
        if found is None:
            message = "no point satisfies the rows and the added convex constraints, or the library failed; no proof."
            zero = np.zeros(len(problem.b)), np.zeros(len(problem.d))
            return Solution(
                problem=problem, status=Status.UNDECIDED, lam=zero[0], r=zero[1], method=self.name, message=message
            )
        x, y, z = found
        pushing = likely_active(problem, x, z)
        z = np.where(np.isin(np.arange(len(z)), pushing), z, 0.0)
        force = problem.H @ x + problem.g - problem.A.T @ y - problem.C.T @ z
        C, d = np.vstack([problem.C, force]), np.r_[problem.d, force @ x]
        half = QuadraticProgram(H=problem.H, g=problem.g, A=problem.A, b=problem.b, C=C, d=d)
        load = float(np.linalg.norm(problem.g) + np.linalg.norm(problem.H @ x + problem.g)) or 1.0
        size = float(np.linalg.norm(x)) or 1.0
        excess = max(violation(self.constraints, x) / size, self._overhang(force, x, size) / (load * size))
        residuals = kkt_residuals(half, x, y, np.r_[z, 1.0])
        E = max(residuals.E, excess)
        return Solution(
            problem=half, status=Status.SOLVED if E <= TOL_CONVEX else Status.MAX_ITERATIONS, x=x, lam=y,
            r=np.r_[z, 1.0], u=half.C @ x - half.d, residuals=Residuals(E=E, floor=residuals.floor),
            modes=tuple("active" if zi > 0 else "inactive" for zi in (*z, 1.0)), method=self.name,
            unique=(True if E <= TOL_CONVEX else None, None),
            message="added convex constraints: verified to 1e-8, no certificate.",
        )  # fmt: skip

    def _sharpened(self, problem: QuadraticProgram) -> tuple[Array, Array, Array] | None:
        """Return x, y, z with the added constraints, solved again in coordinates blown up around the last x.

        On a curved boundary the gap of an interior point is quadratic in the error of x, so that a gap of 1e-11 leaves
        1e-6 in x; after magnification it leaves about 1e-8. (More than a thousandfold would magnify rounding.)
        """
        found = self._optimum(problem, self.constraints)
        for zoom in ZOOMS:
            if found is not None:
                size = float(np.linalg.norm(found[0])) or 1.0
                found = self._optimum(problem, self.constraints, found[0], zoom * size) or found
        return found

    def _optimum(
        self, problem: QuadraticProgram, added: tuple[Convex, ...], centre: Array | None = None, zoom: float = 1.0
    ) -> tuple[Array, Array, Array] | None:
        """Return x, y, z as the library finds them in the unknown (x - centre) / zoom; None if it finds no point."""
        import cvxpy as cp

        step = cp.Variable(problem.n)
        c = np.zeros(problem.n) if centre is None else centre
        rows: list[Any] = []
        own: list[Any] = []
        if len(problem.b):
            own.append(problem.A @ step == (problem.b - problem.A @ c) / zoom)
        if len(problem.d):
            rows.append(problem.C @ step >= (problem.d - problem.C @ c) / zoom)
        extra = [constraint for make in added for constraint in make(step if centre is None else c + zoom * step)]
        load = problem.H @ c + problem.g
        objective = cp.Minimize(0.5 * zoom * cp.quad_form(step, cp.psd_wrap(problem.H)) + load @ step)
        if not self._run(cp.Problem(objective, own + rows + extra)) or step.value is None:
            return None
        y = -np.asarray(own[0].dual_value).reshape(-1) if own else np.zeros(0)
        z = np.maximum(np.asarray(rows[0].dual_value).reshape(-1), 0.0) if rows else np.zeros(0)
        return c + zoom * np.asarray(step.value), y, z

    def _run(self, program: Any) -> bool:
        """Solve a CVXPY problem with Clarabel; return whether it ended with a point."""
        import cvxpy as cp

        if not program.is_dcp():
            raise InputError(
                "constraints",
                "a constraint that is not convex",
                "constraints that CVXPY accepts (DCP)",
                "Look which: constraint.is_dcp().",
            )
        try:
            with warnings.catch_warnings():  # an inaccurate end is noticed by the residuals
                warnings.simplefilter("ignore", UserWarning)
                program.solve(
                    solver=cp.CLARABEL, tol_gap_abs=self.tol, tol_gap_rel=self.tol, tol_feas=self.tol, max_threads=1
                )
        except cp.SolverError:
            return False
        return program.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)

    def _overhang(self, force: Array, x: Array, size: float) -> float:
        """Return how far the added constraints reach beyond the half-space force.(x' - x) >= 0, near x.

        By convexity a neighbourhood is enough: zero means that the force is a normal of the added set at x.
        """
        import cvxpy as cp

        point = cp.Variable(len(x))
        added = [c for make in self.constraints for c in make(point)]
        scale = float(np.linalg.norm(force)) or 1.0
        ball = [cp.norm(point - x, "inf") <= size]
        if not self._run(cp.Problem(cp.Minimize((force / scale) @ (point - x)), added + ball)) or point.value is None:
            return np.inf
        return max(-scale * float((force / scale) @ (np.asarray(point.value) - x)), 0.0)


def violation(constraints: tuple[Convex, ...], x: Array) -> float:
    """Return the largest violation of the constraints at x, as CVXPY measures it (0 if they hold)."""
    import cvxpy as cp

    point = cp.Variable(len(x))
    point.value = x
    worst = [np.max(c.violation(), initial=0.0) for make in constraints for c in make(point)]
    return float(max(worst, default=0.0))
