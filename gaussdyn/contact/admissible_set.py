"""The admissible set: what motions the constraints that act leave open, row by row, with provenance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._show import brief
from ..arrays import Array, vector
from ..errors import InputError
from .active_set import ActiveRow, OmegaStatus, active_set
from .snapshot import LocalDynamics, check_dynamics


@dataclass(frozen=True, slots=True, kw_only=True)
class OmegaRow:
    """Where a row of the admissible set comes from.

    Attributes
    ----------
    id : str
        The constraint.
    component : int
        Which of its rows.
    kind, level : str
        As in `Row`.
    """

    id: str
    component: int
    kind: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmissibleSet:
    """Omega = {x: A x = b, C x >= d, and the user's convex constraints}.

    Attributes
    ----------
    A, b : Array, shapes (m, nv), (m,)
        Equalities.
    C, d : Array, shapes (k, nv), (k,)
        Inequalities.
    rows : tuple of OmegaRow
        Provenance: first of the rows of A, then of the rows of C.
    level : str
        acceleration (x = a, m/s^2) or velocity (x = v+, m/s).
    status : OmegaStatus
        READY; IMPACT_NEEDED or PENETRATING: then Omega is empty, and A, C hold only the rows that are not at fault.
    at_fault : tuple of str
        Ids of the constraints that make it so.
    convex : tuple of callables
        Each takes a CVXPY variable of shape (nv,) and returns a list of CVXPY constraints.
    """

    A: Array
    b: Array
    C: Array
    d: Array
    rows: tuple[OmegaRow, ...]
    level: str
    status: OmegaStatus = OmegaStatus.READY
    at_fault: tuple[str, ...] = ()
    convex: tuple[Callable[[Any], list[Any]], ...] = ()

    __repr__ = brief

    def violation(self, x: Array) -> float:
        """Return the largest violation of any row at x, in the unit of the row; inf if Omega is not READY."""
        if self.status is not OmegaStatus.READY:
            return float("inf")
        x = vector("x", x, self.A.shape[1])
        rows = max(np.abs(self.A @ x - self.b).max(initial=0.0), (self.d - self.C @ x).max(initial=0.0))
        return max(float(rows), _convex_violation(self.convex, x))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        """Return whether no row is violated by more than `tol`."""
        return self.violation(x) <= tol


def admissible_set(dynamics: LocalDynamics, *, convex: Sequence[Callable[[Any], Any]] = ()) -> AdmissibleSet:
    """Build Omega from the constraints that act at this state.

    A frictional contact gives its normal row (an equality if bilateral); friction itself is no constraint on the
    motion and enters in `assemble`.

    Parameters
    ----------
    dynamics : LocalDynamics
    convex : sequence of callables
        Further convex constraints written in CVXPY, e.g. ``lambda a: [cvxpy.norm(a) <= 3]``; one constraint may be
        returned without a list. They are solved by the CVXPY method (residual 1e-8, no exact certificate).

    Raises
    ------
    InputError
        `dynamics` is no snapshot, or `convex` is not a list of functions.
    """
    check_dynamics(dynamics)
    if not isinstance(convex, (list, tuple)) or not all(map(callable, convex)):
        raise InputError("convex", repr(convex), "a list of functions", "Write e.g. [lambda a: cvxpy.norm(a) <= 3].")
    active = active_set(dynamics)
    normal = [one for one in active.rows if one.row.kind != "dry"]
    A, b, of_A = _stack([one for one in normal if one.row.bilateral], dynamics.nv)
    C, d, of_C = _stack([one for one in normal if not one.row.bilateral], dynamics.nv)
    return AdmissibleSet(
        A=A,
        b=b,
        C=C,
        d=d,
        rows=of_A + of_C,
        level=dynamics.level,
        status=active.status,
        at_fault=active.at_fault,
        convex=tuple(_listed(make) for make in convex),
    )


def check_omega(omega: object) -> None:
    """Raise InputError unless this is what `admissible_set` returns."""
    if not isinstance(omega, AdmissibleSet):
        given = type(omega).__name__
        raise InputError("omega", given, "an AdmissibleSet", "It is made by admissible_set(dynamics).")


def _listed(make: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Return the same constraints always as a list."""

    def listed(x: Any) -> list[Any]:
        """Return the constraints as a list."""
        made = make(x)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    return listed


def normal_rows(active: ActiveRow) -> int:
    """Return how many rows of a constraint bind the motion: one of a contact, else all."""
    return 1 if active.row.kind in ("contact", "bilateral_contact") else active.row.size


def _stack(active: list[ActiveRow], nv: int) -> tuple[Array, Array, tuple[OmegaRow, ...]]:
    """Return (rows, right-hand side, provenance) of J x + w = 0 or >= 0."""
    J = [one.row.J[: normal_rows(one)] for one in active]
    w = [one.w[: normal_rows(one)] for one in active]
    origin = [
        OmegaRow(id=one.row.id, component=k, kind=one.row.kind, level=one.row.level)
        for one in active
        for k in range(normal_rows(one))
    ]
    return np.concatenate([np.zeros((0, nv)), *J]), 0.0 - np.concatenate([np.zeros(0), *w]), tuple(origin)


def _convex_violation(convex: tuple[Callable[[Any], list[Any]], ...], x: Array) -> float:
    if not convex:
        return 0.0
    from ..programs.quadratic.backends.cvxpy_ import violation

    return violation(convex, x)
