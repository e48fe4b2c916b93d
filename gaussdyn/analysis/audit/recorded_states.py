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

    __repr__ = brief

    def __post_init__(self) -> None:
        n = len(self.t) if np.ndim(self.t) == 1 else 0
        for name, x in (("q", self.q), ("v", self.v)):
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
            t, q, v = (np.asarray(values(file[name]), dtype=np.float64) for name in "tqv")
            return RecordedStates(
                scene=str(file.attrs["scene"]),
                params=json.loads(file.attrs.get("params", "{}")),
                scheme=Scheme.of(json.loads(file.attrs.get("stepper", "{}"))),
                t=t, q=q, v=v, impulses=_impulses(file.get("contacts"), len(t)),
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


def _impulses(group: Any, n: int) -> tuple[dict[str, Array], ...]:
    """Return the impulses of every step from lines (state at its end, id, components)."""
    found: tuple[dict[str, Array], ...] = tuple({} for _ in range(n - 1))
    if group is None:
        return found
    state, ids, p = (values(group[name]) for name in ("state", "id", "impulse"))
    if not len(state) == len(ids) == len(p) or np.ndim(p) != 2:
        raise InputError(
            "contacts",
            f"{len(state)}, {len(ids)}, {np.shape(p)}",
            "a line of each for every impulse",
            "Write len(state) == len(ids) == len(p).",
        )
    for k, key, line in zip(state.tolist(), ids.tolist(), np.asarray(p, dtype=np.float64), strict=True):
        name = key.decode() if isinstance(key, bytes) else str(key)
        if not 1 <= k < n or name in found[k - 1]:
            raise InputError(
                "contacts/state",
                f"{k} for {name}",
                f"1 to {n - 1}, once for every id",
                f"Count from 0: state = numpy.arange(1, {n}).",
            )
        found[k - 1][name] = line
    return found
