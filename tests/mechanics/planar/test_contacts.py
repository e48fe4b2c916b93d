"""Jacobians, rates and drifts of the planar rows against finite differences along motions, and against statics."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples

from gaussdyn.errors import InputError
from gaussdyn.mechanics.planar.bodies import Marker, PlanarBody, Point, fixed
from gaussdyn.mechanics.planar.contacts import DryFriction, HalfPlane, PlanarContact, Rod, String
from gaussdyn.mechanics.planar.disc_contact import PlanarDiscContact
from gaussdyn.mechanics.planar.system import PlanarSystem

A = PlanarBody(name="a", mass=2.0, inertia=0.3)
B = PlanarBody(name="b", mass=1.0, inertia=0.2)
P = Point(name="p", mass=0.5)
WALL = HalfPlane(name="wall", point=(0.3, -0.2), normal=(1.0, 2.0), belt=0.7)
DECK = HalfPlane(name="deck", point=(0.1, 0.4), normal=(-1.0, 3.0), body="b", belt=-0.2)
TIP, HUB = Marker("a", (0.5, -0.1)), Marker("b", (0.1, 0.2))
CONSTRAINTS = {
    "point on wall": PlanarContact(point=Marker("a", (0.5, -0.1), "tip"), plane=WALL, mu=0.3),
    "disc on wall": PlanarContact(point=Marker("a", (0.2, 0.3)), plane=WALL, mu=0.3, radius=0.25),
    "point on deck": PlanarContact(point=Marker("a", (0.5, -0.1)), plane=DECK, mu=0.3, bilateral=True),
    "disc on deck": PlanarContact(point=Marker("a", (0.5, -0.1)), plane=DECK, mu=0.3, radius=0.15),
    "mass on deck": PlanarContact(point=Marker("p"), plane=DECK, mu=0.3),
    "frictionless": PlanarContact(point=Marker("a", (0.5, -0.1)), plane=DECK),
    "discs": PlanarDiscContact(a=TIP, b=HUB, radius_a=0.3, radius_b=0.2, mu=0.3),
    "disc on a peg": PlanarDiscContact(a=TIP, b=fixed(0.1, 0.2), radius_a=0.3, radius_b=0.0, mu=0.3),
    "disc on a mass": PlanarDiscContact(a=Marker("p"), b=HUB, radius_a=0.3, radius_b=0.2),
    "anchored string": String(a=Marker("a", (0.5, -0.1)), b=fixed(-1.0, 2.0), length=1.5),
    "string": String(a=Marker("a", (0.5, -0.1)), b=Marker("b", (0.1, 0.2)), length=1.5),
    "rod": Rod(a=Marker("p"), b=Marker("b", (0.1, 0.2)), length=1.0),
    "dry": DryFriction(point=Marker("a", (0.5, -0.1)), direction=(3.0, 1.0), cap=2.0, belt=0.4),
}


def _system(name):
    return PlanarSystem(bodies=[A, P, B], contacts=[CONSTRAINTS[name]])


def _motion(seed):
    """Return q(t), v(t) and a for a random motion with constant acceleration."""
    rng = np.random.default_rng(seed)
    q0, v0, a = rng.normal(size=(3, 8))
    return (lambda t: q0 + v0 * t + a * t * t / 2), (lambda t: v0 + a * t), a


def _slope(f, h=1e-4):
    """Return df/dt at 0 by a central difference of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


@pytest.mark.drawn
@pytest.mark.parametrize("name", [name for name in CONSTRAINTS if name != "dry"])
def test_rate_is_the_derivative_of_the_gap(name):
    for seed in range(examples(5, fast=2)):
        check_rate_is_the_derivative_of_the_gap(name, seed)


def check_rate_is_the_derivative_of_the_gap(name, seed):
    system, (q, v, _) = _system(name), _motion(seed)
    (row,) = system.rows(0.0, q(0.0), v(0.0))
    slope = _slope(lambda t: system.rows(t, q(t), v(t))[0].gap)
    assert row.rate[0] == pytest.approx(slope, abs=1e-9)


@pytest.mark.drawn
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_second_rate_is_jacobian_times_acceleration_plus_drift(name):
    for seed in range(examples(5, fast=2)):
        check_second_rate_is_jacobian_times_acceleration_plus_drift(name, seed)


def check_second_rate_is_jacobian_times_acceleration_plus_drift(name, seed):
    system, (q, v, a) = _system(name), _motion(seed)
    (row,) = system.rows(0.0, q(0.0), v(0.0))
    slope = _slope(lambda t: system.rows(t, q(t), v(t))[0].rate)
    np.testing.assert_allclose(row.J @ a + row.drift, slope, atol=1e-8)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_rate_is_affine_in_the_velocity_with_slope_jacobian(name):
    system, (q, v, a) = _system(name), _motion(11)
    (row,), (other,) = system.rows(0.0, q(0.0), v(0.0)), system.rows(0.0, q(0.0), v(0.0) + a)
    np.testing.assert_allclose(other.rate - row.rate, row.J @ a, atol=1e-12)


@pytest.mark.parametrize("name", ["point on wall", "disc on wall", "point on deck", "disc on deck"])
def test_reactions_are_forces_at_the_contact_point(name):
    """J^T r is the wrench of r_N n + r_T t at the contact point, and its opposite on the body of the half-plane."""
    contact, (q, _, _) = CONSTRAINTS[name], _motion(3)
    system = _system(name)
    (row,) = system.rows(0.0, q(0.0), np.zeros(8))
    r = np.array([1.7, -0.6])
    place = dict(zip(("a", "b"), (q(0.0)[:3], q(0.0)[5:]), strict=True))
    turn = _rotation(place["b"][2]) if contact.plane.body == "b" else np.eye(2)
    n = turn @ contact.plane.normal
    force = r[0] * n + r[1] * np.array([n[1], -n[0]])
    at = place["a"][:2] + _rotation(place["a"][2]) @ contact.point.at - contact.radius * n
    expected = np.zeros(8)
    expected[:3] = _wrench(force, at - place["a"][:2])
    if contact.plane.body == "b":
        expected[5:] = -_wrench(force, at - place["b"][:2])
    np.testing.assert_allclose(row.J.T @ r, expected, atol=1e-12)
    np.testing.assert_allclose(row.point, at, atol=1e-12)
    np.testing.assert_allclose(row.frame, [n, [n[1], -n[0]]], atol=1e-12)
    assert row.between == ("a", "b" if contact.plane.body == "b" else contact.plane.name)


def _rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def _wrench(force, arm):
    return np.array([*force, arm[0] * force[1] - arm[1] * force[0]])


def test_gap_of_a_disc_is_measured_from_its_rim():
    ball = PlanarBody(name="ball", mass=1.0, inertia=0.1)
    contact = PlanarContact(point=Marker("ball"), plane=HalfPlane(name="floor"), mu=0.5, radius=0.5)
    system = PlanarSystem(bodies=[ball], contacts=[contact])
    # Rolling to the right at 1 m/s turns clockwise at v / R: the point at the floor is at rest.
    (row,) = system.rows(0.0, np.array([0.0, 0.5, 0.3]), np.array([1.0, 0.0, -2.0]))
    assert row.gap == 0.0
    np.testing.assert_allclose(row.rate, 0.0, atol=1e-15)


def test_belt_moves_along_the_tangent():
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="belt", belt=2.0), mu=0.5)
    system = PlanarSystem(bodies=[P], contacts=[contact])
    (row,) = system.rows(0.0, np.zeros(2), np.array([2.0, 0.0]))
    np.testing.assert_allclose(row.rate, 0.0, atol=1e-15)


def test_rows_carry_friction_and_restitution():
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="floor"), mu=0.2, mu_s=0.3, eps_n=0.4, eps_t=-0.1)
    (row,) = PlanarSystem(bodies=[P], contacts=[contact]).rows(0.0, np.zeros(2), np.zeros(2))
    assert (row.id, row.kind, row.mu, row.mu_s, row.eps_n, row.eps_t) == ("p/floor", "contact", 0.2, 0.3, 0.4, -0.1)
    dry = DryFriction(point=Marker("p"), cap=1.5, cap_s=2.0)
    (row,) = PlanarSystem(bodies=[P], contacts=[dry]).rows(0.0, np.zeros(2), np.zeros(2))
    assert (row.id, row.kind, row.cap, row.cap_s) == ("p:dry", "dry", 1.5, 2.0)


@pytest.mark.parametrize(
    ("options", "kind", "size"),
    [
        ({}, "unilateral", 1),
        ({"mu": 0.1}, "contact", 2),
        ({"mu_s": 0.1}, "contact", 2),
        ({"eps_t": 0.1}, "contact", 2),
        ({"bilateral": True}, "bilateral", 1),
        ({"bilateral": True, "mu": 0.1}, "bilateral_contact", 2),
    ],
)
def test_kind_of_a_contact(options, kind, size):
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="floor"), **options)
    (row,) = PlanarSystem(bodies=[P], contacts=[contact]).rows(0.0, np.zeros(2), np.zeros(2))
    assert (row.kind, row.size) == (kind, size)


def test_string_whose_ends_coincide_hangs_loose():
    string = String(a=Marker("p"), b=fixed(0.0, 0.0), length=2.0)
    (row,) = PlanarSystem(bodies=[P], contacts=[string]).rows(0.0, np.zeros(2), np.ones(2))
    assert row.gap == 2.0
    assert np.isfinite(row.J).all()
    assert np.isfinite(row.drift).all()


def test_string_reaction_is_its_tension():
    """A mass hanging at rest: J^T r with r = m g balances the weight."""
    string = String(a=Marker("p"), b=fixed(0.0, 1.0), length=1.0)
    system = PlanarSystem(bodies=[P], contacts=[string])
    (row,) = system.rows(0.0, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(row.J[0] * P.mass * 9.81 + system.force(0.0, np.zeros(2), np.zeros(2)), 0.0, atol=1e-15)


def test_rods_and_strings_have_names_and_may_stand_among_the_joints():
    """Two strings between the same bodies; the same system as with both among the contacts, and from its data."""
    strings = [
        String(name=name, a=Marker("p"), b=fixed(x, 1.0), length=1.5) for name, x in (("left", -1.0), ("right", 1.0))
    ]
    system = PlanarSystem(bodies=[P], joints=strings)
    assert [row.id for row in system.rows(0.0, np.zeros(2), np.zeros(2))] == ["left", "right"]
    assert (
        system.spec()
        == PlanarSystem(bodies=[P], contacts=strings).spec()
        == PlanarSystem.from_spec(system.spec()).spec()
    )
    with pytest.raises(InputError, match="two called 'left'"):
        PlanarSystem(bodies=[P], joints=strings[:1] * 2)
    with pytest.raises(InputError, match="name of a rod or string"):
        String(name="a/b", a=Marker("p"), b=fixed(0.0, 0.0), length=1.0)
