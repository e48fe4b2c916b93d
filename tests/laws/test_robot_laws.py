"""Robots under random controls: whatever dt, with corrections or without, runs pass their audits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stepping_cases as cases
from evidence import first
from tree_cases import link

from gaussdyn import ContactLaw, MoreauJean, read_robot, simulate
from gaussdyn.analysis.audit import audit
from gaussdyn.mechanics import spatial, trees
from gaussdyn.mechanics.trees import TreeSystem

ROOT = Path(__file__).resolve().parents[2]
CASES = [(name, dt) for dt in (2e-3, 1e-3, 5e-3) for name in ("legged", "hopper", 0, 1, 3)]


def legged() -> TreeSystem:
    """Return a trunk on four legs with dry joints, dampers, limits and motors, whose feet are balls."""
    joint, bodies, motors = trees.TreeJoint, [], []
    bodies.append(
        link("trunk", "ground", joint(name="root", motion="free"), mass=5.0, centre=(0.0, 0.0, 0.0),
             inertia=np.diag([0.02, 0.06, 0.07]), shapes=(spatial.Box(half=(0.18, 0.05, 0.05)),))
    )  # fmt: skip
    for leg, (x, y) in enumerate([(0.18, 0.1), (0.18, -0.1), (-0.18, 0.1), (-0.18, -0.1)]):
        hip, knee = (
            joint(
                name=f"{name}{leg}", axis=(0.0, 1.0, 0.0), low=low, high=high, damping=0.1, friction=0.05, armature=0.01
            )
            for name, low, high in (("hip", -1.0, 3.0), ("knee", -2.6, -0.8))
        )
        foot = spatial.Sphere(radius=0.02, at=(0.0, 0.0, -0.2))
        bodies += [
            link(f"thigh{leg}", "trunk", hip, at=(x, y, 0.0), centre=(0.0, 0.0, -0.03)),
            link(f"shank{leg}", f"thigh{leg}", knee, at=(0.0, 0.0, -0.2), mass=0.2, centre=(0.0, 0.0, -0.1),
                 shapes=(foot,)),
        ]  # fmt: skip
        motors += [trees.Actuator(name=one.name, factors={one.name: 1.0}) for one in (hip, knee)]
    floor = spatial.HalfSpace(name="floor")
    return TreeSystem(bodies=bodies, actuators=motors, obstacles=[floor], contact=ContactLaw(mu=0.8))


def hopper() -> TreeSystem:
    """Return a trunk that slides in a plane, on a leg with two joints and a foot with two ends."""
    joint = trees.TreeJoint
    root = [
        joint(name="x", motion="slide", axis=(1.0, 0.0, 0.0)),
        joint(name="z", motion="slide", axis=(0.0, 0.0, 1.0)),
    ]
    leg = [joint(name=f"j{k}", axis=(0.0, 1.0, 0.0), low=-2.6, high=0.0, damping=0.2, armature=0.02) for k in range(2)]
    foot = spatial.Capsule(
        radius=0.05, half_length=0.15, at=(0.0, 0.0, -0.4), turn=(0.7071067811865476, 0.0, 0.7071067811865476, 0.0)
    )
    bodies = [
        link("trunk", "ground", *root, mass=3.0, centre=(0.0, 0.0, 0.0)),
        link("thigh", "trunk", leg[0], centre=(0.0, 0.0, -0.2)),
        link("shank", "thigh", leg[1], at=(0.0, 0.0, -0.4), centre=(0.0, 0.0, -0.2), shapes=(foot,)),
    ]
    motors = [trees.Actuator(name=one.name, factors={one.name: 3.0}) for one in leg]
    floor = spatial.HalfSpace(name="floor")
    return TreeSystem(bodies=bodies, actuators=motors, obstacles=[floor], contact=ContactLaw(mu=0.9))


def case(name: str | int):
    """Return a robot and where it starts."""
    if name == "legged":
        system = legged()
        bent = {f"hip{leg}": 0.7 for leg in range(4)} | {f"knee{leg}": -1.4 for leg in range(4)}
        return system, system.state({"root": (0.0, 0.0, 0.34), **bent})
    if name == "hopper":
        system = hopper()
        return system, system.state({"z": 0.92})
    return cases.tree(int(name))


def told(system: TreeSystem, size: float):
    """Return a control that jumps from time to time."""
    draw = size * np.random.default_rng(7).uniform(-1.0, 1.0, (40, len(system.actuators)))
    return lambda t, state: draw[min(int(20.0 * t), 39)]


@pytest.mark.parametrize(
    ("name", "dt", "corrections"),  # first each of two robots in one of the ways, the other one as the slow ones
    first(2, [(*case, (k % 2 == 0) == one) for one in (True, False) for k, case in enumerate(CASES)]),
)
def test_runs_of_robots_pass_their_audits(name, dt, corrections):
    system, start = case(name)
    for size in (0.0, 2.0):
        stepper = MoreauJean(dt=dt, corrections=corrections)
        run = simulate(system, start, 0.17, stepper=stepper, control=told(system, size))
        verdict = audit(run, system)
        assert run.status == "COMPLETED", run.stop
        assert run.event_counts["touchdown"] > 0
        assert run.steps.E.max() <= 1e-10
        assert verdict.passed, verdict.explain()


@pytest.mark.parametrize("corrections", [True, False])
@pytest.mark.parametrize("dt", first(1, [2e-3, 1e-3]))
def test_runs_of_a_robot_from_a_file_pass_their_audits(dt, corrections):
    pytest.importorskip("mujoco", reason="MJCF is read by the extra mjcf")
    robot = read_robot(ROOT / "examples" / "quadruped.xml")
    system = robot.system()
    start = robot.start(project=True)
    for size in (0.0, 1.0):
        run = simulate(
            system, start, 0.5, stepper=MoreauJean(dt=dt, corrections=corrections), control=told(system, size)
        )
        verdict = audit(run, system)
        assert verdict.passed, verdict.explain()
