"""Results of a study put in the order of their indices: reduced one by one, and written in blocks."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .parameter_sets import ParameterSet, row
from .reductions import Reduction
from .study_file import BLOCK, Shapes, StudyWriter
from .template import FAILED, STATUSES, Result


class Store:
    """Takes results in any order, and writes them in the order of their indices.

    Parameters
    ----------
    path : Path
        The HDF5 file, written anew.
    parameters : ParameterSet
        Of all runs.
    reduce : Reduction or None
        Its copy goes over the runs.

    Notes
    -----
    Blocks begin at multiples of `BLOCK`, so that the file does not depend on who came first.
    """

    def __init__(self, path: Path, parameters: ParameterSet, reduce: Reduction | None) -> None:
        self.parameters, self.reduction = parameters, copy.deepcopy(reduce)
        self.next = 0  # the first index that is not there yet
        self.done = False
        self.counts = dict.fromkeys(STATUSES[1:], 0)  # of all runs that have ended
        self._early: dict[int, Result] = {}
        self._block: list[Result] = []
        self._columns: tuple[int, dict[str, Any]] = (-1, {})
        self._shapes = Shapes()
        self._writer = StudyWriter(path, self._shapes)

    def has(self, index: int) -> bool:
        """Whether the result of a run is there."""
        return index < self.next or index in self._early

    def of(self, index: int) -> dict[str, Any]:
        """Return the parameters of a run."""
        return row(self._window(index // BLOCK), index % BLOCK)

    def add(self, index: int, result: Result) -> bool:
        """Take a result; return whether a block was written."""
        if self.done or self.has(index):
            return False
        self._early[index] = result
        self.counts[result.status] += 1
        before = self.next // BLOCK
        while not self.done and self.next in self._early:
            self._fold(self._early.pop(self.next))
        return self.next // BLOCK > before

    def finish(self, settings: Mapping[str, Any]) -> None:
        """Write what is left, the parameters' settings and the statistic; close."""
        self._write()
        value = None if self.reduction is None else dict(self.reduction.value())
        self._writer.finish(settings, value, complete=True)

    def close(self) -> None:
        """Close without an end: the journal has all of it."""
        self._writer.close()

    def _fold(self, given: Result) -> None:
        """Take the result that is next."""
        result = self._shapes.checked(given)
        self._block.append(result)
        self.counts[given.status] -= 1
        self.counts[result.status] += 1
        if self.reduction is not None:
            self.reduction.add(self.of(self.next), result.values if result.status != FAILED and result.values else None)
        self.next += 1
        self.done = self.next == len(self.parameters) or (self.reduction is not None and self.reduction.converged)
        if len(self._block) == BLOCK:
            self._write()

    def _write(self) -> None:
        """Write the block and forget it."""
        block, start = self._block, self.next - len(self._block)
        if block:
            found = {name: x[: len(block)] for name, x in self._window(start // BLOCK).items()}
            self._writer.append(block, found)
            self._block = []

    def _window(self, block: int) -> dict[str, Any]:
        """Return the parameters of a block of runs; those of the last one are kept at hand."""
        if self._columns[0] != block:
            stop = min((block + 1) * BLOCK, len(self.parameters))
            self._columns = (block, self.parameters.columns(block * BLOCK, stop))
        return self._columns[1]
