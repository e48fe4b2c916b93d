"""One pass of the position projection: the least shift that removes gaps, the same whatever their order.

    minimise 1/2 |y|^2    subject to   u_k = X_k y + w_k = 0 where gap k is held or a joint,   u_k >= 0 elsewhere

rows X_k of length one. The method of multipliers: each gap pushes like a soft spring, p = centre - u / SOFT, where that
is positive or the gap is held; the centre moves to p until no gap changes any more. Each round is a strictly convex and
piecewise quadratic problem, so that y is unique where gaps depend on one another too, and gaps that contradict one
another end where least squares leave them. `position_projection` does the same with the rows of free bodies.

Source: Rockafellar (1976), Augmented Lagrangians and applications of the proximal point algorithm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ...arrays import Array

SOFT = 1e-7  # compliance of a gap that pushes, relative to the local one; taken out again round by round
ROUNDS = 20
MOST_FACTORS = 20  # of one round
Mask = NDArray[np.bool_]


def push_apart(X: Array, w: Array, held: Mask, enough: float | Array) -> tuple[Array, Array]:
    """Return the shift y = X^T p, shape (n,), that removes the gaps, and its pushes p, shape (m,).

    Parameters
    ----------
    X : Array, shape (m, n)
        Rows of length one (or zero).
    w : Array, shape (m,)
        Gaps, less those at which they are held, in the lengths of the rows.
    held : Array of bool, shape (m,)
    enough : float or Array, shape (m,)
        Change of a gap in a round at which no more are needed.
    """
    W, p, y, u = X @ X.T, np.zeros(len(w)), np.zeros(X.shape[1]), w
    for _ in range(ROUNDS):
        before = u
        p = _squeezed(X, W, w, held, p, y)
        y = X.T @ p
        u = X @ y + w
        if (np.abs(u - before) <= enough).all():
            break
    return np.asarray(y), p


def _squeezed(X: Array, W: Array, w: Array, held: Mask, centre: Array, y: Array) -> Array:
    """Return the pushes p at the minimum of 1/2 |y|^2 + SOFT / 2 |p|^2, by Newton's method with exact line search."""
    u = X @ y + w
    push = centre - u / SOFT
    acts = held | (push > 0.0)
    for _ in range(MOST_FACTORS):
        k = np.flatnonzero(acts)
        factor = cho_factor(W[np.ix_(k, k)] + SOFT * np.eye(len(k)), lower=True, check_finite=False)
        p = np.zeros(len(w))
        p[k] = cho_solve(factor, SOFT * centre[k] - w[k], check_finite=False)
        way = X.T @ p - y
        share = _share_to_go(y, way, centre - u / SOFT, X @ way / SOFT, held)
        y = y + share * way
        u = X @ y + w
        push = centre - u / SOFT
        now = held | (push > 0.0)
        if share == 1.0 and (now == acts).all():
            return p
        acts = now
    return np.where(acts, push, 0.0)


def _share_to_go(y: Array, way: Array, push: Array, falls: Array, held: Mask) -> float:
    """Return how far to go: all of it, or to where the derivative along the way vanishes (it only grows)."""
    first, second, gain = float(y @ way), float(way @ way), SOFT * falls

    def slope(t: float) -> float:
        """Return the derivative along the way, at a share `t` of it."""
        p = push - t * falls
        return first + t * second - float(gain[held | (p > 0.0)] @ p[held | (p > 0.0)])

    begin = slope(0.0)
    if not begin < 0.0 or slope(1.0) <= -1e-6 * begin:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        t = 0.5 * (low + high)
        low, high = (low, t) if slope(t) > 0.0 else (t, high)
    return high
