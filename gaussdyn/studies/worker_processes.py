"""Worker processes on pipes: they carry out the runs of a study; one that dies under a run says so and is replaced."""

from __future__ import annotations

import contextlib
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for_pipes
from typing import Any

from .._kernel_files import kernel_sources
from .._warmup import stored
from ..errors import InputError
from .fork_server import context
from .template import DIED, Job, Result

Task = tuple[int, dict[str, Any]]
Take = Callable[[], Task | None]  # the next run; None: there is none now
Results = Iterator[tuple[int, Result]]
IMPORTABLE = "Write it at the top level of a module, and what it needs into the parameters or functools.partial(...)."


def kernels_are_there() -> bool:
    """Return whether all kernels are compiled on this machine."""
    return all(stored(path) for path in kernel_sources())


class _Worker:
    """A process that carries out one run after the other."""

    def __init__(self, how: Any, job: bytes) -> None:
        self.pipe, other = how.Pipe()
        self.process = how.Process(target=_work, args=(other, job), daemon=True)
        self.process.start()
        other.close()
        self.ready = False
        self.index: int | None = None  # of the run under way

    @property
    def idle(self) -> bool:
        """Whether it waits for a run."""
        return self.ready and self.index is None

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
        """Return the result of a run whose process died."""
        self.process.join()
        code = self.process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if not self.ready:
            mend = 'Call study under `if __name__ == "__main__":`; where=1 starts none.'
            given = f"a worker process that ended at its start with {how}"
            raise InputError("where", given, "one that starts", mend) from None
        return Result(status=DIED, reason=f"its process ended with {how}")

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def by_workers(job: bytes, take: Take, count: int) -> Results:
    """Return the results of all runs that `take` hands out, in the order in which they end.

    The first worker goes ahead alone where kernels may have to be compiled: the others find them on disk.

    Parameters
    ----------
    job : bytes
        The pickled `Job`.
    take : callable
    count : int
        Number of workers.

    Raises
    ------
    InputError
        Workers do not start, or cannot import what is to be run.
    """
    how = context()
    workers: list[_Worker] = []
    try:
        workers += [_Worker(how, job) for _ in range(count if kernels_are_there() else 1)]
        while True:
            _hand_out(workers, take)
            if all(one.idle for one in workers):
                return
            ended = list(_ended(workers, how, job))
            yield from ended
            if ended and len(workers) < count:
                workers += [_Worker(how, job) for _ in range(count - len(workers))]
    finally:
        for one in workers:
            one.end()


def _hand_out(workers: Sequence[_Worker], take: Take) -> None:
    """Give a run to every worker that is idle, as long as there are any."""
    for worker in workers:
        if worker.idle:
            if (task := take()) is None:
                return
            worker.give(task)


def _ended(workers: list[_Worker], how: Any, job: bytes) -> Results:
    """Return the runs that ended; a worker that has died gets a successor."""
    heard = wait_for_pipes([one.pipe for one in workers])
    for k, one in enumerate(workers):
        if one.pipe not in heard:
            continue
        index = one.index
        result = one.receive()
        if result is not None and result.status == DIED:
            one.end()
            workers[k] = _Worker(how, job)
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
