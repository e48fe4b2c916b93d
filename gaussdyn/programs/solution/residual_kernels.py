"""The audit of a block problem, compiled: one pass over the blocks of (u, r)."""

from __future__ import annotations

import numpy as np

from ..._jit import A1, I1, kernel
from ...arrays import EPS, Array, IntArray
from ...linalg.sparse_rows import ROWS, Rows, motion
from ..laws.laws import BORDER
from ..laws.projections import (
    TABLE,
    Table,
    length,
    moment_cone,
    moment_lengths,
    moment_room,
    moment_shift,
    natural,
)

OPEN, STICK, SLIP, DEGENERATE = range(4)
ACTIVE, INACTIVE = 4, 5  # for answers too rough to tell more


@kernel(f"UniTuple(float64, 2)(int64, int64, {A1}, {A1}, {A1}, float64)", borrows=True)
def room_and_motion(code: int, d: int, p: Array, u: Array, r: Array, rho: float) -> tuple[float, float]:
    """Return how far r_T is inside its disc, and how fast the block slips (as a reaction)."""
    if code == 5:
        return p[2] - length(r, 0, d), rho * length(u, 0, d)
    if code in (6, 8):
        s, t, w = moment_lengths(d, u)
        return moment_room(d, p, r), rho * max(s, t, w)
    if code in (1, 2, 7):
        return p[0] * abs(r[0]) - length(r, 1, d), rho * length(u, 1, d)
    return (-np.inf, np.inf) if code == 3 else (np.inf, 0.0)


@kernel(f"int64(int64, int64, {A1}, {A1}, {A1}, float64, float64)", borrows=True, entry=True)
def block_mode(code: int, d: int, p: Array, u: Array, r: Array, rho: float, tol: float) -> int:
    """Return the mode of one block; degenerate if it lies within tol of the border of two modes."""
    if code not in (2, 4, 5) and r[0] <= tol:
        return 0 if rho * u[0] > tol else 3
    room, motion = room_and_motion(code, d, p, u, r, rho)
    if room > tol:
        return 1
    if motion > tol:
        return 2
    return 1 if room < -tol and code in (1, 2, 5) else 3  # beyond the sliding limit at rest: mu_s holds it


@kernel(f"float64(int64, int64, {A1}, {A1}, {A1}, {A1})", borrows=True)
def dual_excess(code: int, d: int, p: Array, u: Array, x: Array, y: Array) -> float:
    """Return the squared distance of u^ from the dual cone: how far u breaks the law, whatever the reaction."""
    if code == 5:
        return 0.0
    if code in (2, 4):
        return float(u[0] * u[0])
    if code in (0, 3):
        return float(min(u[0], 0.0) ** 2)
    for a in range(d):
        x[a] = -u[a]
    if code in (6, 8):
        x[0] -= moment_shift(d, p, u)
        moment_cone(d, x, p, y)
        return length(y, 0, d) ** 2
    t = length(u, 1, d)
    x[0] -= p[0] * t if code == 1 else 0.0
    if p[0] * t <= -x[0]:
        return 0.0
    inside = t <= p[0] * x[0]
    return float(x[0] * x[0] + t * t if inside else (x[0] + p[0] * t) ** 2 / (1.0 + p[0] * p[0]))


@kernel(f"float64(int64, {A1}, {A1})", borrows=True)
def slip_angle(d: int, u: Array, r: Array) -> float:
    """Return the angle in rad between -r_T and u_T."""
    if d == 2:
        return float(np.pi) if -r[1] * u[1] < 0.0 else 0.0
    return float(abs(np.arctan2(-r[1] * u[2] + r[2] * u[1], -r[1] * u[1] - r[2] * u[2])))


@kernel(f"void(int64, int64, {A1}, {A1}, {A1}, float64, float64, {A1})", borrows=True)
def friction_figures(code: int, mode: int, p: Array, u: Array, r: Array, rho: float, tol: float, out: Array) -> None:
    """Raise cone, slip and angle (out[4:7]) to those of one block with friction."""
    d = len(u)
    e, load = min(d, 3), abs(r[0]) if code == 2 else r[0]
    limit = max(p[0], p[1]) if mode == 1 else p[0]
    out[4] = max(out[4], length(r, 1, e) - limit * load)
    if code in (6, 8):
        out[4] = max(out[4], -moment_room(d, p, r))
    if mode == 1:
        out[5] = max(out[5], length(u, 1, d))
    if mode == 2 and length(r, 1, e) > tol and rho * length(u, 1, e) > tol:
        out[6] = max(out[6], slip_angle(e, u, r))


@kernel(f"void({I1}, {A1}, {A1}, {A1}, {A1}, {A1})", borrows=True)
def squares(start: IntArray, q: Array, u: Array, r: Array, rho: Array, out: Array) -> None:
    """Put |rho q|, |q|, |r|, |u| into out[8:12]."""
    for k in range(len(rho)):
        for i in range(start[k], start[k + 1]):
            out[8] += (rho[k] * q[i]) ** 2
            out[9] += q[i] ** 2
            out[10] += r[i] ** 2
            out[11] += u[i] ** 2
    for a in range(8, 12):
        out[a] = np.sqrt(out[a])


@kernel(f"void({TABLE}, {A1}, {A1}, {A1}, {A1}, float64, {A1}, {I1})", entry=True)
def audit(
    table: Table, q: Array, u: Array, r: Array, rho: Array, border: float, out: Array, mode: IntArray
) -> None:  # fmt: skip
    """Fill out (12) and the mode of every block; a block within border |rho q| of two modes is degenerate.

    out: |F_rho|^2, |F_1|^2, |excess|^2, penetration, cone, slip, angle, r.u, |rho q|, |q|, |r|, |u|.
    """
    code, start, P = table
    work = np.zeros((10, 6))
    U, R, F = work[7], work[8], work[9]
    out[:] = 0.0
    squares(start, q, u, r, rho, out)
    tol = border * (out[8] if out[8] > 0.0 else 1.0)
    for k in range(len(code)):
        first, d, p, c = start[k], start[k + 1] - start[k], P[k], code[k]
        for a in range(d):
            U[a], R[a] = u[first + a], r[first + a]
            out[7] += U[a] * R[a]
        if c == 1 and U[0] >= 0.0 and length(R, 0, d) == 0.0:  # open: every figure is zero
            mode[k] = OPEN if rho[k] * U[0] > tol else DEGENERATE
            continue
        natural(c, d, p, U, R, rho[k], F, work)
        out[0] += length(F, 0, d) ** 2
        natural(c, d, p, U, R, 1.0, F, work)
        out[1] += length(F, 0, d) ** 2
        out[2] += dual_excess(c, d, p, U, work[6], F)
        mode[k] = block_mode(c, d, p, U, R, rho[k], tol)
        if c != 5:
            out[3] = max(out[3], abs(U[0]) if c in (2, 4) else -U[0])
        if c in (1, 2, 6, 7, 8):
            friction_figures(c, mode[k], p, U[:d], R[:d], rho[k], tol, out)


@kernel(f"boolean({ROWS}, {TABLE}, {A1}, {A1}, {A1}, {A1}, {A1}, {I1})", entry=True)
def examined(
    rows: Rows, table: Table, q: Array, r: Array, rho: Array, u: Array, figures: Array, mode: IntArray
) -> bool:
    """Add W r to u; put the residuals of r (10, in the order of `Residuals`) into figures, the blocks' modes into mode.

    Returns whether |r| is finite.
    """
    out = np.empty(12)
    motion(rows, u, r, u)
    audit(table, q, u, r, rho, BORDER, out, mode)
    load, nq, nr, nu = out[8], out[9], out[10], out[11]
    absolute = not load > EPS  # where that is rounding
    size, plain, largest = nq if nq > EPS else 1.0, np.sqrt(out[1]), max(nq, nr, nu)
    figures[0] = np.sqrt(out[0]) / (1.0 if absolute else load)
    figures[1] = 0.0 if absolute else EPS * nr / load
    figures[2] = plain / size
    figures[3] = plain / (largest if largest > EPS else 1.0)
    figures[4] = np.sqrt(out[2]) / size
    figures[5] = out[3] / size
    figures[6] = out[4] / nr if nr > 0.0 else 0.0
    figures[7] = out[5] / size
    figures[8] = out[6]
    figures[9] = out[7] / (nr * nq) if nr * nq > 0.0 else 0.0
    return bool(np.isfinite(nr))
