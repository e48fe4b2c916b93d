"""The smallest of all reactions that leave the motion as it is.

Where contacts are redundant the motion u is unique and the reactions are not. Given a solution (u, r*), the reactions
with the same u are {r in K : W r = W r*, r . u^ = 0}: every block keeps its face of K, which is {0} where u^ lies
inside the dual cone, a ray where it slips, all of K where it rests. The canonical reaction has the smallest |r| among
them. It does not depend on the order of the contacts, nor on where the solver started.

min 1/2 |r|^2 over r in F, W r = c has the dual max c.y - 1/2 |P_F(W^T y)|^2, smooth and concave, and r = P_F(W^T y):
semismooth Newton with a line search (Qi, Sun (1993), A nonsmooth version of Newton's method). The rows of W are first
replaced by an orthonormal basis of what they span: nearly redundant contacts would else square their condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import EPS, Array
from ...errors import InputError
from ..laws.laws import BilateralCoulomb, BilateralSliding, Coulomb, Dry, Law, Rolling, Torsional
from ..problems.complementarity import ComplementarityProblem, as_blocks
from ..solution.solution import Solution
from .verify import verified

RESTS = 1e-9  # |u_k| up to this, relative to |q|, is rest
STEPS = 100
GOAL = 1e-15  # of |W r - c| relative to |c|; the answer is verified like any other
LOCAL = 1e-8  # the same below which full steps are taken: the value of the dual no longer tells them apart
STALLED = 1e-11  # the same where rounding allows no further gain
RANK = 1e-13  # singular values of W below it, relative to the largest, are rounding
SHIFT = 1e-10  # regularisation of Newton's matrix, relative to its trace: as much as its differences are wrong

Projection = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """The reactions of one block that leave u_k as it is.

    Attributes
    ----------
    rows : slice
    project : callable
        Nearest reaction of the face, shape (dim,) -> (dim,).
    """

    rows: slice
    project: Projection

    def slope(self, x: Array) -> Array:
        """Return a generalised derivative of the projection at x, shape (dim, dim), by central differences.

        Projections on cones are positively homogeneous and of second degree at most in pieces, so that differences
        over a step well above rounding serve Newton's method; on a kink they give an element between both sides.
        """
        n, step = len(x), 1e-6 * max(float(np.linalg.norm(x)), 1e-300)
        columns = [(self.project(x + step * e) - self.project(x - step * e)) / (2.0 * step) for e in np.eye(n)]
        D = np.array(columns)
        return 0.5 * (D + D.T)  # of a projection, the gradient of a convex function, it is symmetric


def canonical_reaction(solution: Solution) -> Solution:
    """Return the solution with the smallest reactions (Euclidean norm of r) among those with the same u.

    Parameters
    ----------
    solution : Solution
        SOLVED, of a block problem or an LCP. (Multipliers of quadratic programs are the smallest already.)

    Returns
    -------
    Solution
        Verified anew; the given one unchanged where r is unique, or where the smallest reaction was not found to its
        tolerance.

    Raises
    ------
    InputError
        If the solution is not SOLVED, or not of a block problem.
    """
    if not isinstance(solution, Solution) or not solution.solved or solution.r.shape != solution.u.shape:
        mend = "Solve the problem first: solution = solve(problem)."
        raise InputError("solution", getattr(solution, "status", solution), "a SOLVED block problem", mend)
    blocks = as_blocks(solution.problem)
    if not isinstance(blocks, ComplementarityProblem):
        raise InputError(
            "solution",
            type(blocks).__name__,
            "the solution of a block problem or an LCP",
            "Write canonical_reaction(solve(problem)).",
        )
    if solution.r_unique or not solution.r.any():
        return solution
    rows = _orthonormal(_columns(blocks, solution.r), _rounded(blocks, solution) - blocks.q)
    r = _least(*rows, _faces(blocks, solution))
    found = verified(solution.problem, blocks, r, solution.method, solution.iterations)
    kept = found.solved and np.linalg.norm(r) <= np.linalg.norm(solution.r) * (1.0 + 1e-9)
    return found.but(unique=solution.unique) if kept else solution


def _rounded(blocks: ComplementarityProblem, solution: Solution) -> Array:
    """Return u with exact zeros where it rests: what is left there is the error of the solution."""
    u, still = solution.u.copy(), RESTS * float(np.linalg.norm(blocks.q))
    for rows, law in _blocks(blocks):
        if np.linalg.norm(u[rows]) <= still:
            u[rows] = 0.0
        elif isinstance(law, (Coulomb, Rolling, Torsional)) and abs(u[rows.start]) <= still:
            u[rows.start] = 0.0
    return u


def _blocks(blocks: ComplementarityProblem) -> list[tuple[slice, Law]]:
    start = blocks.table.start
    return [(slice(int(start[k]), int(start[k + 1])), law) for k, law in enumerate(blocks.laws)]


def _columns(blocks: ComplementarityProblem, r: Array) -> Array:
    """Return W, with the columns that act with |r| at the signs of r."""
    W = blocks.W.toarray() if sp.issparse(blocks.W) else np.array(blocks.W)
    if blocks.W_abs is not None:
        W += (blocks.W_abs.toarray() if sp.issparse(blocks.W_abs) else blocks.W_abs) * np.sign(r)
    columns: Array = W
    return columns


def _orthonormal(W: Array, c: Array) -> tuple[Array, Array]:
    """Return rows Q and d with Q r = d where W r = c."""
    U, s, Q = np.linalg.svd(W)
    rank = int((s > RANK * s[0]).sum())
    return Q[:rank], (U[:, :rank].T @ c) / s[:rank]


def _faces(blocks: ComplementarityProblem, solution: Solution) -> list[Face]:
    still = RESTS * float(np.linalg.norm(blocks.q))
    return [Face(rows, _face(law, solution.u[rows], solution.r[rows], still)) for rows, law in _blocks(blocks)]


def _face(law: Law, u: Array, r: Array, still: float) -> Projection:
    """Return the projection on the reactions of a block that its motion u allows."""
    if isinstance(law, Dry):
        return (lambda x: r.copy()) if np.linalg.norm(u) > still else Dry(law.c_s, law.c_s, law.dim).project
    if isinstance(law, BilateralSliding):
        return lambda x: np.maximum(x * np.sign(r), 0.0) * np.sign(r)
    if not isinstance(law, (Coulomb, Rolling, Torsional)):
        return law.project if u[0] <= still else np.zeros_like
    if u[0] > still and not isinstance(law, BilateralCoulomb):
        return np.zeros_like
    if np.linalg.norm(u[1:]) > still:
        return _ray(r)
    return _resting(law, r)


def _ray(r: Array) -> Projection:
    """Return the projection on {s r : s >= 0}."""
    size = float(np.linalg.norm(r))
    e = r / size if size > 0.0 else r
    return lambda x: max(float(e @ x), 0.0) * e


def _resting(law: Coulomb | Rolling | Torsional, r: Array) -> Projection:
    """Return the projection on all reactions of a block at rest; a bilateral one keeps the side on which it bears."""
    cone: Law = Coulomb(law.mu_s, dim=law.dim) if isinstance(law, Coulomb) else law
    if not isinstance(law, BilateralCoulomb):
        return cone.project
    flip = np.ones(len(r))
    flip[0] = -1.0 if r[0] < 0.0 else 1.0
    return lambda x: flip * cone.project(flip * x)


def _least(W: Array, c: Array, faces: list[Face]) -> Array:
    """Return the smallest r of the faces with W r = c."""
    y, last = np.zeros(len(c)), np.inf
    r, value = _at(W, faces, c, y)
    for _ in range(STEPS):
        gap = c - W @ r
        left = float(np.linalg.norm(gap) / np.linalg.norm(c))
        if left <= GOAL or (left <= STALLED and left > 0.5 * last):
            break
        last = left
        D, x = np.zeros((len(r), len(r))), W.T @ y
        for face in faces:
            D[face.rows, face.rows] = face.slope(x[face.rows]) if y.any() else np.eye(len(x[face.rows]))
        A = W @ D @ W.T
        A.flat[:: len(A) + 1] += SHIFT * (np.trace(A) + EPS) / len(A)
        step, length = np.linalg.solve(A, gap), 1.0
        while length > 1e-10:
            trial, higher = _at(W, faces, c, y + length * step)
            if left <= LOCAL or higher >= value + 1e-4 * length * float(gap @ step) - 1e-15 * abs(value):
                break
            length *= 0.5
        y, r, value = y + length * step, trial, higher
    return r


def _at(W: Array, faces: list[Face], c: Array, y: Array) -> tuple[Array, float]:
    """Return r = P_F(W^T y) and the value of the dual (c.y - 1/2 |r|^2 where all faces are cones)."""
    x, value = W.T @ y, float(c @ y)
    r = np.zeros(len(x))
    for face in faces:
        r[face.rows] = face.project(x[face.rows])
    return r, value - float(r @ (x - 0.5 * r))
