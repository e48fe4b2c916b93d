"""Nonsmooth interior point method for Coulomb and unilateral blocks, finished by the proximal Newton method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import splu

from ....arrays import Array, IntArray
from ....errors import InputError
from ...laws.law_table import LawTable
from ...laws.laws import MU, Coulomb, Sliding, Unilateral
from ...problems.complementarity import Problem, as_blocks
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..proximal_newton import ProximalNewton
from ..scaled import Scaled

UNIT = np.array([1.0, 0.0, 0.0])
STALL = 12  # iterations in which the complementarity gap must at least halve


@dataclass(frozen=True, slots=True, kw_only=True)
class InteriorPoint(BlockMethod):
    """Mehrotra's predictor and corrector on exact Coulomb friction, with s = |u_T| kept as an unknown.

    In scaled variables (mu r_N, r_T) and (u_N / mu + s, u_T) both lie in Lorentz cones. After Acary, Armand, Nguyen
    and Shpakovych (Optim. Methods Softw. 39, 2024) and Nguyen's thesis (2025). Where the residual has fallen below
    `switch` the proximal Newton method tries to finish; if it cannot, the interior point goes on.

    Attributes
    ----------
    iterations : int
        Most interior point steps.
    switch : float
        Residual E at which the finish is tried first.
    tol : float
        Residual E to reach.
    """

    iterations: int = 100
    switch: float = 1e-4
    tol: float = 1e-12
    name: ClassVar[str] = "interior_point"

    def check(self, problem: Problem) -> None:
        """Raise InputError if a law is neither Unilateral, Sliding nor Coulomb."""
        if not has_cones(as_blocks(problem).table):
            raise InputError(
                "laws",
                "a law without a Lorentz cone",
                "Unilateral, Sliding and Coulomb blocks",
                "Write solve(problem, method=GaussSeidel()).",
            )

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return the best scaled reaction found (the path starts in the middle of the cones, not at r)."""
        work, cost = Work() if work is None else work, costs.interior_step(data)
        cones, best, best_r, total = _Cones(data), data.residual(r), r, 0
        state, switch, gaps = cones.start(), self.switch, []
        while total < self.iterations and not work.over():
            x, going = cones.reaction(state.r), cones.step(state)
            E = data.residual(x)
            total += 1
            work.spend(cost)
            gaps.append(cones.gap(state))
            stalled = not going or (len(gaps) > STALL and gaps[-1] > 0.5 * gaps[-STALL])
            if switch >= E or stalled:
                x, switch = self._finish(data, x, work), 1e-2 * min(switch, E)
                E = data.residual(x)
            if best > E:
                best, best_r = E, x
            if best <= 0.3 * self.tol or stalled:
                break
        return best_r, total

    def _finish(self, data: Scaled, x: Array, work: Work) -> Array:
        return ProximalNewton(alpha=1e-3, newton_steps=40, tol=self.tol).improve(data, x, work)[0]


def has_cones(table: LawTable) -> bool:
    """Whether every law is a Lorentz cone of De Saxcé's form."""
    return all(type(law) in (Unilateral, Sliding, Coulomb) for law in set(table.laws))


@dataclass(slots=True)
class _State:
    """Point of the interior point path: reactions, motions (n, 3) inside their cones, slip speeds s (n,)."""

    r: Array
    u: Array
    s: Array


class _Cones:
    """The problem with every block padded to three rows and scaled so that its cone is Lorentz's."""

    def __init__(self, data: Scaled) -> None:
        n, mu = len(data.code), data.P[:, MU]
        sizes = np.where((data.code == Coulomb.code) & (mu > 0.0), np.diff(data.start), 1)
        self.slots, self.rows = _slots(data.start, sizes)
        self.scale = np.ones((n, 3))
        self.scale[:, 0] = np.where(sizes > 1, mu, 1.0)
        self.cap = np.where(sizes > 1, 1.0, 0.0)  # only blocks with friction have a slip speed
        d = 1.0 / self.scale.ravel()[self.slots]
        pad = sp.csr_array((d, (self.slots, self.rows)), shape=(3 * n, len(data.q)))
        self.W: Any = pad @ sp.csr_array(data.W) @ pad.T
        self.full = 9 * n * n * costs.FULL < self.W.nnz or n <= 30
        if self.full:
            self.W = self.W.toarray()
        self.q = np.asarray(pad @ data.q).reshape(n, 3)
        self.size, self.n = len(data.q), n

    def start(self) -> _State:
        """Return a point well inside the cones."""
        nq = float(np.sqrt((self.q * self.q).sum()))
        diagonal = self.W.diagonal().sum() / max(self.size, 1)
        middle = np.tile(UNIT, (self.n, 1))
        return _State(middle * nq / max(diagonal, 1e-12), middle * nq, 0.1 * nq * self.cap)

    def reaction(self, r: Array) -> Array:
        """Return r of the problem for r of the scaled cones."""
        x = np.zeros(self.size)
        x[self.rows] = (r / self.scale).ravel()[self.slots]
        return x

    def gap(self, state: _State) -> float:
        """Return the mean complementarity product u . r."""
        return float((state.u * state.r).sum()) / self.n

    def step(self, state: _State) -> bool:
        """Advance by one predictor and corrector; False if no step can be taken."""
        r, u, s = state.r, state.u, state.s
        if not min(_depth(r), _depth(u)) > 0.0:
            return False
        slip = np.sqrt((u[:, 1:] ** 2).sum(axis=1))
        L = u[:, 1:] / np.where(slip > 0.0, slip, 1.0)[:, None] * self.cap[:, None]
        G1 = (self.W @ r.ravel()).reshape(r.shape) + self.q - u
        G1[:, 0] += s
        G2 = s - slip * self.cap
        T = np.tile(np.eye(3), (self.n, 1, 1))
        T[:, 0, 1:] += L
        c = G1.copy()
        c[:, 0] -= G2
        c = np.einsum("nij,nj->ni", T, c)
        E = _arrow_solve(u, _arrow(r) @ T)
        solve = self._factor(E)
        if solve is None:
            return False

        def direction(target: Array) -> tuple[Array, Array, Array]:
            """Return the step (dr, du, ds) towards u r = target."""
            dr = solve(_arrow_solve(u, (target - _product(r, c))[:, :, None])[:, :, 0])
            du = np.einsum("nij,nj->ni", T, (self.W @ dr.ravel()).reshape(dr.shape)) + c
            return dr, du, (L * du[:, 1:]).sum(axis=1) - G2

        central = -_product(u, r)
        dr, du, ds = direction(central)
        a = min(1.0, _longest(r, dr), _longest(u, du))
        tau = self.gap(state)
        after = max(float(((u + a * du) * (r + a * dr)).sum()) / self.n, 0.0)
        sigma = 0.998 * min(1.0, after / tau) ** max(1.0, 3.0 * a * a)
        target = central + sigma * tau * UNIT
        if sigma < 0.5:
            target = target - _product(du, dr)
        dr, du, ds = direction(target)
        a = min(1.0, (0.9 + 0.09 * a) * min(_longest(r, dr), _longest(u, du)))
        if not np.isfinite(a) or a < 1e-12:
            return False
        state.r, state.u, state.s = r + a * dr, u + a * du, s + a * ds
        return bool(np.isfinite(state.r).all() and np.isfinite(state.u).all())

    def _factor(self, E: Array) -> Any:
        """Factor I + E W; return the solver for a right side (n, 3), or None if it is singular."""
        index = np.arange(3 * self.n).reshape(-1, 3)
        if self.full:
            A = (E @ self.W.reshape(self.n, 3, -1)).reshape(3 * self.n, -1)
            A[np.diag_indices(3 * self.n)] += 1.0
            lu, pivots, info = dgetrf(A)
            return None if info else lambda b: dgetrs(lu, pivots, b.ravel())[0].reshape(b.shape)
        i, j = np.repeat(index, 3, axis=1).ravel(), np.tile(index, (1, 3)).ravel()
        blocks = sp.csr_array((E.ravel(), (i, j)), shape=(3 * self.n,) * 2)
        try:
            factor = splu(sp.csc_matrix(blocks @ self.W + sp.eye_array(3 * self.n)))
        except RuntimeError:  # exactly singular
            return None
        return lambda b: factor.solve(b.ravel()).reshape(b.shape)


def _slots(start: IntArray, sizes: Array) -> tuple[IntArray, IntArray]:
    """Return the padded and the original index of every row that takes part."""
    a = np.arange(3)
    used = a < sizes[:, None]
    slots = 3 * np.arange(len(sizes))[:, None] + a
    rows = start[:-1][:, None] + a
    return slots[used], rows[used]


def _product(x: Array, y: Array) -> Array:
    """Return the Jordan products of the rows of x and y."""
    z = x[:, :1] * y + y[:, :1] * x
    z[:, 0] = (x * y).sum(axis=1)
    return z


def _arrow(x: Array) -> Array:
    A = np.zeros((len(x), 3, 3))
    A[:, 0], A[:, :, 0] = x, x
    A[:, 1, 1], A[:, 2, 2] = x[:, 0], x[:, 0]
    return A


def _arrow_solve(x: Array, B: Array) -> Array:
    """Return Arw(x)^-1 B for stacks x (n, 3) and B (n, 3, k)."""
    x0, x1, x2 = (x[:, i, None] for i in range(3))
    det = x0 * x0 - x1 * x1 - x2 * x2
    z0 = (x0 * B[:, 0] - x1 * B[:, 1] - x2 * B[:, 2]) / det
    return np.stack([z0, (B[:, 1] - x1 * z0) / x0, (B[:, 2] - x2 * z0) / x0], axis=1)


def _depth(x: Array) -> float:
    """Return the smallest determinant of the rows of x: positive inside all cones."""
    return float((x[:, 0] ** 2 - x[:, 1] ** 2 - x[:, 2] ** 2).min(initial=np.inf))


def _longest(x: Array, d: Array) -> float:
    """Return the largest t for which every x + t d stays in its Lorentz cone."""
    a = d[:, 0] ** 2 - d[:, 1] ** 2 - d[:, 2] ** 2
    b = x[:, 0] * d[:, 0] - x[:, 1] * d[:, 1] - x[:, 2] * d[:, 2]
    c = np.maximum(x[:, 0] ** 2 - x[:, 1] ** 2 - x[:, 2] ** 2, 0.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    real = b * b >= a * c
    below = np.where((b < 0.0) & real, c / np.where(b < 0.0, root - b, 1.0), np.inf)
    beyond = np.where((b >= 0.0) & (a < 0.0) & real, (-b - root) / np.where(a < 0.0, a, 1.0), np.inf)
    t = np.minimum(below, beyond)
    t = np.where(t > 0.0, t, np.inf)
    apex = np.where(d[:, 0] < 0.0, -x[:, 0] / np.where(d[:, 0] < 0.0, d[:, 0], 1.0), np.inf)
    return float(min(t.min(initial=np.inf), apex.min(initial=np.inf)))
