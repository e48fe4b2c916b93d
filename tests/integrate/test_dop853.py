"""Steps of order 8 in Python against scipy's, and against a motion in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import DOP853

from gaussdyn.integrate.dop853 import NoStep, Tolerance, steps, take

PENDULUM = np.array([1.2, -0.3])


def slope(t, y):
    return np.array([y[1], -np.sin(y[0]) + 0.2 * np.cos(1.7 * t)])


def test_a_step_and_what_is_between_are_those_of_scipy():
    rtol, atol, h = 1e-9, np.array([1e-10, 3e-10]), 0.4
    piece = take(slope, 0.5, PENDULUM, slope(0.5, PENDULUM), h, Tolerance(rtol, atol))
    other = DOP853(slope, 0.5, PENDULUM, 9.0, rtol=rtol, atol=atol, first_step=h)
    scale = atol + rtol * np.maximum(np.abs(PENDULUM), np.abs(piece.end))
    assert piece.error == pytest.approx(other._estimate_error_norm(piece.K[:13], h, scale), rel=1e-9)
    assert 0.1 < piece.error < 1.0  # so that scipy takes it, too
    other.step()
    assert other.t == piece.t_end
    np.testing.assert_allclose(piece.end, other.y, rtol=0, atol=2e-15)
    inside = other.dense_output()
    for t in np.linspace(0.5, 0.5 + h, 5).tolist():
        np.testing.assert_allclose(piece.at(t), inside(t), rtol=0, atol=4e-15)


def test_components_without_a_tolerance_do_not_bound_steps():
    def both(t, y):
        return np.concatenate((slope(t, y[:2]), [1e9 * np.sin(50.0 * t)]))

    y = np.array([*PENDULUM, 0.0])
    alone = take(slope, 0.0, PENDULUM, slope(0.0, PENDULUM), 0.3, Tolerance(1e-9, np.full(2, 1e-9)))
    beside = take(both, 0.0, y, both(0.0, y), 0.3, Tolerance(1e-9, np.full(2, 1e-9)))
    assert beside.error == alone.error
    assert beside.local[2] > 1.0


def test_a_vibration_ends_where_it_does_in_closed_form():
    *_, last = steps(
        lambda t, y: np.array([y[1], -9.0 * y[0]]), 0.0, np.array([1.0, 0.0]), 20.0, Tolerance(1e-13, np.full(2, 1e-14))
    )
    np.testing.assert_allclose(last.end, [np.cos(60.0), -3.0 * np.sin(60.0)], rtol=0, atol=1e-11)


def test_nothing_is_passed_in_no_time():
    assert not list(steps(slope, 1.0, PENDULUM, 1.0, Tolerance(1e-9, np.full(2, 1e-9))))


def test_no_step_is_short_enough_at_a_pole():
    with pytest.raises(NoStep, match=r"too long at t = 0\.99"):
        for _ in steps(
            lambda t, y: y**2 if t < 0.999 else np.full(1, np.nan),
            0.0,
            np.ones(1),
            2.0,
            Tolerance(1e-9, np.full(1, 1e-9)),
        ):
            pass


def test_a_fall_keeps_its_energy_as_well_as_its_numbers_are_rounded():
    """Rounding of the coefficients, of up to 43, is the same in all steps: 2e-14 of the energy were lost in each."""
    g, lost = 9.81, []
    for v in np.random.default_rng(1).uniform(3.0, 5.0, 60).tolist():
        y, h = np.array([0.0, v]), 2.0 * v / g
        end = take(lambda t, y: np.array([y[1], -g]), 0.0, y, np.array([v, -g]), h, Tolerance(1e-12, np.ones(2))).end
        lost.append(1.0 - (end[1] ** 2 + 2.0 * g * end[0]) / v**2)
    assert abs(np.mean(lost)) <= 1e-15
    assert np.abs(lost).max() <= 2e-14
