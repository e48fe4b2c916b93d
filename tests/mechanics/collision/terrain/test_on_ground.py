"""Bodies on ground of triangles move as on a plane, and rest in hollows."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first

from gaussdyn import EventDriven, MoreauJean, SpatialSystem, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.shapes import Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace
from gaussdyn.mechanics.collision.terrain.surfaces import HeightField, Mesh
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick, solid

CUBE = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * 0.03
THINGS = {
    "ball": (ball("a", mass=1.0, radius=0.03), 0.03),
    "box": (brick("a", mass=1.0, half=(0.03, 0.03, 0.03)), 0.03),
    "mesh": (solid("a", ConvexMesh(vertices=CUBE), density=1000.0), 0.03),
    "capsule": (solid("a", Capsule(radius=0.03, half_length=0.05, turn=(0.5, 0.5, 0.5, 0.5)), density=1e3), 0.03),
    "cylinder": (solid("a", Cylinder(radius=0.03, half_length=0.02), density=1000.0), 0.02),
    "ellipsoid": (solid("a", Ellipsoid(half=(0.06, 0.04, 0.03)), density=1000.0), 0.03),
}


def fine_floor(cells=71, step=0.02):
    """Return 1e4 triangles in the plane z = 0, their corners moved about at random within it."""
    rng = np.random.default_rng(0)
    x, y = np.meshgrid(np.arange(cells + 1), np.arange(cells + 1))
    corners = np.column_stack([x.ravel(), y.ravel(), 0.0 * x.ravel()]) * step - 0.5 * cells * step
    corners[:, 2] = 0.0
    corners[:, :2] += 0.3 * step * rng.uniform(-1.0, 1.0, (len(corners), 2))
    grid = HeightField(heights=np.zeros((cells + 1, cells + 1)), spacing=(step, step), name="grid")
    return Mesh(vertices=corners, faces=grid.triangles, name="floor")


FLOOR = fine_floor()


@pytest.mark.parametrize(("name", "mu"), first(len(THINGS) + 1, [(name, mu) for mu in (0.3, 0.0) for name in THINGS]))
def test_a_body_moves_over_ten_thousand_triangles_as_over_a_plane(name, mu):
    assert len(FLOOR.triangles) > 10_000
    body, height = THINGS[name]
    runs = []
    for ground in (FLOOR, HalfSpace(name="floor")):
        system = SpatialSystem(bodies=[body], obstacles=[ground], contact=ContactLaw(mu=mu))
        start = system.state({"a": (-0.3, 0.013, height)}, {"a": (1.0, 0.3, 0, 0, 0, 2.0)})
        runs.append(simulate(system, start, 0.3, stepper=MoreauJean(dt=2e-3)))
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-9
    assert runs[0].q[-1][0] > -0.2


def test_a_ball_comes_to_rest_in_a_hollow_of_hills_and_does_not_sink_in():
    x = np.linspace(-1.0, 1.0, 21)
    heights = 0.3 * (x[:, None] ** 2 + x[None, :] ** 2)
    ground = HeightField(heights=heights, spacing=(0.1, 0.1), at=(-1.0, -1.0, 0.0), name="bowl")
    law = ContactLaw(mu=0.5, mu_r=2e-2)
    system = SpatialSystem(bodies=[ball("a", mass=1.0, radius=0.07)], obstacles=[ground], contact=law)
    run = simulate(system, system.state({"a": (0.45, -0.2, 0.25)}), 8.0, stepper=MoreauJean(dt=4e-3))
    assert run.statistics["max_penetration_m"] <= 1e-9
    assert np.abs(run.v[-1][:3]).max() < 1e-9  # a spin about the normal is not resisted
    assert 0.6 * np.hypot(*run.q[-1][:2]) < 2e-2 / 0.07 + 0.03  # rolling resistance holds it up to this slope


def test_event_driven_runs_refuse_what_they_know_no_borders_of():
    system = SpatialSystem(bodies=[THINGS["ball"][0]], obstacles=[FLOOR])
    with pytest.raises(InputError, match="floor"):
        simulate(system, system.state({"a": (0, 0, 0.1)}), 0.1, stepper=EventDriven())


def test_a_surface_is_no_part_of_a_body():
    with pytest.raises(InputError, match="ConvexMesh"):
        SpatialBody(name="a", mass=1.0, inertia=(1, 1, 1), shapes=(FLOOR,))
