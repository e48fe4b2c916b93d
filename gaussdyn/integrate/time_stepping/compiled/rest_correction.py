"""What rounding leaves of the velocity of bodies at rest is removed, compiled; see `at_rest` for the reason."""

from __future__ import annotations

from ...._jit import A2, kernel
from ....arrays import Array
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork
from ....contact.free_bodies.coulomb import linearise_modes
from ....contact.free_bodies.newton import EPS, FINE, factorise_modes, newton_direction
from ....linalg.block_lu import Ordering

ERRORS = 32.0 * EPS  # of the impulses on a body and on all that it touches


@kernel(f"void(BodyProblem, {A2}, int64)", borrows=True)
def share(problem: BodyProblem, size: Array, column: int) -> None:
    """Give bodies in touch the larger of their two entries, down the list of pairs and up."""
    pair, first = problem.contacts.pair, problem.contacts.first
    pairs = len(first) - 1
    for k in range(2 * pairs):
        m = k if k < pairs else 2 * pairs - 1 - k
        a, b = pair[m, 0], pair[m, 1]
        if a >= 0 and first[m + 1] > first[m]:
            for j in range(column, column + 2):
                size[a, j] = size[b, j] = max(size[a, j], size[b, j])


@kernel(f"void(BodyProblem, {A2}, {A2})", borrows=True)
def single_pushes(problem: BodyProblem, p: Array, size: Array) -> None:
    """Put the sums of impulses (column 0) and of their moments (column 1) on every body as if none cancelled."""
    pair, first, _slot, _R, ra, rb = problem.contacts
    for i in range(len(problem.inverse)):
        size[i, 0] = size[i, 1] = 0.0
    for k in range(len(first) - 1):
        a, b = pair[k, 0], pair[k, 1]
        for c in range(first[k], first[k + 1]):
            push = abs(p[c, 0]) + abs(p[c, 1]) + abs(p[c, 2])
            size[b, 0] += push
            size[b, 1] += push * (abs(rb[c, 0]) + abs(rb[c, 1]) + abs(rb[c, 2]))
            if a >= 0:
                size[a, 0] += push
                size[a, 1] += push * (abs(ra[c, 0]) + abs(ra[c, 1]) + abs(ra[c, 2]))


@kernel(f"void(BodyProblem, float64, {A2})", borrows=True)
def reached_speeds(problem: BodyProblem, factor: float, size: Array) -> None:
    """Turn `single_pushes` into factor times the speeds and spins that they would bring about."""
    inverse = problem.inverse
    for i in range(len(inverse)):
        A = inverse[i]
        size[i, 0] *= factor * A[3, 0]
        size[i, 1] *= factor * max(A[0, 0], max(A[1, 1], A[2, 2]))


@kernel(f"void(BodyProblem, {A2}, {A2})", borrows=True)
def rounding_errors(problem: BodyProblem, p: Array, size: Array) -> None:
    """Put the speeds that rounding may leave: of every body its own (columns 0, 1) and those of any in touch (2, 3)."""
    single_pushes(problem, p, size)
    share(problem, size, 0)
    reached_speeds(problem, ERRORS, size)
    for i in range(len(size)):
        size[i, 2], size[i, 3] = size[i, 0], size[i, 1]
    share(problem, size, 2)


@kernel(f"int64(BodyProblem, {A2}, {A2}, {A2}, {A2}, int64)", borrows=True)
def settle(problem: BodyProblem, p: Array, v: Array, size: Array, left: Array, shared: int) -> int:
    """Put to zero what is left of v below the rounding error of the impulses that stop it.

    With `shared` also of bodies that move only with the errors of lighter ones that they touch; returns how many. The
    momentum that this takes from them is in `left` (n, 6), and the impulses must be changed by it. size (n, 6) is work
    space.
    """
    M, heavy = problem.M, 0
    rounding_errors(problem, p, size)
    for i in range(len(v)):
        taken = False
        for k in range(6):
            left[i, k] = 0.0
        if size[i, 0] == 0.0:
            continue
        for k in range(6):
            own, other = size[i, k // 3], size[i, 2 + k // 3]
            if abs(v[i, k]) <= own:
                v[i, k] = 0.0
            elif shared and abs(v[i, k]) <= other:
                if k < 3:
                    left[i, k] = M[i, 3, 0] * v[i, k]
                else:
                    for j in range(3):
                        left[i, 3 + j] += M[i, j, k - 3] * v[i, k]
                v[i, k], taken = 0.0, True
        heavy += taken
    return heavy


@kernel(f"void(BodyProblem, Ordering, BodyWork, {A2}, {A2}, {A2})", borrows=True)
def take_up(problem: BodyProblem, ordering: Ordering, work: BodyWork, p: Array, u: Array, left: Array) -> None:
    """Change the impulses so that they take up the momentum that is left, J^T dp = -left, where contacts can."""
    e, dp, n = work.e, work.dp, problem.contacts.first[-1]
    linearise_modes(n, problem.mu, problem.rho, FINE, p, u, work, True)
    for c in range(n):
        e[c, 0] = e[c, 1] = e[c, 2] = 0.0
    factorise_modes(problem, ordering, work)
    newton_direction(problem, ordering, work, left)
    for c in range(n):
        for k in range(3):
            p[c, k] += dp[c, k]
