"""The observed orders: 2 where theory says 2, 1 where an event is only known to within a step, exact where it is exact."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.integrate.moreau_jean import MoreauJean
from gaussdyn.scenes.convergence import ROUNDING, observed_order


def orders(name, **options):
    return {found.name: found for found in observed_order(name, **options)}


def test_sliding_rod_is_of_order_two():
    for found in orders("sliding_rod", dt=4e-3).values():
        assert found.order == pytest.approx(2.0, abs=0.1), str(found)


def test_damping_scheme_is_of_order_one():
    """theta = 1 costs one order: the measure sees it."""
    found = orders("sliding_rod", dt=4e-3, stepper=MoreauJean(theta=1.0))
    assert found["angle at the end"].order == pytest.approx(1.0, abs=0.1)


def test_slack_string_is_of_order_two_up_to_the_jerk_and_of_order_one_after():
    found = orders("slack_string", dt=4e-3)
    for name in ("time when it goes slack", "height where it goes slack", "greatest height"):
        assert found[name].order == pytest.approx(2.0, abs=0.35), str(found[name])
    errors = found["time when it is taut again"]
    assert all(0.0 <= error <= dt for error, dt in zip(errors.error, errors.dt, strict=True))


def test_incline_is_exact():
    for params in ({}, {"mu": 0.2}):
        for found in orders("incline", dt=0.01, **params).values():
            assert found.order is None, str(found)
            assert max(found.error) <= ROUNDING


def test_coulomb_oscillator_is_of_order_two_in_place():
    found = orders("coulomb_oscillator", dt=0.02)
    for name in ("first turning point", "where it stops"):
        assert 1.5 < found[name].order < 2.7, str(found[name])
    stop = found["when it stops"]
    assert all(error <= 2 * dt for error, dt in zip(stop.error, stop.dt, strict=True))


def test_zeno_ball_is_of_order_one_up_to_a_logarithm():
    found = orders("zeno_ball", e=0.5, levels=5, dt=8e-3)["time of rest"]
    ratio = np.array(found.error) / np.array(found.dt)
    assert ratio.max() < 10.0
    assert 0.5 < found.order < 1.5, str(found)


def test_it_reads_out():
    (found, *_) = observed_order("incline", dt=0.1, levels=2)
    assert str(found).startswith("distance at the end: errors ")
    assert "exact to rounding" in str(found)


def test_one_step_size_has_no_order():
    with pytest.raises(InputError, match="levels: given 1"):
        observed_order("incline", levels=1)
