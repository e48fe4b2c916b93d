"""Contacts of a pair of shapes have ids of their own, wherever the two are: impulses are remembered by them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest
from evidence import examples

from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Sphere
from gaussdyn.mechanics.spatial.bodies import solid
from gaussdyn.mechanics.spatial.system import SpatialSystem

SHAPES = {
    "box": Box(half=(0.05, 0.04, 0.03)),
    "cylinder": Cylinder(radius=0.04, half_length=0.04),
    "mesh": ConvexMesh(vertices=0.03 * np.random.default_rng(0).normal(size=(10, 3))),
    "capsule": Capsule(radius=0.03, half_length=0.04),
    "sphere": Sphere(radius=0.04),
    "ellipsoid": Ellipsoid(half=(0.05, 0.04, 0.03)),
}
QUARTER = np.sqrt(0.5)


def turns(rng, k):
    """Return two turns: at random, the same one, or along the axes of one another."""
    one, two = rng.normal(size=(2, 4))
    if k % 3 == 1:
        two = one
    if k % 3 == 2:
        one, two = np.array([1.0, 0.0, 0.0, 0.0]), np.array([[1.0, 0.0, 0.0, 0.0], [QUARTER, 0.0, QUARTER, 0.0]])[k % 2]
    return one / np.linalg.norm(one), two / np.linalg.norm(two)


@pytest.mark.parametrize(("a", "b"), [*combinations_with_replacement(SHAPES, 2)])
def test_no_two_contacts_of_a_pair_have_one_id(a, b):
    """An edge along a cylinder that lies on a face had two: of the side with the edge, and with the border."""
    rng, touched = np.random.default_rng(1), 0
    system = SpatialSystem(bodies=[solid(n, SHAPES[s], density=1000.0) for n, s in (("a", a), ("b", b))])
    for k in range(examples(600, fast=150)):
        one, two = turns(rng, k)
        way = rng.normal(size=3)
        way *= rng.uniform(0.03, 0.1) / np.linalg.norm(way)
        state = system.state({"a": (0.0, 0.0, 0.0, *one), "b": (*way, *two)})
        found = system.near(0.0, state.q, state.v, 0.01).contacts.found
        counts = Counter(map(tuple, found.label.tolist()))
        assert max(counts.values(), default=1) == 1
        touched += len(counts) > 0
    assert touched > 20
