"""A ball dropped on the floor comes to rest after infinitely many impacts in finite time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, first_time, last, rate, settled_time

PARAMETERS = {
    "e": Parameter(default=0.8, unit="1", min=0.0, max=0.9, meaning="restitution"),
    "h": Parameter(default=1.0, unit="m", min=0.01, max=100.0, meaning="height of the drop"),
}
CONTACT = "ball/floor"


def build(e: float, h: float) -> Scene:
    """Return the scene: t_inf = sqrt(2 h / g) (1 + e) / (1 - e), apexes e^2 h, e^4 h, ..."""
    floor = HalfPlane(name="floor")
    contact = PlanarContact(point=Marker("ball"), plane=floor, eps_n=e)
    system = PlanarSystem(bodies=[Point(name="ball", mass=1.0)], contacts=[contact], gravity=(0.0, -G))
    fall = math.sqrt(2.0 * h / G)
    dt = 1e-3 * math.sqrt(h)
    rest = fall * (1.0 + e) / (1.0 - e)
    columns: Columns = {"ball.y": ("m", coordinate(1)), "ball.vy": ("m/s", rate(1))}
    exact = (
        check(
            "time of the first impact", fall, "s", at_event(_first_impact, "impact"), moreau_jean=2.0 * dt, located=True
        ),
        check("height of the first rebound", e * e * h, "m", _first_rebound, moreau_jean=_rebound_error(e, h, dt)),
        check(
            "time of rest",
            rest,
            "s",
            at_event(_time_of_rest, "touchdown" if e == 0.0 else "accumulation"),
            moreau_jean=_rest_error(e, h, dt),
            located=True,
        ),
        check("height at the end", 0.0, "m", last("ball.y"), moreau_jean=1.05 * G * fall * dt, located=True),
    )
    return Scene(
        name="zeno_ball",
        title="Zeno ball: infinitely many impacts in finite time",
        source="geometric series of flights 2 e^k sqrt(2 h / g)",
        system=system,
        state=system.state({"ball": (0.0, h)}),
        t_end=rest + 0.5 * fall,
        dt=dt,
        params={"e": e, "h": h},
        exact=exact,
        tests=("impacts", "accumulation of impacts", "rest after a bounce"),
        columns=columns,
    )


def _first_impact(run: Any) -> float:
    return first_time(run, run[f"{CONTACT}.r_N"] > 0.0)


def _first_rebound(run: Any) -> float:
    """Highest point between the first impact and the second."""
    pushes = run[f"{CONTACT}.r_N"] > 0.0
    begins = np.flatnonzero(pushes[1:] & ~pushes[:-1]) + 1
    if not len(begins):
        return 0.0
    stop = int(begins[1]) if len(begins) > 1 else len(run)
    return max(float(run["ball.y"][begins[0] : stop].max()), 0.0)


def _time_of_rest(run: Any) -> float:
    """Begin of the time in which the ball neither rises nor moves by more than gravity does in two steps."""
    slow = 2.0 * G * float(run.steps.dt.max(initial=0.0))
    return settled_time(run, np.abs(run["ball.vy"]) <= slow)


def _rebound_error(e: float, h: float, dt: float) -> float:
    """An impact is seen up to one step late: below the floor by up to v dt, with a speed that is wrong by 3/2 g dt."""
    v = math.sqrt(2.0 * G * h)
    return 1.1 * (1.0 + 1.5 * e * e) * v * dt + 1e-12


def _rest_error(e: float, h: float, dt: float) -> float:
    """An impact is seen up to one step late: the flight that follows begins up to depth = v dt below the floor.

    It ends when the ball is back at the floor, earlier by (u - sqrt(u^2 - 2 g depth)) / g for a start with u = e v;
    a ball that does not get up to the floor again is taken to lose the whole flight.
    """
    if e == 0.0:
        return 2.0 * dt
    v = math.sqrt(2.0 * G * h) * e ** np.arange(2000)
    u, flights = e * v, 2.0 * e * v / G
    lost = dt + (u - np.sqrt(np.maximum(u**2 - 2.2 * G * v * dt, 0.0))) / G  # 1.1 times the depth
    short = u**2 <= 2.2 * G * v * dt
    return 2.0 * dt + float(np.where(short, flights, np.minimum(flights, lost)).sum())
