"""Studies: many runs of one template over its parameters: grids and samples, what a run is and keeps, reductions.

Names are imported when they are first used: parameters of a study are written down without loading any mechanics.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from .parameter_sets import Cases as Cases
    from .parameter_sets import Grid as Grid
    from .random_parameters import Normal as Normal
    from .random_parameters import Sobol as Sobol
    from .random_parameters import Uniform as Uniform
    from .reductions import MeanWithin as MeanWithin
    from .run_study import Study as Study
    from .run_study import study as study
    from .template import Template as Template

__all__ = ["Cases", "Grid", "MeanWithin", "Normal", "Sobol", "Study", "Template", "Uniform", "study"]

_HOME = {
    "Cases": "parameter_sets",
    "Grid": "parameter_sets",
    "MeanWithin": "reductions",
    "Normal": "random_parameters",
    "Sobol": "random_parameters",
    "Study": "run_study",
    "Template": "template",
    "Uniform": "random_parameters",
    "study": "run_study",
}


def __getattr__(name: str) -> _Any:
    """Import a name when it is first used (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
