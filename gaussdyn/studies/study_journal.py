"""The journal of a study: one record per run, appended as it ends, with a checksum; a resumed study reads it."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._files import unwritable
from ..errors import InputError
from .disk_room import room_on_disk
from .study_resume import Resume, plain
from .template import Result

Run = tuple[int, dict[str, Any], Result]  # its index, its parameters, and what it came to
HEAD = struct.Struct("<II")  # length and CRC-32 of the record that follows


class Journal:
    """Records in a file that only grows; nobody else writes into it while it is open.

    Parameters
    ----------
    path : Path
        Its file.
    settings : mapping
        What the study is, as JSON knows it; the first record.
    resume : Resume or None
        How to go on with what the file holds; None: it must not be there.

    Raises
    ------
    InputError
        Another study writes there, has left its journal there, or is not the one to be resumed.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, resume: Resume | None) -> None:
        self.path = path
        self._file = _opened(path)
        try:
            self._begin(settings, resume)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, settings: Mapping[str, Any], resume: Resume | None) -> None:
        """Write the first record, or compare with the one that is there."""
        end = sum(HEAD.size + len(record) for record in records(self.path))
        if end and resume is None:
            mend = "resume=True (--resume) goes on with it; or delete that file."
            raise InputError("out", f"{self.path}, the journal of a study that was cut off", "a new file", mend)
        self._file.truncate(end)  # a record that was cut off by a kill
        if not end or resume is None:
            self._append(_said(settings))
            return
        found = settings_of(self.path) or {}
        resume.check(plain(settings), found, self.path)
        if resume.again or found != plain(settings):
            self._keep(settings, resume)

    def _keep(self, settings: Mapping[str, Any], resume: Resume) -> None:
        """Begin anew with those runs alone that need not be carried out again; a kill leaves the one or the other."""
        fresh, old = self.path.with_name(self.path.name + ".new"), self._file
        self._file = _opened(fresh)
        try:
            self._file.truncate(0)
            self._append(_said(settings))
            for index, parameters, result in runs_of(self.path):
                if result.status not in resume.again:
                    self.add(index, parameters, result)
            self.sync()
            os.replace(fresh, self.path)
        finally:
            old.close()

    def add(self, index: int, parameters: Mapping[str, Any], result: Result) -> None:
        """Append a run.

        Raises
        ------
        InputError
            The disk is full.
        """
        values = {name: np.asarray(x) for name, x in result.values.items()}
        shapes = {name: x.shape for name, x in values.items()}
        said = [index, dict(parameters), result.status, result.reason, result.outcome, float(result.t).hex(), shapes]
        body = b"".join(np.ascontiguousarray(x, dtype="<f8").tobytes() for x in values.values())
        self._append(json.dumps(said).encode() + b"\n" + body)

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
        with room_on_disk(self.path):
            while rest:
                rest = rest[self._file.write(rest) :]


def records(path: Path) -> Iterator[bytes]:
    """Return the records of a journal up to the first one that is not whole."""
    with open(path, "rb") as file:
        while len(head := file.read(HEAD.size)) == HEAD.size:
            length, checksum = HEAD.unpack(head)
            record = file.read(length)
            if len(record) != length or zlib.crc32(record) != checksum:
                return
            yield record


def runs_of(path: Path) -> Iterator[Run]:
    """Return all runs of a journal in the order in which they ended."""
    found = records(path)
    next(found, None)
    return map(_run, found)


def settings_of(path: Path) -> dict[str, Any] | None:
    """Return what the study of a journal is; None where not even that was written."""
    first = next(records(path), None)
    return None if first is None else json.loads(first)


def _said(settings: Mapping[str, Any]) -> bytes:
    return json.dumps(settings, sort_keys=True).encode()


def _opened(path: Path) -> BinaryIO:
    """Return a file to append to that nobody else writes.

    Raises
    ------
    InputError
        There cannot be such a file, or another study writes it.
    """
    try:
        file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115 - open as long as the study
    except OSError as error:
        raise InputError("out", str(path), "a place where files can be written", unwritable(path, error)) from None
    try:
        _lock(file, path)
    except BaseException:
        file.close()
        raise
    return file


def _run(record: bytes) -> Run:
    """Return a run from its record, bit by bit as it was."""
    head, _, body = record.partition(b"\n")
    index, parameters, status, reason, outcome, t, shapes = json.loads(head)
    values, start = {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape, dtype=np.int64))
        values[name] = np.frombuffer(body, dtype="<f8", count=count, offset=start).reshape(shape)
        start += 8 * count
    result = Result(status=status, reason=reason, outcome=outcome, t=float.fromhex(t), values=values)
    return index, parameters, result


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep others from writing; the system lets go of it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        taken = not (path.exists() and os.path.samestat(os.fstat(file.fileno()), os.stat(path)))  # replaced meanwhile
    except BlockingIOError:
        taken = True
    if taken:
        raise InputError("out", str(path), "a file that no other study is writing", 'Write out="other.h5".') from None
