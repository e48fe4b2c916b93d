"""Sensitivities and basins of studies, against closed forms and another library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn import InputError, study
from gaussdyn.studies import Grid, Saltelli, Study, Uniform, basins, sobol_indices
from tests.studies.users_module import end, falls_into_a_well, ishigami, number, placed, square

BOX = dict.fromkeys("xyz", (-math.pi, math.pi))
A, B = 7.0, 0.1  # of Ishigami's function


@pytest.fixture(scope="module")
def found() -> Study:
    return study(placed, Saltelli(BOX, count=1024), ishigami, where=1)


def test_indices_are_those_of_the_closed_form(found) -> None:
    """Ishigami and Homma, 1990: parts of the variance of sin x + A sin^2 y + B z^4 sin x."""
    alone = 0.5 * (1 + B * math.pi**4 / 5) ** 2, A**2 / 8, 0.0
    xz = 8 * B**2 * math.pi**8 / 225
    variance = sum(alone) + xz
    made = sobol_indices(found, "f")
    assert made.names == ("x", "y", "z")
    assert (made.left_out, made.first_error.max() < 0.1) == (0, True)
    np.testing.assert_allclose(made.first, np.array(alone) / variance, atol=0.02)
    np.testing.assert_allclose(made.total, np.add(alone, [xz, 0.0, xz]) / variance, atol=0.02)


def test_indices_are_those_of_another_library(found) -> None:
    sobol = pytest.importorskip("SALib.analyze.sobol")
    problem = {"num_vars": 3, "names": list("xyz"), "bounds": [[-math.pi, math.pi]] * 3}
    other = sobol.analyze(problem, found.values["f"], calc_second_order=False, seed=1)
    made = sobol_indices(found, "f")
    np.testing.assert_allclose(made.first, other["S1"], atol=1e-3)
    np.testing.assert_allclose(made.total, other["ST"], atol=1e-3)
    np.testing.assert_allclose(made.first_error, other["S1_conf"], rtol=0.5, atol=1e-3)


def test_particles_fall_into_the_well_on_their_side() -> None:
    """Let go at rest below the top of the hill, |x| < sqrt 2, none comes over it; they end at -1 and 1."""
    x = np.array([-1.3, -0.7, -0.1, 0.2, 0.9, 1.35])
    made = basins(study(falls_into_a_well, Grid({"x": x}), end, where=1), "x", tolerance=1e-3)
    np.testing.assert_array_equal(made.ends[made.label, 0] > 0, x > 0)
    np.testing.assert_allclose(made.ends, [[-1.0], [1.0]], atol=1e-3)
    np.testing.assert_allclose(made.share, [0.5, 0.5])


def test_runs_that_fail_belong_to_no_basin() -> None:
    made = basins(study(falls_into_a_well, {"x": [0.5, 1e200]}, end, where=1), "x", 1e-3)
    assert list(made.label) == [0, -1]
    assert list(made.share) == [0.5]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda found: sobol_indices(found, "g"), "a single number among f"),
        (lambda found: sobol_indices(found[:10], "f"), "all runs of a Saltelli"),
        (lambda found: sobol_indices(study(number, Uniform({"x": (0, 1)}, 3), square, where=1), "square"), "Saltelli"),
        (lambda found: sobol_indices(found, "f", resamples=1), "resamples"),
        (lambda found: basins(found, "g", 1.0), "single numbers among f"),
        (lambda found: basins(found, "f", 0.0), "tolerance"),
    ],
)
def test_what_cannot_be_used_is_refused(found, make, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make(found)
