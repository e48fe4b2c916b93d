"""Dampers and drags that are many times the mass: steps are solved as others are, and none is cut."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, PlanarSystem, SpatialSystem, audit, simulate
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.integrate.time_stepping.core.row_model import built, by_answers
from gaussdyn.mechanics import planar
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.spatial import BallJoint, Box, Drag, HalfSpace, Hinge, SpatialBody, Spring, mark

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
    """In the plane, too: audits know shifts by that of the bodies."""
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


@pytest.mark.parametrize("damping", [1e2, 1e5])
@pytest.mark.parametrize("which", ["drag", "travel", "turn", "spring"])
def test_dampers_in_the_plane_take_the_mean_velocity(which: str, damping: float) -> None:
    """The trapezoidal rule, whatever resists: v+ = v (1 - a) / (1 + a) with a = dt c / 2 m."""
    dt, body, ground = 1e-2, planar.PlanarBody(name="a", mass=2.0, inertia=0.5), planar.fixed(0.0, 0.0)
    at, j = planar.Marker("a", (0.0, 0.0)), 2 if which == "turn" else 0
    hinge, slider = (
        planar.Hinge(name="j", a=at, b=ground),
        planar.Slider(name="j", a=at, b=ground, direction=(1.0, 0.0)),
    )
    joints = {"travel": (slider,), "turn": (hinge,), "spring": (slider,)}
    forces = {
        "drag": planar.Drag(point=at, damping=damping),
        "spring": planar.Spring(a=at, b=planar.fixed(5.0, 0.0), stiffness=0.0, length=1.0, damping=damping),
    }
    system = PlanarSystem(
        bodies=[body], joints=joints.get(which, ()), gravity=(0.0, 0.0),
        forces=[forces.get(which, Drive(joint="j", damping=damping))],
    )  # fmt: skip
    start = system.state({"a": (0.0,) * 3}, {"a": [3.0 * (k == j) for k in range(3)]})
    run, a = simulate(system, start, 3 * dt, stepper=MoreauJean(dt=dt)), 0.5 * dt * damping / (2.0, 2.0, 0.5)[j]
    assert run.v[-1, j] == pytest.approx(3.0 * ((1.0 - a) / (1.0 + a)) ** 3, rel=1e-10)
    assert audit(run, system).passed


def _chain(damping: float) -> tuple[PlanarSystem, SpatialSystem]:
    """Return three hinged bodies that damped springs, a drag and a drive act on, in the plane and in space."""
    names, half, ends = "abc", (0.0, 0.2), ((0.7, 0.0), (0.7, -0.3), (0.7, -0.6))
    flat = [planar.Marker(name, half) for name in names], [planar.Marker(name, (0.0, -0.2)) for name in names]
    deep = [mark(name, (*half, 0.0)) for name in names], [mark(name, (0.0, -0.2, 0.0)) for name in names]
    above = [planar.fixed(0.0, 0.0), *flat[1]], [mark("ground", (0.0,) * 3), *deep[1]]
    one = {"stiffness": 50.0, "length": 0.4, "damping": damping}
    drive = Drive(joint="h1", stiffness=2.0, damping=0.1 * damping, target=0.2, rate=0.5)
    plane = PlanarSystem(
        bodies=[planar.PlanarBody(name=name, mass=1.0, inertia=0.02) for name in names],
        joints=[planar.Hinge(name=f"h{k}", a=flat[0][k], b=above[0][k]) for k in range(3)],
        forces=[
            *(
                planar.Spring(a=planar.Marker(name, (0.1, -0.1)), b=planar.fixed(*end), **one)
                for name, end in zip(names, ends, strict=True)
            ),
            planar.Drag(point=planar.Marker("b", (0.1, 0.0)), damping=damping),
            drive,
        ],
    )
    space = SpatialSystem(
        bodies=[SpatialBody(name=name, mass=1.0, inertia=(0.01, 0.01, 0.02)) for name in names],
        joints=[Hinge(name=f"h{k}", a=deep[0][k], b=above[1][k]) for k in range(3)],
        gravity=(0.0, -9.81, 0.0),
        forces=[
            *(
                Spring(a=mark(name, (0.1, -0.1, 0.0)), b=mark("ground", (*end, 0.0)), **one)
                for name, end in zip(names, ends, strict=True)
            ),
            Drag(point=mark("b", (0.1, 0.0, 0.0)), damping=damping),
            drive,
        ],
    )
    return plane, space


JOINT_STATE = {"h0": 0.5, "h1": 0.3, "h2": -0.2}


def test_dampers_do_the_same_in_the_plane_and_in_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both go to one motion as steps get shorter, by dt^2; kernels take all of them: Python is asked for none."""
    monkeypatch.delattr("gaussdyn.integrate.time_stepping.core.advance.listing")
    off = []
    for n in (30, 60):
        found = []
        for system in _chain(1e4):
            run = simulate(system, system.state(joints=JOINT_STATE), 0.3, stepper=MoreauJean(dt=0.3 / n))
            assert (run.status, run.statistics["steps"], dict(run.event_counts)) == ("COMPLETED", n, {})
            assert audit(run, system).passed
            found.append(run.q.reshape(n + 1, 3, -1)[:, :, :2])
        off.append(np.abs(found[0] - found[1]).max())
    assert off[0] < 1e-8
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize("damping", [1e-307, 1e-90, 1e-20, 1.0, 1e2, 1e4])
def test_rows_of_dampers_do_what_the_force_in_python_says(damping: float) -> None:
    """The same steps as with the matrix of dampers beside the mass, of a system whose functions Python calls."""
    system, dt, ends = _chain(damping)[0], 1e-3, []
    for make in (built, by_answers):
        state = system.state(joints=JOINT_STATE)
        kernels = CompiledSystem(system, make(system, state))
        for _ in range(5):
            step = kernels.attempt(MoreauJean(dt=dt), state, dt, state.t + dt, None)
            assert step is not None
            assert step.solution.solved
            state = step.state
        ends.append(state)
    assert ends[0].q == pytest.approx(ends[1].q, rel=0.0, abs=1e-12)
    assert ends[0].v == pytest.approx(ends[1].v, rel=0.0, abs=1e-12)


def test_what_strikes_beside_a_stiff_drag_rebounds() -> None:
    """Two corners strike in a step that does not settle: its laws hold at the middle, restitution included."""
    brick = SpatialBody(name="brick", mass=8.8, inertia=(0.0129, 0.0155, 0.018), shapes=(Box(half=(0.1, 0.15, 0.2)),))
    speck = SpatialBody(name="speck", mass=1.9, inertia=(0.04, 0.05, 0.05))
    system = SpatialSystem(
        bodies=[brick, speck], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.4, eps_n=0.5),
        forces=[Drag(point=mark("speck"), damping=1e4)],
    )  # fmt: skip
    start = system.state(
        {"brick": (1.2, 0.0, 0.38727954), "speck": (0.0, 0.0, 5.0)},
        {"brick": (-1.05588649, 1.09489507, -0.52640828, 0.04037453, -2.35480027, 3.37723752)},
    )
    run = simulate(system, start, 0.2, stepper=MoreauJean(dt=1e-2))
    assert run.event_counts["unsettled"] > 0
    assert audit(run).passed
