"""The quadratic program, with signs such that its multipliers are reactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._show import brief
from ...arrays import Array, matrix, vector
from ...errors import InputError
from ...linalg.factor import cholesky

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuadraticProgram:
    """Minimise 1/2 x^T H x + g^T x subject to A x = b, C x >= d.

    At the minimum ``H x + g = A^T y + C^T z`` with ``z >= 0`` and ``z . (C x - d) = 0``: with H = M and
    g = -h the multipliers y, z are the reactions, without a change of sign.

    Parameters
    ----------
    H : array_like, shape (n, n)
        Symmetric positive definite (the mass matrix M).
    g : array_like, shape (n,)
        Linear term (minus the generalised force).
    A, b : array_like, shapes (m, n), (m,), optional
        Equalities.
    C, d : array_like, shapes (k, n), (k,), optional
        Inequalities.

    Raises
    ------
    InputError
        NaN, wrong shapes, H not symmetric, or H not positive definite (the coordinate is named).
    """

    H: Array
    g: Array
    A: Array = None  # type: ignore[assignment]
    b: Array = None  # type: ignore[assignment]
    C: Array = None  # type: ignore[assignment]
    d: Array = None  # type: ignore[assignment]

    __repr__ = brief

    def __post_init__(self) -> None:
        g = vector("g", self.g)
        n = g.shape[0]
        H = matrix("H", self.H, n, n)
        H = _symmetric(H)
        cholesky("H", H)
        A, b = _rows("A", self.A, "b", self.b, n)
        C, d = _rows("C", self.C, "d", self.d, n)
        for name, value in (("H", H), ("g", g), ("A", A), ("b", b), ("C", C), ("d", d)):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.g)

    def objective(self, x: Array) -> float:
        """Return 1/2 x^T H x + g^T x."""
        return float(0.5 * x @ self.H @ x + self.g @ x)

    def to_json(self) -> dict[str, Any]:
        """Return the program as a JSON-ready dictionary (keys H, g, A, b, C, d)."""
        return {key: getattr(self, key).tolist() for key in ("H", "g", "A", "b", "C", "d")}


def _rows(name: str, rows: ArrayLike | None, rhs_name: str, rhs: ArrayLike | None, n: int) -> tuple[Array, Array]:
    """Return rows and right side, both or none."""
    if rows is None and rhs is None:
        return np.zeros((0, n)), np.zeros(0)
    if rows is None or rhs is None:
        raise InputError(
            f"{name}, {rhs_name}", "only one of the two", "both or neither", f"Write {name}=A, {rhs_name}=b."
        )
    A = matrix(name, rows, None, n) if np.size(rows) else np.zeros((0 if n else np.size(rhs), n))
    return A, vector(rhs_name, rhs if np.size(rhs) else np.zeros(0), A.shape[0])


def _symmetric(H: Array) -> Array:
    """Return H with the rounding of its symmetry removed, or say where it is not symmetric."""
    gap = np.abs(H - H.T)
    if gap.size and gap.max() > 1e-12 * np.abs(H).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        raise InputError(
            "H", f"H[{i},{j}] = {H[i, j]:g}, H[{j},{i}] = {H[j, i]:g}", "a symmetric matrix", "Write H=0.5 * (H + H.T)."
        )
    return np.ascontiguousarray((H + H.T) / 2.0) if gap.any() else H
