"""Coulomb's law at the contacts of free rigid bodies, compiled: scale, residual, and its linearisation by modes.

mu = 0 stands for a contact without friction, mu < 0 for a gap that is held: u_N = 0 with a force of either sign.
"""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, A3, kernel
from ...arrays import Array
from .body_problem import BodyWork, Contacts

OPEN, STICK, SLIP = range(3)


@kernel("float64(float64, float64, float64, float64, float64, float64)", borrows=True)
def largest_eigenvalue(a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    """Return the largest eigenvalue of the symmetric matrix [[a, d, e], [d, b, f], [e, f, c]] (Smith 1961)."""
    m = (a + b + c) / 3.0
    x, y, z = a - m, b - m, c - m
    off = d * d + e * e + f * f
    p = np.sqrt((x * x + y * y + z * z + 2.0 * off) / 6.0)
    if not p > 0.0:
        return m
    det = x * (y * z - f * f) - d * (d * z - f * e) + e * (d * f - y * e)
    r = min(max(det / (2.0 * p * p * p), -1.0), 1.0)
    return float(m + 2.0 * p * np.cos(np.arccos(r) / 3.0))


@kernel(f"void(Contacts, {A1}, {A3}, {A1})", borrows=True)
def step_sizes(contacts: Contacts, mu: Array, inverse: Array, rho: Array) -> None:
    """Put rho = 1 / lambda_max(W_kk) of every contact (1 / W_NN without friction); `inverse` as in `block_multiply`."""
    pair, first, _slot, R, ra, rb = contacts
    for k in range(len(first) - 1):
        for c in range(first[k], first[k + 1]):
            xx = yy = zz = xy = xz = yz = 0.0
            for side in range(2):
                n = pair[k, 1 - side]
                if n < 0:
                    continue
                r, A = (rb[c], inverse[n]) if side == 0 else (ra[c], inverse[n])
                x, y, z, m = r[0], r[1], r[2], A[3, 0]
                # [r]x^T A [r]x with the rows of A [r]x written out
                _p0, p1, p2 = A[0, 1] * z - A[0, 2] * y, A[0, 2] * x - A[0, 0] * z, A[0, 0] * y - A[0, 1] * x
                q0, q1, q2 = A[1, 1] * z - A[1, 2] * y, A[1, 2] * x - A[1, 0] * z, A[1, 0] * y - A[1, 1] * x
                s0, s1, s2 = A[2, 1] * z - A[2, 2] * y, A[2, 2] * x - A[2, 0] * z, A[2, 0] * y - A[2, 1] * x
                xx += m + z * q0 - y * s0
                yy += m + x * s1 - z * p1
                zz += m + y * p2 - x * q2
                xy += z * q1 - y * s1
                xz += z * q2 - y * s2
                yz += x * s2 - z * p2
            if mu[c] > 0.0:
                rho[c] = 1.0 / largest_eigenvalue(xx, yy, zz, xy, xz, yz)
            else:
                x, y, z = R[c, 0, 0], R[c, 0, 1], R[c, 0, 2]
                w = x * (x * xx + 2.0 * (y * xy + z * xz)) + y * (y * yy + 2.0 * z * yz) + z * z * zz
                rho[c] = 1.0 / w


@kernel(f"float64(int64, {A1}, {A1}, {A2})", borrows=True)
def weighted_length(n: int, mu: Array, rho: Array, u: Array) -> float:
    """Return |rho u| over n contacts; only normal components count without friction."""
    s = 0.0
    for c in range(n):
        t = u[c, 0] * u[c, 0]
        if mu[c] > 0.0:
            t += u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2]
        s += rho[c] * rho[c] * t
    return float(np.sqrt(s))


@kernel(f"float64(int64, {A1}, {A1}, {A2}, {A2})", borrows=True)
def natural_length(n: int, mu: Array, rho: Array, p: Array, u: Array) -> float:
    """Return |p - P(p - rho (u + mu |u_T| N))| over n contacts, P the projection on the friction cones."""
    total = 0.0
    for c in range(n):
        s, m = rho[c], mu[c]
        x = p[c, 0] - s * u[c, 0]
        if m <= 0.0:
            d = p[c, 0] - (x if m < 0.0 else max(x, 0.0))
            total += d * d
            continue
        x -= s * m * np.sqrt(u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2])
        y, z = p[c, 1] - s * u[c, 1], p[c, 2] - s * u[c, 2]
        t = np.sqrt(y * y + z * z)
        if m * t <= -x:
            x = y = z = 0.0
        elif t > m * x:
            x = (x + m * t) / (1.0 + m * m)
            y *= m * x / t
            z *= m * x / t
        x, y, z = p[c, 0] - x, p[c, 1] - y, p[c, 2] - z
        total += x * x + y * y + z * z
    return float(np.sqrt(total))


@kernel(f"int64(int64, {A1}, {A1}, float64, {A2}, {A2}, BodyWork, boolean)", borrows=True)
def linearise_modes(
    n: int, mu: Array, rho: Array, alpha: float, p: Array, u: Array, work: BodyWork, anew: bool
) -> int:  # fmt: skip
    """Linearise p = P(p - rho u) at the modes of Alart and Curnier to dp = e - E J dv; return how many modes changed.

    Rows that push ask for J dv + (alpha / rho) dp = -u: the proximal term makes dependent rows harmless. Unless `anew`
    contacts keep their E while their mode stays: what is factorised still fits, and e = 0 where the law holds.
    """
    E, e, mode, changed = work.E, work.e, work.mode, 0
    for c in range(n):
        s, m, k = rho[c], mu[c], rho[c] / alpha
        x = p[c, 0] - s * u[c, 0]
        y, z = p[c, 1] - s * u[c, 1], p[c, 2] - s * u[c, 2]
        t = np.sqrt(y * y + z * z)
        new = OPEN
        if x > 0.0 or m < 0.0:
            new = STICK if m <= 0.0 or t <= m * x else SLIP
        write = anew or new != mode[c]
        for i in range(3):
            e[c, i] = -p[c, i]
        if write:
            for i in range(3):
                for j in range(3):
                    E[c, i, j] = 0.0
            E[c, 0, 0] = k if new != OPEN else 0.0
        if new != OPEN:
            e[c, 0] = -k * u[c, 0]
        if new == STICK and m > 0.0:
            e[c, 1], e[c, 2] = -k * u[c, 1], -k * u[c, 2]
            if write:
                E[c, 1, 1], E[c, 2, 2] = k, k
        elif new == SLIP and m > 0.0:
            y, z, g = y / t, z / t, m * x / t
            along, across = p[c, 1] * y + p[c, 2] * z - m * p[c, 0], p[c, 2] * y - p[c, 1] * z
            turn = 1.0 / max(1.0 - g, alpha)
            f, h = g * s * turn, -across * turn
            w = m * e[c, 0] - along
            e[c, 1], e[c, 2] = y * w - z * h, z * w + y * h
            if write:
                E[c, 1, 0], E[c, 2, 0] = m * y * k, m * z * k
                E[c, 1, 1], E[c, 1, 2] = f * z * z, -f * y * z
                E[c, 2, 1], E[c, 2, 2] = -f * y * z, f * y * y
        changed += new != mode[c]
        mode[c] = new
    return changed
