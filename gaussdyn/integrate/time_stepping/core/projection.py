"""Position projection: the least shift onto gaps >= 0 and joints = 0, in the metric of the mass."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ....linalg.envelope import cholesky, cholesky_solve
from ..scheme import ALLOWED, CLOSE, PASSES, ROUNDING, SLOWEST, SOFT_ROUNDS, STRAIN
from .acting import in_place
from .evaluate import gaps_at, move, rows_at
from .linear import add_row, back_nodes, cross_products, dot, factor_bare_mass, metric_of_shifts, multiply_mass, row_dot
from .problem.dependent_joints import clear_gaps, clear_rows, stand_beside
from .problem.pushes import FACTORED, TAKEN, Push, list_joined, squeeze
from .records import ALL, AT, BILATERAL, BILATERAL_CONTACT, FOREST, HIGH, LOW, Bound, Data, Layout, Model, Span

LEAST = 1e-8  # of the square of the way of a step: a length that is no shift
SLIGHT = 1e-3  # of the way to a guess of the end: violations that may stay
TRACE = 1e-5  # of the way from the end of one pass to that of the next: the same, where joints are mended on the way
NEAR = 1e-4  # of the way of a step: places as near may share a factor
SERVES = 1e-2  # of the violation before a shift: up to which its factor goes on
STALE = 1e-2  # of the violation that may be left: by a factor of elsewhere, which leaves a share of it, not its square
SINGULAR = 1e-7  # pivot below which joints that hold alone count as dependent
UNMOVED, MOVED, FAILED, FAULT, LET_GO = range(5)


@kernel(f"float64(float64, {A1})", borrows=True)
def limit(least: float, q: Array) -> float:
    """Return `least`, or the rounding of the coordinates."""
    top = 0.0
    for i in range(len(q)):
        top = max(top, abs(q[i]))
    return max(least, ROUNDING * top)


@kernel("boolean(Layout, int64)", borrows=True)
def joint(layout: Layout, k: int) -> bool:
    """Return whether a constraint is an equality."""
    return bool(layout.kind[k] == BILATERAL or layout.kind[k] == BILATERAL_CONTACT)


@kernel("boolean(Layout, Data)", borrows=True)
def joints_alone(layout: Layout, data: Data) -> bool:
    """Return whether all gaps that act are held whatever happens: shifts along their rows then add up to least ones."""
    for k in range(layout.counts[ALL]):  # noqa: SIM110
        if data.acts[k] and in_place(layout, k) and not joint(layout, k):
            return False
    return True


@kernel("float64(Layout, Data, Push, boolean)", borrows=True)
def violation(layout: Layout, data: Data, push: Push, holds: bool) -> float:
    """Return by how much any constraint that acts is violated at the end, m."""
    worst = 0.0
    for k in range(layout.counts[ALL]):
        if data.acts[k] and in_place(layout, k):
            gap, goal = data.end.gap[k], push.target[k]
            if joint(layout, k):
                off = abs(gap)
            elif holds and goal == goal:
                off = abs(gap - goal)
            else:
                off = -min(gap, 0.0)
            worst = max(worst, off) if off == off else np.inf
    return worst


@kernel("int64(Layout, Data, Push)", borrows=True)
def collect(layout: Layout, data: Data, push: Push) -> int:
    """Put the gaps of all that acts, their rows scaled to length one, and W; return how many."""
    m, W, Z, scale = 0, push.W, push.Z, push.scale
    for i in range(len(data.q1)):
        push.seen[i] = data.q1[i]
    for k in range(layout.counts[ALL]):
        if data.acts[k] and in_place(layout, k):
            push.row[m], push.at[m] = k, layout.start[k]
            m += 1
    clear_rows(data, data.end.J)
    K, inverse = metric_of_shifts(layout, data)
    cross_products(layout, K, inverse, data.end.J, push.at[:m], Z, W, push.S)
    for i in range(m):
        size, z = np.sqrt(W[i, i]) if W[i, i] > 0.0 else 1.0, Z[i]
        scale[i] = size
        for j in range(layout.reach[push.at[i], LOW], layout.reach[push.at[i], HIGH]):
            z[j] /= size
    for i in range(m):
        row, size = W[i], scale[i]
        for j in range(i + 1):
            if row[j] != 0.0:
                row[j] /= size * scale[j]
                W[j, i] = row[j]
    return m


@kernel("boolean(Push, int64, Bound)", borrows=True)
def least_shift(push: Push, m: int, bound: Bound) -> bool:
    """Put the pushes p with W p = -gap, all held; False where they depend on one another."""
    for i in range(m):
        push.p[i] = -push.gap[i]
        for j in range(i + 1):
            push.S[i, j] = push.W[i, j]
    stand_beside(bound, push.S, push.at, m, push.scale)
    if not cholesky(push.S, m, push.first, 0.0) > SINGULAR:
        return False
    push.kept[FACTORED] = m
    cholesky_solve(push.S, m, push.first, push.p)
    return True


@kernel("boolean(Push, int64, float64, Bound)", borrows=True)
def push_apart(push: Push, m: int, enough: float, bound: Bound) -> bool:
    """Put the pushes p that remove the gaps, by the method of multipliers; False where no active set settles."""
    plain = True
    for i in range(m):
        plain = plain and push.equal[i] != 0
        push.centre[i], push.u[i] = 0.0, push.gap[i]
        push.acts[i] = int(push.equal[i] != 0 or push.gap[i] < 0.0)
    if plain and least_shift(push, m, bound):
        return True
    list_joined(push, m)
    for turn in range(SOFT_ROUNDS):
        for i in range(m):
            push.past[i] = push.u[i]
        if not squeeze(push, m, turn > 0):
            return False
        change = 0.0
        for i in range(m):
            change = max(change, abs(push.u[i] - push.past[i]) * push.scale[i])
            push.centre[i] = push.p[i]
        if change <= enough:
            break
    return True


@kernel(f"void(Layout, Data, Push, int64, {A1})", borrows=True)
def add_pushes(layout: Layout, data: Data, push: Push, m: int, d: Array) -> None:
    """Put the shift that the pushes add up to."""
    for j in range(len(d)):
        d[j] = 0.0
    for i in range(m):
        if push.p[i] != 0.0:
            add_row(layout, push.at[i], push.p[i], push.Z[i], d)
    K, inverse = metric_of_shifts(layout, data)
    back_nodes(K, inverse, layout, d)


@kernel(f"boolean(Layout, Data, Push, int64, boolean, {A1})", borrows=True)
def shift(layout: Layout, data: Data, push: Push, m: int, holds: bool, d: Array) -> bool:
    """Put the least shift d that removes the gaps, those with a target held at it if `holds`."""
    for i in range(m):
        k = push.row[i]
        goal = push.target[k]
        held = holds and goal == goal and not joint(layout, k)
        push.gap[i] = (data.end.gap[k] - (goal if held else 0.0)) / push.scale[i]
        push.equal[i] = int(held or joint(layout, k))
    clear_gaps(data.bound, push.gap, push.at, m, push.scale)
    push.kept[FACTORED] = 0
    if not push_apart(push, m, 0.1 * CLOSE, data.bound):
        return False
    add_pushes(layout, data, push, m, d)
    return True


@kernel(f"boolean(Layout, Data, Push, boolean, {A1})", borrows=True)
def shift_again(layout: Layout, data: Data, push: Push, holds: bool, d: Array) -> bool:
    """Put the shift by the factor of the last one; False if it was of other gaps, or not of such that are all held."""
    m = 0
    for k in range(layout.counts[ALL]):
        if data.acts[k] and in_place(layout, k):
            goal = push.target[k]
            held = holds and goal == goal and not joint(layout, k)
            if m >= push.kept[FACTORED] or push.row[m] != k or not (held or joint(layout, k)):
                return False
            push.gap[m] = (data.end.gap[k] - (goal if held else 0.0)) / push.scale[m]
            m += 1
    if m == 0 or m != push.kept[FACTORED]:
        return False
    clear_gaps(data.bound, push.gap, push.at, m, push.scale)
    for i in range(m):
        push.p[i] = -push.gap[i]
    cholesky_solve(push.S, m, push.first, push.p)
    add_pushes(layout, data, push, m, d)
    return True


@kernel(f"boolean(Data, Push, int64, Layout, {A1})", borrows=True)
def agree(data: Data, push: Push, m: int, layout: Layout, d: Array) -> bool:
    """Return whether the gaps that are held do not contradict one another."""
    left = most = 0.0
    for i in range(m):
        if push.equal[i] and not joint(layout, push.row[i]):
            short = push.gap[i] * push.scale[i]
            left = max(left, abs(short + row_dot(layout, data.end.J, push.at[i], d)))
            most = max(most, abs(short))
    return left <= max(CLOSE, 0.1 * most)


@kernel("boolean(Layout, Push)", borrows=True)
def holds_any(layout: Layout, push: Push) -> bool:
    """Return whether any gap is held at a target."""
    some = False
    for k in range(layout.counts[ALL]):
        some = some or push.target[k] == push.target[k]
    return some


@kernel("boolean(Layout, Data, Push)", borrows=True)
def held_loosely(layout: Layout, data: Data, push: Push) -> bool:
    """Return whether contacts are held only as far as that is no strain: with laws at the middle they may end open."""
    some = False
    for k in range(layout.counts[ALL] if data.log[AT] > 0.0 else 0):
        if push.target[k] == push.target[k]:
            still = True
            for i in range(layout.start[k], layout.start[k + 1]):
                still = still and data.bounce[i] == 0.0
            some = some or still
    return some


@kernel(f"boolean(Layout, Data, Push, int64, {A1}, {A1})", borrows=True)
def strains(layout: Layout, data: Data, push: Push, m: int, d: Array, Md: Array) -> bool:
    """Return whether a shift is out of proportion to the gaps that it removes; Md is work space."""
    lacking = 0.0
    for i in range(m):
        lacking += push.gap[i] ** 2 if push.equal[i] else min(push.gap[i], 0.0) ** 2
    multiply_mass(data.M, layout.nodes, d, Md)
    return bool(dot(d, Md) > STRAIN * lacking)


@kernel(f"void(Layout, Data, Push, int64, {A1})", borrows=True)
def note_shift(layout: Layout, data: Data, push: Push, taken: int, d: Array) -> None:
    """Keep the pushes of a pass, by constraint, the place that the factor was made for, and the shift."""
    m = 0
    for j in range(len(d)):
        push.steps[taken, j] = d[j]
    for i in range(len(push.seen)):
        push.places[taken, i] = push.seen[i]
    for k in range(layout.counts[ALL]):
        push.shifts[taken, k] = 0.0
        if data.acts[k] and in_place(layout, k):
            push.shifts[taken, k] = push.p[m] / push.scale[m]
            m += 1
    push.kept[TAKEN] = taken + 1


@kernel("boolean(Data, Push, float64, float64)", borrows=True)
def keep_if_near(data: Data, push: Push, off: float, before: float) -> bool:
    """Keep the factor at hand if it was made for nearly the same place: farther the shift would not be the least.

    Rows turn with the place: what is not least of the shift that removes `off` is as long as that times the way since.
    The last shift has left that of `before`: a factor that hardly serves is made anew. Returns whether one is kept that
    leaves more than a new one would.
    """
    far = way = 0.0
    for i in range(len(data.q)):
        far, way = max(far, abs(data.q1[i] - push.seen[i])), max(way, abs(data.q1[i] - data.q[i]))
    near = far <= NEAR * way
    if push.kept[FACTORED] > 0 and (near or (far * off <= LEAST * way * way and off <= SERVES * before)):
        return not near
    push.kept[FACTORED] = 0
    return False


@kernel(f"void(Layout, Data, Push, {A1}, float64)", borrows=True)
def foresee_gaps(layout: Layout, data: Data, push: Push, mean: Array, dt: float) -> None:
    """Move the gaps at hand along, from the end that was put last to the unshifted one of a mean velocity."""
    way = data.V[9]
    for j in range(len(way)):
        way[j] = dt * (mean[j] - push.mean[j])
        for s in range(push.kept[TAKEN]):
            way[j] -= push.steps[s, j]
    for k in range(layout.counts[ALL]):
        if data.acts[k] and in_place(layout, k):
            data.end.gap[k] += row_dot(layout, data.end.J, layout.start[k], way)


@kernel("boolean(Model, Data, Push)", borrows=True)
def shift_as_before(model: Model, data: Data, push: Push) -> bool:
    """Move q1 by the shifts of the last pass, from which only joints go on; False if a function failed."""
    for s in range(push.kept[TAKEN]):
        if not move(model, data.q1, push.steps[s], 1.0, push.place):
            return False
        for i in range(len(data.q1)):
            data.q1[i] = push.place[i]
    return True


@kernel("void(Layout, Data, Push)", borrows=True)
def keep_shifts_if_near(layout: Layout, data: Data, push: Push) -> None:
    """Keep the shifts of the last pass if they are nearly the least ones for a new end, `push.place`, too.

    Their rows have turned as it has moved, see `keep_if_near`.
    """
    far = way = shift = 0.0
    for i in range(len(data.q)):
        far, way = max(far, abs(push.place[i] - data.moved[i])), max(way, abs(push.place[i] - data.q[i]))
        shift = max(shift, abs(data.q1[i] - data.moved[i]))
    if layout.who != FOREST and not (far * shift <= LEAST * way * way and joints_alone(layout, data)):
        push.kept[TAKEN] = 0


@kernel(f"boolean(Model, Data, Push, {A1}, float64)", borrows=True)
def shift_ahead(model: Model, data: Data, push: Push, mean: Array, dt: float) -> bool:
    """Move q1 by the shift that gaps will need, by the factor at hand: little is left to do when passes are near.

    Of bodies in their own coordinates by the shifts of the pass before. Returns False if a function failed.
    """
    layout, d = model.layout, data.V[2]
    if layout.who != FOREST:
        return shift_as_before(model, data, push)
    keep_if_near(data, push, np.inf, np.inf)
    ahead = push.kept[FACTORED] > 0 and not held_loosely(layout, data, push)
    if ahead:
        foresee_gaps(layout, data, push, mean, dt)
    push.kept[TAKEN] = 0
    if not (ahead and shift_again(layout, data, push, holds_any(layout, push), d)):
        return True
    note_shift(layout, data, push, 0, d)
    if not move(model, data.q1, d, 1.0, push.place):
        return False
    for i in range(len(data.q1)):
        data.q1[i] = push.place[i]
    return True


@kernel("UniTuple(float64, 2)(Layout, Data, Push, float64, boolean)", borrows=True)
def left(layout: Layout, data: Data, push: Push, far: float, first: bool) -> tuple[float, float]:
    """Return up to which violation the end that a pass leads to is left where it is; it came from `far` away.

    While the end is a guess the next pass removes its violations. Joint coordinates leave no joint to be mended, and
    what changes after a shift is far below what rates notice. The second: up to which it is whatever factor is at hand.
    """
    trees = layout.who == FOREST
    if trees and push.kept[TAKEN] > 0:
        return 0.5 * ALLOWED, 0.0
    if trees or first:
        return max(CLOSE, SLIGHT * far), 0.0
    return CLOSE, TRACE * far if joints_alone(layout, data) else 0.0


@kernel(f"boolean(Model, Data, Span, boolean, {A1})", borrows=True)
def go_to(model: Model, data: Data, span: Span, places: bool, place: Array) -> bool:
    """Put q1, and the rows there; `places`: of trees only gaps."""
    for i in range(len(place)):
        data.q1[i] = place[i]
    if places:
        return bool(gaps_at(model, span.t_end, data.q1, data.v1, False, data.end))
    return bool(rows_at(model, span.t_end, data.q1, data.v1, data.end))


@kernel(f"int64(Layout, Data, Push, boolean, boolean, {A1})", borrows=True)
def shift_by_new_factor(layout: Layout, data: Data, push: Push, holds: bool, loosely: bool, d: Array) -> int:
    """Put the least shift d where q1 is; return LET_GO if gaps cannot be held for it, FAILED if there is none."""
    if not factor_bare_mass(layout, data):
        return FAILED
    m = collect(layout, data, push)
    if not shift(layout, data, push, m, holds, d):
        return FAILED
    strained = loosely and holds and strains(layout, data, push, m, d, data.V[14])
    if not (holds and (strained or not agree(data, push, m, layout, d))):
        return MOVED
    return LET_GO if shift(layout, data, push, m, False, d) else FAILED


@kernel("int64(Model, Data, Push, Span, boolean, float64, float64)", borrows=True)
def project(
    model: Model, data: Data, push: Push, span: Span, places: bool, enough: float, rough: float
) -> int:  # fmt: skip
    """Move q1 onto the joints and gaps that act, rows at the end renewed. Returns what happened.

    enough, rough: violations up to these are left as they are, m; see `left`. What `shift_ahead` has shifted stands.
    places: of trees gaps are there, and first rows of what acts; the others are not asked for.
    """
    layout, d, q, result = model.layout, data.V[2], data.q1, UNMOVED
    before, earlier, oldest = np.inf, np.inf, np.inf
    stale = layout.who != FOREST and push.kept[TAKEN] > 0  # those of the pass before
    went = False
    loosely, holds, taken = held_loosely(layout, data, push), holds_any(layout, push), push.kept[TAKEN]
    while taken < PASSES:
        off = violation(layout, data, push, holds)
        if off <= limit(max(rough, STALE * enough if stale else enough), q):
            return result
        if holds and taken > 2 and off > max(SLOWEST * oldest, limit(ALLOWED, q)):
            holds, taken, push.kept[TAKEN], before, earlier, oldest = False, 0, 0, np.inf, np.inf, np.inf
            if not go_to(model, data, span, places, data.moved):
                return FAULT
            went = True
            continue
        stale = keep_if_near(data, push, off, before)
        oldest, earlier, before = earlier, before, off
        if loosely or not shift_again(layout, data, push, holds, d):
            if places and went and not gaps_at(model, span.t_end, q, data.v1, True, data.end):
                return FAULT
            stale, found = False, shift_by_new_factor(layout, data, push, holds, loosely, d)
            if found == FAILED:
                return FAILED
            holds = holds and found != LET_GO
        note_shift(layout, data, push, taken, d)
        if not (move(model, q, d, 1.0, push.place) and go_to(model, data, span, places, push.place)):
            return FAULT
        result, taken, went = MOVED, taken + 1, True
    return result if violation(layout, data, push, False) <= limit(max(rough, ALLOWED), q) else FAILED
