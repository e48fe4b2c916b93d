"""Runs of a study carried out by an executor of `concurrent.futures`, whatever stands behind it."""

from __future__ import annotations

import pickle
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any

from ..errors import InputError
from .template import Job, Result
from .worker_processes import IMPORTABLE, Results, Take

AT_ONCE = 64  # runs that are handed out ahead of their results, at least
PER_WORKER = 4
_JOBS: dict[bytes, Job] = {}
UNKNOWN = (ImportError, AttributeError, pickle.UnpicklingError)  # what is said where a function cannot be imported


def carry_out(job: bytes, parameters: dict[str, Any]) -> Result:
    """Carry out one run in a process of others; a job is unpickled once."""
    known = _JOBS.get(job)
    if known is None:
        known = pickle.loads(job)
        _JOBS.clear()
        _JOBS[job] = known
    return known(parameters)


def by_executor(job: bytes, take: Take, executor: Executor) -> Results:
    """Return the results of all runs that `take` hands out, in the order in which they end.

    Raises
    ------
    InputError
        The executor loses a process, or its processes cannot import what is to be run.
    """
    ahead = max(AT_ONCE, PER_WORKER * int(getattr(executor, "_max_workers", 0) or 0))
    running: dict[Future[Result], int] = {}
    try:
        while True:
            while len(running) < ahead and (task := take()) is not None:
                running[executor.submit(carry_out, job, task[1])] = task[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), _result(future)
    except BrokenExecutor as error:
        mend = "Go on with resume=True and a new one; worker processes (where=2) outlive a run that ends one."
        raise InputError("where", f"an executor that broke: {error}", "one whose processes live", mend) from None
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[Result]) -> Result:
    try:
        return future.result()
    except UNKNOWN as error:
        raise unknown(error) from None


def unknown(error: BaseException) -> InputError:
    """Return what is said where a worker cannot import a function."""
    said = f"{type(error).__name__}: {error}"
    return InputError("build or measure", said, "functions that workers can import", IMPORTABLE)
