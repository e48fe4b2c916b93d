"""Laws of friction taken apart."""

from __future__ import annotations

import pytest
import sympy as sp

from gaussdyn.errors import InputError
from gaussdyn.mechanics.slip_law import slip_law

w, mu, alpha = sp.symbols("w mu alpha")


def test_a_smooth_rest_and_one_with_a_kink():
    law = slip_law(mu * (sp.sign(w) - alpha * w), w)
    assert law.cap == mu
    assert sp.simplify(law.rest + mu * alpha * w) == 0
    decay = slip_law(mu * sp.sign(w) * sp.exp(-sp.Abs(w)), w)
    assert decay.cap == mu
    for x in (-0.7, 0.3, 2.0):
        exact = (1 if x > 0 else -1) * (sp.exp(-abs(x)) - 1)
        assert abs(float(decay.rest.subs({w: x, mu: 1}) - exact)) < 1e-15


def test_a_law_that_is_not_odd_is_said_with_the_number():
    with pytest.raises(InputError, match=r"T\(w\) \+ T\(-w\) = 5 N at w = 5"):
        slip_law(mu * sp.sign(w) + w**2 / 10, w, {mu: 0.3})
    with pytest.raises(InputError, match="odd law"):
        slip_law(mu * sp.sign(w) + alpha, w)
    with pytest.raises(InputError, match="resists"):
        slip_law(-mu * sp.sign(w), w, {mu: 0.3})
