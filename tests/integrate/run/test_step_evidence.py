"""What a time step keeps for its audit comes back from a file as it was, and numbers that cannot be are refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gaussdyn.errors import SceneError
from gaussdyn.integrate.run import step_evidence
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.scenes.catalogue import build


def run_of(**more):
    scene = build("four_bar")
    return simulate(scene.system, scene.state, 0.03, stepper=MoreauJean(dt=2e-3), **more)


def same(one, two):
    assert one.keys() == two.keys()
    for step, mine in one.items():
        theirs = two[step]
        assert mine.acts == theirs.acts
        assert [dict(s.pushes) for s in mine.shifts] == [dict(s.pushes) for s in theirs.shifts]
        places = [
            (mine.place, theirs.place),
            *((a.place, b.place) for a, b in zip(mine.shifts, theirs.shifts, strict=True)),
        ]
        assert all(np.array_equal(a, b) if a is not None else b is None for a, b in places)


@pytest.mark.parametrize("save", [1, 4])
def test_it_comes_back_from_a_file_and_from_chunks(tmp_path, save):
    run = run_of(save=save)
    assert set(run.evidence) == set(run.saved[1:].tolist())
    assert any(one.shifts for one in run.evidence.values())
    same(run.evidence, Trajectory.load(run.save(tmp_path / "run.h5")).evidence)
    same(run.evidence, run_of(save=save, out=tmp_path / "pieces.h5", chunk=3).evidence)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("passes", 10**9, ValueError), ("passes", -1, IndexError), ("shift_pass", 7, IndexError),
     ("acts_index", 10**6, IndexError), ("shift_index", -1, IndexError), ("acts_step", 99, KeyError)],
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused(name, value, error):
    arrays = step_evidence.as_arrays(run_of().evidence)
    arrays[name] = arrays[name].copy()
    arrays[name][0] = value
    with pytest.raises(error):
        step_evidence.of_arrays(arrays)


@pytest.mark.parametrize("kind", ["place", "tries"])
def test_places_that_are_not_finite_are_refused_by_what_reads_a_run(tmp_path, kind):
    run = run_of()
    place = np.full(len(run.final.q), np.nan)
    one = dataclasses.replace(run.evidence[1], **{kind: place if kind == "place" else (place,)})
    bad = dataclasses.replace(run, evidence={**run.evidence, 1: one})
    with pytest.raises(SceneError, match="places of"):
        Trajectory.load(bad.save(tmp_path / "run.h5"))


def test_no_evidence_is_kept_as_none():
    assert step_evidence.of_arrays(step_evidence.as_arrays({})) == {}
