"""Motions through events, their derivatives, and periodic orbits, against closed forms, scipy and differences."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from evidence import first
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.analysis.orbits.bifurcations import hopf
from gaussdyn.analysis.orbits.continuation import branch_of_orbits
from gaussdyn.analysis.orbits.periodic_orbit import close_orbit, periodic_orbit, rest_point
from gaussdyn.analysis.orbits.variational_flow import flow
from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.saltation import saltation
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.lagrangian.system import Contact, Friction, Holonomic, LagrangianSystem
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

MU = 0.3


def belt(**params):
    return build("stribeck_belt", **params).system


def differences(system, y, t, h=3e-5):
    """Return dy(t)/dy(0) by differences of order 4."""
    y = np.array(y, dtype=float)
    ends = [[flow(system, 0.0, y + k * h * e, t).y for k in (-2, -1, 1, 2)] for e in np.eye(len(y))]
    return np.array([(a - 8.0 * b + 8.0 * c - d) / (12.0 * h) for a, b, c, d in ends]).T


def period_of(system):
    return 2.0 * np.pi / system.params["om"]


def test_rest_point_and_trace():  # B1, B2
    assert abs(rest_point(belt(u=0.5), [0.1, 0.0]).y[0] - 0.1625) < 1e-12
    assert abs(np.trace(rest_point(belt(u=0.95), [0.1, 0.0]).jacobian) - 0.02925) < 1e-12
    assert not rest_point(belt(u=0.95), [0.1, 0.0]).stable
    assert rest_point(belt(u=1.05), [0.1, 0.0]).stable


def test_hopf_where_the_law_has_its_minimum():
    found = hopf(belt(), "u", 0.8, 1.2, [0.1, 0.0])
    assert abs(found.value - 1.0) < 1e-12
    assert abs(found.angle - 1.0) < 1e-12


def test_slip_only_cycle():  # B3
    orbit = periodic_orbit(belt(u=0.95), [0.5, 0.0])
    assert orbit.signature == ()
    assert np.allclose([orbit.period, orbit.high[0], orbit.nontrivial[0].real], [6.317099252, 0.805982617, 0.828529846],
                       rtol=0.0, atol=2e-9)  # fmt: skip
    assert orbit.stable


def test_stick_slip_cycle():  # B5
    orbit = periodic_orbit(belt(u=0.5), [0.5, 0.0])
    assert orbit.signature == ("crossing", "stop", "release")
    assert np.allclose([orbit.period, orbit.high[0]], [6.637337523, 0.770752885], rtol=0.0, atol=2e-9)
    assert np.allclose(np.abs(orbit.multipliers), [1.0, 0.0], atol=1e-9)
    assert orbit.motion.passages[0].y[0] == pytest.approx(-0.3849, abs=1e-4) or orbit.sticks


@pytest.mark.parametrize(("mu", "d", "u"), [(0.3, 0.1, 0.2), (0.2, 0.35, 0.6)])
def test_coulomb_cycle_with_more_friction_at_rest(mu, d, u):  # B7
    orbit = periodic_orbit(belt(u=u, mu=mu, mu_s=mu + d, alpha=0.0, beta=0.0), [mu + 2.0 * u, 0.0])
    exact = 2.0 * np.pi - 2.0 * np.arctan(d / u) + 2.0 * d / u
    assert abs(orbit.period - exact) < 1e-10
    assert np.allclose(np.abs(orbit.multipliers), [1.0, 0.0], atol=1e-9)
    assert abs(orbit.high[0] - (mu + np.hypot(d, u))) < 1e-9


def test_jump_where_the_body_overtakes_the_belt():  # B8
    (one,) = flow(belt(u=0.2), 0.0, [-1.0, 0.0], 0.5).passages
    assert abs(one.y[0] + 0.984278124) < 1e-9
    assert np.allclose(one.S, [[1.0, 0.0], [0.0, 0.532811477]], atol=1e-8)
    assert np.allclose(one.S[1, 1], 1.0 + 2.0 * MU / (one.y[0] - MU), atol=1e-13)


def test_jump_where_the_belt_overtakes_the_body():  # B9
    one = flow(belt(u=0.2), 0.0, [0.9, 1.0], 3.0).passages[0]
    assert (one.before, one.after) == ("+", "-")
    assert np.allclose([one.y[0], one.S[1, 1]], [1.282037169, 0.62074216], atol=1e-8)


@pytest.mark.parametrize("start", [[0.2, 0.9], [0.15, -0.6]])  # B11: from either side
def test_stop_forgets_the_speed(start):
    system = belt(u=0.5)
    stops = [one for one in flow(system, 0.0, start, 20.0).passages if one.kind == "stop"]
    assert stops
    for one in stops:
        assert np.allclose(one.S, np.diag([1.0, 0.0]), atol=1e-12)


def test_release_with_more_friction_at_rest():
    u, d, eps, om = 0.5, 0.1, 0.3, 0.7
    system = belt(u=u, mu_s=MU + d, eps=eps, om=om)
    releases = [one for one in flow(system, 0.0, [0.2, 0.4], 20.0).passages if one.kind == "release"]
    assert releases
    for one in releases:  # slip against the belt from x1 - V = mu_s, with w > 0 after it
        rate = -eps * om * np.sin(om * one.t)
        assert np.allclose(one.S[:, 0], [1.0, -d / (u - rate)], atol=1e-9)  # a speed has no difference there


def test_forced_orbits():  # B13, B15
    system = belt(u=0.2, eps=2.0, om=0.8)
    orbit = periodic_orbit(system, [0.5, 0.0], period=period_of(system))
    assert orbit.signature == ("crossing", "crossing")
    assert np.allclose(orbit.multipliers, [0.167360713, 0.000538733], atol=1e-8)
    system = belt(u=0.2, eps=0.6, om=0.6)
    orbit = periodic_orbit(system, [0.5, 0.0], period=period_of(system), settle=0.0)
    assert np.allclose(orbit.multipliers, [-1.839880794, 0.0], atol=1e-8)
    assert not orbit.stable


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_fundamental_matrix_is_that_of_differences(seed):  # B10
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.2, 0.5)
    params = {"u": rng.uniform(0.2, 0.8), "mu": mu, "mu_s": mu + rng.choice([0.0, 0.15]),
              "alpha": rng.uniform(0.0, 1.0), "beta": rng.uniform(0.1, 0.5), "eps": rng.choice([0.0, 0.2, 0.9]),
              "om": rng.uniform(0.4, 1.5)}  # fmt: skip
    system, y = belt(**params), rng.uniform(-1.0, 1.0, 2)
    for t in (2.0, 9.0):
        found = flow(system, 0.0, y, t)
        near = min((abs(one.t - t) for one in found.passages), default=1.0)
        if near > 1e-3:
            assert np.abs(differences(system, y, t) - found.Phi).max() < 1e-8 * max(1.0, np.abs(found.Phi).max())


def impact_oscillator(e=0.7):
    x, t = dynamicsymbols("x"), sp.Symbol("t")
    k, c, a, om, wall, eps = sp.symbols("k c a om wall e")
    return (LagrangianSystem([x], kinetic=x.diff() ** 2 / 2, potential=k * x**2 / 2, compile=False,
                                   forces=[a * sp.cos(om * t) - c * x.diff()],
                                   constraints=[Holonomic(wall - x, kind="unilateral", eps_n=eps)],
                                   parameters={k: 1.0, c: 0.05, a: 0.5, om: 1.3, wall: 0.4, eps: e}))  # fmt: skip


def test_impacts_with_restitution():
    system = impact_oscillator()
    found = flow(system, 0.0, [0.0, 0.8], 8.0)
    assert "impact" in found.signature
    assert np.abs(differences(system, [0.0, 0.8], 8.0) - found.Phi).max() < 1e-7

    def free(t, y):
        return [y[1], -y[0] - 0.05 * y[1] + 0.5 * np.cos(1.3 * t)]

    def hit(t, y):
        return 0.4 - y[0]

    hit.terminal, hit.direction = True, -1
    t, y = 0.0, np.array([0.0, 0.8])
    while t < 8.0:
        part = solve_ivp(free, (t, 8.0), y, events=hit, rtol=1e-12, atol=1e-13, method="DOP853")
        t, y = part.t[-1], part.y[:, -1].copy()
        if part.status == 1:
            y = np.array([0.4, -0.7 * y[1]])
    assert np.allclose(found.y, y, atol=1e-9)


def test_landing_and_lift_off_on_a_shaken_table():
    system = impact_oscillator(e=0.0)
    y = [0.0, 0.8]
    found = flow(system, 0.0, y, 12.0)
    assert {"landing", "lift_off"} <= set(found.signature)
    landing = next(one for one in found.passages if one.kind == "landing")
    assert np.allclose(landing.S[1], 0.0, atol=1e-12)  # it lies on the wall, whatever its speed was
    lifts = [one for one in found.passages if one.kind == "lift_off"]
    assert all(np.allclose(one.S, np.eye(2), atol=1e-9) for one in lifts)  # no jump of the field


def test_contact_whose_pressure_changes_with_time():
    # a block on a table, pressed by N = g + a cos t: slips, sticks, breaks loose
    x, y, t = *dynamicsymbols("x y"), sp.Symbol("t")
    mu, mu_s, a, k = sp.symbols("mu mu_s a k")
    table = LagrangianSystem([x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, compile=False,
                             forces=[-k * x + sp.sin(2 * t) * a / 2, -1 - a * sp.cos(t) / 2],
                             constraints=[Contact(y, x.diff() - sp.Rational(1, 5), mu, mu_s)],
                             parameters={mu: 0.3, mu_s: 0.35, a: 0.5, k: 1.0})  # fmt: skip
    system, start = table, np.array([0.1, 0.0, 0.4, 0.0])
    found = flow(system, 0.0, start, 9.0)
    assert {"stop", "release"} <= set(found.signature)
    keep = [0, 2]
    D = np.array([(flow(system, 0.0, start + h, 9.0).y - flow(system, 0.0, start - h, 9.0).y) / 2e-6
                  for h in 1e-6 * np.eye(4)[keep]]).T  # fmt: skip
    assert np.abs(D[keep] - found.Phi[np.ix_(keep, keep)]).max() < 1e-7


def test_a_contact_with_friction_strikes():
    """A point hops along a rough floor; impacts with friction were refused once."""
    x, y = dynamicsymbols("x y")
    floor = Contact(y, x.diff(), mu=0.2, eps_n=0.7, name="floor")
    hops = LagrangianSystem([x, y], kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2, potential=9.81 * y,
                            constraints=[floor], compile=False)  # fmt: skip
    found = flow(hops, 0.0, [0.0, 0.5, 3.0, 0.0], 0.8)
    assert found.signature == ("impact", "impact") or found.signature == ("impact",)
    D = differences(hops, [0.0, 0.5, 3.0, 0.0], 0.8)
    np.testing.assert_allclose(found.Phi, D, rtol=0.0, atol=1e-8)


def test_saltation_at_grazing_is_refused():
    with pytest.raises(InputError, match="surface that is crossed"):
        saltation(np.array([0.0, 0.0]), np.array([0.0, 1.0]), 0.0, np.array([0.0, 1.0]))


def grazing_speed():
    """Return u for which the slip-only flow through (mu, u), where slip vanishes twofold, closes; by scipy alone."""

    def returned(z):
        u, T = z

        def slide(t, y):
            w = u - y[1]
            return [y[1], -y[0] + MU * (1.0 - w + w**3 / 3.0)]

        end = solve_ivp(slide, (0.0, T), [MU, u], rtol=3e-14, atol=1e-14, method="DOP853").y[:, -1]
        return end - [MU, u]

    return float(fsolve(returned, [0.9, 6.34], xtol=1e-12)[0])


@pytest.mark.slow
def test_diagram_over_the_belt_speed():
    system = belt(u=0.95)
    orbit = periodic_orbit(system, [0.5, 0.0])
    found = branch_of_orbits(system, orbit, "u", 0.85, 1.1)
    assert [one.kind for one in found.changes] == ["grazing-sliding", "hopf"]
    assert abs(found.changes[0].value - grazing_speed()) < 1e-9
    assert abs(found.changes[1].value - 1.0) < 1e-10
    assert (np.diff(found.values) > 0.0).all()
    assert found.ends[1].startswith("Hopf")


@pytest.mark.slow
def test_stick_comes_over_the_whole_range():
    system = belt(u=0.5)
    found = branch_of_orbits(system, periodic_orbit(system, [0.5, 0.0]), "u", 0.2, 1.1)
    assert [one.kind for one in found.changes] == ["overshoot onset", "overshoot onset", "grazing-sliding", "hopf"]
    for one in found.changes[:2]:  # the stop at x1 = -mu: friction of stick is at its limit just there
        stops = [p for p in one.orbit.motion.passages if p.kind in ("stop", "crossing")]
        assert min(abs(p.y[0] + MU) for p in stops) < 1e-7
    assert found.values[0] == 0.2


@pytest.mark.slow
def test_period_doubling_and_stick_onset_of_forced_orbits():
    system = belt(u=0.2, eps=0.6, om=0.6)
    orbit = periodic_orbit(system, [0.5, 0.0], period=period_of(system), settle=0.0)
    found = branch_of_orbits(system, orbit, "om", 0.55, 0.8, period=period_of)
    assert [one.kind for one in found.changes] == ["stick onset", "period doubling"]
    doubling = found.changes[1]
    assert abs(doubling.orbit.multipliers[0] + 1.0) < 1e-9
    again = belt(u=0.2, eps=0.6, om=doubling.value)
    D = differences(again, doubling.orbit.y, period_of(again))
    assert min(abs(np.linalg.eigvals(D) + 1.0)) < 1e-6


@pytest.mark.slow
def test_torus_birth_of_a_shaken_slip():
    system = belt(u=1.2, eps=0.1, om=1.7)
    orbit = periodic_orbit(system, [0.1, 0.0], period=period_of(system))
    found = branch_of_orbits(system, orbit, "u", 0.9, 1.25, period=period_of)
    births = [one for one in found.changes if one.kind == "torus birth"]
    assert len(births) == 1
    pair = births[0].orbit.multipliers
    assert np.allclose(np.abs(pair), 1.0, atol=1e-9)
    # small forcing: the angle is that of the free oscillation, 2 pi / 1.7
    assert abs(np.cos(births[0].angle) - np.cos(2.0 * np.pi / 1.7)) < 0.02


@pytest.mark.slow
def test_fold_of_a_cycle():
    # x'' = -x + (a + x'^2 - x'^4) x' / 10: cycles are born by a Hopf bifurcation at a = 0, and fold
    x, a = dynamicsymbols("x"), sp.Symbol("a")
    v = x.diff()
    damped = LagrangianSystem([x], kinetic=v**2 / 2, potential=x**2 / 2, forces=[0.1 * (a * v + v**3 - v**5)],
                              parameters={a: 0.3}, constraints=[], compile=False)  # fmt: skip
    system = damped
    found = branch_of_orbits(system, periodic_orbit(system, [1.0, 0.0], settle=300.0), "a", -0.5, 0.4)
    folds = [one for one in found.changes if one.kind == "fold"]
    assert len(folds) == 1
    # averaging: a + 3/4 r^2 - 5/8 r^4 = 0, least at r^2 = 3/5, a = -9/40
    assert abs(folds[0].value + 0.225) < 5e-3
    assert abs(folds[0].orbit.nontrivial[0] - 1.0) < 1e-4


def test_a_motion_that_does_not_close_is_said():
    with pytest.raises(InputError, match="comes to rest"):
        periodic_orbit(belt(u=1.3), [0.1, 0.0], settle=600.0)
    x, t = dynamicsymbols("x"), sp.Symbol("t")
    pushed = LagrangianSystem([x], kinetic=x.diff() ** 2 / 2, forces=[1 + sp.cos(t)], compile=False)
    with pytest.raises(InputError, match="misses its beginning by"):
        periodic_orbit(pushed, [0.0, 0.0], period=2.0 * np.pi, settle=0.0)
    with pytest.raises(InputError, match="the field differs by"):
        periodic_orbit(pushed, [0.0, 0.0], period=2.0, settle=0.0)
    with pytest.raises(InputError, match="equilibrium"):
        close_orbit(belt(u=1.3), np.array([0.2, 0.0]), 6.2, autonomous=True)
    with pytest.raises(InputError, match="period of what drives it"):
        periodic_orbit(belt(eps=0.5), [0.1, 0.0])
    with pytest.raises(InputError, match="LagrangianSystem"):
        periodic_orbit(build("incline").system, [0.1, 0.0])


def test_continuum_of_orbits_for_coulomb_without_excess():
    # T = mu sign w: all circles about (mu, 0) inside |v| < u; both multipliers are 1
    for r in (0.1, 0.3, 0.499):
        found = flow(belt(u=0.5, alpha=0.0, beta=0.0), 0.0, np.array([MU + r, 0.0]), 2.0 * np.pi)
        assert np.allclose(found.y, [MU + r, 0.0], atol=1e-11)
        assert np.allclose(found.Phi, np.eye(2), atol=1e-10)


def test_a_motion_with_friction_in_two_directions_has_the_derivative_of_its_closed_form():
    """A mass of 2 kg slows down by 1 N along its way e: dv/dv0 = 1 - (t / 2 |v0|) (1 - e e^T), t / 2 of dq/dv0 less."""
    x, y = dynamicsymbols("x y")
    plane = LagrangianSystem([x, y], kinetic=x.diff() ** 2 + y.diff() ** 2, compile=False,
                             constraints=[Friction([x.diff(), y.diff()], cap=1)])  # fmt: skip
    v, t = np.array([3.0, 4.0]), 2.0
    across = np.eye(2) - np.outer(v, v) / 25.0
    dv, dq = np.eye(2) - t / 10.0 * across, t * np.eye(2) - t * t / 20.0 * across
    expected = np.block([[np.eye(2), dq], [np.zeros((2, 2)), dv]])
    np.testing.assert_allclose(flow(plane, 0.0, [0.0, 0.0, *v], t).Phi, expected, rtol=0.0, atol=1e-10)


def test_the_event_driven_integrator_goes_the_same_way():
    system = build("stribeck_belt", u=0.5).system
    found = flow(system, 0.0, [0.1, 0.0], 24.0)
    run = simulate(system, State(q=np.array([0.1]), v=np.zeros(1)), 24.0, stepper=EventDriven())
    assert found.signature == ("stop", "release")
    assert np.allclose([event.t for event in run.events], [one.t for one in found.passages], rtol=0.0, atol=1e-10)
    assert np.allclose([*run.q[-1], *run.v[-1]], found.y, rtol=0.0, atol=1e-10)


def test_a_flow_takes_a_system_a_scene_or_its_system():
    scene, start = build("stribeck_belt", u=0.2), [-1.0, 0.0]
    ends = [flow(one, 0.0, start, 0.5).y for one in (scene.system, scene)]
    assert np.array_equal(ends[0], ends[1])
    for wrong, y, words in ((build("incline"), start, "LagrangianSystem"), (scene, [1.0], "y"), (3, start, "system")):
        with pytest.raises(InputError, match=words):
            flow(wrong, 0.0, y, 0.5)
