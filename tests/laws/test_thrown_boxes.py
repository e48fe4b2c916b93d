"""Two boxes thrown at each other never overlap: judged by the separating axes of their saved places alone."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first
from random_scenes import separation

from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem


def thrown(seed):
    """Return two boxes that meet, spinning, and their halves."""
    rng = np.random.default_rng(seed)
    halves, masses = rng.uniform(0.05, 0.4, size=(2, 3)), 10.0 ** rng.uniform(-1, 1, size=2)
    bodies = [brick(name, mass=m, half=half) for name, m, half in zip("ab", masses, halves, strict=True)]
    law = ContactLaw(mu=rng.choice([0.0, 0.5]), eps_n=rng.choice([0.0, 0.5]))
    system = SpatialSystem(bodies=bodies, gravity=(0.0, 0.0, 0.0), contact=law)
    turns, way = rng.normal(size=(2, 4)), rng.normal(size=3)
    turns, way = turns / np.linalg.norm(turns, axis=1)[:, None], 1.3 * way / np.linalg.norm(way)
    spins, past = 2.0 * rng.normal(size=(2, 3)), 0.05 * rng.normal(size=3)
    places = {"a": (0.0, 0.0, 0.0, *turns[0]), "b": (*way, *turns[1])}
    return (
        system,
        system.state(places, {"a": (0.0, 0.0, 0.0, *spins[0]), "b": (*(past - 1.5 * way), *spins[1])}),
        halves,
    )


def check(seed, stepper):
    system, state, halves = thrown(seed)
    run = simulate(system, state, 0.9, stepper=stepper)
    assert run.status == "COMPLETED", run.stop
    assert run.events
    assert min(separation(q, halves) for q in run.q) >= -1e-10


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_thrown_boxes_do_not_overlap(seed):
    check(seed, MoreauJean(dt=2e-3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", first(12, range(6, 60), rest=pytest.mark.nightly))
def test_many_thrown_boxes_do_not_overlap(seed):
    check(seed, MoreauJean(dt=2e-3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", first(4, range(12), rest=pytest.mark.nightly))
def test_thrown_boxes_do_not_overlap_between_events(seed):
    check(seed, EventDriven(dt=5e-3))
