"""The search for contacts, compiled: bounding boxes, near ones listed for a while, then pair by pair.

`find_features` is all that a compiled stepper calls; it allocates nothing.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array, IntArray
from .bounds.near_pairs import LEFT, MANY, list_pairs, mark_left
from .bounds.shape_tree import bounds_meet, next_shape, sort_by
from .box_box import ball_box, box_box
from .capsule_box import capsule_box
from .cylinders.cylinder_cylinder import cylinder_cylinder
from .cylinders.cylinder_round import ball_cylinder, capsule_cylinder, cylinder_plane
from .cylinders.cylinder_solid import cylinder_solid
from .ellipsoids.ellipsoid_round import ball_ellipsoid, capsule_ellipsoid, cylinder_ellipsoid, ellipsoid_ellipsoid
from .ellipsoids.ellipsoid_solid import ellipsoid_solid
from .primitives import A3, BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, I1, I2, KIND, MESH, NONE, SPHERE, SURFACE
from .round_shapes import ball_capsule, capsule_capsule, on_half_space, sphere_sphere
from .round_solid import ball_solid, capsule_solid
from .smooth_kinematics import ELLIPSOID_BALL, ELLIPSOID_ELLIPSOID, ELLIPSOID_PLANE, OFF
from .solid_solid import solid_solid
from .solids import BLOCK, on_plane
from .terrain.curved_on_surface import cylinder_on_surface, ellipsoid_on_surface
from .terrain.round_on_surface import ball_on_surface, capsule_on_surface
from .terrain.solid_on_surface import solid_on_surface
from .terrain.surface_search import HIGH, LOW
from .vectors import A1, A2

LABELS = 1 << 26  # more features than all shapes have; its square is below 2^53
FRAME, SIZE = 3, 12  # columns of `world`, before the bounds
FEW = 32  # shapes up to which every pair that may touch is looked at: no tree pays
DEEP = 0.02  # of its size: what is deeper in a surface has come in elsewhere


@kernel(f"float64({I2}, {A2}, {A2}, {A2}, int64, int64)", borrows=True)
def half_width(table: IntArray, forms: Array, solids: Array, world: Array, i: int, a: int) -> float:
    """Return how far shape i goes from its place along axis a of space, at most."""
    kind, m = table[i, 0], FRAME + 3 * a
    x, y, z = abs(world[i, m]), abs(world[i, m + 1]), abs(world[i, m + 2])
    if kind == BOX:
        return float(x * forms[i, 12] + y * forms[i, 13] + z * forms[i, 14])
    if kind == ELLIPSOID:
        x, y, z = x * forms[i, 12], y * forms[i, 13], z * forms[i, 14]
        return float(np.sqrt(x * x + y * y + z * z))
    if kind in (MESH, SURFACE):
        k = table[i, 4] + 1
        return float(x * solids[k, 2] + y * solids[k, 3] + z * solids[k, 4])
    if kind == CYLINDER:
        return float(np.sqrt(x * x + y * y) * forms[i, 12] + z * forms[i, 13])
    return float(forms[i, 12] + (z * forms[i, 13] if kind == CAPSULE else 0.0))


@kernel(f"void({I2}, {A2}, {A2}, {A3}, {A2}, int64)", borrows=True)
def place(table: IntArray, forms: Array, x: Array, R: Array, world: Array, i: int) -> None:
    """Put shape i into space."""
    b, own, out = table[i, 1], forms[i], world[i]
    for k in range(SIZE + 3):
        out[k] = own[k]
    for a in range(3 if b >= 0 else 0):
        r, s, t = R[b, a, 0], R[b, a, 1], R[b, a, 2]
        out[a] = (r * own[0] + s * own[1] + t * own[2]) + x[b, a]
        for c in range(FRAME, FRAME + 3):
            out[3 * a + c] = r * own[c] + s * own[c + 3] + t * own[c + 6]
    out[BLOCK] = table[i, 4]


@kernel(f"void({I2}, {A2}, {A2}, float64, {A1}, {A2}, int64)", borrows=True)
def put_bounds(
    table: IntArray, forms: Array, solids: Array, reach: float, travel: Array, world: Array, i: int
) -> None:  # fmt: skip
    """Put the bounds of shape i along the axes of space, which allow for reach and travel."""
    b, out = table[i, 1], world[i]
    margin = 0.5 * reach + (travel[b] if b >= 0 else 0.0)
    for a in range(3):
        extent = half_width(table, forms, solids, world, i, a)
        out[LOW + a], out[HIGH + a] = out[a] - extent - margin, out[a] + extent + margin


@kernel(f"boolean({I1}, int64)", borrows=True)
def listed(off: IntArray, key: int) -> bool:
    """Return whether a key is in a sorted list."""
    low, high = 0, len(off)
    while low < high:
        middle = (low + high) // 2
        if off[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(off) and off[low] == key


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet_mesh(world: Array, solids: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with mesh j."""
    if a == SPHERE:
        ball_solid(world, solids, i, 0, NONE, j, limit, found)
    elif a == CAPSULE:
        capsule_solid(world, solids, i, j, limit, found)
    else:
        solid_solid(world, solids, i, j, limit, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet_cylinder(world: Array, solids: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with cylinder j."""
    if a == SPHERE:
        ball_cylinder(world, i, 0, NONE, j, limit, found)
    elif a == CAPSULE:
        capsule_cylinder(world, i, j, limit, found)
    elif a == CYLINDER:
        cylinder_cylinder(world, solids, i, j, limit, room, found)
    else:
        cylinder_solid(world, solids, i, j, limit, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet_ellipsoid(
    world: Array, solids: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contact of shape i, of kind a, with ellipsoid j."""
    if a == SPHERE:
        ball_ellipsoid(world, i, 0, NONE, j, limit, found)
    elif a == CAPSULE:
        capsule_ellipsoid(world, i, j, limit, found)
    elif a == CYLINDER:
        cylinder_ellipsoid(world, solids, i, j, limit, room, found)
    elif a == ELLIPSOID:
        ellipsoid_ellipsoid(world, solids, i, j, limit, room, found)
    else:
        ellipsoid_solid(world, solids, i, j, limit, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet_surface(world: Array, solids: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with surface j."""
    touch = (i, j, limit, limit + DEEP * (world[i, HIGH] - world[i, LOW]))
    if a == SPHERE:
        ball_on_surface(world, solids, touch, NONE, world[i, SIZE], 0, found)
    elif a == CAPSULE:
        capsule_on_surface(world, solids, touch, found)
    elif a == CYLINDER:
        cylinder_on_surface(world, solids, touch, room, found)
    elif a == ELLIPSOID:
        ellipsoid_on_surface(world, solids, touch, room, found)
    elif a != HALF_SPACE:  # such pairs are refused when shapes are gathered, see `collision.Shapes`
        solid_on_surface(world, solids, touch, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2})", borrows=True)
def meet_half_space(world: Array, solids: Array, a: int, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with half-space j."""
    if a == MESH:
        on_plane(world, solids, i, j, limit, found)
    elif a == CYLINDER:
        cylinder_plane(world, i, j, limit, found)
    else:
        on_half_space(world, a, i, j, limit, found)


@kernel(f"void({A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet_box(world: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with box j."""
    if a == BOX:
        box_box(world, i, j, limit, room, found)
    elif a == CAPSULE:
        capsule_box(world, i, j, limit, found)
    else:
        ball_box(world, i, 0, NONE, j, limit, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def meet(
    world: Array, solids: Array, a: int, b: int, i: int, j: int, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contacts of shapes i and j of kinds a <= b; where the kinds are equal, i comes first."""
    if b == SURFACE:
        meet_surface(world, solids, a, i, j, limit, room, found)
    elif b == HALF_SPACE:
        meet_half_space(world, solids, a, i, j, limit, found)
    elif b == CYLINDER:
        meet_cylinder(world, solids, a, i, j, limit, room, found)
    elif b == MESH:
        meet_mesh(world, solids, a, i, j, limit, room, found)
    elif b == ELLIPSOID:
        meet_ellipsoid(world, solids, a, i, j, limit, room, found)
    elif b == BOX:
        meet_box(world, a, i, j, limit, room, found)
    elif a == CAPSULE:
        capsule_capsule(world, i, j, limit, found)
    elif b == CAPSULE:
        ball_capsule(world, i, 0, NONE, j, limit, found, 0)
    else:
        sphere_sphere(world, i, j, limit, found)


@kernel(f"void({I2}, {I1}, {A2}, {A2}, int64, int64, float64, {A1}, {A2}, {A2})", borrows=True)
def consider(
    table: IntArray, off: IntArray, solids: Array, world: Array, p: int, q: int, reach: float, travel: Array,
    room: Array, found: Array,
) -> None:  # fmt: skip
    """Add the contacts of two shapes, unless they belong to one body or never touch."""
    i, j = min(p, q), max(p, q)
    a, b = table[i, 1], table[j, 1]
    if a == b or (len(off) > 0 and listed(off, i * len(table) + j)):
        return
    limit = reach + (travel[a] if a >= 0 else 0.0) + (travel[b] if b >= 0 else 0.0)
    a, b = table[i, 0], table[j, 0]
    if a > b:
        meet(world, solids, b, a, j, i, limit, room, found)
    else:
        meet(world, solids, a, b, i, j, limit, room, found)


@kernel(f"void({I2}, {I1}, {A2}, float64, {A1}, {A2}, {A2}, {A2})", borrows=True)
def meet_half_spaces(
    table: IntArray, off: IntArray, solids: Array, reach: float, travel: Array, world: Array, room: Array, found: Array
) -> None:  # fmt: skip
    """Find the contacts of every shape with every half-space."""
    for i in range(len(table)):
        if table[i, 0] == HALF_SPACE:
            for j in range(len(table)):
                if table[j, 0] != HALF_SPACE:
                    consider(table, off, solids, world, j, i, reach, travel, room, found)


@kernel(f"void({I2}, {I1}, {I1})", borrows=True)
def list_few(table: IntArray, off: IntArray, kept: IntArray) -> None:
    """List all pairs of a few shapes that may ever touch, as `meet` takes them; there is room for those of `FEW`."""
    shapes, count = len(table), 0
    pairs = kept[1 + shapes :]
    for i in range(shapes):
        for j in range(i + 1, shapes):
            a, b = table[i, 0], table[j, 0]
            if table[i, 1] != table[j, 1] and min(a, b) != HALF_SPACE and not listed(off, i * shapes + j):
                pairs[2 * count], pairs[2 * count + 1] = (j, i) if a > b else (i, j)
                count += 1
    kept[0] = 1 + count


@kernel(f"boolean({I2}, {I1})", borrows=True)
def needs_bounds(table: IntArray, kept: IntArray) -> bool:
    """Return whether bounds tell of any pairs that they are far apart: not of those of few shapes with half-spaces."""
    if len(table) > FEW:
        return True
    pairs, some = kept[1 + len(table) :], False
    for k in range(kept[0] - 1):
        some = some or table[pairs[2 * k + 1], 0] != HALF_SPACE
    return some


@kernel(f"void({I2}, {A2}, float64, {A1}, {A2}, {I1}, {A2}, {A2})", borrows=True)
def meet_few(
    table: IntArray, solids: Array, reach: float, travel: Array, world: Array, kept: IntArray, room: Array, found: Array
) -> None:  # fmt: skip
    """Find the contacts of the pairs that `list_few` has listed."""
    pairs = kept[1 + len(table) :]
    for k in range(kept[0] - 1):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        kind, a, b = table[j, 0], table[i, 1], table[j, 1]
        if kind == HALF_SPACE or bounds_meet(world, i, j):
            limit = reach + (travel[a] if a >= 0 else 0.0) + (travel[b] if b >= 0 else 0.0)
            meet(world, solids, table[i, 0], kind, i, j, limit, room, found)


@kernel(f"void({I2}, {I1}, {A2}, float64, {A1}, {A2}, {I1}, int64, {I1}, int64, {A2}, {A2})", borrows=True)
def meet_left(
    table: IntArray, off: IntArray, solids: Array, reach: float, travel: Array, world: Array, kept: IntArray, n: int,
    left: IntArray, count: int, room: Array, found: Array,
) -> None:  # fmt: skip
    """Find the pairs of the shapes that have left their boxes: with one another, and with others in the tree."""
    shapes = len(table)
    curve = kept[1 : 1 + shapes]
    for s in range(count):
        i = left[s]
        for t in range(s):
            if bounds_meet(world, i, left[t]):
                consider(table, off, solids, world, i, left[t], reach, travel, room, found)
        t = next_shape(world, curve, shapes, n, i, LOW, 0)
        while t < n:
            if world[curve[t], LEFT] == 0.0 and bounds_meet(world, i, curve[t]):
                consider(table, off, solids, world, i, curve[t], reach, travel, room, found)
            t = next_shape(world, curve, shapes, n, i, LOW, t + 1)


@kernel(f"void({I2}, {I1}, {A2}, float64, {A1}, {A2}, {I1}, int64, {A2}, {A2})", borrows=True)
def meet_listed(
    table: IntArray, off: IntArray, solids: Array, reach: float, travel: Array, world: Array, kept: IntArray, n: int,
    room: Array, found: Array,
) -> None:  # fmt: skip
    """Find the pairs among those listed, whose shapes are still within their boxes; without a list, by the tree."""
    shapes = len(table)
    curve, pairs = kept[1 : 1 + shapes], kept[1 + shapes :]
    for k in range(kept[0] - 1):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        if bounds_meet(world, i, j) and world[i, LEFT] + world[j, LEFT] == 0.0:
            consider(table, off, solids, world, i, j, reach, travel, room, found)
    if kept[0] == 0:
        for s in range(n - 1):
            t = next_shape(world, curve, shapes, n, curve[s], LOW, s + 1)
            while t < n:
                if bounds_meet(world, curve[s], curve[t]):
                    consider(table, off, solids, world, curve[s], curve[t], reach, travel, room, found)
                t = next_shape(world, curve, shapes, n, curve[s], LOW, t + 1)


@kernel(f"void({I2}, {I1}, {A2}, float64, {A1}, {A2}, {A1}, {I1}, {I1}, {A2}, {A2})", borrows=True)
def meet_all(
    table: IntArray, off: IntArray, solids: Array, reach: float, travel: Array,
    world: Array, value: Array, kept: IntArray, left: IntArray, room: Array, found: Array,
) -> None:  # fmt: skip
    """Find the pairs whose bounds overlap, every shape with every half-space, and their contacts."""
    shapes, outside, n = len(table), 0, 0
    for i in range(shapes):
        n += table[i, 0] != HALF_SPACE
    if shapes <= FEW:
        meet_few(table, solids, reach, travel, world, kept, room, found)
        return
    meet_half_spaces(table, off, solids, reach, travel, world, room, found)
    if kept[0] > 0:
        outside = mark_left(world, kept[1 : 1 + shapes], n, left)
    if kept[0] == 0 or outside * outside > MANY * n:
        m = 0
        for i in range(shapes):
            if table[i, 0] != HALF_SPACE:
                world[i, LEFT], kept[1 + m], m = 0.0, i, m + 1
        list_pairs(world, value, kept, shapes, n)
        outside = 0
    meet_listed(table, off, solids, reach, travel, world, kept, n, room, found)
    meet_left(table, off, solids, reach, travel, world, kept, n, left, outside, room, found)


@kernel(f"void({I2}, int64, {A2}, {A1}, {I1})", borrows=True)
def put_in_order(table: IntArray, count: int, found: Array, value: Array, order: IntArray) -> None:
    """Fill `order` with the rows of the contacts in the order of their ids: shape and feature of A, then of B."""
    for c in range(count):
        row = found[c + 1]
        first = float(table[int(row[KIND + 1]), 2]) + row[KIND + 2]
        second = float(table[int(row[KIND + 3]), 3]) + row[KIND + 4]
        value[c], order[c] = first * LABELS + second, c
    sort_by(value, order, count)


@kernel(f"void({A2}, int64, {A2}, int64, int64, float64, {A2}, int64)", borrows=True)
def to_body(forms: Array, i: int, found: Array, k: int, column: int, origin: float, data: Array, c: int) -> None:
    """Turn a point (origin = 1) or direction (0) of shape i's frame into its body's frame."""
    x, y, z = found[k, column], found[k, column + 1], found[k, column + 2]
    for a in range(3):
        m = FRAME + 3 * a
        data[c, column + a] = origin * forms[i, a] + (forms[i, m] * x + forms[i, m + 1] * y + forms[i, m + 2] * z)


@kernel(f"void({A2}, int64, {A2}, int64, int64, int64)", borrows=True)
def put_matrix(forms: Array, i: int, data: Array, c: int, first: int, second: int) -> None:
    """Put the matrix of ellipsoid i in the axes of its body, three numbers in each of two places."""
    for a in range(3):
        b = (a + 1) % 3
        data[c, first + a], data[c, second + (a + 2) % 3] = 0.0, 0.0
        for k in range(3):
            h2 = forms[i, SIZE + k] * forms[i, SIZE + k]
            x, y = forms[i, FRAME + 3 * a + k], forms[i, FRAME + 3 * b + k]
            data[c, first + a] += h2 * x * x
            data[c, second + (a + 2) % 3] += h2 * x * y


@kernel(f"int64({I2}, {A2}, {A2}, {A1}, {I1}, {I1}, {I2}, {I2}, {A2})", borrows=True)
def fill_in(
    table: IntArray, forms: Array, found: Array, value: Array, order: IntArray,
    kind: IntArray, bodies: IntArray, label: IntArray, data: Array,
) -> int:  # fmt: skip
    """Fill the last four arrays with the contacts in `found`; see `find_features`."""
    count = int(found[0, 0])
    if count > len(kind):
        return count
    put_in_order(table, count, found, value, order)
    for c in range(count):
        k = order[c] + 1
        kind[c] = int(found[k, KIND])
        for a in range(4):
            label[c, a] = int(found[k, KIND + 1 + a])
        for a in range(2):
            i, column = label[c, 2 * a], 7 * a
            bodies[c, a] = table[i, 1]
            to_body(forms, i, found, k, column, 1.0, data, c)
            to_body(forms, i, found, k, column + 3, 0.0, data, c)
            data[c, column + 6] = found[k, column + 6]
        to_body(forms, label[c, 2], found, k, 14, 0.0, data, c)
        data[c, 17], data[c, 18] = found[k, 17], found[k, 18]
        for a in range(OFF, OFF + 6):
            data[c, a] = 0.0
        if kind[c] == ELLIPSOID_PLANE or kind[c] >= ELLIPSOID_BALL:
            put_matrix(forms, label[c, 0], data, c, 3, OFF)
        if kind[c] == ELLIPSOID_ELLIPSOID:
            put_matrix(forms, label[c, 2], data, c, 10, OFF + 3)
    return count


@kernel(
    f"int64({I2}, {A2}, {I1}, {A2}, {A2}, {A3}, float64, {A1}, {A2}, {A1}, {I1}, {A2}, {A2}, {I1}, {I2}, {I2}, {A2})",
    borrows=True,
    entry=True,
)
def find_features(
    table: IntArray, forms: Array, off: IntArray, solids: Array, x: Array, R: Array, reach: float, travel: Array,
    world: Array, value: Array, order: IntArray, room: Array, found: Array,
    kind: IntArray, bodies: IntArray, label: IntArray, data: Array,
) -> int:  # fmt: skip
    """Fill the last four arrays with all contacts and return how many there are; if more than fit, fill in nothing.

    Parameters
    ----------
    table, forms, off, solids : arrays
        The s shapes, see `collision.ShapeArrays`.
    x, R : Array, shape (n, 3) and (n, 3, 3)
        Poses of the bodies.
    reach : float
    travel : Array, shape (n,)
        Contacts are found whose gap is at most reach plus the travel of their two bodies, m.
    world, value, order, room, found : arrays
        Work space of shapes and boxes about them (s + b, 29), (m,), (p + m,), (k, 3) and (c + 1, 24) with m = max(s, c)
        and b, k and p as `Buffers` has them. World and order keep what saves the next search work, see `near_pairs`;
        it changes no contact.
    kind, bodies, label, data : arrays, shape (c,), (c, 2), (c, 4) and (c, 25)
        The contacts in the order of their ids: what `feature_kinematics` takes, numbers of the bodies A and B (-1 for
        the ground), and (shape A, feature, shape B, feature).
    """
    found[0, 0] = 0.0
    room_kept = len(order) - len(value)
    kept, order = order[:room_kept], order[room_kept:]
    if len(table) <= FEW and kept[0] == 0:
        list_few(table, off, kept)
    bounds = needs_bounds(table, kept)
    for i in range(len(table)):
        place(table, forms, x, R, world, i)
        if bounds:
            put_bounds(table, forms, solids, reach, travel, world, i)
    meet_all(table, off, solids, reach, travel, world, value, kept, order, room, found)
    return int(fill_in(table, forms, found, value, order, kind, bodies, label, data))


@kernel("boolean(int64, int64)", borrows=True)
def lasts(a: int, b: int) -> bool:
    """Return whether shapes of two kinds have the same contacts as long as they touch nowhere farther away.

    So it is of balls with balls, and of balls, capsules and boxes with half-spaces, where each corner has its own.
    """
    return max(a, b) == SPHERE or (max(a, b) == HALF_SPACE and min(a, b) in (SPHERE, CAPSULE, BOX))


@kernel(
    f"int64({I2}, {A2}, {I1}, {A2}, {A2}, {A3}, float64, {A1}, {A2}, {A1}, {I1}, {A2}, {A2}, {I2}, int64, {I1}, {I2}, "
    f"{I2}, {A2})",
    borrows=True,
)
def find_again(
    table: IntArray, forms: Array, off: IntArray, solids: Array, x: Array, R: Array, reach: float, travel: Array,
    world: Array, value: Array, order: IntArray, room: Array, found: Array, known: IntArray, n: int,
    kind: IntArray, bodies: IntArray, label: IntArray, data: Array,
) -> int:  # fmt: skip
    """Fill in the contacts of those pairs that have one of n known ones, their labels in `known`, and may have others.

    The rest is as in `find_features`.
    """
    found[0, 0] = 0.0
    for f in range(n):
        i, j = known[f, 0], known[f, 2]
        done = lasts(table[i, 0], table[j, 0])
        for g in range(f):
            a, b = known[g, 0], known[g, 2]
            done = done or (a == i and b == j) or (a == j and b == i)
        if done:
            continue
        for k in (i, j):
            place(table, forms, x, R, world, k)
            put_bounds(table, forms, solids, reach, travel, world, k)
        if max(table[i, 0], table[j, 0]) == HALF_SPACE or bounds_meet(world, i, j):
            consider(table, off, solids, world, i, j, reach, travel, room, found)
    return int(fill_in(table, forms, found, value, order[len(order) - len(value) :], kind, bodies, label, data))
