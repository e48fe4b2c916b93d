"""What a step keeps so that it can be judged by evaluating rows, without taking it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from .. import recorded_arcs as smooth
from ..recorded_arcs import Arc
from ..stepper import Shift, Step
from ..stretch import Steps, Traces

ACTING, SHIFTS = ("acts_step", "acts_index"), ("shift_step", "shift_pass", "shift_index")
PLACES = ("place_step", "place_pass")  # pass -1: of the step itself, -2, -3 ..: where it ended when it was tried
FORCES = ("force_step", "force_index")
LINES = {
    "step": "step", "passes": "passes", "shift": "shift", "place": "place", "foreseen_step": "ahead",
    "foreseen": "foreseen",
}  # in a file: in `Lines`  # fmt: skip
WIDE = ("place", "foreseen")  # of as many columns as there are coordinates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepEvidence:
    """One saved step.

    Attributes
    ----------
    acts : tuple of str
        Ids of the rows that acted in a time step; of a step from event to event its arcs and impacts tell.
    place : Array or None, shape (nq,)
        See `Step.place`.
    foreseen : Array or None, shape (nq + nv,)
        See `Step.foreseen`.
    shifts : tuple of Shift
        The passes of the position projection; rows that do not push are left out, and passes in which none does.
    tries : tuple of Array, shapes (nq,)
        See `Step.tries`.
    arcs : sequence of Arc
        The smooth motion of a step that follows differential equations.
    forces : mapping of str to Array
        Reactions right after such a step, N; rows that do not push are left out.
    """

    acts: tuple[str, ...]
    place: Array | None = None
    foreseen: Array | None = None
    shifts: tuple[Shift, ...] = ()
    tries: tuple[Array, ...] = ()
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
            acts=tuple(step.reactions) if step.changes is None else (), place=step.place,
            shifts=tuple(one for one in shifts if one.pushes), foreseen=step.foreseen, tries=step.tries,
            arcs=step.arcs, forces={key: r for key, r in step.forces.items() if r.any()},
        )  # fmt: skip


class LateEvidence(Mapping[int, StepEvidence]):
    """The evidence of saved steps by their numbers, each made when it is asked for.

    Attributes
    ----------
    parts : list of (IntArray, Steps)
        Numbers of steps, and the steps.
    """

    __slots__ = ("_ends", "parts")

    def __init__(self, saved: Iterable[tuple[IntArray, Steps]]) -> None:
        self.parts = list(saved)
        self._ends = np.array([numbers[-1] for numbers, _ in self.parts], dtype=np.int64)

    def __getitem__(self, number: int) -> StepEvidence:
        part = int(np.searchsorted(self._ends, number))
        numbers, steps = self.parts[part] if part < len(self.parts) else (np.zeros(0, dtype=np.int64), None)
        k = int(np.searchsorted(numbers, number))
        if steps is None or k == len(numbers) or numbers[k] != number:
            raise KeyError(number)
        return StepEvidence.of(steps(k))

    def __iter__(self) -> Iterator[int]:
        return (number for numbers, _ in self.parts for number in numbers.tolist())

    def __len__(self) -> int:
        return sum(len(numbers) for numbers, _ in self.parts)

    def __reduce__(self) -> tuple[type[dict[int, StepEvidence]], tuple[dict[int, StepEvidence]]]:
        return dict, (dict(self),)


class Lines(NamedTuple):
    """The evidence of steps as lines.

    Attributes
    ----------
    ids : tuple of str
        Of rows.
    step, passes : IntArray, shape (n,)
        Numbers of the steps, and in how many passes rows pushed.
    acts : IntArray, shape (a, 2)
        Step and row.
    pushes, shift : IntArray (b, 3) and Array (b,)
        Step, pass and row, and by how much it was shifted.
    places, place : IntArray (c, 2) and Array (c, nq)
        Step and pass (-1: of the step itself, below: of its tries), and the coordinates.
    ahead, foreseen : IntArray (f,) and Array (f, nq + nv)
        Steps with one contact problem, and the ends that were foreseen.
    """

    ids: tuple[str, ...]
    step: IntArray
    passes: IntArray
    acts: IntArray
    pushes: IntArray
    shift: Array
    places: IntArray
    place: Array
    ahead: IntArray
    foreseen: Array

    def numbered(self, at: Mapping[str, int]) -> Lines:
        """Return the same with other numbers of rows."""
        new = np.array([at.get(key, -1) for key in self.ids], dtype=np.int64)
        acts, pushes = self.acts.copy(), self.pushes.copy()
        acts[:, 1], pushes[:, 2] = new[acts[:, 1]], new[pushes[:, 2]]
        return self._replace(acts=acts, pushes=pushes)


def as_arrays(evidence: Mapping[int, StepEvidence]) -> dict[str, Any]:
    """Return the evidence of steps, by their numbers, as arrays: a line for every row that acts, and for every push."""
    lines, others = _lines(evidence)
    used = [np.union1d(one.acts[:, 1], one.pushes[:, 2]).tolist() for one in lines]
    ids = sorted({one.ids[k] for one, own in zip(lines, used, strict=True) for k in own} | _pushing(others))
    at = {key: k for k, key in enumerate(ids)}
    lines = [one.numbered(at) for one in lines]
    return {
        "ids": np.array(ids, dtype=np.str_),
        **{name: _stacked(lines, of) for name, of in LINES.items()},
        **_columns(ACTING, _stacked(lines, "acts")),
        **_columns(SHIFTS, _stacked(lines, "pushes")),
        **_columns(PLACES, _stacked(lines, "places")),
        **_forces_as_arrays(others, at),
        **smooth.as_arrays((step, one.arcs) for step, one in others.items()),
    }


def _lines(evidence: Mapping[int, StepEvidence]) -> tuple[list[Lines], dict[int, StepEvidence]]:
    """Return what steps left behind, and the steps among them that left no arrays."""
    if not isinstance(evidence, LateEvidence):
        return [_of_each(evidence)], dict(evidence)
    lines, others = list[Lines](), dict[int, StepEvidence]()
    for numbers, steps in evidence.parts:
        traces = steps.traces()
        if traces is not None:
            lines.append(_of_traces(numbers, traces))
            continue
        own = {number: StepEvidence.of(steps(k)) for k, number in enumerate(numbers.tolist())}
        lines.append(_of_each(own))
        others |= own
    return lines, others


def _stacked(lines: Sequence[Lines], name: str) -> Any:
    """Return one kind of lines of all; what has none leaves its width to others."""
    parts = [getattr(one, name) for one in lines]
    if name in WIDE:
        parts = [part for part in parts if len(part)] or [np.zeros((0, 0))]
    return np.concatenate(parts)


def _forces_as_arrays(others: Mapping[int, StepEvidence], at: Mapping[str, int]) -> dict[str, Any]:
    """Return the forces that steps name, and where their rows stand in `at`."""
    forces = [(step, at[key], r) for step, one in others.items() for key, r in one.forces.items()]
    return {
        **_columns(FORCES, _whole_lines([line[:2] for line in forces], 2)),
        "force_size": np.array([len(r) for _, _, r in forces], dtype=np.int64),
        "force": np.concatenate([np.zeros(0), *(r for _, _, r in forces)]),
    }


def _of_traces(numbers: IntArray, traces: Traces) -> Lines:
    """Return the evidence of steps that left arrays behind."""
    tried = np.arange(traces.shifts.shape[1]) < traces.passes[:, None]
    pushed = (traces.shifts != 0.0) & tried[:, :, None]
    pushing = pushed.any(axis=2)
    number = np.cumsum(pushing, axis=1) - 1  # passes in which none pushes are left out
    act, push, own = np.argwhere(traces.acts), np.argwhere(pushed), np.flatnonzero(traces.placed)
    moved = np.argwhere(pushing) if traces.places.shape[2] else np.zeros((0, 2), dtype=np.int64)
    late = np.argwhere(np.arange(traces.tries.shape[1]) < traces.tried[:, None])
    places = [np.column_stack([numbers[own], np.full(len(own), -1)])]
    places.append(np.column_stack([numbers[late[:, 0]], -2 - late[:, 1]]))
    places.append(np.column_stack([numbers[moved[:, 0]], number[tuple(moved.T)]]))
    order = np.lexsort(np.concatenate(places).T[::-1])
    ahead = (~np.isnan(traces.foreseen[:, :1])).any(axis=1)
    return Lines(
        ahead=numbers[ahead],
        foreseen=traces.foreseen[ahead],
        ids=traces.ids, step=numbers, passes=pushing.sum(axis=1), acts=np.column_stack([numbers[act[:, 0]], act[:, 1]]),
        pushes=np.column_stack([numbers[push[:, 0]], number[tuple(push[:, :2].T)], push[:, 2]]),
        shift=traces.shifts[tuple(push.T)], places=np.concatenate(places)[order],
        place=_joined(traces.place[own], traces.tries[tuple(late.T)], traces.places[tuple(moved.T)])[order],
    )  # fmt: skip


def places_of(one: StepEvidence) -> tuple[Array | None, ...]:
    """Return all places of a step, in the order of `PLACES`."""
    return (*one.tries[::-1], one.place, *(shift.place for shift in one.shifts))


def _placed(one: StepEvidence) -> Iterator[tuple[int, Array]]:
    """Yield the places of a step that there are with their numbers, as in `PLACES`."""
    return ((k, x) for k, x in enumerate(places_of(one), -1 - len(one.tries)) if x is not None)


def _joined(*places: Array) -> Array:
    """Return coordinates of several kinds as one; where there are none of a kind they may have no width."""
    return np.concatenate([x for x in places if len(x)] or [np.zeros((0, 0))])


def _of_each(evidence: Mapping[int, StepEvidence]) -> Lines:
    """Return the evidence of steps, one by one."""
    ids = tuple(dict.fromkeys(key for one in evidence.values() for key in _ids(one)))
    at = {key: k for k, key in enumerate(ids)}
    pushes, shift = _push_lines(evidence, at)
    places, place = _place_lines(evidence)
    ahead = {step: one.foreseen for step, one in evidence.items() if one.foreseen is not None}
    return Lines(
        ahead=np.array(list(ahead), dtype=np.int64),
        foreseen=_joined(*(x[None] for x in ahead.values())),
        ids=ids, step=np.array(list(evidence), dtype=np.int64),
        passes=np.array([len(one.shifts) for one in evidence.values()], dtype=np.int64),
        acts=_whole_lines([(step, at[key]) for step, one in evidence.items() for key in one.acts], 2),
        pushes=pushes, shift=shift, places=places, place=place,
    )  # fmt: skip


def _push_lines(evidence: Mapping[int, StepEvidence], at: Mapping[str, int]) -> tuple[IntArray, Array]:
    """Return step, pass and row of every push, as in `SHIFTS`, and by how much it shifts."""
    found = [((step, k, at[key]), s) for step, one in evidence.items() for k, key, s in _pushes(one)]
    return _whole_lines([line for line, _ in found], 3), np.array([s for _, s in found], dtype=np.float64)


def _place_lines(evidence: Mapping[int, StepEvidence]) -> tuple[IntArray, Array]:
    """Return step and number of every place, as in `PLACES`, and its coordinates."""
    found = [((step, k), x) for step, one in evidence.items() for k, x in _placed(one)]
    return _whole_lines([line for line, _ in found], 2), _joined(*(x[None] for _, x in found))


def _pushing(evidence: Mapping[int, StepEvidence]) -> set[str]:
    """Return the rows that push right after steps."""
    return {key for one in evidence.values() for key in one.forces}


def _tries(places: Mapping[tuple[int, int], Array]) -> dict[int, list[Array]]:
    """Return the places that steps tried first, in their order, by step, of all places by step and number."""
    tries: dict[int, list[Array]] = {}
    for (step, k), x in sorted(places.items(), key=lambda line: -line[0][1]):
        if k < -1:
            tries.setdefault(step, []).append(x)
    return tries


def of_arrays(arrays: Mapping[str, Any]) -> dict[int, StepEvidence]:
    """Return the evidence that `as_arrays` wrote.

    Raises
    ------
    KeyError, ValueError, IndexError
        Arrays that do not fit together; lines that say something twice, or of a step or a pass that there is not.
    """
    ids, passes = once("evidence/ids", [str(key) for key in arrays["ids"]]), _whole(arrays, "passes")
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
    _check_lines(arrays, passes)
    at = zip(_whole(arrays, "place_step"), arrays["place_pass"].tolist(), strict=True)
    places = dict(zip(at, arrays["place"], strict=True))
    tries = _tries(places)
    arcs, forces, foreseen = smooth.of_arrays(arrays), _forces(arrays, ids), _foreseen(arrays)
    return {
        step: StepEvidence(
            acts=tuple(found), place=places.get((step, -1)),
            shifts=tuple(Shift(pushes, places.get((step, k))) for k, pushes in enumerate(shifts[step])),
            foreseen=foreseen.get(step), tries=tuple(tries.get(step, ())), arcs=arcs.get(step, ()),
            forces=forces.get(step, {}),
        )
        for step, found in acts.items()
    }  # fmt: skip


def once(name: str, lines: Sequence[Any]) -> list[Any]:
    """Return lines of a table as a list, each of which is there once.

    Raises
    ------
    ValueError
        One is there twice.
    """
    found = list(lines)
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: {next(one for one in found if found.count(one) > 1)} twice")
    return found


def _check_lines(arrays: Mapping[str, Any], passes: Sequence[int]) -> None:
    """Raise ValueError where lines are there twice, or belong to no step, to no pass, to no try."""
    known = dict(zip(once("evidence/step", _whole(arrays, "step")), passes, strict=True))
    for names in (ACTING, SHIFTS, PLACES, FORCES, ("foreseen_step",)):
        if names[0] in arrays:
            lines = once(names[0], _rows_of(arrays, names))
            if strange := {line[0] for line in lines} - known.keys():
                raise ValueError(f"{names[0]}: {min(strange)}, which is no saved step")
    pushed = set(_rows_of(arrays, SHIFTS[:2]))
    _check_places(set(_rows_of(arrays, PLACES)), pushed)
    if len(pushed) != sum(known.values()) or any(not 0 <= k < known[step] for step, k in pushed):
        raise ValueError("shift_pass: passes in which nothing pushes")


def _check_places(placed: set[tuple[int, ...]], pushed: set[tuple[int, ...]]) -> None:
    """Raise ValueError where a place belongs to a pass in which nothing pushes, or to a try without the one before."""
    for step, k in placed:
        if (k >= 0 and (step, k) not in pushed) or (k < -2 and (step, k + 1) not in placed):
            raise ValueError(f"place_pass: {k} of step {step}, which has no such pass")


def _rows_of(arrays: Mapping[str, Any], names: Sequence[str]) -> list[tuple[int, ...]]:
    """Return columns of a table, line by line."""
    return list(zip(*(arrays[name].tolist() for name in names), strict=True))


def _foreseen(arrays: Mapping[str, Any]) -> dict[int, Array]:
    """Return the ends that steps with one contact problem have foreseen; older files have none."""
    if "foreseen" not in arrays:
        return {}
    return dict(zip(_whole(arrays, "foreseen_step"), arrays["foreseen"], strict=True))


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
    """Yield the rows that acted or pushed, some of them more than once."""
    yield from one.acts
    for shift in one.shifts:
        yield from shift.pushes


def _pushes(one: StepEvidence) -> Iterator[tuple[int, str, float]]:
    """Yield the pass, the row and the shift of every push."""
    for k, shift in enumerate(one.shifts):
        for key, s in shift.pushes.items():
            yield k, key, s


def _columns(names: tuple[str, ...], lines: IntArray) -> dict[str, Any]:
    """Return the columns of a table by name."""
    return {name: lines[:, k] for k, name in enumerate(names)}


def _whole_lines(lines: Sequence[tuple[int, ...]], width: int) -> IntArray:
    """Return lines of whole numbers as an array, which has its width also where there are none."""
    return np.array(lines, dtype=np.int64).reshape(-1, width)


def _whole(arrays: Mapping[str, Any], name: str) -> list[int]:
    """Return a column of whole numbers from 0; raise ValueError or IndexError for others."""
    found = arrays[name]
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} without whole numbers")
    if found.size and found.min() < 0:
        raise IndexError(f"{name} below 0")
    numbers: list[int] = found.tolist()
    return numbers
