"""Contacts found against brute force: bounded least squares for distances, linear programs for touching boxes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.features import BALL_PLANE, EDGE_RIM, LINE_LINE
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, Capsule, HalfSpace, Sphere

FLOOR = HalfSpace(name="floor")
CUBE = Box(half=(0.5, 0.5, 0.5))


def _poses(seed, n=2, spread=1.0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=(n, 3)), Rotation.random(n, random_state=seed).as_matrix()


def _shape(kind, rng):
    at, turn = 0.2 * rng.normal(size=3), Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]]
    if kind == "sphere":
        return Sphere(radius=rng.uniform(0.1, 0.5), at=at)
    if kind == "capsule":
        return Capsule(radius=rng.uniform(0.1, 0.4), half_length=rng.uniform(0.2, 1.0), at=at, turn=turn)
    return Box(half=rng.uniform(0.2, 0.8, size=3), at=at, turn=turn)


def _core(shape, x, R):
    """Return centre, generators (3, k) and radius: the shape is centre + G u + a ball, |u| <= 1 in every component."""
    centre = x + R @ np.array(shape.at)
    if isinstance(shape, Sphere):
        return centre, np.zeros((3, 0)), shape.radius
    w, *xyz = shape.turn
    F = R @ Rotation.from_quat([*xyz, w]).as_matrix()
    if isinstance(shape, Capsule):
        return centre, F[:, 2:] * shape.half_length, shape.radius
    return centre, F * np.array(shape.half), 0.0


def _distance(first, second):
    """Return the distance of two cores less the radii, by bounded least squares."""
    (a, G, ra), (b, H, rb) = first, second
    A = np.hstack([G, -H])
    if A.shape[1] == 0:
        return np.linalg.norm(a - b) - ra - rb
    u = lsq_linear(A, b - a, bounds=(-1, 1), tol=1e-14, method="bvls").x
    return np.linalg.norm(A @ u - (b - a)) - ra - rb


def _find(shapes, x, R, reach=10.0, names=("a", "b")):
    found = Shapes.of({name: (shape,) for name, shape in zip(names, shapes, strict=True)})
    return found.find(x, R, reach)


def _gaps(features, x, R, names=("a", "b")):
    pose = {name: (x[k], R[k]) for k, name in enumerate(names)} | {"ground": (np.zeros(3), np.eye(3))}
    return np.array([f.geometry(*pose[f.bodies[0]], *pose[f.bodies[1]])[0] for f in features])


ROUND = [("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("capsule", "capsule"), ("capsule", "box")]


@pytest.mark.drawn
@pytest.mark.parametrize("kinds", ROUND, ids="-".join)
@pytest.mark.parametrize("swap", [False, True])
def test_the_smallest_gap_of_round_shapes_is_their_distance(kinds, swap):
    checked = 0
    for seed in range(tried := examples(250, fast=50)):
        rng = np.random.default_rng(seed)
        shapes = [_shape(kind, rng) for kind in (kinds[::-1] if swap else kinds)]
        x, R = _poses(seed)
        cores = [_core(shape, x[k], R[k]) for k, shape in enumerate(shapes)]
        distance = _distance(*cores)
        if distance + cores[0][2] + cores[1][2] < 1e-6:  # the cores overlap: no distance
            continue
        gaps = _gaps(_find(shapes, x, R), x, R)
        assert gaps.min() == pytest.approx(distance, abs=1e-9), seed
        if distance > 1e-6:  # and a reach that is just enough finds it
            near = _gaps(_find(shapes, x, R, distance + 1e-8), x, R)
            assert near.min() == gaps.min(), seed
            assert not len(_find(shapes, x, R, distance - 1e-8)), seed
        checked += 1
    assert checked > 0.6 * tried


@pytest.mark.drawn
@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_the_smallest_gap_over_a_half_space_is_the_height(kind):
    for seed in range(examples(100, fast=30)):
        rng = np.random.default_rng(seed)
        shape = _shape(kind, rng)
        x, R = _poses(seed, n=1)
        n, point = rng.normal(size=3), rng.normal(size=3)
        n /= np.linalg.norm(n)
        wall = HalfSpace(name="wall", point=point, normal=n)
        features = Shapes.of({"a": (shape,)}, [wall]).find(x, R, 20.0)
        centre, G, radius = _core(shape, x[0], R[0])
        height = n @ (centre - point) - np.abs(n @ G).sum() - radius
        assert _gaps(features, x, R, ("a",)).min() == pytest.approx(height, abs=1e-12)
        assert len(features) == {"sphere": 1, "capsule": 2, "box": 8}[kind]
        assert all(f.kind == BALL_PLANE and f.shapes[1] == "wall" for f in features)


@pytest.mark.drawn
def test_no_contact_of_disjoint_boxes_is_violated():
    """Every gap is a true bound: boxes that are apart, by however little, violate none."""
    apart = 0
    for seed in range(tried := examples(1000, fast=150)):
        rng = np.random.default_rng(seed)
        shapes = [_shape("box", rng), _shape("box", rng)]
        x, R = _poses(seed, spread=0.8)
        distance = _distance(*(_core(shape, x[k], R[k]) for k, shape in enumerate(shapes)))
        features = _find(shapes, x, R, 0.3)
        gaps = _gaps(features, x, R)
        if distance > 1e-9:
            apart += 1
            assert (gaps > -1e-12).all(), seed
            assert not len(gaps) or gaps.min() >= distance - 1e-9
        else:
            assert len(gaps), seed
            assert gaps.min() < 0, seed
    assert 0.2 < apart / tried < 0.9


def _touching(shapes, x, R, direction):
    """Return how far b must move along `direction` from inside a until the boxes just touch, by a linear program."""
    (a, G, _), (b, H, _) = (_core(shape, x[k], R[k]) for k, shape in enumerate(shapes))
    equal = np.hstack([G, -H, -direction[:, None]])
    bounds = [(-1, 1)] * (G.shape[1] + H.shape[1]) + [(None, None)]
    cost = np.zeros(len(bounds))
    cost[-1] = -1
    return linprog(cost, A_eq=equal, b_eq=b - a, bounds=bounds).x[-1]


@pytest.mark.drawn
def test_boxes_that_touch_have_a_contact_with_gap_zero():
    """b moves out of a until they touch at one point (generic): a little beyond the smallest gap is just as little."""
    for seed in range(examples(300, fast=80)):
        rng = np.random.default_rng(seed)
        shapes = [_shape("box", rng), _shape("box", rng)]
        x, R = _poses(seed)
        d = rng.normal(size=3)
        d, x[1] = d / np.linalg.norm(d), x[0]
        x[1] += (_touching(shapes, x, R, d) + 1e-8) * d
        features = _find(shapes, x, R, 1e-3)
        assert len(features), seed
        assert -1e-12 <= _gaps(features, x, R).min() < 1e-7, seed
        x[1] -= 1e-5 * d
        inside = _find(shapes, x, R, 1e-3)
        assert -1.01e-5 < _gaps(inside, x, R).min() < 0, seed


def _extent(corners, d):
    """Return max d.p over the points common to two rectangles (each: centre, two half sides as vectors)."""
    (a, G), (b, H) = corners
    k, m = G.shape[1], H.shape[1]
    bounds = [(-1, 1)] * (k + m)
    result = linprog(-np.concatenate([d @ G, np.zeros(m)]), A_eq=np.hstack([G, -H]), b_eq=b - a, bounds=bounds)
    return d @ a - result.fun if result.success else None


@pytest.mark.drawn
def test_contacts_of_two_faces_span_their_overlap():
    for seed in range(examples(150, fast=30)):
        check_contacts_of_two_faces_span_their_overlap(seed)


def check_contacts_of_two_faces_span_their_overlap(seed):
    rng = np.random.default_rng(seed)
    half, yaw, shift = rng.uniform(0.2, 1.0, size=(2, 3)), rng.uniform(-4, 4, size=2), rng.normal(size=2)
    turns = Rotation.from_rotvec(np.outer(yaw, [0, 0, 1])).as_matrix()
    x = np.array([[0.0, 0.0, 0.0], [0.6 * shift[0], 0.6 * shift[1], half[0, 2] + half[1, 2]]])
    rectangles = [(x[k, :2], turns[k, :2, :2] * half[k, :2]) for k in range(2)]
    Q, s = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    X, R = x @ Q.T + s, Q @ turns
    features = _find([Box(half=h) for h in half], X, R, 1e-6)
    if _extent(rectangles, np.array([1.0, 0.0])) is None:
        assert not features
        return
    points = []
    for f in features:
        a, b = (("a", "b").index(name) for name in f.bodies)
        gap, n, c = f.geometry(X[a], R[a], X[b], R[b])
        assert abs(gap) < 1e-12
        assert n == pytest.approx((1 if a else -1) * Q[:, 2], abs=1e-12)
        points.append(((c - s) @ Q)[:2])
    points = np.array(points)
    for angle in np.linspace(0, 6, 9):
        d = np.array([np.cos(angle), np.sin(angle)])
        assert (points @ d).max() == pytest.approx(_extent(rectangles, d), abs=1e-9)
    assert min(np.linalg.norm(p - q) for p, q in itertools.combinations(points, 2)) > 1e-7


@pytest.mark.drawn
@pytest.mark.parametrize("kinds", [*ROUND, ("box", "box")], ids="-".join)
def test_rigid_motions_change_no_id_and_no_gap(kinds):
    for seed in range(examples(60, fast=20)):
        rng = np.random.default_rng(seed)
        shapes = [_shape(kind, rng) for kind in kinds]
        x, R = _poses(seed, spread=0.7)
        Q, s = Rotation.random(random_state=seed + 1).as_matrix(), rng.normal(size=3)
        here, there = _find(shapes, x, R, 1.0), _find(shapes, x @ Q.T + s, Q @ R, 1.0)
        assert [f.id for f in here] == [f.id for f in there]
        assert _gaps(here, x, R) == pytest.approx(_gaps(there, x @ Q.T + s, Q @ R), abs=1e-11)


@pytest.mark.drawn
@pytest.mark.parametrize("kinds", [*ROUND, ("box", "box")], ids="-".join)
def test_names_choose_the_ids_but_not_the_gaps(kinds):
    for seed in range(examples(60, fast=20)):
        rng = np.random.default_rng(seed)
        shapes = [_shape(kind, rng) for kind in kinds]
        x, R = _poses(seed, spread=0.7)
        one, other = _find(shapes, x, R, 0.5, ("a", "b")), _find(shapes, x, R, 0.5, ("b", "a"))
        gaps = [np.sort(_gaps(f, x, R, names)) for f, names in ((one, ("a", "b")), (other, ("b", "a")))]
        assert gaps[0] == pytest.approx(gaps[1], abs=1e-11)


def _stack(n, half=0.5):
    names = [f"box{k:02d}" for k in range(n)]
    x = np.zeros((n, 3))
    x[:, 2] = half * (2 * np.arange(n) + 1)
    return Shapes.of({name: (Box(half=(half,) * 3),) for name in names}, [FLOOR]), x, np.tile(np.eye(3), (n, 1, 1))


def test_a_stack_of_equal_boxes_has_four_contacts_at_every_face():
    shapes, x, R = _stack(6)
    ids = [f.id for f in shapes.find(x, R, 1e-3)]
    expected = [f"box00:c{c}/floor" for c in range(4)]
    expected += [f"box{k:02d}:c{c}/box{k - 1:02d}:f5" for k in range(1, 6) for c in range(4)]
    assert ids == expected


@pytest.mark.parametrize("reach", [1e-6, 1e-3, 0.1])
def test_tiny_motions_change_no_ids(reach):
    shapes, x, R = _stack(6)
    still = [f.id for f in shapes.find(x, R, reach)]
    rng = np.random.default_rng(0)
    for _ in range(300):
        moved = x + 1e-9 * rng.normal(size=x.shape)
        turned = Rotation.from_rotvec(1e-9 * rng.normal(size=x.shape)).as_matrix() @ R
        assert [f.id for f in shapes.find(moved, turned, reach)] == still


def test_a_swaying_stack_keeps_its_contacts():
    """Tilts of 1e-4 about horizontal axes leave the four corners of every box, reach permitting."""
    shapes, x, R = _stack(2)
    x[:, 1] += [0.0, 0.1]
    still = [f.id for f in shapes.find(x, R, 1e-2)]
    for angle in np.linspace(-1e-4, 1e-4, 21):
        turned = R.copy()
        turned[1] = Rotation.from_rotvec([angle, 0, 0]).as_matrix()
        assert [f.id for f in shapes.find(x, turned, 1e-2)] == still


def test_a_box_laid_across_another_rests_on_four_crossings():
    shapes = Shapes.of({"lower": (Box(half=(1.0, 0.1, 0.1)),), "upper": (Box(half=(0.1, 1.0, 0.1)),)})
    found = shapes.find([[0, 0, 0], [0, 0, 0.2]], np.tile(np.eye(3), (2, 1, 1)), 1e-3)
    # The upper edges of the lower one, along x, under the lower edges of the upper one, along y.
    assert {f.id for f in found} == {f"lower:e{g:02d}/upper:e{e:02d}" for e in (4, 6) for g in (2, 3)}
    assert all(f.kind == LINE_LINE and f.bodies == ("lower", "upper") for f in found)


@pytest.mark.drawn
def test_edges_across_the_border_of_a_face_touch_where_they_cross():
    for seed in range(examples(20, fast=8)):
        check_edges_across_the_border_of_a_face_touch_where_they_cross(seed)


def check_edges_across_the_border_of_a_face_touch_where_they_cross(seed):
    """Also after the boxes have gone on turning: the gap is the separation along the axis of the two edges."""
    rng, halves = np.random.default_rng(seed), ((1.0, 0.1, 0.1), (0.1, 1.0, 0.1))
    shapes = Shapes.of({name: (Box(half=half),) for name, half in zip(("lower", "upper"), halves, strict=True)})
    turn = Rotation.from_rotvec([*rng.uniform(-0.04, 0.04, size=2), rng.uniform(-1.2, 1.2)])
    places, frames = np.array([[0, 0, 0], [0, 0, 0.205]]), np.array([np.eye(3), turn.as_matrix()])
    found = [f for f in shapes.find(places, frames, 0.05) if f.kind == LINE_LINE]
    assert found
    places[1] += 0.01 * rng.normal(size=3)
    frames[1] = Rotation.from_rotvec(0.03 * rng.normal(size=3)).as_matrix() @ frames[1]
    for f in found:
        (one, a), (other, b) = (side.split(":e") for side in f.id.split("/"))
        i, j = (("lower", "upper").index(name) for name in (one, other))
        n = np.cross(frames[i][:, int(a) // 4], frames[j][:, int(b) // 4])
        n *= np.sign(n[2]) * (1.0 if one == "upper" else -1.0) / np.linalg.norm(n)
        gap, normal, _ = f.geometry(places[i], frames[i], places[j], frames[j])
        ends = [frames[k] @ _middle(int(edge), halves[k]) + places[k] for k, edge in ((i, a), (j, b))]
        assert gap == pytest.approx(n @ (ends[0] - ends[1]), abs=1e-14)
        assert normal == pytest.approx(n, abs=1e-12)


@pytest.mark.drawn
@pytest.mark.parametrize("kinds", [("box", "box"), ("capsule", "box")], ids="-".join)
def test_points_over_a_rim_go_where_the_edge_crosses_it(kinds):
    """What lies on a box almost in line with it, and turns, crosses its rim centimetres from where it did."""
    far = checked = 0
    for seed in range(tried := examples(200, fast=60)):
        rng = np.random.default_rng(seed)
        half = rng.uniform(0.3, 0.5, size=3)
        upper = Box(half=half) if kinds[0] == "box" else Capsule(radius=0.2, half_length=half[2])
        shapes = (upper, Box(half=rng.uniform(0.3, 0.5, size=3)))
        lie = np.eye(3) if kinds[0] == "box" else Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix()
        up = shapes[1].half[2] + (half[2] if kinds[0] == "box" else 0.2)
        across = shapes[1].half[1] - half[1] if kinds[0] == "box" else shapes[1].half[1]
        x, turn = np.array([[*(0.05 * rng.normal(size=2)), up], [0, 0, 0]]), 3e-3 * rng.normal(size=3)
        x[0, 1] = across
        R = np.stack([Rotation.from_rotvec(turn).as_matrix() @ lie, np.eye(3)])
        before = [feature for feature in _find(shapes, x, R, 0.02) if feature.kind == EDGE_RIM]
        x[0] += 1e-4 * rng.normal(size=3)
        R[0] = Rotation.from_rotvec(turn + 2e-4 * rng.normal(size=3)).as_matrix() @ lie
        after = {feature.id: feature for feature in _find(shapes, x, R, 0.02)}
        same = [feature for feature in before if feature.id in after]
        found = [after[feature.id] for feature in same]
        assert all((old.data[:18] == new.data[:18]).all() for old, new in zip(same, found, strict=True)), seed
        far = max(far, *(abs(old.data[18] - new.data[18]) for old, new in zip(same, found, strict=True)), 0.0)
        checked += len(same)
    assert checked > 0.25 * tried
    assert far > 0.01


def _middle(edge, half):
    """The middle of an edge by its number: its direction, and on which sides of the next two it lies."""
    k, bits = divmod(edge, 4)
    middle = np.zeros(3)
    for bit in range(2):
        axis = (k + 1 + bit) % 3
        middle[axis] = half[axis] if bits >> bit & 1 else -half[axis]
    return middle


def test_a_capsule_flat_on_a_box_rests_on_two_points():
    """Both ends over the face: its ends; one end out: one end and the border; both out: two borders."""
    shapes = Shapes.of({"beam": (Capsule(radius=0.1, half_length=1.0),), "block": (Box(half=(1.0, 0.5, 0.5)),)})
    lying = Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix()
    for x, y, ends in ((0.0, 0.2, {"end0"}), (0.5, 0.2, {"end0", "axis"}), (-0.3, 0.0, {"end1", "axis"})):
        R = np.array([lying, np.eye(3)])
        places = np.array([[x, y, 0.6], [0, 0, 0]])
        found = [f for f, gap in zip(shapes.find(places, R, 1e-6), _gaps(
            shapes.find(places, R, 1e-6), places, R, ("beam", "block")), strict=True) if abs(gap) < 1e-12]  # fmt: skip
        assert {f.id.split("/")[0].split(":")[1] for f in found} >= ends
        assert len(found) == 2


@pytest.mark.drawn
def test_a_capsule_across_the_border_of_a_face_touches_where_its_axis_crosses_the_edge():
    for seed in range(examples(40, fast=12)):
        check_a_capsule_across_the_border_of_a_face_touches_where_its_axis_crosses_the_edge(seed)


def check_a_capsule_across_the_border_of_a_face_touches_where_its_axis_crosses_the_edge(seed):
    """Also after it has gone on sliding and turning: the point that touches is no fixed point of the axis."""
    rng = np.random.default_rng(seed)
    r, half, box = rng.uniform(0.02, 0.1), rng.uniform(0.3, 0.8), rng.uniform(0.4, 1.0, size=3)
    k, s, side = int(rng.integers(3)), rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0])
    a, b = (k + 1) % 3, (k + 2) % 3
    n, out, on = s * np.eye(3)[k], side * np.eye(3)[a], np.eye(3)[b]
    turn = rng.uniform(-1.3, 1.3)
    e = np.cos(turn) * out + np.sin(turn) * on + rng.choice([0.0, 1e-9, 1e-4, 0.02 * np.cos(turn)]) * rng.normal() * n
    e /= np.linalg.norm(e)
    R, world = Rotation.align_vectors([e], [[0.0, 0.0, 1.0]])[0].as_matrix(), Rotation.random(random_state=rng)
    over = box[a] * out + rng.uniform(-0.5, 0.5) * box[b] * on + (box[k] + r + rng.uniform(-0.2, 0.2) * r) * n
    x = over - rng.uniform(-0.1, 0.15) * half * e
    shapes = (Capsule(radius=r, half_length=half), Box(half=box))
    places = np.array([world.apply(x), np.zeros(3)])
    turns = np.array([world.as_matrix() @ R, world.as_matrix()])
    key = f"a:axis/b:e{4 * b + (s > 0.0) + 2 * (side > 0.0):02d}"
    (cross,) = [f for f in _find(shapes, places, turns, 0.05) if f.id == key]
    assert cross.kind == LINE_LINE
    moved, way = world.apply(x + rng.normal(size=3) * 0.01), Rotation.from_rotvec(world.apply(0.03 * n)).as_matrix()
    for at, frame in ((places[0], turns[0]), (moved, way @ turns[0])):
        gap, normal, point = cross.geometry(at, frame, places[1], turns[1])
        axis = frame[:, 2:] * half
        rim, edge = world.apply(box[a] * out + box[k] * n), world.apply(box[b] * on)[:, None]
        t, u = lsq_linear(np.hstack([axis, -edge]), rim - at, bounds=(-1, 1), tol=1e-14, method="bvls").x
        d = at + axis[:, 0] * t - rim - edge[:, 0] * u
        inside = 1.0 if d @ world.apply(n) > 0.0 else -1.0
        assert gap == pytest.approx(inside * np.linalg.norm(d) - r, abs=1e-12)
        assert normal == pytest.approx(inside * d / np.linalg.norm(d), abs=1e-9)
        assert point == pytest.approx(rim + edge[:, 0] * u + normal * gap / 2, abs=1e-9)


def _crowd(seed, n=40):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["sphere", "capsule", "box"], size=n)
    bodies = {f"b{k}": (_shape(kind, rng),) for k, kind in enumerate(kinds)}
    x, R = _poses(seed, n, spread=1.2)
    return bodies, x, R


def test_the_sweep_finds_what_pairs_alone_find():
    bodies, x, R = _crowd(3)
    names = list(bodies)
    travel = np.random.default_rng(0).uniform(0, 0.2, size=len(names))
    found = [f.id for f in Shapes.of(bodies, [FLOOR]).find(x, R, 0.05, travel)]
    expected = []
    for i, j in itertools.combinations(range(len(names)), 2):
        pair = {names[k]: bodies[names[k]] for k in (i, j)}
        expected += [f.id for f in Shapes.of(pair).find(x[[i, j]], R[[i, j]], 0.05, travel[[i, j]])]
    for i, name in enumerate(names):
        expected += [f.id for f in Shapes.of({name: bodies[name]}, [FLOOR]).find(x[[i]], R[[i]], 0.05, travel[[i]])]
    assert len(found) > 150
    assert found == sorted(expected)


@given(st.permutations(range(12)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_bodies_changes_nothing(order):
    bodies, x, R = _crowd(5, 12)
    names = list(bodies)
    first = Shapes.of(bodies, [FLOOR]).find(x, R, 0.1)
    shuffled = {names[k]: bodies[names[k]] for k in order}
    second = Shapes.of(shuffled, [FLOOR]).find(x[list(order)], R[list(order)], 0.1)
    assert [(f.id, f.kind, f.bodies, f.shapes) for f in first] == [(f.id, f.kind, f.bodies, f.shapes) for f in second]
    assert all((f.data == g.data).all() for f, g in zip(first, second, strict=True))


NAMES = ["a", "a-b", "a2", "a+", "b", "ab", "a_", "A"]


def test_contacts_come_in_the_order_of_their_ids():
    bodies = {name: (CUBE,) if k % 2 else (Sphere(radius=0.5),) for k, name in enumerate(NAMES)}
    floors = [FLOOR, HalfSpace(name="floor-2"), HalfSpace(name="a!")]
    x, R = _poses(0, len(NAMES), spread=0.4)
    ids = [f.id for f in Shapes.of(bodies, floors).find(x, R, 0.5)]
    assert len(ids) > 60
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_pairs_switched_off_and_shapes_of_one_body_never_touch():
    bodies = {
        "dumbbell": (Sphere(radius=0.5, name="left"), Sphere(radius=0.5, at=(0.6, 0, 0), name="right")),
        "ball": (Sphere(radius=0.5),),
        "cube": (CUBE,),
    }
    x, R = np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1))
    x[1], x[2] = (0.2, 0.7, 0.0), (0.1, -0.6, 0.3)

    def pairs(*off):
        return {f.shapes for f in Shapes.of(bodies, [FLOOR], off).find(x, R, 1.0)}

    everything = pairs()
    assert ("dumbbell.left", "dumbbell.right") not in everything
    assert {frozenset(p) for p in everything} == {
        frozenset(p) for p in itertools.combinations(["dumbbell.left", "dumbbell.right", "ball", "cube", "floor"], 2)
    } - {frozenset(("dumbbell.left", "dumbbell.right"))}
    assert {p for p in everything if "ball" not in p or not any("dumb" in name for name in p)} == pairs(
        ("dumbbell", "ball")
    )
    assert everything - {("dumbbell.left", "floor")} == pairs(("floor", "dumbbell.left"))


def test_obstacles_on_bodies_and_shapes_on_the_ground():
    bodies = {"ramp": (), "ball": (Sphere(radius=0.5),)}
    deck, pillar = (
        HalfSpace(name="deck", body="ramp", point=(0, 0, 1)),
        Box(half=(1, 1, 1), at=(5, 0, 0), name="pillar"),
    )
    x, R = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 1.4]]), np.tile(np.eye(3), (2, 1, 1))
    features = Shapes.of(bodies, [deck, pillar]).find(x, R, 10.0)
    assert len([f for f in features if f.bodies == ("ground", "ramp")]) == 8
    pillar_contact, deck_contact = (f for f in features if f.bodies != ("ground", "ramp"))
    assert (deck_contact.id, deck_contact.bodies) == ("ball/ramp.deck", ("ball", "ramp"))
    assert (pillar_contact.id, pillar_contact.bodies) == ("ball/pillar:f5", ("ball", "ground"))
    assert _gaps([deck_contact, pillar_contact], x, R, ("ramp", "ball")) == pytest.approx([-3.1, -0.1])


def test_room_grows_and_reach_limits():
    shapes, x, R = _stack(5)
    buffers = shapes.buffers(room=3)
    assert len(shapes.find(x, R, 1e-3, buffers=buffers)) == 20
    assert len(shapes.find(x, R, 1e-3, buffers=buffers)) == 20
    x[1:, 2] += 0.01
    assert len(shapes.find(x, R, 0.009)) == 16
    assert len(shapes.find(x, R, 0.011)) == 20
    assert len(shapes.find(x, R, 0.009, travel=[0.002, 0, 0, 0, 0])) == 20


def test_points_touch_planes_and_round_shapes_only():
    point = Sphere(radius=0.0)
    x, R = np.array([[0.7, 0.7, 0.7], [0, 0, 0]]), np.tile(np.eye(3), (2, 1, 1))
    assert not _find([point, CUBE], x, R, 1.0)
    assert not _find([point, point], x, R, 10.0)
    x[0] = (0.2, 0.1, 0.7)
    (contact,) = _find([point, CUBE], x, R, 1.0)
    assert contact.id == "a/b:f5"
    assert len(_find([point, Sphere(radius=1.0)], x, R, 1.0)) == 1


def test_input_is_checked():
    sphere = Sphere(radius=1.0)
    for bodies, obstacles, off, text in (
        ({"a": (sphere, sphere)}, [], [], "Give each shape a name"),
        ({"a": (sphere,)}, [sphere], [], "Give it a name"),
        ({"a": (sphere,)}, [HalfSpace(name="a")], [], "different names"),
        ({"alpha": (sphere,)}, [HalfSpace(name="deck", body="alfa")], [], "Did you mean alpha"),
        ({"alpha": (sphere,)}, [], [("alpha", "flor")], "off"),
    ):
        with pytest.raises(InputError, match=text):
            Shapes.of(bodies, obstacles, off)
    shapes = Shapes.of({"a": (sphere,)}, [FLOOR])
    x, R = np.zeros((1, 3)), np.eye(3)[None]
    for arguments in (
        (x, R, -1.0),
        (x, R, np.nan),
        (np.zeros((2, 3)), R, 1.0),
        (x, np.eye(2), 1.0),
        (x, R, 1.0, [1, 2]),
    ):
        with pytest.raises(InputError):
            shapes.find(*arguments)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Sphere(radius=-1.0), "radius"),
        (lambda: Sphere(radius=1.0, name="a:b"), "name"),
        (lambda: Capsule(radius=0.1, half_length=0.0), "half_length"),
        (lambda: Capsule(radius=0.1, half_length=1.0, turn=(1, 1, 0, 0)), "turn"),
        (lambda: Box(half=(1, 0, 1)), "half"),
        (lambda: Box(half=(1, 1)), "half"),
        (lambda: HalfSpace(name="", normal=(0, 0, 1)), "name"),
        (lambda: HalfSpace(name="floor", normal=(0, 0, 0)), "normal"),
        (lambda: HalfSpace(name="floor", point=(0, 0, np.nan)), "point"),
    ],
)
def test_shapes_are_checked(make, text):
    with pytest.raises(InputError, match=text):
        make()


@pytest.mark.parametrize("seed", range(6))
def test_a_second_look_finds_what_pairs_in_contact_may_come_to(seed):
    """All contacts elsewhere of pairs that have one already, but for those whose contacts are always the same."""
    from gaussdyn.mechanics.collision.bounds.search_records import ContactList
    from gaussdyn.mechanics.collision.broad_phase import find_again

    rng = np.random.default_rng(seed)
    kinds = ["capsule", "box", "sphere", "capsule", "box", "sphere"]
    shapes = Shapes.of({f"b{k}": (_shape(kind, rng),) for k, kind in enumerate(kinds)}, (FLOOR,), [("b0", "b3")])
    x, R = _poses(seed, len(kinds), 0.6)
    still, space = np.zeros(len(kinds)), shapes.buffers()
    known = shapes.look(x, R, 0.05, still)
    turned, moved = Rotation.from_rotvec(0.2 * rng.normal(size=(len(kinds), 3))).as_matrix() @ R, x + 0.1
    wanted = shapes.look(moved, turned, 0.05, still)
    out = ContactList(*space.answer)
    n = find_again(space.shapes, moved, turned, 0.05, still, space.space, known.label, out)
    names = {frozenset(shapes.labels[i] for i in label[::2]) for label in known.label.tolist()}
    steady = {frozenset(("b2", "b5")), *(frozenset((f"b{k}", "floor")) for k in range(6))}
    which = [frozenset(shapes.labels[i] for i in label[::2]) in names - steady for label in wanted.label.tolist()]
    assert any(which)
    for one, other in zip(space.answer, wanted, strict=True):
        np.testing.assert_array_equal(one[:n], other[which])
