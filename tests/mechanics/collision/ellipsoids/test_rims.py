"""An ellipsoid on the rim of a cylinder's cap: the normal and the gap that the pair was made with."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.mechanics.collision.shapes import Cylinder, Ellipsoid
from gaussdyn.mechanics.collision.smooth_kinematics import rim_normal
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import solid
from gaussdyn.mechanics.spatial.system import SpatialSystem


def turned(rng: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_normals_are_found_as_near_to_the_axis_as_may_be(side: float) -> None:
    """From guesses off by up to 2 degrees, for angles to the axis from a millionth of a radian to a right one."""
    rng = np.random.default_rng(5)
    for tilt in 10.0 ** rng.uniform(-6.0, 0.19, 300):
        half, r, R = 10.0 ** rng.uniform(-1.5, -0.5, 3), 10.0 ** rng.uniform(-1.5, -0.5), turned(rng)
        A, (spoke, _, e) = R @ np.diag(half**2) @ R.T, turned(rng)
        n = np.sin(tilt) * spoke + side * np.cos(tilt) * e
        p, gap = A @ n / np.sqrt(n @ A @ n), rng.uniform(-0.01, 0.02) * half.min()
        d = r * spoke + gap * n + p
        guess = n + 10.0 ** rng.uniform(-3.0, -1.5) * rng.standard_normal(3)
        packed = (A[0, 0], A[1, 1], A[2, 2], A[1, 2], A[2, 0], A[0, 1])
        found = np.array(rim_normal(tuple(d), tuple(e), packed, r, tuple(guess)))
        across = np.linalg.norm(found - (found @ e) * e)
        assert found @ d - np.sqrt(found @ A @ found) - r * across == pytest.approx(gap, abs=1e-14)


def test_an_egg_beyond_the_rim_is_as_far_as_it_is() -> None:
    """Its lowest point stands just outside a cap, and above it: nothing overlaps, whatever the place."""
    rng, half = np.random.default_rng(6), np.array([0.06, 0.05, 0.03])
    base = Cylinder(radius=0.08, half_length=0.1, at=(0.0, 0.0, -0.1), name="base")
    system = SpatialSystem(
        bodies=[solid("egg", Ellipsoid(half=tuple(half)), density=1e3)], obstacles=[base], contact=ContactLaw(mu=0.3)
    )
    angle = np.linspace(0.0, 2.0 * np.pi, 2000)
    rim = 0.08 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    for out in 10.0 ** rng.uniform(-7.0, -2.5, 40):
        turn = rng.uniform(0.0, 2.0 * np.pi)
        place = np.array([(0.08 + out) * np.cos(turn), (0.08 + out) * np.sin(turn), half[2] + rng.uniform(1e-4, 1e-3)])
        q = system.state({"egg": tuple(place)}).q
        rows = system.near(0.0, q, np.zeros(6), 0.02).rows(0.0, q, np.zeros(6))
        gaps = [row.gap for row in rows]
        assert gaps
        assert min(gaps) > 0.0
        assert (np.linalg.norm((rim - place) / half, axis=1) >= 1.0).all()
        assert min(gaps) <= np.linalg.norm(rim - place + [0.0, 0.0, half[2]], axis=1).min()
