"""Which constraints act within a step, by the rules of `scheme`."""

from __future__ import annotations

from ...._jit import A1, I1, kernel
from ....arrays import Array, IntArray
from ....linalg.redundant_rows import VOID
from ....mechanics.trees.forest import EQUAL, FACE, LEAN, MEET, PACE, PLANE, RUB, TAUT, WHAT
from ....mechanics.trees.row_kernels import steady_rows
from ..scheme import CLOSE, TOGETHER
from .evaluate import forest_rates, rows_at
from .linear import row_dot, row_dot_abs
from .records import (
    ALL,
    ALONE,
    BILATERAL,
    BILATERAL_CONTACT,
    CAP,
    CONTACT,
    DRY,
    EPS_N,
    EPS_T,
    FIXED,
    FOREST,
    HIGH,
    KEPT,
    LOW,
    MU_S,
    PLUS,
    POSITION,
    UNILATERAL,
    Data,
    Layout,
    Model,
    Rows,
    Span,
)

KEEPS = 2.0  # times how much a speed changes in a step: one that is larger keeps its sign
AT_LIMIT = 1.0 - 1e-9  # of the limit of friction: what is above slid
SURE = 1e-2  # of the way of a gap within the step: what ends deeper below zero closes, however the passes go on


@kernel("boolean(Layout, int64)", borrows=True)
def in_place(layout: Layout, k: int) -> bool:
    """Return whether a constraint restricts the coordinates."""
    return bool(layout.level[k] == POSITION and layout.kind[k] < DRY)


@kernel("boolean(Layout, int64)", borrows=True)
def one_sided(layout: Layout, k: int) -> bool:
    """Return whether a constraint is a gap that may open and close."""
    return bool(in_place(layout, k) and layout.kind[k] != BILATERAL and layout.kind[k] != BILATERAL_CONTACT)


@kernel("boolean(Layout, Rows, int64)", borrows=True)
def bounces(layout: Layout, rows: Rows, k: int) -> bool:
    """Return whether a constraint has restitution."""
    return bool(layout.level[k] == POSITION and (rows.law[k, EPS_N] != 0.0 or rows.law[k, EPS_T] != 0.0))


@kernel(f"void(Layout, Rows, int64, float64, {A1})", borrows=True)
def put_restitution(layout: Layout, begin: Rows, k: int, speed: float, bounce: Array) -> None:
    """Put eps times the approaching rate at the start of the step; nothing where the contact does not approach."""
    first, end = layout.start[k], layout.start[k + 1]
    for i in range(first, end):
        bounce[i] = 0.0
    if layout.kind[k] not in (CONTACT, UNILATERAL) or begin.rate[first] >= -speed:
        return
    bounce[first] = begin.law[k, EPS_N] * begin.rate[first]
    for i in range(first + 1, min(end, first + 3)):
        bounce[i] = begin.law[k, EPS_T] * begin.rate[i]


@kernel(f"int64(Layout, Data, Span, int64, float64, {A1})", borrows=True)
def closed(layout: Layout, data: Data, span: Span, k: int, before: float, speed: Array) -> int:
    """Return 1 if a gap is closed at the start of the step and does not leave, 0 if not, -1 if its start must tell."""
    gap, first = data.mid.gap[k], layout.start[k]
    if before <= span.gap and gap <= span.gap:
        return 1
    if data.last[first] > 0.0 and before <= span.gap + span.dt * row_dot_abs(layout, data.mid.J, first, speed):
        return 1
    return 0 if min(before, gap) > span.gap else -1


@kernel("void(Model, Data)", borrows=True)
def leave_void(model: Model, data: Data) -> None:
    """Let rows of loops act no longer that nothing moves: across the plane of one, say. Their reactions are zero.

    So are those of rods and strings between bodies that stand still to each other. Rows of turns and of lines are of
    unit directions, those of points as long as the largest of them.
    """
    layout, kinds, most = model.layout, model.forest.couplings.kinds, 0.0
    for whole in range(2):
        for k in range(layout.counts[FIXED]):
            what = kinds[k, WHAT]
            if what not in (MEET, FACE, LEAN, PLANE, EQUAL, TAUT):
                continue
            size, i = 0.0, layout.start[k]
            for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
                size = max(size, abs(data.mid.J[i, j]))
            if whole == 0:
                most = max(most, size if what in (MEET, PLANE) else 0.0)
            elif size <= VOID * (most if what in (MEET, PLANE) else 1.0):
                data.acts[k] = 0


@kernel(f"boolean(Model, Data, Span, {I1})", borrows=True, rare=True)
def look_at_start(model: Model, data: Data, span: Span, asked: IntArray) -> bool:
    """Put gaps and rates at the start of the step of the constraints asked for; all rows where that costs no more."""
    if model.layout.who != FOREST:
        return bool(rows_at(model, span.t, data.q, data.v, data.begin))
    forest, rows, some = model.forest, data.begin, False
    for k in range(model.layout.counts[FIXED]):
        some = some or (asked[k] != 0 and forest.couplings.kinds[k, WHAT] <= RUB)
    if some:
        steady_rows(forest, data.q, data.v, model.layout.start, rows.gap, rows.rate)
    forest_rates(model, data.q, data.v, asked, rows)
    return True


@kernel(f"boolean(Model, Data, Span, {A1}, {I1})", borrows=True)
def find_acting(model: Model, data: Data, span: Span, speed: Array, asked: IntArray) -> bool:
    """Put which constraints act from the beginning, and their restitution; `speed` are the largest speeds at hand.

    asked, shape (n,), is work space.
    """
    layout, rest, some = model.layout, (1.0 - span.theta) * span.dt, False
    for k in range(layout.counts[ALL]):
        first, said = layout.start[k], 1
        for i in range(first, layout.start[k + 1]):
            data.bounce[i] = 0.0
        if one_sided(layout, k):
            said = closed(layout, data, span, k, data.mid.gap[k] - rest * data.mid.rate[first], speed)
        data.joined[k], data.acts[k] = 0, said
        asked[k] = int(said < 0 or (said > 0 and bounces(layout, data.mid, k)))
        some = some or asked[k] != 0
    if some and not look_at_start(model, data, span, asked):
        return False
    for k in range(layout.counts[ALL] if some else 0):
        if asked[k] == 0:
            continue
        if data.acts[k] < 0:
            slow = abs(data.begin.rate[layout.start[k]]) <= span.speed
            data.acts[k] = int(data.begin.gap[k] <= span.gap and (data.mid.gap[k] <= span.gap or slow))
        if data.acts[k] and bounces(layout, data.mid, k):
            put_restitution(layout, data.begin, k, span.speed, data.bounce)
    if layout.who == FOREST:
        leave_void(model, data)
    return True


@kernel("float64(Model, int64)", borrows=True)
def pace(model: Model, k: int) -> float:
    """Return the rate of a joint at which the row of a motor is zero; 0 of other rows."""
    if model.layout.who != FOREST or k >= model.layout.counts[FIXED]:
        return 0.0
    what = model.forest.couplings.kinds[k, WHAT]
    return float(model.forest.couplings.numbers[k, 0] if what in (RUB, PACE) else 0.0)


@kernel(f"boolean(Model, Data, Span, {A1})", borrows=True)
def find_sliding(model: Model, data: Data, span: Span, push: Array) -> bool:
    """Put the impulses of dry joints that surely slide, and their sum; return whether there are any.

    Those that slid in the last step, whose friction is no stronger at rest, and whose speed is foreseen, v+ = v1, to
    be larger than what it changes by.
    """
    layout, some = model.layout, False
    for j in range(len(push)):
        push[j] = 0.0
    for k in range(layout.counts[FIXED] if layout.who == FOREST and not span.corrects else 0):
        row, law = layout.start[k], data.mid.law[k]
        j, most = layout.reach[row, ALONE] - 1, span.dt * law[CAP]
        data.slides[k] = 0.0
        if model.forest.couplings.kinds[k, WHAT] != RUB or not data.acts[k] or j < 0 or law[MU_S] > law[CAP]:
            continue
        J, last = data.mid.J[row, j], data.last[row]
        after, change = J * data.v1[j] - pace(model, k), J * (data.v1[j] - data.v[j])
        slid = abs(last) >= AT_LIMIT * most and last * after < 0.0
        if slid and abs(after) > KEEPS * abs(change):
            data.slides[k] = data.p[row] = most if last > 0.0 else -most
            push[j] += J * data.slides[k]
            some = True
    return some


@kernel(f"boolean(Model, Data, {A1})", borrows=True)
def slides_on(model: Model, data: Data, v: Array) -> bool:
    """Return whether all dry joints that shall slide do so with v, against their friction."""
    layout = model.layout
    for k in range(layout.counts[FIXED]):
        if data.slides[k] != 0.0:
            row = layout.start[k]
            j = layout.reach[row, ALONE] - 1
            if not data.slides[k] * (data.mid.J[row, j] * v[j] - pace(model, k)) < 0.0:
                return False
    return True


@kernel("boolean(Layout, Data)", borrows=True)
def let_stick(layout: Layout, data: Data) -> bool:
    """Have all dry joints in the contact problem; return whether some were not."""
    some = False
    for k in range(layout.counts[FIXED]):
        some, data.slides[k] = some or data.slides[k] != 0.0, 0.0
    return some


@kernel("boolean(Layout, Rows, int64, int64)", borrows=True)
def share_bodies(layout: Layout, rows: Rows, k: int, other: int) -> bool:
    """Return whether the normals of two constraints move the same coordinates."""
    some, i, j = False, layout.start[k], layout.start[other]
    for c in range(max(layout.reach[i, LOW], layout.reach[j, LOW]), min(layout.reach[i, HIGH], layout.reach[j, HIGH])):
        some = some or (rows.J[i, c] != 0.0 and rows.J[j, c] != 0.0)
    return some


@kernel(f"int64(Layout, Data, float64, {I1}, {A1})", borrows=True)
def find_late(layout: Layout, data: Data, rest: float, late: IntArray, when: Array) -> int:
    """Put the constraints that do not act and end below zero, of each body those that close first; return how many."""
    n, found = layout.counts[ALL], 0
    for k in range(n):
        late[k], when[k] = 0, -1.0
        if data.end.gap[k] < -CLOSE and not data.acts[k] and data.joined[k] >= 0 and one_sided(layout, k):
            before = max(data.mid.gap[k] - rest * data.mid.rate[layout.start[k]], 0.0)
            when[k] = before / (before - data.end.gap[k])
    while True:
        next_ = -1
        for k in range(n):
            if when[k] >= 0.0 and (next_ < 0 or when[k] < when[next_]):
                next_ = k
        if next_ < 0:
            return found
        s, behind = when[next_], False
        for k in range(n):
            behind = behind or (
                late[k] != 0 and s > -2.0 - when[k] + TOGETHER and share_bodies(layout, data.end, k, next_)
            )
        if not behind:
            late[next_] = 1
            found += 1
        when[next_] = -2.0 - s  # done; what it was can still be told


@kernel(f"boolean(Model, Data, Span, {I1})", borrows=True)
def join(model: Model, data: Data, span: Span, late: IntArray) -> bool:
    """Let the constraints that close late act, with their restitution terms."""
    layout, returns = model.layout, False
    for k in range(layout.counts[ALL]):
        returns = returns or (late[k] != 0 and bounces(layout, data.mid, k))
    if returns and not look_at_start(model, data, span, late):
        return False
    for k in range(layout.counts[ALL]):
        if late[k]:
            data.acts[k] = data.joined[k] = 1
            if bounces(layout, data.mid, k):
                put_restitution(layout, data.begin, k, span.speed, data.bounce)
            for i in range(layout.start[k], layout.start[k + 1]):  # until the end is looked at with them
                data.w[i] = data.log[KEPT] * data.bounce[i]
    return True


@kernel("boolean(Layout, Data)", borrows=True)
def leave_idle(layout: Layout, data: Data) -> bool:
    """Let the constraints that joined and do not push act no longer; return whether there were any."""
    some = False
    for k in range(layout.counts[ALL]):
        if data.joined[k] <= 0 or not data.acts[k]:
            continue
        pushes = False
        for i in range(layout.start[k], layout.start[k + 1]):
            pushes = pushes or data.p[i] != 0.0
        if not pushes:
            data.acts[k], some = 0, True
    return some


@kernel(f"boolean(Layout, Data, int64, {A1}, float64)", borrows=True)
def stopped(layout: Layout, data: Data, row: int, tol: Array, size: float) -> bool:
    """Return whether the law of a contact leaves it no speed: u_N is what rounding leaves of `tol`, shape (nv,).

    Or what the residual of the problem leaves where the contact pushes, r_N > rho u_N, rho by its longest row, `size`.
    """
    u = row_dot(layout, data.seen.J, row, data.V[PLUS]) + data.w[row]
    pushes = data.p[row] > 0.0 and size * size * data.p[row] > u
    return bool(pushes or u <= row_dot_abs(layout, data.seen.J, row, tol))


@kernel("boolean(Layout, Data, float64)", borrows=True)
def surely_late(layout: Layout, data: Data, rest: float) -> bool:
    """Return whether a constraint that does not act ends so far below zero that the step must be solved with it."""
    late = False
    for k in range(layout.counts[ALL]):
        end = data.end.gap[k]
        if not data.acts[k] and end < -CLOSE and one_sided(layout, k):
            way = max(data.mid.gap[k] - rest * data.mid.rate[layout.start[k]], 0.0) - end
            late = late or -end > SURE * way
    return late
