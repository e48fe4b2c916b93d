"""Certificates inside a run: where they are, that the stand-alone checker accepts them from the file, and resumes."""

from __future__ import annotations

import json

import pytest

from gaussdyn import EventDriven, InputError, MoreauJean, build, simulate
from gaussdyn.checker_spatial_several import main as check
from gaussdyn.integrate.run.trajectory import Trajectory

TURNING = {"mu": 2.0, "angle": 1.0, "omega": -3.8, "slip": -4.0}  # slides at A < 0 < b, and then into b = 0


def proofs(run):
    return [(proof.t, proof.outcome) for proof in run.certificates]


def accepted(run, folder):
    """Whether the checker accepts every certificate as claimed, and refuses it with another claim."""
    good, changed = [], []
    for k, proof in enumerate(run.certificates):
        good.append(str(proof.save(folder / f"{k}.json")))
        document = json.loads(proof.document)
        document["claim"] = document["claim"].replace(proof.outcome, "UNIQUE")
        changed.append(folder / f"{k}-changed.json")
        changed[-1].write_text(json.dumps(document))
        assert check([str(changed[-1])]) == 1
    return bool(good) and check(good) == 0


def test_a_run_by_events_carries_every_proof_to_the_disk(tmp_path):
    scene = build("painleve_rod", **TURNING)
    stepper = EventDriven(on_none="impact")
    run = simulate(scene, t_end=0.1, stepper=stepper, examine="full", out=tmp_path / "run.h5")
    passed = run.events[0]
    assert passed.kind == "none_passed_by_impact"
    assert proofs(run) == [(0.0, "MULTIPLE"), (passed.t, "NONE")]
    loaded = Trajectory.load(tmp_path / "run.h5")
    assert loaded.certificates == run.certificates
    assert accepted(loaded, tmp_path)
    assert proofs(simulate(scene, t_end=0.1, stepper=stepper)) == [(passed.t, "NONE")]  # asked for nothing


@pytest.mark.parametrize("stepper", [EventDriven(), MoreauJean(dt=1e-3)])
def test_where_there_is_no_acceleration_at_the_start(stepper, tmp_path):
    run = simulate(build("painleve_rod"), t_end=0.01, stepper=stepper, examine="cheap")
    assert proofs(run) == [(0.0, "NONE")]
    assert accepted(run, tmp_path)


def test_one_proof_for_every_stretch(tmp_path):
    run = simulate(build("bipod"), t_end=0.05, examine="cheap")
    before = ["NOT_EXAMINED", *run.steps.outcome[:-1].tolist()]
    begins = [k for k, one in enumerate(run.steps.outcome) if one in ("NONE", "MULTIPLE") and one != before[k]]
    starts = run.steps.t - run.steps.dt
    assert proofs(run) == [(pytest.approx(starts[k], abs=1e-12), run.steps.outcome[k]) for k in begins]
    assert accepted(run, tmp_path)


def test_resumed_runs_carry_the_same_proofs(tmp_path):
    scene = build("bipod")
    whole = simulate(scene, t_end=0.02, examine="cheap")
    simulate(scene, t_end=0.01, examine="cheap", out=tmp_path / "run.h5", chunk=3)
    run = simulate(scene, t_end=0.02, examine="cheap", out=tmp_path / "run.h5", chunk=3, resume=True)
    assert run.certificates == whole.certificates
    assert Trajectory.load(tmp_path / "run.h5").certificates == whole.certificates


@pytest.mark.parametrize("stepper", [MoreauJean(dt=1e-3), EventDriven()])
def test_raise_examines_by_itself_and_proves_why_it_stops(stepper, tmp_path):
    run = simulate(build("bipod"), t_end=0.01, stepper=stepper, on_multiple="raise", out=tmp_path / "run.h5")
    assert (run.status, run.settings["examine"]) == ("STOPPED", "cheap")
    assert run.stop.reason.startswith("MULTIPLE")
    loaded = Trajectory.load(tmp_path / "run.h5")
    assert proofs(loaded) == [(0.0, "MULTIPLE")]
    assert accepted(loaded, tmp_path)


@pytest.mark.parametrize("on_multiple", ["raise", "first"])
def test_what_only_an_examination_can_know_is_refused_without(on_multiple):
    with pytest.raises(InputError, match=r"examine.*leave examine=\.\.\. out"):
        simulate(build("bipod"), examine="off", on_multiple=on_multiple)
