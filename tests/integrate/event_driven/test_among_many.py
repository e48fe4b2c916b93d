"""Flights among many shapes: contacts are listed for a part of the way, and what was overlooked is found."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.contact import manifolds
from gaussdyn.contact.manifolds import MANY, Here, manifolds_at, overlaps, touching
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import Box, Capsule, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import plate
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.shapes import Disc, Polygon
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial import solid
from gaussdyn.mechanics.spatial.system import SpatialSystem

LAW, LYING = ContactLaw(mu=0.3, eps_n=0.4), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
PINS = {f"p{row}{k}": (0.1 * k + 0.05 * (row % 2) - 0.35, -0.1 * row) for row in range(6) for k in range(8)}
STARTS = {"a": (-0.043, 0.06), "b": (0.052, 0.07)}


def board(kind):
    """A round and a square piece above six rows of pins and a floor, and their state."""
    if kind == "plane":
        shapes = Disc(radius=0.015), Polygon(points=((-0.012, -0.01), (0.014, -0.01), (0.0, 0.015)))
        bodies = [plate(name, shape, density=1000.0) for name, shape in zip(STARTS, shapes, strict=True)]
        pins = [Disc(radius=0.01, at=at, name=name) for name, at in PINS.items()]
        system = PlanarSystem(bodies=bodies, obstacles=[*pins, HalfPlane(name="floor", point=(0.0, -0.7))], contact=LAW)
        return system, system.state({name: (*at, 0.1) for name, at in STARTS.items()})
    shapes = Sphere(radius=0.015), Box(half=(0.012, 0.014, 0.01))
    bodies = [solid(name, shape, density=1000.0) for name, shape in zip(STARTS, shapes, strict=True)]
    pins = [
        Capsule(radius=0.01, half_length=0.2, at=(x, 0.0, z), turn=LYING, name=name) for name, (x, z) in PINS.items()
    ]
    floor = HalfSpace(name="floor", point=(0.0, 0.0, -0.7))
    coordinates = "joints" if kind == "joints" else "bodies"
    system = SpatialSystem(bodies=bodies, obstacles=[*pins, floor], contact=LAW, coordinates=coordinates)
    return system, system.state({name: (x, 0.01, z) for name, (x, z) in STARTS.items()})


@pytest.mark.parametrize("kind", ["plane", "space", "joints"])
def test_poses_in_which_unknown_features_overlap_are_all_found(kind):
    system, start = board(kind)
    rng, still = np.random.default_rng(3), np.zeros(system.nv)
    places = np.array([system.move(start.q, rng.uniform(-0.4, 0.4, system.nv), 1.0) for _ in range(60)])
    under = [overlaps(system, Here(0.0, q, still), (), 1e-12) for q in places]
    found = set(touching(system, places, ()))
    assert 0 < len(found) < len(places)
    assert {k for k, gaps in enumerate(under) if gaps} <= found
    known = {key for gaps in under for key in gaps}
    assert not any(overlaps(system, Here(0.0, places[k], still), known, 1e-12) for k in found)
    assert len(touching(system, places, known)) < len(found)


@pytest.mark.parametrize("kind", ["plane", "space"])
def test_a_flight_among_many_pins_lists_few_contacts_and_is_the_same(kind, monkeypatch):
    system, start = board(kind)
    here = Here(start.t, start.q, start.v)
    few = manifolds_at(system, here, 1.0, Activation(), ())
    assert len(few.rows) <= MANY < len(system.near(*here, 1.0).rows(*here))
    assert 0.0 < few.shorter < 1.0
    run = simulate(system, start, 0.35, stepper=EventDriven())
    monkeypatch.setattr(manifolds, "MANY", 10**6)
    at_once = simulate(system, start, 0.35, stepper=EventDriven())
    assert len(run.events) > 4
    assert [(event.kind, event.id) for event in run.events] == [(event.kind, event.id) for event in at_once.events]
    assert np.allclose(run.final.q, at_once.final.q, rtol=0.0, atol=1e-8)
