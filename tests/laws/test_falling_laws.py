"""Laws that every run of random falling bodies obeys: energy, momentum, gaps, contact laws; and no step is given up."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples, first
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from random_scenes import falling

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem

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


@settings(max_examples=examples(4, fast=1), deadline=None, phases=QUICK)
@given(**scenes)
@example(dim=3, seed=21, mu=0.9, eps_n=1.0)
@example(dim=2, seed=9, mu=0.2, eps_n=1.0)
@example(dim=3, seed=4, mu=0.9, eps_n=0.0)
def test_no_energy_comes_from_contacts(dim, seed, mu, eps_n):
    system, run = run_of(0.6, dim=dim, seed=seed, mu=mu, eps_n=eps_n)
    total = run["energy"]
    grown = float((total - np.minimum.accumulate(total)).max())
    assert grown <= (1e-9 + turning(system, run) ** 2) * np.abs(total[0])


@pytest.mark.slow
@settings(max_examples=examples(4, fast=1), deadline=None, phases=QUICK)
@given(**scenes)
@example(dim=2, seed=323, mu=0.0, eps_n=0.0)
@example(dim=3, seed=920488, mu=0.5, eps_n=0.0)  # contacts that join, and no longer push when others have joined too
def test_saved_steps_pass_the_audit(dim, seed, mu, eps_n):
    system, run = run_of(0.5, dim=dim, seed=seed, mu=mu, eps_n=eps_n)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert run.statistics["max_penetration_m"] <= 1e-10
    assert run.statistics["unsolved_steps"] == 0


def test_a_ball_over_an_edge_is_projected_though_its_normals_there_and_on_the_face_are_parallel():
    system, run = run_of(0.3, dim=3, seed=169, mu=0.2, eps_n=0.6)
    assert run.statistics["max_penetration_m"] <= 1e-10
    assert audit(run, system).passed


def test_steps_in_which_contacts_join_and_do_not_push_pass_the_audit():
    system, run = run_of(0.28, dim=3, seed=144, mu=0.0, eps_n=0.0)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@settings(max_examples=examples(4, fast=1), deadline=None, phases=QUICK)
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
@pytest.mark.parametrize("seeds", first(1, [range(4), range(4, 20)], rest=pytest.mark.nightly))
def test_no_run_of_many_stops(dim, eps_n, seeds):
    for seed in seeds:
        mu = (0.0, 0.3, 0.9)[seed % 3]
        system, run = run_of(0.8, dim=dim, seed=1000 + seed, mu=mu, eps_n=eps_n)
        total = run["energy"]
        grown = float((total - np.minimum.accumulate(total)).max())
        assert grown <= (1e-9 + turning(system, run) ** 2) * np.abs(total[0]), seed
        assert run.statistics["max_residual"] <= 1e-11, seed


@pytest.mark.parametrize(("mu", "eps_n"), first(1, [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5)]))
def test_an_oblique_impact_costs_angular_momentum_of_the_order_of_a_step(mu, eps_n):
    """The projection moves two balls by up to dt |u_N| / 2 along the normal while they pass each other at u_T.

    Without restitution all of it is lost, with eps_n = 1 (nothing is projected) only the square of dt.
    """
    one, two, speed = ball("one", mass=1.0, radius=0.1), ball("two", mass=2.0, radius=0.15), np.array([2.0, 0.3, -0.1])
    system = SpatialSystem(bodies=[one, two], contact=ContactLaw(mu=mu, eps_n=eps_n), gravity=(0.0, 0.0, 0.0))
    start = np.array([-0.5, 0.1, -0.05])
    along = start @ speed / (speed @ speed)
    meets = -along - np.sqrt(along**2 - (start @ start - 0.25**2) / (speed @ speed))
    normal = (start + meets * speed) / 0.25
    u_N, u_T = -normal @ speed, np.linalg.norm(speed - (normal @ speed) * normal)
    lost = []
    for dt in (4e-3, 2e-3):
        for phase in (0.1, 0.37, 0.61, 0.83):
            first = system.state({"one": start - phase * dt * speed}, {"one": (*speed, 0.0, 5.0, 1.0)})
            run = simulate(system, first, meets + 2.0 * dt, stepper=MoreauJean(dt=dt))
            assert np.diff(run["kinetic"]).max() <= 1e-14
            assert run.v[-1, :3] + 2.0 * run.v[-1, 6:9] == pytest.approx(speed, abs=1e-14)
            turned = [_about_origin(system, run.q[k], run.v[k]) for k in (0, -1)]
            lost.append(np.linalg.norm(turned[1] - turned[0]) / (2.0 / 3.0 * dt * u_N * u_T))
    worst = np.reshape(lost, (2, 4)).max(axis=1)
    if eps_n == 1.0:
        assert worst.max() <= 0.05
        assert np.log2(worst[:-1] / worst[1:]) == pytest.approx(1.0, abs=0.1)
    else:
        assert worst.max() <= 0.51
        assert worst.min() >= 0.05


def _about_origin(system, q, v):
    """Angular momentum of balls about the origin, kg m^2/s."""
    Q, V = q.reshape(-1, 7), v.reshape(-1, 6)
    return sum(
        body.mass * np.cross(x[:3], w[:3]) + body.inertia[0][0] * (matrix_of(x[3:]) @ w[3:])
        for body, x, w in zip(system.bodies, Q, V, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "mu", "eps_n"), [(5, 0.2, 0.2), (17, 0.2, 0.0), (37, 0.2, 0.2)])
def test_positions_are_rebuilt_where_contacts_depend_on_one_another(seed, mu, eps_n):
    system, run = run_of(0.5, dim=3, seed=seed, mu=mu, eps_n=eps_n)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
