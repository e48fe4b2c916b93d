"""Redundant reactions inside their cones: small cases that can be solved by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.integrate.shared_load import Cones, inside


def test_dry_friction_carries_no_more_than_its_cap_beside_a_row_that_can_carry_the_rest():
    cones = Cones()
    cones.add(np.array([1.0, 0.0]))
    cones.add_disc(np.zeros(2), slice(1, 2), 1.0)
    r = inside(np.ones((2, 2)), np.array([3.0, 3.0]), lambda: cones)
    np.testing.assert_allclose(r, [6.0, 0.0], rtol=0, atol=1e-12)  # r_1 + r_2 = 6, least(r_1, 1 - |r_2|) largest
    assert cones.slack(r) == pytest.approx(1.0)


def test_a_cap_in_two_directions_is_a_disc():
    cones = Cones()
    cones.add_disc(np.zeros(3), slice(0, 2), 2.0)
    cones.add(np.array([0.0, 0.0, 1.0]))
    load = np.array([np.cos(0.3), np.sin(0.3)])  # between the first tangent planes
    G = np.vstack((np.eye(2), load))  # the third row acts along the load
    W, r0 = G @ G.T, np.array([*(5.0 * load), 0.0])
    r = inside(W, r0, lambda: cones)
    np.testing.assert_allclose(W @ r, W @ r0, rtol=0, atol=1e-12)
    assert cones.slack(r) == pytest.approx(2.0, abs=1e-9)  # all of it on the third row, or nearly
