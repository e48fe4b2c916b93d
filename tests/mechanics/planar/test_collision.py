"""Contacts of shapes in the plane: gaps against linear programs and dense sampling, ids, laws, and frozen systems."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from evidence import examples, first
from scipy.optimize import brentq, linprog

from gaussdyn.errors import InputError
from gaussdyn.mechanics.check import check_system
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import clipping
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, box, disc, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.disc_contact import PlanarDiscContact
from gaussdyn.mechanics.planar.joints import Hinge
from gaussdyn.mechanics.planar.shapes import Disc, Polygon, Stadium, rectangle
from gaussdyn.mechanics.planar.solids import Core
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State

FLOOR = HalfPlane(name="floor")
TOL = 1e-9


class Posed:
    """A shape in space, as kernels see it."""

    def __init__(self, shape, at, angle):
        self.table, self.skin = np.zeros((len(shape.corners), 6)), shape.skin
        clipping.place_outline(Core.of(shape).table, float(at[0]), float(at[1]), angle, self.table)
        self.corners = self.table[:, :2]

    def heights(self, points):
        edges = self.table if len(self.table) > 1 else self.table[:0]
        return points @ edges[:, 2:4].T - edges[:, 4]


class Touch(NamedTuple):
    gap: float
    side: int
    i: int
    j: int


def closest(a, b, tol):
    return Touch(*clipping.closest(a.table, b.table, a.skin + b.skin, tol))


def touches(a, b, reach, tol):
    """Return the touches with a gap of at most `reach`."""
    found, first = np.zeros((4, 4)), closest(a, b, tol)
    n = clipping.touches(a.table, b.table, a.skin + b.skin, tol, tuple(first), found) if first.gap <= reach else 0
    return [Touch(gap, int(side), int(i), int(j)) for gap, side, i, j in found[:n].tolist() if gap <= reach]


def _polygon(rng, corners):
    """Return a random convex polygon: points on an ellipse."""
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, corners))
    a, b = rng.uniform(0.3, 1.5, 2)
    return Polygon(points=[(a * math.cos(t), b * math.sin(t)) for t in angles])


def _random_shape(rng):
    kind = rng.integers(4)
    if kind == 0:
        return Disc(radius=rng.uniform(0.1, 1.0), at=tuple(rng.normal(size=2)))
    if kind == 1:
        return Stadium(a=tuple(rng.normal(size=2)), b=tuple(rng.normal(size=2)), radius=rng.uniform(0.05, 0.5))
    return _polygon(rng, int(rng.integers(3, 8)))


def _posed(shape, rng, spread):
    return Posed(shape, rng.normal(size=2) * spread, rng.uniform(-7.0, 7.0))


def _disjoint(P, Q):
    """Whether two convex hulls have no point in common, by a linear program over their convex combinations."""
    A = np.block(
        [[P.T, -Q.T], [np.ones((1, len(P))), np.zeros((1, len(Q)))], [np.zeros((1, len(P))), np.ones((1, len(Q)))]]
    )
    return linprog(np.zeros(len(P) + len(Q)), A_eq=A, b_eq=[0.0, 0.0, 1.0, 1.0], method="highs").status == 2


def _distance(P, Q):
    """Return the distance of two disjoint convex hulls: segment against segment, by hand."""

    def to_segment(x, a, b):
        d = b - a
        s = 0.0 if d @ d == 0.0 else min(1.0, max(0.0, (x - a) @ d / (d @ d)))
        return math.dist(x, a + s * d)

    sides = [(S, [(S[k], S[(k + 1) % len(S)]) for k in range(len(S))]) for S in (P, Q)]
    (p, of_p), (q, of_q) = sides
    return min([to_segment(x, *e) for x in p for e in of_q] + [to_segment(x, *e) for x in q for e in of_p])


def _separation(P, Q):
    """Return the largest separation of two polygons over 40000 directions: the depth if they overlap."""
    angles = np.linspace(0.0, 2.0 * np.pi, 40001)
    n = np.stack([np.cos(angles), np.sin(angles)])
    gap = (Q @ n).min(axis=0) - (P @ n).max(axis=0)
    return gap.max()


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_polygons_are_apart_exactly_where_a_separating_line_exists(seed):
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(250):
        a, b = (_posed(_polygon(rng, int(rng.integers(3, 8))), rng, 1.2) for _ in "ab")
        gap = closest(a, b, TOL).gap
        apart = _disjoint(a.corners, b.corners)
        seen.add(apart)
        assert (gap > 0.0) == apart
        if apart:
            assert gap <= _distance(a.corners, b.corners) + 1e-12
    assert seen == {True, False}


@pytest.mark.drawn
def test_depth_of_polygons_is_the_least_over_all_directions():
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(tried := examples(150, fast=75)):
        a, b = (_posed(_polygon(rng, int(rng.integers(3, 8))), rng, 0.5) for _ in "ab")
        gap = closest(a, b, TOL).gap
        if gap < 0.0:
            found += 1
            sampled = _separation(a.corners, b.corners)
            assert sampled - 1e-12 <= gap <= sampled + 5e-4  # 1.6e-4 rad between directions, arms below 3 m
    assert found > tried / 6


@pytest.mark.drawn
def test_round_shapes_are_as_far_apart_as_their_closest_points():
    rng, kinds = np.random.default_rng(3), set()
    for _ in range(examples(700, fast=250)):
        shapes = _random_shape(rng), _random_shape(rng)
        a, b = (_posed(shape, rng, 2.0) for shape in shapes)
        if a.skin + b.skin == 0.0 or not _disjoint_or_single(a, b):
            continue
        touch = closest(a, b, TOL)
        kinds.add((type(shapes[0]).__name__, type(shapes[1]).__name__, touch.side))
        assert touch.gap == pytest.approx(_distance(a.corners, b.corners) - a.skin - b.skin, abs=1e-12)
    assert len(kinds) > examples(15, fast=12)


def _disjoint_or_single(a, b):
    if min(len(a.corners), len(b.corners)) == 1 and max(len(a.corners), len(b.corners)) <= 2:
        return True
    return _disjoint(a.corners, b.corners)


def _scene(shapes, poses, **options):
    bodies = [
        PlanarBody(name=name, mass=1.0, inertia=1.0, shapes=(shape,)) for name, shape in zip("ab", shapes, strict=True)
    ]
    system = PlanarSystem(bodies=bodies, **options)
    return system, system.state(dict(zip("ab", poses, strict=True)))


def _holds(shape, point):
    """Whether a posed shape has the point inside, to within a micrometre."""
    heights = shape.heights(point[None])
    return (heights.size > 0 and len(shape.corners) > 2 and heights.max() <= shape.skin + 1e-6) or (
        _distance(point[None], shape.corners) <= shape.skin + 1e-6
    )


@pytest.mark.drawn
def test_rows_of_shapes_that_just_touch():
    """Shapes pushed together until they overlap by 1e-10 m: the rows say so, at a point that both have."""
    rng, found = np.random.default_rng(5), set()
    for _ in range(tried := examples(90, fast=30)):
        shapes, (first, second) = (_random_shape(rng), _random_shape(rng)), rng.normal(size=(2, 3)) * [1.0, 1.0, 3.0]
        way = rng.normal(size=2)
        way /= np.linalg.norm(way)

        def posed(s, shapes=shapes, poses=(first, second), way=way):
            places = (poses[0], poses[1] + [*(s * way), 0.0])
            return places, [Posed(x, p[:2], p[2]) for x, p in zip(shapes, places, strict=True)]

        # From 20 m off towards overlap, where there is one on this way.
        if min(closest(*posed(s)[1], TOL).gap for s in np.linspace(-5.0, 5.0, 21)) > -1e-3:
            continue
        near = next(s for s in np.linspace(20.0, -5.0, 501) if closest(*posed(s)[1], TOL).gap < 0.0)
        touch = brentq(lambda s: closest(*posed(s)[1], TOL).gap + 1e-10, near, 20.0, xtol=1e-15)
        places, (P, Q) = posed(touch)
        system, state = _scene(shapes, places, contact=ContactLaw(mu=0.1))
        rows = system.rows(0.0, state.q, state.v)
        assert 1 <= len(rows) <= 2
        assert min(row.gap for row in rows) == pytest.approx(-1e-10, abs=1e-12)
        row = min(rows, key=lambda row: row.gap)
        assert _holds(P, row.point)
        assert _holds(Q, row.point)
        found.add((type(shapes[0]).__name__, type(shapes[1]).__name__))
    assert len(found) == 9 if tried == 90 else len(found) >= 5


PAIRS = {
    "disc disc": ((Disc(radius=0.5), Disc(radius=0.3, at=(0.1, 0.2))), ((0, 0, 0.3), (0.5, 0.4, 1.0))),
    "disc edge": ((Disc(radius=0.5), rectangle(2.0, 1.0)), ((0.2, 1.0, 0.3), (0.0, 0.0, 0.02))),
    "disc corner": ((Disc(radius=0.5), rectangle(2.0, 1.0)), ((1.3, 0.8, 0.3), (0.0, 0.0, 0.02))),
    "polygons": ((rectangle(1.0, 1.0), rectangle(2.0, 1.0)), ((0.7, 1.0, 0.01), (0.0, 0.0, 0.02))),
    "stadium edge": ((Stadium(a=(-1, 0), b=(1, 0), radius=0.2), rectangle(1.5, 1)), ((0.3, 0.7, 0.01), (0, 0, 0.0))),
    "stadium stadium": (
        (Stadium(a=(-1, 0), b=(1, 0), radius=0.2), Stadium(a=(0, -1), b=(0, 1), radius=0.1)),
        ((0.0, 1.29, 0.1), (0.0, 0.0, 0.2)),
    ),
    "stadium disc": ((Stadium(a=(-1, 0), b=(1, 0), radius=0.2), Disc(radius=0.4)), ((0, 0.6, 0.1), (0.2, 0, 0))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_frozen_contacts_have_exact_jacobians_and_drifts(name):
    shapes, poses = PAIRS[name]
    system, state = _scene(shapes, poses, contact=ContactLaw(mu=0.4))
    rng = np.random.default_rng(2)
    frozen = system.near(0.0, state.q, np.ones(6), 0.2)
    assert frozen.near(0.0, state.q, state.v, 0.0) is frozen
    ids = [row.id for row in frozen.rows(0.0, state.q, state.v)]
    assert ids
    places = [State(q=state.q + 0.2 * rng.normal(size=6), v=rng.normal(size=6)) for _ in range(4)]
    report = check_system(frozen, states=places)
    assert report.ok, str(report)
    assert all([row.id for row in frozen.rows(0.0, s.q, s.v)] == ids for s in places)


@pytest.mark.parametrize("name", PAIRS)
def test_reactions_at_a_contact_exert_no_force_or_moment_together(name):
    """J^T r keeps linear and angular momentum, even where the gap is not closed."""
    shapes, poses = PAIRS[name]
    system, state = _scene(shapes, poses, contact=ContactLaw(mu=0.4))
    for row in system.near(0.0, state.q, np.ones(6), 0.2).rows(0.0, state.q, state.v):
        for force, r in zip(row.frame, np.eye(2), strict=True):
            wrench = row.J.T @ r
            a = 0 if row.between[0] == "a" else 3
            arm = row.point - state.q[a : a + 2]
            expected = [*force, arm[0] * force[1] - arm[1] * force[0]]
            np.testing.assert_allclose(wrench[a : a + 3], expected, atol=1e-12)
            np.testing.assert_allclose(wrench[:2] + wrench[3:5], 0.0, atol=1e-12)
            moments = [state.q[k] * wrench[k + 1] - state.q[k + 1] * wrench[k] + wrench[k + 2] for k in (0, 3)]
            assert sum(moments) == pytest.approx(0.0, abs=1e-12)


def test_rolling_without_slip_of_a_disc_on_a_disc_has_no_tangential_rate():
    """Fixed disc R, rolling disc r, line of centres turning at w: the upper one turns at w (R + r) / r."""
    R, r, w = 2.0, 0.5, 0.7
    system = PlanarSystem(
        bodies=[disc("ball", mass=1.0, radius=r)], obstacles=[Disc(radius=R, name="peg")], contact=ContactLaw(mu=0.5)
    )
    q = np.array([0.0, R + r, 0.4])
    (row,) = system.rows(0.0, q, np.array([-(R + r) * w, 0.0, w * (R + r) / r]))
    assert row.id == "ball/peg"
    np.testing.assert_allclose(row.rate, 0.0, atol=1e-15)
    np.testing.assert_allclose(row.point, [0.0, R], atol=1e-15)


def _ids(system, state, dt=0.0):
    return [row.id for row in system.near(0.0, state.q, state.v, dt).rows(0.0, state.q, state.v)]


def _stack(offset=0.0, names=("lower", "upper")):
    bodies = [box("lower", mass=1.0, width=1.0, height=0.5), box("upper", mass=1.0, width=1.0, height=0.5)]
    bodies.sort(key=lambda body: names.index(body.name))
    system = PlanarSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=0.5))
    return system, system.state({"lower": (0.0, 0.25, 0.0), "upper": (offset, 0.75, 0.0)})


@pytest.mark.parametrize(
    ("offset", "between"),
    [
        (0.0, ["lower:c2/upper:e0", "lower:c3/upper:e0"]),
        (0.3, ["lower:c2/upper:e0", "upper:c0/lower:e2"]),
        (-0.3, ["lower:c3/upper:e0", "upper:c1/lower:e2"]),
    ],
)
def test_faces_touch_with_the_ends_of_what_they_share(offset, between):
    system, state = _stack(offset)
    assert _ids(system, state) == ["lower:c0/floor", "lower:c1/floor", *between]


@pytest.mark.parametrize("offset", [0.0, 0.3, 1.0])
def test_order_of_bodies_changes_no_id(offset):
    one, two = (_stack(offset, names) for names in (("lower", "upper"), ("upper", "lower")))
    assert _ids(*one) == _ids(*two)


def test_shapes_that_share_less_than_a_corner_do_not_touch():
    """Corner on corner: each may pass the other on either side."""
    for shift in (1.0, 1.0 + 1e-12, 1.0 - 1e-12):
        system, state = _stack(shift)
        assert _ids(system, state) == ["lower:c0/floor", "lower:c1/floor"]


def _wall(rows=4, columns=4, order=1):
    bodies, place = [], {}
    for i in range(rows):
        for k in range(columns):
            name = f"b{i}{k}"
            bodies.append(box(name, mass=1.0, width=1.0, height=0.5))
            place[name] = (k + 0.5 * (i % 2), 0.25 + 0.5 * i, 0.0)
    system = PlanarSystem(bodies=bodies[::order], obstacles=[FLOOR], contact=ContactLaw(mu=0.5))
    return system, system.state(place)


def test_tiny_motions_of_a_wall_change_no_id():
    system, state = _wall()
    ids, rng = _ids(system, state), np.random.default_rng(0)
    # 4 on the floor with two corners; between layers 7 faces with two; side by side 12 faces with two.
    assert len(ids) == 2 * (4 + 3 * 7 + 12)
    for _ in range(20):
        q = state.q + 1e-9 * rng.uniform(-1.0, 1.0, system.nq)
        assert _ids(system, State(q=q, v=state.v)) == ids
    turned, other = _wall(order=-1)
    assert _ids(turned, other) == ids


def test_frictionless_rows_of_a_system_are_those_of_near_without_time():
    system, state = _wall(2, 2)
    rows, frozen = system.rows(0.0, state.q, state.v), system.near(0.0, state.q, state.v, 0.0)
    for row, other in zip(rows, frozen.rows(0.0, state.q, state.v), strict=True):
        assert row.id == other.id
        np.testing.assert_array_equal(row.J, other.J)


def test_reach_grows_with_speed_and_time():
    system = PlanarSystem(bodies=[disc("ball", mass=1.0, radius=0.5)], obstacles=[FLOOR])
    q, down = np.array([0.0, 1.0, 0.0]), np.array([0.0, -10.0, 0.0])
    assert system.near(0.0, q, down, 0.01).rows(0.0, q, down) == ()
    (row,) = system.near(0.0, q, down, 0.06).rows(0.0, q, down)
    assert (row.id, row.gap) == ("ball/floor", 0.5)
    assert system.rows(0.0, q, down) == ()


def test_a_fast_body_that_passes_a_ledge_does_not_hit_its_top():
    """1 mm beside the ledge and falling past its edge within the step: the side is what it may touch."""
    system = PlanarSystem(
        bodies=[box("crate", mass=1.0, width=1.0, height=1.0)], obstacles=[rectangle(2.0, 2.0, "ledge")]
    )
    q, v = np.array([1.501, 1.5 + 1e-3, 0.0]), np.array([0.0, -2.0, 0.0])
    rows = system.near(0.0, q, v, 1e-3).rows(0.0, q, v)
    assert all(abs(row.frame[0, 1]) < 1e-12 for row in rows)
    # The same fall, 1 mm inside: the top it is.
    q[0] = 1.499
    rows = system.near(0.0, q, v, 1e-3).rows(0.0, q, v)
    assert [row.id for row in rows] == ["crate:c0/ledge:e2", "ledge:c2/crate:e0"]


def test_laws_of_pairs_and_pairs_switched_off():
    bodies = [disc(name, mass=1.0, radius=0.5) for name in "abc"]
    obstacles = [FLOOR, HalfPlane(name="wall", point=(-0.5, 0.0), normal=(1.0, 0.0))]
    pairs = {("b", "a"): ContactLaw(mu=0.1, mu_s=0.2, eps_n=0.3, eps_t=-0.4), ("c", "floor"): None}
    system = PlanarSystem(bodies=bodies, obstacles=obstacles, contact=ContactLaw(mu=0.7), pairs=pairs)
    state = system.state({"a": (0.0, 0.5, 0.0), "b": (1.0, 0.5, 0.0), "c": (2.0, 0.5, 0.0)})
    rows = {row.id: row for row in system.rows(0.0, state.q, state.v)}
    assert list(rows) == ["a/b", "a/floor", "a/wall", "b/c", "b/floor"]
    row = rows["a/b"]
    assert (row.mu, row.mu_s, row.eps_n, row.eps_t, row.between) == (0.1, 0.2, 0.3, -0.4, ("a", "b"))
    assert (rows["b/c"].mu, rows["a/floor"].between) == (0.7, ("a", "floor"))
    np.testing.assert_allclose(row.frame[0], [-1.0, 0.0])


def test_bodies_on_a_joint_touch_only_if_asked_to():
    bodies = [box("a", mass=1.0, width=1.0, height=1.0), box("b", mass=1.0, width=1.0, height=1.0)]
    hinge = Hinge(name="pin", a=Marker("a", (0.5, 0.5)), b=Marker("b", (-0.5, 0.5)))
    free, asked = (
        PlanarSystem(bodies=bodies, joints=[hinge], pairs=pairs) for pairs in ({}, {("a", "b"): ContactLaw()})
    )
    state = free.state({"b": (1.0, 0.0, 0.0)})
    assert _ids(free, state) == ["pin:x", "pin:y"]
    assert _ids(asked, state) == ["a:c1/b:e3", "a:c2/b:e3", "pin:x", "pin:y"]


def test_a_body_on_a_hinge_of_the_ground_touches_obstacles_only_if_asked_to():
    arm, pin = disc("arm", mass=1.0, radius=0.5), Hinge(name="pin", a=Marker("arm"), b=fixed(0.0, 0.5))
    for pairs, count in (({}, 0), ({("arm", "floor"): ContactLaw()}, 1), ({("ground", "arm"): ContactLaw()}, 1)):
        system = PlanarSystem(bodies=[arm], joints=[pin], obstacles=[FLOOR], pairs=pairs)
        rows = system.rows(0.0, np.array([0.0, 0.5, 0.0]), np.zeros(3))
        assert [row.id for row in rows] == ["arm/floor"] * count + ["pin:x", "pin:y"]


def test_explicit_contacts_stay_and_are_not_found_again():
    ball = disc("ball", mass=1.0, radius=0.5)
    given = PlanarContact(point=Marker("ball"), plane=FLOOR, mu=0.9, radius=0.5)
    system = PlanarSystem(bodies=[ball, disc("other", mass=1.0, radius=0.5)], contacts=[given], obstacles=[FLOOR])
    state = system.state({"ball": (0.0, 0.5, 0.0), "other": (0.0, 5.0, 0.0)})
    for height in (0.5, 3.0):
        state.q[1] = height
        (row,) = system.rows(0.0, state.q, state.v)
        assert (row.id, row.mu) == ("ball/floor", 0.9)


def test_several_shapes_on_a_body_go_by_their_names():
    ends = tuple(Disc(radius=0.2, at=(x, 0.0), name=name) for x, name in ((-1.0, "left"), (1.0, "right")))
    bell = PlanarBody(name="bell", mass=1.0, inertia=0.5, shapes=(*ends, Stadium(a=(-1, 0), b=(1, 0), name="bar")))
    system = PlanarSystem(bodies=[bell], obstacles=[FLOOR], pairs={("bell.right", "floor"): None})
    state = system.state({"bell": (0.0, 0.2, 0.0)})
    assert _ids(system, state) == ["bell.left/floor"]


def test_a_half_plane_may_be_carried():
    deck = HalfPlane(name="deck", point=(0.0, 0.1), body="cart", belt=0.5)
    cart = PlanarBody(name="cart", mass=1.0, inertia=1.0)
    system = PlanarSystem(
        bodies=[disc("ball", mass=1.0, radius=0.5), cart], obstacles=[deck], contact=ContactLaw(mu=0.3)
    )
    state = system.state({"ball": (0.0, 0.6, 0.0)})
    (row,) = system.rows(0.0, state.q, state.v)
    assert (row.id, row.between) == ("ball/deck", ("ball", "cart"))
    np.testing.assert_allclose(row.rate, [0.0, -0.5])
    # The deck turns so fast that it hits the ball, far from its middle, within the step.
    state = system.state({"ball": (10.0, 1.6, 0.0)}, {"cart": (0.0, 0.0, 1.0)})
    assert _ids(system, state, dt=0.2) == ["ball/deck"]


def test_spec_builds_the_same_system_and_pickles():
    shapes = (Stadium(a=(-1.0, 0.0), b=(1.0, 0.0), radius=0.2, name="bar"), Disc(radius=0.4, name="head"))
    bodies = [
        PlanarBody(name="bat", mass=1.0, inertia=1.0, shapes=shapes),
        box("crate", mass=1.0, width=1.0, height=1.0),
    ]
    system = PlanarSystem(
        bodies=bodies,
        obstacles=[FLOOR, Polygon(points=[(0, 0), (1, 0), (0, 1)], name="ramp")],
        contact=ContactLaw(mu=0.3, eps_n=0.1),
        pairs={("bat", "crate"): None, ("crate", "ramp"): ContactLaw(mu=0.9)},
        contacts=[PlanarDiscContact(a=Marker("bat"), b=fixed(0.0, 5.0), radius_a=0.1, radius_b=0.2, mu=0.4)],
    )
    q = np.array([0.0, 0.2, 0.0, 0.5, 1.0, 0.1])
    again = PlanarSystem.from_spec(json.loads(json.dumps(system.spec(), allow_nan=False)))
    for other in (again, pickle.loads(pickle.dumps(system)), pickle.loads(pickle.dumps(system.near(0.0, q, q, 0.1)))):
        assert other.spec() == system.spec()
    for row, same in zip(system.rows(0.0, q, q), again.rows(0.0, q, q), strict=True):
        assert row.id == same.id
        np.testing.assert_array_equal(row.J, same.J)


def test_drawables_show_every_shape():
    shapes = (
        Stadium(a=(-1.0, 0.0), b=(1.0, 0.0), radius=0.2, name="bar"),
        Disc(radius=0.4, at=(1.0, 0.0), name="head"),
    )
    bat = PlanarBody(name="bat", mass=1.0, inertia=1.0, shapes=shapes)
    system = PlanarSystem(bodies=[bat], obstacles=[FLOOR, rectangle(1.0, 1.0, "step")])
    drawn = {shape["name"]: shape for shape in system.drawables(np.array([2.0, 1.0, math.pi / 2]))}
    kinds = {name: shape["shape"] for name, shape in drawn.items()}
    assert kinds == {"bat.bar": "polygon", "bat.head": "disc", "floor": "halfplane", "step": "polygon"}
    assert [name for name, shape in drawn.items() if shape.get("still")] == ["step"]
    np.testing.assert_allclose(drawn["bat.head"]["at"], [2.0, 2.0])
    rim = np.array(drawn["bat.bar"]["points"])
    np.testing.assert_allclose(rim.max(axis=0), [2.2, 2.2])
    np.testing.assert_allclose(rim.min(axis=0), [1.8, -0.2])
    json.dumps(list(drawn.values()), allow_nan=False)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Disc(radius=0.0), "radius of a disc"),
        (lambda: Disc(radius=1.0, at=(math.nan, 0.0)), "at of a shape"),
        (lambda: Disc(radius=1.0, name="a/b"), "name of a shape"),
        (lambda: Stadium(a=(0, 0), b=(0, 0), radius=1.0), "differs from a"),
        (lambda: Stadium(a=(0, 0), b=(1, 0), radius=-1.0), "radius of a stadium"),
        (lambda: Polygon(points=[(0, 0), (1, 0)]), "three corners"),
        (lambda: Polygon(points=[(0, 0), (1, 0), (2, 0)]), "turn one way"),
        (lambda: Polygon(points=[(0, 0), (2, 0), (1, 0.5), (2, 2), (0, 2)]), "convex"),
        (lambda: Polygon(points=[(math.cos(t), math.sin(t)) for t in (0, 2.513, 5.027, 7.54, 10.05)]), "turn one way"),
        (lambda: PlanarBody(name="b", mass=1.0, inertia=1.0, shapes=(Disc(radius=1.0),) * 2), "different names"),
        (lambda: PlanarBody(name="b", mass=1.0, inertia=1.0, shapes=("disc",)), "Disc, Stadium or Polygon"),
        (lambda: _two(obstacles=[Disc(radius=1.0)]), "name of an obstacle"),
        (lambda: _two(obstacles=[FLOOR, FLOOR]), "two things called 'floor'"),
        (lambda: _two(obstacles=[HalfPlane(name="a")]), "two things called 'a'"),
        (lambda: _two(obstacles=["floor"]), "obstacles"),
        (lambda: _two(pairs={("a", "bb"): None}), "Did you mean b"),
        (lambda: _two(pairs={"ab": None}), "pairs"),
        (lambda: _two(pairs={("a", "b"): 0.5}), "contact law"),
        (lambda: _two(contact=ContactLaw(mu=0.5, mu_r=0.1)), "mu_r"),
        (lambda: PlanarDiscContact(a=Marker("a"), b=Marker("a"), radius_a=1, radius_b=1), "two different bodies"),
        (lambda: PlanarDiscContact(a=Marker("a"), b=Marker("b"), radius_a=-1.0, radius_b=1), "radius_a of a/b"),
    ],
)
def test_bad_input_is_refused_in_words(build, message):
    with pytest.raises(InputError, match=message):
        build()


def _two(**options):
    return PlanarSystem(bodies=[disc("a", mass=1.0, radius=1.0), disc("b", mass=1.0, radius=1.0)], **options)


def test_corners_given_clockwise_are_turned_around():
    given = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    assert Polygon(points=given).corners == tuple(given[::-1])


def test_a_point_mass_has_no_shape():
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], obstacles=[FLOOR])
    assert system.rows(0.0, np.zeros(2), np.zeros(2)) == ()


@pytest.mark.drawn
def test_touches_of_random_pairs_are_the_same_in_either_order():
    rng = np.random.default_rng(9)
    for _ in range(examples(500, fast=150)):
        a, b = (_posed(_random_shape(rng), rng, 0.8) for _ in "ab")
        one, two = touches(a, b, 0.3, TOL), touches(b, a, 0.3, TOL)
        turned = sorted(
            t._replace(side=1 - t.side) if t.side >= 0 else t._replace(i=t.j, j=t.i) for t in two
        )  # fmt: skip
        for left, right in itertools.zip_longest(sorted(one), turned):
            assert left[1:] == right[1:]
            assert left.gap == pytest.approx(right.gap, abs=1e-12)


@pytest.mark.drawn
def test_moving_both_shapes_together_changes_nothing():
    rng = np.random.default_rng(13)
    for _ in range(examples(300, fast=100)):
        shapes = _random_shape(rng), _random_shape(rng)
        poses = rng.normal(size=(2, 3)) * [0.8, 0.8, 3.0]
        turn, shift = rng.uniform(-3.0, 3.0), rng.normal(size=2)
        c, s = math.cos(turn), math.sin(turn)
        found = []
        for R, d, angle in ((np.eye(2), np.zeros(2), 0.0), (np.array([[c, -s], [s, c]]), shift, turn)):
            a, b = (Posed(x, R @ p[:2] + d, p[2] + angle) for x, p in zip(shapes, poses, strict=True))
            found.append(touches(a, b, 0.2, TOL))
        for one, two in itertools.zip_longest(*found):
            assert one[1:] == two[1:]
            assert one.gap == pytest.approx(two.gap, abs=1e-12)
