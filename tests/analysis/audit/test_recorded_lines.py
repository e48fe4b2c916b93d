"""What a run says beside its motion (events, findings, bodies, lines of evidence) is judged or refused, on disk."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import h5py
import numpy as np
import pytest
from falsified import jointed, robot, with_column
from small_systems import Ball

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import SceneError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.state import State

STEPPERS = {"located": EventDriven(), "stepped": MoreauJean(dt=0.01)}


@cache
def made(name):
    system, state = jointed(0.3, 1e-2)()[:2]
    return system, simulate(system, state, 0.2, stepper=STEPPERS[name], project=True)


def put(path, name, **entries):
    """Write a run whose entries (their slashes as __) are what functions make of them."""
    system, run = made(name)
    run.save(path)
    with h5py.File(path, "a") as file:
        for key, change in entries.items():
            entry = key.replace("__", "/")
            x, about = np.asarray(change(file[entry][()])), dict(file[entry].attrs)
            del file[entry]
            file[entry] = x
            file[entry].attrs.update(about)
    return system


def first(value):
    def change(x):
        x = x.astype("S64") if x.dtype.kind == "S" else x
        x.flat[0] = value
        return x

    return change


def more(by):
    def change(x):
        x.flat[0] += by
        return x

    return change


def named(*words):
    """Change the first of these words to the second one, where it comes first."""

    def change(x):
        x = x.astype("S64")
        x[np.flatnonzero(x == words[0])[0]] = words[1]
        return x

    return change


def twice(x):
    return np.concatenate([x, x[-1:]])


JUDGED = {
    "first_state": [("stepped", {"state__before_v": more(0.1)}), ("stepped", {"columns__E": more(1e-12)})],
    "outcomes": [("stepped", {"steps__outcome": first(b"UNIQUE")}), ("located", {"steps__outcome": first(b"MULTIPLE")}),
                 ("located", {"steps__friction_margin": first(1.5)})],
    "contact_places": [("stepped", {"contacts__bodies": first(b"a")}), ("located", {"contacts__bodies": first(b"c")})],
    "event_table": [("stepped", {"events__kind": first(b"lift_off")}), ("stepped", {"events__t": more(-1e-3)}),
                    ("stepped", {"events__id": first(b"a/b")}), ("located", {"events__kind": first(b"crowded")})],
    "laws": [("stepped", {"steps__restitution": first(0.9)})],
    "step_table": [("located", {"impacts__kept": first(1.2)})],
    "impulses": [("located", {"contacts__reaction": more(1e-5)})],
    "impacts": [("located", {"impacts__impulse": lambda x: np.r_[x[:3], x[3] + 1e-3, x[4:]]})],
}  # fmt: skip
REFUSED = [
    ("stepped", {"evidence__step": more(1)}), ("stepped", {"evidence__place_pass": more(7)}),
    ("stepped", {"evidence__shift_pass": more(7)}),
    ("stepped", dict.fromkeys(("evidence__acts_step", "evidence__acts_index"), twice)),
    ("stepped", {"steps__events": first(-1)}), ("stepped", {"contacts__mode": first(b"floats")}),
    ("located", {"evidence__arc_nodes": more(1e-6)}), ("located", {"evidence__push_index": first(-1)}),
    ("located", {"evidence__arc_nodes": lambda x: np.r_[x[0], x[1] + 1e-6, x[2:]]}),
    ("located", {"evidence__arc_ids": named(b"joint:x", b"joint:y")}), ("located", {"impacts__kind": first(b"blow")}),
    ("located", {"impacts__ids": named(b"joint:x", b"joint:y")}), ("located", {"evidence__force_step": more(70)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "name", "entries"), [(check, *one) for check, some in JUDGED.items() for one in some]
)
def test_whatever_is_said_wrongly_is_noticed_by_its_check(tmp_path, check, name, entries):
    system = put(tmp_path / "run.h5", name, **entries)
    verdict = audit(Trajectory.load(tmp_path / "run.h5"), system)
    assert check in {one.name for one in verdict.series if not one.passed}


@pytest.mark.parametrize(("name", "entries"), REFUSED)
def test_lines_that_do_not_fit_are_refused(tmp_path, name, entries):
    put(tmp_path / "run.h5", name, **entries)
    with pytest.raises(SceneError):
        Trajectory.load(tmp_path / "run.h5")


@pytest.mark.parametrize("name", STEPPERS)
def test_the_runs_themselves_pass_from_disk(tmp_path, name):
    system = put(tmp_path / "run.h5", name)
    verdict = audit(Trajectory.load(tmp_path / "run.h5"), system)
    assert verdict.passed, verdict.explain()


def test_events_of_rows_without_bodies_follow_from_the_laws(tmp_path):
    """Modes of such rows are not on record: what velocities and impulses allow says which events there are."""
    system, state = Ball(0.0), State(q=[0.05], v=[0.0])
    run = simulate(system, state, 0.2, stepper=MoreauJean(dt=0.01))
    assert [one.kind for one in run.events] == ["touchdown"]
    for events in ((), (replace(run.events[0], kind="lift_off"),), (replace(run.events[0], id="ball/roof"),)):
        steps = replace(run.steps, events=run.steps.events * len(events))
        assert not audit(replace(run, events=events, steps=steps), system).passed


def test_columns_of_sensors_are_read_again():
    system, state = robot(0.1, 5e-3)()[:2]
    run = simulate(system, state, 0.05, stepper=MoreauJean(dt=0.01))
    assert audit(run, system).passed
    false = with_column(run, "joint_force.x", 2, run["joint_force.x"][2] + 1e-6)
    assert {one.name for one in audit(false, system).series if not one.passed} == {"sensor_columns"}


def test_steps_from_event_to_event_keep_no_rows_that_acted():
    """Their arcs and impacts tell: lines that nobody could judge are not kept."""
    assert not any(one.acts for one in made("located")[1].evidence.values())
