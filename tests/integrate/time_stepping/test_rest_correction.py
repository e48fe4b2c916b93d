"""Bodies that stand: they do not creep, and their floor carries their weight, however heavy the topmost is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem

G = 9.81


def brick_on_slope(share, mu, heading):
    """A brick on a slope whose tangent is `share` of the friction; the slope is z = 0, gravity is tilted."""
    a = math.atan(share * mu)
    gravity = (G * math.sin(a) * math.cos(heading), G * math.sin(a) * math.sin(heading), -G * math.cos(a))
    system = SpatialSystem(
        bodies=[brick("b", mass=2.0, half=(0.1, 0.15, 0.05))],
        obstacles=[HalfSpace(name="slope")],
        contact=ContactLaw(mu=mu),
        gravity=gravity,
    )
    return system, system.state({"b": (0.0, 0.0, 0.05)})


def stack(masses, mu=0.5):
    names = [f"s{k}" for k in range(len(masses))]
    system = SpatialSystem(
        bodies=[brick(name, mass=m, half=(0.1, 0.1, 0.1)) for name, m in zip(names, masses, strict=True)],
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=mu),
    )
    return system, system.state({name: (0.0, 0.0, 0.1 + 0.2 * k) for k, name in enumerate(names)})


def creep(system, state, dt, steps):
    """Return the fastest tangential speed of a contact, and the way that adds up to."""
    fastest, way, stepper = 0.0, 0.0, MoreauJean(dt=dt)
    for _ in range(steps):
        step = stepper.advance(system, state, 1e9)
        assert step.solution.solved, step.solution.explain()
        speed = max(float(np.linalg.norm(row.rate[1:])) for row in step.rows)
        fastest, way, state = max(fastest, speed), way + speed * step.dt, step.state
    return fastest, way


@pytest.mark.parametrize(("mu", "heading"), first(1, [(0.5, 0.0), (0.5, 0.7), (0.2, -1.9), (0.9, 2.5)]))
def test_a_brick_just_below_the_friction_angle_does_not_creep(mu, heading):
    fastest, _ = creep(*brick_on_slope(0.99, mu, heading), 0.01, 40)
    assert fastest <= 1e-16


def test_a_brick_just_above_it_slides_as_it_should():
    mu, share = 0.5, 1.0 + 1e-6
    system, state = brick_on_slope(share, mu, 0.7)
    a = math.atan(share * mu)
    run = simulate(system, state, 0.1, stepper=MoreauJean(dt=0.01))
    expected = G * (math.sin(a) - mu * math.cos(a)) * 0.1
    assert np.linalg.norm(run.v[-1, :2]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_a_brick_at_99_percent_of_the_friction_angle_stays_for_an_hour():
    fastest, way = creep(*brick_on_slope(0.99, 0.5, 0.7), 0.1, 36_000)
    assert fastest <= 1e-16
    assert way <= 1e-12


@pytest.mark.parametrize("masses", [[1.0] * 5, [1.0] * 20, [1.0, 1.0, 1e6], [1.0] * 4 + [1e3], [1e-2, 1.0, 1e2, 1e4]])
def test_the_floor_carries_the_weight_and_nothing_moves(masses):
    system, state = stack(masses)
    run = simulate(system, state, 8e-3, stepper=MoreauJean(dt=2e-3))
    assert run.status == "COMPLETED", run.stop
    force = run.between("s0", "floor").force[1:]
    np.testing.assert_allclose(force, np.tile([0.0, 0.0, G * sum(masses)], (4, 1)), atol=1e-12 * G * sum(masses))
    assert np.abs(run.v).max() <= 1e-12
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()


@pytest.mark.parametrize("heavy", [1.0, 1e3])
def test_the_order_in_which_bodies_are_given_changes_nothing(heavy):
    masses, found = {"s0": 1.0, "s1": 1.0, "s2": 1.0, "s3": heavy}, []
    for names in (["s0", "s1", "s2", "s3"], ["s2", "s0", "s3", "s1"], ["s0", "s1", "s2", "s3"]):
        bodies = [brick(name, mass=masses[name], half=(0.1, 0.1, 0.1)) for name in names]
        system = SpatialSystem(bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
        state = system.state({name: (0.0, 0.0, 0.1 + 0.2 * int(name[1])) for name in names})
        run = simulate(system, state, 0.2, stepper=MoreauJean(dt=5e-3))
        places = {name: run.q[-1, system.index(name, "x") :][:7] for name in names}
        found.append((run, np.concatenate([places[name] for name in sorted(names)])))
    (one, q), (other, q_other), (again, _) = found
    np.testing.assert_allclose(q_other, q, atol=1e-12)
    force, other_force = (run.between("s0", "floor").force for run in (one, other))
    np.testing.assert_allclose(other_force, force, atol=1e-12 * G * (3.0 + heavy))
    assert one.state_hash == again.state_hash
    assert abs(one["work_projection"][-1]) <= 1e-10 * G * (3.0 + heavy) * 0.2 * 0.2
