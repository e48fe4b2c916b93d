"""Near places where rows depend on one another, as in the trials of a step, reactions are near those there."""

from __future__ import annotations

import numpy as np
import pytest
from random_scenes import falling

from gaussdyn import EventDriven, audit, simulate
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.event_driven.mode_selection import first_modes
from gaussdyn.integrate.event_driven.phase_state import Place
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem


def brick_on_a_brick(mu_r, seed):
    """Faces on one another, so that corners, edges and faces touch; the upper one slides and spins."""
    rng = np.random.default_rng(seed)
    system = SpatialSystem(
        bodies=[brick("low", mass=3.0, half=(0.2, 0.2, 0.1)), brick("top", mass=1.0, half=(0.2, 0.15, 0.05))],
        obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5, mu_r=mu_r),
    )  # fmt: skip
    turn = rng.uniform(0.1, 0.6)
    place = {
        "low": (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0),
        "top": (*rng.uniform(0.03, 0.1, 2), 0.25, np.cos(turn), 0.0, 0.0, np.sin(turn)),
    }
    state = system.state(place, {"low": np.zeros(6), "top": (*rng.normal(size=2), 0.0, 0.0, 0.0, rng.normal())})
    return system.near(0.0, state.q, state.v, 0.0), state


@pytest.mark.parametrize("mu_r", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_reactions_near_a_redundant_place_are_near_those_there(mu_r, seed):
    system, state = brick_on_a_brick(mu_r, seed)
    place = Place.of(system, 0.0, state.q, state.v, None)
    phase = Phase(system=system, control=None, modes=first_modes(place.rows, {}, Activation()), rows=place.rows)
    assert phase.redundant
    now, rng = phase.at(place), np.random.default_rng(seed)
    size = max(float(np.abs(r).max()) for r in now.r)
    for off in (1e-9, 1e-7, 1e-6):
        q = system.move(state.q, rng.uniform(-off, off, system.nv), 1.0)
        then = phase.instant(0.0, q, state.v)
        assert np.abs(then.a - now.a).max() <= 1e3 * off * np.abs(now.a).max()
        assert max(float(np.abs(x - y).max()) for x, y in zip(then.r, now.r, strict=True)) <= 1e3 * off * size


def test_corners_that_an_impact_lets_slide_apart_share_as_few_of_them_can():
    """Five contacts of two bricks slide in different directions: with all of them the shortest reactions pull."""
    system, _ = falling(3, 10003, mu=0.2, eps_n=0.0, count=3)
    places = {
        "b0": (0.04972990875272, 0.1476122586344, 0.0944389793002,
               0.4981167011769, -0.4981167011769, 0.501876231763, -0.501876231763),
        "b1": (-0.02656404210191, 0.05084060537246, 0.279440605616,
               -0.3780447689388, -0.5976314354627, 0.3779373854844, -0.5975635135097),
        "b2": (0.08497243259599, 0.00270472230489, 0.4350863681096,
               0.2335751084424, -0.4324717729129, 0.5676444224702, 0.660447305989),
    }  # fmt: skip
    speeds = {
        "b0": (0.0,) * 6,
        "b1": (-0.2769599077139, 0.1625960914035, -0.1883392572153,
               -2.691804671594, -0.0004836956291585, 1.597936662359),
        "b2": (0.9079467457143, -0.7362471124389, 1.409527360577,
               6.320384762022, 7.833554312199, 15.21321661203),
    }  # fmt: skip
    run = simulate(system, system.state(places, speeds), 2e-4, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert "impact" in {event.kind for event in run.events}
    checked = audit(run, system)
    assert checked.passed, checked.explain()
