"""Laws of friction taken apart."""

from __future__ import annotations

import pytest
import sympy as sp

from gaussdyn.errors import InputError
from gaussdyn.mechanics.lagrangian.friction_law import slip_law

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


def test_a_law_that_drives_is_said_with_the_place():
    falling = mu * (sp.sign(w) - alpha * w)
    with pytest.raises(InputError, match=r"not passive: T = -0.9 at w = 5 m/s"):
        slip_law(falling, w, {mu: 0.1, alpha: 2.0})
    rising_again = falling + mu * sp.Rational(1, 3) * w**3
    assert slip_law(rising_again, w, {mu: 0.1, alpha: 1.0}).cap == mu
    with pytest.raises(InputError, match="not passive"):
        slip_law(rising_again, w, {mu: 0.1, alpha: 1.5})


def test_a_law_that_jumps_at_a_slip_is_said_with_the_place():
    step = sp.Piecewise((0.3, sp.Abs(w) < 0.7), (0.2, True)) * sp.sign(w)
    with pytest.raises(InputError, match=r"jumps by 0.1 at w = 0.7 m/s"):
        slip_law(step, w, {})
    steep = sp.sign(w) * (0.2 + 0.1 * sp.exp(-sp.Abs(w) / 0.002))
    assert float(slip_law(steep, w, {}).cap) == pytest.approx(0.3)


def test_a_law_of_the_normal_force_has_a_coefficient():
    N, v_s, c = sp.symbols("N v_s c", positive=True)
    law = slip_law(N * mu * sp.sign(w) * sp.exp(-sp.Abs(w) / v_s) + 0.4 * sp.sign(w) + c * w, w, N=N)
    assert float(law.cap) == 0.4
    assert sp.simplify(law.rest - c * w) == 0
    for x in (-0.3, 0.8):
        assert float(law.mu.subs({w: x, mu: 0.5, v_s: 0.2})) == pytest.approx(float(0.5 * sp.exp(-abs(x) / 0.2)))
    with pytest.raises(InputError, match="linear in the normal force"):
        slip_law(mu * sp.sqrt(N) * sp.sign(w), w, N=N)
    with pytest.raises(InputError, match="not passive"):
        slip_law(N * mu * (sp.sign(w) - w), w, {mu: 0.3}, N=N)
