"""The pushes that a position projection moves bodies by: the record that it works on, and which of the gaps push."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, I1, I2, kernel, record
from .....arrays import Array, IntArray
from .....linalg.envelope import cholesky, cholesky_solve
from ...scheme import PASSES, SOFT
from ..linear import whole_fours

MANY = 48  # gaps from which on the order of their elimination counts
MOST_SETS = 30  # of gaps that push, tried in one round
FACTORED, TAKEN = 0, 1  # entries of `Push.kept`


@record(A2, A2, A2, *[A1] * 6, *[I1] * 9, I2, A1, A1, A1, A1, A2, A2, A2)
class Push(NamedTuple):
    """Work space of the projection, for m gaps.

    Attributes
    ----------
    Z : Array, shape (m, nv)
        J L^-1 over the lengths, M = L^T L.
    W, S : Array, shapes (m, m4) and (max(m, nv), m4)
        Of rows of length one, and a factor; before that the columns of Z. m4 is the next multiple of four.
    scale, gap, p, u, past, centre : Array, shape (m,)
    row, at : IntArray, shape (m,)
        The constraint of every gap, and its row.
    first : IntArray, shape (m,)
        See `envelope.cholesky`.
    kept : IntArray, shape (2,)
        FACTORED: rows that the factor is of, 0: of no use for another shift. TAKEN: passes of the last projection.
    equal, acts : IntArray, shape (m,)
        Whether a gap is held or a joint; whether it pushes.
    order, active, place_of : IntArray, shape (m,)
        The order in which gaps are eliminated; those of them that push; where these stand, -1: they do not.
    joined : IntArray, shape (m, m + 1)
        Of every gap those that its push changes, in order; how many stands in the column after those of all gaps.
    target : Array, shape (n,)
        The gaps with which constraints shall end, NaN: not held.
    place, seen : Array, shape (nq,)
        Work space; the place that the factor was made for.
    mean : Array, shape (nv,)
        The mean velocity that led to the end of the step, before its shifts.
    shifts, places, steps : Array, shapes (PASSES, n), (PASSES, nq) and (PASSES, nv)
        Pushes of the constraints in the passes TAKEN, kg m, where their rows stood, and the shifts that they made.
    """

    Z: Array
    W: Array
    S: Array
    scale: Array
    gap: Array
    p: Array
    u: Array
    past: Array
    centre: Array
    row: IntArray
    at: IntArray
    first: IntArray
    kept: IntArray
    equal: IntArray
    acts: IntArray
    order: IntArray
    active: IntArray
    place_of: IntArray
    joined: IntArray
    target: Array
    place: Array
    seen: Array
    mean: Array
    shifts: Array
    places: Array
    steps: Array


def room(n: int, nq: int, nv: int) -> Push:
    """Return work space for n constraints."""
    squares = [np.zeros((k, whole_fours(n))) for k in (n, max(n, nv))]
    vectors = [np.zeros(n) for _ in range(6)]
    numbers = [np.zeros(k, dtype=np.int64) for k in (n, n, n, 2, n, n, n, n, n)]
    joined = np.zeros((n, n + 1), dtype=np.int64)
    places, passes = [np.zeros(k) for k in (n, nq, nq, nv)], [np.zeros((PASSES, k)) for k in (n, nq, nv)]
    return Push._make([np.zeros((n, nv)), *squares, *vectors, *numbers, joined, *places, *passes])


@kernel("void(Push, int64)", borrows=True)
def list_joined(push: Push, m: int) -> None:
    """List of every gap those that its push changes, and put an order of elimination.

    That of many gaps goes level by level from one that few others join: factors then hardly fill in. Of few gaps it is
    as they are. Source: Cuthill, McKee (1969), Reducing the bandwidth of sparse symmetric matrices.
    """
    order, joined, count, found = push.order, push.joined, push.active, 0
    for i in range(m):
        row, own, n = push.W[i], joined[i], 0
        for j in range(m):
            if row[j] != 0.0:
                own[n] = j
                n += 1
        joined[i, m] = count[i] = n
        order[i] = i
    while m >= MANY and found < m:
        best, seen = -1, found
        for i in range(m):
            if count[i] >= 0 and (best < 0 or count[i] < count[best]):
                best = i
        order[found], count[best] = best, -1
        found += 1
        while seen < found:
            own = joined[order[seen]]
            for k in range(own[m]):
                if count[own[k]] >= 0:
                    order[found], count[own[k]] = own[k], -1
                    found += 1
            seen += 1


@kernel("int64(Push, int64, boolean)", borrows=True)
def put_pushing(push: Push, m: int, known: bool) -> int:
    """Put the equations of the gaps that push, in their order, into S and u; return how many there are.

    known: S has their factor.
    """
    n, active, place, joined = 0, push.active, push.place_of, push.joined
    for a in range(m):
        i = push.order[a]
        place[i] = -1
        if push.acts[i]:
            active[n], place[i] = i, n
            n += 1
    for k in range(n):
        i, row = active[k], push.S[k]
        push.u[k] = SOFT * push.centre[i] - push.gap[i]
        if known:
            continue
        for a in range(k):
            row[a] = 0.0
        for a in range(joined[i, m]):
            j = joined[i, a]
            if 0 <= place[j] < k:
                row[place[j]] = push.W[i, j]
        row[k] = push.W[i, i] + SOFT
    return n


@kernel("boolean(Push, int64, boolean)", borrows=True)
def squeeze(push: Push, m: int, known: bool) -> bool:
    """Put the pushes at the minimum of 1/2 p.W p + gap.p + SOFT / 2 |p - centre|^2, p >= 0 where not held.

    known: the last such minimum had this W, and its gaps push now: the factor stands.
    """
    active, p, u = push.active, push.p, push.u
    for turn in range(MOST_SETS):
        stands = known and turn == 0
        n = put_pushing(push, m, stands)
        if n > 0 and not stands and not cholesky(push.S, n, push.first, 0.0) > 0.0:
            return False
        cholesky_solve(push.S, n, push.first, u)
        for i in range(m):
            p[i] = 0.0
        for k in range(n):
            p[active[k]] = u[k]
        same = True
        for i in range(m):
            rate, row, own = push.gap[i], push.W[i], push.joined[i]
            for k in range(own[m]):
                rate += row[own[k]] * p[own[k]]
            u[i] = rate
            pushes = p[i] > 0.0 if push.acts[i] else SOFT * push.centre[i] - rate > 0.0
            now = int(push.equal[i] != 0 or pushes)
            same = same and now == push.acts[i]
            push.acts[i] = now
        if same:
            return True
    return False
