"""The gaps of a pile that may close in a pass of the projection, compiled: the bodies they join, apart from others.

Most contacts that are listed stay open by more than anything is shifted. They are left out until a shift closes them,
and with them most of the elimination: in a pile of rocks nine tenths.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A2, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.islands import IslandLists, list_islands, members, problem_of, room_for
from ....contact.free_bodies.newton import motion
from ....linalg.block_lu import Ordering
from .soft_gaps import push_apart

FEW = 8  # bodies that are not worth a choice
NEAR = 0.5  # of the largest gap to be removed: what is closer may close
TIMES = 10  # that gaps are taken in which were left out


@kernel(f"int64(BodyProblem, {A2}, float64, {I1})", borrows=True)
def take_in_gaps(problem: BodyProblem, gap: Array, limit: float, part: IntArray) -> int:
    """Mark the gaps that are held or below `limit`; return how many are new."""
    found = 0
    for c in range(problem.contacts.first[-1]):
        if not part[c] and (problem.mu[c] < 0.0 or gap[c, 0] < limit):
            part[c] = 1
            found += 1
    return found


@kernel("float64(BodyProblem)", borrows=True)
def largest_gap(problem: BodyProblem) -> float:
    """Return the largest gap to be removed."""
    w, mu, most = problem.w, problem.mu, 0.0
    for c in range(problem.contacts.first[-1]):
        most = max(most, abs(w[c, 0]) if mu[c] < 0.0 else -w[c, 0])
    return most


@kernel(f"boolean(BodyProblem, {I1}, IslandLists, int64, {A2}, float64, {I1})", borrows=True)
def has_wrong(
    problem: BodyProblem, part: IntArray, lists: IslandLists, r: int, gap: Array, enough: float, pushed: IntArray
) -> bool:  # fmt: skip
    """Return whether the island r has gaps to be removed, by more than `enough`, among those not pushed yet.

    What two islands join by is one.
    """
    first, n, k, wrong = problem.contacts.first, len(lists.island), lists.pairs[r], False
    while k >= 0:
        for c in range(first[k], first[k + 1]):
            off = abs(gap[c, 0]) if problem.mu[c] < 0.0 else -gap[c, 0]
            wrong = wrong or (part[c] != 0 and pushed[c] == 0 and off > enough)
        k = lists.after[n + k]
    return wrong


@kernel(f"int64(BodyProblem, {I1}, IslandLists, int64, {A2}, float64, {I1})")
def push_island(
    problem: BodyProblem, part: IntArray, lists: IslandLists, r: int, p: Array, enough: float, pushed: IntArray
) -> int:  # fmt: skip
    """Improve the pushes of the island r, and mark its gaps as pushed; return the factorisations."""
    bodies, pairs, contacts = members(problem, part, lists, r)
    own, ordering = problem_of(problem, part, bodies, pairs, contacts)
    rows, pushes = np.zeros((3, len(contacts), 3)), p[contacts]
    iterate = Iterate(rows[0], rows[1], rows[2], pushes, np.zeros((len(bodies), 6)))
    factors = push_apart(own, ordering, room_for(own, ordering), iterate, enough)
    for s in range(len(contacts)):
        pushed[contacts[s]] = 1
        for k in range(3):
            p[contacts[s], k] = pushes[s, k]
    return int(factors)


@kernel(f"int64(BodyProblem, BodyWork, Iterate, float64, {I1})", rare=True)
def push_islands(problem: BodyProblem, work: BodyWork, iterate: Iterate, enough: float, part: IntArray) -> int:
    """Do what `push_apart` does, the gaps that are a part first, and others that these close, with their islands.

    Islands without a gap to be removed stay where they are.
    """
    _p, u, _centre, p, d = iterate
    n, factors, new, pushed = len(d), 0, 1, np.zeros(len(part), np.int64)
    lists = IslandLists(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(n + len(problem.contacts.pair), np.int64),
    )  # fmt: skip
    motion(problem, p, work.F, d, u)
    for _ in range(TIMES):
        if new == 0:
            break
        list_islands(problem, part, lists)
        for r in range(n):
            if lists.island[r] == r and has_wrong(problem, part, lists, r, u, enough, pushed):
                factors += push_island(problem, part, lists, r, p, enough, pushed)
        motion(problem, p, work.F, d, u)
        new = take_in_gaps(problem, u, -enough, part)
    return factors


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, float64)")
def push_near_apart(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, enough: float
) -> int:  # fmt: skip
    """Do what `push_apart` does, from no pushes, without the gaps that stay open, where there are several bodies."""
    count = problem.contacts.first[-1]
    if len(problem.M) > FEW:
        part = np.zeros(count, np.int64)
        take_in_gaps(problem, problem.w, max(NEAR * largest_gap(problem), enough), part)
        return int(push_islands(problem, work, iterate, enough, part))
    return int(push_apart(problem, ordering, work, iterate, enough))
