"""A bipod: a body held on a floor by two feet with different friction, pushed sideways.

With y = F - m w the friction in all, N1 = (P - y h / a) / 2 and N2 = (P + y h / a) / 2. While it slides with sign s,
y = s (mu1 |N1| + mu2 |N2|). With k_i = mu_i h / (2 a): none, one or two motions to one side; one or three from rest.
Source: Ivanov (2009), section 5.3, with the coefficients k_i corrected.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, coordinate, rate
from ..references.straight_motion import Line, end_checks

PARAMETERS = {
    "a": Parameter(default=1.0, unit="m", min=0.2, max=3.0, meaning="half distance of the feet"),
    "h": Parameter(default=2.0, unit="m", min=0.2, max=3.0, meaning="height of the mass centre"),
    "weight": Parameter(default=1.0, unit="N", min=0.2, max=5.0, meaning="P, load of both feet"),
    "mu1": Parameter(default=0.75, unit="1", min=0.01, max=2.0, meaning="friction of the left foot"),
    "mu2": Parameter(default=0.4, unit="1", min=0.01, max=2.0, meaning="friction of the right foot"),
    "force": Parameter(default=1.0, unit="N", min=-6.0, max=6.0, meaning="F, to the right, on the mass centre"),
    "v0": Parameter(default=1.0, unit="m/s", min=-2.0, max=2.0, meaning="velocity at the start; 0 is rest"),
}
MASS, DT, STEPS = 1.0, 1e-3, 200  # kg, s


@dataclass(frozen=True, slots=True, kw_only=True)
class Bipod:
    """All accelerations in closed form."""

    a: float
    h: float
    weight: float
    mu1: float
    mu2: float
    force: float

    def slides(self, s: float) -> list[float]:
        """Return all accelerations while it slides with sign s, m/s^2."""
        ratio = self.h / self.a
        found = set()
        for e1, e2 in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            slope = self._slope(s, e1, e2)
            y = 0.5 * s * self.weight * (self.mu1 * e1 + self.mu2 * e2) / slope if slope else float("inf")
            if e1 * (self.weight - ratio * y) >= 0.0 and e2 * (self.weight + ratio * y) >= 0.0:
                found.add(round((self.force - y) / MASS, 12))
        return sorted(found)

    def _slope(self, s: float, e1: float, e2: float) -> float:
        return 1.0 + 0.5 * s * self.h / self.a * (self.mu1 * e1 - self.mu2 * e2)

    def rests(self) -> list[float]:
        """Return all accelerations from rest."""
        slips = [w for s in (1.0, -1.0) for w in self.slides(s) if s * w > 0.0]
        return ([0.0] if self.hold() >= 0.0 else []) + slips

    def hold(self) -> float:
        """Return the friction available at rest beyond what is needed, N."""
        N1, N2 = (0.5 * (self.weight + e * self.h / self.a * self.force) for e in (-1.0, 1.0))
        return self.mu1 * abs(N1) + self.mu2 * abs(N2) - abs(self.force)

    def margin(self, v0: float) -> float:
        """Return how far from a change of the number of motions it is (relative)."""
        signs = (1.0, -1.0) if v0 == 0.0 else (v0,)
        margins = [abs(self.hold()) / self.weight] if v0 == 0.0 else []
        for s in [1.0 if sign > 0 else -1.0 for sign in signs]:
            margins += [abs(self._slope(s, *e)) for e in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            for w in self.slides(s):
                lean = self.h / self.a * (self.force - MASS * w)
                margins += [abs(self.weight - lean) / self.weight, abs(self.weight + lean) / self.weight]
                margins += [abs(MASS * w) / self.weight] if v0 == 0.0 else []
        return min(margins)


def build(**params: float) -> Scene:
    """Return the scene; by default with two motions."""
    v0 = params["v0"]
    bipod = Bipod(**{key: value for key, value in params.items() if key != "v0"})
    a, h = bipod.a, bipod.h
    floor, feet = HalfPlane(name="floor"), ((-a, bipod.mu1, "left"), (a, bipod.mu2, "right"))
    outline = ((-a, -h), (0.0, 0.0), (a, -h), (0.0, 0.2 * h))
    system = PlanarSystem(
        bodies=[PlanarBody(name="body", mass=MASS, inertia=a * a, outline=outline)],
        contacts=[
            PlanarContact(point=Marker("body", (x, -h), name), plane=floor, mu=mu, bilateral=True)
            for x, mu, name in feet
        ],
        forces=[Load(point=Marker("body"), force_xy=(bipod.force, 0.0))],
        gravity=(0.0, -bipod.weight / MASS),
    )
    columns: Columns = {
        "body.x": ("m", coordinate(0)),
        "body.vx": ("m/s", rate(0)),
        "body.angle": ("rad", coordinate(2)),
    }
    return Scene(
        name="bipod",
        title="Bipod: none, one or two motions to one side, three from rest",
        source="Ivanov (2009), Bifurcations in systems with friction, section 5.3, corrected",
        system=system,
        state=system.state({"body": (0.0, h, 0.0)}, {"body": (v0, 0.0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params=params,
        exact=_exact(bipod, system, v0),
        tests=("bilateral contacts with friction", "no solution, two, three", "jam: a sudden stop"),
        columns=columns,
    )


def _exact(bipod: Bipod, system: PlanarSystem, v0: float) -> tuple[Exact, ...]:
    line, margin = Line(slides=bipod.slides, rests=bipod.rests), bipod.margin(v0)
    count = count_check(system, line.count(v0), margin)
    return (count, *end_checks(line, v0, margin, (STEPS, DT), ("body.x", "body.vx")))
