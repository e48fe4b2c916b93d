"""The observed orders: 2 in smooth motion, 1 where an event is only known to within a step, exact where it is exact."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.errors import InputError
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.scenes.convergence import ROUNDING, observed_order


def orders(name, **options):
    return {found.name: found for found in observed_order(name, **options)}


@pytest.mark.slow
def test_sliding_rod_is_of_order_two():
    found = orders("sliding_rod", dt=8e-3)
    assert found.pop("largest gap under the tip").order is None  # positions are projected
    for one in found.values():
        assert one.order == pytest.approx(2.0, abs=0.1), str(one)


@pytest.mark.slow
def test_damping_scheme_is_of_order_one():
    """theta = 1 costs one order: the measure sees it."""
    found = orders("sliding_rod", dt=8e-3, stepper=MoreauJean(theta=1.0))
    assert found["angle at the end"].order == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_slack_string_is_of_order_two_up_to_the_jerk_and_of_order_one_after():
    found = orders("slack_string", dt=8e-3)
    for name in ("time when it goes slack", "height where it goes slack", "greatest height"):
        assert found[name].order == pytest.approx(2.0, abs=0.35), str(found[name])
    errors = found["time when it is taut again"]
    assert all(0.0 <= error <= dt for error, dt in zip(errors.error, errors.dt, strict=True))


@pytest.mark.slow
def test_incline_is_exact():
    for params in ({}, {"mu": 0.2}):
        for found in orders("incline", dt=0.02, **params).values():
            assert found.order is None, str(found)
            assert max(found.error) <= ROUNDING


@pytest.mark.slow
def test_coulomb_oscillator_is_of_order_two_in_place():
    """The place of a turn is known to x'' dt^2 / 8 <= 1.3 dt^2 / 8, however the steps fall."""
    found = orders("coulomb_oscillator", dt=0.04, mu=0.03)
    for name in ("first turning point", "where it stops"):
        shares = [error / dt**2 for error, dt in zip(found[name].error, found[name].dt, strict=True)]
        assert max(shares) < 2 * 1.3 / 8, str(found[name])
    stop = found["when it stops"]
    assert all(error <= 2 * dt for error, dt in zip(stop.error, stop.dt, strict=True))


@pytest.mark.slow
def test_zeno_ball_is_of_order_one_up_to_a_logarithm():
    """Flights longer than a step are about log(t / dt) / log(1 / e), each wrong by up to dt (1 + 1 / e)."""
    found = orders("zeno_ball", e=0.5, dt=8e-3)["time of rest"]
    for error, dt in zip(found.error, found.dt, strict=True):
        assert error <= dt * (3.0 * np.log2(0.45 / dt) + 8.0), str(found)


def test_it_reads_out():
    (found, *_) = observed_order("incline", dt=0.1, levels=2)
    assert str(found).startswith("distance at the end: errors ")
    assert "exact to rounding" in str(found)


def test_one_step_size_has_no_order():
    with pytest.raises(InputError, match="levels: given 1"):
        observed_order("incline", levels=1)
