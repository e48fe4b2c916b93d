"""Rows of the contacts of shapes: of bodies in space, and of trees."""

from __future__ import annotations

from ...._jit import A1, A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....mechanics.collision.feature_kinematics import axis_of_row, chart_at, contact_axes, feature_geometry
from ....mechanics.collision.vectors import V3, Vector, along, cross3, dot3, three, triple3
from ....mechanics.spatial.row_kernels import ZERO, Mechanism, add_wrench
from ....mechanics.trees.forest import ABOVE, LAST, ROOT, Forest
from ....mechanics.trees.kinematics import ask_for, place_asked
from .records import ALL, FIXED, HIGH, LOW, Layout, Rows, Shapes


@kernel("int64(int64, int64)", inline=True, borrows=True)
def body_at(body: int, n: int) -> int:
    """Return where a body stands among n of them; the ground, -1, is the last."""
    return body if body >= 0 else body + n


@kernel(f"void(Layout, Shapes, {A2}, {A3}, int64, Rows)", borrows=True)
def contact_gap(layout: Layout, shapes: Shapes, x: Array, R: Array, k: int, rows: Rows) -> None:
    """Fill in gap and law of contact k, and in `shapes` its normal and point."""
    f, out = k - layout.counts[FIXED], shapes.out[0]
    a, b = body_at(shapes.bodies[f, 0], len(x)), body_at(shapes.bodies[f, 1], len(x))
    feature_geometry(shapes.kind[f], shapes.data[f], x[a], R[a], x[b], R[b], out)
    rows.gap[k] = out[0]
    law = shapes.laws[shapes.kind_of[shapes.label[f, 0]], shapes.kind_of[shapes.label[f, 2]]]
    for c in range(6):
        rows.law[k, c] = law[c]


@kernel(f"void(Layout, Shapes, {A2}, {A3}, int64, Rows)", borrows=True)
def contact_geometry(layout: Layout, shapes: Shapes, x: Array, R: Array, k: int, rows: Rows) -> None:
    """Do what `contact_gap` does, and fill in the directions of contact k in `shapes`."""
    contact_gap(layout, shapes, x, R, k, rows)
    normal = shapes.out[0][1:4]
    rows.chart[k] = rows.keeps[k] if rows.keeps[k] != 0 else chart_at(normal)
    contact_axes(rows.chart[k], normal, shapes.frame)


@kernel("void(Layout, Shapes, Mechanism, int64, Rows)", borrows=True)
def contact_of_shapes(layout: Layout, shapes: Shapes, tables: Mechanism, k: int, rows: Rows) -> None:
    """Fill in contact k: gap, and rows N, T1, T2 of the velocity of A against B, R1, R2, S of the angular velocity."""
    contact_geometry(layout, shapes, tables.x, tables.R, k, rows)
    for i in range(layout.start[k], layout.start[k + 1]):
        for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
            rows.J[i, j] = 0.0
    f, first, frame = k - layout.counts[FIXED], layout.start[k], shapes.frame
    a, b = body_at(shapes.bodies[f, 0], len(tables.x)), body_at(shapes.bodies[f, 1], len(tables.x))
    point = three(shapes.out[0], 4)
    arm_a, arm_b = along(point, -1.0, triple3(tables.x[a])), along(point, -1.0, triple3(tables.x[b]))
    omega_a, omega_b = triple3(tables.omega[a]), triple3(tables.omega[b])
    u = along(triple3(tables.velocity[a]), 1.0, cross3(omega_a, arm_a))
    u = along(u, -1.0, along(triple3(tables.velocity[b]), 1.0, cross3(omega_b, arm_b)))
    spin = along(omega_a, -1.0, omega_b)
    n = layout.start[k + 1] - first
    for i in range(n):
        t, J = triple3(frame[axis_of_row(i, n)]), rows.J[first + i]
        if i < 3:
            add_wrench(tables, a, 1.0, t, cross3(arm_a, t), J)
            add_wrench(tables, b, -1.0, t, cross3(arm_b, t), J)
        else:
            add_wrench(tables, a, 1.0, ZERO, t, J)
            add_wrench(tables, b, -1.0, ZERO, t, J)
        rows.rate[first + i] = dot3(t, u) if i < 3 else dot3(t, spin)


@kernel("void(Forest, int64, int64, int64, Rows)", borrows=True)
def clear_branch(forest: Forest, b: int, first: int, n: int, rows: Rows) -> None:
    """Clear the n rows from `first` on where they are of velocities that move body b."""
    dofs, d = forest.trees.dofs, forest.trees.bodies[b, LAST]
    while d >= 0:
        for i in range(first, first + n):
            rows.J[i, d] = 0.0
        d = dofs[d, ABOVE]


@kernel(f"void(Forest, Shapes, int64, int64, {A1}, int64, int64, Rows)", borrows=True)
def add_going(forest: Forest, shapes: Shapes, f: int, side: int, v: Array, first: int, n: int, rows: Rows) -> None:
    """Add the velocity of one body of contact f at its point to the rows N, T1, T2 (or N) from `first` on.

    That of the first body, side 0, is what they are along its branch; that of the second, which has been cleared, is
    taken off.
    """
    b, sign, adds = body_at(shapes.bodies[f, side], len(forest.moving.x)), 1.0 - 2.0 * side, side != 0
    S, dofs, d, frame = forest.moving.S, forest.trees.dofs, forest.trees.bodies[b, LAST], shapes.frame
    arm = along(three(shapes.out[0], 4), -1.0, triple3(forest.moving.x[forest.trees.bodies[b, ROOT]]))
    N, T1, T2 = triple3(frame[0]), triple3(frame[1]), triple3(frame[2])
    normal, one, two = rows.J[first], rows.J[first + min(n - 1, 1)], rows.J[first + min(n - 1, 2)]
    s = s1 = s2 = 0.0
    while d >= 0:
        way = sign * v[d]
        u = along(three(S[d], 3), 1.0, cross3(three(S[d], 0), arm))
        x, y, z = dot3(N, u), dot3(T1, u), dot3(T2, u)
        s, s1, s2 = s + way * x, s1 + way * y, s2 + way * z
        if n > 1:
            one[d], two[d] = (one[d] if adds else 0.0) + sign * y, (two[d] if adds else 0.0) + sign * z
        normal[d] = (normal[d] if adds else 0.0) + sign * x
        d = dofs[d, ABOVE]
    rows.rate[first] += s
    if n > 1:
        rows.rate[first + 1], rows.rate[first + 2] = rows.rate[first + 1] + s1, rows.rate[first + 2] + s2


@kernel(f"void(Forest, Shapes, int64, float64, {A1}, int64, int64, Rows)", borrows=True)
def add_turning(forest: Forest, shapes: Shapes, b: int, sign: float, v: Array, first: int, n: int, rows: Rows) -> None:
    """Add the angular velocity of body b, sign times, to the rows R1, R2, S of a contact of n rows."""
    S, dofs, frame = forest.moving.S, forest.trees.dofs, shapes.frame
    for i in range(3, n):
        axis, J, d = triple3(frame[axis_of_row(i, n)]), rows.J[first + i], forest.trees.bodies[b, LAST]
        while d >= 0:
            spin = sign * dot3(axis, three(S[d], 0))
            J[d] += spin
            rows.rate[first + i] += spin * v[d]
            d = dofs[d, ABOVE]


@kernel(f"void(Layout, Shapes, Forest, {A1}, int64, Rows)", borrows=True)
def contact_of_trees(layout: Layout, shapes: Shapes, forest: Forest, v: Array, k: int, rows: Rows) -> None:
    """Fill in contact k of trees, as `contact_of_shapes` does; its rows are zero beside the branches of its bodies."""
    contact_geometry(layout, shapes, forest.moving.x, forest.moving.R, k, rows)
    if rows.asked[k] == 0 and rows.gap[k] > 0.0:
        return
    f, first, n = k - layout.counts[FIXED], layout.start[k], layout.start[k + 1] - layout.start[k]
    for i in range(first, first + n):
        rows.rate[i] = 0.0
    a, b = body_at(shapes.bodies[f, 0], len(forest.moving.x)), body_at(shapes.bodies[f, 1], len(forest.moving.x))
    clear_branch(forest, b, first, n, rows)
    if n > 3:
        clear_branch(forest, a, first + 3, n - 3, rows)
    for side in range(2):
        add_going(forest, shapes, f, side, v, first, n, rows)
        if n > 3:
            add_turning(forest, shapes, a if side == 0 else b, 1.0 - 2.0 * side, v, first, n, rows)


@kernel("void(Forest, Shapes, int64, int64, int64, Rows)", borrows=True)
def add_normal(forest: Forest, shapes: Shapes, f: int, side: int, first: int, rows: Rows) -> None:
    """Do for the row N what `add_going` does, but for its rate."""
    b, sign, adds = body_at(shapes.bodies[f, side], len(forest.moving.x)), 1.0 - 2.0 * side, side != 0
    S, dofs, d, normal = forest.moving.S, forest.trees.dofs, forest.trees.bodies[b, LAST], rows.J[first]
    arm = along(three(shapes.out[0], 4), -1.0, triple3(forest.moving.x[forest.trees.bodies[b, ROOT]]))
    N = three(shapes.out[0], 1)
    moment = cross3(arm, N)
    while d >= 0:
        x = dot3(moment, three(S[d], 0)) + dot3(N, three(S[d], 3))
        normal[d] = (normal[d] if adds else 0.0) + sign * x
        d = dofs[d, ABOVE]


@kernel("void(Layout, Shapes, Forest, boolean, int64, Rows)", borrows=True)
def gap_of_trees(layout: Layout, shapes: Shapes, forest: Forest, normals: bool, k: int, rows: Rows) -> None:
    """Fill in the gap of contact k of trees, and the row N: where it acts if `normals`, else where it overlaps."""
    contact_gap(layout, shapes, forest.moving.x, forest.moving.R, k, rows)
    if not (normals if rows.asked[k] != 0 else rows.gap[k] <= 0.0):
        return
    f, first = k - layout.counts[FIXED], layout.start[k]
    clear_branch(forest, body_at(shapes.bodies[f, 1], len(forest.moving.x)), first, 1, rows)
    for side in range(2):
        add_normal(forest, shapes, f, side, first, rows)


@kernel(f"UniTuple({V3}, 2)(Forest, {A1}, int64)", borrows=True)
def going(forest: Forest, v: Array, b: int) -> tuple[Vector, Vector]:
    """Return how fast a body turns and goes at the point of its tree."""
    S, dofs, d = forest.moving.S, forest.trees.dofs, forest.trees.bodies[b, LAST]
    w, u = ZERO, ZERO
    while d >= 0:
        w, u, d = along(w, v[d], three(S[d], 0)), along(u, v[d], three(S[d], 3)), dofs[d, ABOVE]
    return w, u


@kernel(f"void(Layout, Shapes, Forest, {A1}, {I1})", borrows=True)
def place_touching(layout: Layout, shapes: Shapes, forest: Forest, q: Array, acts: IntArray) -> None:
    """Put the bodies at q that have contacts that act."""
    for k in range(layout.counts[FIXED], layout.counts[ALL]):
        for side in range(2 if acts[k] else 0):
            ask_for(forest.trees, forest.moving, shapes.bodies[k - layout.counts[FIXED], side])
    place_asked(forest.trees, forest.moving, q)


@kernel(f"void(Layout, Shapes, Forest, {A1}, {I1}, Rows)", borrows=True)
def rates_of_trees(layout: Layout, shapes: Shapes, forest: Forest, v: Array, acts: IntArray, rows: Rows) -> None:
    """Fill in gaps and rates of the contacts of trees that act; those of the same bodies come one after the other."""
    x, root, frame, last = forest.moving.x, forest.trees.bodies, shapes.frame, -1
    w = u = spin = pace = ZERO
    for k in range(layout.counts[FIXED], layout.counts[ALL]):
        if acts[k] == 0:
            continue
        f, first, n = k - layout.counts[FIXED], layout.start[k], layout.start[k + 1] - layout.start[k]
        a, b = body_at(shapes.bodies[f, 0], len(x)), body_at(shapes.bodies[f, 1], len(x))
        contact_geometry(layout, shapes, x, forest.moving.R, k, rows)
        if last < 0 or shapes.bodies[f, 0] != shapes.bodies[last, 0] or shapes.bodies[f, 1] != shapes.bodies[last, 1]:
            w, u = going(forest, v, a)
            spin, pace = going(forest, v, b)
        last, point = f, three(shapes.out[0], 4)
        rate = along(u, 1.0, cross3(w, along(point, -1.0, triple3(x[root[a, ROOT]]))))
        other = along(pace, 1.0, cross3(spin, along(point, -1.0, triple3(x[root[b, ROOT]]))))
        rate, turning = along(rate, -1.0, other), along(w, -1.0, spin)
        for i in range(n):
            rows.rate[first + i] = dot3(triple3(frame[axis_of_row(i, n)]), rate if i < 3 else turning)
