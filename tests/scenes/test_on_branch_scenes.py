"""The scenes that motion along the curve of configurations serves: what it keeps to, and the audit of its runs."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.on_branch import OnBranch
from gaussdyn.integrate.simulate import simulate
from gaussdyn.scenes.catalogue import build, names, parameters

SERVED = tuple(name for name in names() if any("on_branch" in exact.tol for exact in build(name).exact))


def check(scene):
    run = simulate(scene, stepper=OnBranch(dt=scene.dt))
    assert run.status == "COMPLETED", (scene.params, run.stop)
    for exact in scene.exact:
        if "on_branch" in exact.tol:
            found = exact.measure(run)
            assert abs(found - exact.value) <= exact.tol["on_branch"], (scene.params, exact.name, found, exact.value)
    return run


def test_bricard_is_among_them():
    assert "bricard" in SERVED


def test_reactions_of_darboux_near_its_crossing_balance_momentum():
    """Beside the piece that holds the crossing they grow too fast for polynomials."""
    scene = build("darboux", Fx=1.0, start=-0.3, end=0.2)
    checked = audit(check(scene), scene.system)
    assert checked.passed, checked.explain()


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVED)
def test_they_keep_to_their_exact_numbers(name):
    rng, known = np.random.default_rng(3), parameters(name)
    for params in ({}, {key: float(rng.uniform(p.min, p.max)) for key, p in known.items()}):
        scene = build(name, **params)
        checked = audit(check(scene), scene.system)
        assert checked.passed, (scene.params, checked.explain())
