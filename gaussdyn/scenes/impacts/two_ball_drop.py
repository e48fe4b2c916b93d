"""A small ball on top of a large one, dropped: the small one flies up with up to three times its speed.

One impact after the other: the large ball turns round at the floor, and hits the small one, which still falls. With
m / M -> 0 and e = 1 the small ball leaves with 3 v. Balls that touch from the start (gap 0) are thrown up together by
Newton's law at both contacts at once: the impact law decides, as in the scene `cradle`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...mechanics.planar.bodies import Marker, disc
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.disc_contact import PlanarDiscContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, last, rate

PARAMETERS = {
    "ratio": Parameter(
        default=0.1, unit="1", min=1e-3, max=0.8, meaning="mass of the small ball over that of the other"
    ),
    "h": Parameter(default=1.0, unit="m", min=0.2, max=5.0, meaning="height of the drop"),
    "e": Parameter(default=0.9, unit="1", min=0.3, max=1.0, meaning="restitution at the floor and between the balls"),
    "gap": Parameter(
        default=0.05, unit="m", min=0.0, max=0.15, meaning="between the balls at the start; 0: they touch"
    ),
}
LARGE, SMALL, MASS = 0.12, 0.033, 0.6  # m, m, kg
STEPS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounce:
    """What happens, from one impact to the next.

    Attributes
    ----------
    met, on : float
        When they meet, and the time from then to the end of the run, s: no other impact within twice that time.
    later : float
        Time from the impact at the floor until they meet, s.
    y, v : (float, float)
        Height over the place of rest (m) and velocity (m/s) of the large and the small ball at the end.
    speed : float
        Of the large ball against the small one when they meet, m/s.
    """

    met: float
    on: float
    later: float
    y: tuple[float, float]
    v: tuple[float, float]
    speed: float

    @classmethod
    def of(cls, ratio: float, h: float, e: float, gap: float) -> Bounce:
        """Return the motion in closed form: the balls meet with constant relative speed, in free flight."""
        fall = math.sqrt(2.0 * h / G)
        v = G * fall
        closing = (1.0 + e) * v
        s = gap / closing
        met = fall + s
        y, large, small = e * v * s - 0.5 * G * s * s, e * v - G * s, -v - G * s
        if gap > 0.0:
            p = (1.0 + e) * closing * ratio / (1.0 + ratio)  # impulse over the mass of the large ball
            large, small = large - p, small + p / ratio
        else:
            small = e * v
        down = (large + math.sqrt(max(large * large + 2.0 * G * y, 0.0))) / G  # time until the large ball lands again
        on = 0.5 * min(down, fall)
        ends = [(u * on - 0.5 * G * on * on + y, u - G * on) for u in (large, small)]
        (y1, v1), (y2, v2) = ends
        return cls(met=met, on=on, later=s, y=(y1, y2), v=(v1, v2), speed=closing)

    def surely(self, dt: float) -> bool:
        """Return whether time stepping keeps the impacts apart, some steps between them."""
        return self.later == 0.0 or (self.later > 10.0 * dt and self.on > 6.0 * dt)


def build(ratio: float, h: float, e: float, gap: float) -> Scene:
    """Return the scene; it ends between the impact of the balls and the next one."""
    bounce = Bounce.of(ratio, h, e, gap)
    t_end = bounce.met + bounce.on
    large, small = Marker("large"), Marker("small")
    system = PlanarSystem(
        bodies=[disc("large", mass=MASS, radius=LARGE), disc("small", mass=ratio * MASS, radius=SMALL)],
        contacts=[
            PlanarContact(point=large, plane=HalfPlane(name="floor"), radius=LARGE, eps_n=e),
            PlanarDiscContact(a=small, b=large, radius_a=SMALL, radius_b=LARGE, eps_n=e),
        ],
        gravity=(0.0, -G),
    )
    columns: Columns = {
        "large.y": ("m", coordinate(1)),
        "large.vy": ("m/s", rate(1)),
        "small.y": ("m", coordinate(4)),
        "small.vy": ("m/s", rate(4)),
    }
    return Scene(
        name="two_ball_drop",
        title="Basketball and tennis ball dropped together",
        source="free flights and Newton's law at one contact at a time, or at both at once where the balls touch",
        system=system,
        state=system.state({"large": (0.0, LARGE + h, 0.0), "small": (0.0, 2.0 * LARGE + SMALL + h + gap, 0.0)}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"ratio": ratio, "h": h, "e": e, "gap": gap},
        exact=_exact(bounce, ratio, h, gap, t_end / STEPS),
        tests=("impacts in a row", "energy at impacts", "mass ratios"),
        columns=columns,
    )


def _exact(bounce: Bounce, ratio: float, h: float, gap: float, dt: float) -> tuple[Exact, ...]:
    """Return the checks.

    Both impacts act up to a step late: velocities are off by some g dt, places by the change of velocity times dt.
    """
    energy = MASS * G * (h + ratio * (h + gap))

    def gain(run: Any) -> float:
        """Return by how much the energy grew above that at the start, J."""
        return float((run["energy"] - run["energy"][0]).max())

    grows = check("largest gain of energy", 0.0, "J", gain, moreau_jean=1e-9 * energy)
    if not bounce.surely(dt):
        return (grows,)
    (y1, y2), (v1, v2) = bounce.y, bounce.v
    fast, way = 6.0 * G * dt, 3.0 * bounce.speed * dt
    return (
        grows,
        check("velocity of the small ball at the end", v2, "m/s", last("small.vy"), moreau_jean=fast, located=True),
        check("velocity of the large ball at the end", v1, "m/s", last("large.vy"), moreau_jean=fast, located=True),
        check(
            "height of the small ball at the end",
            y2 + 2.0 * LARGE + SMALL,
            "m",
            last("small.y"),
            moreau_jean=way,
            located=True,
        ),
        check("height of the large ball at the end", y1 + LARGE, "m", last("large.y"), moreau_jean=way, located=True),
    )
