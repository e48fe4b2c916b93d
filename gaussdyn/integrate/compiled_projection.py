"""The position projection at the end of a step for free bodies, compiled; the rules are those of `projection`."""

from __future__ import annotations

from .._jit import kernel
from ..arrays import Array
from ..contact.body_kernels import A2
from ..contact.body_laws import step_sizes
from ..contact.body_newton import EPS, PROBLEM, WORK, Problem, Work, modes_newton
from ..contact.body_proximal import proximal_point
from ..linalg.block_lu import ORDERING, Ordering
from .compiled_closing import ACTS, ALL, CLOSE, HELD, INDEX, OF, POSES, WHICH, Index, Poses, approach, normal_row
from .compiled_kernels import (
    BODIES,
    FEATURES,
    Bodies,
    Features,
    evaluate,
    momentum,
    move_bodies,
    place_contacts,
    pose_bodies,
    sort_by_pair,
    turn_spins,
)

STATE = f"UniTuple({A2}, 11)"
StateArrays = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]
"""q (n, 7); v (n, 6); impulse (f, 3); force, v0, guess (spins in space), v1, mean, free (n, 6); q1, q2 (n, 7)."""
ITERATE = f"UniTuple({A2}, 5)"
Iterate = tuple[Array, Array, Array, Array, Array]
"""p, u, best of the contact problem, p of the projection (c, 3); v (n, 6)."""
SLOW = 1e-9  # as in `theta_problem`
ALLOWED = 1e-10  # m; as in `projection`
PROJECTIONS = 10
FAR = 1e-4  # of the largest coordinate: gaps beyond this that contradict one another are left to `projection`


@kernel(
    f"int64(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {ORDERING}, {WORK}, {ITERATE}, float64)",
    borrows=True,
)
def project_end(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, index: Index, problem: Problem,
    ordering: Ordering, work: Work, iterate: Iterate, tol: float,
) -> int:  # fmt: skip
    """Move the end of the step (q in q1) until no gap is negative, those held are closed; return the passes.

    The least motion in the metric of M, Newton's method on the gaps: see `projection`. Negative if it fails.
    """
    x, R, geometry, frame, moved, _rows = poses
    force, zero, d, q1, q2 = state[3], state[7], iterate[4], state[9], state[10]
    numbers, goal, contacts, p = index[0], index[2], problem[0], iterate[3]
    size = worst = 0.0
    for i in range(len(q1)):
        for k in range(7):
            size = max(size, abs(q1[i, k]))
    limit, placed, rough = max(CLOSE, 32.0 * EPS * size), False, False
    for it in range(PROJECTIONS + 1):
        far = worst = 0.0
        for f in range(n):
            gap = geometry[2, f, 0] if numbers[ALL, f] else 0.0
            far = max(far, abs(gap - goal[f]) if numbers[HELD, f] else -gap)
            worst = max(worst, -gap)
        if far <= limit or it == PROJECTIONS:
            break
        if not placed:
            for i in range(len(zero)):
                for k in range(6):
                    zero[i, k] = 0.0
            sort_by_pair(n, numbers[ALL], numbers[OF], contacts[1], numbers[WHICH])
            placed = True
        place_contacts(contacts, numbers[WHICH], features[1], geometry[2], x[2], frame, problem[4])
        momentum(bodies, R[2], force, zero, zero, 0.0, 1.0, problem[1], problem[2], problem[3])
        for _attempt in range(2):
            short = held = 0.0
            for c in range(contacts[1][-1]):
                f = numbers[WHICH, c]
                h = numbers[HELD, f]
                held += h
                problem[5][c] = -float(h)
                problem[4][c, 0] = geometry[2, f, 0] - (goal[f] if h else 0.0)
                short = max(short, abs(problem[4][c, 0]) if h else 0.0)
                p[c, 0] = p[c, 1] = p[c, 2] = 0.0
            step_sizes(contacts, problem[5], problem[2], problem[6])
            E, _used, floor = modes_newton(problem, ordering, work, p, d, iterate[1], iterate[2], tol, 0.0, 12)
            if not max(tol, floor) >= E:
                E, _used, floor = proximal_point(problem, ordering, work, p, d, iterate[1], 1e-4, 1e-8, 40)
            rough = not max(tol, floor) >= E
            if held == 0.0:
                break
            left = 0.0
            for c in range(contacts[1][-1]):
                left = max(left, abs(iterate[1][c, 0]) if numbers[HELD, numbers[WHICH, c]] else 0.0)
            if left <= max(CLOSE, 0.1 * short):
                E = 0.0
                break
            for f in range(n):
                numbers[HELD, f] = 0
        if not E <= 1e-6 or (rough and far > FAR * size):
            return -1 - it
        turn_spins(R[2], d, 1.0, d)
        move_bodies(q1, d, 1.0, q2)
        for i in range(len(q1)):
            moved[i] = 1
            for k in range(7):
                q1[i, k] = q2[i, k]
        pose_bodies(q1, x[2], R[2])
        evaluate(n, features, moved, x[2], R[2], geometry[1], geometry[2])
    return it if worst <= max(ALLOWED, 32.0 * EPS * size) else -1 - it


@kernel(
    f"void(int64, {FEATURES}, {STATE}, {POSES}, {INDEX}, {INDEX}, {PROBLEM}, {A2}, {A2}, float64, int64, float64)",
    borrows=True,
)
def hold_pushing(
    n: int, features: Features, state: StateArrays, poses: Poses, index: Index, aside: Index, problem: Problem,
    p: Array, u: Array, rest: float, first: int, kept: float,
) -> None:  # fmt: skip
    """Mark the contacts whose law leaves them no speed: they end closed, or at the height of their rebound.

    On the first pass, with no u known, those that pushed in the last step. kept: fraction of all restitution.
    """
    x, R, geometry, _frame, _moved, rows = poses
    bounce, marks, goal, row = index[1], aside[0], aside[2], rows[0]
    for f in range(n):
        marks[HELD, f], goal[f], marks[ALL, f] = 0, 0.0, index[0][ACTS, f]
    for c in range(problem[0][1][-1]):
        f = index[0][WHICH, c]
        marks[HELD, f] = p[c, 0] > 0.0
        if not first:
            scale = 0.0
            for side in range(2):
                i = features[1][f, side]
                if i >= 0:
                    normal_row(geometry[1, f], features[1][f], side, x[1], R[1], row)
                    for k in range(6):
                        scale += abs(row[k]) * (abs(state[1][i, k]) + abs(state[8][i, k]))
            marks[HELD, f] = u[c, 0] <= SLOW * scale
        if bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0:
            at, e = geometry[1, f], kept * features[4][f, 1]
            goal[f] = e * e * max(at[0] - rest * approach(at, features[1][f], x[1], R[1], state[1], row), 0.0)
