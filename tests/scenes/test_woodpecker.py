"""The woodpecker's own motion: the published state recurs, and every mode obeys the laws it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.scenes.woodpecker_motion import H_M, HINGED, MASS, NORMAL, TANGENT, Woodpecker

START = np.array([0.0, HINGED / H_M, -0.2788]), np.array([-0.3411, 0.0, -7.4583])
TOY = Woodpecker(mu=0.3, beak=0.5, spring=0.0056)


def test_the_published_state_lies_on_the_limit_cycle():
    """Glocker's start, where the bird is at -0.2788 rad, comes back with the speeds it had, to one per cent."""
    end, hits = TOY.motion(*START, 0.14588)
    assert [name for name, _ in hits] == ["upper", "beak", "upper", "lower", "lower"]
    assert end.q[2] == pytest.approx(-0.2788, abs=1e-3)
    assert end.v == pytest.approx(START[1], rel=1e-2, abs=1e-12)


def test_an_impact_obeys_newton_and_coulomb():
    rng = np.random.default_rng(0)
    q = START[0]
    for _ in range(20):
        v = rng.normal(size=3) * [0.3, 10.0, 5.0]
        v[1] = -abs(v[1])
        after = TOY.struck(q, v)
        p = np.linalg.lstsq(np.column_stack((NORMAL[1], TANGENT[1])), MASS @ (after - v), rcond=None)[0]
        slip = float(TANGENT[1] @ after)
        assert NORMAL[1] @ after == pytest.approx(0.0, abs=1e-12)
        assert abs(p[1]) <= 0.3 * p[0] * (1.0 + 1e-9)
        assert abs(slip) < 1e-9 or p[1] == pytest.approx(-0.3 * p[0] * np.sign(slip))
