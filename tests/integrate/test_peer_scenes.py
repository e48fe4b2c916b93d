"""The scenes that engines are compared on, from bodies and laws alone, with parameters drawn at random.

Every answer is a closed form; both steppers have to give it, and every run has to pass its audit.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, audit, simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.spatial.bodies import ball, brick, pill

pytestmark = pytest.mark.slow


@pytest.fixture(params=first(1, range(2), rest=pytest.mark.nightly))
def rng(request):
    return np.random.default_rng(100 + request.param)


def between(rng, low, high):
    """A number of any size between two."""
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def heading(rng):
    a = rng.uniform(0.0, 2.0 * math.pi)
    return np.array([math.cos(a), math.sin(a), 0.0])


def on_floor(bodies, gravity, **law):
    return SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(**law), gravity=tuple(gravity)
    )


def run_of(system, state, t_end, dt):
    run = simulate(system, state, t_end, stepper=MoreauJean(dt=dt))
    assert run.status == "COMPLETED", run.stop
    assert run.statistics["max_penetration_m"] <= 1e-10
    assert run.statistics["max_residual"] <= 1e-10
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    return run


@pytest.mark.parametrize("kind", ["ball", "pill"])
def test_a_round_body_slips_and_rolls(rng, kind):
    r, m, mu, v0, g = (
        between(rng, 0.01, 3.0),
        between(rng, 1e-3, 1e4),
        rng.uniform(0.05, 1.2),
        between(rng, 0.1, 20.0),
        9.81,
    )
    d = heading(rng)
    if kind == "ball":
        body, k, lying = ball("b", mass=m, radius=r), 0.4, (1.0, 0.0, 0.0, 0.0)
    else:
        body = pill("b", mass=m, radius=r, half_length=2.0 * r)
        k, yaw = body.inertia[2][2] / (m * r * r), math.atan2(d[1], d[0])
        c, s, half = math.cos(yaw / 2), math.sin(yaw / 2), math.sqrt(0.5)
        lying = (half * c, half * c, half * s, half * s)  # its axis along z turned to y, then by yaw
    system = on_floor([body], (0.0, 0.0, -g), mu=mu)
    rolls = v0 / (mu * g * (1.0 + 1.0 / k))
    dt = rolls / rng.uniform(30.0, 120.0)
    run = run_of(system, system.state({"b": (0.0, 0.0, r, *lying)}, {"b": v0 * d}), 1.7 * rolls, dt)
    slipping = run["t"] < rolls - dt
    np.testing.assert_allclose(run.v[slipping, :3], np.outer(v0 - mu * g * run["t"][slipping], d), atol=1e-11 * v0)
    np.testing.assert_allclose(run.v[-1, :3], v0 / (1.0 + k) * d, atol=1e-11 * v0)
    way = v0 * rolls - 0.5 * mu * g * rolls**2 + v0 / (1.0 + k) * 0.7 * rolls
    np.testing.assert_allclose(run.q[-1, :3], way * d + [0.0, 0.0, r], atol=4.0 * mu * g * dt**2)
    assert np.abs(run.q[:, 2] - r).max() <= 1e-10


@pytest.mark.parametrize("share", [0.99, 1.01, 1.7])
def test_a_brick_on_a_slope_is_held_or_slides(rng, share):
    m, mu, d = between(rng, 1e-3, 1e4), rng.uniform(0.05, 0.8), heading(rng)
    half = np.array([between(rng, 0.05, 1.0), between(rng, 0.05, 1.0), 0.0])
    half[2] = 0.5 * half[:2].min()  # too low to tip
    g, a = between(rng, 1.0, 30.0), math.atan(share * mu)
    system = on_floor([brick("b", mass=m, half=half)], g * (math.sin(a) * d - [0.0, 0.0, math.cos(a)]), mu=mu)
    T, dt = 0.5, 0.5 / rng.integers(20, 100)
    run = run_of(system, system.state({"b": (0.0, 0.0, half[2])}), T, dt)
    slides = g * (math.sin(a) - mu * math.cos(a)) if share > 1.0 else 0.0
    if share < 1.0:
        assert np.abs(run.v).max() <= 1e-16
        assert np.abs(run.q[:, :2]).max() <= 1e-16
    np.testing.assert_allclose(run.v[-1, :3], slides * T * d, atol=1e-12 * g * T)
    np.testing.assert_allclose(run.q[-1, :3], 0.5 * slides * T * T * d + [0.0, 0.0, half[2]], atol=1e-12 * g * T * T)
    weight = run.between("b", "floor").force[1:, 2]
    np.testing.assert_allclose(weight, m * g * math.cos(a), rtol=1e-10)


def test_stacks_stand_whatever_their_masses(rng):
    n = int(rng.choice([5, 20]))
    masses, half, g = 10.0 ** rng.uniform(-2.0, 2.0, n), (between(rng, 0.02, 1.0), 0.3, between(rng, 0.02, 0.5)), 9.81
    masses[-1] *= 1e3
    mu = rng.uniform(0.1, 1.0)
    names = [f"s{k:02d}" for k in range(n)]
    places = {name: (0.0, 0.0, half[2] * (1 + 2 * k)) for k, name in enumerate(names)}
    found = []
    for order in (names, list(rng.permutation(names)), names):
        bodies = [brick(name, mass=masses[names.index(name)], half=half) for name in order]
        system = on_floor(bodies, (0.0, 0.0, -g), mu=mu)
        run = run_of(system, system.state(places), 0.05, 1e-3)
        force = run.between("s00", "floor").force[1:]
        np.testing.assert_allclose(force[:, 2], g * masses.sum(), rtol=1e-10)
        assert np.abs(force[:, :2]).max() <= 1e-10 * g * masses.sum()
        assert np.abs(run.v).max() <= 1e-12
        assert abs(run["work_projection"][-1]) <= 1e-10 * g * masses.sum() * half[0] * 0.05
        q = run.q.reshape(len(run), n, 7)[:, [list(order).index(name) for name in names]]
        found.append((force, q, run.state_hash))
    (force, q, known), (other_force, other_q, _), (*_, again) = found
    assert again == known
    np.testing.assert_allclose(other_q, q, atol=1e-12 * half[2])
    np.testing.assert_allclose(other_force, force, atol=1e-12 * g * masses.sum())


def test_a_ball_bounces_to_rest(rng):
    r, m, e, h = between(rng, 1e-3, 1.0), between(rng, 1e-3, 1e4), rng.uniform(0.2, 0.8), between(rng, 0.05, 5.0)
    g, fall = 9.81, math.sqrt(2.0 * h / 9.81)
    system, n = on_floor([ball("b", mass=m, radius=r)], (0.0, 0.0, -g), mu=rng.choice([0.0, 0.4]), eps_n=e), 200
    stops, dt = fall * (1.0 + e) / (1.0 - e), fall / (n + 0.37)
    run = run_of(system, system.state({"b": (0.0, 0.0, r + h)}), 1.1 * stops, dt)
    gap, t = run.q[:, 2] - r, run["t"]
    first = (t > fall + 2.0 * dt) & (t < fall * (1.0 + 2.0 * e) - 2.0 * dt)
    assert gap[first].max() == pytest.approx(e * e * h, rel=4.0 / n / e)
    assert abs(gap[-1]) <= 1e-10
    assert np.abs(run.v[-1]).max() <= 1e-12
    assert t[np.nonzero(np.abs(run.v[:, 2]) > 1e-9)[0][-1]] == pytest.approx(stops, rel=0.05)
    assert np.diff(run["energy"]).max() <= 1e-12 * m * g * (h + r)


def test_a_launched_cube_neither_lifts_nor_turns_and_stops(rng):
    a, m, mu, v0 = between(rng, 0.02, 2.0), between(rng, 1e-3, 1e4), rng.uniform(0.05, 0.9), between(rng, 0.1, 10.0)
    d, g, yaw = heading(rng), 9.81, rng.uniform(0.0, 3.0)
    system, stops = on_floor([brick("b", mass=m, half=(a, a, a))], (0.0, 0.0, -g), mu=mu), v0 / (mu * g)
    dt = stops / rng.uniform(20.0, 150.0)
    start = system.state({"b": (0.0, 0.0, a, math.cos(yaw), 0.0, 0.0, math.sin(yaw))}, {"b": v0 * d})
    run = run_of(system, start, stops + 3.0 * dt, dt)
    assert np.abs(run.q[:, 2] - a).max() <= 1e-10
    assert np.abs(run.v[:, 3:]).max() * a <= 1e-10 * v0
    slipping = run["t"] < stops - dt
    np.testing.assert_allclose(run.v[slipping, :3], np.outer(v0 - mu * g * run["t"][slipping], d), atol=1e-11 * v0)
    np.testing.assert_allclose(run.q[-1, :3], v0 * v0 / (2.0 * mu * g) * d + [0, 0, a], atol=mu * g * dt**2 + 1e-10)
    assert np.abs(run.v[-1]).max() <= 1e-15


def test_balls_in_a_row_are_hit(rng):
    """All at once by Newton's law: the first contact gives back e of its speed, the others stay closed."""
    n, r, e, v0 = int(rng.integers(2, 5)), between(rng, 0.01, 1.0), rng.uniform(), between(rng, 0.1, 10.0)
    d, names = rng.normal(size=3), [f"b{k}" for k in range(n)]
    d, ahead = d / np.linalg.norm(d), 0.1 * r
    bodies = [ball(name, mass=2.0, radius=r) for name in names]
    system = SpatialSystem(bodies=bodies, contact=ContactLaw(eps_n=e), gravity=(0.0, 0.0, 0.0))
    places = {name: (2.0 * r * k * (1.0 + 1e-15) - (ahead if k == 0 else 0.0)) * d for k, name in enumerate(names)}
    start, T = system.state(places, {"b0": v0 * d}), 1.05 * ahead / v0
    run = simulate(system, start, T, stepper=MoreauJean(dt=T / 21.3), project=True)
    after = np.full(n, (1.0 + e) * v0 / n) - np.eye(n)[0] * e * v0
    np.testing.assert_allclose(run.v[-1].reshape(n, 6)[:, :3], np.outer(after, d), atol=1e-11 * v0)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
