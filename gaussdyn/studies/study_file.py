"""The HDF5 file of a study: results in the order of their runs, appended in blocks, read column by column."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._show import cut
from ..errors import InputError
from .disk_room import check_room, room_on_disk
from .template import FAILED, OUTCOMES, REASON, STATUSES, Result

BLOCK = 1024  # runs that are written at once
CHUNK_BYTES = 2**20  # of a chunk of the file, at most
MET = ("", *OUTCOMES)
WORDS = {"status": STATUSES, "outcome": MET}
KIND = "gaussdyn study"
GROUPS = ("parameters", "values")
Place = Path | bytes


class Shapes:
    """Names and shapes of what is measured: those of the first run that has any hold for all."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[int, ...]] | None = None

    def checked(self, result: Result) -> Result:
        """Return the result; FAILED if its names or shapes are others."""
        if not result.values:
            return result
        shapes = {name: np.shape(x) for name, x in result.values.items()}
        if self.first is None:
            self.first = shapes
        if shapes == self.first:
            return result
        wrong = next(name for name in {**shapes, **self.first} if shapes.get(name) != self.first.get(name))
        said, first = (made.get(wrong, "nothing") for made in (shapes, self.first))
        reason = f"measure: {wrong!r} has shape {said} here, and {first} in the first run that was measured"
        return replace(result, status=FAILED, reason=cut(reason, REASON), values={})


class StudyWriter:
    """Appends blocks of results to a file that is written anew.

    Parameters
    ----------
    target : Path or BytesIO
    shapes : Shapes
        Of what is measured, known once the first block that has any is appended.
    """

    def __init__(self, target: Path | io.BytesIO, shapes: Shapes) -> None:
        import h5py

        self.target, self.shapes, self.runs = target, shapes, 0
        self._file = h5py.File(target, "w", libver="latest")
        for group in GROUPS:
            self._file.create_group(group, track_order=True)
        for name, dtype in (("status", "u1"), ("outcome", "u1"), ("t", "f8"), ("reason", h5py.string_dtype())):
            self._create(name, (), dtype)

    def append(self, results: Sequence[Result], parameters: Mapping[str, Any]) -> None:
        """Append runs, and their parameters, each of shape (len(results),).

        Raises
        ------
        InputError
            The disk is full.
        """
        sizes = [x.nbytes for x in parameters.values()]
        sizes += [
            8 * int(np.prod(shape, dtype=np.int64)) * len(results) for shape in (self.shapes.first or {}).values()
        ]
        check_room(self.target, 2 * sum(sizes))
        with room_on_disk(self.target):
            self._append(results, parameters)

    def _append(self, results: Sequence[Result], parameters: Mapping[str, Any]) -> None:
        """Write results at the end of all data sets; values that a run lacks become NaN."""
        for name, words in WORDS.items():
            self._put(name, np.array([words.index(getattr(one, name)) for one in results], dtype=np.uint8))
        self._put("t", np.array([one.t for one in results], dtype=np.float64))
        self._put("reason", np.array([one.reason for one in results], dtype=object))
        for name, x in parameters.items():
            if f"parameters/{name}" not in self._file:
                self._create(f"parameters/{name}", (), x.dtype)
            self._put(f"parameters/{name}", x)
        for name, shape in (self.shapes.first or {}).items():
            if f"values/{name}" not in self._file:
                self._create(f"values/{name}", shape, "f8")
            nothing = np.full(shape, np.nan)
            self._put(f"values/{name}", np.array([one.values.get(name, nothing) for one in results]))
        self.runs += len(results)
        self._file.flush()

    def finish(self, settings: Mapping[str, Any], statistic: Mapping[str, Any] | None, *, complete: bool) -> None:
        """Write what the study is; close, and wait until all of it is on the disk.

        Raises
        ------
        InputError
            The disk is full.
        """
        said = {"settings": json.dumps(settings, sort_keys=True), "statistic": json.dumps(statistic)}
        with room_on_disk(self.target):
            self._file.attrs.update({"kind": KIND, **said, "runs": self.runs, "complete": complete})
            self._file.flush()
            self._file.close()
            if isinstance(self.target, Path):
                with open(self.target, "rb") as file:
                    os.fsync(file.fileno())

    def close(self) -> None:
        """Close; a file without an end that cannot even be closed whole is of no use anyway."""
        with contextlib.suppress(OSError, RuntimeError):
            self._file.close()

    def _create(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        rows = max(1, min(BLOCK, CHUNK_BYTES // (8 * max(1, int(np.prod(shape, dtype=np.int64))))))
        fill = np.nan if dtype == "f8" else None
        chunks = (rows, *(max(1, n) for n in shape))
        self._file.create_dataset(
            name, (0, *shape), maxshape=(None, *shape), dtype=dtype, chunks=chunks, fillvalue=fill
        )

    def _put(self, name: str, x: Any) -> None:
        data = self._file[name]
        data.resize(self.runs + len(x), axis=0)
        data[self.runs :] = x


@dataclass(frozen=True, slots=True)
class StudyReader:
    """Reads some rows of the columns of a study whenever they are asked for; nothing stays in memory.

    Parameters
    ----------
    place : Path or bytes
        The file, or all of it.
    rows : slice
        From where to where, both whole numbers.
    """

    place: Place
    rows: slice

    def attributes(self) -> dict[str, Any]:
        """Return settings, statistic, runs and whether it is complete.

        Raises
        ------
        InputError
            No file of a study.
        """
        try:
            with self._open() as file:
                if file.attrs.get("kind") != KIND:
                    raise InputError(
                        "path",
                        str(self.place),
                        "a file that gaussdyn.studies.study has written",
                        'Write study(..., out="s.h5").',
                    )
                said = {name: json.loads(file.attrs[name]) for name in ("settings", "statistic")}
                return {**said, "runs": int(file.attrs["runs"]), "complete": bool(file.attrs["complete"])}
        except (OSError, KeyError) as error:
            raise InputError("path", str(self.place), "a file of a study", f"{error}: ls -l {self.place!r}") from None

    def column(self, name: str) -> Any:
        """Return a column, shape (n, ...); words as words."""
        with self._open() as file:
            if name == "reason":
                return file[name].asstr()[self.rows]
            x = file[name][self.rows]
            return np.array(WORDS[name])[x] if name in WORDS else x

    def names(self, group: str) -> tuple[str, ...]:
        """Return the names of the columns of a group."""
        with self._open() as file:
            return tuple(file.get(group, ()))

    def _open(self) -> Any:
        import h5py

        return h5py.File(io.BytesIO(self.place) if isinstance(self.place, bytes) else self.place, "r")


@dataclass(frozen=True, slots=True)
class LazyColumns(Mapping[str, Any]):
    """Columns of a group of a study by their names, read from the file when they are asked for."""

    reader: StudyReader
    group: str

    def __getitem__(self, name: str) -> Any:
        """Return a column, shape (n, ...)."""
        if name not in self.reader.names(self.group):
            raise KeyError(name)
        return self.reader.column(f"{self.group}/{name}")

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self.reader.names(self.group))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.reader.names(self.group))

    def __repr__(self) -> str:
        """Return the names."""
        return f"{self.group}: {', '.join(self)}"
