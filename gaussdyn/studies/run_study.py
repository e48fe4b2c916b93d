"""A study: many runs of one template, carried out somewhere, kept in a file, gone on with after a kill."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from .._version import __version__
from ..errors import InputError
from .function_digest import digest_of
from .parameter_sets import ParameterSet, at, parameter_set
from .places import results
from .reductions import Reduction, check_reduction
from .study_file import BLOCK
from .study_journal import Journal, runs_of
from .study_progress import Progress, Pulse
from .study_results import Study, journal_of
from .study_resume import DIGESTS, Resume, plain, resume_of
from .study_store import Store
from .template import DIED, FAILED, Job, Result, measure_of, name_of, template_of
from .worker_processes import Take

WINDOW = 4 * BLOCK  # runs that may be ahead of the first one that is missing: bounds what is held in memory


def study(
    build: object,
    parameters: object,
    measure: object,
    *,
    reduce: Reduction | None = None,
    where: object = "here",
    out: str | Path | None = None,
    resume: bool | Resume = False,
    progress: Progress | None = None,
) -> Study:
    """Carry out many runs of one template; what goes wrong in a run is its result.

    Parameters
    ----------
    build : str, callable or Template
        Name of a scene, a function of the parameters, or a template.
    parameters : ParameterSet, mapping or sequence
        Of all runs: Grid (a mapping is one), Cases (a list of mappings), Sobol, Uniform or Normal; SI units.
    measure : callable, str or sequence of str
        A function of the trajectory that returns a mapping of names to numbers or arrays, or names of columns.
    reduce : Reduction, optional
        Goes over the runs in the order of their indices, and may end the study.
    where : "here", int, executor or dask client
        On all cores, in so many worker processes (1: in this process), by an executor of `concurrent.futures`, or by a
        cluster of dask: a `dask.distributed` client, a cluster, or the address of a scheduler.
    out : str or Path, optional
        HDF5 file. While the study runs, each result is in its journal ``out.journal`` as soon as it is there, and
        ``Study.load(out)`` reads those that are.
    resume : bool or Resume
        Go on with a study that was cut off; one that is complete is read. `Resume` says more: which runs to carry
        out again, and whether functions may have been edited.
    progress : callable, optional
        Called after every run with a `Standing`: runs done, running, failed, and the time left.

    Returns
    -------
    Study
        All of it; the same bits for any `where`.

    Raises
    ------
    InputError
        What is given cannot be used, the file belongs to another study, `build` or `measure` were edited since, the
        disk is full, the cluster is not there or goes away.
    BackendMissing
        dask.distributed is not installed.
    """
    if getattr(current_process(), "_inheriting", False):  # a worker reads the script that starts it, which says so
        raise SystemExit(1)
    template, chosen, going_on = template_of(build), parameter_set(parameters), resume_of(resume)
    check_reduction(reduce)
    template.check(chosen.names)
    job = Job(template, measure_of(measure))
    job.check([at(chosen, 0), at(chosen, len(chosen) - 1)])
    task = _Task(job, chosen, reduce, where, progress, _settings(job, chosen, reduce))
    if out is not None:
        return task.kept(Path(out), going_on)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.h5"
        task.kept(path, None)
        return Study.read(path.read_bytes())


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be done."""

    job: Job
    parameters: ParameterSet
    reduce: Reduction | None
    where: object
    progress: Progress | None
    settings: dict[str, Any]

    def kept(self, path: Path, resume: Resume | None) -> Study:
        """Carry out what is missing in a file, and read it."""
        earlier = None
        if path.exists():
            earlier = self._earlier(path, resume)
            again = () if resume is None else resume.again
            if not journal_of(path).exists() and not any(earlier.counts[status] for status in again):
                return earlier
        journal = Journal(journal_of(path), self.settings, resume=resume)
        partial, complete = path.with_name(path.name + ".partial"), False
        try:
            self._write(partial, journal, _kept_runs(earlier, resume))
            os.replace(partial, path)
            complete = True
        finally:
            partial.unlink(missing_ok=True)  # the journal has all of it
            journal.close(delete=complete)
        return Study.load(path)

    def _earlier(self, path: Path, resume: Resume | None) -> Study:
        """Return the study that is there; refuse another one, or to write over it."""
        if resume is None:
            mend = "resume=True (--resume) reads a study that is complete; or name another file."
            raise InputError("out", f"{path}, which exists", "a new file", mend)
        found = Study.load(path)
        resume.check(plain(self.settings), found.settings, path)
        return found

    def _write(self, partial: Path, journal: Journal, kept: Iterator[tuple[int, Result]]) -> None:
        """Write all runs: those of the journal, those kept from an earlier file, and the others once carried out."""
        store = Store(partial, self.parameters, self.reduce)
        try:
            for index, _, result in runs_of(journal.path):
                store.add(index, result)
            for index, result in kept:
                store.add(index, result)
            if not store.done:
                self._carry_out(store, journal)
            store.finish(self.settings)
        finally:
            store.close()

    def _carry_out(self, store: Store, journal: Journal) -> None:
        """Take results from the workers into journal and store, until there is nothing left."""
        pulse = Pulse(_taker(store), store, self.progress)
        coming = results(self.job, pulse.take, self.where)
        try:
            for index, result in coming:
                journal.add(index, store.of(index), result)
                if store.add(index, result):
                    journal.sync()
                pulse.beat()
                if store.done:
                    return
        finally:
            coming.close()  # type: ignore[attr-defined]  # ends the workers


def _kept_runs(earlier: Study | None, resume: Resume | None) -> Iterator[tuple[int, Result]]:
    """Return the runs of a complete study that are not carried out again."""
    again, index = () if resume is None else resume.again, 0
    for part in () if earlier is None else earlier.blocks():
        values = dict(part.values)
        for k, (status, reason, met, t) in enumerate(zip(part.status, part.reason, part.outcome, part.t, strict=True)):
            if status not in again:
                found = {} if status in (FAILED, DIED) else {name: x[k] for name, x in values.items()}
                yield index, Result(status=str(status), reason=reason, outcome=str(met), t=float(t), values=found)
            index += 1


def _taker(store: Store) -> Take:
    """Return what hands out the runs that are missing, none too far ahead."""
    at = 0

    def take() -> tuple[int, dict[str, Any]] | None:
        nonlocal at
        at = max(at, store.next)
        while store.has(at):
            at += 1
        if store.done or at >= min(len(store.parameters), store.next + WINDOW):
            return None
        at += 1
        return at - 1, store.of(at - 1)

    return take


def _settings(job: Job, parameters: ParameterSet, reduce: Reduction | None) -> dict[str, Any]:
    """Return what a study is, as JSON knows it."""
    measure: Any = job.measure
    names = getattr(measure, "names", None)
    functions = {name: one for name, one in (("build", job.template.build), ("measure", measure)) if callable(one)}
    return {
        "version": __version__,
        "template": job.template.settings(),
        "parameters": parameters.settings(),
        "measure": list(names) if names is not None else name_of(measure),
        "reduce": None if reduce is None else repr(reduce),
        DIGESTS: {name: digest_of(one) for name, one in functions.items() if names is None or one is not measure},
    }
