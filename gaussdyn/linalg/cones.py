"""Euclidean projections onto the reaction cones, for many blocks at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array


def norms(X: Array) -> Array:
    """Return the Euclidean norm of every row of X (n, d)."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X)), dtype=np.float64)


def project_friction_cone(X: Array, mu: Array) -> Array:
    """Project the rows of X (n, 2 or 3), ordered (N, T..), on {|x_T| <= mu x_N}; mu of shape (n,)."""
    normal, tangential = X[:, 0], norms(X[:, 1:])
    polar = mu * tangential <= -normal
    surface = ~polar & (tangential > mu * normal)
    Y = np.where(polar[:, None], 0.0, X)
    y = (normal[surface] + mu[surface] * tangential[surface]) / (1.0 + mu[surface] ** 2)
    Y[surface, 0] = y
    Y[surface, 1:] *= (mu[surface] * y / tangential[surface])[:, None]
    return Y


def project_disc(X: Array, radius: Array) -> Array:
    """Project the rows of X (n, d) on the discs |x| <= radius (n,)."""
    length = norms(X)
    scale = np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)
    return X * scale[:, None]


def project_moment_cone(X: Array, discs: Sequence[tuple[slice, Array]]) -> Array:
    """Project the rows of X (n, d), N first, on {|x_D| <= mu x_N for all discs D}: their columns, and mu (n,) of each.

    The normal component n is a zero of n - x_N - sum of mu max(|x_D| - mu n, 0), which rises with n. With all parts
    taken as outside their discs n is too small; those that lie inside there do so at the zero, too, and are left out
    until none is left. (Of the pieces the one nearest to x would do as well, but near the tip of the cone rounding
    hides which it is.)
    """
    mu, s = np.array([c for _, c in discs]), np.array([norms(X[:, rows]) for rows, _ in discs])
    outside, n = np.ones(s.shape, dtype=np.bool_), X[:, 0]
    for _ in range(len(discs) + 1):
        load, weight = X[:, 0], 1.0
        for k in range(len(discs)):
            load, weight = load + outside[k] * mu[k] * s[k], weight + outside[k] * mu[k] ** 2
        n = load / weight
        outside &= (mu * n <= s) | (n <= 0.0)
    best = np.maximum(n, 0.0)
    return np.hstack([best[:, None], *(project_disc(X[:, rows], c * best) for rows, c in discs)])
