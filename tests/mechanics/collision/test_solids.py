"""Contacts of meshes and cylinders: distances by a cone program, boxes as meshes, symmetry, rigid motion, rates."""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import pytest
from evidence import examples
from scipy.sparse import csc_matrix
from scipy.spatial.transform import Rotation

from gaussdyn.mechanics.collision.feature_kinematics import RigidMotion, feature_motion
from gaussdyn.mechanics.collision.features import BALL_PLANE, EDGE_RIM, Feature
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere

KINDS = {"s": "sphere", "k": "capsule", "b": "box", "m": "mesh", "c": "cylinder", "e": "ellipsoid", "t": "mesh"}
PAIRS = ["sm", "km", "bm", "mm", "sc", "kc", "bc", "mc", "cc", "se", "ke", "be", "me", "ce", "ee"]


def box_mesh(half, **where):
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * half
    return ConvexMesh(vertices=corners, **where)


def _shape(kind, rng):
    turn = Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]]
    at = 0.1 * rng.normal(size=3)
    if kind == "s":
        return Sphere(radius=0.2, at=at)
    if kind == "k":
        return Capsule(radius=0.1, half_length=0.4, at=at, turn=turn)
    if kind == "b":
        return Box(half=rng.uniform(0.2, 0.5, 3), at=at, turn=turn)
    if kind == "m":
        return ConvexMesh(vertices=0.3 * rng.normal(size=(12, 3)), at=at, turn=turn)
    if kind == "t":  # with edges of 10 degrees and less
        corners = 0.3 * rng.normal(size=(4, 3))
        return ConvexMesh(vertices=corners - corners.mean(axis=0), turn=turn)
    if kind == "e":
        return Ellipsoid(half=rng.uniform(0.1, 0.5, 3), at=at, turn=turn)
    return Cylinder(radius=rng.uniform(0.2, 0.5), half_length=rng.uniform(0.1, 0.5), at=at, turn=turn)


def _constraints(shape):
    """Return A, b and cones: the points u of the core in the shape's axes have b - A u in them; and the radius."""
    none, rows = np.zeros((0, 3)), np.vstack([np.eye(3), -np.eye(3)])
    if isinstance(shape, Sphere):
        return rows, np.zeros(6), none, 0.0, shape.radius
    if isinstance(shape, Capsule):
        return rows, np.array([0, 0, shape.half_length] * 2), none, 0.0, shape.radius
    if isinstance(shape, Box):
        return rows, np.tile(shape.half, 2), none, 0.0, 0.0
    if isinstance(shape, ConvexMesh):
        return shape.hull.normals, shape.hull.offsets, none, 0.0, 0.0
    if isinstance(shape, Ellipsoid):
        return none, np.zeros(0), np.diag(1.0 / np.array(shape.half)), 1.0, 0.0
    return rows[[2, 5]], np.full(2, shape.half_length), np.eye(3)[:2], shape.radius, 0.0


def distance(shapes, x, R):
    """Return the distance of two convex shapes less their radii, by Clarabel: unknowns u, w (points) and t >= |gap|."""
    lines, right, cones, radii = [], [], [], 0.0
    places, turns = [], []
    for k, (shape, c, Q) in enumerate(zip(shapes, x, R, strict=True)):
        A, b, S, r, radius = _constraints(shape)
        radii += radius
        turn = np.array(getattr(shape, "turn", (1.0, 0.0, 0.0, 0.0)))
        turns.append(Q @ Rotation.from_quat(turn[[1, 2, 3, 0]]).as_matrix())
        places.append(c + Q @ np.array(shape.at))
        pad = [np.zeros((len(A), 3)) for _ in range(2)]
        pad[k] = A
        lines.append(np.hstack([*pad, np.zeros((len(A), 1))]))
        right.append(b)
        cones.append(clarabel.NonnegativeConeT(len(b)))
        if len(S):
            pad = [np.zeros((1 + len(S), 3)) for _ in range(2)]
            pad[k][1:] = -S
            lines.append(np.hstack([*pad, np.zeros((1 + len(S), 1))]))
            right.append([r, *np.zeros(len(S))])
            cones.append(clarabel.SecondOrderConeT(1 + len(S)))
    lines.append(
        np.hstack([np.vstack([np.zeros(3), -turns[0]]), np.vstack([np.zeros(3), turns[1]]), -np.eye(4)[:, :1]])
    )
    right.append([0.0, *(places[0] - places[1])])
    cones.append(clarabel.SecondOrderConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    zero = csc_matrix((7, 7))
    A, b = csc_matrix(np.vstack(lines)), np.concatenate(right)
    found = clarabel.DefaultSolver(zero, np.eye(7)[6], A, b, cones, settings).solve()
    return found.x[6] - radii


def near_pose(shapes, rng, gap):
    """Return poses at which two shapes are apart by about `gap`: the second comes in along a line."""
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    R = Rotation.random(2, random_state=rng).as_matrix()
    x = np.array([np.zeros(3), 3.0 * way])
    for _ in range(60):
        apart = distance(shapes, x, R)
        if apart < 2.0 * gap:
            break
        x[1] -= 0.8 * (apart - gap) * way
    return x, R


def _find(shapes, x, R, reach=0.05):
    return Shapes.of({"a": (shapes[0],), "b": (shapes[1],)}).find(x, R, reach)


def _gaps(features, x, R):
    pose = {"a": (x[0], R[0]), "b": (x[1], R[1])}
    return np.array([f.geometry(*pose[f.bodies[0]], *pose[f.bodies[1]])[0] for f in features])


@pytest.mark.drawn
@pytest.mark.parametrize("pair", [*PAIRS, "bt", "tt", "tc", "te"])
def test_the_smallest_gap_is_the_distance_where_solids_come_near(pair):
    for seed in range(examples(60, fast=12)):
        rng = np.random.default_rng(seed)
        shapes = [_shape(kind, rng) for kind in pair]
        if "t" in pair:  # the way from middle to middle does not lead past it
            shapes = [replace(shape, at=(0.0, 0.0, 0.0)) for shape in shapes]
        x, R = near_pose(shapes, rng, 1e-4)
        found = _find(shapes, x, R)
        apart = distance(shapes, x, R)
        assert found, (pair, seed)
        assert _gaps(found, x, R).min() == pytest.approx(apart, abs=2e-7), (pair, seed, [f.id for f in found])


@pytest.mark.parametrize("depth", [1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("place", [(0.25, 0.0), (0.25, 0.35)])
@pytest.mark.parametrize("kind", ["box", "mesh"])
def test_what_is_under_a_cap_is_not_beside_the_cylinder(kind, place, depth):
    """A box below, its edge or corner within the cap: the way out is up, and nothing touches the side."""
    half = np.array([0.2, 0.3, 0.25])
    ground = Box(half=half) if kind == "box" else box_mesh(half)
    x = np.array([np.zeros(3), [*place, 0.25 + 0.1 - depth]])
    for turn in (np.eye(3), Rotation.from_euler("Z", 0.3).as_matrix()):
        found = _find([ground, Cylinder(radius=0.2, half_length=0.1)], x, np.array([np.eye(3), turn]))
        assert len(found) > 2
        assert _gaps(found, x, np.array([np.eye(3), turn])) == pytest.approx(-depth, abs=1e-15), [f.id for f in found]


def roof(rng):
    """Return a block whose upper faces meet in a ridge, one to five degrees below its level."""
    length, wide, fall = rng.uniform(0.2, 0.5), *rng.uniform([0.2, 0.01], [0.5, 0.08])
    sides = [[x, y, z] for x in (-wide, wide) for y in (-length, length) for z in (-0.3, -fall * wide)]
    return ConvexMesh(vertices=[*sides, [0.0, -length, 0.0], [0.0, length, 0.0]])


def test_flat_ridges_that_cross_touch_each_other():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        shapes = [roof(rng), roof(rng)]
        over = Rotation.from_rotvec(0.005 * rng.normal(size=3)) * Rotation.from_euler("ZX", [rng.uniform(0, 6), np.pi])
        R = np.array([np.eye(3), over.as_matrix()])
        x = np.array([np.zeros(3), [*rng.uniform(-0.1, 0.1, 2), 0.05]])
        for _ in range(3):
            x[1, 2] -= distance(shapes, x, R) - 1e-4
        apart, found = distance(shapes, x, R), _find(shapes, x, R)
        assert _gaps(found, x, R).min() == pytest.approx(apart, abs=2e-7), (seed, [f.id for f in found])


def test_two_edges_have_one_id_whichever_face_finds_them():
    """Faces take turns as bodies turn a little: ids that did would be two contacts of one step, one with no past."""
    crossed = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        shapes = [roof(rng), roof(rng)] if seed % 2 else [_shape("b", rng), _shape("b", rng)]
        R, known = np.array([np.eye(3), Rotation.from_euler("ZX", [rng.uniform(0, 6), np.pi]).as_matrix()]), set()
        for _ in range(20):
            turned = np.array([R[0], Rotation.from_rotvec(0.03 * rng.normal(size=3)).as_matrix() @ R[1]])
            x = np.array([np.zeros(3), [*rng.uniform(-0.05, 0.05, 2), 0.3]])
            x[1, 2] -= distance(shapes, x, turned) - 1e-4
            known |= {f.id for f in _find(shapes, x, turned) if f.id.count(":e") == 2}
        assert not known & {"/".join(reversed(name.split("/"))) for name in known}
        crossed += len(known)
    assert crossed > 50


@pytest.mark.drawn
@pytest.mark.parametrize("pair", ["bm", "mm", "be", "me", "ce", "ee"])
def test_a_reach_finds_what_is_that_near_among_what_a_larger_one_finds(pair):
    found = 0
    for seed in range(examples(60, fast=12)):
        rng = np.random.default_rng(300 + seed)
        shapes = [_shape(kind, rng) for kind in pair]
        x, R = near_pose(shapes, rng, 10.0 ** rng.uniform(-4.0, -2.0))
        all_near = _find(shapes, x, R)
        gaps = _gaps(all_near, x, R)
        for reach in distance(shapes, x, R) * np.array([0.5, 0.99, 1.01, 3.0]):
            near = [f.id for f, gap in zip(all_near, gaps, strict=True) if gap <= reach]
            assert [f.id for f in _find(shapes, x, R, reach)] == near
            found += len(near)
    assert found > 20


@pytest.mark.parametrize("pair", PAIRS)
def test_gaps_are_the_same_when_shapes_change_places_and_move_together(pair):
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        shapes = [_shape(kind, rng) for kind in pair]
        x, R = near_pose(shapes, rng, 1e-3)
        before = np.sort(_gaps(_find(shapes, x, R), x, R))
        swapped = np.sort(_gaps(_find(shapes[::-1], x[::-1], R[::-1]), x[::-1], R[::-1]))
        assert before[0] == pytest.approx(swapped[0], abs=1e-14)
        Q, shift = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        moved = (x @ Q.T + shift, Q @ R)
        found = _find(shapes, *moved)
        assert [f.id for f in found] == [f.id for f in _find(shapes, x, R)]
        assert np.allclose(np.sort(_gaps(found, *moved)), before, atol=2e-14)


def held_on_edge(f, xa, Ra, xb, Rb):
    """Return the ball over the plane of a face that an edge over its rim is at a pose."""
    _, n, c = f.geometry(xa, Ra, xb, Rb)
    data = np.array([*(Ra.T @ (c + f.data[6] * n - xa)), *f.data[3:13], 0.0])
    return Feature(id=f.id, kind=BALL_PLANE, bodies=f.bodies, data=data)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_contact_is_the_same_wherever_its_features_were_found(pair):
    """An audit finds the contacts of a step at other poses than the step did that looked for them twice."""
    checked = 0
    for seed in range(12):
        rng = np.random.default_rng(300 + seed)
        shapes = [_shape(kind, rng) for kind in pair]
        x, R = near_pose(shapes, rng, 1e-3)
        y, S = x + 1e-3 * rng.normal(size=(2, 3)), Rotation.from_rotvec(1e-3 * rng.normal(size=(2, 3))).as_matrix() @ R
        there = {f.id: f for f in _find(shapes, y, S)}
        for f in _find(shapes, x, R):
            a, b = ("ab".index(name) for name in f.bodies)
            if f.id not in there or (":x" in f.id and f.kind == BALL_PLANE):  # a point of a circle is held, see `PASS`
                continue
            for P, Q in ((x, R), (y, S)):
                one, other = (g.geometry(P[a], Q[a], P[b], Q[b]) for g in (f, there[f.id]))
                assert np.hstack(one) == pytest.approx(np.hstack(other), abs=1e-12), (seed, f.id)
            checked += 1
    assert checked > 6


@pytest.mark.parametrize("pair", PAIRS)
def test_rates_are_derivatives_of_gaps(pair):
    h = 1e-6
    for seed in range(8):
        rng = np.random.default_rng(200 + seed)
        shapes = [_shape(kind, rng) for kind in pair]
        x, R = near_pose(shapes, rng, 1e-3)
        v, w = rng.normal(size=(2, 2, 3))
        for f in _find(shapes, x, R):
            a, b = ("ab".index(name) for name in f.bodies)
            if f.kind == EDGE_RIM:  # the crossing runs on along the edge, the material there does not
                f = held_on_edge(f, x[a], R[a], x[b], R[b])
            out = np.empty(13)
            one, other = (RigidMotion(x[k], R[k], v[k], w[k], np.zeros(3)) for k in (a, b))
            feature_motion(f.kind, f.data, one, other, out)
            arms = out[4:7] - x
            rate = out[1:4] @ (v[a] + np.cross(w[a], arms[a]) - v[b] - np.cross(w[b], arms[b]))
            ends = []
            for s in (h, -h):
                S = [Rotation.from_rotvec(s * w[k]).as_matrix() @ R[k] for k in (0, 1)]
                y = x + s * v
                ends.append(f.geometry(y[a], S[a], y[b], S[b])[0])
            assert rate == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6), f.id


@pytest.mark.parametrize("which", ["mm", "bm", "mb"])
def test_a_mesh_of_a_box_has_the_contacts_of_the_box(which):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        halves = rng.uniform(0.1, 0.5, (2, 3))
        R = Rotation.random(2, random_state=seed).as_matrix()
        slide = rng.normal(size=2) * 0.2
        R[1] = R[0] @ Rotation.from_rotvec([1e-3 * rng.normal(), 0.0, rng.normal()]).as_matrix()
        x = np.array([np.zeros(3), R[0] @ np.array([*slide, halves[0, 2] + halves[1, 2] - 1e-4])])
        boxes = [Box(half=h) for h in halves]
        solids = [box_mesh(h) if kind == "m" else Box(half=h) for h, kind in zip(halves, which, strict=True)]
        expected, got = _gaps(_find(boxes, x, R, 0.01), x, R), _gaps(_find(solids, x, R, 0.01), x, R)
        assert np.allclose(np.sort(got), np.sort(expected), atol=1e-13)


def test_a_standing_cylinder_has_eight_points_and_a_tilted_one_its_lowest():
    floor = HalfSpace(name="floor")
    shapes = Shapes.of({"a": (Cylinder(radius=0.1, half_length=0.2),)}, [floor])
    standing = shapes.find([[0, 0, 0.2]], np.eye(3)[None], 1e-3)
    assert [f.id for f in standing] == [f"a:p{k:02d}/floor" for k in range(8)]
    tilt = 0.3
    R = Rotation.from_rotvec([0.0, tilt, 0.0]).as_matrix()[None]
    height = 0.2 * np.cos(tilt) + 0.1 * np.sin(tilt)
    (low,) = shapes.find([[0, 0, height]], R, 1e-3)
    assert low.id == "a:rim0/floor"
    gap, _, point = low.geometry(np.array([0, 0, height]), R[0], np.zeros(3), np.eye(3))
    assert abs(gap) < 1e-16
    assert np.allclose(point, R[0] @ [0.1, 0.0, -0.2] + [0, 0, height])
    lying = shapes.find([[0, 0, 0.1]], Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix()[None], 1e-3)
    assert [f.id for f in lying] == ["a:rim0/floor", "a:rim1/floor"]


def test_an_overhanging_cylinder_touches_along_its_side_and_where_its_rim_leaves():
    table = Box(half=(0.5, 0.5, 0.1), name="table")
    shapes = Shapes.of({"a": (Cylinder(radius=0.1, half_length=0.3),)}, [table])
    lying = Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix()[None]
    found = shapes.find([[0.4, 0.0, 0.2]], lying, 1e-3)  # from x = 0.1 to 0.7 over an edge at 0.5
    assert [f.id for f in found] == ["a:axis/table:e07", "a:rim0/table:f5"]
    standing = shapes.find([[0.5, 0.0, 0.4]], np.eye(3)[None], 1e-3)  # half over the edge
    ids = [f.id for f in standing]
    assert {"a:x0/table:e07", "a:x1/table:e07"} <= set(ids)
    assert {"a:p02/table:f5", "a:p04/table:f5", "a:p06/table:f5"} <= set(ids)
    assert "a:p00/table:f5" not in ids


def test_ids_of_meshes_are_sorted_and_unique():
    rock = ConvexMesh(vertices=np.random.default_rng(0).normal(size=(60, 3)))
    shapes = Shapes.of({"a": (rock,)}, [HalfSpace(name="floor")])
    found = shapes.find([[0, 0, 0]], np.eye(3)[None], 10.0)
    ids = [f.id for f in found]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(rock.hull.corners)


def test_equal_meshes_share_one_block_of_the_table():
    rock, other = (ConvexMesh(vertices=np.random.default_rng(k).normal(size=(12, 3))) for k in (0, 1))
    again = ConvexMesh(vertices=rock.vertices, at=(1.0, 0.0, 0.0))
    one, two, three = (
        Shapes.of({f"b{k}": (shape,) for k, shape in enumerate(shapes)}).arrays
        for shapes in ([rock], [rock, again], [rock, other, again])
    )
    assert len(one.solids) == len(two.solids) < len(three.solids)
    assert two.table[0, 4] == two.table[1, 4]
    assert three.table[0, 4] == three.table[2, 4] != three.table[1, 4]
