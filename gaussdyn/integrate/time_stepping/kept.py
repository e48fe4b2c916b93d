"""What is kept of steps that are taken in one call, a row for each: kernels write it, runs read it in bulk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._jit import A2, A3, I2, record
from ...arrays import Array, IntArray
from .scheme import PASSES

ROWS, SHIFTED, PLACED, TRIED = range(4)  # columns of `Kept.found`
ROOM = 4_000_000  # numbers that one call may leave behind
Shapes = tuple[list[tuple[int, ...]], list[tuple[int, ...]]]
SMALL = 4_000  # numbers that are sooner copied than looked through for those that are used


@record(*[A2] * 9, *[I2] * 5, A3, A3, A3)
class Kept(NamedTuple):
    """n steps in a row, with room for R constraints that have m rows.

    Where no record is asked for all but `log`, `q` and `v` have one row, in which `last`, `start`, `label` and how many
    constraints there were are those of the last step.

    Attributes
    ----------
    log : Array, shape (n, LOGGED)
        See `Data.log`; AT is negative where the constraint closed in a crowd.
    q, v, middle, foreseen : Array, shape (n, nq), (n, nv) or (n, nq + nv)
        At the ends of the steps, where their contact problems stood, and what these were for, see `Data.foreseen`.
    gap : Array, shape (n, R)
        At the ends.
    p, last : Array, shape (n, m)
        Impulses of what acted, and those that the next step remembers.
    limit : Array, shape (n, 6 R)
        Laws at the ends, see `Rows.law`.
    mode, acts : IntArray, shape (n, R)
        What constraints did, -1: nothing; whether they acted, dampers aside.
    start : IntArray, shape (n, R + 1)
        See `Layout.start`.
    label : IntArray, shape (n, 4 R)
        Of contacts of shapes.
    found : IntArray, shape (n, 4)
        How many constraints there were, how many passes the projection took, whether the middle may have been moved,
        how many tries there were.
    shifts, places : Array, shapes (n, passes, R) and (n, passes, nq)
        See `Push`.
    tries : Array, shape (n, tries, nq)
        See `Step.tries`.
    """

    log: Array
    q: Array
    v: Array
    middle: Array
    foreseen: Array
    gap: Array
    p: Array
    last: Array
    limit: Array
    mode: IntArray
    acts: IntArray
    start: IntArray
    label: IntArray
    found: IntArray
    shifts: Array
    places: Array
    tries: Array

    def chosen(self, steps: slice | IntArray) -> Kept:
        """Return some of the steps, with no more room than they need."""
        found = self.found[steps]
        R, passes, tries = found[:, [ROWS, SHIFTED, TRIED]].max(axis=0, initial=0).tolist()
        start = self.start[steps, : R + 1].copy()
        m = int(start.max(initial=0))
        parts: list[Any] = [x[steps].copy() for x in self[:5]]
        parts += [self.gap[steps, :R].copy(), self.p[steps, :m].copy(), self.last[steps, :m].copy()]
        parts += [self.limit[steps, : 6 * R].copy(), self.mode[steps, :R].copy(), self.acts[steps, :R].copy()]
        parts += [start, self.label[steps, : 4 * R].copy(), found.copy()]
        parts += [self.shifts[steps, :passes, :R].copy(), self.places[steps, :passes].copy()]
        return Kept._make([*parts, self.tries[steps, :tries].copy()])


class Room(NamedTuple):
    """Arrays of `Kept` that lie one behind the other, so that a copy of all of them is soon made.

    Attributes
    ----------
    kept : Kept
    floats, numbers : Array and IntArray
        All of its entries.
    shapes : pair of list
        Of its arrays of either kind, in the order of `Kept`.
    """

    kept: Kept
    floats: Array
    numbers: IntArray
    shapes: Shapes

    def copied(self) -> Callable[[], Kept]:
        """Return what gives that which is kept now."""
        if len(self.floats) > SMALL:
            kept = self.kept.chosen(slice(None))
            return lambda: kept
        floats, numbers = self.floats.copy(), self.numbers.copy()
        return lambda: _placed(floats, numbers, self.shapes)


def kept_room(
    n: int, logged: int, sizes: tuple[int, int, int, int, int], R: int, m: int, tries: int, whole: bool = True
) -> Room:  # fmt: skip
    """Return room for n steps, or for as many as fit; sizes: of four vectors and of limits; whole: for all of each."""
    most = logged + sum(sizes) + 2 * m + 9 * R + sizes[2]  # one pass, no try: what is not written takes no memory
    n = max(1, min(n, ROOM // most))
    rows = n if whole else 1
    floats = [(n, k) for k in (logged, *sizes[:2])] + [(rows, k) for k in (*sizes[2:4], R, m, m, sizes[4])]
    shapes: Shapes = (
        [*floats, (rows, PASSES, R), (rows, PASSES, sizes[2]), (rows, tries, sizes[0])],
        [(rows, k) for k in (R, R, R + 1, 4 * R, 4)],
    )
    real = np.empty(sum(map(prod, shapes[0])))
    numbers = np.zeros(sum(map(prod, shapes[1])), dtype=np.int64)
    return Room(_placed(real, numbers, shapes), real, numbers, shapes)


def _placed(floats: Array, numbers: IntArray, shapes: Shapes) -> Kept:
    """Return the arrays that lie in these."""
    found: list[list[Any]] = [[], []]
    for own, flat, parts in zip(found, (floats, numbers), shapes, strict=True):
        at = 0
        for shape in parts:
            own.append(flat[at : at + prod(shape)].reshape(shape))
            at += prod(shape)
    return Kept._make([*found[0][:9], *found[1], *found[0][9:]])


@lru_cache(maxsize=256)
def numbered(ids: tuple[str, ...]) -> Mapping[str, int]:
    """Return where each id stands."""
    return {id: k for k, id in enumerate(ids)}
