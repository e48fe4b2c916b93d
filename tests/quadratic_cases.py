"""Random quadratic programs, feasible or empty by construction."""

from __future__ import annotations

import numpy as np

from gaussdyn.arrays import Array
from gaussdyn.programs.problems.quadratic import QuadraticProgram


def mass_matrix(rng: np.random.Generator, n: int, cond: float) -> Array:
    """Return a symmetric positive definite matrix with eigenvalues spread over [1, cond] on random axes."""
    eigenvalues = cond ** rng.uniform(0.0, 1.0, n)
    eigenvalues[0], eigenvalues[-1] = cond, 1.0
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = (Q * eigenvalues) @ Q.T
    return (H + H.T) / 2


def rows_of(rng: np.random.Generator, n: int, count: int, dependent: bool) -> Array:
    """Return random rows; with `dependent` the later half are multiples or sums of the earlier half."""
    N = rng.normal(size=(count, n))
    if dependent and count > 1:
        half = (count + 1) // 2
        for j in range(half, count):
            first, second = rng.integers(0, half, 2)
            N[j] = rng.uniform(0.5, 2.0) * N[first] + rng.integers(0, 2) * N[second]
        N = N[rng.permutation(count)]
    return N


def random_program(
    rng: np.random.Generator,
    *,
    n: int | None = None,
    rows: int | None = None,
    dependent: bool | None = None,
    cond: float | None = None,
) -> QuadraticProgram:
    """Return a feasible program with n <= 40, rows <= 60, cond(H) <= 1e6; half of them with dependent rows.

    The load is h = H x_free of a random free motion, and a random admissible point touches about half of the rows.
    """
    n = int(rng.integers(1, 41)) if n is None else n
    rows = int(rng.integers(0, 61)) if rows is None else rows
    dependent = bool(rng.random() < 0.5) if dependent is None else dependent
    H = mass_matrix(rng, n, 10.0 ** rng.uniform(0.0, 6.0) if cond is None else cond)
    m = int(rng.integers(0, min(n, rows) // 2 + 1))
    N, inside = rows_of(rng, n, rows, dependent), rng.normal(size=n)
    slack = np.where(rng.random(rows) < 0.5, 0.0, rng.exponential(size=rows))
    slack[:m] = 0.0
    rhs = N @ inside - slack
    g = -H @ (3.0 * rng.normal(size=n))
    return QuadraticProgram(H=H, g=g, A=N[:m], b=rhs[:m], C=N[m:], d=rhs[m:])


def empty_program(rng: np.random.Generator, *, gap: float = 1.0) -> QuadraticProgram:
    """Return a program whose rows contradict each other exactly: small integers, one row the negative sum of others."""
    n, rows = int(rng.integers(1, 9)), int(rng.integers(2, 15))
    used = int(rng.integers(1, min(rows, 6)))
    m = int(rng.integers(0, rows))
    N, w = rng.integers(-4, 5, (rows, n)).astype(float), rng.integers(1, 4, used).astype(float)
    order = rng.permutation(rows)
    others, last = order[:used], order[used]
    N[last] = -(w @ N[others])
    rhs = np.where(np.arange(rows) < m, 0.0, -rng.integers(0, 5, rows).astype(float))
    rhs[last] = gap - w @ rhs[others]
    H, g = mass_matrix(rng, n, 100.0), rng.normal(size=n)
    return QuadraticProgram(H=H, g=g, A=N[:m], b=rhs[:m], C=N[m:], d=rhs[m:])


def force(program: QuadraticProgram, y: Array, z: Array) -> Array:
    """Return the generalised reaction A^T y + C^T z."""
    return program.A.T @ y + program.C.T @ z


def relative(a: Array, b: Array, scale: float = 0.0) -> float:
    """Return |a - b| over the larger of |b| and `scale` (1 if both vanish)."""
    size = max(float(np.linalg.norm(b)), scale)
    return float(np.linalg.norm(a - b)) / (size if size > 0 else 1.0)
