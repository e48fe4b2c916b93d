"""Bodies, joints and forces in space at one state, compiled: what `joint_equations`, `links` and `forces` say.

An equation is a scalar function of two markers. With its value and rate comes its gradient as two wrenches, a force and
a moment about the mass centre on the bodies of a and b, in space: rows of joints and forces are made of these.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._jit import A1, A2, A3, I1, I2, kernel, record
from ...arrays import Array, IntArray
from ..collision.contact_rows import body_motions
from ..collision.vectors import V3, Vector, along, cross3, dot3, triple3, turned, turned_back
from ..joints.equation import AS_RATE, AS_VALUE

OFFSET, TRAVEL, DISTANCE, COSINE, TWIST, ANGLE, SPIN = range(7)  # kinds of equations; from COSINE on of turns
KIND, A, B, FIRST, SECOND = range(5)  # columns of `equations`: kind, bodies, axes of a and of b
HELD_POINT = 1  # as SECOND of OFFSET: this row and the next two are all three components for the same markers
AT_A, AXES_A, AT_B, AXES_B, MIDDLE = 0, 3, 12, 15, 24  # columns of `markers`; axes row by row
VALUE, RATE, WRENCH_A, WRENCH_B = 0, 1, 2, 8  # columns of `found`
ALONG, DRAG, LOAD, SHAKING = range(4)  # kinds of forces; springs and drives act along an equation
EFFORT, STIFFNESS, DAMPING, TARGET, SPEED = range(5)  # columns of `strength` of those
TWO_PI = 2.0 * math.pi
ZERO = (0.0, 0.0, 0.0)


@record(A2, A3, A2, A2, A3, A2, A3, I1, A2, I2, A2, A2, I2, A2, I2, A2)
class Mechanism(NamedTuple):
    """n bodies in space, what joins and pushes them, and how they move at one state; the ground is body n.

    Attributes
    ----------
    x, R, velocity, omega, turn : shapes (n + 1, 3), turn (n + 1, 3, 6)
        See `contact_rows.body_motions`.
    mass : Array, shape (n, 1)
        kg.
    inertia : Array, shape (n, 3, 3)
        In body axes, kg m^2.
    ball : IntArray, shape (n,)
        Whether the inertia is that of a ball.
    load : Array, shape (2, nv)
        Gravity, and the control; moments in body axes.
    equations, markers, found : shapes (e, 5), (e, 25) and (e, 14)
    parts, factors : shapes (r, 3) and (r, 4)
        Rows: their two equations (the second -1: one only) and what is the gap, see `AS_VALUE`; the factors of the
        equations, and what is taken from value and rate.
    forces, strength : shapes (f, 2) and (f, 6)
        Kind and equation, whose marker a is where drag and load act; EFFORT and its followers, or the numbers of
        drag, load (force, moment) and shaking (amplitude (3), 2 pi f, phase).
    """

    x: Array
    R: Array
    velocity: Array
    omega: Array
    turn: Array
    mass: Array
    inertia: Array
    ball: IntArray
    load: Array
    equations: IntArray
    markers: Array
    found: Array
    parts: IntArray
    factors: Array
    forces: IntArray
    strength: Array


@kernel(f"void(Mechanism, {A1}, {A1})", borrows=True)
def put_bodies(tables: Mechanism, q: Array, v: Array) -> None:
    """Put how the bodies move at a state."""
    body_motions(q, v, tables.x, tables.R, tables.velocity, tables.omega, tables.turn)


@kernel(f"{V3}({A2}, {A1}, int64)", borrows=True)
def axis(R: Array, markers: Array, i: int) -> Vector:
    """Return an axis of a marker in space; its entries stand in every third column from i on."""
    x, y, z = markers[i], markers[i + 3], markers[i + 6]
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@kernel(f"{V3}(int64)", borrows=True)
def unit(k: int) -> Vector:
    """Return an axis of space."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel(f"UniTuple({V3}, 4)(Mechanism, int64)", borrows=True)
def way_between(tables: Mechanism, e: int) -> tuple[Vector, Vector, Vector, Vector]:
    """Return d = x_a - x_b of the markers of an equation, its rate, and their arms."""
    numbers, markers = tables.equations[e], tables.markers[e]
    a, b = numbers[A], numbers[B]
    arm_a, arm_b = turned(tables.R[a], markers, AT_A), turned(tables.R[b], markers, AT_B)
    d = along(along(triple3(tables.x[a]), 1.0, arm_a), -1.0, along(triple3(tables.x[b]), 1.0, arm_b))
    w = along(triple3(tables.velocity[a]), 1.0, cross3(triple3(tables.omega[a]), arm_a))
    w = along(w, -1.0, along(triple3(tables.velocity[b]), 1.0, cross3(triple3(tables.omega[b]), arm_b)))
    return d, w, arm_a, arm_b


@kernel(f"void({A1}, float64, float64, {V3}, {V3}, {V3})", borrows=True)
def put_equation(out: Array, value: float, rate: float, force: Vector, a: Vector, b: Vector) -> None:
    """Put an equation: `force` acts on the body of a, its opposite on that of b; a, b are the moments."""
    out[VALUE], out[RATE] = value, rate
    for i in range(3):
        out[WRENCH_A + i], out[WRENCH_A + 3 + i] = force[i], a[i]
        out[WRENCH_B + i], out[WRENCH_B + 3 + i] = -force[i], b[i]


@kernel("void(Mechanism, int64)", borrows=True)
def place_equation(tables: Mechanism, e: int) -> None:
    """Evaluate a component of d = x_a - x_b in space (OFFSET), along an axis of b (TRAVEL), or its length."""
    numbers, markers = tables.equations[e], tables.markers[e]
    kind, b = numbers[KIND], numbers[B]
    d, w, arm_a, arm_b = way_between(tables, e)
    n, bend = unit(numbers[FIRST]), ZERO
    if kind == TRAVEL:
        n = axis(tables.R[b], markers, AXES_B + numbers[FIRST])
        bend = cross3(n, d)
    elif kind == DISTANCE:
        size = math.sqrt(dot3(d, d))
        n = along(ZERO, 1.0 / size, d) if size > 0.0 else unit(0)
    moment_b = along(bend, -1.0, cross3(arm_b, n))
    rate = dot3(n, w) + dot3(bend, triple3(tables.omega[b]))
    put_equation(tables.found[e], dot3(n, d), rate, n, cross3(arm_a, n), moment_b)


@kernel("void(Mechanism, int64)", borrows=True)
def turn_equation(tables: Mechanism, e: int) -> None:
    """Evaluate the cosine of two axes, twice the vector part of the quaternion of a in b, or the angle about z.

    Of SPIN, an angular velocity about an axis of space, there is a rate alone.
    """
    numbers, markers = tables.equations[e], tables.markers[e]
    kind, RA, RB = numbers[KIND], tables.R[numbers[A]], tables.R[numbers[B]]
    x = axis(RA, markers, AXES_A + (numbers[FIRST] if kind == COSINE else 0))
    if kind == SPIN:
        value, n = 0.0, unit(numbers[FIRST])
    elif kind == COSINE:
        z = axis(RB, markers, AXES_B + numbers[SECOND])
        value, n = dot3(x, z), cross3(x, z)
    else:
        b0, b1, b2 = axis(RB, markers, AXES_B), axis(RB, markers, AXES_B + 1), axis(RB, markers, AXES_B + 2)
        if kind == ANGLE:
            c, s, z0 = dot3(b0, x), dot3(b1, x), dot3(b2, x)
            size = max(c * c + s * s, 1e-300)
            g, off = (-z0 * c / size, -z0 * s / size, 1.0), math.atan2(s, c) - markers[MIDDLE]
            value = markers[MIDDLE] + off - TWO_PI * math.floor(off / TWO_PI + 0.5)
        else:
            y, z = axis(RA, markers, AXES_A + 1), axis(RA, markers, AXES_A + 2)
            w = 0.5 * math.sqrt(max(1.0 + dot3(b0, x) + dot3(b1, y) + dot3(b2, z), 1e-300))
            k = 0.25 / w
            u = (k * (dot3(b2, y) - dot3(b1, z)), k * (dot3(b0, z) - dot3(b2, x)), k * (dot3(b1, x) - dot3(b0, y)))
            i = numbers[FIRST]
            g, value = along(cross3(u, unit(i)), w, unit(i)), 2.0 * u[i]
        n = along(along(along(ZERO, g[0], b0), g[1], b1), g[2], b2)
    spin = along(triple3(tables.omega[numbers[A]]), -1.0, triple3(tables.omega[numbers[B]]))
    put_equation(tables.found[e], value, dot3(n, spin), ZERO, n, along(ZERO, -1.0, n))


@kernel("void(Mechanism, int64)", borrows=True)
def equation(tables: Mechanism, e: int) -> None:
    """Evaluate an equation at the motion that is in `tables`."""
    if tables.equations[e, KIND] < COSINE:
        place_equation(tables, e)
    else:
        turn_equation(tables, e)


@kernel(f"void(Mechanism, int64, float64, {V3}, {V3}, {A1})", borrows=True)
def add_wrench(tables: Mechanism, body: int, scale: float, force: Vector, moment: Vector, out: Array) -> None:
    """Add a wrench on a body, in space, to generalised forces; the ground takes any."""
    if body == len(tables.x) - 1:
        return
    turning = turned_back(tables.R[body], moment)
    for i in range(3):
        out[6 * body + i] += scale * force[i]
        out[6 * body + 3 + i] += scale * turning[i]


@kernel(f"void(Mechanism, int64, float64, {A1})", borrows=True)
def add_gradient(tables: Mechanism, e: int, scale: float, out: Array) -> None:
    """Add the gradient of an equation."""
    x = tables.found[e]
    for side in range(2):
        i = WRENCH_B if side else WRENCH_A
        force, moment = (x[i], x[i + 1], x[i + 2]), (x[i + 3], x[i + 4], x[i + 5])
        add_wrench(tables, tables.equations[e, B if side else A], scale, force, moment, out)


@kernel(f"UniTuple(float64, 2)(Mechanism, int64, {A1})", borrows=True)
def joint_row(tables: Mechanism, r: int, J: Array) -> tuple[float, float]:
    """Add the Jacobian of a row to J, which holds zeros; return its gap and rate."""
    gap, rate = -tables.factors[r, 2], -tables.factors[r, 3]
    for side in range(2):
        e, scale = tables.parts[r, side], tables.factors[r, side]
        if e >= 0:
            equation(tables, e)
            gap, rate = gap + scale * tables.found[e, VALUE], rate + scale * tables.found[e, RATE]
            add_gradient(tables, e, scale, J)
    what = tables.parts[r, 2]
    if what == AS_VALUE:
        return gap, rate
    return (rate if what == AS_RATE else 0.0), rate


@kernel(f"void(Mechanism, int64, float64, {V3}, {A2})", borrows=True)
def put_lever(tables: Mechanism, body: int, sign: float, arm: Vector, J: Array) -> None:
    """Put how a body moves a point at this arm into the three rows of J, with a sign; the ground moves none."""
    if body == len(tables.x) - 1:
        return
    R, i, (x, y, z) = tables.R[body], 6 * body, arm
    for j in range(3):
        J[j, i + j] = sign
        J[0, i + 3 + j] = sign * (R[1, j] * z - R[2, j] * y)
        J[1, i + 3 + j] = sign * (R[2, j] * x - R[0, j] * z)
        J[2, i + 3 + j] = sign * (R[0, j] * y - R[1, j] * x)


@kernel(f"void(Mechanism, int64, {A1}, {A1}, {A2})", borrows=True)
def point_rows(tables: Mechanism, e: int, gap: Array, rate: Array, J: Array) -> None:
    """Put the three rows that hold a point, `HELD_POINT`, as `joint_row` does one by one; J holds zeros."""
    d, w, arm_a, arm_b = way_between(tables, e)
    for i in range(3):
        gap[i], rate[i] = d[i], w[i]
    put_lever(tables, tables.equations[e, A], 1.0, arm_a, J)
    put_lever(tables, tables.equations[e, B], -1.0, arm_b, J)


@kernel(f"void(Mechanism, {A1}, {A1})", borrows=True)
def own_forces(tables: Mechanism, v: Array, h: Array) -> None:
    """Put gravity, control and -w x J w of every body."""
    for k in range(len(tables.mass)):
        for i in range(6 * k, 6 * k + 6):
            h[i] = tables.load[0, i] + tables.load[1, i]
        if tables.ball[k] == 0:
            w, J = (v[6 * k + 3], v[6 * k + 4], v[6 * k + 5]), tables.inertia[k]
            L = (
                J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2],
                J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2],
                J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2],
            )
            moment = cross3(L, w)
            for i in range(3):
                h[6 * k + 3 + i] += moment[i]


@kernel(f"float64(Mechanism, int64, {A1})", borrows=True)
def force_along(tables: Mechanism, f: int, h: Array) -> float:
    """Add a spring or drive; return the power of all of it but the spring. At length zero a spring has no direction."""
    e, s = tables.forces[f, 1], tables.strength[f]
    equation(tables, e)
    value, rate = tables.found[e, VALUE], tables.found[e, RATE]
    if tables.equations[e, KIND] == DISTANCE and value == 0.0:
        return 0.0
    supplied = s[EFFORT] - s[DAMPING] * (rate - s[SPEED])
    add_gradient(tables, e, supplied - s[STIFFNESS] * (value - s[TARGET]), h)
    return float(supplied * rate)


@kernel(f"float64(Mechanism, int64, {A1})", borrows=True)
def force_at_marker(tables: Mechanism, f: int, h: Array) -> float:
    """Add drag or a load; return its power."""
    e, s = tables.forces[f, 1], tables.strength[f]
    body = tables.equations[e, A]
    omega, arm = triple3(tables.omega[body]), turned(tables.R[body], tables.markers[e], AT_A)
    v = along(triple3(tables.velocity[body]), 1.0, cross3(omega, arm))
    if tables.forces[f, 0] == DRAG:
        force, moment = along(ZERO, -s[0], v), along(ZERO, -s[1], omega)
    else:
        force, moment = (s[0], s[1], s[2]), (s[3], s[4], s[5])
    add_wrench(tables, body, 1.0, force, along(moment, 1.0, cross3(arm, force)), h)
    return dot3(force, v) + dot3(moment, omega)


@kernel(f"float64(Mechanism, int64, float64, {A1}, {A1})", borrows=True)
def shaking(tables: Mechanism, f: int, t: float, v: Array, h: Array) -> float:
    """Add the inertial force of a frame that shakes; return its power."""
    s, power = tables.strength[f], 0.0
    now = math.sin(s[3] * t + s[4])
    for k in range(len(tables.mass)):
        for i in range(3):
            force = -tables.mass[k, 0] * s[i] * now
            h[6 * k + i] += force
            power += force * v[6 * k + i]
    return power


@kernel(f"float64(Mechanism, float64, {A1}, {A1}, {A1})", borrows=True, rare=True)
def spatial_forces(tables: Mechanism, t: float, q: Array, v: Array, h: Array) -> float:
    """Put the generalised force at a state; return the power of what has no potential, W."""
    own_forces(tables, v, h)
    power = 0.0
    for i in range(len(v)):
        power += tables.load[1, i] * v[i]
    if len(tables.forces) > 0:
        put_bodies(tables, q, v)
    for f in range(len(tables.forces)):
        kind = tables.forces[f, 0]
        if kind == SHAKING:
            power += shaking(tables, f, t, v, h)
        elif kind == ALONG:
            power += force_along(tables, f, h)
        else:
            power += force_at_marker(tables, f, h)
    return power


@kernel(f"float64(Mechanism, {A1}, {A1})", borrows=True, rare=True)
def spatial_potential(tables: Mechanism, q: Array, rest: Array) -> float:
    """Return the energy of gravity and springs, J; `rest` are velocities of zero."""
    energy = 0.0
    for k in range(len(tables.mass)):
        for i in range(3):
            energy -= tables.load[0, 6 * k + i] * q[7 * k + i]
    if len(tables.forces) > 0:
        put_bodies(tables, q, rest)
    for f in range(len(tables.forces)):
        if tables.forces[f, 0] == ALONG:
            e, s = tables.forces[f, 1], tables.strength[f]
            equation(tables, e)
            energy += 0.5 * s[STIFFNESS] * (tables.found[e, VALUE] - s[TARGET]) ** 2
    return energy


@kernel(f"void(Mechanism, {A2})", borrows=True, rare=True)
def spatial_mass(tables: Mechanism, M: Array) -> None:
    """Put the blocks of M; what is beside them is left alone."""
    for k in range(len(tables.mass)):
        for i in range(3):
            for j in range(3):
                M[6 * k + i, 6 * k + j] = tables.mass[k, 0] if i == j else 0.0
                M[6 * k + 3 + i, 6 * k + 3 + j] = tables.inertia[k, i, j]
                M[6 * k + i, 6 * k + 3 + j] = M[6 * k + 3 + i, 6 * k + j] = 0.0


@kernel(f"void({A1}, {A1}, float64, {A1})", borrows=True, rare=True)
def move_bodies3(q: Array, v: Array, dt: float, moved: Array) -> None:
    """Put the coordinates after dt at constant v, see `SpatialSystem.move`; what rests keeps its bits."""
    for k in range(len(q) // 7):
        i, j = 7 * k, 6 * k
        for a in range(3):
            moved[i + a] = q[i + a] + dt * v[j + a]
        x, y, z = 0.5 * dt * v[j + 3], 0.5 * dt * v[j + 4], 0.5 * dt * v[j + 5]
        a, b, c, d, s = q[i + 3], q[i + 4], q[i + 5], q[i + 6], 1.0
        if x != 0.0 or y != 0.0 or z != 0.0:
            a, b, c, d = (
                a - b * x - c * y - d * z,
                b + a * x + c * z - d * y,
                c + a * y + d * x - b * z,
                d + a * z + b * y - c * x,
            )
            s = math.sqrt(a * a + b * b + c * c + d * d)
        moved[i + 3], moved[i + 4], moved[i + 5], moved[i + 6] = a / s, b / s, c / s, d / s


@kernel(f"void({A2}, {A2})", borrows=True)
def invert3(K: Array, out: Array) -> None:
    """Put the inverse of a matrix of three rows."""
    a, b, c = triple3(K[0]), triple3(K[1]), triple3(K[2])
    x, y, z = cross3(b, c), cross3(c, a), cross3(a, b)
    d = 1.0 / dot3(a, x)
    for i in range(3):
        out[i, 0], out[i, 1], out[i, 2] = d * x[i], d * y[i], d * z[i]


@kernel(f"boolean(Mechanism, {A1}, float64, {A2}, {A2})", borrows=True, rare=True)
def spatial_slope(tables: Mechanism, v: Array, dt: float, K: Array, inverse: Array) -> bool:
    """Put the blocks of (M + dt d(w x J w)/dw)^-1; return whether any body turns so that this matters.

    K (6, 3) is work space.
    """
    spins = False
    for k in range(len(tables.mass)):
        first = 6 * k + 3
        w, J, L = (v[first], v[first + 1], v[first + 2]), tables.inertia[k], K[3]
        turns = tables.ball[k] == 0 and (w[0] != 0.0 or w[1] != 0.0 or w[2] != 0.0)
        spins = spins or turns
        for i in range(3):
            L[i] = J[i, 0] * w[0] + J[i, 1] * w[1] + J[i, 2] * w[2]
        for j in range(3):
            bent = cross3(w, (J[0, j], J[1, j], J[2, j]))
            bent = along(bent, -1.0, cross3(triple3(L), unit(j)))  # column j of [w]x J - [J w]x
            for i in range(3):
                K[i, j] = J[i, j] + (dt * bent[i] if turns else 0.0)
        invert3(K, K[3:6])
        for i in range(3):
            for j in range(3):
                inverse[first + i, first + j] = K[3 + i, j]
                inverse[6 * k + i, 6 * k + j] = 1.0 / tables.mass[k, 0] if i == j else 0.0
                inverse[6 * k + i, first + j] = inverse[first + i, 6 * k + j] = 0.0
    return spins
