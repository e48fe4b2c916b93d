"""Painleve and Klein: two equal sliders in parallel guides, joined by a massless link; one guide is rough.

The link force S pushes the rough slider forward: m w = P - S cos(phi) = S cos(phi) - mu s |S| sin(phi), hence
S - k s |S| = P / (2 cos(phi)) with k = mu tan(phi) / 2: one motion for k < 1, none or two for k > 1.
Sources: Painleve (1895), Klein (1909).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...mechanics.planar.bodies import Marker, Point
from ...mechanics.planar.contacts import HalfPlane, PlanarContact, Rod
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, coordinate, rate
from ..references.straight_motion import Line, end_checks

PARAMETERS = {
    "mu": Parameter(
        default=1.5, unit="1", min=0.01, max=5.0, meaning="friction in one guide (critical at 2 / tan phi)"
    ),
    "phi": Parameter(default=1.0, unit="rad", min=0.1, max=1.4, meaning="angle of the link to the guides"),
    "force": Parameter(default=1.0, unit="N", min=-5.0, max=5.0, meaning="P, along the smooth guide"),
    "v0": Parameter(default=1.0, unit="m/s", min=-2.0, max=2.0, meaning="velocity at the start; 0 is rest"),
    "mass": Parameter(default=1.0, unit="kg", min=0.2, max=5.0, meaning="of each slider"),
}
LENGTH, DT, STEPS = 1.0, 1e-3, 200  # m, s


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliders:
    """All accelerations in closed form."""

    mu: float
    phi: float
    force: float
    mass: float

    @property
    def k(self) -> float:
        """Half of mu tan(phi); critical at 1."""
        return 0.5 * self.mu * math.tan(self.phi)

    def slides(self, s: float) -> list[float]:
        """Return all accelerations while they slide with sign s, m/s^2."""
        if self.force == 0.0:
            return [0.0]
        free = self.force / (2.0 * math.cos(self.phi))
        S = [free / (1.0 - self.k * s * e) for e in (1.0, -1.0) if e * free * (1.0 - self.k * s * e) > 0.0]
        return sorted((self.force - x * math.cos(self.phi)) / self.mass for x in S)

    def rests(self) -> list[float]:
        """Return all accelerations from rest."""
        slips = [w for s in (1.0, -1.0) for w in self.slides(s) if s * w > 0.0]
        return ([0.0] if self.k >= 0.5 or self.force == 0.0 else []) + slips

    def margin(self, v0: float) -> float:
        """Return how far from a change of the number of motions it is (relative)."""
        return min(abs(self.k - 1.0), abs(self.force), math.inf if v0 else abs(self.k - 0.5))


def build(mu: float, phi: float, force: float, v0: float, mass: float) -> Scene:
    """Return the scene; by default in the region without solution."""
    sliders = Sliders(mu=mu, phi=phi, force=force, mass=mass)
    rough, smooth = Marker("rough"), Marker("smooth")
    width = LENGTH * math.sin(phi)
    guides = HalfPlane(name="rough_guide"), HalfPlane(name="smooth_guide", point=(0.0, width), normal=(0.0, -1.0))
    system = PlanarSystem(
        bodies=[Point(name="rough", mass=mass), Point(name="smooth", mass=mass)],
        contacts=[
            PlanarContact(point=rough, plane=guides[0], mu=mu, bilateral=True),
            PlanarContact(point=smooth, plane=guides[1], bilateral=True),
            Rod(a=rough, b=smooth, length=LENGTH),
        ],
        forces=[Load(point=smooth, force_xy=(force, 0.0))],
        gravity=(0.0, 0.0),
    )
    start = {"rough": (LENGTH * math.cos(phi), 0.0), "smooth": (0.0, width)}
    columns: Columns = {
        "rough.x": ("m", lambda state: float(state.q[0] - start["rough"][0])),
        "rough.vx": ("m/s", rate(0)),
        "smooth.x": ("m", coordinate(2)),
    }
    return Scene(
        name="painleve_klein",
        title="Painlevé and Klein: two sliders and a link, none or two motions",
        source="S - k s |S| = P / (2 cos phi), k = mu tan(phi) / 2 (Painlevé 1895, Klein 1909)",
        system=system,
        state=system.state(start, {"rough": (v0, 0.0), "smooth": (v0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params={"mu": mu, "phi": phi, "force": force, "v0": v0, "mass": mass},
        exact=_exact(sliders, system, v0),
        tests=("bilateral contact with friction in a mechanism", "no solution and two", "jam: a sudden stop"),
        columns=columns,
    )


def _exact(sliders: Sliders, system: PlanarSystem, v0: float) -> tuple[Exact, ...]:
    line, margin = Line(slides=sliders.slides, rests=sliders.rests), sliders.margin(v0)
    count = count_check(system, line.count(v0), margin)
    return (count, *end_checks(line, v0, margin, (STEPS, DT), ("rough.x", "rough.vx")))
