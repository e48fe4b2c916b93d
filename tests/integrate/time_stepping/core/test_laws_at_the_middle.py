"""Compiled steps with the laws at their middle: where passes do not settle, and where impacts gain energy."""

from __future__ import annotations

import numpy as np
import pytest
from reference_step import apart, reference_of, reference_step

from gaussdyn import ContactLaw, MoreauJean, PlanarSystem, State, build, simulate
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.mechanics.planar import HalfPlane
from gaussdyn.mechanics.planar.bodies import box


@pytest.mark.parametrize("name", ["bricard", "darboux", "equal_crank", "four_bar", "rimless_wheel"])
def test_few_steps_of_these_scenes_have_their_laws_at_the_middle(name: str) -> None:
    """They pass configurations in which joints nearly lose rank, or begin with an impact that would gain energy."""
    scene = build(name)
    stepper, state, marked = MoreauJean(dt=scene.dt), scene.state, 0
    while state.t < scene.t_end:
        step = stepper.advance(scene.system, state, scene.t_end, control=scene.control)
        assert isinstance(step, CompiledStep)
        if step.unsettled:
            marked += 1
            assert apart(step, reference_of(scene.system, step)) <= 1e-9
        state = step.state
    assert marked == {"bricard": 0, "darboux": 1, "equal_crank": 2, "four_bar": 2, "rimless_wheel": 1}[name]


def bouncing(seed: int) -> tuple[PlanarSystem, State]:
    """Return two boxes that are thrown at a slope and at each other, with restitution in both directions."""
    rng = np.random.default_rng(seed)
    bodies = [box(f"b{k}", mass=1.0 + k, width=0.3, height=0.1 + 0.1 * k) for k in range(2)]
    slope = HalfPlane(name="slope", normal=(0.1, 1.0))
    law = ContactLaw(mu=0.9, eps_n=0.9, eps_t=-0.3)
    system = PlanarSystem(bodies=bodies, obstacles=[slope], contact=law)
    places = {f"b{k}": (0.1 * k, 0.3 + 0.45 * k, rng.uniform(-3.0, 3.0)) for k in range(2)}
    rates = {f"b{k}": (1.0 - 2.0 * k, -1.0 - k, 5.0 * rng.normal()) for k in range(2)}
    return system, system.state(places, rates)


@pytest.mark.parametrize("seed", range(3))
def test_impacts_keep_as_much_restitution_as_gains_no_energy(seed: int) -> None:
    """The step is that of the reference with this share; with all of it there would be a gain."""
    system, state = bouncing(seed)
    kernels, kept = MoreauJean(dt=2e-3), []
    for _ in range(220):
        step = kernels.advance(system, state, 10.0)
        assert isinstance(step, CompiledStep)
        if step.restitution < 1.0:
            assert apart(step, reference_of(system, step)) <= 1e-10
            assert step.work.reactions + step.work.projection <= 1e-12
            whole = reference_step(system, state, step.dt, at_middle=True, joins=step.reactions)
            assert whole.work[0] > step.work.reactions
            kept.append(step.restitution)
        state = step.state
    assert kept


def test_a_run_says_what_was_kept_and_passes_its_audit() -> None:
    """Steps taken many at a time end where the laws are at the middle; the audit builds those steps again."""
    system, state = bouncing(1)
    runs = [simulate(system, state, 0.3, stepper=MoreauJean(dt=2e-3), save=n) for n in (1, 50)]
    assert runs[0].state_hash == runs[1].state_hash
    for run in runs:
        assert (run.steps.restitution < 1.0).sum() == 2
        assert [event.id for event in run.events if event.kind == "unsettled"] == ["b0:c0/slope", "b1:c0/slope"]
    checked = audit(runs[0], system)
    assert checked.passed, checked.explain()
