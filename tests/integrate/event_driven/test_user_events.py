"""Events of the user: located as all others, recorded, and able to end a run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.event_driven.user_events import UserEvent
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.stepper_names import from_settings
from gaussdyn.mechanics.planar.bodies import Point
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State
from gaussdyn.scenes.catalogue import build

G = 9.81


def thrown(e=0.5, **events):
    return simulate(build("zeno_ball", e=e, h=1.0), stepper=EventDriven(events=events))


def times(run, name):
    return np.array([event.t for event in run.events if event.kind == "user" and event.id == name])


def test_the_apex_of_every_flight_and_a_height_on_the_way_are_located_to_rounding():
    height, e = 0.2, 0.5
    run = thrown(
        e, apex=UserEvent(g=lambda t, state: state.v[1], direction=-1), height=lambda t, state: state.q[1] - height
    )
    fall = math.sqrt(2.0 / G)
    lands = fall + 2.0 * fall * np.concatenate(([0.0], np.cumsum(e ** np.arange(1, 12))))
    apexes = lands[:-1] + fall * e ** np.arange(1, 12)
    found = times(run, "apex")
    assert len(found) >= 8
    np.testing.assert_allclose(found[:8], apexes[:8], rtol=0, atol=1e-12)
    first_apex = apexes[0]
    aside = math.sqrt(2.0 * (e**2 - height) / G)
    expected = [math.sqrt(2.0 * (1.0 - height) / G), first_apex - aside, first_apex + aside]
    np.testing.assert_allclose(times(run, "height"), expected, rtol=0, atol=1e-12)
    assert run.status == "COMPLETED"
    assert {event.kind for event in run.events} >= {"impact", "accumulation", "user"}


@pytest.mark.parametrize("after", [5e-12, 5e-11, 1e-10, 1e-8])
def test_what_happens_shortly_after_an_impact_is_an_event_and_only_one(after):
    """A time, a height, and one that is passed so flatly that values tell little of where."""
    lands = math.sqrt(2.0 / G)
    run = thrown(
        clock=lambda t, state: t - (lands + after),
        height=UserEvent(g=lambda t, state: state.q[1] - after, direction=1),
        flat=lambda t, state: (t - (lands + 0.1)) ** 3,
    )
    np.testing.assert_allclose(times(run, "clock"), [lands + after], rtol=0, atol=1e-12)
    np.testing.assert_allclose(times(run, "flat"), [lands + 0.1], rtol=0, atol=1e-10)
    bounce = 0.5 * math.sqrt(2.0 * G)
    assert times(run, "height")[0] == pytest.approx(lands + after / bounce, abs=2e-12)


def test_an_event_of_both_directions_and_of_one():
    both, rises, falls = (
        times(simulate(build("coulomb_oscillator"), stepper=EventDriven(events={"zero": UserEvent(g=g, direction=d)})),
              "zero")
        for d, g in ((0, lambda t, state: state.q[0]), (1, lambda t, state: state.q[0]), (-1, lambda t, s: s.q[0]))
    )  # fmt: skip
    np.testing.assert_allclose(both[0::2], falls, rtol=0, atol=1e-13)
    np.testing.assert_allclose(both[1::2], rises, rtol=0, atol=1e-13)
    quarter = math.acos(-0.1 / 0.95)  # x = 0.1 + 0.95 cos t
    assert both[0] == pytest.approx(quarter, abs=1e-12)


def test_a_run_ends_at_an_event_that_says_so():
    run = thrown(low=UserEvent(g=lambda t, state: state.q[1] - 0.3, stop=True))
    fall = math.sqrt(2.0 * 0.7 / G)
    assert run.status == "STOPPED"
    assert run.stop is not None
    assert "'low'" in run.stop.reason
    assert run.t[-1] == pytest.approx(fall, abs=1e-13)
    assert run.q[-1, 1] == pytest.approx(0.3, abs=1e-12)


def test_events_change_nothing_else_and_the_run_goes_on_from_them():
    plain = thrown()
    asked = thrown(clock=lambda t, state: math.sin(40.0 * t))
    kinds = [(event.kind, event.id) for event in asked.events if event.kind != "user"]
    assert kinds == [(event.kind, event.id) for event in plain.events]
    np.testing.assert_allclose(
        [event.t for event in asked.events if event.kind != "user"], [event.t for event in plain.events], atol=1e-11
    )
    ticks = times(asked, "clock")
    np.testing.assert_allclose(ticks, math.pi / 40.0 * np.arange(1, len(ticks) + 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("events", [
    [], "apex", {"apex": 1.0}, {"": lambda t, s: 0.0}, {3: lambda t, s: 0.0},
])  # fmt: skip
def test_what_is_no_event_is_refused(events):
    if events == []:
        events = [lambda t, s: 0.0]
    with pytest.raises(InputError, match=r"events|event"):
        EventDriven(events=events)
    with pytest.raises(InputError, match="direction"):
        UserEvent(g=lambda t, s: 0.0, direction=2)


@pytest.mark.parametrize("bad", [
    lambda t, s: math.nan, lambda t, s: np.zeros(2), lambda t, s: None, lambda t, s: "high",
])  # fmt: skip
def test_a_function_that_gives_no_number_is_refused_before_the_run(bad):
    with pytest.raises(InputError, match="event bad"):
        thrown(bad=bad)


@pytest.mark.parametrize(("late", "said"), [(lambda t: math.nan, "event late"), (lambda t: 1 / 0, "ZeroDivision")])
def test_a_function_that_fails_later_stops_the_run_and_is_named(late, said):
    run = thrown(late=lambda t, state: 1.0 if t < 0.6 else late(t))
    assert run.status == "STOPPED"
    assert run.stop is not None
    assert said in run.stop.reason
    assert run.t[-1] < 0.6


def test_settings_tell_the_events_and_a_stepper_from_them_has_none():
    stepper = EventDriven(events={"low": UserEvent(g=lambda t, s: 1.0, stop=True)})
    assert stepper.settings()["events"] == {"low": {"stop": True, "direction": 0}}
    assert from_settings(stepper.settings()).settings() == EventDriven().settings()


@pytest.mark.parametrize("speed", [1e-3, 1e-6])
def test_an_event_that_is_passed_slowly_happens_once(speed):
    """Right after it its function is what rounding leaves, of either sign, and changes by less for a while."""
    system = PlanarSystem(bodies=[Point(name="p", mass=1.0)], gravity=(0.0, 0.0))

    def height(x, y):
        return 10.0 * math.sin(3.0 * x) * math.cos(y) + x**3 + 7.0 * y * y

    for k in range(15):
        x, t = 1.0 + 0.037 * k, 0.31 + 0.02 * k
        level = height(x + speed * t, 0.7 + 0.3 * speed * t)
        start = system.state({"p": (x, 0.7)}, {"p": (speed, 0.3 * speed)})
        event = {"level": lambda t, state, level=level: height(state.q[0], state.q[1]) - level}
        run = simulate(system, start, 1.0, stepper=EventDriven(events=event))
        assert run.status == "COMPLETED"
        assert len(times(run, "level")) == 1, k


@pytest.mark.parametrize("after", [5e-12, 5e-11, 1e-10])
def test_what_has_just_fired_is_known_from_the_state_alone(after):
    """Segments from copies of states, as after a resume, end at the same events as those of one run."""
    lands = math.sqrt(2.0 / G)
    scene = build("zeno_ball", e=0.5, h=1.0)
    events = {
        "clock": lambda t, state: t - (lands + after),
        "height": UserEvent(g=lambda t, state: state.q[1] - after, direction=1),
    }
    run = simulate(scene, stepper=EventDriven(events=events))
    state, found = scene.state, []
    while state.t < run.t[-1]:
        copied = State(t=state.t, q=state.q.copy(), v=state.v.copy(), memory=dict(state.memory))
        step = EventDriven(events=events).advance(scene.system, copied, scene.t_end)
        state = step.state
        found += [(one.t, one.kind, one.id) for one in step.changes]
    assert found == [(one.t, one.kind, one.id) for one in run.events]
    assert {"clock", "height"} <= {name for _, _, name in found}
    assert state.digest() == run.final.digest()


@pytest.mark.parametrize("kept", [True, False])
def test_an_event_that_ended_a_run_does_not_happen_again_after_it(kept):
    """Nor where the state does not say what has fired, as files of earlier versions and runs without events do."""
    system, speed = PlanarSystem(bodies=[Point(name="p", mass=1.0)], gravity=(0.0, 0.0)), 1e-5

    def stepper(stop):
        event = UserEvent(g=lambda t, state: state.q[1] - 1.0 - 0.3 * speed, stop=stop)
        return EventDriven(events={"level": event})

    ended = simulate(system, system.state({"p": (0.0, 1.0)}, {"p": (0.0, speed)}), 1.0, stepper=stepper(True)).final
    memory = {key: x for key, x in ended.memory.items() if kept or not key.endswith((":fired", "event_driven:watched"))}
    on = simulate(system, State(t=ended.t, q=ended.q, v=ended.v, memory=memory), 1.0, stepper=stepper(False))
    assert "event_driven:h" in memory
    assert on.status == "COMPLETED"
    assert len(times(on, "level")) == 0
