"""What is wrong with a shape is named, with how to mend it, before any work is done."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gaussdyn import SpatialSystem
from gaussdyn.errors import InputError
from gaussdyn.mechanics.spatial import ConvexMesh, Mesh, SpatialBody, brick, solid

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


@pytest.mark.parametrize("count", [2000, 30_000])
def test_a_hull_with_too_many_corners_is_refused(count):
    """The larger one before its faces are looked at: that would take minutes."""
    with pytest.raises(InputError, match=rf"{count} corners.*450 corners at most.*coarser"):
        ConvexMesh(vertices=_sphere(count))


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
