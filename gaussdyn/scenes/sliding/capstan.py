"""A rope around a post with many corners: friction multiplies what a small pull can hold.

Every corner turns the rope by delta and multiplies its tension by at most
r = (cos(delta / 2) + mu sin(delta / 2)) / (cos(delta / 2) - mu sin(delta / 2)); N corners by r^N, which tends to
exp(mu phi), Euler's formula, as N grows at the same wrap phi = N delta. If the pulls differ by more, the whole rope
starts with one acceleration along itself, by a chain of N equations.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point
from ...mechanics.planar.contacts import HalfPlane, PlanarContact, Rod
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, check, largest, last

PARAMETERS = {
    "corners": Parameter(default=8.0, unit="1", min=2.0, max=48.0, meaning="N (rounded)"),
    "wrap": Parameter(default=2.0 * math.pi, unit="rad", min=0.5, max=6.0 * math.pi, meaning="phi; 2 pi is one turn"),
    "mu": Parameter(default=0.3, unit="1", min=0.1, max=0.3, meaning="friction of every corner"),
    "share": Parameter(default=0.99, unit="1", min=-1.1, max=1.1, meaning="ln(T1 / T0) over N ln r; it holds up to 1"),
    "pull": Parameter(default=1.0, unit="N", min=0.1, max=10.0, meaning="T0, at the first corner"),
}
RADIUS, MASS, DT, STEPS = 0.5, 0.1, 1e-3, 20  # m, kg of each corner of the rope, s
TIE = 1e-7  # of the share: closer to 1 rounding decides


def build(corners: float, wrap: float, mu: float, share: float, pull: float) -> Scene:
    """Return the scene: points of the rope on the corners of the post, with rods between them, at rest."""
    n = max(round(corners), math.ceil(wrap / 1.5))  # the rope turns by less than a quarter at every corner
    half = 0.5 * wrap / n
    ratio = (math.cos(half) + mu * math.sin(half)) / (math.cos(half) - mu * math.sin(half))
    end = pull * ratio ** (n * share)
    system = rope(n, half, mu, (pull, end))
    angles = _angles(n, half)
    places = {_name(k): (RADIUS * math.cos(a), RADIUS * math.sin(a)) for k, a in enumerate(angles)}
    columns: Columns = {
        "first.along": ("m/s", lambda state: float(state.v[1])),
        "last.along": ("m/s", lambda state: _along(state.v[-2:], angles[-1])),
    }
    return Scene(
        name="capstan",
        title="Rope around a post with corners: the capstan",
        source="L. Euler (1769); r^N with r of one corner, tends to exp(mu phi)",
        system=system,
        state=system.state(places),
        t_end=STEPS * DT,
        dt=DT,
        params={"corners": corners, "wrap": wrap, "mu": mu, "share": share, "pull": pull},
        exact=_exact(n, half, ratio, (pull, end), abs(share) - 1.0),
        tests=("many contacts in a chain", "stick up to the last of all contacts", "reactions over powers of ten"),
        columns=columns,
    )


def rope(n: int, half: float, mu: float, pulls: tuple[float, float]) -> PlanarSystem:
    """Return n points on the corners of a post, each on the tangent there, joined by rods and pulled at both ends."""
    angles, names = _angles(n, half), [_name(k) for k in range(n)]
    contacts: list[Any] = [
        PlanarContact(
            point=Marker(name),
            plane=HalfPlane(
                name=f"corner{k:02d}",
                point=(RADIUS * math.cos(a), RADIUS * math.sin(a)),
                normal=(math.cos(a), math.sin(a)),
            ),
            mu=mu,
        )
        for k, (name, a) in enumerate(zip(names, angles, strict=True))
    ]
    length = 2.0 * RADIUS * math.sin(half)
    contacts += [Rod(a=Marker(a), b=Marker(b), length=length) for a, b in pairwise(names)]
    first, ahead = angles[0] - half, angles[-1] + half
    loads = [
        Load(point=Marker(names[0]), force_xy=(pulls[0] * math.sin(first), -pulls[0] * math.cos(first))),
        Load(point=Marker(names[-1]), force_xy=(-pulls[1] * math.sin(ahead), pulls[1] * math.cos(ahead))),
    ]
    bodies = [Point(name=name, mass=MASS) for name in names]
    return PlanarSystem(bodies=bodies, contacts=contacts, forces=loads, gravity=(0.0, 0.0))


def start(n: int, half: float, ratio: float, pulls: tuple[float, float]) -> float:
    """Return the acceleration along the rope, m/s^2: zero if the friction of all corners can hold the pulls.

    T_k+1 (cos - mu sin) = T_k (cos + mu sin) + m a at every corner of a rope that moves towards the second pull.
    """
    low, high = pulls
    if high < low:
        return -start(n, half, ratio, (high, low))
    hold = low * ratio**n
    if high <= hold:
        return 0.0
    slope = math.cos(half) * 2.0 / (ratio + 1.0)  # cos - mu sin
    return (high - hold) * slope / (MASS * float(np.sum(ratio ** np.arange(n))))


def _exact(n: int, half: float, ratio: float, pulls: tuple[float, float], excess: float) -> tuple[Exact, ...]:
    a = start(n, half, ratio, pulls)
    largest_pull = max(pulls)
    rounding = 1e-9 * largest_pull / MASS if abs(excess) > TIE else largest_pull / MASS
    found = [
        check(
            "acceleration of the first step", a, "m/s^2", lambda run: float(run["first.along"][1]) / DT,
            moreau_jean=rounding + abs(a) * DT * math.sqrt(abs(a) / RADIUS),
        ),
    ]  # fmt: skip
    if excess < -TIE:
        found.append(
            check("largest speed", 0.0, "m/s", largest("first.along"), moreau_jean=1e-10 * largest_pull / MASS)
        )
        found.append(
            check("speed of the last corner", 0.0, "m/s", last("last.along"), moreau_jean=1e-10 * largest_pull / MASS)
        )
    return tuple(found)


def _angles(n: int, half: float) -> list[float]:
    """Return the polar angles of the corners, rad; the first lies on the x axis."""
    return [2.0 * half * k for k in range(n)]


def _name(k: int) -> str:
    return f"rope{k:02d}"


def _along(v: Any, angle: float) -> float:
    return float(-math.sin(angle) * v[0] + math.cos(angle) * v[1])
