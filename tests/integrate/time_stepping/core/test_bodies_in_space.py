"""Bodies in space by the compiled step: the same steps as the interpreted scheme takes, for random mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from step_pairs import apart

from gaussdyn import ContactLaw, MoreauJean
from gaussdyn.integrate.time_stepping.core.advance import CoreStep
from gaussdyn.linalg.rotations import matrix_of, pointing
from gaussdyn.mechanics.collision.shapes import Box, HalfSpace, Sphere
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.joints.limits_motors import Gear, JointFriction, Limit, Motor
from gaussdyn.mechanics.spatial.bodies import SpatialBody, brick
from gaussdyn.mechanics.spatial.forces import Drag, Force, Load, Shaking, Spring
from gaussdyn.mechanics.spatial.joint_table import Bond
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Joint, Slider, Universal, Weld
from gaussdyn.mechanics.spatial.kinematics import Motions, SpatialMarker, mark
from gaussdyn.mechanics.spatial.links import Rod, String
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

JOINTS = (BallJoint, Hinge, Universal, Slider, Weld)


def limb(rng: np.random.Generator, k: int) -> tuple[SpatialBody, Joint]:
    """Return a body, and the joint that hangs it on one before it or on the ground."""
    turn = pointing(rng.normal(size=3))
    body = SpatialBody(name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.03, 3))
    on = "ground" if k == 0 else f"b{rng.integers(k)}"
    a = SpatialMarker(body.name, tuple(rng.uniform(-0.2, 0.2, 3)), turn)
    b = SpatialMarker(on, tuple(rng.uniform(-0.2, 0.2, 3) + np.array([0.0, 0.0, 1.0 * (k == 0)])), turn)
    return body, JOINTS[rng.integers(len(JOINTS) - (k == 0))](name=f"j{k}", a=a, b=b)


def mechanism(seed: int) -> tuple[SpatialSystem, State]:
    """Return a random tree of bodies just above a floor, with all there is; it falls and meets its stops."""
    rng = np.random.default_rng(seed)
    limbs = [limb(rng, k) for k in range(4)]
    bodies, joints = [body for body, _ in limbs], [joint for _, joint in limbs]
    free = [joint.name for joint in joints if joint.coordinate]
    parts: list[Bond] = []
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
    forces: list[Force] = [
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
    floor = HalfSpace(name="floor", normal=(0.0, 0.0, 1.0), point=(0.0, 0.0, lowest(state) - 2e-4))
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


@pytest.mark.parametrize("seed", range(10))
def test_steps_are_those_of_the_interpreted_scheme(seed: int) -> None:
    """Velocities, places, rows that act and work of random mechanisms, with a control, step by step."""
    system, state = mechanism(seed)
    kernels, plain, same = MoreauJean(dt=2e-3), MoreauJean(dt=2e-3, compiled=False), 0
    push = np.random.default_rng(seed).normal(size=system.nv)
    for _ in range(8):
        step, other = (one.advance(system, state, 1.0, control=lambda t, s: push) for one in (kernels, plain))
        if not other.solution.solved:
            break
        if isinstance(step, CoreStep):
            same += 1
            assert step.solution.residuals is not None
            assert step.solution.residuals.E <= 1e-10
            assert apart(step, other) <= 1e-8
        state = other.state
    assert same >= 4


def test_a_body_that_joints_hold_altogether_may_be_touched() -> None:
    """W of its contacts is nothing but the rounding of what joints take away; the ball on it rests all the same."""
    weld = Weld(name="nail", a=mark("plate", (0.1, -0.2, 0.05)), b=mark("ground", (0.1, -0.2, 0.05)))
    plate = SpatialBody(name="plate", mass=0.3, inertia=(2e-3, 1e-3, 3e-3), shapes=[Box(half=(0.5, 0.4, 0.1))])
    ball = SpatialBody(name="ball", mass=1.0, inertia=(4e-3,) * 3, shapes=[Sphere(radius=0.1)])
    floor = HalfSpace(name="floor", normal=(0.0, 0.0, 1.0), point=(0.0, 0.0, -0.1))
    system = SpatialSystem(
        bodies=[plate, ball], joints=[weld], obstacles=[floor], contact=ContactLaw(mu=0.5),
        pairs={("floor", "plate"): ContactLaw(mu=0.5)},
    )  # fmt: skip
    state = system.state({"ball": (0.2, 0.1, 0.2)})
    for compiled in (True, False):
        step = MoreauJean(dt=1e-3, compiled=compiled).advance(system, state, 1.0)
        assert step.solution.solved
        assert np.abs(step.state.v).max() <= 1e-12
        pushes = [p[0] for key, p in step.reactions.items() if "ball" in key]
        assert sum(pushes) == pytest.approx(9.81e-3, rel=1e-9)


def test_what_friction_holds_does_not_creep_while_what_hangs_on_it_swings() -> None:
    """The box stands on its friction alone; two rods on ball joints swing from its edge."""
    box, half = brick("box", mass=4.0, half=(0.2, 0.1, 0.05)), math.sqrt(0.5)
    rods = [SpatialBody(name=name, mass=0.1, inertia=(2e-3, 2e-3, 1e-4)) for name in ("upper", "lower")]
    pins = [("box", (0.2, 0.0, 0.0), "upper"), ("upper", (0.0, 0.0, -0.25), "lower")]
    joints = [BallJoint(name=rod, a=mark(rod, (0.0, 0.0, 0.25)), b=mark(on, at)) for on, at, rod in pins]
    system = SpatialSystem(
        bodies=[box, *rods], joints=joints, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.8)
    )
    level = (half, 0.0, -half, 0.0)
    state = system.state(
        {"box": (0.0, 0.0, 0.05), "upper": (0.45, 0.0, 0.05, *level), "lower": (0.95, 0.0, 0.05, *level)}
    )
    for _ in range(50):
        step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
        assert isinstance(step, CoreStep)
        state = step.state
        assert np.abs(state.v[:6]).max() <= 1e-20
    assert np.abs(state.v[6:]).max() > 0.1
