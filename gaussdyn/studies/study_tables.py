"""Results of a study as tables of pandas and arrays of xarray."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BackendMissing

if TYPE_CHECKING:
    from .study_results import Study

TOLD = ("status", "outcome", "reason", "t")


def axes_of_grid(found: Study) -> dict[str, Any]:
    """Return the axes of a grid whose runs are all there, by name, each of shape (n,); empty for other studies."""
    said = found.settings.get("parameters", {})
    if said.get("kind") != "grid":
        return {}
    columns = dict(found.parameters)
    shape = tuple(said["axes"][name]["count"] for name in columns)
    if len(found) != math.prod(shape):
        return {}
    return {name: np.moveaxis(x.reshape(shape), k, 0).reshape(shape[k], -1)[:, 0]
            for k, (name, x) in enumerate(columns.items())}  # fmt: skip


def to_dataframe(found: Study) -> Any:
    """Return one row per run: parameters, what was measured (entries of arrays as name[0], name[1], ...), statuses.

    Raises
    ------
    BackendMissing
        pandas is not installed.
    """
    try:
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise BackendMissing("pandas", "data") from None
    columns = dict(found.parameters)
    for name, x in found.values.items():
        if x.ndim == 1:
            columns[name] = x
        else:
            columns |= {f"{name}{list(at)}": x[(slice(None), *at)] for at in np.ndindex(x.shape[1:])}
    return pandas.DataFrame(columns | {name: getattr(found, name) for name in TOLD})


def to_xarray(found: Study) -> Any:
    """Return a Dataset: a grid has its axes as dimensions, other studies have the dimension "run".

    Raises
    ------
    BackendMissing
        xarray is not installed.
    """
    try:
        import xarray  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise BackendMissing("xarray", "data") from None
    axes = axes_of_grid(found)
    coordinates = axes or {name: ("run", x) for name, x in found.parameters.items()}
    dimensions, shape = (tuple(axes) or ("run",)), tuple(map(len, axes.values())) or (len(found),)
    data = {}
    for name, x in {**found.values, **{name: getattr(found, name) for name in TOLD}}.items():
        inner = tuple(f"{name}_{k}" for k in range(x.ndim - 1))
        data[name] = (dimensions + inner, x.reshape(shape + x.shape[1:]))
    return xarray.Dataset(data, coords=coordinates)
