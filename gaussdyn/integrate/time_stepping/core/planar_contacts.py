"""The contacts of shapes in the plane, as rows of the tables of a planar system."""

from __future__ import annotations

from ...._jit import I2, kernel
from ....arrays import IntArray
from ....mechanics.planar.clipping import NX, NY, X, Y
from ....mechanics.planar.row_kernels import (
    AT_A,
    AT_B,
    BELT,
    CONTACT,
    DISC,
    GAP,
    KIND,
    LENGTH,
    NORMAL,
    RADIUS,
    TURNS_A,
    TURNS_B,
    A,
    B,
    clear_contact,
    planar_rows,
)
from ....mechanics.planar.search import BELT as SURFACE
from ....mechanics.planar.search import BODY, FIRST, SKIN, find_touches
from ..scheme import ALLOWED
from .evaluate import put_state
from .projection import limit
from .records import (
    ALL,
    ALL_ROWS,
    FIXED,
    FIXED_ROWS,
    HIGH,
    LOW,
    NODE,
    NODES,
    POSITION,
    UNILATERAL,
    Data,
    Model,
    Planar,
    Touches,
)
from .records import CONTACT as ROUGH

LABELS = 1 << 16  # of features of one shape, at most
SIZE = 6  # column of `Touches.laws`: number of rows


@kernel(f"int64({I2}, int64)", borrows=True)
def place_of(found: IntArray, f: int) -> int:
    """Return a number that grows with the contact's place in the list."""
    return int(((found[f, 0] * 3 + found[f, 1] + 1) * LABELS + found[f, 2]) * LABELS + found[f, 3])


@kernel(f"void(Planar, Touches, {I2}, int64, int64)", borrows=True)
def enter_touch(planar: Planar, touches: Touches, found: IntArray, f: int, entry: int) -> None:
    """Enter contact f of a list into the tables: a corner on an edge, or two corners, skins around them."""
    o, side, numbers, data = touches.outlines, found[f, 1], planar.numbers[entry], planar.data[entry]
    first, second = o.pairs[found[f, 0], 0], o.pairs[found[f, 0], 1]
    inner, outer = (second, first) if side == 1 else (first, second)
    at, edge = o.table[o.solids[inner, FIRST] + found[f, 2]], o.table[o.solids[outer, FIRST] + found[f, 3]]
    clear_contact(planar.numbers, entry, planar.J)  # what stood there
    numbers[KIND] = DISC if side < 0 else CONTACT
    numbers[A], numbers[B] = o.solids[inner, BODY], o.solids[outer, BODY]
    numbers[TURNS_A], numbers[TURNS_B] = int(numbers[A] >= 0), int(numbers[B] >= 0)
    skin = o.sizes[outer, SKIN] if side >= 0 else 0.0
    data[AT_A], data[AT_A + 1] = at[X], at[Y]
    data[AT_B], data[AT_B + 1] = edge[X] + skin * edge[NX], edge[Y] + skin * edge[NY]
    data[NORMAL], data[NORMAL + 1] = edge[NX], edge[NY]
    data[RADIUS], data[LENGTH] = o.sizes[inner, SKIN], o.sizes[outer, SKIN]
    data[BELT] = o.sizes[outer, SURFACE] if side >= 0 else 0.0


@kernel("int64(Touches, int64, int64)", borrows=True)
def enter_late(touches: Touches, n: int, late: int) -> int:
    """Enter a contact that was overlooked among the n that are listed, if it is none; return how many there are."""
    found, place, k = touches.found, place_of(touches.late, late), min(n, len(touches.found))
    while k > 0 and place_of(found, k - 1) > place:
        k -= 1
    if k > 0 and place_of(found, k - 1) == place:
        return n
    for i in range(min(n, len(found) - 1), k, -1):
        for c in range(4):
            found[i, c] = found[i - 1, c]
    for c in range(4 if k < len(found) else 0):
        found[k, c] = touches.late[late, c]
    return n + 1


@kernel("int64(Model, Data, float64)", borrows=True, rare=True)
def find_planar(model: Model, data: Data, dt: float) -> int:
    """Find the contacts that may act within dt; return how many there are, which may be more than fit."""
    touches, place = model.touches, model.carried.place
    n = find_touches(touches.outlines, data.q, data.v, dt, touches.pull[0], touches.found)
    for k in range(touches.missed[0]):
        n = enter_late(touches, n, k)
    touches.missed[0] = 0
    for f in range(min(n, len(place))):
        place[f] = place_of(touches.found, f)
    return int(n)


@kernel("void(Model, int64)", borrows=True, rare=True)
def lay_out_planar(model: Model, contacts: int) -> None:
    """Give the contacts their rows."""
    layout, planar, touches = model.layout, model.planar, model.touches
    joints, row, solids = layout.counts[FIXED], layout.counts[FIXED_ROWS], touches.outlines.solids
    for f in range(contacts):
        k, pair = joints + f, touches.found[f, 0]
        enter_touch(planar, touches, touches.found, f, k + planar.beside)
        for c in range(6):
            planar.law[k, c] = touches.laws[pair, c]
        size = int(touches.laws[pair, SIZE])
        layout.kind[k], layout.level[k], layout.start[k] = ROUGH if size > 1 else UNILATERAL, POSITION, row
        a, b = solids[touches.outlines.pairs[pair, 0], BODY], solids[touches.outlines.pairs[pair, 1], BODY]
        low, high = (min(a, b) if min(a, b) >= 0 else max(a, b)), max(a, b) + 3
        for i in range(row, row + size):
            layout.reach[i, NODE] = layout.reach[i, LOW] = low
            layout.reach[i, NODES] = layout.reach[i, HIGH] = high
        row += size
    for k in range(joints + contacts, len(layout.start)):
        layout.start[k] = row
    layout.counts[ALL], layout.counts[ALL_ROWS] = joints + contacts, row


@kernel("boolean(Model, Data)", borrows=True, rare=True)
def overlooked_planar(model: Model, data: Data) -> bool:
    """Return whether shapes overlap at the end of the step in contacts that are not listed: these are `late` then."""
    touches, planar, nv, f = model.touches, model.planar, len(data.v), 0
    touches.missed[0] = 0
    n, spare = model.layout.counts[ALL] - model.layout.counts[FIXED], len(planar.numbers) - 1
    found = find_touches(touches.outlines, data.q1, data.v1, 0.0, 0.0, touches.ahead)
    if found > len(touches.ahead):
        return True
    put_state(planar, data.q1, data.v1)
    for k in range(found):
        place = place_of(touches.ahead, k)
        while f < n and model.carried.place[f] < place:
            f += 1
        if f < n and model.carried.place[f] == place:
            continue
        enter_touch(planar, touches, touches.ahead, k, spare)
        planar_rows(
            planar.y, nv, planar.numbers[spare:], planar.data[spare:], planar.J[2 * spare :], planar.found[spare:]
        )  # fmt: skip
        if planar.found[spare, GAP] < -limit(ALLOWED, data.q1):
            for c in range(4):
                touches.late[touches.missed[0], c] = touches.ahead[k, c]
            touches.missed[0] += 1
    return bool(touches.missed[0] > 0)
