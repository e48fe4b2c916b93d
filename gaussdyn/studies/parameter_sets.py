"""What the runs of a study differ in: a grid, or a list of cases. Every run is addressed by its index alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._show import brief
from ..errors import InputError

Number = int | float
MOST_RUNS = 2**40
MEND = 'Write e.g. Grid({"mu": [0.1, 0.2, 0.3]}).'


@runtime_checkable
class ParameterSet(Protocol):
    """Parameters of all runs of a study: those of run k are a function of k alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    def __len__(self) -> int:
        """Return the number of runs."""

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1: an array of shape (stop - start,) for every name."""

    def settings(self) -> dict[str, Any]:
        """Return what the set is, as JSON knows it: two sets with the same settings are the same."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the values of some parameters; the last one varies first.

    Parameters
    ----------
    axes : mapping of str to Array, shapes (n_1,), (n_2,), ...
        Values of every parameter, in its SI unit; whole numbers stay whole. The study has n_1 n_2 ... runs.

    Raises
    ------
    InputError
        No axis, an empty one, one that is no vector of finite numbers, or 2^40 runs and more.

    Examples
    --------
    >>> from gaussdyn.studies import Grid
    >>> grid = Grid({"mu": [0.1, 0.2], "slope": [0.3, 0.4, 0.5]})
    >>> len(grid), at(grid, 4)
    (6, {'mu': 0.2, 'slope': 0.4})
    """

    axes: Mapping[str, Any]

    __repr__ = brief

    def __post_init__(self) -> None:
        checked = {name: numbers_of(name, values) for name, values in named("axes", self.axes).items()}
        runs = math.prod(len(values) for values in checked.values())
        if runs >= MOST_RUNS:
            raise InputError(
                "axes",
                f"{runs} combinations",
                f"fewer than {MOST_RUNS}",
                'Draw samples: Sobol({"mu": (0.1, 0.9)}, count=1024).',
            )
        object.__setattr__(self, "axes", checked)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of every parameter."""
        return tuple(len(values) for values in self.axes.values())

    def __len__(self) -> int:
        """Return the number of runs."""
        return math.prod(self.shape)

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        at = np.unravel_index(np.arange(start, stop), self.shape)
        return {name: values[k] for (name, values), k in zip(self.axes.items(), at, strict=True)}

    def settings(self) -> dict[str, Any]:
        """Return the axes: their ends, lengths and a hash over all values."""
        return {"kind": "grid", "axes": {name: _digest(values) for name, values in self.axes.items()}}


@dataclass(frozen=True, slots=True)
class Cases:
    """Runs given one by one.

    Parameters
    ----------
    cases : sequence of mappings of str to number
        Parameters of every run, in SI units; all have the same names.

    Raises
    ------
    InputError
        No case, cases with different names, values that are no finite numbers.

    Examples
    --------
    >>> from gaussdyn.studies import Cases
    >>> len(Cases([{"mu": 0.1, "v0": 1.0}, {"mu": 0.2, "v0": 0.5}]))
    2
    """

    cases: Sequence[Mapping[str, Number]]
    _columns: Mapping[str, Any] = field(init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        if isinstance(self.cases, str | Mapping) or not isinstance(self.cases, Sequence) or not self.cases:
            raise InputError("cases", repr(self.cases), "a list of mappings, at least one", 'E.g. [{"mu": 0.1}].')
        first = named("cases[0]", self.cases[0])
        for k, case in enumerate(self.cases):
            if not isinstance(case, Mapping) or set(case) != set(first):
                given = ", ".join(map(str, case)) if isinstance(case, Mapping) else repr(case)
                raise InputError(
                    f"cases[{k}]",
                    given,
                    f"the names of the first case: {', '.join(first)}",
                    f"Write {{{', '.join(f'{one!r}: ...' for one in first)}}}.",
                )
        columns = {name: numbers_of(name, [case[name] for case in self.cases]) for name in first}
        object.__setattr__(self, "_columns", columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self._columns)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.cases)

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        return {name: values[start:stop] for name, values in self._columns.items()}

    def settings(self) -> dict[str, Any]:
        """Return the columns: their ends, lengths and a hash over all values."""
        return {"kind": "cases", "columns": {name: _digest(values) for name, values in self._columns.items()}}


def parameter_set(given: object) -> ParameterSet:
    """Return the parameters of a study; a mapping is a grid, a list of mappings are cases.

    Raises
    ------
    InputError
        Neither of them.
    """
    if isinstance(given, ParameterSet) and not isinstance(given, type):
        return given
    if isinstance(given, Mapping):
        return Grid(given)
    if isinstance(given, list | tuple):
        return Cases(given)
    allowed = "Grid, Cases, Sobol, Uniform or Normal of gaussdyn.studies, a mapping (a grid), or a list of mappings"
    raise InputError("parameters", repr(given), allowed, MEND)


def at(parameters: ParameterSet, index: int) -> dict[str, Number]:
    """Return the parameters of one run as Python numbers."""
    return row(parameters.columns(index, index + 1), 0)


def row(columns: Mapping[str, Any], k: int) -> dict[str, Number]:
    """Return entry k of some columns as Python numbers."""
    return {name: values[k].item() for name, values in columns.items()}


def named(name: str, given: object) -> Mapping[str, Any]:
    """Return a mapping whose keys are names of parameters.

    Raises
    ------
    InputError
        No mapping, an empty one, or keys that are no names.
    """
    if not isinstance(given, Mapping) or not given:
        raise InputError(name, repr(given), "a mapping with the name of at least one parameter", MEND)
    for key in given:
        if not isinstance(key, str) or not key or "/" in key:
            raise InputError(
                name,
                f"the key {key!r}",
                "names of parameters: text without /",
                f"Write {{{str(key).replace('/', '_')!r}: [0.1, 0.2]}}.",
            )
    return given


def numbers_of(name: str, values: Any) -> Any:
    """Return a vector of finite float64 or int64, shape (n,), n >= 1, that nobody can change.

    Raises
    ------
    InputError
        Something else.
    """
    allowed = "a vector of finite numbers, at least one"
    try:
        given = np.atleast_1d(np.asarray(values))
    except (TypeError, ValueError) as error:
        raise InputError(name, repr(values), allowed, f"({error}) {MEND}") from None
    if given.dtype.kind not in "iuf" or given.ndim != 1 or not given.size:
        raise InputError(name, repr(values), allowed, MEND)
    x = given.astype(np.float64 if given.dtype.kind == "f" else np.int64)
    if not np.isfinite(x).all():
        k = int(np.flatnonzero(~np.isfinite(x))[0])
        raise InputError(name, f"{x[k]} at index {k}", allowed, f"Write {name}=[0.1, 0.2].")
    x.flags.writeable = False
    return x


def _digest(values: Any) -> dict[str, Any]:
    """Return in short what values are, so that other ones are known as others."""
    sha = hashlib.sha256(json.dumps(values.tolist()).encode()).hexdigest()
    return {"from": values[0].item(), "to": values[-1].item(), "count": len(values), "sha256": sha}
