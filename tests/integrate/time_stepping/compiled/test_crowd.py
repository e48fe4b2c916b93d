"""Steps in which contacts close on bodies that others hold: laws, audits and impacts with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first

from gaussdyn import MoreauJean, audit, simulate
from gaussdyn.integrate.time_stepping.compiled.free_bodies import CompiledBodies
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem

R, DT, G = 0.05, 2e-3, 9.81


def walled(bodies, wide, **law):
    """Return bodies on a floor between four walls."""
    sides = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]
    walls = [HalfSpace(name=f"w{k}", normal=n, point=tuple(-wide * np.array(n))) for k, n in enumerate(sides)]
    return SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor"), *walls], contact=ContactLaw(**law))


def dropped(n, seed):
    """Return n balls of several sizes above one another in a narrow shaft, and where they begin."""
    rng = np.random.default_rng(seed)
    bodies = [ball(f"b{i:02d}", mass=rng.uniform(0.5, 2.0), radius=rng.uniform(0.03, 0.05)) for i in range(n)]
    system = walled(bodies, 0.13, mu=0.5)
    at = [(0.11 * (i % 2) - 0.055, 0.11 * (i // 2 % 2) - 0.055, 0.1 + 0.13 * (i // 4)) for i in range(n)]
    off = rng.uniform(-4e-3, 4e-3, (n, 3))
    return system, system.state({body.name: tuple(x) for body, x in zip(bodies, at + off, strict=True)})


@pytest.mark.parametrize("seed", first(1, range(2)))
def test_piles_pass_their_audits_and_closing_gains_no_energy(seed):
    system, state = dropped(12, seed)
    run = simulate(system, state, 0.5, stepper=MoreauJean(dt=DT, tol=1e-10))
    assert run.status == "COMPLETED"
    assert run.event_counts["crowded"] >= 5
    assert audit(run, system=system).passed
    energy = run["kinetic"] + run["potential"]
    crowds = [round(event.t / DT) for event in run.events if event.kind == "crowded"]
    assert np.diff(energy)[np.array(crowds) - 1].max() <= 1e-13 * energy[0]
    np.testing.assert_array_equal(run.q, simulate(system, state, 0.5, stepper=MoreauJean(dt=DT, tol=1e-10)).q)


def test_a_pile_at_rest_weighs_what_it_weighs():
    """Statics of all bodies together, which says nothing of how contacts share the load."""
    bodies = [ball(f"b{i:02d}", mass=1.0 + 0.1 * i, radius=R) for i in range(12)]
    system = walled(bodies, 0.1, mu=0.5)
    places = [(0.1 * (i % 2) - 0.05, 0.1 * (i // 2 % 2) - 0.05, 0.06 + 0.12 * (i // 4)) for i in range(len(bodies))]
    state = system.state(dict(zip((body.name for body in bodies), places, strict=True)))
    stepper, kernels = MoreauJean(dt=DT, tol=1e-10), CompiledBodies.of(system)
    state = kernels.advance_many(stepper, state, 1500).state
    step = kernels.advance(stepper, state, DT, state.t + DT)
    assert np.abs(step.state.v).max() <= 1e-9
    push = [step.contact_force(body.name, other) for body in bodies for other in ("floor", "w0", "w1", "w2", "w3")]
    total = np.sum(push, axis=0)
    np.testing.assert_allclose(total, [0.0, 0.0, G * sum(body.mass for body in bodies)], rtol=1e-8, atol=1e-7)


def test_every_step_of_a_pile_is_solved_by_the_kernels():
    rng, k = np.random.default_rng(1), np.arange(40)
    grid = np.stack([k % 4 - 1.5, k // 4 % 4 - 1.5, k // 16], axis=1) * (0.11, 0.11, 0.115) + (0.0, 0.0, 0.06)
    bodies = [ball(f"b{i:02d}", mass=1.0, radius=R) for i in k]
    system = walled(bodies, 0.25, mu=0.5)
    at = grid + rng.uniform(-0.004, 0.004, (40, 3))
    state = system.state({body.name: tuple(x) for body, x in zip(bodies, at, strict=True)})
    many = CompiledBodies.of(system).advance_many(MoreauJean(dt=DT, tol=1e-10), state, 400)
    assert many.failed is None
    assert "dense" not in many.path
    assert many.E.max() <= 1e-10
    assert many.gap.min() >= -1e-10


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.8])
def test_a_ball_that_falls_on_one_that_stands(eps):
    """Newton's law for the pair alone: the lower ball is held by the floor, so the upper one leaves with eps v.

    Three balls that touch one another elsewhere are the loop without which passes are made.
    """
    bodies = [ball("low", mass=1.0, radius=R), ball("high", mass=0.5, radius=R)]
    bodies += [ball(f"t{k}", mass=1.0, radius=R) for k in range(3)]
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5),
        pairs={("low", "high"): ContactLaw(mu=0.5, eps_n=eps)},
    )  # fmt: skip
    three = {"t0": (1.0, 0.0, R), "t1": (1.0 + 2.0 * R, 0.0, R), "t2": (1.0 + R, math.sqrt(3.0) * R, R)}
    state = system.state({"low": (0.0, 0.0, R), "high": (0.0, 0.0, 3.0 * R + 0.0513), **three})
    stepper, kernels, crowds = MoreauJean(dt=DT), CompiledBodies.of(system), 0
    while state.t < 0.15:
        before, step = state.v[8], kernels.advance(stepper, state, DT, state.t + DT)
        state = step.state
        if step.crowded:
            crowds += 1
            if eps:
                assert state.v[8] == pytest.approx(-eps * before, rel=1e-12)
                assert state.v[2] == 0.0
            else:
                assert state.q[9] - state.q[2] == pytest.approx(2.0 * R, abs=1e-11)
            break
    assert crowds == 1
