"""Contacts in space, and an independent way to find all their motions: a grid of directions and Newton's method."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gaussdyn.programs.spatial.contact import SpatialContact

SLENDER = {"m": 1, "J": [["1/10", 0, 0], [0, "1/50", 0], [0, 0, "1/10"]], "r": [1, 0, -2]}


def contact(W: Any, q: Any, mu: Any, mu_s: Any = None) -> SpatialContact:
    exact = tuple(tuple(Fraction(x) for x in row) for row in np.asarray(W).tolist())
    ends = tuple(Fraction(x) for x in np.asarray(q).tolist())
    return SpatialContact(W=exact, q=ends, mu=Fraction(mu), mu_s=Fraction(mu if mu_s is None else mu_s))


def random_body(rng: np.random.Generator) -> np.ndarray:
    """W of a random rigid body at a random point, rows (n, t1, t2)."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    J = np.sort(rng.uniform(0.05, 1.0, 3))
    J[2] = rng.uniform(J[1], J[0] + J[1])
    x, y, z = rng.normal(size=3) * rng.uniform(0.2, 3.0)
    arm = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) - arm @ axes @ np.diag(1 / J) @ axes.T @ arm


def brute_force(W: np.ndarray, q: np.ndarray, mu: float, mu_s: float) -> list[np.ndarray]:
    """All u of detach, stick and slip, from 720 starts of Newton's method in (angle, N, speed)."""
    found = [q] if q[0] > 0 else []
    r = np.linalg.solve(W, -q)
    if np.hypot(r[1], r[2]) <= mu_s * r[0]:
        found.append(np.zeros(3))
    angle = np.radians(np.arange(-180.0, 180.0, 0.5))
    a = W[0, 0] - mu * (W[0, 1] * np.cos(angle) + W[0, 2] * np.sin(angle))
    x = np.stack([angle, -q[0] / a, np.zeros_like(a)], axis=1)
    for _ in range(60):
        c, s = np.cos(x[:, 0]), np.sin(x[:, 0])
        zero, one = np.zeros_like(c), np.ones_like(c)
        push = np.stack([one, -mu * c, -mu * s])
        turn = np.stack([zero, mu * s, -mu * c])
        u = W @ (push * x[:, 1]) + q[:, None]
        residual = u - np.stack([zero, c, s]) * x[:, 2]
        columns = [W @ (turn * x[:, 1]) - np.stack([zero, -s, c]) * x[:, 2], W @ push, -np.stack([zero, c, s])]
        jacobian = np.stack(columns, axis=2).transpose(1, 0, 2)
        fine = np.abs(np.linalg.det(jacobian)) > 1e-14
        step = np.zeros_like(x)
        step[fine] = np.linalg.solve(jacobian[fine], residual.T[fine][:, :, None])[:, :, 0]
        x = x - step
    done = (np.abs(residual).max(axis=0) < 1e-9 * (1 + np.abs(q).max())) & (x[:, 1] > 1e-9) & (x[:, 2] > 1e-9)
    for angle_, _, speed in x[done]:
        u_slip = speed * np.array([0.0, np.cos(angle_), np.sin(angle_)])
        if not any(np.abs(u_slip - other).max() < 1e-6 * (1 + np.abs(u_slip).max()) for other in found):
            found.append(u_slip)
    return found
