"""Many steps of the theta scheme for free bodies in one call: search, solve, project, and on to the next.

`advance_bodies` is the main loop. Each step is taken by `take_step`, which finds its contacts (`find_contacts`), solves
it (`solve_whole`) and looks whether an impact gains energy (`judge_impact`); then it is made sure that no contact was
overlooked, and `leave_step` writes down what happened and puts the state at its end.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I2, kernel
from ....arrays import Array, IntArray
from ....programs.solution.residual_kernels import OPEN
from ...impact.restitution_scaling import GAIN
from ..core.records import AT, CHANGED, CONE, E_, GAINED, GAP, GOAL, KEPT, PASSES
from ..kept import Kept
from ..scheme import CLAIMED, SEARCHES
from .body_kinematics import group_pairs, turn_spins
from .contact_modes import beyond_cones, note_modes
from .contact_search import Search, join_overlaps, search
from .crowd import crowded_step, forget_ahead, may_crowd
from .impact_dissipation import begin_again, find_impact, note_acting, work_gain
from .keep_bodies import keep_again, keep_contacts, keep_state, keep_try, keep_works
from .records import (
    ANSWERED,
    BEYOND,
    CHECKED,
    CLAIMS,
    CLOSES,
    DONE,
    FACTORS,
    FEATURES,
    GAINS,
    GRAPH,
    HARD,
    IMPACT,
    LISTED,
    MIDDLE,
    MODE,
    NOW,
    OF,
    OTHERS,
    PAIRS,
    PATH,
    PLACE,
    PROXIMAL,
    REST_CONE,
    REST_DT,
    REST_E,
    REST_GAP,
    REST_GOAL,
    RESTS,
    RETAKEN,
    ROOM,
    SEEN,
    SERVES,
    SHARE,
    STAGE,
    STANDS,
    TAKEN,
    UNLISTED,
    WAKES,
    WHICH,
    Bodies,
    BodyAnswer,
    BodySolver,
    BodySpan,
    BodyStep,
    Loads,
    Projection,
    Rules,
)
from .resting import ALL_REST, find_resting
from .step import begin_step, end_step, looped, solve_step

MOST = 60.0  # factorisations of an island of a pile, before the step is cut
START, BEGUN, AGAIN, SOLVED = range(4)  # stages at which a step can be taken up again


@kernel(f"boolean({I2}, int64, {I2}, int64)", borrows=True)
def same_label(mark: IntArray, m: int, label: IntArray, f: int) -> bool:
    """Return whether two contacts of two lists are the same."""
    same = True
    for k in range(4):
        same = same and mark[m, k] == label[f, k]
    return bool(same)


@kernel(f"int64({I2}, int64, int64, {I2}, int64)", borrows=True)
def place_of_label(known: IntArray, begin: int, end: int, label: IntArray, f: int) -> int:
    """Return where between two places among those known the label of feature f is, the end if it is not there."""
    m = begin
    while m < end and not same_label(known, m, label, f):
        m += 1
    return m


@kernel(f"boolean(BodyStep, int64, {A2})", borrows=True)
def carry_over(step: BodyStep, n: int, work: Array) -> bool:
    """Give the n features found the impulses and modes of those with the same labels, and their laws.

    Both lists are sorted. Returns whether the features are others than before.
    """
    mark, _pairs, table, law, kind = step.memory
    old, label, numbers, impulse = step.counts[FEATURES], step.features.label, step.acting.marks, step.state.impulse
    for f in range(old):
        numbers[MODE, f] = numbers[NOW, f]
        for k in range(3):
            work[f, k] = impulse[f, k]
    j, changed = 0, n != old
    for f in range(n):
        m = place_of_label(mark, j, old, label, f)
        changed = changed or m != f
        numbers[NOW, f] = numbers[MODE, m] if m < old else OPEN
        for k in range(3):
            impulse[f, k] = work[m, k] if m < old else 0.0
            law[f, k] = table[kind[label[f, 0]], kind[label[f, 2]], k]
        j = m + 1 if m < old else j
    for f in range(n):
        for k in range(4):
            mark[f, k] = label[f, k]
    return bool(changed)


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


@kernel("boolean(BodyStep)", inline=True, borrows=True)
def left_out(step: BodyStep) -> bool:
    """Return whether bodies are left out."""
    return len(step.state.v) < len(step.left.rests)


@kernel("boolean(Rules, BodyStep, BodySpan)", borrows=True)
def must_wake(rules: Rules, step: BodyStep, span: BodySpan) -> bool:
    """Return whether what is left out has to be looked at again: it is for other steps."""
    return bool(not rules.trusts or step.left.figures[REST_DT] != span.dt)


@kernel("boolean(BodyStep, int64)", borrows=True)
def meets_left(step: BodyStep, n: int) -> bool:
    """Return whether any of n features found is with a body that is left out."""
    bodies, awake, some = step.features.bodies, len(step.state.v), False
    for f in range(n):
        some = some or bodies[f, 0] >= awake or bodies[f, 1] >= awake
    return some


@kernel("int64(BodyStep, BodySolver, BodySpan)", borrows=True)
def look_for_rest(step: BodyStep, solver: BodySolver, span: BodySpan) -> int:
    """Return RESTS if some bodies may be left out, WAKES if the others rest, too, else DONE; once in a step."""
    if step.counts[CHECKED] != 0:
        return DONE
    step.counts[CHECKED] = 1
    found = find_resting(step, solver, span)
    if found == ALL_REST and left_out(step):
        return WAKES
    return RESTS if found == RESTS else DONE


@kernel("int64(BodyStep, BodySolver, Projection, BodySpan, int64)", borrows=True)
def enter_contacts(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, n: int) -> int:
    """Give the n features found all that is known of them, by pairs; return DONE, or what is to be done before."""
    count, pairs, of = step.counts, step.memory.pairs, step.acting.marks[OF]
    if n + len(step.left.key) > len(step.features.kind):
        count[PAIRS] = n + len(step.left.key)
        return ROOM
    if left_out(step) and meets_left(step, n):
        count[LISTED] = n
        return WAKES
    if carry_over(step, n, solver.iterate.best):
        count[OTHERS] = 1
    count[FEATURES] = n
    count[PAIRS] = group_pairs(step.features.bodies, n, pairs, of, step.touched)
    said = look_for_rest(step, solver, span)
    if said == DONE and not same_pairs(count[PAIRS], pairs, solver.problem.contacts.pair):
        said = GRAPH
    if said != DONE:
        count[LISTED] = n
        return said
    for f in range(n):
        projection.aside.marks[OF, f] = of[f]
    return DONE


@kernel("int64(Rules, Search, BodyStep, BodySolver, Projection, BodySpan)", borrows=True)
def find_contacts(
    rules: Rules, find: Search, step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan
) -> int:  # fmt: skip
    """Find the contacts of the next step and put everything at its middle; return DONE, or what is to be done before.

    Where nothing has moved since the last step the contacts known still stand, and where the step is taken again, or
    its graph has been analysed, those listed. Bodies that rest apart are left out (RESTS) until something comes near
    them, or the others rest, too (WAKES).
    """
    count = step.counts
    still = rules.trusts and step.laws[STANDS] == span.dt and not left_out(step)
    if left_out(step) and count[CHECKED] == 0 and must_wake(rules, step, span):
        return WAKES
    apply_loads(step.bodies, step.loads, step.state.force, span.t + (1.0 - span.theta) * span.dt)
    if not still:
        count[SERVES] = 0
        n = count[LISTED] if count[LISTED] > 0 else search(find, step, span.dt, rules.gravity)
        said = enter_contacts(step, solver, projection, span, n)
        if said != DONE:
            return said
    if not begin_step(step, solver, span, still):
        count[SERVES] = 0
    return DONE


@kernel("boolean(BodyStep, BodySolver)", borrows=True)
def moved_from(step: BodyStep, solver: BodySolver) -> bool:
    """Return whether the impulses are others than those of the last step."""
    which, impulse, p, found = step.acting.marks[WHICH], step.state.impulse, solver.iterate.p, False
    for c in range(solver.problem.contacts.first[-1]):
        f = which[c]
        found = found or p[c, 0] != impulse[f, 0] or p[c, 1] != impulse[f, 1] or p[c, 2] != impulse[f, 2]
    return found


@kernel(f"BodyAnswer(BodyStep, BodySolver, Projection, BodySpan, {A1})", borrows=True)
def solve_whole(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, log: Array
) -> BodyAnswer:  # fmt: skip
    """Solve the step: that of a pile in one piece, others in passes, and in one piece if these fail on loops of bodies.

    Work that came to nothing is added to the row `log`.
    """
    count, tried = step.counts, False
    given = count[ANSWERED] > 0
    fresh = span.project and step.laws[MIDDLE] == 0.0 and not given
    if fresh and may_crowd(step, solver.problem):
        answer = crowded_step(step, solver, projection, span, False)
        count[SERVES] *= answer.factors == 0
        tried = answer.code == HARD and not answer.goal >= answer.E
        if answer.code == DONE or (tried and span.most < np.inf):
            return answer
        log[FACTORS] += answer.factors
    answer = solve_step(step, solver, projection, span, given, count[SERVES] > 0 and not given)
    if answer.code == DONE or not fresh or tried or not looped(solver.problem, solver.iterate.p, step.touched):
        return answer
    log[FACTORS] += answer.factors
    log[PASSES] += answer.passes
    begin_again(step, solver, projection, span, 0)
    E, goal, factors, passes, slow, code, closes, keeps = crowded_step(step, solver, projection, span, True)
    code = code if code == DONE else answer.code
    return BodyAnswer(E, goal, factors, passes, slow, code, closes, keeps)


@kernel(f"int64(BodyStep, BodySolver, Projection, BodySpan, {A1})", borrows=True)
def judge_impact(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, log: Array) -> int:
    """Look whether an impact in the step gains energy; return DONE, or GAINS, also where laws hold at its middle."""
    count, middle = step.counts, step.laws[MIDDLE]
    if middle == 0.0:
        count[IMPACT] = find_impact(step, solver)
    if count[IMPACT] < 0:
        return DONE
    log[GAINED] = work_gain(step, solver, span)
    if middle == 1.0:
        note_acting(step, projection)
    if log[GAINED] > GAIN or middle > 0.0:
        if count[CLOSES] > 0:
            forget_ahead(step, span)
            count[CLOSES] = 0
        return GAINS
    return DONE


@kernel("boolean(BodyStep)", borrows=True)
def ends_somewhere(step: BodyStep) -> bool:
    """Return whether the end of the step is a state, of numbers that have squares."""
    q1, v1, total = step.state.q1, step.state.guess, 0.0
    for i in range(len(v1)):
        for k in range(6):
            total += v1[i, k] * v1[i, k]
        for k in range(7):
            total += q1[i, k] * q1[i, k]
    return bool(np.isfinite(total))


@kernel(f"int64(BodyStep, BodySolver, Projection, BodySpan, {A1})", borrows=True)
def solve_and_judge(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, log: Array) -> int:
    """Solve the step, and look whether an impact in it gains energy; log is its row. Returns DONE, or why not."""
    count, middle = step.counts, step.laws[MIDDLE]
    answer = solve_whole(step, solver, projection, span, log)
    count[CLOSES] = answer.closes + 1 if answer.code == DONE else 0
    log[E_], log[GOAL] = answer.E, answer.goal
    log[FACTORS] += answer.factors
    log[PASSES] += answer.passes
    log[PROXIMAL] += answer.slow
    if answer.code != DONE:
        return int(answer.code)
    if not ends_somewhere(step):
        return BEYOND
    count[STAGE], count[SERVES] = SOLVED, answer.keeps and middle == 0.0
    if moved_from(step, solver):
        log[PATH] = max(log[PATH], 1.0)
    return int(judge_impact(step, solver, projection, span, log))


@kernel(f"int64(Rules, Search, BodyStep, BodySolver, Projection, BodySpan, {A1})", borrows=True)
def take_step(
    rules: Rules, find: Search, step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, log: Array
) -> int:
    """Take the step at hand, from the stage that it has come to; return DONE, or why the caller has to help."""
    count = step.counts
    if count[STAGE] == START:
        code = find_contacts(rules, find, step, solver, projection, span)
        if code != DONE:
            return int(code)
        count[STAGE] = BEGUN
    if count[STAGE] == AGAIN:
        count[SERVES] = 0
        begin_again(step, solver, projection, span, int(step.laws[MIDDLE] > 1.0))
        count[STAGE] = BEGUN
    return int(solve_and_judge(step, solver, projection, span, log)) if count[STAGE] == BEGUN else DONE


@kernel(f"boolean(BodyStep, BodySolver, Projection, BodySpan, Kept, int64, {I2})", borrows=True)
def leave_step(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, kept: Kept, s: int, table: IntArray
) -> bool:  # fmt: skip
    """Put the state at the end of the step, and what it leaves in row s; return whether nothing moved or moves.

    What is left out leaves there what it did in the step before. table: of shapes, as in `search.ShapeArrays`.
    """
    count, state, gap, log, left = step.counts, step.state, step.poses.geometry[2], kept.log[s], step.left.figures
    for f in range(count[FEATURES]):
        log[GAP] = min(log[GAP], gap[f, 0])
    changed = note_modes(step, solver)
    log[CONE], log[KEPT] = beyond_cones(solver), step.laws[SHARE]
    log[CHANGED] = changed + count[OTHERS] + step.laws[MIDDLE]
    if left_out(step):
        log[E_], log[GOAL] = max(log[E_], left[REST_E]), max(log[GOAL], left[REST_GOAL])
        log[GAP], log[CONE] = min(log[GAP], left[REST_GAP]), max(log[CONE], left[REST_CONE])
    turn_spins(step.poses.R[1], state.guess, 1.0, state.v1)
    keep_works(step, span, log)
    was = at_rest(state.v)
    stays = end_step(step, solver)
    keep_state(step, kept, s)
    keep_contacts(step, solver, projection, kept, s, table)
    place = step.acting.marks[PLACE]
    if step.laws[MIDDLE] > 0.0:
        log[AT] = place[count[IMPACT]] + 1
    elif count[CLOSES] > 0:
        log[AT] = -1 - place[count[CLOSES] - 1]
    return was and stays


@kernel(f"boolean(Rules, BodyStep, BodySpan, boolean, {A1})", borrows=True)
def repeats(rules: Rules, step: BodyStep, span: BodySpan, stays: bool, log: Array) -> bool:
    """Return whether a step after another one at rest changed nothing, impulses and modes too: the next will be it."""
    still = stays and rules.trusts and step.laws[STANDS] == span.dt and len(step.loads.shaking) == 0
    return bool(still and log[FACTORS] == 0.0 and log[PATH] == 0.0 and log[CHANGED] == 0.0)


@kernel("void(BodyStep, int64)", borrows=True)
def take_again_listing(step: BodyStep, n: int) -> None:
    """Let the step at hand be taken again under the laws at its end, with the n contacts that are listed now.

    With n = 0 from its beginning: they are looked for anew.
    """
    count, laws = step.counts, step.laws
    count[STAGE], count[ANSWERED], count[LISTED] = START, 0, n
    count[RETAKEN] += 1
    laws[STANDS] = laws[MIDDLE] = laws[SEEN] = 0.0
    laws[SHARE] = 1.0


@kernel("void(BodyStep)", borrows=True)
def go_on(step: BodyStep) -> None:
    """Let the next step begin, under the laws at its end."""
    count, laws = step.counts, step.laws
    count[TAKEN] += 1
    count[STAGE] = START
    count[ANSWERED] = count[OTHERS] = count[LISTED] = count[RETAKEN] = count[CHECKED] = count[CLAIMS] = 0
    laws[MIDDLE], laws[SHARE] = 0.0, 1.0


@kernel(
    f"int64({A2}, Rules, Search, BodyStep, BodySolver, Projection, Kept)",
    borrows=True,
    entry=True,
)
def advance_bodies(
    spans: Array, rules: Rules, find: Search, step: BodyStep, solver: BodySolver, projection: Projection, kept: Kept
) -> int:
    """Take the steps spans[TAKEN:], rows (t, dt, t_end); return DONE, or why the caller has to help.

    A step under other laws than at its end ends with GAINS, and what an impact in it gains.
    Rows of `kept.log`, zero before their steps, tell besides what those of dense steps do FACTORS, the PROXIMAL
    solves, and how the step was solved (PATH, see `free_bodies.PATHS`); AT is negative where the contact closes in a
    crowd.
    """
    count, laws = step.counts, step.laws
    while count[TAKEN] < len(spans):
        s = count[TAKEN]
        most, tol = MOST if spans[s, 1] > rules.short else np.inf, rules.tol
        if count[CLAIMS]:
            tol = max(tol, CLAIMED)
        span = BodySpan(
            spans[s, 0], spans[s, 1], spans[s, 2], rules.theta, rules.gap, rules.speed, tol, rules.project, most
        )  # fmt: skip
        code = take_step(rules, find, step, solver, projection, span, kept.log[s])
        if code != DONE:
            return int(code)
        n = join_overlaps(find, step, span.dt, rules.gravity)
        if n + len(step.left.key) > len(step.features.kind):
            take_again_listing(step, 0)
            count[PAIRS], count[RETAKEN] = n + len(step.left.key), 0
            return ROOM
        if n > count[FEATURES]:
            if count[RETAKEN] == SEARCHES:
                laws[SEEN] = 0.0
                return UNLISTED
            keep_try(step, kept, s)
            take_again_listing(step, n)
            continue
        stays = leave_step(step, solver, projection, span, kept, s, find.shapes.table)
        same = repeats(rules, step, span, stays, kept.log[s])
        laws[STANDS] = span.dt if stays and count[RETAKEN] == 0 else 0.0  # else what it found is not there any more
        go_on(step)
        while same and count[TAKEN] < len(spans) and spans[count[TAKEN], 1] == span.dt:
            keep_again(kept, count[TAKEN])
            count[TAKEN] += 1
    return DONE
