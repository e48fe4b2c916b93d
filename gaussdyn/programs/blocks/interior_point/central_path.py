"""Central paths with random weights, through their folds: the last attempt, where whatever descends is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering
from ....linalg.block_lu3 import Blocks, order_blocks
from ...laws.laws import MU, Coulomb, Unilateral
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..newton.block_form import BlockForm, block_form
from ..proximal_newton import ProximalNewton
from ..scaled import Scaled

NEAR = 1e-4  # E of the point to begin with above which the problem rather has no solution
FIRST = 1.0  # tau where a path begins
HELD, TERM = 1e-4, 1e-7  # below this tau, this proximal term holds what W does not
STEP, CENTRE = 6.0, 30.0  # eliminations for a step, and steps that finding the first point of a path is worth
FALL, LAST = 0.3, 1e-8  # points are finished whenever tau has fallen by so much, down to the last
CHUNK = 60  # steps between looks at the work, and between points that are finished as well as long as tau is small


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralPath(BlockMethod):
    """Pseudo-arclength along smoothed laws x o y = tau^2 c towards tau = 0, with c drawn anew for every path.

    Along such a path tau rises and falls: whatever only lowers it, or a residual, is lost at the first fold. From its
    points at small tau proximal Newton steps finish or fail, depending on the path; hence the draws. For Coulomb and
    Unilateral laws on W by 3x3 blocks; other problems, and points far from a solution, are returned as they are. See
    `path_kernels`.

    Attributes
    ----------
    tol : float
        Residual E to reach.
    seed : int
        Of the generator of the weights.
    spread : float
        The weights of tau are e to the power of -spread to spread, uniformly.
    paths : int
        Most paths.
    steps : int
        Steps after which a path is given up for another one.
    """

    tol: float = 1e-12
    seed: int = 0
    spread: float = 1.5
    paths: int = 100
    steps: int = 5000
    name: ClassVar[str] = "central_path"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the steps of paths and of Newton's method."""
        form, best, best_r, steps = block_form(data), data.residual(r), r, 0
        if form is None or not has_paths(data) or not best <= NEAR:
            return r, 0
        work, draw = Work() if work is None else work, np.random.default_rng(self.seed)
        course, done = _Course.of(data, form), 0
        while best > self.tol and done < self.paths and not work.over():
            done += 1
            weights = np.exp(draw.uniform(-self.spread, self.spread, len(form.sizes)))
            for point, taken in course.points(weights, self.steps, work):
                x, more = ProximalNewton(alpha=0.01, newton_steps=200, tol=self.tol).improve(data, point, work)
                E, steps = data.residual(x), steps + taken + more
                if best > E:
                    best, best_r = E, x
                if best <= self.tol:
                    break
        return best_r, steps


def has_paths(data: Scaled) -> bool:
    """Whether all laws are Coulomb's or unilateral: their cones have smoothed projections."""
    return bool(np.isin(data.code, (Coulomb.code, Unilateral.code)).all())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Course:
    """The problem in self-dual variables, in which rho = 1 and |q|^2 is the number of contacts."""

    form: BlockForm
    blocks: Blocks
    ordering: Ordering
    q: Array  # (n, 3)
    sizes: IntArray  # rows that the cone takes
    scale: Array  # (n, 3): r = scale x

    @classmethod
    def of(cls, data: Scaled, form: BlockForm) -> _Course:
        """Scale the problem `data`, whose rows `form` gives in blocks."""
        mu, n = data.P[:, MU], len(form.sizes)
        cones = (form.sizes > 1) & (mu > 0.0)
        root = np.sqrt(data.rho)[:, None] * np.ones(3)
        root[cones, 0] /= mu[cones]
        values, indices, indptr, _slot = form.blocks
        rows = np.repeat(np.arange(n), np.diff(indptr))
        ordering, slot = order_blocks(indices, indptr)
        blocks = (root[rows][:, :, None] * values * root[indices][:, None, :], indices, indptr, slot)
        q = root * form.pad(data.q)
        unit = max(float(np.linalg.norm(q)), np.finfo(float).tiny) / np.sqrt(n)
        sizes = np.where(cones, form.sizes, 1)
        return cls(form=form, blocks=blocks, ordering=ordering, q=q / unit, sizes=sizes, scale=unit * root)

    def points(self, weights: Array, limit: int, work: Work) -> Iterator[tuple[Array, int]]:
        """Yield scaled reactions at small tau along one path, each with the steps since the last."""
        from ...._jit import entry_of
        from .path_kernels import PathProblem, centre, follow, path_space

        n, taken, goal = len(weights), 0, HELD
        r, tangent, space = np.zeros((n, 3)), np.zeros((n, 3)), path_space(n, self.ordering)
        r[:, 0] = 1.0
        problem = PathProblem(self.blocks, self.ordering, self.q, self.sizes, weights)
        cost = STEP * costs.elimination(self.ordering, len(self.blocks[0]), n)
        work.spend(CENTRE * cost)
        if not entry_of(centre)(problem, FIRST, 100, r, space) <= 1e-9:
            return
        state = np.array([np.log(FIRST), 0.1, 0.0, 0.0, 0.0])
        while goal > LAST and limit > 0 and not work.over():
            steps = entry_of(follow)(problem, min(CHUNK, limit), goal, r, tangent, state, space)
            work.spend(steps * cost)
            taken, limit, tau = taken + steps, limit - steps, float(np.exp(state[0]))
            if goal == HELD and tau < goal:
                problem = problem._replace(blocks=self.held(), q=self.q - TERM * r)
            if tau < goal:
                goal = FALL * tau
            elif steps < CHUNK:  # no step is short enough
                return
            if goal < HELD and tau < 3.0 * HELD:
                yield self.form.rows(self.scale * r), taken
                taken = 0

    def held(self) -> Blocks:
        """Return the blocks with the proximal term added to those of the diagonal."""
        values, indices, indptr, slot = self.blocks
        rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        values = values.copy()
        values[rows == indices] += TERM * np.eye(3)
        return values, indices, indptr, slot
