"""Small systems written by hand for the tests: every function is plain numpy, nothing of the package's mechanics."""

from __future__ import annotations

import numpy as np

from gaussdyn.mechanics.rows import Row

G = 9.81


class Plain:
    """A system with unit mass matrix, coordinates as velocities, and no constraints, to be specialised."""

    nq = nv = 1

    def mass(self, q):
        return np.eye(self.nv)

    def force(self, t, q, v, control=None):
        return np.zeros(self.nv)

    def qdot(self, q, v):
        return v

    def rows(self, t, q, v):
        return ()

    def potential(self, t, q):
        return 0.0

    def power(self, t, q, v, control=None):
        return 0.0

    def drawables(self, q):
        return []

    def spec(self):
        return {"name": type(self).__name__}


class Oscillator(Plain):
    """x'' = -k x - c x': smooth, no contact."""

    def __init__(self, k=1.0, c=0.0):
        self.k, self.c = k, c

    def force(self, t, q, v, control=None):
        return -self.k * q - self.c * v + (0.0 if control is None else control)

    def potential(self, t, q):
        return 0.5 * self.k * float(q[0] ** 2)

    def power(self, t, q, v, control=None):
        return float(-self.c * v[0] ** 2 + (0.0 if control is None else control[0] * v[0]))


class Ball(Plain):
    """A ball of mass 2 above a floor, without friction."""

    def __init__(self, eps=0.0):
        self.eps = eps

    def mass(self, q):
        return 2.0 * np.eye(1)

    def force(self, t, q, v, control=None):
        return np.array([-2.0 * G])

    def potential(self, t, q):
        return 2.0 * G * float(q[0])

    def rows(self, t, q, v):
        return (Row(id="ball/floor", kind="unilateral", gap=q[0], J=[[1.0]], rate=v, drift=[0.0], eps_n=self.eps),)


class Block(Plain):
    """A block on an incline: q = (distance from the incline, position down the incline)."""

    nq = nv = 2

    def __init__(self, angle, mu, m=1.5):
        self.m, self.mu = m, mu
        self.g = G * np.array([-np.cos(angle), np.sin(angle)])

    def mass(self, q):
        return self.m * np.eye(2)

    def force(self, t, q, v, control=None):
        return self.m * self.g

    def potential(self, t, q):
        return -self.m * float(self.g @ q)

    def rows(self, t, q, v):
        return (Row(id="block/incline", kind="contact", gap=q[0], J=np.eye(2), rate=v, drift=np.zeros(2), mu=self.mu),)


class CoulombOscillator(Plain):
    """A block on a rough floor, held by a spring: q = (height, position)."""

    nq = nv = 2

    def __init__(self, k=1.0, mu_g=0.1, m=1.0):
        self.k, self.m, self.mu = k, m, mu_g / G

    def mass(self, q):
        return self.m * np.eye(2)

    def force(self, t, q, v, control=None):
        return np.array([-self.m * G, -self.k * q[1]])

    def potential(self, t, q):
        return self.m * G * float(q[0]) + 0.5 * self.k * float(q[1] ** 2)

    def rows(self, t, q, v):
        return (Row(id="block/floor", kind="contact", gap=q[0], J=np.eye(2), rate=v, drift=np.zeros(2), mu=self.mu),)


class Tethered(Plain):
    """A unit point in the plane at distance 1 from the origin, by a rod (bilateral) or a string (unilateral)."""

    nq = nv = 2

    def __init__(self, kind="bilateral", gravity=G):
        self.kind, self.gravity = kind, gravity

    def force(self, t, q, v, control=None):
        return np.array([0.0, -self.gravity])

    def potential(self, t, q):
        return self.gravity * float(q[1])

    def rows(self, t, q, v):
        length = float(np.hypot(*q))
        J = -q[None, :] / length
        rate = J @ v
        drift = np.array([-(float(v @ v) - float(rate[0]) ** 2) / length])
        return (Row(id="tether", kind=self.kind, gap=1.0 - length, J=J, rate=rate, drift=drift),)


class SlidingRod(Plain):
    """A uniform rod whose lower end slides on a rough floor: q = (x, y, angle), half-length 1, mass 1."""

    nq = nv = 3

    def __init__(self, mu=0.3):
        self.mu = mu

    def mass(self, q):
        return np.diag([1.0, 1.0, 1.0 / 3.0])

    def force(self, t, q, v, control=None):
        return np.array([0.0, -G, 0.0])

    def potential(self, t, q):
        return G * float(q[1])

    def rows(self, t, q, v):
        s, c = np.sin(q[2]), np.cos(q[2])  # lower end at (x - cos, y - sin)
        J = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])
        drift = v[2] ** 2 * np.array([s, c])
        return (Row(id="rod.end/floor", kind="contact", gap=q[1] - s, J=J, rate=J @ v, drift=drift, mu=self.mu),)
