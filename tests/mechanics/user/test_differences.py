"""Derivatives from values alone: accuracy on smooth functions, patience with kinks and borders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.mechanics.user.differences import derivative, gradient

CASES = {
    "sine": (lambda s: np.sin(1 + s), np.cos(1), -np.sin(1)),
    "square": (lambda s: (1 + s) ** 2, 2.0, 2.0),
    "distance": (lambda s: np.hypot(1 + s, 0.3), 1 / np.hypot(1, 0.3), 0.09 / np.hypot(1, 0.3) ** 3),
    "fast": (lambda s: np.sin(50 * s + 1), 50 * np.cos(1), -2500 * np.sin(1)),
    "near a border": (lambda s: np.sqrt(0.01 + s), 5.0, -250.0),
    "near a kink": (lambda s: abs(0.05 + s) + np.exp(s), 2.0, 1.0),
    "small": (lambda s: np.hypot(1e-3 + s, 2e-3), 1 / np.sqrt(5), 4e-6 / np.sqrt(5e-6) ** 3),
    "constant": (lambda s: 3.0, 0.0, 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivative(name):
    f, first, second = CASES[name]
    assert derivative(name, f)[0] == pytest.approx(first, rel=1e-11, abs=1e-12)
    assert derivative(name, f, order=2)[0] == pytest.approx(second, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("hertz", [8, 16, 40, 50, 64, 100, 128])
def test_a_function_that_repeats_itself_with_the_steps_is_not_constant(hertz):
    w = 2 * np.pi * hertz
    assert derivative("table", lambda s: 1e-4 * np.sin(w * s + 0.3))[0] == pytest.approx(
        1e-4 * w * np.cos(0.3), rel=1e-9
    )
    second = derivative("table", lambda s: 1e-4 * np.cos(w * s), order=2)[0]
    assert second == pytest.approx(-1e-4 * w * w, rel=1e-9)


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("spin", [0.3, 3.0])
def test_the_unit_of_length_does_not_matter(length, spin):
    # the distance from a circle along its tangent: as good in mm as in m
    v = spin * length
    found = derivative("rim", lambda s: np.hypot(length, s * v), order=2, speed=v)[0]
    assert found == pytest.approx(spin * v, rel=1e-10)


def test_a_function_may_raise_outside_of_its_domain():
    assert derivative("border", lambda s: math.sqrt(0.01 + s))[0] == pytest.approx(5.0, rel=1e-11)
    with pytest.raises(InputError, match=r"^edge: given NaN"):
        derivative("edge", math.sqrt)


def test_large_numbers_that_cancel():
    # 1000 - |q| with q of length 1000: the rounding of q is above that of the small difference
    found = derivative("gap", lambda s: 1000.0 - np.hypot(600.0 + 0.8 * s, 800.0 - 0.6 * s), order=2, noise=2e-13)
    assert found[0] == pytest.approx(-1e-3, abs=1e-9)


def test_vectors_and_gradients():
    both = derivative("f", lambda s: [np.sin(s), np.exp(2 * s)])
    np.testing.assert_allclose(both, [1.0, 2.0], atol=1e-13)
    slope = gradient("f", lambda x: [x[0] * x[1], x[1] ** 3], np.array([2.0, 3.0]))
    np.testing.assert_allclose(slope, [[3.0, 2.0], [0.0, 27.0]], atol=1e-11)


def test_no_derivative_is_an_error():
    with pytest.raises(InputError, match=r"^hole: given NaN"):
        derivative("hole", lambda s: 1.0 if s == 0 else np.nan)


def test_other_numbers_beside_the_state_are_an_error():
    with pytest.raises(InputError, match=r"numbers of gap: given 1 at the state and 3 beside it.*\n?.*Write"):
        derivative("gap", lambda s: 1.0 if s == 0 else [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"given 2 at the state and 1 beside"):
        derivative("gap", lambda s: [1.0, 2.0] if s == 0 else 1.0)
    for root in (lambda s: np.emath.sqrt(s - 1.0), lambda s: 1.0 if s == 0 else 1j):
        with pytest.raises(InputError, match=r"^root: given complex numbers.*real"):
            derivative("root", root)
