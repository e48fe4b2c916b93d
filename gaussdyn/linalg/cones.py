"""Euclidean projections onto the reaction cones, for many blocks at once."""

from __future__ import annotations

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


def project_rolling_cone(X: Array, mu: Array, mu_r: Array) -> Array:
    """Project the rows of X (n, 5), ordered (N, T1, T2, R1, R2), on {|x_T| <= mu x_N, |x_R| <= mu_r x_N}.

    The normal component minimises a convex piecewise quadratic: the best of its four pieces is taken.
    """
    normal, slip, spin = X[:, 0], norms(X[:, 1:3]), norms(X[:, 3:5])
    best, best_value = np.zeros_like(normal), np.full_like(normal, np.inf)
    for on_slip in (0.0, 1.0):
        for on_spin in (0.0, 1.0):
            top = normal + on_slip * mu * slip + on_spin * mu_r * spin
            y = np.maximum(top / (1.0 + on_slip * mu**2 + on_spin * mu_r**2), 0.0)
            value = (y - normal) ** 2 + np.maximum(slip - mu * y, 0) ** 2 + np.maximum(spin - mu_r * y, 0) ** 2
            better = value < best_value
            best, best_value = np.where(better, y, best), np.where(better, value, best_value)
    parts = [best[:, None], project_disc(X[:, 1:3], mu * best), project_disc(X[:, 3:5], mu_r * best)]
    return np.hstack(parts)
