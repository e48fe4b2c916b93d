"""Least gap and contacts of every pair of kinds of shapes are continuous along random paths through touching."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Sphere

ROCK = np.random.default_rng(3).normal(size=(14, 3))
KINDS = {
    "sphere": Sphere(radius=0.05),
    "capsule": Capsule(radius=0.02, half_length=0.05),
    "box": Box(half=(0.05, 0.03, 0.04)),
    "mesh": ConvexMesh(vertices=0.05 * ROCK / np.linalg.norm(ROCK, axis=1)[:, None]),
    "cylinder": Cylinder(radius=0.04, half_length=0.03),
    "ellipsoid": Ellipsoid(half=(0.05, 0.03, 0.04)),
}
REACH, STEP, SIZE = 1e-3, 1e-6, 0.08  # m; a path goes on by STEP, and turns by so much that what is SIZE away does


def contacts(shapes, x, R):
    """Return gap, normal and point of every contact, by its id."""
    poses = {"a": (np.zeros(3), np.eye(3)), "b": (x, R)}
    found = shapes.find([np.zeros(3), x], [np.eye(3), R], REACH)
    return {f.id: f.geometry(*poses[f.bodies[0]], *poses[f.bodies[1]]) for f in found}


def least(found):
    """Return the least gap of contacts, m."""
    return min((gap for gap, *_ in found.values()), default=REACH)


def touching(shapes, rng):
    """Return a pose at which the two touch, and the way along which they do."""
    R, way = Rotation.random(random_state=int(rng.integers(1 << 30))), rng.normal(size=3)
    way, near, far = way / np.linalg.norm(way), 0.0, 0.3
    for _ in range(45):
        middle = 0.5 * (near + far)
        far, near = (middle, near) if least(contacts(shapes, middle * way, R.as_matrix())) > 0.0 else (far, middle)
    return R, far * way


def jumps(shapes, seed, samples):
    """Yield what is not continuous along one path: the least gap, or a contact that comes or goes closed."""
    rng = np.random.default_rng(seed)
    R, x = touching(shapes, rng)
    v, w = rng.normal(size=(2, 3))
    v, w = STEP * v / np.linalg.norm(v), STEP / SIZE * w / np.linalg.norm(w)
    before = None
    for k in range(-samples, samples):
        turn = Rotation.from_rotvec(k * w) * R
        found = contacts(shapes, x + k * v, turn.as_matrix())
        if before is not None:
            change = abs(least(found) - least(before))
            if change > 2.01 * STEP and min(least(found), least(before)) < 0.5 * REACH:
                yield seed, k, "gap", change, sorted(before), sorted(found)
            for one, other in ((before, found), (found, before)):
                for key in set(one) - set(other):
                    gap, n, c = one[key]
                    near = [m for _, m, d in other.values() if np.linalg.norm(d - c) < 30 * STEP and abs(m @ n) > 0.99]
                    if gap < -STEP * 2.01 and not near:
                        yield seed, k, "contact " + key, gap, sorted(one), sorted(other)
        before = found


PAIRS = list(combinations_with_replacement(KINDS, 2))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_least_gaps_and_closed_contacts_are_continuous(pair):
    """A contact that comes or goes is open by then, or another is where it was, with about its normal."""
    shapes = Shapes.of({name: (KINDS[kind],) for name, kind in zip("ab", pair, strict=True)})
    assert not [one for seed in range(6) for one in jumps(shapes, seed, 8)]


@pytest.mark.parametrize("deep", [4e-4, 6e-4, 1.2e-3])
def test_corner_in_a_thin_disc_touches_it(deep):
    """Also when it has passed the middle of the disc, or all of it: the way out still leads over that cap."""
    box, disc = Box(half=(0.05, 0.05, 0.05)), Cylinder(radius=0.04, half_length=5e-4)
    down = (Rotation.from_rotvec([0.7, 0.0, 0.0]) * Rotation.from_rotvec([0.0, 0.6, 0.0])).as_matrix()[2]
    x = -0.05 * np.sign(down) + (deep - disc.half_length) * down  # axis along `down`, through the lowest corner
    R = Rotation.align_vectors(down[None], [[0.0, 0.0, 1.0]])[0].as_matrix()
    (gap, _, _), = contacts(Shapes.of({"a": (box,), "b": (disc,)}), x, R).values()  # fmt: skip
    np.testing.assert_allclose(gap, -deep, atol=1e-14)


ROUND = [("cylinder", "cylinder"), ("capsule", "cylinder"), ("box", "cylinder"), ("mesh", "cylinder")]


@pytest.mark.slow
@pytest.mark.parametrize("pair", ROUND, ids=str)
def test_gaps_and_contacts_of_cylinders_are_continuous_along_many_paths(pair):
    """As above, along 200 paths: where rims meet next to the normal of a cap, or to the end of a side, few paths go."""
    shapes = Shapes.of({name: (KINDS[kind],) for name, kind in zip("ab", pair, strict=True)})
    assert not [one for seed in range(200) for one in jumps(shapes, seed, 8)]


def separations(n, way, cylinders, axis):
    """Return how far two cylinders at one place reach along directions n together, m, and how far a way leads there."""
    reach = np.zeros(len(n))
    for cylinder, e in zip(cylinders, ([0.0, 0.0, 1.0], axis), strict=True):
        rise = np.abs(n @ e)
        reach += cylinder.radius * np.sqrt(np.maximum(0.0, 1.0 - rise**2)) + cylinder.half_length * rise
    return reach, n @ way


@pytest.mark.slow
@pytest.mark.parametrize("tilt", [np.pi, 0.15])
def test_cylinders_that_overlap_have_a_contact(tilt):
    """Of any sizes, nearly along one axis or not: moved on from where support functions say that they touch."""
    rng = np.random.default_rng(11)
    n = rng.normal(size=(5000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    for _ in range(300):
        pair = [Cylinder(radius=r, half_length=h) for r, h in rng.uniform(0.01, 0.06, size=(2, 2))]
        turn = rng.uniform(0.0, tilt) * np.append((w := rng.normal(size=2)) / np.linalg.norm(w), 0.0)
        R, way = Rotation.from_rotvec(turn).as_matrix(), rng.normal(size=3)
        way /= np.linalg.norm(way)
        ends, across = np.array([[0.0, 0.0, 1.0], R[:, 2]]), np.cross(n[:, None, :], [[0.0, 0.0, 1.0], R[:, 2]])
        across /= np.linalg.norm(across, axis=2)[..., None]
        ways = np.vstack([n, ends, -ends, across.reshape(-1, 3)])
        reach, rise = separations(ways, way, pair, R[:, 2])
        touch = np.min(reach[rise > 0.0] / rise[rise > 0.0])  # hardly more than where they do
        shapes = Shapes.of({name: (cylinder,) for name, cylinder in zip("ab", pair, strict=True)})
        for deep in (3e-3, 2e-3, 1e-3, 3e-4):
            assert contacts(shapes, (touch - deep) * way, R), (pair, turn, way, deep)
