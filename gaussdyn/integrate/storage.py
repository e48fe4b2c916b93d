"""A run as one HDF5 file: columns, states, steps, events; written beside its place and renamed at the end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, SceneError
from ..mechanics.state import State
from .trajectory import Column, Event, StepTable, Stop, Text, Trajectory

SCHEMA = "gaussdyn/run/1"
STATE = ("t", "q", "v", "saved", "before_t", "before_q", "before_v")
DOCUMENTS = ("settings", "versions", "statistics", "seed", "rows")
STEPS = ("t", "dt", "status", "E", "outcome")


def save(run: Trajectory, path: Path) -> Path:
    """Write `run` to `path`; see `Trajectory.save`."""
    import h5py

    check_replaceable(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with h5py.File(draft, "w") as file:
            _write(file, run)
        os.replace(draft, path)
    except OSError as error:
        mend = "Choose a folder that exists and can be written."
        raise InputError("path", path, "a file that can be written", f"{mend} ({_reason(error)})") from None
    finally:
        draft.unlink(missing_ok=True) if draft.parent.is_dir() else None
    return path


def load(path: Path) -> Trajectory:
    """Read the run in `path`; see `Trajectory.load`."""
    import h5py

    if not path.is_file():
        raise SceneError(str(path), "", "no such file; a run is written with --out or Trajectory.save.")
    try:
        with h5py.File(path, "r") as file:
            _check_schema(path, str(file.attrs.get("schema", "")))
            return _read(file)
    except KeyError as error:
        raise SceneError(str(path), str(error.args[0]), "the entry is missing; the file is damaged.") from None
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        if isinstance(error, InputError):
            raise SceneError(str(path), "", f"the file is damaged: {error}") from None
        raise SceneError(str(path), "", f"not a readable HDF5 file ({_reason(error)}).") from None


def check_replaceable(path: Path) -> None:
    """Refuse to overwrite what is not a run of ours."""
    import h5py

    if path.is_dir():
        raise InputError("path", path, "a file name", "This is a folder.")
    if not path.exists():
        return
    try:
        with h5py.File(path, "r") as file:
            ours = str(file.attrs.get("schema", "")).startswith("gaussdyn/run/")
    except OSError:
        ours = False
    if not ours:
        raise InputError("path", path, "a new file, or an older run", "It holds something else: choose another name.")


def _check_schema(path: Path, schema: str) -> None:
    if schema == SCHEMA:
        return
    if not schema.startswith("gaussdyn/run/"):
        raise SceneError(str(path), "schema", "not a run of gaussdyn.")
    raise SceneError(str(path), "schema", f"version {schema} is not known; this package reads {SCHEMA}.")


def _write(file: Any, run: Trajectory) -> None:
    file.attrs["schema"] = SCHEMA
    file.attrs["scene"], file.attrs["status"] = run.scene, run.status
    file.attrs["state_hash"] = run.state_hash
    stop = None if run.stop is None else {"t": run.stop.t, "reason": run.stop.reason}
    for name in DOCUMENTS:
        file.attrs[name] = json.dumps(getattr(run, name), default=_plain, allow_nan=False)
    file.attrs["stop"] = json.dumps(stop)
    for k, (name, column) in enumerate(run.columns.items()):
        data = file.create_dataset(f"columns/{name}", data=column.values)
        data.attrs["unit"], data.attrs["order"] = column.unit, k
    for name in STATE:
        file[f"state/{name}"] = getattr(run, name)
    for name in STEPS:
        file[f"steps/{name}"] = _bytes(getattr(run.steps, name))
    file["events/t"] = np.array([event.t for event in run.events], dtype=np.float64)
    for name in ("kind", "id"):
        file[f"events/{name}"] = _bytes(np.array([getattr(event, name) for event in run.events], dtype=np.str_))
    _write_final(file.create_group("final"), run.final)


def _write_final(group: Any, final: State) -> None:
    """Write the last state with its memory; ids hold slashes, so they are attributes and not names."""
    group["t"], group["q"], group["v"] = final.t, final.q, final.v
    for k, (key, value) in enumerate(final.memory.items()):
        group[f"memory/{k}"] = value
        group[f"memory/{k}"].attrs["id"] = key


def _read(file: Any) -> Trajectory:
    stop = json.loads(file.attrs["stop"])
    events = zip(file["events/t"][()], _text(file["events/kind"]), _text(file["events/id"]), strict=True)
    return Trajectory(
        scene=str(file.attrs["scene"]),
        status=str(file.attrs["status"]),
        stop=None if stop is None else Stop(**stop),
        steps=StepTable(**{name: _any(file[f"steps/{name}"]) for name in STEPS}),
        columns=_columns(file["columns"]),
        events=tuple(Event(t=float(t), kind=str(kind), id=str(key)) for t, kind, key in events),
        final=_read_final(file["final"]),
        state_hash=str(file.attrs["state_hash"]),
        **{name: file[f"state/{name}"][()] for name in STATE},
        **{name: json.loads(file.attrs[name]) for name in DOCUMENTS},
    )


def _columns(group: Any) -> dict[str, Column]:
    found: dict[str, tuple[int, Column]] = {}

    def visit(name: str, item: Any) -> None:
        """Keep the datasets that are columns."""
        if "unit" in item.attrs:
            values: Array = item[()]
            found[name] = int(item.attrs["order"]), Column(unit=str(item.attrs["unit"]), values=values)

    group.visititems(visit)
    return {name: column for name, (_, column) in sorted(found.items(), key=lambda pair: pair[1][0])}


def _read_final(group: Any) -> State:
    memory = group.get("memory", {})
    entries = {str(memory[k].attrs["id"]): memory[k][()] for k in sorted(memory, key=int)}
    return State(t=float(group["t"][()]), q=group["q"][()], v=group["v"][()], memory=entries)


def _bytes(values: Any) -> Any:
    """Return text as fixed-length UTF-8, which every HDF5 reader knows; numbers as they are."""
    return np.char.encode(values, "utf-8") if values.dtype.kind == "U" and values.size else _empty(values)


def _empty(values: Any) -> Any:
    return values.astype("S1") if values.dtype.kind == "U" else values


def _text(dataset: Any) -> Text:
    values = dataset[()]
    return np.char.decode(values, "utf-8") if values.size else np.zeros(0, dtype=np.str_)


def _any(dataset: Any) -> Any:
    return _text(dataset) if dataset.dtype.kind == "S" else dataset[()]


def _plain(value: Any) -> Any:
    """Return an array, a numpy number or a mapping as JSON knows them; anything else by its repr."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if hasattr(value, "items") else repr(value)


def _reason(error: Exception) -> str:
    return str(error).split("\n")[0][:160]
