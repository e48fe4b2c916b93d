"""Crossings of conditions that began a little below zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.integrate.dop853 import Tolerance, take
from gaussdyn.integrate.event_driven.event_location import LOCATED, Crossing, Seen, polished, zero_of
from gaussdyn.integrate.event_driven.guards import Guard

G, UP = 9.81, 1.65e-6


@pytest.mark.parametrize("below", [3e-13, 0.0])
def test_a_gap_that_rises_from_below_zero_and_stays_there_closes_as_it_falls(below):
    """Thrown up from -below it comes to UP^2 / 2 G above that, which is 1.4e-13: zero is reached from 0 only."""

    def slope(t, y):
        return np.array([y[1], -G])

    def look(t, y):
        return Seen(t, y[:1].copy(), y[1:].copy())

    def redo(h):
        return take(slope, 0.0, start, slope(0.0, start), h, Tolerance(1e-12, np.full(2, 1e-12)))

    start = np.array([-below, UP])
    offset, falls = below + 1e-15, 2.0 * UP / G
    seen = (UP + math.sqrt(UP * UP + 2.0 * G * (offset - below))) / G
    found = Crossing(t=seen, guard=Guard("touchdown", "gap", 0, "place"), k=0)
    t, y = polished(redo(2.0 * falls), redo, look, found, offset)
    assert y[1] < 0.0
    assert t == pytest.approx(falls, rel=1e-2)
    assert y[0] == pytest.approx(-below, abs=2e-15)


@pytest.mark.parametrize("past", [0.0, 1e-12])
def test_a_contact_that_goes_on_past_the_end_of_its_features_is_asked_again_further_on(past):
    """It was at the end as the step began, or hardly beyond: that is no place to stop at, again and again."""

    def slope(t, y):
        return np.array([-1.0])

    def look(t, y):
        return Seen(t, y.copy(), np.array([np.nan]))

    def redo(h):
        return take(slope, 0.0, start, slope(0.0, start), h, Tolerance(1e-12, np.full(1, 1e-12)))

    start, offset = np.array([-past]), 1e-9
    found = Crossing(t=offset - past, guard=Guard("end", "corner", 0, "place"), k=0)
    t, y = polished(redo(1e-3), redo, look, found, offset)
    assert t == pytest.approx(offset - past, rel=1e-6)
    assert y[0] == pytest.approx(-offset, rel=1e-6)


@pytest.mark.parametrize("bend", [0.0, 1.0, 40.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_zero_is_found_between_signs(bend, sign):
    root = 0.37

    def g(t):
        looked.append(t)
        return sign * math.sinh((t - root) * (1.0 + bend)) + sign * bend * (t - root) ** 3

    looked = []
    found = zero_of(g, (-1.0, g(-1.0)), (2.0, g(2.0)), LOCATED)
    assert found == pytest.approx(root, abs=LOCATED)
    assert len(looked) < 60
    assert all(-1.0 <= t <= 2.0 for t in looked)
