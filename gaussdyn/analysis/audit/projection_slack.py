"""How far two ends of a step may be apart because the position projection leaves gaps off by `CLOSE`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import EPS, Array
from ...integrate.time_stepping.position_projection import CLOSE, ROUNDING, in_place
from ...integrate.time_stepping.projection_program import ROUNDS, SOFT
from ...mechanics.rows import Row
from ...mechanics.system import System

DEPENDENT = 1e-5  # directions that are nearer to one another than this, relative, count as one
WEAK = 1e-2  # singular values up to this, relative: what they leave open is not closed again by the passes that follow
SAME = 4.0 * EPS  # of the coordinates, relative
PUSHED = EPS / SOFT  # of the shift: what pushes of soft gaps, which are solved for with factors of that spread, leave
SMALL = 1e-4  # shift by which the coordinates are differentiated: cubes of it are rounding


def unexplained(system: System, q: Array, other: Array, places: Sequence[Sequence[Row]], L: Array) -> Array:
    """Return what is left of the difference of two ends where gaps that are off by `CLOSE` explain what they can.

    Where gaps hardly tell shifts from one another, a singular value s of their Jacobian, a pass of the projection
    knows the shift along that one to CLOSE / s only, or to what its rounds, each a share s^2 / SOFT, may move. Shifts
    that change no gap are known: nothing explains them.

    Parameters
    ----------
    system : System
    q, other : Array, shape (nq,)
        The two ends.
    places : sequence of sequences of Row
        The rows that the passes of the projection obeyed, those at its end last.
    L : Array, shape (nv, nv)
        Lower Cholesky factor of M, the metric.

    Returns
    -------
    Array
        Absolute values, shape (nq,).
    """
    off = other - q
    size = float(np.abs(q).max(initial=0.0))
    if np.abs(off).max(initial=0.0) <= SAME * size:
        return np.abs(off)
    ahead = [system.move(q, SMALL * e, 1.0) - system.move(q, -SMALL * e, 1.0) for e in np.eye(len(L))]
    N = np.column_stack(ahead) / (2.0 * SMALL)
    y = whole = L.T @ np.linalg.lstsq(N, off, rcond=None)[0]
    found = [one for rows in places if (one := _directions(rows, L, max(CLOSE, ROUNDING * size))) is not None]
    for V, far in _ways(found):
        share = np.linalg.lstsq(V * far, y, rcond=DEPENDENT)[0]  # of what each leaves open: least, for some are alike
        y_left = y - (V * far) @ np.clip(share, -1.0, 1.0)
        y = y_left if y_left @ y_left < y @ y else y
    return np.asarray(np.abs(off - N @ solve_triangular(L, whole - y, lower=True, trans="T")))


def _ways(passes: Sequence[tuple[Array, Array, Array]]) -> list[tuple[Array, Array]]:
    """Return what passes leave open, as directions of length one and how far: the weak ones of all, and the last's.

    What a pass leaves open the following ones close where their gaps tell it.
    """
    ways: list[tuple[Array, float]] = []
    for V, s, far in passes:
        strong = V[:, s > WEAK * s.max(initial=0.0)]
        ways = [(w - strong @ (strong.T @ w), d) for w, d in ways]
        ways += [(V[:, k], far[k]) for k in range(len(s)) if s[k] <= WEAK * s.max()]
    lengths = [float(np.linalg.norm(w)) for w, _ in ways]
    kept = [(w / n, d * n) for (w, d), n in zip(ways, lengths, strict=True) if n > 0.0]
    weak = [(np.column_stack([w for w, _ in kept]), np.array([d for _, d in kept]))] if kept else []
    return weak + [(V, far) for V, _, far in passes[-1:]]


def _directions(rows: Sequence[Row], L: Array, gap: float) -> tuple[Array, Array, Array] | None:
    """Return the singular directions of the gaps in the metric of L, their singular values, and how far each is open.

    That is how far it leads until gaps have changed by `gap` (m), or as far as the rounds move where these would be
    more; None without gaps.
    """
    J = np.array([row.J[0] for row in rows if in_place(row)])
    if not len(J):
        return None
    X = solve_triangular(L, J.T, lower=True).T
    length = np.linalg.norm(X, axis=1)
    scale = np.where(length > 0.0, length, 1.0)
    U, s, Vt = np.linalg.svd(X / scale[:, None], full_matrices=False)
    return Vt.T, s, np.abs(U.T) @ (gap / scale) * s / (s * s + SOFT / ROUNDS)
