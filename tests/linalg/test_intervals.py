"""Intervals hold what exact arithmetic gives; zeros in a box are all found, each once."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from evidence import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.linalg import intervals
from gaussdyn.linalg.intervals import FUNCTIONS, Interval
from gaussdyn.linalg.isolate import isolate

number = st.floats(-1e6, 1e6, allow_subnormal=False)


def ordered(a, b):
    return Interval(np.array([min(a, b)]), np.array([max(a, b)]))


def holds(box, exact):
    return Fraction(float(box.lo[0])) <= exact <= Fraction(float(box.hi[0]))


@settings(max_examples=examples(60), deadline=None)
@given(number, number, number, number, st.floats(0, 1), st.floats(0, 1))
def test_arithmetic_holds_the_exact_result(a, b, c, d, s, t):
    X, Y = ordered(a, b), ordered(c, d)
    x = Fraction(float(np.clip(X.lo[0] + s * (X.hi[0] - X.lo[0]), X.lo[0], X.hi[0])))
    y = Fraction(float(np.clip(Y.lo[0] + t * (Y.hi[0] - Y.lo[0]), Y.lo[0], Y.hi[0])))
    for found, exact in ((X + Y, x + y), (X - Y, x - y), (X * Y, x * y), (X**2, x**2), (X**3, x**3), (2.0 - X, 2 - x)):
        assert holds(found, exact)
    if y != 0:
        quotient = X / Y
        assert np.isinf(quotient.lo[0]) or np.isinf(quotient.hi[0]) or holds(quotient, x / y)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_hold_what_many_digits_give(name):
    rng, plain = np.random.default_rng(3), getattr(mpmath, name)
    scale, shift = (0.9, 0.0) if name in ("asin", "acos") else (3.0, 4.0) if name in ("sqrt", "log") else (3.0, 0.0)
    ends = np.sort(shift + scale * rng.uniform(-1, 1, (60, 2)), axis=1)
    boxes = FUNCTIONS[name](Interval(ends[:, 0], ends[:, 1]))
    with mpmath.workdps(40):
        for k, (a, b) in enumerate(ends):
            for share in (0.0, 0.31, 0.77, 1.0):
                exact = plain(min(max(mpmath.mpf(a) + share * (mpmath.mpf(b) - a), a), b))
                assert mpmath.mpf(float(boxes.lo[k])) <= exact <= mpmath.mpf(float(boxes.hi[k]))


def test_extremes_inside_are_seen():
    X = Interval(np.array([1.0, -2.0]), np.array([2.0, 1.0]))
    assert intervals.sin(X).hi.tolist() == [1.0, intervals.sin(X).hi[1]]
    assert intervals.sin(X).lo[1] == -1.0
    assert intervals.cosh(X).lo[1] <= 1.0 <= intervals.cosh(X).hi[1]
    assert (X**2).lo.tolist() == [np.nextafter(1.0, 0.0), 0.0]
    assert np.isinf((1.0 / X).hi[1])


def circle_and_line(X):
    x, y = X
    return [x * x + y * y - 1.0, y - x]


def slopes(X):
    x, y = X
    one = Interval(np.ones_like(x.lo))
    return [[x * 2.0, y * 2.0], [-one, one]]


def test_all_zeros_are_found_once_and_enclosed():
    found = isolate(circle_and_line, slopes, [-2.0, -2.0], [2.0, 2.0])
    root = np.sqrt(0.5)
    assert found.complete
    assert len(found.points) == 2
    assert np.allclose(np.sort(found.points[:, 0]), [-root, root], atol=1e-14)
    assert ((found.hi - found.lo) < 1e-13).all()
    none = isolate(circle_and_line, slopes, [1.0, -2.0], [2.0, 0.5])
    assert none.complete
    assert len(none.points) == 0


def test_zeros_on_the_cuts_are_found_once():
    roots = np.arange(-8, 9) / 4.0

    def f(X):
        value = Interval(np.ones_like(X[0].lo))
        for root in roots[::4]:
            value = value * (X[0] - root)
        return [value]

    def df(X):
        total = Interval(np.zeros_like(X[0].lo))
        for skip in roots[::4]:
            part = Interval(np.ones_like(X[0].lo))
            for root in roots[::4]:
                part = part * (X[0] - root) if root != skip else part
            total = total + part
        return [[total]]

    found = isolate(f, df, [-2.5], [2.5])
    assert found.complete
    assert np.allclose(np.sort(found.points[:, 0]), roots[::4], atol=1e-13)


def test_a_double_zero_is_left_undecided():
    found = isolate(lambda X: [X[0] ** 2], lambda X: [[X[0] * 2.0]], [-1.0], [1.3])
    assert not found.complete
    assert len(found.points) == 0
    assert np.abs(found.left).max() < 1e-6
