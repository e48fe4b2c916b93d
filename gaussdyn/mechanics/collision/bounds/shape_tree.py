"""Which bounding boxes overlap, compiled: shapes along a curve that fills space, and boxes about eight neighbours each.

The boxes of the tree stand in `world` behind the rows of the shapes, level by level from the lowest. Like the lowest
ones, about shapes, they are wide ones, see `near_pairs`, in columns `WIDE` to `WIDE` + 5. A shape costs what it meets
and a logarithm, whatever the sizes.
"""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ....arrays import Array, IntArray
from ..primitives import I1
from ..terrain.surface_search import LOW, boxes_below
from ..vectors import A1, A2

WIDE = 22  # column of `world`: lower and upper bounds of a box in which a shape may move
FAN = 8  # boxes in one of the next level
BITS = 17  # of the number of a cell along an axis: keys are below 2^51, exact as floats


@kernel(f"void({A1}, {I1}, int64)", borrows=True)
def sort_by(value: Array, order: IntArray, n: int) -> None:
    """Sort the first n numbers of `order` by value, those of equal value by number (Shell's method)."""
    step, run = 1, 1
    while run < n and value[order[run - 1]] < value[order[run]]:
        run += 1
    if run >= n:
        return
    while step < n // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(step, n):
            k, j = order[i], i
            while j >= step:
                m = order[j - step]
                if value[m] < value[k] or (value[m] == value[k] and m < k):
                    break
                order[j] = m
                j -= step
            order[j] = k
        step //= 3


@kernel("int64(int64)", borrows=True)
def spread_out(cell: int) -> int:
    """Return a number with two zeros put behind each of its bits."""
    cell = (cell | cell << 32) & 0x1F00000000FFFF
    cell = (cell | cell << 16) & 0x1F0000FF0000FF
    cell = (cell | cell << 8) & 0x100F00F00F00F00F
    cell = (cell | cell << 4) & 0x10C30C30C30C30C3
    return (cell | cell << 2) & 0x1249249249249249


@kernel(f"UniTuple(float64, 2)({A2}, {I1}, int64, int64)", borrows=True)
def places_between(world: Array, order: IntArray, n: int, a: int) -> tuple[float, float]:
    """Return between which values coordinate a of the first n shapes of `order` is."""
    low, high = np.inf, -np.inf
    for k in range(n):
        low, high = min(low, world[order[k], a]), max(high, world[order[k], a])
    return low, high


@kernel(f"void({A2}, {A1}, {I1}, int64)", borrows=True)
def along_curve(world: Array, value: Array, order: IntArray, n: int) -> None:
    """Sort the first n shapes of `order` by where their places are on Morton's curve through the cube about all."""
    x, y = places_between(world, order, n, 0), places_between(world, order, n, 1)
    z = places_between(world, order, n, 2)
    size = max(x[1] - x[0], y[1] - y[0], z[1] - z[0])
    cells = ((1 << BITS) - 1) / size if size > 0.0 else 0.0
    for k in range(n):
        i = order[k]
        key = spread_out(int(cells * (world[i, 0] - x[0])))
        key |= spread_out(int(cells * (world[i, 1] - y[0]))) << 1
        value[i] = float(key | spread_out(int(cells * (world[i, 2] - z[0]))) << 2)
    sort_by(value, order, n)


@kernel(f"int64({I1}, int64, int64, int64, int64)", borrows=True)
def box_row(order: IntArray, shapes: int, n: int, level: int, k: int) -> int:
    """Return the row of box k of a level: of a shape on level 0."""
    return order[k] if level == 0 else shapes + boxes_below(n, level) - n + k


@kernel(f"void({A2}, {I1}, int64, int64)", borrows=True)
def raise_tree(world: Array, order: IntArray, shapes: int, n: int) -> None:
    """Put the boxes of all levels behind the rows of the shapes, the first n of `order` being sorted."""
    level, size = 0, n
    while size > 1:
        above = (size + FAN - 1) // FAN
        for k in range(above):
            row = box_row(order, shapes, n, level + 1, k)
            for a in range(3):
                low, high = np.inf, -np.inf
                for m in range(FAN * k, min(FAN * k + FAN, size)):
                    part = box_row(order, shapes, n, level, m)
                    low, high = min(low, world[part, WIDE + a]), max(high, world[part, WIDE + 3 + a])
                world[row, WIDE + a], world[row, WIDE + 3 + a] = low, high
        level, size = level + 1, above


@kernel(f"boolean({A2}, int64, int64, int64, int64)", borrows=True)
def boxes_meet(world: Array, i: int, first: int, j: int, second: int) -> bool:
    """Return whether the box in row i from column `first` on overlaps that in row j from column `second` on."""
    apart = False
    for a in range(3):
        b = a + 3
        apart = apart or world[i, first + a] > world[j, second + b] or world[j, second + a] > world[i, first + b]
    return not apart


@kernel(f"boolean({A2}, int64, int64)", borrows=True)
def bounds_meet(world: Array, i: int, j: int) -> bool:
    """Return whether the bounds of two shapes overlap."""
    return bool(boxes_meet(world, i, LOW, j, LOW))


@kernel(f"int64({A2}, {I1}, int64, int64, int64, int64, int64)", borrows=True)
def next_shape(world: Array, order: IntArray, shapes: int, n: int, i: int, column: int, place: int) -> int:
    """Return the first place in `order`, from `place` on, whose wide box meets that of shape i in `column`; n at last.

    The way is that of `terrain.surface_search.next_triangle`.
    """
    while place < n:
        level, size = 0, n
        while size > 1 and place % (1 << 3 * (level + 1)) == 0:
            level += 1
            size = (size + FAN - 1) // FAN
        while level >= 0 and boxes_meet(world, i, column, box_row(order, shapes, n, level, place >> 3 * level), WIDE):
            level -= 1
        if level < 0:
            return place
        place += 1 << 3 * level
    return n
