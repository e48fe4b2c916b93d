"""Runs of a study carried out by a cluster of dask: many machines, some of which may go away."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from .._warmup import compile_all
from ..errors import BackendMissing, InputError
from .executors import AT_ONCE, PER_WORKER, UNKNOWN, carry_out, unknown
from .template import DIED, Job, Result
from .worker_processes import Results, Take, kernels_are_there

PATIENCE = "10s"  # for the scheduler to answer
AGAIN = "Go on with resume=True (--resume) once there is a cluster again."


def is_cluster(where: object) -> bool:
    """Return whether this is an address, a client or a cluster of dask."""
    named = isinstance(where, str) and "://" in where
    return named or hasattr(where, "scheduler_info") or isinstance(getattr(where, "scheduler_address", None), str)


def by_cluster(job: Job, take: Take, where: Any) -> Results:
    """Return the results of all runs that `take` hands out, in the order in which they end.

    The runs of a worker that goes away are carried out by others; a run that ends one worker after the other DIED.

    Raises
    ------
    InputError
        There is no such cluster, it goes away, or its workers cannot import what is to be run.
    BackendMissing
        dask.distributed is not installed.
    """
    with _client(where) as client:
        _warm(client)
        yield from _gathered(client, _sent(job), take)


@contextmanager
def _client(where: Any) -> Iterator[Any]:
    """Return the client; one that is made here is closed."""
    try:
        import distributed
    except ImportError:
        raise BackendMissing("dask.distributed", "sweep") from None
    given = isinstance(where, distributed.Client)
    try:
        client = where if given else distributed.Client(where, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        mend = "Start one with `dask scheduler` and `dask worker`, and look at its address."
        raise InputError(
            "where", repr(where), "the address of a dask scheduler that answers", f"({error}) {mend}"
        ) from None
    if client.status != "running":
        raise InputError(
            "where", repr(client), "a client whose scheduler is there", 'Write where=Client("tcp://127.0.0.1:8786").'
        )
    try:
        yield client
    finally:
        if not given:
            client.close()


def _sent(job: Job) -> bytes:
    """Return a job as workers take it: functions of a script or a notebook travel with it."""
    import cloudpickle

    try:
        sent: bytes = cloudpickle.dumps(job)
    except Exception as error:
        raise InputError(
            "build or measure",
            str(error),
            "functions that can be pickled",
            "Write def measure(run): ... at the top of a file that workers can import.",
        ) from None
    return sent


def _warm(client: Any) -> None:
    """Have kernels compiled once on every machine that lacks some, not by each of its workers."""
    there = client.run(kernels_are_there)
    lacking = {urlsplit(address).hostname: address for address, warm in there.items() if not warm}
    client.gather([client.submit(compile_all, workers=[one], pure=False) for one in lacking.values()])


def _gathered(client: Any, job: bytes, take: Take) -> Results:
    """Yield results as they come, with so many runs ahead on the cluster; cancel what is left at the end."""

    from distributed import as_completed

    threads = sum(client.nthreads().values())
    ahead, name = max(AT_ONCE, PER_WORKER * threads), f"gaussdyn-study-{uuid.uuid4().hex}"
    coming, running = as_completed(loop=client.loop), dict[str, int]()
    try:
        while True:
            while len(running) < ahead and (task := take()) is not None:
                future = client.submit(carry_out, job, task[1], key=f"{name}-{task[0]}", pure=False)
                running[future.key] = task[0]
                coming.add(future)
            if not running:
                return
            future = next(coming)
            yield running.pop(future.key), _result(future)
    finally:
        client.cancel(list(coming.futures), force=True)


def _result(future: Any) -> Result:
    """Return what a run came to."""
    from distributed import KilledWorker

    try:
        found: Result = future.result()
        return found
    except KilledWorker as error:
        return Result(status=DIED, reason=f"it ended its worker, and that of {error.allowed_failures} more")
    except CancelledError as error:
        raise InputError("where", f"a cluster that went away ({error})", "one that stays", AGAIN) from None
    except UNKNOWN as error:
        raise unknown(error) from None
