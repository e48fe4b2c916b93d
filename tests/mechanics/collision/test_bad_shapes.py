"""What is wrong with a shape is named, with how to mend it, before any work is done."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from evidence import first

from gaussdyn import SpatialSystem
from gaussdyn.errors import InputError
from gaussdyn.mechanics.spatial import (
    Box,
    Compound,
    ConvexMesh,
    HalfSpace,
    HeightField,
    Mesh,
    SpatialBody,
    Sphere,
    brick,
    decomposed,
    solid,
)

CUBE = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
FACES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = [(a, *pair) for a, b, c, d in FACES for pair in ((b, c), (c, d))]
PIT = np.vstack([CUBE, [(0.5, 0.5, 0.2)]])
PITTED = [*(f for f in FACES if f != FACES[1]), (4, 5, 8), (5, 7, 8), (7, 6, 8), (6, 4, 8)]


def _sphere(n):
    """Return n points on a sphere: all are corners of their hull."""
    k = np.arange(n) + 0.5
    z, turn = 1.0 - 2.0 * k / n, np.pi * (1.0 + 5.0**0.5) * k
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])


@pytest.mark.parametrize(
    ("points", "faces", "said"),
    [
        (CUBE, FACES[:-1], "open surface.*Close the holes"),
        (CUBE, [f[::-1] for f in FACES], "inside out.*Reverse them"),
        (CUBE, [FACES[0][::-1], *FACES[1:]], "turned against each other"),
        (CUBE * (1, 1, 0), (), "volume 0.*Give it some thickness"),
        (CUBE * (1, 1, 1e-10), (), "one plane, to 1e-09 of their size.*Give it some thickness"),
        (CUBE * 1e200, (), r"1e\+200 m apart.*1e-3 \* vertices"),
        (np.where(CUBE == 1, np.nan, CUBE), (), "nan at index"),
        (np.where(CUBE == 1, np.inf, CUBE), (), "inf at index"),
        (PIT, PITTED, "not convex.*convex parts"),
        (CUBE, [(0, 1, 99)], "corner 99.*8 points"),
        (CUBE, [(0, 1, 2.5)], "three corners or more.*tetrahedron"),
        (CUBE, [(0, 1)], "three corners or more"),
        (CUBE, [0, 1, 2], "three corners or more"),
        (CUBE, "abc", "three corners or more"),
        (CUBE[:3], (), "3 points.*at least 4"),
    ],
)
def test_convex_meshes(points, faces, said):
    with pytest.raises(InputError, match=f"(?s){said}"):
        ConvexMesh(vertices=points, faces=faces)


EVEN, FLAT = (1.0, 1.0, 1.0), (1.0, 0.1, 1e-3)


@pytest.mark.parametrize(("count", "sides"), first(3, [
    (1000, EVEN), (2000, FLAT), (100_000, EVEN), (1000, FLAT), (2000, EVEN), (100_000, FLAT)
]))  # fmt: skip
def test_a_hull_with_too_many_corners_is_refused(count, sides):
    """At once: before the hull is made, as soon as enough points are seen to be its corners."""
    with pytest.raises(InputError, match=r"(?P<n>\d+) corners.*450 corners at most.*Take fewer.*coarser") as said:
        ConvexMesh(vertices=_sphere(count) * sides, faces=np.zeros((1_000, 3), dtype=np.int8))
    step = int(re.search(r"points\[::(\d+)\]", str(said.value))[1])
    ConvexMesh(vertices=_sphere(count)[::step] * sides)


def test_corners_are_counted_among_points_within():
    """Points inside, on faces, and many corners of which few are looked at by chance do not count as corners."""
    rng = np.random.default_rng(0)
    for points in (
        rng.uniform(-1, 1, (20_000, 3)),
        *(
            np.stack(np.meshgrid(*[np.linspace(-1, 1, 20)] * 3), -1).reshape(-1, 3) * rng.uniform(0.1, 2, 3)
            for _ in range(9)
        ),
        np.repeat(CUBE * (1.3, 0.1, 7.0), 600, axis=0),
        np.vstack([CUBE, 0.5 + 0.49 * _sphere(5000)]),
    ):
        assert len(ConvexMesh(vertices=points).hull.corners) < 450


def test_faces_too_many_to_be_checked_are_refused():
    with pytest.raises(InputError, match=r"1000000 faces.*Leave faces=... out"):
        ConvexMesh(vertices=CUBE, faces=np.zeros((1_000_000, 3), dtype=np.int8))
    with pytest.raises(InputError, match=r"1000000 triangles.*coarser"):
        decomposed(CUBE, np.zeros((1_000_000, 3), dtype=np.int8))


@pytest.mark.parametrize(
    ("points", "faces", "said"),
    [
        (CUBE, [f[::-1] for f in TRIANGLES], "inside out.*Reverse"),
        (CUBE, [TRIANGLES[0][::-1], *TRIANGLES[1:]], "turned against each other"),
        (np.where(CUBE == 1, np.nan, CUBE), TRIANGLES, "nan at index"),
        (CUBE, [(0, 1, 1)], "without area.*Leave it out"),
        (CUBE, [], "three vertices each"),
        (CUBE, np.zeros((2_000_001, 3), dtype=np.int64), "2000001 triangles.*coarser"),
    ],
)
def test_ground(points, faces, said):
    with pytest.raises(InputError, match=f"(?s){said}"):
        Mesh(vertices=points, faces=faces, name="ground1")
    with pytest.raises(InputError, match=" of a mesh: "):
        Mesh(vertices=points, faces=faces)


def test_flat_points_are_a_solid_or_refused():
    """However thin: faces that count as one plane leave no solid; it was an error of numpy's, or a hull of NaN."""
    rng, taken = np.random.default_rng(0), 0
    for k in range(300):
        thin = 10 ** rng.uniform(-13, -6)
        points = (CUBE if k % 3 else rng.normal(size=(12, 3))) * (1, 1, thin) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        try:
            hull = ConvexMesh(vertices=points).hull
        except InputError:
            continue
        taken += 1
        assert len(hull.corners) - len(hull.edges) + len(hull.faces) == 2
        assert np.isfinite(hull.normals).all()
    assert 50 < taken < 250


def test_a_surface_that_is_not_that_of_the_parts_is_refused():
    parts = [Box(half=(0.5, 0.5, 0.5), at=(0.5, 0.5, 0.5))]
    Compound(parts=parts, surface=Mesh(vertices=1.2 * CUBE, faces=TRIANGLES))
    for points in (CUBE + 5.0, 1e3 * CUBE, 1e-3 * CUBE + 0.5):
        with pytest.raises(InputError, match=r"surface of a compound.*the parts reach 0.866 m.*scale=1e-3"):
            Compound(parts=parts, surface=Mesh(vertices=points, faces=TRIANGLES))


def test_triangles_are_no_moving_body():
    ground = Mesh(vertices=CUBE, faces=TRIANGLES, name="rock")
    for build in (
        lambda: SpatialBody(name="b", mass=1.0, inertia=[1, 1, 1], shapes=(ground,)),
        lambda: solid("b", ground, density=1.0),
    ):
        with pytest.raises(InputError, match="a body is made of convex parts: ConvexMesh, or decomposed"):
            build()


def test_sizes_off_by_a_thousand_are_warned_of():
    small = [brick(name, mass=1.0, half=(0.05, 0.05, 0.05)) for name in ("a", "b")]
    for name, half in (("large", 50.0), ("tiny", 5e-5)):
        odd = brick(name, mass=1.0, half=(half, half, half))
        with pytest.warns(UserWarning, match=f"'{name}'.*Is one of them in another unit.*millimetres"):
            SpatialSystem(bodies=[*small, odd])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SpatialSystem(bodies=[*small, brick("wall", mass=1.0, half=(5.0, 5.0, 0.5))])


def test_a_body_or_an_obstacle_in_another_unit_is_warned_of():
    rock = ConvexMesh(vertices=0.05 * CUBE)
    ground = Mesh(vertices=CUBE, faces=TRIANGLES, name="ground1")
    table = Box(half=(0.5, 0.5, 0.05), name="table")
    for shape, obstacle in (
        (ConvexMesh(vertices=1e3 * CUBE), ground),
        (rock, Mesh(vertices=1e3 * CUBE, faces=TRIANGLES, name="ground1")),
        (ConvexMesh(vertices=1e3 * CUBE), table),
        (rock, Box(half=(500.0, 500.0, 50.0), name="table")),
    ):
        with pytest.warns(UserWarning, match=f"'{obstacle.name}'.*Is one of them in another unit.*millimetres"):
            SpatialSystem(bodies=[solid("rock", shape, density=1.0)], obstacles=[obstacle])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = Box(half=(500.0, 500.0, 0.5), name="wide")
        field = HeightField(heights=900.0 * np.eye(3), spacing=(500.0, 500.0), name="field")
        pins = [Sphere(radius=1e-5, at=(x, 0, 0), name=f"pin{x}") for x in range(3)]
        for obstacles in ([ground, table], [wide], [field], [*pins, table], [HalfSpace(name="floor")]):
            SpatialSystem(bodies=[solid("rock", rock, density=1.0)], obstacles=obstacles)
