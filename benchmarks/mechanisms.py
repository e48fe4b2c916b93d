"""Mechanisms in space for benchmarks: a walking machine and a chain."""

from __future__ import annotations

import math

from gaussdyn import SpatialSystem, State
from gaussdyn.linalg.rotations import pointing
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.spatial.bodies import SpatialBody, brick
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker

LINK, FOOT = 0.2, 0.02


def quadruped(drop: float = 0.0) -> tuple[SpatialSystem, State]:
    """Return a trunk on four legs of three links each, held upright by drives, its feet `drop` above the floor."""
    trunk = brick("trunk", mass=8.0, half=(0.25, 0.12, 0.05))
    bodies, joints, drives = [SpatialBody(name="trunk", mass=8.0, inertia=trunk.inertia)], [], []
    height = 2.0 * LINK + FOOT + drop
    places = {"trunk": (0.0, 0.0, height)}
    along, across = pointing((1.0, 0.0, 0.0)), pointing((0.0, 1.0, 0.0))
    for leg, (x, y) in enumerate(((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))):
        hip, thigh, shank = (f"{part}{leg}" for part in ("hip", "thigh", "shank"))
        foot = Sphere(radius=FOOT, at=(0.0, 0.0, -0.5 * LINK), name="foot")
        bodies += [
            SpatialBody(name=hip, mass=0.5, inertia=(5e-4,) * 3),
            SpatialBody(name=thigh, mass=0.8, inertia=(3e-3, 3e-3, 3e-4)),
            SpatialBody(name=shank, mass=0.3, inertia=(1e-3, 1e-3, 1e-4), shapes=(foot,)),
        ]
        pairs = (
            ("trunk", (x, y, 0.0), hip, (0.0, 0.0, 0.0), along),
            (hip, (0.0, 0.0, 0.0), thigh, (0.0, 0.0, 0.5 * LINK), across),
            (thigh, (0.0, 0.0, -0.5 * LINK), shank, (0.0, 0.0, 0.5 * LINK), across),
        )
        for upper, a, lower, b, axis in pairs:
            name = f"joint_{lower}"
            joints.append(Hinge(name=name, a=SpatialMarker(lower, b, axis), b=SpatialMarker(upper, a, axis)))
            drives.append(Drive(joint=name, stiffness=200.0, damping=4.0))
        places |= {
            hip: (x, y, height),
            thigh: (x, y, height - 0.5 * LINK),
            shank: (x, y, height - 1.5 * LINK),
        }
    system = SpatialSystem(
        bodies=bodies, joints=joints, forces=drives, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.7)
    )
    return system, system.state(places)


def chain(links: int) -> tuple[SpatialSystem, State]:
    """Return rods of 0.5 m on ball joints, stretched out level and let go."""
    bodies = [SpatialBody(name=f"l{k}", mass=1.0, inertia=(0.02, 0.02, 0.001)) for k in range(links)]
    ends = [SpatialMarker("ground"), *(SpatialMarker(body.name, (0.0, 0.0, -0.25)) for body in bodies)]
    joints = [BallJoint(name=f"j{k}", a=SpatialMarker(f"l{k}", (0.0, 0.0, 0.25)), b=ends[k]) for k in range(links)]
    system, half = SpatialSystem(bodies=bodies, joints=joints), math.sqrt(0.5)
    return system, system.state({f"l{k}": (0.25 + 0.5 * k, 0.0, 0.0, half, 0.0, -half, 0.0) for k in range(links)})
