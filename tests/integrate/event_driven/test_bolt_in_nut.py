"""A bolt that leans in its nut: contacts on all sides of it, which close and open within nanometres of each other."""

import numpy as np
import pytest

from gaussdyn import ContactLaw, EventDriven, SpatialSystem, audit, simulate
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.event_driven.jump import still_open
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.spatial import Compound, ConvexMesh, Cylinder, HalfSpace, solid


def _row(key, gap, rate=-1e-3):
    return Row(id=key, kind="unilateral", J=np.ones((1, 1)), rate=np.array([rate]), drift=np.zeros(1), gap=gap)


def test_a_gap_that_is_open_beside_contacts_that_are_put_back_stays_open():
    counts = Activation()
    before = _row("near", 1.24 * counts.gap), _row("closed", 0.5 * counts.gap), _row("deep", 1.1 * counts.gap)
    after = _row("near", 0.96 * counts.gap), _row("closed", 0.0), _row("deep", -0.1 * counts.gap)
    assert still_open(counts, before, after, 1e-16).aloft == {"near"}
    assert still_open(counts, before, before, 1e-16) == counts


def _ring(sides, inner, outer, half):
    parts = []
    for k in range(sides):
        angles = 2.0 * np.pi * np.array([k, k + 1]) / sides
        corners = [(r * np.cos(a), r * np.sin(a), z) for r in (inner, outer) for a in angles for z in (-half, half)]
        parts.append(ConvexMesh(vertices=corners, name=f"s{k}"))
    return Compound(parts=parts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_bolt_with_its_nut_falls_on_a_floor(seed):
    """It completes, obeys its laws, and nothing overlaps, however the two spin and lean."""
    rng, radius = np.random.default_rng(seed), 0.005
    sides, clearance = int(rng.choice([6, 8])), rng.choice([1.01, 1.03, 1.1])
    nut = _ring(sides, radius * clearance / np.cos(np.pi / sides), 0.0095, 0.004)
    head = Cylinder(radius=0.008, half_length=0.003, at=(0.0, 0.0, 0.018), name="head")
    bolt = Compound(parts=[Cylinder(radius=radius, half_length=0.015, name="shank"), head])
    bodies = [solid("bolt", bolt, density=7800.0), solid("nut", nut, density=7800.0)]
    law = ContactLaw(mu=float(rng.choice([0.0, 0.2, 0.6])), eps_n=float(rng.choice([0.0, 0.3])))
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=law)
    lean, spins = rng.choice([0.0, 0.1, 0.3]), rng.normal(size=(2, 3)) * rng.choice([0.0, 1.0, 10.0])
    turn = (np.cos(lean / 2), np.sin(lean / 2), 0.0, 0.0)
    low = np.array([0.0, 0.009 * np.sin(lean), -0.009 * np.cos(lean)])  # of the nut's centre below the bolt's
    places = {"bolt": (0.0, 0.0, 0.032, *turn), "nut": (*(np.array([0.0, 0.0, 0.032]) + low), *turn)}
    start = system.state(places, {name: (0, 0, 0, *w) for name, w in zip(("bolt", "nut"), spins, strict=True)})
    run = simulate(system, start, 0.1, stepper=EventDriven())
    assert run.status == "COMPLETED"
    assert run.statistics["max_penetration_m"] < 1e-10
    assert audit(run).passed
