"""Masses and inertias of bodies in space."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import tplquad

from gaussdyn.errors import InputError
from gaussdyn.mechanics.collision.shapes import Box, Sphere
from gaussdyn.mechanics.spatial.bodies import SpatialBody, ball, brick, pill


def moments(inside, size):
    """Central moments over the mass of a body of revolution about z: r(z) its radius, |z| <= size, by quadrature."""
    mass = tplquad(lambda p, r, z: r, -size, size, 0.0, inside, 0.0, 2 * np.pi)[0]
    Izz = tplquad(lambda p, r, z: r**3, -size, size, 0.0, inside, 0.0, 2 * np.pi)[0]
    Ixx = tplquad(lambda p, r, z: r * (z**2 + (r * np.sin(p)) ** 2), -size, size, 0.0, inside, 0.0, 2 * np.pi)[0]
    return Ixx / mass, Izz / mass


def test_inertia_of_a_ball_and_a_pill():
    Ixx, Izz = moments(lambda z: np.sqrt(max(0.25 - z**2, 0.0)), 0.5)
    np.testing.assert_allclose(
        np.diag(ball("a", mass=3.0, radius=0.5).inertia), 3.0 * np.array([Ixx, Ixx, Izz]), rtol=1e-6
    )
    h, r = 0.4, 0.3
    Ixx, Izz = moments(lambda z: np.sqrt(max(r * r - max(abs(z) - h, 0.0) ** 2, 0.0)), h + r)
    body = pill("a", mass=2.0, radius=r, half_length=h)
    np.testing.assert_allclose(np.diag(body.inertia), 2.0 * np.array([Ixx, Ixx, Izz]), rtol=1e-6)
    assert body.radius == pytest.approx(0.7)


def test_inertia_of_a_brick():
    body = brick("a", mass=12.0, half=(0.5, 1.0, 1.5))  # sides 1, 2, 3
    np.testing.assert_allclose(body.inertia, np.diag([4 + 9, 1 + 9, 1 + 4]))
    assert body.radius == pytest.approx(np.sqrt(0.25 + 1.0 + 2.25))


def test_a_flat_disc_is_allowed_and_a_turned_inertia():
    SpatialBody(name="disc", mass=1.0, inertia=[0.1, 0.2, 0.1 + 0.2])
    R = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    body = SpatialBody(name="turned", mass=1.0, inertia=R @ np.diag([0.1, 0.2, 0.3]) @ R.T)
    np.testing.assert_allclose(np.linalg.eigvalsh(body.inertia), [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("inertia", "text"),
    [
        ([1.0, 2.0, 4.0], r"Ixx = 1, Iyy = 2, Izz = 4, too large by 1; allowed: Ixx \+ Iyy >= Izz"),
        ([1.0, 1.0, 2.0000000001], r"Izz = 2, too large by 1e-10; allowed: Ixx \+ Iyy >= Izz"),
        ([5.0, 2.0, 2.0], r"Iyy \+ Izz >= Ixx"),
        ([1.0, 1.0, 0.0], "Izz <= 0"),
        ([-1.0, 1.0, 1.0], "Ixx <= 0"),
        ([[2.0, 1.9, 0.0], [1.9, 2.0, 0.0], [0.0, 0.0, 2.0]], r"I1 \+ I2 >= I3"),
        ([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "symmetric"),
        ([1.0, 1.0], "shape"),
        ([1.0, np.nan, 1.0], "finite"),
        ("heavy", "numbers"),
    ],
)
def test_an_inertia_that_no_body_has_is_refused(inertia, text):
    with pytest.raises(InputError, match=f"inertia of a.*{text}"):
        SpatialBody(name="a", mass=1.0, inertia=inertia)


def test_other_bad_bodies_are_refused():
    for mass in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="mass of a"):
            SpatialBody(name="a", mass=mass, inertia=[1, 1, 1])
    for name in ("", "a.b", "ground", "a/b", "a b", "a:b"):
        with pytest.raises(InputError, match="name of a body"):
            SpatialBody(name=name, mass=1.0, inertia=[1, 1, 1])
    with pytest.raises(InputError, match="shapes of a"):
        SpatialBody(name="a", mass=1.0, inertia=[1, 1, 1], shapes=("ball",))
    with pytest.raises(InputError, match="different names"):
        SpatialBody(name="a", mass=1.0, inertia=[1, 1, 1], shapes=[Sphere(radius=1.0), Box(half=(1, 1, 1))])
    for make in (lambda: ball("a", mass=1.0, radius=0.0), lambda: brick("a", mass=1.0, half=(1.0, -1.0, 1.0))):
        with pytest.raises(InputError, match="of a"):
            make()
