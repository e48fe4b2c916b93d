"""A study that is killed again and again: nothing that has ended is lost, and nothing differs in the end."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import study
from gaussdyn.studies.study_journal import records
from gaussdyn.studies.study_results import journal_of
from tests.studies.users_module import number, square

RUNS = {"x": np.linspace(-1.0, 2.0, 5000)}
LIFE = 0.12  # s, at most


def live(out: Path, told) -> None:
    """Go on with the study, and tell how many runs have ended."""
    study(number, RUNS, square, where=1, out=out, resume=True, progress=lambda now: os.write(told, b"."))
    os._exit(0)


def kill_once(out: Path, seconds: float) -> int:
    """Let the study live for a while and kill it; return how many runs ended meanwhile."""
    heard, told = os.pipe()
    child = multiprocessing.get_context("fork").Process(target=live, args=(out, told))
    child.start()
    os.close(told)
    time.sleep(seconds)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    with os.fdopen(heard, "rb") as pipe:
        return len(pipe.read())


@pytest.mark.parametrize(
    "kills", [pytest.param(5, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.nightly)]
)
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_no_kill_loses_or_changes_a_run_that_has_ended(tmp_path, kills: int) -> None:
    whole, out, rng = tmp_path / "whole.h5", tmp_path / "s.h5", random.Random(kills)
    study(number, RUNS, square, where=1, out=whole)
    known: list[bytes] = []
    taken, life = 0, LIFE
    while taken < kills or not known:
        ended = kill_once(out, life * rng.random())
        taken, life = taken + 1, life if known else 1.5 * life  # a slow machine has not begun by then
        found = list(records(journal_of(out))) if journal_of(out).exists() else []
        assert found[: len(known)] == known
        assert max(len(found) - 1, 0) >= max(len(known) - 1, 0) + ended
        known = found
    assert 0 < len(known) < len(RUNS["x"])
    study(number, RUNS, square, where=1, out=out, resume=True)
    assert out.read_bytes() == whole.read_bytes()
