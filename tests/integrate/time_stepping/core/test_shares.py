"""Which of several solutions a step takes: that to which blocks lead that are equally soft, as they harden."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, audit, simulate
from gaussdyn.linalg.rotations import pointing
from gaussdyn.mechanics import spatial

GRIP, MU, MASS, RAISED = 3.9, 0.5, 0.4, 0.1  # N, 1, kg, m/s
WHEELS = {"fl": (0.8, 0.85), "fr": (0.8, -0.85), "rl": (-0.7, 0.85), "rr": (-0.7, -0.85)}  # m
RADIUS, RATE, CAP = 0.3, 12.0, 20.0  # m, rad/s, N m


def gripper(coordinates: str, breadth: float) -> SpatialSystem:
    """Return two jaws that press a part between them while they rise, a little too weakly to hold it.

    Rigid jaws may press as hard as they like at each of their corners, as long as sums and two moments are right, and
    friction then turns the part: its motion is not unique.
    """
    jaws = [spatial.brick(name, mass=0.1, half=(0.005, breadth, 0.04)) for name in ("left", "right")]
    rises = spatial.Slider(name="rises", a=spatial.mark("hand"), b=spatial.mark("ground", (0, 0, 0.2)))
    slides = [
        spatial.Slider(
            name=f"on_{jaw.name}",
            a=spatial.mark(jaw.name, (0, 0, 0.06), axis=(1, 0, 0)),
            b=spatial.mark("hand", axis=(1, 0, 0)),
        )
        for jaw in jaws
    ]
    held = {("part", jaw.name): ContactLaw(mu=MU) for jaw in jaws}
    apart = [("left", "right"), ("hand", "part"), ("hand", "left"), ("hand", "right")]
    return SpatialSystem(
        bodies=[
            spatial.brick("hand", mass=0.5, half=(0.1, 0.03, 0.02)),
            *jaws,
            spatial.brick("part", mass=MASS, half=(0.03, 0.02, 0.03)),
        ],
        joints=[rises, *slides, spatial.Motor(joint="rises", rate=RAISED)],
        forces=[spatial.Drive(joint="on_left", effort=GRIP), spatial.Drive(joint="on_right", effort=-GRIP)],
        pairs=held | dict.fromkeys(apart),
        coordinates=coordinates,
    )


@pytest.mark.parametrize("breadth", [0.015, 0.02])
@pytest.mark.parametrize("coordinates", ["bodies", "joints"])
def test_a_part_that_slips_between_jaws_does_not_begin_to_turn(coordinates: str, breadth: float) -> None:
    """Jaws narrower than the part, and flush with it, where contacts come and go by rounding."""
    hand = gripper(coordinates, breadth)
    start = hand.state(
        {"part": (0, 0, 0.03)}, joints={"rises": -0.11, "on_left": -0.035, "on_right": 0.035}, rates={"rises": RAISED}
    )
    run = simulate(hand, start, 0.2, stepper=MoreauJean(dt=2e-3))
    assert run.status == "COMPLETED"
    assert np.abs([run[f"part.w{axis}"] for axis in "xyz"]).max() <= 1e-6
    lifted = 2.0 * MU * GRIP / MASS - 9.81
    assert np.allclose(run["part.vz"], lifted * run.t, rtol=0.0, atol=1e-9)
    shares = [contact.reaction[0] for contact in run.contacts(-1) if contact.id.startswith("part:")]
    assert np.allclose(shares, np.mean(shares), rtol=1e-4)


def car(coordinates: str) -> SpatialSystem:
    """Return a body on four wheels that motors turn at one rate."""
    bodies, joints = [spatial.brick("body", mass=100.0, half=(1.0, 0.5, 0.2))], []
    for name, (x, y) in WHEELS.items():
        tyre = (spatial.Sphere(radius=RADIUS),)
        bodies.append(spatial.SpatialBody(name=name, mass=8.0, inertia=(0.2, 0.2, 0.36), shapes=tyre))
        axle = spatial.mark("body", (x, y, -0.3), axis=(0, 1, 0))
        joints.append(spatial.Hinge(name=f"axle_{name}", a=spatial.mark(name), b=axle))
        joints.append(spatial.Motor(joint=f"axle_{name}", rate=RATE, cap=CAP))
    floor = spatial.HalfSpace(name="floor")
    return SpatialSystem(
        bodies=bodies, joints=joints, obstacles=[floor], contact=ContactLaw(mu=0.8), coordinates=coordinates
    )


@pytest.mark.parametrize("coordinates", ["bodies", "joints"])
def test_motors_that_hold_one_rate_do_not_push_against_one_another(coordinates: str) -> None:
    """At steady speed nothing is needed; what they pushed with before could go on for ever over the ground."""
    slow, trees = RATE - 0.5, car("joints")
    rates = {f"axle_{name}": slow for name in WHEELS}
    start = trees.state({"body": (0, 0, 0.6)}, {"body": (slow * RADIUS, 0.2, 0, 0, 0, 0.1)}, rates=rates)
    system = car(coordinates)
    run = simulate(
        system, start if coordinates == "joints" else trees.in_bodies(start), 0.2, stepper=MoreauJean(dt=5e-3)
    )
    torques = np.array([run[f"axle_{name}.motor_torque"] for name in WHEELS])
    assert run.status == "COMPLETED"
    assert np.abs(torques[:, 1:3]).min() > 1.0  # while they speed it up
    assert np.abs(torques[:, run.t > 0.12]).max() <= 1e-4 * CAP


@pytest.mark.parametrize("coordinates", ["bodies", "joints"])
def test_friction_in_a_slider_that_a_rod_locks_bears_nothing(coordinates: str) -> None:
    """Any share within its cap would do, and rounding of what cannot move has it at one of them: the least is none."""
    along, turn = np.array([1.0, 2.0, -1.5]), pointing((1.0, 2.0, -1.5))
    at, far = np.array([0.05, 0.02, 0.03]), np.array([0.7, 1.1, -0.9])
    rail = spatial.Slider(
        name="rail", a=spatial.SpatialMarker("a", turn=turn), b=spatial.SpatialMarker("ground", turn=turn)
    )
    ends, length = (spatial.mark("a", tuple(at)), spatial.mark("ground", tuple(far))), float(np.linalg.norm(far - at))
    rod = spatial.Rod(name="rod", a=ends[0], b=ends[1], length=length)
    system = SpatialSystem(
        bodies=[spatial.ball("a", mass=1.0, radius=0.1)],
        joints=[rail, spatial.JointFriction(joint="rail", cap=0.5), rod],
        coordinates=coordinates,
    )
    run = simulate(system, system.state({"a": (0, 0, 0)}), 0.02, stepper=MoreauJean(dt=1e-3))
    assert not run["rail.friction_force"].any()
    weight = 9.81 * along[2] / (along @ (far - at) / length)  # along the rail, by the rod alone
    assert np.allclose(np.abs(run["rod.r"][1:]), abs(weight), rtol=1e-9)


def test_the_audit_calls_what_joints_hold_anything() -> None:
    """A slider that a hinge locks: its rate is of rounding, and changes its sign without an event."""
    bricks = [spatial.brick(name, mass=m, half=(0.1, 0.05, 0.05)) for name, m in (("b", 1.0), ("c", 0.5))]
    across, mark = (0, 1, 0), spatial.mark
    joints = [
        spatial.Hinge(name="h", a=mark("b", (-0.1, 0, 0), axis=across), b=mark("ground", axis=across)),
        spatial.Hinge(name="k", a=mark("c", (-0.1, 0, 0), axis=across), b=mark("b", (0.1, 0, 0), axis=across)),
        spatial.Slider(name="zz", a=mark("b", (0.05, 0.01, 0.02)), b=mark("ground", (0.15, 0.01, 0.02))),
        spatial.JointFriction(joint="zz", cap=1.0),
    ]
    system = SpatialSystem(bodies=bricks, joints=joints)
    run = simulate(system, system.state(joints={}), 0.08, stepper=MoreauJean(dt=2e-3))
    checked = audit(run, system)
    assert checked.passed, checked.explain()
