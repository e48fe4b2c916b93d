"""Random joints, motions and helpers shared by the tests of systems in space; formulas independent of the package."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.links import Rod, String

A = SpatialBody(name="a", mass=2.0, inertia=[[0.3, 0.02, 0.01], [0.02, 0.4, -0.03], [0.01, -0.03, 0.5]])
B = SpatialBody(name="b", mass=1.0, inertia=[0.10, 0.15, 0.20])
KINDS = (BallJoint, Hinge, Universal, Slider, Weld)


def wxyz(rotation):
    """scipy's rotation as (w, x, y, z)."""
    x, y, z, w = rotation.as_quat()
    return np.array([w, x, y, z])


def rotation_of(q):
    return Rotation.from_quat([*q[1:], q[0]])


class Flight:
    """Bodies on smooth paths: x(t) quadratic, attitude R0 exp(phi(t)), phi quadratic; v(t) and a(0) in closed form."""

    def __init__(self, seed, bodies=2):
        rng = np.random.default_rng(seed)
        self.n = bodies
        self.x0, self.v0, self.a0, self.w0, self.b0 = rng.normal(size=(5, bodies, 3))
        self.R0 = [Rotation.random(random_state=rng) for _ in range(bodies)]
        self.a = np.concatenate([self.a0, self.b0], axis=1).ravel()  # body rates of phi begin as phi' and phi''

    def q(self, t):
        parts = []
        for k in range(self.n):
            turn = Rotation.from_rotvec(self.w0[k] * t + self.b0[k] * t * t / 2)
            x = self.x0[k] + self.v0[k] * t + self.a0[k] * t * t / 2
            parts.append(np.concatenate([x, wxyz(self.R0[k] * turn)]))
        return np.concatenate(parts)

    def v(self, t):
        parts = []
        for k in range(self.n):
            phi, rate = self.w0[k] * t + self.b0[k] * t * t / 2, self.w0[k] + self.b0[k] * t
            parts.append(np.concatenate([self.v0[k] + self.a0[k] * t, body_rate(phi, rate)]))
        return np.concatenate(parts)


def body_rate(phi, rate):
    """Angular velocity in body axes of exp(phi(t)): the right Jacobian of the rotation group."""
    s = np.linalg.norm(phi)
    if s < 1e-12:
        return rate - 0.5 * np.cross(phi, rate)
    c = np.cross(phi, rate)
    return rate - (1 - np.cos(s)) / s**2 * c + (s - np.sin(s)) / s**3 * np.cross(phi, c)


def random_marker(rng, body, name=""):
    q = Rotation.random(random_state=rng)
    return SpatialMarker(body, tuple(rng.normal(size=3)), tuple(wxyz(q)), name)


def all_joints(seed, *, first="a", second="b"):
    """One of each, between two bodies (or a body and the ground), at random places."""
    rng = np.random.default_rng(seed)
    joints = [kind(name=kind.__name__, a=random_marker(rng, first), b=random_marker(rng, second)) for kind in KINDS]
    links = [
        Rod(a=random_marker(rng, first), b=random_marker(rng, second, "rod"), length=1.0),
        String(a=random_marker(rng, first), b=random_marker(rng, second, "string"), length=1.0),
    ]
    parts = [
        Limit(joint="Hinge", low=-1.0, high=2.0, eps_n=0.3),
        Limit(joint="Slider", low=-0.5, high=0.5),
        JointFriction(joint="Hinge", cap=1.0, cap_s=1.5),
        JointFriction(joint="Slider", cap=1.0),
        Motor(joint="Slider", rate=0.3),
        Gear(joint="Hinge", other="Slider", ratio=0.7),
    ]
    return [*joints, *links, *parts]


def coinciding(rng, q, first="a", second="b"):
    """Markers on two bodies that coincide in space, axes included, at coordinates q of two bodies."""
    x, frame = rng.normal(size=3), Rotation.random(random_state=rng)
    markers = []
    for k, body in enumerate((first, second)):
        place, R = q[7 * k : 7 * k + 3], rotation_of(q[7 * k + 3 : 7 * k + 7])
        markers.append(SpatialMarker(body, tuple(R.inv().apply(x - place)), tuple(wxyz(R.inv() * frame))))
    return markers


def slope(f, h=1e-3):
    """df/dt at 0 by a central difference of sixth order."""
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)
