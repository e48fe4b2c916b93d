"""Inertias that no body has: what is wrong with one, and the nearest that a body can have.

The second moments of a mass, d_i = (J_1 + J_2 + J_3) / 2 - J_i along the principal axes, are sums of m x^2: none is
negative. So no moment of inertia is larger than the sum of the other two.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array

SLACK = 1e-3  # of the largest moment: files have few digits
LEAST_MASS, LEAST_INERTIA = 1e-3, 1e-6  # kg, kg m^2: what mended links without any get


def impossible(J: Array) -> str:
    """Return why no body has the inertia J, shape (3, 3), about its mass centre; empty if one has."""
    a, b, c = np.linalg.eigvalsh(J).tolist()
    slack = SLACK * max(abs(a), abs(c))
    if a < -slack:
        return f"moments {a:.4g}, {b:.4g}, {c:.4g}, of which one is negative"
    if c > a + b + slack:
        return f"moments {a:.4g}, {b:.4g}, {c:.4g}, of which the largest exceeds the sum of the others"
    return ""


def mended(J: Array) -> Array:
    """Return the inertia about the same axes whose second moments are those of J, or zero where they are negative."""
    moments, axes = np.linalg.eigh(J)
    second = np.maximum(0.5 * moments.sum() - moments, 0.0)
    found: Array = (axes * (second.sum() - second)) @ axes.T
    return 0.5 * (found + found.T)
