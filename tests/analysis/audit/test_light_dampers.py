"""A damper of something light makes passes contract slowly, or diverge, once all else has settled."""

from __future__ import annotations

import pytest
from random_scenes import mixed

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean


@pytest.mark.parametrize(
    ("seed", "dt", "t_end"), [(9880, 1e-2, 0.08), (9917, 2e-2, 0.32), (9917, 0.1, 0.2)], ids=["slow", "apart", "lost"]
)
def test_momentum_is_kept_where_a_damped_hinge_turns_something_light(seed, dt, t_end):
    """The change of a pass is .93 to 9 times that of the last from a size on at which they seemed to hover.

    Where they diverge beyond that (the last) places were not those of the velocities, too.
    """
    system, state = mixed(2, seed)
    verdict = audit(simulate(system, state, t_end, stepper=MoreauJean(dt=dt)), system)
    assert verdict.max["momentum"] < 2e-11
    assert verdict.max["kinematics"] < 1e-12


def test_a_piece_of_a_cut_step_names_what_a_run_has_rows_of():
    """Nothing pushes in it, and the first constraint of the system is a damper, which is no row."""
    system, state = mixed(3, 10002)
    run = simulate(system, state, 0.24, stepper=MoreauJean(dt=3e-2))
    named = {event.id for event in run.events if event.kind == "cut"}
    assert named <= {one.id for k in range(len(run)) for one in run.contacts(k)}
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
