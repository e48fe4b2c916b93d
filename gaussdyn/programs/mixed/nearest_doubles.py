"""The last bits of z, chosen together: rounded one by one they may leave w = 0 far off where M is nearly singular.

Babai's nearest plane (Combinatorica 6, 1986): steps of one unit in the last place are a lattice, and the point of it
that leaves the smallest w is looked for number by number; those that come after make up for what is rounded away.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...arrays import Array, IntArray
from ..laws.laws import Unilateral
from ..problems.mixed import MixedComplementarity
from ..solution.residuals import mixed_residuals
from .standard_form import StandardForm

LARGEST = 300  # rows: exact sums take their time


def nearest_doubles(problem: MixedComplementarity, form: StandardForm, z: Array) -> Array:
    """Return z with other last bits if those bring the residual down; the modes of the rows stay.

    Parameters
    ----------
    problem : MixedComplementarity
    form : StandardForm
    z : Array, shape (n,)
        A solution up to rounding.
    """
    rows = _held(problem, form, z)
    free = rows[z[rows] != 0.0]
    if not len(free) or len(z) > LARGEST:
        return z
    unit = np.spacing(np.abs(z[free]))
    steps = problem.M[np.ix_(rows, free)] * unit
    order = np.argsort(np.linalg.norm(steps, axis=0))  # the smallest come last, to make up for the others
    Q, R = np.linalg.qr(steps[:, order])
    target, counts = Q.T @ -_exact_motion(problem, z)[rows], np.zeros(len(free))
    for i in range(min(R.shape) - 1, -1, -1):
        if R[i, i] != 0.0:
            counts[i] = np.round((target[i] - R[i, i + 1 :] @ counts[i + 1 :]) / R[i, i])
    other = z.copy()
    other[free[order]] += counts * unit[order]
    better = np.isfinite(other).all() and mixed_residuals(problem, other).E < mixed_residuals(problem, z).E
    return other if better else z


def _held(problem: MixedComplementarity, form: StandardForm, z: Array) -> IntArray:
    """Return the rows with w = 0: equalities, and rows u ⟂ r that are closed."""
    firsts = np.cumsum([0, *(law.size for law in form.laws)])
    rows = [form.rest[at] for at, law in zip(firsts, form.laws, strict=False) if isinstance(law, Unilateral)]
    closed = [i for i in rows if np.abs(z[i] - form.shift[i]) > np.abs(problem.motion(z)[i])]
    return np.sort(np.r_[form.equal, np.array(closed, dtype=np.int64)])


def _exact_motion(problem: MixedComplementarity, z: Array) -> Array:
    """Return w = M z + q, exact before it is rounded."""
    numbers = [Fraction(x) for x in z.tolist()]
    sums = [
        sum((Fraction(a) * x for a, x in zip(row, numbers, strict=True) if a and x), Fraction(end))
        for row, end in zip(problem.M.tolist(), problem.q.tolist(), strict=True)
    ]
    return np.array([float(x) for x in sums])
