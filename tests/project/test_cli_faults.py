"""Disks that are full, reports that are interrupted, second runs into one file: a clear message, and nothing lost."""

from __future__ import annotations

import errno
import os
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("plotly")
pytest.importorskip("matplotlib")

from evidence import first

from gaussdyn import Trajectory
from gaussdyn.integrate.run import hdf5 as storage

Cli = Callable[..., object]
SHORT = ("run", "incline", "--set", "mu=0.2", "--t-end", "0.02")


def no_room(path: Path, *data: memoryview) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


@pytest.mark.parametrize("name", first(1, ["run.html", "run.png"]))
def test_a_report_without_room_loses_neither_the_run_nor_the_old_report(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    page, out = tmp_path / name, tmp_path / "run.h5"
    page.write_text("an older report")
    true = storage.place
    monkeypatch.setattr(storage, "place", lambda path, *data: (true if path.suffix == ".h5" else no_room)(path, *data))
    answer = cli(*SHORT, "--out", out, "--report", page, "--json")
    assert answer.code == 2
    assert "No space left on device" in answer.err
    assert answer.document["report"] is None
    assert answer.document["status"] == "COMPLETED"
    assert page.read_text() == "an older report"
    assert Trajectory.load(out).state_hash == answer.document["state_hash"]
    monkeypatch.setattr(storage, "place", true)
    command = answer.err.strip().splitlines()[-1].partition(": ")[2]
    again = cli(*shlex.split(command)[1:], "--json")
    assert again.code == 0
    assert again.document["state_hash"] == answer.document["state_hash"]
    assert page.stat().st_size > 10_000


@pytest.mark.slow
def test_a_small_disk_names_the_place_and_keeps_the_chunks(tmp_path: Path) -> None:
    """The system refuses files beyond 50 kB: the page is 5 MB, and must leave nothing of itself."""
    words = [sys.executable, "-m", "gaussdyn", *SHORT, "--report", str(tmp_path / "run.html")]

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep what it can write of a module's
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, preexec_fn=small, env=env)
    assert done.returncode == 2
    assert "run.html" in done.stderr
    assert "Traceback" not in done.stderr
    assert "COMPLETED" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_report_leaves_the_old_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    from gaussdyn.report import page as module

    def stopped(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    page, out = tmp_path / "run.html", tmp_path / "run.h5"
    page.write_text("an older report")
    monkeypatch.setattr(module, "render", stopped)
    answer = cli(*SHORT, "--out", out, "--report", page)
    assert answer.code == 3
    assert "was not written" in answer.err
    assert f"--out {out}" in answer.err
    assert page.read_text() == "an older report"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.h5", "run.html"]


def test_a_second_run_into_the_same_files_replaces_both(cli: Cli, tmp_path: Path) -> None:
    page, out = tmp_path / "run.html", tmp_path / "run.h5"
    cli(*SHORT, "--out", out, "--report", page)
    first = page.read_text(encoding="utf-8")
    found = cli("run", "incline", "--t-end", "0.01", "--out", out, "--report", page, "--json")
    assert found.code == 0
    assert f"{out} holds an older run" in found.err
    assert Trajectory.load(out).state_hash == found.document["state_hash"]
    second = page.read_text(encoding="utf-8")
    assert found.document["state_hash"] in second
    assert found.document["state_hash"] not in first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.h5", "run.html"]


@pytest.mark.parametrize("name", ["missing/run.html", "run.txt", "folder", "/dev/full"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    answer = cli(*SHORT, "--out", tmp_path / "run.h5", "--report", tmp_path / name)
    assert (answer.code, answer.out) == (2, "")
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_said() -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "gaussdyn", "scenes", "incline", "--json"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


def test_an_interrupt_without_a_file_says_how_to_keep_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is pressed in the fifth step: what was computed is shown, and how the next run can be gone on with."""
    from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean

    true, steps = MoreauJean.advance, iter(range(100))

    def pressed(self: MoreauJean, *args: object, **options: object) -> object:
        if next(steps) == 4:
            raise KeyboardInterrupt
        return true(self, *args, **options)

    monkeypatch.setattr(MoreauJean, "advance", pressed)
    answer = cli(*SHORT, "--dt", "1e-3", "--on-multiple", "first")  # which takes steps one by one
    assert answer.code == 3
    assert "STOPPED" in answer.out
    assert "4 steps" in answer.out
    assert "--out run.h5" in answer.out


@pytest.mark.parametrize("json_wanted", [True, False])
def test_any_command_that_is_interrupted_has_not_finished(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, json_wanted: bool
) -> None:
    """Also where compiled code has made another exception of it, and in a command of a group."""
    from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean

    def pressed(*_: object, **__: object) -> object:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    for steps in ("advance", "advance_many"):
        monkeypatch.setattr(MoreauJean, steps, pressed)
    for words in (("audit", "pendulum"), ("bench", "scenes", "pendulum"), ("contacts", "incline", "--at", "0.01")):
        answer = cli(*words, *(["--json"] if json_wanted else []))
        assert (answer.code, answer.out) == (3, "")
        assert answer.err.rstrip().splitlines()[-1].startswith("gaussdyn: Ctrl-C was pressed: gaussdyn ")
        assert "Traceback" not in answer.err
