"""How much each parameter matters: Sobol's indices of a study over `Saltelli` runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._show import brief
from ..arrays import Array, scalar
from ..errors import InputError
from .study_results import Study


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sensitivity:
    """Shares of the variance of a measured number.

    Attributes
    ----------
    names : tuple of str
        The d parameters.
    first : Array, shape (d,)
        What each explains alone.
    total : Array, shape (d,)
        What would be left if all others were known: with what it does together with others.
    first_error, total_error : Array, shape (d,)
        Half widths of their confidence intervals.
    left_out : int
        Base points that have a run without a number.
    """

    names: tuple[str, ...]
    first: Array
    total: Array
    first_error: Array
    total_error: Array
    left_out: int

    __repr__ = brief


def sobol_indices(
    found: Study, name: str, *, confidence: float = 0.95, resamples: int = 200, seed: int = 0
) -> Sensitivity:  # fmt: skip
    """Return Sobol's indices of a measured number.

    Parameters
    ----------
    found : Study
        Over the runs of a `Saltelli`, complete.
    name : str
        Of the number, as the measure returned it.
    confidence : float
        Of the intervals, in (0, 1).
    resamples : int
        How often the base points are drawn anew for them (bootstrap), >= 2.
    seed : int
        Of these draws.

    Raises
    ------
    InputError
        Another study, or one that is not complete; no single number of this name; it is the same in all runs.

    Notes
    -----
    First order: Saltelli et al., Computer Physics Communications 181 (2010), formula (b) of Table 2; total: Jansen's,
    formula (f). The number is measured from its mean, which changes no index but their errors.
    """
    from statistics import NormalDist

    names, y = _groups(found, name)
    scalar("confidence", confidence, low=0.0, high=1.0, open_low=True)
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 2:
        raise InputError("resamples", repr(resamples), "an integer >= 2", "Write resamples=100.")
    known = np.isfinite(y).all(axis=1)
    y = y[known]
    if len(y) < 2 or not y[:, [0, -1]].std() > 0.0:
        raise InputError(
            f"values of {name}",
            f"{len(y)} base points, all alike",
            "numbers that differ",
            'Widen the range: Sobol({"mu": (0.1, 0.9)}, ...).',
        )
    rng = np.random.default_rng(seed)
    drawn = np.array([_indices(y[rng.integers(len(y), size=len(y))]) for _ in range(resamples)])
    first, total = _indices(y)
    errors = NormalDist().inv_cdf(0.5 + confidence / 2.0) * drawn.std(axis=0, ddof=1)
    return Sensitivity(
        names=names, first=first, total=total, first_error=errors[0], total_error=errors[1],
        left_out=int((~known).sum()),
    )  # fmt: skip


def _groups(found: Study, name: str) -> tuple[tuple[str, ...], Array]:
    """Return the parameters, and the number in the runs of every base point, shape (count, d + 2)."""
    said = found.settings["parameters"]
    group = len(found.parameters) + 2
    if said.get("kind") != "saltelli" or len(found) != said["count"] * group:
        mend = "Take study(build, Saltelli({...}, count=1024), measure), without a reduction."
        raise InputError("study", f"{len(found)} runs of a {said.get('kind')}", "all runs of a Saltelli", mend)
    y = found.values.get(name)
    if y is None or y.ndim != 1:
        raise InputError(
            "name",
            repr(name),
            f"a single number among {', '.join(found.values)}",
            f'Write name="{next(iter(found.values), "")}".',
        )
    return tuple(found.parameters), y.reshape(-1, group)


def _indices(y: Array) -> tuple[Array, Array]:
    """Return the indices of first order and the total ones, each of shape (d,)."""
    y = y - y[:, [0, -1]].mean()
    a, mixed, b = y[:, :1], y[:, 1:-1], y[:, -1:]
    variance = y[:, [0, -1]].var()
    return (b * (mixed - a)).mean(axis=0) / variance, ((a - mixed) ** 2).mean(axis=0) / (2.0 * variance)
