"""Ten scenes in which boxes given as meshes move as boxes: sliding, spinning, falling, in stacks, on any level ground.

Where a step has several outcomes rounding decides, for boxes among themselves, too: these scenes are such that boxes
moved by 1e-15 m are still within 1e-11 m at the end.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial import Box, ConvexMesh, HalfSpace, HeightField, Mesh, solid

CUBE = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
SLIDE, SPIN, STACK = [1.0, 0.3, 0, 0, 0, 0], [0.1, 0, 0, 0, 0, 8.0], [0.3, 0.1, 0, 0, 0, 0]
SCENES = [  # seed, how many, velocity (None: they tumble), mu, eps
    (4, 1, SLIDE, 0.2, 0.0),
    (5, 1, None, 0.2, 0.0),
    (6, 3, STACK, 0.2, 0.0),
    (7, 1, SPIN, 0.2, 0.0),
    (8, 1, SLIDE, 0.5, 0.0),
    (9, 1, None, 0.5, 0.4),
    (10, 2, STACK, 0.5, 0.0),
    (13, 2, None, 0.8, 0.0),
    (25, 2, None, 0.5, 0.4),
    (34, 2, STACK, 0.0, 0.0),
]


def _mesh(half):
    return ConvexMesh(vertices=CUBE * half)


def _box(half):
    return Box(half=tuple(half))


def _sheet():
    n = 7
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    f = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.vstack([np.column_stack([f, f + 1, f + n + 1]), np.column_stack([f, f + n + 1, f + n])])
    points = np.column_stack([0.5 * i.ravel() - 1.47, 0.5 * j.ravel() - 1.43, np.zeros(n * n)])
    return Mesh(name="floor", vertices=points, faces=faces)


def _field():
    return HeightField(name="floor", heights=np.zeros((9, 9)), spacing=(0.4, 0.4), at=(-1.63, -1.57, 0))


def _run(shape, floor, scene):
    seed, count, velocity, mu, eps = scene
    rng = np.random.default_rng(seed)
    halves = [rng.uniform(0.04, 0.1, 3) for _ in range(count)]
    poses, velocities, top = {}, {}, 0.0
    for m, half in enumerate(halves):
        if velocity is None:
            turn, place = Rotation.from_quat(rng.normal(size=4)), (0.3 * m, 0.02, 0.18 + 0.02 * m)
            velocities[f"b{m}"] = 0.4 * rng.normal(size=6)
        else:
            turn, place = Rotation.from_euler("z", rng.uniform(0, 1)), (0.01 * m, 0.007 * m, top + half[2])
            velocities[f"b{m}"], top = velocity, top + 2.0 * half[2]
        poses[f"b{m}"] = (*place, *np.roll(turn.as_quat(), 1))
    bodies = [solid(f"b{m}", shape(half), density=700.0 + 200 * m) for m, half in enumerate(halves)]
    system = SpatialSystem(bodies=bodies, obstacles=[floor], contact=ContactLaw(mu=mu, eps_n=eps))
    return simulate(system, system.state(poses, velocities), 0.3, stepper=MoreauJean(dt=2e-3))


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_box_given_as_a_mesh_moves_as_a_box(scene):
    box = _run(_box, HalfSpace(name="floor"), scene)
    for shape, floor in ((_mesh, HalfSpace(name="floor")), (_mesh, _sheet()), (_box, _field())):
        other = _run(shape, floor, scene)
        assert np.array_equal(other.t, box.t)
        assert np.abs(other.q - box.q).max() < 1e-10
