"""What is wrong with a shape is named, with how to mend it, before any work is done."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from evidence import first

from gaussdyn import SpatialSystem
from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.solid_hull import MOST_CORNERS
from gaussdyn.mechanics.spatial import (
    Box,
    Capsule,
    Compound,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    SpatialBody,
    Sphere,
    brick,
    decomposed,
    read_mesh,
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
        (CUBE * 1e200, (), r"1e\+200 m.*1e-3 \* vertices"),
        (CUBE * 1e99, (), r"1e\+99 m.*1e-3 \* vertices"),
        (CUBE * 1e-99, (), r"1e-99 m; allowed: 1e-50 to 1e\+50 m"),
        (CUBE + 1e13, (), r"1 m apart, 1e\+13 m from the origin.*Move them"),
        (CUBE.T, (), r"shape \(3, 8\).*vertices=vertices\.T"),
        (CUBE[0], (), r"shape \(3,\).*One point a row"),
        (Mesh(name="m", vertices=CUBE, faces=TRIANGLES), (), "a Mesh.*vertices=mesh.vertices"),
        (CUBE, [(0, 1, -1)], "corner -1.*8 points"),
        (CUBE, [(0, 0, 1)], "corner twice.*Leave it out"),
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
    (1900, EVEN), (5000, FLAT), (100_000, EVEN), (1900, FLAT), (5000, EVEN), (100_000, FLAT)
]))  # fmt: skip
def test_a_hull_with_too_many_corners_is_refused(count, sides):
    """At once: before the hull is made, as soon as enough points are seen to be its corners."""
    with pytest.raises(InputError, match=r"(?P<n>\d+) corners.*1800 corners at most.*Take fewer.*coarser") as said:
        ConvexMesh(vertices=_sphere(count) * sides, faces=np.zeros((1_000, 3), dtype=np.int8))
    step = int(re.search(r"points\[::(\d+)\]", str(said.value))[1])
    ConvexMesh(vertices=_sphere(count)[::step] * sides)


def test_a_hull_may_have_as_many_corners_as_are_said():
    """Its corners, edges and faces have names of their own; those near a plane, and another such hull, are contacts."""
    points = _sphere(MOST_CORNERS)
    mesh = ConvexMesh(vertices=points)
    assert len(mesh.hull.corners) == MOST_CORNERS
    shapes = Shapes.of({"a": (mesh,), "b": (mesh,)}, [HalfSpace(name="floor")])
    x, R = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.999]]), np.eye(3)
    found = shapes.find(x, [R, R], 0.01)
    assert len({f.id for f in found}) == len(found)
    gaps = [f.geometry(x[0], R, np.zeros(3), R)[0] for f in found if f.id.endswith("floor")]
    assert len(gaps) == (points[:, 2] <= -0.99).sum()
    assert min(gaps) == 1.0 + points[:, 2].min()
    between = [
        f.geometry(*((x[0], R, x[1], R) if f.bodies[0] == "a" else (x[1], R, x[0], R)))[0]
        for f in found
        if "floor" not in f.id
    ]
    assert abs(min(between) - (-0.001)) < 2e-3  # two spheres of radius 1 but for the heights of their facets


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
        assert len(ConvexMesh(vertices=points).hull.corners) <= MOST_CORNERS


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


SIZES = [
    (Sphere, "radius", {}),
    (Capsule, "radius", {"half_length": 0.1}),
    (Capsule, "half_length", {"radius": 0.1}),
    (Cylinder, "radius", {"half_length": 0.1}),
    (Cylinder, "half_length", {"radius": 0.1}),
]


@pytest.mark.parametrize("size", [1e51, 1e200, 1e-51, 1e-200])
def test_lengths_of_which_no_inertia_can_be_told_are_refused(size):
    for kind, key, rest in SIZES:
        with pytest.raises(InputError, match=rf"{key} of .*1e-50 to 1e\+50 m.*{key}=1e-3 \* {key}"):
            kind(**{key: size}, **rest)
    for kind in (Box, Ellipsoid):
        with pytest.raises(InputError, match=r"half of .*1e-50 to 1e\+50 m"):
            kind(half=(0.1, size, 0.1))
    with pytest.raises(InputError, match=r"heights of h.*m"):
        HeightField(name="h", heights=[[0.0, size], [0.0, 0.0]], spacing=(0.1, 0.1))
    with pytest.raises(InputError, match=r"spacing of h.*m"):
        HeightField(name="h", heights=np.zeros((2, 2)), spacing=(0.1, size))
    with pytest.raises(InputError, match=r"vertices of m.*m"):
        Mesh(name="m", vertices=CUBE * size, faces=TRIANGLES)


@pytest.mark.parametrize(
    ("faces", "said"),
    [
        (np.array(TRIANGLES) + 0.5, "not whole.*from 0"),
        (np.array(TRIANGLES) * np.nan, "not whole"),
        (np.where(np.array(TRIANGLES) > 1, np.inf, 0.0), "not whole"),
        ([(0, 1, -1)], "vertex -1.*8 vertices"),
    ],
)
def test_faces_of_meshes_that_are_no_numbers_of_vertices_are_refused(faces, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=said):
            Mesh(name="m", vertices=CUBE, faces=faces)


def test_obstacles_are_shapes_or_compounds_of_them_and_others_are_refused():
    system = SpatialSystem(
        bodies=[brick("b", mass=1.0, half=(0.1, 0.1, 0.1))],
        obstacles=[Compound(parts=[Box(half=(1, 1, 0.1)), Box(half=(0.1, 1, 1))], name="wall")],
    )
    assert [one.name for one in system.obstacles] == ["wall00", "wall01"]
    with pytest.raises(InputError, match=r"obstacles: given 'floor'.*HalfSpace"):
        SpatialSystem(bodies=[brick("b", mass=1.0, half=(0.1, 0.1, 0.1))], obstacles=["floor"])


def test_parts_of_compounds_may_be_any_series_but_not_compounds():
    inner = Compound(parts=(Box(half=(1, 1, 1), at=(k, 0, 0)) for k in range(2)))
    assert len(inner.shapes) == 2
    with pytest.raises(InputError, match=r"parts=\[\*inner\.shapes, \.\.\.\]"):
        Compound(parts=[inner])


def test_a_grid_may_have_one_spacing():
    one, two = (HeightField(name="h", heights=np.eye(3), spacing=dx) for dx in (0.1, (0.1, 0.1)))
    assert one == two
    assert one.spacing == (0.1, 0.1)


@pytest.mark.parametrize("seed", [1.5, "x", -1, True])
def test_a_seed_of_a_search_for_parts_is_a_whole_number(seed):
    with pytest.raises(InputError, match=r"seed.*whole number"):
        decomposed(CUBE, TRIANGLES, seed=seed)


def test_scales_and_paths_of_mesh_files(tmp_path):
    path = tmp_path / "cube.obj"
    path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in CUBE) + "f 1 2 3\n")
    for scale in (1e300, 1e-300):
        with pytest.raises(InputError, match=r"scale.*vertices up to.*scale=1e-3"):
            read_mesh(path, scale=scale)
    with pytest.raises(InputError, match="path of a mesh: given None"):
        read_mesh(None)
    path.write_text(path.read_text().replace("v 0.0 0.0 0.0", "v nan 0 0"))
    with pytest.raises(InputError, match="coordinates that are no numbers"):
        read_mesh(path)
