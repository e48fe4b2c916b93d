"""Worlds: each goes where a run of its own goes, to the bit, whatever the other worlds do and whoever takes it."""

from __future__ import annotations

import numpy as np
import pytest
from lagrangian_systems import double_pendulum

from gaussdyn import InputError, MoreauJean, Position, State, UserSystem, simulate
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.integrate.worlds.world_kernels import fetch_places
from gaussdyn.mechanics.collision.shapes import HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.joints import Hinge
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.trees import Actuator, TreeBody, TreeJoint, TreeSystem
from gaussdyn.scenes.catalogue import build

STEPS, DT = 60, 2e-3


def planar():
    scene = build("incline", mu=0.2)
    return scene.system, [scene.state, *(State(q=scene.state.q, v=[0.3 * k, 0.0, 0.0]) for k in (-2, -1, 1))]


def lagrangian():
    system = double_pendulum()
    return system, [State(q=[0.3 * k, -0.2], v=[0.1, 0.4 * k]) for k in range(4)]


def walker():
    """Two legs of one link on a trunk above the floor: joints, drives, and feet that come and go."""
    foot = Sphere(radius=0.03, at=(0.0, 0.0, -0.1), name="foot")
    legs = [SpatialBody(name=f"leg{k}", mass=0.5, inertia=(1e-3, 1e-3, 1e-4), shapes=(foot,)) for k in range(2)]
    bodies = [SpatialBody(name="trunk", mass=2.0, inertia=(0.02, 0.03, 0.02), shapes=(Sphere(radius=0.05),)), *legs]
    joints, drives, across = [], [], (0.7071067811865476, -0.7071067811865476, 0.0, 0.0)
    for k, y in enumerate((-0.15, 0.15)):
        one = SpatialMarker(f"leg{k}", (0.0, 0.0, 0.1), across)
        joints.append(Hinge(name=f"hip{k}", a=one, b=SpatialMarker("trunk", (0.0, y, 0.0), across)))
        drives.append(Drive(joint=f"hip{k}", stiffness=20.0, damping=0.5))
    system = SpatialSystem(
        bodies=bodies, joints=joints, forces=drives, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.6)
    )
    states = []
    for k in range(4):
        z = 0.23 + 0.01 * k
        places = {"trunk": (0.0, 0.0, z), "leg0": (0.0, -0.15, z - 0.1), "leg1": (0.0, 0.15, z - 0.1)}
        state = system.state(places)
        states.append(State(q=state.q, v=np.tile([0.4 * k, 0.0, -0.3, 0.0, 0.0, 0.0], 3)))
    return system, states


def trees():
    """A trunk on three legs above the floor, some feet of which strike it at once: limits, dry friction, motors."""
    root, size = TreeJoint(name="root", motion="free"), np.diag([0.02, 0.02, 0.03])
    bodies = [TreeBody(name="trunk", joints=(root,), mass=3.0, inertia=size, shapes=(Sphere(radius=0.08),))]
    foot = Sphere(radius=0.04, at=(0.0, 0.0, -0.2))
    for k, (x, y) in enumerate(((0.2, 0.0), (-0.1, 0.2), (-0.1, -0.2))):
        hip = TreeJoint(name=f"hip{k}", axis=(0.3, 1.0, 0.0), low=-0.2, high=0.6, damping=0.3, friction=0.05)
        bodies.append(TreeBody(name=f"leg{k}", parent="trunk", at=(x, y, 0.0), joints=(hip,), mass=0.5,
                               centre=(0.0, 0.0, -0.1), inertia=0.1 * size, shapes=(foot,)))  # fmt: skip
    motors = [Actuator(name=f"motor{k}", factors={f"hip{k}": 1.0}) for k in range(3)]
    system = TreeSystem(
        bodies=bodies, actuators=motors, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.6)
    )
    rates = [(0.3 * k, 0.1, -0.4, 0.2, 0.0, 0.1 * k) for k in range(4)]
    return system, [system.state({"root": (0, 0, 0.25 + 0.01 * k)}, {"root": rates[k]}) for k in range(4)]


def free_bodies():
    ball = SpatialBody(name="ball", mass=1.0, inertia=(0.004,) * 3, shapes=(Sphere(radius=0.1),))
    system = SpatialSystem(bodies=[ball], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3, eps_n=0.5))
    start = [system.state({"ball": (0.0, 0.0, 0.1 + 0.01 * k)}) for k in range(3)]
    return system, [State(q=one.q, v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]) for one in start]


def in_python():
    def force(t, q, v, control):
        return [-19.62 if control is None else control[0] - 19.62]

    ball = UserSystem(nq=1, mass=[[2.0]], force=force, constraints=[Position(lambda t, q: q[0])])
    return ball, [State(q=[0.3 * k], v=[0.0]) for k in range(3)]


COMPILED = [planar, lagrangian, walker, trees]  # that kernels step from a stock; the others go one by one
KINDS = [*COMPILED, free_bodies, in_python]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_world_comes_to_where_a_run_of_its_own_comes(kind, threads: int) -> None:
    system, states = kind()
    stepper = MoreauJean(dt=DT)
    worlds = Worlds(system, states, stepper=stepper, threads=threads)
    for n in (1, 7, STEPS - 8):
        worlds.step(n=n)
    runs = [simulate(system, state, STEPS * DT, stepper=stepper, save=10**6) for state in states]
    assert [worlds.state(k).digest() for k in range(len(worlds))] == [run.final.digest() for run in runs]
    assert np.array_equal(worlds.q, [run.final.q for run in runs])
    assert len({run.final.digest() for run in runs}) == len(states)


@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.__name__)
def test_places_are_fetched_within_what_there_is(kind) -> None:
    """Compiled kernels look at no bounds; as plain Python they do."""
    system, states = kind()
    worlds = Worlds(system, states, stepper=MoreauJean(dt=DT))
    worlds.step(n=2)
    assert worlds._stock is not None
    assert worlds._lanes
    for lane in worlds._lanes:
        fetch_places.py_func(lane.parts.model, worlds._stock.value, 0)


@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.__name__)
def test_every_world_has_its_own_control(kind) -> None:
    system, states = kind()
    stepper, size = MoreauJean(dt=DT), len(getattr(system, "actuators", ())) or system.nv
    control = np.random.default_rng(1).standard_normal((len(states), size))
    worlds = Worlds(system, states, stepper=stepper)
    worlds.step(control, n=5)
    worlds.step(n=5)
    for k, state in enumerate(states):
        half = simulate(system, state, 5 * DT, stepper=stepper, control=control[k], save=10**6)
        whole = simulate(system, half.final, 10 * DT, stepper=stepper, save=10**6)
        assert np.array_equal(worlds.v[k], whole.final.v)


@pytest.mark.parametrize("kind", [*COMPILED, in_python], ids=lambda kind: kind.__name__)
def test_what_is_told_for_every_step_at_once_does_what_it_does_step_by_step(kind) -> None:
    """Among them are steps that kernels cannot take: worlds of trees and of joints are taken through them alone."""
    system, states = kind()
    size = len(getattr(system, "actuators", ())) or system.nv
    control = 3.0 * np.random.default_rng(4).standard_normal((60, len(states), size))
    whole, single, held = (Worlds(system, states, stepper=MoreauJean(dt=DT), threads=2) for _ in range(3))
    whole.step(control, n=60)
    held.step(control[0], n=60)
    for one in control:
        single.step(one)
    assert np.array_equal(np.hstack([whole.q, whole.v]), np.hstack([single.q, single.v]))
    assert np.abs(whole.v - held.v).max() > 0.0


def test_worlds_of_trees_are_told_one_number_per_actuator_and_no_other() -> None:
    system, states = trees()
    worlds = Worlds(system, states, stepper=MoreauJean(dt=DT))
    with pytest.raises(InputError, match=r"shape \(4, 3\), \(3,\) or \(1, 4, 3\)"):
        worlds.step(np.zeros((4, system.nv)))
    worlds.step(np.array([0.5, -0.5, 0.0]), n=20)
    told = worlds.v.copy()
    other = Worlds(system, states, stepper=MoreauJean(dt=DT))
    other.step(n=20)
    assert np.abs(told - other.v).max(axis=1).min() > 1e-3  # it has moved every one of them


def test_another_state_can_be_put_into_a_world() -> None:
    system, states = walker()
    worlds = Worlds(system, states, stepper=MoreauJean(dt=DT))
    worlds.step(n=20)
    worlds.put(3, worlds.state(0))
    worlds.step(n=20)
    assert worlds.state(3).digest() == worlds.state(0).digest() != worlds.state(1).digest()


def test_more_contacts_than_there_is_room_for_are_made_room_for(monkeypatch) -> None:
    system, states = walker()
    stepper = MoreauJean(dt=DT)
    whole, tight = (Worlds(system, states, stepper=stepper) for _ in range(2))
    tight._room = 1
    tight._fill([tight.state(k) for k in range(len(tight))])
    for worlds in (whole, tight):
        worlds.step(n=STEPS)
    assert np.array_equal(whole.q, tight.q)


def test_a_world_whose_step_has_no_solution_stops_and_the_others_go_on() -> None:
    """A wall that moves in at 1 m/s, and one that stands at q[1]: when they meet, nothing fits between them."""
    walls = [
        Position(lambda t, q: q[0] - t, jacobian=lambda t, q: [[1.0, 0.0]]),
        Position(lambda t, q: q[1] - q[0], jacobian=lambda t, q: [[-1.0, 0.0]]),
    ]
    system = UserSystem(nq=2, mass=np.eye(2), force=[0.0, 0.0], constraints=walls)
    states = [State(q=[0.0, end], v=[1.0, 0.0]) for end in (0.0105, 9.0)]
    worlds = Worlds(system, states)
    worlds.step(n=30)
    worlds.step(n=10)
    runs = [simulate(system, state, 0.04) for state in states]
    assert [run.status for run in runs] == ["STOPPED", "COMPLETED"]
    assert list(worlds.stopped) == [0]
    assert runs[0].stop.reason in worlds.stopped[0]
    assert np.array_equal(worlds.q, [run.final.q for run in runs])
    worlds.put(0, worlds.state(1))
    worlds.step()
    assert not worlds.stopped


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda system, states: Worlds(system, []), "at least one"),
        (lambda system, states: Worlds(system, states[0]), "a list"),
        (lambda system, states: Worlds(system, [State(q=[0.0], v=[0.0])]), "3 and 3"),
        (lambda system, states: Worlds(system, [*states, State(q=states[0].q, v=states[0].v, t=1.0)]), "as the first"),
        (lambda system, states: Worlds(system, states, threads=0), "threads"),
        (lambda system, states: Worlds(system, states).step(n=0), "a number of steps"),
        (lambda system, states: Worlds(system, states).step(np.zeros(2)), "control"),
        (lambda system, states: Worlds(system, states).step(np.zeros((2, 4, 3)), n=3), r"\(3, 4, 3\)"),
        (lambda system, states: Worlds(system, states).step(np.full(3, np.nan)), "finite"),
        (lambda system, states: Worlds(system, states).state(9), "a world"),
        (lambda system, states: Worlds("system", states), "system"),
    ],
)
def test_what_cannot_be_used_is_refused(make, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make(*planar())
