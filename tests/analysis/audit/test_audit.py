"""The audit passes honest runs and notices every corruption."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from evidence import first
from small_systems import Ball, Block, CoulombOscillator, G, Governed, Oscillator, SlidingRod, Tethered

from gaussdyn.analysis.audit.audit import audit
from gaussdyn.errors import InputError
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.run.values import Column
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.planar.bodies import Marker, box
from gaussdyn.mechanics.planar.contacts import DryFriction
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.state import State

ROD = State(q=[0.0, np.sin(1.1), 1.1], v=[3.0, 0.5 * np.cos(1.1), 0.5])
HONEST = {
    "ball": (Ball(0.8), State(q=[0.2], v=[0.0]), 0.8),
    "held": (Block(0.3, 0.5), State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.2),
    "sliding": (Block(0.5, 0.2), State(q=[0.05, 0.0], v=[0.0, 0.0]), 0.3),
    "stick-slip": (CoulombOscillator(), State(q=[0.0, 0.35], v=[0.0, 0.0]), 4.0),
    "rod": (SlidingRod(0.3), ROD, 0.3),
    "string": (Tethered("unilateral"), State(q=[0.0, -1.0], v=[np.sqrt(3.5 * G), 0.0]), 0.8),
    "pendulum": (Tethered(), State(q=[1.0, 0.0], v=[0.0, 0.0]), 0.5),
    "governor": (Governed(), State(q=[0.0, 0.0], v=[1.0, 0.0]), 0.2),
    "damped": (Oscillator(1.0, 2.0), State(q=[1.0], v=[0.0]), 0.5),
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("save", first(1, [1, 7]))
def test_honest_runs_pass(name, save):
    system, state, t_end = HONEST[name]
    run = simulate(system, state, t_end, stepper=MoreauJean(dt=0.01), save=save)
    verdict = audit(run, system)
    assert verdict.passed, verdict.explain()
    assert audit(run).passed
    assert "hold" in verdict.explain()


def test_a_controlled_run_is_audited_with_its_saved_controls():
    def control(t, state):
        return [np.sin(9.0 * t)]

    run = simulate(Oscillator(), State(q=[1.0], v=[0.0]), 0.5, stepper=MoreauJean(dt=0.01), control=control)
    verdict = audit(run, Oscillator())
    assert verdict.passed, verdict.explain()


def test_a_run_of_no_steps_is_audited_too():
    run = simulate(Oscillator(), State(q=[1.0], v=[0.0], t=1.0), 1.0)
    assert len(run) == 1
    assert audit(run, Oscillator()).passed


def sliding_run():
    return simulate(Block(0.5, 0.2), State(q=[0.0, 0.0], v=[0.0, 0.0]), 0.3, stepper=MoreauJean(dt=0.01))


def changed(run, name, k, by):
    values = run[name].copy()
    values[k] += by
    return replace(run, columns={**run.columns, name: Column(unit=run.unit(name), values=values)})


def consistently(run, array, letter, k, index, by):
    """Change a saved number everywhere it is stored, so that only mechanics can tell."""
    x, before = getattr(run, array).copy(), getattr(run, f"before_{array}").copy()
    x[k, index] += by
    if k + 1 < len(run):
        before[k + 1, index] += by
    return replace(changed(run, f"{letter}{index}", k, by), **{array: x, f"before_{array}": before})


@pytest.mark.parametrize("by", [1e-6, -1e-6])
@pytest.mark.parametrize(("array", "index"), [("q", 0), ("q", 1), ("v", 0), ("v", 1)])
def test_a_changed_state_is_noticed(array, index, by):
    run = sliding_run()
    k = 12
    bad = audit(consistently(run, array, array, k, index, by), Block(0.5, 0.2))
    assert not bad.passed
    assert bad.first_failure.t == pytest.approx(run.t[k])
    assert "fails first" in bad.explain()


@pytest.mark.parametrize("name", ["block/incline.r_N", "block/incline.r_T"])
@pytest.mark.parametrize("by", [1e-6, -1e-6])
def test_a_changed_reaction_is_noticed(name, by):
    bad = audit(changed(sliding_run(), name, 12, by), Block(0.5, 0.2))
    assert not bad.passed
    assert bad.max["momentum"] > 1e-10
    assert bad.max["laws"] > 1e-8


@pytest.mark.parametrize(
    "name", ["t", "q0", "v1", "kinetic", "potential", "energy", "work_reactions", "energy_error", "block/incline.gap"]
)
def test_a_changed_column_is_noticed(name):
    assert not audit(changed(sliding_run(), name, 12, 1e-3), Block(0.5, 0.2)).passed


def test_a_reaction_outside_its_cone_is_noticed_without_the_system():
    run = sliding_run()
    assert not audit(changed(run, "block/incline.r_T", 5, -0.1)).passed
    assert not audit(changed(run, "block/incline.r_N", 5, -30.0)).passed


def test_a_changed_verdict_is_noticed():
    run = sliding_run()
    status = run.steps.status.astype("U20")
    status[3] = "MAX_ITERATIONS"
    E = run.steps.E.copy()
    E[3] = 1e-5
    assert not audit(replace(run, steps=replace(run.steps, status=status))).passed
    assert not audit(replace(run, steps=replace(run.steps, E=E))).passed
    assert not audit(replace(run, state_hash="0" * 64)).passed
    assert not audit(replace(run, statistics={**run.statistics, "max_residual": 0.0})).passed
    assert not audit(replace(run, final=State(q=run.final.q + 1e-9, v=run.final.v, t=run.final.t))).passed


def test_numbers_that_are_not_finite_are_noticed():
    bad = audit(changed(sliding_run(), "energy", 4, np.nan))
    assert not bad.passed
    json.dumps(bad.to_json(), allow_nan=False)


def test_other_parameters_are_noticed():
    run = sliding_run()
    assert not audit(run, Block(0.5, 0.21)).passed
    assert not audit(run, Block(0.51, 0.2)).passed
    with pytest.raises(InputError, match="system"):
        audit(run, Ball())


def test_it_works_on_a_file_and_prints_its_document(tmp_path):
    run = Trajectory.load(sliding_run().save(tmp_path / "run.h5"))
    document = json.loads(json.dumps(audit(run, Block(0.5, 0.2)).to_json(), allow_nan=False))
    assert document["schema"] == "gaussdyn/audit/1"
    assert document["pass"] is True
    assert document["first_failure"] is None
    assert {"scene", "params", "results", "max"} <= set(document)
    assert {result["name"] for result in document["results"]} == set(document["max"])


def test_friction_at_its_cap_is_inside_as_far_as_times_are_rounded():
    """After 1000 s the 10 us between two events are known to 1e-8 of themselves, and so is the mean friction."""
    rub = DryFriction(point=Marker("puck"), cap=2.0)
    system = PlanarSystem(bodies=[box("puck", mass=1.0, width=0.2, height=0.1)], contacts=[rub], gravity=(0.0, 0.0))
    state = system.state({"puck": (0.0, 0.0, 0.0)}, {"puck": (1.0, 0.0, 0.0)}, t=1000.0)
    marks = {"mark": lambda t, state: np.cos(np.pi * state.q[0] / 1e-5)}
    run = simulate(system, state, 1000.0001, stepper=EventDriven(events=marks))
    (name,) = (name for name in run.names if ".r" in name)
    assert np.abs(run[name]).max() > 2.0 * (1.0 + 1e-10), "over its cap by rounding"
    checked = audit(run, system)
    assert checked.passed, checked.explain()
    over = changed(run, name, 3, 1e-6 * np.sign(run[name][3]))
    (cone,) = (series for series in audit(over).series if series.name == "cone")
    assert not cone.passed
