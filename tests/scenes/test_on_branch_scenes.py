"""The scenes that motion along the curve of configurations serves: what it keeps to, and the audit of its runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scene_cases import ON_BRANCH, by_scene

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.singular.on_branch import OnBranch
from gaussdyn.scenes.catalogue import build, parameters
from gaussdyn.scenes.linkages.parallelogram import Linkage, time_between


def check(scene):
    run = simulate(scene, stepper=OnBranch(dt=scene.dt))
    assert run.status == "COMPLETED", (scene.params, run.stop)
    for exact in scene.exact:
        if "on_branch" in exact.tol:
            found = exact.measure(run)
            assert abs(found - exact.value) <= exact.tol["on_branch"], (scene.params, exact.name, found, exact.value)
    return run


def test_reactions_of_darboux_near_its_crossing_balance_momentum():
    """Beside the piece that holds the crossing they grow too fast for polynomials."""
    scene = build("darboux", Fx=1.0, start=-0.3, end=0.2)
    checked = audit(check(scene), scene.system)
    assert checked.passed, checked.explain()


@pytest.mark.slow
@pytest.mark.parametrize("name", by_scene(ON_BRANCH))
def test_they_keep_to_their_exact_numbers(name):
    rng, known = np.random.default_rng(3), parameters(name)
    for params in ({}, {key: float(rng.uniform(p.min, p.max)) for key, p in known.items()}):
        scene = build(name, **params)
        checked = audit(check(scene), scene.system)
        assert checked.passed, (scene.params, checked.explain())


@pytest.mark.slow
def test_the_crossed_parallelogram_keeps_to_its_exact_numbers():
    scene = build("parallelogram", crossed=1.0, angle=1.1, rate=0.5, ratio=1.5, coupler=4.0)
    assert audit(check(scene), scene.system).passed


@pytest.mark.slow
def test_a_parallelogram_told_to_goes_on_crossed_with_the_energy_there_is():
    """Of the two motions crossed, the one on which the lower crank goes on: the mass matrix says which is ahead."""
    scene = build("parallelogram")
    straight = Linkage(crossed=False, ratio=2.0, coupler=1.0, gravity=9.81)
    crossed = replace(straight, crossed=True)
    energy = straight.energy(-0.8, 1.0)
    passing = time_between(straight, energy, -0.8, 0.0)
    t_end = passing + time_between(crossed, energy, 0.0, 0.3)
    rate = math.sqrt(2.0 * (energy - crossed.potential(0.3)) / crossed.inertia(0.3))
    found = []
    for branch in (0, 1):
        run = simulate(scene.system, scene.state, t_end, stepper=OnBranch(dt=0.02, on_branch=branch))
        assert [event.t for event in run.events] == pytest.approx([passing], abs=1e-10)
        assert np.ptp(run["energy"]) < 1e-10
        found.append((*(run.q[-1, [2, 5]] + 0.5 * math.pi), run.v[-1, 2]))  # cranks from the vertical
    found.sort()
    assert found[0] == pytest.approx((-0.3, 2.0 * math.atan(3.0 * math.tan(0.15)), -rate), abs=1e-9)
    assert found[1][0] == pytest.approx(found[1][1], abs=1e-12)
    assert found[1][0] > 0.0
