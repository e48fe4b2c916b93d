"""The contact problem of a step: from the rows that act to velocities and impulses.

Joints are eliminated: with G their rows and S = G M^-1 G^T, the blocks of the other rows see

    W = J M^-1 J^T - C^T C,    q = u_J - C^T y,    C = R^-1 G M^-1 J^T,    y = R^-1 u_G,    S = R R^T

with u = (velocity without impulses) + w, and the impulses of joints follow, -R^-T (y + C r). W and its factors stand
while the rows do, q changes in every pass.
Without joints, and where there are many rows for so many velocities, W is formed only when Newton's method in velocity
space (`velocity_space`) fails, or a step is brought to rest.

Dampers between bodies stand among the joints, so that passes contract however stiff they are: with the rate J v of
damper c and v_g the guess of v+ that the force was evaluated for, -dt theta c J (v+ - v_g) is the impulse of a soft
row

    J v+ + lam / (dt theta c) = J v_g

which dies away as the guess comes true.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, A3, I1, address_of, kernel, record
from .....arrays import Array, IntArray
from .....linalg.envelope import cholesky, forward_solve, part_dot
from .....linalg.redundant_rows import HELD
from .....programs.blocks.small.attempts import first_attempts
from .....programs.laws.laws import BORDER
from .....programs.laws.projections import extreme_eigenvalues, length
from .....programs.solution.residual_kernels import ACTIVE, INACTIVE, block_mode
from ..linear import cross_products, half_solve_rows, whole_fours
from ..records import (
    ALL,
    BILATERAL,
    BILATERAL_CONTACT,
    BRANCH,
    CAP,
    DRY,
    FIXED,
    HIGH,
    LOW,
    MU,
    MU_R,
    MU_S,
    PLANAR,
    SOFT,
    UNILATERAL,
    Data,
    Layout,
    Rows,
    Span,
)
from .dependent_joints import LOOKED, stand_beside
from .near_residual import CAPPED, COULOMB, EQUATIONS, FRICTIONLESS, REDUNDANT, Near, look, put_rates
from .near_residual import room as near_room
from .velocity_space import diagonal_blocks, take_rows

GUIDED, ROLLING, TORSIONAL = 2, 6, 8  # further codes of `programs.laws.projections`
BLOCKS, BLOCK_ROWS, JOINT_ROWS, FORMED, ASSEMBLED, APART = range(6)  # entries of `Problem.counts`
MANY = 1.4  # rows for each velocity from which on problems are solved in velocity space
CROWD = 24  # contacts from which on bodies in the plane are looked at island by island
DEPENDENT = 1e-7  # of the diagonal: least pivot with which joints count as independent
SUSPECT = 1e-3  # the same from which on it is looked whether they are


@record("int64", *[I1] * 6, *[A2] * 5, A1, I1, I1, A3, *[A1] * 7, A2, "Near")
class Problem(NamedTuple):
    """The problem, with room for all rows; what counts of it is in `counts`.

    Attributes
    ----------
    attempts : int
        Address of `first_attempts`.
    counts : IntArray, shape (6,)
        How many BLOCKS there are, BLOCK_ROWS of these and JOINT_ROWS. FORMED: whether A and W are there. ASSEMBLED:
        how often rows were put. APART: whether it is solved island by island.
    block : IntArray, shape (n,)
        The constraint of every block.
    at : IntArray, shape (m,)
        The rows that act: those of joints, then those of blocks.
    code, start : IntArray
        Laws and first rows of blocks.
    P : Array, shape (n, 4)
    Z : Array, shape (m, nv)
        J L^-1, a row for each row that acts; M = L^T L.
    A : Array, shape (m, m4)
        J M^-1 J^T of all of them; m4 is the next multiple of four, see `_jit.lanes`.
    first : IntArray, shape (m,)
        First entries of the rows of the factor of S, see `envelope.cholesky`.
    S, C : Array, shapes (m, m4) and (max(m, nv), m4)
        R, and C, a row for each row of blocks; before it is there the columns of Z stand in its place.
    W : Array, shape (m m + 3,)
    indices, indptr : IntArray
        Of W as a sparse matrix.
    D : Array, shape (n, 6, 6)
        Diagonal blocks of W.
    rho : Array, shape (n,)
    soft : Array, shape (m,)
        What stands beside the diagonal of S.
    q, r, lam : Array, shape (m,)
        Velocities without impulses and impulses of blocks; the same of joints.
    last, past : Array, shape (m,)
        Impulses to begin with, and work space.
    work : Array, shape (17, 6)
    near : Near
    """

    attempts: int
    counts: IntArray
    block: IntArray
    at: IntArray
    code: IntArray
    start: IntArray
    first: IntArray
    P: Array
    Z: Array
    A: Array
    S: Array
    C: Array
    W: Array
    indices: IntArray
    indptr: IntArray
    D: Array
    rho: Array
    soft: Array
    q: Array
    r: Array
    lam: Array
    last: Array
    past: Array
    work: Array
    near: Near


def room(layout: Layout, data: Data) -> Problem:
    """Return a problem for up to as many constraints and rows as there is room for."""
    n, m, nv = len(layout.kind), len(layout.reach), len(data.v)
    square = [np.zeros((k, whole_fours(m))) for k in (m, m, max(m, nv))]
    whole = [np.zeros(k, dtype=np.int64) for k in (6, n, m, n, n + 1, m)]
    sparse = np.zeros(m * m + 3), np.zeros(m * m, dtype=np.int64), np.zeros(m + 1, dtype=np.int64)
    Z = np.zeros((m, nv))
    rest = np.zeros((n, 6, 6)), np.zeros(n), *(np.zeros(m) for _ in range(6)), np.zeros((17, 6))
    first = address_of(first_attempts), *whole, np.zeros((n, 4)), Z
    return Problem._make([*first, *square, *sparse, *rest, near_room(n, layout, data.M, Z)])


@kernel("UniTuple(int64, 2)(int64, int64, float64, float64)", borrows=True)
def law_of(kind: int, size: int, rest: float, moment: float) -> tuple[int, int]:
    """Return the code of a constraint (-1: it is held) and how many of its rows count; `moment`: largest mu_r, mu_t."""
    if kind == DRY:
        return CAPPED, size
    rough = size > 1 and max(rest, moment) > 0.0
    if kind in (BILATERAL, SOFT):
        return -1, size
    if kind == BILATERAL_CONTACT:
        return (GUIDED, min(size, 3)) if rough else (-1, 1)
    if kind == UNILATERAL or not rough:
        return FRICTIONLESS, 1
    if moment > 0.0:
        return (TORSIONAL if size % 2 == 0 else ROLLING), size
    return COULOMB, min(size, 3)


@kernel("void(Layout, Rows, Data, Span, Problem)", borrows=True)
def gather(layout: Layout, rows: Rows, data: Data, span: Span, problem: Problem) -> None:
    """Say which rows of the constraints that act are held, and which are blocks, with their laws."""
    start = layout.start
    blocks = held = 0
    for k in range(layout.counts[ALL]):
        if data.acts[k] and (k >= layout.counts[FIXED] or data.slides[k] == 0.0):
            law = rows.law[k]
            code, d = law_of(layout.kind[k], start[k + 1] - start[k], law[MU_S], max(law[MU_R], law[CAP]))
            if code < 0:
                for a in range(d):
                    problem.at[held + a] = start[k] + a
                    soft = span.dt * span.theta * law[MU] if layout.kind[k] == SOFT else np.inf
                    problem.soft[held + a] = 1.0 / soft
                held += d
                continue
            problem.block[blocks], problem.code[blocks] = k, code
            scale = span.dt if code == CAPPED else 1.0
            problem.P[blocks, 0], problem.P[blocks, 1] = law[MU], scale * law[MU_S]
            problem.P[blocks, 2], problem.P[blocks, 3] = scale * law[CAP], law[MU_R]
            problem.start[blocks + 1] = d
            blocks += 1
    problem.start[0], at = 0, held
    for b in range(blocks):
        first = start[problem.block[b]]
        for a in range(problem.start[b + 1]):
            problem.at[at] = first + a
            at += 1
        problem.start[b + 1] += problem.start[b]
    problem.counts[BLOCKS], problem.counts[BLOCK_ROWS], problem.counts[JOINT_ROWS] = blocks, at - held, held


@kernel("void(Problem)", borrows=True)
def spectra(problem: Problem) -> None:
    """Put the step sizes rho by the diagonal blocks of W, by the rules of `projections.block_spectra`."""
    blocks, start, D, rho, T, mean = (
        problem.counts[BLOCKS],
        problem.start,
        problem.D,
        problem.rho,
        problem.work[:6],
        0.0,
    )
    for b in range(blocks):
        d, total = start[b + 1] - start[b], 0.0
        if d == 1:
            rho[b] = abs(D[b, 0, 0])
            mean += rho[b] / blocks
            continue
        for i in range(d):
            for j in range(d):
                total += D[b, i, j] ** 2
                T[i, j] = 0.5 * (D[b, i, j] + D[b, j, i])
        _low, high = extreme_eigenvalues(T, d)
        size = np.sqrt(total)
        rho[b] = high if high > 0.0 else size
        mean += size / blocks
    for b in range(blocks):
        rho[b] = 1.0 / (rho[b] if rho[b] > 0.0 else (mean if mean > 0.0 else 1.0))


@kernel("boolean(Data, Problem)", borrows=True, rare=True)
def eliminate_joints(data: Data, problem: Problem) -> bool:
    """Put the factor R of S, and C, column by column; False if joints depend on one another."""
    g, A, S, C = problem.counts[JOINT_ROWS], problem.A, problem.S, problem.C
    for i in range(g):
        problem.past[i] = 1.0
        for j in range(i + 1):
            S[i, j] = A[i, j]
    stand_beside(data.bound, S, problem.at, g, problem.past)
    for i in range(g):
        S[i, i] += problem.soft[i]
    least = DEPENDENT if data.bound.known[LOOKED] else SUSPECT
    if not cholesky(S, g, problem.first, 0.0) > least:
        return False
    for c in range(problem.counts[BLOCK_ROWS]):
        column = C[c]
        for i in range(g):
            column[i] = A[g + c, i]
        forward_solve(S, g, problem.first, column)
    return True


@kernel("void(Problem)", borrows=True)
def put_blocks(problem: Problem) -> None:
    """Put W, row by row, and its diagonal blocks."""
    g, n, start, A, C = problem.counts[JOINT_ROWS], problem.counts[BLOCK_ROWS], problem.start, problem.A, problem.C
    for i in range(n):
        row, own = problem.W[i * n : (i + 1) * n], A[g + i]
        for j in range(n):
            row[j] = own[g + j]
        for j in range(i + 1 if g > 0 else 0):
            row[j] -= part_dot(C[i], C[j], 0, g)
            problem.W[j * n + i] = row[j]
    for i in range(n if g > 0 else 0):
        if problem.W[i * n + i] <= HELD * A[g + i, g + i]:  # rounding
            for j in range(n):
                problem.W[i * n + j] = problem.W[j * n + i] = 0.0
    for b in range(problem.counts[BLOCKS]):
        first, d = start[b], start[b + 1] - start[b]
        for i in range(d):
            for j in range(d):
                problem.D[b, i, j] = problem.W[(first + i) * n + first + j]


@kernel("boolean(Layout, Rows, Data, Problem)", borrows=True)
def form(layout: Layout, rows: Rows, data: Data, problem: Problem) -> bool:
    """Put J L^-1, A, W with its diagonal blocks, and what eliminates joints; False if these depend on one another."""
    g, total = problem.counts[JOINT_ROWS], problem.counts[BLOCK_ROWS] + problem.counts[JOINT_ROWS]
    cross_products(layout, data.L, data.inverse, rows.J, problem.at[:total], problem.Z, problem.A, problem.C)
    if g > 0 and not eliminate_joints(data, problem):
        return False
    put_blocks(problem)
    problem.counts[FORMED] = 1
    return True


@kernel("void(Layout, Rows, Data, Problem)", borrows=True)
def require(layout: Layout, rows: Rows, data: Data, problem: Problem) -> None:
    """Put A and W unless they are there; of joints they are."""
    if problem.counts[FORMED] == 0:
        form(layout, rows, data, problem)


@kernel("void(Layout, Rows, Data, Problem)", borrows=True, rare=True)
def put_rows(layout: Layout, rows: Rows, data: Data, problem: Problem) -> None:
    """Put the rows of velocity space, J L^-1, and the diagonals of A and W by blocks; there are no joints."""
    at, Z, start, blocks, n = problem.at, problem.Z, problem.start, problem.counts[BLOCKS], problem.counts[BLOCK_ROWS]
    space = problem.near.space
    take_rows(space, rows, at, n)
    half_solve_rows(layout, data.L, data.inverse, rows.J, at[:n], Z, problem.C)
    for i in range(n):
        for j in range(layout.reach[at[i], LOW]):
            Z[i, j] = 0.0
    diagonal_blocks(space, start, blocks, problem.D)
    for b in range(blocks):
        for i in range(start[b], start[b + 1]):
            problem.A[i, i] = problem.D[b, i - start[b], i - start[b]]


@kernel("boolean(Layout, Problem)", borrows=True)
def share_bodies(layout: Layout, problem: Problem) -> bool:
    """Return whether two rough contacts one after the other are of the same body: their six rows are of rank five."""
    last = -1
    for b in range(problem.counts[BLOCKS]):
        if problem.code[b] != COULOMB:
            continue
        row = problem.at[problem.counts[JOINT_ROWS] + problem.start[b]]
        tip = layout.reach[row, HIGH] if layout.reach[row, BRANCH] else -1
        if tip >= 0 and tip == last:
            return True
        last = tip
    return False


@kernel("boolean(Layout, Problem)", borrows=True)
def comes_apart(layout: Layout, problem: Problem) -> bool:
    """Return whether the problem is one of many contacts of shapes in the plane, and of nothing else."""
    if layout.who != PLANAR or problem.counts[JOINT_ROWS] > 0 or problem.counts[BLOCKS] < CROWD:
        return False
    apart = True
    for b in range(problem.counts[BLOCKS]):
        plain = problem.code[b] == FRICTIONLESS or (problem.code[b] == COULOMB and problem.P[b, 1] <= problem.P[b, 0])
        apart = apart and plain and problem.block[b] >= layout.counts[FIXED]
    return bool(apart)


@kernel("boolean(Layout, Rows, Data, Problem)", borrows=True)
def assemble(layout: Layout, rows: Rows, data: Data, problem: Problem) -> bool:
    """Put what passes need of the rows that act; False if joints depend on one another."""
    problem.near.size[EQUATIONS] = problem.counts[FORMED] = 0
    problem.near.size[REDUNDANT] = int(share_bodies(layout, problem))
    problem.counts[ASSEMBLED] += 1
    problem.counts[APART] = int(comes_apart(layout, problem))
    many = problem.counts[APART] != 0 or (
        problem.counts[JOINT_ROWS] == 0
        and problem.counts[BLOCKS] > 1
        and problem.counts[BLOCK_ROWS] >= MANY * len(data.v)
    )
    problem.near.space.used[0] = int(many)
    if many:
        put_rows(layout, rows, data, problem)
    elif not form(layout, rows, data, problem):
        return False
    spectra(problem)
    return True


@kernel("float64(Problem)", borrows=True)
def weight(problem: Problem) -> float:
    """Return |rho q|."""
    s = 0.0
    for b in range(problem.counts[BLOCKS]):
        for i in range(problem.start[b], problem.start[b + 1]):
            s += (problem.rho[b] * problem.q[i]) ** 2
    return float(np.sqrt(s))


@kernel("float64(Problem, float64)", borrows=True)
def residual(problem: Problem, size: float) -> float:
    """Return E = |r - P(r - rho u^)| / |rho q| of the impulses r."""
    blocks, n = problem.counts[BLOCKS], problem.counts[BLOCK_ROWS]
    table = (problem.code[:blocks], problem.start[: blocks + 1], problem.P[:blocks])
    E = look(problem.near, problem.W[: n * n], problem.q[:n], table, problem.rho[:blocks], problem.r)
    return float(E / size if size > 0.0 else E)


@kernel(f"float64(Problem, {I1}, boolean)", borrows=True)
def note_modes(problem: Problem, mode: IntArray, rough: bool) -> float:
    """Put the mode of every block, by constraint; return how far impulses leave their cones, over their size.

    Where nothing has friction those that push are active, the others inactive; rough: something else has.
    """
    n, start, work, tol = problem.counts[BLOCK_ROWS], problem.start, problem.work, BORDER * weight(problem)
    U, R, cone, size = work[6], work[7], 0.0, 0.0
    put_rates(problem.near, problem.W[: n * n], problem.q[:n], problem.r)
    tol = tol if tol > 0.0 else BORDER
    for b in range(problem.counts[BLOCKS]):
        rough = rough or problem.code[b] != FRICTIONLESS
    for b in range(problem.counts[BLOCKS]):
        first, d, code, P = start[b], start[b + 1] - start[b], problem.code[b], problem.P[b]
        for a in range(d):
            U[a], R[a] = problem.near.u[first + a], problem.r[first + a]
            size += R[a] ** 2
        found = block_mode(code, d, P, U, R, problem.rho[b], tol)
        mode[problem.block[b]] = found if rough else (ACTIVE if R[0] > 0.0 else INACTIVE)
        if code in (COULOMB, GUIDED, ROLLING, TORSIONAL):
            limit = max(P[0], P[1]) if found == 1 else P[0]
            cone = max(cone, length(R, 1, min(d, 3)) - limit * (abs(R[0]) if code == GUIDED else R[0]))
    return float(cone / np.sqrt(size)) if size > 0.0 else 0.0
