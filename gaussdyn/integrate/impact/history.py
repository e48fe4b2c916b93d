"""The jumps of a velocity as a run keeps them: what every velocity problem gave, for audits to judge by the laws.

Among redundant contacts with friction an impact has several solutions: solved again it may land on another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array

NUMBERS = ("step", "t", "kept")
LINES = ("impact", "problem", "index", "size")
PLACES = ("q", "before", "after")
KINDS = ("impact", "rest", "passage by impact", "passage by compliance")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImpactRecord:
    """One jump of the velocity.

    Attributes
    ----------
    t : float
        s.
    kind : str
        impact; rest: of contacts whose further impacts are passed, infinitely many in a short time; passage by impact
        or compliance, where no acceleration existed.
    q, before, after : Array
        Where it was, and the velocities on both sides; empty in files of earlier versions.
    problems : tuple of mappings of str to Array
        Reactions of its velocity problems in their order, N s, by row id: what `reactions` returned.
    kept : float
        Fraction of all restitution that was kept.
    step : int
        Number of the step in which it happened.
    """

    t: float
    problems: tuple[Mapping[str, Array], ...]
    kind: str = "impact"
    q: Array = field(default_factory=lambda: np.zeros(0))
    before: Array = field(default_factory=lambda: np.zeros(0))
    after: Array = field(default_factory=lambda: np.zeros(0))
    kept: float = 1.0
    step: int = 0

    __repr__ = brief


def as_arrays(impacts: Sequence[ImpactRecord]) -> dict[str, Any]:
    """Return impacts as arrays, one line per row of a velocity problem."""
    groups = [((i, j), own) for i, strike in enumerate(impacts) for j, own in enumerate(strike.problems)]
    return {
        "step": np.array([strike.step for strike in impacts], dtype=np.int64),
        "t": np.array([strike.t for strike in impacts], dtype=np.float64),
        "kept": np.array([strike.kept for strike in impacts], dtype=np.float64),
        "kind": np.array([strike.kind for strike in impacts], dtype=np.str_),
        **{name: np.array([getattr(strike, name) for strike in impacts], dtype=np.float64) for name in PLACES},
        **_lines(groups, LINES, "impulse"),
    }


def of_arrays(arrays: Mapping[str, Any]) -> tuple[ImpactRecord, ...]:
    """Return the impacts that `as_arrays` wrote."""
    if any(arrays[name].dtype.kind not in "fiu" for name in NUMBERS):
        raise ValueError("impacts without numbers")
    numbers = zip(*(arrays[name].tolist() for name in NUMBERS), _problems(arrays), strict=True)
    found = [{"step": step, "t": t, "kept": kept, "problems": tuple(own)} for step, t, kept, own in numbers]
    for name in ("kind", *PLACES) if "kind" in arrays else ():  # earlier versions kept none of these
        for one, x in zip(found, arrays[name], strict=True):
            one[name] = str(x) if name == "kind" else x
    return tuple(ImpactRecord(**one) for one in found)


def _problems(arrays: Mapping[str, Any]) -> list[list[dict[str, Array]]]:
    """Return the impulses of the velocity problems of every impact, by row id."""
    problems: list[list[dict[str, Array]]] = [[] for _ in arrays["t"]]
    most = len(arrays["index"])
    if len(set(arrays["ids"].tolist())) < len(arrays["ids"]):
        raise ValueError("impacts/ids: a row twice")
    for (i, j), key, p in _read(arrays, LINES, "impulse"):
        if i < 0 or not 0 <= j < most:
            raise ValueError(f"impact {i}, problem {j}")
        own = problems[i]
        own.extend({} for _ in range(j + 1 - len(own)))
        if key in own[j]:
            raise ValueError(f"{key} twice in impact {i}, problem {j}")
        own[j][key] = p
    return problems


def _lines(groups: Sequence[tuple[Any, Mapping[str, Array]]], names: Sequence[str], value: str) -> dict[str, Any]:
    """Return mappings of numbers by name as lines: the numbers of the group, which name, how many numbers."""
    ids = sorted({key for _, own in groups for key in own})
    at = {key: k for k, key in enumerate(ids)}
    flat = [((*numbers, at[key], len(x)), x) for numbers, own in groups for key, x in own.items()]
    lines = np.array([line for line, _ in flat], dtype=np.int64).reshape(-1, len(names))
    values = np.concatenate([np.zeros(0), *(x for _, x in flat)])
    table = {name: lines[:, k] for k, name in enumerate(names)}
    return {**table, value: values, "ids": np.array(ids, dtype=np.str_)}


def _read(arrays: Mapping[str, Any], names: Sequence[str], value: str) -> Iterator[tuple[list[int], str, Array]]:
    sizes = arrays["size"]
    if (
        arrays[value].dtype.kind != "f"
        or (sizes < 0).any()
        or sizes.sum() != len(arrays[value])
        or (arrays["index"] < 0).any()
    ):
        raise ValueError(f"{len(arrays[value])} numbers in lines of {sizes.sum()}")
    parts = np.split(arrays[value], np.cumsum(sizes)[:-1])
    for line, x in zip(zip(*(arrays[name].tolist() for name in names[:-1]), strict=True), parts, strict=False):
        yield list(line[:-1]), str(arrays["ids"][line[-1]]), x
