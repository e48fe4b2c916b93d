"""What the rows of a league say: who is nearest, and where this package is behind."""

from __future__ import annotations

import math
from typing import Any

OWN = "gaussdyn"
MARGIN = 2.0  # a factor below which two errors or times are called equal
EXACT = 1e-12  # an error below counts as none
Row = dict[str, Any]


def errors_of(row: Row) -> dict[str, float]:
    """Return the distances from exact answers of a game that was played to its end."""
    figures = row["figures"] if row["status"] == "played" else []
    return {one["name"]: _number(one["value"]) for one in figures if one["error"]}


def _number(value: Any) -> float:
    """Return a figure, infinite where it is not a number: JSON has words for those."""
    found = math.nan if value is None else float(value)
    return math.inf if math.isnan(found) else found


def step_time(row: Row) -> float | None:
    """Return the CPU time of a step, us; None for an engine that has no steps, or did not play."""
    if not row.get("steps") or row["setting"] == "events":
        return None
    return 1e6 * float(row["cpu_s"]) / int(row["steps"])


def behind(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where another engine is nearer to an exact answer than every setting of this package, or faster.

    Parameters
    ----------
    document : dict
        Of `championship.league`.

    Returns
    -------
    list of dict
        ``match``, ``what``, ``own``, ``own_setting``, ``best``, ``engine``, ``setting`` and ``unit``.
    """
    found = []
    for match in document["matches"]:
        rows = [row for row in document["rows"] if row["match"] == match["name"]]
        own = [row for row in rows if row["engine"] == OWN]
        others = [row for row in rows if row["engine"] != OWN]
        if own:
            found += [one | {"match": match["title"]} for one in _errors(own, others) + _times(own, others)]
    return found


def _errors(own: list[Row], others: list[Row]) -> list[dict[str, Any]]:
    if not any(row["status"] == "played" for row in own):
        return []
    units = {one["name"]: one["unit"] for row in own + others for one in row["figures"]}
    found = []
    for name in dict.fromkeys(name for row in own + others for name in errors_of(row)):
        mine = _least([(errors_of(row).get(name, math.inf), row) for row in own])
        best = _least([(errors_of(row).get(name, math.inf), row) for row in others])
        if best is not None and mine is not None and mine[0] > max(EXACT, MARGIN * best[0]):
            found.append(_entry(name, units[name], mine, best))
    return found


def _times(own: list[Row], others: list[Row]) -> list[dict[str, Any]]:
    """Compare the shortest steps; where none of ours got to the end that is what is said."""
    ended = [row for row in own if row["status"] == "played"]
    if not ended:
        peer = next((row for row in others if row["status"] == "played"), None)
        return [] if peer is None else [_entry("comes to its end", "", (math.inf, own[0]), (0.0, peer))]
    mine, best = (
        _least([(time, row) for row in rows if row["status"] == "played" and (time := step_time(row)) is not None])
        for rows in (own, others)
    )
    if mine is None or best is None or mine[0] <= MARGIN * best[0]:
        return []
    return [_entry("time of a step", "us", mine, best)]


def _least(found: list[tuple[float, Row]]) -> tuple[float, Row] | None:
    return min(found, key=lambda one: one[0], default=None)


def _entry(what: str, unit: str, mine: tuple[float, Row], best: tuple[float, Row]) -> dict[str, Any]:
    return {
        "what": what, "unit": unit, "own": mine[0], "own_setting": mine[1]["setting"], "best": best[0],
        "engine": best[1]["engine"], "setting": best[1]["setting"],
    }  # fmt: skip
