"""From the problem of one guess of v+ to the step: passes until nothing changes, contacts that join, ways out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...contact.reactions import law_residual
from ...contact.resolve import reactions, resolve
from ...programs.blocks.verify import loose
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from .impact_dissipation import dissipating
from .late_contacts import can_list, late, listed, unlisted
from .rest_correction import brought_to_rest
from .step_problem import Guess, ThetaProblem

MAX_PASSES = 25
SOFTEN_AFTER = 3  # passes of plain iteration before the velocity dependence of the force goes beside the mass
SETTLED = 1e-14  # relative change of the contact problem's data at which its answer is taken
ROUGH = 1e-8  # largest residual E of a contact problem that is not the last one
FINER = 1e-3  # of the last change: residual E at which such a problem counts as solved
SEARCHES = 10  # for contacts at the end of a step
LAST = 1e-12  # relative change of the data from which on no pass may be needed but the next
STALLED = 1e-8  # the same where rounding (or a Jacobian by differences) allows no further gain
CLAIMED = 1e-10  # residual E at the end of a step that stalled
HOVERS = 3  # times that passes stall without obeying the laws at the end
JUMP = 64.0  # factor by which a change is no longer like the last one


def solved(problem: ThetaProblem) -> tuple[Guess, Solution]:
    """Solve the step, so that no impact in it gains energy."""
    return dissipating(*_solve(problem), _solve)


def _solve(problem: ThetaProblem) -> tuple[Guess, Solution]:
    """Solve the step near the last reactions; where that fails, any solution will do.

    Of several motions the one that the last reactions belong to may be one that no iteration can follow. Where none
    is found at all the laws are taken at the midpoint.
    """
    if problem.fault:
        return problem.first(), Solution(problem=None, status=Status.UNDECIDED, message=problem.fault)
    failed = None
    for one, near in _ways(problem):
        guess, solution = _complete(one, near)
        if solution.solved:
            return guess, solution
        failed = (guess, solution) if failed is None else failed
    assert failed is not None  # there is at least one way
    return failed


def _ways(problem: ThetaProblem) -> Iterator[tuple[ThetaProblem, Mapping[str, Array]]]:
    """Yield what to try: the problem, and reactions to begin with."""
    yield problem, problem.start.memory
    if problem.start.memory:
        yield problem, {}
    if not problem.unsettled and problem.bounce:
        yield problem.at_middle(next(iter(problem.bounce))), {}


def _complete(problem: ThetaProblem, near: Mapping[str, Array]) -> tuple[Guess, Solution]:
    """Solve the step with the contacts that are closed, and again with those that close within it, until none does.

    Those count, too, that the reactions of the step bring about, and that are found at its end only.
    """
    guess, solution = _refined(problem.first(), near)
    for _ in range(SEARCHES):
        guess, solution = _without_idle(problem, *_with_late(guess, solution))
        fault = guess.end.fault
        if not solution.solved or solution.x is None or fault:
            return guess, solution.but(status=Status.MAX_ITERATIONS, message=fault) if solution.solved else solution
        deep = unlisted(guess)
        if not deep:
            return _as_listed(guess), solution
        if not can_list(problem):  # so that it is seen at least
            return replace(guess, end=replace(guess.end, rows=(*guess.end.rows, *deep))), solution
        near = reactions(guess.dynamics, solution)
        stopped = guess.stopped(solution.x, near)
        ids = [row.id for row in deep]
        more = listed(guess.problem, ids, guess.end.q, guess.v_plus).joined(ids)
        guess, solution = _refined(more.guess(solution.x, stopped), near)
    words = f"{deep[0].id} overlapped by {-deep[0].gap:.3g} m at the end of the step, the {SEARCHES}th time that others"
    return guess, solution.but(status=Status.MAX_ITERATIONS, message=f"{words} were put right; take a smaller step")


def _as_listed(guess: Guess) -> Guess:
    """Return the guess without contacts that were listed late and do not act: their features are beside each other."""
    gone = guess.problem.added - guess.problem.bounce.keys()
    if not gone:
        return guess
    return replace(guess, end=replace(guess.end, rows=tuple(row for row in guess.end.rows if row.id not in gone)))


def _with_late(guess: Guess, solution: Solution) -> tuple[Guess, Solution]:
    """Solve the step again with contacts that close within it, until none does."""
    while solution.solved and solution.x is not None and (ids := late(guess)):
        near = reactions(guess.dynamics, solution)
        guess, solution = _refined(guess.problem.joined(ids).guess(solution.x, guess.stopped(solution.x, near)), near)
    return guess, solution


def _without_idle(problem: ThetaProblem, guess: Guess, solution: Solution) -> tuple[Guess, Solution]:
    """Solve the step without the contacts that joined and do not push, unless they close then too.

    Others may have stopped what they joined for. Where they stay they would be closed, which pulls the bodies.
    """
    joined = guess.problem.bounce.keys() - problem.bounce.keys()
    if not joined or not solution.solved or solution.x is None:
        return guess, solution
    near = reactions(guess.dynamics, solution)
    idle = {key for key in joined if key not in near or not near[key].any()}
    if not idle:
        return guess, solution
    fewer = guess.problem.without(idle)
    other, found = _refined(fewer.guess(solution.x, guess.stopped(solution.x, near) - idle), near)
    return (other, found) if found.solved and not late(other) else (guess, solution)


def _refined(guess: Guess, near: Mapping[str, Array]) -> tuple[Guess, Solution]:
    """Refine the guess of v+ until the contact problem no longer changes.

    Rates at the end are met with the Jacobian of the midpoint, so that passes contract only where that has no smaller
    singular value than it changes by. Where they do not, the laws are taken at the midpoint.
    """
    problem, changes, fine, hovers = guess.problem, [np.inf], False, 0
    for k in range(1, MAX_PASSES + 1):
        tol = max(problem.tol, min(ROUGH, FINER * changes[-1]))
        solution = brought_to_rest(guess.dynamics, _answer(guess, near, tol, changes), problem.tol)
        if solution.x is None or not (solution.solved or _nearly(solution)):
            return guess, solution
        near = reactions(guess.dynamics, solution)  # or passes may alternate between two solutions
        refined = problem.after(guess, solution.x, near)
        change = refined.far_from(guess)
        stalled = fine and _stalled(change, changes)
        fine = _reached(solution, tol, problem.tol)  # a rough answer may not have moved at all
        kept = fine and (change <= SETTLED or (stalled and _holds(refined, near, problem.tol)))
        hovers += fine and stalled and not kept
        if change <= SETTLED and changes[-1] <= LAST and not solution.solved:
            return refined, solution  # the same problem again would fail again
        if kept:
            if not refined.contrary:
                return refined, solution
            problem, changes = problem.independent(), [np.inf]
            guess = problem.guess(solution.x, guess.stopped(solution.x, near))
            continue
        if k == SOFTEN_AFTER and change > 0.03 * changes[-1]:
            problem = problem.soften(solution.x)
            refined, change = problem.guess(solution.x, guess.stopped(solution.x, near)), np.inf
        changes.append(change)
        if not problem.unsettled and (hovers == HOVERS or _hopeless(changes)):
            problem = problem.at_middle(refined.moves_most(guess))
            refined, changes = problem.first(), [np.inf]  # passes that diverge leave no velocity to go on from
            problem = refined.problem
        guess = refined
    if not solution.solved:
        return guess, solution
    message = f"v+ still moved by {changes[-1]:.1e} (relative) after {MAX_PASSES} passes; take a smaller step"
    return guess, solution.but(status=Status.MAX_ITERATIONS, message=message)


def _answer(guess: Guess, near: Mapping[str, Array], tol: float, changes: Sequence[float]) -> Solution:
    """Solve the contact problem: with all means only where it may be the last one, or nothing else gets near."""
    last = changes[-1] <= LAST or _stalled(changes[-1], changes[:-1])
    found = resolve(guess.dynamics, start=near, tol=tol, thorough=False)
    if found.status not in (Status.MAX_ITERATIONS, Status.UNDECIDED) or (_nearly(found) and not last):
        return found
    return resolve(guess.dynamics, start=near, tol=tol)


def _holds(guess: Guess, near: Mapping[str, Array], tol: float) -> bool:
    """Return whether the reactions obey the laws at the end that they lead to, and not only at the one before."""
    return law_residual(guess.dynamics, near) <= max(CLAIMED, tol)


def _reached(solution: Solution, asked: float, tol: float) -> bool:
    """Return whether an answer that may have been asked for with a larger tolerance is good for the one given.

    By all its measures: of light bodies between heavy ones E sees little.
    """
    found = solution.residuals
    if not solution.solved or found is None:
        return solution.solved
    return found.small(tol) and (asked <= tol or found.rel_q is None or not loose(solution, tol))


def _nearly(solution: Solution) -> bool:
    """Return whether an answer will do to go on with.

    Between passes the rates of contacts that depend on one another need not agree, to the size of the last change.
    """
    usual = solution.status in (Status.MAX_ITERATIONS, Status.UNDECIDED)
    return usual and solution.residuals is not None and solution.residuals.E <= ROUGH


def _stalled(change: float, changes: Sequence[float]) -> bool:
    """Return whether a change is all that rounding leaves, from the last two before it: they may swing as they fall.

    It hovers then, or is back after a jump (to another answer within the tolerance, from which passes contract again).
    """
    if len(changes) < 2:
        return False
    earlier, last = changes[-2:]
    low, high = (0.5 * earlier, STALLED) if last > JUMP * change else (max(0.5 * last, 0.25 * earlier), JUMP * last)
    return low <= change <= min(high, STALLED)


def _hopeless(changes: Sequence[float]) -> bool:
    """Return whether passes will not settle, from the mean factor of the last two: changes may swing as they fall.

    Nothing follows from a rough answer that did not move at all, and changes of the size of rounding count as stalled
    soon.
    """
    if changes[-1] <= STALLED or len(changes) < 4 or not np.isfinite(changes[-3:]).all() or changes[-3] <= SETTLED:
        return False
    factor = float(np.sqrt(changes[-1] / changes[-3]))
    return changes[-1] * min(factor, 1.0) ** (MAX_PASSES - len(changes)) > SETTLED
