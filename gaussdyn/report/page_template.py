"""Pages from templates, and how they show numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._version import __version__
from ..errors import BackendMissing

HERE = Path(__file__).resolve().parent
MEANING = {
    "steps": "steps taken",
    "unsolved_steps": "steps whose contact problem was not solved",
    "max_residual": "largest residual E of a step (dimensionless)",
    "max_penetration_m": "largest penetration (m)",
    "max_joint_error_m": "largest error of a bilateral position constraint (m)",
    "max_cone": "largest violation of a friction cone (relative)",
    "energy_drift_rel": "largest error of the energy balance (relative)",
}


def figure(value: Any, digits: int = 6) -> str:
    """Return a number as the page shows it; a dash where it is unknown."""
    if value is None:
        return "–"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def setting(value: Any) -> str:
    """Return a setting as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {setting(item)}" for key, item in value.items()) or "–"
    return figure(value) if not isinstance(value, (list, tuple)) else json.dumps(value, default=str)


def filled(template: str, **values: Any) -> str:
    """Return a page: a template with its values. All know `version` and, unless it is given, `figure`.

    Raises
    ------
    BackendMissing
        If jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError:
        raise BackendMissing("jinja2", "report") from None
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return str(environment.get_template(template).render({"figure": figure, "version": __version__, **values}))
