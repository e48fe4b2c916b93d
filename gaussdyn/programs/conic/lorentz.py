"""Compiled algebra of Lorentz cones {x : x_0 >= |x_1 ..|}, many side by side, and Nesterov and Todd's scaling.

Cone k has the entries start[k] .. start[k + 1]; one of a single entry is a half line. For x and z inside there is one
symmetric W that leaves the cone in place with W z = W^-1 x = lam, block by block W = beta (2 v v^T - J).
Source: Vandenberghe (2010), The CVXOPT linear and quadratic cone program solvers, sections 2 and 4.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, I1, kernel
from ...arrays import Array, IntArray


@kernel(f"float64({A1}, int64, int64)")
def height(x: Array, a: int, b: int) -> float:
    """Return x_0 - |x_1 ..| of the entries a .. b: positive inside the cone."""
    total = 0.0
    for i in range(a + 1, b):
        total += x[i] * x[i]
    return float(x[a] - np.sqrt(total))


@kernel(f"float64({A1}, int64, int64)")
def size(x: Array, a: int, b: int) -> float:
    """Return the root of x_0^2 - |x_1 ..|^2, of an x inside, without cancellation."""
    inner = height(x, a, b)
    return float(np.sqrt(max(inner, 0.0) * (2.0 * x[a] - inner)))


@kernel(f"void({A1}, {A1}, {I1}, {A1}, boolean, {A1})")
def scaled(beta: Array, v: Array, start: IntArray, u: Array, inverse: bool, out: Array) -> None:
    """Write W u, or W^-1 u = (2 J v v^T J - J) u / beta."""
    for k in range(len(start) - 1):
        a, b = start[k], start[k + 1]
        sign = -1.0 if inverse else 1.0
        inner = v[a] * u[a]
        for i in range(a + 1, b):
            inner += sign * v[i] * u[i]
        factor = 1.0 / beta[k] if inverse else beta[k]
        out[a] = factor * (2.0 * v[a] * inner - u[a])
        for i in range(a + 1, b):
            out[i] = factor * (2.0 * sign * v[i] * inner + u[i])


@kernel(f"void({A1}, {A1}, {I1}, {A1}, {A1}, {A1})")
def scaling(x: Array, z: Array, start: IntArray, beta: Array, v: Array, lam: Array) -> None:
    """Write W of x and z, as beta (one per cone) and v (entries), and lam = W z."""
    for k in range(len(start) - 1):
        a, b = start[k], start[k + 1]
        sx, sz = max(size(x, a, b), 1e-300), max(size(z, a, b), 1e-300)
        inner = 0.0
        for i in range(a, b):
            inner += (x[i] / sx) * (z[i] / sz)
        gamma = np.sqrt(0.5 * (1.0 + inner))
        for i in range(a, b):
            v[i] = (x[i] / sx + (z[i] if i == a else -z[i]) / sz) / (2.0 * gamma)
        v[a] += 1.0
        norm = np.sqrt(2.0 * v[a])
        for i in range(a, b):
            v[i] /= norm
        beta[k] = np.sqrt(sx / sz)
        root, below = np.sqrt(sx) * np.sqrt(sz), x[a] / sx + z[a] / sz + 2.0 * gamma
        for i in range(a + 1, b):  # W z without its cancellation
            lam[i] = root * ((gamma + z[a] / sz) * (x[i] / sx) + (gamma + x[a] / sx) * (z[i] / sz)) / below
        lam[a] = root * gamma


@kernel(f"void({A1}, {A1}, {I1}, {A1})")
def product(x: Array, y: Array, start: IntArray, out: Array) -> None:
    """Write the Jordan product: (x . y, x_0 y_1 + y_0 x_1)."""
    for k in range(len(start) - 1):
        a, b = start[k], start[k + 1]
        inner = 0.0
        for i in range(a, b):
            inner += x[i] * y[i]
        for i in range(a + 1, b):
            out[i] = x[a] * y[i] + y[a] * x[i]
        out[a] = inner


@kernel(f"void({A1}, {A1}, {I1}, {A1})")
def quotient(lam: Array, d: Array, start: IntArray, out: Array) -> None:
    """Write the u whose Jordan product with lam, which is inside, is d."""
    for k in range(len(start) - 1):
        a, b = start[k], start[k + 1]
        root = size(lam, a, b)
        inner = lam[a] * d[a]
        for i in range(a + 1, b):
            inner -= lam[i] * d[i]
        head = inner / (root * root)
        for i in range(a + 1, b):
            out[i] = (d[i] - head * lam[i]) / lam[a]
        out[a] = head


@kernel(f"float64({A1}, {A1}, {I1})")
def longest(lam: Array, d: Array, start: IntArray) -> float:
    """Return the largest step, at most 1e10, that keeps lam + step d in all cones."""
    step = 1e10
    for k in range(len(start) - 1):
        a, b = start[k], start[k + 1]
        root = max(size(lam, a, b), 1e-300)
        inner = lam[a] * d[a]
        for i in range(a + 1, b):
            inner -= lam[i] * d[i]
        head = inner / root  # d in the frame where lam is root times the axis
        total, shift = 0.0, (head + d[a]) / (lam[a] / root + 1.0)
        for i in range(a + 1, b):
            tail = d[i] - shift * lam[i] / root
            total += tail * tail
        grow = np.sqrt(total) - head
        if grow > 0.0:
            step = min(step, root / grow)
    return float(step)
