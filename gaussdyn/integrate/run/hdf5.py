"""A run as one HDF5 file: columns, states, steps, events; written beside its place and renamed at the end."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._files import hdf5, seal, unwritable, values
from ...errors import InputError, SceneError
from ...mechanics.state import State
from ..impact import history as impacts
from . import step_evidence
from .certificate_log import Proof
from .contact_history import LINES, ContactTable
from .run_check import check_run
from .values import Column, Event, StepTable, Stop, Text

if TYPE_CHECKING:
    from .trajectory import Trajectory

SCHEMA = "gaussdyn/run/1"
PIECE = "gaussdyn/run-piece/1"
ENDINGS = (".h5", ".hdf5", ".hdf")
PARTS = ".parts"  # ending of the folder in which a run waits while it is going on
LONG = 4096  # entries of a text table from which it is compressed
STATE = ("t", "q", "v", "saved", "before_t", "before_q", "before_v")
DOCUMENTS = ("settings", "versions", "statistics", "seed", "rows")
STEPS = ("t", "dt", "status", "E", "outcome", "friction_margin", "restitution", "events")


def save(run: Trajectory, path: Path) -> Path:
    """Write `run` to `path`; see `Trajectory.save`."""
    check_replaceable(path)
    try:
        write(run, path)
    except OSError as error:
        raise InputError("path", path, "a file that can be written", unwritable(path, error)) from None
    return path


def write(run: Trajectory, path: Path) -> None:
    """Write a run beside its place and rename it, so that the file is always whole.

    Raises
    ------
    OSError
        No room, no rights.
    """
    image = _image(run, _write_columns, SCHEMA)
    place(path, image, seal(image))


def packed(run: Trajectory, **marks: str) -> memoryview:
    """Return a piece of a run as the bytes of a small HDF5 file, all columns as one matrix.

    Parameters
    ----------
    marks : str
        Further attributes.
    """
    return _image(run, _write_matrix, PIECE, **marks)


def place(path: Path, data: memoryview, end: bytes = b"") -> None:
    """Write a whole file or nothing, `data` and `end`, and have it on the disk before it counts.

    Raises
    ------
    OSError
        No room, no rights.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.write(end)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True) if draft.parent.is_dir() else None


def _image(run: Trajectory, columns: Callable[[Any, Trajectory], None], schema: str, **marks: str) -> memoryview:
    """Return a file as bytes: on a full disk the HDF5 library itself would end the process."""
    import h5py

    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        _write(file, run)
        file.attrs["schema"] = schema
        file.attrs.update(marks)
        columns(file, run)
    return image.getbuffer()


def read(path: Path, of: type[Trajectory], schema: str = SCHEMA) -> tuple[Trajectory, dict[str, str]]:
    """Return the run in one file, as what `of` makes of its parts, and the attributes of the file.

    Raises
    ------
    SceneError
        If the file is truncated or foreign; names the entry at fault.
    """
    with hdf5(path) as file:
        _check_schema(path, str(file.attrs.get("schema", "")), schema)
        run = _read(file, of)
        check_run(run, whole=schema == SCHEMA)
        return run, {name: str(value) for name, value in file.attrs.items()}


def check_replaceable(path: Path) -> None:
    """Refuse names that are none of an HDF5 file, and to overwrite what is not a run of ours."""
    check_ending(path)
    if path.is_dir():
        raise InputError("path", path, "a file name", f'This is a folder: write "{path}/run.h5".')
    if any(path.with_name(path.name + PARTS).glob("[0-9]*.h5")):
        mend = f"Go on with resume (--resume), or remove {path.name}{PARTS} to give it up."
        raise InputError("path", path, "a place where no interrupted run waits", mend)
    if not path.exists():
        return
    try:
        with hdf5(path) as file:
            ours = str(file.attrs.get("schema", "")).startswith("gaussdyn/run/")
    except SceneError:
        ours = False
    if not ours:
        raise InputError("path", path, "a new file, or an older run", 'It holds something else: write out="other.h5".')


def check_ending(path: Path) -> None:
    """Raise InputError unless the ending of a path is one of HDF5 files; says how tables are written."""
    if path.suffix.lower() not in ENDINGS and not path.is_dir():
        table = 'Tables: run.to_dataframe().to_csv("run.csv"). ' if path.suffix.lower() in (".csv", ".xlsx") else ""
        drawn = 'Pictures and pages: gaussdyn.plot(run, path="run.html").'
        raise InputError("path", path, f"a file ending in {', '.join(ENDINGS)}", table + drawn)


def _check_schema(path: Path, schema: str, wanted: str) -> None:
    if schema == wanted:
        return
    if not schema.startswith("gaussdyn/run"):
        raise SceneError(
            str(path), "schema", "not a run of gaussdyn: those are written by gaussdyn run SCENE --out run.h5."
        )
    raise SceneError(
        str(path),
        "schema",
        f"version {schema} is not known; this package reads {wanted}: pip install --upgrade gaussdyn",
    )


def _write(file: Any, run: Trajectory) -> None:
    file.attrs["scene"], file.attrs["status"] = run.scene, run.status
    file.attrs["state_hash"] = run.state_hash
    stop = None if run.stop is None else {"t": run.stop.t, "reason": run.stop.reason}
    for name in DOCUMENTS:
        file.attrs[name] = json.dumps(getattr(run, name), default=plain, allow_nan=False)
    file.attrs["stop"] = json.dumps(stop)
    file.attrs["running"] = json.dumps(run.running, default=plain)  # Infinity may be among the maxima
    for name in STATE:
        file[f"state/{name}"] = getattr(run, name)
    for name in STEPS:
        _put(file, f"steps/{name}", getattr(run.steps, name))
    file["events/t"] = np.array([event.t for event in run.events], dtype=np.float64)
    for name in ("kind", "id"):
        _put(file, f"events/{name}", np.array([getattr(event, name) for event in run.events], dtype=np.str_))
    for name, numbers in impacts.as_arrays(run.impacts).items():
        _put(file, f"impacts/{name}", numbers)
    for name, numbers in step_evidence.as_arrays(run.evidence).items() if run.evidence else ():
        _put(file, f"evidence/{name}", numbers)
    _write_certificates(file.create_group("certificates"), run.certificates)
    if run.table is not None:
        _write_contacts(file.create_group("contacts"), run.table)
    _write_final(file.create_group("final"), run.final)


def _write_certificates(group: Any, proofs: Sequence[Proof]) -> None:
    for k, proof in enumerate(proofs):
        group[f"{k:06d}"] = proof.document
        group[f"{k:06d}"].attrs.update(t=proof.t, outcome=proof.outcome)


def _write_contacts(group: Any, table: ContactTable) -> None:
    for name in ("offsets", *LINES):
        _put(group, name, getattr(table, name))
    _put(group, "ids", np.array(table.ids, dtype=np.str_))
    _put(group, "bodies", np.array(table.bodies, dtype=np.str_).reshape(-1, 2))


def _write_columns(file: Any, run: Trajectory) -> None:
    for k, (name, column) in enumerate(run.columns.items()):
        data = file.create_dataset(f"columns/{name}", data=column.values)
        data.attrs["unit"], data.attrs["order"] = column.unit, k
        if column.also:
            data.attrs["also"] = column.also
        if column.partial:
            data.attrs["partial"] = True


def _write_matrix(file: Any, run: Trajectory) -> None:
    table = [column.values for column in run.columns.values()]
    file["columns/values"] = np.column_stack(table) if table else np.zeros((len(run), 0))
    file["columns"].attrs["units"] = json.dumps({name: column.unit for name, column in run.columns.items()})
    file["columns"].attrs["also"] = json.dumps({name: column.also for name, column in run.columns.items()})


def _put(group: Any, name: str, x: Any) -> None:
    """Write an array; long tables of words are compressed, since they repeat themselves."""
    small = x.dtype.kind != "U" or len(x) < LONG
    group.create_dataset(name, data=_bytes(x), **({} if small else {"compression": "gzip", "shuffle": True}))


def _write_final(group: Any, final: State) -> None:
    """Write the last state with its memory, in its order."""
    group["t"], group["q"], group["v"] = final.t, final.q, final.v
    _put(group, "memory/ids", np.array(list(final.memory), dtype=np.str_))
    group["memory/sizes"] = np.array([len(value) for value in final.memory.values()], dtype=np.int64)
    group["memory/values"] = np.concatenate([np.zeros(0), *final.memory.values()])


def _read(file: Any, of: type[Trajectory]) -> Trajectory:
    stop = json.loads(file.attrs["stop"])
    events = zip(values(file["events/t"]), _text(file["events/kind"]), _text(file["events/id"]), strict=True)
    return of(
        scene=str(file.attrs["scene"]),
        status=str(file.attrs["status"]),
        stop=None if stop is None else Stop(**stop),
        steps=StepTable(
            **{name: _any(file[f"steps/{name}"]) for name in STEPS if name in file["steps"] or name != "events"}
        ),
        columns=_matrix(file["columns"]) if "units" in file["columns"].attrs else _columns(file["columns"]),
        table=_read_contacts(file["contacts"]),
        running=json.loads(file.attrs["running"]),
        events=tuple(Event(t=float(t), kind=str(kind), id=str(key)) for t, kind, key in events),
        certificates=_read_proofs(file),
        impacts=impacts.of_arrays(found) if (found := _tables(file, "impacts")) else (),
        evidence=step_evidence.of_arrays(found) if (found := _tables(file, "evidence")) else {},
        final=_read_final(file["final"]),
        state_hash=str(file.attrs["state_hash"]),
        **{name: values(file[f"state/{name}"]) for name in STATE},
        **{name: json.loads(file.attrs[name]) for name in DOCUMENTS},
    )


def _columns(group: Any) -> dict[str, Column]:
    found: dict[str, tuple[int, Column]] = {}

    def visit(name: str, item: Any) -> None:
        """Keep the datasets that are columns."""
        if "unit" in item.attrs:
            also, partial = str(item.attrs.get("also", "")), bool(item.attrs.get("partial", False))
            column = Column(unit=str(item.attrs["unit"]), values=values(item), also=also, partial=partial)
            found[name] = int(item.attrs["order"]), column

    group.visititems(visit)
    return {name: column for name, (_, column) in sorted(found.items(), key=lambda pair: pair[1][0])}


def _matrix(group: Any) -> dict[str, Column]:
    """Return the columns of a piece."""
    table = values(group["values"])
    units, also = (json.loads(group.attrs.get(key, "{}")) for key in ("units", "also"))
    return {
        name: Column(unit=unit, values=np.ascontiguousarray(table[:, k]), also=also.get(name, ""))
        for k, (name, unit) in enumerate(units.items())
    }


def _read_proofs(file: Any) -> tuple[Proof, ...]:
    """Return the certificates in their order; older runs have none."""
    stored = file.get("certificates", {})
    return tuple(
        Proof(t=float(one.attrs["t"]), outcome=str(one.attrs["outcome"]), document=values(one).decode())
        for _, one in sorted(stored.items())
    )


def _tables(file: Any, name: str) -> dict[str, Any]:
    """Return the arrays of a group; older runs have none."""
    return {key: _any(one) for key, one in file.get(name, {}).items()}


def _read_contacts(group: Any) -> ContactTable:
    bodies = _text(group["bodies"]).reshape(-1, 2)
    return ContactTable(
        offsets=values(group["offsets"]),
        ids=tuple(_text(group["ids"]).tolist()),
        bodies=tuple((one, other) for one, other in bodies.tolist()),
        **{name: _any(group[name]) for name in LINES},
    )


def _read_final(group: Any) -> State:
    memory = group["memory"]
    ids, ends = _text(memory["ids"]).tolist(), np.cumsum(values(memory["sizes"]))
    numbers = values(memory["values"])
    if len(numbers) != (ends[-1] if len(ends) else 0):
        raise ValueError(f"{len(numbers)} numbers of memory in entries of {ends[-1] if len(ends) else 0}")
    parts = np.split(numbers, ends[:-1]) if ids else []
    entries = dict(zip(ids, parts, strict=True))
    return State(t=float(values(group["t"])), q=values(group["q"]), v=values(group["v"]), memory=entries)


def _bytes(values: Any) -> Any:
    """Return text as fixed-length UTF-8, which every HDF5 reader knows; numbers as they are."""
    return np.char.encode(values, "utf-8") if values.dtype.kind == "U" and values.size else _empty(values)


def _empty(values: Any) -> Any:
    return values.astype("S1") if values.dtype.kind == "U" else values


def _text(dataset: Any) -> Text:
    found = values(dataset)
    return np.char.decode(found, "utf-8") if found.size else np.zeros(0, dtype=np.str_)


def _any(dataset: Any) -> Any:
    return _text(dataset) if dataset.dtype.kind == "S" else values(dataset)


def plain(value: Any) -> Any:
    """Return an array, a numpy number or a mapping as JSON knows them; anything else by its repr."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if hasattr(value, "items") else repr(value)


def reason(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).split("\n")[0][:160]
