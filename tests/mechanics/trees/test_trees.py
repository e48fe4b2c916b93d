"""Trees of bodies: laws of their kinematics and dynamics, without any other engine."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tree_cases import chain, link, random_state, zoo

import gaussdyn
from gaussdyn import InputError, MoreauJean, SpatialSystem, check_system
from gaussdyn.linalg.rotations import quaternion_of
from gaussdyn.mechanics import spatial, trees
from gaussdyn.mechanics.trees import TreeSystem
from gaussdyn.mechanics.trees.forest_state import ForestState, held
from gaussdyn.mechanics.trees.kinematics import ask_for, place_asked, place_bodies
from gaussdyn.mechanics.trees.motion import forest_forces, forest_kinetic, forest_mass

TREES = zoo()


@pytest.mark.parametrize("seed", range(4))
def test_all_that_a_tree_says_agrees_with_differences(seed: int) -> None:
    """J with gaps, drifts with rates, forces with energy: every joint, limit, tendon, gear, loop, contact, drive."""
    report = check_system(TREES, states=[random_state(TREES, seed)])
    assert report.ok, report


@pytest.mark.parametrize("seed", range(3))
def test_kinetic_energy_is_that_of_the_bodies(seed: int) -> None:
    state = random_state(TREES, seed)
    whole = 0.5 * state.v @ TREES.mass(state.q) @ state.v
    parts = 0.5 * 0.1 * state.v[TREES.velocities("elbow")][0] ** 2  # armature
    for body in TREES.bodies:
        J, turn = TREES.jacobian(state.q, body.name, body.centre)
        u, w = J @ state.v, TREES.frame(state.q, body.name).R.T @ (turn @ state.v)
        parts += 0.5 * body.mass * u @ u + 0.5 * w @ np.array(body.inertia) @ w
    assert whole == pytest.approx(parts, rel=1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_coriolis_forces_have_the_power_that_keeps_kinetic_energy(seed: int) -> None:
    """v.c = -v.(dM/dt) v / 2 by differences of M; no gravity, nothing linear in v."""
    state, h = random_state(TREES, seed), 1e-5
    q, v = state.q, state.v
    rate = (TREES.mass(TREES.move(q, v, h)) - TREES.mass(TREES.move(q, v, -h))) / (2.0 * h)
    c = TREES.coriolis(q, v)
    assert v @ c == pytest.approx(-0.5 * v @ rate @ v, rel=1e-7)
    assert pytest.approx(4.0 * c, rel=1e-12, abs=1e-12) == TREES.coriolis(q, -2.0 * v)


def test_what_is_known_of_one_state_is_not_taken_for_another() -> None:
    """Frames, inertias and speeds are kept while a state is asked for again; asked for others, they are made anew."""
    a, b = random_state(TREES, 0), random_state(TREES, 1)
    kept, M, h = ForestState.at(TREES.forest, a.q), np.zeros((TREES.nv, TREES.nv)), np.zeros(TREES.nv)
    for q, v in ((a.q, a.v), (a.q, b.v), (b.q, b.v), (b.q, b.v), (a.q, b.v), (b.q, a.v), (b.q, a.v)):
        fresh = ForestState.at(TREES.forest, q, v)
        kinetic = forest_kinetic(kept.held, q, v)
        forest_forces(kept.held, 0.0, q, v, v, h)
        forest_mass(kept.held, q, M)
        assert np.array_equal(h, fresh.force(0.0)[0])
        assert np.array_equal(M, fresh.mass())
        assert kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-13)


def test_bodies_that_are_asked_for_stand_as_they_do_with_all_others() -> None:
    """Bit by bit, with those on the way to them; what is not there is not taken to be there."""
    a, b = random_state(TREES, 2), random_state(TREES, 3)
    moving, whole = ForestState.at(TREES.forest, a.q).forest.moving, ForestState.at(TREES.forest, b.q).forest.moving
    known, kept, fresh, n = held(TREES.forest.trees), held(moving), held(whole), len(TREES.bodies)
    place_bodies(known, kept, a.q)
    place_bodies(known, fresh, b.q)
    ask_for(known, kept, n - 1)
    ask_for(known, kept, -1)  # the ground
    place_asked(known, kept, b.q)
    same = [np.array_equal(moving.R[k], whole.R[k]) and np.array_equal(moving.x[k], whole.x[k]) for k in range(n)]
    assert same[n - 1]
    assert not all(same)
    place_bodies(known, kept, b.q)
    assert np.array_equal(moving.R, whole.R)
    assert np.array_equal(moving.S, whole.S)
    for k in range(n):
        ask_for(known, kept, k)
    place_asked(known, kept, a.q)
    place_bodies(known, fresh, a.q)
    assert np.array_equal(moving.at, a.q)
    assert np.array_equal(moving.S, whole.S)


def twin(system: TreeSystem) -> SpatialSystem:
    """The same chain with bodies that joints hold by reactions."""
    bodies = [spatial.SpatialBody(name=one.name, mass=one.mass, inertia=one.inertia) for one in system.bodies]
    joints = []
    for one in system.bodies[1:]:
        (joint,) = one.joints
        turn = spatial.mark(one.name, joint.at, axis=joint.axis)
        before = spatial.mark(one.parent, np.add(one.at, joint.at), axis=joint.axis)
        joints.append(spatial.Hinge(name=joint.name, a=turn, b=before))
    return SpatialSystem(bodies=bodies, joints=joints, gravity=system.gravity)


def twin_state(system: TreeSystem, other: SpatialSystem, state: gaussdyn.State) -> gaussdyn.State:
    """The state of the twin."""
    place, velocity = {}, {}
    for one in system.bodies:
        J, turn = system.jacobian(state.q, one.name)
        frame = system.frame(state.q, one.name)
        place[one.name] = [*frame.x, *quaternion_of(frame.R)]
        velocity[one.name] = [*(J @ state.v), *(frame.R.T @ (turn @ state.v))]
    return other.state(place, velocity)


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_of_bodies_held_by_joints(seed: int) -> None:
    system = chain()
    other, state = twin(system), random_state(system, seed)
    there = twin_state(system, other, state)
    rows = other.rows(0.0, there.q, there.v)
    G = np.vstack([row.J for row in rows])
    assert max(abs(row.gap) for row in rows) < 1e-14
    assert np.abs(G @ there.v).max() < 1e-14
    n, m = other.nv, len(G)
    K = np.block([[other.mass(there.q), -G.T], [G, np.zeros((m, m))]])
    right = np.concatenate([other.force(0.0, there.q, there.v), -np.concatenate([row.drift for row in rows])])
    held = np.linalg.solve(K, right)[:n].reshape(-1, 6)
    a = np.linalg.solve(system.mass(state.q), system.force(0.0, state.q, state.v))
    rest = np.zeros(system.nv)
    rest[:] = a
    for k, one in enumerate(system.bodies):
        J, _ = system.jacobian(state.q, one.name)
        drift = point_drift(system, state, one.name)
        assert J @ rest + drift == pytest.approx(held[k, :3], abs=1e-11 * np.abs(held).max())


def point_drift(system: TreeSystem, state: gaussdyn.State, body: str) -> np.ndarray:
    """What the origin of a body accelerates without acceleration: the row of a pin that says so."""
    pin = trees.Connect(name="pin", a=body, b="ground")
    pinned = TreeSystem(bodies=system.bodies, parts=[pin], gravity=system.gravity)
    rows = {row.id: row for row in pinned.rows(0.0, state.q, state.v)}
    return np.array([rows[f"pin:{axis}"].drift[0] for axis in "xyz"])


@pytest.mark.slow
def test_motion_is_that_of_bodies_held_by_joints() -> None:
    """Joint coordinates and bodies with reactions give the same motion, but for what steps leave, O(dt^2)."""
    system = chain(2)
    other, state = twin(system), random_state(system, 1)
    off = []
    for dt in (2e-3, 1e-3):
        run = gaussdyn.simulate(system, state, 0.2, stepper=MoreauJean(dt=dt))
        there = gaussdyn.simulate(other, twin_state(system, other, state), 0.2, stepper=MoreauJean(dt=dt))
        places = [system.frame(run.state(-1).q, one.name).x for one in system.bodies]
        off.append(np.abs(np.array(places) - there.state(-1).q.reshape(-1, 7)[:, :3]).max())
    assert off[1] < 1e-5
    assert off[0] / off[1] == pytest.approx(4.0, abs=0.5)


def test_free_motion_keeps_energy_and_momentum() -> None:
    system = chain()
    state = random_state(system, 3)
    run = gaussdyn.simulate(system, state, 0.2, stepper=MoreauJean(dt=2e-3))
    energy = run["energy"]
    assert np.abs(energy - energy[0]).max() < 3e-5 * energy[0]
    before, after = (sum(one.mass * system.jacobian(x.q, one.name)[0] @ x.v for one in system.bodies)
                     for x in (state, run.state(-1)))  # fmt: skip
    assert after == pytest.approx(before, abs=1e-5)


def test_a_body_on_a_hinge_swings_as_a_pendulum() -> None:
    """Period of a rod about its end at small angles: 2 pi sqrt(I / (m g l))."""
    rod = trees.TreeBody(name="rod", joints=(trees.TreeJoint(name="pivot", axis=(0, 1, 0)),), mass=2.0,
                         centre=(0, 0, -0.5), inertia=np.diag([1 / 6, 1 / 6, 1e-3]))  # fmt: skip
    system = TreeSystem(bodies=[rod])
    inertia = 1 / 6 + 2.0 * 0.25
    assert system.mass(np.zeros(1)) == pytest.approx(np.array([[inertia]]))
    period = 2 * math.pi * math.sqrt(inertia / (2.0 * 9.81 * 0.5))
    run = gaussdyn.simulate(system, system.state({"pivot": 1e-4}), period, stepper=MoreauJean(dt=period / 400))
    assert run["pivot.angle"][-1] == pytest.approx(1e-4, rel=1e-3)
    assert abs(run["pivot.rate"][-1]) < 1e-6


def test_a_spec_builds_the_same_system() -> None:
    spec = json.loads(json.dumps(TREES.spec(), allow_nan=False))
    again, state = TreeSystem.from_spec(spec), random_state(TREES, 5)
    assert again.spec() == TREES.spec()
    told = np.array([0.3, 2.0, -0.1])
    assert np.array_equal(again.force(0.0, state.q, state.v, told), TREES.force(0.0, state.q, state.v, told))


def test_bodies_rest_on_the_floor_and_remember_names() -> None:
    ball = link("foot", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0, 0, 0),
                shapes=(spatial.Sphere(radius=0.1),))  # fmt: skip
    shin = link("shin", "foot", trees.TreeJoint(name="ankle", axis=(0, 1, 0), friction=20.0), centre=(0, 0, 0.1))
    system = TreeSystem(
        bodies=[ball, shin], obstacles=[spatial.HalfSpace(name="floor")], contact=gaussdyn.ContactLaw(mu=0.8)
    )  # fmt: skip
    run = gaussdyn.simulate(system, system.state({"root": (0, 0, 0.1)}), 0.05, stepper=MoreauJean(dt=1e-3))
    assert run.between("foot", "floor").normal_force[1:] == pytest.approx(1.4 * 9.81, rel=1e-9)
    assert run["root.z"] == pytest.approx(0.1, abs=1e-12)
    assert run["ankle.angle"] == pytest.approx(0.0, abs=1e-12)
    assert {"ankle.rate", "root.qw", "root.wx", "ankle.friction_torque"} <= set(run.names)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: link("a", "b"), "parent of a"),
    (lambda: trees.TreeBody(name="a", joints=(trees.TreeJoint(name="x"),)), "moves nothing that has inertia"),
    (lambda: link("a", "ground", trees.TreeJoint(name="x", motion="ball"), trees.TreeJoint(name="y")), "joints of a"),
    (lambda: trees.TreeBody(name="a", inertia=np.diag([1, -1, 1])), "inertia of a"),
    (lambda: trees.TreeJoint(name="x", low=1.0, high=-1.0), "low, high of x"),
    (lambda: trees.Actuator(name="m", factors={}), "factors of m"),
])  # fmt: skip
def test_what_cannot_be_is_named(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        TreeSystem(bodies=[make()])  # type: ignore[operator]


def test_quaternions_stay_of_length_one_between_saved_states() -> None:
    system = chain(2)
    state = system.state(rates={"root": (0, 0, 0, 1.0, 9.0, 2.0), "hinge0": 1.0})
    run = gaussdyn.simulate(system, state, 0.1, stepper=MoreauJean(dt=5e-3), save=10)
    between = run.at(0.031)
    assert np.linalg.norm(between.q[system.coordinates("root")][3:]) == pytest.approx(1.0, abs=1e-12)


def test_events_find_the_same_motion_as_steps() -> None:
    """A ball with a rod on it lands, rolls, and its rod meets a stop: phases with friction, impacts, tree dynamics."""
    ball = link("foot", "ground", trees.TreeJoint(name="root", motion="free"), centre=(0, 0, 0),
                shapes=(spatial.Sphere(radius=0.1),))  # fmt: skip
    rod = trees.TreeJoint(name="ankle", axis=(0, 1, 0), friction=0.1, low=-0.5, high=0.5)
    system = TreeSystem(
        bodies=[ball, link("rod", "foot", rod, centre=(0, 0, 0.1))], obstacles=[spatial.HalfSpace(name="floor")],
        contact=gaussdyn.ContactLaw(mu=0.8),
    )  # fmt: skip
    state = system.state({"root": (0, 0, 0.15)}, {"ankle": 1.0})
    events = gaussdyn.simulate(system, state, 0.15, stepper=gaussdyn.EventDriven())
    steps = gaussdyn.simulate(system, state, 0.15, stepper=MoreauJean(dt=1e-3))
    assert events.event_counts["touchdown"] == 1
    assert steps.final.q == pytest.approx(events.final.q, abs=1e-4)
    assert steps.final.v == pytest.approx(events.final.v, abs=2e-3)
