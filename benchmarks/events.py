"""Event-driven runs: processor time per event, many steps in a call and step by step, interleaved, answers checked.

`start` is what the first run of its kind takes besides: importing modules and loading kernels.

* driven: the Coulomb oscillator, shaken; every reversal is checked against scipy's DOP853 with its own event location.
* belt: stick and slip on a belt, against the period in closed form.
* bounce: a ball on a table with restitution 0.999, against the flights in closed form.
* pair: two jointed balls that bounce and slide on a floor in space; both ways have to agree.

Step by step runs are taken where an event of the user is looked for, here one that never happens.

Run: ``python benchmarks/events.py [--events 10000]`` (of the first; single steps are timed on a part of it).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.simulate import simulate
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar.bodies import Marker, Point, fixed
from gaussdyn.mechanics.planar.contacts import HalfPlane, PlanarContact
from gaussdyn.mechanics.planar.forces import Shaking, Spring
from gaussdyn.mechanics.planar.system import PlanarSystem
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.joints import BallJoint
from gaussdyn.mechanics.spatial.kinematics import SpatialMarker
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.mechanics.state import State

G, MU, SHAKE, OMEGA, BELT, KEPT = 9.81, 0.1 / 9.81, 0.5, 0.7, 0.5, 0.999
PAIRED = 2.0  # s
CHECKED = 20  # reversals that scipy finds too
SLIDER = Marker("slider")


def oscillator(forces: list[Any], **contact: Any) -> PlanarSystem:
    """Return a point on a floor and a spring, 1 kg and 1 N/m."""
    plane = HalfPlane(name="floor", belt=contact.pop("belt", 0.0))
    spring = Spring(a=SLIDER, b=fixed(0.0, 0.0, "wall"), stiffness=1.0)
    return PlanarSystem(
        bodies=[Point(name="slider", mass=1.0)], forces=[spring, *forces], gravity=(0.0, -G),
        contacts=[PlanarContact(point=SLIDER, plane=plane, **contact)],
    )  # fmt: skip


def driven() -> tuple[PlanarSystem, State]:
    """Return the oscillator that is shaken."""
    system = oscillator([Shaking(amplitude=SHAKE, frequency=OMEGA / (2.0 * math.pi))], mu=MU)
    return system, system.state({"slider": (1.05, 0.0)})


def belt() -> tuple[PlanarSystem, State]:
    """Return the oscillator on a belt."""
    system = oscillator([], mu=0.2, mu_s=0.4, belt=BELT)
    return system, system.state({}, {"slider": (BELT, 0.0)})


def bounce() -> tuple[PlanarSystem, State]:
    """Return a ball that loses a thousandth of its speed at every impact."""
    contact = PlanarContact(point=Marker("ball"), plane=HalfPlane(name="table"), eps_n=KEPT)
    system = PlanarSystem(bodies=[Point(name="ball", mass=1.0)], contacts=[contact], gravity=(0.0, -G))
    return system, system.state({"ball": (0.0, 1.0)})


def pair() -> tuple[SpatialSystem, State]:
    """Return two jointed balls above a floor, one of them lower."""
    joint = BallJoint(name="joint", a=SpatialMarker("a", (0.3, 0.0, 0.0)), b=SpatialMarker("b", (-0.3, 0.0, 0.0)))
    system = SpatialSystem(
        bodies=[ball("a", mass=1.0, radius=0.2), ball("b", mass=2.0, radius=0.2)], joints=[joint],
        obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3, eps_n=0.7),
    )  # fmt: skip
    c, s = math.cos(0.1), math.sin(0.1)
    up, away = 0.3 * math.sin(0.2), 0.3 * (1.0 + math.cos(0.2))
    return system, system.state({"a": (0.0, 0.0, 1.0 + up, c, 0.0, s, 0.0), "b": (away, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)})


def reversals(n: int) -> np.ndarray[Any, Any]:
    """Return when the driven oscillator turns, by scipy: its friction is larger than what it could stick with."""

    def stop(t: float, y: Any) -> float:
        """Its speed."""
        return float(y[1])

    t, y, found = 0.0, [1.05, 0.0], []
    side = -1.0
    while len(found) < n:
        stop.terminal, stop.direction = True, -side  # type: ignore[attr-defined]
        leg = solve_ivp(
            lambda t, y, s=side: [y[1], -y[0] - SHAKE * math.sin(OMEGA * t) - s * MU * G], (t, t + 50.0), y,
            events=stop, method="DOP853", rtol=1e-13, atol=1e-14,
        )  # fmt: skip
        t, y, side = float(leg.t[-1]), [float(leg.y[0, -1]), 0.0], -side
        found.append(t)
    return np.array(found)


def off_driven(run: Any) -> float:
    """Largest error of the first reversals, s."""
    times = [event.t for event in run.events if event.kind == "reversal"][:CHECKED]
    return float(np.abs(np.array(times) - reversals(len(times))).max())


def off_belt(run: Any) -> float:
    """Largest error of the times from release to release, s."""
    rise, slip = 0.2 * G, 2.0 * (math.pi - math.atan(0.2 * G / BELT))
    times = np.array([event.t for event in run.events if event.kind == "slip"])
    return float(np.abs(np.diff(times) - slip - 2.0 * rise / BELT).max())


def off_bounce(run: Any) -> float:
    """Largest error of the impacts, s."""
    times = np.array([event.t for event in run.events if event.kind == "impact"])
    fall = math.sqrt(2.0 / G)
    flights = np.concatenate(([fall], 2.0 * fall * KEPT ** np.arange(1, len(times))))
    return float(np.abs(times - np.cumsum(flights)).max())


def off_pair(run: Any) -> float:
    """Largest difference of the first events from a run step by step, s."""
    _, other = timed(pair, PAIRED, False)
    return max(abs(a.t - b.t) for a, b in zip(run.events[:CHECKED], other.events[:CHECKED], strict=True))


def timed(make: Callable[[], tuple[PlanarSystem, State]], t_end: float, many: bool) -> tuple[float, Any]:
    """Return the processor time of a run, s, and the run; `many`: steps in a call."""
    (system, state), never = make(), {"never": lambda t, state: 1.0}
    begun = time.process_time()
    run = simulate(system, state, t_end, stepper=EventDriven(events={} if many else never))
    return time.process_time() - begun, run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000, help="of the driven oscillator")
    n = parser.parse_args().events
    half = math.pi / OMEGA
    cases = (("driven", driven, n * half, 0.02, off_driven), ("belt", belt, 0.1 * n * half, 0.02, off_belt),
             ("bounce", bounce, 0.01 * n * half, 0.02, off_bounce), ("pair", pair, PAIRED, 1.0, off_pair))  # fmt: skip
    print(
        f"{'':8}{'events':>8}{'s':>8}{'ms/event':>10}{'start':>8}{'step by step':>14}{'ratio':>7}{'worst time':>12}",
        end="  ",
    )
    print("status")
    for name, make, t_end, part, off in cases:
        first, _ = timed(make, part * t_end, True)
        seconds, run = timed(make, t_end, True)
        slow, short = timed(make, part * t_end, False)
        again, _ = timed(make, part * t_end, True)
        each, events = 1e3 * seconds / len(run.events), len(short.events)
        print(
            f"{name:8}{len(run.events):8d}{seconds:8.2f}{each:10.2f}{first - again:6.2f} s"
            f"{1e3 * slow / events:11.2f} ms{slow / again:7.1f}{off(run):10.1e} s  {run.status}"
        )


if __name__ == "__main__":
    main()
