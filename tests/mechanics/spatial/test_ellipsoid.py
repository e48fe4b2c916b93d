"""Ellipsoids on half-spaces: heights by sampling, balls as the limit, frequencies of rocking, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import MoreauJean, simulate
from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.features import BALL_PLANE, ELLIPSOID_PLANE, Feature
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Ellipsoid, HalfSpace, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.spec import decoded, encoded
from gaussdyn.mechanics.spatial.system import SpatialSystem

HALF = (0.3, 0.2, 0.1)
FLOOR = HalfSpace(name="floor")
G = 9.81


def surface(half: tuple[float, ...], n: int = 200) -> np.ndarray:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 2 * n), np.linspace(0, np.pi, n))
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3) * half


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_the_height_of_the_lowest_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plane = HalfSpace(name="slope", point=tuple(0.1 * rng.normal(size=3)), normal=tuple(rng.normal(size=3)))
    shape, n = Ellipsoid(half=HALF, at=(0.1, -0.2, 0.05)), np.array(plane.normal)
    x, R = 0.3 * rng.normal(size=(1, 3)) + 2.0 * n, Rotation.random(1, random_state=seed).as_matrix()
    (found,) = Shapes.of({"a": (shape,)}, [plane]).find(x, R, 10.0)
    points = x[0] + (surface(HALF) + shape.at) @ R[0].T
    heights = (points - plane.point) @ n
    gap, normal, point = found.geometry(x[0], R[0], np.zeros(3), np.eye(3))
    assert found.id == "a/slope"
    assert gap == pytest.approx(heights.min(), abs=6e-5)
    assert normal == pytest.approx(n)
    assert point == pytest.approx(points[heights.argmin()], abs=2e-2)
    assert n @ (point - plane.point) == pytest.approx(gap, abs=1e-14)
    assert not Shapes.of({"a": (shape,)}, [plane]).find(x, R, heights.min() - 2e-4)


@pytest.mark.parametrize("seed", range(5))
def test_an_ellipsoid_with_equal_axes_is_a_ball(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, n = rng.normal(size=(3, 3))
    plane = [*b, *(n / np.linalg.norm(n)), 0.0]
    rows = []
    for kind, first in ((BALL_PLANE, [*a, 0, 0, 0, 0.2]), (ELLIPSOID_PLANE, [*a, 0.04, 0.04, 0.04, 0])):
        feature = Feature(id="a/b", kind=kind, bodies=("a", "b"), data=np.array([*first, *plane]))
        rows.append(feature.row(*moving(seed), ContactLaw(mu=0.5)))
    for name in ("gap", "point", "frame", "rate", "drift", "J"):
        assert getattr(rows[0], name) == pytest.approx(getattr(rows[1], name), abs=1e-13)


def moving(seed: int) -> list:
    from types import SimpleNamespace

    rng, bodies = np.random.default_rng(50 + seed), []
    for k in range(2):
        x, v, omega = rng.normal(size=(3, 3))
        R, J, turn = Rotation.random(random_state=seed + k).as_matrix(), np.zeros((3, 12)), np.zeros((3, 12))
        J[:, 6 * k : 6 * k + 3] = turn[:, 6 * k + 3 : 6 * k + 6] = np.eye(3)
        bodies.append(SimpleNamespace(x=x, R=R, v=v, omega=omega, J=J, turn=turn, drift=np.zeros(3)))
    return bodies


@pytest.mark.parametrize(("axis", "mu"), [(0, 5.0), (1, 5.0), (0, 0.0), (1, 0.0)])
def test_small_rocking_has_the_frequency_of_its_curvature(axis: int, mu: float) -> None:
    """Rocks about y (axis 0) or x: J phi'' = -m g (rho - c) phi, J about the contact point, or the centre if smooth."""
    m, (a, b, c) = 2.0, HALF
    inertia = m / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    rho, J = HALF[axis] ** 2 / c, inertia[1 - axis] + (m * c * c if mu else 0.0)
    omega = math.sqrt(m * G * (rho - c) / J)
    body = SpatialBody(name="egg", mass=m, inertia=inertia, shapes=(Ellipsoid(half=HALF),))
    system = SpatialSystem(bodies=[body], obstacles=[FLOOR], contact=ContactLaw(mu=mu), gravity=(0, 0, -G))
    w = np.zeros(3)
    w[1 - axis] = 1e-3
    v = np.cross(w, [0.0, 0.0, c]) if mu else np.zeros(3)
    state = system.state({"egg": (0, 0, c, 1, 0, 0, 0)}, {"egg": (*v, *w)})
    period = 2 * np.pi / omega
    run = simulate(system, state, period, stepper=MoreauJean(dt=period / 40))
    quarter = 10
    assert 2 * run.q[quarter][5 - axis] == pytest.approx(1e-3 / omega, rel=1e-2)  # the largest angle
    assert run.v[-1][4 - axis] == pytest.approx(1e-3, rel=2e-2)


def test_an_ellipsoid_meets_shapes_of_other_bodies_only() -> None:
    egg, ball = (Ellipsoid(half=HALF),), (Sphere(radius=0.1),)
    poses = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2]]), np.array([np.eye(3)] * 2)
    off = Shapes.of({"a": egg, "b": ball}, [FLOOR], [("a", "b")])
    assert [one.id for one in off.find(*poses, 1.0)] == ["a/floor", "b/floor"]
    assert [one.id for one in Shapes.of({"a": egg, "b": ball}, [FLOOR]).find(*poses, 1.0)] == [
        "a/b",
        "a/floor",
        "b/floor",
    ]
    assert len(Shapes.of({"a": (*egg, Sphere(radius=0.1, name="cap"))}, [FLOOR]).labels) == 3


def test_an_ellipsoid_that_is_turned_is_one_with_its_axes_exchanged() -> None:
    quarter = Ellipsoid(half=HALF, turn=(math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))  # about z
    other = Ellipsoid(half=(HALF[1], HALF[0], HALF[2]))
    for seed in range(10):
        R, x = Rotation.random(2, random_state=seed).as_matrix(), np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.3]])
        gaps = []
        for egg in (quarter, other):
            (one,) = Shapes.of({"a": (egg,), "b": (Ellipsoid(half=HALF),)}).find(x, R, 1.0)
            gaps.append(one.geometry(x[0], R[0], x[1], R[1])[0])
        assert gaps[0] == pytest.approx(gaps[1], abs=1e-15)


@pytest.mark.parametrize("half", [(1, 0, 1), (1, -1, 1), (1, 1), (1, math.nan, 1)])
def test_half_axes_are_checked(half: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="half of an ellipsoid"):
        Ellipsoid(half=half)  # type: ignore[arg-type]


def test_an_ellipsoid_is_written_and_read() -> None:
    shape = Ellipsoid(half=HALF, at=(0.0, 0.1, 0.0), name="egg")
    assert decoded(encoded(shape)) == shape
