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

    The normal component n is a zero of n - x_N - mu max(|x_T| - mu n, 0) - mu_r max(|x_R| - mu_r n, 0), which rises
    with n: both parts lie outside their discs up to the first of |x_T| / mu and |x_R| / mu_r, one up to the second.
    (Of the four pieces the one nearest to x would do as well, but near the tip of the cone rounding hides which it is.)
    """
    normal, slip, spin = X[:, 0], norms(X[:, 1:3]), norms(X[:, 3:5])
    both = (normal + mu * slip + mu_r * spin) / (1.0 + mu**2 + mu_r**2)
    one_inside = (both > 0.0) & ((mu * both > slip) | (mu_r * both > spin))
    slip_first = np.where(mu * mu_r == 0.0, mu * both - slip > mu_r * both - spin, slip * mu_r < spin * mu)
    one = np.where(slip_first, (normal + mu_r * spin) / (1.0 + mu_r**2), (normal + mu * slip) / (1.0 + mu**2))
    all_inside = np.where(slip_first, mu_r * one > spin, mu * one > slip)
    best = np.maximum(np.where(one_inside, np.where(all_inside, normal, one), both), 0.0)
    parts = [best[:, None], project_disc(X[:, 1:3], mu * best), project_disc(X[:, 3:5], mu_r * best)]
    return np.hstack(parts)
