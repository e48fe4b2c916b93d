"""Orders of convergence on a pendulum against a wall: orders known beforehand, and what misses them."""

from __future__ import annotations

import numpy as np
import pytest
from small_systems import Plain

from gaussdyn import InputError, State, build
from gaussdyn.analysis.crosscheck.convergence_orders import ObservedOrder, convergence_orders
from gaussdyn.analysis.crosscheck.orders import order_of
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.stepper_names import from_settings
from gaussdyn.mechanics.rows import Row


class Pendulum(Plain):
    """x'' = -sin(x), with a wall at x = -0.2 from which it rebounds with half its speed, or without."""

    def __init__(self, wall=True):
        self.wall = wall

    def force(self, t, q, v, control=None):
        return -np.sin(q)

    def potential(self, t, q):
        return 1.0 - float(np.cos(q[0]))

    def rows(self, t, q, v):
        if not self.wall:
            return ()
        return (Row(id="wall", kind="unilateral", gap=q[0] + 0.2, J=[[1.0]], rate=v, drift=[0.0], eps_n=0.5),)


START = State(q=[1.2], v=[0.0])


@pytest.mark.slow
def test_orders_are_those_claimed():
    found = convergence_orders(Pendulum(), START, 6.0, steps=30, levels=4)
    assert found.events == 2
    fast, smooth, across = found.orders
    assert fast.order > 7.0  # Dormand and Prince's method is of order 8
    assert smooth.order == pytest.approx(2.0, abs=0.05)
    assert 0.75 <= across.order <= 1.6
    assert found.reached


@pytest.mark.slow
def test_a_slider_that_turns_back_at_every_event_has_an_order():
    """At events it is at rest: no speed there measures its errors."""
    scene = build("coulomb_oscillator")
    found = convergence_orders(scene.system, scene.state, scene.t_end, steps=4, levels=3)
    fast = found.orders[0]
    assert len(fast.place) > 5
    assert fast.order > 8.0


def test_smooth_motion_has_no_order_across_events():
    found = convergence_orders(Pendulum(wall=False), START, 3.0, steps=20, levels=3)
    assert [one.name for one in found.orders] == ["by events", "smooth stepping"]
    assert found.orders[1].t_end == pytest.approx(2.7)


def test_fixed_steps_are_as_long_as_said_and_saved_in_files():
    stepper = EventDriven(step=0.25)
    assert from_settings(stepper.settings()) == stepper
    calls = []

    class Counted(Pendulum):
        def force(self, t, q, v, control=None):
            calls.append(t)
            return super().force(t, q, v)

    simulate(Counted(wall=False), START, 2.0, stepper=stepper, examine="off")
    begins = sorted(set(calls) & {0.25 * k for k in range(9)})
    assert begins == [0.25 * k for k in range(9)]
    with pytest.raises(InputError, match="step"):
        EventDriven(step=0.0)


def test_an_order_too_low_is_not_reached():
    steps, errors = (0.1, 0.05, 0.025), (1e-2, 5e-3, 2.5e-3)
    slow = order_of([1.0 / h for h in steps], errors, 1e-12)
    order = ObservedOrder(
        name="smooth stepping", t_end=1.0, steps=steps, place=errors, velocity=errors, order_place=slow,
        order_velocity=slow,
    )  # fmt: skip
    assert order.order == pytest.approx(1.0)
    assert not order.reached


@pytest.mark.parametrize(
    ("options", "named"),
    [({"levels": 2}, "levels"), ({"steps": 2}, "steps")],
)
def test_bad_input_is_named(options, named):
    with pytest.raises(InputError, match=named):
        convergence_orders(Pendulum(), START, 6.0, **options)
