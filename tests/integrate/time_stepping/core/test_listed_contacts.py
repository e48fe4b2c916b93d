"""Steps whose contacts Python has listed are taken by tables where a system has them, and are the same as without."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.integrate.stepper import near_of
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem
from gaussdyn.integrate.time_stepping.core.row_model import by_answers, of_listed
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.joints.limits_motors import Motor
from gaussdyn.mechanics.planar.bodies import Marker, box, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane
from gaussdyn.mechanics.planar.joints import Hinge
from gaussdyn.mechanics.planar.system import PlanarSystem

DT = 2e-3


@pytest.mark.parametrize("seed", range(4))
def test_a_step_with_listed_contacts_is_the_same_by_tables_and_by_functions(seed):
    rng = np.random.default_rng(seed)
    bodies = [box(f"b{k}", mass=1.0 + k, width=0.1, height=0.06) for k in range(6)]
    arm = box("arm", mass=0.5, width=0.2, height=0.02)
    joints = [
        Hinge(name="pivot", a=Marker("arm", (-0.1, 0.0)), b=fixed(0.3, 0.3)),
        Motor(joint="pivot", rate=2.0, cap=3.0),
    ]
    floor, wall = HalfPlane(name="floor"), HalfPlane(name="wall", point=(-0.2, 0.0), normal=(1.0, 0.0))
    system = PlanarSystem(
        bodies=[*bodies, arm], joints=joints, obstacles=[floor, wall], contact=ContactLaw(mu=0.4, mu_s=0.5, eps_n=0.2)
    )  # fmt: skip
    places = {f"b{k}": (0.12 * (k % 3) - 0.1, 0.0305 + 0.0605 * (k // 3), 0.0) for k in range(6)}
    rates = {name: rng.normal(scale=(0.5, 0.5, 1.0)) for name in places}
    start = system.state({**places, "arm": (0.4, 0.3, 0.0)}, rates)
    local, stepper = near_of(system, start, DT), MoreauJean(dt=DT)
    assert len(local.listed_contacts) > 8
    tables, functions = (CompiledSystem(local, make(local, start)) for make in (of_listed, by_answers))
    assert tables.parts.python is None
    assert tables.ids == functions.ids
    steps = [one.attempt(stepper, start, DT, DT, None) for one in (tables, functions)]
    assert all(step.solution.solved for step in steps)
    assert np.abs(steps[0].state.v).max() > 0.1
    assert np.allclose(steps[0].state.v, steps[1].state.v, rtol=0.0, atol=1e-10)
    assert np.allclose(steps[0].state.q, steps[1].state.q, rtol=0.0, atol=1e-12)
