"""Orders of convergence: one motion by events and by time stepping, and the orders at which their errors fall.

By events with a fixed step of the integrator the order is that of its dense output, through the events too, since these
are located on it. Time stepping is of order 2 (theta = 1/2) as long as nothing happens, and of order 1 across events,
which it knows to within a step only: velocities converge in the mean (L1), places uniformly.

Sources: Moreau (1999), Numerical aspects of the sweeping process; Schindler, Acary (2014), Timestepping schemes for
nonsmooth dynamics based on discontinuous Galerkin methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...errors import InputError
from ...integrate.event_driven.integrator import EventDriven
from ...integrate.run.interrupts import interruptible
from ...integrate.run.trajectory import Trajectory
from ...integrate.simulate import simulate
from ...integrate.time_stepping.moreau_jean import MoreauJean
from ...mechanics.state import State
from ...mechanics.system import System
from .orders import Order, order_of

FLOOR, COARSE = 1e-11, 1e-3  # relative errors between which an order is read off a run by events
STEPPING_FLOOR = 1e-10  # the same of time stepping: contact problems are solved to 1e-12 in every step
FINER, LEVELS = 1.25, 9  # of the fixed steps by events: each so much shorter, so many
BARS = {"by events": 4.0, "smooth stepping": 2.0, "stepping across events": 1.0}
SCATTER = 0.25  # an observed order below its bar by more than this misses it: where a step meets an event is chance
OFFSETS, TINY = 3, float(np.finfo(float).tiny)
SMOOTH = 0.9  # share of the time before the first event


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedOrder:
    """How the errors of one stepper fall on one stretch of the motion.

    Attributes
    ----------
    name : str
        by events, smooth stepping, or stepping across events.
    t_end : float
        End of the stretch, s.
    steps : tuple of float
        s.
    place, velocity : tuple of float
        Errors over the largest place (of a coordinate) and speed. By events those at the end; of time stepping the
        largest of the places, and the mean over time of the velocities.
    order_place, order_velocity : Order
    """

    name: str
    t_end: float
    steps: tuple[float, ...]
    place: tuple[float, ...]
    velocity: tuple[float, ...]
    order_place: Order
    order_velocity: Order

    @property
    def claimed(self) -> float:
        """The order that is claimed."""
        return BARS[self.name]

    @property
    def order(self) -> float | None:
        """The lower of the two observed orders; None where all errors are rounding."""
        found = [one.value for one in (self.order_place, self.order_velocity) if one.value is not None]
        return min(found, default=None)

    @property
    def reached(self) -> bool:
        """Whether the observed order is the one claimed, or better."""
        return self.order is None or self.order >= self.claimed - SCATTER


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceOrders:
    """The orders observed on one motion.

    Attributes
    ----------
    events : int
        In the motion.
    orders : tuple of ObservedOrder
    """

    events: int
    orders: tuple[ObservedOrder, ...]

    __repr__ = brief

    @property
    def reached(self) -> bool:
        """Whether all observed orders are those claimed."""
        return all(order.reached for order in self.orders)


@interruptible
def convergence_orders(
    system: System, state: State, t_end: float, *, steps: int = 100, levels: int = 4
) -> ConvergenceOrders:
    """Return the observed orders of the event-driven integrator and of time stepping on one motion.

    Parameters
    ----------
    steps : int
        Of the coarsest time stepping, per stretch; at each of the `levels` twice as many as before.

    Raises
    ------
    InputError
        The motion by events does not reach `t_end`, or `levels` < 3.
    """
    if levels < 3 or steps < 4:
        raise InputError(
            "levels, steps",
            (levels, steps),
            "at least 3 levels, the coarsest of 4 steps or more",
            "Write levels=3, steps=4.",
        )
    known = simulate(system, state, t_end, stepper=EventDriven())
    if known.status != "COMPLETED":
        mend = f"Write t_end={known.t_reached:g}. {'' if known.stop is None else known.stop.reason}"
        raise InputError("t_end", t_end, "a time that the motion by events reaches", mend)
    times = [event.t for event in known.events if event.t > state.t]
    first = state.t + SMOOTH * (min(times, default=t_end) - state.t)
    orders = [_by_events(system, state, known), _stepping(system, state, "smooth stepping", first, steps, levels)]
    if times:
        across = "stepping across events"
        orders.append(_stepping(system, state, across, t_end, steps, levels, range(OFFSETS)))
    return ConvergenceOrders(events=len(known.events), orders=tuple(orders))


def _by_events(system: System, state: State, known: Trajectory) -> ObservedOrder:
    """Compare runs with fixed steps of the integrator with the one whose steps its error decides, at the end."""
    marks = [state.t, *(event.t for event in known.events), float(known.t[-1])]
    longest = float(np.diff(np.unique(marks)).max())
    q, v = _passed(known, "q"), _passed(known, "v")
    steps, place, velocity = [], [], []
    for k in range(LEVELS):
        run = simulate(system, state, float(known.t[-1]), stepper=EventDriven(step=longest / (2.0 * FINER**k)))
        if run.status != "COMPLETED" or [e.id for e in run.events] != [e.id for e in known.events]:
            continue  # too long: events are missed
        off = _relative(run.q[-1:] - known.q[-1:], q), _relative(run.v[-1:] - known.v[-1:], v)
        if max(off) <= COARSE:
            steps.append(longest / (2.0 * FINER**k))
            place.append(off[0])
            velocity.append(off[1])
    return _observed("by events", float(known.t[-1]), steps, place, velocity, FLOOR)


def _passed(run: Trajectory, name: str) -> Array:
    """Return all places or velocities on record of a motion: at its events a body that turns back is at rest."""
    return np.vstack([getattr(run, name), *(getattr(arc, name) for one in run.evidence.values() for arc in one.arcs)])


def _stepping(
    system: System, state: State, name: str, t_end: float, steps: int, levels: int, offsets: range = range(1)
) -> ObservedOrder:
    """Compare time stepping on finer and finer grids with the motion by events at the times of the grids.

    With `offsets` a level is the root mean square over grids with so many steps more, where events fall elsewhere.
    """
    span, place, velocity = t_end - state.t, [], []
    runs = [
        [simulate(system, state, t_end, stepper=MoreauJean(dt=span / (steps * 2**k + more))) for more in offsets]
        for k in range(levels)
    ]
    times = np.unique(np.concatenate([run.t for level in runs for run in level]))
    q, v = _known(system, state, times)
    for level in runs:
        at = [np.searchsorted(times, run.t) for run in level]
        place.append(_mean([_relative(run.q - q[k], q) for run, k in zip(level, at, strict=True)]))
        off = [np.abs(run.v - v[k]).max(axis=1).mean() for run, k in zip(level, at, strict=True)]
        velocity.append(_mean([float(one) / max(float(np.abs(v).max()), TINY) for one in off]))
    return _observed(name, t_end, [span / (steps * 2**k) for k in range(levels)], place, velocity, STEPPING_FLOOR)


def _known(system: System, state: State, times: Array) -> tuple[Array, Array]:
    """Return coordinates and velocities of the motion by events at times (s)."""
    stepper, states = EventDriven().for_run(), []
    for t in times:
        while state.t < t:
            state = stepper.advance(system, state, float(t)).state
        states.append(state)
    return np.array([one.q for one in states]), np.array([one.v for one in states])


def _observed(
    name: str, t_end: float, steps: Sequence[float], place: Sequence[float], velocity: Sequence[float], floor: float
) -> ObservedOrder:
    rates = [1.0 / step for step in steps]
    return ObservedOrder(
        name=name, t_end=t_end, steps=tuple(steps), place=tuple(place), velocity=tuple(velocity),
        order_place=order_of(rates, place, floor), order_velocity=order_of(rates, velocity, floor),
    )  # fmt: skip


def _relative(off: Array, of: Array) -> float:
    return float(np.abs(off).max()) / max(float(np.abs(of).max()), TINY)


def _mean(errors: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
