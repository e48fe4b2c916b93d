"""The lowest point of a rim that is hardly tilted: its height is the radius times the sine of the tilt, to rounding."""

from __future__ import annotations

import math

import pytest

from gaussdyn.mechanics.collision.rim_kinematics import across, rim_point

RADIUS = 0.1


@pytest.mark.parametrize("tilt", [1e-3, 1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("way", [0.0, 0.7, 2.0])
def test_the_height_of_the_lowest_point_is_that_of_the_tilt(tilt, way):
    s = math.sin(tilt)
    e = (s * math.cos(way), s * math.sin(way), math.cos(tilt))
    p, _ = rim_point((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), e, (1e-4, 0.0, 0.0), RADIUS)
    assert p[2] == pytest.approx(RADIUS * s, rel=1e-12, abs=0.0)
    assert math.hypot(*p) == pytest.approx(RADIUS, rel=1e-12)
    assert across((0.0, 0.0, 1.0), e) == pytest.approx(s, rel=1e-12, abs=0.0)
