"""Corners of a face, not quite in one plane, that restitution would stop together: with more friction at rest."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.integrate.impact.impact import impact
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.programs.blocks.hard_cases.slipping_first import SlippingFirst
from gaussdyn.programs.blocks.scaled import scaled

FLOOR = HalfSpace(normal=(0.0, 0.0, 1.0), name="floor")


def tilted_brick(seed, mu_s):
    """Return a brick whose lower face is tilted by some 1e-9 and hits the floor in all its closed corners."""
    law, half = ContactLaw(mu=0.5, mu_s=mu_s, eps_n=0.4, eps_t=0.5), (0.08, 0.15, 0.09)
    rng = np.random.default_rng(seed)
    system = SpatialSystem(bodies=[brick("brick", mass=1.4, half=half)], obstacles=[FLOOR], contact=law)
    place = (0.0, 0.0, half[2] + 3e-10, 1.0, *rng.normal(size=2) * 2e-9, 0.0)
    speed = (*rng.normal(size=2) * 0.01, -0.03 * rng.uniform(), *rng.normal(size=3) * (0.3, 0.3, 0.05))
    return system, system.state({"brick": place}, {"brick": speed})


@pytest.mark.parametrize("seed", [0, 8, 18, 33])
def test_corners_that_cannot_all_stick_let_one_slip_with_the_friction_of_slip(seed):
    found = impact(*tilted_brick(seed, 0.65))
    assert found.solved, found.solution.explain()
    assert found.residual <= 1e-12
    assert not found.gains
    slower = impact(*tilted_brick(seed, 0.5))  # a solution of this is one of that, for it sticks with less
    assert found.v == pytest.approx(slower.v, rel=0, abs=1e-9)


def test_without_more_friction_at_rest_there_is_nothing_to_do():
    data = scaled(impact(*tilted_brick(0, 0.5)).solution.problem)
    r = np.linspace(0.0, 1.0, len(data.q))
    same, steps = SlippingFirst().improve(data, r)
    assert same is r
    assert steps == 0
