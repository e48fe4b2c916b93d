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

    def move(self, q, v, dt):
        return q + dt * v

    def near(self, t, q, v, dt):
        return self

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


class Dome(Plain):
    """A unit point outside a smooth disc of radius 1 around the origin, under a constant force."""

    nq = nv = 2

    def __init__(self, force=(0.0, -G)):
        self.f = np.array(force)

    def force(self, t, q, v, control=None):
        return self.f

    def potential(self, t, q):
        return -float(self.f @ q)

    def rows(self, t, q, v):
        radius = float(np.hypot(*q))
        J = q[None, :] / radius
        rate = J @ v
        drift = np.array([(float(v @ v) - float(rate[0]) ** 2) / radius])
        return (Row(id="point/dome", kind="unilateral", gap=radius - 1.0, J=J, rate=rate, drift=drift),)


class Sleigh(Plain):
    """Chaplygin's sleigh: q = (x, y, angle) of the centre of mass, knife at distance c behind it (nonholonomic)."""

    nq = nv = 3

    def __init__(self, m=1.0, J=0.5, c=0.4):
        self.m, self.J, self.c = m, J, c

    def mass(self, q):
        return np.diag([self.m, self.m, self.J])

    def rows(self, t, q, v):
        s, co = np.sin(q[2]), np.cos(q[2])
        A = np.array([[-s, co, -self.c]])
        drift = np.array([-v[2] * (co * v[0] + s * v[1])])
        psi = A @ v
        return (Row(id="knife", kind="bilateral", level="velocity", gap=float(psi[0]), J=A, rate=psi, drift=drift),)


class Driven(Plain):
    """A mass whose position is prescribed: q = sin t."""

    def rows(self, t, q, v):
        rate, drift = v - np.cos(t), [np.sin(t)]
        return (Row(id="drive", kind="bilateral", gap=q[0] - np.sin(t), J=[[1.0]], rate=rate, drift=drift),)


class Governed(Plain):
    """A point whose speed is held at 1 by a nonlinear velocity constraint, pushed sideways."""

    nq = nv = 2

    def force(self, t, q, v, control=None):
        return np.array([0.0, 3.0])

    def potential(self, t, q):
        return -3.0 * float(q[1])

    def rows(self, t, q, v):
        psi = float(v @ v) - 1.0
        J = 2.0 * v[None, :]
        return (Row(id="speed", kind="bilateral", level="velocity", gap=psi, J=J, rate=[psi], drift=[0.0]),)


class Contradiction(Plain):
    """Two joints that agree until t = 0.05 s and then ask for different velocities."""

    def rows(self, t, q, v):
        push = 1.0 if t > 0.05 else 0.0
        one = Row(id="one", kind="bilateral", gap=0.0, J=[[1.0]], rate=v, drift=[0.0])
        return (one, Row(id="two", kind="bilateral", gap=0.0, J=[[1.0]], rate=v - push, drift=[0.0]))


class Failing(Oscillator):
    """An oscillator whose force goes wrong after t = 0.1 s: NaN, a wrong shape, or an exception."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def force(self, t, q, v, control=None):
        if t <= 0.1:
            return -q
        if self.how == "raise":
            raise ZeroDivisionError("the table has no entry there")
        return np.array([np.nan]) if self.how == "nan" else np.zeros(3)
