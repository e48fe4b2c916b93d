"""Contacts that a step finds where it ends restore by one law, whoever lists them."""

from __future__ import annotations

import pytest
from random_scenes import falling

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean


@pytest.mark.parametrize(
    ("dim", "seed", "mu", "eps"),
    [(2, 10040, 0.3563379862397484, (0.5, 0.4)), (3, 10046, 0.5056761420656245, (0.0, 0.4))],
    ids=["corner to edge", "edge to face"],
)
def test_a_body_that_rolls_on_to_another_feature_as_it_strikes_rebounds_from_it(dim, seed, mu, eps):
    """The gap of that was below zero at the start, beside the feature that was nearest."""
    system, state = falling(dim, seed, mu=mu, eps_n=eps[0], eps_t=eps[1])
    verdict = audit(simulate(system, state, 0.24, stepper=MoreauJean(dt=1e-2)), system)
    assert verdict.passed, verdict.explain()
