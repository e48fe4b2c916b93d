"""Impacts of one point on a floor in closed form, many at a time: what a law makes of measured velocities before them.

u = u- + W p with u = (u_n, u_t) and p = (p_n, p_t). All laws are Coulomb's (|p_t| <= mu p_n against the slip) with
another idea of restitution each: Newton and Moreau speak of velocities, Poisson and Routh of impulses. Sources: Glocker
and Pfeiffer (1995), Multiple impacts with friction in rigid multibody systems; Routh (1905), Dynamics of a System of
Rigid Bodies, art. 179 to 198; Wang and Mason (1992), Two-dimensional rigid-body collisions with friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array

TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointImpacts:
    """Impacts of one contact point each.

    Attributes
    ----------
    W : Array, shape (k, 2, 2)
        Inverse mass seen at the contact, 1/kg: rows and columns (n, t).
    u : Array, shape (k, 2)
        Velocity of the point before, m/s.
    """

    W: Array
    u: Array

    def after(self, p: Array) -> Array:
        """Return the velocity after the impulses p, shape (k, 2)."""
        return np.asarray(self.u + np.einsum("kij,kj->ki", self.W, p))


def kinematic(impacts: PointImpacts, mu: float, e_n: float | Array, e_t: float = 0.0) -> Array:
    """Return the impulses of Newton's law (e_t = 0), or Moreau's (e_t = e_n): u+ + e u- obeys Coulomb's law."""
    aim = impacts.u * np.stack([1.0 + np.asarray(e_n) + 0.0 * impacts.u[:, 0], np.full(len(impacts.u), 1.0 + e_t)], 1)
    return _contact(impacts.W, aim, mu, np.zeros(len(aim)))


def poisson(impacts: PointImpacts, mu: float, e_n: float | Array) -> Array:
    """Return the impulses of Poisson's law in two phases: compression, and expansion with e_n times its impulse."""
    compression = _contact(impacts.W, impacts.u, mu, np.zeros(len(impacts.u)))
    return compression + _contact(impacts.W, impacts.after(compression), mu, np.asarray(e_n) * compression[:, 0])


def routh(impacts: PointImpacts, mu: float, e_n: float | Array) -> Array:
    """Return the impulses of Routh's law: the slip follows the growing normal impulse, and Poisson's e_n ends it.

    The point slips until u_t = 0, then sticks where friction suffices (|W_tn| <= mu W_tt), or slips the other way.
    """
    W, (u_n, u_t) = impacts.W, impacts.u.T
    s = np.where(u_t != 0.0, np.sign(u_t), -np.sign(W[:, 1, 0]))
    sliding = -s * mu  # p_t per p_n
    rate = W[:, 1, 0] + W[:, 1, 1] * sliding
    stops = -u_t / np.where(s * rate < 0.0, rate, -s * TINY)  # p_n at which the slip ends
    hold = -W[:, 1, 0] / W[:, 1, 1]
    later = np.where(np.abs(hold) <= mu, hold, np.sign(hold) * mu)
    first, then = W[:, 0, 0] + W[:, 0, 1] * sliding, W[:, 0, 0] + W[:, 0, 1] * later
    alone = -u_n / np.where(first > 0.0, first, TINY)  # p_n of a compression that slips all along
    compressed = np.where(alone <= stops, alone, stops - (u_n + first * np.minimum(stops, 1e30)) / then)
    total = (1.0 + np.asarray(e_n)) * compressed
    tangential = np.where(total <= stops, sliding * total, sliding * np.minimum(stops, total) + later * (total - stops))
    return np.stack([total, tangential], 1)


def _contact(W: Array, q: Array, mu: float, given: Array) -> Array:
    """Return p with p_n >= given, q_n + (W p)_n >= 0, one of them tight, and Coulomb's law for t; W, q many at a time.

    The modes are tried in turn: open (p_n = given), then closed (u_n = 0), each sticking or slipping either way.
    """
    found, done = np.zeros_like(q), np.zeros(len(q), dtype=bool)
    for closed in (False, True):
        for slip in (0.0, 1.0, -1.0):
            p = _mode(W, q, mu, given, closed=closed, slip=slip)
            u = q + np.einsum("kij,kj->ki", W, p)
            load, pull = p[:, 0], np.abs(p[:, 1])
            normal = (load >= given - 1e-12 * np.abs(load)) if closed else (u[:, 0] >= 0.0)
            side = (slip * u[:, 1] >= 0.0) if slip else (pull <= mu * load * (1.0 + 1e-12) + TINY)
            take = normal & side & ~done & np.isfinite(p).all(axis=1)
            found[take] = p[take]
            done |= take
    return found


def _mode(W: Array, q: Array, mu: float, given: Array, *, closed: bool, slip: float) -> Array:
    """Return the impulses of one mode, shape (k, 2)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if slip:
            load = -q[:, 0] / (W[:, 0, 0] - slip * mu * W[:, 0, 1]) if closed else given
            return np.stack([load, -slip * mu * load], 1)
        if closed:
            return np.asarray(-np.linalg.solve(W, q[:, :, None])[:, :, 0])
        return np.stack([given, -(q[:, 1] + W[:, 1, 0] * given) / W[:, 1, 1]], 1)
