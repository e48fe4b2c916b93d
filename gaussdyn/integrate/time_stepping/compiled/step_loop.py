"""Many steps of the theta scheme for free bodies in one call: search, solve, project, and on to the next."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, I2, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....linalg.block_lu import Ordering
from ..core.records import AT, CHANGED, CONE, E_, GAINED, GAP, GOAL, KEPT, PASSES
from ..kept import Kept
from ..scheme import SEARCHES
from .body_kinematics import group_pairs
from .contact_modes import OPEN, note_modes
from .contact_search import Search, join_overlaps, search
from .crowd import crowded_step, forget_ahead, may_crowd
from .impact_dissipation import GAIN, begin_again, find_impact, note_acting, work_gain
from .keep_bodies import keep_again, keep_contacts, keep_works
from .records import (
    ANSWERED,
    CLOSES,
    FACTORS,
    FEATURES,
    IMPACT,
    LISTED,
    MIDDLE,
    MODE,
    NOW,
    OF,
    OTHERS,
    PAIRS,
    PATH,
    RETAKEN,
    SERVES,
    SHARE,
    SLOW,
    STAGE,
    STANDS,
    TAKEN,
    WHICH,
    Aside,
    Bodies,
    BodySpan,
    BodyState,
    Features,
    Index,
    Loads,
    Memory,
    Poses,
    Rules,
)
from .step import DONE, GAINS, GRAPH, HARD, ROOM, UNLISTED, begin_step, end_step, looped, solve_step

MOST = 60.0  # factorisations of an island of a pile, before the step is cut
START, BEGUN, AGAIN, SOLVED = range(4)  # stages at which a step can be taken up again


@kernel(f"boolean(int64, int64, {I2}, Memory, {I2}, {A2}, {A2})", borrows=True)
def carry_over(
    n: int, old: int, label: IntArray, memory: Memory, numbers: IntArray, impulse: Array, work: Array
) -> bool:
    """Give the n features found the impulses and modes of those with the same labels, and their laws.

    Both lists are sorted. Returns whether the features are others than before.
    """
    mark, _pairs, table, law, kind = memory
    for f in range(old):
        numbers[MODE, f] = numbers[NOW, f]
        for k in range(3):
            work[f, k] = impulse[f, k]
    j, changed = 0, n != old
    for f in range(n):
        m = j
        while m < old and not (
            mark[m, 0] == label[f, 0]
            and mark[m, 1] == label[f, 1]
            and mark[m, 2] == label[f, 2]
            and mark[m, 3] == label[f, 3]
        ):
            m += 1
        changed = changed or m != f
        numbers[NOW, f] = numbers[MODE, m] if m < old else OPEN
        for k in range(3):
            impulse[f, k] = work[m, k] if m < old else 0.0
            law[f, k] = table[kind[label[f, 0]], kind[label[f, 2]], k]
        j = m + 1 if m < old else j
    for f in range(n):
        for k in range(4):
            mark[f, k] = label[f, k]
    return changed


@kernel(f"void(Bodies, Loads, {A2}, float64)", borrows=True)
def apply_loads(bodies: Bodies, loads: Loads, force: Array, t: float) -> None:
    """Put the applied forces at time t."""
    constant, shaking = loads.constant, loads.shaking
    for i in range(len(force)):
        for k in range(6):
            force[i, k] = constant[i, k]
    for s in range(len(shaking)):
        a = np.sin(shaking[s, 3] * t + shaking[s, 4])
        for i in range(len(force)):
            for k in range(3):
                force[i, k] -= bodies.mass[i] * a * shaking[s, k]


@kernel(f"boolean({A2})", borrows=True)
def at_rest(v: Array) -> bool:
    """Return whether nothing moves."""
    rests = True
    for i in range(len(v)):
        for k in range(6):
            rests = rests and v[i, k] == 0.0
    return rests


@kernel(f"boolean(int64, {I2}, {I2})", borrows=True)
def same_pairs(n: int, found: IntArray, known: IntArray) -> bool:
    """Return whether the first n rows of `found` are the pairs known."""
    same = n == len(known)
    for k in range(min(n, len(known))):
        same = same and found[k, 0] == known[k, 0] and found[k, 1] == known[k, 1]
    return same


@kernel(
    "int64(BodySpan, Rules, Bodies, Loads, Search, Memory, BodyState, Poses, Index, Aside, BodyProblem, Iterate, "
    f"{I1})",
    inline=True,
    borrows=True,
)
def find_contacts(
    span: BodySpan, rules: Rules, bodies: Bodies, loads: Loads, find: Search, memory: Memory, state: BodyState,
    poses: Poses, index: Index, aside: Aside, problem: BodyProblem, iterate: Iterate, count: IntArray,
) -> int:  # fmt: skip
    """Find the contacts of the next step and put everything at its middle; return DONE, or ROOM or GRAPH.

    Where nothing has moved since the last step the contacts known still stand, and where the step is taken again those
    listed.
    """
    lists, n, still = find.found, count[FEATURES], int(rules.trusts and span.laws[STANDS] == span.dt)
    if not still:
        count[SERVES] = 0
        n = count[LISTED] if count[LISTED] > 0 else search(find, loads, state, poses, span.dt, rules.gravity)
        if n > len(lists[0]):
            count[PAIRS] = n
            return ROOM
        if carry_over(n, count[FEATURES], lists[2], memory, index.marks, state.impulse, iterate.best):
            count[OTHERS] = 1
        count[FEATURES] = n
        count[PAIRS] = group_pairs(lists[1], n, memory.pairs, index.marks[OF])
        if not same_pairs(count[PAIRS], memory.pairs, problem.contacts.pair):
            return GRAPH
        for f in range(n):
            aside.marks[OF, f] = index.marks[OF, f]
    apply_loads(bodies, loads, state.force, span.t + (1.0 - span.theta) * span.dt)
    features = Features(lists[0], lists[1], lists[3], lists[2], memory.law)
    if not begin_step(n, bodies, features, state, poses, index, problem, iterate, span, still):
        count[SERVES] = 0
    return DONE


@kernel(f"boolean(Index, BodyProblem, {A2}, {A2})", borrows=True)
def moved_from(index: Index, problem: BodyProblem, impulse: Array, p: Array) -> bool:
    """Return whether the impulses p are others than those of the last step."""
    found = False
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        found = found or p[c, 0] != impulse[f, 0] or p[c, 1] != impulse[f, 1] or p[c, 2] != impulse[f, 2]
    return found


@kernel(
    "int64(Bodies, Features, Loads, BodyState, Poses, Index, Aside, BodyProblem, BodyProblem, Ordering, "
    f"BodyWork, BodyWork, Iterate, BodySpan, float64, {I1}, {A1})",
    inline=True,
    borrows=True,
)
def solve_and_judge(
    bodies: Bodies, features: Features, loads: Loads, state: BodyState, poses: Poses, index: Index, aside: Aside,
    problem: BodyProblem, beside: BodyProblem, ordering: Ordering, work: BodyWork, bench: BodyWork, iterate: Iterate,
    span: BodySpan, tol: float, count: IntArray, log: Array,
) -> int:  # fmt: skip
    """Solve the step, and look whether an impact in it gains energy; log is its row. Returns DONE, or why not."""
    n, count[CLOSES], keeps, which, code, E, goal = count[FEATURES], 0, 0.0, -1.0, float(HARD), 0.0, tol
    fresh = span.project and span.laws[MIDDLE] == 0.0 and count[ANSWERED] == 0
    if fresh and may_crowd(n, index, problem, poses.moved):
        E, goal, factors, passes, slow, code, which = crowded_step(
            n, bodies, features, state, poses, index, aside, problem, beside, ordering, work, bench, iterate, span,
            tol, 0,
        )  # fmt: skip
        count[SERVES] *= factors == 0.0
        log[FACTORS] += 0.0 if code == DONE else factors
    tried = code == HARD and not goal >= E
    if tried and span.most < np.inf:
        return HARD
    if code != DONE:
        E, goal, factors, passes, slow, code, keeps = solve_step(
            n, bodies, features, state, poses, index, aside, problem, beside, ordering, work, bench, iterate, span,
            tol, count[ANSWERED], count[SERVES] > 0 and count[ANSWERED] == 0,
        )  # fmt: skip
        which = -1.0
    if fresh and code != DONE and not tried and looped(problem, iterate.p, poses.moved):
        log[FACTORS], log[PASSES], failed = log[FACTORS] + factors, log[PASSES] + passes, code
        begin_again(n, bodies, features, state, poses, index, aside, problem, iterate, span, 0)
        E, goal, factors, passes, slow, code, which = crowded_step(
            n, bodies, features, state, poses, index, aside, problem, beside, ordering, work, bench, iterate, span,
            tol, 1,
        )  # fmt: skip
        code = DONE if code == DONE else failed
    count[CLOSES] = int(which) + 1 if code == DONE else 0
    log[E_], log[GOAL] = E, goal
    log[FACTORS] += factors
    log[PASSES] += passes
    log[SLOW] += slow
    if code != DONE:
        return int(code)
    count[STAGE], count[SERVES] = SOLVED, int(keeps > 0.0 and span.laws[MIDDLE] == 0.0)
    if moved_from(index, problem, state.impulse, iterate.p):
        log[PATH] = max(log[PATH], 1.0)
    if span.laws[MIDDLE] == 0.0:
        count[IMPACT] = find_impact(index, problem, state.impulse, iterate.p)
    if count[IMPACT] >= 0:
        log[GAINED] = work_gain(bodies, loads.weight, state, poses, problem, iterate, span)
        if span.laws[MIDDLE] == 1.0:
            note_acting(n, index, aside)
        if log[GAINED] > GAIN or span.laws[MIDDLE] > 0.0:
            if count[CLOSES] > 0:
                forget_ahead(n, features, state, poses, index, span)
                count[CLOSES] = 0
            return GAINS
    return DONE


@kernel(
    f"boolean(BodyState, Poses, Index, BodyProblem, BodyWork, Iterate, BodySpan, {I1}, {A1}, {A1}, {A1})",
    inline=True,
    borrows=True,
)
def leave_step(
    state: BodyState, poses: Poses, index: Index, problem: BodyProblem, work: BodyWork, iterate: Iterate,
    span: BodySpan, count: IntArray, log: Array, place: Array, speed: Array,
) -> bool:  # fmt: skip
    """Put the state at the end of the step, and its rows of the log; return whether nothing moved or moves."""
    n = count[FEATURES]
    for f in range(n):
        log[GAP] = min(log[GAP], poses.geometry[2, f, 0])
    cone, changed = note_modes(n, index, problem, iterate, state.guess, work)
    log[CONE], log[CHANGED], log[KEPT] = cone, changed + count[OTHERS] + span.laws[MIDDLE], span.laws[SHARE]
    log[AT] = count[IMPACT] + 1 if span.laws[MIDDLE] > 0.0 else -count[CLOSES]
    was = at_rest(state.v)
    stays = end_step(n, state, poses, index, problem, iterate.p)
    for i in range(len(state.q)):
        for k in range(7):
            place[7 * i + k] = state.q[i, k]
        for k in range(6):
            speed[6 * i + k] = state.v[i, k]
    return was and stays


@kernel(f"boolean(Rules, Loads, BodySpan, boolean, {A1})", borrows=True)
def repeats(rules: Rules, loads: Loads, span: BodySpan, stays: bool, log: Array) -> bool:
    """Return whether a step after another one at rest changed nothing, impulses and modes too: the next will be it."""
    still = stays and rules.trusts and span.laws[STANDS] == span.dt and len(loads.shaking) == 0
    return bool(still and log[FACTORS] == 0.0 and log[PATH] == 0.0 and log[CHANGED] == 0.0)


@kernel(f"void(int64, {A1}, {I1})", borrows=True)
def take_again_listing(n: int, laws: Array, count: IntArray) -> None:
    """Let the step at hand be taken again with the n contacts that are listed now, under the laws at its end."""
    count[STAGE], count[ANSWERED], count[LISTED] = START, 0, n
    count[RETAKEN] += 1
    laws[STANDS] = laws[MIDDLE] = 0.0
    laws[SHARE] = 1.0


@kernel(
    f"int64({A2}, Rules, {A1}, Bodies, Loads, Search, Memory, BodyState, Poses, Index, Aside, BodyProblem, "
    f"BodyProblem, Ordering, BodyWork, BodyWork, Iterate, {I1}, {A1}, {A1}, Kept)",
    borrows=True,
    entry=True,
)
def advance_bodies(
    spans: Array, rules: Rules, laws: Array, bodies: Bodies, loads: Loads, find: Search, memory: Memory,
    state: BodyState, poses: Poses, index: Index, aside: Aside, problem: BodyProblem, beside: BodyProblem,
    ordering: Ordering, work: BodyWork, bench: BodyWork, iterate: Iterate, count: IntArray, q0: Array, v0: Array,
    kept: Kept,
) -> int:  # fmt: skip
    """Take the steps spans[TAKEN:], rows (t, dt, t_end); return DONE, or why the caller has to help.

    laws: see `BodySpan`; an array made here would have all others counted wherever they are touched. A step under other
    laws than at its end ends with GAINS, and what an impact in it gains.
    count: steps TAKEN, STAGE, FEATURES and PAIRS found, whether the impulses at hand are an answer (ANSWERED) and the
    features others than at the end of the last step (OTHERS), the feature of the largest IMPACT, whether the factors of
    the last step serve if nothing has moved (SERVES), the feature that CLOSES in a crowd (+ 1), how many are LISTED if
    the step is taken again with others that were overlooked, and how often it was RETAKEN.
    q0, v0: before the first step. Rows of `kept.log`, zero before their steps, tell besides what those of dense steps
    do FACTORS, the proximal solves (SLOW), and how the step was solved (PATH, see `free_bodies.PATHS`); AT is negative
    where the contact closes in a crowd.
    """
    lists = find.found
    features = Features(lists[0], lists[1], lists[3], lists[2], memory.law)
    while count[TAKEN] < len(spans):
        s = count[TAKEN]
        most = MOST if spans[s, 1] > rules.shortest else np.inf
        span = BodySpan(
            spans[s, 0], spans[s, 1], spans[s, 2], rules.theta, rules.gap, rules.speed, rules.project, laws, most
        )  # fmt: skip
        if count[STAGE] == START:
            code = find_contacts(
                span, rules, bodies, loads, find, memory, state, poses, index, aside, problem, iterate, count
            )
            if code != DONE:
                return code
            count[STAGE] = BEGUN
        if count[STAGE] == AGAIN:
            known, count[SERVES] = int(laws[MIDDLE] > 1.0), 0
            begin_again(count[FEATURES], bodies, features, state, poses, index, aside, problem, iterate, span, known)
            count[STAGE] = BEGUN
        if count[STAGE] == BEGUN:
            code = solve_and_judge(
                bodies, features, loads, state, poses, index, aside, problem, beside, ordering, work, bench, iterate,
                span, rules.tol, count, kept.log[s],
            )  # fmt: skip
            if code != DONE:
                return code
        n = join_overlaps(find, loads, state, poses, count[FEATURES])
        if n > count[FEATURES]:
            if n > len(lists[0]) or count[RETAKEN] == SEARCHES:
                return UNLISTED
            take_again_listing(n, laws, count)
            continue
        q1, v1 = kept.q[s], kept.v[s]
        stays = leave_step(state, poses, index, problem, work, iterate, span, count, kept.log[s], q1, v1)
        n, start = count[FEATURES], (q0, v0) if s == 0 else (kept.q[s - 1], kept.v[s - 1])
        keep_works(bodies, loads, span, start[0], start[1], q1, v1, kept.log[s])
        keep_contacts(n, memory.law, index, aside, problem, iterate, poses, state, kept, s)
        for f in range(n):
            for k in range(4):
                kept.label[s, 4 * f + k] = memory.mark[f, k]
        same = repeats(rules, loads, span, stays, kept.log[s])
        laws[STANDS] = span.dt if stays else 0.0
        count[TAKEN], count[STAGE] = s + 1, START
        while same and count[TAKEN] < len(spans) and spans[count[TAKEN], 1] == span.dt:
            keep_again(kept, count[TAKEN])
            count[TAKEN] += 1
        count[ANSWERED] = count[OTHERS] = count[LISTED] = count[RETAKEN] = 0
        laws[MIDDLE], laws[SHARE] = 0.0, 1.0
    return DONE
