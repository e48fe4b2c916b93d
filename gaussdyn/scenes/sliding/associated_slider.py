"""A slider whose normal force does not depend on friction, with friction stronger at rest than in slip.

From rest the laws admit rest for |F| <= mu_s N and slip for |F| > mu N: both, if mu N < |F| <= mu_s N. Stick priority
keeps the rest alone. Source: Ivanov (2009), section 2, laws (2.4) and (2.5); uniqueness needs mu_s = mu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...mechanics.planar.bodies import Marker, Point
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, coordinate, rate
from ..references.straight_motion import Line, end_checks

PARAMETERS = {
    "mu": Parameter(default=0.3, unit="1", min=0.01, max=0.5, meaning="friction in slip"),
    "mu_s": Parameter(default=0.5, unit="1", min=0.5, max=1.0, meaning="friction at rest"),
    "force": Parameter(default=0.4, unit="N", min=-2.0, max=2.0, meaning="F, along the floor"),
    "load": Parameter(default=1.0, unit="N", min=0.5, max=5.0, meaning="N, normal force"),
    "v0": Parameter(default=0.0, unit="m/s", min=-2.0, max=2.0, meaning="velocity at the start; 0 is rest"),
    "mass": Parameter(default=1.0, unit="kg", min=0.2, max=5.0, meaning="of the slider"),
}
DT, STEPS = 2e-3, 300  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider:
    """All accelerations in closed form."""

    mu: float
    mu_s: float
    force: float
    load: float
    mass: float

    def slides(self, s: float) -> list[float]:
        """Return the acceleration while it slides with sign s, m/s^2."""
        return [(self.force - s * self.mu * self.load) / self.mass]

    def slips(self) -> list[float]:
        """Return the acceleration with which it may begin to slip."""
        excess = abs(self.force) - self.mu * self.load
        return [math.copysign(excess, self.force) / self.mass] if excess > 0.0 else []

    def rests(self) -> list[float]:
        """Return the acceleration from rest with stick priority."""
        return [0.0] if self.holds else self.slips()

    @property
    def holds(self) -> bool:
        """Whether friction at rest suffices."""
        return abs(self.force) <= self.mu_s * self.load

    def margin(self) -> float:
        """Return how far from a change of the number of motions it is (relative)."""
        return min(abs(abs(self.force) / self.load - x) for x in (self.mu, self.mu_s))


def build(mu: float, mu_s: float, force: float, load: float, v0: float, mass: float) -> Scene:
    """Return the scene; by default with two motions from rest, of which the run takes the rest."""
    slider, marker = Slider(mu=mu, mu_s=mu_s, force=force, load=load, mass=mass), Marker("slider")
    system = PlanarSystem(
        bodies=[Point(name="slider", mass=mass)],
        contacts=[PlanarContact(point=marker, plane=HalfPlane(name="floor"), mu=mu, mu_s=mu_s)],
        forces=[Load(point=marker, force_xy=(force, 0.0))],
        gravity=(0.0, -load / mass),
    )
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.vx": ("m/s", rate(0))}
    return Scene(
        name="associated_slider",
        title="Slider with more friction at rest than in slip",
        source="Ivanov (2009), Bifurcations in systems with friction, section 2, corrected: two motions from rest",
        system=system,
        state=system.state({"slider": (0.0, 0.0)}, {"slider": (v0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params={"mu": mu, "mu_s": mu_s, "force": force, "load": load, "v0": v0, "mass": mass},
        exact=_exact(slider, system, v0),
        tests=("friction stronger at rest", "stick priority", "slip to stick"),
        columns=columns,
    )


def _exact(slider: Slider, system: PlanarSystem, v0: float) -> tuple[Exact, ...]:
    line, margin = Line(slides=slider.slides, rests=slider.rests), slider.margin()
    both = 1 if v0 else slider.holds + len(slider.slips())
    return (
        count_check(system, both, margin),
        count_check(system, 1, margin, "stick"),
        *end_checks(line, v0, margin, (STEPS, DT), ("slider.x", "slider.vx")),
    )
