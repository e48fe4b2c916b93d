"""The last digits: guess the modes from a good reaction and solve their equations exactly."""

from __future__ import annotations

from ...arrays import Array
from .newton.newton_steps import inner_newton
from .scaled import Scaled

ALPHAS = (1e-8, 1e-5)  # proximal terms tried in turn


def polish(data: Scaled, r: Array, tol: float) -> Array:
    """Return the best scaled reaction that a few proximal Newton steps from r reach; r itself if none is better."""
    best, best_r = data.residual(r), r
    for alpha in ALPHAS:
        for _ in range(2):  # each pass moves the proximal centre
            x = best_r.copy()
            inner_newton(data, alpha, best_r, x, 0.01 * tol * data.weight, 8)
            E = data.residual(x)
            if not best > E:
                break
            best, best_r = E, x
        if best <= 0.3 * tol:
            break
    return best_r
