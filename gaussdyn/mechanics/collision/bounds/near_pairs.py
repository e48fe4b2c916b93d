"""Pairs of shapes that may meet for a while, compiled: listed once, while shapes stay within wide boxes.

A shape that stays within its box costs a look at that, and so does each pair listed; those that have left look for
others in the tree. When too many have, boxes and list are made anew. So what rests is not searched again, and a pair
costs the same in a crowd of any size. Which pairs' bounds meet does not depend on the list, only who looks for them.

`kept`, whole numbers: one more than the pairs listed (0: no list), the shapes along the curve, and room for the pairs.
`world` has a shape's wide box in columns `WIDE` on, and in column `LEFT` whether the shape has left it.

Source: L. Verlet, Computer "experiments" on classical fluids I, Phys. Rev. 159 (1967), for such lists.
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array, IntArray
from ..primitives import I1
from ..terrain.surface_search import HIGH, LOW
from ..vectors import A1, A2
from .shape_tree import WIDE, along_curve, next_shape, raise_tree

LEFT = WIDE + 6  # column of `world`
ROOMY = 0.1  # of the smallest side of its bounds: how far a shape may move in its box
MANY = 4  # times the number of shapes: the square of how many may be outside their boxes


@kernel(f"void({A2}, {I1}, int64)", borrows=True)
def widen(world: Array, curve: IntArray, n: int) -> None:
    """Put a wide box about each of the first n shapes of a curve."""
    for k in range(n):
        i, room = curve[k], 1e300
        for a in range(3):
            room = min(room, ROOMY * (world[i, HIGH + a] - world[i, LOW + a]))
        for a in range(3):
            world[i, WIDE + a], world[i, WIDE + 3 + a] = world[i, LOW + a] - room, world[i, HIGH + a] + room


@kernel(f"int64({A2}, {I1}, int64, {I1})", borrows=True)
def mark_left(world: Array, curve: IntArray, n: int, left: IntArray) -> int:
    """Mark the shapes that have left their boxes, fill them into `left`, and return how many there are."""
    found = 0
    for k in range(n):
        i, inside = curve[k], True
        for a in range(3):
            inside = inside and world[i, WIDE + a] <= world[i, LOW + a] and world[i, HIGH + a] <= world[i, WIDE + 3 + a]
        world[i, LEFT] = 0.0 if inside else 1.0
        if not inside:
            left[found] = i
            found += 1
    return found


@kernel(f"void({A2}, {A1}, {I1}, int64, int64)", borrows=True)
def list_pairs(world: Array, value: Array, kept: IntArray, shapes: int, n: int) -> None:
    """Make boxes, tree and list anew for the n shapes in the first places of the curve; no list if it were too long."""
    curve, count, most = kept[1 : 1 + shapes], 0, (len(kept) - 1 - shapes) // 2
    along_curve(world, value, curve, n)
    widen(world, curve, n)
    raise_tree(world, curve, shapes, n)
    for s in range(n - 1):
        t = next_shape(world, curve, shapes, n, curve[s], WIDE, s + 1)
        while t < n:
            if count < most:
                kept[1 + shapes + 2 * count], kept[2 + shapes + 2 * count] = curve[s], curve[t]
            count += 1
            t = next_shape(world, curve, shapes, n, curve[s], WIDE, t + 1)
    kept[0] = 1 + count if count <= most else 0
