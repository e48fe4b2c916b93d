"""Who carries out the runs of a study: this process, worker processes on pipes, or an executor. Any order will do."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for_pipes
from typing import Any

from ..errors import InputError
from .template import DIED, Job, Result, name_of

Task = tuple[int, dict[str, Any]]
Take = Callable[[], Task | None]  # the next run; None: there is none now
Results = Iterator[tuple[int, Result]]
AT_ONCE = 64  # runs that an executor is given ahead of their results
IMPORTABLE = "Write it at the top level of a module, and what it needs into the parameters or functools.partial."


def results(job: Job, take: Take, where: object) -> Results:
    """Return the results of all runs that `take` hands out, in the order in which they end.

    Raises
    ------
    InputError
        There is no such place, or what is to be run cannot be sent there.
    """
    if isinstance(where, Executor):
        return _by_executor(sent(job), take, where)
    if where == "here":
        where = cores()
    if isinstance(where, bool) or not isinstance(where, int) or where < 1:
        raise InputError("where", repr(where), '"here", a number of processes >= 1, or a concurrent.futures executor')
    return _by_this_process(job, take) if where == 1 else _by_workers(sent(job), take, where)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
            raise InputError(name, called, "a function that can be pickled", f"{IMPORTABLE} ({error})") from None
    return pickle.dumps(job)


def _by_this_process(job: Job, take: Take) -> Results:
    while (task := take()) is not None:
        yield task[0], job(task[1])


_JOBS: dict[bytes, Job] = {}


def carry_out(job: bytes, parameters: dict[str, Any]) -> Result:
    """Carry out one run in a process of an executor; a job is unpickled once."""
    if job not in _JOBS:
        _JOBS.clear()
        _JOBS[job] = pickle.loads(job)
    return _JOBS[job](parameters)


def _by_executor(job: bytes, take: Take, executor: Executor) -> Results:
    running: dict[Future[Result], int] = {}
    try:
        while True:
            while len(running) < AT_ONCE and (task := take()) is not None:
                running[executor.submit(carry_out, job, task[1])] = task[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


class _Worker:
    """A process that carries out one run after the other."""

    def __init__(self, context: Any, job: bytes) -> None:
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, job), daemon=True)
        self.process.start()
        other.close()
        self.ready = False
        self.index: int | None = None  # of the run under way

    def give(self, task: Task) -> None:
        self.index = task[0]
        with contextlib.suppress(OSError):  # it has died: reading from the pipe says so
            self.pipe.send(task[1])

    def receive(self) -> Result | None:
        """Return the result of its run, one that says it has died, or None where it said it is ready."""
        try:
            said = self.pipe.recv()
        except (EOFError, OSError):
            return self._death()
        if not self.ready and isinstance(said, str):
            raise InputError("build or measure", said, "functions that worker processes can import", IMPORTABLE)
        self.ready = True
        if isinstance(said, Result):
            self.index = None
            return said
        return None

    def _death(self) -> Result:
        self.process.join()
        code = self.process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if not self.ready:
            mend = 'Call study under `if __name__ == "__main__":`; where=1 starts none.'
            raise InputError("where", f"a worker process that ended at its start with {how}", "one that starts", mend)
        return Result(status=DIED, reason=f"its process ended with {how}")

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _by_workers(job: bytes, take: Take, count: int) -> Results:
    context: Any = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload(["gaussdyn.integrate.simulate", "gaussdyn.scenes.catalogue", __name__])
    workers: list[_Worker] = []
    try:
        workers += [_Worker(context, job) for _ in range(count)]
        while True:
            for idle in (one for one in workers if one.ready and one.index is None):
                if (task := take()) is None:
                    break
                idle.give(task)
            if all(one.ready and one.index is None for one in workers):
                return
            yield from _ended(workers, context, job)
    finally:
        for one in workers:
            one.end()


def _ended(workers: list[_Worker], context: Any, job: bytes) -> Results:
    """Return the runs that ended; a worker that has died gets a successor."""
    heard = wait_for_pipes([one.pipe for one in workers])
    for k, one in enumerate(workers):
        if one.pipe not in heard:
            continue
        index = one.index
        result = one.receive()
        if result is not None and result.status == DIED:
            one.end()
            workers[k] = _Worker(context, job)
        if result is not None and index is not None:
            yield index, result


def _work(pipe: Connection, job: bytes) -> None:
    """Carry out runs until the pipe is closed, which the end of the other process does, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it ends it
    try:
        carried: Job = pickle.loads(job)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send(None)
    while True:
        try:
            pipe.send(carried(pipe.recv()))
        except (EOFError, OSError):
            return
