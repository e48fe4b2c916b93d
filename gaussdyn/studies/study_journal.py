"""The journal of a study: one record per run, appended as it ends, with a checksum; a resumed study reads it."""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError
from .template import Result

HEAD = struct.Struct("<II")  # length and CRC-32 of the record that follows


class Journal:
    """Records in a file that only grows; nobody else writes into it while it is open.

    Parameters
    ----------
    path : Path
        Its file.
    settings : mapping
        What the study is, as JSON knows it; the first record.
    resume : bool
        Whether to go on with what the file holds.

    Raises
    ------
    InputError
        Another study writes there, has left its journal there, or is not the one to be resumed.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, resume: bool) -> None:
        self.path = path
        try:
            self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115 - open as long as the study
        except OSError as error:
            raise InputError("out", str(path), "a place where files can be written", str(error)) from None
        try:
            _lock(self._file, path)
            self._begin(json.dumps(settings, sort_keys=True).encode(), resume=resume)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, settings: bytes, *, resume: bool) -> None:
        """Write the first record, or compare with the one that is there."""
        end = self._sound_end()
        if end and not resume:
            mend = "resume=True goes on with it; or delete that file."
            raise InputError("out", f"{self.path}, the journal of a study that was cut off", "a new file", mend)
        self._file.truncate(end)  # a record that was cut off by a kill
        if not end:
            self._append(settings)
        elif next(self._records()) != settings:
            raise InputError("resume", str(self.path), "the journal of the same study", "Its settings are others.")

    def add(self, index: int, result: Result) -> None:
        """Append a run.

        Raises
        ------
        InputError
            The disk is full.
        """
        values = {name: np.asarray(x) for name, x in result.values.items()}
        shapes = {name: x.shape for name, x in values.items()}
        said = [index, result.status, result.reason, result.outcome, float(result.t).hex(), shapes]
        body = b"".join(np.ascontiguousarray(x, dtype="<f8").tobytes() for x in values.values())
        self._append(json.dumps(said).encode() + b"\n" + body)

    def runs(self) -> Iterator[tuple[int, Result]]:
        """Return all runs in the order in which they ended."""
        records = self._records()
        next(records)
        return map(_run, records)

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        os.fsync(self._file.fileno())

    def close(self, *, delete: bool) -> None:
        """Close it; a study that is complete needs it no longer."""
        if delete:
            self.path.unlink()
        self._file.close()

    def _append(self, record: bytes) -> None:
        rest = memoryview(HEAD.pack(len(record), zlib.crc32(record)) + record)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            mend = "All runs before this one are kept: make room and go on with resume=True."
            raise InputError("out", f"{self.path}: {error.strerror}", "a disk with room", mend) from None

    def _records(self) -> Iterator[bytes]:
        """Return the records up to the first one that is not whole."""
        with open(self.path, "rb") as file:
            while len(head := file.read(HEAD.size)) == HEAD.size:
                length, checksum = HEAD.unpack(head)
                record = file.read(length)
                if len(record) != length or zlib.crc32(record) != checksum:
                    return
                yield record

    def _sound_end(self) -> int:
        return sum(HEAD.size + len(record) for record in self._records())


def _run(record: bytes) -> tuple[int, Result]:
    """Return a run from its record, bit by bit as it was."""
    head, _, body = record.partition(b"\n")
    index, status, reason, outcome, t, shapes = json.loads(head)
    values, start = {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape, dtype=np.int64))
        values[name] = np.frombuffer(body, dtype="<f8", count=count, offset=start).reshape(shape)
        start += 8 * count
    return index, Result(status=status, reason=reason, outcome=outcome, t=float.fromhex(t), values=values)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep others from writing; the system lets go of it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("out", str(path), "a file that no other study is writing", "Give it another name.") from None
