"""Overlaps at the start: found and named, and pushed apart by the smallest motion, in space and in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.collision.terrain.surfaces import Mesh
from gaussdyn.mechanics.initial.overlap import check_apart, overlaps, pushed_apart
from gaussdyn.mechanics.planar.bodies import Marker, Point, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact, Rod
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball, brick, solid
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

FLOOR = HalfSpace(name="floor")


def _state(x, turns=None):
    turns = [(1.0, 0.0, 0.0, 0.0)] * len(x) if turns is None else turns
    q = np.concatenate([np.concatenate([place, turn]) for place, turn in zip(x, turns, strict=True)])
    return State(q=q, v=np.zeros(6 * len(x)))


def test_balls_go_apart_as_the_inverse_of_their_masses():
    bodies = [ball("heavy", mass=3.0, radius=1.0), ball("light", mass=1.0, radius=0.5)]
    system, state = SpatialSystem(bodies=bodies), _state([(0, 0, 0), (0, 0, 1.1)])
    (found,) = overlaps(system, state)
    assert found.pair == ("heavy", "light")
    assert found.depth == pytest.approx(0.4)
    moved = pushed_apart(system, state)
    assert moved.q[[2, 9]] == pytest.approx([-0.1, 1.4])
    assert not overlaps(system, moved)
    assert (moved.q[3:7] == [1, 0, 0, 0]).all()


def test_the_message_names_the_pair_the_depth_and_the_way_out():
    bodies = [brick(name, mass=1.0, half=(0.5, 0.5, 0.5)) for name in ("lower", "upper", "aside")]
    system = SpatialSystem(bodies=bodies, obstacles=[FLOOR])
    state = _state([(0, 0, 0.49), (0, 0, 1.365), (5, 0, 0.5)])
    first, second = overlaps(system, state)
    assert set(first.pair) == {"lower", "upper"}
    assert first.depth == pytest.approx(0.125)
    assert (second.pair, second.depth) == (("lower", "floor"), pytest.approx(0.01))
    with pytest.raises(
        InputError, match=r"(upper and lower|lower and upper) overlap by 0\.125 m \(and 1 more\).*project=True"
    ):
        check_apart(system, state)
    moved = pushed_apart(system, state)
    check_apart(system, moved)
    assert moved.q[[2, 9]] == pytest.approx([0.5, 1.5])
    assert moved.q[14:] == pytest.approx(state.q[14:])


def test_what_is_apart_or_touches_stays():
    bodies = [brick(name, mass=1.0, half=(0.5, 0.5, 0.5)) for name in ("a", "b")]
    system = SpatialSystem(bodies=bodies, obstacles=[FLOOR])
    state = _state([(0, 0, 0.5), (0, 0, 1.5)])
    assert overlaps(system, state) == []
    assert (pushed_apart(system, state).q == state.q).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_heap_is_pushed_apart(seed):
    rng = np.random.default_rng(seed)
    bodies = [brick(f"b{k}", mass=rng.uniform(1, 3), half=rng.uniform(0.3, 0.6, size=3)) for k in range(5)]
    bodies += [ball(f"s{k}", mass=1.0, radius=0.4) for k in range(3)]
    system = SpatialSystem(bodies=bodies, obstacles=[FLOOR])
    x = rng.uniform(-0.9, 0.9, size=(8, 3)) + np.array([0, 0, 0.8])
    turns = Rotation.random(8, random_state=seed).as_quat()[:, [3, 0, 1, 2]]
    state = _state(x, turns)
    assert overlaps(system, state)
    moved = pushed_apart(system, state)
    assert overlaps(system, moved, tolerance=1e-12) == []
    assert np.linalg.norm(moved.q.reshape(-1, 7)[:, 3:], axis=1) == pytest.approx(1.0)


def test_points_in_the_plane_keep_their_rod():
    floor = HalfPlane(name="floor")
    bodies = [Point(name="a", mass=1.0), Point(name="b", mass=1.0)]
    contacts = [PlanarContact(point=Marker(name), plane=floor) for name in ("a", "b")]
    rod = Rod(a=Marker("a"), b=Marker("b"), length=1.0)
    system = PlanarSystem(bodies=bodies, contacts=[*contacts, rod])
    state = system.state({"a": (0.0, -0.3), "b": (0.8, 0.3)})
    (found,) = overlaps(system, state)
    assert (found.pair, found.depth) == (("a", "floor"), pytest.approx(0.3))
    moved = pushed_apart(system, state)
    gaps = {row.id: row.gap for row in system.rows(0.0, moved.q, moved.v)}
    assert all(abs(gap) < 1e-12 if "~" in key else gap >= -1e-12 for key, gap in gaps.items())


def test_where_there_is_no_room_the_pair_is_named():
    walls = [HalfPlane(name="left", normal=(1.0, 0.0)), HalfPlane(name="right", normal=(-1.0, 0.0))]
    contacts = [PlanarContact(point=Marker("disc"), plane=wall, radius=0.5) for wall in walls]
    anchor = Rod(a=Marker("disc"), b=fixed(0.0, 3.0), length=3.0)
    system = PlanarSystem(bodies=[Point(name="disc", mass=1.0)], contacts=[*contacts, anchor])
    with pytest.raises(InputError, match=r"disc and (left|right) overlap by 0\.5 m.*give them room"):
        pushed_apart(system, system.state({"disc": (0.0, 0.0)}))


def test_bodies_so_deep_in_each_other_that_no_features_touch_are_seen_and_parted():
    """Of random solids some overlap by more than a centimetre without any contact."""
    rng, unseen = np.random.default_rng(0), 0
    points = 0.05 * rng.normal(size=(12, 3))
    shapes = [ConvexMesh(vertices=points), Cylinder(radius=0.04, half_length=0.05)]
    system = SpatialSystem(bodies=[solid(name, shape, density=1e3) for name, shape in zip("ab", shapes, strict=True)])
    for _ in range(60):
        x, turns = 0.03 * rng.normal(size=(2, 3)), Rotation.random(2, random_state=rng).as_quat()[:, [3, 0, 1, 2]]
        state = _state(x, turns)
        for found in overlaps(system, state):
            unseen += found.contact == "a/b"
            moved = pushed_apart(system, state)
            assert system.distances(moved.q, 1e-3).get(("a", "b"), 1.0) >= -1e-11
    assert unseen > 0


def test_level_sides_that_overlap_by_hardly_anything_are_no_overlap():
    """Tiles side by side, and a box beside one that has sunk by less than what it slides over."""
    bodies = [brick(name, mass=1.0, half=(0.5, 0.5, 0.5)) for name in "ab"]
    system = SpatialSystem(bodies=bodies)
    level = _state([(0, 0, 0), (1.0 - 1e-8, 0, 1.0 - 1e-8)])
    assert system.distances(level.q, 0.0)["a", "b"] == pytest.approx(-1e-8, rel=0, abs=1e-15)
    assert overlaps(system, level) == []
    (found,) = overlaps(system, _state([(0, 0, 0), (0.9, 0, 0.8)]))  # corners of both are in the other
    assert found.depth == pytest.approx(0.1, rel=0, abs=1e-15)


def _slab(half):
    """Return a plate of triangles, 1 m wide and 2 `half` thick."""
    corners = np.array([(x, y, z) for z in (-half, half) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
    sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [(a, *pair) for a, b, c, d in sides for pair in ((b, c), (c, d))]
    return Mesh(vertices=corners, faces=faces, name="plate")


DEEP = [
    Ellipsoid(half=(0.06, 0.05, 0.04)),
    Sphere(radius=0.04),
    Box(half=(0.06, 0.05, 0.04)),
    Cylinder(radius=0.05, half_length=0.04),
]
THICK = 0.05, 0.0005, 0.005  # m


@pytest.mark.parametrize(  # each shape once, and each thickness
    ("shape", "half"), first(4, [(shape, THICK[(k + j) % 3]) for j in range(3) for k, shape in enumerate(DEEP)]),
    ids=lambda one: None if isinstance(one, float) else type(one).__name__,
)  # fmt: skip
def test_what_is_deep_in_a_mesh_is_seen_and_goes_out_on_the_nearer_side(shape, half):
    """At any depth, through both sides of a thin plate and wholly within a thick one; beside it nothing is said."""
    body, plate = solid("a", shape, density=1000.0), _slab(half)
    system = SpatialSystem(bodies=[body], obstacles=[plate])
    for share in (0.9, 0.5, 0.1):
        for side in (1.0, -1.0):
            z = side * share * (0.04 + half)
            state = _state([(0.03, 0.02, z)])
            (found,) = overlaps(system, state)
            assert found.depth == pytest.approx((1.0 - share) * (0.04 + half), abs=1e-9)
            apart = pushed_apart(system, state)
            assert apart.q[2] == pytest.approx(side * (0.04 + half), abs=1e-3)
            assert not overlaps(system, apart)
    assert not overlaps(system, _state([(0.03, 0.02, 0.04 + half)]))
    assert not overlaps(system, _state([(0.6, 0.02, 0.0)]))
