"""Bodies that touch one another, apart from all others: islands of a contact problem, each a problem of its own.

What does not move joins nothing. Contacts that push, and those that the last impulses leave so little room that they
may close, are a part; all others are left out until an answer shows that they approach: a third of the elimination in
a pile. An island whose impulses satisfy the law as they are costs that check and nothing else. Nothing of an island
depends on what there is besides it, nor on the order of islands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, I1, kernel, record
from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering, analyse
from .block_places import block_places
from .body_problem import BodyProblem, BodyWork, Contacts, Iterate
from .coulomb import natural_length, weighted_length
from .newton import EPS, motion, residual, scale_and_floor
from .one_island import solve_island
from .structure import copy_rows

NEAR = 3.0  # times what impulses change the speeds of its bodies by: contacts that leave faster are left out
ROUNDS = 10  # of contacts that were left out and approach


@record(*[I1] * 4, by_value=True)
class IslandLists(NamedTuple):
    """Which bodies and pairs are of which island, n bodies and k pairs; -1 ends a list.

    Attributes
    ----------
    island : IntArray, shape (n,)
        Of every body, by the lowest body there; -1: of none.
    bodies, pairs : IntArray, shape (n,)
        The first body and the first pair of every island.
    after : IntArray, shape (n + k,)
        The body after every body, then the pair after every pair.
    """

    island: IntArray
    bodies: IntArray
    pairs: IntArray
    after: IntArray


@kernel(f"float64({A2}, {A2}, int64, {A1})", borrows=True)
def change_of_speed(v: Array, free: Array, i: int, r: Array) -> float:
    """Return by how much impulses change the speed of a point of body i at the arm r, at most."""
    if i < 0:
        return 0.0
    x, y, z = v[i, 0] - free[i, 0], v[i, 1] - free[i, 1], v[i, 2] - free[i, 2]
    a, b, c = v[i, 3] - free[i, 3], v[i, 4] - free[i, 4], v[i, 5] - free[i, 5]
    arm = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    return float(np.sqrt(x * x + y * y + z * z) + np.sqrt(arm * (a * a + b * b + c * c)))


@kernel(f"int64(BodyProblem, {A2}, {A2}, {A2}, {A2}, float64, {I1})", borrows=True)
def take_in(problem: BodyProblem, p: Array, v: Array, free: Array, u: Array, near: float, part: IntArray) -> int:
    """Mark the contacts that push, approach, or leave slower than `near` says; return how many are new."""
    pair, first, _slot, _R, ra, rb = problem.contacts
    found = 0
    for k in range(len(first) - 1):
        a, b = pair[k, 0], pair[k, 1]
        for c in range(first[k], first[k + 1]):
            if part[c]:
                continue
            reach = 0.0
            if near > 0.0:
                reach = near * max(change_of_speed(v, free, a, ra[c]), change_of_speed(v, free, b, rb[c]))
            part[c] = p[c, 0] != 0.0 or u[c, 0] < reach or problem.mu[c] < 0.0
            found += part[c]
    return found


@kernel(f"int64({I1}, int64)", borrows=True)
def root(island: IntArray, i: int) -> int:
    """Return the lowest body that i is joined to so far."""
    while island[i] != i:
        i = island[i]
    return i


@kernel(f"void(BodyProblem, {I1}, IslandLists)", borrows=True)
def list_islands(problem: BodyProblem, part: IntArray, lists: IslandLists) -> None:
    """Find the islands of the contacts that are a part, and list their bodies and pairs, each in order."""
    pair, first = problem.contacts.pair, problem.contacts.first
    island, bodies, pairs, after = lists
    n, number = len(island), len(first) - 1
    for i in range(n):
        island[i], bodies[i], pairs[i] = -1, -1, -1
    for k in range(number):
        after[n + k] = -2  # no part
        for c in range(first[k], first[k + 1]):
            if part[c]:
                after[n + k] = -1
        if after[n + k] == -1:
            a, b = pair[k, 0], pair[k, 1]
            island[b] = b if island[b] < 0 else island[b]
            if a >= 0:
                island[a] = a if island[a] < 0 else island[a]
                x, y = root(island, a), root(island, b)
                island[max(x, y)] = min(x, y)
    for i in range(n):
        if island[i] >= 0:
            island[i] = island[island[i]]
    for i in range(n - 1, -1, -1):
        if island[i] >= 0:
            after[i], bodies[island[i]] = bodies[island[i]], i
    for k in range(number - 1, -1, -1):
        if after[n + k] == -1:
            r = island[pair[k, 1]]
            after[n + k], pairs[r] = pairs[r], k


@kernel(f"boolean(BodyProblem, IslandLists, int64, {A2}, {A2}, {A2}, float64)", borrows=True)
def at_ease(problem: BodyProblem, lists: IslandLists, r: int, p: Array, u: Array, q: Array, tol: float) -> bool:
    """Return whether the impulses of the island r satisfy the law to `tol` or their rounding; q is u without any."""
    first, mu, rho = problem.contacts.first, problem.mu, problem.rho
    n, k, far, scale, size = len(lists.island), lists.pairs[r], 0.0, 0.0, 0.0
    while k >= 0:
        a, b = first[k], first[k + 1]
        far += natural_length(b - a, mu[a:b], rho[a:b], p[a:b], u[a:b]) ** 2
        scale += weighted_length(b - a, mu[a:b], rho[a:b], q[a:b]) ** 2
        for c in range(a, b):
            size += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
        k = lists.after[n + k]
    return bool(np.sqrt(far) <= max(tol * np.sqrt(scale), EPS * np.sqrt(size)))


@kernel(f"UniTuple({I1}, 3)(BodyProblem, {I1}, IslandLists, int64)")
def members(problem: BodyProblem, part: IntArray, lists: IslandLists, r: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the bodies, pairs and contacts of the island r."""
    first, n = problem.contacts.first, len(lists.island)
    sizes, after = np.zeros(3, np.int64), lists.after
    i, k = lists.bodies[r], lists.pairs[r]
    while i >= 0:
        sizes[0], i = sizes[0] + 1, after[i]
    while k >= 0:
        sizes[1] += 1
        for c in range(first[k], first[k + 1]):
            sizes[2] += part[c]
        k = after[n + k]
    bodies, pairs = np.zeros(sizes[0], np.int64), np.zeros(sizes[1], np.int64)
    contacts = np.zeros(sizes[2], np.int64)
    i, k, m = lists.bodies[r], lists.pairs[r], 0
    for s in range(len(bodies)):
        bodies[s], i = i, after[i]
    for s in range(len(pairs)):
        pairs[s] = k
        for c in range(first[k], first[k + 1]):
            if part[c]:
                contacts[m], m = c, m + 1
        k = after[n + k]
    return bodies, pairs, contacts


@kernel(f"Tuple((BodyProblem, Ordering))(BodyProblem, {I1}, {I1}, {I1}, {I1})")
def problem_of(
    problem: BodyProblem, part: IntArray, bodies: IntArray, pairs: IntArray, contacts: IntArray
) -> tuple[BodyProblem, Ordering]:  # fmt: skip
    """Return the contact problem of an island, with its elimination."""
    (pair, first, _slot, R, ra, rb), M, inverse, h, w, mu, rho = problem
    n, place = len(bodies), np.zeros(len(M), np.int64)
    for s in range(n):
        place[bodies[s]] = s
    own, begin = np.zeros((len(pairs), 2), np.int64), np.zeros(len(pairs) + 1, np.int64)
    for s in range(len(pairs)):
        k = pairs[s]
        own[s, 0], own[s, 1] = place[pair[k, 0]] if pair[k, 0] >= 0 else -1, place[pair[k, 1]]
        begin[s + 1] = begin[s]
        for c in range(first[k], first[k + 1]):
            begin[s + 1] += part[c]
    ordering = analyse(n, own[:, 0].copy(), own[:, 1].copy())
    slot = block_places(n, own, ordering)
    frames = Contacts(own, begin, slot, R[contacts], ra[contacts], rb[contacts])
    solid = M[bodies], inverse[bodies], h[bodies]
    return BodyProblem(frames, solid[0], solid[1], solid[2], w[contacts], mu[contacts], rho[contacts]), ordering


@kernel("BodyWork(BodyProblem, Ordering)")
def room_for(problem: BodyProblem, ordering: Ordering) -> BodyWork:
    """Return work space for a problem."""
    n, c = len(problem.M), len(problem.mu)
    blocks, one = np.zeros((n + 2 * len(ordering.rows), 6, 6)), np.zeros((c, 3, 3))
    rows, bodies = np.zeros((3, c, 3)), np.zeros((3, n, 6))
    mode = np.zeros(c, np.int64)
    return BodyWork(blocks, one, rows[0], rows[1], rows[2], bodies[0], bodies[1], bodies[2], mode)


@kernel(f"UniTuple(int64, 3)(BodyProblem, {I1}, IslandLists, int64, {A2}, float64, float64, float64)")
def solve_apart(
    problem: BodyProblem, part: IntArray, lists: IslandLists, r: int, p: Array, tol: float, ready: float,
    most: float,
) -> tuple[int, int, int]:  # fmt: skip
    """Improve the impulses of the island r; returns as `solve_island` does."""
    bodies, pairs, contacts = members(problem, part, lists, r)
    own, ordering = problem_of(problem, part, bodies, pairs, contacts)
    rows, c = np.zeros((3, len(contacts), 3)), len(contacts)
    q = p[contacts]
    iterate = Iterate(q, rows[0], rows[1], rows[2], np.zeros((len(bodies), 6)))
    good, factors, slow = solve_island(own, ordering, room_for(own, ordering), iterate, tol, ready, most)
    for s in range(c):
        for k in range(3):
            p[contacts[s], k] = q[s, k]
    return good, factors, slow


@kernel("Tuple((float64, float64, int64, int64))(BodyProblem, Iterate, float64, float64, float64)", entry=True)
def solve_islands(
    problem: BodyProblem, iterate: Iterate, tol: float, ready: float, most: float
) -> tuple[float, float, int, int]:  # fmt: skip
    """Solve the contact problem from p, island by island; v and u belong to what p becomes.

    An island is left after `most` factorisations.
    Returns E, its floor, factorisations, and how many islands Newton's method was not enough for.
    """
    p, u, best, _start, v = iterate
    n, bodies = problem.contacts.first[-1], len(v)
    F, free, q, part = np.zeros_like(v), np.zeros_like(v), np.zeros((n, 3)), np.zeros(n, np.int64)
    lists = IslandLists(
        np.zeros(bodies, np.int64), np.zeros(bodies, np.int64), np.zeros(bodies, np.int64),
        np.zeros(bodies + len(problem.contacts.pair), np.int64),
    )  # fmt: skip
    for c in range(n):
        best[c, 0] = best[c, 1] = best[c, 2] = 0.0
    motion(problem, best, F, free, u)
    copy_rows(n, u, q)
    scale, floor = scale_and_floor(problem, p, u)
    motion(problem, p, F, v, u)
    factors, slow, enough, solved = 0, 0, ready, True
    new = take_in(problem, p, v, free, u, NEAR, part)
    for _ in range(ROUNDS):
        if new == 0 or not solved:
            break
        list_islands(problem, part, lists)
        for r in range(bodies):
            if lists[0][r] == r and not at_ease(problem, lists, r, p, u, q, enough):
                good, used, more = solve_apart(problem, part, lists, r, p, tol, ready, most)
                factors, slow, solved = factors + used, slow + more, solved and good > 0
        motion(problem, p, F, v, u)
        new, enough = take_in(problem, p, v, free, u, 0.0, part), tol
    _scale, floor = scale_and_floor(problem, p, q)
    return residual(problem, scale, p, u), floor, factors, slow
