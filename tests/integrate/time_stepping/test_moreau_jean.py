"""The theta scheme against closed forms and against scipy's Runge-Kutta on the reduced equations."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import examples, first
from scipy.integrate import solve_ivp
from small_systems import (
    Ball,
    Block,
    CoulombOscillator,
    Dome,
    Driven,
    G,
    Governed,
    Oscillator,
    Plain,
    Sleigh,
    SlidingRod,
    Tethered,
)

from gaussdyn.errors import InputError
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.rows import Row
from gaussdyn.mechanics.state import State


def errors(system, state, t_end, exact, steps, theta=0.5):
    """Largest error of the final coordinates and velocities for every step size."""
    found = []
    for dt in steps:
        run = simulate(system, state, t_end, stepper=MoreauJean(dt=dt, theta=theta))
        assert run.status == "COMPLETED", run.stop
        found.append(np.abs(np.r_[run.final.q, run.final.v] - exact).max())
    return np.array(found)


def orders(errors):
    return np.log2(errors[:-1] / errors[1:])


def integrated(f, t_end, y0):
    return solve_ivp(f, (0.0, t_end), y0, rtol=1e-12, atol=1e-12).y[:, -1]


def on_circle(angle, rate):
    s, c = np.sin(angle), np.cos(angle)
    return np.array([s, -c, c * rate, s * rate])


STEPS = (1e-2, 5e-3, 2.5e-3)


def test_free_fall_is_exact():
    run = simulate(Ball(), State(q=[10.0], v=[1.0]), 1.0, stepper=MoreauJean(dt=0.01))
    assert run.final.q[0] == pytest.approx(11.0 - G / 2, abs=1e-12)
    assert run.final.v[0] == pytest.approx(1.0 - G, abs=1e-12)


@pytest.mark.parametrize(("theta", "order"), first(2, [(0.5, 2.0), (1.0, 1.0), (0.75, 1.0)]))
def test_order_on_a_damped_oscillator(theta, order):
    exact = integrated(lambda t, y: [y[1], -y[0] - 0.3 * y[1]], 1.0, [1.0, 0.0])
    found = errors(Oscillator(1.0, 0.3), State(q=[1.0], v=[0.0]), 1.0, exact, (0.04, 0.02, 0.01), theta)
    assert orders(found) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize(
    ("kind", "angle", "rate"), first(1, [("bilateral", 1.0, 0.0), ("unilateral", 0.0, 7.2)])
)  # fmt: skip
def test_order_two_on_a_pendulum_and_on_a_taut_string(kind, angle, rate):
    exact = on_circle(*integrated(lambda t, y: [y[1], -G * np.sin(y[0])], 0.3, [angle, rate]))
    start = on_circle(angle, rate)
    found = errors(Tethered(kind), State(q=start[:2], v=start[2:]), 0.3, exact, STEPS)
    assert orders(found) == pytest.approx(2.0, abs=0.05)


@pytest.mark.slow
def test_joint_error_does_not_pile_up():
    start = on_circle(1.0, 0.0)
    run = simulate(Tethered(), State(q=start[:2], v=start[2:]), 2.0, stepper=MoreauJean(dt=5e-3), save=1000)
    speed2 = 2.0 * G * (1.0 - np.cos(1.0))  # the error telescopes to dt^2 (v0^2 - v^2) / 8 in |q|^2 / 2
    assert run.statistics["max_joint_error_m"] <= 1.01 * 5e-3**2 * speed2 / 8.0


def rod_exact(mu, t_end, y0):
    """Newton's equations of the sliding rod, the normal force eliminated by hand."""

    def f(t, y):
        s, c, om = np.sin(y[2]), np.cos(y[2]), y[5]
        e = np.sign(y[3] + s * om)
        k = -c - mu * e * s
        al = 3.0 * k * (G - s * om**2) / (1.0 - 3.0 * k * c)
        N = c * al - s * om**2 + G
        return [y[3], y[4], om, -mu * e * N, N - G, al]

    return integrated(f, t_end, y0)


@pytest.mark.slow
def test_order_two_on_the_sliding_rod():
    y0 = np.array([0.0, np.sin(1.1), 1.1, 3.0, 0.5 * np.cos(1.1), 0.5])
    found = errors(SlidingRod(0.3), State(q=y0[:3], v=y0[3:]), 0.3, rod_exact(0.3, 0.3, y0), STEPS)
    assert orders(found) == pytest.approx(2.0, abs=0.05)


def test_order_one_where_the_slip_turns_its_direction():
    class Slab(Plain):
        nq = nv = 3

        def force(self, t, q, v, control=None):
            return np.array([-G, 2.0, 0.0])

        def rows(self, t, q, v):
            return (Row(id="c", kind="contact", gap=q[0], J=np.eye(3), rate=v, drift=np.zeros(3), mu=0.3),)

    def f(t, y):
        return np.r_[y[2:], np.array([2.0, 0.0]) - 0.3 * G * y[2:] / np.linalg.norm(y[2:])]

    exact = np.insert(integrated(f, 0.3, [0.0, 0.0, 0.0, 3.0]), [0, 2], 0.0)
    found = errors(Slab(), State(q=[0.0, 0.0, 0.0], v=[0.0, 0.0, 3.0]), 0.3, exact, STEPS)
    assert orders(found) == pytest.approx(1.0, abs=0.05)


@pytest.mark.drawn
def test_impact_is_of_order_one():
    t_hit = np.sqrt(2.0 / G)
    v_up = 0.5 * G * t_hit
    t = 0.6 - t_hit
    for dt in (7e-3, 3e-3, 1e-3)[: examples(3, fast=2)]:
        run = simulate(Ball(0.5), State(q=[1.0], v=[0.0]), 0.6, stepper=MoreauJean(dt=dt))
        assert abs(run.final.q[0] - (v_up * t - G * t * t / 2)) <= 1.5 * dt * G * t_hit
        assert run.event_counts == {"touchdown": 1, "lift_off": 1}


@pytest.mark.slow
def test_bouncing_ball_comes_to_rest():
    t_end = np.sqrt(2.0 / G) * (1.0 + 0.8) / (1.0 - 0.8)  # all bounces together
    run = simulate(Ball(0.8), State(q=[1.0], v=[0.0]), 4.6, stepper=MoreauJean(dt=4e-3))
    rest = np.flatnonzero(np.abs(run["v0"]) > 1e-12)[-1] + 1
    assert run.t[rest] == pytest.approx(t_end, abs=0.1)
    assert run["ball/floor.r_N"][-1] == pytest.approx(2.0 * G, rel=1e-12)
    assert run["q0"].max() <= 1.0
    assert run.statistics["max_penetration_m"] <= 4e-3 * G * np.sqrt(2.0 / G)


@pytest.mark.parametrize("eps", first(1, [0.0, 0.6]))
def test_closed_gap_at_rest_does_not_chatter(eps):
    run = simulate(Ball(eps), State(q=[0.0], v=[0.0]), 0.1)
    assert run.event_counts == {}
    assert np.abs(run.v).max() <= 1e-16


@pytest.mark.slow
def test_block_held_on_an_incline_stays():
    angle = 0.5
    system = Block(angle, np.tan(angle / 0.99))
    run = simulate(system, State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0, save=10)
    assert np.abs(run.v).max() <= 1e-16
    assert np.abs(run.q).max() <= 1e-15
    assert run.event_counts == {}


def test_block_slides_with_the_exact_acceleration():
    run = simulate(Block(0.5, 0.2), State(q=[0.0, 0.0], v=[0.0, 0.0]), 1.0, stepper=MoreauJean(dt=0.01))
    exact = 0.5 * G * (np.sin(0.5) - 0.2 * np.cos(0.5))
    assert run.final.q[1] == pytest.approx(exact, rel=1e-12)
    assert run["block/incline.r_T"][1:] == pytest.approx(-0.2 * run["block/incline.r_N"][1:], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dt", [2e-2, 1e-2])
def test_coulomb_oscillator_stops_where_it_should(dt):
    run = simulate(CoulombOscillator(), State(q=[0.0, 1.05], v=[0.0, 0.0]), 17.0, stepper=MoreauJean(dt=dt))
    stick = [event for event in run.events if event.kind == "stick"][-1]
    assert run.final.q[1] == pytest.approx(-0.05, abs=dt**2)
    assert stick.t == pytest.approx(5.0 * np.pi, abs=2.0 * dt)
    assert run.final.v[1] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.slow
def test_string_goes_slack_at_the_exact_height():
    for dt in (2e-3, 1e-3):
        run = simulate(
            Tethered("unilateral"), State(q=[0.0, -1.0], v=[np.sqrt(3.5 * G), 0.0]), 0.8, stepper=MoreauJean(dt=dt)
        )
        assert run.event_counts == {"lift_off": 1}
        assert run.at(run.events[0].t).q[1] == pytest.approx(0.5, abs=4.0 * dt)


@pytest.mark.slow
def test_point_leaves_the_dome_once():
    start = 0.2
    q = np.array([np.sin(start), np.cos(start)])
    run = simulate(Dome(), State(q=q, v=[0.0, 0.0]), 1.2, stepper=MoreauJean(dt=1e-3))
    off = [event for event in run.events if event.kind == "lift_off"]
    assert len(off) == 1
    assert run.at(off[0].t).q[1] == pytest.approx(2.0 / 3.0 * np.cos(start), abs=2.0 * 1e-3 * np.sqrt(2.0 * G))


def test_a_curved_contact_closed_at_the_start_carries_from_the_first_step():
    run = simulate(Dome((-6.0, 0.0)), State(q=[1.0, 0.0], v=[0.0, 2.0]), 0.02, stepper=MoreauJean(dt=1e-3))
    angle = 2.0 * 1e-3 * (np.arange(5) + 0.5)  # at the midpoints of the first steps
    assert run["point/dome.r_N"][1:6] == pytest.approx(
        6.0 * np.cos(angle) - 4.0 - 12.0 * (1.0 - np.cos(angle)), abs=1e-5
    )
    assert run.statistics["max_penetration_m"] <= 1e-6


@pytest.mark.slow
def test_sleigh_against_its_closed_form():
    m, J, c, v0, om0, ph0 = 1.0, 0.5, 0.4, 1.0, 2.0, 0.3
    a = np.array([np.cos(ph0), np.sin(ph0)])
    side = np.array([-np.sin(ph0), np.cos(ph0)])
    start = State(q=[0.0, 0.0, ph0], v=[*(v0 * a + c * om0 * side), om0])
    k2 = (J + m * c * c) / m
    R = np.sqrt(v0**2 + k2 * om0**2)
    t0 = -np.arctanh(v0 / R) * k2 / (c * R)
    om = R / np.sqrt(k2) / np.cosh(c * R * (1.0 - t0) / k2)
    found = []
    for dt in STEPS:
        run = simulate(Sleigh(m, J, c), start, 1.0, stepper=MoreauJean(dt=dt), save=10_000)
        found.append(abs(run.final.v[2] - om))
    assert orders(np.array(found)) == pytest.approx(2.0, abs=0.05)
    assert run.statistics["energy_drift_rel"] <= 1e-5


def test_prescribed_motion_is_exact_at_the_end_of_every_step():
    run = simulate(Driven(), State(q=[0.0], v=[1.0]), 1.0, stepper=MoreauJean(dt=0.01))
    assert run["v0"] == pytest.approx(np.cos(run.t), abs=1e-13)


def test_nonlinear_velocity_constraint_holds_at_the_end_of_every_step():
    run = simulate(Governed(), State(q=[0.0, 0.0], v=[1.0, 0.0]), 0.5, stepper=MoreauJean(dt=0.01))
    assert np.abs(run["speed.gap"]).max() <= 1e-12
    assert run["v1"][-1] == pytest.approx(np.tanh(1.5), abs=1e-3)  # v' = 3 cos^2 of the direction


def test_strong_damping_converges():
    run = simulate(Oscillator(1.0, 5e4), State(q=[1.0], v=[1.0]), 0.02)
    assert run.status == "COMPLETED", run.stop
    assert abs(run.final.v[0]) < 1.0


def test_tangential_restitution_acts_at_impacts_only():
    class Superball(Plain):
        nq = nv = 2

        def force(self, t, q, v, control=None):
            return np.array([-G, 0.0])

        def rows(self, t, q, v):
            data = {"mu": 50.0, "eps_n": 0.5, "eps_t": 0.4}
            return (Row(id="b", kind="contact", gap=q[0], J=np.eye(2), rate=v, drift=[0.0, 0.0], **data),)

    run = simulate(Superball(), State(q=[0.1, 0.0], v=[-1.0, 2.0]), 0.1)
    assert run.final.v[1] == pytest.approx(-0.8, abs=1e-12)
    resting = simulate(Superball(), State(q=[0.0, 0.0], v=[0.0, 2.0]), 0.01)
    assert resting.final.v[1] == pytest.approx(0.0, abs=1e-12)


def test_steps_lie_on_the_grid_and_end_exactly():
    run = simulate(Plain(), State(q=[0.0], v=[1.0]), 0.3, stepper=MoreauJean(dt=1e-3))
    assert len(run.steps.t) == 300
    assert run.t == pytest.approx(1e-3 * np.arange(301), abs=1e-15)
    assert run.t_reached == 0.3
    assert (run.steps.dt == 1e-3).all()
    short = simulate(Plain(), State(q=[0.0], v=[1.0]), 0.0105, stepper=MoreauJean(dt=1e-3))
    assert len(short.steps.t) == 11
    assert short.steps.dt[-1] == pytest.approx(5e-4, rel=1e-9)
    assert short.final.q[0] == pytest.approx(0.0105, rel=1e-12)


def test_memory_carries_impulses_and_keeps_what_it_does_not_know():
    stepper = MoreauJean(dt=1e-3)
    state = State(q=[0.0, 0.0], v=[0.0, 0.0], memory={"motor": [3.0]})
    step = stepper.advance(Block(0.3, 0.5), state, 1.0)
    assert step.state.memory["motor"] == pytest.approx([3.0])
    weight = 1.5 * G * 1e-3 * np.array([np.cos(0.3), -np.sin(0.3)])
    assert step.state.memory["block/incline"] == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize(
    "bad", [{"dt": 0.0}, {"dt": -1.0}, {"dt": np.nan}, {"theta": 0.4}, {"theta": 1.1}, {"activation": 1e-9}]
)
def test_bad_settings_are_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        MoreauJean(**bad)


def test_settings_are_printed():
    assert "dt=0.001" in repr(MoreauJean())
    assert MoreauJean(theta=1.0).settings()["theta"] == 1.0


def test_t_max_must_lie_ahead():
    with pytest.raises(InputError, match="t_max"):
        MoreauJean().advance(Plain(), State(q=[0.0], v=[0.0], t=1.0), 1.0)
