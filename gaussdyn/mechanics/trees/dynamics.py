"""Mass matrix and bias of trees, compiled: composite bodies, and Newton-Euler from the ground out and back.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 5 and 6.
"""

from __future__ import annotations

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ..collision.vectors import V3, Vector, along, cross3, three, triple3
from .forest import ABOVE, ARMATURE, LAST, OF, PARENT, ROOT, Moving, Trees
from .kinematics import put_three


@kernel(f"UniTuple({V3}, 2)({A1}, {V3}, {V3})", borrows=True)
def momentum(inertia: Array, w: Vector, u: Vector) -> tuple[Vector, Vector]:
    """Return (moment, force) = inertia times motion (w, u)."""
    m, c = inertia[0], three(inertia, 1)
    turning, going = cross3(c, u), cross3(w, c)
    moment = (
        inertia[4] * w[0] + inertia[7] * w[1] + inertia[8] * w[2] + turning[0],
        inertia[7] * w[0] + inertia[5] * w[1] + inertia[9] * w[2] + turning[1],
        inertia[8] * w[0] + inertia[9] * w[1] + inertia[6] * w[2] + turning[2],
    )
    return moment, along(going, m, u)


@kernel(f"float64({A1}, {V3}, {V3})", borrows=True)
def paired(S: Array, n: Vector, f: Vector) -> float:
    """Return the power of a wrench (moment, force) in a motion."""
    return float(S[0] * n[0] + S[1] * n[1] + S[2] * n[2] + S[3] * f[0] + S[4] * f[1] + S[5] * f[2])


@kernel(f"void(Trees, Moving, {A2})", borrows=True)
def mass_matrix(trees: Trees, moving: Moving, M: Array) -> None:
    """Put M, which has zeros where it has no entries, of the bodies as `place_bodies` places them; with armatures."""
    n, whole, own, S, dofs = len(trees.inertia), moving.composite, moving.inertia, moving.S, trees.dofs
    for b in range(n):
        for i in range(10):
            whole[b, i] = own[b, i]
    for b in range(n - 1, -1, -1):
        p = trees.bodies[b, PARENT]
        for i in range(10 if p < n else 0):
            whole[p, i] += whole[b, i]
    for k in range(len(dofs)):  # where M has no entries it keeps its zeros
        (n0, n1, n2), (f0, f1, f2) = momentum(whole[dofs[k, OF]], three(S[k], 0), three(S[k], 3))
        row, j = M[k], k
        while j >= 0:
            s = S[j]
            row[j] = M[j, k] = s[0] * n0 + s[1] * n1 + s[2] * n2 + s[3] * f0 + s[4] * f1 + s[5] * f2
            j = dofs[j, ABOVE]
        row[k] += trees.losses[k, ARMATURE]


@kernel(f"void(Trees, Moving, float64, {A1})", borrows=True)
def take_bias(trees: Trees, moving: Moving, weighs: float, h: Array) -> None:
    """Put minus the forces that the motion itself needs, and gravity, `weighs` times.

    Uses `place_bodies` and `put_speeds`.
    """
    n, (x, y, z) = len(trees.inertia), triple3(trees.gravity)
    weight = (weighs * x, weighs * y, weighs * z)
    for b in range(n):
        own, speed, bias = moving.inertia[b], moving.speed[b], moving.bias[b]
        w, u = three(speed, 0), three(speed, 3)
        turning, going = momentum(own, three(bias, 0), along(three(bias, 3), -1.0, weight))
        moment, impulse = momentum(own, w, u)  # which move along with the body: their rate is v x* h
        put_three(moving.wrench[b], 0, along(turning, 1.0, along(cross3(w, moment), 1.0, cross3(u, impulse))))
        put_three(moving.wrench[b], 3, along(going, 1.0, cross3(w, impulse)))
    for b in range(n - 1, -1, -1):
        p = trees.bodies[b, PARENT]
        for i in range(6 if p < n else 0):
            moving.wrench[p, i] += moving.wrench[b, i]
    for k in range(len(trees.dofs)):
        f = moving.wrench[trees.dofs[k, OF]]
        h[k] = -paired(moving.S[k], three(f, 0), three(f, 3))


@kernel(f"void(Trees, Moving, int64, {V3}, {V3}, {V3}, float64, {A1})", borrows=True)
def add_push(
    trees: Trees, moving: Moving, b: int, point: Vector, force: Vector, moment: Vector, scale: float, h: Array
) -> None:  # fmt: skip
    """Add the generalised force of scale times (force at a point in space, moment) on body b; the ground takes any."""
    r = along(point, -1.0, triple3(moving.x[trees.bodies[b, ROOT]]))
    n, k = along(cross3(r, force), 1.0, moment), trees.bodies[b, LAST]
    while k >= 0:
        S = moving.S[k]
        turning = S[0] * n[0] + S[1] * n[1] + S[2] * n[2]
        h[k] += scale * (turning + S[3] * force[0] + S[4] * force[1] + S[5] * force[2])
        k = trees.dofs[k, ABOVE]


@kernel(f"{V3}(Trees, Moving, int64, {V3})", borrows=True)
def point_velocity(trees: Trees, moving: Moving, b: int, point: Vector) -> Vector:
    """Return the velocity of the material of body b at a point in space."""
    r = along(point, -1.0, triple3(moving.x[trees.bodies[b, ROOT]]))
    return along(three(moving.speed[b], 3), 1.0, cross3(three(moving.speed[b], 0), r))


@kernel(f"{V3}(Trees, Moving, int64, {V3})", borrows=True)
def point_drift(trees: Trees, moving: Moving, b: int, point: Vector) -> Vector:
    """Return the acceleration of the material of body b at a point, as far as it comes from velocities alone."""
    r, speed, bias = along(point, -1.0, triple3(moving.x[trees.bodies[b, ROOT]])), moving.speed[b], moving.bias[b]
    w = three(speed, 0)
    u = along(three(speed, 3), 1.0, cross3(w, r))
    return along(along(three(bias, 3), 1.0, cross3(three(bias, 0), r)), 1.0, cross3(w, u))
