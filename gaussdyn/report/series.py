"""Which columns of a run belong in one chart, and how many points a chart needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, IntArray
from ..integrate.run.trajectory import Trajectory

POINTS = 2000
ENERGIES = ("kinetic", "potential", "energy", "spring_energy", "work_reactions", "work_forces", "work_projection")
KNOWN = {*ENERGIES, "t", "E", "energy_error"}
OUTPUTS, MOTION = "Outputs", ("Coordinates", "Velocities")
PATTERNS = (
    ("Coordinates", re.compile(r"q\d+")),
    ("Velocities", re.compile(r"v\d+")),
    ("Joints", re.compile(r"[^/.]+:(angle|position|turn|rate)[^.]*")),
    ("Drives", re.compile(r"[^/.]+:(torque|force)")),
    ("Control", re.compile(r"control\d+")),
    ("Gaps", re.compile(r".*\.gap")),
    ("Reactions, mean over a step", re.compile(r".*\.r(_[A-Z]?\d*)?|[^/.]+:reaction[^.]*")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Columns of one unit that belong together.

    Attributes
    ----------
    title, unit : str
    names : tuple of str
    """

    title: str
    unit: str
    names: tuple[str, ...]


def groups(run: Trajectory) -> tuple[Group, ...]:
    """Return the columns of a run sorted into charts: the scene's own first, energies last.

    Coordinates and velocities without a name are left out where the scene has them under names of its own; so are
    margins, which have charts of their own.
    """
    titles = _titles(run)
    own = [run[name] for name, title in titles.items() if title == OUTPUTS]
    found: dict[tuple[str, str], list[str]] = {}
    for name, title in titles.items():
        unnamed = _title(name) in MOTION
        if not unnamed or not any(np.array_equal(run[name], x) for x in own):
            found.setdefault((title, run.unit(name)), []).append(name)
    found[("Energy balance", "J")] = [name for name in ENERGIES if name in run]
    found[("Error of the energy balance", "J")] = [name for name in ("energy_error",) if name in run]
    order = [OUTPUTS, *(title for title, _ in PATTERNS), "Energy balance", "Error of the energy balance"]
    ranked = sorted(found.items(), key=lambda item: order.index(item[0][0]))
    return tuple(Group(title=title, unit=unit, names=tuple(names)) for (title, unit), names in ranked if names)


def by_unit(run: Trajectory, names: Sequence[str]) -> tuple[Group, ...]:
    """Return some columns sorted by their units, in the order given."""
    units = dict.fromkeys(run.unit(name) for name in names)
    return tuple(
        Group(title="", unit=unit, names=tuple(name for name in names if run.unit(name) == unit)) for unit in units
    )


def _titles(run: Trajectory) -> dict[str, str]:
    """Return the charts of all columns but those of the energy balance and those that are not known all along."""
    whole = {name: one for name, one in run.columns.items() if not one.partial}
    return {name: _title(one.also or name) for name, one in whole.items() if name not in KNOWN}


def _title(name: str) -> str:
    return next((title for title, pattern in PATTERNS if pattern.fullmatch(name)), OUTPUTS)


def thinned(values: Sequence[Array], points: int = POINTS) -> IntArray:
    """Return the indices to draw: the smallest and the largest value of every bucket, of every series.

    Parameters
    ----------
    values : sequence of Array, each of shape (n,)
    points : int
        About how many points a series may have; a peak of one step is never lost.
    """
    n = len(values[0]) if values else 0
    if n <= points:
        return np.arange(n)
    edges = np.linspace(0, n, max(2, points // 2) + 1).astype(np.int64)[:-1]
    keep = {0, n - 1}
    for x in values:
        for start, stop in zip(edges, [*edges[1:], n], strict=True):
            keep |= {start + int(np.argmin(x[start:stop])), start + int(np.argmax(x[start:stop]))}
    return np.array(sorted(int(k) for k in keep), dtype=np.int64)


def spans(labels: Sequence[str], t: Array) -> list[tuple[str, float, float]]:
    """Return runs of equal labels as (label, from, to); t holds the n + 1 borders of n labels, s."""
    found: list[tuple[str, float, float]] = []
    for k, label in enumerate(labels):
        if found and found[-1][0] == label:
            found[-1] = (label, found[-1][1], float(t[k + 1]))
        else:
            found.append((str(label), float(t[k]), float(t[k + 1])))
    return found
