"""The exact answers of the scenes against independent integrations and identities: no contact engine involved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from gaussdyn.scenes.catalogue import build
from gaussdyn.scenes.impacts.slack_string import Flight
from gaussdyn.scenes.painleve.sliding_rod import Reduced, sensitivity
from gaussdyn.scenes.sliding.coulomb_oscillator import Decay
from gaussdyn.scenes.sliding.incline import slide

G = 9.81
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}


def value(scene, name):
    return next(exact.value for exact in scene.exact if exact.name == name)


@pytest.mark.parametrize("v0", [-2.0, -0.5, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("slope", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("mu", [0.0, 0.25, 0.6])
def test_sliding_obeys_coulomb(v0, slope, mu):
    """At every time: d distance = speed, and the acceleration is what Coulomb's law gives for that speed."""
    t, h = np.linspace(0.05, 1.5, 40), 1e-5
    pull, drag = G * math.sin(slope), mu * G * math.cos(slope)
    for time in t:
        (before, slow), (_, speed), (after, fast) = (slide(time + dt, v0, slope, mu) for dt in (-h, 0.0, h))
        assert (after - before) / (2 * h) == pytest.approx(speed, abs=1e-4)
        a = (fast - slow) / (2 * h)
        if abs(speed) > 1e-3:
            assert a == pytest.approx(pull - math.copysign(drag, speed), abs=1e-6)
        elif speed == 0.0:
            assert pull <= drag
            assert a == 0.0


def test_incline_holds_up_to_the_friction_angle():
    assert slide(10.0, 0.0, 0.3, math.tan(0.3) + 1e-9) == (0.0, 0.0)
    assert slide(10.0, 0.0, 0.3, math.tan(0.3) - 1e-9)[1] > 0.0


@pytest.mark.parametrize(("e", "h"), [(0.8, 1.0), (0.5, 3.0), (0.0, 0.2), (0.9, 10.0)])
def test_zeno_time_is_the_sum_of_all_flights(e, h):
    v, t = math.sqrt(2 * G * h), math.sqrt(2 * h / G)
    for _ in range(2000):
        v *= e
        t += 2 * v / G
    scene = build("zeno_ball", e=e, h=h)
    assert value(scene, "time of rest") == pytest.approx(t, rel=1e-12)
    assert value(scene, "height of the first rebound") == pytest.approx(
        (e * math.sqrt(2 * G * h)) ** 2 / (2 * G), abs=1e-12
    )


def test_zeno_reference_number():
    assert value(build("zeno_ball"), "time of rest") == pytest.approx(4.06371276887158, abs=1e-14)


@pytest.mark.parametrize(("x0", "d"), [(1.05, 0.1), (-0.8, 0.13), (0.3, 0.11), (0.05, 0.1), (0.5, 0.3), (-1.2, 0.22)])
def test_decay_follows_the_equation_of_motion(x0, d):
    """Integrate half cycle by half cycle, x'' = -x - d sign(v), from rest to rest."""
    decay = Decay(x0, d, math.pi)
    x, swings = x0, 0
    while abs(x) > d:
        friction = d * math.copysign(1.0, x)  # it moves towards the centre, friction points outwards

        def turns(t, y):
            return y[1]

        turns.terminal, turns.direction = True, math.copysign(1.0, x)
        run = solve_ivp(lambda t, y, f=friction: [y[1], f - y[0]], (0.0, 10.0), [x, 0.0], events=turns, **TIGHT)
        x, swings = float(run.y[0, -1]), swings + 1
        assert x == pytest.approx(decay.turning_point(swings), abs=1e-9)
        assert run.t[-1] == pytest.approx(math.pi, abs=1e-6)
    assert swings == decay.swings


def test_coulomb_oscillator_reference_numbers():
    scene = build("coulomb_oscillator")
    assert value(scene, "where it stops") == pytest.approx(-0.05, abs=1e-12)
    assert value(scene, "when it stops") == pytest.approx(5 * math.pi, abs=1e-12)
    assert value(scene, "first turning point") == pytest.approx(-0.85, abs=1e-12)


@pytest.mark.parametrize("ratio", [2.3, 3.0, 3.5, 4.7])
def test_string_releases_where_the_tension_of_the_pendulum_vanishes(ratio):
    def tension(t, y):
        return y[1] ** 2 + math.cos(y[0])

    tension.terminal = True
    start = [0.0, math.sqrt(ratio)]
    run = solve_ivp(lambda t, y: [y[1], -math.sin(y[0])], (0.0, 10.0), start, events=tension, **TIGHT)
    flight = Flight(ratio)
    assert run.t[-1] == pytest.approx(flight.release, abs=1e-10)
    assert math.cos(run.y[0, -1]) == pytest.approx(flight.cos, abs=1e-10)
    assert run.y[1, -1] == pytest.approx(flight.speed, abs=1e-10)


@pytest.mark.parametrize("ratio", [2.3, 3.0, 3.5, 4.7])
def test_parabola_meets_the_circle_again(ratio):
    flight = Flight(ratio)
    x0, v0 = np.array([flight.sin, -flight.cos]), flight.speed * np.array([flight.cos, flight.sin])

    def place(t):
        return x0 + v0 * t + np.array([0.0, -t * t / 2])

    t = brentq(lambda t: place(t) @ place(t) - 1.0, 0.05, 5.0, xtol=1e-14)
    assert flight.release + t == pytest.approx(flight.taut, abs=1e-9)
    heights = [place(s)[1] + 1.0 for s in np.linspace(0.0, t, 20001)]
    assert max(heights) == pytest.approx(flight.apex, abs=1e-7)
    assert min(1.0 - np.hypot(*place(s)) for s in np.linspace(0.1, t, 50)) > -1e-12
    v = v0 + np.array([0.0, -t])
    radial = (v @ place(t)) * place(t)
    assert radial @ place(t) > 0.0
    assert 0.5 * (v - radial) @ (v - radial) + place(t)[1] + 1.0 == pytest.approx(flight.energy(), abs=1e-9)


def test_string_reference_numbers():
    scene = build("slack_string")
    assert value(scene, "height where it goes slack") == pytest.approx(1.5, abs=1e-14)
    assert Flight(3.5).cos == -0.5


@pytest.mark.parametrize("angle", [0.2, 1.0, math.atan(2.0), 1.4, 2.0])
@pytest.mark.parametrize("mu", [0.0, 0.7, 1.2])
def test_rod_obeys_newton_and_euler(angle, mu):
    """Forces, moments about the centre and the held tip, each on its own."""
    m, arm, u, omega = 1.7, 0.6, -2.0, 1.3
    rod = Reduced(mu, arm, m)
    N = rod.normal_force(angle, omega)
    _, tip_x, _, alpha = rod.slope(0.0, np.array([0.0, u, angle, omega]))
    r = arm * np.array([math.cos(angle), math.sin(angle)])  # from the tip to the centre
    tip = np.array([tip_x, 0.0])
    centre = tip + alpha * np.array([-r[1], r[0]]) - omega**2 * r
    force = np.array([mu * N, N])  # the tip moves to the left
    np.testing.assert_allclose(m * centre, force - np.array([0.0, m * G]), atol=1e-12)
    moment = -r[0] * force[1] + r[1] * force[0]
    assert m * arm**2 / 3 * alpha == pytest.approx(moment, abs=1e-12)


def test_frictionless_rod_conserves_momentum_and_energy():
    motion = Reduced(0.0, 0.5, 1.0).motion(1.0, 3.0, 0.5)
    _, u, theta, omega = motion.y.T
    centre = u - 0.5 * np.sin(theta) * omega
    np.testing.assert_allclose(centre, centre[0], atol=1e-11)
    energy = omega**2 * (0.25 / 3 + (0.5 * np.cos(theta)) ** 2) / 2 + G * 0.5 * np.sin(theta)
    np.testing.assert_allclose(energy, energy[0], atol=1e-11)


@pytest.mark.parametrize("theta0", [0.5, 0.78, 1.3])
def test_sensitivity_of_the_rod_is_what_neighbouring_motions_show(theta0):
    reduced = Reduced(mu=0.9, l=0.3, mass=2.0)
    motion = reduced.motion(theta0, 5.0, 0.4)
    found = sensitivity(reduced, motion)
    for k in (0, 100):
        span, kept = (float(motion.t[k]), float(motion.t[-1])), []
        for change in (1e-5, -1e-5):
            starts = [motion.y[k] + change * e for e in np.eye(4)]
            kept.append([solve_ivp(reduced.slope, span, y, rtol=1e-11, atol=1e-11).y[:, -1] for y in starts])
        moved = (np.array(kept[0]) - np.array(kept[1])).T / 2e-5
        np.testing.assert_allclose(found[k], moved, rtol=2e-3, atol=2e-3 * np.abs(moved).max())


def test_rod_is_followed_only_while_it_slides_under_pressure():
    for mu, theta0, v0, omega0, arm in [
        (1.2, 1.0, 1.0, 0.0, 0.2),
        (0.0, 1.4, 6.0, 1.0, 1.5),
        (0.5, 0.3, 3.0, -1.0, 0.5),
    ]:
        rod = Reduced(mu, arm, 1.0)
        motion = rod.motion(theta0, v0, omega0)
        assert motion.t[-1] > 0.005
        assert (motion.y[:, 1] < 0.0).all()
        assert all(rod.normal_force(y[2], y[3]) > 0.0 for y in motion.y)
