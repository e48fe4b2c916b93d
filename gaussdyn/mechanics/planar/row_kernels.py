"""Points and bodies in the plane at one state, compiled: forces, and the rows of the constraints given one by one.

What `contacts` and `forces` say, with the same formulas; `tables` fills in the arrays:

* ``numbers`` (n, 10) of constraints: kind, where the coordinates of the two bodies begin (-1: ground) and whether they
  turn, number of rows; the columns from `HELD` on belong to who uses the rows.
* ``data`` (n, 10): the two markers in their frames, normal or direction, radius, belt, length.
* ``forces`` (f, 5) and ``strength`` (f, 11) likewise.
* ``bodies`` (5, nv): 1 / mass, weight, the masses that move along x and along y, and the control.
"""

from __future__ import annotations

import math

from ..._jit import A1, A2, I2, kernel
from ...arrays import Array, IntArray
from ..joints.equation import AS_RATE, AS_VALUE

CONTACT, STRING, ROD, DRY, OFFSET, TURN, DISC = range(7)
SPRING, DRAG, LOAD, SHAKING, DRIVE = range(5)
EFFORT, STIFFNESS, DAMPING, TARGET, SPEED, LINE = 4, 5, 6, 7, 8, 9  # columns of `strength` of drives
KIND, A, TURNS_A, B, TURNS_B, SIZE, HELD = 0, 1, 2, 3, 4, 5, 6
AT_A, AT_B, NORMAL, RADIUS, BELT, LENGTH = 0, 2, 4, 6, 7, 8  # LENGTH: of links; angle of turns; second radius
GAP, RATE, DRIFT, REACTION = 0, 1, 3, 5  # columns of what is found
MARKER = "UniTuple(float64, 9)"


@kernel(f"{MARKER}({A1}, int64, int64, int64, float64, float64)", borrows=True)
def marker(
    y: Array, nv: int, i: int, turns: int, at_x: float, at_y: float
) -> tuple[float, float, float, float, float, float, float, float, float]:  # fmt: skip
    """Return place, velocity, drift (x and y each), arm (x, y) and rate of turn of a marker; y begins with (q, v)."""
    if i < 0:
        return at_x, at_y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x, z, u, w = y[i], y[i + 1], y[nv + i], y[nv + i + 1]
    if turns == 0:
        return x, z, u, w, 0.0, 0.0, 0.0, 0.0, 0.0
    angle, omega = y[i + 2], y[nv + i + 2]
    c, s = math.cos(angle), math.sin(angle)
    arm_x, arm_y = c * at_x - s * at_y, s * at_x + c * at_y
    return (
        x + arm_x, z + arm_y, u - omega * arm_y, w + omega * arm_x, -omega * omega * arm_x, -omega * omega * arm_y,
        arm_x, arm_y, omega,
    )  # fmt: skip


@kernel(f"void({A2}, int64, int64, int64, float64, float64, float64, float64)", borrows=True)
def add_direction(J: Array, k: int, i: int, turns: int, x: float, y: float, arm_x: float, arm_y: float) -> None:
    """Add the Jacobian of (x, y) . (velocity of a marker) to row k of J."""
    if i < 0:
        return
    J[k, i] += x
    J[k, i + 1] += y
    if turns != 0:
        J[k, i + 2] += y * arm_x - x * arm_y


@kernel(f"UniTuple(float64, 2)({A1}, int64, int64, float64, float64)", borrows=True)
def carried(y: Array, i: int, turns: int, nx: float, ny: float) -> tuple[float, float]:
    """Return a direction in the frame of a body, in space."""
    if turns == 0:
        return nx, ny
    c, s = math.cos(y[i + 2]), math.sin(y[i + 2])
    return c * nx - s * ny, s * nx + c * ny


@kernel(f"void({A1}, int64, {I2}, {A2}, int64, {A2}, {A2})", borrows=True)
def contact_row(y: Array, nv: int, numbers: IntArray, data: Array, k: int, J: Array, found: Array) -> None:
    """Fill in a contact with a half-plane, see `PlanarContact.rows`."""
    ia, ta, ib, tb = numbers[k, A], numbers[k, TURNS_A], numbers[k, B], numbers[k, TURNS_B]
    ax, ay, au, aw, adx, ady, a1, a2, ao = marker(y, nv, ia, ta, data[k, AT_A], data[k, AT_A + 1])
    bx, by, bu, bw, bdx, bdy, b1, b2, bo = marker(y, nv, ib, tb, data[k, AT_B], data[k, AT_B + 1])
    nx, ny = carried(y, ib, tb, data[k, NORMAL], data[k, NORMAL + 1])
    dx, dy, radius = ax - bx, ay - by, data[k, RADIUS]
    wx, wy = au - bu + bo * dy, aw - bw - bo * dx
    ex, ey = adx - bdx + bo * (aw - bw), ady - bdy - bo * (au - bu)
    found[k, GAP] = nx * dx + ny * dy - radius
    n_rate, t_rate = nx * wx + ny * wy, ny * wx - nx * wy
    found[k, RATE], found[k, RATE + 1] = n_rate, t_rate + radius * (ao - bo) - data[k, BELT]
    found[k, DRIFT] = nx * ex + ny * ey - bo * t_rate
    found[k, DRIFT + 1] = ny * ex - nx * ey + bo * n_rate
    for row in range(2):
        x, z = (nx, ny) if row == 0 else (ny, -nx)
        add_direction(J, 2 * k + row, ia, ta, x, z, a1, a2)
        add_direction(J, 2 * k + row, ib, tb, -x, -z, b1 + dx, b2 + dy)
    if ta != 0:
        J[2 * k + 1, ia + 2] += radius
    if tb != 0:
        J[2 * k + 1, ib + 2] -= radius


@kernel(f"void({A1}, int64, {I2}, {A2}, int64, {A2}, {A2})", borrows=True)
def link_row(y: Array, nv: int, numbers: IntArray, data: Array, k: int, J: Array, found: Array) -> None:
    """Fill in a string or a rod, see `Link`."""
    ia, ta, ib, tb = numbers[k, A], numbers[k, TURNS_A], numbers[k, B], numbers[k, TURNS_B]
    ax, ay, au, aw, adx, ady, a1, a2, _ = marker(y, nv, ia, ta, data[k, AT_A], data[k, AT_A + 1])
    bx, by, bu, bw, bdx, bdy, b1, b2, _ = marker(y, nv, ib, tb, data[k, AT_B], data[k, AT_B + 1])
    dx, dy, wx, wy = ax - bx, ay - by, au - bu, aw - bw
    distance = math.hypot(dx, dy)
    ex, ey = (dx / distance, dy / distance) if distance > 0.0 else (1.0, 0.0)
    rate = ex * wx + ey * wy
    bend = (wx * wx + wy * wy - rate * rate) / distance if distance > 0.0 else 0.0
    sign = -1.0 if numbers[k, KIND] == STRING else 1.0
    found[k, GAP], found[k, RATE] = sign * (distance - data[k, LENGTH]), sign * rate
    found[k, DRIFT] = sign * (ex * (adx - bdx) + ey * (ady - bdy) + bend)
    add_direction(J, 2 * k, ia, ta, sign * ex, sign * ey, a1, a2)
    add_direction(J, 2 * k, ib, tb, -sign * ex, -sign * ey, b1, b2)


@kernel(f"boolean({I2}, {A2}, int64)", borrows=True)
def goes_on(numbers: IntArray, data: Array, k: int) -> bool:
    """Return whether the next constraint is another component for the same markers, as of hinges."""
    if k + 1 >= len(numbers) or numbers[k + 1, KIND] != OFFSET:
        return False
    same = numbers[k, A] == numbers[k + 1, A] and numbers[k, B] == numbers[k + 1, B]
    for c in range(NORMAL):
        same = same and data[k, c] == data[k + 1, c]
    return bool(same)


@kernel(f"int64({A1}, int64, {I2}, {A2}, int64, {A2}, {A2})", borrows=True)
def offset_rows(y: Array, nv: int, numbers: IntArray, data: Array, first: int, J: Array, found: Array) -> int:
    """Fill in a component of x_a - x_b along a direction in space, see `joints.Hinge`, and the next if it is another.

    Returns how many these are.
    """
    ia, ta, ib, tb = numbers[first, A], numbers[first, TURNS_A], numbers[first, B], numbers[first, TURNS_B]
    ax, ay, au, aw, adx, ady, a1, a2, _ = marker(y, nv, ia, ta, data[first, AT_A], data[first, AT_A + 1])
    bx, by, bu, bw, bdx, bdy, b1, b2, _ = marker(y, nv, ib, tb, data[first, AT_B], data[first, AT_B + 1])
    size = 2 if goes_on(numbers, data, first) else 1
    for k in range(first, first + size):
        x, z = data[k, NORMAL], data[k, NORMAL + 1]
        found[k, GAP], found[k, RATE] = x * (ax - bx) + z * (ay - by), x * (au - bu) + z * (aw - bw)
        found[k, DRIFT] = x * (adx - bdx) + z * (ady - bdy)
        add_direction(J, 2 * k, ia, ta, x, z, a1, a2)
        add_direction(J, 2 * k, ib, tb, -x, -z, b1, b2)
    return size


@kernel(f"void({A1}, int64, {I2}, {A2}, int64, {A2}, {A2})", borrows=True)
def turn_row(y: Array, nv: int, numbers: IntArray, data: Array, k: int, J: Array, found: Array) -> None:
    """Fill in the angle between two bodies, less that which it shall be."""
    angle = omega = 0.0
    for side in range(2):
        i, sign = numbers[k, A + 2 * side], 1.0 - 2.0 * side
        if i >= 0:
            angle += sign * y[i + 2]
            omega += sign * y[nv + i + 2]
            J[2 * k, i + 2] += sign
    found[k, GAP], found[k, RATE], found[k, DRIFT] = angle - data[k, LENGTH], omega, 0.0


@kernel(f"void({A1}, int64, {I2}, {A2}, int64, {A2}, {A2})", borrows=True, rare=True)
def disc_row(y: Array, nv: int, numbers: IntArray, data: Array, k: int, J: Array, found: Array) -> None:
    """Fill in a contact of two discs, see `PlanarDiscContact.rows`."""
    ia, ta, ib, tb = numbers[k, A], numbers[k, TURNS_A], numbers[k, B], numbers[k, TURNS_B]
    ax, ay, au, aw, adx, ady, a1, a2, ao = marker(y, nv, ia, ta, data[k, AT_A], data[k, AT_A + 1])
    bx, by, bu, bw, bdx, bdy, b1, b2, bo = marker(y, nv, ib, tb, data[k, AT_B], data[k, AT_B + 1])
    dx, dy, wx, wy, ex, ey = ax - bx, ay - by, au - bu, aw - bw, adx - bdx, ady - bdy
    distance = math.hypot(dx, dy)
    nx, ny = (dx / distance, dy / distance) if distance > 0.0 else (0.0, 1.0)
    gap = distance - data[k, RADIUS] - data[k, LENGTH]
    arm_a, arm_b = data[k, RADIUS] + 0.5 * gap, data[k, LENGTH] + 0.5 * gap
    n_rate, t_rate = nx * wx + ny * wy, ny * wx - nx * wy
    turn = t_rate / distance if distance > 0.0 else 0.0
    found[k, GAP], found[k, RATE], found[k, RATE + 1] = gap, n_rate, t_rate + arm_a * ao + arm_b * bo
    found[k, DRIFT] = nx * ex + ny * ey + turn * t_rate
    found[k, DRIFT + 1] = ny * ex - nx * ey - turn * n_rate + 0.5 * n_rate * (ao + bo)
    for row in range(2):
        x, z = (nx, ny) if row == 0 else (ny, -nx)
        add_direction(J, 2 * k + row, ia, ta, x, z, a1, a2)
        add_direction(J, 2 * k + row, ib, tb, -x, -z, b1, b2)
    if ta != 0:
        J[2 * k + 1, ia + 2] += arm_a
    if tb != 0:
        J[2 * k + 1, ib + 2] += arm_b


@kernel(f"void({I2}, int64, {A2})", borrows=True)
def clear_contact(numbers: IntArray, k: int, J: Array) -> None:
    """Clear the rows of a contact, where its bodies are."""
    for side in range(2):
        i, turns = numbers[k, A + 2 * side], numbers[k, TURNS_A + 2 * side]
        for j in range(i, i + 2 + turns if i >= 0 else i):
            J[2 * k, j] = J[2 * k + 1, j] = 0.0


@kernel(f"void({A1}, int64, {I2}, {A2}, {A2}, {A2})", borrows=True)
def planar_rows(y: Array, nv: int, numbers: IntArray, data: Array, J: Array, found: Array) -> None:
    """Fill in J (2 n, nv), and gap, rates and drifts in `found` (n, 7), of n constraints; dry rows have one row.

    Rows of contacts are zero but for the bodies that these are of, before and after.
    """
    k, n = 0, len(numbers)
    for i in range(n):
        if numbers[i, KIND] in (CONTACT, DISC):
            clear_contact(numbers, i, J)
        else:
            for j in range(nv):
                J[2 * i, j] = 0.0
        found[i, RATE + 1] = found[i, DRIFT + 1] = 0.0
    while k < n:
        if numbers[k, KIND] == OFFSET:
            k += offset_rows(y, nv, numbers, data, k, J, found)
            continue
        if numbers[k, KIND] == CONTACT:
            contact_row(y, nv, numbers, data, k, J, found)
        elif numbers[k, KIND] == TURN:
            turn_row(y, nv, numbers, data, k, J, found)
        elif numbers[k, KIND] == DISC:
            disc_row(y, nv, numbers, data, k, J, found)
        elif numbers[k, KIND] == DRY:
            i, turns, x, z = numbers[k, A], numbers[k, TURNS_A], data[k, NORMAL], data[k, NORMAL + 1]
            _, _, u, w, dx, dy, a1, a2, _ = marker(y, nv, i, turns, data[k, AT_A], data[k, AT_A + 1])
            found[k, GAP], found[k, RATE], found[k, DRIFT] = 0.0, x * u + z * w - data[k, BELT], x * dx + z * dy
            add_direction(J, 2 * k, i, turns, x, z, a1, a2)
        else:
            link_row(y, nv, numbers, data, k, J, found)
        k += 1


@kernel(f"void({I2}, {A2}, {A2}, {A2})", borrows=True)
def combine_rows(parts: IntArray, factors: Array, J: Array, found: Array) -> None:
    """Make rows of coordinates of joints those of what acts on these: f x + g y - taken.

    parts (r, 3): the row, that of y (-1: none), what the gap is (`equation.AS_VALUE`); factors (r, 4): f, g, and what
    is taken from value and rate.
    """
    for r in range(len(parts)):
        k, other, scale = parts[r, 0], parts[r, 1], factors[r, 0]
        found[k, GAP], found[k, RATE] = scale * found[k, GAP] - factors[r, 2], scale * found[k, RATE] - factors[r, 3]
        found[k, DRIFT] *= scale
        for j in range(J.shape[1]):
            J[2 * k, j] *= scale
        if other >= 0:
            found[k, GAP] += factors[r, 1] * found[other, GAP]
            found[k, RATE] += factors[r, 1] * found[other, RATE]
            found[k, DRIFT] += factors[r, 1] * found[other, DRIFT]
            for j in range(J.shape[1]):
                J[2 * k, j] += factors[r, 1] * J[2 * other, j]
        if parts[r, 2] != AS_VALUE:
            found[k, GAP] = found[k, RATE] if parts[r, 2] == AS_RATE else 0.0


@kernel(f"void({A1}, int64, int64, float64, float64, float64, float64)", borrows=True)
def add_force(h: Array, i: int, turns: int, x: float, y: float, arm_x: float, arm_y: float) -> None:
    """Add a force (x, y) on a marker to h."""
    if i < 0:
        return
    h[i] += x
    h[i + 1] += y
    if turns != 0:
        h[i + 2] += y * arm_x - x * arm_y


@kernel(f"UniTuple(float64, 2)({A1}, int64, {I2}, {A2}, int64)", borrows=True)
def driven(y: Array, nv: int, forces: IntArray, strength: Array, k: int) -> tuple[float, float]:
    """Return the coordinate of the joint of a drive, and its rate; a hinge has no line, and its angle may wind."""
    ia, ta, ib, tb = forces[k, A], forces[k, TURNS_A], forces[k, B], forces[k, TURNS_B]
    ax, ay, au, aw, _, _, _, _, ao = marker(y, nv, ia, ta, strength[k, AT_A], strength[k, AT_A + 1])
    bx, by, bu, bw, _, _, _, _, bo = marker(y, nv, ib, tb, strength[k, AT_B], strength[k, AT_B + 1])
    nx, ny = carried(y, ib, tb, strength[k, LINE], strength[k, LINE + 1])
    if nx == 0.0 and ny == 0.0:
        return (y[ia + 2] if ia >= 0 else 0.0) - (y[ib + 2] if ib >= 0 else 0.0), ao - bo
    dx, dy = ax - bx, ay - by
    return nx * dx + ny * dy, nx * (au - bu + bo * dy) + ny * (aw - bw - bo * dx)


@kernel(f"float64({A1}, int64, {I2}, {A2}, int64, {A1})", borrows=True, rare=True)
def drive(y: Array, nv: int, forces: IntArray, strength: Array, k: int, h: Array) -> float:
    """Add the force of a drive to h, see `joints.drives`; return the power of all of it but the spring."""
    value, rate = driven(y, nv, forces, strength, k)
    supplied = strength[k, EFFORT] - strength[k, DAMPING] * (rate - strength[k, SPEED])
    push = supplied - strength[k, STIFFNESS] * (value - strength[k, TARGET])
    ia, ta, ib, tb = forces[k, A], forces[k, TURNS_A], forces[k, B], forces[k, TURNS_B]
    nx, ny = carried(y, ib, tb, strength[k, LINE], strength[k, LINE + 1])
    if nx == 0.0 and ny == 0.0:
        if ia >= 0:
            h[ia + 2] += push
        if ib >= 0:
            h[ib + 2] -= push
        return float(supplied * rate)
    ax, ay, _, _, _, _, a1, a2, _ = marker(y, nv, ia, ta, strength[k, AT_A], strength[k, AT_A + 1])
    bx, by, _, _, _, _, b1, b2, _ = marker(y, nv, ib, tb, strength[k, AT_B], strength[k, AT_B + 1])
    add_force(h, ia, ta, push * nx, push * ny, a1, a2)
    add_force(h, ib, tb, -push * nx, -push * ny, b1 + ax - bx, b2 + ay - by)
    return float(supplied * rate)


@kernel(f"float64(float64, {A1}, int64, {I2}, {A2}, {A2}, {A1})", borrows=True)
def planar_forces(t: float, y: Array, nv: int, forces: IntArray, strength: Array, bodies: Array, h: Array) -> float:
    """Fill in h, and return the power of what has no potential, W."""
    power = 0.0
    for j in range(nv):
        h[j] = bodies[1, j] + bodies[4, j]
        power += bodies[4, j] * y[nv + j]
    for k in range(len(forces)):
        kind, ia, ta, ib, tb = forces[k, 0], forces[k, A], forces[k, TURNS_A], forces[k, B], forces[k, TURNS_B]
        c0, c1, c2 = strength[k, 4], strength[k, 5], strength[k, 6]
        if kind == SHAKING:
            a = -c0 * math.sin(c1 * t + c2)
            for j in range(nv):
                push = a * (strength[k, 7] * bodies[2, j] + strength[k, 8] * bodies[3, j])
                h[j] += push
                power += push * y[nv + j]
            continue
        if kind == DRIVE:
            power += drive(y, nv, forces, strength, k, h)
            continue
        ax, ay, au, aw, _, _, a1, a2, omega = marker(y, nv, ia, ta, strength[k, AT_A], strength[k, AT_A + 1])
        if kind == DRAG:
            add_force(h, ia, ta, -c0 * au, -c0 * aw, a1, a2)
            power -= c0 * (au * au + aw * aw)
        elif kind == LOAD:
            add_force(h, ia, ta, c0, c1, a1, a2)
            power += c0 * au + c1 * aw + c2 * omega
            if ta != 0:
                h[ia + 2] += c2
        else:
            bx, by, bu, bw, _, _, b1, b2, _ = marker(y, nv, ib, tb, strength[k, AT_B], strength[k, AT_B + 1])
            dx, dy = ax - bx, ay - by
            px, py, distance = -c0 * dx, -c0 * dy, math.hypot(dx, dy)
            if distance > 0.0:
                ex, ey = dx / distance, dy / distance
                stretch = ex * (au - bu) + ey * (aw - bw)
                pull = c0 * c1 - c2 * stretch
                px, py, power = px + pull * ex, py + pull * ey, power - c2 * stretch * stretch
            add_force(h, ia, ta, px, py, a1, a2)
            add_force(h, ib, tb, -px, -py, b1, b2)
    return power


@kernel(f"float64({A1}, int64, {I2}, {A2}, {A2})", borrows=True)
def planar_potential(y: Array, nv: int, forces: IntArray, strength: Array, bodies: Array) -> float:
    """Return the energy of gravity and springs."""
    stored = 0.0
    for j in range(nv):
        stored -= bodies[1, j] * y[j]
    for k in range(len(forces)):
        if forces[k, 0] == SPRING:
            ax, ay, _, _, _, _, _, _, _ = marker(
                y, nv, forces[k, A], forces[k, TURNS_A], strength[k, AT_A], strength[k, AT_A + 1]
            )
            bx, by, _, _, _, _, _, _, _ = marker(
                y, nv, forces[k, B], forces[k, TURNS_B], strength[k, AT_B], strength[k, AT_B + 1]
            )
            stored += 0.5 * strength[k, 4] * (math.hypot(ax - bx, ay - by) - strength[k, 5]) ** 2
        elif forces[k, 0] == DRIVE:
            value, _rate = driven(y, nv, forces, strength, k)
            stored += 0.5 * strength[k, STIFFNESS] * (value - strength[k, TARGET]) ** 2
    return stored
