"""Steps chosen by a tolerance: errors against closed forms fall with it, the laws hold, runs go on to the bit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import stepping_cases as cases
from evidence import first
from small_systems import Ball, G, Oscillator, Plain

from gaussdyn import EventDriven, MoreauJean, PlanarSystem, State, Tolerance, audit, build, simulate
from gaussdyn.errors import InputError
from gaussdyn.integrate.stepper_names import from_settings
from gaussdyn.integrate.worlds import Worlds
from gaussdyn.mechanics.planar import Hinge, Marker, box, fixed

HEIGHT, EPS = 1.0, 0.6
KINDS = (cases.pile, cases.tree, cases.linkage, cases.mechanism, cases.lagrangian, cases.user, cases.tumble)


class OneByOne(MoreauJean):
    """Takes every pair of steps by itself."""

    def advance_many(self, *_args, **_options):
        """Take none."""
        return ()


class FewAtOnce(MoreauJean):
    """Takes at most six steps in a call."""

    def advance_many(self, system, state, n, t_max, *, control=None):
        """Take steps."""
        return MoreauJean.advance_many(self, system, state, min(n, 6), t_max, control=control)


def within(rtol, dt=1e-3, **settings):
    return MoreauJean(dt=dt, step=Tolerance(rtol), **settings)


def bounced(t):
    """Return the height of a ball let fall from rest, by its flights."""
    speed, start = math.sqrt(2.0 * G * HEIGHT), math.sqrt(2.0 * HEIGHT / G)
    if t < start:
        return HEIGHT - 0.5 * G * t**2
    while True:
        speed *= EPS
        if t < start + 2.0 * speed / G:
            return speed * (t - start) - 0.5 * G * (t - start) ** 2
        start += 2.0 * speed / G


@pytest.mark.slow
def test_errors_of_a_smooth_motion_fall_with_the_tolerance_and_the_order_is_observed():
    found = []
    for rtol in (1e-5, 1e-7, 1e-9):
        stepper = MoreauJean(dt=1e-3, step=Tolerance(rtol, longest=1.0))
        run = simulate(Oscillator(k=4.0), State(q=[1.0], v=[0.0]), 3.0, stepper=stepper)
        found.append(np.abs(run.q[:, 0] - np.cos(2.0 * run.t)).max())
        assert abs(run.statistics["achieved_order"] - 2.0) < 0.1
        assert run.t[-1] == 3.0
    assert found[0] < 1e-2
    assert found[1] < 0.1 * found[0]
    assert found[2] < 0.1 * found[1]


def test_steps_that_damp_are_of_order_one():
    run = simulate(Oscillator(k=4.0), State(q=[1.0], v=[0.0]), 0.3, stepper=within(1e-5, theta=1.0))
    assert abs(run.statistics["achieved_order"] - 1.0) < 0.1


@pytest.mark.slow
def test_errors_across_impacts_fall_with_the_tolerance_at_far_fewer_steps_than_fixed_ones():
    off, steps, t_end = [], [], 1.2  # two impacts
    for rtol in (1e-3, 1e-5, 1e-7):
        run = simulate(Ball(eps=EPS), State(q=[HEIGHT], v=[0.0]), t_end, stepper=within(rtol))
        off.append(np.abs(run.q[:, 0] - [bounced(t) for t in run.t]).max())
        steps.append(run.statistics["steps"] + 3 * run.statistics["rejected_steps"])
        assert run.statistics["max_residual"] <= 1e-11
        assert run.statistics["max_penetration_m"] <= 1e-10
    assert off[1] < 0.1 * off[0]
    assert off[2] < 0.1 * off[1]
    fixed = simulate(Ball(eps=EPS), State(q=[HEIGHT], v=[0.0]), t_end, stepper=MoreauJean(dt=t_end / 5000))
    assert np.abs(fixed.q[:, 0] - [bounced(t) for t in fixed.t]).max() > 10.0 * off[2]
    assert max(steps) < 500


@pytest.mark.parametrize("name", first(1, ["rocking_block", "coulomb_oscillator", "slack_string"]))
def test_runs_of_scenes_pass_their_audit_and_come_near_to_the_answer_by_events(name):
    scene = build(name)
    off = []
    for rtol in (1e-3, 1e-4, 1e-6):
        run = simulate(scene, stepper=MoreauJean(dt=scene.dt, step=Tolerance(rtol)))
        assert run.status == "COMPLETED"
        assert run.statistics["forced_steps"] == 0
        off.append(max(abs(exact.measure(run) - exact.value) for exact in scene.exact))
        assert audit(run, scene.system).passed
    assert off[2] < 0.1 * off[0]


class Buzz(Plain):
    """A point under a force that no step follows: it turns a thousand radians in the shortest pair."""

    def force(self, t, q, v, control=None):
        """Return the force."""
        return np.array([1e8 * math.sin(1e12 * t)])

    def power(self, t, q, v, control=None):
        """Return its power."""
        return float(v @ self.force(t, q, v))


@pytest.mark.parametrize("t", [0.37, 1e3, 0.0])
def test_a_pair_as_short_as_can_be_is_kept_whatever_its_time_is_rounded_to(t):
    """The error of pairs falls to no tolerance."""
    run = simulate(Buzz(), State(t=t, q=[0.0], v=[0.0]), t + 2e-8, stepper=within(1e-5), examine="off")
    assert run.status == "COMPLETED"
    assert run.statistics["forced_steps"] > 0
    assert audit(run, Buzz()).passed


def arm():
    """Two hinged bodies that swing wide in the plane."""
    parts = box("upper", mass=1.0, width=1.0, height=0.05), box("lower", mass=0.5, width=0.8, height=0.05)
    joints = [
        Hinge(name="shoulder", a=Marker("upper", (-0.5, 0.0)), b=fixed(0.0, 0.0)),
        Hinge(name="elbow", a=Marker("lower", (-0.4, 0.0)), b=Marker("upper", (0.5, 0.0))),
    ]
    system = PlanarSystem(bodies=parts, joints=joints)
    return system, system.state(joints={"shoulder": 0.3, "elbow": 0.5})


def off_by_events(run, system, state):
    """Return how far places are from the motion by events, at some forty times."""
    worst = 0.0
    for k in range(0, len(run.t), len(run.t) // 40 + 1):
        state = EventDriven().advance(system, state, run.t[k]).state if run.t[k] > state.t else state
        worst = max(worst, np.abs(run.q[k] - state.q).max())
    return worst


def test_smooth_motion_costs_at_most_twice_the_steps_of_the_best_fixed_ones():
    """A fixed run of half as many steps as were solved is off by more; few pairs are rejected."""
    (system, start), t_end = arm(), 2.0
    run = simulate(system, start, t_end, stepper=within(1e-4, dt=1e-2), examine="off")
    said = run.statistics
    pairs = said["steps"] // 2
    assert said["rejected_steps"] <= 0.1 * pairs
    solved = 3 * (pairs + said["rejected_steps"])
    fixed = simulate(system, start, t_end, stepper=MoreauJean(dt=2.0 * t_end / solved), examine="off")
    assert off_by_events(run, system, start) < off_by_events(fixed, system, start)


def test_the_second_step_of_a_pair_is_the_one_that_advance_returns():
    scene = build("rocking_block")
    stepper, state = within(1e-6), scene.state
    for _ in range(12):
        step = stepper.advance(scene.system, state, scene.t_end)
        again = stepper.advance(scene.system, step.state, scene.t_end)
        assert again.sizing is None
        assert step.sizing.then.state.digest() == again.state.digest()
        state = again.state


def test_the_second_step_of_a_pair_is_that_of_its_clock_and_its_tolerance():
    system, state = Ball(eps=EPS), State(t=2.0, q=[HEIGHT], v=[0.0])
    half = within(1e-5).advance(system, state, 3.0).state
    back = replace(half, t=0.0)
    assert within(1e-5).advance(system, back, 3.0).state.t < 0.1  # not up to the end of a pair of another time
    finer = MoreauJean(dt=1e-3, step=Tolerance(1e-9, longest=1e-4))
    assert finer.advance(system, half, 3.0).state.t - half.t <= 1e-4


def test_a_run_is_the_same_whether_steps_are_examined_or_stopped_on_the_way(tmp_path):
    scene = build("rocking_block")
    how = {"stepper": within(1e-5), "save": 1, "t_end": 0.4 * scene.t_end}
    whole = simulate(scene, **how)
    assert simulate(scene, examine="cheap", **how).state_hash == whole.state_hash

    def stop(t, t_end):
        if t > 0.5 * t_end:
            raise KeyboardInterrupt

    path = tmp_path / "run.h5"
    simulate(scene, out=path, chunk=7, progress=stop, on_interrupt="return", **how)
    gone_on = simulate(scene, out=path, chunk=7, resume=True, **how)
    assert gone_on.state_hash == whole.state_hash
    assert gone_on.statistics == whole.statistics


@pytest.mark.parametrize("make", first(2, KINDS))
def test_how_many_steps_a_call_takes_changes_nothing(make):
    """States, events, what is on record and the statistics of the controller, for systems of every kind."""
    settings = {"dt": 1e-3, "step": Tolerance(1e-4)}
    system, start = make(4)
    runs = [
        simulate(system, start, 0.1, stepper=one(**settings), examine="off")
        for one in (MoreauJean, OneByOne, FewAtOnce)
    ]
    for run in runs[1:]:
        assert run.state_hash == runs[0].state_hash
        assert run.statistics == runs[0].statistics
        assert np.array_equal(run.v, runs[0].v)
        assert [(one.t, one.kind, one.id) for one in run.events] == [
            (one.t, one.kind, one.id) for one in runs[0].events
        ]


@pytest.mark.parametrize("name", ["coulomb_oscillator", "free_body", "chaplygin_sleigh"])
def test_many_pairs_are_taken_in_a_call(name):
    scene = build(name)
    parts = within(1e-4).advance_many(scene.system, scene.state, 64, scene.t_end)
    assert sum(map(len, parts)) == 64
    assert parts[0].sizing[0][1].order is None or parts[0].sizing[0][1].order > 1.0
    assert not within(1e-4).advance_many(scene.system, parts[0].step(0).state, 64, scene.t_end)  # half a pair


def test_what_rests_is_looked_at_nevertheless():
    run = simulate(build("incline", mu=1.2), stepper=MoreauJean(dt=1e-3, step=Tolerance(1e-4)))
    assert run.statistics["longest_step_s"] <= 0.01 * (1.0 + 1e-9)
    longer = MoreauJean(dt=1e-3, step=Tolerance(1e-4, longest=0.2))
    assert simulate(build("incline", mu=1.2), stepper=longer).statistics["longest_step_s"] > 0.05


def test_settings_go_there_and_back():
    stepper = MoreauJean(dt=2e-3, step=Tolerance(1e-5, longest=0.1))
    assert from_settings(stepper.settings()) == stepper
    assert "step" not in MoreauJean().settings()


@pytest.mark.parametrize("given", [{"rtol": 0.0}, {"rtol": math.nan}, {"rtol": 0.5}, {"atol": 0.0}, {"longest": -1.0}])
def test_bad_tolerances_are_named(given):
    (name,) = given
    with pytest.raises(InputError, match=name):
        Tolerance(**given)


def test_what_is_no_tolerance_and_what_cannot_have_one_is_named():
    with pytest.raises(InputError, match="Tolerance"):
        MoreauJean(step=1e-6)
    with pytest.raises(InputError, match="one length"):
        Worlds(build("incline").system, [build("incline").state], stepper=within(1e-6))
