"""Parameters of studies: every run is addressed by its index, however the runs are shared out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn import InputError
from gaussdyn.studies import Cases, Grid, MeanWithin, Normal, Saltelli, ShareWithin, Sobol, Uniform
from gaussdyn.studies.parameter_sets import at, parameter_set

BOX = {"mu": (0.1, 0.9), "slope": (-1.0, 1.0)}
SETS = [
    Grid({"mu": [0.1, 0.2, 0.3], "n": [1, 2, 3, 4]}),
    Cases([{"mu": 0.1 * k, "n": k} for k in range(16)]),
    Sobol(BOX, count=16, seed=3),
    Sobol(BOX, count=16, seed=None),
    Saltelli(BOX, count=4, seed=3),
    Uniform(BOX, count=16, seed=3),
    Normal(BOX | {"slope": (0.0, 0.1)}, count=16, seed=3),
]


@pytest.mark.parametrize("runs", SETS, ids=lambda runs: type(runs).__name__)
@settings(deadline=None)
@given(cuts=st.sets(st.integers(1, 11)))
def test_parameters_depend_on_the_index_alone(runs, cuts: set[int]) -> None:
    whole = runs.columns(0, 12)
    parts = [runs.columns(a, b) for a, b in itertools.pairwise([0, *sorted(cuts), 12])]
    for name in runs.names:
        assert np.concatenate([part[name] for part in parts]).tobytes() == whole[name].tobytes()
    assert at(runs, 7) == {name: whole[name][7].item() for name in runs.names}


def test_a_grid_is_the_product_of_its_axes_and_keeps_whole_numbers() -> None:
    grid = Grid({"mu": [0.1, 0.2], "n": [1, 2, 3]})
    found = [at(grid, k) for k in range(len(grid))]
    assert found == [{"mu": mu, "n": n} for mu, n in itertools.product([0.1, 0.2], [1, 2, 3])]
    assert isinstance(found[0]["n"], int)


def test_samples_lie_in_their_ranges_and_other_seeds_give_others() -> None:
    for kind in (Sobol, Uniform):
        one, other = (kind(BOX, count=64, seed=seed).columns(0, 64) for seed in (1, 2))
        for name, (low, high) in BOX.items():
            assert low <= one[name].min() <= one[name].max() <= high
            assert not np.array_equal(one[name], other[name])


def test_a_sobol_sequence_puts_one_point_into_every_equal_part() -> None:
    x = Sobol({"x": (0.0, 1.0)}, count=64, seed=5).columns(0, 64)["x"]
    assert sorted(np.floor(64 * x)) == list(range(64))


def test_a_longer_random_study_begins_with_the_shorter_one() -> None:
    for kind in (Uniform, Normal):
        short, long = kind({"mu": (0.3, 0.4)}, count=5), kind({"mu": (0.3, 0.4)}, count=50)
        assert np.array_equal(short.columns(0, 5)["mu"], long.columns(0, 5)["mu"])


def test_mappings_are_grids_and_lists_are_cases() -> None:
    assert isinstance(parameter_set({"mu": [0.1]}), Grid)
    assert isinstance(parameter_set([{"mu": 0.1}]), Cases)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Grid({}), "at least one"),
        (lambda: Grid({"mu": []}), "at least one"),
        (lambda: Grid({"mu": [0.1, math.nan]}), "nan at index 1"),
        (lambda: Grid({"mu": ["much"]}), "finite numbers"),
        (lambda: Grid({"a/b": [1.0]}), "without /"),
        (lambda: Cases([]), "at least one"),
        (lambda: Cases([{"mu": 0.1}, {"nu": 0.1}]), "names of the first case: mu"),
        (lambda: Sobol(BOX, count=100), "The nearest is 128"),
        (lambda: Uniform({"mu": (0.9, 0.1)}, count=3), "low < high"),
        (lambda: Uniform(BOX, count=0), "a number of runs"),
        (lambda: Uniform(BOX, count=3, seed=-1), "an integer from 0"),
        (lambda: Normal({"mu": (0.3, -0.1)}, count=3), ">= 0"),
        (lambda: parameter_set(3), "Grid, Cases"),
        (lambda: MeanWithin(name="x", error=0.0), "> 0"),
        (lambda: Saltelli(BOX, count=100), "The nearest is 128"),
        (lambda: ShareWithin(name="x", low=1.0, high=1.0, error=0.1), "low < high"),
        (lambda: ShareWithin(name="x", low=1.0, error=0.1, confidence=1.0), "confidence"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once(make, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make()


def test_a_mean_is_known_when_its_interval_is_narrow() -> None:
    x = np.random.default_rng(0).standard_normal(200)
    mean = MeanWithin(name="x", error=0.25)
    for value in x:
        mean.add({}, {"x": np.array(value)})
        mean.add({}, None)
        if mean.converged:
            break
    n = mean.count

    assert mean.value()["count"] == mean.value()["left_out"] < 200
    assert abs(mean.mean - x[:n].mean()) < 1e-14
    assert abs(mean.half_width - 1.959963984540054 * x[:n].std(ddof=1) / math.sqrt(n)) < 1e-14


def test_runs_of_a_base_point_differ_in_one_coordinate_each() -> None:
    runs = Saltelli(BOX, count=8, seed=1)
    assert len(runs) == 32
    x = np.stack([runs.columns(0, 32)[name] for name in BOX], axis=1).reshape(8, 4, 2)
    a, b = x[:, 0], x[:, -1]
    assert (a != b).all()
    for i in range(2):
        other = 1 - i
        np.testing.assert_array_equal(x[:, 1 + i, i], b[:, i])
        np.testing.assert_array_equal(x[:, 1 + i, other], a[:, other])


def test_a_share_is_known_when_its_interval_is_narrow() -> None:
    """Wilson's interval holds the p for which the number within is just z standard deviations off n p."""
    x = np.random.default_rng(0).standard_normal(2000)
    share = ShareWithin(name="x", low=-1.0, high=1.0, error=0.05)
    for value in x:
        share.add({}, {"x": np.array(value)})
        if share.converged:
            break
    n = share.count
    assert 30 < n < 2000
    assert share.within == (np.abs(x[:n]) <= 1.0).sum()
    for p in share.interval:
        assert abs(abs(share.within - n * p) / math.sqrt(n * p * (1 - p)) - 1.959963984540054) < 1e-9
    share.add({}, None)
    share.add({}, {"x": np.array(math.nan)})
    assert (share.count, share.within) == (n + 2, (np.abs(x[:n]) <= 1.0).sum())
