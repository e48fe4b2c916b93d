"""Least gap and contacts of every pair of kinds of shapes are continuous along random paths through touching."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.compound import Compound
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.collision.terrain.surfaces import HeightField, Mesh
from gaussdyn.mechanics.names import GROUND

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
    """Return gap, normal and point of every contact, by its id; body b at (x, R)."""
    poses = dict.fromkeys((GROUND, "a"), (np.zeros(3), np.eye(3))) | {"b": (x, R)}
    places, turns = zip(*(poses[name] for name in shapes.bodies), strict=True)
    found = shapes.find(places, turns, REACH)
    return {f.id: f.geometry(*poses[f.bodies[0]], *poses[f.bodies[1]]) for f in found}


def least(found):
    """Return the least gap of contacts, m."""
    return min((gap for gap, *_ in found.values()), default=REACH)


def closest(shapes, R, way, near, start=0.0):
    """Return the place on the way, from `start` on, where the two touch; they overlap when `near`."""
    far, R = 0.3, R.as_matrix()
    for _ in range(45):
        middle = 0.5 * (near + far)
        far, near = (middle, near) if least(contacts(shapes, start + middle * way, R)) > 0.0 else (far, middle)
    return start + far * way


def touching(shapes, rng):
    """Return a pose at which the two touch."""
    R, way = Rotation.random(random_state=int(rng.integers(1 << 30))), rng.normal(size=3)
    return R, closest(shapes, R, way / np.linalg.norm(way), 0.0)


def jumps(shapes, seed, samples, touching=touching, aside=30 * STEP):
    """Yield what is not continuous along one path: the least gap, or a contact that comes or goes closed.

    aside: how far from it another contact may be that is in its place, m.
    """
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
                    near = [m for _, m, d in other.values() if np.linalg.norm(d - c) < aside and abs(m @ n) > 0.99]
                    if gap < -STEP * 2.01 and not near:
                        yield seed, k, "contact " + key, gap, sorted(one), sorted(other)
        before = found


PAIRS = list(combinations_with_replacement(KINDS, 2))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_least_gaps_and_closed_contacts_are_continuous(pair):
    """A contact that comes or goes is open by then, or another is where it was, with about its normal."""
    shapes = Shapes.of({name: (KINDS[kind],) for name, kind in zip("ab", pair, strict=True)})
    assert not [one for seed in range(6) for one in jumps(shapes, seed, 8)]


CUBE = np.array([0.06, 0.05, 0.04]) * [[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
HEIGHTS = 0.03 * np.random.default_rng(5).normal(size=(7, 7))
AT = [(0.1 * i, 0.1 * j, -0.05) for i in (-1, 0, 1) for j in (-1, 0, 1)]
CORNER = [Box(half=(0.05, 0.02, 0.02)), Box(half=(0.02, 0.02, 0.05), at=(0.03, 0.0, 0.07))]
GROUNDS = {
    "half-space": [HalfSpace(name="a")],
    "field": [HeightField(name="a", heights=HEIGHTS, spacing=0.1, at=(-0.3, -0.3, 0.0))],
    "rock": [Mesh(name="a", vertices=CUBE, faces=[t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])],
    "tiles": [Box(name=f"a{k}", half=(0.05, 0.05, 0.05), at=at) for k, at in enumerate(AT)],
}
MOVING = {name: (kind,) for name, kind in KINDS.items()} | {"compound": Compound(parts=CORNER).shapes}
ONTO = [(ground, kind) for ground in GROUNDS for kind in MOVING] + [(kind, "compound") for kind in KINDS]


def onto_ground(shapes, rng):
    """Return a pose in which something that came down on it touches; ground of triangles is left again from within."""
    R, way = Rotation.random(random_state=int(rng.integers(1 << 30))), np.array([0.0, 0.0, 1.0])
    start = np.append(rng.uniform(-0.02, 0.02, size=2), 0.0)
    levels = (z for z in np.arange(0.3, 0.0, -2.5e-3) if least(contacts(shapes, start + z * way, R.as_matrix())) < 0.0)
    return R, closest(shapes, R, way, next(levels), start)


@pytest.mark.parametrize("pair", ONTO, ids="-".join)
def test_least_gaps_and_contacts_are_continuous_over_grounds(pair):
    """Half-spaces, surfaces of triangles, tiles; and bodies of several parts."""
    one, other = pair
    fixed = {} if one in GROUNDS else {"a": MOVING[one]}
    shapes = Shapes.of(fixed | {"b": MOVING[other]}, GROUNDS.get(one, ()))
    assert not [jump for seed in range(4) for jump in jumps(shapes, seed, 6, onto_ground)]


def aligned(shapes, rng):
    """Return a pose in which two touch whose axes and faces are along one another, but for rounding."""
    frame, x = Rotation.create_group("O")[int(rng.integers(24))], np.eye(3)
    R = Rotation.from_rotvec(rng.normal(size=3) * rng.choice([0.0, 1e-12, 1e-9, 1e-7])) * frame
    if rng.random() < 0.3:
        R = Rotation.from_rotvec(x[rng.integers(3)] * rng.uniform(0, 2)) * R
    way = x[rng.integers(3)]
    start = (1.0 - way) * rng.choice([0.0, 1e-9, 1e-6, 0.01, -0.02, 0.03], size=3)
    return R, closest(shapes, R, rng.choice([-1.0, 1.0]) * way, 0.0, start)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_least_gaps_and_contacts_are_continuous_about_aligned_poses(pair):
    """Parallel axes, flush faces, rims tangent to edges: by a step crossings there move by the root of it."""
    shapes = Shapes.of({name: (KINDS[kind],) for name, kind in zip("ab", pair, strict=True)})
    assert not [jump for seed in range(8) for jump in jumps(shapes, seed, 6, aligned, STEP**0.5)]


@pytest.mark.parametrize("deep", [4e-4, 6e-4, 1.2e-3])
def test_corner_in_a_thin_disc_touches_it(deep):
    """Also when it has passed the middle of the disc, or all of it: the way out still leads over that cap."""
    box, disc = Box(half=(0.05, 0.05, 0.05)), Cylinder(radius=0.04, half_length=5e-4)
    down = (Rotation.from_rotvec([0.7, 0.0, 0.0]) * Rotation.from_rotvec([0.0, 0.6, 0.0])).as_matrix()[2]
    x = -0.05 * np.sign(down) + (deep - disc.half_length) * down  # axis along `down`, through the lowest corner
    R = Rotation.align_vectors(down[None], [[0.0, 0.0, 1.0]])[0].as_matrix()
    (gap, _, _), = contacts(Shapes.of({"a": (box,), "b": (disc,)}), x, R).values()  # fmt: skip
    np.testing.assert_allclose(gap, -deep, atol=1e-14)


def test_cylinder_that_stands_tilted_on_a_corner_is_not_beside_it():
    """The corner is under the cap, however far it is within the side, and so is the edge below it."""
    shapes = Shapes.of({"a": (Box(half=(0.05, 0.05, 0.05)),), "b": (KINDS["cylinder"],)})
    for turn in 1e-5 * np.random.default_rng(0).normal(size=(20, 3)):
        found = contacts(shapes, np.array([0.07, -0.08, 0.08 - 1e-6]), Rotation.from_rotvec(turn).as_matrix())
        assert len(found) > 2
        assert min(gap for gap, *_ in found.values()) > -3e-6


@pytest.mark.parametrize("tilt", [0.0, 1e-6, 1e-3, 5e-3])
def test_points_of_caps_are_contacts_beside_rims_that_cross(tilt):
    """Tilted, a cylinder off the axis of another touches where the rims cross; the rest is as near as the tilt says."""
    shapes = Shapes.of({"a": (KINDS["cylinder"],), "b": (KINDS["cylinder"],)})
    turn = Rotation.from_rotvec([tilt, 0.0, 0.0]).as_matrix()
    found = contacts(shapes, np.array([0.02, 0.0, 0.06 + 0.035 * tilt]), turn)
    assert {f"b:p{k:02d}/a:cap1" for k in (3, 4, 5)} <= set(found)


ROUND = [("cylinder", "cylinder"), ("capsule", "cylinder"), ("box", "cylinder"), ("mesh", "cylinder")]


@pytest.mark.slow
@pytest.mark.parametrize("pair", ROUND, ids=str)
def test_gaps_and_contacts_of_cylinders_are_continuous_along_many_paths(pair):
    """As above, along 200 paths: where rims meet next to the normal of a cap, or to the end of a side, few paths go."""
    shapes = Shapes.of({name: (KINDS[kind],) for name, kind in zip("ab", pair, strict=True)})
    assert not [one for seed in range(200) for one in jumps(shapes, seed, 8)]
    assert not [one for seed in range(100) for one in jumps(shapes, seed, 6, aligned, STEP**0.5)]


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
