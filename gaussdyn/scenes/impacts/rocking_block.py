"""Housner's block rocks from one corner to the other, and loses the same share of its energy at every impact.

Source: G. W. Housner, Bull. Seismol. Soc. Am. 53 (1963) 403. With the slenderness alpha = atan(b / h), R^2 = b^2 + h^2
and p^2 = 3 g / (4 R): theta'' = -p^2 sin(alpha - theta), and omega+ = (1 - 3/2 sin^2 alpha) omega- at an impact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, box
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, rate

PARAMETERS = {
    "half_width": Parameter(default=0.2, unit="m", min=0.1, max=0.3, meaning="b, half of the base"),
    "half_height": Parameter(default=0.6, unit="m", min=0.5, max=1.0, meaning="h, half of the height"),
    "tilt": Parameter(default=0.5, unit="1", min=0.2, max=0.9, meaning="at the start, over alpha; it falls over at 1"),
    "mass": Parameter(default=10.0, unit="kg", min=0.1, max=1e3, meaning="of the block"),
}
IMPACTS, STEPS, MU = 3, 1000, 2.0  # friction so high that no corner slips
LEFT, RIGHT = "block.left/floor", "block.right/floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rocking:
    """Rocking in closed form.

    Attributes
    ----------
    alpha, p : float
        Slenderness (rad), frequency (1/s).
    """

    alpha: float
    p: float

    @property
    def keeps(self) -> float:
        """Share of its energy that the block keeps at an impact."""
        return (1.0 - 1.5 * math.sin(self.alpha) ** 2) ** 2

    def energy(self, theta: float) -> float:
        """Return the potential energy at a tilt, over m g R."""
        return math.cos(self.alpha - theta) - math.cos(self.alpha)

    def after(self, theta: float) -> float:
        """Return the amplitude after an impact, from that before, rad."""
        return self.alpha - math.acos(math.cos(self.alpha) + self.keeps * self.energy(theta))

    def quarter(self, theta: float) -> float:
        """Return the time from rest at a tilt to the impact, s."""
        from scipy.integrate import quad

        def slow(z: float) -> float:
            """Return dt/dz with the tilt theta (1 - z^2), which takes the root out of the integrand."""
            lower = 0.5 * theta * z * z  # cos(a - theta) - cos(a - x) = 2 sin(a - (theta + x) / 2) sin((theta - x) / 2)
            height = 2.0 * math.sin(self.alpha - theta + lower) * math.sin(lower)
            return 2.0 * theta * z / math.sqrt(2.0 * height) if z > 0.0 else 0.0

        return float(quad(slow, 0.0, 1.0, epsabs=1e-14, epsrel=1e-13)[0]) / self.p

    def impacts(self, theta: float, n: int) -> tuple[list[float], list[float]]:
        """Return the times of the first n impacts (s) and the amplitudes before each of them (rad)."""
        times, amplitudes, t = [], [theta], 0.0
        for _ in range(n):
            t += self.quarter(amplitudes[-1])
            times.append(t)
            amplitudes.append(self.after(amplitudes[-1]))
            t += self.quarter(amplitudes[-1])
        return times, amplitudes

    def errors(self, amplitudes: list[float], dt: float) -> tuple[list[float], list[float]]:
        """Bound the errors of time stepping: of the times of impacts (s), and of the amplitudes before them (rad).

        An impact acts up to a step early or late, and turns the motion round in the middle of that step: gravity works
        over a step and a half too many or too few, omega sin(alpha) 3/2 dt of the energy over m g R. The block is then
        tilted by up to omega dt, which the ratio of the rates feels h / b times. All swings to come are off by as much.
        """
        late, off, t = [1.5 * dt], [0.0], 1.5 * dt
        for before, after in pairwise(amplitudes):
            omega = self.p * math.sqrt(2.0 * self.energy(before))
            gravity = 1.5 * omega * math.sin(self.alpha) * dt
            tilted = 2.0 * self.energy(before) * omega * dt / math.tan(self.alpha)
            worth = gravity + tilted + math.sin(self.alpha - before) * off[-1]
            off.append(self.keeps * worth / math.sin(self.alpha - after))
            ends = (max(after - off[-1], 1e-3 * after), min(after + off[-1], 0.999 * self.alpha))
            t += dt + self.quarter(ends[1]) - self.quarter(ends[0])
            late.append(t)
        return late, off


def build(half_width: float, half_height: float, tilt: float, mass: float) -> Scene:
    """Return the scene: tilted about its right corner, let go, seen until after the third impact."""
    rocking = Rocking(
        alpha=math.atan2(half_width, half_height), p=math.sqrt(0.75 * G / math.hypot(half_width, half_height))
    )
    theta = tilt * rocking.alpha
    times, amplitudes = rocking.impacts(theta, IMPACTS)
    t_end = times[-1] + 0.5 * rocking.quarter(amplitudes[-1])
    lean = rocking.alpha - theta
    reach = math.hypot(half_width, half_height)
    place = (half_width - reach * math.sin(lean), reach * math.cos(lean), -theta)
    floor = HalfPlane(name="floor")
    corners = {"left": -half_width, "right": half_width}
    system = PlanarSystem(
        bodies=[box("block", mass=mass, width=2.0 * half_width, height=2.0 * half_height)],
        contacts=[
            PlanarContact(point=Marker("block", (x, -half_height), name), plane=floor, mu=MU)
            for name, x in corners.items()
        ],
        gravity=(0.0, -G),
    )
    columns: Columns = {
        "block.x": ("m", coordinate(0)),
        "block.y": ("m", coordinate(1)),
        "block.tilt": ("rad", lambda state: -float(state.q[2])),
        "block.omega": ("rad/s", rate(2)),
    }
    return Scene(
        name="rocking_block",
        title="Rocking block (Housner)",
        source="Housner (1963), large angles: quadratures between the impacts",
        system=system,
        state=system.state({"block": place}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"half_width": half_width, "half_height": half_height, "tilt": tilt, "mass": mass},
        exact=_exact(rocking, times, amplitudes, t_end / STEPS),
        tests=("impacts at a corner while another one lets go", "energy lost at an impact"),
        columns=columns,
    )


def _exact(rocking: Rocking, times: list[float], amplitudes: list[float], dt: float) -> tuple[Exact, ...]:
    """Return the checks, with tolerances of order 1: see `errors`."""
    late, off = rocking.errors(amplitudes, dt)
    kept = off[1] * math.sin(rocking.alpha - amplitudes[1]) / rocking.energy(amplitudes[0])
    found = [
        check(
            f"time of impact {k + 1}",
            times[k],
            "s",
            at_event(_impact(k), "impact", n=k),
            moreau_jean=late[k],
            located=True,
        )
        for k in range(len(times))
    ]
    found += [
        check(f"tilt after impact {k}", amplitudes[k], "rad", _swing(k - 1), moreau_jean=off[k])
        for k in range(1, len(times))
    ]
    return (*found, check("energy kept at the first impact", rocking.keeps, "1", _kept, moreau_jean=2.0 * kept))


def _changes(run: Any) -> Any:
    """Return the indices of the saved states at which another corner carries than before."""
    carries = np.sign(run[f"{RIGHT}.r_N"] - run[f"{LEFT}.r_N"])
    carries[0] = 1.0
    return np.flatnonzero(carries[1:] != carries[:-1]) + 1


def _impact(k: int) -> Callable[[Any], float]:
    """Return the measure: the time of an impact, s, to within a step."""

    def measure(run: Any) -> float:
        """Read it off the forces of the corners."""
        found = _changes(run)
        return float(run.t[found[k]]) if len(found) > k else float(run.t[-1])

    return measure


def _swing(k: int) -> Callable[[Any], float]:
    """Return the measure: the largest tilt between two impacts, rad."""

    def measure(run: Any) -> float:
        """Read it off the angle."""
        found = [*_changes(run), len(run)]
        return float(np.abs(run["block.tilt"][found[k] : found[k + 1]]).max()) if len(found) > k + 1 else 0.0

    return measure


def _kept(run: Any) -> float:
    """Return the energy of the first swing back over that at the start."""
    found = [*_changes(run), len(run), len(run)]
    height = run["block.y"]
    low = float(height[found[0] - 1 : found[0] + 1].min())
    return (float(height[found[0] : found[1]].max()) - low) / (float(height[0]) - low)
