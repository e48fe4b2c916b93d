"""The scenes by events: what is located is exact to 1e-10, at the defaults and over the ranges of the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scene_cases import LOCATED, by_scene, scene_of

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build, parameters


def check(scene, stepper):
    run = simulate(scene, stepper=stepper)
    assert run.status == "COMPLETED", (scene.params, run.stop)
    for exact in scene.exact:
        if stepper.name in exact.tol:
            found = exact.measure(run)
            assert abs(found - exact.value) <= exact.tol[stepper.name], (scene.params, exact.name, found, exact.value)
    return run


def test_the_scenes_of_the_first_bars_are_among_them():
    bars = (
        "belt_oscillator coulomb_oscillator cue_ball falling_rod incline ladder launched_cube leaving_sphere pendulum"
    )
    more = "rimless_wheel rocking_block slack_string sphere_slip zeno_ball"
    assert set(bars.split() + more.split()) <= set(LOCATED)


@pytest.mark.parametrize("name", by_scene(LOCATED))
def test_what_is_located_is_exact(name):
    check(scene_of(name), EventDriven())


@pytest.mark.slow
@pytest.mark.parametrize("name", by_scene(LOCATED))
def test_what_is_located_is_exact_anywhere(name):
    rng, known = np.random.default_rng(8), parameters(name)
    for _ in range(2):
        scene = build(name, **{key: float(rng.uniform(p.min, p.max)) for key, p in known.items()})
        run = check(scene, EventDriven(dt=scene.t_end / 4.0))
        checked = audit(run, scene.system)
        assert checked.passed, (scene.params, checked.explain())
