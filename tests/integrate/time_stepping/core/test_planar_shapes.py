"""Shapes in the plane by the compiled step: it finds their contacts itself, and steps as the interpreted scheme."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from step_pairs import apart

from gaussdyn import ContactLaw, MoreauJean, PlanarSystem, State
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, CoreStep
from gaussdyn.mechanics.joints.drives import Drive
from gaussdyn.mechanics.planar import HalfPlane, Hinge, Marker, PlanarBody, PlanarContact
from gaussdyn.mechanics.planar.bodies import box, disc
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, Stadium


def thing(rng: np.random.Generator, k: int) -> PlanarBody:
    """Return a disc, a stadium, a polygon or two discs on one body."""
    size = rng.uniform(0.1, 0.2)
    angles = np.sort(rng.uniform(0.0, 0.4, 5)) + 2.0 * math.pi * np.arange(5) / 5
    shapes = (
        [Disc(radius=size)], [Stadium(a=(-size, 0.0), b=(size, 0.05), radius=0.06)],
        [Polygon(points=[(size * math.cos(a), size * math.sin(a)) for a in angles])],
        [Disc(radius=0.08, at=(-size, 0.0), name="l"), Disc(radius=0.1, at=(size, 0.0), name="r")],
    )[k % 4]  # fmt: skip
    return PlanarBody(name=f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.01, 0.03), shapes=tuple(shapes))


def pile(seed: int) -> tuple[PlanarSystem, State]:
    """Return things that fall into a trough, two of them on a hinge, on a belt and a block of the ground."""
    rng = np.random.default_rng(seed)
    bodies = [thing(rng, k + seed) for k in range(5)]
    names = [body.name for body in bodies]
    obstacles = [
        HalfPlane(name="floor", belt=0.3), HalfPlane(name="wall", normal=(1.0, 0.3), point=(-0.5, 0.0)),
        Polygon(name="block", points=[(0.3, -0.1), (0.7, -0.1), (0.6, 0.12), (0.35, 0.15)]),
    ]  # fmt: skip
    hinge = Hinge(name="pin", a=Marker(names[0], (0.2, 0.0)), b=Marker(names[1], (-0.2, 0.0)))
    law = ContactLaw(mu=0.4, eps_n=0.4 * (seed % 3 == 0))  # no mu_s: with it there are several motions
    system = PlanarSystem(
        bodies=bodies, obstacles=obstacles, contact=law, joints=[hinge], forces=[Drive(joint="pin", effort=0.1)],
        pairs={("block", names[2]): None, ("floor", names[3]): ContactLaw()},
    )  # fmt: skip
    places = {name: (0.45 * (k % 2) - 0.1, 0.25 + 0.24 * k, rng.uniform(-3.0, 3.0)) for k, name in enumerate(names)}
    x, y, angle = places[names[0]]
    places[names[1]] = (x + 0.2 * math.cos(angle) + 0.2, y + 0.2 * math.sin(angle), 0.0)
    return system, system.state(places, {name: (0.0, -0.5, rng.normal()) for name in names[2:]})


@pytest.mark.parametrize("seed", range(6))
def test_piles_step_as_the_interpreted_scheme(seed: int) -> None:
    """Whatever meets, slides, bounces and comes to rest."""
    system, state = pile(seed)
    stepper, plain = MoreauJean(dt=2e-3), MoreauJean(dt=2e-3, compiled=False)
    seen: Counter[str] = Counter()
    for k in range(360):
        step = stepper.advance(system, state, 10.0)
        if k % 18 == 0 and isinstance(step, CoreStep):
            assert apart(step, plain.advance(system, state, 10.0)) <= 1e-9
        seen[type(step).__name__] += 1
        seen["contacts"] += len(step.reactions)
        state = step.state
    assert seen["CoreStep"] >= 300
    assert seen["contacts"] > 1000


def test_many_steps_in_one_call_are_single_ones_bit_by_bit() -> None:
    """However a run is cut, and whatever the room for contacts is at first; from a state that was stored as well."""
    system, start = pile(1)
    stepper, one = MoreauJean(dt=2e-3), start
    for _ in range(120):
        one = stepper.advance(system, one, 10.0).state
    kernels, many, taken = CompiledSystem.of(system, start), start, 0
    assert kernels is not None
    while taken < 120:
        stored = State(t=many.t, q=many.q.copy(), v=many.v.copy(), memory=dict(many.memory))
        done = kernels.advance_many(stepper, stored, min(50, 120 - taken), t_max=10.0, whole=False)
        many, taken = done.state, taken + done.taken
        if not done.taken:
            many, taken = stepper.advance(system, many, 10.0).state, taken + 1
    assert many.digest() == one.digest()


def test_what_a_call_says_of_its_last_step_is_not_that_of_the_one_that_failed() -> None:
    """An impact that would gain energy ends a call: the step before it keeps its own impulses and modes."""
    system, start = pile(3)
    stepper, state, steps = MoreauJean(dt=2e-3), start, []
    while not any(step.unsettled for step in steps):
        steps.append(stepper.advance(system, state, 10.0))
        state = steps[-1].state
    kernels, last = CompiledSystem.of(system, start), steps[-2]
    assert kernels is not None
    many = kernels.advance_many(stepper, start, len(steps) + 5, t_max=10.0)
    assert many.taken == len(steps) - 1
    assert many.last is not None
    assert many.last.modes == last.modes
    assert many.last.reactions.keys() == last.reactions.keys()
    for key, p in last.reactions.items():
        np.testing.assert_array_equal(many.last.reactions[key], p)
    assert many.state.digest() == last.state.digest()


def test_a_contact_given_one_by_one_is_not_found_again() -> None:
    """The disc rests on its own law, with restitution, and not on that of the shapes."""
    ball, floor = disc("ball", mass=1.0, radius=0.1), HalfPlane(name="floor")
    given = PlanarContact(point=Marker("ball"), plane=floor, radius=0.1, eps_n=1.0)
    system = PlanarSystem(bodies=[ball], contacts=[given], obstacles=[floor], contact=ContactLaw(mu=0.5))
    step = MoreauJean(dt=1e-3).advance(system, system.state({"ball": (0.0, 0.1, 0.0)}, {"ball": (1.0, -1.0, 0.0)}), 1.0)
    assert isinstance(step, CoreStep)
    assert {key: p.shape for key, p in step.reactions.items()} == {"ball/floor": (1,)}
    assert step.state.v[1] == pytest.approx(1.0, abs=0.02)


def test_there_is_room_for_as_many_contacts_as_come() -> None:
    """A row of boxes side by side on a floor, more than there is room for at first."""
    bodies = [box(f"b{k:02d}", mass=1.0, width=0.1, height=0.1) for k in range(12)]
    system = PlanarSystem(bodies=bodies, obstacles=[HalfPlane(name="floor")], contact=ContactLaw(mu=0.3))
    state = system.state({f"b{k:02d}": (0.1 * k, 0.05, 0.0) for k in range(12)})
    step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
    assert isinstance(step, CoreStep)
    assert np.abs(step.state.v).max() <= 1e-12
    assert sum(float(p[0]) for key, p in step.reactions.items() if "floor" in key) == pytest.approx(12 * 9.81e-3)
