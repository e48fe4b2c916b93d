"""Linkages of many rods in the plane, as benchmarks need them."""

from __future__ import annotations

import math

from ...arrays import scalar
from ...errors import InputError
from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.joints import Hinge
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.state import State


def four_bars(
    count: int, *, length: float = 1.0, mass: float = 1.0, speed: float = 1.0, gravity: float = 9.81
) -> tuple[PlanarSystem, State]:
    """Return the N four-bar linkage: N + 1 upright rods on hinges in a line, their tops joined by N level rods.

    All upright rods stay parallel, so that the linkage is a pendulum of one degree of freedom, held by 2 (3 N + 1)
    equations for 6 N + 3 coordinates. Where the rods lie in one line the equations lose rank, and the upright rods
    could part ways. Rods are called ``v0``, ``v1``, .. and ``h0``, ``h1``, ..; hinges ``base0``, ``left0``,
    ``right0``, ..

    Parameters
    ----------
    count : int
        N, >= 1.
    length, mass : float
        Of every rod, m and kg; > 0.
    speed : float
        Of the tops at the start, to the right, m/s.
    gravity : float
        m/s^2.

    Raises
    ------
    InputError
        A value out of range.

    Notes
    -----
    Source: IFToMM technical committee for multibody dynamics, library of computational benchmark problems, A02.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError("count", repr(count), "an integer >= 1", "Write count=1.")
    length = scalar("length", length, low=0.0, open_low=True)
    speed, gravity = scalar("speed", speed), scalar("gravity", gravity)
    half = length / 2.0
    inertia = scalar("mass", mass, low=0.0, open_low=True) * length * length / 12.0
    names = [*(f"v{k}" for k in range(count + 1)), *(f"h{k}" for k in range(count))]
    outline = ((-half, 0.0), (half, 0.0))
    joints = [
        Hinge(name=f"base{k}", a=Marker(f"v{k}", (-half, 0.0)), b=fixed(k * length, 0.0)) for k in range(count + 1)
    ]
    for k in range(count):
        joints.append(Hinge(name=f"left{k}", a=Marker(f"h{k}", (-half, 0.0)), b=Marker(f"v{k}", (half, 0.0))))
        joints.append(Hinge(name=f"right{k}", a=Marker(f"h{k}", (half, 0.0)), b=Marker(f"v{k + 1}", (half, 0.0))))
    system = PlanarSystem(
        bodies=[PlanarBody(name=name, mass=mass, inertia=inertia, outline=outline) for name in names],
        joints=joints,
        gravity=(0.0, -gravity),
    )
    place = {f"v{k}": (k * length, half, math.pi / 2.0) for k in range(count + 1)}
    place |= {f"h{k}": ((k + 0.5) * length, length, 0.0) for k in range(count)}
    velocity = {f"v{k}": (speed / 2.0, 0.0, -speed / length) for k in range(count + 1)}
    velocity |= {f"h{k}": (speed, 0.0, 0.0) for k in range(count)}
    return system, system.state(place, velocity)
