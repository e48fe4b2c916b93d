"""Event-driven integration against closed forms and against scipy's integrator with its own events."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence import first
from scipy.integrate import solve_ivp

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.realizations import Smooth
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.planar.bodies import Marker, Point, disc, fixed
from gaussdyn.mechanics.planar.contacts import DryFriction, HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Drag, Shaking, Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.mechanics.user.constraints import Position
from gaussdyn.mechanics.user.system import UserSystem
from gaussdyn.scenes.catalogue import build

G = 9.81
CLOSE = 1e-11


def run_of(name, *, dt=None, **params):
    return simulate(build(name, **params), stepper=EventDriven(dt=dt))


def times(run, kind):
    return [event.t for event in run.events if event.kind == kind]


def test_a_step_of_another_method_goes_on_from_a_state_as_from_its_copy():
    scene = build("incline")
    state = EventDriven().advance(scene.system, scene.state, 0.1).state
    copy = State(t=state.t, q=state.q, v=state.v, memory=dict(state.memory))
    assert any(key.endswith(":mode") for key in copy.memory)
    ends = [MoreauJean().advance(scene.system, one, 1.0).state for one in (state, copy)]
    assert ends[0].digest() == ends[1].digest()
    assert ends[0].memory.keys() == ends[1].memory.keys()


@pytest.mark.parametrize(("e", "h"), [(0.3, 0.01), (0.5, 20.0)])
def test_a_ball_rests_when_the_sum_of_its_flights_is_over(e, h):
    run = run_of("zeno_ball", e=e, h=h)
    fall = math.sqrt(2.0 * h / G)
    impacts = times(run, "impact")
    flights = np.cumsum([fall] + [2.0 * fall * e**k for k in range(1, len(impacts))])
    np.testing.assert_allclose(impacts, flights, rtol=0, atol=1e-12)
    (rest,) = times(run, "accumulation")
    assert rest == pytest.approx(fall * (1.0 + e) / (1.0 - e), abs=1e-12)
    assert run.q[-1] == pytest.approx([0.0, 0.0], abs=1e-14)
    assert run.v[-1] == pytest.approx([0.0, 0.0], abs=0.0)
    assert run.status == "COMPLETED"


@pytest.mark.parametrize(("e", "h"), first(2, [(0.6, 0.3), (0.86, 0.37), (0.9, 2.0)]))
def test_a_ball_rests_in_time_where_its_gap_is_rounded(e, h):
    high = 0.7  # of the floor: gaps are rounded by 1e-16 m, which the last rebounds feel
    contact = PlanarContact(point=Marker("ball"), plane=HalfPlane(name="floor", point=(0.0, high)), eps_n=e)
    system = PlanarSystem(bodies=[Point(name="ball", mass=1.0)], contacts=[contact])
    state = system.state({"ball": (0.0, high + h)})
    end = math.sqrt(2.0 * (float(state.q[1]) - high) / G) * (1.0 + e) / (1.0 - e)
    run = simulate(system, state, end + 0.1, stepper=EventDriven())
    (rest,) = times(run, "accumulation")
    assert rest == pytest.approx(end, rel=0, abs=1e-12 * max(1.0, end))
    assert audit(run, system).passed


def test_a_ball_without_restitution_stays_where_it_falls():
    run = run_of("zeno_ball", e=0.0)
    assert [event.kind for event in run.events] == ["impact", "touchdown"]
    assert run.events[0].t == pytest.approx(math.sqrt(2.0 / G), abs=1e-14)


def test_many_impacts_that_are_hardly_apart_come_to_their_end():
    e, h, late = 0.9, 1e-8, 1000.0  # so late 1e-4 s is hardly anything
    start = State(t=late, q=[0.0, h], v=[0.0, 0.0])
    run = simulate(build("zeno_ball", e=e).system, start, late + 0.01, stepper=EventDriven(crowd=20))
    (rest,) = times(run, "accumulation")
    assert rest == pytest.approx(late + math.sqrt(2.0 * h / G) * (1.0 + e) / (1.0 - e), abs=1e-9)
    assert len(times(run, "impact")) > 40
    assert run.status == "COMPLETED"


def test_the_coulomb_oscillator_turns_every_half_period_and_stops():
    run = run_of("coulomb_oscillator")
    np.testing.assert_allclose(times(run, "reversal"), math.pi * np.arange(1, 5), atol=CLOSE)
    np.testing.assert_allclose(times(run, "stick"), [5.0 * math.pi], atol=CLOSE)
    assert run.q[-1, 0] == pytest.approx(-0.05, abs=CLOSE)
    turns = run.q[:6, 0]
    np.testing.assert_allclose(turns, [1.05, -0.85, 0.65, -0.45, 0.25, -0.05], atol=CLOSE)


@pytest.mark.parametrize(("mu", "v0"), [(0.4, 0.0), (0.2, 0.0), (0.2, -2.0), (0.4, 1.0), (0.0, -1.0), (0.4, -3.0)])
def test_a_block_on_an_incline(mu, v0):
    scene = build("incline", mu=mu, v0=v0)
    run = simulate(scene, stepper=EventDriven())
    for exact in scene.exact:
        assert exact.measure(run) == pytest.approx(exact.value, abs=1e-12), exact.name


def test_stick_and_slip_on_a_belt():
    run = run_of("belt_oscillator")
    scene = build("belt_oscillator")
    first, slip, ride = (next(x.value for x in scene.exact if x.name == name) for name in (
        "when it breaks loose", "duration of a slip", "duration of a ride"))  # fmt: skip
    assert times(run, "slip")[:2] == pytest.approx([first, first + slip + ride], abs=CLOSE)
    assert times(run, "stick")[:2] == pytest.approx([first + slip, first + 2.0 * slip + ride], abs=CLOSE)


def test_a_ball_rolls_after_its_slip():
    run = run_of("sphere_slip", mu=0.2, v0=1.0)
    assert times(run, "stick") == pytest.approx([2.0 / (7.0 * 0.2 * G)], abs=CLOSE)
    assert run.v[-1, 0] == pytest.approx(5.0 / 7.0, abs=CLOSE)


def test_a_ladder_leaves_its_wall():
    run = run_of("ladder")
    scene = build("ladder")
    leaves = next(x.value for x in scene.exact if x.name == "time at which it leaves the wall")
    assert times(run, "lift_off") == pytest.approx([leaves], abs=CLOSE)


def pendulum_over_a_floor(length, height):
    """A pendulum whose bob strikes a wall at the angle below, restitution 0.7: one angle, one unilateral row."""

    wall = Position(
        phi=lambda t, q: q[0] + height, jacobian=lambda t, q: np.array([1.0]), kind="unilateral", eps_n=0.7, name="wall"
    )
    return UserSystem(
        nq=1, mass=lambda q: np.array([[length**2]]),
        force=lambda t, q, v, control=None: np.array([-G * length * np.sin(q[0]) - 0.1 * v[0] + 2.0 * np.sin(3.0 * t)]),
        constraints=[wall],
    )  # fmt: skip


def test_a_driven_pendulum_against_a_wall_agrees_with_scipy():
    length, wall = 0.7, 0.3
    run = simulate(pendulum_over_a_floor(length, wall), State(q=[1.0], v=[0.0]), 6.0, stepper=EventDriven())

    def f(t, y):
        return [y[1], (-G * length * np.sin(y[0]) - 0.1 * y[1] + 2.0 * np.sin(3.0 * t)) / length**2]

    def hits(t, y):
        return y[0] + wall

    hits.terminal, hits.direction = True, -1.0
    t, y, found = 0.0, [1.0, 0.0], []
    while t < 6.0:
        leg = solve_ivp(f, (t, 6.0), y, events=hits, method="DOP853", rtol=1e-13, atol=1e-14)
        t, y = float(leg.t[-1]), [float(leg.y[0, -1]), -0.7 * float(leg.y[1, -1])]
        if leg.status == 1:
            found.append(t)
    assert len(found) >= 4
    np.testing.assert_allclose(times(run, "impact"), found, atol=1e-10)


@pytest.mark.parametrize("name", ["zeno_ball", "coulomb_oscillator", "incline", "ladder", "belt_oscillator"])
def test_runs_pass_their_audit(name):
    scene = build(name)
    run = simulate(scene, stepper=EventDriven(dt=0.25 * scene.t_end))
    checked = audit(run, scene.system)
    assert checked.passed, checked.explain()


def test_an_audit_sees_a_state_that_was_touched():
    scene = build("coulomb_oscillator")
    run = simulate(scene, stepper=EventDriven())
    run.v[2] += 1e-6
    assert not audit(run, scene.system).passed


def test_a_run_goes_on_bit_for_bit(tmp_path):
    scene, path = build("belt_oscillator"), tmp_path / "run.h5"
    whole = simulate(scene, stepper=EventDriven(dt=0.5))
    simulate(scene, t_end=2.5, stepper=EventDriven(dt=0.5), out=path)
    again = simulate(scene, stepper=EventDriven(dt=0.5), out=path, resume=True)
    assert again.state_hash == whole.state_hash


@pytest.mark.parametrize("bad", [{"rtol": 0.0}, {"atol": -1.0}, {"dt": 0.0}, {"crowd": 0}, {"activation": 1.0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        EventDriven(**bad)


def test_a_control_that_is_a_function_needs_a_step():
    scene = build("zeno_ball")
    run = simulate(scene, stepper=EventDriven(), control=lambda t, state: np.zeros(2))
    assert "EventDriven(dt=" in run.stop.reason


@pytest.mark.slow
def test_what_is_advised_for_stiff_forces_damps_them():
    """A drag of 1e6 N s/m: v goes to -9.81e-6 m/s within microseconds."""
    ground = [Position(lambda t, q: q[0])]
    drag = UserSystem(1, [[1.0]], lambda t, q, v: np.array([-1e6 * v[0] - 9.81]), ground)
    for stepper in (MoreauJean(theta=1.0), Smooth()):
        run = simulate(drag, State(q=[1.0], v=[1.0]), 0.005, stepper=stepper)
        assert run.stop is None
        assert run.final.v[0] == pytest.approx(-9.81e-6, rel=1e-6)


def test_stiff_forces_are_said_to_be_stiff():
    drag = UserSystem(
        nq=1, mass=lambda q: np.eye(1), force=lambda t, q, v, control=None: -1e8 * (v - np.cos(t)), constraints=[]
    )
    run = simulate(drag, State(q=[0.0], v=[1.0]), 10.0, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "forces are stiff" in run.stop.reason
    assert "take MoreauJean(theta=1), or Smooth where no contact closes." in run.stop.reason


@pytest.mark.parametrize("name", ["ivanov_rod", "painleve_klein"])
def test_a_state_without_acceleration_stops_the_run_with_its_proof(name):
    scene = build(name)
    run = simulate(scene, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "certificate" in run.stop.reason
    step = EventDriven().advance(scene.system, scene.state, scene.t_end)
    assert step.solution.certificate.verify()


@pytest.mark.parametrize("name", first(2, ["capstan", "arch", "cradle", "leaving_sphere"]))
def test_redundant_contacts_and_events_at_the_start(name):
    scene = build(name)
    run = simulate(scene, stepper=EventDriven(dt=0.25 * scene.t_end))
    assert run.status == "COMPLETED", run.stop
    checked = audit(run, scene.system)
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("dt", [None, 1e-2, 1e-3])
def test_a_rod_that_jams_stops_where_its_reaction_has_a_pole(dt):
    scene = build("painleve_rod", mu=1.6, angle=0.6, omega=2.0, slip=-5.0)
    run = simulate(scene, t_end=0.2, stepper=EventDriven(dt=dt))
    assert run.status == "STOPPED"
    assert "without bound" in run.stop.reason
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.v).all()
    # m A = 1 + 3 cos^2 - 3 mu cos sin and b = omega^2 sin - g vanish together: sin(2 angle - phi) = 2.5 / |(2.4, 1.5)|
    angle = 0.5 * (math.atan2(1.5, 2.4) + math.asin(2.5 / math.hypot(2.4, 1.5)))
    assert run.q[-1, 2] == pytest.approx(angle, abs=1e-10)
    assert run.v[-1, 2] == pytest.approx(math.sqrt(G / math.sin(angle)), abs=1e-8)


def test_a_rod_that_jams_where_the_integrator_sees_no_pole_moves_up_to_it():
    mu, length = 1.8, 0.7
    scene = build("painleve_rod", mu=mu, angle=0.55, omega=2.5, slip=-4.0, half_length=length, mass=2.0)
    run = simulate(scene, t_end=0.2, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert "without bound" in run.stop.reason
    angle = 0.5 * (math.atan2(1.0, mu) + math.asin(5.0 / 3.0 / math.hypot(mu, 1.0)))
    assert run.q[-1, 2] == pytest.approx(angle, abs=1e-8)
    assert run.v[-1, 2] == pytest.approx(math.sqrt(G / length / math.sin(angle)), abs=1e-4)


def test_a_jam_has_one_time():
    scene = build("painleve_rod", mu=1.6, angle=0.6, omega=2.0, slip=-5.0)
    ends = [simulate(scene, t_end=0.2, stepper=EventDriven(dt=dt)).t_reached for dt in (None, 1e-2, 3e-3)]
    assert max(ends) - min(ends) <= 1e-12


def test_what_closes_without_speed_slides_on():
    """A floor shaken by hardly more than g lets a sliding point go for 1e-5 s: it comes back at 1e-10 m/s, and slides.

    Over a whole period the mean of N is m g: the slip loses mu g T.
    """
    frequency, mu = 20.0, 0.3
    shaking = Shaking(direction=(0.0, 1.0), amplitude=G * (1.0 + 1e-6), frequency=frequency)
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="floor"), mu=mu)
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], contacts=[contact], forces=[shaking])
    run = simulate(system, system.state({"p": (0.0, 0.0)}, {"p": (5.0, 0.0)}), 1 / frequency, stepper=EventDriven())
    assert [event.kind for event in run.events] == ["lift_off", "touchdown"]
    assert run.final.v == pytest.approx([5.0 - mu * G / frequency, 0.0], abs=1e-8)
    assert run.statistics["energy_drift_rel"] <= 1e-11


@pytest.mark.parametrize(("frequency", "ratio"), first(5, [
    (1.0, 0.98), (1.0, 1.2), (7.0, 1.001), (20.0, 0.98), (20.0, 1.001),
    (1.0, 1.001), (7.0, 0.98), (7.0, 1.2), (20.0, 1.2),
]))  # fmt: skip
def test_a_point_that_sticks_to_a_shaken_floor_slips_in_every_half_period(frequency, ratio):
    """Nothing moves while it sticks: only its impulses tell how long steps may be."""
    mu, periods = 0.5, 4
    contact = PlanarContact(point=Marker("p"), plane=HalfPlane(name="floor"), mu=mu)
    shaking = Shaking(amplitude=ratio * mu * G, frequency=frequency)
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], contacts=[contact], forces=[shaking])
    state = system.state({"p": (0.0, 0.0)}, {"p": (0.0, 0.0)})
    run = simulate(system, state, periods / frequency, stepper=EventDriven())
    halves, began = 2 * periods, math.asin(min(1.0, 1.0 / ratio)) / (2.0 * math.pi * frequency)
    assert [event.kind for event in run.events] == ([] if ratio < 1.0 else ["slip", "stick"] * halves)
    np.testing.assert_allclose(
        times(run, "slip"), [began + k / (2.0 * frequency) for k in range(halves if ratio > 1.0 else 0)], atol=1e-9
    )  # fmt: skip
    checked = audit(run, system)  # impulses lie in their cones, and give what bodies gain
    assert checked.passed, checked.explain()


@pytest.mark.parametrize("off", [-2e-10, -1e-12, 0.0, 1e-10])
def test_a_run_may_end_just_where_a_slip_stops(off):
    mu, floor = 0.3, Position(lambda t, q: q[1], mu=0.3)
    system = UserSystem(2, np.eye(2), lambda t, q, v: np.array([0.0, -G]), constraints=[floor])
    stop = 1.0 / (mu * G)
    run = simulate(system, State(q=np.zeros(2), v=np.array([1.0, 0.0])), stop + off, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["stick"]
    assert run.events[0].t == pytest.approx(stop, abs=1e-9 / (mu * G))  # where 1e-9 m/s count as rest
    assert run.q[-1] == pytest.approx([0.5 * stop, 0.0], abs=1e-12)
    assert np.abs(run.v[-1]).max() <= 1e-9


@pytest.mark.parametrize(("most", "rate"), [(20.0, 20.0), (500.0, 100.0), (36.0, 60.0)])
def test_a_body_leaves_a_shaken_floor_smoothly_where_all_forces_vanish_together(most, rate):
    """In the frame of the floor: N = m (g + a sin w t) falls through zero; nothing pushes, and nothing is undecided."""
    shaking = Shaking(amplitude=most, frequency=rate / (2.0 * math.pi), direction=(0.0, 1.0))
    system = PlanarSystem(
        bodies=[disc("b", mass=1.0, radius=0.1)], obstacles=[HalfPlane(name="floor")], forces=[shaking]
    )  # fmt: skip
    leaves, end = (math.pi + math.asin(G / most)) / rate, 2.0 * math.pi / rate
    run = simulate(system, system.state({"b": (0.0, 0.1, 0.0)}, {"b": (0.0, 0.0, 0.0)}), end, stepper=EventDriven())
    assert run.status == "COMPLETED", run.stop
    assert [event.kind for event in run.events] == ["lift_off"]
    assert run.events[0].t == pytest.approx(leaves, abs=CLOSE)
    u = -G * (end - leaves) + most / rate * (math.cos(rate * end) - math.cos(rate * leaves))
    assert run.v[-1] == pytest.approx([0.0, u, 0.0], abs=1e-9 * most)


@pytest.mark.parametrize("name", ["coulomb_oscillator", "rocking_block", "slack_string"])
def test_what_segments_hand_on_changes_nothing(name):
    """A run whose segments know phases from before gives the states of one whose segments find them, to the bit."""
    scene, alone, handed = build(name), EventDriven(), EventDriven().for_run()
    assert alone == handed
    states, kinds = [scene.state, scene.state], set()
    for _ in range(12):
        steps = [
            stepper.advance(scene.system, state, 5.0) for stepper, state in zip((alone, handed), states, strict=True)
        ]
        states = [step.state for step in steps]
        assert len({(state.t, state.q.tobytes(), state.v.tobytes()) for state in states}) == 1
        kinds |= {change.kind for change in steps[0].changes}
        if states[0].t >= 5.0:
            break
    assert kinds


def test_what_a_state_remembers_is_all_that_a_segment_begins_with():
    """Without weight forces die away with the motion: what they were at first is handed on by the state alone."""
    system = PlanarSystem(
        bodies=[Point(name="b", mass=1.0)], gravity=(0.0, 0.0),
        forces=[Spring(a=Marker("b"), b=fixed(0.0, 0.0, "wall"), stiffness=4.0), Drag(point=Marker("b"), damping=0.5)],
        contacts=[DryFriction(point=Marker("b"), cap=0.05)],
    )  # fmt: skip
    alone, handed = EventDriven(), EventDriven().for_run()
    states = [system.state({"b": (3.0, 0.0)})] * 2
    for _ in range(5):
        states = [one.advance(system, state, 50.0).state for one, state in zip((alone, handed), states, strict=True)]
        states[0] = State(t=states[0].t, q=states[0].q, v=states[0].v, memory=dict(states[0].memory))
        assert states[0].digest() == states[1].digest()
