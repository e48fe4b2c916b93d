"""Arcs as short as rounding of their times: what jumps at their end jumps there."""

from __future__ import annotations

import pytest
from random_scenes import mixed

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate


@pytest.mark.slow
def test_curvature_that_jumps_at_the_end_of_a_feature_is_no_fault_of_the_last_instant():
    """A capsule leaves the end of a box's edge: what holds it would pull from there on, and two contacts let go."""
    system, state = mixed(3, 9812)
    run = simulate(system, state, 0.27, stepper=EventDriven())
    assert [event.kind for event in run.events].count("lift_off") >= 2
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
