"""Borders of meshes: those of a box as a mesh are those of the box."""

from __future__ import annotations

import json

import numpy as np

from gaussdyn import SpatialSystem
from gaussdyn.mechanics.spatial import Box, ConvexMesh, Cylinder, HalfSpace, Sphere, ball, pill, solid

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


def test_room_of_a_corner_over_the_axis_of_a_capsule_is_that_of_the_nearest_point_of_the_axis():
    """The corner touches as long as that point is beyond all three faces that meet there."""
    rng, seen = np.random.default_rng(4), 0
    for shape in (Box(half=HALF), ConvexMesh(vertices=CORNERS)):
        rod = pill("rod", mass=1.0, radius=0.05, half_length=0.5)
        system = SpatialSystem(bodies=[rod, solid("block", shape, density=1.0)])
        for _ in range(40):
            out, e = rng.uniform(0.005, 0.03, 3), rng.normal(size=3)
            nearest = HALF + out - (out @ e) / (e @ e) * e  # of the line, from the corner at `HALF`
            e /= np.linalg.norm(e)
            turn = np.array([1.0 + e[2], -e[1], e[0], 0.0])
            place = nearest + rng.uniform(-0.3, 0.3) * e
            state = system.state({"rod": (*place, *(turn / np.linalg.norm(turn))), "block": (0, 0, 0)})
            near = system.near(0.0, state.q, state.v, 0.01)
            keys = [row.id for row in near.rows(0.0, state.q, state.v) if "rod:axis" in row.id and ":c" in row.id]
            if not keys:  # an edge touches
                continue
            seen += 1
            assert abs(near.extent(keys[0]).room(state.q) - (nearest - HALF).min()) < 1e-14
    assert seen > 20


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
