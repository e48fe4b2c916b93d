"""What acts on the joints of planar bodies by the compiled step: the steps of the interpreted scheme."""

from __future__ import annotations

import numpy as np
import pytest
from step_pairs import apart

from gaussdyn import MoreauJean, PlanarSystem, State
from gaussdyn.integrate.time_stepping.core.advance import CoreStep
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.planar import Hinge, Marker, PlanarBody, Slider, Weld
from gaussdyn.mechanics.planar.joints import Joint
from gaussdyn.mechanics.planar.spec import Bond


def limb(rng: np.random.Generator, k: int) -> tuple[PlanarBody, Joint]:
    """Return a body, and the joint that hangs it on one before it or on the ground."""
    on = "ground" if k == 0 else f"b{rng.integers(k)}"
    a, b = Marker(f"b{k}", tuple(rng.uniform(-0.3, 0.3, 2))), Marker(on, tuple(rng.uniform(-0.3, 0.3, 2)))
    kinds = (Hinge, Hinge, Slider, Slider, Weld)
    kind = kinds[rng.integers(5 if k > 2 else 4)]
    more = {"direction": tuple(rng.normal(size=2)), "angle": rng.uniform(-1.0, 1.0)} if kind is Slider else {}
    body = PlanarBody(name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.1))
    return body, kind(name=f"j{k}", a=a, b=b, **more)


def linkage(seed: int) -> tuple[PlanarSystem, State]:
    """Return a random tree of bodies in the plane with all that acts on joints; it falls and meets its stops."""
    rng = np.random.default_rng(seed)
    limbs = [limb(rng, k) for k in range(5)]
    joints = [joint for _, joint in limbs]
    free = [joint.name for joint in joints if joint.coordinate]
    parts: list[Bond] = []
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


@pytest.mark.parametrize("seed", range(10))
def test_steps_are_those_of_the_interpreted_scheme(seed: int) -> None:
    """Velocities, places, rows that act and work of random linkages, with a control, step by step."""
    system, state = linkage(seed)
    kernels, plain = MoreauJean(dt=2e-3), MoreauJean(dt=2e-3, compiled=False)
    push, same = np.random.default_rng(seed).normal(size=system.nv), 0
    for _ in range(12):
        step, other = (one.advance(system, state, 1.0, control=lambda t, s: push) for one in (kernels, plain))
        if isinstance(step, CoreStep):
            same += 1
            assert apart(step, other) <= 1e-9
        state = other.state
    assert same >= 8
