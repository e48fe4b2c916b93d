"""Where runs are carried out: the same bits by executors and by a cluster, also when a worker of it is killed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError, study
from gaussdyn.errors import BackendMissing
from tests.studies.users_module import killed_at_three, number, slow_number, square

pytestmark = pytest.mark.xdist_group("places")  # what they share is made once

RUNS = {"x": np.linspace(-1.0, 2.0, 40)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("alone") / "s.h5"
    study(number, RUNS, square, where=1, out=path)
    return path


def test_threads_write_the_same_bytes(alone, tmp_path) -> None:
    with ThreadPoolExecutor(3) as threads:
        study(number, RUNS, square, where=threads, out=tmp_path / "s.h5")
    assert (tmp_path / "s.h5").read_bytes() == alone.read_bytes()


@pytest.mark.slow
def test_processes_of_an_executor_write_the_same_bytes(alone, tmp_path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as processes:
        study(number, RUNS, square, where=processes, out=tmp_path / "s.h5")
    assert (tmp_path / "s.h5").read_bytes() == alone.read_bytes()


@pytest.mark.slow
def test_an_executor_that_breaks_ends_the_study_with_what_to_do(tmp_path) -> None:
    out = tmp_path / "s.h5"
    with (
        ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor,
        pytest.raises(InputError, match="resume=True"),
    ):
        study(killed_at_three, {"x": np.arange(6)}, square, where=executor, out=out)
    made = study(killed_at_three, {"x": np.arange(6)}, square, where=2, out=out, resume=True)
    assert made.counts["DIED"] == 1


def test_a_cluster_that_is_not_there_is_said_to_be_none(monkeypatch) -> None:
    pytest.importorskip("distributed")
    from gaussdyn.studies import dask_cluster

    monkeypatch.setattr(dask_cluster, "PATIENCE", "0.2s")
    for address in ("tcp://127.0.0.1:1", "nothing://here"):
        with pytest.raises(InputError, match=r"scheduler that answers.*dask scheduler"):
            study(number, RUNS, square, where=address)


def test_without_the_library_a_cluster_names_the_extra(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BackendMissing, match=r"gaussdyn\[sweep\]"):
        study(number, RUNS, square, where="tcp://127.0.0.1:8786")


@pytest.fixture
def client():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.slow
def test_a_cluster_writes_the_same_bytes_also_when_a_worker_is_killed_in_mid_study(client, alone, tmp_path) -> None:
    out, workers = tmp_path / "s.h5", client.run(os.getpid)
    victims = sorted(workers.values())[:1]
    assert len(workers) == 2

    def progress(standing) -> None:
        if standing.done >= 10 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    made = study(slow_number, RUNS, square, where=client, out=out, progress=progress)
    assert not victims
    assert made.counts["COMPLETED"] == 40
    study(slow_number, RUNS, square, where=1, out=tmp_path / "alone.h5")
    assert out.read_bytes() == (tmp_path / "alone.h5").read_bytes()
    study(number, RUNS, square, where=client.scheduler.address, out=tmp_path / "address.h5")
    assert (tmp_path / "address.h5").read_bytes() == alone.read_bytes()


@pytest.mark.slow
def test_a_run_that_ends_every_worker_of_a_cluster_is_a_result(client) -> None:
    made = study(killed_at_three, {"x": np.arange(6)}, square, where=client)
    assert list(made.status == "DIED") == [False, False, False, True, False, False]
    assert "ended its worker" in made.reason[3]


@pytest.mark.slow
def test_functions_of_a_script_travel_to_a_cluster(client) -> None:
    made = study(lambda x: number(x), RUNS, lambda run: {"x": run.q[-1, 0]}, where=client)
    np.testing.assert_array_equal(made.values["x"], RUNS["x"])
