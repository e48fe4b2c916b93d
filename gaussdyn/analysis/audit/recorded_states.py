"""States and impulses on record, of whatever engine: the least that an audit needs, and the file that holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import hdf5, values
from ..._show import brief
from ...arrays import Array
from ...errors import InputError
from .recorded_scheme import Scheme

SCHEMA = "gaussdyn/states/1"
STATES = (
    ("t", 1, "times, s: (n,)"),
    ("q", 2, "coordinates: (n, nq)"),
    ("v", 2, "velocities: (n, nv)"),
)  # what a file holds: name, dimensions, words
CONTROL = ("control", 2, "what was told: (n, nu)")
IMPULSES = (("state", 1, "numbers of states: (m,)"), ("impulse", 2, "N s: (m, k)"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedStates:
    """A run by its states and the impulses between them.

    Attributes
    ----------
    scene : str
        What was run: a scene of the catalogue, with `params`.
    params : mapping of str to float
    scheme : Scheme
        Where the steps evaluate what.
    t, q, v : Array, shapes (n,), (n, nq), (n, nv)
        The states, s and SI.
    impulses : tuple of mappings of str to Array
        Of every step, n - 1 of them: N s by row id, in the order N, T1, T2.
    control : Array or None, shape (n, nu)
        What was held during the step that ended in each state, as `System.force` takes it (the first line is of none);
        None: nothing was told.

    Raises
    ------
    InputError
        Shapes that do not fit together, numbers that are not finite, times that do not rise.
    """

    scene: str
    params: Mapping[str, float]
    scheme: Scheme
    t: Array
    q: Array
    v: Array
    impulses: tuple[Mapping[str, Array], ...]
    control: Array | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        n = len(self.t) if np.ndim(self.t) == 1 else 0
        told = [] if self.control is None else [("control", self.control)]
        for name, x in (("q", self.q), ("v", self.v), *told):
            if np.ndim(x) != 2 or len(x) != n:
                raise InputError(
                    name,
                    f"shape {np.shape(x)}",
                    f"a row for each of {n} times",
                    f"Write numpy.reshape({name}, ({n}, -1)).",
                )
        if n < 2 or len(self.impulses) != n - 1:
            raise InputError(
                "t",
                f"{n} times, {len(self.impulses)} steps",
                "at least two times, a step between each two",
                "Record the start and every step: t[0], ..., t[n].",
            )
        if not all(np.isfinite(x).all() for x in (self.t, self.q, self.v)) or (np.diff(self.t) <= 0.0).any():
            raise InputError(
                "t, q, v",
                "numbers that are not finite, or times that do not rise",
                "states in their order",
                "Write order = numpy.argsort(t); t, q, v = t[order], q[order], v[order].",
            )

    @staticmethod
    def load(path: str | Path) -> RecordedStates:
        """Read a file with the schema ``gaussdyn/states/1``, see docs/formats.md.

        Raises
        ------
        SceneError
            The file is missing, truncated or foreign; names the entry at fault.
        """
        with hdf5(path) as file:
            if (given := str(file.attrs.get("schema", ""))) != SCHEMA:
                raise InputError("schema", repr(given), repr(SCHEMA), f"Write schema={SCHEMA!r}.")
            if "scene" not in file.attrs:
                raise InputError("scene", "nothing", "a name that `gaussdyn scenes` lists", 'file.attrs["scene"] = ..')
            t, q, v = (_numbers(file, name, dim, holds) for name, dim, holds in STATES)
            return RecordedStates(
                scene=str(file.attrs["scene"]),
                params=_document(file, "params"),
                scheme=Scheme.of(_document(file, "stepper")),
                t=t, q=q, v=v, impulses=_impulses(file.get("contacts"), len(t)),
                control=_numbers(file, *CONTROL) if "control" in file else None,
            )  # fmt: skip


def holds_states(path: str | Path) -> bool:
    """Return whether a file holds recorded states, and not a run of this package.

    Raises
    ------
    SceneError
        It is missing or no HDF5 file.
    """
    with hdf5(path) as file:
        return str(file.attrs.get("schema", "")).startswith("gaussdyn/states/")


def _document(file: Any, name: str) -> dict[str, Any]:
    """Return an attribute that holds a JSON object; none is an empty one."""
    text = file.attrs.get(name, "{}")
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise InputError(name, repr(text), "a JSON object", f"file.attrs[{name!r}] = json.dumps(dict(..))")
    return found


def _entry(group: Any, name: str, holds: str) -> Any:
    """Return the values of a data set, or say what it should hold."""
    where = f"{group.name.strip('/')}/{name}".lstrip("/")
    mend = f"file[{where!r}] = numpy.asarray(..)"
    if name not in group:
        raise InputError(where, f"no such data set among {', '.join(sorted(group)) or 'none'}", holds, mend)
    if not hasattr(group[name], "shape"):
        raise InputError(where, "a group", holds, mend)
    return values(group[name])


def _numbers(group: Any, name: str, dim: int, holds: str) -> Array:
    """Return a data set of finite numbers with so many dimensions."""
    given = np.asarray(_entry(group, name, holds))
    where = f"{group.name.strip('/')}/{name}".lstrip("/")
    if given.dtype.kind not in "iuf" or given.ndim != dim or not np.isfinite(given).all():
        finite = given.dtype.kind != "f" or np.isfinite(given).all()
        fault = f"{given.dtype} of shape {given.shape}" + ("" if finite else ", not all finite")
        raise InputError(where, fault, holds, f"file[{where!r}] = numpy.asarray(.., dtype=float)")
    return np.asarray(given, dtype=np.float64)


def _impulses(group: Any, n: int) -> tuple[dict[str, Array], ...]:
    """Return the impulses of every step from lines (state at its end, id, components)."""
    found: tuple[dict[str, Array], ...] = tuple({} for _ in range(n - 1))
    if group is None:
        return found
    if not hasattr(group, "keys"):
        mend = 'contacts = file.create_group("contacts"), then contacts["id"], ["state"], ["impulse"] = ..'
        raise InputError("contacts", "a data set", "a group with id, state and impulse", mend)
    state, p = (_numbers(group, name, dim, holds) for name, dim, holds in IMPULSES)
    ids = np.asarray(_entry(group, "id", "ids of rows, (m,)"))
    if not len(state) == len(ids) == len(p) or ids.ndim != 1:
        raise InputError(
            "contacts",
            f"{len(state)}, {len(ids)}, {np.shape(p)}",
            "a line of each for every impulse",
            "Write len(state) == len(ids) == len(p).",
        )
    for at, key, line in zip(state.tolist(), ids.tolist(), p, strict=True):
        name, k = key.decode() if isinstance(key, bytes) else str(key), int(at)
        if k != at or not 1 <= k < n or name in found[k - 1]:
            raise InputError(
                "contacts/state",
                f"{at:g} for {name}",
                f"1 to {n - 1}, once for every id",
                f"Count from 0: state = numpy.arange(1, {n}).",
            )
        found[k - 1][name] = line
    return found
