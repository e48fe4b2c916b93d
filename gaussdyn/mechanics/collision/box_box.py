"""Contacts of boxes with one another, compiled: separating axes, then corners on faces and edges on edges.

The axis of largest separation among the faces decides; an edge-edge axis only where it is clearly larger and stands
off the faces. Edges that cross nearly parallel are held by the ends of what they share, too: there the crossing runs
along them by metres per rad. In contact by a face, the corners of the overlap of the two faces are the contacts:
corners of one box on the face of the other, and crossings of their edges, line against line unless nearly parallel.
Ties go to the box that comes first, so that aligned boxes keep their contacts. Whatever axis was taken, every contact
is a true bound: the box cannot pass it.

An overlap of two faces that is a line has no contacts where a face of one box is level with one of the other: it slides
over that. So a box does not catch at the edges of tiles that lie side by side. Sharp edges that meet, and corners on
edges, are contacts.

Source: S. Gottschalk, M. C. Lin, D. Manocha, OBBTree (1996) for the axes.

`room` is work space of shape (32, 3). Rows 0-2: the axes of box Y as columns, in the frame of X. Row 3: centre of Y
from X in the frame of X. Row 4: the same in the frame of Y. Rows 5-8: corners of a face of Y in the frame of X. Rows
9-: contacts found.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .feature_kinematics import BALL_BALL, BALL_LINE, BALL_PLANE
from .primitives import (
    BORDER,
    EDGE,
    FACE,
    KIND,
    RADIUS,
    RIM,
    SAME,
    axis_of,
    ball,
    centre_of,
    corner,
    edge_middle,
    edge_number,
    largest_half,
    level_of,
    line,
    plane,
    put,
    put_edges,
    put_over_rim,
    size_of,
    to_shape,
    to_space,
    unit,
    without_rim,
)
from .vectors import A2, V3, Vector, along, dot3

ALIGNED = 1.0 - 5e-7  # cosine: boxes turned by less than 1e-3 against each other have no edge axes of their own
LIKE_FACE = 0.995  # cosine: edge axes within 0.1 rad of a face count as the face
SAME_WAY = 1e-12  # squared sine: edges that cross at less than 1e-6 rad have no axis across them, but for rounding
CROSSED = 0.01  # squared sine: edges that cross at less than 0.1 rad count as parallel
ROUNDING = 1e-5  # times `SAME`: what rounding may do to a separation
CLEAR = 100.0  # times `SAME`: what is so far within a face is not level with its sides
FIRST = 9  # row of `room` with the first contact
FACES = "Tuple((int64, int64, int64, int64, float64, float64, float64, float64, float64))"
Faces = tuple[int, int, int, int, float, float, float, float, float]  # i, j, axes, signs, limit, border, same


@kernel(f"boolean({A2}, int64, int64, {A2})", borrows=True)
def relative(world: Array, i: int, j: int, room: Array) -> bool:
    """Fill rows 0-4 of `room`; return whether the axes of the two boxes are parallel, all but a thousandth."""
    d, aligned = along(centre_of(world, j), -1.0, centre_of(world, i)), True
    for a in range(3):
        e, most = axis_of(world, i, a), 0.0
        room[3, a], room[4, a] = dot3(e, d), dot3(axis_of(world, j, a), d)
        for b in range(3):
            room[a, b] = dot3(e, axis_of(world, j, b))
            most = max(most, abs(room[a, b]))
        aligned &= most > ALIGNED
    return aligned


@kernel(f"float64({A2}, {V3}, {V3}, int64)", borrows=True)
def separation(C: Array, ha: Vector, hb: Vector, a: int) -> float:
    """Return how far two boxes are apart along axis a of A, m."""
    return float(abs(C[3, a]) - ha[a] - (abs(C[a, 0]) * hb[0] + abs(C[a, 1]) * hb[1] + abs(C[a, 2]) * hb[2]))


@kernel(f"Tuple((int64, float64))({A2}, {V3}, {V3}, float64)", borrows=True)
def best_face(C: Array, ha: Vector, hb: Vector, same: float) -> tuple[int, float]:
    """Return the face axis (0-2 of A, 3-5 of B) of largest separation, and that separation.

    Of faces along each other that of A, if it is as good but for `same`; of others the first, but for rounding.
    """
    best, face, rounding = -1e300, 0, ROUNDING * same
    for a in range(3):
        s = separation(C, ha, hb, a)
        if s > best + rounding:
            best, face = s, a
    for b in range(3):
        s = abs(C[4, b]) - hb[b] - (abs(C[0, b]) * ha[0] + abs(C[1, b]) * ha[1] + abs(C[2, b]) * ha[2])
        if s > best + rounding and (s > best + same or face >= 3 or abs(C[face, b]) < ALIGNED):
            best, face = s, 3 + b
    return face, best


@kernel(f"Tuple((int64, float64))({A2}, {V3}, {V3}, float64)", borrows=True)
def best_edges(C: Array, ha: Vector, hb: Vector, same: float) -> tuple[int, float]:
    """Return the pair of edge directions (3 a + b) whose cross product has the largest separation, and that."""
    best, pair = -1e300, -1
    for a in range(3):
        a1, a2 = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            b1, b2 = (b + 1) % 3, (b + 2) % 3
            k2 = C[a1, b] * C[a1, b] + C[a2, b] * C[a2, b]
            if k2 < SAME_WAY:
                continue
            s = abs(C[3, a2] * C[a1, b] - C[3, a1] * C[a2, b])
            s -= ha[a1] * abs(C[a2, b]) + ha[a2] * abs(C[a1, b]) + hb[b1] * abs(C[a, b2]) + hb[b2] * abs(C[a, b1])
            s /= math.sqrt(k2)
            if s > best + same:
                best, pair = s, 3 * a + b
    return pair, best


@kernel(f"int64({A2}, int64)", borrows=True)
def face_like(C: Array, pair: int) -> int:
    """Return the face axis to which the axis of a pair of edges is nearly parallel, or -1."""
    a, b = pair // 3, pair % 3
    k = LIKE_FACE * math.hypot(C[(a + 1) % 3, b], C[(a + 2) % 3, b])
    for step in range(1, 3):
        a1, b1 = (a + step) % 3, (b + step) % 3
        if abs(C[(a - step) % 3, b]) > k:
            return a1
        if abs(C[a, (b - step) % 3]) > k:
            return 3 + b1
    return -1


@kernel(f"boolean({A2}, int64, int64, int64, {A2}, {A2})", borrows=True)
def edge_edge(world: Array, i: int, j: int, pair: int, C: Array, found: Array) -> bool:
    """Add the contact of the two edges that face each other along a pair of directions; False if they do not meet."""
    a, b, ha, hb = pair // 3, pair % 3, size_of(world, i), size_of(world, j)
    a1, a2, b1, b2 = (a + 1) % 3, (a + 2) % 3, (b + 1) % 3, (b + 2) % 3
    # n = e_a x e_b / k, turned so that it points from A to B; in the frame of A: (0, -C[a2, b], C[a1, b]) / k
    sign = 1.0 if C[3, a2] * C[a1, b] - C[3, a1] * C[a2, b] >= 0.0 else -1.0
    edge_a = edge_number(a, -sign * C[a2, b] > 0.0, sign * C[a1, b] > 0.0)
    edge_b = edge_number(b, -sign * C[a, b2] > 0.0, sign * C[a, b1] > 0.0)
    p, q = edge_middle(ha, edge_a), edge_middle(hb, edge_b)
    # In the frame of A, d from the middle of A's edge to that of B's: s along A's, t along B's edge.
    d0 = C[3, a] + C[a, 0] * q[0] + C[a, 1] * q[1] + C[a, 2] * q[2] - p[a]
    d1 = C[3, a1] + C[a1, 0] * q[0] + C[a1, 1] * q[1] + C[a1, 2] * q[2] - p[a1]
    d2 = C[3, a2] + C[a2, 0] * q[0] + C[a2, 1] * q[1] + C[a2, 2] * q[2] - p[a2]
    t = -(d1 * C[a1, b] + d2 * C[a2, b]) / (C[a1, b] * C[a1, b] + C[a2, b] * C[a2, b])
    s = d0 + t * C[a, b]
    slack = BORDER * max(ha[a], hb[b])
    if abs(s) > ha[a] + slack or abs(t) > hb[b] + slack:
        return False
    da, db = unit(a, -sign), unit(b, 1.0)
    put_edges(found, (i, EDGE + edge_a, j, EDGE + edge_b), line(p, da, 0.0), line(q, db, 0.0))
    return True


@kernel(f"void({A2})", borrows=True)
def swap_roles(C: Array) -> None:
    """Exchange X and Y in rows 0-4."""
    for a in range(3):
        for b in range(a):
            C[a, b], C[b, a] = C[b, a], C[a, b]
        C[3, a], C[4, a] = -C[4, a], -C[3, a]


@kernel(f"Tuple((int64, float64))({A2}, int64, float64)", borrows=True)
def incident_face(C: Array, k: int, s: float) -> tuple[int, float]:
    """Return axis and sign of the face of Y that looks most against face (k, s) of X."""
    axis = 0
    for b in range(1, 3):
        if abs(C[k, b]) > abs(C[k, axis]) + SAME:
            axis = b
    return axis, (-s if C[k, axis] > 0.0 else s)


@kernel(f"int64({A2}, int64, float64, float64, float64)", borrows=True)
def noted(room: Array, last: int, x: float, y: float, same: float) -> int:
    """Note the point (x, y) as row `last` of `room` and return last + 1, or return last if it is there already."""
    for m in range(FIRST, last):
        if abs(room[m, 0] - x) <= same and abs(room[m, 1] - y) <= same:
            return last
    room[last, 0], room[last, 1] = x, y
    return last + 1


@kernel(f"float64({A2}, int64, int64, int64)", borrows=True)
def apart(room: Array, a: int, b: int, columns: int) -> float:
    """Return the squared distance of two points noted, in their first columns."""
    total = 0.0
    for c in range(columns):
        total += (room[a, c] - room[b, c]) * (room[a, c] - room[b, c])
    return total


@kernel(f"boolean({A2}, int64, int64, int64, float64)", borrows=True)
def slim(room: Array, first: int, last: int, columns: int, level: float) -> bool:
    """Return whether the points noted in rows `first` to `last` - 1 are a line: none is off it by more than `level`."""
    far = first
    for m in range(first, last):
        far = m if apart(room, first, m, columns) > apart(room, first, far, columns) else far
    length = apart(room, first, far, columns)
    for m in range(first, last):
        along_line = 0.0
        for c in range(columns):
            along_line += (room[m, c] - room[first, c]) * (room[far, c] - room[first, c])
        if apart(room, first, m, columns) * length - along_line * along_line > level * level * length:
            return False
    return last > first


@kernel(f"int64({A2}, {FACES}, {A2}, {A2})", borrows=True)
def corners_on(world: Array, faces: Faces, room: Array, found: Array) -> int:
    """Add corners of Y's face over that of X; fill rows 5-8 and return the row after the points noted."""
    i, j, k, axis, s, sign, limit, border, _ = faces
    hx, hy = size_of(world, i), size_of(world, j)
    k1, k2, u, v = (k + 1) % 3, (k + 2) % 3, (axis + 1) % 3, (axis + 2) % 3
    last = FIRST
    for m in range(4):
        number = ((1 << axis) if sign > 0.0 else 0) + ((1 << u) if m == 0 or m == 3 else 0) + ((1 << v) if m < 2 else 0)
        p = corner(hy, number)
        for a in range(3):
            room[5 + m, a] = room[3, a] + (room[a, 0] * p[0] + room[a, 1] * p[1] + room[a, 2] * p[2])
        if abs(room[5 + m, k1]) <= hx[k1] + border and abs(room[5 + m, k2]) <= hx[k2] + border:
            room[last, 0], room[last, 1] = room[5 + m, k1], room[5 + m, k2]
            last += 1
            if s * room[5 + m, k] - hx[k] <= limit:
                label = (j, number, i, FACE + 2 * k + (1 if s > 0.0 else 0))
                put(found, BALL_PLANE, label, ball(p, 0.0), plane(unit(k, s * hx[k]), unit(k, s)))
    return last


@kernel(f"int64({A2}, {FACES}, {A2}, {A2}, int64)", borrows=True)
def corners_under(world: Array, faces: Faces, room: Array, found: Array, last: int) -> int:
    """Add corners of X's face under that of Y, unless a corner of Y is there; return the row after the points noted."""
    i, j, k, axis, s, sign, limit, border, same = faces
    hx, hy = size_of(world, i), size_of(world, j)
    k1, k2, u, v = (k + 1) % 3, (k + 2) % 3, (axis + 1) % 3, (axis + 2) % 3
    for m in range(4):
        number = ((1 << k) if s > 0.0 else 0) + ((1 << k1) if m & 1 else 0) + ((1 << k2) if m & 2 else 0)
        p = corner(hx, number)
        d = (p[0] - room[3, 0], p[1] - room[3, 1], p[2] - room[3, 2])
        qu = room[0, u] * d[0] + room[1, u] * d[1] + room[2, u] * d[2]
        qv = room[0, v] * d[0] + room[1, v] * d[1] + room[2, v] * d[2]
        if abs(qu) > hy[u] + border or abs(qv) > hy[v] + border:
            continue
        before = last
        last = noted(room, last, p[k1], p[k2], same)
        gap = sign * (room[0, axis] * d[0] + room[1, axis] * d[1] + room[2, axis] * d[2]) - hy[axis]
        if last > before and gap <= limit:
            label = (i, number, j, FACE + 2 * axis + (1 if sign > 0.0 else 0))
            b, n = unit(axis, sign * hy[axis]), unit(axis, sign)
            put(found, BALL_PLANE, label, ball(p, 0.0), plane(b, n))
    return last


@kernel(f"boolean({A2}, int64, int64, int64)", borrows=True)
def crosses(C: Array, run: int, across: int, other: int) -> bool:
    """Return whether edge direction `run` of Y crosses the border of X's face along `other` at an angle, flatly.

    There the edges bound each other as lines, whose nearest points move along them. Where they are nearly parallel
    these would run away: the point of Y over the border bounds it against the face.
    """
    k2 = 1.0 - C[other, run] * C[other, run]
    return bool(k2 > CROSSED and abs(C[across, run]) > LIKE_FACE * math.sqrt(k2))


@kernel(f"int64({A2}, {FACES}, {A2}, {A2}, int64, int64)", borrows=True)
def crossings(world: Array, faces: Faces, room: Array, found: Array, last: int, m: int) -> int:
    """Add the contacts where edge m of Y's face passes over the border of X's face."""
    i, j, k, axis, s, sign, limit, border, same = faces
    hx, hy = size_of(world, i), size_of(world, j)
    u, v, P, Q = (axis + 1) % 3, (axis + 2) % 3, 5 + m, 5 + (m + 1) % 4
    # Edges 0 and 2 run along u from its positive side to its negative, or back; edges 1 and 3 along v.
    run = u if m % 2 == 0 else v
    y_edge = edge_number(u, m == 0, sign > 0.0) if m % 2 == 0 else edge_number(v, sign > 0.0, m == 3)
    middle = edge_middle(hy, y_edge)
    way = -1.0 if m < 2 else 1.0
    for side in range(4):
        across, other = ((k + 1) % 3, (k + 2) % 3) if side < 2 else ((k + 2) % 3, (k + 1) % 3)
        sigma = -1.0 if side % 2 == 0 else 1.0
        a, b = sigma * room[P, across] - hx[across], sigma * room[Q, across] - hx[across]
        if (a > border) == (b > border):
            continue
        f = a / (a - b)
        y = room[P, other] + f * (room[Q, other] - room[P, other])
        if abs(y) > hx[other] + border:
            continue
        before, x = last, sigma * hx[across]
        last = noted(room, last, x if side < 2 else y, y if side < 2 else x, same)
        if last > before and s * (room[P, k] + f * (room[Q, k] - room[P, k])) - hx[k] <= limit:
            positive = sigma > 0.0
            x_edge = edge_number(other, s > 0.0, positive) if side < 2 else edge_number(other, positive, s > 0.0)
            turn = 1.0 if (side < 2) == (s * room[across, run] > 0.0) else -1.0
            if crosses(room, run, across, other):
                db = unit(other, turn)
                label = (j, EDGE + y_edge, i, EDGE + x_edge)
                put_edges(found, label, line(middle, unit(run, 1.0), 0.0), line(edge_middle(hx, x_edge), db, 0.0))
            else:
                label, t = (j, EDGE + y_edge, i, RIM + x_edge), way * (2.0 * f - 1.0) * hy[run]
                b, out = edge_middle(hx, x_edge), unit(across, sigma)
                sizes = (hy[run], hx[other], t)
                put_over_rim(found, label, line(middle, unit(run, 1.0), 0.0), plane(b, unit(k, s)), out, sizes)
    return last


@kernel(f"boolean({A2}, {FACES}, {A2}, int64)", borrows=True)
def stands_within(world: Array, faces: Faces, room: Array, last: int) -> bool:
    """Return whether a corner of Y is well within X's face: their overlap is no line then."""
    k, clear, hx = faces[2], CLEAR * faces[8], size_of(world, faces[0])
    across, other = hx[(k + 1) % 3] - clear, hx[(k + 2) % 3] - clear
    within = False
    for m in range(FIRST, last):
        within = within or (abs(room[m, 0]) < across and abs(room[m, 1]) < other)
    return within


@kernel(f"boolean({A2}, {FACES}, {A2}, int64)", borrows=True)
def stays_clear(world: Array, faces: Faces, room: Array, m: int) -> bool:
    """Return whether edge m of Y's face passes over the border of X's face, if at all, well above the limit."""
    k, s, limit, same, hx = faces[2], faces[4], faces[6], faces[8], size_of(world, faces[0])
    k1, k2, P, Q = (k + 1) % 3, (k + 2) % 3, 5 + m, 5 + (m + 1) % 4
    top = hx[k] + limit + same
    p, q = s * room[P, k] - top, s * room[Q, k] - top
    if p > 0.0 and q > 0.0:
        return True
    if p > q:
        P, Q, p, q = Q, P, q, p
    f = p / (p - q) if q > 0.0 else 1.0
    x, y = room[P, k1] + f * (room[Q, k1] - room[P, k1]), room[P, k2] + f * (room[Q, k2] - room[P, k2])
    across, other = hx[k1] - CLEAR * same, hx[k2] - CLEAR * same
    return bool(max(abs(room[P, k1]), abs(x)) < across and max(abs(room[P, k2]), abs(y)) < other)


@kernel(f"boolean({A2}, {V3}, {V3}, float64)", borrows=True)
def lies_level(C: Array, hx: Vector, hy: Vector, same: float) -> bool:
    """Return whether faces of X and Y that lie along each other are level: the boxes do not overlap across them."""
    for a in range(3):
        for b in range(3):
            if abs(C[a, b]) > ALIGNED and separation(C, hx, hy, a) >= -same:
                return True
    return False


@kernel(f"void({A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def face_face(world: Array, i: int, j: int, k: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of box j with the face of box i across axis k: corners of j, corners of i, crossings."""
    size = largest_half(world, i, j)
    s = 1.0 if room[3, k] >= 0.0 else -1.0
    axis, sign = incident_face(room, k, s)
    faces = (i, j, k, axis, s, sign, limit, BORDER * size, SAME * size)
    hx, hy = size_of(world, i), size_of(world, j)
    before = found[0, 0]
    last = corners_on(world, faces, room, found)
    if last == FIRST + 4:
        return
    within = stands_within(world, faces, room, last)
    steep = abs(room[k, axis]) < LIKE_FACE  # an edge of Y over a corner of X bounds it, not the face beside that edge
    if not steep:
        last = corners_under(world, faces, room, found, last)
    for m in range(4):
        if not (within and stays_clear(world, faces, room, m)):
            last = crossings(world, faces, room, found, last, m)
    if steep:
        last = corners_under(world, faces, room, found, last)
    if not within and slim(room, FIRST, last, 2, level_of(world, i, j)) and lies_level(room, hx, hy, SAME * size):
        found[0, 0] = before


@kernel(f"void({A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def box_box(world: Array, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of two boxes."""
    ha, hb = size_of(world, i), size_of(world, j)
    aligned = relative(world, i, j, room)
    same = SAME * largest_half(world, i, j)
    face, gap = best_face(room, ha, hb, same)
    if gap > limit:
        return
    crossed = 0
    if not aligned:
        pair, edge_gap = best_edges(room, ha, hb, same)
        if edge_gap > limit:
            return
        if edge_gap > gap + ROUNDING * same:
            like = face_like(room, pair)
            if like >= 0:
                face = like
            elif edge_edge(world, i, j, pair, room, found):
                if room[pair // 3, pair % 3] ** 2 <= 1.0 - CROSSED:
                    return
                crossed = int(found[0, 0])
    if face < 3:
        face_face(world, i, j, face, limit, room, found)
    else:
        swap_roles(room)
        face_face(world, j, i, face - 3, limit, room, found)
    if 0 < crossed < len(found):
        one, other = int(found[crossed, KIND + 2]), int(found[crossed, KIND + 4])
        without_rim(found, crossed, one + RIM - EDGE, other + RIM - EDGE)


@kernel(f"void({A2}, int64, int64, {V3}, int64, float64, {A2})", borrows=True)
def ball_box(world: Array, i: int, feature: int, at: Vector, j: int, limit: float, found: Array) -> None:
    """Add the contact of a ball about `at` (frame of shape i) with what is nearest of box j: face, edge or corner.

    A point (radius 0) has contacts with faces only.
    """
    r, h = world[i, RADIUS], size_of(world, j)
    p = to_shape(world, j, to_space(world, i, at))
    border = BORDER * max(h[0], h[1], h[2])
    outside, last, number, d2, face, top = 0, 0, 0, 0.0, 0, -1e300
    for a in range(3):
        beyond = abs(p[a]) - h[a]
        number += (1 << a) if p[a] > 0.0 else 0
        if beyond > border:
            outside, d2, last = outside + (1 << a), d2 + beyond * beyond, a
        if beyond > top + border:
            top, face = beyond, a
    if d2 > (r + limit) * (r + limit):
        return
    if outside == 0 or outside == 1 << last:
        k = last if outside else face
        s = 1.0 if p[k] > 0.0 else -1.0
        label = (i, feature, j, FACE + 2 * k + (1 if s > 0.0 else 0))
        if abs(p[k]) - h[k] - r <= limit:
            put(found, BALL_PLANE, label, ball(at, r), plane(unit(k, s * h[k]), unit(k, s)))
    elif r > 0.0 and outside == 7:
        put(found, BALL_BALL, (i, feature, j, number), ball(at, r), ball(corner(h, number), 0.0))
    elif r > 0.0:
        k = 0 if not outside & 1 else (1 if not outside & 2 else 2)
        e = edge_number(k, p[(k + 1) % 3] > 0.0, p[(k + 2) % 3] > 0.0)
        put(found, BALL_LINE, (i, feature, j, EDGE + e), ball(at, r), line(edge_middle(h, e), unit(k, 1.0), 0.0))
