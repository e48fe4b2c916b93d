"""What a step keeps so that it can be judged by evaluating rows, without taking it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from .. import recorded_arcs as smooth
from ..recorded_arcs import Arc
from ..stepper import Shift, Step

ACTING, SHIFTS = ("acts_step", "acts_index"), ("shift_step", "shift_pass", "shift_index")
PLACES = ("place_step", "place_pass")  # pass -1: of the step itself
FORCES = ("force_step", "force_index")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepEvidence:
    """One saved step.

    Attributes
    ----------
    acts : tuple of str
        Ids of the rows that acted in it.
    place : Array or None, shape (nq,)
        See `Step.place`.
    shifts : tuple of Shift
        The passes of the position projection; rows that do not push are left out, and passes in which none does.
    arcs : sequence of Arc
        The smooth motion of a step that follows differential equations.
    forces : mapping of str to Array
        Reactions right after such a step, N; rows that do not push are left out.
    """

    acts: tuple[str, ...]
    place: Array | None = None
    shifts: tuple[Shift, ...] = ()
    arcs: Sequence[Arc] = ()
    forces: Mapping[str, Array] = field(default_factory=dict)

    __repr__ = brief

    @classmethod
    def of(cls, step: Step) -> StepEvidence:
        """Return what a step tells."""
        shifts = tuple(
            Shift({key: s for key, s in one.pushes.items() if s != 0.0}, one.place) for one in step.shifts
        )  # fmt: skip
        return cls(
            acts=tuple(step.reactions), place=step.place, shifts=tuple(one for one in shifts if one.pushes),
            arcs=step.arcs, forces={key: r for key, r in step.forces.items() if r.any()},
        )  # fmt: skip


class LateEvidence(Mapping[int, StepEvidence]):
    """The evidence of saved steps by their numbers, each made when it is asked for."""

    __slots__ = ("_steps",)

    def __init__(self, saved: Iterable[tuple[IntArray, Callable[[int], Step]]]) -> None:
        self._steps = {int(n): (step, k) for numbers, step in saved for k, n in enumerate(numbers.tolist())}

    def __getitem__(self, number: int) -> StepEvidence:
        step, k = self._steps[number]
        return StepEvidence.of(step(k))

    def __iter__(self) -> Iterator[int]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __reduce__(self) -> tuple[type[dict[int, StepEvidence]], tuple[dict[int, StepEvidence]]]:
        return dict, (dict(self),)


def as_arrays(evidence: Mapping[int, StepEvidence]) -> dict[str, Any]:
    """Return the evidence of steps, by their numbers, as arrays: a line for every row that acts, and for every push."""
    ids = sorted({key for one in evidence.values() for key in _ids(one)})
    at = {key: k for k, key in enumerate(ids)}
    acts = [(step, at[key]) for step, one in evidence.items() for key in one.acts]
    pushes = [(step, k, at[key], s) for step, one in evidence.items() for k, key, s in _pushes(one)]
    placed = [(step, -1, one.place) for step, one in evidence.items()]
    placed += [(step, k, s.place) for step, one in evidence.items() for k, s in enumerate(one.shifts)]
    placed = [line for line in placed if line[2] is not None]
    forces = [(step, at[key], r) for step, one in evidence.items() for key, r in one.forces.items()]
    return {
        "step": np.array(list(evidence), dtype=np.int64),
        "passes": np.array([len(one.shifts) for one in evidence.values()], dtype=np.int64),
        "ids": np.array(ids, dtype=np.str_),
        **_columns(ACTING, acts),
        **_columns(SHIFTS, pushes),
        "shift": np.array([line[3] for line in pushes], dtype=np.float64),
        **_columns(PLACES, placed),
        "place": np.array([line[2] for line in placed]) if placed else np.zeros((0, 0)),
        **_columns(FORCES, forces),
        "force_size": np.array([len(r) for _, _, r in forces], dtype=np.int64),
        "force": np.concatenate([np.zeros(0), *(r for _, _, r in forces)]),
        **smooth.as_arrays((step, one.arcs) for step, one in evidence.items()),
    }


def of_arrays(arrays: Mapping[str, Any]) -> dict[int, StepEvidence]:
    """Return the evidence that `as_arrays` wrote.

    Raises
    ------
    KeyError, ValueError, IndexError
        Arrays that do not fit together.
    """
    ids, passes = [str(key) for key in arrays["ids"]], _whole(arrays, "passes")
    if sum(passes) > len(arrays["shift"]):
        raise ValueError(f"{sum(passes)} passes with {len(arrays['shift'])} pushes")
    acts: dict[int, list[str]] = {int(step): [] for step in arrays["step"]}
    shifts: dict[int, list[dict[str, float]]] = {
        int(step): [{} for _ in range(n)] for step, n in zip(arrays["step"], passes, strict=True)
    }
    for step, k in zip(*(_whole(arrays, name) for name in ACTING), strict=True):
        acts[step].append(ids[k])
    lines = zip(*(_whole(arrays, name) for name in SHIFTS), arrays["shift"].tolist(), strict=True)
    for step, number, k, s in lines:
        shifts[step][number][ids[k]] = float(s)
    at = zip(_whole(arrays, "place_step"), arrays["place_pass"].tolist(), strict=True)
    places = dict(zip(at, arrays["place"], strict=True))
    arcs, forces = smooth.of_arrays(arrays), _forces(arrays, ids)
    return {
        step: StepEvidence(
            acts=tuple(found), place=places.get((step, -1)),
            shifts=tuple(Shift(pushes, places.get((step, k))) for k, pushes in enumerate(shifts[step])),
            arcs=arcs.get(step, ()), forces=forces.get(step, {}),
        )
        for step, found in acts.items()
    }  # fmt: skip


def _forces(arrays: Mapping[str, Any], ids: list[str]) -> dict[int, dict[str, Array]]:
    """Return the reactions right after steps; older files have none."""
    found: dict[int, dict[str, Array]] = {}
    if "force" not in arrays:
        return found
    sizes = _whole(arrays, "force_size")
    if sum(sizes) != len(arrays["force"]):
        raise ValueError(f"{len(arrays['force'])} reactions in lines of {sum(sizes)}")
    parts = np.split(arrays["force"], np.cumsum(sizes)[:-1]) if sizes else []
    for step, k, r in zip(*(_whole(arrays, name) for name in FORCES), parts, strict=True):
        found.setdefault(step, {})[ids[k]] = r
    return found


def _ids(one: StepEvidence) -> Iterator[str]:
    yield from one.acts
    yield from one.forces
    for shift in one.shifts:
        yield from shift.pushes


def _pushes(one: StepEvidence) -> Iterator[tuple[int, str, float]]:
    for k, shift in enumerate(one.shifts):
        for key, s in shift.pushes.items():
            yield k, key, s


def _columns(names: tuple[str, ...], lines: list[Any]) -> dict[str, Any]:
    return {name: np.array([line[k] for line in lines], dtype=np.int64) for k, name in enumerate(names)}


def _whole(arrays: Mapping[str, Any], name: str) -> list[int]:
    found = arrays[name]
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} without whole numbers")
    if found.size and found.min() < 0:
        raise IndexError(f"{name} below 0")
    numbers: list[int] = found.tolist()
    return numbers
