"""Event-driven runs towards configurations at which constraints lose rank, and runs whose pace collapses."""

import re

import numpy as np
import pytest
import sympy as sp
from evidence import first
from scipy.integrate import simpson
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn import EventDriven, PlanarSystem, State, build, simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.limits_motors import Motor
from gaussdyn.mechanics.lagrangian.system import Holonomic, LagrangianSystem
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, fixed
from gaussdyn.mechanics.planar.joints import Hinge, Slider
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.joints import Hinge as SpatialHinge
from gaussdyn.mechanics.spatial.kinematics import mark
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.scenes.linkages import darboux, equal_crank, four_bar
from gaussdyn.scenes.measures.measures import G


def linkage(rod, hung):
    """Return a crank of length 1 with a rod and a piston, a pendulum on the rod's centre; it turns at 1 rad/s."""
    bar = {"mass": 1.0, "inertia": 1 / 12}
    half, end = 0.5 * rod, ((-0.5, 0.0), (0.5, 0.0))
    bodies = [PlanarBody(name="crank", outline=end, **bar), PlanarBody(name="rod", outline=end, **bar)]
    bodies.append(PlanarBody(name="piston", mass=1.0, inertia=0.1))
    joints = [
        Hinge(name="shaft", a=Marker("crank", (-0.5, 0.0)), b=fixed(0.0, 0.0)),
        Hinge(name="pin", a=Marker("rod", (-half, 0.0)), b=Marker("crank", (0.5, 0.0))),
        Hinge(name="wrist", a=Marker("piston", (0.0, 0.0)), b=Marker("rod", (half, 0.0))),
        Slider(name="guide", a=Marker("piston", (0.0, 0.0)), b=fixed(0.0, 0.0)),
    ]
    a, c, s = 0.9, np.cos(0.9), np.sin(0.9)
    b = -np.arcsin(s / rod)
    w = -c / (rod * np.cos(b))
    at, v = np.array([c + half * np.cos(b), s / 2]), np.array([-s - half * np.sin(b) * w, c / 2])
    place = {"crank": (c / 2, s / 2, a), "rod": (*at, b), "piston": (c + rod * np.cos(b), 0.0, 0.0)}
    speed = {"crank": (-s / 2, c / 2, 1.0), "rod": (*v, w), "piston": (-s - rod * np.sin(b) * w, 0.0, 0.0)}
    if hung:
        bodies.append(PlanarBody(name="bob", outline=end, **bar))
        joints.append(Hinge(name="hang", a=Marker("bob", (0.5, 0.0)), b=Marker("rod", (0.0, 0.0))))
        place["bob"] = (at[0], at[1] - 0.5, np.pi / 2)
        speed["bob"] = (v[0] + 0.25, v[1], 0.5)
    system = PlanarSystem(bodies=bodies, joints=joints, gravity=(0.0, 0.0))
    return system, system.state(place, speed)


@pytest.mark.parametrize(("angle", "dt"), [(0.5, None), (1.2, None), (0.9, 0.05)])  # 1.2: a step leaps over it
def test_a_run_ends_in_words_before_constraints_lose_rank(angle, dt):
    run = simulate(build("equal_crank", angle=angle), stepper=EventDriven(dt=dt))
    t = equal_crank.upright_after(angle)
    assert run.status == "STOPPED"
    assert abs(float(re.search(r"at t = (\S+) s", run.stop.reason)[1]) - t) < 1e-6 * t
    assert "q = (0, 0.5, 1.5708, 0, 0.5, -1.5708, 0, 0, 0), rank 7 instead of 8" in run.stop.reason
    assert "OnBranch" in run.stop.reason
    assert 0.99 * t < run.t[-1] < t
    assert np.ptp(run["energy"]) < 1e-11


def test_several_ranks_lost_at_once():
    run = simulate(build("four_bar", loops=2), stepper=EventDriven())
    t = four_bar.flat_after(2, 1.0, G)
    assert abs(float(re.search(r"at t = (\S+) s", run.stop.reason)[1]) - t) < 1e-6
    assert "rank 12 instead of 14" in run.stop.reason


def test_a_motion_that_ends_before_or_passes_near_goes_on():
    early = simulate(build("equal_crank"), t_end=0.999 * equal_crank.upright_after(0.5), stepper=EventDriven())
    assert early.status == "COMPLETED"
    run = simulate(*linkage(1.0001, hung=False), 1.0, stepper=EventDriven())
    assert run.status == "COMPLETED"
    assert run.q[-1, 2] > 1.6
    assert np.ptp(run["energy"]) < 1e-11


def test_more_degrees_of_freedom_than_one():
    system, state = linkage(1.0, hung=True)
    run = simulate(system, state, 3.0, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "rank 9 instead of 10" in run.stop.reason
    assert abs(abs(run.q[-1, 2]) - np.pi / 2) < 0.01
    assert "q = (0, 0.5, 1.5708, 0, 0.5, -1.5708, " in run.stop.reason  # crank and rod stand upright


def test_a_run_does_not_begin_where_constraints_lose_rank():
    start = State(q=darboux.place(0.0), v=darboux.motion_of(0.0, 1.0))
    run = simulate(darboux.system_of(Fx=1.0), start, 1.0, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "lose rank at t = 0 s" in run.stop.reason
    assert "Begin beside it" in run.stop.reason


@pytest.mark.slow
def test_a_driven_linkage_that_jams_ends_in_words():
    a, b = dynamicsymbols("a b")
    guide, drive = Holonomic(sp.sin(a) + sp.sin(b), name="guide"), Holonomic(a - sp.Symbol("t"), name="drive")
    system = LagrangianSystem(
        {a: "rad", b: "rad"}, kinetic=a.diff() ** 2 / 2 + b.diff() ** 2, potential=sp.cos(b) / 3,
        constraints=[guide, drive], compile=False,
    )  # fmt: skip
    run = simulate(system, State(t=1.57, q=[1.57, -1.57], v=[1.0, -1.0]), 3.0, stepper=EventDriven(dt=1e-2))
    assert run.status == "STOPPED"
    assert "guide" in run.stop.reason
    assert "come close to losing rank" in run.stop.reason
    assert abs(run.t[-1] - np.pi / 2) < 1e-5


def test_stiff_friction_ends_in_words_however_short_the_steps_that_are_saved():
    x = dynamicsymbols("x")
    smooth = [-0.1 * sp.tanh(x.diff() / 1e-5)]
    system = LagrangianSystem(
        {x: "m"}, kinetic=x.diff() ** 2 / 2, potential=x**2 / 2, forces=smooth, compile=False
    )  # fmt: skip
    for dt in (None, 0.1):
        run = simulate(system, State(q=[0.15], v=[0.0]), 30.0, stepper=EventDriven(dt=dt))
        assert run.status == "STOPPED"
        assert "forces are stiff" in run.stop.reason
        assert 3.0 < run.t[-1] < 4.0  # what was computed is kept


def parallelogram(height):
    """Return two cranks with a coupler that swing in space, 8 rad/s, and a ball that bounces beside them.

    They lie in a row after a quarter turn: by the energy of the cranks about their shafts, and of the coupler.
    """
    a, length, m, w, y = 0.9, 1.1, 0.9, 8.0, (0.0, 1.0, 0.0)
    bodies = [
        SpatialBody(name=name, mass=m, inertia=np.diag([0.002, m * x * x / 12, m * x * x / 12]))
        for name, x in (("left", a), ("right", a), ("coupler", length))
    ]
    joints = [
        SpatialHinge(name="l", a=mark("left", (-a / 2, 0, 0), axis=y), b=mark("ground", (0, 0, 3), axis=y)),
        SpatialHinge(name="r", a=mark("right", (-a / 2, 0, 0), axis=y), b=mark("ground", (length, 0, 3), axis=y)),
        BallJoint(name="pl", a=mark("coupler", (-length / 2, 0, 0)), b=mark("left", (a / 2, 0, 0))),
        BallJoint(name="pr", a=mark("coupler", (length / 2, 0, 0)), b=mark("right", (a / 2, 0, 0))),
    ]
    system = SpatialSystem(
        bodies=[*bodies, ball("ball", mass=1.0, radius=0.1)], joints=joints, obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(eps_n=0.9),
    )  # fmt: skip
    down = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    state = system.state(
        {"left": (0, 0, 3 - a / 2, *down), "right": (length, 0, 3 - a / 2, *down),
         "coupler": (length / 2, 0, 3 - a, 1, 0, 0, 0), "ball": (5, 0, 0.1 + height, 1, 0, 0, 0)},
        {"left": (a / 2 * w, 0, 0, 0, -w, 0), "right": (a / 2 * w, 0, 0, 0, -w, 0), "coupler": (a * w, 0, 0, 0, 0, 0)},
    )  # fmt: skip
    inertia, weight = m * a * a * (2 / 3 + 1), 2 * m * G * a
    angles = np.linspace(0.0, np.pi / 2, 2001)
    speeds = np.sqrt(w**2 - 2 * weight * (1 - np.cos(angles)) / inertia)
    return system, state, float(simpson(1 / speeds, x=angles))


@pytest.mark.parametrize("height", first(2, [0.5, 0.001, 0.02]))  # no event before it, many, and two
def test_steps_of_kernels_that_end_in_events_are_looked_at(height):
    system, state, t = parallelogram(height)
    run = simulate(system, state, 0.3, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "rank 15 instead of 16" in run.stop.reason
    assert abs(float(re.search(r"at t = (\S+) s", run.stop.reason)[1]) - t) < 1e-6
    assert 0.99 * t < run.t[-1] < t


def test_motors_of_joints_close_no_loop():
    hinge = SpatialHinge(name="axle", a=mark("arm", (-0.5, 0, 0)), b=mark("ground"))
    arm = SpatialBody(name="arm", mass=1.0, inertia=(0.01, 0.1, 0.1))
    system = SpatialSystem(bodies=[arm], joints=[hinge, Motor(joint="axle", rate=2.0)])
    state = system.state({"arm": (0.5, 0, 0, 1, 0, 0, 0)}, {"arm": (0, 1, 0, 0, 0, 2)})
    run = simulate(system, state, 1.0, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    np.testing.assert_allclose(run.q[-1, :2], 0.5 * np.array([np.cos(2.0), np.sin(2.0)]), rtol=0, atol=1e-11)
