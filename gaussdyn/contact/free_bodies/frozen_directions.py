"""Directions with the modes of contacts held, exact where factors have lost most of their digits.

Below proximal terms of some 1e-7 what sticks is stiffer by as much than bodies are heavy, and factors without pivots
across blocks leave of a soft direction little that is right. What they make of a misfit is looked at exactly, by the
motion that the impulses cause, and a few of their directions are combined to what takes the misfit away best: no
factorisation more. Source: Saad, Schultz (1986), GMRES, preconditioned by the factors at hand.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, I1, kernel, record
from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering
from .body_problem import BodyProblem, BodyWork
from .coulomb import OPEN, SLIP
from .newton import newton_direction
from .structure import add_wrench, block_multiply, relative_motion


@record("float64", "int64", "float64", by_value=True)
class Exactness(NamedTuple):
    """How exact directions are.

    Attributes
    ----------
    left : float
        Share of the misfit that may be left.
    most : int
        Directions that are combined at most.
    fine : float
        The finest term of factors.
    """

    left: float
    most: int
    fine: float


@kernel(f"void(BodyProblem, Ordering, BodyWork, float64, {A2}, {A2})", borrows=True)
def by_factors(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, alpha: float, r: Array, dx: Array
) -> None:  # fmt: skip
    """Put what the factors at hand take for the change of x that changes rho times the misfit by r."""
    E, e, zero = work.E, work.e, work.F
    n, rho = problem.contacts.first[-1], problem.rho
    for c in range(n):
        for k in range(3):
            e[c, k] = (E[c, k, 0] * r[c, 0] + E[c, k, 1] * r[c, 1] + E[c, k, 2] * r[c, 2]) / rho[c]
    for i in range(len(zero)):
        for k in range(6):
            zero[i, k] = 0.0
    newton_direction(problem, ordering, work, zero)
    for c in range(n):
        for k in range(3):
            dx[c, k] = (1.0 - alpha) * work.dp[c, k] + r[c, k] - rho[c] * work.du[c, k]


@kernel(f"void(BodyProblem, BodyWork, float64, {A2}, {I1}, {A2}, {A2})", borrows=True)
def change_of_misfit(
    problem: BodyProblem, work: BodyWork, alpha: float, x: Array, mode: IntArray, dx: Array, change: Array
) -> None:  # fmt: skip
    """Put the change of rho times the misfit by that of x, the modes held; see `frozen_modes`."""
    dp, du, dv, F = work.dp, work.du, work.dv, work.F
    n, mu, rho = problem.contacts.first[-1], problem.mu, problem.rho
    for c in range(n):
        for k in range(3):
            dp[c, k] = dx[c, k] if mode[c] != OPEN else 0.0
        if mode[c] == SLIP:
            t = max(math.hypot(x[c, 1], x[c, 2]), 1e-300)
            y, z, m = x[c, 1] / t, x[c, 2] / t, mu[c]
            along, across = m * dx[c, 0], m * x[c, 0] / t * (y * dx[c, 2] - z * dx[c, 1])
            dp[c, 1], dp[c, 2] = along * y - across * z, along * z + across * y
    for i in range(len(dv)):
        for k in range(6):
            dv[i, k] = 0.0
    add_wrench(problem.contacts, dp, dv)
    block_multiply(problem.inverse, dv, F)
    relative_motion(problem.contacts, F, du)
    for c in range(n):
        for k in range(3):
            change[c, k] = rho[c] * du[c, k] - (1.0 - alpha) * dp[c, k] + dx[c, k]


@kernel(f"float64(int64, {A2}, {A2})", borrows=True)
def product(n: int, a: Array, b: Array) -> float:
    """Return a . b."""
    total = 0.0
    for c in range(n):
        total += a[c, 0] * b[c, 0] + a[c, 1] * b[c, 1] + a[c, 2] * b[c, 2]
    return total


@kernel(f"void(int64, {A2}, float64, {A2})", borrows=True)
def add_times(n: int, a: Array, s: float, b: Array) -> None:
    """Put b += s a."""
    for c in range(n):
        for k in range(3):
            b[c, k] += s * a[c, k]


@kernel(f"float64(int64, {A3}, int64, {A2})", borrows=True)
def orthogonalise(n: int, basis: Array, j: int, H: Array) -> float:
    """Take from basis[j + 1] what lies along those before, put how much in H[:, j]; return the length that is left."""
    for i in range(j + 1):
        H[i, j] = product(n, basis[i], basis[j + 1])
        add_times(n, basis[i], -H[i, j], basis[j + 1])
    return math.sqrt(product(n, basis[j + 1], basis[j + 1]))


@kernel(f"void(int64, {A2}, {A2}, float64, {A1})", borrows=True)
def rotate(j: int, H: Array, turns: Array, below: float, left: Array) -> None:
    """Make column j of H, `below` under its diagonal, one of a triangle, by plane rotations; the right side follows."""
    for i in range(j):
        a, b = H[i, j], H[i + 1, j]
        H[i, j], H[i + 1, j] = turns[i, 0] * a + turns[i, 1] * b, turns[i, 0] * b - turns[i, 1] * a
    size = math.hypot(H[j, j], below)
    turns[j, 0], turns[j, 1] = (H[j, j] / size, below / size) if size > 0.0 else (1.0, 0.0)
    H[j, j] = size
    left[j], left[j + 1] = turns[j, 0] * left[j], -turns[j, 1] * left[j]


@kernel(f"void(BodyProblem, Ordering, BodyWork, Exactness, float64, {A2}, {I1}, {A2})")
def take_away(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, exact: Exactness, alpha: float, x: Array, mode: IntArray,
    dx: Array,
) -> None:  # fmt: skip
    """Put the change of x that takes a misfit away in its place, with the modes held and the factors of this alpha."""
    n, rho, done, most = problem.contacts.first[-1], problem.rho, 0, exact.most
    basis, ways = np.empty((most + 1, n, 3)), np.empty((most, n, 3))
    H, turns, left, y = np.zeros((most, most)), np.zeros((most, 2)), np.zeros(most + 1), np.zeros(most)
    for c in range(n):
        for k in range(3):
            dx[c, k], basis[0, c, k] = 0.0, -rho[c] * dx[c, k]
    size = below = math.sqrt(product(n, basis[0], basis[0]))
    left[0] = size
    while done < most and below > 0.0 and abs(left[done]) > exact.left * size:
        for c in range(n):
            for k in range(3):
                basis[done, c, k] /= below
        by_factors(problem, ordering, work, max(alpha, exact.fine), basis[done], ways[done])
        change_of_misfit(problem, work, alpha, x, mode, ways[done], basis[done + 1])
        below = orthogonalise(n, basis, done, H)
        rotate(done, H, turns, below, left)
        done += 1
    for j in range(done - 1, -1, -1):
        y[j] = left[j]
        for i in range(j + 1, done):
            y[j] -= H[j, i] * y[i]
        y[j] = y[j] / H[j, j] if H[j, j] > 0.0 else 0.0
        add_times(n, ways[j], y[j], dx)
