"""Exact answers of the scenes of contacts and impacts: reference numbers, limits and independent integrations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import examples
from scipy.integrate import solve_ivp

from gaussdyn.scenes.catalogue import build, parameters
from gaussdyn.scenes.impacts.double_pendulum_impact import Pendulum, impact
from gaussdyn.scenes.impacts.rimless_wheel import Walk
from gaussdyn.scenes.impacts.rocking_block import Rocking
from gaussdyn.scenes.impacts.two_ball_drop import Bounce
from gaussdyn.scenes.painleve.falling_rod import largest_ratio
from gaussdyn.scenes.references.corner_motion import Corner
from gaussdyn.scenes.sliding.belt_oscillator import Cycle
from gaussdyn.scenes.sliding.spinning_disc import course, drag, face, final_ratio
from gaussdyn.scenes.spinning.leaving_sphere import Descent
from gaussdyn.scenes.standing.ladder import Fall
from gaussdyn.scenes.standing.tip_or_slide import start
from gaussdyn.scenes.standing.wedge_lock import motion

G = 9.81
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}


def value(scene, name):
    return next(exact.value for exact in scene.exact if exact.name == name)


def defaults(name, **changed):
    return {key: p.default for key, p in parameters(name).items()} | changed


def test_ladder_reference_number():
    angle = value(build("ladder"), "angle at which it leaves the wall")
    assert math.degrees(angle) == pytest.approx(35.2643896827547, abs=1e-10)


@pytest.mark.parametrize("theta0", [0.3, 1.0, 1.5])
def test_ladder_falls_as_lagrange_says(theta0):
    """Both phases integrated from the equations of motion; the wall's force is m x'' of the centre."""

    def against_wall(t, y):
        return [y[1], -1.5 * math.cos(y[0])]

    def wall(t, y):
        return -0.5 * (-1.5 * math.cos(y[0]) * math.sin(y[0]) + y[1] ** 2 * math.cos(y[0]))

    def alone(t, y):
        c, s = math.cos(y[0]), math.sin(y[0])
        return [y[1], -(0.5 * c - 0.25 * s * c * y[1] ** 2) / (1.0 / 12.0 + 0.25 * c * c)]

    wall.terminal, wall.direction = True, -1.0
    first = solve_ivp(against_wall, (0.0, 30.0), [theta0, 0.0], events=wall, **TIGHT)
    fall = Fall.of(theta0)
    assert first.t[-1] == pytest.approx(fall.leaves, abs=1e-9)
    assert math.sin(first.y[0, -1]) == pytest.approx(2.0 / 3.0 * math.sin(theta0), abs=1e-9)
    second = solve_ivp(alone, (fall.leaves, fall.ends), first.y[:, -1], **TIGHT)
    assert second.y[0, -1] == pytest.approx(fall.theta, abs=1e-9)
    assert second.y[1, -1] == pytest.approx(fall.omega, abs=1e-9)


def test_belt_oscillator_slides_back_as_integrated():
    cycle = Cycle(x_s=0.4, x_k=0.2, w=3.0, belt=0.5)

    def caught(t, y):
        return y[1] - 0.5

    caught.terminal, caught.direction = True, 1.0
    slope = lambda t, y: [y[1], -9.0 * (y[0] - 0.2)]  # noqa: E731
    run = solve_ivp(slope, (0.0, 10.0), [0.4, 0.5], events=caught, dense_output=True, **TIGHT)
    assert run.t[-1] == pytest.approx(cycle.slip, abs=1e-9)
    assert run.y[0, -1] == pytest.approx(2 * 0.2 - 0.4, abs=1e-9)
    assert cycle.ride == pytest.approx((0.4 - run.y[0, -1]) / 0.5, abs=1e-9)
    assert run.sol(np.linspace(0.0, run.t[-1], 4001))[0].max() == pytest.approx(0.2 + cycle.amplitude, abs=1e-6)


@pytest.mark.parametrize(("beta", "cos"), [(0.4, 10.0 / 17.0), (0.5, 4.0 / 7.0)])
def test_rolling_bodies_leave_a_sphere_where_the_textbook_says(beta, cos):
    """Friction so high that they roll to the end, released next to the top."""
    _, _, y = Descent(beta=beta, mu=1e4, theta0=0.05).motion()
    assert math.cos(y[0]) == pytest.approx(cos * math.cos(0.05), abs=2e-6)


def test_without_friction_all_leave_it_as_a_particle_does():
    slips, _, y = Descent(beta=0.4, mu=0.0, theta0=0.1).motion()
    assert slips == 0.0
    assert math.cos(y[0]) == pytest.approx(2.0 / 3.0 * math.cos(0.1), abs=1e-10)
    assert y[2] == 0.0


def test_falling_rod_reference_number():
    assert largest_ratio(1e-4) == pytest.approx(0.370579413300982, abs=1e-7)


@pytest.mark.parametrize(("mu", "sign"), [(0.36, -1.0), (0.39, 1.0)])
def test_foot_of_the_rod_slips_backwards_below_the_largest_ratio(mu, sign):
    assert value(build("falling_rod", mu=mu), "direction of the slip") == sign


def test_held_rod_has_the_forces_of_the_closed_form():
    rod = Corner(mass=2.0, inertia=2.0 * 1.5**2 / 12.0, at=(-0.75, 0.0), mu=1.0)
    for phi in (0.2, 0.8, 1.3):
        c, c0, s = math.cos(phi), math.cos(0.1), math.sin(phi)
        omega = -math.sqrt(3.0 * G / 1.5 * (c0 - c))
        _, _, T, N = rod.forces(math.pi / 2 - phi, omega, 0.0)
        assert pytest.approx(2.0 * G * (1.0 + 9.0 * c * c - 6.0 * c0 * c) / 4.0, abs=1e-10) == N
        assert pytest.approx(0.75 * 2.0 * G * s * (3.0 * c - 2.0 * c0), abs=1e-10) == T


@pytest.mark.parametrize(("slip", "mu"), [(1.0, 0.4), (-1.0, 0.4), (1.0, 0.0)])
def test_sliding_corner_loses_the_energy_of_friction(slip, mu):
    """Energy of the whole body plus the work of friction, along a motion."""
    body = Corner(mass=1.0, inertia=0.3, at=(-0.4, -0.3), mu=mu)
    motion = body.follow(np.array([0.0, slip * 2.0, 0.2, 0.5]), slip, lambda y: 1.0, 0.2)

    def energy(y):
        _, u, theta, omega = y
        s, c = math.sin(theta), math.cos(theta)
        rx, ry = -0.4 * c + 0.3 * s, -0.4 * s - 0.3 * c
        v = np.array([u + omega * ry, -omega * rx])
        return 0.5 * v @ v + 0.15 * omega**2 - G * ry

    t = np.linspace(0.0, motion.duration, 4001)
    states = [motion.at(s) for s in t]
    power = [body.forces(y[2], y[3], slip)[2] * y[1] for y in states]
    assert energy(states[-1]) - energy(states[0]) == pytest.approx(np.trapezoid(power, t), abs=1e-6)
    assert mu == 0.0 or max(power) < 0.0


def test_block_slides_below_the_critical_height_and_tips_above():
    """b / (2 mu h) for a push that just overcomes friction."""
    shape = defaults("tip_or_slide", mu=0.5, width=0.4, height=0.8, push=0.5 + 1e-9)
    assert start(**shape | {"at": 0.499}).corner is None
    assert start(**shape | {"at": 0.499}).a > 0.0
    assert start(**shape | {"at": 0.501}).corner is not None


@pytest.mark.drawn
def test_block_starts_in_one_way_only():
    for seed in range(examples(30, fast=10)):
        check_block_starts_in_one_way_only(seed)


def check_block_starts_in_one_way_only(seed):
    """Every way to start, tried by the balance of forces and moments about the mass centre: one of them holds."""
    rng = np.random.default_rng(seed)
    p = {key: float(rng.uniform(q.min, q.max)) for key, q in parameters("tip_or_slide").items()}
    begin, w, h, m = start(**p), p["width"], p["height"], p["mass"]
    F, up = p["push"] * m * G, p["at"] * h
    if begin.corner is None:
        T = -F + m * begin.a
        moment = -F * (up - h / 2) + T * h / 2  # of push and friction; counter-clockwise
        rear, front = (m * G / 2 + sign * moment / w for sign in (1.0, -1.0))
        assert min(rear, front) >= -1e-9
        assert abs(T) <= p["mu"] * m * G + 1e-9
    else:
        a, alpha, T, N = begin.corner.forces(0.0, 0.0, begin.slip)
        x = begin.corner.at[0]
        assert alpha * x < 0.0
        assert N > 0.0
        assert pytest.approx(F + T, rel=1e-9) == m * (a - alpha * h / 2)
        assert m * (-alpha * x) == pytest.approx(N - m * G, rel=1e-9)
        assert begin.corner.inertia * alpha == pytest.approx(x * N + h / 2 * T - (up - h / 2) * F, rel=1e-9)


def test_small_ball_leaves_with_three_times_its_speed():
    bounce = Bounce.of(1e-9, 5.0, 1.0, 1e-9)
    v = math.sqrt(2.0 * G * 5.0)
    assert bounce.v[1] + G * bounce.on == pytest.approx(3.0 * v, rel=1e-6)


@pytest.mark.parametrize("gap", [0.02, 0.1])
def test_balls_keep_momentum_and_lose_what_restitution_takes(gap):
    """Across their impact: velocities before from free flight."""
    e, ratio, h = 0.7, 0.3, 2.0
    bounce, v = Bounce.of(ratio, h, e, gap), math.sqrt(2.0 * G * h)
    before = np.array([e * v - G * bounce.later, -v - G * bounce.later])
    after = np.array(bounce.v) + G * bounce.on
    assert before @ [1.0, ratio] == pytest.approx(after @ [1.0, ratio], abs=1e-12)
    assert after[1] - after[0] == pytest.approx(e * (before[0] - before[1]), abs=1e-12)


def test_rocking_block_reference_numbers():
    rocking = Rocking(alpha=math.atan2(0.2, 0.6), p=math.sqrt(0.75 * G / math.hypot(0.2, 0.6)))
    assert rocking.alpha == pytest.approx(0.321750554397, abs=1e-12)
    assert rocking.p == pytest.approx(3.41075196142, abs=1e-11)
    assert rocking.quarter(rocking.alpha / 2) == pytest.approx(0.387295076314793, abs=1e-12)
    assert rocking.keeps == pytest.approx(0.7225, abs=1e-12)


def test_rimless_wheel_reference_number():
    walk = Walk(alpha=math.pi / 8, slope=0.1, kappa=0.0)
    assert walk.cycle**2 * G == pytest.approx(1.49914829002986, abs=1e-12)
    assert walk.after(walk.cycle) == pytest.approx(walk.cycle, abs=1e-14)


def test_moreaus_law_loses_energy_where_newtons_gains():
    """At random states of the double pendulum; the loss is bounded from below by (1 - e) / (1 + e)."""
    rng, arms, gains = np.random.default_rng(0), Pendulum(), 0
    for _ in range(300):
        p = {key: rng.uniform(q.min, q.max) for key, q in parameters("double_pendulum_impact").items()}
        hit = np.array([p[key] for key in ("theta1", "theta2", "omega1", "omega2")])
        J, M, e = arms.rows(hit), arms.mass(hit), p["e_n"]
        W = J @ np.linalg.solve(M, J.T)
        for e_t in (e, 0.0):
            (found,) = impact(W, J @ hit[2:], p["mu"], np.array([e, e_t]))
            change = np.linalg.solve(M, J.T @ found)
            gained = 0.5 * change @ M @ (change + 2.0 * hit[2:])
            if e_t == e:
                assert gained <= -0.5 * (1.0 - e) / (1.0 + e) * change @ M @ change + 1e-12
            gains += gained > 1e-9
    assert gains > 20


def test_double_pendulum_keeps_its_energy_in_flight():
    arms, y = Pendulum(), np.array([0.3, 0.8, -1.0, -3.0])

    def energy(y):
        weight = 1.5 * math.cos(y[0]) + 0.5 * math.cos(y[1])
        return 0.5 * y[2:] @ arms.mass(y) @ y[2:] - G * weight

    run = solve_ivp(arms.slope, (0.0, 0.3), y, **TIGHT)
    assert energy(run.y[:, -1]) == pytest.approx(energy(y), abs=1e-9)


def test_disc_stops_with_the_ratio_of_the_literature():
    assert final_ratio(0.0) == pytest.approx(0.653, abs=5e-4)
    assert final_ratio(0.98) == pytest.approx(1.0, abs=0.01)  # a ring


@pytest.mark.parametrize("ratio", [0.2, 0.653, 1.7])
def test_drag_of_a_disc_by_elliptic_integrals(ratio):
    """Force and moment are the derivatives of the mean slip |v + w x r| by v and w; rings have it in closed form."""
    from scipy.integrate import quad
    from scipy.special import ellipe

    def mean_speed(v, w):
        """Of |v ex + w x r| over the disc: 2 int r dr (2/pi) (v + w r) E(4 v w r / (v + w r)^2)."""
        speed = lambda r: 2.0 * r * 2.0 / math.pi * (v + w * r) * ellipe(4.0 * v * w * r / (v + w * r) ** 2)  # noqa: E731
        return quad(speed, 0.0, 1.0, points=[min(v / w, 1.0)], epsabs=1e-12)[0]

    h = 1e-4
    force = (mean_speed(ratio + h, 1.0) - mean_speed(ratio - h, 1.0)) / (2.0 * h)
    moment = (mean_speed(ratio, 1.0 + h) - mean_speed(ratio, 1.0 - h)) / (2.0 * h)
    np.testing.assert_allclose(drag(ratio, face(0.0, 60, 240)), (force, moment), atol=2e-4)


def test_disc_that_only_spins_brakes_with_two_thirds():
    """Moment 2/3 mu m g R over inertia 1/2 m R^2: it stops after 3/4 R omega / (mu g)."""
    assert course(1e4, 0.0)[0] == pytest.approx(0.75e4, rel=1e-3)


@pytest.mark.drawn
def test_wedge_moves_in_one_way_only():
    for seed in range(examples(30, fast=10)):
        check_wedge_moves_in_one_way_only(seed)


def check_wedge_moves_in_one_way_only(seed):
    """All modes of the symmetric wedge, one after the other: unknowns a, and N, T of a jaw (T along the slip)."""
    rng = np.random.default_rng(seed)
    alpha, mu = rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.9)
    (F, P), (m, M) = (rng.uniform(1, 50), rng.uniform(-30, 30)), (rng.uniform(0.5, 5), rng.uniform(0.1, 1))
    s, c = math.sin(alpha), math.cos(alpha)
    moves = [[m, -2.0 * s, 2.0 * c], [M * s / c, c, s]]  # m a = P + 2 (N s - T c); M a tan = F - N c - T s
    found = []
    for mode in ("stick", 1.0, -1.0, "open"):
        if mode == "open":
            if P / m * s / c > F / M:
                found.append((P / m, F / M, 0.0))
            continue
        last = [1.0, 0.0, 0.0] if mode == "stick" else [0.0, -mode * mu, 1.0]
        a, N, T = np.linalg.solve([*moves, last], [P, F, 0.0])
        if N >= 0.0 and (abs(T) <= mu * N if mode == "stick" else mode * a > 0.0):
            found.append((a, a * s / c, F - M * a * s / c))
    assert len(found) == 1
    claimed = motion(alpha, mu, (F, P), (m, M))
    np.testing.assert_allclose(
        (claimed.a, claimed.jaw, claimed.pressed), found[0], atol=1e-12 * (1.0 + abs(found[0][0]))
    )


def test_wedge_locks_itself_below_the_angle_of_friction():
    for mu in (0.1, 0.5, 0.9):
        lam = math.atan(mu)
        assert motion(lam * (1.0 - 1e-9), mu, (10.0, 0.0), (1.0, 0.5)).a == 0.0
        assert motion(lam * (1.0 + 1e-6), mu, (10.0, 0.0), (1.0, 0.5)).a > 0.0
