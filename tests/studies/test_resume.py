"""Going on with a study: what may have changed, and which runs are carried out again."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import InputError, study
from gaussdyn.studies import Resume, Study
from tests.studies import users_module
from tests.studies.users_module import killed_at_three, number, square, thrice

RUNS = {"x": np.arange(6)}


def cut_off(out, build, after: int) -> None:
    """Carry out some runs of a study, then leave it."""

    class Enough(Exception):
        pass

    def progress(standing) -> None:
        if standing.done == after:
            raise Enough

    with pytest.raises(Enough):
        study(build, RUNS, square, where=1, out=out, progress=progress)


def test_an_edited_function_is_noticed_and_named(tmp_path, monkeypatch) -> None:
    out = tmp_path / "s.h5"
    cut_off(out, number, 3)
    monkeypatch.setattr(users_module, "STEP", 2e-3)
    with pytest.raises(InputError, match="build was edited since"):
        study(number, RUNS, square, where=1, out=out, resume=True)
    made = study(number, RUNS, square, where=1, out=out, resume=Resume(edited=True))
    assert list(made.t) == [1e-3] * 3 + [2e-3] * 3
    with pytest.raises(InputError, match="measure is another"):
        study(number, RUNS, thrice, where=1, out=out, resume=Resume(edited=True))
    monkeypatch.undo()
    with pytest.raises(InputError, match="build was edited since"):
        study(number, RUNS, square, where=1, out=out, resume=True)


def test_runs_that_died_are_carried_out_again_when_asked(tmp_path, monkeypatch) -> None:
    out, whole = tmp_path / "s.h5", tmp_path / "whole.h5"
    assert study(killed_at_three, RUNS, square, where=2, out=out).counts["DIED"] == 1
    before = out.read_bytes()
    assert study(killed_at_three, RUNS, square, where=1, out=out, resume=True).counts["DIED"] == 1
    assert out.read_bytes() == before
    monkeypatch.setattr(users_module, "FATAL", -1)
    made = study(killed_at_three, RUNS, square, where=1, out=out, resume=Resume(again=("DIED",), edited=True))
    assert made.counts["COMPLETED"] == 6
    study(killed_at_three, RUNS, square, where=1, out=whole)
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_runs_that_died_are_carried_out_again_in_a_study_that_was_cut_off(tmp_path, monkeypatch) -> None:
    out, journal = tmp_path / "s.h5", tmp_path / "s.h5.journal"
    study(killed_at_three, RUNS, square, where=2, out=out)
    kept = Study.load(out)
    monkeypatch.setattr(users_module, "FATAL", -1)

    class Enough(Exception):
        pass

    def progress(*_) -> None:
        raise Enough

    again = {"where": 1, "out": out, "resume": Resume(again=("DIED",), edited=True)}
    with pytest.raises(Enough):
        study(killed_at_three, RUNS, square, progress=progress, **again)
    assert journal.exists()
    assert kept.counts["DIED"] == 1
    assert study(killed_at_three, RUNS, square, **again).counts["COMPLETED"] == 6
    assert not journal.exists()


def test_what_is_there_can_be_read_before_all_of_it_is(tmp_path) -> None:
    out = tmp_path / "s.h5"
    seen = []

    def progress(standing) -> None:
        found = Study.load(out)
        seen.append((len(found), standing.done, found.complete))
        np.testing.assert_array_equal(found.values["square"], found.parameters["x"] ** 2.0)

    made = study(number, RUNS, square, where=1, out=out, progress=progress)
    assert seen == [(k, k, False) for k in range(1, 7)]
    assert made.complete
    assert repr(made).startswith("Study(6 runs: 6 COMPLETED, parameters: x, values: square")


def test_some_runs_and_blocks_of_a_study(tmp_path) -> None:
    made = study(number, RUNS, square, where=1, out=tmp_path / "s.h5")
    assert list(made[2:5].parameters["x"]) == [2, 3, 4]
    assert list(made[2:5][1:].values["square"]) == [9.0, 16.0]
    assert [len(part) for part in made.blocks(4)] == [4, 2]
    assert np.concatenate([part.t for part in made.blocks(4)]).tolist() == made.t.tolist()
    with pytest.raises(InputError, match="a slice"):
        made[3]
    with pytest.raises(KeyError):
        made.values["none"]


@pytest.mark.parametrize("wrong", ["DIED", ("dead",), 3])
def test_what_says_not_how_to_go_on_is_refused(wrong) -> None:
    with pytest.raises((InputError, TypeError)):
        Resume(again=wrong)
    with pytest.raises(InputError, match="Resume"):
        study(number, RUNS, square, where=1, resume="yes")
