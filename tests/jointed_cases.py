"""Random mechanisms in space, the same in the coordinates of bodies and of joints."""

from __future__ import annotations

import numpy as np

from gaussdyn import ContactLaw, SpatialSystem, State
from gaussdyn.linalg.rotations import exponential
from gaussdyn.mechanics import spatial
from gaussdyn.mechanics.spatial.poses import composed, marker_pose
from gaussdyn.mechanics.trees.jointed_system import JointedSystem

KINDS = (spatial.Hinge, spatial.Slider, spatial.BallJoint, spatial.Universal, spatial.Weld)


def marker(rng: np.random.Generator, body: str) -> spatial.SpatialMarker:
    return spatial.SpatialMarker(body, tuple(0.2 * rng.normal(size=3)), tuple(exponential(rng.normal(size=3))))


def both(parts: dict[str, object]) -> tuple[SpatialSystem, JointedSystem]:
    here, there = (SpatialSystem(**parts, coordinates=name) for name in ("joints", "bodies"))
    assert isinstance(here, JointedSystem)
    return there, here


def random_parts(seed: int, *, forces: bool = True, others: bool = True) -> dict[str, object]:
    """A tree of two to five bodies, on the ground or free, with what acts on its joints."""
    rng = np.random.default_rng(seed)
    names = ["one", "two", "three", "four", "five"][: int(rng.integers(2, 6))]
    bodies = [
        spatial.SpatialBody(name=name, mass=float(rng.uniform(0.5, 2.0)), inertia=tuple(rng.uniform(0.1, 0.15, 3)),
                            shapes=(spatial.Sphere(radius=0.15), spatial.Box(half=(0.1, 0.2, 0.1), name="box")))
        for name in names
    ]  # fmt: skip
    joints: list[object] = []
    for k, name in enumerate(names):
        on = ["ground", *names[:k]][int(rng.integers(0, k + 1))]
        if k == 0 and rng.random() < 0.5:
            continue
        ends = (marker(rng, name), marker(rng, on))
        a, b = ends if rng.random() < 0.5 else ends[::-1]
        joints.append(KINDS[int(rng.integers(len(KINDS)))](name=f"j{k}", a=a, b=b))
    scalars = [one.name for one in joints if isinstance(one, (spatial.Hinge, spatial.Slider))]
    parts: list[object] = [spatial.Limit(joint=name, low=-1.5, high=1.2) for name in scalars[:2]]
    parts += [spatial.JointFriction(joint=name, cap=0.5) for name in scalars[:1]]
    if others:
        parts += [spatial.Motor(joint=name, rate=0.7, cap=2.0) for name in scalars[:1]]
        parts += [spatial.JointFriction(joint=name, cap=0.5, cap_s=0.8) for name in scalars[1:2]]
        parts += [spatial.Gear(joint=scalars[0], other=scalars[1], ratio=1.5)] if len(scalars) > 1 else []
        parts += [spatial.Rod(a=marker(rng, names[0]), b=marker(rng, names[-1]), length=0.8)]
        parts += [spatial.String(a=marker(rng, names[0]), b=marker(rng, "ground"), length=0.9)]
    pushes: list[object] = []
    if forces:
        pushes = [
            spatial.Spring(a=marker(rng, names[-1]), b=marker(rng, "ground"), stiffness=20.0, length=0.3, damping=0.7),
            spatial.Drag(point=marker(rng, names[0]), damping=0.3, spin_damping=0.1),
            spatial.Load(point=marker(rng, names[-1]), force_xyz=(1.0, -2.0, 0.5), moment=(0.1, 0.2, -0.3)),
            spatial.Load(point=marker(rng, names[1]), force_xyz=(1.0, 2.0, -1.0), moment=(0.1, 0.2, 0.3)),
            spatial.Shaking(amplitude=2.0, frequency=3.0),
            *(spatial.Drive(joint=name, stiffness=5.0, damping=0.4, target=0.3) for name in scalars),
            *(
                spatial.Drive(joint=name, effort=0.7, stiffness=2.0, target=4.0, damping=0.2, rate=0.9)
                for name in scalars
            ),
        ]
    return {
        "bodies": bodies, "joints": [*joints, *parts], "forces": pushes, "contact": ContactLaw(mu=0.4),
        "obstacles": [spatial.HalfSpace(name="floor", point=(0.0, 0.0, -0.4))],
    }  # fmt: skip


def random_state(system: JointedSystem, seed: int) -> State:
    """A state of joints within their limits."""
    rng = np.random.default_rng([seed, 1])
    q = system.move(system.tree.state().q, rng.uniform(-1.0, 1.0, size=system.nv), 1.0)
    return State(q=q, v=rng.normal(size=system.nv))


def closed(parts: dict[str, object], seed: int, kind: type) -> tuple[dict[str, object], State]:
    """The same with a joint more, which closes a loop or ties a free body, and a state of the bodies where it fits."""
    _, here = both(parts)
    rng = np.random.default_rng([seed, 2])
    state = random_state(here, seed)
    there = here.in_bodies(state)
    name, pose = here.bodies[-1].name, there.q[-7:]
    free = marker(rng, name)
    at = composed(pose, marker_pose(free))
    end = spatial.SpatialMarker("ground", tuple(at[:3]), tuple(at[3:]))
    return {**parts, "joints": [*parts["joints"], kind(name="last", a=free, b=end)]}, there  # type: ignore[misc]
