"""Where conditions fall below zero, also those that began a little below it, and that none does where all are far."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gaussdyn.integrate.dop853 import TABLE, TIMES, Tolerance, take
from gaussdyn.integrate.event_driven import event_location
from gaussdyn.integrate.event_driven.compiled.phase_steps import LOOKED
from gaussdyn.integrate.event_driven.event_location import LOCATED, Crossing, Search, Seen, far, polished, zero_of
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


def seen_at(x, curves, known, h):
    """Return curves and their rates at the beginning of a stretch, at its part x and at its end, as kernels do."""
    rates = [np.polynomial.Polynomial(c).deriv() for c in curves]
    lines = []
    for at in (0.0, x, 1.0):
        lines.append([np.polynomial.Polynomial(c)(at) for c in curves])
        lines.append([rate(at) / h if told else np.nan for rate, told in zip(rates, known, strict=True)])
    return np.array(lines)


def test_nothing_is_zero_in_a_stretch_where_all_is_far_from_it_at_a_stage():
    rng, none, many, h = np.random.default_rng(0), np.zeros(2), 0, 0.3
    known, x, dense = (True, False), TABLE[TIMES, LOOKED], np.linspace(0.0, 1.0, 201)
    for _ in range(3000):
        curves = rng.normal(size=(2, 7)) * rng.choice([0.1, 0.3, 0.6]) ** np.arange(7)
        if far(seen_at(x, curves, known, h), none, h, x):
            many += 1
            assert min(np.polynomial.Polynomial(c)(dense).min() for c in curves) > 0.0
            seen = seen_at(0.5, curves, known, h)
            assert event_location.judged(seen, none, none, h) == event_location.QUIET
    assert many > 300


def test_redundant_reactions_are_shared_for_the_zero_of_a_force_and_not_for_that_of_a_gap():
    def seen(t, shared):
        return Seen(t, np.array([math.cos(t), shared * (1.0 - t * t)]), np.array([-math.sin(t), np.nan]))

    def look(t):
        shares.append(t)
        return seen(t, 1.0)

    gap, force = Guard("touchdown", "gap", 0, "place"), Guard("lift_off", "gap", 0, "force")
    phase, shares = SimpleNamespace(guards=(gap, force), redundant=True), []
    search = Search(phase, look, *np.zeros((2, 2)), lambda t: seen(t, np.nan))
    assert search._cut(1.5, 1.7, 0).t == pytest.approx(math.pi / 2, abs=1e-12)
    assert not shares
    found, _ = search.first(seen(0.5, 1.0), seen(2.0, 1.0))
    assert (found.guard, found.t) == (force, pytest.approx(1.0, abs=1e-12))
    assert shares
