"""Gap, Jacobian, rate and drift of the pairs of primitives against finite differences along motions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.features import (
    BALL_BALL,
    BALL_LINE,
    BALL_PLANE,
    EDGE_RIM,
    ELLIPSOID_ELLIPSOID,
    ELLIPSOID_PLANE,
    ELLIPSOIDS,
    KINDS,
    LINE_LINE,
    Feature,
)
from gaussdyn.mechanics.contact_law import ContactLaw

FIVE = ContactLaw(mu=0.4, mu_s=0.5, mu_r=0.01, eps_n=0.2, eps_t=-0.1)


def _unit(x):
    return x / np.linalg.norm(x)


def _feature(kind, seed):
    rng = np.random.default_rng(seed)
    a, b, da, db = rng.normal(size=(4, 3))
    if kind in ELLIPSOIDS:
        return _ellipsoid(kind, seed, 0.3 * a, 0.3 * b)
    data = np.concatenate([0.3 * a, _unit(da), [0.2], 0.3 * b, _unit(db), [0.1 if kind != BALL_PLANE else 0.0]])
    return Feature(id="a/b", kind=kind, bodies=("a", "b"), data=data)


def _matrix(rng):
    """Return the two halves of the matrix of a turned ellipsoid."""
    Q = Rotation.random(random_state=rng).as_matrix()
    M = Q @ np.diag(rng.uniform(0.1, 0.4, 3) ** 2) @ Q.T
    return np.diag(M), np.array([M[1, 2], M[2, 0], M[0, 1]])


def _ellipsoid(kind, seed, a, b):
    rng, (first, second) = np.random.default_rng(seed), Pair(seed).motions(0.0)
    (da, off_a), (db, off_b) = _matrix(rng), _matrix(rng)
    if kind != ELLIPSOID_ELLIPSOID:
        db, off_b = _unit(rng.normal(size=3)), np.zeros(3)
    guess = _unit(second.R.T @ (first.x + first.R @ a - second.x - second.R @ b))
    data = [*a, *da, 0.0, *b, *db, 0.0 if kind in (ELLIPSOID_PLANE, ELLIPSOID_ELLIPSOID) else 0.2, *guess, 0, 0]
    return Feature(id="a/b", kind=kind, bodies=("a", "b"), data=np.array([*data, *off_a, *off_b]))


class Pair:
    """Two bodies with v = (v, omega in space) of each as velocities: smooth motions with constant accelerations."""

    def __init__(self, seed):
        rng = np.random.default_rng(100 + seed)
        self.x0, self.v0, self.acc = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
        self.x0[0] += 2.0
        self.R0 = Rotation.random(2, random_state=seed).as_matrix()
        self.w0, self.alpha = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))

    def _turn(self, k, t):
        """Solve dR/dt = omega(t)^ R for omega = w0 + alpha t by a Magnus step of fourth order."""
        w, a = self.w0[k], self.alpha[k]
        return Rotation.from_rotvec(w * t + a * t**2 / 2 - np.cross(w, a) * t**3 / 12).as_matrix() @ self.R0[k]

    def motions(self, t):
        J, turn = np.zeros((2, 2, 3, 12))[0], np.zeros((2, 3, 12))
        bodies = []
        for k in range(2):
            J[k][:, 6 * k : 6 * k + 3] = turn[k][:, 6 * k + 3 : 6 * k + 6] = np.eye(3)
            x, v = self.x0[k] + self.v0[k] * t + self.acc[k] * t * t / 2, self.v0[k] + self.acc[k] * t
            omega = self.w0[k] + self.alpha[k] * t
            motion = SimpleNamespace(x=x, R=self._turn(k, t), v=v, omega=omega, J=J[k], turn=turn[k], drift=np.zeros(3))
            bodies.append(motion)
        return bodies

    @property
    def v(self):
        return np.concatenate([self.v0[0], self.w0[0], self.v0[1], self.w0[1]])

    @property
    def a(self):
        return np.concatenate([self.acc[0], self.alpha[0], self.acc[1], self.alpha[1]])


def _slope(f, h=1e-3):
    """Return df/dt at 0 by a central difference of sixth order."""
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)


def _cases(kind):
    """Features of a kind and pairs of bodies, with their seeds; fewer in the fast tests."""
    return [(seed, _feature(kind, seed), Pair(seed)) for seed in range(examples(25, fast=8))]


ROUND = [*range(5), *ELLIPSOIDS[1:]]
EVERY_KIND = pytest.mark.parametrize("kind", ROUND, ids=[KINDS[k] for k in ROUND])


@pytest.mark.drawn
@EVERY_KIND
def test_rate_is_the_derivative_of_the_gap_and_the_jacobian_times_v(kind):
    for seed, feature, pair in _cases(kind):
        row = feature.row(*pair.motions(0.0), FIVE)
        slope = _slope(lambda t, feature=feature, pair=pair: feature.row(*pair.motions(t)).gap)
        assert row.rate[0] == pytest.approx(slope, abs=2e-8 * (1 + abs(slope))), seed
        assert row.rate == pytest.approx(row.J @ pair.v, abs=1e-12 * (1 + np.abs(row.rate).max())), seed


@pytest.mark.drawn
@EVERY_KIND
def test_second_rate_is_jacobian_times_acceleration_plus_drift(kind):
    checked = 0
    for seed, feature, pair in _cases(kind):
        row = feature.row(*pair.motions(0.0), FIVE)
        near = [feature.row(*pair.motions(t), FIVE).frame[0, 2] for t in (-0.004, 0.004)]
        if (near[0] + 0.43) * (near[1] + 0.43) < 0:
            continue  # the frame changes its chart within the difference
        slope = _slope(lambda t, feature=feature, pair=pair: feature.row(*pair.motions(t), FIVE).rate)
        expected = row.J @ pair.a + row.drift
        assert expected == pytest.approx(slope, abs=3e-7 * (1 + np.abs(slope).max())), seed
        checked += 1
    assert checked >= 6


@pytest.mark.drawn
@EVERY_KIND
def test_rates_are_those_of_the_material_at_one_point(kind):
    for _, feature, pair in _cases(kind):
        check_material(feature, *pair.motions(0.0))


def check_material(feature, a, b):
    row = feature.row(a, b, FIVE)
    u = a.v + np.cross(a.omega, row.point - a.x) - b.v - np.cross(b.omega, row.point - b.x)
    assert row.rate[:3] == pytest.approx(row.frame @ u, abs=1e-12)
    assert row.rate[3:] == pytest.approx(row.frame[1:] @ (a.omega - b.omega), abs=1e-12)
    # Reactions along the rows have no moment in sum about any point: internal forces keep the angular momentum.
    force = row.J[:3].reshape(3, 2, 2, 3)
    assert force.sum(axis=1)[:, 0] == pytest.approx(0.0 * row.frame, abs=1e-13)
    moment = sum(force[:, k, 1] + np.cross(m.x, force[:, k, 0]) for k, m in enumerate((a, b)))
    assert moment == pytest.approx(np.zeros((3, 3)), abs=1e-12)


@pytest.mark.drawn
@EVERY_KIND
def test_geometry_agrees_with_the_row_and_rigid_motions_change_no_gap(kind):
    for seed, feature, pair in _cases(kind):
        check_geometry(seed, feature, *pair.motions(0.0))


def check_geometry(seed, feature, a, b):
    gap, n, c = feature.geometry(a.x, a.R, b.x, b.R)
    row = feature.row(a, b)
    assert (gap, *n, *c) == pytest.approx((row.gap, *row.frame[0], *row.point), abs=1e-13)
    Q, s = Rotation.random(random_state=seed).as_matrix(), np.array([3.0, -1.0, 2.0])
    moved, m, d = feature.geometry(Q @ a.x + s, Q @ a.R, Q @ b.x + s, Q @ b.R)
    assert moved == pytest.approx(gap, abs=1e-12)
    assert m == pytest.approx(Q @ n, abs=1e-12)
    assert d == pytest.approx(Q @ c + s, abs=1e-12)


def test_gaps_are_distances_by_brute_force():
    s = np.linspace(-8, 8, 3201)
    for seed in range(20):
        (a, b) = Pair(seed).motions(0.0)
        for kind in (BALL_BALL, BALL_LINE, LINE_LINE):
            feature = _feature(kind, seed)
            pa, pb = a.x + a.R @ feature.data[:3], b.x + b.R @ feature.data[7:10]
            ea, eb = a.R @ feature.data[3:6], b.R @ feature.data[10:13]
            points = pb + np.outer(s, eb) if kind != BALL_BALL else pb[None]
            d = points - pa
            if kind == LINE_LINE:
                d = d - np.outer(d @ ea, ea)
            gap = feature.geometry(a.x, a.R, b.x, b.R)[0]
            if kind == LINE_LINE and gap + 0.3 < 0:
                gap = -(gap + 0.3) - 0.3  # da x db points into A only if A is on that side
            assert gap + 0.3 == pytest.approx(np.linalg.norm(d, axis=1).min(), abs=2e-4)


@pytest.mark.drawn
def test_an_edge_over_a_rim_is_a_ball_where_they_cross():
    along_rims = sum(check_edge_over_rim(seed) for seed in range(examples(25, fast=8)))
    assert along_rims > 3


def check_edge_over_rim(seed):
    """Check gap, rows and drift where edge and rim cross, and at an end of either; return whether the rim ended."""
    rng, pair = np.random.default_rng(seed), Pair(seed)
    a, b = pair.motions(0.0)
    n, e = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    middle, da, rim = 0.3 * rng.normal(size=3), _unit(rng.normal(size=3)), 0.3 * rng.normal(size=3)
    d, edge = a.x + a.R @ middle - b.x - b.R @ rim, a.R @ da
    s = -(b.R @ e @ d) / (b.R @ e @ edge)
    slope, y = b.R @ np.cross(n, e) @ edge, b.R @ np.cross(n, e) @ d
    off = y + s * slope
    cases = [(2.0 * abs(s), 2.0 * abs(off), s), (0.5 * abs(s), 2.0 * abs(off), 0.5 * s)]
    if runs := abs(slope) > 0.6:
        at = (0.7 * off - y) / slope
        cases.append((2.0 * abs(at), 0.7 * abs(off), at))
    for reach, half, at in cases:
        ball = np.array([*(middle + at * da), *da, 0.2, *rim, *n, 0.0])
        plain = Feature(id="a/b", kind=BALL_PLANE, bodies=("a", "b"), data=ball)
        data = np.array([*middle, *da, 0.2, *rim, *n, half, *e, reach, 0.0])
        feature = Feature(id="a/b", kind=EDGE_RIM, bodies=("a", "b"), data=data)
        row, other, size = feature.row(a, b, FIVE), plain.row(a, b, FIVE), 1.0 + abs(s) + abs(at)
        for part in ("gap", "J", "rate", "frame", "point"):
            assert getattr(row, part) == pytest.approx(getattr(other, part), abs=1e-12 * size**2), (seed, part)
        assert row.gap == pytest.approx(feature.geometry(a.x, a.R, b.x, b.R)[0], abs=1e-13 * size)
        moved = _slope(lambda t, f=feature: f.row(*pair.motions(t), FIVE).rate, 2e-5)
        assert row.J @ pair.a + row.drift == pytest.approx(moved, rel=1e-4, abs=1e-4 * size**2), seed
    return runs


@pytest.mark.drawn
def test_the_gap_over_a_rim_changes_at_its_rate_where_the_edge_is_level_or_ends():
    for seed in range(examples(25, fast=8)):
        rng = np.random.default_rng(seed)
        x, Q = rng.normal(size=(2, 3)), Rotation.random(2, random_state=seed).as_matrix()
        n, level = Q[1] @ [0.0, 0.0, 1.0], Q[1] @ [np.cos(seed), np.sin(seed), 0.0]
        for tilt, reach in ((0.0, 30.0), (0.3, 1e-3)):  # level; tilted, and off the rim
            da = Q[0].T @ _unit(level + tilt * n)
            a, b = rng.normal(size=(2, 3))
            data = np.array([*a, *da, 0.0, *b, 0, 0, 1.0, 30.0, 1.0, 0, 0, reach, 0.0])
            feature = Feature(id="a/b", kind=EDGE_RIM, bodies=("a", "b"), data=data)
            v, w = rng.normal(size=(2, 2, 3))
            _, normal, c = feature.geometry(x[0], Q[0], x[1], Q[1])
            u = v + np.cross(w, c - x)

            def gap(t, v=v, w=w, x=x, Q=Q, feature=feature):
                R = Rotation.from_rotvec(t * w).as_matrix() @ Q
                return feature.geometry(x[0] + t * v[0], R[0], x[1] + t * v[1], R[1])[0]

            assert normal @ (u[0] - u[1]) == pytest.approx(_slope(gap, 1e-5), abs=1e-6), (seed, tilt)


def test_parallel_lines_are_apart_by_their_distance():
    turned, still = np.diag([1.0, 1.0, 1.0]), np.zeros(3)
    data = np.array([0.3, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    feature = Feature(id="a/b", kind=LINE_LINE, bodies=("a", "b"), data=data)
    gap, n, c = feature.geometry(still, turned, np.array([0.0, 0.4, 0.0]), turned)
    assert gap == pytest.approx(0.5)
    assert n == pytest.approx([0.6, -0.8, 0.0])
    assert np.isfinite(c).all()


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1))
@settings(max_examples=examples(200, fast=50), deadline=None)
def test_frames_are_right_handed_and_depend_on_the_normal_alone(n):
    n = _unit(np.array(n))
    data = np.concatenate([np.zeros(3), np.zeros(3), [0.1], np.zeros(3), n, [0.0]])
    feature = Feature(id="a/b", kind=BALL_PLANE, bodies=("a", "b"), data=data)
    a, b = Pair(1).motions(0.0)
    b.R = np.eye(3)
    frame = feature.row(a, b, FIVE).frame
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    assert frame[0] == pytest.approx(n, abs=1e-15)
    a.x, a.R = a.x + 1.0, np.eye(3)
    assert (feature.row(a, b, FIVE).frame == frame).all()


@pytest.mark.parametrize(("n", "t1", "t2"), [((0, 0, 1), (1, 0, 0), (0, 1, 0)), ((0, 0, -1), (1, 0, 0), (0, -1, 0))])
def test_tangents_of_level_planes(n, t1, t2):
    data = np.concatenate([np.zeros(6), [0.1], np.zeros(3), n, [0.0]])
    a, b = Pair(0).motions(0.0)
    b.R = np.eye(3)
    row = Feature(id="a/b", kind=BALL_PLANE, bodies=("a", "b"), data=data).row(a, b, FIVE)
    assert (row.frame == np.array([n, t1, t2])).all()


@pytest.mark.parametrize("nz", [-1.0, -0.9, -0.3, 0.0, 0.7, 1.0])
def test_frames_turn_smoothly_along_axes(nz):
    """A normal that sways by 1e-6 turns its tangents by no more than that, times a constant."""
    n0 = np.array([np.sqrt(1 - nz * nz), 0.0, nz])
    a, b = Pair(0).motions(0.0)
    b.R = np.eye(3)
    frames = []
    for d in np.random.default_rng(0).normal(size=(20, 3)):
        data = np.concatenate([np.zeros(6), [0.1], np.zeros(3), _unit(n0 + 1e-6 * d), [0.0]])
        frames.append(Feature(id="a/b", kind=BALL_PLANE, bodies=("a", "b"), data=data).row(a, b, FIVE).frame)
    assert np.ptp(frames, axis=0).max() < 3e-5


def test_rows_by_law():
    feature, (a, b) = _feature(BALL_BALL, 0), Pair(0).motions(0.0)
    full = feature.row(a, b, FIVE)
    assert (full.kind, full.size, full.mu, full.mu_s, full.mu_r, full.eps_n, full.eps_t) == (
        "contact", 5, 0.4, 0.5, 0.01, 0.2, -0.1,
    )  # fmt: skip
    assert (full.between, full.id) == (("a", "b"), "a/b")
    plain, rough = feature.row(a, b), feature.row(a, b, ContactLaw(mu=0.3))
    assert (plain.kind, plain.size, rough.kind, rough.size) == ("unilateral", 1, "contact", 3)
    assert (full.J[:1] == plain.J).all()
    assert (full.J[:3] == rough.J).all()
    assert (rough.drift == full.drift[:3]).all()


def test_ball_on_the_ground_rolls_without_slip():
    """A ball of radius r with omega = (0, v / r, 0) rolls along x: no slip at the contact point."""
    data = np.concatenate([np.zeros(6), [0.5], np.zeros(3), [0, 0, 1], [0.0]])
    feature = Feature(id="ball/floor", kind=BALL_PLANE, bodies=("ball", "ground"), data=data)
    a, b = Pair(0).motions(0.0)
    a.x, a.R, a.v, a.omega = np.array([0.0, 0.0, 0.5]), np.eye(3), np.array([2.0, 0, 0]), np.array([0, 4.0, 0])
    b.x, b.R, b.v, b.omega = np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
    row = feature.row(a, b, FIVE)
    assert row.gap == 0.0
    assert row.rate == pytest.approx([0, 0, 0, 0, 4.0])
    assert row.point == pytest.approx([0, 0, 0])


def test_input_is_checked():
    good = _feature(LINE_LINE, 0).data[:14]
    with pytest.raises(InputError, match="0 to 13"):
        Feature(id="a/b", kind=14, bodies=("a", "b"), data=good)
    with pytest.raises(InputError, match="half axes"):
        Feature(id="a/b", kind=ELLIPSOID_PLANE, bodies=("a", "b"), data=np.array([0.0] * 9 + [0, 0, 0, 1, 0]))
    with pytest.raises(InputError, match="length 1"):
        Feature(id="a/b", kind=LINE_LINE, bodies=("a", "b"), data=2 * good)
    for bad in (np.append(good[:-1], -1.0), np.append(good[:-1], np.nan), good[:-1]):
        with pytest.raises(InputError):
            Feature(id="a/b", kind=LINE_LINE, bodies=("a", "b"), data=bad)
    with pytest.raises(InputError, match="length 1"):
        Feature(id="a/b", kind=EDGE_RIM, bodies=("a", "b"), data=good[:14])
    with pytest.raises(InputError, match="mu"):
        ContactLaw(mu=-1.0)
    with pytest.raises(InputError, match="mu_s"):
        ContactLaw(mu=0.5, mu_s=0.4)
