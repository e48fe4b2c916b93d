"""The least shift of bodies that opens their gaps, compiled: soft gaps that push, and the method of multipliers."""

from __future__ import annotations

from ...._jit import A2, kernel
from ....arrays import Array
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.newton import factorise_modes, motion, newton_direction
from ....contact.free_bodies.structure import block_multiply
from ....linalg.block_lu import Ordering
from ..scheme import SOFT, SOFT_ROUNDS

PUSH, GAP = 0, 1  # columns of `centre`: what a gap is pushed with at the start of a round, and how wide it is then
SOFTER = (1e-2, 1e-4)  # where many gaps begin to push, they are found in a few factorisations like that
FEW_FACTORS = 8  # of the first round, before it is begun again softer
MANY = 64  # gaps: where there are more, what is found is taken sooner
MOST_FACTORS = 40  # of one round
STRAINED = 20.0  # times what the widest violation asks of a gap alone: pushes above cancel one another, or go far
GROWN = 1e3  # times the same: what such pushes move is what rounding leaves of their sum
IDLE_ROUNDS = 100  # of taking out of pushes what moves bodies
MOST_DROPS = 10  # of gaps that push no longer as others push less
IDLE = 0.1  # of the pushes: so little that cancels is left there
FALLS = 1e-15  # of what cancels, in a round: what falls no faster moves no body
EXACTLY = 1e-12  # of the derivative where a line search begins: what may be left of it
LITTLE = 1e-6  # of the widest gap to be removed: what of it passes that follow remove


@kernel(f"int64(BodyProblem, BodyWork, {A2}, {A2}, float64)", borrows=True)
def press(problem: BodyProblem, work: BodyWork, centre: Array, u: Array, soft: float) -> int:
    """Put the pushes of soft gaps, centre - k u where that is positive or the gap is held; return how many changed."""
    mu, rho, E, e, mode, changed = problem.mu, problem.rho, work.E, work.e, work.mode, 0
    for c in range(problem.contacts.first[-1]):
        for i in range(3):
            e[c, i] = 0.0
            for j in range(3):
                E[c, i, j] = 0.0
        k = rho[c] / soft
        push = centre[c, PUSH] - k * u[c, 0]
        now = int(push > 0.0 or mu[c] < 0.0)
        if now:
            E[c, 0, 0], e[c, 0] = k, push
        changed += now != mode[c]
        mode[c] = now
    return changed


@kernel(f"UniTuple(float64, 2)(BodyProblem, BodyWork, {A2}, {A2}, float64, float64)", borrows=True)
def slope(
    problem: BodyProblem, work: BodyWork, centre: Array, u: Array, soft: float, t: float
) -> tuple[float, float]:  # fmt: skip
    """Return the derivative -p(t) du of the pushes' part of what `squeeze` minimises, and how fast it grows there.

    t along the direction.
    """
    mu, rho, du, value, growth = problem.mu, problem.rho, work.du, 0.0, 0.0
    for c in range(problem.contacts.first[-1]):
        k = rho[c] / soft
        push = centre[c, PUSH] - k * (u[c, 0] + t * du[c, 0])
        if push > 0.0 or mu[c] < 0.0:
            value -= push * du[c, 0]
            growth += k * du[c, 0] * du[c, 0]
    return value, growth


@kernel("float64(BodyProblem, BodyWork, Iterate, float64)", borrows=True)
def share_to_go(problem: BodyProblem, work: BodyWork, iterate: Iterate, soft: float) -> float:
    """Return how far to go along the direction: all of it, or to where the derivative (it only grows) vanishes.

    Straight between the places where gaps begin to push or end it: Newton's method, between bounds, ends there.
    """
    _p, u, centre, _push, d = iterate
    dv, Mdv, first, second = work.dv, work.F, 0.0, 0.0
    block_multiply(problem.M, dv, Mdv)
    for i in range(len(d)):
        for k in range(6):
            first += d[i, k] * Mdv[i, k]
            second += dv[i, k] * Mdv[i, k]
    begin = first + slope(problem, work, centre, u, soft, 0.0)[0]
    value, growth = slope(problem, work, centre, u, soft, 1.0)
    if not begin < 0.0 or first + second + value <= -1e-6 * begin:
        return 1.0
    low, high, t, value = 0.0, 1.0, 1.0, first + second + value
    for _ in range(30):
        t -= value / (second + growth)
        if not low < t < high:
            t = 0.5 * (low + high)
        value, growth = slope(problem, work, centre, u, soft, t)
        value += first + t * second
        if abs(value) <= EXACTLY * -begin:
            break
        low, high = (low, t) if value > 0.0 else (t, high)
    return t


@kernel(
    "Tuple((int64, boolean))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64, boolean, boolean)", borrows=True
)
def squeeze(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, soft: float, limit: int, twice: bool,
    boldly: bool,
) -> tuple[int, bool]:  # fmt: skip
    """Minimise 1/2 d^T M d + sum p^2 / 2 k over d, p the pushes of soft gaps, from where `place_centre` left them.

    Strictly convex and piecewise quadratic: Newton's method with exact line search ends at the minimum after finitely
    many steps; `boldly` without the search: mostly sooner, if it ends. The factors at hand are those of the modes at
    hand. They solve to rounding over `soft` of the shift, and pushes show it: `twice` asks for the last step a second
    time. Returns the number of factorisations, and whether it ended within `limit` steps.
    """
    _p, u, centre, _push, d = iterate
    g, share, factors = work.F, 0.0, 0
    for it in range(limit):
        changed = press(problem, work, centre, u, soft)
        if it > 0 and changed == 0 and share == 1.0:
            if not twice:
                return factors, True
            twice = False
        if changed > 0:
            factorise_modes(problem, ordering, work)
            factors += 1
        block_multiply(problem.M, d, g)
        for i in range(len(g)):
            for k in range(6):
                g[i, k] = -g[i, k]
        newton_direction(problem, ordering, work, g)
        share = 1.0 if boldly else share_to_go(problem, work, iterate, soft)
        for i in range(len(d)):
            for k in range(6):
                d[i, k] += share * work.dv[i, k]
        for c in range(problem.contacts.first[-1]):
            u[c, 0] += share * work.du[c, 0]
    return factors, False


@kernel("void(BodyProblem, Iterate)", borrows=True)
def place_centre(problem: BodyProblem, iterate: Iterate) -> None:
    """Let gaps be pushed from the pushes at hand, and note how wide they are."""
    _p, u, centre, p, _d = iterate
    for c in range(problem.contacts.first[-1]):
        centre[c, PUSH], centre[c, GAP] = p[c, 0], u[c, 0]


@kernel("float64(BodyProblem, BodyWork, Iterate)", borrows=True)
def take_pushes(problem: BodyProblem, work: BodyWork, iterate: Iterate) -> float:
    """Put the pushes, and gaps and shift that belong to them; return how much a gap changed at most."""
    _p, u, centre, p, d = iterate
    for c in range(problem.contacts.first[-1]):
        p[c, 0] = work.e[c, 0]
    motion(problem, p, work.F, d, u)
    change = 0.0
    for c in range(problem.contacts.first[-1]):
        change = max(change, abs(u[c, 0] - centre[c, GAP]))
    return change


@kernel("float64(BodyProblem, Ordering, BodyWork, Iterate)", borrows=True)
def put_idle_pushes(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate) -> float:
    """Put in `work.dp` what of the pushes cancels; return its size, relative to that of all.

    With the factors of the modes at hand, pushes less those of the shift that they bring about: what turns no body is
    left, the rest falls by 1 / (1 + k W) each time.
    """
    p, e, dp = iterate.other, work.e, work.dp
    count, size, idle = problem.contacts.first[-1], 0.0, 0.0
    for c in range(count):
        e[c, 0], e[c, 1], e[c, 2] = p[c, 0], 0.0, 0.0
        size = max(size, abs(p[c, 0]))
    for _ in range(IDLE_ROUNDS):
        for i in range(len(work.F)):
            for k in range(6):
                work.F[i, k] = 0.0
        newton_direction(problem, ordering, work, work.F)
        idle = fall = 0.0
        for c in range(count):
            idle, fall = max(idle, abs(dp[c, 0])), max(fall, abs(e[c, 0] - dp[c, 0]))
            e[c, 0] = dp[c, 0]
        if idle <= IDLE * size or fall <= FALLS * idle:
            break
    return idle / size if size > 0.0 else 0.0


@kernel("float64(BodyProblem, Iterate)", borrows=True)
def left_over(problem: BodyProblem, iterate: Iterate) -> float:
    """Return how far gaps are off at most: those that push or are held from zero, others below it."""
    u, p, mu, off = iterate.u, iterate.other, problem.mu, 0.0
    for c in range(problem.contacts.first[-1]):
        off = max(off, abs(u[c, 0]) if mu[c] < 0.0 or p[c, 0] > 0.0 else -u[c, 0])
    return off


@kernel("float64(BodyProblem, BodyWork, Iterate, float64)", borrows=True)
def less_idle(problem: BodyProblem, work: BodyWork, iterate: Iterate, enough: float) -> float:
    """Take out of the pushes what cancels (`work.dp`), as far as none turns that only opens a gap.

    Returns the share that could be taken out; 0 where a gap would change by more than `enough`.
    """
    _p, u, _centre, p, d = iterate
    e, dp, mu, share, change, count = work.e, work.dp, problem.mu, 1.0, 0.0, problem.contacts.first[-1]
    for c in range(count):
        if mu[c] >= 0.0 and dp[c, 0] > p[c, 0]:
            share = min(share, p[c, 0] / dp[c, 0])
    for c in range(count):
        left = p[c, 0] - share * dp[c, 0]
        turns = mu[c] >= 0.0 and (left < 0.0 or (share < 1.0 and p[c, 0] <= share * dp[c, 0]))
        e[c, 0] = 0.0 if turns else left
    motion(problem, e, work.F, work.dv, work.du)
    for c in range(count):
        change = max(change, abs(work.du[c, 0] - u[c, 0]))
    if change > enough:
        return 0.0
    for c in range(count):
        p[c, 0] = e[c, 0]
    motion(problem, p, work.F, d, u)
    return share


@kernel(f"UniTuple(float64, 2)(BodyProblem, {A2})", borrows=True)
def widest(problem: BodyProblem, p: Array) -> tuple[float, float]:
    """Return the widest gap to be removed, and how many times as large as such gaps ask for a push is."""
    most = asked = push = 0.0
    for c in range(problem.contacts.first[-1]):
        wrong = abs(problem.w[c, 0]) if problem.mu[c] < 0.0 else -problem.w[c, 0]
        most, asked, push = max(most, wrong), max(asked, problem.rho[c] * wrong), max(push, abs(p[c, 0]))
    return most, push / asked if asked > 0.0 else 0.0


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, float64)", borrows=True)
def take_out_idle(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, enough: float) -> int:
    """Take out of the pushes what cancels, until they have the least size; return the factorisations.

    Held gaps that contradict one another push as hard as they are hard otherwise. Where no push is that large none are.
    """
    p, E, factors, (most, strain) = iterate.other, work.E, 0, widest(problem, iterate.other)
    for _ in range(MOST_DROPS if strain > STRAINED else 0):
        if put_idle_pushes(problem, ordering, work, iterate) <= IDLE:
            break
        share = less_idle(problem, work, iterate, max(enough, LITTLE * most))
        if share == 0.0 or share == 1.0:
            break
        for c in range(problem.contacts.first[-1]):
            if problem.mu[c] >= 0.0 and p[c, 0] == 0.0:
                E[c, 0, 0] = 0.0
        factorise_modes(problem, ordering, work)
        factors += 1
    return factors


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate)", borrows=True)
def begin_softer(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate) -> int:
    """Find which gaps push from no pushes, softer ones first; return the number of factorisations."""
    _p, u, _centre, p, d = iterate
    factors = 0
    for c in range(problem.contacts.first[-1]):
        p[c, 0] = 0.0
    motion(problem, p, work.F, d, u)
    for soft in SOFTER:
        for c in range(problem.contacts.first[-1]):
            work.mode[c] = -1
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, soft, MOST_FACTORS, False, False)
        factors += used
        take_pushes(problem, work, iterate)
    for c in range(problem.contacts.first[-1]):
        work.mode[c] = -1
    return factors


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, float64)", borrows=True)
def push_apart(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, enough: float) -> int:
    """Find the least d = M^-1 J^T p with gaps u = J d + w >= 0, p >= 0 where u = 0; return the factorisations.

    p, u, d in `iterate` (p is where to begin, at first). The method of multipliers: soft gaps push, and where they are
    pushed from is moved until no gap changes by more than `enough`. What contradicts is met by least squares, and so is
    every gap that is held, by pushes of either sign; none grows by what cancels. Where few factorisations do not tell
    which gaps push, softer ones do: hard ones begin to push one after the other. Of many gaps Newton's steps are taken
    as they are at first, and what leaves no gap off by more than `enough` is not looked at once more.
    """
    _p, u, _centre, p, d = iterate
    many = problem.contacts.first[-1] > MANY
    for c in range(problem.contacts.first[-1]):
        work.mode[c] = -1
    motion(problem, p, work.F, d, u)
    place_centre(problem, iterate)
    factors, ended = squeeze(problem, ordering, work, iterate, SOFT, FEW_FACTORS, True, many)
    if not ended:
        factors += begin_softer(problem, ordering, work, iterate)
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, SOFT, MOST_FACTORS, True, False)
        factors += used
    change = take_pushes(problem, work, iterate)
    for _ in range(SOFT_ROUNDS - 1):
        if change <= enough or (many and left_over(problem, iterate) <= enough):
            break
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, SOFT, MOST_FACTORS, False, False)
        factors += used
        change = take_pushes(problem, work, iterate)
    return factors + int(take_out_idle(problem, ordering, work, iterate, enough))
