"""Passes are extrapolated: a linear map with few slow directions is at its fixed point after as many passes."""

import numpy as np
import pytest

from gaussdyn.integrate.time_stepping.extrapolation import DEPTH, USED, extrapolate, forget_passes, note_pass, trail_of


def passes_of(map_of, m, count):
    """Return the last guess after so many passes that are extrapolated, and what is left of it."""
    trail, x = trail_of(m), np.zeros(m)
    trail.weight[:] = np.linspace(0.1, 3.0, m)
    forget_passes(trail)
    for _ in range(count):
        found = map_of(x)
        note_pass(trail, x, found)
        x = x.copy()
        extrapolate(trail, x)
    assert trail.counts[USED] == count
    return x


@pytest.mark.parametrize("rates", [(0.9,), (1.7, -0.8), (-3.0, 0.95, 0.4)], ids=str)
def test_slow_directions_are_found_however_passes_grow_along_them(rates):
    rng = np.random.default_rng(len(rates))
    basis = rng.normal(size=(12, 12))
    slope = basis @ np.diag([*rates, *np.zeros(12 - len(rates))]) @ np.linalg.inv(basis)
    offset = rng.normal(size=12)
    x = passes_of(lambda x: slope @ x + offset, 12, len(rates) + 2)
    assert len(rates) <= DEPTH
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(12) - slope, offset), rtol=1e-9)


def test_passes_that_stand_still_stay():
    x = passes_of(lambda x: np.full(6, 2.0), 6, 5)
    np.testing.assert_array_equal(x, 2.0)
