"""Random bodies that fall on one another, in the plane and in space; everything follows from a seed."""

from __future__ import annotations

import numpy as np

from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import JointFriction, Motor
from gaussdyn.mechanics.planar import forces
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, box, disc, fixed
from gaussdyn.mechanics.planar.contacts import DryFriction, HalfPlane
from gaussdyn.mechanics.planar.joints import Hinge
from gaussdyn.mechanics.planar.shapes import Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial import forces as spatial_forces
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick, pill
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.joints import Hinge as SpatialHinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem


def falling(dim, seed, *, mu, eps_n, eps_t=0.0, floor=True, count=None):
    """Two to five bodies (or `count`) with masses 1 to 1000 above a floor, or in free space towards one another."""
    rng = np.random.default_rng(seed)
    drawn = int(rng.integers(2, 6))
    count = drawn if count is None else count
    law = ContactLaw(mu=mu, eps_n=eps_n, eps_t=eps_t)
    make, places, speeds = (_planar, _on_line, _plane_speed) if dim == 2 else (_spatial, _in_space, _space_speed)
    bodies = [make(f"b{k}", rng, 10.0 ** rng.uniform(0.0, 3.0)) for k in range(count)]
    wall = HalfPlane(name="floor") if dim == 2 else HalfSpace(name="floor")
    gravity = {} if floor else {"gravity": (0.0,) * dim}
    system = (PlanarSystem if dim == 2 else SpatialSystem)(
        bodies=bodies, obstacles=[wall] if floor else [], contact=law, **gravity
    )
    place = {body.name: places(k, rng) for k, body in enumerate(bodies)}
    return system, system.state(place, {body.name: speeds(k, rng) for k, body in enumerate(bodies)})


def mixed(dim, seed):
    """One to three bodies between a floor and a tilted wall, each pair with its own law, pulled, shaken and driven.

    In the plane the floor may be a belt, bodies may be polygons, and one may hang on a driven hinge.
    """
    rng = np.random.default_rng(seed)
    bodies = [(_planar if dim == 2 else _spatial)(f"b{k}", rng, 10.0 ** rng.uniform(0.0, 1.5))
              for k in range(rng.integers(1, 4))]  # fmt: skip
    if dim == 2 and rng.random() < 0.4:
        bodies[0] = _polygon("b0", rng)
    names = [body.name for body in bodies]
    pairs = {(a, b): _law(rng) for k, a in enumerate(names) for b in (*names[:k], "floor", "wall")}
    tilt = rng.uniform(0.3, 1.3)
    if dim == 2:
        walls = [HalfPlane(name="floor", belt=rng.choice([0.0, 0.5, -2.0])),
                 HalfPlane(name="wall", point=(-1.0, 0.0), normal=(np.cos(tilt), np.sin(tilt)))]  # fmt: skip
    else:
        walls = [HalfSpace(name="floor"), HalfSpace(name="wall", point=(-1.0, 0.0, 0.0),
                                                    normal=(np.cos(tilt), 0.0, np.sin(tilt)))]  # fmt: skip
    place = {name: (_on_line if dim == 2 else _in_space)(k, rng) for k, name in enumerate(names)}
    speed = {name: (_plane_speed if dim == 2 else _space_speed)(k, rng) for k, name in enumerate(names)}
    joints, drives = [], []
    if dim == 2 and rng.random() < 0.3:
        x, y, _ = place[names[-1]]
        joints = [Hinge(name="pin", a=Marker(names[-1]), b=fixed(x, y, "peg"))]
        speed[names[-1]] = (0.0, 0.0, speed[names[-1]][2])
        drives = [Drive(joint="pin", damping=rng.uniform(0.0, 5.0), rate=rng.normal() * 5.0)]
    system = (PlanarSystem if dim == 2 else SpatialSystem)(
        bodies=bodies, obstacles=walls, pairs=pairs, joints=joints, forces=[*_pulled(dim, names, rng), *drives]
    )
    return system, system.state(place, speed)


def linked(dim, seed):
    """One to three bodies above a floor, one of them in a joint, with friction there and rolling resistance.

    The floor may be a belt (plane) or a turntable that a motor drives (space); all pairs restore alike.
    """
    rng = np.random.default_rng(seed)
    planar, count = dim == 2, int(rng.integers(1, 4))
    make, places, speeds = (_planar, _on_line, _plane_speed) if planar else (_spatial, _in_space, _space_speed)
    bodies = [make(f"b{k}", rng, 10.0 ** rng.uniform(0.0, 1.0)) for k in range(count)]
    names, e = [body.name for body in bodies], rng.choice([0.0, 0.5, 1.0])
    table = not planar and rng.random() < 0.3
    floor = "table.floor" if table else "floor"
    parts = {
        "bodies": bodies, "forces": _pulled(dim, names, rng),
        "pairs": {(a, b): _rolling_law(rng, dim, e) for k, a in enumerate(names) for b in (*names[:k], floor)},
    }  # fmt: skip
    place = {name: places(k, rng) for k, name in enumerate(names)}
    speed = {name: speeds(k, rng) for k, name in enumerate(names)}
    last, kind = names[-1], rng.integers(0, 3)
    if table:
        rate = rng.normal() * 4.0
        bodies.append(SpatialBody(name="table", mass=50.0, inertia=(5.0, 5.0, 10.0)))
        place["table"], speed["table"] = (0.0,) * 3 + (1.0, 0.0, 0.0, 0.0), (0.0,) * 5 + (rate,)
        axle = SpatialHinge(name="axle", a=SpatialMarker("table"), b=SpatialMarker("ground", name="peg"))
        parts |= {
            "obstacles": [HalfSpace(name="floor", body="table")],
            "joints": [axle, Motor(joint="axle", rate=rate)],
        }
    elif planar:
        parts["obstacles"] = [HalfPlane(name="floor", belt=rng.choice([0.0, 0.5, -2.0]))]
        if kind == 0:
            parts["contacts"] = [DryFriction(point=Marker(last, (0.05, 0.0), "rub"), cap=rng.uniform(0.0, 10.0),
                                             belt=rng.normal())]  # fmt: skip
        if kind == 1:
            parts["joints"] = _on_peg(names, place, speed, rng)
        if kind == 2 and count > 1:
            parts["joints"] = _chained(names, place, speed, rng)
            parts["pairs"][last, names[0]] = None
    else:
        parts["obstacles"], x = [HalfSpace(name="floor")], place[last][:3]
        if kind > 0:
            pin = (BallJoint if kind == 1 else SpatialHinge)(
                name="pin", a=SpatialMarker(last, (0.0, 0.0, 0.3)),
                b=SpatialMarker("ground", (x[0], x[1], x[2] + 0.3), name="peg"))  # fmt: skip
            parts["joints"] = [pin] if kind == 1 else [pin, JointFriction(joint="pin", cap=rng.uniform(0.0, 3.0))]
            place[last], speed[last] = (*x, 1.0, 0.0, 0.0, 0.0), (0.0,) * 5 + (speed[last][5],)
    system = (PlanarSystem if planar else SpatialSystem)(**parts)
    return system, system.state(place, speed)


def _on_peg(names, place, speed, rng):
    x, y, _ = place[names[-1]]
    speed[names[-1]] = (0.0, 0.0, speed[names[-1]][2])
    pin = Hinge(name="pin", a=Marker(names[-1]), b=fixed(x, y, "peg"))
    return [pin, JointFriction(joint="pin", cap=rng.uniform(0.0, 3.0), cap_s=3.0)]


def _chained(names, place, speed, rng):
    """Hang the last body of a chain on the first, at rest."""
    first, last = names[0], names[-1]
    x, y, turn = place[first]
    place[last] = (x - 0.3 * np.sin(turn) - 0.3, y + 0.3 * np.cos(turn), 0.0)
    speed[first] = speed[last] = (0.0, 0.0, 0.0)
    pin = Hinge(name="pin", a=Marker(last, (0.3, 0.0)), b=Marker(first, (0.0, 0.3)))
    return [pin, JointFriction(joint="pin", cap=rng.uniform(0.0, 1.0))]


def _rolling_law(rng, dim, e):
    mu = rng.choice([0.1, 0.5, 0.9])
    mu_r = rng.choice([0.0, 0.02]) if dim == 3 else 0.0
    return ContactLaw(mu=mu, mu_s=mu * rng.choice([1.0, 1.3]), mu_r=mu_r, eps_n=e, eps_t=rng.choice([0.0, e]))


def _law(rng):
    mu = rng.choice([0.0, 0.1, 0.5, 1.5])
    mu_s = mu * rng.choice([1.0, 1.0, 1.3])
    return ContactLaw(mu=mu, mu_s=mu_s, eps_n=rng.choice([0.0, 0.0, 0.4, 1.0]), eps_t=rng.choice([0.0, 0.0, 0.5]))


def _polygon(name, rng):
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 3)) + np.array([0.0, 0.3, 0.6])
    corners = np.column_stack((np.cos(angle), np.sin(angle))) * rng.uniform(0.1, 0.25)
    corners -= corners.mean(axis=0)
    mass = 10.0 ** rng.uniform(0.0, 1.5)
    return PlanarBody(name=name, mass=mass, inertia=mass * 0.02, shapes=(Polygon(points=corners),))


def _pulled(dim, names, rng):
    """Return a spring with a damper, a load and the shaking of the frame, each or not."""
    kinds, marker = (forces, Marker) if dim == 2 else (spatial_forces, SpatialMarker)
    a, found = marker(names[0]), []
    ground = fixed(0.0, 1.0, "hook") if dim == 2 else SpatialMarker("ground", (0.0, 0.0, 1.0), name="hook")
    if rng.random() < 0.5:
        b = marker(names[-1]) if len(names) > 1 else ground
        found.append(kinds.Spring(a=a, b=b, stiffness=10.0 ** rng.uniform(0.0, 3.0), length=0.5, damping=rng.uniform()))
    if rng.random() < 0.3:
        load = {"force_xy" if dim == 2 else "force_xyz": tuple(rng.normal(size=dim) * 20.0)}
        found.append(kinds.Load(point=a, **load))
    if rng.random() < 0.3:
        found.append(kinds.Shaking(amplitude=rng.uniform(0.0, 8.0), frequency=rng.uniform(0.5, 5.0)))
    return found


def _planar(name, rng, mass):
    if rng.random() < 0.33:
        return disc(name, mass=mass, radius=rng.uniform(0.1, 0.2))
    return box(name, mass=mass, width=rng.uniform(0.2, 0.5), height=rng.uniform(0.2, 0.4))


def _spatial(name, rng, mass):
    kind = rng.integers(0, 4)
    if kind == 0:
        return ball(name, mass=mass, radius=rng.uniform(0.08, 0.2))
    if kind == 1:
        return pill(name, mass=mass, radius=rng.uniform(0.05, 0.12), half_length=rng.uniform(0.05, 0.2))
    return brick(name, mass=mass, half=tuple(rng.uniform(0.06, 0.2, 3)))


def _on_line(k, rng):
    return rng.uniform(-0.1, 0.1), 0.4 + 0.7 * k, rng.uniform(-3.0, 3.0)


def _in_space(k, rng):
    turn = rng.normal(size=4)
    return (*rng.uniform(-0.1, 0.1, 2), 0.4 + 0.7 * k, *(turn / np.linalg.norm(turn)))


def _plane_speed(k, rng):
    return rng.normal() * 0.3, -1.5 - 1.2 * k, rng.normal() * rng.choice([0.0, 1.0, 5.0])


def _space_speed(k, rng):
    return (*rng.normal(size=2) * 0.3, -1.5 - 1.2 * k, *rng.normal(size=3) * rng.choice([0.0, 1.0, 5.0]))


def separation(q, halves):
    """Return the largest distance between the boxes along the normals of faces and of pairs of edges, m."""
    A, B, d = matrix_of(q[3:7]), matrix_of(q[10:14]), q[7:10] - q[:3]
    axes = [*A.T, *B.T, *(np.cross(a, b) for a in A.T for b in B.T)]
    axes = np.array([n / np.linalg.norm(n) for n in axes if np.linalg.norm(n) > 1e-6])
    return float((np.abs(axes @ d) - np.abs(axes @ A) @ halves[0] - np.abs(axes @ B) @ halves[1]).max())
