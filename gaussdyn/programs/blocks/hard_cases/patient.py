"""The hard tail: proximal Newton steps whose term follows what Newton's method bears, from one start after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import EPS, Array
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..newton.newton_steps import inner_newton
from ..scaled import Scaled
from .last_digits import LastDigits

NEAR = 1e-4  # E of the best point above which the problem rather has no solution, and draws are few
FEW = 5  # draws there
STEPS, QUICK = 15, 8  # Newton steps for one centre: the most, and those within which the term falls
UP, DOWN = 4.0, 0.3  # factors of the term
LEAST, MOST = 1e-7, 100.0  # the term's range
STALE, DRAWN = 80, 30  # centres without a better point that end a course, and one from a draw
FIXED = (1e-6, 1e-5, 1e-4)  # terms that do not move

SmoothFlow = tuple[Array, float, bool, int]  # where to start, the first term, whether it moves, and what ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientNewton(BlockMethod):
    """Proximal point iteration that goes on where the residual does not fall, from the best point, zero, and draws.

    Where reactions must be exchanged between contacts before the right one opens or slips, the residual of the
    proximal points stays the same for a long time: they move along one direction at a constant pace (stacks with mass
    ratios, hyperstatic towers). Not a sign of failure: the iteration goes on, with a term as small as fifteen Newton
    steps bear. Where rows depend on each other but for their last digits, not every course gets there; then random
    reactions to begin with do better than any care.

    Attributes
    ----------
    draws : int
        Most random starts.
    seed : int
        Of their generator.
    tol : float
        Residual E to reach.
    """

    draws: int = 1000
    seed: int = 0
    tol: float = 1e-12
    name: ClassVar[str] = "proximal_newton"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the Newton steps."""
        search = _Search(data, r, self.tol, Work() if work is None else work)
        for course in self._courses(search):
            if search.ended():
                break
            search.follow(*course)
        return search.r, search.steps

    def _courses(self, search: _Search) -> Iterator[SmoothFlow]:
        """Yield starts of Newton's method, proximal terms, whether these fall, and how long one may gain nothing."""
        yield search.r, 1e-2, True, STALE
        yield np.zeros_like(search.r), 1.0, True, STALE
        for alpha in FIXED:
            yield search.r, alpha, False, STALE
        draw, count = np.random.default_rng(self.seed), self.draws if search.best <= NEAR else min(self.draws, FEW)
        for k in range(count):
            spread = (1.0, 0.1, 1.0, 10.0)[k % 4] * float(np.linalg.norm(search.r)) / np.sqrt(len(search.r))
            yield search.r + spread * draw.normal(size=len(search.r)), (1e-2, 1e-4)[k // 2 % 2], True, DRAWN


class _Search:
    """The best point found so far."""

    def __init__(self, data: Scaled, r: Array, tol: float, work: Work) -> None:
        self.data, self.tol, self.work, self.cost = data, tol, work, costs.newton_step(data)
        self.r, self.best, self.steps = r, data.residual(r), 0

    def ended(self) -> bool:
        """Whether the best point is good enough, but for the rounding of its reactions, or the work is spent."""
        rounding = 5.0 * EPS * float(np.linalg.norm(self.r)) / self.data.weight
        return self.best <= max(self.tol, rounding) or self.work.over()

    def consider(self, x: Array, E: float) -> None:
        """Keep a point if it is the best."""
        if self.best > E:
            self.best, self.r = E, x

    def follow(self, x: Array, alpha: float, moves: bool, patience: int) -> None:
        """Follow one course until it solves the problem or goes stale; the last digits are those of its best point."""
        data, stale, near, lowest, E = self.data, 0, x, np.inf, self.best
        while not self.ended() and stale < patience:
            goal, y, stale = max(1e-3 * self.tol, 1e-3 * E) * data.weight, x.copy(), stale + 1
            size, taken = inner_newton(data, alpha, x, y, goal, STEPS, 1.0)
            self.steps += taken + 1
            self.work.spend((taken + 1) * self.cost + costs.CALL)
            if moves and not size <= max(10.0 * goal, 1e-12 * data.weight):
                alpha = min(UP * alpha, MOST)
                continue
            E, x = data.residual(y), y
            if not np.isfinite(E):
                break
            if moves and taken <= QUICK:
                alpha = max(DOWN * alpha, LEAST)
            stale = 0 if 0.9 * lowest > E else stale
            if lowest > E:
                lowest, near = E, y
            self.consider(y, E)
        if not self.ended():
            y, taken = LastDigits(tol=self.tol).improve(data, near, self.work)
            self.steps += taken
            self.consider(y, data.residual(y))
