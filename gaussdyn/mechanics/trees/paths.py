"""Lengths of tendons that run through space, compiled: from point to point, and around spheres and cylinders.

A leg leads from a point of one body to a point of another, straight or around a body. Around a circle of radius r it is
L = s_a + s_b + r w with the tangents s^2 = |a|^2 - r^2 and the winding w; around a cylinder the square root of that
squared and the height squared. All of it depends on where the two points are in the frame of what it winds around, and
so do its derivatives: no tangent points are needed. Which way around, and whether at all, is as in MuJoCo: straight
where the straight line passes the circle, on the other side of it or outside; else on the side of a mark, or the
shorter way.
"""

from __future__ import annotations

import math

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ..collision.vectors import V3, Vector, along, cross3, dot3, three, triple3, turned
from .dynamics import add_push, point_drift, point_velocity
from .forest import (
    AROUND,
    CYLINDER,
    END_A,
    END_B,
    MARK,
    RADIUS,
    ROUND_AT,
    ROUND_TURN,
    SHARE,
    SPHERE,
    WOUND,
    Drives,
    Moving,
    Trees,
)
from .kinematics import keep_same, put3, put_three

ZERO3 = (0.0, 0.0, 0.0)
LENGTH, AT_A, AT_B, WINDING, FLAT, HEIGHT = 0, 1, 4, 7, 8, 9  # of `Paths.leg`
NO_WAY = 1e-15  # m, m^2: what has no direction, as in MuJoCo


@kernel("boolean(float64, float64, float64, float64, float64, float64, float64, float64)", borrows=True)
def cross_each_other(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float
) -> bool:  # fmt: skip
    """Return whether the segments from a to b and from c to d meet in the plane."""
    det = (dy - cy) * (bx - ax) - (dx - cx) * (by - ay)
    if abs(det) < NO_WAY:
        return False
    s = ((dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)) / det
    t = ((bx - ax) * (ay - cy) - (by - ay) * (ax - cx)) / det
    return 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0


@kernel("UniTuple(float64, 2)(float64, float64, float64, float64)", borrows=True)
def tangent_point(x: float, y: float, r: float, way: float) -> tuple[float, float]:
    """Return where a tangent from (x, y) touches the circle, from which it goes on turning by `way` (1 or -1)."""
    square = x * x + y * y
    s = way * r * math.sqrt(square - r * r)
    return (x * r * r - s * y) / square, (y * r * r + s * x) / square


@kernel("float64(float64, float64, float64, float64, float64, float64, float64)", borrows=True)
def winding_of(ax: float, ay: float, bx: float, by: float, r: float, mark_x: float, mark_y: float) -> float:
    """Return which way a leg from a to b turns around a circle: 1, -1, or 0 for straight; a mark of zeros is none."""
    marked = mark_x != 0.0 or mark_y != 0.0
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    if ax * ax + ay * ay < r * r or bx * bx + by * by < r * r or r < NO_WAY or square < NO_WAY:
        return 0.0
    share = min(max(-(dx * ax + dy * ay) / square, 0.0), 1.0)
    x, y = ax + share * dx, ay + share * dy
    if x * x + y * y > r * r and (not marked or mark_x * x + mark_y * y >= 0.0):
        return 0.0
    best, found, crossed = -math.inf, 0.0, False
    for way in (-1.0, 1.0):
        tx, ty = tangent_point(ax, ay, r, way)
        sx, sy = tangent_point(bx, by, r, -way)
        crossing = cross_each_other(ax, ay, tx, ty, bx, by, sx, sy)
        good = -((tx - sx) ** 2 + (ty - sy) ** 2)
        if marked:
            size = math.hypot(tx + sx, ty + sy)
            good = ((tx + sx) * mark_x + (ty + sy) * mark_y) / size if size > NO_WAY else 0.0
        if crossing:
            good = -1e4
        if good > best or (good == best and way > 0.0):
            best, found, crossed = good, way, crossing
    return 0.0 if crossed else found


@kernel(f"void(int64, {V3}, {V3}, {A2})", borrows=True)
def put_plane(around: int, a: Vector, b: Vector, out: Array) -> None:
    """Put the axes, as rows, of the plane in which a leg winds: through the centre of a sphere, across a cylinder."""
    put3(out[0], (1.0, 0.0, 0.0))
    put3(out[1], (0.0, 1.0, 0.0))
    if around == SPHERE:
        put3(out[0], along(ZERO3, 1.0 / math.sqrt(dot3(a, a)), a))
        n = cross3(a, b)
        if dot3(n, n) < NO_WAY * NO_WAY:  # any plane will do
            k = 0 if abs(out[0, 0]) < 0.6 else 1
            n = cross3(a, (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 0.0))
        n = along(ZERO3, 1.0 / math.sqrt(dot3(n, n)), n)
        put3(out[1], cross3(n, triple3(out[0])))
    put3(out[2], cross3(triple3(out[0]), triple3(out[1])))


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def in_axes(rows: Array, x: Vector) -> Vector:
    """Return a vector in axes that are given as rows."""
    return dot3(triple3(rows[0]), x), dot3(triple3(rows[1]), x), dot3(triple3(rows[2]), x)


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def out_of_axes(rows: Array, x: Vector) -> Vector:
    """Return a vector that is given in such axes."""
    return along(along(along(ZERO3, x[0], triple3(rows[0])), x[1], triple3(rows[1])), x[2], triple3(rows[2]))


@kernel("void(Trees, Moving, Drives, int64)", borrows=True)
def put_axes(trees: Trees, moving: Moving, drives: Drives, k: int) -> None:
    """Put the frame of what leg k winds around: axes as rows of moving.turn[0], place in drives.paths.centre."""
    own, c = drives.paths.numbers[k], drives.paths.ends[k, WOUND]
    put3(drives.paths.centre, along(triple3(moving.x[c]), 1.0, turned(moving.R[c], own, ROUND_AT)))
    for i in range(3):
        put3(moving.turn[0, i], turned(moving.R[c], own, ROUND_TURN + 3 * i))


@kernel(f"UniTuple({V3}, 2)(Moving, Drives, int64)", borrows=True)
def leg_ends(moving: Moving, drives: Drives, k: int) -> tuple[Vector, Vector]:
    """Return both ends of a leg in space."""
    own, ends = drives.paths.numbers[k], drives.paths.ends[k]
    a, b = ends[END_A], ends[END_B]
    return (
        along(triple3(moving.x[a]), 1.0, turned(moving.R[a], own, 0)),
        along(triple3(moving.x[b]), 1.0, turned(moving.R[b], own, 3)),
    )


@kernel("boolean(Trees, Moving, Drives, int64)", borrows=True)
def put_wound(trees: Trees, moving: Moving, drives: Drives, k: int) -> bool:
    """Put into drives.paths.leg how leg k winds, axes of its plane in space into moving.turn[1]; return if it does."""
    own, around, leg = drives.paths.numbers[k], drives.paths.ends[k, AROUND], drives.paths.leg
    put_axes(trees, moving, drives, k)
    pa, pb = leg_ends(moving, drives, k)
    centre, axes = triple3(drives.paths.centre), moving.turn[0]
    a, b = in_axes(axes, along(pa, -1.0, centre)), in_axes(axes, along(pb, -1.0, centre))
    if dot3(a, a) < NO_WAY * NO_WAY or dot3(b, b) < NO_WAY * NO_WAY:
        return False
    plane, r = moving.turn[1], own[RADIUS]
    put_plane(around, a, b, plane)
    (ax, ay, az), (bx, by, bz) = in_axes(plane, a), in_axes(plane, b)
    way = winding_of(ax, ay, bx, by, r, own[MARK], own[MARK + 1])
    if way == 0.0:
        return False
    ra, rb = math.hypot(ax, ay), math.hypot(bx, by)
    sa, sb = math.sqrt(ra * ra - r * r), math.sqrt(rb * rb - r * r)
    turn = way * math.atan2(ax * by - ay * bx, ax * bx + ay * by) - math.acos(r / ra) - math.acos(r / rb)
    turn += 2.0 * math.pi if turn < 0.0 else 0.0
    flat, height = sa + sb + r * turn, bz - az if around == CYLINDER else 0.0
    length = math.hypot(flat, height)
    c, s = flat / length, height / length
    ga = (c * (sa * ax / ra + way * r * ay / ra) / ra, c * (sa * ay / ra - way * r * ax / ra) / ra, -s)
    gb = (c * (sb * bx / rb - way * r * by / rb) / rb, c * (sb * by / rb + way * r * bx / rb) / rb, s)
    for i in range(3):  # from the axes of what it winds around to those of space
        put3(plane[i], out_of_axes(axes, triple3(plane[i])))
    put_three(leg, AT_A, out_of_axes(plane, ga))
    put_three(leg, AT_B, out_of_axes(plane, gb))
    leg[LENGTH], leg[WINDING], leg[FLAT], leg[HEIGHT] = length, way, flat, height
    return True


@kernel("void(Trees, Moving, Drives, int64)", borrows=True)
def put_leg(trees: Trees, moving: Moving, drives: Drives, k: int) -> None:
    """Put into drives.paths.leg the length of leg k, and how it changes with its ends in space."""
    leg = drives.paths.leg
    if drives.paths.ends[k, AROUND] > 0 and put_wound(trees, moving, drives, k):
        return
    pa, pb = leg_ends(moving, drives, k)
    d = along(pb, -1.0, pa)
    leg[LENGTH], leg[WINDING] = math.sqrt(dot3(d, d)), 0.0
    u = along(ZERO3, 1.0 / leg[LENGTH], d) if leg[LENGTH] > NO_WAY else (1.0, 0.0, 0.0)
    put_three(leg, AT_A, along(ZERO3, -1.0, u))
    put_three(leg, AT_B, u)


@kernel(f"float64(Trees, Moving, Drives, int64, {A1})", borrows=True)
def add_leg(trees: Trees, moving: Moving, drives: Drives, k: int, row: Array) -> float:
    """Add to a row how the length of leg k changes with the velocities; return its part of the length."""
    put_leg(trees, moving, drives, k)
    leg, ends, share = drives.paths.leg, drives.paths.ends[k], drives.paths.numbers[k, SHARE]
    pa, pb = leg_ends(moving, drives, k)
    ga, gb = three(leg, AT_A), three(leg, AT_B)
    add_push(trees, moving, ends[END_A], pa, ga, ZERO3, share, row)
    add_push(trees, moving, ends[END_B], pb, gb, ZERO3, share, row)
    if leg[WINDING] != 0.0:
        add_push(trees, moving, ends[WOUND], pa, ga, ZERO3, -share, row)
        add_push(trees, moving, ends[WOUND], pb, gb, ZERO3, -share, row)
    return float(share * leg[LENGTH])


@kernel("void(Trees, Moving, Drives)", borrows=True)
def put_paths(trees: Trees, moving: Moving, drives: Drives) -> None:
    """Put lengths and factors of all lines through space, where `place_bodies` has placed the bodies."""
    paths = drives.paths
    if len(paths.ends) == 0 or keep_same(moving.at, paths.at):
        return
    for line in range(len(paths.length)):
        if paths.start[line] == paths.start[line + 1]:
            continue
        for d in range(len(paths.row)):
            paths.row[d] = 0.0
        paths.length[line] = 0.0
        for k in range(paths.start[line], paths.start[line + 1]):
            paths.length[line] += add_leg(trees, moving, drives, k, paths.row)
        for i in range(drives.start[line], drives.start[line + 1]):
            drives.factor[i] = paths.row[drives.dof[i]]


@kernel(f"UniTuple({V3}, 2)(Trees, Moving, int64, int64, {V3})", borrows=True)
def seen_motion(trees: Trees, moving: Moving, b: int, c: int, point: Vector) -> tuple[Vector, Vector]:
    """Return velocity and acceleration (that from velocities alone) of a point of body b as body c sees them."""
    omega = three(moving.speed[c], 0)
    v = along(point_velocity(trees, moving, b, point), -1.0, point_velocity(trees, moving, c, point))
    a = along(point_drift(trees, moving, b, point), -1.0, point_drift(trees, moving, c, point))
    return v, along(a, -2.0, cross3(omega, v))


@kernel(f"{V3}({V3}, {V3}, float64)", borrows=True)
def end_rates(at: Vector, v: Vector, r: float) -> Vector:
    """Return rates of a tangent's length and angle in the plane, and what velocities alone give to its second rate."""
    square = at[0] * at[0] + at[1] * at[1]
    far, s = math.sqrt(square), math.sqrt(max(square - r * r, 1e-24 * square))
    out, turn = (at[0] * v[0] + at[1] * v[1]) / far, (at[0] * v[1] - at[1] * v[0]) / square
    bend = s * turn * turn + (r * out / far) ** 2 / s
    return s / far * out, turn, bend


@kernel("float64(Trees, Moving, Drives, int64)", borrows=True)
def wound_bend(trees: Trees, moving: Moving, drives: Drives, k: int) -> float:
    """Return the second rate of a leg that `put_leg` has found to wind, as far as it comes from velocities alone."""
    own, ends, leg, plane = drives.paths.numbers[k], drives.paths.ends[k], drives.paths.leg, moving.turn[1]
    (pa, pb), centre, r, way = leg_ends(moving, drives, k), triple3(drives.paths.centre), own[RADIUS], leg[WINDING]
    va, drift_a = seen_motion(trees, moving, ends[END_A], ends[WOUND], pa)
    vb, drift_b = seen_motion(trees, moving, ends[END_B], ends[WOUND], pb)
    a, b = in_axes(plane, along(pa, -1.0, centre)), in_axes(plane, along(pb, -1.0, centre))
    ua, ub = in_axes(plane, va), in_axes(plane, vb)
    pace_a, turn_a, bend_a = end_rates(a, ua, r)
    pace_b, turn_b, bend_b = end_rates(b, ub, r)
    fa, fb = math.hypot(a[0], a[1]), math.hypot(b[0], b[1])
    out_a, out_b = (a[0] * ua[0] + a[1] * ua[1]) / fa, (b[0] * ub[0] + b[1] * ub[1]) / fb
    rate = pace_a + pace_b + way * r * (turn_b - turn_a)
    bend = bend_a + bend_b - 2.0 * way * r * (out_b * turn_b / fb - out_a * turn_a / fa)
    if ends[AROUND] == SPHERE:  # out of the plane: the second variation of a great circle, and of the distances
        p, q = ua[2] / fa, ub[2] / fb
        sine, cosine = (a[0] * b[1] - a[1] * b[0]) / (fa * fb), (a[0] * b[0] + a[1] * b[1]) / (fa * fb)
        bend += math.sqrt(max(fa * fa - r * r, 0.0)) * p * p + math.sqrt(max(fb * fb - r * r, 0.0)) * q * q
        if abs(sine) > 1e-12:
            bend += way * r * ((p * p + q * q) * cosine - 2.0 * p * q) / sine
    else:
        climb = ub[2] - ua[2]
        whole = (leg[FLAT] * rate + leg[HEIGHT] * climb) / leg[LENGTH]
        bend = (rate * rate + leg[FLAT] * bend + climb * climb - whole * whole) / leg[LENGTH]
    ga, gb = three(leg, AT_A), three(leg, AT_B)
    return float(bend + dot3(ga, drift_a) + dot3(gb, drift_b))


@kernel("float64(Trees, Moving, Drives, int64)", borrows=True)
def path_drift(trees: Trees, moving: Moving, drives: Drives, line: int) -> float:
    """Return the second rate of a line as far as it comes from velocities alone; 0 unless it runs through space."""
    paths, drift = drives.paths, 0.0
    for k in range(paths.start[line], paths.start[line + 1]):
        put_leg(trees, moving, drives, k)
        ends, share, leg = paths.ends[k], paths.numbers[k, SHARE], paths.leg
        if leg[WINDING] != 0.0:
            drift += share * wound_bend(trees, moving, drives, k)
        elif leg[LENGTH] > NO_WAY:
            pa, pb = leg_ends(moving, drives, k)
            a, b, u = ends[END_A], ends[END_B], three(leg, AT_B)
            v = along(point_velocity(trees, moving, b, pb), -1.0, point_velocity(trees, moving, a, pa))
            gain = along(point_drift(trees, moving, b, pb), -1.0, point_drift(trees, moving, a, pa))
            pace = dot3(u, v)
            drift += share * (dot3(u, gain) + (dot3(v, v) - pace * pace) / leg[LENGTH])
    return drift
