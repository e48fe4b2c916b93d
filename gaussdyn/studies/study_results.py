"""What a study came to, read from its file, or from its journal while it runs."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .._html import card, counts
from .._show import fitted, short, span
from ..errors import InputError
from .study_file import BLOCK, LazyColumns, Place, Shapes, StudyReader, StudyWriter
from .study_journal import runs_of, settings_of
from .study_tables import to_dataframe, to_xarray
from .template import STATUSES


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Results of a study, in the order of the runs.

    A column is read from the file when it is asked for, and does not stay in memory: keep what is used twice in a
    variable. ``found[a:b]`` are some of the runs, ``found.blocks()`` all of them one part after the other.

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
    complete : bool
        Whether these are all runs of a study that has ended.
    """

    reader: StudyReader
    settings: Mapping[str, Any]
    statistic: Mapping[str, float | None] | None
    complete: bool

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study; one that is not complete yet has the runs that have ended, by their parameters.

        Parameters
        ----------
        path : str or Path
            What `study` was given as `out`.

        Raises
        ------
        InputError
            No file of a study.
        """
        journal = journal_of(Path(path))
        if not Path(path).exists() and journal.exists():
            return cls.read(_so_far(journal))
        return cls.read(Path(path))

    @classmethod
    def read(cls, place: Place) -> Study:
        """Read the file of a study, or what is all of it.

        Raises
        ------
        InputError
            No file of a study.
        """
        found = StudyReader(place, slice(0, 0)).attributes()
        return cls(StudyReader(place, slice(0, found.pop("runs"))), **found)

    def __len__(self) -> int:
        """Return the number of runs."""
        return int(self.reader.rows.stop - self.reader.rows.start)

    def __getitem__(self, rows: slice) -> Study:
        """Return some runs, one after the other.

        Raises
        ------
        InputError
            No slice, or one with a step.
        """
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise InputError("runs", repr(rows), "a slice without a step", "Write found[10:20]; values have columns.")
        start, stop, _ = rows.indices(len(self))
        first = self.reader.rows.start
        return replace(self, reader=replace(self.reader, rows=slice(first + start, first + max(start, stop))))

    def blocks(self, size: int = BLOCK) -> Iterator[Study]:
        """Return all runs, so many at a time."""
        edges = [*range(0, len(self), size), len(self)]
        return (self[a:b] for a, b in pairwise(edges))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of every run."""
        return LazyColumns(self.reader, "parameters")

    @property
    def values(self) -> Mapping[str, Any]:
        """What was measured in every run."""
        return LazyColumns(self.reader, "values")

    @property
    def status(self) -> Any:
        """How every run ended."""
        return self.reader.column("status")

    @property
    def outcome(self) -> Any:
        """The gravest outcome of a step of every run."""
        return self.reader.column("outcome")

    @property
    def reason(self) -> Any:
        """Why runs were not completed."""
        return self.reader.column("reason")

    @property
    def t(self) -> Any:
        """Time that every run has reached, s."""
        return self.reader.column("t")

    @property
    def counts(self) -> dict[str, int]:
        """How many runs have which status."""
        status = self.status
        return {name: int((status == name).sum()) for name in STATUSES[1:]}

    def to_dataframe(self) -> Any:
        """Return one row per run, with all columns; entries of arrays as name[0], name[1], ...

        Raises
        ------
        BackendMissing
            pandas is not installed.
        """
        return to_dataframe(self)

    def to_xarray(self) -> Any:
        """Return a Dataset: a grid has its axes as dimensions, other studies have the dimension "run".

        Raises
        ------
        BackendMissing
            xarray is not installed.
        """
        return to_xarray(self)

    def __repr__(self) -> str:
        """Return in short how the runs ended, and what there is of them."""
        counts = ", ".join(f"{n} {name}" for name, n in self.counts.items() if n)
        head = [f"{len(self)} runs: {counts}" if self.complete else f"{len(self)} runs so far: {counts}"]
        ended = [] if self.statistic is None else [f"statistic={short(self.statistic)}"]
        return fitted("Study", [*head, repr(self.parameters), repr(self.values), *ended])

    def _repr_html_(self) -> str:
        """Return a card for notebooks: how the runs ended, and ranges (of the first runs, where there are many)."""
        some = self[:BLOCK]
        of = f" (of the first {BLOCK} runs)" if len(self) > BLOCK else ""
        tables = {**some.parameters, **some.values}
        rows = {name: f"{' × '.join(map(str, x.shape))} numbers: {span(x)}{of}" for name, x in tables.items()}
        told = counts(self.counts) + ("" if self.complete else " so far")
        return card("Study", f"{len(self)} runs: {told}", rows, kind="plain" if self.complete else "bad")


def journal_of(path: Path) -> Path:
    """Return where the journal of a study is, given its file."""
    return path.with_name(path.name + ".journal")


def _so_far(journal: Path) -> bytes:
    """Return the file that a study would have if there were only the runs that have ended.

    Raises
    ------
    InputError
        No journal of a study.
    """
    settings = settings_of(journal)
    if settings is None:
        raise InputError(
            "path",
            str(journal),
            "the journal of a study",
            "It holds nothing yet: gaussdyn study SCENE --over mu=0.1:0.9:9 --out s.h5",
        )
    target, shapes = io.BytesIO(), Shapes()
    writer = StudyWriter(target, shapes)
    runs = sorted(runs_of(journal), key=lambda run: run[0])
    for start in range(0, len(runs), BLOCK):
        part = runs[start : start + BLOCK]
        parameters = {name: np.array([run[1][name] for run in part]) for name in part[0][1]}
        writer.append([shapes.checked(run[2]) for run in part], parameters)
    writer.finish(settings, None, complete=False)
    return target.getvalue()
