"""Parameters of a scene or function from recorded runs: least squares, intervals, what cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .fit_runs import fit as fit
    from .measurements import Measurements as Measurements
    from .result import Fit as Fit

__all__ = ["Fit", "Measurements", "fit"]

__getattr__, __dir__ = _on_demand(
    __name__, {"fit_runs": ("fit",), "measurements": ("Measurements",), "result": ("Fit",)}
)
