"""Studies: the same bits wherever and in whatever order they run, through crashes, kills and a full disk."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussdyn import InputError, study
from gaussdyn.cli import app
from gaussdyn.studies import Cases, Grid, MeanWithin, Study, Template, Uniform
from gaussdyn.studies import study_journal as journals
from gaussdyn.studies.template import DIED, FAILED
from tests.studies.users_module import killed_at_three, number, slow_number, square

RUNS = {"x": np.linspace(-1.0, 2.0, 40)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("alone") / "s.h5"
    study(number, RUNS, square, where=1, out=path)
    return path


@pytest.mark.parametrize("workers", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 16))])
def test_any_number_of_workers_writes_the_same_bytes(alone, tmp_path, workers) -> None:
    study(number, RUNS, square, where=workers, out=tmp_path / "s.h5")
    assert (tmp_path / "s.h5").read_bytes() == alone.read_bytes()


def test_a_file_in_whatever_order_runs_end(alone, tmp_path, monkeypatch) -> None:
    from gaussdyn.studies import run_study

    def shuffled(job, take, where):
        tasks = list(iter(take, None))
        random.Random(where).shuffle(tasks)
        for index, parameters in tasks:
            yield index, job(parameters)

    monkeypatch.setattr(run_study, "results", shuffled)
    for seed in range(5):
        path = tmp_path / f"{seed}.h5"
        study(number, RUNS, square, where=seed, out=path)
        assert path.read_bytes() == alone.read_bytes()


def test_a_scene_runs_as_simulate_runs_it_and_failures_are_results() -> None:
    made = study(Template(build="incline", t_end=0.05), {"mu": [0.1, -1.0]}, "block.speed", where=1)
    assert list(made.status) == ["COMPLETED", FAILED]
    assert made.reason[1].startswith("build: InputError")
    assert np.isnan(made.values["block.speed"][1])
    assert made.counts == {"COMPLETED": 1, "STOPPED": 0, FAILED: 1, DIED: 0}


def test_a_worker_that_is_killed_is_a_result_and_the_others_go_on() -> None:
    made = study(killed_at_three, {"x": np.arange(6)}, square, where=2)
    assert list(np.flatnonzero(made.status == DIED)) == [3]
    assert "SIGKILL" in made.reason[3]
    assert list(made.values["square"][[0, 1, 2, 4, 5]]) == [0.0, 1.0, 4.0, 16.0, 25.0]


@pytest.mark.slow
def test_killed_at_any_moment_and_resumed_it_has_the_same_bytes(tmp_path) -> None:
    cases = {"x": np.arange(60)}
    study(slow_number, cases, square, where=1, out=tmp_path / "whole.h5")
    out = tmp_path / "s.h5"
    code = (
        "import sys, numpy as np; from gaussdyn import study; from tests.studies.users_module import *\n"
        "study(slow_number, {'x': np.arange(60)}, square, where=1, out=sys.argv[1], resume=True)"
    )
    journal, kept = out.with_name("s.h5.journal"), 0
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", code, str(out)])
        while child.poll() is None and (not journal.exists() or journal.stat().st_size < kept + 1500):
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert journal.stat().st_size >= kept + 1500
        kept = journal.stat().st_size
    study(slow_number, cases, square, where=2, out=out, resume=True)
    assert out.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert not journal.exists()


@pytest.mark.parametrize("cut", [1, 9, 100])
def test_a_record_that_was_cut_off_is_run_again(alone, tmp_path, monkeypatch, cut) -> None:
    out = tmp_path / "s.h5"
    full(monkeypatch, after=20)
    with pytest.raises(InputError, match="make room"):
        study(number, RUNS, square, where=1, out=out)
    monkeypatch.undo()
    journal = out.with_name("s.h5.journal")
    journal.write_bytes(journal.read_bytes()[:-cut])
    with pytest.raises(InputError, match="cut off"):
        study(number, RUNS, square, where=1, out=out)
    with pytest.raises(InputError, match=r"whose parameters is another.*the same study"):
        study(number, {"x": [1.0]}, square, where=1, out=out, resume=True)
    study(number, RUNS, square, where=1, out=out, resume=True)
    assert out.read_bytes() == alone.read_bytes()


def full(monkeypatch, after: int) -> None:
    """Let the disk be full after so many runs."""
    real, count = journals.Journal.add, iter(range(10**9))

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def __getattr__(self, name):
            return getattr(self.file, name)

    def add(self, *run):
        if next(count) == after:
            self._file = Full(self._file)
        real(self, *run)

    monkeypatch.setattr(journals.Journal, "add", add)


def test_a_complete_study_is_read_and_not_written_over(alone) -> None:
    before = alone.read_bytes()
    with pytest.raises(InputError, match="which exists"):
        study(number, RUNS, square, where=1, out=alone)
    assert len(study(number, RUNS, square, where=1, out=alone, resume=True)) == 40
    assert alone.read_bytes() == before
    assert list(Study.load(alone).parameters["x"]) == list(RUNS["x"])


def test_two_studies_do_not_write_one_file(tmp_path) -> None:
    def other(*_) -> None:
        with pytest.raises(InputError, match="no other study"):
            study(number, RUNS, square, where=1, out=tmp_path / "s.h5")

    study(number, {"x": [1.0]}, square, where=1, out=tmp_path / "s.h5", progress=other)


def test_a_mean_ends_a_study_at_the_same_run_wherever(tmp_path) -> None:
    sample = Uniform({"x": (0.0, 1.0)}, 400)
    reduce = MeanWithin(name="square", error=0.08)
    one, two = (study(number, sample, square, reduce=reduce, where=where) for where in (1, 2))
    assert 30 <= len(one) == len(two) < 400
    assert one.statistic == two.statistic
    assert one.statistic["mean"] == pytest.approx(one.values["square"].mean(), rel=1e-12)
    assert reduce.count == 0


def test_shapes_that_differ_fail_with_the_first_one_named() -> None:
    made = study(number, Cases([{"x": 2}, {"x": 3}, {"x": 2}]), ragged, where=1)
    assert list(made.status) == ["COMPLETED", FAILED, "COMPLETED"]
    assert "'ones' has shape (3,) here, and (2,)" in made.reason[1]
    assert made.values["ones"].shape == (3, 2)


def ragged(run) -> dict[str, object]:
    return {"ones": np.ones(int(run.q[-1, 0]))}


def test_what_cannot_be_sent_or_is_no_place_is_named() -> None:
    with pytest.raises(InputError, match=r"measure.*<lambda>.*top level of a module"):
        study(number, RUNS, lambda run: {"x": 1.0}, where=2)
    for wrong in ("there", 0, True, 1.5):
        with pytest.raises(InputError, match="where"):
            study(number, RUNS, square, where=wrong)
    with pytest.raises(InputError, match="out"):
        study(number, RUNS, square, where=1, out="/no/such/folder/s.h5")


def test_many_runs_go_through_blocks_of_the_file(tmp_path, monkeypatch) -> None:
    from gaussdyn.studies import study_results, study_store

    for module in (study_store, study_results):
        monkeypatch.setattr(module, "BLOCK", 7)
    made = study(number, Grid({"x": np.linspace(0.0, 1.0, 30)}), square, where=1, out=tmp_path / "s.h5")
    np.testing.assert_array_equal(made.values["square"], made.parameters["x"] ** 2)


def test_the_command_says_what_the_study_found(tmp_path) -> None:
    """Blocks at rest below the angle of friction, and sliding with g (sin a - mu cos a) t above."""
    out, angle, t = tmp_path / "s.h5", 0.3, 0.1
    grid = ["--over", "mu=0.1:0.5:3", "--set", f"slope={angle}", "--t-end", str(t), "--measure", "block.speed"]
    ran = CliRunner().invoke(app, ["study", "incline", *grid, "--workers", "1", "--out", str(out), "--json"])
    document = json.loads(ran.stdout)
    assert (document["schema"], document["runs"]) == ("gaussdyn/study/1", 3)
    speeds = Study.load(out).values["block.speed"]
    slides = 9.81 * (np.sin(angle) - np.array([0.1, 0.3, 0.5]) * np.cos(angle)) * t
    np.testing.assert_allclose(speeds, np.maximum(slides, 0.0), atol=1e-9)
    assert document["measured"]["block.speed"]["max"] == speeds.max()


@pytest.mark.parametrize("text", ["mu", "=1", "mu=a", "mu=0:1", "mu=0:1:2.5", "mu=nan", "mu=0:1:0", "mu=0,inf"])
def test_an_axis_that_is_none_is_refused(text) -> None:
    with pytest.raises(InputError, match=r"^--over: given .*E\.g\. --over"):
        CliRunner().invoke(app, ["study", "incline", "--over", text, "--measure", "x"], catch_exceptions=False)


def test_columns_that_no_run_has_are_refused_before_any_run(tmp_path):
    out = tmp_path / "study.h5"
    with pytest.raises(InputError, match=r"blok\.speed.*block\.speed"):
        study("incline", {"mu": [0.1, 0.2]}, "max:blok.speed", out=out)
    assert list(tmp_path.iterdir()) == []
    stones = study("arch", {"stones": [7, 9]}, "stone08.y", where=1)  # the last run has it
    assert list(stones.status) == ["FAILED", "COMPLETED"]
