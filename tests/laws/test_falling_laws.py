"""Laws that every run of random falling bodies obeys: energy, momentum, gaps, contact laws; and no step is given up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from random_scenes import falling

from gaussdyn.analysis.audit import audit
from gaussdyn.integrate.moreau_jean import MoreauJean
from gaussdyn.integrate.simulate import simulate

DT = 4e-3
QUICK = (Phase.explicit, Phase.generate)  # no smaller example: runs take long, and their seed says all
scenes = {
    "dim": st.sampled_from([2, 3]), "seed": st.integers(0, 10**6), "mu": st.sampled_from([0.0, 0.2, 0.5, 0.9]),
    "eps_n": st.sampled_from([0.0, 0.2, 0.6, 1.0]),
}  # fmt: skip


def run_of(t_end, **how):
    system, state = falling(how.pop("dim"), how.pop("seed"), **how)
    run = simulate(system, state, t_end, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED", run.stop
    return system, run


def turning(system, run):
    """The largest angle by which a body turns in a step, rad: by the square of it a step is wrong."""
    w = run.v.reshape(len(run.t), len(system.bodies), -1)[:, :, -1 if system.nq == system.nv else slice(3, 6)]
    return DT * float(np.abs(w).max())


@settings(max_examples=4, deadline=None, phases=QUICK)
@given(**scenes)
@example(dim=3, seed=21, mu=0.9, eps_n=1.0)
@example(dim=2, seed=9, mu=0.2, eps_n=1.0)
@example(dim=3, seed=4, mu=0.9, eps_n=0.0)
def test_no_energy_comes_from_contacts(dim, seed, mu, eps_n):
    system, run = run_of(0.6, dim=dim, seed=seed, mu=mu, eps_n=eps_n)
    total = run["energy"]
    grown = float((total - np.minimum.accumulate(total)).max())
    assert grown <= (1e-9 + turning(system, run) ** 2) * np.abs(total[0])


@settings(max_examples=4, deadline=None, phases=QUICK)
@given(**scenes)
@example(dim=2, seed=323, mu=0.0, eps_n=0.0)
@example(dim=3, seed=920488, mu=0.5, eps_n=0.0)  # contacts that join, and no longer push when others have joined too
def test_saved_steps_pass_the_audit(dim, seed, mu, eps_n):
    system, run = run_of(0.5, dim=dim, seed=seed, mu=mu, eps_n=eps_n)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert run.statistics["max_penetration_m"] <= 1e-10
    assert run.statistics["unsolved_steps"] == 0


@settings(max_examples=4, deadline=None, phases=QUICK)
@given(**scenes)
def test_free_bodies_keep_their_momentum(dim, seed, mu, eps_n):
    system, state = falling(dim, seed, mu=mu, eps_n=eps_n, floor=False)
    run = simulate(system, state, 0.6, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED", run.stop
    masses = np.array([body.mass for body in system.bodies])
    speeds = run.v.reshape(len(run.t), len(masses), -1)[:, :, :dim]
    momentum = (masses[:, None] * speeds).sum(axis=1)
    size = (masses[:, None] * np.abs(speeds)).sum(axis=(1, 2)).max()
    assert np.abs(momentum - momentum[0]).max() <= 1e-11 * size


def test_an_impact_that_would_gain_energy_keeps_less_restitution():
    # a box on its corner, sticking at the corner: all of Newton's restitution would give more energy than there was
    _, run = run_of(0.5, dim=2, seed=9, mu=0.9, eps_n=1.0)
    assert run.steps.restitution.min() < 1.0
    assert (run.steps.restitution >= 0.0).all()
    k = int(np.argmin(run.steps.restitution))
    assert run["energy"][k + 1] == pytest.approx(run["energy"][k], rel=1e-2)
    assert run["energy"][k + 1] <= run["energy"][k] * (1.0 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("eps_n", [0.0, 0.5, 1.0])
def test_no_run_of_many_stops(dim, eps_n):
    for seed in range(20):
        mu = (0.0, 0.3, 0.9)[seed % 3]
        system, run = run_of(0.8, dim=dim, seed=1000 + seed, mu=mu, eps_n=eps_n)
        total = run["energy"]
        grown = float((total - np.minimum.accumulate(total)).max())
        assert grown <= (1e-9 + turning(system, run) ** 2) * np.abs(total[0]), seed
        assert run.statistics["max_residual"] <= 1e-11, seed
