"""How many motions contacts in space have, in doubles and many at once: what runs and pictures ask.

Where rounding could decide the answer `near` says so; `one_contact` gives the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array

CIRCLE = 1e-6  # a root z = exp(i angle) counts as a direction up to here
DOUBT = 1e-3  # beyond CIRCLE, but up to here it is doubtful
SMALL = 1e-9  # signs below this, relative to their terms, are doubtful


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialCounts:
    """Motions of n contacts.

    Attributes
    ----------
    detach, stick : bool array, shape (n,)
    slips : int array, shape (n,)
    near : bool array, shape (n,)
        Whether rounding may decide.
    """

    detach: Any
    stick: Any
    slips: Array
    near: Any

    @property
    def total(self) -> Array:
        """Number of motions."""
        return np.asarray(self.detach + self.stick + self.slips)


def count_spatial(W: Array, q: Array, mu: Array | float, mu_s: Array | float) -> SpatialCounts:
    """Count the motions of contacts at rest, u = W r + q with rows (n, t1, t2).

    Parameters
    ----------
    W, q : Array, shapes (n, 3, 3), (n, 3)
    mu, mu_s : Array, shape (n,), or float
    """
    n = len(q)
    mu, mu_s = np.broadcast_to(mu, n), np.broadcast_to(mu_s, n)
    size = np.abs(q).max(axis=1, initial=0.0)
    near = np.abs(q[:, 0]) <= SMALL * size
    stick, doubt = _rests(W, q, mu_s)
    slips, unsure = _slips(W, q, mu)
    return SpatialCounts(detach=q[:, 0] > 0, stick=stick, slips=slips, near=near | doubt | unsure)


def _rests(W: Array, q: Array, mu: Array) -> tuple[Array, Array]:
    values = np.linalg.svd(W, compute_uv=False)
    singular = values[:, -1] <= 1e-10 * values[:, 0]
    r = np.linalg.solve(np.where(singular[:, None, None], np.eye(3), W), -q[:, :, None])[:, :, 0]
    margin = mu * r[:, 0] - np.hypot(r[:, 1], r[:, 2])
    return (margin >= 0) & ~singular, singular | (np.abs(margin) <= SMALL * np.abs(r).max(axis=1))


def _slips(W: Array, q: Array, mu: Array) -> tuple[Array, Array]:
    """Count the roots z = exp(i angle) of f = e x V, V = q_t c_n - q_n c_t, c = W (1, -mu e), with N > 0 and s > 0."""
    angle = 2.0 * np.pi * np.arange(5) / 5
    e = np.stack([np.cos(angle), np.sin(angle)])
    f, _, _ = _equation(W, q, mu, np.broadcast_to(e, (len(q), 2, 5)))
    F = np.fft.fft(f, axis=1) / 5
    powers = F[:, [2, 1, 0, -1, -2]]  # of z^4 ... z^0
    lead = np.abs(powers[:, 0])
    flat = lead <= 1e-12 * np.abs(powers).max(axis=1)
    companion = np.zeros((len(q), 4, 4), dtype=complex)
    companion[:, 0] = -powers[:, 1:] / np.where(flat, 1.0, powers[:, 0])[:, None]
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    companion[flat] = 0.0
    z = np.linalg.eigvals(companion)
    z[flat], flat[flat] = _two_roots(powers[flat])
    off = np.abs(np.abs(z) - 1.0)
    turned = np.angle(z)
    _, load, speed = _equation(W, q, mu, np.stack([np.cos(turned), np.sin(turned)], axis=1))
    on, possible = off <= CIRCLE, (load > SMALL) & (speed > SMALL)
    doubt = (on & (np.minimum(np.abs(load), np.abs(speed)) <= SMALL)) | ((off > CIRCLE) & (off <= DOUBT) & possible)
    twice = (np.abs(z[:, :, None] - z[:, None, :]) + 9.0 * np.eye(4)).min(axis=2) <= DOUBT
    return (on & possible).sum(axis=1), flat | (doubt | (on & twice & possible)).any(axis=1)


def _two_roots(powers: Array) -> tuple[Array, Array]:
    """Return the roots of z (p_1 z^2 + p_2 z + p_3), where the highest and the lowest power vanish, and if p_1 = 0."""
    a, b, c = powers[:, 1], powers[:, 2], powers[:, 3]
    flat = np.abs(a) <= 1e-12 * np.abs(powers).max(axis=1)
    a = np.where(flat, 1.0, a)
    spread = np.sqrt(b * b - 4.0 * a * c)
    z = np.zeros((len(powers), 4), dtype=complex)
    z[:, 0], z[:, 1], z[:, 2] = (-b + spread) / (2.0 * a), (-b - spread) / (2.0 * a), 0.5
    return z, flat


def _equation(W: Array, q: Array, mu: Array, e: Array) -> tuple[Array, Array, Array]:
    """Return f, and -q_n c_n and -q_n e.V relative to the size of their terms, for directions of shape (n, 2, k)."""
    c = W[:, :, :1] - mu[:, None, None] * (W[:, :, 1:] @ e)
    V = q[:, 1:, None] * c[:, :1] - q[:, :1, None] * c[:, 1:]
    f = e[:, 0] * V[:, 1] - e[:, 1] * V[:, 0]
    scale = np.abs(W).max(axis=(1, 2), initial=0.0)[:, None]
    size = np.abs(q).max(axis=1, initial=0.0)[:, None]
    load = -q[:, :1] * c[:, 0] / np.where(scale * size > 0, scale * size, 1.0)
    speed = -q[:, :1] * (e * V).sum(axis=1) / np.where(scale * size > 0, scale * size**2, 1.0)
    return f, load, speed


def surely_unique(W: Array, mu: float, mu_s: float) -> bool:
    """Whether a symmetric W admits one motion for every load, by a bound that suffices.

    With b = W_tn / W_nn, S = adj(W_tt / W_nn - b b^T): directions of slip fold only where e.S (e - mu b) < 0, and rest
    and detachment exclude each other if mu |b| < 1 (Ivanov 2009, 5.20).
    """
    if mu_s > mu or not W[0, 0] > 0:
        return False
    b = W[1:, 0] / W[0, 0]
    K = W[1:, 1:] / W[0, 0] - np.outer(b, b)
    S = np.array([[K[1, 1], -K[0, 1]], [-K[0, 1], K[0, 0]]])
    least = float(np.linalg.eigvalsh(S)[0])
    slopes = mu * float(np.linalg.norm(S @ b)) < 0.999999 * least and mu * float(np.linalg.norm(b)) < 0.999999
    return slopes and least > 1e-9 * float(np.abs(S).max())
