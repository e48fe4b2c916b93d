"""Second rates of the equations of joints in space without acceleration, compiled: what `joint_equations` says.

Of an equation with rate J v the second rate is J a + drift. Bodies move as `put_bodies` has put them; points of them
have the acceleration omega x (omega x arm) beside that of the mass centre.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ..collision.vectors import V3, Vector, along, cross3, dot3, triple3, turned
from .row_kernels import (
    AT_A,
    AT_B,
    AXES_A,
    AXES_B,
    COSINE,
    DISTANCE,
    FIRST,
    KIND,
    SECOND,
    TRAVEL,
    TWIST,
    ZERO,
    A,
    B,
    Mechanism,
    axis,
    unit,
)


@kernel("float64(Mechanism, int64)", borrows=True)
def place_drift(tables: Mechanism, e: int) -> float:
    """Return the drift of a component of the distance in space, along an axis of b, or of its length."""
    numbers, markers = tables.equations[e], tables.markers[e]
    a, b = numbers[A], numbers[B]
    omega_a, omega_b = triple3(tables.omega[a]), triple3(tables.omega[b])
    arm_a, arm_b = turned(tables.R[a], markers, AT_A), turned(tables.R[b], markers, AT_B)
    swing_a, swing_b = cross3(omega_a, arm_a), cross3(omega_b, arm_b)
    bent = along(cross3(omega_a, swing_a), -1.0, cross3(omega_b, swing_b))
    d = along(along(triple3(tables.x[a]), 1.0, arm_a), -1.0, along(triple3(tables.x[b]), 1.0, arm_b))
    w = along(along(triple3(tables.velocity[a]), 1.0, swing_a), -1.0, along(triple3(tables.velocity[b]), 1.0, swing_b))
    if numbers[KIND] == TRAVEL:
        n = axis(tables.R[b], markers, AXES_B + numbers[FIRST])
        swing = cross3(omega_b, n)
        return dot3(n, bent) + 2.0 * dot3(swing, w) + dot3(d, cross3(omega_b, swing))
    if numbers[KIND] == DISTANCE:
        size = math.sqrt(dot3(d, d))
        if size == 0.0:
            return bent[0]
        n = along(ZERO, 1.0 / size, d)
        rate = dot3(n, w)
        return dot3(n, bent) + (dot3(w, w) - rate * rate) / size
    return dot3(unit(numbers[FIRST]), bent)


@kernel(f"{V3}({V3}, {V3}, {V3}, {V3})", borrows=True)
def seen_from(b0: Vector, b1: Vector, b2: Vector, x: Vector) -> Vector:
    """Return the components of a vector along three axes."""
    return (dot3(b0, x), dot3(b1, x), dot3(b2, x))


@kernel(f"float64({V3}, {V3}, {V3})", borrows=True)
def angle_drift(x: Vector, Omega: Vector, omega_b: Vector) -> float:
    """Return the drift of the angle about z, see `joint_equations.angle`; all in the axes of b."""
    c, s, z = x
    size = max(c * c + s * s, 1e-300)
    dc, ds, dz = cross3(Omega, x)
    g = (-z * c / size, -z * s / size, 1.0)
    shrink = 2.0 * (c * dc + s * ds) / size
    dg = (-(dz * c + z * dc) / size - g[0] * shrink, -(dz * s + z * ds) / size - g[1] * shrink, 0.0)
    return dot3(dg, Omega) - dot3(g, cross3(omega_b, Omega))


@kernel("float64(Mechanism, int64)", borrows=True)
def turn_drift(tables: Mechanism, e: int) -> float:
    """Return the drift of the cosine of two axes, of a component of the turn of a in b, or of the angle about z."""
    numbers, markers = tables.equations[e], tables.markers[e]
    kind, RA, RB = numbers[KIND], tables.R[numbers[A]], tables.R[numbers[B]]
    omega_a, omega_b = triple3(tables.omega[numbers[A]]), triple3(tables.omega[numbers[B]])
    spin = along(omega_a, -1.0, omega_b)
    x = axis(RA, markers, AXES_A + (numbers[FIRST] if kind == COSINE else 0))
    if kind == COSINE:
        n = axis(RB, markers, AXES_B + numbers[SECOND])
        bend = along(cross3(cross3(omega_a, x), n), 1.0, cross3(x, cross3(omega_b, n)))
        return dot3(spin, bend)
    b0, b1, b2 = axis(RB, markers, AXES_B), axis(RB, markers, AXES_B + 1), axis(RB, markers, AXES_B + 2)
    Omega, own = seen_from(b0, b1, b2, spin), seen_from(b0, b1, b2, omega_b)
    if kind != TWIST:
        return angle_drift(seen_from(b0, b1, b2, x), Omega, own)
    y, z = axis(RA, markers, AXES_A + 1), axis(RA, markers, AXES_A + 2)
    w = 0.5 * math.sqrt(max(1.0 + dot3(b0, x) + dot3(b1, y) + dot3(b2, z), 1e-300))
    k = 0.25 / w
    u = (k * (dot3(b2, y) - dot3(b1, z)), k * (dot3(b0, z) - dot3(b2, x)), k * (dot3(b1, x) - dot3(b0, y)))
    rate = along(along(ZERO, w, Omega), -1.0, cross3(u, Omega))
    bent = cross3(own, Omega)
    found = along(along(ZERO, -0.5 * dot3(u, Omega), Omega), -0.5, cross3(rate, Omega))
    found = along(found, -1.0, along(along(ZERO, w, bent), -1.0, cross3(u, bent)))
    return dot3(unit(numbers[FIRST]), found)


@kernel("float64(Mechanism, int64)", borrows=True)
def row_drift(tables: Mechanism, r: int) -> float:
    """Return the drift of a row of joints, see `row_kernels.joint_row`."""
    total = 0.0
    for side in range(2):
        e = tables.parts[r, side]
        if e >= 0:
            drift = place_drift(tables, e) if tables.equations[e, KIND] < COSINE else turn_drift(tables, e)
            total += tables.factors[r, side] * drift
    return total
