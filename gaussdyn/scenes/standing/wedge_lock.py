"""A wedge squeezed between two jaws: it locks itself iff its half angle is below the angle of friction.

Jaws of mass M press with F each along x; a wedge of mass m and half angle alpha, point down, is pulled with P along y.
With tan(lam) = mu it stays iff -2 F tan(alpha + lam) <= P <= 2 F tan(lam - alpha): without a pull iff alpha <= lam.
Squeezed or pulled out (s = 1), or driven in (s = -1), it has the constant acceleration
a = (P + k F) / (m + k M tan(alpha)), k = 2 tan(alpha - s lam); where the jaws cannot follow, a = P / m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody, box, fixed
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.joints import Slider
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, check, coordinate, last, rate

PARAMETERS = {
    "alpha": Parameter(default=0.25, unit="rad", min=0.1, max=0.6, meaning="half angle; it locks if alpha <= atan(mu)"),
    "mu": Parameter(default=0.3, unit="1", min=0.0, max=0.9, meaning="friction between wedge and jaws"),
    "squeeze": Parameter(default=10.0, unit="N", min=1.0, max=50.0, meaning="F, of each jaw"),
    "pull": Parameter(default=0.0, unit="N", min=-30.0, max=30.0, meaning="P, out of the jaws; < 0 drives it in"),
    "mass": Parameter(default=1.0, unit="kg", min=0.5, max=5.0, meaning="m, of the wedge"),
    "jaw": Parameter(default=0.5, unit="kg", min=0.1, max=1.0, meaning="M, of each jaw"),
}
HALF, TALL, JAW = 0.1, 0.2, 0.04  # m
DT, STEPS = 1e-3, 100  # s
TIE = 1e-6  # of 2 F: closer to the limits rounding decides
SIDES = (("left", -1.0), ("right", 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """What happens from rest.

    Attributes
    ----------
    a, jaw : float
        Accelerations of the wedge along y and of the jaws towards each other, m/s^2.
    pressed : float
        What a jaw puts on the wedge along x, N.
    margin : float
        How far the pull is from the nearer limit, over 2 F.
    """

    a: float
    jaw: float
    pressed: float
    margin: float


def build(alpha: float, mu: float, squeeze: float, pull: float, mass: float, jaw: float) -> Scene:
    """Return the scene, from rest; wedge and jaws are guided without friction."""
    found = motion(alpha, mu, (squeeze, pull), (mass, jaw))
    columns: Columns = {
        "wedge.y": ("m", coordinate(1)),
        "wedge.vy": ("m/s", rate(1)),
        "right.x": ("m", coordinate(6)),
    }
    system = _system(alpha, mu, (squeeze, pull), (mass, jaw))
    return Scene(
        name="wedge_lock",
        title="Wedge between two jaws: it locks itself or slips out",
        source="statics: it locks iff alpha <= atan(mu); closed form of the slip",
        system=system,
        state=system.state({"left": (-HALF - JAW / 2, 0.0, 0.0), "right": (HALF + JAW / 2, 0.0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params={"alpha": alpha, "mu": mu, "squeeze": squeeze, "pull": pull, "mass": mass, "jaw": jaw},
        exact=_exact(found, squeeze),
        tests=("self-locking", "two contacts on opposite sides", "guides"),
        columns=columns,
    )


def motion(alpha: float, mu: float, forces: tuple[float, float], masses: tuple[float, float]) -> Motion:
    """Return the motion from rest under (squeeze, pull), N, of (wedge, jaw), kg."""
    (squeeze, pull), (mass, jaw), lam = forces, masses, math.atan(mu)
    share, outwards, inwards = pull / (2.0 * squeeze), math.tan(lam - alpha), -math.tan(lam + alpha)
    margin = min(abs(share - outwards), abs(share - inwards))
    if inwards <= share <= outwards:
        return Motion(a=0.0, jaw=0.0, pressed=squeeze, margin=margin)
    slope = -outwards if share > outwards else -inwards
    a = (pull + 2.0 * slope * squeeze) / (mass + 2.0 * slope * jaw * math.tan(alpha))
    pressed = squeeze - jaw * a * math.tan(alpha)
    if pressed > 0.0:
        return Motion(a=a, jaw=a * math.tan(alpha), pressed=pressed, margin=margin)
    return Motion(a=pull / mass, jaw=squeeze / jaw, pressed=0.0, margin=margin)


def _system(
    alpha: float, mu: float, forces: tuple[float, float], masses: tuple[float, float]
) -> PlanarSystem:  # fmt: skip
    lean, (squeeze, pull) = TALL / 2 * math.tan(alpha), forces
    outline = ((lean - HALF, -TALL / 2), (HALF - lean, -TALL / 2), (HALF + lean, TALL / 2), (-HALF - lean, TALL / 2))
    wedge = PlanarBody(name="wedge", mass=masses[0], inertia=masses[0] * HALF**2, outline=outline)
    jaws = [box(side, mass=masses[1], width=JAW, height=JAW) for side, _ in SIDES]
    tips = {side: Marker(side, (-s * JAW / 2, 0.0), "tip") for side, s in SIDES}
    faces = {
        side: HalfPlane(
            name=f"{side}_face", body="wedge", point=(s * HALF, 0.0), normal=(s * math.cos(alpha), -math.sin(alpha))
        )
        for side, s in SIDES
    }
    return PlanarSystem(
        bodies=[wedge, *jaws],
        contacts=[PlanarContact(point=tips[side], plane=faces[side], mu=mu) for side, _ in SIDES],
        joints=[
            Slider(name="guide", a=Marker("wedge"), b=fixed(0.0, 0.0), direction=(0.0, 1.0)),
            *(Slider(name=f"{side}_guide", a=Marker(side), b=fixed(0.0, 0.0)) for side, _ in SIDES),
        ],
        forces=[
            Load(point=Marker("wedge"), force_xy=(0.0, pull)),
            *(Load(point=Marker(side), force_xy=(-s * squeeze, 0.0)) for side, s in SIDES),
        ],
        gravity=(0.0, 0.0),
    )


def _exact(motion: Motion, squeeze: float) -> tuple[Exact, ...]:
    t = STEPS * DT
    rounding = (1e-12 if motion.margin > TIE else 1.0) * (1.0 + abs(motion.a) + motion.jaw)

    def misses(run: Any) -> float:
        """Return how far the wedge is from pushing a jaw along x with what it carries, N."""
        forces = [s * run.between(side, "wedge").force[1:, 0] for side, s in SIDES]
        return float(np.abs(np.array(forces) - motion.pressed).max())

    place = HALF + JAW / 2 - 0.5 * motion.jaw * t * t
    return (
        check("way at the end", 0.5 * motion.a * t * t, "m", last("wedge.y"), moreau_jean=rounding),
        check("speed at the end", motion.a * t, "m/s", last("wedge.vy"), moreau_jean=rounding),
        check("place of the right jaw", place, "m", last("right.x"), moreau_jean=rounding),
        check("largest error of the force of a jaw", 0.0, "N", misses, moreau_jean=1e3 * rounding * squeeze),
    )
