"""Studies: many runs of one template over its parameters: grids and samples, what a run is and keeps, reductions.

Names are imported when they are first used: parameters of a study are written down without loading any mechanics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .basins import Basins as Basins
    from .basins import basins as basins
    from .parameter_sets import Cases as Cases
    from .parameter_sets import Grid as Grid
    from .random_parameters import Normal as Normal
    from .random_parameters import Saltelli as Saltelli
    from .random_parameters import Sobol as Sobol
    from .random_parameters import Uniform as Uniform
    from .reductions import MeanWithin as MeanWithin
    from .reductions import ShareWithin as ShareWithin
    from .run_study import study as study
    from .sensitivity import Sensitivity as Sensitivity
    from .sensitivity import sobol_indices as sobol_indices
    from .study_results import Study as Study
    from .study_resume import Resume as Resume
    from .template import Template as Template

__all__ = [
    "Basins",
    "Cases",
    "Grid",
    "MeanWithin",
    "Normal",
    "Resume",
    "Saltelli",
    "Sensitivity",
    "ShareWithin",
    "Sobol",
    "Study",
    "Template",
    "Uniform",
    "basins",
    "sobol_indices",
    "study",
]

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "parameter_sets": ("Cases", "Grid"),
        "basins": ("Basins", "basins"),
        "random_parameters": ("Normal", "Saltelli", "Sobol", "Uniform"),
        "reductions": ("MeanWithin", "ShareWithin"),
        "sensitivity": ("Sensitivity", "sobol_indices"),
        "run_study": ("study",),
        "study_results": ("Study",),
        "study_resume": ("Resume",),
        "template": ("Template",),
    },
)
