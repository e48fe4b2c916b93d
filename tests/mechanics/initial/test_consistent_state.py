"""States that joints cannot hold: named, and projected to the nearest that they can."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import Position, State, UserSystem, Velocity
from gaussdyn.errors import InputError
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.initial.consistent_state import check_initial, projected, violations
from gaussdyn.mechanics.joints.limits_motors import Limit, Motor
from gaussdyn.mechanics.planar.bodies import Marker, Point, fixed
from gaussdyn.mechanics.planar.contacts import Rod, String
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.joints import BallJoint, Hinge, Weld
from gaussdyn.mechanics.spatial.kinematics import mark
from gaussdyn.mechanics.spatial.system import SpatialSystem


def pendulum(link=Rod):
    return PlanarSystem(bodies=[Point(name="p", mass=2.0)], contacts=[link(a=Marker("p"), b=fixed(0, 0), length=2.0)])


def chain(*more):
    bodies = [brick("a", mass=1.0, half=(0.5, 0.1, 0.1)), brick("b", mass=2.0, half=(0.5, 0.1, 0.2))]
    joints = [
        Hinge(name="root", a=mark("a", (-0.5, 0, 0), axis=(0, 1, 0)), b=mark("ground", axis=(0, 1, 0))),
        BallJoint(name="elbow", a=mark("b", (-0.5, 0, 0)), b=mark("a", (0.5, 0, 0))),
    ]
    return SpatialSystem(bodies=bodies, joints=[*joints, *more])


def test_violated_joints_are_named_with_their_violation():
    system = chain()
    state = system.state({"a": (0.5, 0, 0), "b": (1.5, 0.25, 0)})
    (found,) = violations(system, state)
    assert (found.id, found.what) == ("elbow:y", "gap")
    assert found.value == pytest.approx(0.25, abs=1e-15)
    with pytest.raises(InputError, match=r"elbow:y: gap 0\.25.*project=True"):
        check_initial(system, state)


def test_a_state_that_holds_is_returned_as_it_is():
    system = chain()
    state = system.state({"a": (0.5, 0, 0), "b": (1.5, 0, 0)})
    assert check_initial(system, state) is state
    assert check_initial(system, state, project=True) is state


def test_rates_that_a_joint_forbids_are_named():
    system = chain()
    state = system.state({"a": (0.5, 0, 0), "b": (1.5, 0, 0)}, {"b": (0, 0.5, 0)})
    (found,) = violations(system, state)
    assert (found.id, found.what, found.value) == ("elbow:y", "rate", 0.5)


def test_the_nearest_point_of_a_circle():
    """A single mass is moved along the radius, and keeps the tangential part of its velocity."""
    state = projected(pendulum(), State(q=[3.0, 4.0], v=[1.0, 0.0]))
    np.testing.assert_allclose(state.q, [1.2, 1.6], atol=1e-12)
    e = np.array([0.6, 0.8])
    np.testing.assert_allclose(state.v, [1.0, 0.0] - e * e[0], atol=1e-12)


def test_a_string_is_only_shortened():
    assert not violations(pendulum(String), State(q=[0.5, 0.0], v=[3.0, 0.0]))
    state = check_initial(pendulum(String), State(q=[3.0, 4.0], v=[1.0, 0.0]), project=True)
    np.testing.assert_allclose(state.q, [1.2, 1.6], atol=1e-12)
    np.testing.assert_allclose(state.v, [1.0, 0.0])


def test_masses_share_the_correction():
    """Of two masses at the ends of a rod the heavier one moves less, and the mass centre stays."""
    bodies = [Point(name="p", mass=1.0), Point(name="r", mass=3.0)]
    system = PlanarSystem(bodies=bodies, contacts=[Rod(a=Marker("p"), b=Marker("r"), length=1.0)])
    state = projected(system, State(q=[0.0, 0.0, 1.4, 0.0], v=[0.0, 0.0, -0.4, 1.0]))
    np.testing.assert_allclose(state.q, [0.3, 0.0, 1.3, 0.0], atol=1e-12)
    np.testing.assert_allclose(state.v, [-0.3, 0.0, -0.3, 1.0], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_chains_in_space_close_and_their_projection_is_at_right_angles(seed):
    """The correction of a small error is, in the metric of the mass, normal to what the joints allow."""
    rng, system = np.random.default_rng(seed), chain()
    good = system.state({"a": (0.5, 0, 0), "b": (1.5, 0, 0)})
    off = 1e-5 * rng.normal(size=system.nv)
    state = State(q=system.move(good.q, off, 1.0), v=rng.normal(size=system.nv))
    result = check_initial(system, state, project=True)
    assert not violations(system, result, tol=1e-11)
    J = np.vstack([row.J for row in system.rows(0.0, result.q, result.v)])
    free = np.linalg.svd(J)[2][len(J) :]
    M = system.mass(good.q)
    assert len(free) == 4
    np.testing.assert_allclose(free @ M @ (state.v - result.v), 0.0, atol=1e-10)
    step = (result.q - state.q).reshape(-1, 7)
    moved = np.concatenate([[*x[:3], *(2.0 * x[4:])] for x in step])  # near the identity vector parts are half angles
    np.testing.assert_allclose(free @ M @ moved, 0.0, atol=1e-9)


def test_a_limit_and_a_motor():
    system = chain(Limit(joint="root", low=-0.5, high=0.5), Motor(joint="root", rate=2.0))
    half = 0.4
    state = system.state({"a": (0.5 * np.cos(0.8), 0, -0.5 * np.sin(0.8), np.cos(half), 0, np.sin(half), 0)})
    elbow = state.q[:3] * 2.0
    state = system.state({"a": state.q[:7], "b": (elbow[0] + 0.5, 0.0, elbow[2])})
    (found,) = violations(system, state)  # the motor is on the velocity level
    assert found.id == "root:high"
    assert found.value == pytest.approx(-0.3, abs=1e-12)
    result = check_initial(system, state, project=True)
    assert system.coordinate("root", result.q).value == pytest.approx(0.5, abs=1e-10)
    assert system.coordinate("root", result.q, result.v).rate == pytest.approx(2.0, abs=1e-10)


def test_joints_that_repeat_one_another_are_projected():
    system = chain(Weld(name="twice", a=mark("a", (-0.5, 0, 0)), b=mark("ground")))
    state = system.state({"a": (0.6, 0.1, 0), "b": (1.4, 0, 0.2)})
    result = check_initial(system, state, project=True)
    np.testing.assert_allclose(result.q[:7], [0.5, 0, 0, 1, 0, 0, 0], atol=1e-9)


def test_joints_that_contradict_one_another_are_named():
    far = Rod(a=Marker("p"), b=fixed(10, 0, "far"), length=1.0)
    near = Rod(a=Marker("p"), b=fixed(0, 0, "near"), length=2.0)
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], contacts=[far, near])
    with pytest.raises(InputError, match=r"after projection p~ground\.far: gap"):
        check_initial(system, State(q=[2.0, 0.1], v=[0.0, 0.0]), project=True)


def test_a_skate_that_moves_sideways_is_named_and_mended():
    skate = Velocity(lambda t, q, v: -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1], kind="bilateral", name="blade")
    system = UserSystem(3, np.diag([1.0, 1.0, 0.1]), [0.0, 0.0, 0.0], [skate])
    state = State(q=[0.0, 0.0, 0.3], v=[1.0, 0.5, 2.0])
    (found,) = violations(system, state)
    assert (found.id, found.what) == ("blade", "rate")
    assert found.value == pytest.approx(-np.sin(0.3) + 0.5 * np.cos(0.3), abs=1e-15)
    with pytest.raises(InputError, match=r"blade: rate 0\.182"):
        simulate(system, state, 0.1)
    run = simulate(system, state, 0.1, project=True)
    along = np.array([np.cos(0.3), np.sin(0.3)])  # equal masses: what is left is the part along the blade
    np.testing.assert_allclose(run.v[0], [*(along * (along @ [1.0, 0.5])), 2.0], atol=1e-12)


def test_a_motor_may_set_in_with_an_impulse():
    motor = Velocity(lambda t, q, v: v[0] - 3.0, kind="bilateral", name="motor")
    system = UserSystem(2, np.eye(2), [0.0, 0.0], [motor])
    assert not violations(system, State(q=[0.0, 0.0], v=[0.0, 0.0]))


def test_users_constraints_of_both_levels():
    constraints = [
        Position(lambda t, q: q[0] * q[1] - 1.0, kind="bilateral", name="hyperbola"),
        Velocity(lambda t, q, v: v[2] - 2.0 * v[0], kind="bilateral", name="gear"),
    ]
    system = UserSystem(3, np.diag([1.0, 1.0, 4.0]), [0.0, 0.0, 0.0], constraints)
    state = projected(system, State(q=[1.0, 2.0, 0.0], v=[1.0, 1.0, 0.0]))
    assert state.q[0] * state.q[1] == pytest.approx(1.0, abs=1e-11)
    assert state.v[2] == pytest.approx(2.0 * state.v[0], abs=1e-11)
    assert state.v[0] * state.q[1] + state.v[1] * state.q[0] == pytest.approx(0.0, abs=1e-11)
