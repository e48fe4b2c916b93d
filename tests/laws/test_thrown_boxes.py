"""Two boxes thrown at each other never overlap: judged by the separating axes of their saved places alone."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.integrate.event_driven import EventDriven
from gaussdyn.integrate.moreau_jean import MoreauJean
from gaussdyn.integrate.simulate import simulate
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial import SpatialSystem
from gaussdyn.mechanics.spatial_bodies import brick


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


def separation(q, halves):
    """Return the largest distance between the boxes along the normals of faces and of pairs of edges, m."""
    A, B, d = matrix_of(q[3:7]), matrix_of(q[10:14]), q[7:10] - q[:3]
    axes = [*A.T, *B.T, *(np.cross(a, b) for a in A.T for b in B.T)]
    axes = np.array([n / np.linalg.norm(n) for n in axes if np.linalg.norm(n) > 1e-6])
    return float((np.abs(axes @ d) - np.abs(axes @ A) @ halves[0] - np.abs(axes @ B) @ halves[1]).max())


def check(seed, stepper):
    system, state, halves = thrown(seed)
    run = simulate(system, state, 0.9, stepper=stepper)
    assert run.status == "COMPLETED", run.stop
    assert run.events
    assert min(separation(q, halves) for q in run.q) >= -1e-10


@pytest.mark.parametrize("seed", range(6))
def test_thrown_boxes_do_not_overlap(seed):
    check(seed, MoreauJean(dt=2e-3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 60))
def test_many_thrown_boxes_do_not_overlap(seed):
    check(seed, MoreauJean(dt=2e-3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_thrown_boxes_do_not_overlap_between_events(seed):
    check(seed, EventDriven(dt=5e-3))
