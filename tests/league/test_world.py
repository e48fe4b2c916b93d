"""Plain data of the league, and the exact answers that are not in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import MoreauJean
from gaussdyn.league.engines import PLACES, engine_at, installed
from gaussdyn.league.engines.gaussdyn_engine import system_of
from gaussdyn.league.matches import mechanisms, painleve
from gaussdyn.league.matches.match import FLOOR
from gaussdyn.league.world import GROUND, Body, Pin, World, hinge_rate, in_body, relative_turn


def test_pins_make_a_tree_and_loops() -> None:
    hung, loops = mechanisms.linkage().tree()
    n = mechanisms.LOOPS
    assert sorted(hung) == list(range(2 * n + 1))
    assert len(loops) == n


def test_a_turned_body_sees_points_in_its_own_axes() -> None:
    quarter = math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)  # about z
    body = Body(mass=1.0, inertia=(1.0,) * 3, place=(1.0, 0.0, 0.0), turn=quarter)
    assert in_body(body, (1.0, 2.0, 0.0)) == pytest.approx([2.0, 0.0, 0.0], abs=1e-15)
    assert relative_turn(body, body) == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-15)


def test_a_hinge_turns_with_the_difference_of_spins() -> None:
    ones = tuple(Body(mass=1.0, inertia=(1.0,) * 3, place=(0.0,) * 3, spin=(0.0, w, 0.0)) for w in (3.0, 5.0))
    pins = (
        Pin(first=GROUND, second=0, point=(0.0,) * 3, axis=(0.0, 1.0, 0.0)),
        Pin(first=0, second=1, point=(0.0,) * 3, axis=(0.0, 1.0, 0.0)),
    )
    world = World(bodies=ones, pins=pins)
    assert [hinge_rate(world, pin) for pin in pins] == [3.0, 2.0]


def test_the_sliding_rod_obeys_newton_at_its_start() -> None:
    """Its exact time and a run by small steps agree: two ways to the same motion."""
    world = painleve._rod(1.0, 0.0)
    system, body = system_of(world), world.bodies[0]
    start = system.state({"b0": (*body.place, *body.turn)}, {"b0": (*body.velocity, 0.0, 0.0, 0.0)})
    stepper, state, dt = MoreauJean(dt=1e-5), start, 1e-5
    for _ in range(1000):
        state = stepper.advance(system, state, 1.0).state
    spin = np.array([0.0, state.v[4], 0.0])
    row = np.r_[state.q, state.v[:3], spin][None, None]
    speed = abs(float(painleve._tip(row)[0, 0]))
    assert painleve.slowed(speed) == pytest.approx(1000 * dt, abs=2e-6)


@pytest.mark.parametrize("name", PLACES)
def test_engines_start_where_they_are_told(name: str) -> None:
    """A turned body in flight, with all of its rates."""
    engine = engine_at(PLACES[name])
    if not installed(engine):
        pytest.skip(f"{engine.library} is not installed")
    turn = (0.5, 0.5, -0.5, 0.5) if name != "pymunk" else (math.cos(0.3), 0.0, math.sin(0.3), 0.0)
    spin = (1.0, 2.0, 3.0) if name != "pymunk" else (0.0, 2.0, 0.0)
    body = Body(
        mass=1.0, inertia=(1.0, 2.0, 2.5), place=(1.0, 0.0, 3.0), turn=turn, velocity=(4.0, 0.0, 6.0), spin=spin
    )
    world = World(bodies=(body,), walls=(FLOOR,), flat=True)
    found, right = engine.start(world, "defaults", 1e-3).states(), world.start()
    found[0, 3:7] *= np.sign(found[0, 3:7] @ right[0, 3:7])
    np.testing.assert_allclose(found, right, atol=1e-9)
