"""Default runs of scenes obey what they are judged by: those that once did not."""

from __future__ import annotations

import pytest

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build


@pytest.mark.parametrize("name", ["darboux", "equal_crank"])
def test_joints_hold_at_the_end_where_passes_contract_slowly(name):
    """Near the place where two motions meet passes halve what is left: they hover no more than they have settled."""
    scene = build(name)
    verdict = audit(simulate(scene), scene.system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["kinematics"] < 1e-15
    assert verdict.max["joint_rate"] < 1e-10


@pytest.mark.slow
def test_friction_of_many_points_that_share_a_load_lies_in_its_cones():
    """Each of eighty points is met as well as all are together: that is not to the last digit of its own cap."""
    scene = build("spinning_disc")
    verdict = audit(simulate(scene), scene.system)
    assert verdict.passed, verdict.explain()
