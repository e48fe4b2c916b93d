"""The search for contacts, compiled: bounding boxes, near ones listed for a while, then pair by pair.

`find_features` is all that a compiled stepper calls; it allocates nothing.
"""

from __future__ import annotations

from ..._jit import kernel
from ...arrays import Array, IntArray
from .bounds.coincident import has_siblings, is_needless
from .bounds.near_pairs import LEFT, MANY, list_pairs, mark_left
from .bounds.search_records import LABELS, SHAPE_BODY, SHAPE_KIND, ContactList, SearchShapes, SearchSpace
from .bounds.shape_bounds import place, put_bounds
from .bounds.shape_tree import bounds_meet, next_shape, sort_by
from .box_box import ball_box, box_box
from .capsule_box import capsule_box
from .cylinders.cylinder_cylinder import cylinder_cylinder
from .cylinders.cylinder_round import ball_cylinder, capsule_cylinder, cylinder_plane
from .cylinders.cylinder_solid import cylinder_solid
from .ellipsoids.ellipsoid_round import ball_ellipsoid, capsule_ellipsoid, cylinder_ellipsoid, ellipsoid_ellipsoid
from .ellipsoids.ellipsoid_solid import ellipsoid_solid
from .primitives import (
    A3,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FRAME,
    HALF_SPACE,
    I1,
    I2,
    KIND,
    MESH,
    NONE,
    SIZE,
    SPHERE,
    SURFACE,
)
from .round_shapes import ball_capsule, capsule_capsule, on_half_space, sphere_sphere
from .round_solid import ball_solid, capsule_solid
from .smooth_kinematics import ELLIPSOID_BALL, ELLIPSOID_ELLIPSOID, ELLIPSOID_PLANE, OFF
from .solid_solid import solid_solid
from .solids import on_plane
from .terrain.curved_on_surface import cylinder_on_surface, ellipsoid_on_surface
from .terrain.round_on_surface import ball_on_surface, capsule_on_surface
from .terrain.solid_on_surface import solid_on_surface
from .terrain.surface_search import HIGH, LOW
from .vectors import A1, A2

FEW = 32  # shapes up to which every pair that may touch is looked at: no tree pays
DEEP = 0.02  # of its size: what is deeper in a surface has come in elsewhere


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


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True, rare=True)
def meet_mesh(world: Array, solids: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with mesh j."""
    if a == SPHERE:
        ball_solid(world, solids, i, 0, NONE, j, limit, found)
    elif a == CAPSULE:
        capsule_solid(world, solids, i, j, limit, found)
    else:
        solid_solid(world, solids, i, j, limit, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True, rare=True)
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


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True, rare=True)
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


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True, rare=True)
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


@kernel(f"void({A2}, {A2}, int64, int64, int64, float64, {A2})", borrows=True, rare=True)
def meet_half_space(world: Array, solids: Array, a: int, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with half-space j."""
    if a == MESH:
        on_plane(world, solids, i, j, limit, found)
    elif a == CYLINDER:
        cylinder_plane(world, i, j, limit, found)
    else:
        on_half_space(world, a, i, j, limit, found)


@kernel(f"void({A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True, rare=True)
def meet_box(world: Array, a: int, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with box j."""
    if a == BOX:
        box_box(world, i, j, limit, room, found)
    elif a == CAPSULE:
        capsule_box(world, i, j, limit, found)
    else:
        ball_box(world, i, 0, NONE, j, limit, found)


@kernel(f"void({A2}, int64, int64, int64, float64, {A2})", borrows=True, rare=True)
def meet_capsule(world: Array, a: int, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of shape i, of kind a, with capsule j."""
    if a == CAPSULE:
        capsule_capsule(world, i, j, limit, found)
    else:
        ball_capsule(world, i, 0, NONE, j, limit, found, 0)


@kernel("void(SearchShapes, SearchSpace, int64, int64, float64)", borrows=True)
def meet(shapes: SearchShapes, space: SearchSpace, i: int, j: int, limit: float) -> None:
    """Add the contacts of shapes i and j, of kinds a <= b; where the kinds are equal, i comes first."""
    world, room, found, solids = space.world, space.room, space.found, shapes.solids
    a, b = shapes.table[i, SHAPE_KIND], shapes.table[j, SHAPE_KIND]
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
    elif b == CAPSULE:
        meet_capsule(world, a, i, j, limit, found)
    else:
        sphere_sphere(world, i, j, limit, found)


@kernel("boolean(SearchShapes, SearchSpace, int64, int64)", inline=True, borrows=True)
def rest(shapes: SearchShapes, space: SearchSpace, i: int, j: int) -> bool:
    """Return whether two shapes both stay where they are."""
    a, b, awake = shapes.table[i, SHAPE_BODY], shapes.table[j, SHAPE_BODY], space.awake[0]
    return bool((a < 0 or a >= awake) and (b < 0 or b >= awake))


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1}, int64, int64)", borrows=True)
def consider(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array, p: int, q: int) -> None:
    """Add the contacts of two shapes, unless they belong to one body or never touch."""
    table, off, i, j = shapes.table, shapes.off, min(p, q), max(p, q)
    a, b = table[i, SHAPE_BODY], table[j, SHAPE_BODY]
    if a == b or rest(shapes, space, i, j) or (len(off) > 0 and listed(off, i * len(table) + j)):
        return
    limit = reach + (travel[a] if a >= 0 else 0.0) + (travel[b] if b >= 0 else 0.0)
    if table[i, SHAPE_KIND] > table[j, SHAPE_KIND]:
        i, j = j, i
    meet(shapes, space, i, j, limit)


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1})", borrows=True)
def meet_half_spaces(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array) -> None:
    """Find the contacts of every shape with every half-space."""
    table = shapes.table
    for i in range(len(table)):
        if table[i, SHAPE_KIND] == HALF_SPACE:
            for j in range(len(table)):
                if table[j, SHAPE_KIND] != HALF_SPACE:
                    consider(shapes, space, reach, travel, j, i)


@kernel(f"void(SearchShapes, {I1})", borrows=True)
def list_few(shapes: SearchShapes, near: IntArray) -> None:
    """List all pairs of a few shapes that may ever touch, as `meet` takes them; there is room for those of `FEW`."""
    table, off, count = shapes.table, shapes.off, 0
    pairs = near[1 + len(table) :]
    for i in range(len(table)):
        for j in range(i + 1, len(table)):
            a, b = table[i, SHAPE_KIND], table[j, SHAPE_KIND]
            if (
                table[i, SHAPE_BODY] != table[j, SHAPE_BODY]
                and min(a, b) != HALF_SPACE
                and not listed(off, i * len(table) + j)
            ):
                pairs[2 * count], pairs[2 * count + 1] = (j, i) if a > b else (i, j)
                count += 1
    near[0] = 1 + count


@kernel(f"boolean({I2}, {I1})", borrows=True)
def needs_bounds(table: IntArray, near: IntArray) -> bool:
    """Return whether bounds tell of any pairs that they are far apart: not of those of few shapes with half-spaces."""
    if len(table) > FEW:
        return True
    pairs, some = near[1 + len(table) :], False
    for k in range(near[0] - 1):
        some = some or table[pairs[2 * k + 1], SHAPE_KIND] != HALF_SPACE
    return some


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1})", borrows=True)
def meet_few(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array) -> None:
    """Find the contacts of the pairs that `list_few` has listed."""
    table, world = shapes.table, space.world
    pairs = space.near[1 + len(table) :]
    for k in range(space.near[0] - 1):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        if (table[j, SHAPE_KIND] == HALF_SPACE or bounds_meet(world, i, j)) and not rest(shapes, space, i, j):
            a, b = table[i, SHAPE_BODY], table[j, SHAPE_BODY]
            limit = reach + (travel[a] if a >= 0 else 0.0) + (travel[b] if b >= 0 else 0.0)
            meet(shapes, space, i, j, limit)


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1}, int64, int64)", borrows=True)
def meet_left(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array, n: int, count: int) -> None:
    """Find the pairs of the shapes that have left their boxes: with one another, and with others in the tree."""
    world, left, size = space.world, space.order, len(shapes.table)
    curve = space.near[1 : 1 + size]
    for s in range(count):
        i = left[s]
        for t in range(s):
            if bounds_meet(world, i, left[t]):
                consider(shapes, space, reach, travel, i, left[t])
        t = next_shape(world, curve, size, n, i, LOW, 0)
        while t < n:
            if world[curve[t], LEFT] == 0.0 and bounds_meet(world, i, curve[t]):
                consider(shapes, space, reach, travel, i, curve[t])
            t = next_shape(world, curve, size, n, i, LOW, t + 1)


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1}, int64)", borrows=True)
def meet_listed(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array, n: int) -> None:
    """Find the pairs among those listed, whose shapes are still within their boxes; without a list, by the tree."""
    world, near, size = space.world, space.near, len(shapes.table)
    curve, pairs = near[1 : 1 + size], near[1 + size :]
    for k in range(near[0] - 1):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        if not rest(shapes, space, i, j) and bounds_meet(world, i, j) and world[i, LEFT] + world[j, LEFT] == 0.0:
            consider(shapes, space, reach, travel, i, j)
    if near[0] == 0:
        for s in range(n - 1):
            t = next_shape(world, curve, size, n, curve[s], LOW, s + 1)
            while t < n:
                if bounds_meet(world, curve[s], curve[t]):
                    consider(shapes, space, reach, travel, curve[s], curve[t])
                t = next_shape(world, curve, size, n, curve[s], LOW, t + 1)


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1})", borrows=True, rare=True)
def meet_many(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array) -> None:
    """Find the contacts of more shapes than `FEW`, by lists of those that are near and the tree of their bounds."""
    table, world, near, size, outside, n = shapes.table, space.world, space.near, len(shapes.table), 0, 0
    for i in range(size):
        n += table[i, SHAPE_KIND] != HALF_SPACE
    meet_half_spaces(shapes, space, reach, travel)
    if near[0] > 0:
        outside = mark_left(world, near[1 : 1 + size], n, space.order)
    if near[0] == 0 or outside * outside > MANY * n:
        m = 0
        for i in range(size):
            if table[i, SHAPE_KIND] != HALF_SPACE:
                world[i, LEFT], near[1 + m], m = 0.0, i, m + 1
        list_pairs(world, space.rank, near, size, n)
        outside = 0
    meet_listed(shapes, space, reach, travel, n)
    meet_left(shapes, space, reach, travel, n, outside)


@kernel(f"void(SearchShapes, SearchSpace, float64, {A1})", borrows=True, rare=True)
def meet_all(shapes: SearchShapes, space: SearchSpace, reach: float, travel: Array) -> None:
    """Find the pairs whose bounds overlap, every shape with every half-space, and their contacts."""
    if len(shapes.table) <= FEW:
        meet_few(shapes, space, reach, travel)
    else:
        meet_many(shapes, space, reach, travel)


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


@kernel(f"void(SearchShapes, {A2}, int64, ContactList, int64)", borrows=True)
def put_contact(shapes: SearchShapes, found: Array, k: int, out: ContactList, c: int) -> None:
    """Put what is found in a row as contact c, in the frames of the bodies."""
    table, forms, (kind, bodies, label, data) = shapes.table, shapes.forms, out
    kind[c] = int(found[k, KIND])
    for a in range(4):
        label[c, a] = int(found[k, KIND + 1 + a])
    for a in range(2):
        i, column = label[c, 2 * a], 7 * a
        bodies[c, a] = table[i, SHAPE_BODY]
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


@kernel("int64(SearchShapes, SearchSpace, ContactList)", borrows=True)
def fill_in(shapes: SearchShapes, space: SearchSpace, out: ContactList) -> int:
    """Fill `out` with the contacts found, each once; see `find_features`."""
    table, found, order, count = shapes.table, space.found, space.order, int(space.found[0, 0])
    if count > len(out.kind):
        return count
    put_in_order(table, count, found, space.rank, order)
    kept = 0
    for c in range(count):
        put_contact(shapes, found, order[c] + 1, out, kept)
        akin = has_siblings(table, out.label[kept, 0]) or has_siblings(table, out.label[kept, 2])
        kept += 0 if akin and is_needless(shapes, found, order[c] + 1, out, kept) else 1
    return kept


@kernel(f"int64(SearchShapes, {A2}, {A3}, float64, {A1}, SearchSpace, ContactList)", borrows=True, entry=True)
def find_features(
    shapes: SearchShapes, x: Array, R: Array, reach: float, travel: Array, space: SearchSpace, out: ContactList
) -> int:
    """Fill `out` with all contacts and return how many there are; if more than fit, fill in nothing.

    Parameters
    ----------
    shapes : SearchShapes
    x, R : Array, shape (n, 3) and (n, 3, 3)
        Poses of the bodies.
    reach : float
    travel : Array, shape (n,)
        Contacts are found whose gap is at most reach plus the travel of their two bodies, m.
    space : SearchSpace
    out : ContactList
    """
    table, world, near = shapes.table, space.world, space.near
    space.found[0, 0] = 0.0
    if len(table) <= FEW and near[0] == 0:
        list_few(shapes, near)
    bounds = needs_bounds(table, near)
    for i in range(len(table)):
        if table[i, SHAPE_BODY] < space.awake[0]:
            place(shapes, x, R, world, i)
            if bounds:
                put_bounds(shapes, reach, travel, world, i)
    meet_all(shapes, space, reach, travel)
    return int(fill_in(shapes, space, out))


@kernel("boolean(int64, int64)", borrows=True)
def lasts(a: int, b: int) -> bool:
    """Return whether shapes of two kinds have the same contacts as long as they touch nowhere farther away.

    So it is of balls with balls, and of balls, capsules and boxes with half-spaces, where each corner has its own.
    """
    return max(a, b) == SPHERE or (max(a, b) == HALF_SPACE and min(a, b) in (SPHERE, CAPSULE, BOX))


@kernel(f"int64(SearchShapes, {A2}, {A3}, float64, {A1}, SearchSpace, {I2}, ContactList)", borrows=True)
def find_again(
    shapes: SearchShapes, x: Array, R: Array, reach: float, travel: Array, space: SearchSpace, known: IntArray,
    out: ContactList,
) -> int:  # fmt: skip
    """Fill in the contacts of those pairs that have one of the known ones, given by labels, and may have others.

    The rest is as in `find_features`.
    """
    table, world = shapes.table, space.world
    space.found[0, 0] = 0.0
    for f in range(len(known)):
        i, j = known[f, 0], known[f, 2]
        done = lasts(table[i, SHAPE_KIND], table[j, SHAPE_KIND])
        for g in range(f):
            a, b = known[g, 0], known[g, 2]
            done = done or (a == i and b == j) or (a == j and b == i)
        if done:
            continue
        for k in (i, j):
            place(shapes, x, R, world, k)
            put_bounds(shapes, reach, travel, world, k)
        if max(table[i, SHAPE_KIND], table[j, SHAPE_KIND]) == HALF_SPACE or bounds_meet(world, i, j):
            consider(shapes, space, reach, travel, i, j)
    return int(fill_in(shapes, space, out))
