"""Surfaces side by side are one ground: the same contacts as one mesh of all, and nothing catches where they meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.collision.terrain.surfaces import HeightField, Mesh
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import solid

CUBE = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
SIDES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = np.array([(a, *pair) for a, b, c, d in SIDES for pair in ((b, c), (c, d))])
THINGS = {
    "box": (Box(half=(0.05, 0.04, 0.03)), 0.03),
    "mesh": (ConvexMesh(vertices=(CUBE - 0.5) * (0.1, 0.08, 0.06)), 0.03),
    "cylinder": (Cylinder(radius=0.05, half_length=0.03), 0.03),
    "capsule": (Capsule(radius=0.03, half_length=0.05, turn=(0.5**0.5, 0, 0.5**0.5, 0)), 0.03),
    "ball": (Sphere(radius=0.05), 0.05),
    "ellipsoid": (Ellipsoid(half=(0.06, 0.05, 0.04)), 0.04),
}


def _pieces(rng, vertices, faces, count):
    """Return a mesh cut into several by its triangles, each in axes of its own."""
    part = rng.integers(count, size=len(faces))
    found = []
    for k in range(count):
        turn, at = Rotation.random(random_state=rng), rng.normal(size=3)
        own = turn.inv().apply(vertices - at)
        found.append(Mesh(vertices=own, faces=faces[part == k], at=at, turn=np.roll(turn.as_quat(), 1), name=f"p{k}"))
    return found


def _ground(rng, shape):
    """Return corners and triangles: hills, or two solids that share a face as one surface."""
    if shape == "hills":
        n = 6
        x, y = np.meshgrid(np.arange(n), np.arange(n))
        first = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
        faces = np.vstack(
            [np.column_stack([first, first + 1, first + n + 1]), np.column_stack([first, first + n + 1, first + n])]
        )
        return 0.1 * np.column_stack([x.ravel(), y.ravel(), rng.uniform(-0.5, 0.5, n * n)]), faces
    return 0.4 * CUBE @ Rotation.random(random_state=rng).as_matrix(), TRIANGLES


def _contacts(shapes, at, R, reach):
    """Return gaps and normals of all contacts, each once, sorted."""
    rows = []
    for found in shapes.find([at], R[None], reach):
        motions = (at, R, np.zeros(3), np.eye(3))
        gap, normal, *_ = found.geometry(*(motions if found.bodies[0] == "a" else motions[2:] + motions[:2]))
        rows.append(np.round([gap, *(normal if found.bodies[0] == "a" else -np.array(normal))], 9) + 0.0)
    return np.unique(np.array(rows).reshape(-1, 4), axis=0)


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("ground", ["hills", "cube"])
def test_pieces_of_a_mesh_have_its_contacts(name, ground):
    """While nothing overlaps: of several surfaces each has its own way out."""
    rng, shape, seen = np.random.default_rng(3), THINGS[name][0], 0
    for _ in range(4):
        vertices, faces = _ground(rng, ground)
        grounds = [Mesh(vertices=vertices, faces=faces, name="all")], _pieces(rng, vertices, faces, 3)
        tables = [Shapes.of({"a": (shape,)}, obstacles) for obstacles in grounds]
        for _ in range(25):
            a, b, c = vertices[faces[rng.integers(len(faces))]]
            n = np.cross(b - a, c - a)
            s, t = rng.uniform(0, 0.5, 2)
            at = a + s * (b - a) + t * (c - a) + rng.uniform(0.03, 0.09) * n / np.linalg.norm(n)
            R = Rotation.random(random_state=rng).as_matrix()
            one, several = (_contacts(table, at, R, 0.02) for table in tables)
            if one[:, 0].min(initial=0.0) >= 0.0:
                assert one.shape == several.shape, (one, several)
                assert np.abs(one - several).max(initial=0.0) < 2e-9
                seen += len(one)
    assert seen > 30


def _sheet(name, x):
    n = 3
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    first = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    upper = np.column_stack([first, first + n + 1, first + n])
    faces = np.vstack([np.column_stack([first, first + 1, first + n + 1]), upper])
    points = np.column_stack([0.1 * i.ravel(), 0.2 * j.ravel(), np.zeros(n * n)])
    return Mesh(vertices=points, faces=faces, at=(x, -0.2, 0.0), name=name)


def _crate(name, x):
    return Mesh(vertices=CUBE * (0.2, 0.4, 0.1), faces=TRIANGLES, at=(x, -0.2, -0.1), name=name)


def _field(name, x):
    return HeightField(heights=np.zeros((3, 3)), spacing=(0.1, 0.2), at=(x, -0.2, 0.0), name=name)


@pytest.mark.parametrize("make", [_sheet, _crate, _field])
@pytest.mark.parametrize("name", ["box", "cylinder", "capsule"])
def test_nothing_catches_at_seams(make, name):
    """Rounding in where they are (1e-12 m) does not count."""
    shape, height = THINGS[name]
    turn = np.roll(Rotation.from_rotvec([0.0, 0.0, 0.3]).as_quat(), 1)
    tiles = [make(f"t{k}", -0.4 + 0.2 * k + 1e-12 * (k % 3)) for k in range(4)]
    runs = []
    for obstacles in (tiles, [HalfSpace(name="floor")]):
        system = SpatialSystem(
            bodies=[solid("a", shape, density=700.0)], obstacles=obstacles, contact=ContactLaw(mu=0.1)
        )
        start = system.state({"a": (-0.19, 0.01, height, *turn)}, {"a": (1.0, 0.02, 0, 0, 0, 0)})
        runs.append(simulate(system, start, 0.35, stepper=MoreauJean(dt=2e-3)))
    assert runs[1].q[-1][0] > 0.05
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9


@pytest.mark.parametrize("step", [0.0, 1e-3])
def test_a_step_between_crates_is_still_run_into(step):
    shape, height = THINGS["box"]
    next_one = Mesh(vertices=CUBE * (0.2, 0.4, 0.1 + step), faces=TRIANGLES, at=(0.0, -0.2, -0.1), name="t1")
    system = SpatialSystem(
        bodies=[solid("a", shape, density=700.0)], obstacles=[_crate("t0", -0.2), next_one], contact=ContactLaw(mu=0.0)
    )
    start = system.state({"a": (-0.12, 0.0, height)}, {"a": (0.5, 0, 0, 0, 0, 0)})
    run = simulate(system, start, 0.3, stepper=MoreauJean(dt=2e-3))
    if step:
        assert run.q[:, 0].max() < -0.045  # it tips a little
    else:
        assert np.abs(run.q[-1][0] - 0.03) < 1e-9


def test_surfaces_that_not_all_may_touch_keep_their_borders():
    """A body that touches one of two sheets slides off its edge."""
    shape, height = THINGS["box"]
    system = SpatialSystem(
        bodies=[solid("a", shape, density=700.0)],
        obstacles=[_sheet("t0", -0.2), _sheet("t1", 0.0)],
        contact=ContactLaw(mu=0.0),
        pairs={("a", "t1"): None},
    )
    start = system.state({"a": (-0.05, 0.0, height)}, {"a": (0.5, 0, 0, 0, 0, 0)})
    run = simulate(system, start, 0.4, stepper=MoreauJean(dt=2e-3))
    assert run.q[-1][2] < 0.0
