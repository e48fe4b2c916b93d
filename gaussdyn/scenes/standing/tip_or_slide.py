"""A block pushed at some height stays, slides or tips: it slides before it tips iff it is pushed below b / (2 mu).

From rest a push F at height p leaves it at rest if F <= mu m g and F p <= m g b / 2; it slides with F / m - mu g if
both corners stay pressed, |F (p - h / 2) + mu m g h / 2| <= m g b / 2; else it turns about one corner, which sticks or
slides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, box
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, last, rate
from ..references.corner_motion import Corner

PARAMETERS = {
    "mu": Parameter(default=0.5, unit="1", min=0.1, max=1.0, meaning="friction"),
    "width": Parameter(default=0.4, unit="m", min=0.2, max=1.0, meaning="b, of the block"),
    "height": Parameter(default=0.6, unit="m", min=0.3, max=1.0, meaning="h, of the block"),
    "at": Parameter(
        default=0.9, unit="1", min=0.0, max=1.0, meaning="p / h: where it is pushed; critical: b / (2 mu h)"
    ),
    "push": Parameter(default=0.6, unit="1", min=0.05, max=1.2, meaning="F / (m g)"),
    "mass": Parameter(default=5.0, unit="kg", min=0.1, max=100.0, meaning="of the block"),
}
STEPS, LONGEST, TURNED = 500, 0.6, 0.3  # s, rad


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How it starts to move.

    Attributes
    ----------
    a : float
        Acceleration if it slides or rests, m/s^2.
    corner : Corner or None
        About which it tips.
    slip : float
        Whether (1) or not (0) that corner slides.
    """

    a: float = 0.0
    corner: Corner | None = None
    slip: float = 0.0


def start(mu: float, width: float, height: float, at: float, push: float, mass: float) -> Start:
    """Return how it starts, from the balance of forces and moments in every case."""
    up = at * height
    if push <= mu and push * up <= width / 2:
        return Start()
    if push > mu and abs(push * (up - height / 2) + mu * height / 2) <= width / 2:
        return Start(a=G * (push - mu))
    handle, inertia = (-width / 2, up - height / 2), mass * (width**2 + height**2) / 12.0
    for side in (1.0, -1.0):
        corner = Corner(
            mass=mass,
            inertia=inertia,
            at=(side * width / 2, -height / 2),
            mu=mu,
            push=(push * mass * G, 0.0),
            handle=handle,
        )
        for slip in (0.0, 1.0):
            a, alpha, T, N = (float(value) for value in corner.forces(0.0, 0.0, slip))
            if N > 0.0 and side * alpha < 0.0 and (a > 0.0 if slip else abs(T) <= mu * N):
                return Start(corner=corner, slip=slip)
    raise AssertionError("no way to start")


def build(mu: float, width: float, height: float, at: float, push: float, mass: float) -> Scene:
    """Return the scene, from rest; where it tips it ends before the motion of the corner changes."""
    shape = {"mu": mu, "width": width, "height": height, "at": at, "push": push, "mass": mass}
    begin = start(**shape)
    end, t_end = _reference(begin, width, height)
    handle = Marker("block", (-width / 2, (at - 0.5) * height), "handle")
    corners = {"rear": -width / 2, "front": width / 2}
    system = PlanarSystem(
        bodies=[box("block", mass=mass, width=width, height=height)],
        contacts=[
            PlanarContact(point=Marker("block", (x, -height / 2), name), plane=HalfPlane(name="floor"), mu=mu)
            for name, x in corners.items()
        ],
        forces=[Load(point=handle, force_xy=(push * mass * G, 0.0))],
        gravity=(0.0, -G),
    )
    columns: Columns = {
        "block.x": ("m", coordinate(0)),
        "block.y": ("m", coordinate(1)),
        "block.angle": ("rad", coordinate(2)),
        "block.vx": ("m/s", rate(0)),
        "block.omega": ("rad/s", rate(2)),
    }
    return Scene(
        name="tip_or_slide",
        title="Block pushed at a height: it stays, slides or tips",
        source="balance of forces and moments; DOP853 on the block that turns about a corner",
        system=system,
        state=system.state({"block": (0.0, height / 2, 0.0)}),
        t_end=t_end,
        dt=t_end / STEPS,
        params=shape,
        exact=_exact(end, begin, t_end),
        tests=("stick, slip and tip", "a contact that opens from rest"),
        columns=columns,
    )


def _reference(begin: Start, width: float, height: float) -> tuple[Array, float]:
    """Return (x, angle, vx, omega) of the mass centre at the end, and when that is, s."""
    if begin.corner is None:
        t = 0.5
        return np.array([0.5 * begin.a * t * t, 0.0, begin.a * t, 0.0]), t
    foot = np.array([begin.corner.at[0], 0.0, 0.0, 0.0])
    motion = begin.corner.follow(foot, begin.slip, lambda y: TURNED - abs(float(y[2])), LONGEST)
    t = 0.9 * motion.duration
    x, u, theta, omega = motion.at(t)
    rx, ry = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]) @ begin.corner.at
    return np.array([x - rx, theta, u + omega * ry, omega]), t


def _exact(end: Array, begin: Start, t_end: float) -> tuple[Exact, ...]:
    """Return the checks; the midpoint rule is exact under constant forces, and of order 2 where the block turns."""
    x, angle, vx, omega = (float(value) for value in end)
    near = 1e-13 + 1e-11 * begin.a if begin.corner is None else 1e-10 + 2.0 * (omega * t_end / STEPS) ** 2
    fast = near * (1.0 if begin.corner is None else 4.0 / t_end)
    return (
        check("way at the end", x, "m", last("block.x"), moreau_jean=near, located=True),
        check("angle at the end", angle, "rad", last("block.angle"), moreau_jean=near, located=True),
        check("speed at the end", vx, "m/s", last("block.vx"), moreau_jean=fast, located=True),
        check("rate at the end", omega, "rad/s", last("block.omega"), moreau_jean=fast, located=True),
    )
