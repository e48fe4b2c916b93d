"""The page of a study: how its runs ended, and pictures of what was measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ...studies.study_results import Study
from ..charts import library
from ..page_template import filled, setting
from ..place import place
from .study_charts import study_charts

MOST_REASONS = 12


def write_study_page(path: str | Path, found: Study, *, title: str = "study", command: str = "") -> Path:
    """Write a self-contained page.

    Parameters
    ----------
    path : str or Path
        The HTML file to write.
    found : Study
    title : str
        What was studied.
    command : str
        The command line that repeats it.

    Raises
    ------
    BackendMissing
        If plotly or jinja2 is not installed.
    InputError
        No room, no rights; an older page stays as it is.
    """
    return place(Path(path), render_study(found, title=title, command=command).encode())


def render_study(found: Study, *, title: str = "study", command: str = "") -> str:
    """Return the page of a study as text; see `write_study_page`."""
    met, outcomes = np.unique(found.outcome, return_counts=True)
    return filled(
        "study.html", study=found, title=title, command=command, library=library(), charts=study_charts(found),
        counts={name: n for name, n in found.counts.items() if n},
        outcomes={str(name): int(n) for name, n in zip(met, outcomes, strict=True) if name},
        reasons=_reasons(found), measured=[_range(name, x) for name, x in found.values.items()],
        settings=[(key, setting(value)) for key, value in found.settings.items()],
    )  # fmt: skip


def _reasons(found: Study) -> list[tuple[str, int]]:
    """Return why runs were not completed, the most frequent first, and how many of them."""
    return Counter(str(text) for text in found.reason if text).most_common(MOST_REASONS)


def _range(name: str, x: Any) -> dict[str, Any]:
    """Return what is said of a column: least, mean and greatest of what is known."""
    known = x[np.isfinite(x)]
    ends = (known.min(), known.mean(), known.max()) if known.size else (None, None, None)
    shape = " × ".join(map(str, x.shape[1:]))
    figures = [None if one is None else float(one) for one in ends]
    return {"name": name, "shape": shape or "1", "ends": figures, "unknown": int(x.size - known.size)}
