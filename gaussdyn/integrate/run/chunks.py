"""The pieces of a run on disk, found and put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import stacked
from ...errors import SceneError
from . import contact_history as contact_table
from . import hdf5 as storage
from .hdf5 import PARTS, PIECE
from .values import Column, StepTable

if TYPE_CHECKING:
    from .trajectory import Trajectory

BESIDE = ("t", "q", "v", "saved", "before_t", "before_q", "before_v")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """The chunks that count: their files in order, and the hash of the run file that they go on with, if any."""

    files: tuple[Path, ...] = ()
    follows: str = ""


def gathered(path: Path, of: type[Trajectory], *, finished: bool = True) -> tuple[Trajectory | None, Chunks]:
    """Return the run at `path`: the file, and the chunks that wait beside it; None if there is neither.

    Parameters
    ----------
    path : Path
    of : type
        What makes a run of its parts: `Trajectory`.
    finished : bool
        Take a file that has all that the chunks have for the finished run, from which they were not yet removed.

    Raises
    ------
    SceneError
        If a file is damaged or missing, or belongs to another run.
    """
    folder = path.with_name(path.name + PARTS)
    files = chunk_files(folder)
    if not files:
        return _read_file(path, of), Chunks()
    runs, follows = _read_chunks(files, of)
    base = _read_file(path, of) if follows or finished else None
    if base is not None and finished and base.state_hash == runs[-1].state_hash and _steps(base) == _steps(runs[-1]):
        return base, Chunks()
    if follows and (base is None or base.state_hash != follows):
        raise SceneError(
            str(path), "", f"the run that {folder.name} goes on with is not there: rm -r {folder}, and run again."
        )
    run = joined([base, *runs] if follows and base is not None else runs, str(folder))
    return run, Chunks(files=tuple(files), follows=follows)


def _read_file(path: Path, of: type[Trajectory]) -> Trajectory | None:
    return storage.read(path, of)[0] if path.is_file() else None


def _read_chunks(files: Sequence[Path], of: type[Trajectory]) -> tuple[list[Trajectory], str]:
    """Return the chunks, and the hash of the run that they all go on with ("": they begin one)."""
    read = [storage.read(file, of, PIECE) for file in files]
    follows = {str(marks.get("follows", "")) for _, marks in read}
    if len(follows) > 1:
        folder = files[0].parent
        raise SceneError(str(folder), "", f"it holds chunks of different runs: rm -r {folder}, and run again.")
    return [run for run, _ in read], follows.pop()


def joined(runs: Sequence[Trajectory], name: str = "run") -> Trajectory:
    """Return stretches of one run as one; states that only ended a stretch are dropped.

    Raises
    ------
    SceneError
        If one is missing.
    """
    _check_whole(runs, name)
    last = runs[-1]
    stretches = [_on_grid(run) for run in runs[:-1]] + [last]
    return replace(
        last,
        **stacked(stretches, BESIDE),
        columns=_joined_columns(stretches),
        steps=StepTable(**stacked([run.steps for run in runs], storage.STEPS)),
        table=contact_table.joined([run.table for run in stretches if run.table is not None]),
        events=tuple(chain.from_iterable(run.events for run in runs)),
        certificates=tuple(chain.from_iterable(run.certificates for run in runs)),
        impacts=tuple(chain.from_iterable(run.impacts for run in stretches)),
        evidence={step: one for run in stretches for step, one in run.evidence.items()},
    )


def _joined_columns(runs: Sequence[Trajectory]) -> dict[str, Column]:
    """Return the columns of the last stretch that all know, with their values in all of them."""
    return {
        name: replace(column, values=np.concatenate([run[_known(run, name, column)] for run in runs]))
        for name, column in runs[-1].columns.items()
        if all(_known(run, name, column) for run in runs)
    }


def _check_whole(runs: Sequence[Trajectory], name: str) -> None:
    """Refuse stretches of which one is missing: each counts the steps of the run up to its end."""
    ends = [_steps(run) for run in runs]
    for before, run, end in zip([0, *ends], runs, ends, strict=False):
        if len(run.steps.t) != end - before:
            mend = "a chunk is missing or damaged: gaussdyn run SCENE --out run.h5 makes it again."
            raise SceneError(name, f"step {before + 1}", mend)


def _known(run: Trajectory, name: str, column: Column) -> str:
    """Return what a stretch calls a column: one of an earlier version has it by its other name, or not at all ("")."""
    return next((one for one in (name, column.also) if one in run), "")


def _on_grid(run: Trajectory) -> Trajectory:
    """Return a run without its last state if that was saved only because it was the last."""
    every = int(run.settings.get("save", 1))
    if not len(run) or run.saved[-1] % every == 0:
        return run
    n = len(run) - 1
    columns = {name: replace(column, values=column.values[:n]) for name, column in run.columns.items()}
    cut = {name: getattr(run, name)[:n] for name in BESIDE}
    table = None if run.table is None else run.table.take(slice(0, n))
    impacts = tuple(strike for strike in run.impacts if strike.step != run.saved[n])
    evidence = {step: one for step, one in run.evidence.items() if step != run.saved[n]}
    return replace(run, **cut, columns=columns, table=table, impacts=impacts, evidence=evidence)


def _steps(run: Trajectory) -> int:
    return int(run.statistics["steps"] or 0)


def chunk_files(folder: Path) -> list[Path]:
    """Return the chunks in a folder in order; a gap in their numbers shows when they are joined."""
    return sorted(folder.glob("[0-9]*.h5"))


def load(path: Path, of: type[Trajectory]) -> Trajectory:
    """Read the run in `path`; see `Trajectory.load`."""
    if path.is_dir():
        raise SceneError(str(path), "", f"this is a folder, a run is one file: ls {path}/*.h5")
    found, _ = gathered(path, of)
    if found is None:
        raise SceneError(
            str(path), "", f"no such file; gaussdyn run SCENE --out {path} or run.save({path.name!r}) writes one."
        )
    return found
