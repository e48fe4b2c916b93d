"""A few contacts at rest, compiled: of all reactions that hold them, those that use friction as evenly as they can.

Where friction is just enough for rest there is no room between the modes, and Newton's method on the law only halves
the residual in every step. But the reactions that minimise sum |r_T|^2 / r_N under u = 0 then lie on all cones at once.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, kernel
from ....arrays import Array, IntArray
from ...laws.projections import TABLE, Table, length

DEPENDENT = 1e-10  # pivot, over the largest, below which a row counts as dependent on others
ROUNDS = 4  # most corrections of u
STILL = 1e-8  # change of r that ends them: the next one would be rounding
SPARE, EVENED = 0.1, 1e-6  # of friction: what better shares may save at first, and once they are nearly even
NEAR = 0.03  # normal speed (of |q|) up to which a contact that carries nothing yet may carry load at rest
EVEN = 100.0  # least ease of a tangential reaction, inverted


@kernel(f"int64({A2}, {I1}, int64, {A1}, {I1})", borrows=True)
def independent_rows(W: Array, place: IntArray, m: int, A: Array, picks: IntArray) -> int:
    """List rows (of the first m in `place`) on which all others depend; return how many. A (m m) is work space."""
    for a in range(m):
        picks[a] = a
        for b in range(m):
            A[m * a + b] = W[place[a], place[b]]
    top = 0.0
    for k in range(m):
        p = k
        for a in range(k + 1, m):
            if A[(m + 1) * picks[a]] > A[(m + 1) * picks[p]]:
                p = a
        picks[k], picks[p] = picks[p], picks[k]
        at = m * picks[k]
        pivot = A[at + picks[k]]
        top = max(top, pivot)
        if not pivot > DEPENDENT * top:
            return k
        for a in range(k + 1, m):
            row = m * picks[a]
            f = A[row + picks[k]] / pivot
            for b in range(m):
                A[row + b] -= f * A[at + b]
    return m


@kernel(f"boolean({A1}, int64)", borrows=True)
def cholesky(G: Array, k: int) -> bool:
    """Factorise the lower half of a positive definite matrix of k rows in place; false if it is not. 1 / diagonal."""
    for j in range(k):
        s = G[k * j + j]
        for c in range(j):
            s -= G[k * j + c] ** 2
        if not s > 0.0:
            return False
        inverse = 1.0 / np.sqrt(s)
        G[k * j + j] = inverse
        for i in range(j + 1, k):
            s = G[k * i + j]
            for c in range(j):
                s -= G[k * i + c] * G[k * j + c]
            G[k * i + j] = s * inverse
    return True


@kernel(f"void({A1}, int64, {A1})", borrows=True)
def solve_cholesky(G: Array, k: int, x: Array) -> None:
    """Solve in place of the right side, with the factor of `cholesky`."""
    for i in range(k):
        for c in range(i):
            x[i] -= G[k * i + c] * x[c]
        x[i] *= G[k * i + i]
    for i in range(k - 1, -1, -1):
        x[i] *= G[k * i + i]
        for c in range(i):
            x[c] -= G[k * i + c] * x[i]


@kernel(f"boolean({A1}, int64, int64, {A1}, {A1}, {A1}, {A1})", borrows=True)
def nearest_rest(A: Array, k: int, m: int, q: Array, ease: Array, x: Array, y: Array) -> bool:
    """Move x (m) to the nearest point with R x = -q, by sum of squares over `ease`; false if R (k, m) is singular.

    A holds R, and behind it place for k k numbers; y (k) is work space. What rounding leaves is solved for again.
    """
    G = A[k * m : k * m + k * k]
    for a in range(k):
        for b in range(a + 1):
            s = 0.0
            for j in range(m):
                s += A[m * a + j] * ease[j] * A[m * b + j]
            G[k * a + b] = s
    if not cholesky(G, k):
        return False
    for _ in range(ROUNDS):
        change, size = 0.0, 0.0
        for a in range(k):
            y[a] = -q[a]
            for j in range(m):
                y[a] -= A[m * a + j] * x[j]
        solve_cholesky(G, k, y)
        for j in range(m):
            s = 0.0
            for a in range(k):
                s += A[m * a + j] * y[a]
            s *= ease[j]
            x[j] += s
            change, size = max(change, abs(s)), max(size, abs(x[j]))
        if not change > STILL * size:
            break
    return True


@kernel(f"Tuple((int64, float64))({TABLE}, {A1})", borrows=True)
def loaded_contacts(table: Table, r: Array) -> tuple[int, float]:
    """Return how many Coulomb contacts carry load, and how much; none where there is another law."""
    code, start, _P = table
    blocks, load = 0, 0.0
    for k in range(len(code)):
        if code[k] != 1:
            return 0, 0.0
        if r[start[k]] > 0.0:
            blocks += 1
            load += r[start[k]]
    return blocks, load


@kernel(f"int64({A2}, {A1}, {TABLE}, {A1}, float64, {I1}, {A1}, {A1})", borrows=True)
def closed_rows(
    W: Array, q: Array, table: Table, r: Array, near: float, place: IntArray, ease: Array, centre: Array
) -> int:
    """List the rows of Coulomb contacts that carry load or have u_N < near, their ease and centre; return how many.

    0 if none carries load, or where there is another law, to which nothing here applies.
    """
    start, m = table[1], 0
    blocks, load = loaded_contacts(table, r)
    for k in range(len(start) - 1 if blocks > 0 else 0):
        n, u = r[start[k]], q[start[k]]
        for j in range(len(q) if n <= 0.0 else 0):
            u += W[start[k], j] * r[j]
        if n > 0.0 or u < near:
            for i in range(start[k], start[k + 1]):
                normal = i == start[k]
                place[m], centre[m] = i, n if normal else 0.0
                ease[m] = 1.0 if normal or n <= 0.0 else max(blocks * n / load, 1.0 / EVEN)
                m += 1
    return m


@kernel(f"boolean({A2}, {A1}, {TABLE}, {A1}, float64, {I1}, {A2}, {A1})", borrows=True, rare=True)
def rest_from(W: Array, q: Array, table: Table, r: Array, near: float, place: IntArray, V: Array, A: Array) -> bool:
    """Put into r a reaction that keeps the closed contacts (`closed_rows`) at rest; false if none or it fails.

    Least in sum |r_T|^2 / r_N with the given r_N, and nearest to it. Of the equations u = 0 independent ones are taken.
    For n rows place (2 n), V (4, n) and A (2 n n) are work space.
    """
    n, ease, x, y, b = len(q), V[0], V[1], V[2], V[3]
    picks = place[n:]
    m = closed_rows(W, q, table, r, near, place, ease, x)
    k = independent_rows(W, place, m, A, picks)
    for a in range(k):
        i = place[picks[a]]
        b[a] = q[i]
        for j in range(m):
            A[m * a + j] = W[i, place[j]]
    if k == 0 or not nearest_rest(A, k, m, b, ease, x, y) or not np.isfinite(length(x, 0, m)):
        return False
    for i in range(n):
        r[i] = 0.0
    for a in range(m):
        r[place[a]] = x[a]
    return True


@kernel(f"boolean({TABLE}, {A1}, float64)", borrows=True)
def overloaded(table: Table, r: Array, spare: float) -> bool:
    """Whether all contacts together use more friction than they have, and `spare` of it: no other shares help then."""
    start, used, limit = table[1], 0.0, 0.0
    for k in range(len(start) - 1):
        used += length(r, start[k] + 1, start[k + 1])
        limit += table[2][k, 1] * r[start[k]]
    return used > (1.0 + spare) * limit


@kernel(f"float64({A2}, {A1}, {TABLE}, {A1})", borrows=True)
def fastest_slip(W: Array, q: Array, table: Table, r: Array) -> float:
    """Return the largest |u_T| of the contacts that carry load."""
    start, top = table[1], 0.0
    for k in range(len(start) - 1):
        if r[start[k]] > 0.0:
            total = 0.0
            for i in range(start[k] + 1, start[k + 1]):
                u = q[i]
                for j in range(len(q)):
                    u += W[i, j] * r[j]
                total += u * u
            top = max(top, total)
    return float(np.sqrt(top))
