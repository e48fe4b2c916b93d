"""Trees that several tests share."""

from __future__ import annotations

import numpy as np

from gaussdyn import ContactLaw, State
from gaussdyn.mechanics import spatial, trees

INERTIA = ((0.011, 0.001, 0.002), (0.001, 0.02, 0.003), (0.002, 0.003, 0.025))


def link(name: str, parent: str, *joints: trees.TreeJoint, **values: object) -> trees.TreeBody:
    """A body of 0.7 kg whose mass centre is off its frame."""
    given: dict[str, object] = {"mass": 0.7, "centre": (0.12, 0.03, -0.02), "inertia": INERTIA} | values
    return trees.TreeBody(name=name, parent=parent, joints=joints, **given)  # type: ignore[arg-type]


def zoo(loops: bool = True) -> trees.TreeSystem:
    """Every kind of joint and part, in two trees."""
    joint = trees.TreeJoint
    bodies = [
        link("trunk", "ground", joint(name="root", motion="free"), shapes=(spatial.Sphere(radius=0.2),)),
        link("arm", "trunk", joint(name="shoulder", motion="ball", at=(0.1, 0.02, 0.0), stiffness=3.0, damping=0.3,
                                   high=0.6, friction=0.2), at=(0.3, 0.0, 0.1), turn=(0.8, 0.6, 0.0, 0.0)),
        link("hand", "arm", joint(name="elbow", axis=(1.0, 2.0, 0.0), at=(0.0, 0.1, 0.0), zero=0.3, stiffness=2.0,
                                  rest=(0.2,), armature=0.1, low=-1.0, high=1.2, effort_low=-1.0, effort_high=1.0),
             joint(name="reach", motion="slide", axis=(0.0, 1.0, 1.0), damping=0.3), at=(0.4, 0.0, 0.0),
             shapes=(spatial.Capsule(radius=0.05, half_length=0.1, at=(0.1, 0.0, 0.0)),), lift=0.4),
        link("nail", "hand", at=(0.1, 0.0, 0.05)),
        link("pole", "ground", joint(name="hip", axis=(0.0, 1.0, 0.0), friction=0.3, damping=0.1),
             at=(1.5, 0.0, 0.5), shapes=(spatial.Box(half=(0.1, 0.05, 0.2)),)),
        link("tip", "pole", joint(name="knee", axis=(1.0, 0.0, 0.3)), at=(0.0, 0.0, 0.4)),
    ]  # fmt: skip
    parts = [
        trees.Tendon(name="cable", factors={"elbow": 0.4, "reach": -0.7}, stiffness=4.0, damping=0.3, slack=(0.1, 0.2),
                     low=-1.0, high=2.0, friction=0.1),
        trees.JointEquality(name="cam", one="hip", other="knee", coefficients=(0.1, 0.2, 0.3, 0.4, 0.5)),
        trees.Connect(name="pin", a="hand", b="trunk", at_a=(0.1, 0.2, 0.3), at_b=(0.3, 0.1, 0.0)),
        trees.Connect(name="bolt", a="nail", b="arm", at_a=(0.1, 0.3, 0.2), turn=(0.8, 0.0, 0.6, 0.0)),
    ]  # fmt: skip
    actuators = [
        trees.Actuator(name="servo", factors={"elbow": 3.0}, gain=(10.0, 0.0, 0.0), bias=(0.0, -10.0, -2.0)),
        trees.Actuator(name="winch", factors={"elbow": 0.8, "reach": -1.4}, control_low=-0.5, control_high=0.5),
        trees.Actuator(name="motor", factors={"knee": 2.0}, gain=(1.0, 0.3, 0.2), force_low=-0.3, force_high=0.4),
    ]
    return trees.TreeSystem(
        bodies=bodies, parts=parts if loops else parts[:2], actuators=actuators, gravity=(1.0, 2.0, -9.0),
        contact=ContactLaw(mu=0.5), obstacles=[spatial.HalfSpace(name="floor")],
        fluid=trees.Fluid(density=30.0, viscosity=0.2),
    )  # fmt: skip


def five_bar_legs(askew: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> trees.TreeSystem:
    """A trunk on three legs of five bars each, whose ankles are pins that close a loop in the plane of the leg.

    askew: by which angles the planes of the legs are turned about the vertical, rad.
    """
    hinge, bodies, pins = ((0.0, 1.0, 0.0), [], [])
    joint = trees.TreeJoint
    root = joint(name="root", motion="free")
    box = (spatial.Box(half=(0.2, 0.12, 0.04)),)
    bodies.append(link("trunk", "ground", root, centre=(0.0, 0.0, 0.0), shapes=box))
    for k, (x, y) in enumerate(((0.14, 0.12), (0.14, -0.12), (-0.22, 0.0))):
        angle = askew[k]
        turned = (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle))
        for side, at, turn in (("back", 0.0, -1.0), ("front", 0.08, 1.0)):
            name = f"{side}{k}"
            motor = joint(name=f"hip_{name}", axis=hinge, stiffness=30.0, damping=0.2, armature=0.005)
            knee = joint(name=f"knee_{name}", axis=hinge, damping=0.02)
            hip = (x + at * np.cos(angle), y + at * np.sin(angle), 0.0)
            bodies.append(link(f"thigh_{name}", "trunk", motor, at=hip, turn=turned, centre=(0.06 * turn, 0.0, -0.06)))
            foot = (spatial.Sphere(radius=0.02, at=(0.16, 0.0, -0.16)),) if side == "back" else ()
            bodies.append(link(f"shin_{name}", f"thigh_{name}", knee, at=(0.12 * turn, 0.0, -0.12),
                               centre=(-0.08 * turn, 0.0, -0.08), shapes=foot))  # fmt: skip
        ends = (f"shin_back{k}", f"shin_front{k}")
        pins.append(trees.Connect(name=f"pin{k}", a=ends[0], at_a=(0.16, 0.0, -0.16), b=ends[1],
                                  at_b=(-0.16, 0.0, -0.16)))  # fmt: skip
    floor = [spatial.HalfSpace(name="floor")]
    return trees.TreeSystem(bodies=bodies, parts=pins, obstacles=floor, contact=ContactLaw(mu=0.8))


def random_state(system: trees.TreeSystem, seed: int) -> State:
    """A state with all joints somewhere, the free bodies above the floor."""
    rng = np.random.default_rng(seed)
    start = system.state()
    q = system.move(start.q, 0.5 * rng.normal(size=system.nv), 1.0)
    q[system.coordinates("root")][2] += 3.0
    return State(q=q, v=rng.normal(size=system.nv))


def chain(links: int = 3) -> trees.TreeSystem:
    """A free body with hinges after it, about axes that are not parallel, without gravity or losses."""
    axes = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.2), (0.0, 0.0, 1.0))
    bodies = [link("base", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0.0, 0.0, 0.0))]
    for k in range(links):
        joint = trees.TreeJoint(name=f"hinge{k}", axis=axes[k % 3], at=(-0.2, 0.0, 0.0))
        before = bodies[-1].name
        bodies.append(link(f"link{k}", before, joint, at=(0.4, 0.0, 0.0), centre=(0.0, 0.0, 0.0)))
    return trees.TreeSystem(bodies=bodies, gravity=(0.0, 0.0, 0.0))
