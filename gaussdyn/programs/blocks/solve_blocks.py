"""The driver for block problems: quick attempts, proofs that there is no solution, thorough attempts; all verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array, square, vector
from ..laws.laws import CAP, MU, MU_S
from ..problems.complementarity import ComplementarityProblem, Problem, as_blocks
from ..solution.residuals import TOL
from ..solution.solution import Solution
from ..solution.status import Status
from ..work import Work
from .gauss_seidel.first_sweeps import first_sweeps
from .gauss_seidel.gauss_seidel import GaussSeidel
from .hard_cases.last_bits import settled
from .hard_cases.last_digits import LastDigits
from .hard_cases.patient import PatientNewton
from .hard_cases.sharpen import sharpened
from .hard_cases.slipping_first import SlippingFirst
from .interior_point.central_path import CentralPath
from .interior_point.interior_point import InteriorPoint, has_cones
from .lemke.facets import facets_are_exact
from .lemke.lemke import LARGEST, Lemke
from .many_blocks import many_blocks
from .newton import costs
from .newton.block_form import Prepared, comes_by_blocks, has_block_form
from .newton.body_form import has_body_form
from .proximal_newton import ProximalNewton
from .scaled import scaled
from .small.few_blocks import few_blocks, near_few
from .verify import Approach, contradiction, excess, finished, loose, timely, verified

LOOSE = "E is below its tolerance; rel_q or viol_u is not, mostly by the rounding of W r: see residuals"
FAR = 0.5  # change of the reactions (relative) beyond which there may be another solution nearer to the last ones
UNSETTLED = 1e-8  # E above which a proof that allows for rounding of the rows is tried, too
UNITS, LEAST = 3e10, 500  # work for all attempts: about half a minute, or so many Newton steps where that is more
SHARPEN = 1e10  # most work by which other measures than E are brought down
SMALL = 60  # rows up to which Lemke's dense tableau is cheap

Begun = tuple[Solution | None, Prepared]  # what `many_blocks` returns


class Attempt(NamedTuple):
    """A method, where it starts (None: from the best point so far), and the share it gets of the work that is left."""

    method: Approach
    start: Array | None
    share: float = 0.5


def solve_blocks(
    problem: Problem, *, start: Array | None = None, tol: float = TOL, seconds: float | None = None,
    thorough: bool = True, effort: float = 1.0,
) -> Solution:  # fmt: skip
    """Solve a block problem or an LCP; the answer does not depend on the clock.

    Parameters
    ----------
    problem : ComplementarityProblem or LinearComplementarity
    start : Array, optional
        A reaction to begin with (the last step's); where there are several solutions, one near it is found first.
    tol : float
        Residual E that counts as solved.
    seconds : float, optional
        Wall time after which the call is stopped, with TIME_LIMIT; None: none. A proof is not interrupted.
    thorough : bool
        Whether slow methods have a try where quick ones and proofs decide nothing.
    effort : float
        Factor on the work after which the attempts end; 1 is about half a minute, or 500 Newton steps. Without `start`
        central paths use all of it, near a solution.

    Returns
    -------
    Solution
        SOLVED if the residuals recomputed from the problem are small; INFEASIBLE or NO_SOLUTION with a certificate;
        else MAX_ITERATIONS, UNDECIDED or TIME_LIMIT with the best point found.
    """
    blocks, work = as_blocks(problem), None
    if blocks.idle and (start is None or not blocks.q.any()):
        found = _without_reactions(problem, blocks, tol)
    else:
        last = None if start is None else vector("start", start, len(blocks.q))
        answer, quick = _by_one_call(problem, blocks, last, tol)
        if answer is None:
            work = Work(seconds=seconds)
            answer = _searched(problem, blocks, last, tol, work, quick, thorough=thorough, effort=effort)
        found = answer
    if blocks.table.steep and found.solved and start is None and blocks.form is None:  # not in a run
        found = steady(found, blocks, tol)
    return found if work is None else timely(found, work)


def _searched(
    problem: Problem, blocks: ComplementarityProblem, last: Array | None, tol: float, work: Work,
    quick: Solution | None, *, thorough: bool, effort: float,
) -> Solution:  # fmt: skip
    """Return the answer of the methods for many blocks, then of all in turn; `quick` is a solution known already."""
    answer, many = _by_blocks(problem, blocks, last, tol, work)
    if answer is not None:
        return answer
    search = _Search(problem, blocks, tol, work, many, last is not None)
    search.allow(effort)
    search.best = quick if quick is not None else search.best
    for stage in (search.quick, search.proofs, search.thorough)[: 3 if thorough else 2]:
        found = stage(last)
        if work.stopped:
            break
        if found.status not in (Status.MAX_ITERATIONS, Status.UNDECIDED):
            return found
    return search.best


def _without_reactions(problem: Problem, blocks: ComplementarityProblem, tol: float) -> Solution:
    """Return r = 0, or that there is no answer."""
    found = verified(problem, blocks, np.zeros(len(blocks.q)), "none", tol=tol)
    return found if found.solved else _infeasible(found, blocks)


def _by_one_call(
    problem: Problem, blocks: ComplementarityProblem, last: Array | None, tol: float
) -> tuple[Solution | None, Solution | None]:
    """Return the answer for a few blocks, and what solves them though another solution may be nearer to `last`."""
    quick, holds = few_blocks(problem, blocks, tol, last)
    if quick is None or not holds:
        return None, None
    if last is None:
        return quick, quick
    near = near_few(problem, blocks, tol, last) if is_far(quick.r, last) else quick
    return (None if near is None else nearer(quick, near, last)), quick


def _by_blocks(
    problem: Problem, blocks: ComplementarityProblem, last: Array | None, tol: float, work: Work
) -> tuple[Solution | None, Begun | None]:
    """Return the answer by a few sweeps or by Newton's method on blocks, and what that has begun."""
    swept = first_sweeps(blocks, last, tol)
    if swept is None:
        return None, None
    if swept[1] <= 0.3 * tol and last is None:
        found = verified(problem, blocks, swept[0], GaussSeidel.name, swept[2], tol)
        if _holds(found, tol):
            return found, None
    if not comes_by_blocks(blocks):
        return None, None
    many = many_blocks(problem, blocks, swept[0], last is not None, tol, work)
    first = many[0]
    return (first if first is not None and _holds(first, tol) and not is_far(first.r, last) else None), many


def _holds(found: Solution, tol: float) -> bool:
    """Return whether a solution is one by all measures."""
    return found.solved and not loose(found, tol)


class _Search:
    """The best point found so far, and the stages that improve it."""

    def __init__(
        self,
        problem: Problem,
        blocks: ComplementarityProblem,
        tol: float,
        work: Work,
        begun: Begun | None,
        in_run: bool,
    ) -> None:
        self.problem, self.blocks, self.tol, self.work = problem, blocks, tol, work
        self.data, self.iterations, self.in_run = scaled(blocks), 0, in_run
        self.zero = np.zeros(len(blocks.q))
        self.best: Solution = None  # type: ignore[assignment]
        if begun is not None:
            self.data.kept["blocks"] = begun[1].form
            self.begin(begun[0])

    def allow(self, effort: float) -> None:
        """Limit the work of all attempts together."""
        self.work.limit = effort * max(UNITS, LEAST * costs.newton_step(self.data))

    def begin(self, found: Solution | None) -> None:
        """Take over what Newton's method by blocks has found, and polish it if little is missing."""
        if found is None:
            return
        self.best, self.iterations = found, found.iterations
        if not found.solved:
            self.consider(finished(self.data, found.r / self.data.unit, self.tol), found.method)
        self.sharpen()

    def quick(self, start: Array | None) -> Solution:
        """Try what solves nearly every problem; then `start` itself, for sweeps may have run away from a solution."""
        found = self.best if self.best is not None and self.best.solved else self.run(self._quick(start))
        if start is not None and not found.solved:
            found = self.consider(start, "start")
        return found if start is None or not found.solved else self.nearest(found, start)

    def nearest(self, found: Solution, start: Array) -> Solution:
        """Return a solution nearer to `start` if the one found is far from it and Newton's method finds one there.

        Sweeps run away from solutions that are not stable, e.g. from rest where lift-off obeys the laws as well.
        """
        if not is_far(found.r, start):
            return found
        near = ProximalNewton(alpha=0.01, newton_steps=30, tol=self.tol)
        x, count = near.improve(self.data, start / self.data.unit, self.work)
        self.iterations += count
        r = finished(self.data, x, self.tol)
        return nearer(
            found, verified(self.problem, self.blocks, r, ProximalNewton.name, self.iterations, self.tol), start
        )

    def proofs(self, start: Array | None) -> Solution:
        """Try to prove that there is no solution: no admissible motion, or all modes of a small problem refuted."""
        from ..enumeration.exhaustive import all_modes

        found = _infeasible(self.best, self.blocks)
        if found.status is Status.INFEASIBLE:
            return found
        if found.x is not None and contradiction(self.blocks, found.x):
            message = "the bilateral rows contradict each other by more than 1e-9"
            self.best = found.but(status=Status.UNDECIDED, message=message)
            return self.best
        r, certificate = all_modes(self.problem, self.blocks, start)
        if certificate is not None:
            return found.but(status=Status.NO_SOLUTION, certificate=certificate, message=certificate.claim)
        return self.best if r is None else self.consider(r, "enumerate")

    def thorough(self, start: Array | None) -> Solution:
        """Spend the work that is left."""
        if _error(self.best) <= UNSETTLED:
            r = settled(self.blocks, self.best.r)
            if r is not self.best.r and self.consider(r, self.best.method).solved:
                self.sharpen()
                return self.best
        return self.run(self._thorough(start))

    def run(self, attempts: Iterable[Attempt]) -> Solution:
        """Make attempts until one solves the problem or the work is spent; return the best point."""
        for method, x, share in attempts:
            if self.best is not None and self.work.over():
                break
            with self.work.within(share * self.work.left):
                x, count = method.improve(self.data, self.best.r / self.data.unit if x is None else x, self.work)
            self.iterations += count
            if self.consider(finished(self.data, x, self.tol), method.name).solved:
                self.sharpen()
                break
        return self.best

    def sharpen(self) -> None:
        """Bring down the other measures of a solved point than E, if they are not small yet."""
        if not (self.best.solved and loose(self.best, self.tol)):
            return
        with self.work.within(SHARPEN):
            best = sharpened(self.best, self.blocks, self.data, self.tol, self.work, quickly=self.in_run)
        self.best = best.but(message=LOOSE) if loose(best, self.tol) else best

    def consider(self, r: Array, name: str) -> Solution:
        """Verify a reaction and keep it if it is the best so far; return the best."""
        found = verified(self.problem, self.blocks, r, name, self.iterations, self.tol)
        if self.best is None or found.solved or _error(found) < _error(self.best):
            self.best = found
        return self.best

    def _quick(self, start: Array | None) -> Iterator[Attempt]:
        sparse = has_block_form(self.data) or has_body_form(self.data)
        yield from self._sweeps(start, sparse)
        yield from self._far(sparse)

    def _sweeps(self, start: Array | None, sparse: bool) -> Iterator[Attempt]:
        """Yield what begins with sweeps, from the last reactions and from zero."""
        few, tol = 60 if sparse else 5 if self.data.small else 25, self.tol
        sweeps = GaussSeidel(sweeps=few, fall=0.25 if sparse else np.inf, tol=tol)
        if has_block_form(self.data) and self.best is not None:
            yield Attempt(GaussSeidel(sweeps=few, fall=0.25, tol=tol), self.zero)
        elif start is not None:  # sweeps first: what sticks then sticks to the last bit, which Newton does not promise
            last = start / self.data.unit
            yield Attempt(sweeps, last)
            yield Attempt(ProximalNewton(alpha=1e-6, newton_steps=10, tol=tol), last)
            yield Attempt(sweeps, self.zero)
        else:
            yield Attempt(sweeps, self.zero)

    def _far(self, sparse: bool) -> Iterator[Attempt]:
        """Yield what reaches solutions that are far: Newton's method from elsewhere, pivots, interior points."""
        table, tol, few = self.blocks.table, self.tol, len(self.zero) <= SMALL
        cones = [Attempt(InteriorPoint(tol=tol), None)] if has_cones(table) else []
        if sparse:
            plane = bool(np.diff(table.start).max() <= 2)  # there sweeps show the way, in space often not
            yield Attempt(ProximalNewton(newton_steps=1000, tol=tol), None if plane else self.zero)
        if few and table.plain:
            yield Attempt(Lemke(tol=tol), None)
        if not self.data.small:
            yield from cones
        if not sparse:
            yield Attempt(ProximalNewton(newton_steps=200, tol=tol), self.zero)
        if self.data.small:
            yield Attempt(ProximalNewton(alpha=0.1, newton_steps=200, tol=tol), self.zero)
        if few and not table.plain and facets_are_exact(table):
            yield Attempt(Lemke(tol=tol), None)
        if self.data.small:
            yield from cones

    def _thorough(self, start: Array | None) -> Iterator[Attempt]:
        """Yield slow methods, each with its share of the work that is left."""
        if start is not None:
            near = ProximalNewton(alpha=0.01, newton_steps=200, tol=self.tol)
            yield Attempt(near, start / self.data.unit)
        if self.blocks.table.ambiguous:
            yield Attempt(SlippingFirst(tol=self.tol), None, 0.1)
        yield Attempt(LastDigits(tol=self.tol), None)
        yield Attempt(PatientNewton(draws=0, tol=self.tol), None, 0.75)
        first = 5_000 if self.data.small else 500
        yield Attempt(GaussSeidel(sweeps=first, tol=self.tol), self.zero, 0.25)
        yield Attempt(ProximalNewton(alpha=1e-3, tol=self.tol), None)
        yield Attempt(GaussSeidel(sweeps=10_000, tol=self.tol), None)
        yield Attempt(ProximalNewton(alpha=1e-3, tol=self.tol), None)
        yield Attempt(LastDigits(tol=self.tol), None)
        if SMALL < len(self.zero) <= LARGEST and facets_are_exact(self.blocks.table):
            yield Attempt(Lemke(tol=self.tol), None)
        yield Attempt(PatientNewton(tol=self.tol), None, 0.3 if start is None else 1.0)
        if start is None:  # a step of a run is not held up for longer than draws take
            yield Attempt(CentralPath(tol=self.tol), None, 1.0)


def steady(found: Solution, blocks: ComplementarityProblem, tol: float) -> Solution:
    """Return a solution whose contacts with very large friction do not slip, in whatever order W r is summed."""
    r = settled(blocks, found.r)
    if r is found.r:
        return found
    other = verified(found.problem, blocks, r, found.method, found.iterations, tol)
    return other if other.solved and not excess(other, tol) > excess(found, tol) else found


def nearer(found: Solution, other: Solution, start: Array | None) -> Solution:
    """Return the second solution if it is one, and nearer to `start` than the first.

    A block that sticks with friction stronger at rest (mu_s > mu) is not let slip for that: stick has priority.
    """
    if start is None or other is found or not (other.solved and square(other.r - start) < square(found.r - start)):
        return found
    P = as_blocks(found.problem).table.P
    pairs = zip(found.modes, other.modes, P[:, MU_S] > np.maximum(P[:, MU], P[:, CAP]), strict=True)
    torn = any(stronger and (old, new) == ("stick", "slip") for old, new, stronger in pairs)
    return found if torn else other


def is_far(r: Array, start: Array | None) -> bool:
    """Whether the reactions differ so much from those to begin with that another solution may be nearer to them."""
    return start is not None and square(r - start) > FAR * FAR * square(start)


def _error(solution: Solution) -> float:
    return np.inf if solution.residuals is None else solution.residuals.E


def _infeasible(best: Solution, blocks: ComplementarityProblem) -> Solution:
    """Return the solution as INFEASIBLE, with the proof, if no admissible motion exists; else unchanged."""
    from ..proof.no_admissible_motion import bounded_refutation, refutation
    from ..solution.wording import wording

    words = wording(best.problem)
    certificate = refutation(blocks, words)
    if certificate is None and best.residuals is not None and best.residuals.E > UNSETTLED:
        certificate = bounded_refutation(blocks, words)
    if certificate is None:
        return best
    about = str(certificate.document["provenance"].get("about", ""))
    return best.but(status=Status.INFEASIBLE, certificate=certificate, message=about)
