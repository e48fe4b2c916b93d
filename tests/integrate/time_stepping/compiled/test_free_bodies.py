"""Steps of free bodies by sparse kernels: those of the reference, stacks, and what must be equal bit by bit."""

import dataclasses
import math

import numpy as np
import pytest
from evidence import first
from reference_step import reference_of
from stepping_cases import tumble

from gaussdyn import audit, build
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.stretch import UNSETTLED
from gaussdyn.integrate.time_stepping.compiled.body_kinematics import group_pairs, move_bodies
from gaussdyn.integrate.time_stepping.compiled.contact_search import search
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.compiled.records import FEATURES
from gaussdyn.integrate.time_stepping.compiled.workspace import Workspace
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import ConvexMesh, HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball, brick, solid
from gaussdyn.mechanics.spatial.forces import Drag, Shaking
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

G, H, DT = 9.81, 0.1, 1e-3


def stepper(**settings):
    return MoreauJean(**{"dt": DT, **settings})


def stack(n, shake=0.0, top=1.0, mu=0.5, half=H):
    """n boxes with sides 2 half on a floor that shakes as shake G sin(20 t)."""
    bodies = [brick(f"b{i:03d}", mass=top if i == n - 1 else 1.0, half=(half, half, half)) for i in range(n)]
    forces = (Shaking(amplitude=shake * G, frequency=20.0 / (2.0 * math.pi)),) if shake else ()
    floor = HalfSpace(name="floor")
    system = SpatialSystem(bodies=bodies, obstacles=[floor], forces=forces, contact=ContactLaw(mu=mu))
    return system, system.state({body.name: (0.0, 0.0, half + 2.0 * half * i) for i, body in enumerate(bodies)})


def both(system, state, method):
    """One step from the same state: (reference, kernels)."""
    fast = CompiledBodies.of(system).advance(method, state, method.dt, state.t + method.dt)
    return reference_of(system, fast), fast


def test_free_flight_and_spin():
    system, state = tumble(0)
    slow, fast = both(system, state, stepper())
    assert np.abs(fast.state.v - slow.state.v).max() <= 1e-13 * np.abs(slow.state.v).max()
    assert np.abs(fast.state.q - slow.state.q).max() <= 1e-14


def test_a_call_that_is_interrupted_changes_no_later_one(monkeypatch):
    system, state = tumble(0)
    kernels, method = CompiledBodies(system), stepper()
    begin = kernels.advance(method, state, DT, DT).state
    expected = CompiledBodies(system).advance(method, begin, DT, 2.0 * DT).state

    def interrupted(run):
        CompiledBodies._call(kernels, run)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kernels, "_call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kernels.advance_many(method, begin, 50)
    np.testing.assert_array_equal(kernels.advance(method, begin, DT, 2.0 * DT).state.q, expected.q)


@pytest.mark.parametrize(("n", "top"), [(1, 1.0), (5, 1.0), (20, 1.0), (20, 1000.0)])
def test_stack_stands_and_carries_its_weight(n, top):
    system, state = stack(n, top=top)
    compiled, method = CompiledBodies.of(system), stepper()
    run = compiled.advance_many(method, state, 200)
    assert run.taken == 200
    assert (run.E <= 1e-10).all()
    assert not run.state.v.any()
    assert np.abs(run.state.q - state.q).max() <= 1e-11
    weight = sum(p[0] for id, p in run.state.memory.items() if id.endswith("/floor")) / DT
    assert weight == pytest.approx((n - 1 + top) * G, rel=1e-10)


@pytest.mark.parametrize("seed", [None, *range(12)])
def test_the_floor_carries_a_heavy_top_from_the_first_step_on(seed):
    """E alone does not see the momentum of the heaviest: what rounding does to light boxes hides it."""
    n, top, mu, half, dt = 27, 343270.87046997, 0.5536008596930674, 0.38075979793200353, 2e-3
    if seed is not None:
        rng = np.random.default_rng(seed)
        n, top = int(rng.integers(2, 61)), 10.0 ** rng.uniform(3.0, 6.0)
        mu, half = rng.uniform(0.05, 1.5), 10.0 ** rng.uniform(-2.0, 0.0)
    system, state = stack(n, top=top, mu=mu, half=half)
    compiled, start = CompiledBodies.of(system), state
    for _ in range(4):
        state = compiled.advance_many(stepper(dt=dt), state, 1).state
        weight = sum(p[0] for id, p in state.memory.items() if id.endswith("/floor")) / dt
        assert weight == pytest.approx((n - 1 + top) * G, rel=1e-11)
        assert np.abs(state.v).max() <= 1e-13
    assert np.abs(state.q - start.q).max() <= 1e-11


def test_swaying_stack_does_not_creep():
    system, state = stack(5, shake=0.08)
    run = CompiledBodies.of(system).advance_many(stepper(), state, 500)
    assert (run.goal >= run.E).all()
    assert np.abs(run.state.q - state.q).max() <= 1e-13


def test_advance_many_is_advance_again_and_again():
    system, state = stack(3, shake=0.4)
    method = stepper()
    run = CompiledBodies.of(system).advance_many(method, state, 60)
    compiled, one = CompiledBodies.of(system), state
    for _ in range(60):
        dt, t_end = method.span(one.t, 1.0)
        one = compiled.advance(method, one, dt, t_end).state
    assert one.digest() == run.state.digest()
    assert CompiledBodies.of(system).advance_many(method, state, 60).state.digest() == one.digest()


@pytest.mark.parametrize("dts", [(DT,), (DT, 0.5 * DT)])
def test_steps_at_rest_are_recorded_as_those_taken_one_by_one(dts):
    """What stands still is stepped once in a call; that it falls at first, or that dt changes, is no such step."""
    system, state = stack(4)
    above = np.tile([0.0, 0.0, 2e-6, 0.0, 0.0, 0.0, 0.0], 4)
    at_once = one = dataclasses.replace(state, q=state.q + above)
    for dt in dts:
        run = CompiledBodies.of(system).advance_many(stepper(dt=dt), at_once, 12)
        at_once, found = run.state, []
        for _ in range(12):
            step = CompiledBodies.of(system).advance_many(stepper(dt=dt), one, 1)
            one, found = step.state, [*found, step]
        assert one.digest() == at_once.digest()
        for name in ("E", "goal", "path", "factorisations", "passes", "gap", "q", "v"):
            assert np.array_equal(np.concatenate([getattr(step, name) for step in found]), getattr(run, name)), name
        for name in ("E", "cone", "restitution", "gap", "impulses", "mode"):
            assert np.array_equal(
                np.concatenate([getattr(part, name) for step in found for part in step.stretches]),
                np.concatenate([getattr(part, name) for part in run.stretches]),
            ), name


def test_a_resumed_run_is_the_same_run():
    system, state = stack(3, shake=0.4)
    method = stepper()
    whole = CompiledBodies.of(system).advance_many(method, state, 60).state
    half = CompiledBodies.of(system).advance_many(method, state, 31).state
    again = type(half)(t=half.t, q=half.q, v=half.v, memory=dict(half.memory))  # as read from a file
    assert CompiledBodies.of(system).advance_many(method, again, 29).state.digest() == whole.digest()


def test_lazy_parts_of_a_step_are_those_of_the_reference():
    bodies = [ball("low", mass=1.0, radius=H), ball("top", mass=2.0, radius=H)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    state = system.state({"low": (0.0, 0.0, H), "top": (0.0, 0.0, 3.0 * H)}, {"low": (0.3, 0.0, 0.0)})
    slow, fast = both(system, state, stepper())
    assert fast.solution.solved
    assert [row.id for row in fast.rows] == [row.id for row in slow.rows]
    assert fast.modes == {"low/floor": "slip", "low/top": "stick"} | {key: fast.modes[key] for key in fast.modes}
    assert fast.work.reactions == pytest.approx(slow.work[0], abs=1e-14)


def test_control_is_a_generalised_force():
    system, state = stack(1)
    method, push = stepper(), np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    fast = CompiledBodies.of(system).advance(method, state, DT, DT, push)
    slow = reference_of(system, fast)
    assert fast.state.v[0] > 0.0
    assert np.abs(fast.state.v - slow.state.v).max() <= 1e-12


@pytest.mark.parametrize(("spin", "pitch"), first(1, [(-5.0, 0.02), (-4.0, 0.02), (-5.0, 0.03)]))
def test_rounding_that_passes_end_with_does_not_take_the_laws_to_the_middle(spin, pitch):
    """The contact of a rattleback wanders over it: passes end with changes of 1e-12 that rise and fall."""
    scene = build("rattleback", spin=spin, pitch=pitch)
    run = simulate(scene.system, scene.state, scene.t_end, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED"
    assert UNSETTLED not in {event.kind for event in run.events}


def test_other_systems_are_left_to_dense_kernels():
    box = brick("box", mass=1.0, half=(H, H, H))
    assert (
        CompiledBodies.of(SpatialSystem(bodies=[box], forces=[Drag(point=SpatialMarker("box"), damping=1.0)])) is None
    )
    assert CompiledBodies.of(SpatialSystem(bodies=[box], contact=ContactLaw(mu=0.3, mu_s=0.4))) is None
    assert CompiledBodies.of(object()) is None


def test_kernels_move_bodies_as_systems_do_to_the_bit():
    """Where bodies overlap rounding may decide in which features they meet: an audit must find those of the step."""
    rng, n = np.random.default_rng(0), 40
    system = SpatialSystem(bodies=[brick(f"b{k}", mass=1.0, half=(H, H, H)) for k in range(n)])
    q, v, moved = rng.normal(size=(n, 7)), rng.normal(size=(n, 6)), np.zeros((n, 7))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    v[: n // 4, 3:] = 0.0
    move_bodies(q, v, DT, moved)
    np.testing.assert_array_equal(system.move(q.ravel(), v.ravel(), DT), moved.ravel())


@pytest.mark.parametrize("seed", range(3))
def test_kernels_list_the_contacts_that_systems_do_and_as_many_as_their_own_bodies_reach(seed):
    """One body that flies fast lists contacts of its own, and of no others."""
    rng, n = np.random.default_rng(seed), 60
    bodies = [brick(f"b{k:02d}", mass=1.0, half=(H, 0.7 * H, 0.5 * H)) for k in range(n)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")])
    turns = rng.normal(size=(n, 4))
    q = np.hstack([rng.uniform(0.0, 0.7, (n, 3)), turns / np.linalg.norm(turns, axis=1)[:, None]]).ravel()
    v, counts = rng.normal(size=6 * n), []
    for fast in (1.0, 50.0):
        v[:3] *= fast
        near = system.near(0.0, q, v, DT)
        kernels = CompiledBodies(system)
        kernels._load(State(q=q, v=v), stepper(), DT, None)
        while (found := int(search(kernels.space.search, kernels.space.step, DT, G))) > kernels.space.buffers.room:
            kernels.space.reserve(found)
        ids = kernels.ids(kernels.space.buffers.answer.label[:found])
        assert ids == [row.id for row in near.rows(0.0, q, v)]
        counts.append([sum("b00" not in id for id in ids), len(ids)])
    assert counts[1][0] == counts[0][0] > 100
    assert counts[1][1] > counts[0][1]


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_bodies_are_numbered_in_the_order_in_which_contacts_name_them(seed):
    rng = np.random.default_rng(seed)
    n, most = int(rng.integers(1, 200)), int(rng.integers(2, 12))
    bodies = np.array([rng.choice(most + 1, 2, replace=False) - 1 for _ in range(n)])
    pair, of, last = np.full((n, 3), -7), np.full(n, -7), np.full(most + 1, -7)
    count = group_pairs(bodies, n, pair, of, last)
    said = [(a, b) if b >= 0 else (b, a) for b, a in bodies.tolist()]
    assert [tuple(line) for line in pair[:count, :2].tolist()] == list(dict.fromkeys(said))
    assert [said[f] for f in range(n)] == [tuple(pair[k, :2].tolist()) for k in of]


def heap(seed=12):
    """Hulls that fall on one another: a step ends on a contact that was not listed."""
    rng = np.random.default_rng(seed)
    bodies, start = [], {}
    for i in range(12):
        points = rng.normal(size=(rng.integers(8, 15), 3))
        points *= 0.05 / np.linalg.norm(points, axis=1)[:, None]
        bodies.append(solid(f"r{i:02d}", ConvexMesh(vertices=points), density=2500.0))
        start[bodies[-1].name] = (*rng.uniform(-0.03, 0.03, 2), 0.08 + 0.11 * i)
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    return MoreauJean(dt=2e-3, tol=1e-10), system, system.state(start)


def test_a_rock_that_a_reaction_turns_on_to_another_corner_is_taken_again_by_the_kernels():
    """A heap of hulls in which a step ends on a corner that was not listed: no dense step, no overlap, laws hold."""
    stepper, system, state = heap()
    steps = CompiledBodies.of(system).advance_many(stepper, state, 210)
    assert "dense" not in steps.path
    assert steps.gap.min() >= -1e-10
    assert steps.E.max() <= 1e-10
    run = simulate(system, state, 0.42, stepper=stepper)
    assert audit(run, system=system).passed


def test_a_corner_that_was_not_listed_and_has_no_room_is_no_other_step(monkeypatch):
    """With room for the contacts listed and no more: room is made, and the step begun anew is the same to the bit."""
    stepper, system, state = heap(15)
    roomy, narrow, reserve, grown = CompiledBodies(system), CompiledBodies(system), Workspace.reserve, 0
    monkeypatch.setattr(Workspace, "reserve", lambda space, room: reserve(space, room // 2))
    for _ in range(210):
        step = roomy.advance(stepper, state, stepper.dt, state.t + stepper.dt)
        narrow._load(state, stepper, stepper.dt, None)
        listed = int(narrow.space.count[FEATURES])
        narrow.space.reserve(2 * listed)
        enough = search(narrow.space.search, narrow.space.step, stepper.dt, G) <= listed
        same = narrow.advance(stepper, state, stepper.dt, state.t + stepper.dt)
        grown += enough and narrow.space.buffers.room > listed
        assert same.state.digest() == step.state.digest()
        state = step.state
    assert grown > 0
