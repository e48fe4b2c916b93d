"""Contacts over planes are listed once, whatever the pose: the same motion as where they are looked for."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import Box, Capsule, Cylinder, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem

FLOOR = HalfSpace(name="floor", normal=(0.36, 0.48, 0.8))
BOX, BALL, PILL = Box(half=(0.1, 0.2, 0.3)), Sphere(radius=0.2), Capsule(radius=0.1, half_length=0.3)


def body(name, shape, mass=1.0):
    return SpatialBody(name=name, mass=mass, inertia=(0.03, 0.04, 0.05), shapes=(shape,))


def pair(a, b, pairs=None):
    joint = BallJoint(name="joint", a=SpatialMarker("a", (0.4, 0.0, 0.0)), b=SpatialMarker("b", (-0.4, 0.0, 0.0)))
    return SpatialSystem(
        bodies=[body("a", a), body("b", b, 2.0)], joints=[joint], obstacles=[FLOOR], pairs=pairs or {},
        contact=ContactLaw(mu=0.3, eps_n=0.6),
    )  # fmt: skip


@pytest.mark.parametrize(("shape", "points"), [(BOX, 8), (BALL, 1), (PILL, 2)])
def test_far_and_near_every_point_is_listed_with_its_distance_from_the_plane(shape, points):
    system = SpatialSystem(bodies=[body("a", shape)], obstacles=[FLOOR])
    rng = np.random.default_rng(points)
    every = system.listed(system.state({"a": (0.0, 0.0, 50.0, 1.0, 0.0, 0.0, 0.0)}).q)
    for _ in range(5):
        turn = rng.normal(size=4)
        q = np.concatenate([rng.normal(size=3), turn / np.linalg.norm(turn)])
        rows = every.rows(0.0, q, np.zeros(6))
        assert len(rows) == points
        assert min(row.gap for row in rows) == pytest.approx(support(shape, q), abs=1e-14)


def support(shape, q):
    """Return how far the lowest point of a shape is above the plane, m."""
    w, x, y, z = q[3:]
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    n = R.T @ np.array(FLOOR.normal)
    reach = {BOX: np.abs(n) @ [0.1, 0.2, 0.3], BALL: 0.2, PILL: 0.1 + 0.3 * abs(n[2])}[shape]
    return float(np.dot(FLOOR.normal, q[:3]) - reach)


@pytest.mark.parametrize(
    "system",
    [pair(BALL, BALL, {("a", "b"): ContactLaw()}), pair(BALL, Cylinder(radius=0.1, half_length=0.2)),
     SpatialSystem(bodies=[body("a", BALL), body("b", BALL)],
                   obstacles=[HalfSpace(name="lid", body="b")])],
    ids=["ball beside ball", "rim", "plane that moves"],
)  # fmt: skip
def test_where_contacts_depend_on_the_pose_none_are_listed(system):
    assert system.listed(np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 2)) is None


@pytest.mark.parametrize("shapes", [(BALL, BALL), (BALL, PILL), (BOX, BALL)], ids=["balls", "pill", "box"])
def test_listed_once_or_looked_for_the_motion_is_the_same(shapes):
    system = pair(*shapes)
    state = system.state({"a": (0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0), "b": (0.8, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0)})
    run = simulate(system, state, 1.0, stepper=EventDriven())
    with mock.patch.object(SpatialSystem, "listed", return_value=None):
        other = simulate(system, state, 1.0, stepper=EventDriven())
    assert run.status == other.status == "COMPLETED"
    assert len(run.events) >= 3
    assert [(one.kind, one.id) for one in run.events] == [(one.kind, one.id) for one in other.events]
    np.testing.assert_allclose([one.t for one in run.events], [one.t for one in other.events], atol=1e-11)
    np.testing.assert_allclose(run.q[-1], other.q[-1], atol=1e-9)
    assert run.table.ids == other.table.ids
