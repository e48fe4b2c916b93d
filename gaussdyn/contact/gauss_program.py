"""Gauss's principle as a quadratic program: among the admissible motions, the nearest to the free one."""

from __future__ import annotations

from ..errors import InputError
from ..programs.problems.quadratic import QuadraticProgram
from .active_set import OmegaStatus
from .admissible_set import AdmissibleSet, check_omega
from .snapshot import LocalDynamics, check_dynamics


def gauss_program(dynamics: LocalDynamics, omega: AdmissibleSet) -> QuadraticProgram:
    """Return: minimise 1/2 (x - x_free)^T M (x - x_free) over x in Omega, with M x_free = h.

    Its multipliers are the reactions: M x = h + A^T lam + C^T r, r >= 0 (forces on the acceleration level, N;
    impulses on the velocity level, N s). Friction is left out; the user's convex constraints of Omega are not
    rows: hand them to the CVXPY method, as `resolve` does.

    Raises
    ------
    InputError
        If Omega is not READY: there is no acceleration to ask for (`resolve` returns that as a status).
    """
    check_dynamics(dynamics)
    check_omega(omega)
    if omega.status is not OmegaStatus.READY:
        given = f"{omega.status} at {', '.join(omega.at_fault)}"
        raise InputError("omega", given, "READY", "resolve() returns this as a status; solve the velocity level first.")
    return QuadraticProgram(H=dynamics.M, g=-dynamics.h, A=omega.A, b=omega.b, C=omega.C, d=omega.d)
