"""The impacts of a run as it keeps them: what every velocity problem gave, for audits to judge by the laws.

Among redundant contacts with friction an impact has several solutions: solved again it may land on another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..._show import brief
from ...arrays import EPS, Array
from ...contact.active_set import OmegaStatus, active_set
from ...contact.assemble import assemble, blocks, start_of_blocks
from ...contact.resolve import resolve
from ...contact.snapshot import LocalDynamics
from ...programs.blocks.verify import verified
from ...programs.solution.residuals import BORDER
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .zeno import Rest

NUMBERS = ("step", "t", "kept")
LINES = ("impact", "problem", "index", "size")
STARTS = ("step", "index", "size")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImpactRecord:
    """One impact.

    Attributes
    ----------
    t : float
        s.
    problems : tuple of mappings of str to Array
        Reactions of its velocity problems in their order, N s, by row id: what `reactions` returned.
    kept : float
        Fraction of all restitution that was kept.
    step : int
        Number of the step in which it happened.
    """

    t: float
    problems: tuple[Mapping[str, Array], ...]
    kept: float = 1.0
    step: int = 0

    __repr__ = brief


@dataclass(slots=True, kw_only=True, eq=False)
class Claim:
    """An impact that is judged: its velocity problems take the reactions that it had, one after the other.

    Attributes
    ----------
    strike : ImpactRecord
    off : float
        How well the velocities before it are known, SI.
    asked : int
        Problems so far.
    """

    strike: ImpactRecord
    off: float
    asked: int = 0

    def solution(self, dynamics: LocalDynamics) -> Solution:
        """Return the solution that the next reactions are, with their residual; where there are none solve anew."""
        self.asked += 1
        if self.asked > len(self.strike.problems) or active_set(dynamics).status is not OmegaStatus.READY:
            return resolve(dynamics)
        problem = assemble(dynamics)
        if not problem.laws:  # joints alone: one solution
            return resolve(dynamics)
        r = start_of_blocks(dynamics, self.strike.problems[self.asked - 1])
        found = verified(problem, problem, r, "claimed", tol=BORDER)
        assert found.residuals is not None
        reach = self.off * np.abs(np.vstack([part.J for part in blocks(dynamics) if part.law is not None])).sum(axis=1)
        rho = np.repeat(problem.rho, np.diff(problem.table.start))
        known, size = (float(np.linalg.norm(rho * x)) for x in (reach, problem.q))
        E = max(found.residuals.E - known / (size if size > EPS else 1.0), 0.0)
        status = Status.SOLVED if E <= BORDER else Status.MAX_ITERATIONS
        return found.but(status=status, residuals=replace(found.residuals, E=E))


class Past(NamedTuple):
    """What is known of a step that is repeated.

    Attributes
    ----------
    times : tuple of float
        Of its events, s: found there again they are at these times to the bit.
    rests : mapping of str to Rest
        The sequences of impacts that end in it, by row id.
    impacts : tuple of ImpactRecord
        Its impacts; none where they were not kept: these are solved anew.
    """

    times: tuple[float, ...] = ()
    rests: Mapping[str, Rest] = MappingProxyType({})
    impacts: tuple[ImpactRecord, ...] = ()


NOTHING = Past()


def as_arrays(impacts: Sequence[ImpactRecord]) -> dict[str, Any]:
    """Return impacts as arrays, one line per row of a velocity problem."""
    groups = [((i, j), own) for i, strike in enumerate(impacts) for j, own in enumerate(strike.problems)]
    return {
        "step": np.array([strike.step for strike in impacts], dtype=np.int64),
        "t": np.array([strike.t for strike in impacts], dtype=np.float64),
        "kept": np.array([strike.kept for strike in impacts], dtype=np.float64),
        **_lines(groups, LINES, "impulse"),
    }


def of_arrays(arrays: Mapping[str, Any]) -> tuple[ImpactRecord, ...]:
    """Return the impacts that `as_arrays` wrote."""
    if any(arrays[name].dtype.kind not in "fiu" for name in NUMBERS):
        raise ValueError("impacts without numbers")
    problems: list[list[dict[str, Array]]] = [[] for _ in arrays["t"]]
    most = len(arrays["index"])
    for (i, j), key, p in _read(arrays, LINES, "impulse"):
        if i < 0 or not 0 <= j < most:
            raise ValueError(f"impact {i}, problem {j}")
        own = problems[i]
        own.extend({} for _ in range(j + 1 - len(own)))
        own[j][key] = p
    numbers = zip(*(arrays[name].tolist() for name in NUMBERS), problems, strict=True)
    return tuple(ImpactRecord(step=step, t=t, kept=kept, problems=tuple(own)) for step, t, kept, own in numbers)


def starts_as_arrays(starts: Mapping[int, Mapping[str, Array]]) -> dict[str, Any]:
    """Return what states at the beginning of steps remember as arrays, one line per entry."""
    return _lines([((step,), memory) for step, memory in starts.items()], STARTS, "value")


def starts_of_arrays(arrays: Mapping[str, Any]) -> dict[int, Mapping[str, Array]]:
    """Return what `starts_as_arrays` wrote."""
    found: dict[int, dict[str, Array]] = {}
    for (step,), key, x in _read(arrays, STARTS, "value"):
        found.setdefault(step, {})[key] = x
    return dict(found)


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
