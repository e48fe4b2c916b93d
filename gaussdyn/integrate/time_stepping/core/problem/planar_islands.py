"""Many bodies in the plane that only touch: their contact problem solved as that of free bodies in space.

A contact in the plane is one in space whose second tangent is the plane's normal: nothing moves along it, and no
reaction comes to be there. So islands, factors by bodies and all methods of `contact.free_bodies` serve here, too, and
W is not formed. What contacts need of their geometry stands in their rows: with t = (n_y, -n_x) beside the normal n of
a contact at r, r x n = r . t and r x t = -r . n.
"""

from __future__ import annotations

import numpy as np

from ....._jit import I1, kernel
from .....arrays import IntArray
from .....contact.free_bodies.body_problem import BodyProblem, Contacts, Iterate
from .....contact.free_bodies.islands import solve_islands
from ..records import HIGH, LOW, PLUS, Data, Layout, Rows
from .contact_problem import BLOCKS, Problem
from .near_residual import COULOMB

MOST = 200.0  # factorisations after which an island is left
PLACES = 3  # coordinates of a body


@kernel(f"int64(Layout, Problem, {I1})", borrows=True)
def number_bodies(layout: Layout, problem: Problem, number: IntArray) -> int:
    """Put the number of the body whose coordinates begin at a place, -1: nothing touches it; return how many do."""
    found = 0
    for j in range(len(number)):
        number[j] = -1
    for b in range(problem.counts[BLOCKS]):
        row = problem.at[problem.start[b]]
        number[layout.reach[row, LOW]] = number[layout.reach[row, HIGH] - PLACES] = 0
    for j in range(len(number)):
        if number[j] == 0:
            number[j], found = found, found + 1
    return found


@kernel("void(Layout, Rows, Data, Problem, BodyProblem, int64)", borrows=True)
def put_contact(layout: Layout, rows: Rows, data: Data, problem: Problem, bodies: BodyProblem, c: int) -> None:
    """Put frame, arms, rates, friction and scale of contact c."""
    contacts, first = bodies.contacts, problem.at[problem.start[c]]
    b, a, R = layout.reach[first, HIGH] - PLACES, layout.reach[first, LOW], contacts.R[c]
    n, rough, turn = rows.J[first], problem.code[c] == COULOMB, 1.0
    x, y = n[b], n[b + 1]
    R[0, 0], R[0, 1], R[1, 0], R[1, 1] = x, y, y, -x
    t = rows.J[first + 1] if rough else n
    if rough:
        turn = 1.0 if t[b] * y > t[b + 1] * x else -1.0
        R[1, 0], R[1, 1], bodies.w[c, 1] = t[b], t[b + 1], data.w[first + 1]
    R[2, 2], bodies.w[c, 0] = -turn, data.w[first]
    for side in range(2):
        at, r, sign = (b, contacts.rb[c], 1.0) if side == 0 else (a, contacts.ra[c], -1.0)
        along, across = sign * n[at + 2], sign * turn * t[at + 2] if rough else 0.0
        r[0], r[1] = along * y - across * x, -along * x - across * y
    bodies.mu[c], bodies.rho[c] = problem.P[c, 0] if rough else 0.0, problem.rho[c]


@kernel(f"BodyProblem(Layout, Rows, Data, Problem, {I1}, int64)")
def bodies_of(
    layout: Layout, rows: Rows, data: Data, problem: Problem, number: IntArray, n: int
) -> BodyProblem:  # fmt: skip
    """Return the contact problem of the n bodies that have a number; every contact is a pair of its own."""
    m = problem.counts[BLOCKS]
    pair, first, slot = np.full((m, 2), -1), np.arange(m + 1), np.full((m, 4), -1)
    contacts = Contacts(pair, first, slot, np.zeros((m, 3, 3)), np.zeros((m, 3)), np.zeros((m, 3)))
    M, h = np.zeros((2, n, 4, 3)), np.zeros((n, 6))
    found = BodyProblem(contacts, M[0], M[1], h, np.zeros((m, 3)), np.zeros(m), np.zeros(m))
    for j in range(len(number)):
        i = number[j]
        if i < 0:
            continue
        mass, inertia = data.M[j, j], data.M[j + 2, j + 2]
        h[i, 0], h[i, 1], h[i, 5] = mass * data.V[PLUS, j], mass * data.V[PLUS, j + 1], inertia * data.V[PLUS, j + 2]
        M[0, i, 3, 0], M[1, i, 3, 0] = mass, 1.0 / mass
        for k in range(3):
            M[0, i, k, k], M[1, i, k, k] = inertia, 1.0 / inertia
    for c in range(m):
        row = problem.at[problem.start[c]]
        a, b = layout.reach[row, LOW], layout.reach[row, HIGH] - PLACES
        pair[c, 0], pair[c, 1] = number[a] if a < b else -1, number[b]
        put_contact(layout, rows, data, problem, found, c)
    return found


@kernel("boolean(Layout, Rows, Data, Problem, float64)", rare=True)
def solve_in_islands(layout: Layout, rows: Rows, data: Data, problem: Problem, tol: float) -> bool:
    """Solve the problem of the free motion in V[PLUS] from r, island by island; r becomes the best point.

    Returns whether it was solved to tol.
    """
    number, m = np.zeros(len(data.v), np.int64), problem.counts[BLOCKS]
    bodies = bodies_of(layout, rows, data, problem, number, number_bodies(layout, problem, number))
    p, start = np.zeros((m, 3)), problem.start
    for c in range(m):
        for k in range(start[c + 1] - start[c]):
            p[c, k] = problem.r[start[c] + k]
    iterate = Iterate(p, np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((len(bodies.M), 6)))
    E, floor, _factors, _slow = solve_islands(bodies, iterate, tol, tol, MOST)
    for c in range(m):
        for k in range(start[c + 1] - start[c]):
            problem.r[start[c] + k] = p[c, k]
    return bool(max(tol, floor) >= E)
