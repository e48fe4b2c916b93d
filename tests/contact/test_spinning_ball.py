"""Balls on a plane that resists their spin: decelerations and times of stopping in closed form, for every system."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, audit, simulate
from gaussdyn.contact.resolve import reactions, resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.integrate.event_driven import EventDriven
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.spatial import HalfSpace, SpatialBody, Sphere
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.trees import TreeBody, TreeJoint, TreeSystem
from gaussdyn.mechanics.user.system import Position, UserSystem

M, R, G, MU, MU_R, MU_T, SPIN = 1.5, 0.5, 9.81, 0.3, 0.01, 0.02, 3.0
J, N = 0.4 * M * R * R, M * G
STOP = SPIN * J / (MU_T * N)
TANGENT = np.array([[1.0, 0, 0, 0, -R, 0], [0, 1.0, 0, R, 0, 0]])  # velocity of the lowest point
ROLLING = np.array([[0, 0, 0, 1.0, 0, 0], [0, 0, 0, 0, 1.0, 0]])
LAW = ContactLaw(mu=MU, mu_t=MU_T)


def ball(mu_r=0.0, twist=0.0):
    contact = Position(
        lambda t, q: q[2] - R, mu=MU, mu_r=mu_r, mu_t=MU_T, tangent=lambda t, q: TANGENT,
        rolling=lambda t, q: ROLLING, spin=lambda t, q: np.array([0, 0, 0, 0, 0, 1.0]), name="c",
    )  # fmt: skip
    return UserSystem(6, np.diag([M, M, M, J, J, J]), [0, 0, -N, 0, 0, twist], [contact])


def motion(system, v):
    dynamics = snapshot(system, State(q=[0, 0, R, 0, 0, 0], v=v))
    solution = resolve(dynamics)
    assert solution.solved
    return solution.x, reactions(dynamics, solution)["c"]


@pytest.mark.parametrize("twist", [0.9 * MU_T * N, 1.4 * MU_T * N])
def test_a_twist_spins_it_only_above_the_limit(twist):
    a, r = motion(ball(twist=twist), np.zeros(6))
    np.testing.assert_allclose(a, [0, 0, 0, 0, 0, max(twist - MU_T * N, 0.0) / J], atol=1e-12)
    np.testing.assert_allclose(r, [N, 0, 0, -min(twist, MU_T * N)], atol=1e-12)


@pytest.mark.parametrize("mu_r", [0.0, MU_R])
@pytest.mark.parametrize("slip", [0.0, 1.0])
@pytest.mark.parametrize("spin", [0.0, -SPIN])
def test_slip_rolling_and_spin_are_slowed_each_by_its_own_friction(mu_r, slip, spin):
    a, r = motion(ball(mu_r), [slip + 2.0 * R, 0, 0, 0, 2.0, spin])
    roll = (MU * N * R - mu_r * N) / J if slip else -mu_r * N / (J + M * R * R)
    np.testing.assert_allclose(
        a[[0, 4, 5]], [-MU * G if slip else roll * R, roll, (spin != 0) * MU_T * N / J], atol=1e-11
    )
    assert len(r) == (6 if mu_r else 4)
    np.testing.assert_allclose(r[-1], (spin != 0) * MU_T * N, atol=1e-11)


def spatial():
    body = SpatialBody(name="ball", mass=M, inertia=(J, J, J), shapes=(Sphere(radius=R),))
    system = SpatialSystem(bodies=[body], obstacles=[HalfSpace(name="floor")], contact=LAW)
    return system, system.state({"ball": (0.0, 0.0, R)})


def tree():
    body = TreeBody(
        name="ball", joints=(TreeJoint(name="root", motion="free"),), mass=M, inertia=np.diag([J, J, J]),
        shapes=(Sphere(radius=R),),
    )  # fmt: skip
    system = TreeSystem(bodies=[body], obstacles=[HalfSpace(name="floor")], contact=LAW)
    return system, system.state({"root": (0, 0, R)})


@pytest.mark.parametrize("make", [spatial, tree])
def test_a_spinning_ball_of_bodies_stops_in_time(make):
    system, start = make()
    v = np.array([0.0, 0, 0, 0, 0, SPIN])
    run = simulate(system, State(q=start.q, v=v), 1.2 * STOP, stepper=MoreauJean(dt=STOP / 50.5))
    assert run.status == "COMPLETED"
    expected = np.maximum(SPIN * (1.0 - run.t / STOP), 0.0)
    np.testing.assert_allclose(run.v[:, 5], expected, atol=1e-9)
    assert np.diff(run["energy"]).max() <= 1e-12
    assert audit(run, system).passed


def test_with_rolling_resistance_both_end_in_their_own_time():
    system = ball(MU_R)
    start = State(q=[0, 0, R, 0, 0, 0], v=[2.0 * R, 0, 0, 0, 2.0, SPIN])
    run = simulate(system, start, 2.0, stepper=MoreauJean(dt=0.01))
    roll = 2.0 * (1.0 - run.t * MU_R * N / (J + M * R * R) / 2.0)
    np.testing.assert_allclose(run.v[:, 4], np.maximum(roll, 0.0), atol=1e-9)
    np.testing.assert_allclose(run.v[:, 5], np.maximum(SPIN * (1.0 - run.t / STOP), 0.0), atol=1e-9)
    assert audit(run, system).passed


def test_events_find_the_time_of_stopping():
    start = State(q=[0, 0, R, 0, 0, 0], v=[0, 0, 0, 0, 0, SPIN])
    run = simulate(ball(), start, 1.5 * STOP, stepper=EventDriven())
    (stop,) = [event for event in run.events if event.kind == "stop_roll"]
    assert stop.t == pytest.approx(STOP, rel=1e-9)
    assert run.v[-1, 5] == pytest.approx(0.0, abs=1e-12)


def test_its_rows_agree_with_differences():
    assert check_system(ball(MU_R)).ok
    assert check_system(spatial()[0]).ok
