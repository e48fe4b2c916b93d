"""Names of methods on the command line, and what kind of problem each is for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..mends import meant

if TYPE_CHECKING:
    from ..programs.solution.solution import Solution

QP, BLOCKS = "quadratic programs", "LCPs and friction problems"
METHODS = {
    "active_set": ("quadratic.dual_active_set.ActiveSet", QP),
    "clarabel": ("quadratic.backends.clarabel_.Clarabel", QP),
    "cvxpy": ("quadratic.backends.cvxpy_.Cvxpy", QP),
    "osqp": ("quadratic.backends.osqp_.Osqp", QP),
    "enumerate": ("blocks.enumerate_.Enumerate", BLOCKS),
    "faceted": ("blocks.lemke.pyramids.Faceted", BLOCKS),
    "gauss_fixed_point": ("blocks.gauss_fixed_point.GaussFixedPoint", BLOCKS),
    "gauss_seidel": ("blocks.gauss_seidel.gauss_seidel.GaussSeidel", BLOCKS),
    "interior_point": ("blocks.interior_point.interior_point.InteriorPoint", BLOCKS),
    "lemke": ("blocks.lemke.lemke.Lemke", BLOCKS),
    "proximal_newton": ("blocks.proximal_newton.ProximalNewton", BLOCKS),
}


def names(group: str) -> list[str]:
    """Return the names of the methods for a kind of problem."""
    return [name for name, (_, group_of_method) in METHODS.items() if group_of_method == group]


def solve_with(problem: Any, kind: str, name: str | None, tol: float) -> Solution:
    """Solve a problem by the method of that name, or by the one that is picked.

    Parameters
    ----------
    problem : QuadraticProgram, LinearComplementarity or ComplementarityProblem
    kind : str
        Of the file; "qp" for a quadratic program.
    name : str or None
    tol : float
        Residual E that counts as solved.

    Raises
    ------
    InputError
        An unknown method, or one that is for another kind of problem.
    """
    from ..programs.files.mixed_document import KINDS
    from ..programs.solution.residuals import TOL

    if name is None:
        return judged(_picked(problem, kind, tol), tol)
    if kind in KINDS:
        mend = "Leave --method out: equalities are eliminated, and what remains goes to the methods for blocks."
        raise InputError("--method", f"{name!r} for a mixed problem", "none", mend)
    method = method_class(name, QP if kind == "qp" else BLOCKS, kind)
    own = kind != "qp" and tol != TOL and "tol" in method.__dataclass_fields__
    return judged((method(tol=tol) if own else method()).solve(problem), tol)


def _picked(problem: Any, kind: str, tol: float) -> Solution:
    from ..programs.solve import solve

    return solve(problem) if kind == "qp" else solve(problem, tol=tol)


def method_class(name: str, group: str, kind: str) -> Any:
    """Return the class of a method.

    Raises
    ------
    InputError
        An unknown method, or one that is for another kind of problem.
    """
    if name not in METHODS:
        mend = meant(name, METHODS) or f"Write --method {next(iter(names(group)))}."
        raise InputError("--method", repr(name), ", ".join(METHODS), mend)
    path, made_for = METHODS[name]
    if made_for != group:
        raise InputError(
            "--method",
            f"{name!r}, which is for {made_for}",
            ", ".join(names(group)),
            f"The file is {kind}: leave --method out.",
        )
    module, _, attribute = path.rpartition(".")
    return getattr(import_module(f"..programs.{module}", __package__), attribute)


def judged(solution: Solution, tol: float) -> Solution:
    """Return the solution with SOLVED exactly where its recomputed residual is small for `tol`."""
    from ..programs.solution.status import Status

    open_ends = (Status.SOLVED, Status.MAX_ITERATIONS, Status.UNDECIDED)
    if solution.status not in open_ends or solution.residuals is None or solution.x is None:
        return solution
    if solution.residuals.small(tol):
        return solution if solution.solved else solution.but(status=Status.SOLVED, message="")
    return solution.but(status=Status.MAX_ITERATIONS) if solution.solved else solution
