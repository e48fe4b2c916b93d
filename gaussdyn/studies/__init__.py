"""Studies: many runs of one template over its parameters: grids and samples, what a run is and keeps, reductions.

Names are imported when they are first used: parameters of a study are written down without loading any mechanics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .parameter_sets import Cases as Cases
    from .parameter_sets import Grid as Grid
    from .random_parameters import Normal as Normal
    from .random_parameters import Sobol as Sobol
    from .random_parameters import Uniform as Uniform
    from .reductions import MeanWithin as MeanWithin
    from .run_study import study as study
    from .study_results import Study as Study
    from .study_resume import Resume as Resume
    from .template import Template as Template

__all__ = ["Cases", "Grid", "MeanWithin", "Normal", "Resume", "Sobol", "Study", "Template", "Uniform", "study"]

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "parameter_sets": ("Cases", "Grid"),
        "random_parameters": ("Normal", "Sobol", "Uniform"),
        "reductions": ("MeanWithin",),
        "run_study": ("study",),
        "study_results": ("Study",),
        "study_resume": ("Resume",),
        "template": ("Template",),
    },
)
