"""Sweeps over the contacts of free bodies, one by one: little for each, so a good start where many modes must change.

A sweep costs about a tenth of a factorisation in a pile. It converges wherever the contacts are not in long chains,
slowly, and never jumps: Newton's method needs the modes nearly right and ends the work. Source: Jean (1999), The
non-smooth contact dynamics method.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, A3, kernel
from ...arrays import Array
from .body_problem import BodyProblem


@kernel(f"void({A2}, {A3}, int64, float64, UniTuple(float64, 3), {A1})", borrows=True)
def push_body(
    v: Array, inverse: Array, i: int, side: float, impulse: tuple[float, float, float], arm: Array
) -> None:  # fmt: skip
    """Add the change of velocity of body i by `side` times an impulse."""
    m, (x, y, z), a, b, c = side * inverse[i, 3, 0], impulse, arm[0], arm[1], arm[2]
    v[i, 0] += m * x
    v[i, 1] += m * y
    v[i, 2] += m * z
    s, t, r = side * (b * z - c * y), side * (c * x - a * z), side * (a * y - b * x)
    for k in range(3):
        v[i, 3 + k] += inverse[i, k, 0] * s + inverse[i, k, 1] * t + inverse[i, k, 2] * r


@kernel(f"void(BodyProblem, {A2}, {A2}, int64)", borrows=True)
def gauss_seidel(problem: BodyProblem, p: Array, v: Array, sweeps: int) -> None:
    """Improve p by sweeps, forwards and backwards in turn: p_c = P(p_c - rho u_c), the velocity v follows.

    P projects onto the disc of radius mu p_N (Alart and Curnier); v must belong to p.
    """
    (pair, first, _slot, R, ra, rb), _M, inverse, _h, w, mu, rho = problem
    pairs = len(first) - 1
    for sweep in range(sweeps):
        for step in range(pairs):
            k = step if sweep % 2 == 0 else pairs - 1 - step
            a, b = pair[k, 0], pair[k, 1]
            for c in range(first[k], first[k + 1]):
                x = v[b, 0] + v[b, 4] * rb[c, 2] - v[b, 5] * rb[c, 1]
                y = v[b, 1] + v[b, 5] * rb[c, 0] - v[b, 3] * rb[c, 2]
                z = v[b, 2] + v[b, 3] * rb[c, 1] - v[b, 4] * rb[c, 0]
                if a >= 0:
                    x -= v[a, 0] + v[a, 4] * ra[c, 2] - v[a, 5] * ra[c, 1]
                    y -= v[a, 1] + v[a, 5] * ra[c, 0] - v[a, 3] * ra[c, 2]
                    z -= v[a, 2] + v[a, 3] * ra[c, 1] - v[a, 4] * ra[c, 0]
                s = rho[c]
                n = max(p[c, 0] - s * (R[c, 0, 0] * x + R[c, 0, 1] * y + R[c, 0, 2] * z + w[c, 0]), 0.0)
                if n == 0.0 and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0:  # stays open, as most do
                    continue
                t = p[c, 1] - s * (R[c, 1, 0] * x + R[c, 1, 1] * y + R[c, 1, 2] * z + w[c, 1])
                q = p[c, 2] - s * (R[c, 2, 0] * x + R[c, 2, 1] * y + R[c, 2, 2] * z + w[c, 2])
                size, radius = np.sqrt(t * t + q * q), mu[c] * n
                if size > radius:
                    t *= radius / size
                    q *= radius / size
                d, e, f = n - p[c, 0], t - p[c, 1], q - p[c, 2]
                p[c, 0], p[c, 1], p[c, 2] = n, t, q
                x = R[c, 0, 0] * d + R[c, 1, 0] * e + R[c, 2, 0] * f
                y = R[c, 0, 1] * d + R[c, 1, 1] * e + R[c, 2, 1] * f
                z = R[c, 0, 2] * d + R[c, 1, 2] * e + R[c, 2, 2] * f
                push_body(v, inverse, b, 1.0, (x, y, z), rb[c])
                if a >= 0:
                    push_body(v, inverse, a, -1.0, (x, y, z), ra[c])
