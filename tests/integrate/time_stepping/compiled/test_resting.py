"""Bodies that rest apart are left out of steps: the bits are those of steps in which all is looked at anew."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first

from gaussdyn import MoreauJean, audit, simulate
from gaussdyn.integrate.time_stepping.compiled import left_out
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.mechanics.collision.shapes import Box, Capsule, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import solid
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

DT, STEPS = 2e-3, 240


def scene(seed):
    """Return stacks on a floor and a shelf, bodies that are thrown among them, and where all begins."""
    rng, bodies, poses, speeds = np.random.default_rng(seed), [], {}, {}
    shapes = [Box(half=(0.05, 0.04, 0.03)), Sphere(radius=0.04), Capsule(radius=0.03, half_length=0.04)]

    def add(kind, place, speed=None):
        name = f"{'bsc'[kind]}{rng.integers(100):02d}{len(bodies):02d}"
        bodies.append(solid(name, shapes[kind], density=rng.uniform(300.0, 3000.0)))
        turn = (1.0, 0.0, 0.0, 0.0) if speed is None else rng.normal(size=4)
        poses[name] = [*place, *(turn / np.linalg.norm(turn))]
        if speed is not None:
            speeds[name] = [*speed, *rng.normal(size=3)]

    for k in range(6):
        floor = 0.1 if k == 5 else 0.0
        for h in range(rng.integers(1, 4)):
            add(0, (0.25 * (k % 3), 0.25 * (k // 3), floor + 0.03 + 0.06 * h))
    add(1, (0.75, 0.0, 0.04))
    for _ in range(rng.integers(1, 4)):
        add(rng.integers(3), (*rng.uniform(0.0, 0.5, 2), rng.uniform(0.3, 0.5)), rng.normal(size=3) * 0.7)
    law = ContactLaw(mu=rng.uniform(0.2, 0.8), eps_n=rng.choice([0.0, 0.4]))
    shelf = Box(half=(0.1, 0.1, 0.05), at=(0.5, 0.25, 0.05), name="shelf")
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor"), shelf], contact=law)
    return system, system.state(poses, speeds)


def figures(many):
    """Return all that steps say, as arrays."""
    rows = [
        (tuple(one.of.ids), one.impulses, one.mode, one.gap, np.array(one.books), one.cone, one.before_q, one.before_v)
        for one in many.make()
    ]
    return rows, many.q, many.v, many.E, many.goal, many.gap, many.factorisations


def equal(a, b):
    """Return whether two answers are the same bits."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    return np.array_equal(a, b)


def asleep(kernels):
    return len(kernels.space.v) - kernels.space.awake


def steps_of(kernels, state, sizes):
    """Return what pieces of so many steps say, the states after them, and how many bodies were left out there."""
    found, states, left = [], [], []
    for n in sizes:
        many = kernels.advance_many(MoreauJean(dt=DT), state, n)
        state = many.state
        found.append(figures(many))
        states.append(state)
        left.append(asleep(kernels))
    return found, states, left


@pytest.mark.parametrize("seed", first(2, range(8)))
def test_what_rests_is_left_out_and_no_bit_changes(seed):
    """The state after any step, with what it remembers, is all that the next one depends on."""
    system, state = scene(seed)
    sizes = [20] * (STEPS // 20)
    found, states, left = steps_of(CompiledBodies(system), state, sizes)
    again, others, _none = steps_of(CompiledBodies(system, trusts=False), state, sizes)
    assert max(left) > 0
    assert equal(found, again)
    for k, (one, other) in enumerate(zip(states, others, strict=True)):
        assert equal(sorted(one.memory.items()), sorted(other.memory.items()))
        if k + 1 < len(sizes):
            fresh = State(t=one.t, q=one.q.copy(), v=one.v.copy(), memory=dict(one.memory))
            assert equal(steps_of(CompiledBodies(system), fresh, sizes[k + 1 : k + 2])[0][0][1:], found[k + 1][1:])
    E, gap = (np.concatenate([one[k] for one in found]) for k in (3, 5))
    assert E.max() <= 1e-10
    assert gap.min() >= -1e-10


def test_runs_with_bodies_left_out_pass_their_audits():
    system, state = scene(3)
    run = simulate(system, state, DT * STEPS, stepper=MoreauJean(dt=DT), save=STEPS)
    assert run.status == "COMPLETED"
    assert audit(run, system=system).passed


def test_steps_one_by_one_and_of_other_lengths_are_those_of_many():
    system, state = scene(5)
    kernels, others = CompiledBodies(system), CompiledBodies(system, trusts=False)
    for dt in [DT] * 40 + [DT / 2] * 5 + [DT] * 5:
        one, other = (k.advance(MoreauJean(dt=dt), state, dt, state.t + dt) for k in (kernels, others))
        assert equal((one.state.q, one.state.v, one.energy), (other.state.q, other.state.v, other.energy))
        assert equal(sorted(one.state.memory.items()), sorted(other.state.memory.items()))
        state = one.state
    assert asleep(kernels) > 0


def test_what_rests_is_left_out_where_nothing_moves_yet_but_something_begins_to():
    """A box in the air that is held for a moment; then all of it rests, and nothing is left out."""
    names = [f"b{k}" for k in range(4)]
    bodies = [solid(name, Box(half=(0.05, 0.04, 0.03)), density=1000.0) for name in names]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    state = system.state({name: (0.2 * k, 0.0, 0.03 if k < 3 else 0.05) for k, name in enumerate(names)})
    kernels, others, stepper = CompiledBodies(system), CompiledBodies(system, trusts=False), MoreauJean(dt=DT)
    state = kernels.advance_many(stepper, state, 4).state
    held = State(t=state.t, q=state.q.copy(), v=np.zeros_like(state.v), memory=dict(state.memory))
    for n in (1, 3, 100):
        one, other = (k.advance_many(stepper, held, n) for k in (kernels, others))
        assert equal((one.q, one.v, one.E), (other.q, other.v, other.E))
        assert equal(sorted(one.state.memory.items()), sorted(other.state.memory.items()))
        assert asleep(kernels) == asleep(others) == (3 if n < 100 else 0)
    assert not one.state.v.any()


@pytest.mark.parametrize("after", range(4))
def test_an_interrupt_while_bodies_are_left_out_changes_no_bit(after, monkeypatch):
    system, state = scene(3)
    kernels, stepper, order = CompiledBodies(system), MoreauJean(dt=DT), left_out._put_in_order
    whole = CompiledBodies(system).advance_many(stepper, state, STEPS)
    calls = []

    def interrupted(*args):
        calls.append(len(calls))
        if len(calls) == after + 1:
            args[0].bodies.mass[:] = args[0].bodies.mass[::-1].copy()
            raise KeyboardInterrupt
        order(*args)

    monkeypatch.setattr(left_out, "_put_in_order", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernels.advance_many(stepper, state, STEPS)
    np.testing.assert_array_equal(kernels.advance_many(stepper, state, STEPS).q, whole.q)


def test_a_body_that_is_pushed_does_not_stay_left_out():
    """A control that begins to act finds all that rests, and what it does not move rests on."""
    system, state = scene(1)
    kernels, stepper = CompiledBodies(system), MoreauJean(dt=DT)
    while asleep(kernels) == 0:
        state = kernels.advance_many(stepper, state, 5).state
    control = np.zeros(system.nv)
    rests = np.flatnonzero(~state.v.reshape(-1, 6).any(axis=1))
    control[6 * rests[0] + 2] = 100.0
    one = kernels.advance_many(stepper, state, 3, control)
    assert one.v[-1].reshape(-1, 6)[rests[0], 2] > 0.01
    np.testing.assert_array_equal(
        one.q, CompiledBodies(system, trusts=False).advance_many(stepper, state, 3, control).q
    )


def test_a_stepper_with_another_tolerance_looks_at_what_rests_anew():
    system, state = scene(0)
    kernels = CompiledBodies(system)
    while asleep(kernels) == 0:
        state = kernels.advance_many(MoreauJean(dt=DT, tol=1e-8), state, 5).state
    finer = MoreauJean(dt=DT, tol=1e-14)
    ours, anew = (k.advance_many(finer, state, 3) for k in (kernels, CompiledBodies(system)))
    assert equal(figures(ours)[1:], figures(anew)[1:])


def test_modes_of_what_rests_do_not_depend_on_what_began_to_rest_first():
    """Contacts without friction are active where none that acts has any, and else stick."""
    box, floor = Box(half=(0.05, 0.05, 0.05)), HalfSpace(name="floor")
    bodies = [solid(name, box, density=1000.0) for name in "ab"] + [solid("m", Sphere(radius=0.05), density=1000.0)]
    system = SpatialSystem(
        bodies=bodies, obstacles=[floor], contact=ContactLaw(mu=0.0), pairs={("b", "floor"): ContactLaw(mu=0.5)}
    )
    turn = (1.0, 0.0, 0.0, 0.0)
    state = system.state({"a": (0, 0, 0.05, *turn), "b": (1, 0, 0.052, *turn), "m": (3, 0, 2.0, *turn)})
    kernels, known, modes = CompiledBodies(system), state, []
    for _ in range(60):
        many = kernels.advance_many(MoreauJean(dt=DT), known, 1)
        anew = CompiledBodies(system, trusts=False).advance_many(MoreauJean(dt=DT), known, 1)
        (one,), (other,) = many.make(), anew.make()
        assert tuple(one.of.ids) == tuple(other.of.ids)
        np.testing.assert_array_equal(one.mode, other.mode)
        known = many.state
        modes.append(set(one.mode[0].tolist()))
    assert asleep(kernels) == 2
    assert len(modes[0] & modes[-1]) == 0
