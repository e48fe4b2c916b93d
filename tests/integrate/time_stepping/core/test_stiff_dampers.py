"""Dampers and drags that are many times the mass: steps are solved as others are, and none is cut."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import MoreauJean, PlanarSystem, SpatialSystem, audit, simulate
from gaussdyn.mechanics import planar
from gaussdyn.mechanics.spatial import BallJoint, Drag, Hinge, SpatialBody, Spring, mark

INERTIA = (0.01, 0.02, 0.03)
PIVOT = mark("a", (0.0, 0.0, 0.3)), mark("ground", (0.0, 0.0, 1.0))
JOINTS = {
    "free": (),
    "hinge": (Hinge(name="h", a=PIVOT[0], b=PIVOT[1]),),
    "ball": (BallJoint(name="h", a=PIVOT[0], b=PIVOT[1]),),
}


@pytest.mark.parametrize("damping", [1e2, 1e4])
def test_a_drag_takes_the_mean_velocity_however_stiff_it_is(damping: float) -> None:
    """In one direction: v+ = v (1 - a) / (1 + a) with a = dt c / 2 m, and turns likewise; the trapezoidal rule."""
    dt, spin = 1e-2, 0.1 * damping
    system = SpatialSystem(
        bodies=[SpatialBody(name="a", mass=2.0, inertia=INERTIA)], gravity=(0.0, 0.0, 0.0),
        forces=[Drag(point=mark("a"), damping=damping, spin_damping=spin)],
    )  # fmt: skip
    run = simulate(
        system,
        system.state({"a": (0.0,) * 3}, {"a": (1.0, 0.0, 0.0, 0.0, 0.0, 3.0)}),
        3 * dt,
        stepper=MoreauJean(dt=dt),
    )
    for j, v, size in ((0, 1.0, 2.0), (5, 3.0, 0.03)):
        a = 0.5 * dt * (damping if j == 0 else spin) / size
        assert run.v[-1, j] == pytest.approx(v * ((1.0 - a) / (1.0 + a)) ** 3, rel=1e-11)


@pytest.mark.parametrize("damping", [10.0, 1e4])
@pytest.mark.parametrize("joint", JOINTS)
def test_no_step_is_cut_by_a_stiff_drag(joint: str, damping: float) -> None:
    """Beside a joint, and gyroscopic moments that passes follow by a slope."""
    w, dt = np.array((1.0, 2.0, 3.0)) if joint != "hinge" else np.array((0.0, 0.0, 3.0)), 1e-2
    drag = Drag(
        point=mark("a", (0.0, 0.3, 0.0)), damping=damping, spin_damping=0.0 if joint == "ball" else 0.1 * damping
    )
    system = SpatialSystem(
        bodies=[SpatialBody(name="a", mass=1.0, inertia=INERTIA)], joints=JOINTS[joint], forces=[drag]
    )
    v = np.cross(w, (0.0, 0.0, -0.3)) if joint == "ball" else np.zeros(3)
    run = simulate(system, system.state({"a": (0.0, 0.0, 0.7)}, {"a": (*v, *w)}), 0.1, stepper=MoreauJean(dt=dt))
    assert (run.status, run.statistics["steps"], dict(run.event_counts)) == ("COMPLETED", 10, {})
    assert audit(run, system).passed


def test_passes_that_follow_a_slope_do_not_count_dampers_twice() -> None:
    """A body that spins fast, on a stiff damper: passes follow dh/dv, which has the damper in it."""
    body = SpatialBody(name="a", mass=0.1, inertia=INERTIA)
    damper = Spring(
        a=mark("a", (0.05, 0.02, 0.1)), b=mark("ground", (0.0, 0.3, 0.5)), stiffness=10.0, length=0.3, damping=1e3
    )
    system = SpatialSystem(bodies=[body], joints=[BallJoint(name="h", a=mark("a"), b=mark("ground"))], forces=[damper])
    run = simulate(
        system,
        system.state({"a": (0.0,) * 3}, {"a": (0.0, 0.0, 0.0, 1.0, 20.0, 5.0)}),
        0.02,
        stepper=MoreauJean(dt=1e-3),
    )
    assert (run.status, dict(run.event_counts)) == ("COMPLETED", {})
    assert audit(run, system).passed


def test_shifts_are_least_in_the_metric_of_the_mass_alone() -> None:
    """In the plane stiff forces stand beside the mass: audits know shifts by that of the bodies."""
    bodies = [planar.PlanarBody(name=name, mass=1.0, inertia=0.02) for name in "ab"]
    joints = [
        planar.Hinge(name="h", a=planar.Marker("a", (0.0, 0.2)), b=planar.fixed(0.0, 0.0)),
        planar.Hinge(name="k", a=planar.Marker("b", (0.0, 0.2)), b=planar.Marker("a", (0.0, -0.2))),
    ]
    drag = planar.Drag(point=planar.Marker("b", (0.1, -0.2)), damping=300.0)
    system = PlanarSystem(bodies=bodies, joints=joints, forces=[drag])
    start = system.state(joints={"h": 0.5, "k": 0.3})
    run = simulate(system, start, 0.05, stepper=MoreauJean(dt=1e-2))
    assert (run.status, run.statistics["steps"]) == ("COMPLETED", 5)
    assert audit(run, system).max["kinematics"] < 1e-12


def test_pieces_of_a_step_without_rows_have_an_event_that_names_none() -> None:
    """A free body on a spring that is too stiff for the step, so that passes do not settle and it is cut."""
    body = SpatialBody(name="a", mass=0.1, inertia=(1e-4, 1.5e-4, 2e-4))
    ends = mark("a", (0.1, 0.05, 0.0)), mark("ground", (0.0, 0.0, 1.0))
    spring = Spring(a=ends[0], b=ends[1], stiffness=1e3, length=0.3, damping=1.0)
    system = SpatialSystem(bodies=[body], forces=[spring])
    start = system.state({"a": (0.0, 0.0, 0.5)}, {"a": (0.0, 0.0, 0.0, 1.0, 2.0, 50.0)})
    run = simulate(system, start, 0.05, stepper=MoreauJean(dt=1e-2))
    assert {(event.kind, event.id) for event in run.events} == {("cut", "step")}
    assert audit(run, system).max["event_table"] == 0.0
