"""A study: many runs of one template, carried out somewhere, kept in a file, gone on with after a kill."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._show import brief
from .._version import __version__
from ..errors import InputError
from .parameter_sets import parameter_set
from .reductions import Reduction, check_reduction
from .study_journal import Journal
from .study_store import BLOCK, MET, Store
from .template import STATUSES, Job, Template, measure_of, name_of, template_of
from .worker_processes import Take, results

WINDOW = 4 * BLOCK  # runs that may be ahead of the first one that is missing: bounds what is held in memory
Progress = Callable[[int, int, Mapping[str, int]], None]


@dataclass(frozen=True, slots=True)
class Study:
    """Results of a study, in the order of the runs.

    Attributes
    ----------
    parameters : mapping of str to Array, shape (n,)
        Of every run, in SI units.
    values : mapping of str to Array, shape (n, ...)
        What was measured; NaN where a run failed or the measure said None.
    status, outcome, reason : Arrays of str, shape (n,)
        COMPLETED, STOPPED, FAILED or DIED; the gravest outcome of a step; why it was not completed.
    t : Array, shape (n,)
        Times that were reached, s; NaN without a run.
    statistic : mapping or None
        What the reduction came to.
    settings : mapping
        What the study is.
    """

    parameters: Mapping[str, Any]
    values: Mapping[str, Any]
    status: Any
    outcome: Any
    reason: Any
    t: Any
    statistic: Mapping[str, float | None] | None
    settings: Mapping[str, Any]

    __repr__ = brief

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.status)

    @property
    def counts(self) -> dict[str, int]:
        """How many runs have which status."""
        return {name: int((self.status == name).sum()) for name in STATUSES[1:]}

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study that is complete.

        Parameters
        ----------
        path : str or Path
            What `study` was given as `out`.

        Raises
        ------
        InputError
            No file of a study.
        """
        import h5py

        try:
            with h5py.File(path, "r") as file:
                if file.attrs.get("kind") != "gaussdyn study":
                    raise InputError("path", str(path), "a file that gaussdyn.studies.study has written")
                columns = {name: {key: x[()] for key, x in file.get(name, {}).items()} for name in GROUPS}
                words = {"status": np.array(STATUSES), "outcome": np.array(MET)}
                coded = {name: known[file[name][()]] for name, known in words.items()}
                said = {name: json.loads(file.attrs[name]) for name in ("statistic", "settings")}
                return cls(**columns, **coded, **said, reason=file["reason"].asstr()[()], t=file["t"][()])
        except OSError as error:
            raise InputError("path", str(path), "a file of a study", str(error)) from None


GROUPS = ("parameters", "values")


def study(
    build: object,
    parameters: object,
    measure: object,
    *,
    reduce: Reduction | None = None,
    where: object = "here",
    out: str | Path | None = None,
    resume: bool = False,
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
    where : "here", int or concurrent.futures.Executor
        On all cores, in so many worker processes (1: in this process), or by an executor of processes.
    out : str or Path, optional
        HDF5 file. While the study runs, each result is in its journal ``out.journal`` as soon as it is there.
    resume : bool
        Go on with a study that was cut off; one that is complete is read.
    progress : callable, optional
        Called after every run with the runs that are written, their number in all, and how many have which status.

    Returns
    -------
    Study
        All of it; the same bits for any `where`.

    Raises
    ------
    InputError
        What is given cannot be used, the file belongs to another study, the disk is full.
    """
    template, chosen = template_of(build), parameter_set(parameters)
    check_reduction(reduce)
    template.check(chosen.names)
    job = Job(template, measure_of(measure))
    settings = _settings(job, chosen.settings(), reduce)
    how = (chosen, reduce, where, progress)
    if out is not None:
        return _kept(job, Path(out), settings, how, resume=resume)
    with tempfile.TemporaryDirectory() as folder:
        return _kept(job, Path(folder) / "study.h5", settings, how, resume=False)


def _kept(job: Job, path: Path, settings: dict[str, Any], how: tuple[Any, ...], *, resume: bool) -> Study:
    """Carry out what is missing in a file, and read it."""
    if path.exists():
        _check_complete(path, settings, resume=resume)
        return Study.load(path)
    chosen, reduce, where, progress = how
    journal = Journal(path.with_name(path.name + ".journal"), settings, resume=resume)
    complete = False
    try:
        partial = path.with_name(path.name + ".partial")
        store = Store(partial, chosen, reduce)
        try:
            for index, result in journal.runs():
                store.add(index, result)
            if not store.done:
                _carry_out(job, store, journal, (where, progress))
            store.finish(settings)
        finally:
            store.close()
        os.replace(partial, path)
        complete = True
    finally:
        journal.close(delete=complete)
    return Study.load(path)


def _carry_out(job: Job, store: Store, journal: Journal, how: tuple[Any, Progress | None]) -> None:
    where, progress = how
    coming = results(job, _taker(store), where)
    try:
        for index, result in coming:
            journal.add(index, result)
            if store.add(index, result):
                journal.sync()
            if progress is not None:
                progress(store.next, len(store.parameters), store.counts)
            if store.done:
                return
    finally:
        coming.close()  # type: ignore[attr-defined]  # ends the workers


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


def _check_complete(path: Path, settings: dict[str, Any], *, resume: bool) -> None:
    """Refuse a file that is there, unless it is this very study and may be gone on with."""
    if not resume:
        raise InputError("out", f"{path}, which exists", "a new file", "resume=True reads a study that is complete.")
    if Study.load(path).settings != json.loads(json.dumps(settings)):
        raise InputError("resume", str(path), "the file of the same study", "Its settings are others.")


def _settings(job: Job, parameters: dict[str, Any], reduce: Reduction | None) -> dict[str, Any]:
    measure: Any = job.measure
    names = getattr(measure, "names", None)
    made: Template = job.template
    measured = list(names) if names is not None else name_of(measure)
    reduced = None if reduce is None else repr(reduce)
    said = {"template": made.settings(), "parameters": parameters, "measure": measured, "reduce": reduced}
    return {"version": __version__, **said}
