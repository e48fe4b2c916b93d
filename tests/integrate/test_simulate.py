"""The main loop: what it keeps, how it stops, and what it refuses."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_systems import Ball, Block, Contradiction, Failing, G, Oscillator, Plain, Tethered

from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run import uniqueness_checks as examine
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.state import State
from gaussdyn.programs.files import fclib

REST = State(q=[0.0], v=[0.0])
REST_IN_PLANE = State(q=[0.0, 0.0], v=[0.0, 0.0])
COARSE = MoreauJean(dt=0.01)


def scene(**changes):
    about = {"name": "spring", "title": "A spring", "source": "none", "params": {"k": 1.0}}
    columns = {"spring.length": ("m", lambda state: 1.0 + float(state.q[0]))}
    start = State(q=[0.5], v=[0.0])
    return Scene(**about, system=Oscillator(), state=start, t_end=0.2, dt=0.02, columns=columns, **changes)


def test_a_scene_brings_everything():
    run = simulate(scene())
    assert (run.scene, run.status, run.params) == ("spring", "COMPLETED", {"k": 1.0})
    assert run.settings["stepper"]["dt"] == 0.02
    assert run["spring.length"] == pytest.approx(1.0 + run["q0"])
    assert run.unit("spring.length") == "m"


def test_the_same_run_twice_is_the_same_to_the_bit():
    start = State(q=[0.7, 0.0], v=[-1.0, 2.0])
    one, two = (simulate(Block(0.3, 0.4), start, 0.5, stepper=COARSE) for _ in range(2))
    assert one.state_hash == two.state_hash
    assert np.array_equal(one.v, two.v)


def test_going_on_from_the_last_state_equals_one_run():
    start = State(q=[0.7, 0.0], v=[-1.0, 2.0])
    whole = simulate(Block(0.3, 0.4), start, 1.0, stepper=COARSE)
    half = simulate(Block(0.3, 0.4), start, 0.5, stepper=COARSE)
    rest = simulate(Block(0.3, 0.4), half.final, 1.0, stepper=COARSE)
    assert rest.state_hash == whole.state_hash


def test_save_keeps_the_first_every_nth_and_the_last_state():
    run = simulate(Ball(), State(q=[1.0], v=[0.0]), 0.25, stepper=COARSE, save=10)
    assert run.saved.tolist() == [0, 10, 20, 25]
    assert run.before_t == pytest.approx([0.0, 0.09, 0.19, 0.24])
    assert len(run.steps.t) == 25


def test_control_is_held_over_each_step():
    run = simulate(Oscillator(k=0.0), REST, 1.0, stepper=COARSE, control=lambda t, state: [2.0])
    assert run.final.q[0] == pytest.approx(1.0, rel=1e-12)
    assert run["work_forces"][-1] == pytest.approx(2.0, rel=1e-12)
    assert run["control0"] == pytest.approx(2.0)
    feedback = simulate(Oscillator(k=0.0), State(q=[1.0], v=[0.0]), 0.2, control=lambda t, state: -state.q)
    assert feedback.final.q[0] == pytest.approx(np.cos(0.2), abs=2e-4)


def test_energy_drift_is_what_the_reactions_and_forces_do_not_explain():
    sliding = simulate(Block(0.5, 0.2), State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.5, stepper=COARSE)
    assert sliding.statistics["energy_drift_rel"] <= 1e-14
    friction = -0.2 * 1.5 * G * np.cos(0.5) * sliding.final.q[1]
    assert sliding["work_reactions"][-1] == pytest.approx(friction, rel=1e-12)
    bounce = simulate(Ball(0.5), State(q=[0.3], v=[0.0]), 0.4, stepper=COARSE)
    assert bounce.statistics["energy_drift_rel"] <= 1e-13
    assert bounce["work_reactions"][-1] < -1.0
    assert simulate(Plain(), REST, 0.1, stepper=COARSE).statistics["energy_drift_rel"] is None


@pytest.mark.parametrize(
    ("how", "words"), [("nan", "force"), ("shape", "force"), ("raise", "ZeroDivisionError: the table has no entry")]
)
def test_a_function_that_fails_in_mid_run_stops_it_and_loses_nothing(how, words):
    run = simulate(Failing(how), State(q=[1.0], v=[0.0]), 1.0, stepper=COARSE)
    assert run.status == "STOPPED"
    assert words in run.stop.reason
    assert run.stop.t == pytest.approx(0.1, abs=0.011)
    assert run.t_reached == run.stop.t
    assert run["q0"] == pytest.approx(np.cos(run.t), abs=1e-4)


@pytest.mark.parametrize("stepper", [COARSE, EventDriven(dt=0.01)])
def test_a_function_that_raises_is_named(stepper):
    def divides(t, state):
        return [1.0 / (state.t < 0.05)]

    run = simulate(Oscillator(), REST, 1.0, stepper=stepper, control=divides)
    assert run.stop.reason.startswith("ZeroDivisionError: ")
    assert "(divides, test_simulate.py line " in run.stop.reason
    assert run.stop.t == pytest.approx(0.05)


@pytest.mark.parametrize("stepper", [COARSE, EventDriven(dt=0.01)])
def test_a_control_that_writes_into_its_state_moves_nothing(stepper):
    def writes(t, state):
        state.q[:], state.v[:] = 7.0, 7.0
        return [0.0]

    start = State(q=[1.0], v=[0.0])
    run = simulate(Oscillator(), start, 0.1, stepper=stepper, control=writes)
    assert run.state_hash == simulate(Oscillator(), start, 0.1, stepper=stepper, control=lambda t, s: [0.0]).state_hash
    assert start.q[0] == 1.0


def test_a_control_or_a_column_that_fails_stops_the_run():
    bad_control = simulate(Oscillator(), REST, 1.0, control=lambda t, s: [np.nan if t > 0.05 else 0.0])
    assert bad_control.status == "STOPPED"
    assert "control" in bad_control.stop.reason
    columns = {"bad": ("1", lambda state: float("nan") if state.t > 0.1 else 0.0)}
    odd = Scene(name="odd", title="", source="", system=Oscillator(), state=REST, t_end=1.0, dt=0.01, columns=columns)
    run = simulate(odd)
    assert run.status == "STOPPED"
    assert "bad" in run.stop.reason
    assert all(len(column.values) == len(run) for column in run.columns.values())


def test_an_interrupt_keeps_what_was_computed():
    def interrupt(t, t_end):
        if t > 0.05:
            raise KeyboardInterrupt

    start = State(q=[1.0], v=[0.0])
    run = simulate(Oscillator(), start, 1.0, stepper=COARSE, progress=interrupt, on_interrupt="return")
    assert run.status == "STOPPED"
    assert "KeyboardInterrupt" in run.stop.reason
    assert run.t_reached == pytest.approx(0.06)


def test_an_interrupt_while_a_problem_is_written_comes_after_it(tmp_path, monkeypatch):
    """A library that writes may swallow an exception raised in it: this one swallows all."""

    def deaf(*args, **options):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        written.append(args[0])

    written: list[object] = []
    monkeypatch.setattr(fclib, "write", deaf)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        start = State(q=[0.0, 0.0], v=[0.0, 0.0])
        problems = tmp_path / "problems"
        run = simulate(Block(0.5, 0.2), start, 0.1, stepper=COARSE, record=problems, on_interrupt="return")
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.status == "STOPPED"
    assert "KeyboardInterrupt" in run.stop.reason
    assert len(written) == len(run) - 1 == 1


def test_a_step_without_solution_is_never_silent():
    run = simulate(Contradiction(), REST, 0.1)
    assert run.status == "STOPPED"
    assert "INFEASIBLE" in run.stop.reason
    assert run.stop.t == pytest.approx(0.05, abs=2e-3)
    on = simulate(Contradiction(), REST, 0.1, on_failure="record")
    assert on.status in ("COMPLETED", "STOPPED")
    assert on.status == "STOPPED" or on.statistics["unsolved_steps"] > 0


def test_progress_is_told_after_every_step():
    seen = []
    simulate(Plain(), REST, 0.05, stepper=COARSE, progress=lambda t, t_end: seen.append((t, t_end)))
    assert [t for t, _ in seen] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert {t_end for _, t_end in seen} == {0.05}


def test_who_watches_sees_the_run_grow_and_changes_nothing(tmp_path):
    seen = []
    run = simulate(Block(0.3, 0.5), REST_IN_PLANE, 0.05, stepper=COARSE, watch=lambda so_far: seen.append(so_far()))
    assert [one.t_reached for one in seen] == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    assert {one.stop.reason for one in seen} == {"it is still being computed"}
    assert run.state_hash == seen[-1].state_hash
    np.testing.assert_array_equal(seen[-1].q, run.q)
    seen.clear()
    simulate(
        Block(0.3, 0.5), REST_IN_PLANE, 0.05, stepper=COARSE, out=tmp_path / "run.h5", chunk=2,
        watch=lambda so_far: seen.append(so_far()),
    )  # fmt: skip
    assert [len(one) for one in seen] == [1, 2, 1, 2, 1]  # what is not on disk yet
    with pytest.raises(InputError, match="watch"):
        simulate(Block(0.3, 0.5), REST_IN_PLANE, 0.05, stepper=COARSE, watch="yes")


def test_contacts_closed_at_the_start_make_no_event():
    run = simulate(Block(0.3, 0.5), REST_IN_PLANE, 0.05, stepper=COARSE)
    assert run.events == ()
    drop = simulate(Block(0.0, 0.5), State(q=[0.1, 0.0], v=[0.0, 1.0]), 0.5, stepper=COARSE)
    assert [event.kind for event in drop.events] == ["touchdown", "stick"]
    assert drop.events[0].t == pytest.approx(np.sqrt(0.2 / G), abs=0.02)


def test_what_is_examined_goes_into_the_outcomes(monkeypatch):
    run = simulate(Ball(), State(q=[1.0], v=[0.0]), 0.05, stepper=COARSE)
    assert run.outcomes == {"NOT_EXAMINED": 5}
    efforts = []

    def told(system, state, control, effort):
        efforts.append(effort)
        return examine.Finding(outcome="MULTIPLE" if state.t > 0.025 else "UNIQUE")

    monkeypatch.setattr(examine, "examine_state", told)
    run = simulate(Ball(), State(q=[1.0], v=[0.0]), 0.05, stepper=COARSE, examine="full")
    assert run.outcomes == {"UNIQUE": 3, "MULTIPLE": 2}
    assert set(efforts) == {"full"}
    stopped = simulate(
        Ball(), State(q=[1.0], v=[0.0]), 0.05, stepper=COARSE, examine="cheap", on_multiple="raise"
    )  # fmt: skip
    assert stopped.status == "STOPPED"
    assert "MULTIPLE" in stopped.stop.reason
    assert stopped.t_reached == pytest.approx(0.03)
    first = simulate(Ball(), State(q=[1.0], v=[0.0]), 0.05, stepper=COARSE, examine="cheap", on_multiple="first")
    assert first.status == "COMPLETED"


def test_contacts_held_by_the_stepper_are_examined_as_closed():
    loose = MoreauJean(dt=0.01, project=False)
    start = State(q=[0.1, 0.0], v=[0.0, 3.0])
    run = simulate(Block(0.0, 0.2), start, 0.3, stepper=loose, examine="cheap")
    assert run.statistics["max_penetration_m"] > 1e-3  # what the landing left behind
    sliding = run.t[:-1] > run.events[0].t
    assert set(run.steps.outcome[sliding]) == {"UNIQUE"}
    joint = simulate(Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 0.2, stepper=loose, examine="cheap")
    assert joint.statistics["max_joint_error_m"] > 1e-6
    assert joint.outcomes == {"UNIQUE": 20}


def test_recorded_contact_problems_are_solved_by_the_recorded_reactions(tmp_path):
    from gaussdyn.programs.files.fclib import read
    from gaussdyn.programs.solve import solve

    start = State(q=[0.0, 0.0], v=[0.0, 0.0])
    run = simulate(Block(0.5, 0.2), start, 0.1, stepper=COARSE, record=(tmp_path / "problems", 5))
    files = sorted((tmp_path / "problems").iterdir())
    assert [file.name for file in files] == ["Block-000005.hdf5", "Block-000010.hdf5"]
    found = read(files[-1])
    assert (found.kind, len(found.problem.laws)) == ("gfc2d" if found.kind.startswith("g") else "fc2d", 1)
    impulse = 0.01 * np.array([run["block/incline.r_N"][-1], run["block/incline.r_T"][-1]])
    assert solve(found.problem).require().r == pytest.approx(impulse, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"t_end": -1.0}, "t_end"),
        ({"t_end": np.nan}, "t_end"),
        ({"save": 0}, "save"),
        ({"save": True}, "save"),
        ({"on_failure": "ignore"}, "on_failure"),
        ({"examine": "often"}, "examine"),
        ({"on_multiple": "any"}, "on_multiple"),
        ({"state": State(q=[0.0, 1.0], v=[0.0])}, "q of the state"),
        ({"state": None}, "state"),
        ({"control": lambda t, state: [np.nan]}, "control"),
        ({"record": ("/tmp/x", 0)}, "record"),
    ],
)
def test_bad_arguments_are_refused(arguments, name):
    given = {"state": REST, "t_end": 1.0, **arguments}
    with pytest.raises(InputError, match=name):
        simulate(Plain(), **given)


def test_what_is_no_system_is_refused():
    with pytest.raises(InputError, match="scene_or_system"):
        simulate(3.0, REST, 1.0)
    with pytest.raises(InputError, match="force"):
        simulate(Failing("nan"), State(q=[1.0], v=[0.0], t=2.0), 3.0)


def test_rows_must_keep_their_ids():
    class Renaming(Tethered):
        def rows(self, t, q, v):
            row = super().rows(t, q, v)
            return row if t < 0.05 else ()

    run = simulate(Renaming(), State(q=[0.0, -1.0], v=[0.0, 0.0]), 0.1, stepper=COARSE)
    assert run.status == "STOPPED"
    assert "rows" in run.stop.reason


def test_a_step_that_would_take_forever_is_refused():
    with pytest.raises(InputError, match="dt"):
        simulate(Ball(), State(q=[1.0], v=[0.0]), 1.0, stepper=MoreauJean(dt=1e-300))


@pytest.mark.parametrize(
    ("how", "words"), [("nan", "force"), ("shape", "force"), ("raise", "ZeroDivisionError: the table has no entry")]
)
def test_a_function_that_fails_between_events_stops_the_run_there(how, words):
    run = simulate(Failing(how), State(q=[1.0], v=[0.0]), 1.0, stepper=EventDriven())
    assert run.status == "STOPPED"
    assert words in run.stop.reason
    assert run.stop.t == pytest.approx(0.1, abs=1e-10)
    assert run.t_reached == run.stop.t
    assert run["q0"] == pytest.approx(np.cos(run.t), abs=1e-12)


MANY = """
import resource
from gaussdyn import ContactLaw, MoreauJean, simulate
from gaussdyn.mechanics import spatial
n = 10_000
balls = [spatial.ball(f"b{k}", mass=1.0, radius=0.1) for k in range(n)]
floor = spatial.HalfSpace(name="floor")
system = spatial.SpatialSystem(bodies=balls, obstacles=[floor], contact=ContactLaw(mu=0.5))
state = system.state({f"b{k}": (0.25 * (k % 100), 0.25 * (k // 100), 0.1) for k in range(n)})
run = simulate(system, state, 1e-3, stepper=MoreauJean(dt=1e-3))
print(run.status, len(run.contacts(1)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory in kilobytes, as Linux does")
def test_ten_thousand_bodies_take_less_than_two_gigabytes():
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True, timeout=300)
    status, contacts, most = done.stdout.split()
    assert (status, contacts) == ("COMPLETED", "10000")
    assert int(most) < 2_000_000
