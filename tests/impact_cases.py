"""Impacts by brute force: dense enumeration of all modes of planar contacts, in numpy alone, and a system for them."""

from __future__ import annotations

import itertools

import numpy as np
from small_systems import Plain

from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State

ROUNDING = 1e-10


class Contacts(Plain):
    """Closed contacts with constant directions: J (n, dim, nv), mass M, friction mu, restitution e_n, e_t."""

    def __init__(self, M, J, mu, e_n=None, e_t=None):
        self.M, self.J, self.mu = np.asarray(M), np.asarray(J), mu
        self.e_n = np.zeros(len(J)) if e_n is None else e_n
        self.e_t = np.zeros(len(J)) if e_t is None else e_t
        self.nq = self.nv = len(self.M)

    def mass(self, q):
        return self.M

    def rows(self, t, q, v):
        return tuple(
            Row(id=f"c{k}", kind="contact", gap=0.0, J=J, rate=J @ v, drift=np.zeros(len(J)), mu=self.mu[k],
                eps_n=self.e_n[k], eps_t=self.e_t[k])
            for k, J in enumerate(self.J)
        )  # fmt: skip

    def start(self, v):
        return State(q=np.zeros(self.nq), v=v)

    @property
    def W(self):
        rows = np.vstack(self.J)
        return rows @ np.linalg.solve(self.M, rows.T)


def random_contacts(rng, n, dim, *, spread=1.0):
    """Random mass, n random closed contacts that approach, and friction."""
    nv = n * dim + int(rng.integers(0, 3))
    A = rng.normal(size=(nv, nv))
    J = rng.normal(size=(n, dim, nv))
    system = Contacts(A @ A.T + 0.2 * np.eye(nv), J, rng.uniform(0.0, 1.5 * spread, n))
    v, normal = rng.normal(size=nv), J[:, 0]
    v = v - np.linalg.pinv(normal) @ (normal @ v + np.abs(normal @ v))  # no contact separates before the impact
    return system, v


def coulomb(W, u, mu, least=None, shift=None):
    """All p with 0 <= p_N - least, 0 <= (W p + u + shift)_N, one of them zero, and Coulomb friction of p_N, planar."""
    n = len(mu)
    least = np.zeros(n) if least is None else least
    b = u if shift is None else u + shift
    found = []
    for modes in itertools.product(itertools.product("OC", "0+-"), repeat=n):
        A, c = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for k, (normal, tangential) in enumerate(modes):
            N, T = 2 * k, 2 * k + 1
            A[N], c[N] = (np.eye(2 * n)[N], least[k]) if normal == "O" else (W[N], -b[N])
            if tangential == "0":
                A[T], c[T] = W[T], -b[T]
            else:
                A[T, T], A[T, N] = 1.0, mu[k] * (1.0 if tangential == "+" else -1.0)
        if abs(np.linalg.det(A)) < 1e-13:
            continue
        p = np.linalg.solve(A, c)
        if _right(p, W @ p + b, mu, least, [t for _, t in modes]) and not any(np.allclose(p, x) for x in found):
            found.append(p)
    return found


def _right(p, w, mu, least, tangential):
    for k, t in enumerate(tangential):
        N, T = 2 * k, 2 * k + 1
        side = {"0": 0.0, "+": 1.0, "-": -1.0}[t]
        if p[N] < least[k] - ROUNDING or w[N] < -ROUNDING or abs(p[T]) > mu[k] * p[N] + ROUNDING:
            return False
        if side * w[T] < -ROUNDING:
            return False
    return True


def newton(W, u, mu, e_n, e_t):
    """All velocities u+ of Newton's (e_t = 0) or Moreau's (e_t = e_n) law."""
    shift = np.zeros(len(u))
    shift[0::2], shift[1::2] = e_n * np.minimum(u[0::2], 0.0), e_t * u[1::2]
    return [u + W @ p for p in coulomb(W, u, mu, shift=shift)]


def poisson(W, u, mu, e):
    """All velocities u+ of Poisson's law in two phases."""
    found = []
    for p in coulomb(W, u, mu):
        middle = u + W @ p
        found += [middle + W @ more for more in coulomb(W, middle, mu, least=e * p[0::2])]
    return found
