"""Where the runs of a study are carried out: in this process, by others here, by an executor, on a cluster."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor

from .._warmup import cores
from ..errors import InputError
from .dask_cluster import by_cluster, is_cluster
from .executors import by_executor
from .template import Job, name_of
from .worker_processes import IMPORTABLE, Results, Take, by_workers


def results(job: Job, take: Take, where: object) -> Results:
    """Return the results of all runs that `take` hands out, in the order in which they end.

    Raises
    ------
    InputError
        There is no such place, or what is to be run cannot be sent there.
    """
    if is_cluster(where):
        return by_cluster(job, take, where)
    if isinstance(where, Executor):
        return by_executor(sent(job), take, where)
    count = cores() if where == "here" else where
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        allowed = '"here", a number of processes >= 1, a concurrent.futures executor, a dask client or its address'
        raise InputError("where", repr(where), allowed, 'E.g. where="tcp://127.0.0.1:8786".')
    return by_this_process(job, take) if count == 1 else by_workers(sent(job), take, count)


def sent(job: Job) -> bytes:
    """Return a job as it is sent to other processes.

    Raises
    ------
    InputError
        Names the function that cannot be sent.
    """
    for name, part in (("build", job.template.build), ("measure", job.measure), ("build", job.template)):
        try:
            pickle.dumps(part)
        except Exception as error:
            called = name_of(part) if callable(part) else repr(part)
            raise InputError(name, called, "a function that can be pickled", f"({error}) {IMPORTABLE}") from None
    return pickle.dumps(job)


def by_this_process(job: Job, take: Take) -> Results:
    """Return the results of all runs that `take` hands out, one after the other."""
    while (task := take()) is not None:
        yield task[0], job(task[1])
