"""A four-bar with equal opposite sides, hanging: a parallelogram, or crossed; both pass through one flattened state.

Cranks of length a turn about hinges one below the other at distance b, and a coupler of length b joins their ends. With
al, be the angles of the cranks from the vertical, be = al in the parallelogram, and crossed
    (b - a) tan(be / 2) = -(b + a) tan(al / 2),
from b sin((al + be) / 2) = a sin((be - al) / 2). Where all rods lie in one line, al = be = 0, the equations lose rank,
and either linkage could go on as the other. The energy I(al) al'^2 / 2 + V(al) is constant, which gives the time from
angle to angle by one quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.joints import Hinge
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate, energy_change, joint_error, last

PARAMETERS = {
    "crossed": Parameter(default=0.0, unit="1", min=0.0, max=1.0, meaning="1: the antiparallelogram (rounded)"),
    "angle": Parameter(default=0.8, unit="rad", min=0.2, max=1.2, meaning="of the upper crank at the start"),
    "rate": Parameter(
        default=1.0, unit="rad/s", min=0.2, max=5.0, meaning="of the upper crank at the start, downwards"
    ),
    "length": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="a, of the cranks"),
    "ratio": Parameter(default=2.0, unit="1", min=1.5, max=4.0, meaning="b over a, of coupler and base"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-2, max=1e2, meaning="of a crank"),
    "coupler": Parameter(default=1.0, unit="1", min=0.1, max=10.0, meaning="mass of the coupler, over that of a crank"),
}
STEPS, END = 200, 0.8  # the end, beyond the flattened state, in angles at the start
APART = 0.25  # of a step: from the flattened state to the nearest end and middle of a step, where rows have full rank
RODS = ("upper", "lower", "coupler")


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """The linkage in units of a crank's length and mass; gravity is g / a, 1/s^2.

    crossed : bool
        Which of the two it is.
    ratio, coupler : float
        Length of coupler and base, and mass of the coupler.
    """

    crossed: bool
    ratio: float
    coupler: float
    gravity: float = 0.0

    def other(self, al: float) -> tuple[float, float]:
        """Return be, rad, and d be / d al."""
        if not self.crossed:
            return al, 1.0
        k = (self.ratio + 1.0) / (self.ratio - 1.0)
        c, s = math.cos(0.5 * al), math.sin(0.5 * al)
        return -2.0 * math.atan2(k * s, c), -k / (c * c + k * k * s * s)

    def poses(self, al: float) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
        """Return x (down), y (to the right), angle of the three rods, and their derivatives with respect to al."""
        be, slope = self.other(al)
        A, B = _end(0.0, al), _end(self.ratio, be)
        dA, dB = (-A[1], A[0]), (-slope * B[1], slope * (B[0] - self.ratio))
        x, y, dx, dy = B[0] - A[0], B[1] - A[1], dB[0] - dA[0], dB[1] - dA[1]
        places = [
            (0.5 * A[0], 0.5 * A[1], al),
            (0.5 * (self.ratio + B[0]), 0.5 * B[1], be),
            (0.5 * (A[0] + B[0]), 0.5 * (A[1] + B[1]), math.atan2(y, x)),
        ]
        moves = [
            (0.5 * dA[0], 0.5 * dA[1], 1.0),
            (0.5 * dB[0], 0.5 * dB[1], slope),
            (0.5 * (dA[0] + dB[0]), 0.5 * (dA[1] + dB[1]), (x * dy - y * dx) / self.ratio**2),
        ]
        return places, moves

    def inertia(self, al: float) -> float:
        """Return I(al), twice the kinetic energy over al'^2: rods about their centres, and these."""
        masses, lengths = (1.0, 1.0, self.coupler), (1.0, 1.0, self.ratio)
        _, moves = self.poses(al)
        parts = zip(masses, lengths, moves, strict=True)
        return sum(m * (x * x + y * y + l * l / 12.0 * turn * turn) for m, l, (x, y, turn) in parts)

    def potential(self, al: float) -> float:
        """Return V(al) - V(0), which is not negative."""
        fall = 2.0 - math.cos(al) - math.cos(self.other(al)[0])
        return 0.5 * self.gravity * (1.0 + self.coupler) * fall

    def rate(self, energy: float) -> Callable[[float], float]:
        """Return the function al -> al' > 0, rad/s, at an energy."""
        return lambda al: math.sqrt(2.0 * (energy - self.potential(al)) / self.inertia(al))

    def energy(self, al: float, rate: float) -> float:
        """Return I al'^2 / 2 + V."""
        return 0.5 * self.inertia(al) * rate**2 + self.potential(al)


def build(
    crossed: float, angle: float, rate: float, length: float, ratio: float, mass: float, coupler: float
) -> Scene:  # fmt: skip
    """Return the scene: it swings down into the flattened state, and on."""
    linkage = Linkage(crossed=round(crossed) == 1, ratio=ratio, coupler=coupler, gravity=G / length)
    system, state = hung(linkage, -angle, rate, length, mass)
    energy = linkage.energy(-angle, rate)
    before, after = (time_between(linkage, energy, a, b) for a, b in ((-angle, 0.0), (0.0, END * angle)))
    t_end = before + after
    dt = before / (round(STEPS * before / t_end) - APART)
    columns: Columns = {f"{name}.angle": ("rad", coordinate(system.index(name, "angle"))) for name in RODS}
    params = {"crossed": crossed, "angle": angle, "rate": rate, "length": length}
    return Scene(
        name="parallelogram",
        title="A four-bar with equal opposite sides: through the flattened state, crossed or not",
        source="Quadrature of the energy in the angle of a crank",
        system=system,
        state=state,
        t_end=t_end,
        dt=dt,
        params=params | {"ratio": ratio, "mass": mass, "coupler": coupler},
        exact=_exact(linkage, energy, angle, dt, mass * length**2),
        tests=("a singular configuration", "which branch is taken", "energy"),
        columns=columns,
    )


def _exact(linkage: Linkage, energy: float, angle: float, dt: float, unit: float) -> tuple[Exact, ...]:
    """Return the exact numbers; energies over the unit, kg m^2."""
    end, rate = END * angle, linkage.rate(energy)
    places, moves = linkage.poses(end)
    slopes = [(al, abs(linkage.other(al)[1])) for al in np.linspace(-angle, end, 41).tolist()]
    fastest = max(rate(al) * max(1.0, slope) for al, slope in slopes)
    near = (fastest * dt) ** 2  # second order
    drift = 4.0 * dt**2 * (fastest**2 + linkage.gravity)
    angles = [
        check(
            f"angle of the {name} rod at the end",
            place[2] - 0.5 * math.pi,
            "rad",
            last(f"{name}.angle"),
            moreau_jean=near,
            on_branch=1e-10,
        )
        for name, place in zip(RODS, places, strict=True)
    ]
    rates = [
        check(
            f"rate of the {name} rod at the end",
            rate(end) * move[2],
            "rad/s",
            _rate(k),
            moreau_jean=2.0 * near * fastest,
            on_branch=1e-10 * fastest,
        )
        for k, (name, move) in enumerate(zip(RODS, moves, strict=True))
    ]
    return (
        *angles,
        *rates,
        check("largest change of energy", 0.0, "J", energy_change, moreau_jean=drift * energy * unit,
              on_branch=1e-10 * energy * unit),
        check("largest error of a joint", 0.0, "m", joint_error, moreau_jean=1e-10, on_branch=1e-12),
    )  # fmt: skip


def hung(linkage: Linkage, al: float, rate: float, length: float, mass: float) -> tuple[PlanarSystem, State]:
    """Return rods ``upper``, ``lower``, ``coupler`` on four hinges, and the state at an angle and a rate.

    Parameters
    ----------
    al, rate : float
        Of the upper crank, rad and rad/s.
    length, mass : float
        Of a crank, m and kg.
    """
    masses, lengths = (1.0, 1.0, linkage.coupler), (1.0, 1.0, linkage.ratio)
    tips = {name: 0.5 * length * l for name, l in zip(RODS, lengths, strict=True)}
    bodies = [
        PlanarBody(name=name, mass=m * mass, inertia=m * mass * (l * length) ** 2 / 12.0,
                   outline=((-tips[name], 0.0), (tips[name], 0.0)))
        for name, m, l in zip(RODS, masses, lengths, strict=True)
    ]  # fmt: skip
    first, second = Marker("coupler", (-tips["coupler"], 0.0)), Marker("coupler", (tips["coupler"], 0.0))
    system = PlanarSystem(
        bodies=bodies,
        joints=[
            Hinge(name="top", a=Marker("upper", (-tips["upper"], 0.0)), b=fixed(0.0, 0.0)),
            Hinge(name="bottom", a=Marker("lower", (-tips["lower"], 0.0)), b=fixed(0.0, -length * linkage.ratio)),
            Hinge(name="first", a=first, b=Marker("upper", (tips["upper"], 0.0))),
            Hinge(name="second", a=second, b=Marker("lower", (tips["lower"], 0.0))),
        ],
        gravity=(0.0, -linkage.gravity * length),
    )
    places, moves = linkage.poses(al)
    place = {n: (length * y, -length * x, a - 0.5 * math.pi) for n, (x, y, a) in zip(RODS, places, strict=True)}
    velocity = {
        n: (rate * length * y, -rate * length * x, rate * turn) for n, (x, y, turn) in zip(RODS, moves, strict=True)
    }
    return system, system.state(place, velocity)


@lru_cache(maxsize=64)
def time_between(linkage: Linkage, energy: float, start: float, end: float) -> float:
    """Return the time from one angle of the upper crank to another, s, at an energy that is enough for it."""
    from scipy.integrate import quad

    rate = linkage.rate(energy)
    found = quad(lambda al: 1.0 / rate(al), start, end, epsabs=1e-13, epsrel=1e-13, limit=200)
    return float(found[0])


def _end(x: float, angle: float) -> tuple[float, float]:
    return x + math.cos(angle), math.sin(angle)


def _rate(rod: int) -> Callable[[Any], float]:
    return lambda run: float(run.v[-1, 3 * rod + 2])
