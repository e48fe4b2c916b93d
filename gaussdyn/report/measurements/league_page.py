"""The page of a league: a table per match, and first of all where this package is behind."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...league.standings import OWN, behind, step_time
from ..page_template import filled
from ..place import place

SHADES = ("#d9efe0", "#eaf4dc", "#fbf3d3", "#fbe3cf", "#f6d0cf")  # of errors, from exact to useless
DECADES = (-9.0, -6.0, -4.0, -2.0)  # logarithms of errors over the worst that was met: borders of the shades


def write_league_page(path: str | Path, document: dict[str, Any], *, command: str = "") -> Path:
    """Write the page of `gaussdyn.league.championship.league` as one file.

    Raises
    ------
    BackendMissing
        jinja2 is not installed.
    InputError
        No room, no rights; an older page stays as it is.
    """
    return place(Path(path), render_league(document, command=command).encode())


def render_league(document: dict[str, Any], *, command: str = "") -> str:
    """Return the page as text."""
    tables = [_table(match, document["rows"]) for match in document["matches"]]
    lost = behind(document)
    machine = document["machine"]
    about = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}"
    return filled(
        "league.html", title="League of engines", command=command, tables=tables, lost=lost, machine=about,
        engines=document["engines"], seconds=document["seconds"], number=number, own=OWN,
    )  # fmt: skip


def _table(match: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a match with its rows, every figure with a shade."""
    chosen = [row for row in rows if row["match"] == match["name"]]
    heads = {one["name"]: one for row in chosen for one in row["figures"]}
    worst = {name: _worst(name, chosen) for name in heads}
    lines = []
    for row in chosen:
        values = {one["name"]: one for one in row["figures"]}
        cells = [_cell(values.get(name), worst[name], head["error"]) for name, head in heads.items()]
        lines.append({"row": row, "cells": cells, "time": step_time(row), "own": row["engine"] == OWN})
    return {"match": match, "heads": list(heads.values()), "lines": lines}


def _worst(name: str, rows: list[dict[str, Any]]) -> float:
    """Return the largest finite figure of a name."""
    values = [abs(one["value"]) for row in rows for one in row["figures"] if one["name"] == name and _known(one)]
    return max(values, default=0.0)


def _known(one: dict[str, Any] | None) -> bool:
    return one is not None and isinstance(one["value"], float | int) and math.isfinite(one["value"])


def _cell(one: dict[str, Any] | None, worst: float, error: bool) -> dict[str, str]:
    """Return the text of a figure, and its shade if it is an error."""
    if one is None:
        return {"text": "", "shade": ""}
    if not error:
        return {"text": number(one["value"]), "shade": ""}
    if not _known(one):
        return {"text": number(one["value"]), "shade": SHADES[-1]}
    if one["value"] == 0.0 or worst == 0.0:
        return {"text": number(one["value"]), "shade": SHADES[0]}
    decade = math.log10(one["value"] / worst)
    return {"text": number(one["value"]), "shade": SHADES[sum(decade > border for border in DECADES)]}


def number(value: Any) -> str:
    """Return a figure with two digits, as few as the page needs."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, str) or math.isinf(value):
        return "never"
    return "0" if value == 0.0 else f"{value:.2g}"
