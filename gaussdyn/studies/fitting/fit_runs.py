"""`fit`: the parameters with which runs come nearest to what was measured, by least squares over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from ...arrays import Array, scalar
from ...errors import InputError
from ..parameter_sets import Number
from ..template import Job, Template, template_of
from .measurements import Measurements, Sampled, measurements_of
from .result import Fit, Spread, flat_words, spread_of

Range = tuple[float, float]
FAR = 10.0  # scaled residual that a run counts as which failed
SEED = 0  # of the points of a search
STARTS = 3  # of the points of a search, from which least squares goes on
BORDER = 1e-6  # parts of a range


def fit(
    data: Any, build: Any, parameters: Sequence[str] | Mapping[str, Range], *, columns: Sequence[str] | None = None,
    start: Mapping[str, float] | None = None, search: int = 0, step: float = 1e-3, most: int = 50,
) -> Fit:  # fmt: skip
    """Find the parameters of a scene, or of a function that builds a run, from recorded runs.

    Parameters
    ----------
    data : run, path, mapping, Measurements, or list of these
        One experiment or several: a `Trajectory`, the path of one (.h5) or of a table (.csv, first line ``t,ball.y``),
        a mapping of columns with ``t``, or `Measurements` with noise and parameters of their own.
    build : str, callable or Template
        Name of a scene, a function of the parameters, or a `Template` with further settings.
    parameters : names, or mapping of names to (low, high)
        What is looked for, and where; for scenes the ranges default to theirs.
    columns : names, optional
        What is compared. Default: all measured columns; of a run those of its bodies and of its scene.
    start : mapping of str to float, optional
        Where to begin; default: of a scene its defaults, else the middle of the range.
    search : int
        Number of points of the whole ranges (Sobol's) that are tried first; least squares goes on from the best three.
        Needed where runs take other ways for other parameters (dice fall on other faces).
    step : float
        Differences for the Jacobian, in parts of the ranges. Times of impacts are known to a step of the stepper, so
        that much smaller ones see nothing.
    most : int
        Largest number of iterations of least squares.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        Unknown parameters or columns, no ranges, a range that is none, a run that fails where it begins.
    """
    found = data if isinstance(data, list | tuple) else [data]
    experiments = [measurements_of(one, columns) for one in found]
    if not experiments:
        raise InputError("data", "an empty list", "at least one experiment", 'Write data={"t": t, "ball.y": y}.')
    template = template_of(build)
    names, low, high = _ranges(template, parameters)
    template.check(names)
    whole = _Runs(template, experiments, names, low, high - low)
    first = _start(template, names, low, high, start)
    whole.check(first)
    starts = _searched(whole, first, search) if search else [first]
    found_ones = [_refined(whole, x, scalar("step", step, low=0.0, high=0.5, open_low=True), most) for x in starts]
    best = min(found_ones, key=lambda one: float(one.cost))
    return _result(whole, best, known_noise=all(one.known_noise for one in experiments), start=first)


class _Runs:
    """Scaled residuals of all experiments as a function of the parameters, as parts of their ranges."""

    def __init__(
        self, template: Template, experiments: list[Measurements], names: tuple[str, ...], low: Array, width: Array
    ) -> None:
        self.names, self.low, self.width, self.count = names, low, width, 0
        self.experiments = experiments
        self.jobs = [
            Job(_of_experiment(template, one, names), Sampled(tuple(one.t.tolist()), tuple(one.columns)))
            for one in experiments
        ]

    def parameters(self, x: Array) -> dict[str, float]:
        """Return the parameters by name."""
        return dict(zip(self.names, (self.low + self.width * x).tolist(), strict=True))

    def __call__(self, x: Array) -> Array:
        """Return all residuals, experiment by experiment and column by column."""
        self.count += len(self.jobs)
        return np.concatenate([self._one(job, one, x) for job, one in zip(self.jobs, self.experiments, strict=True)])

    def _one(self, job: Job, one: Measurements, x: Array) -> Array:
        values, scales = job(self.parameters(x)).values, one.scales()
        if not values:
            return np.full(len(one.t) * len(one.columns), FAR)
        return np.concatenate([
            (values[str(k)] - measured) / scales[name] for k, (name, measured) in enumerate(one.columns.items())
        ])  # fmt: skip

    def check(self, x: Array) -> None:
        """Raise InputError if a run fails where the fit begins: a column that it does not have, say."""
        for job in self.jobs:
            found = job(self.parameters(x))
            if not found.values:
                mend = "Compare columns that a run has (--columns, columns=), from a start that runs."
                raise InputError("the run that the fit begins with", found.reason, "a run with these columns", mend)

    def jacobian(self, x: Array, step: float) -> Array:
        """Return central differences, one-sided at the borders of the ranges."""
        columns = []
        for k in range(len(x)):
            ends = [np.clip(x[k] + d, 0.0, 1.0) for d in (-step, step)]
            sides = [self(np.r_[x[:k], end, x[k + 1 :]]) for end in ends]
            columns.append((sides[1] - sides[0]) / (ends[1] - ends[0]))
        return np.column_stack(columns)


def _of_experiment(template: Template, one: Measurements, names: tuple[str, ...]) -> Template:
    """Return the template with what was known in an experiment, ending with its last measurement."""
    both = sorted(set(one.fixed) & set(names))
    if both:
        raise InputError(
            "parameters",
            ", ".join(both),
            "parameters that no experiment fixes",
            f"Leave {both[0]!r} out of parameters=...",
        )
    t_end = float(one.t[-1]) if template.t_end is None else template.t_end
    fixed: dict[str, Number] = {**template.fixed, **one.fixed}
    made = Template(build=template.build, fixed=fixed, t_end=t_end, stepper=template.stepper, save=template.save,
                    examine=template.examine or "off")  # fmt: skip
    made.check(names)
    return made


def _ranges(template: Template, given: Sequence[str] | Mapping[str, Range]) -> tuple[tuple[str, ...], Array, Array]:
    """Return the names, and where each is looked for."""
    names = tuple(given)
    if isinstance(given, str) or not names or len(set(names)) < len(names):
        raise InputError(
            "parameters",
            repr(given),
            "names of parameters, each once, at least one",
            'Write parameters={"mu": (0.1, 0.9)}.',
        )
    ends = []
    for name in names:
        low, high = given[name] if isinstance(given, Mapping) else _range_of_scene(template, name)
        low, high = scalar(f"low of {name}", low), scalar(f"high of {name}", high)
        if not low < high:
            raise InputError(
                f"range of {name}",
                (low, high),
                "low < high",
                f"Write {{{name!r}: ({min(low, high):g}, {max(low, high) + (low == high):g})}}.",
            )
        ends.append((low, high))
    return names, *np.array(ends).T


def _range_of_scene(template: Template, name: str) -> Range:
    if not isinstance(template.build, str):
        mend = f'Write parameters={{"{name}": (low, high)}}.'
        raise InputError(f"range of {name}", "none", "a range, for a function of the parameters has none", mend)
    from ...scenes import catalogue

    template.check((name,))
    known = catalogue.parameters(template.build)[name]
    return known.min, known.max


def _start(
    template: Template, names: tuple[str, ...], low: Array, high: Array, given: Mapping[str, float] | None
) -> Array:
    """Return where to begin, as parts of the ranges."""
    usual = dict(zip(names, (low + high) / 2.0, strict=True))
    if isinstance(template.build, str):
        from ...scenes import catalogue

        usual |= {name: known.default for name, known in catalogue.parameters(template.build).items() if name in names}
    for name in given or {}:
        if name not in names:
            raise InputError("start", repr(name), ", ".join(names), f"Write start={{{names[0]!r}: 1.0}}.")
    values = np.array([scalar(f"start of {name}", (given or {}).get(name, usual[name])) for name in names])
    for name, x, a, b in zip(names, values, low, high, strict=True):
        if given is not None and name in given and not a <= x <= b:
            raise InputError(
                f"start of {name}", x, f"a number within its range, {a:g} to {b:g}", f"Write {name}={0.5 * (a + b):g}."
            )
    return np.asarray(np.clip((values - low) / (high - low), 0.0, 1.0))


def _searched(whole: _Runs, first: Array, count: int) -> list[Array]:
    """Return the best points of a search over the whole ranges, and of the start."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InputError("search", repr(count), "a number of points, an integer >= 0", "Write search=0.")
    drawn = qmc.Sobol(len(first), seed=SEED).random_base2(int(np.ceil(np.log2(max(count, 1)))))[:count]
    points = [first, *drawn]
    costs = [float(np.sum(whole(x) ** 2)) for x in points]
    return [points[k] for k in np.argsort(costs, kind="stable")[:STARTS]]


def _refined(whole: _Runs, x: Array, step: float, most: int) -> Any:
    """Return what least squares makes of a point."""
    inside = np.clip(x, BORDER, 1.0 - BORDER)
    return least_squares(whole, inside, jac=lambda y: whole.jacobian(y, step), bounds=(0.0, 1.0), max_nfev=most)


def _result(whole: _Runs, best: Any, *, known_noise: bool, start: Array) -> Fit:
    """Return the fit: values, intervals, and what cannot be told apart."""
    spread = spread_of(best.jac, float(best.cost), known_noise=known_noise)
    values = whole.parameters(best.x)
    loose = np.abs(spread.flat).max(axis=0, initial=0.0) > 1e-3  # parameters with a part in a flat direction
    half = spread.student * np.sqrt(np.diag(spread.covariance)) * whole.width
    intervals = {
        name: None if free else (value - float(h), value + float(h))
        for (name, value), h, free in zip(values.items(), half, loose, strict=True)
    }
    return Fit(
        values=values, intervals=intervals, rms=_rms(whole, best.fun), correlation=_correlation(spread, loose),
        singular_values=spread.singular_values, words=_words(whole, best, spread), runs=whole.count,
        flat=tuple(dict(zip(whole.names, row.tolist(), strict=True)) for row in spread.flat),
        cost=float(best.cost), converged=bool(best.status > 0), start=whole.parameters(start),
    )  # fmt: skip


def _correlation(spread: Spread, loose: Any) -> Array:
    size = np.sqrt(np.diag(spread.covariance))
    known = np.where(size > 0.0, size, 1.0)
    found = np.where(np.outer(size, size) > 0.0, spread.covariance / np.outer(known, known), np.eye(len(size)))
    found[loose], found[:, loose] = np.nan, np.nan
    return np.asarray(found)


def _words(whole: _Runs, best: Any, spread: Spread) -> tuple[str, ...]:
    """Return what to know about the fit."""
    said = [flat_words(whole.names, row) for row in spread.flat]
    for name, x in zip(whole.names, best.x, strict=True):
        if min(x, 1.0 - x) <= 10.0 * BORDER:
            said.append(f"{name} ends at the {'lower' if x < 0.5 else 'upper'} border of its range")
    if best.status <= 0:
        said.append("least squares was stopped by the number of its iterations")
    return tuple(said)


def _rms(whole: _Runs, residuals: Array) -> dict[str, float]:
    """Return the root mean square of what is left, column by column over all experiments."""
    squares: dict[str, list[Array]] = {}
    at = 0
    for one in whole.experiments:
        for name, scale in one.scales().items():
            squares.setdefault(name, []).append((residuals[at : at + len(one.t)] * scale) ** 2)
            at += len(one.t)
    return {name: float(np.sqrt(np.mean(np.concatenate(parts)))) for name, parts in squares.items()}
