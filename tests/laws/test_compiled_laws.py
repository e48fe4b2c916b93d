"""Steps of free bodies obey the laws: energy of impacts, audits, rest, scenes thrown at random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from random_scenes import falling
from reference_step import apart, reference_of, reference_step

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.forces import Shaking
from gaussdyn.mechanics.spatial.system import SpatialSystem

DT, G, H = 4e-3, 9.81, 0.1


def run_of(t_end, seed, **how):
    system, state = falling(3, seed, **how)
    run = simulate(system, state, t_end, stepper=MoreauJean(dt=DT))
    assert run.status == "COMPLETED", run.stop
    return system, run


def gains_nothing(system, run):
    w = run.v.reshape(len(run.t), len(system.bodies), 6)[:, :, 3:]
    turning = DT * float(np.abs(w).max())
    total = run["energy"]
    grown = float((total - np.minimum.accumulate(total)).max())
    return grown <= (1e-9 + turning**2) * abs(total[0])


@pytest.mark.parametrize(
    ("seed", "mu", "eps_n"), first(2, [(21, 0.9, 1.0), (4, 0.9, 0.0), (5, 0.9, 0.0), (7, 0.2, 0.6)])
)
def test_impacts_gain_no_energy(seed, mu, eps_n):
    system, run = run_of(0.3, seed, mu=mu, eps_n=eps_n)
    assert gains_nothing(system, run)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


def test_an_impact_that_would_gain_energy_keeps_what_gains_none():
    """By the reference, too: the work of such steps is no gain, and with all restitution it is."""
    system, state = falling(3, 21, mu=0.9, eps_n=1.0)
    method, shares = MoreauJean(dt=DT), []
    for _ in range(80):
        step = method.advance(system, state, state.t + 1.0)
        if step.restitution < 1.0:
            assert step.unsettled
            assert apart(step, reference_of(system, step)) <= 1e-8
            assert step.work.reactions + step.work.projection <= 1e-12
            whole = reference_step(system, state, step.dt, at_middle=True, joins=step.reactions)
            assert whole.work[0] > step.work.reactions
            shares.append(step.restitution)
        state = step.state
    assert len(shares) == 2


@pytest.mark.slow
@pytest.mark.parametrize("eps_n", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seeds", first(1, [range(4), range(4, 12)], rest=pytest.mark.nightly))
def test_no_run_of_many_stops(eps_n, seeds):
    for seed in seeds:
        mu = (0.0, 0.3, 0.9)[seed % 3]
        system, run = run_of(0.8, 1000 + seed, mu=mu, eps_n=eps_n)
        assert gains_nothing(system, run), seed
        assert run.statistics["max_residual"] <= 1e-11, seed


@pytest.mark.parametrize("masses", [[1.0] * 5, [1.0] * 20, [1.0] * 50, [1.0] * 19 + [1e3], [1.0, 1.0, 1e6]])
def test_stacks_stand_and_the_floor_carries_their_weight(masses):
    names = [f"s{k:02d}" for k in range(len(masses))]
    bodies = [brick(name, mass=m, half=(H, H, H)) for name, m in zip(names, masses, strict=True)]
    system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    state = system.state({name: (0.0, 0.0, H + 2.0 * H * k) for k, name in enumerate(names)})
    run = CompiledBodies.of(system).advance_many(MoreauJean(dt=1e-3), state, 100)
    assert run.taken == 100
    assert np.abs(run.state.v).max() <= 1e-12
    weight = sum(p[0] for id, p in run.state.memory.items() if id.endswith("/floor")) / 1e-3
    assert weight == pytest.approx(G * sum(masses), rel=1e-10)


@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_a_brick_just_below_the_friction_angle_does_not_creep(heading):
    a = math.atan(0.99 * 0.5)
    gravity = (G * math.sin(a) * math.cos(heading), G * math.sin(a) * math.sin(heading), -G * math.cos(a))
    system = SpatialSystem(
        bodies=[brick("b", mass=2.0, half=(0.1, 0.15, 0.05))], obstacles=[HalfSpace(name="slope")],
        contact=ContactLaw(mu=0.5), gravity=gravity,
    )  # fmt: skip
    run = CompiledBodies.of(system).advance_many(MoreauJean(dt=0.1), system.state({"b": (0.0, 0.0, 0.05)}), 36_000)
    assert run.taken == 36_000
    assert np.abs(run.v).max() <= 1e-16
    assert run.state.t == pytest.approx(3600.0)


def test_a_rocking_stack_is_solved_in_every_step():
    names = [f"s{k:02d}" for k in range(20)]
    system = SpatialSystem(
        bodies=[brick(name, mass=1.0, half=(H, H, H)) for name in names], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.5), forces=(Shaking(amplitude=1.5 / 20 * G, frequency=20.0 / (2.0 * math.pi)),),
    )  # fmt: skip
    state = system.state({name: (0.0, 0.0, H + 2.0 * H * k) for k, name in enumerate(names)})
    run = CompiledBodies.of(system).advance_many(MoreauJean(dt=1e-3, tol=1e-10), state, 400)
    assert run.taken == 400
    assert run.E.max() <= 1e-10
    assert "dense" not in run.path
    assert np.abs(run.state.v).max() > 0.0
