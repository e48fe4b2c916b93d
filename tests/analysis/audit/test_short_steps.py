"""Steps of a millionth of a second, which a tolerance asks for among impacts, are judged beside the speeds at hand."""

from __future__ import annotations

from random_scenes import falling

from gaussdyn import Tolerance
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean


def test_the_last_digits_of_speeds_are_no_fault_of_very_short_steps():
    """What gravity changes in these is 1e-5 m/s; the speeds of what falls are a million times as much."""
    system, state = falling(2, 9878, mu=0.5, eps_n=0.8, eps_t=0.5)
    run = simulate(system, state, 0.24, stepper=MoreauJean(step=Tolerance(1e-3)))
    assert run.steps.dt.min() < 1e-5
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
