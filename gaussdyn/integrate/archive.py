"""A run on disk while it is going on: small whole files in a folder beside its place, joined at the end.

A file that is written when the process is killed is lost, HDF5 files above all. So nothing is ever appended: every
chunk is a file of its own, written beside its place and renamed, and each holds all that a resume needs.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, SceneError
from . import contact_table, storage
from .recorder import Recorder
from .storage import PARTS, PIECE
from .trajectory import Column, StepTable, Stop, Trajectory

SECONDS = 5.0  # of wall time between two chunks, unless steps are given
BESIDE = ("t", "q", "v", "saved", "before_t", "before_q", "before_v")


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
            storage.place(self.folder / f"{self.number:06d}.h5", storage.packed(piece, follows=self.follows))
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
        run, _ = gathered(self.path, finished=False)
        if run is None:
            raise SceneError(str(self.path), "", "its chunks are gone: somebody removed them during the run.")
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
            if self.folder.is_dir() and not _parts(self.folder):
                self._clear()
            self.lock.close()
            self.lock = None

    def _find_earlier(self) -> None:
        """Find the run to go on with; remove chunks that the run file has already."""
        self.earlier, counted = gathered(self.path)
        if self.earlier is not None:
            self.resumed = True
            self.follows = counted.follows if counted.files else self.earlier.state_hash
        self.number = len(counted.files)
        if not counted.files:
            for file in _parts(self.folder):
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
            mend = "Wait for it, or choose another name."
            raise InputError("out", self.path, "a run that no other process is writing", mend) from None
        except OSError as error:
            mend = f"Choose a folder that exists and can be written. ({storage.reason(error)})"
            raise InputError("out", self.path, "a file that can be written", mend) from None

    def _full(self, error: OSError) -> InputError:
        mend = f"What was written up to here is in {self.folder}: make room, then resume. ({storage.reason(error)})"
        return InputError("out", self.path, "a place with room for the run", mend)


def check_options(out: object, chunk: object, resume: object) -> None:
    """Raise InputError for a chunk that is no number of steps, and for chunk or resume without `out`."""
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1):
        raise InputError("chunk", repr(chunk), "a number of steps >= 1, or None for a chunk every 5 s")
    if out is None and (resume or chunk is not None):
        given = "resume" if resume else "chunk"
        raise InputError(given, "no out", f"{given} together with the file of the run", "Say out=... (--out).")
    if out is not None and not isinstance(out, str | os.PathLike):
        raise InputError("out", repr(out), "a path")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """The chunks that count: their files in order, and the hash of the run file that they go on with, if any."""

    files: tuple[Path, ...] = ()
    follows: str = ""


def gathered(path: Path, *, finished: bool = True) -> tuple[Trajectory | None, Chunks]:
    """Return the run at `path`: the file, and the chunks that wait beside it; None if there is neither.

    Parameters
    ----------
    path : Path
    finished : bool
        Take a file that has all that the chunks have for the finished run, from which they were not yet removed.

    Raises
    ------
    SceneError
        If a file is damaged or missing, or belongs to another run.
    """
    folder = path.with_name(path.name + PARTS)
    files = _parts(folder)
    if not files:
        return storage.read(path)[0] if path.is_file() else None, Chunks()
    read = [storage.read(file, PIECE) for file in files]
    runs, follows = [run for run, _ in read], read[0][1].get("follows", "")
    if any(marks.get("follows", "") != follows for _, marks in read):
        raise SceneError(str(folder), "", "it holds chunks of different runs.")
    base = storage.read(path)[0] if path.is_file() and (follows or finished) else None
    if base is not None and finished and base.state_hash == runs[-1].state_hash and _steps(base) == _steps(runs[-1]):
        return base, Chunks()
    if follows and (base is None or base.state_hash != follows):
        raise SceneError(str(path), "", f"the run that {folder.name} goes on with is not there.")
    run = joined([base, *runs] if follows and base is not None else runs, str(folder))
    return run, Chunks(files=tuple(files), follows=follows)


def joined(runs: Sequence[Trajectory], name: str = "run") -> Trajectory:
    """Return stretches of one run as one; states that only ended a stretch are dropped.

    Raises
    ------
    SceneError
        If one is missing.
    """
    ends = [_steps(run) for run in runs]
    for before, run, end in zip([0, *ends], runs, ends, strict=False):
        if len(run.steps.t) != end - before:
            raise SceneError(name, f"step {before + 1}", "a chunk is missing or damaged.")
    last = runs[-1]
    stretches = [_on_grid(run) for run in runs[:-1]] + [last]
    beside: dict[str, Any] = {name: np.concatenate([getattr(run, name) for run in stretches]) for name in BESIDE}
    columns = {
        name: Column(unit=column.unit, values=np.concatenate([run[name] for run in stretches]))
        for name, column in last.columns.items()
    }
    steps = {name: np.concatenate([getattr(run.steps, name) for run in runs]) for name in storage.STEPS}
    return replace(
        last,
        **beside,
        columns=columns,
        steps=StepTable(**steps),
        table=contact_table.joined([run.table for run in stretches if run.table is not None]),
        events=tuple(event for run in runs for event in run.events),
        certificates=tuple(proof for run in runs for proof in run.certificates),
        strikes=tuple(strike for run in stretches for strike in run.strikes),
        starts={step: start for run in stretches for step, start in run.starts.items()},
    )


def _on_grid(run: Trajectory) -> Trajectory:
    """Return a run without its last state if that was saved only because it was the last."""
    every = int(run.settings.get("save", 1))
    if not len(run) or run.saved[-1] % every == 0:
        return run
    n = len(run) - 1
    columns = {name: Column(unit=column.unit, values=column.values[:n]) for name, column in run.columns.items()}
    cut = {name: getattr(run, name)[:n] for name in BESIDE}
    table = None if run.table is None else run.table.take(slice(0, n))
    strikes = tuple(strike for strike in run.strikes if strike.step != run.saved[n])
    starts = {step: start for step, start in run.starts.items() if step != run.saved[n]}
    return replace(run, **cut, columns=columns, table=table, strikes=strikes, starts=starts)


def _steps(run: Trajectory) -> int:
    return int(run.statistics["steps"] or 0)


def _parts(folder: Path) -> list[Path]:
    """Return the chunks in a folder in order; a gap in their numbers shows when they are joined."""
    return sorted(folder.glob("[0-9]*.h5"))
