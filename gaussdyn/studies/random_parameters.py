"""Samples of parameters: the numbers of run k are a function of the seed and of k, whoever draws them and when."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._show import brief
from ..arrays import Array, scalar
from ..errors import InputError
from .parameter_sets import MOST_RUNS, named

Pair = tuple[float, float]
MOST_SOBOL = 2**30  # points that scipy's generator of 30 bits tells apart


class Sample(ABC):
    """What all samples share: points of the unit box or the normal distribution, shifted and scaled.

    Attributes
    ----------
    given : str
        Name of the field that holds a pair of numbers for every parameter.
    count : int
    seed : int or None
    """

    __slots__ = ()
    __repr__ = brief
    given: ClassVar[str]
    count: int
    seed: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.pairs())

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.count

    def pairs(self) -> Mapping[str, Pair]:
        """Return what was given for every parameter."""
        found: Mapping[str, Pair] = getattr(self, self.given)
        return found

    def columns(self, start: int, stop: int) -> dict[str, Array]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        points = self.points(start, stop)
        scales = enumerate(self.pairs().items())
        return {name: first + self.width(first, second) * points[:, k] for k, (name, (first, second)) in scales}

    def settings(self) -> dict[str, Any]:
        """Return the kind of the sample, pairs, count and seed."""
        pairs = {name: list(pair) for name, pair in self.pairs().items()}
        return {"kind": type(self).__name__.lower(), self.given: pairs, "count": self.count, "seed": self.seed}

    @abstractmethod
    def points(self, start: int, stop: int) -> Array:
        """Return the points of the runs start to stop - 1, shape (stop - start, parameters)."""

    @staticmethod
    def width(low: float, high: float) -> float:
        """Return what points are multiplied by."""
        return high - low


@dataclass(frozen=True, slots=True, repr=False)
class Sobol(Sample):
    """Points of a Sobol sequence: they fill the box more evenly than random ones.

    Parameters
    ----------
    ranges : mapping of str to (low, high)
        Of every parameter, in its SI unit.
    count : int
        A power of two, at most 2^30: only then the points are balanced.
    seed : int or None
        Scrambles the points; None leaves the sequence as it is, with its first point in the lower corner.

    Raises
    ------
    InputError
        Ranges, count or seed cannot be used.

    Notes
    -----
    scipy.stats.qmc.Sobol; Joe and Kuo, SIAM J. Sci. Comput. 30 (2008), with the scrambling of Matousek (1998).
    """

    ranges: Mapping[str, Pair]
    count: int
    seed: int | None = 0

    given = "ranges"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _ranges(self.ranges))
        _check_count(self.count)
        if self.seed is not None:
            _check_seed(self.seed)
        if self.count & (self.count - 1) or self.count > MOST_SOBOL:
            near = 2 ** min(round(math.log2(self.count)), 30)
            raise InputError(
                "count", self.count, "a power of two, at most 2**30", f"The nearest is {near}: count={near}."
            )

    def points(self, start: int, stop: int) -> Array:
        """Return points of the sequence."""
        return sobol_points(len(self.ranges), self.seed, start, stop)


@dataclass(frozen=True, slots=True, repr=False)
class Saltelli(Sample):
    """Runs from which `sobol_indices` tells how much each parameter matters.

    Parameters
    ----------
    ranges : mapping of str to (low, high)
        Of every parameter, in its SI unit: uniform and independent.
    count : int
        Base points, a power of two; d parameters need count (d + 2) runs.
    seed : int or None
        Scrambles the points, see `Sobol`.

    Raises
    ------
    InputError
        Ranges, count or seed cannot be used.

    Notes
    -----
    A base point are two points a and b of the box. Its runs: a, then a with one coordinate after the other taken from
    b, then b. Saltelli et al., Computer Physics Communications 181 (2010).
    """

    ranges: Mapping[str, Pair]
    count: int
    seed: int | None = 0

    given = "ranges"

    def __post_init__(self) -> None:
        checked = Sobol(self.ranges, self.count, self.seed)
        object.__setattr__(self, "ranges", checked.ranges)

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.count * self.group

    @property
    def group(self) -> int:
        """Runs of a base point."""
        return len(self.ranges) + 2

    def points(self, start: int, stop: int) -> Array:
        """Return the points of the runs start to stop - 1, shape (stop - start, parameters)."""
        d, first, last = len(self.ranges), start // self.group, -(-stop // self.group)
        base = sobol_points(2 * d, self.seed, first, last)
        runs = np.repeat(base[:, None, :d], self.group, axis=1)
        for i in range(d):
            runs[:, 1 + i, i] = base[:, d + i]
        runs[:, -1] = base[:, d:]
        found: Array = runs.reshape(-1, d)[start - first * self.group : stop - first * self.group]
        return found


@dataclass(frozen=True, slots=True, repr=False)
class Uniform(Sample):
    """Independent random numbers, each uniform in its range.

    Parameters
    ----------
    ranges : mapping of str to (low, high)
        Of every parameter, in its SI unit.
    count : int
        Number of runs. A longer study begins with the runs of a shorter one.
    seed : int
        >= 0.

    Raises
    ------
    InputError
        Ranges, count or seed cannot be used.

    Notes
    -----
    Philox, a generator by counter: run k takes the numbers at counter k. Salmon et al., SC 2011.
    """

    ranges: Mapping[str, Pair]
    count: int
    seed: int = 0

    given = "ranges"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _ranges(self.ranges))
        _check_count(self.count)
        _check_seed(self.seed)

    def points(self, start: int, stop: int) -> Array:
        """Return numbers between 0 and 1."""
        size = len(self.ranges)
        return np.array([generator(self.seed, k).random(size) for k in range(start, stop)]).reshape(-1, size)


@dataclass(frozen=True, slots=True, repr=False)
class Normal(Sample):
    """Independent random numbers, each normally distributed: tolerances of parts, noise of measurements.

    Parameters
    ----------
    distributions : mapping of str to (mean, standard deviation)
        Of every parameter, in its SI unit; the deviation is >= 0.
    count : int
        Number of runs. A longer study begins with the runs of a shorter one.
    seed : int
        >= 0.

    Raises
    ------
    InputError
        Distributions, count or seed cannot be used.
    """

    distributions: Mapping[str, Pair]
    count: int
    seed: int = 0

    given = "distributions"

    def __post_init__(self) -> None:
        pairs = {name: _pair(name, pair) for name, pair in named("distributions", self.distributions).items()}
        for name, (_, deviation) in pairs.items():
            scalar(f"standard deviation of {name}", deviation, low=0.0)
        object.__setattr__(self, "distributions", pairs)
        _check_count(self.count)
        _check_seed(self.seed)

    def points(self, start: int, stop: int) -> Array:
        """Return numbers of the standard normal distribution."""
        size = len(self.distributions)
        return np.array([generator(self.seed, k).standard_normal(size) for k in range(start, stop)]).reshape(-1, size)

    @staticmethod
    def width(low: float, high: float) -> float:
        """Return the standard deviation."""
        return high


def sobol_points(dimension: int, seed: int | None, start: int, stop: int) -> Array:
    """Return points start to stop - 1 of a Sobol sequence, shape (stop - start, dimension)."""
    from scipy.stats import qmc

    draw = None if seed is None else np.random.default_rng(seed)
    sequence = qmc.Sobol(dimension, scramble=draw is not None, seed=draw)
    if start:
        sequence.fast_forward(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a part of the points need not be balanced
        found: Array = sequence.random(stop - start)
    return found


def generator(seed: int, index: int) -> np.random.Generator:
    """Return the generator of one run: far from that of every other run of the same seed."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, index, 0]))


def _ranges(given: object) -> dict[str, Pair]:
    """Return ranges with low < high."""
    found = {name: _pair(name, pair) for name, pair in named("ranges", given).items()}
    for name, (low, high) in found.items():
        if low >= high:
            raise InputError(
                f"range of {name}",
                f"({low:g}, {high:g})",
                "(low, high) with low < high",
                f"Write {{{name!r}: ({min(low, high):g}, {max(low, high) + (low == high):g})}}.",
            )
    return found


def _pair(name: str, pair: Any) -> Pair:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise InputError(name, repr(pair), "two numbers", f"Write {name}=(0.0, 1.0).")
    return scalar(name, pair[0]), scalar(name, pair[1])


def _check_count(count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count < MOST_RUNS:
        raise InputError("count", repr(count), f"a number of runs, 1 to {MOST_RUNS}", "Write count=1000.")


def _check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("seed", repr(seed), "an integer from 0 to 2**64 - 1", "Write seed=0.")
