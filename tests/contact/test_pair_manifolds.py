"""How far shapes are apart: against independent hulls, continuous in the pose, with the points of the engine."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from evidence import examples, first
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gaussdyn.contact.pair_manifolds import manifolds_near
from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.initial.overlap import overlaps, pushed_apart
from gaussdyn.mechanics.planar.bodies import PlanarBody
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, Stadium
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.system import UserSystem

FAR = 1.0  # m: all bodies are closer
SIZE = 0.1  # m
CORNERS = SIZE * np.array(
    [[0.9, 0.1, 0.2], [-0.8, 0.3, 0.1], [0.1, 0.8, -0.2], [0.0, -0.9, 0.1], [0.2, 0.1, 0.9], [0.1, -0.2, -0.7]]
)
OUTLINE = SIZE * np.array([[0.9, 0.0], [0.3, 0.8], [-0.7, 0.5], [-0.6, -0.6], [0.4, -0.8]])
IN_SPACE = {  # shape, corners of its core, skin
    "sphere": (Sphere(radius=0.7 * SIZE), np.zeros((1, 3)), 0.7 * SIZE),
    "capsule": (
        Capsule(radius=0.4 * SIZE, half_length=0.6 * SIZE), 0.6 * SIZE * np.array([[0, 0, -1.0], [0, 0, 1]]), 0.4 * SIZE
    ),
    "box": (Box(half=(0.5 * SIZE,) * 3), 0.5 * SIZE * np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T, 0.0),
    "mesh": (ConvexMesh(vertices=CORNERS), CORNERS, 0.0),
}  # fmt: skip
CURVED = {
    "cylinder": Cylinder(radius=0.5 * SIZE, half_length=0.7 * SIZE),
    "ellipsoid": Ellipsoid(half=(0.5 * SIZE, 0.7 * SIZE, SIZE)),
}
IN_PLANE = {
    "disc": (Disc(radius=0.7 * SIZE), np.zeros((1, 2)), 0.7 * SIZE),
    "stadium": (
        Stadium(a=(-0.5 * SIZE, 0.0), b=(0.6 * SIZE, 0.0), radius=0.3 * SIZE),
        np.array([[-0.5 * SIZE, 0], [0.6 * SIZE, 0]]), 0.3 * SIZE,
    ),
    "polygon": (Polygon(points=OUTLINE.tolist()), OUTLINE, 0.0),
    "round polygon": (Polygon(points=OUTLINE.tolist(), radius=0.2 * SIZE), OUTLINE, 0.2 * SIZE),
}  # fmt: skip


def system_of(shapes, obstacles=()):
    """Return a system of bodies that have one shape each, called a, b, ..."""
    if isinstance(shapes[0], (Disc, Stadium, Polygon)):
        bodies = [PlanarBody(name=n, mass=1.0, inertia=1.0, shapes=[s]) for n, s in zip("ab", shapes, strict=False)]
        return PlanarSystem(bodies=bodies, obstacles=obstacles)
    bodies = [SpatialBody(name=n, mass=1.0, inertia=(1, 1, 1), shapes=[s]) for n, s in zip("ab", shapes, strict=False)]
    return SpatialSystem(bodies=bodies, obstacles=obstacles)


def posed(system, rng, spread):
    """Return a state with bodies somewhere near the origin, turned."""
    q = []
    for _ in system.bodies:
        place = spread * rng.normal(size=2 if isinstance(system, PlanarSystem) else 3)
        turn = [rng.uniform(-7, 7)] if len(place) == 2 else Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]]
        q += [*place, *turn]
    return q_state(system, np.array(q))


def q_state(system, q):
    """Return a state at rest."""
    return State(q=q, v=np.zeros(system.nv))


def in_space(points, q):
    """Return points of a body where it is, in the plane or in space."""
    if len(q) == 3:
        c, s = np.cos(q[2]), np.sin(q[2])
        return points @ np.array([[c, s], [-s, c]]) + q[:2]
    return points @ Rotation.from_quat(q[[4, 5, 6, 3]]).as_matrix().T + q[:3]


def apart(P, Q):
    """Signed distance of two convex hulls: of the origin from the hull of all differences of their points."""
    D = (Q[:, None] - P[None]).reshape(-1, P.shape[1])
    if np.linalg.matrix_rank(D - D[0], tol=1e-9) == P.shape[1]:
        inside = ConvexHull(D).equations[:, -1].max()
        if inside <= 0.0:
            return float(inside)
    weights, _ = nnls(np.vstack([D.T, np.ones(len(D))]), np.append(np.zeros(P.shape[1]), 1.0), maxiter=10000)
    return float(np.linalg.norm(weights @ D / weights.sum()))


@pytest.mark.parametrize("seed", first(1, range(10)))
@pytest.mark.parametrize("kinds", [IN_PLANE, IN_SPACE], ids=["plane", "space"])
def test_distances_of_polyhedra_with_skins_are_those_of_independent_hulls_at_any_depth(kinds, seed):
    rng, signs = np.random.default_rng(seed), set()
    for a, b in combinations_with_replacement(kinds, 2):
        (one, P, skin), (other, Q, more) = kinds[a], kinds[b]
        system = system_of([one, other])
        for _ in range(12):
            state = posed(system, rng, 0.6 * SIZE)
            p, q = np.split(state.q, 2)
            (pair,) = manifolds_near(system, state, reach=FAR)
            want = apart(in_space(P, p), in_space(Q, q)) - skin - more
            assert pair.pair == ("a", "b")
            assert pair.distance == pytest.approx(want, rel=0, abs=2e-16), (a, b)
            signs.add(want > 0.0)
    assert signs == {True, False}


@pytest.mark.parametrize("seed", first(1, range(10)))
@pytest.mark.parametrize("kinds", [("plane", IN_PLANE), ("space", IN_SPACE)], ids=["plane", "space"])
def test_a_wall_is_as_far_as_the_lowest_point(kinds, seed):
    where, shapes = kinds
    rng, n = np.random.default_rng(seed), np.array([0.6, 0.8] if where == "plane" else [0.36, 0.48, 0.8])
    wall = (HalfPlane if where == "plane" else HalfSpace)(name="wall", point=0.05 * n, normal=n)
    for shape, corners, skin in shapes.values():
        system = system_of([shape], [wall])
        state = posed(system, rng, SIZE)
        (pair,) = manifolds_near(system, state, reach=FAR)
        want = (in_space(corners, state.q) @ n).min() - 0.05 - skin
        assert pair.distance == pytest.approx(want, rel=0, abs=2e-16)
        assert min(row.gap for row in pair.points) == pytest.approx(want, rel=0, abs=2e-16)


@pytest.mark.parametrize("seed", first(1, range(10)))
def test_a_wall_is_as_far_as_curved_shapes_reach(seed):
    """By their support functions."""
    rng, n = np.random.default_rng(seed), np.array([0.36, 0.48, 0.8])
    wall = HalfSpace(name="wall", point=0.05 * n, normal=n)
    for shape in CURVED.values():
        system = system_of([shape], [wall])
        state = posed(system, rng, SIZE)
        down = Rotation.from_quat(state.q[[4, 5, 6, 3]]).as_matrix().T @ n
        if isinstance(shape, Ellipsoid):
            low = np.linalg.norm(np.array(shape.half) * down)
        else:
            low = shape.radius * np.hypot(*down[:2]) + shape.half_length * abs(down[2])
        (pair,) = manifolds_near(system, state, reach=FAR)
        assert pair.distance == pytest.approx(state.q[:3] @ n - 0.05 - low, rel=0, abs=2e-16)


def reach_of(shape):
    """Return the radius of the ball about the origin of its body that holds a shape."""
    return shape.reach if hasattr(shape, "reach") else float(np.hypot(*np.array(shape.corners).T).max()) + shape.skin


@pytest.mark.parametrize("seed", first(1, range(10)))
@pytest.mark.parametrize("dim", [2, 3])
def test_a_distance_changes_by_no_more_than_the_surfaces_move(dim, seed):
    """Along small motions through touching poses, whatever the features are; curved shapes hardly overlap."""
    rng = np.random.default_rng(seed)
    shapes = {key: one[0] for key, one in (IN_PLANE if dim == 2 else IN_SPACE).items()} | (CURVED if dim == 3 else {})
    for a, b in combinations_with_replacement(shapes, 2):
        system, deepest = system_of([shapes[a], shapes[b]]), -0.02 * SIZE if {a, b} & CURVED.keys() else -np.inf
        cylinders = 0 if "ellipsoid" in (a, b) else (a, b).count("cylinder")
        told = (
            1.3e-3 * cylinders * CURVED["cylinder"].radius if dim == 3 else 0.0
        )  # how far prisms in their place may be off
        for _ in range(examples(4, fast=1)):
            state, v = posed(system, rng, 0.8 * SIZE), rng.normal(size=system.nv)
            h, last = 1e-4, None
            moves = np.split(v, 2)
            lin = 2 if dim == 2 else 3
            way = h * sum(
                np.linalg.norm(w[:lin]) + np.linalg.norm(w[lin:]) * reach_of(s)
                for w, s in zip(moves, (shapes[a], shapes[b]), strict=True)
            )
            for _ in range(40):
                (pair,) = manifolds_near(system, state, reach=FAR)
                if last is not None and min(pair.distance, last) > deepest:
                    assert abs(pair.distance - last) <= way + told + 1e-15, (a, b)
                last, state = pair.distance, q_state(system, system.move(state.q, v, h))


def test_points_of_shapes_that_touch_are_the_contacts_that_the_engine_has():
    system = system_of([Box(half=(0.1, 0.1, 0.1)), Sphere(radius=0.1)], [HalfSpace(name="floor")])
    state = system.state({"a": (0, 0, 0.1), "b": (0.0, 0.0, 0.3)})
    found = manifolds_near(system, state, reach=1e-9)
    assert [one.pair for one in found] == [("a", "b"), ("a", "floor")]
    assert [[row.id for row in one.points] for one in found] == [["b/a:f5"], [f"a:c{k}/floor" for k in range(4)]]
    assert [one.distance for one in found] == pytest.approx([0.0, 0.0], abs=1e-16)
    assert [one.pair for one in manifolds_near(system, state, reach=0.1)] == [("a", "b"), ("a", "floor")]
    assert len(manifolds_near(system, state, reach=0.3)) == 3


def test_in_joint_coordinates_shapes_are_as_far_apart():
    bodies = [SpatialBody(name=n, mass=1.0, inertia=(1, 1, 1), shapes=[Box(half=(0.1, 0.1, 0.1))]) for n in "ab"]
    parts = {"bodies": bodies, "obstacles": [HalfSpace(name="floor")]}
    place = {"a": (0.0, 0.0, 0.12, 0.6, 0.0, 0.8, 0.0), "b": (0.05, 0.0, 0.4)}
    one, other = (
        manifolds_near(system, system.state(place), reach=0.31)
        for system in (SpatialSystem(**parts), SpatialSystem(**parts, coordinates="joints"))
    )
    assert len(one) == 3
    assert [x.pair for x in one] == [x.pair for x in other]
    assert [x.distance for x in one] == pytest.approx([x.distance for x in other], rel=0, abs=1e-15)
    assert [[row.id for row in x.points] for x in one] == [[row.id for row in x.points] for x in other]


@pytest.mark.parametrize("seed", first(1, range(10)))
def test_shapes_in_the_plane_on_one_line_are_as_far_as_their_ends(seed):
    rng, signs = np.random.default_rng(seed), set()
    for a, b in combinations_with_replacement(("disc", "stadium"), 2):
        (one, P, skin), (other, Q, more) = IN_PLANE[a], IN_PLANE[b]
        system = system_of([one, other])
        for k in range(30):
            angle, far = rng.uniform(-7, 7) if k % 2 else 0.0, rng.uniform(-4, 4) * SIZE
            way = np.array([np.cos(angle), np.sin(angle)])
            p, q = np.array([0.1, 0.2, angle]), np.array([*(0.1, 0.2) + far * way, angle + np.pi * rng.integers(2)])
            want = apart(in_space(P, p), in_space(Q, q)) - skin - more
            (pair,) = manifolds_near(system, q_state(system, np.append(p, q)), reach=FAR)
            assert pair.distance == pytest.approx(want, rel=0, abs=1e-15)
            if want + skin + more > 1e-9:
                assert min(row.gap for row in pair.points) == pytest.approx(want, rel=0, abs=1e-15)
            signs.add(want > 0.0)
    assert signs == {True, False}


@pytest.mark.parametrize("seed", first(1, range(10)))
def test_cylinders_with_parallel_axes_in_each_other_overlap(seed):
    """The shortest way out is along the axes or across them; prisms may be off by 1.3e-3 of the radii."""
    rng, cylinder = np.random.default_rng(seed), CURVED["cylinder"]
    r, h = cylinder.radius, cylinder.half_length
    others = {
        "cylinder": (cylinder, r, h, 0.0), "capsule": (IN_SPACE["capsule"][0], 0.0, 0.6 * SIZE, 0.4 * SIZE),
        "sphere": (IN_SPACE["sphere"][0], 0.0, 0.0, 0.7 * SIZE),
    }  # fmt: skip
    for other, wide, long, skin in others.values():
        system = system_of([cylinder, other])
        for k in range(12):
            place = np.array([rng.uniform(0, 0.8 * (r + wide)) * (k > 0), 0.0, rng.uniform(-0.8, 0.8) * h * (k % 2)])
            turn = Rotation.random(random_state=rng) if k % 3 else Rotation.identity()
            quaternion = turn.as_quat()[[3, 0, 1, 2]]
            state = q_state(system, np.concatenate([np.zeros(3), quaternion, turn.apply(place), quaternion]))
            want = max(place[0] - r - wide, abs(place[2]) - h - long) - skin
            for reach in (0.0, FAR):
                (pair,) = manifolds_near(system, state, reach=reach)
                assert want - 1e-15 <= pair.distance <= want + 1.3e-3 * (r + wide)
            (found,) = overlaps(system, state)
            assert found.depth == -pair.distance


@pytest.mark.parametrize("off", [0.0, 1e-3])
def test_a_cylinder_about_the_middle_of_a_box_is_told_to_overlap(off):
    system = system_of([Box(half=(0.5, 0.6, 0.7)), Cylinder(radius=0.5, half_length=0.6)])
    state = system.state({"a": (0, 0, 0), "b": (off, 0, 0)})
    (found,) = overlaps(system, state)
    assert found.depth == pytest.approx(1.0 - off, rel=0, abs=1.3e-3 * 0.5)
    assert [one.pair for one in manifolds_near(system, state, reach=FAR)] == [("a", "b")]


@pytest.mark.parametrize("angle", 10.0 ** np.arange(-9, -3))
def test_nearly_parallel_edges_are_as_far_as_where_they_cross(angle):
    rng, system = np.random.default_rng(0), system_of([Box(half=(1, 1, 1))] * 2)
    up = Rotation.from_rotvec([np.pi / 4, 0, 0])
    turned = Rotation.from_rotvec([0, 0, angle]) * up
    for _ in range(12):
        gap = 10.0 ** rng.uniform(-12, -7)
        place = np.array([rng.uniform(-0.4, 0.4), angle * rng.uniform(-0.5, 0.5), 2 * np.sqrt(2) + gap])
        q = np.concatenate([np.zeros(3), up.as_quat()[[3, 0, 1, 2]], place, turned.as_quat()[[3, 0, 1, 2]]])
        (pair,) = manifolds_near(system, q_state(system, q), reach=FAR)
        assert pair.distance == pytest.approx(gap, rel=0, abs=1e-15)


def test_only_a_state_of_the_very_system_is_looked_at():
    boxes = system_of([Box(half=(0.1, 0.1, 0.1))] * 2)
    discs, joints = system_of([Disc(radius=0.1)] * 2), SpatialSystem(bodies=boxes.bodies, coordinates="joints")
    for system in (boxes, discs, joints):
        good = np.zeros(system.nq)
        if system is not discs:
            good[[3, 10]] = 1.0
        for state in (State(q=good[:3], v=np.zeros(3)), State(q=np.tile(good, 2), v=np.zeros(2 * system.nv))):
            for look in (manifolds_near, overlaps, pushed_apart):
                with pytest.raises(InputError, match="q of the state"):
                    look(system, state)
        for look in (system.distances, system.within):
            for q in (good[:3], np.tile(good, 2), np.full(system.nq, np.nan)):
                with pytest.raises(InputError, match=r"^q: "):
                    look(q, 1.0)
            with pytest.raises(InputError, match=r"reach.*a finite number >= 0"):
                look(good, np.inf)
        for look in (manifolds_near, overlaps, pushed_apart):
            with pytest.raises(InputError, match="v of the state"):
                look(system, State(q=good, v=np.zeros(1)))
            with pytest.raises(InputError, match=r"state: given ndarray.*system\.state"):
                look(system, good)
            scene = Scene(
                name="s", title="s", source="s", system=system, state=q_state(system, good), t_end=1.0, dt=0.1
            )
            with pytest.raises(InputError, match=r"scene\.system"):
                look(scene, scene.state)
            with pytest.raises(InputError, match="system comes first"):
                look(q_state(system, good), system)
        with pytest.raises(InputError, match=r"reach.*a finite number >= 0"):
            manifolds_near(system, q_state(system, good), reach=np.inf)


def test_systems_without_shapes_are_named():
    system = UserSystem(nq=1, mass=lambda q: np.eye(1), force=lambda t, q, v: np.zeros(1))
    with pytest.raises(InputError, match="shapes"):
        manifolds_near(system, State(q=np.zeros(1), v=np.zeros(1)))
