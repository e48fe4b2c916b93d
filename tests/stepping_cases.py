"""Random systems of every kind, each with a start from which it falls, meets what is there and comes to rest."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols
from tree_cases import link

from gaussdyn import ContactLaw, LagrangianSystem, PlanarSystem, SpatialSystem, State, UserSystem
from gaussdyn.linalg.rotations import matrix_of, pointing
from gaussdyn.mechanics import planar, spatial, trees
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.lagrangian.system import Contact, Friction
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, Stadium
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick
from gaussdyn.mechanics.spatial.forces import Drag, Load, Shaking, Spring
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Joint, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import Motions, SpatialMarker, mark
from gaussdyn.mechanics.spatial.links import Rod, String
from gaussdyn.mechanics.trees import TreeSystem
from gaussdyn.mechanics.user.system import Acceleration, Position, Velocity

SPATIAL_JOINTS = (BallJoint, Hinge, Universal, Slider, Weld)
Case = tuple[object, State]


def user(seed: int) -> Case:
    """Two beads on a rod that is pulled over a rough floor and against a stop, by Python functions."""
    rng = np.random.default_rng(seed)
    m, length, mu = rng.uniform(0.5, 2.0, 2), rng.uniform(0.4, 0.8), rng.uniform(0.1, 0.6)
    slope, wind = rng.uniform(0.0, 0.5), rng.uniform(0.1, 1.0)

    def force(t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray | None = None) -> np.ndarray:
        """Return weights, wind against the motion, and what is told."""
        told = 0.0 if control is None else control
        return np.repeat(m, 2) * np.tile([slope, -9.81], 2) - wind * np.abs(v) * v + told

    def height(k: int) -> Position:
        """Return the gap of a bead above the floor, with friction."""
        along = np.eye(4)[2 * k]
        return Position(lambda t, q: q[2 * k + 1], mu=mu, tangent=lambda t, q: along, eps_n=0.3 * k, name=f"bead{k}")

    rod = Position(lambda t, q: math.hypot(q[2] - q[0], q[3] - q[1]) - length, kind="bilateral", name="rod")
    stop = Position(lambda t, q: 0.02 - q[2] + 0.3 * q[3] ** 2 + length, name="stop")
    drag = Velocity(lambda t, q, v: v[0] - 0.2 * v[3], kind="dry", cap=0.3, cap_s=0.5, name="drag")
    pull = Acceleration(np.array([1.0, 0.0, 1.0, 0.0]), 0.5, name="pull")
    rows = [rod, height(0), height(1), stop, drag, *([pull] if seed % 2 else [])]
    system = UserSystem(4, np.diag(np.repeat(m, 2)), force, rows, potential=lambda t, q: 0.0)
    turn = rng.uniform(0.0, 0.6)
    q = [0.0, 0.001, length * math.cos(turn), 0.001 + length * math.sin(turn)]
    return system, State(q=q, v=[0.3, -0.5, 0.3, -0.5])


def lagrangian(seed: int) -> Case:
    """A cart with dry friction on rails and a pole on it, whose tip strikes a rough floor."""
    rng = np.random.default_rng(seed)
    x, a = dynamicsymbols("x a")
    M, m, L, g, mu, cap = sp.symbols("M m L g mu cap")
    tip = x + L * sp.sin(a), L * sp.cos(a)
    speed = sum(one.diff(dynamicsymbols._t) ** 2 for one in tip)
    system = LagrangianSystem(
        {x: "m", a: "rad"},
        kinetic=M * x.diff() ** 2 / 2 + m * speed / 2,
        potential=m * g * tip[1],
        constraints=[
            Contact(tip[1] + L / 4, tip[0].diff(dynamicsymbols._t), mu=mu, eps_n=0.2, name="tip/floor"),
            Friction(x.diff(), cap, name="rails"),
        ],
        parameters={
            M: rng.uniform(0.5, 2.0), m: rng.uniform(0.5, 2.0), L: rng.uniform(0.3, 0.6), g: 9.81,
            mu: rng.uniform(0.0, 0.5), cap: rng.uniform(0.0, 0.5),
        },
    )  # fmt: skip
    return system, State(q=[0.0, 1.75 + 0.05 * rng.uniform()], v=[rng.normal(), 2.0])


def tree(seed: int) -> Case:
    """A trunk on driven legs with rough feet, which lands on a floor."""
    rng = np.random.default_rng(seed)
    legs = int(rng.integers(2, 5))
    hips = [f"hip{k}" for k in range(legs)]
    root = trees.TreeJoint(name="root", motion="free")
    bodies = [link("trunk", "ground", root, centre=(0.0, 0.0, 0.0), shapes=(spatial.Box(half=(0.2, 0.2, 0.05)),))]
    for k, hip in enumerate(hips):
        turn = 2.0 * np.pi * k / legs
        at = (0.25 * np.cos(turn), 0.25 * np.sin(turn), -0.05)
        axis = tuple(rng.normal(size=3))
        joint = trees.TreeJoint(name=hip, axis=axis, low=-0.3, high=0.8, damping=0.5, friction=0.05)
        foot = spatial.Sphere(radius=0.04, at=(0.0, 0.0, -0.3))
        bodies.append(link(f"leg{k}", "trunk", joint, at=at, centre=(0.0, 0.0, -0.15), shapes=(foot,)))
    drives = [trees.Actuator(name=f"m{hip}", factors={hip: 2.0}) for hip in hips]
    system = TreeSystem(
        bodies=bodies, actuators=drives, obstacles=[spatial.HalfSpace(name="floor")],
        contact=ContactLaw(mu=rng.uniform(0.2, 0.8)),
    )  # fmt: skip
    rates = {"root": (*(0.4 * rng.normal(size=3) - (0.0, 0.0, 0.5)), *(0.3 * rng.normal(size=3)))}
    return system, system.state({"root": (0.0, 0.0, 0.45), hips[0]: 0.2}, rates)


def spatial_limb(rng: np.random.Generator, k: int) -> tuple[SpatialBody, Joint]:
    """Return a body, and the joint that hangs it on one before it or on the ground."""
    turn = pointing(rng.normal(size=3))
    body = SpatialBody(name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.03, 3))
    on = "ground" if k == 0 else f"b{rng.integers(k)}"
    a = SpatialMarker(body.name, tuple(rng.uniform(-0.2, 0.2, 3)), turn)
    b = SpatialMarker(on, tuple(rng.uniform(-0.2, 0.2, 3) + np.array([0.0, 0.0, 1.0 * (k == 0)])), turn)
    return body, SPATIAL_JOINTS[rng.integers(len(SPATIAL_JOINTS) - (k == 0))](name=f"j{k}", a=a, b=b)


def mechanism(seed: int) -> Case:
    """Return a random tree of bodies just above a floor, with all there is; it falls and meets its stops."""
    rng = np.random.default_rng(seed)
    limbs = [spatial_limb(rng, k) for k in range(4)]
    bodies, joints = [body for body, _ in limbs], [joint for _, joint in limbs]
    free = [joint.name for joint in joints if joint.coordinate]
    parts: list[object] = []
    for k, name in enumerate(free):
        low, high = 0.011 + 0.002 * rng.uniform(size=2)
        kinds = (
            Limit(joint=name, low=-low, high=high, eps_n=0.5), Motor(joint=name, rate=1.0),
            JointFriction(joint=name, cap=0.3, cap_s=0.5), Motor(joint=name, rate=2.0, cap=0.4),
        )  # fmt: skip
        parts.append(kinds[(seed + k) % 4])
    if len(free) > 1 and seed % 2:
        parts = [Gear(joint=free[0], other=free[1], ratio=-1.5)]
    anchor = mark("ground", (0.0, 0.5, 1.0))
    forces: list[object] = [
        Spring(a=mark("b1", (0.1, 0.0, 0.0)), b=anchor, stiffness=30.0, length=0.2, damping=0.5),
        Load(point=mark("b2", (0.0, 0.1, 0.0)), force_xyz=(1.0, 2.0, 0.5), moment=(0.1, 0.0, -0.2)),
        Drag(point=mark("b3", (0.0, 0.0, 0.1)), damping=0.2, spin_damping=0.01),
        Shaking(direction=(1.0, 0.0, 1.0), amplitude=3.0, frequency=5.0),
        *(Drive(joint=name, effort=0.2, stiffness=5.0, damping=0.05, target=0.1) for name in free[:1]),
    ]
    plain = SpatialSystem(bodies=bodies, joints=joints)
    state = plain.state(joints={name: rng.uniform(-0.01, 0.01) for name in free})
    ends = mark("b3", (0.1, 0.0, 0.0)), mark("ground", (0.3, 0.3, 0.9))
    between = Motions(plain.layout, 0.0, state.q, state.v)(ends[0]).x - np.array(ends[1].at)
    link = (Rod, String)[seed % 2](a=ends[0], b=ends[1], length=float(np.linalg.norm(between)))
    floor = spatial.HalfSpace(name="floor", normal=(0.0, 0.0, 1.0), point=(0.0, 0.0, lowest(state) - 2e-4))
    system = SpatialSystem(
        bodies=bodies, joints=[*joints, *parts, *([link] if seed % 3 else [])], forces=forces, obstacles=[floor],
        contact=ContactLaw(mu=0.4, mu_s=0.5, eps_n=0.3, mu_r=0.01 if seed % 3 == 0 else 0.0),
    )  # fmt: skip
    return system, state


def lowest(state: State) -> float:
    """Return the height of the lowest point of all shapes."""
    found = []
    for k, pose in enumerate(state.q.reshape(-1, 7)):
        up = matrix_of(pose[3:])[2]
        size = (0.1, 0.05 + 0.15 * abs(up[2]), float(np.abs(up) @ (0.1, 0.08, 0.06)))[k % 3]
        found.append(float(pose[2]) - size)
    return min(found)


def planar_limb(rng: np.random.Generator, k: int) -> tuple[planar.PlanarBody, object]:
    """Return a body, and the joint that hangs it on one before it or on the ground."""
    on = "ground" if k == 0 else f"b{rng.integers(k)}"
    a, b = planar.Marker(f"b{k}", tuple(rng.uniform(-0.3, 0.3, 2))), planar.Marker(on, tuple(rng.uniform(-0.3, 0.3, 2)))
    kinds = (planar.Hinge, planar.Hinge, planar.Slider, planar.Slider, planar.Weld)
    kind = kinds[rng.integers(5 if k > 2 else 4)]
    more = {"direction": tuple(rng.normal(size=2)), "angle": rng.uniform(-1.0, 1.0)} if kind is planar.Slider else {}
    body = planar.PlanarBody(name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.1))
    return body, kind(name=f"j{k}", a=a, b=b, **more)


def linkage(seed: int) -> Case:
    """Return a random tree of bodies in the plane with all that acts on joints; it falls and meets its stops."""
    rng = np.random.default_rng(seed)
    limbs = [planar_limb(rng, k) for k in range(5)]
    joints = [joint for _, joint in limbs]
    free = [joint.name for joint in joints if joint.coordinate]
    parts: list[object] = []
    for k, name in enumerate(free):
        low, high = 0.011 + 0.002 * rng.uniform(size=2)
        kinds = (
            Limit(joint=name, low=-low, high=high, eps_n=0.5), Motor(joint=name, rate=1.0),
            JointFriction(joint=name, cap=0.3, cap_s=0.5), Motor(joint=name, rate=2.0, cap=0.4),
        )  # fmt: skip
        parts.append(kinds[(seed + k) % 4])
    if seed % 2:
        parts = [*parts[:1], Gear(joint=free[1], other=free[2], ratio=-1.5)]
    drives = [Drive(joint=free[0], effort=0.2, stiffness=5.0, damping=0.05, target=0.1)]
    drives.append(Drive(joint=free[-1], stiffness=8.0, damping=0.2, target=-0.2, rate=0.3))
    system = PlanarSystem(bodies=[body for body, _ in limbs], joints=[*joints, *parts], forces=drives)
    return system, system.state(joints={name: rng.uniform(-0.01, 0.01) for name in free})


def thing(rng: np.random.Generator, k: int) -> planar.PlanarBody:
    """Return a disc, a stadium, a polygon or two discs on one body."""
    size = rng.uniform(0.1, 0.2)
    angles = np.sort(rng.uniform(0.0, 0.4, 5)) + 2.0 * math.pi * np.arange(5) / 5
    shapes = (
        [Disc(radius=size)], [Stadium(a=(-size, 0.0), b=(size, 0.05), radius=0.06)],
        [Polygon(points=[(size * math.cos(a), size * math.sin(a)) for a in angles])],
        [Disc(radius=0.08, at=(-size, 0.0), name="l"), Disc(radius=0.1, at=(size, 0.0), name="r")],
    )[k % 4]  # fmt: skip
    return planar.PlanarBody(
        name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.01, 0.03), shapes=tuple(shapes)
    )


def pile(seed: int) -> Case:
    """Return things that fall into a trough, two of them on a hinge, on a belt and a block of the ground."""
    rng = np.random.default_rng(seed)
    bodies = [thing(rng, k + seed) for k in range(5)]
    names = [body.name for body in bodies]
    obstacles = [
        planar.HalfPlane(name="floor", belt=0.3), planar.HalfPlane(name="wall", normal=(1.0, 0.3), point=(-0.5, 0.0)),
        Polygon(name="block", points=[(0.3, -0.1), (0.7, -0.1), (0.6, 0.12), (0.35, 0.15)]),
    ]  # fmt: skip
    hinge = planar.Hinge(name="pin", a=planar.Marker(names[0], (0.2, 0.0)), b=planar.Marker(names[1], (-0.2, 0.0)))
    law = ContactLaw(mu=0.4, eps_n=0.4 * (seed % 3 == 0))  # no mu_s: with it there are several motions
    system = PlanarSystem(
        bodies=bodies, obstacles=obstacles, contact=law, joints=[hinge], forces=[Drive(joint="pin", effort=0.1)],
        pairs={("block", names[2]): None, ("floor", names[3]): ContactLaw()},
    )  # fmt: skip
    places = {name: (0.45 * (k % 2) - 0.1, 0.25 + 0.24 * k, rng.uniform(-3.0, 3.0)) for k, name in enumerate(names)}
    x, y, angle = places[names[0]]
    places[names[1]] = (x + 0.2 * math.cos(angle) + 0.2, y + 0.2 * math.sin(angle), 0.0)
    return system, system.state(places, {name: (0.0, -0.5, rng.normal()) for name in names[2:]})


def tumble(seed: int) -> Case:
    """Up to three balls and boxes thrown on a floor, without restitution."""
    rng = np.random.default_rng(seed)
    bodies, place, velocity = [], {}, {}
    for i in range(int(rng.integers(1, 4))):
        name, mass = f"b{i}", rng.uniform(0.5, 2.0)
        bodies.append(
            ball(name, mass=mass, radius=0.1) if rng.random() < 0.5 else brick(name, mass=mass, half=(0.1, 0.12, 0.08))
        )
        turn = rng.normal(size=4)
        place[name] = [*rng.uniform(-0.1, 0.1, 2), 0.22 + 0.35 * i, *(turn / np.linalg.norm(turn))]
        velocity[name] = [*(0.5 * rng.normal(size=3)), *(2.0 * rng.normal(size=3))]
    contact = ContactLaw(mu=rng.uniform(0.0, 0.8))
    system = SpatialSystem(bodies=bodies, obstacles=[spatial.HalfSpace(name="floor")], contact=contact)
    return system, system.state(place, velocity)
