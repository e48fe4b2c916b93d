"""Results of a study in the order of their indices: put in order, reduced, and written to HDF5 in blocks."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._show import cut
from .parameter_sets import ParameterSet, row
from .reductions import Reduction
from .template import FAILED, OUTCOMES, REASON, STATUSES, Result

BLOCK = 1024  # runs that are written at once
CHUNK_BYTES = 2**20  # of a chunk of the file, at most
MET = ("", *OUTCOMES)


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
        import h5py

        self.path, self.parameters, self.reduction = path, parameters, copy.deepcopy(reduce)
        self.next = 0  # the first index that is not there yet
        self.done = False
        self.counts = dict.fromkeys(STATUSES[1:], 0)
        self._early: dict[int, Result] = {}
        self._block: list[Result] = []
        self._shapes: dict[str, tuple[int, ...]] | None = None
        self._columns: tuple[int, dict[str, Any]] = (-1, {})
        self._file = h5py.File(path, "w", libver="latest")
        self._create("status", (), "u1")
        self._create("outcome", (), "u1")
        self._create("t", (), "f8")
        self._create("reason", (), h5py.string_dtype())

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
        before = self.next // BLOCK
        while not self.done and self.next in self._early:
            self._fold(self._early.pop(self.next))
        return self.next // BLOCK > before

    def finish(self, settings: Mapping[str, Any]) -> None:
        """Write what is left, the parameters' settings and the statistic; close."""
        self._write()
        value = None if self.reduction is None else dict(self.reduction.value())
        self._file.attrs["kind"] = "gaussdyn study"
        self._file.attrs["settings"] = json.dumps(settings, sort_keys=True)
        self._file.attrs["statistic"] = json.dumps(value)
        self._file.attrs["runs"] = self.next
        self._file.flush()
        self._file.close()
        with open(self.path, "rb") as file:
            os.fsync(file.fileno())

    def close(self) -> None:
        """Close without an end: the journal has all of it."""
        self._file.close()

    def _fold(self, given: Result) -> None:
        """Take the result that is next."""
        result = self._checked(given)
        self._block.append(result)
        self.counts[result.status] += 1
        if self.reduction is not None:
            self.reduction.add(self.of(self.next), result.values if result.status != FAILED and result.values else None)
        self.next += 1
        self.done = self.next == len(self.parameters) or (self.reduction is not None and self.reduction.converged)
        if len(self._block) == BLOCK:
            self._write()

    def _checked(self, result: Result) -> Result:
        """Return a result whose names and shapes are those of the first one that has any."""
        if not result.values:
            return result
        shapes = {name: np.shape(x) for name, x in result.values.items()}
        if self._shapes is None:
            self._shapes = shapes
        if shapes == self._shapes:
            return result
        wrong = next(name for name in {**shapes, **self._shapes} if shapes.get(name) != self._shapes.get(name))
        said, first = (made.get(wrong, "nothing") for made in (shapes, self._shapes))
        reason = f"measure: {wrong!r} has shape {said} here, and {first} in the first run that was measured"
        return replace(result, status=FAILED, reason=cut(reason, REASON), values={})

    def _write(self) -> None:
        """Write the block and forget it."""
        block, start = self._block, self.next - len(self._block)
        if not block:
            return
        self._put("status", start, np.array([STATUSES.index(one.status) for one in block], dtype=np.uint8))
        self._put("outcome", start, np.array([MET.index(one.outcome) for one in block], dtype=np.uint8))
        self._put("t", start, np.array([one.t for one in block], dtype=np.float64))
        self._put("reason", start, np.array([one.reason for one in block], dtype=object))
        for name, x in self._window(start // BLOCK).items():
            if f"parameters/{name}" not in self._file:
                self._create(f"parameters/{name}", (), x.dtype)
            self._put(f"parameters/{name}", start, x[: len(block)])
        for name, shape in (self._shapes or {}).items():
            if f"values/{name}" not in self._file:
                self._create(f"values/{name}", shape, "f8")
            nothing = np.full(shape, np.nan)
            self._put(f"values/{name}", start, np.array([one.values.get(name, nothing) for one in block]))
        self._file.flush()
        self._block = []

    def _create(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        rows = max(1, min(BLOCK, CHUNK_BYTES // (8 * max(1, int(np.prod(shape, dtype=np.int64))))))
        fill = np.nan if dtype == "f8" else None
        chunks = (rows, *(max(1, n) for n in shape))
        self._file.create_dataset(
            name, (0, *shape), maxshape=(None, *shape), dtype=dtype, chunks=chunks, fillvalue=fill
        )

    def _put(self, name: str, start: int, x: Any) -> None:
        data = self._file[name]
        data.resize(start + len(x), axis=0)
        data[start:] = x

    def _window(self, block: int) -> dict[str, Any]:
        """Return the parameters of a block of runs; those of the last one are kept at hand."""
        if self._columns[0] != block:
            stop = min((block + 1) * BLOCK, len(self.parameters))
            self._columns = (block, self.parameters.columns(block * BLOCK, stop))
        return self._columns[1]
