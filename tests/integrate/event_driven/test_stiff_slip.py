"""Slips in space while friction turns them faster than they move: against the motion integrated explicitly by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import first
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from gaussdyn import EventDriven, State, UserSystem, audit, simulate
from gaussdyn.contact.snapshot import Activation
from gaussdyn.integrate.contact_modes import Mode
from gaussdyn.integrate.event_driven import event_loop
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.phase_integrator import CRAWLS, Accuracy, Pace, PhaseMotion, Stuck
from gaussdyn.integrate.event_driven.phase_state import Place
from gaussdyn.integrate.event_driven.smooth_phase import Phase
from gaussdyn.integrate.event_driven.stiff_slip import DENSE, ORDER, A, C, SlipTurn, movable, turnings
from gaussdyn.integrate.impact.impact_laws import Moreau
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import ball, brick, pill
from gaussdyn.mechanics.spatial.forces import Load
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.user.constraints import Position

G, MU = 9.81, 0.3
WX, WY = 2.1, 1.3  # rad/s


def pull(t):
    """Acceleration by the load, m/s^2: it turns and grows."""
    return np.array([6.0 * np.sin(WX * t), 1.0 + 2.5 * np.sin(WY * t)])


def coin(eps=0.0):
    floor = Position(lambda t, q: q[2], mu=MU, eps_n=eps, tangent=lambda t, q: np.eye(3)[:2])
    return UserSystem(3, np.eye(3) * 0.7, lambda t, q, v: 0.7 * np.array([*pull(t), -G]), constraints=[floor])


def test_a_slip_that_begins_in_space_and_turns_agrees_with_many_small_explicit_steps():
    begins = brentq(lambda t: np.hypot(*pull(t)) - MU * G, 0.0, 0.6, xtol=1e-15)
    e = pull(begins) / (MU * G)
    grows = (np.hypot(*pull(begins + 1e-6)) - np.hypot(*pull(begins - 1e-6))) / 2e-6
    small = 1e-4  # s: from here on u = grows t^2 / 2; directions that are wrong by this much are soon forgotten

    def slope(t, y):
        return np.concatenate((y[2:], pull(t) - MU * G * y[2:] / np.hypot(*y[2:])))

    y = np.concatenate((grows * small**3 / 6.0 * e, grows * small**2 / 2.0 * e))
    way = solve_ivp(slope, (begins + small, begins + 0.2), y, method="DOP853", rtol=1e-11, atol=1e-14)
    run = simulate(coin(), State(q=np.zeros(3), v=np.zeros(3)), begins + 0.2, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["slip"]
    assert run.events[0].t == pytest.approx(begins, abs=1e-12)
    np.testing.assert_allclose(np.r_[run.q[-1][:2], run.v[-1][:2]], way.y[:, -1], rtol=0, atol=1e-11)


def test_collocation_integrates_polynomials_of_its_degree_exactly():
    for k in range(ORDER):
        np.testing.assert_allclose(A @ C**k, C ** (k + 1) / (k + 1), atol=1e-14)
        x, F = 0.37, DENSE @ C**k
        y = 0.0
        for j, f in enumerate(F[::-1]):
            y = (y + f) * (x if j % 2 == 0 else 1.0 - x)
        assert y == pytest.approx(x ** (k + 1) / (k + 1), abs=1e-13)
    assert A[-1] @ C ** (2 * ORDER - 2) == pytest.approx(1.0 / (2 * ORDER - 1), abs=1e-14)  # order 2 n - 1 at the end


def test_a_slip_that_begins_while_friction_drops_moves_along_its_own_acceleration():
    mass, mu_s, load = np.array([1.0, 4.0]), 0.5, np.array([np.cos(0.7), np.sin(0.7)])  # N/s
    floor = Position(lambda t, q: q[2], mu=MU, mu_s=mu_s, tangent=lambda t, q: np.eye(3)[:2])
    M = np.diag([*mass, 1.0])
    system = UserSystem(3, M, lambda t, q, v: np.array([*(20.0 * t * load), -G]), constraints=[floor])
    begins = mu_s * G / 20.0

    def acceleration(t, e):
        return (20.0 * t * load - MU * G * e) / mass

    def off(x):
        a = acceleration(begins, np.array([np.cos(x), np.sin(x)]))
        return a[1] * np.cos(x) - a[0] * np.sin(x)

    x, small = brentq(off, 0.0, 0.7, xtol=1e-15), 1e-6  # towards the light side; not along the load, nor the friction
    u = small * acceleration(begins, np.array([np.cos(x), np.sin(x)]))
    way = solve_ivp(
        lambda t, y: np.concatenate((y[2:], acceleration(t, y[2:] / np.hypot(*y[2:])))),
        (begins + small, begins + 0.2), np.concatenate((0.5 * small * u, u)), method="DOP853", rtol=1e-12, atol=1e-15,
    )  # fmt: skip
    run = simulate(system, State(q=np.zeros(3), v=np.zeros(3)), begins + 0.2, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["slip"]
    np.testing.assert_allclose(np.r_[run.q[-1][:2], run.v[-1][:2]], way.y[:, -1], rtol=0, atol=1e-9)


def test_the_rolling_of_a_brick_that_lies_on_its_corners_has_no_direction_to_turn():
    law = ContactLaw(mu=0.4, mu_r=0.02)
    system = SpatialSystem(
        bodies=[brick("b", mass=2.0, half=(0.3, 0.2, 0.1))], obstacles=[HalfSpace(name="floor")], contact=law
    )
    state = system.state({"b": (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)}, {"b": (1.0, 0.5, 0.0, 0.0, 0.0, 0.3)})
    near = system.near(0.0, state.q, state.v, 0.0)
    rows = near.rows(0.0, state.q, state.v)
    assert len(rows) == 4
    modes = {row.id: Mode(closed=True, slip=(1.0, 0.0), roll=(0.6, 0.8) if k < 2 else ()) for k, row in enumerate(rows)}
    phase = Phase(system=near, control=None, modes=modes, rows=rows)
    ones = turnings(phase)
    assert len(ones) == 6
    left = movable(phase, phase.instant(0.0, state.q, state.v), ones)
    assert [(one.k, one.part.start) for one in left] == [(0, 1), (1, 1), (2, 1), (3, 1)]


def test_the_rolling_of_a_bar_that_lies_on_its_ends_has_no_direction_to_turn():
    system = SpatialSystem(
        bodies=[pill("bar", mass=2.0, radius=0.05, half_length=0.3)], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=0.4, mu_r=0.02),
    )  # fmt: skip
    lies = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    state = system.state({"bar": (0.0, 0.0, 0.05, *lies)}, {"bar": (0.3, 0.5, 0.0, 0.2, 0.0, 0.3)})
    near = system.near(0.0, state.q, state.v, 0.0)
    rows = near.rows(0.0, state.q, state.v)
    phase = Phase(
        system=near, control=None, rows=rows,
        modes={row.id: Mode(closed=True, slip=(1.0, 0.0), roll=(0.6, 0.8)) for row in rows},
    )  # fmt: skip
    ones = turnings(phase)
    assert len(ones) == 4
    left = movable(phase, phase.instant(0.0, state.q, state.v), ones)
    assert [(one.k, one.part.start) for one in left] == [(0, 1), (1, 1)]


def test_a_step_of_collocation_whose_stages_grow_without_bound_is_refused_before_they_are_no_numbers():
    """u' = 10 u^3 - mu g goes to infinity within .1 s; the step says so without warnings of numpy."""
    floor = Position(lambda t, q: q[2], mu=MU, tangent=lambda t, q: np.eye(3)[:2])
    system = UserSystem(3, np.eye(3), lambda t, q, v: np.array([*(10.0 * v[:2] ** 3), -G]), constraints=[floor])
    q, v = np.zeros(3), np.array([1.0, 0.0, 0.0])
    rows = tuple(system.rows(0.0, q, v))
    phase = Phase(system=system, control=None, modes={rows[0].id: Mode(closed=True, slip=(1.0, 0.0))}, rows=rows)
    accuracy = Accuracy(rtol=1e-12, atol=1e-12, activation=Activation(), law=Moreau())
    motion = PhaseMotion(phase=phase, control=None, accuracy=accuracy, kernels=CompiledPhase.of(phase, accuracy))
    turn = SlipTurn(
        phase=phase, slope=motion.kernels.slope, slope_of=motion.rates, weight=motion.tolerance.weights, nq=3, nv=3,
        turning=turnings(phase),
    )  # fmt: skip
    y = np.concatenate((q, v, np.zeros(5)))
    first = motion.kernels.slope(0.0, y)
    assert turn.take(0.0, y, first, 1e-3).error <= 1.0
    assert turn.take(0.0, y, first, 10.0).error == np.inf


def test_steps_that_stay_very_short_are_given_up():
    system = UserSystem(1, np.eye(1), lambda t, q, v: -1e16 * q)  # 1e8 rad/s, begun with steps for another motion
    accuracy = Accuracy(rtol=1e-12, atol=1e-12, activation=Activation(), law=Moreau())
    phase = Phase(system=system, control=None, modes={}, rows=())
    kernels = CompiledPhase.of(phase, accuracy)
    motion = PhaseMotion(phase=phase, control=None, accuracy=accuracy, kernels=kernels)

    def go_on():
        now, pace = phase.instant(0.0, np.array([1e-3]), np.zeros(1)), Pace(h=0.1)
        for _ in range(2 * CRAWLS):
            done = motion.step(now, pace, 1e3, 1e3)
            now, pace = done.after, done.pace

    with pytest.raises(Stuck, match="in a row are as short as"):
        go_on()


@pytest.mark.parametrize("across", first(2, [0.3, 1e-4, 1e-2]))
def test_a_slip_that_turns_back_in_a_phase_of_kernels_costs_no_event(across, monkeypatch):
    """A ball that slides against a load: u' = f / m - 7/2 mu g u / |u|; u comes back beside zero."""
    jumped, events = event_loop._jumped, []

    def noted(*given):
        """Note what the loop takes for an event."""
        events.append(given[2].found)
        return jumped(*given)

    monkeypatch.setattr(event_loop, "_jumped", noted)
    mu, pull, end = 0.05, 6.0, 0.6
    system = SpatialSystem(
        bodies=[ball("b", mass=1.0, radius=0.1)], obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=mu), forces=[Load(point=SpatialMarker("b"), force_xyz=(-pull, 0.0, 0.0))],
    )  # fmt: skip
    u0 = np.array([1.5, across])
    state = system.state({"b": (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)}, {"b": (*u0, 0.0, 0.0, 0.0, 0.0)})
    run = simulate(system, state, end, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert not run.events
    assert not events

    def slope(t, u):
        return np.array([-pull, 0.0]) - 3.5 * mu * G * u / np.hypot(*u)

    way = solve_ivp(slope, (0.0, end), u0, method="DOP853", rtol=1e-12, atol=1e-15)
    (row,) = (row for row in system.near(run.t[-1], run.q[-1], run.v[-1], 0.0).rows(run.t[-1], run.q[-1], run.v[-1]))
    x, y = row.frame[1:, :2] @ np.eye(2)
    np.testing.assert_allclose(row.rate[1] * x + row.rate[2] * y, way.y[:, -1], rtol=0, atol=1e-10)
    assert way.y[0, -1] < -0.5
    checked = audit(run, system)
    assert checked.passed, checked.explain()


def stop_of(u, pull):
    """Return when a slip u stops under a pull along +y, s: d|u| / da = -|u| (pull cos a - mu g) / (pull sin a)."""
    angle, size = np.arccos(u[1] / np.hypot(*u)), np.hypot(*u)
    power = MU * G / pull

    def speed(a):
        return size * (np.tan(0.5 * a) / np.tan(0.5 * angle)) ** power * np.sin(angle) / np.sin(a)

    return quad(lambda a: speed(a) / (pull * np.sin(a)), 0.0, angle, epsabs=1e-14, epsrel=1e-13)[0]


@pytest.mark.parametrize(("pieces", "u", "pull"), first(2, [
    (1, (0.5, -0.3), 0.8), (7, (0.3, -0.4), 1.7), (1, (0.3, -0.4), 1.7), (7, (0.5, -0.3), 0.8)
]))  # fmt: skip
def test_steps_whose_length_is_given_find_where_a_slip_stops(pieces, u, pull):
    """They are as long as given up to there, and what comes next does not depend on where a run is cut."""
    floor = Position(lambda t, q: q[2], mu=MU, tangent=lambda t, q: np.eye(3)[:2])
    system = UserSystem(3, np.eye(3), lambda t, q, v: [0.0, pull, -G], constraints=[floor])
    stops, end = stop_of(u, pull), 0.3
    for step, off in ((0.05, 1e-6), (0.01, 1e-7)):
        state, found, stepper = State(q=np.zeros(3), v=[*u, 0.0]), [], EventDriven(step=step)
        for k in range(1, pieces + 1):
            run = simulate(system, state, end * k / pieces, stepper=stepper)
            assert run.status == "COMPLETED", run.stop
            if pieces == 1:
                lengths = [arc.h for one in run.evidence.values() for arc in one.arcs if arc.t < stops - 4.0 * step]
                np.testing.assert_allclose(lengths[:-1], step, rtol=1e-9)
            found += [(event.kind, event.t) for event in run.events]
            state = run.final
        ((kind, t),) = found
        assert kind == "stick"
        assert t == pytest.approx(stops, abs=off)
        np.testing.assert_allclose(state.v, 0.0, atol=1e-12)


def test_accelerations_change_with_directions_of_slip_as_their_differences_do():
    law, names = ContactLaw(mu=0.4, mu_r=0.02), ("a", "b")
    system = SpatialSystem(
        bodies=[ball(name, mass=1.0 + k, radius=0.1) for k, name in enumerate(names)],
        obstacles=[HalfSpace(name="floor")], contact=law,
    )  # fmt: skip
    state = system.state(
        {"a": (0.0, 0.0, 0.1), "b": (0.2, 0.0, 0.1)}, dict.fromkeys(names, (1.0, 0.5, 0.0, 0.3, 0.2, 0.3))
    )
    near = system.near(0.0, state.q, state.v, 0.0)
    place = Place.of(near, 0.0, state.q, state.v, None)
    assert len(place.rows) == 3
    modes = {row.id: Mode(closed=True, slip=(1.0, 0.0), roll=(0.6, 0.8) if row.moments else ()) for row in place.rows}
    phase = Phase(system=near, control=None, modes=modes, rows=place.rows)
    ones = turnings(phase)
    assert len(ones) == 6
    step = SlipTurn(phase=phase, slope=None, slope_of=None, weight=None, nq=system.nq, nv=system.nv, turning=ones)
    angle = np.linspace(0.1, 0.8, len(ones))
    found = phase.by_direction(step._at(place, angle), [(one.k, one.part) for one in ones])
    assert np.abs(found).max(axis=1).min() > 0.01
    for k, h in enumerate(1e-5 * np.eye(len(ones))):
        change = (step._at(place, angle + h).a - step._at(place, angle - h).a) / 2e-5
        np.testing.assert_allclose(found[k], change, rtol=0, atol=1e-8)
