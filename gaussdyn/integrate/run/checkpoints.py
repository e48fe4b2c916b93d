"""A run on disk while it is going on: small whole files in a folder beside its place, joined at the end.

A file that is written when the process is killed is lost, HDF5 files above all. So nothing is ever appended: every
chunk is a file of its own, written beside its place and renamed, and each holds all that a resume needs.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..._files import seal, unwritable
from ...errors import InputError, SceneError
from . import hdf5 as storage
from .chunks import chunk_files, gathered
from .hdf5 import PARTS
from .recorder import Recorder
from .trajectory import Trajectory
from .values import Stop

SECONDS = 5.0  # of wall time between two chunks, unless steps are given


@dataclass(slots=True, kw_only=True)
class Archive:
    """Where a run is written chunk by chunk.

    Attributes
    ----------
    path : Path
        Of the run file in the end.
    chunk : int or None
        Steps per chunk; None: as many as fit into 5 s.
    earlier : Trajectory or None
        The run that is resumed, until it is taken.
    resumed : bool
    follows : str
        State hash of the finished run file that the chunks go on with; empty if they are the whole run.
    """

    path: Path
    chunk: int | None = None
    earlier: Trajectory | None = None
    resumed: bool = False
    follows: str = ""
    lock: Any = None
    number: int = 0
    kept: int = -1
    due: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    @classmethod
    def of(cls, out: str | os.PathLike[str] | None, chunk: int | None, resume: bool) -> Archive | None:
        """Return the archive for `simulate(out=, chunk=, resume=)`; None without `out`.

        Raises
        ------
        InputError
            A place that cannot be written, that holds something else or an interrupted run; resume or chunk without
            `out`.
        SceneError
            What should be resumed cannot be read.
        """
        check_options(out, chunk, resume)
        if out is None:
            return None
        path = Path(out)
        if not resume:
            storage.check_replaceable(path)
        archive = cls(path=path, chunk=chunk)
        archive._lock()
        if resume:
            try:
                archive._find_earlier()
            except SceneError:
                archive.release()
                raise
        return archive

    def take_earlier(self) -> Trajectory | None:
        """Return the run that is resumed, and let go of it."""
        earlier, self.earlier = self.earlier, None
        return earlier

    def begin(self, recorder: Recorder) -> None:
        """Write the first state of a new run, so that a place without room shows before any work.

        Raises
        ------
        InputError
            No room, no rights.
        """
        if self.resumed:
            self.kept = recorder.count
        else:
            self.keep(recorder)

    @property
    def folder(self) -> Path:
        """Where the chunks are."""
        return self.path.with_name(self.path.name + PARTS)

    def keep(self, recorder: Recorder, *, now: bool = False) -> None:
        """Write what the recorder holds, if a chunk is full.

        Raises
        ------
        InputError
            No room, no rights; nothing of what was written before is lost.
        """
        if recorder.count == self.kept:
            return
        full = recorder.count - self.kept >= self.chunk if self.chunk else time.monotonic() >= self.due
        if not (full or now or self.kept < 0):
            return
        stop = Stop(t=recorder.final.t, reason="interrupted: what follows was not written; resume goes on from here")
        piece = recorder.trajectory(stop)
        try:
            packed = storage.packed(piece, follows=self.follows)
            storage.place(self.folder / f"{self.number:06d}.h5", packed, seal(packed))
        except OSError as error:
            raise self._full(error) from None
        recorder.forget()
        self.number, self.kept, self.due = self.number + 1, recorder.count, time.monotonic() + SECONDS

    def room(self, recorder: Recorder) -> int | None:
        """Return how many more steps the chunk takes, None if time decides that."""
        return self.chunk - (recorder.count - self.kept) if self.chunk else None

    def finish(self, recorder: Recorder, stop: Stop | None) -> Trajectory:
        """Join all chunks into the run file, remove them, and return the run.

        Raises
        ------
        InputError
            The file cannot be written; the chunks stay.
        """
        self.keep(recorder, now=True)
        run, _ = gathered(self.path, Trajectory, finished=False)
        if run is None:
            raise SceneError(
                str(self.path),
                "",
                f"its chunks are gone: somebody removed them during the run; ls {self.path.parent}, and run again.",
            )
        status, proofs = "COMPLETED" if stop is None else "STOPPED", (*run.certificates, *recorder.proofs.found)
        run = replace(run, stop=stop, status=status, certificates=proofs, **recorder.about)
        try:
            storage.write(run, self.path)
        except OSError as error:
            raise self._full(error) from None
        self._clear()
        return run

    def release(self) -> None:
        """Let other processes write the run again; a folder without chunks is removed."""
        if self.lock is not None:
            if self.folder.is_dir() and not chunk_files(self.folder):
                self._clear()
            self.lock.close()
            self.lock = None

    def _find_earlier(self) -> None:
        """Find the run to go on with; remove chunks that the run file has already."""
        self.earlier, counted = gathered(self.path, Trajectory)
        if self.earlier is not None:
            self.resumed = True
            self.follows = counted.follows if counted.files else self.earlier.state_hash
        self.number = len(counted.files)
        if not counted.files:
            for file in chunk_files(self.folder):
                file.unlink()

    def _clear(self) -> None:
        """Remove the chunks."""
        doomed = self.folder.with_name(f".{self.folder.name}.{os.getpid()}")
        os.replace(self.folder, doomed)  # at once, or a kill in between would leave a part of the parts
        shutil.rmtree(doomed, ignore_errors=True)

    def _lock(self) -> None:
        """Keep other processes from writing the same run."""
        try:
            self.folder.mkdir(exist_ok=True)
            self.lock = (self.folder / "lock").open("ab")
            import fcntl

            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            return
        except BlockingIOError:
            mend = f'Wait for it, or write another: out="{self.path.stem}2.h5".'
            raise InputError("out", self.path, "a run that no other process is writing", mend) from None
        except OSError as error:
            raise InputError("out", self.path, "a file that can be written", unwritable(self.path, error)) from None

    def _full(self, error: OSError) -> InputError:
        why, room = storage.reason(error), f"make room (df -h {self.path.parent})"
        mend = f"What was written up to here is in {self.folder}: {room}, then --resume, resume=True. ({why})"
        return InputError("out", self.path, "a place with room for the run", mend)


def check_options(out: object, chunk: object, resume: object) -> None:
    """Raise InputError for a chunk that is no number of steps, chunk or resume without `out`, and no HDF5 ending."""
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1):
        raise InputError(
            "chunk", repr(chunk), "a number of steps >= 1, or None for a chunk every 5 s", "Write chunk=10000."
        )
    if out is None and (resume or chunk is not None):
        given = "resume" if resume else "chunk"
        raise InputError(given, "no out", f"{given} together with the file of the run", "Say out=... (--out).")
    if out is not None and not isinstance(out, str | os.PathLike):
        raise InputError("out", repr(out), "a path", 'Write out="run.h5".')
    if out is not None:
        storage.check_ending(Path(out))
