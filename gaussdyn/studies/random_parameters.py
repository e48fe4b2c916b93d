"""Samples of parameters: the numbers of run k are a function of the seed and of k, whoever draws them and when."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._show import brief
from ..arrays import scalar
from ..errors import InputError
from .parameter_sets import MOST_RUNS, named

Pair = tuple[float, float]
MOST_SOBOL = 2**30  # points that scipy's generator of 30 bits tells apart


@dataclass(frozen=True, slots=True)
class Sobol:
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

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _ranges(self.ranges))
        _check_count(self.count)
        if self.seed is not None:
            _check_seed(self.seed)
        if self.count & (self.count - 1) or self.count > MOST_SOBOL:
            near = 2 ** min(round(math.log2(self.count)), 30)
            raise InputError("count", self.count, "a power of two, at most 2**30", f"The nearest is {near}.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.ranges)

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.count

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        from scipy.stats import qmc

        draw = None if self.seed is None else np.random.default_rng(self.seed)
        sequence = qmc.Sobol(len(self.ranges), scramble=draw is not None, seed=draw)
        if start:
            sequence.fast_forward(start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a part of the points need not be balanced
            points = sequence.random(stop - start)
        return {name: low + (high - low) * points[:, k] for k, (name, (low, high)) in enumerate(self.ranges.items())}

    def settings(self) -> dict[str, Any]:
        """Return ranges, count and seed."""
        return {"kind": "sobol", "ranges": _plain(self.ranges), "count": self.count, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class Uniform:
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

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _ranges(self.ranges))
        _check_count(self.count)
        _check_seed(self.seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.ranges)

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.count

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        drawn = np.array([generator(self.seed, k).random(len(self.ranges)) for k in range(start, stop)])
        drawn = drawn.reshape(-1, len(self.ranges))
        return {name: low + (high - low) * drawn[:, k] for k, (name, (low, high)) in enumerate(self.ranges.items())}

    def settings(self) -> dict[str, Any]:
        """Return ranges, count and seed."""
        return {"kind": "uniform", "ranges": _plain(self.ranges), "count": self.count, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class Normal:
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

    __repr__ = brief

    def __post_init__(self) -> None:
        pairs = {name: _pair(name, pair) for name, pair in named("distributions", self.distributions).items()}
        for name, (_, deviation) in pairs.items():
            scalar(f"standard deviation of {name}", deviation, low=0.0)
        object.__setattr__(self, "distributions", pairs)
        _check_count(self.count)
        _check_seed(self.seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.distributions)

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.count

    def columns(self, start: int, stop: int) -> dict[str, Any]:
        """Return the parameters of the runs start to stop - 1, each of shape (stop - start,)."""
        size = len(self.distributions)
        drawn = np.array([generator(self.seed, k).standard_normal(size) for k in range(start, stop)]).reshape(-1, size)
        pairs = enumerate(self.distributions.items())
        return {name: mean + deviation * drawn[:, k] for k, (name, (mean, deviation)) in pairs}

    def settings(self) -> dict[str, Any]:
        """Return distributions, count and seed."""
        return {
            "kind": "normal", "distributions": _plain(self.distributions), "count": self.count, "seed": self.seed,
        }  # fmt: skip


def generator(seed: int, index: int) -> np.random.Generator:
    """Return the generator of one run: far from that of every other run of the same seed."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, index, 0]))


def _ranges(given: object) -> dict[str, Pair]:
    """Return ranges with low < high."""
    found = {name: _pair(name, pair) for name, pair in named("ranges", given).items()}
    for name, (low, high) in found.items():
        if low >= high:
            raise InputError(f"range of {name}", f"({low:g}, {high:g})", "(low, high) with low < high")
    return found


def _pair(name: str, pair: Any) -> Pair:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise InputError(name, repr(pair), "two numbers")
    return scalar(name, pair[0]), scalar(name, pair[1])


def _plain(pairs: Mapping[str, Pair]) -> dict[str, list[float]]:
    return {name: list(pair) for name, pair in pairs.items()}


def _check_count(count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count < MOST_RUNS:
        raise InputError("count", repr(count), f"a number of runs, 1 to {MOST_RUNS}")


def _check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("seed", repr(seed), "an integer from 0 to 2**64 - 1")
