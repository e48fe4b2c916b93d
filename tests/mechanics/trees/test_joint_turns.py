"""Rotations of bodies: sine and cosine to the last bit but one, turns about axes of the frame and about others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from mpmath import mp

from gaussdyn.mechanics.trees import TreeBody, TreeJoint, TreeSystem
from gaussdyn.mechanics.trees.joint_turns import sines_cosines


def turns(angles: Sequence[float]) -> np.ndarray:
    """Return sines and cosines of angles, shape (2, n)."""
    found = np.empty((2, len(angles)))
    sines_cosines(np.array(angles, dtype=np.float64), *found)
    return found


def test_sine_and_cosine_are_exact_to_rounding() -> None:
    """Near multiples of a quarter turn, too, where almost all of an angle is taken off, and beyond the polynomials."""
    rng, quarters = np.random.default_rng(1), 0.5 * math.pi * np.arange(-9, 10)
    angles = [*rng.uniform(-7.0, 7.0, 300), *rng.uniform(-2e3, 2e3, 300), *quarters, *(quarters * (1.0 + 1e-15))]
    every = [*map(float, angles), 0.0, 1e-300, 5e8]
    pairs = dict(zip(every, zip(*turns(every), strict=True), strict=True))
    with mp.workdps(50):
        for x, (s, c) in pairs.items():
            assert abs(mp.mpf(s) - mp.sin(mp.mpf(float(x)))) < 1.2e-16
            assert abs(mp.mpf(c) - mp.cos(mp.mpf(float(x)))) < 1.2e-16
    assert np.isnan(turns([math.nan, math.inf])).all()
    for few in (angles[:300], angles[600:], [*quarters, -0.0, 999.0]):
        assert np.array_equal(turns(few), np.transpose([turns([x])[:, 0] for x in few]))  # whatever stands beside it


def chain(axes: tuple[tuple[float, float, float], ...], turned: np.ndarray, motion: str) -> TreeSystem:
    """Three links, all directions turned; hinges or sliders, with anchors beside the origins of the frames."""
    bodies, parent = [], "ground"
    for k, axis in enumerate(axes):
        at = turned @ np.array((0.1, -0.2, 0.3))
        joint = TreeJoint(name=f"j{k}", motion=motion, axis=tuple(turned @ axis), at=tuple(0.5 * at))  # type: ignore[arg-type]
        J = turned @ np.diag([0.02, 0.03, 0.04]) @ turned.T
        bodies.append(TreeBody(name=f"b{k}", parent=parent, at=tuple(at), mass=1.0, inertia=J, joints=(joint,)))
        parent = f"b{k}"
    return TreeSystem(bodies=bodies, gravity=tuple(turned @ np.array((0.0, 0.0, -9.81))))


@pytest.mark.parametrize("motion", ["hinge", "slide"])
def test_axes_of_the_frame_are_no_special_ones(motion: str) -> None:
    """A chain with joints along axes of the frames, one way and the other, moves as the chain in turned axes."""
    rng = np.random.default_rng(2)
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned *= np.sign(np.linalg.det(turned))
    for axes in (((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, -1, 0), (0, 0, -1), (-1, 0, 0)), ((0, 0, 1),) * 3):
        own, other = chain(axes, np.eye(3), motion), chain(axes, turned, motion)  # type: ignore[arg-type]
        q, v = rng.normal(size=3), rng.normal(size=3)
        assert np.allclose(own.mass(q), other.mass(q), rtol=0.0, atol=1e-14)
        assert np.allclose(own.force(0.0, q, v), other.force(0.0, q, v), rtol=0.0, atol=1e-13)
        frame = own.frame(q, "b2")
        assert np.allclose(turned @ frame.x, other.frame(q, "b2").x, rtol=0.0, atol=1e-14)
