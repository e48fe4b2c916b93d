"""Borders of meshes: those of a box as a mesh are those of the box."""

from __future__ import annotations

import json

import numpy as np

from gaussdyn import SpatialSystem
from gaussdyn.mechanics.spatial import Box, ConvexMesh, Cylinder, HalfSpace, Sphere, ball, solid

HALF = np.array([0.1, 0.2, 0.3])
CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * HALF


def _system(shape):
    return SpatialSystem(bodies=[ball("ball", mass=1.0, radius=0.05), solid("block", shape, density=1.0)])


def test_room_on_a_face_an_edge_and_a_corner_is_that_of_a_box():
    boxed, meshed = _system(Box(half=HALF)), _system(ConvexMesh(vertices=CORNERS))
    for place in [(0.02, 0.03, 0.35), (0.05, 0.23, 0.33), (0.12, 0.22, 0.32), (0.0, 0.24, 0.1)]:
        rooms = []
        for system in (boxed, meshed):
            state = system.state({"ball": place, "block": (0, 0, 0)})
            (row,) = system.near(0.0, state.q, state.v, 0.0).rows(0.0, state.q, state.v)
            near = system.near(0.0, state.q, state.v, 0.0)
            rooms.append(near.extent(row.id).room(state.q))
        assert abs(rooms[0] - rooms[1]) < 1e-14


def test_systems_of_meshes_and_cylinders_are_built_again_from_their_spec():
    bodies = [
        solid("rock", ConvexMesh(vertices=CORNERS + 0.1, name="hull"), density=2600.0),
        solid("can", [Cylinder(radius=0.1, half_length=0.2), Sphere(radius=0.05, name="knob")], density=800.0),
    ]
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor"), Cylinder(radius=1.0, half_length=0.1, name="disc")]
    )
    spec = system.spec()
    again = SpatialSystem.from_spec(json.loads(json.dumps(spec, allow_nan=False)))
    assert again.spec() == spec
    kinds = {drawn["shape"] for drawn in again.drawables(system.state({"rock": (0, 0, 1), "can": (1, 0, 1)}).q)}
    assert kinds == {"solid", "cylinder", "sphere", "plane"}
