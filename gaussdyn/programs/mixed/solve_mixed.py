"""The driver for mixed problems: equalities out, blocks solved, refined on the problem itself; or a proof of none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ..blocks.solve_blocks import solve_blocks
from ..laws.laws import Unilateral
from ..problems.mixed import MixedComplementarity
from ..solution.residuals import TOL, mixed_residuals
from ..solution.solution import Solution
from ..solution.status import Status
from .condensed import Condensed, condensed
from .nearest_doubles import nearest_doubles
from .proofs import all_modes_of, relaxation_is_empty
from .standard_form import StandardForm, standard_form

ROUNDS = 3  # corrections of the motion of the blocks
SWAPPED = {"open": "stick", "stick": "open"}  # modes of rows on which z and w are exchanged


class Point(NamedTuple):
    """A point of a mixed problem: its own unknown, and the answer of the blocks that it was found by."""

    z: Array
    blocks: Solution | None = None


def solve_mixed(problem: MixedComplementarity, *, tol: float = TOL) -> Solution:
    """Solve a mixed problem.

    Parameters
    ----------
    problem : MixedComplementarity
    tol : float
        Residual E that counts as solved (see `mixed_residuals`).

    Returns
    -------
    Solution
        SOLVED (x = r = z, u = w) if the residual recomputed from the problem is small; INFEASIBLE or NO_SOLUTION with
        a certificate; else UNDECIDED with the best point found.

    Raises
    ------
    InputError
        The diagonal block of a cone or a contact is not positive semidefinite.
    """
    form = standard_form(problem)
    small = condensed(form)
    best = Point(_plain(form, np.zeros(len(problem.q)))) if small is None else _by_blocks(problem, small, tol)
    found = _answer(problem, small, best, tol)
    if found.solved:
        return found
    empty = relaxation_is_empty(problem)
    if empty is not None:
        about = str(empty.document["provenance"].get("about", ""))
        return found.but(status=Status.INFEASIBLE, certificate=empty, message=about)
    z, none = all_modes_of(problem, form)
    if none is not None:
        return found.but(status=Status.NO_SOLUTION, certificate=none, message=none.claim)
    return found if z is None else _answer(problem, None, Point(_plain(form, z)), tol, method="enumerate")


def _by_blocks(problem: MixedComplementarity, small: Condensed, tol: float) -> Point:
    """Solve what remains without equalities; correct its free motion by what u really is; return the best point."""
    q, start, error = small.q, None, np.inf
    best: Point | None = None
    for _ in range(ROUNDS):
        blocks = solve_blocks(small.problem(q), start=start, tol=tol)
        z, u = small.recover(blocks.r)
        point = Point(_plain(small.form, z), blocks)
        now = mixed_residuals(problem, point.z).E
        if not now < error:
            break
        best, error, start = point, now, blocks.r
        if error <= 0.01 * tol:
            break
        q = q + (u - blocks.u)
    if best is not None and error > tol:
        best = Point(nearest_doubles(problem, small.form, best.z), best.blocks)
    return best or Point(_plain(small.form, np.zeros(len(problem.q))))


def _plain(form: StandardForm, z: Array) -> Array:
    """Return z of the problem for z' of the standard form."""
    return np.asarray(form.shift + form.sign * z)


def _answer(
    problem: MixedComplementarity, small: Condensed | None, point: Point, tol: float, method: str = "none"
) -> Solution:
    """Return the verified solution that belongs to a point."""
    figures, blocks = mixed_residuals(problem, point.z), point.blocks
    solved = figures.small(tol)
    only = True if solved and blocks is not None and blocks.r_unique else None
    whole = (
        only if small is not None and len(small.pivots.columns) == len(small.form.equal) + len(small.taken) else None
    )
    return Solution(
        problem=problem, status=Status.SOLVED if solved else Status.UNDECIDED, x=point.z, r=point.z,
        u=problem.motion(point.z), modes=_modes(small, blocks), residuals=figures, unique=(only, whole),
        method=method if blocks is None else blocks.method, iterations=0 if blocks is None else blocks.iterations,
    )  # fmt: skip


def _modes(small: Condensed | None, blocks: Solution | None) -> tuple[str, ...]:
    """Return the modes of the laws in the order of the standard form; exchanged rows the other way round."""
    if small is None or blocks is None:
        return ()
    first = np.cumsum([0, *(law.size for law in small.form.laws)])
    exchanged = {int(k) for k in small.taken}
    return tuple(
        SWAPPED.get(mode, mode) if isinstance(law, Unilateral) and int(at) in exchanged else mode
        for law, at, mode in zip(small.form.laws, first, blocks.modes, strict=False)
    )
