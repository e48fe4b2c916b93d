"""A uniform rod whose tip slides on the floor, digging in: the Painleve rod in its regular regime.

With theta the angle to the floor and u < 0 the speed of the tip, friction on the tip is +mu N, and
a_N = A N + b with m A = 1 + 3 cos^2 theta - 3 mu sin theta cos theta, b = l omega^2 sin theta - g, so N = -b / A.
For mu < 4/3 A is positive at every angle and the motion is unique.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, largest, last, rate

PARAMETERS = {
    "mu": Parameter(default=0.5, unit="1", min=0.0, max=1.2, meaning="friction (critical at 4/3)"),
    "theta0": Parameter(default=1.0, unit="rad", min=0.3, max=1.4, meaning="initial angle to the floor"),
    "v0": Parameter(default=3.0, unit="m/s", min=1.0, max=6.0, meaning="initial speed of the tip, digging in"),
    "omega0": Parameter(default=0.0, unit="rad/s", min=-1.0, max=1.0, meaning="initial angular velocity"),
    "half_length": Parameter(default=0.5, unit="m", min=0.2, max=1.5, meaning="of the rod"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="of the rod"),
}
DT = 5e-4  # s, or t_end / 200 where the motion is shorter
TIP = "rod.tip/floor"


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Times (n,), s, and states (n, 4) of the reduced rod."""

    t: Array
    y: Array

    @property
    def dt(self) -> float:
        """Default step, s."""
        return min(DT, float(self.t[-1]) / 200.0)


@dataclass(frozen=True, slots=True)
class Reduced:
    """The rod with its tip held on the floor: state (x, u, theta, omega) of tip and angle."""

    mu: float
    l: float
    mass: float

    def normal_force(self, theta: float, omega: float) -> float:
        """Return N = -b / A, N."""
        s, c = math.sin(theta), math.cos(theta)
        A = (1.0 + 3.0 * c * c - 3.0 * self.mu * s * c) / self.mass
        return (G - self.l * omega * omega * s) / A

    def slope(self, t: float, y: Array) -> list[float]:
        """Return d(x, u, theta, omega)/dt."""
        _, u, theta, omega = (float(value) for value in y)
        s, c, N = math.sin(theta), math.cos(theta), self.normal_force(theta, omega)
        alpha = 3.0 * N * (self.mu * s - c) / (self.mass * self.l)
        return [u, self.mu * N / self.mass + self.l * (s * alpha + c * omega * omega), omega, alpha]

    def motion(self, theta0: float, v0: float, omega0: float) -> Motion:
        """Return the motion to 1e-12, as long as the tip surely goes on sliding under pressure.

        That is nine tenths of the time until it stops, lifts off or the rod lies down; at most 0.9 s.
        """
        from scipy.integrate import solve_ivp

        def ends(t: float, y: Array) -> float:
            """Return what reaches zero where the regular regime ends."""
            pressure = self.normal_force(float(y[2]), float(y[3])) / (self.mass * G)
            return min(-float(y[1]) / v0, pressure, float(y[2]) - 0.1, math.pi - 0.1 - float(y[2]))

        ends.terminal = True  # type: ignore[attr-defined]
        start, options = [0.0, -v0, theta0, omega0], {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
        whole = solve_ivp(self.slope, (0.0, 1.0), start, events=ends, **options)
        t = np.linspace(0.0, round(0.9 * float(whole.t[-1]), 4), 201)
        y = solve_ivp(self.slope, (0.0, t[-1]), start, t_eval=t, **options).y
        return Motion(t, np.ascontiguousarray(y.T))


def build(mu: float, theta0: float, v0: float, omega0: float, half_length: float, mass: float) -> Scene:
    """Return the scene; the reference is the reduced motion, integrated by an independent method of order 8."""
    reduced, arm = Reduced(mu, half_length, mass), half_length
    tip = PlanarContact(point=Marker("rod", (-arm, 0.0), "tip"), plane=HalfPlane(name="floor"), mu=mu)
    rod = PlanarBody(name="rod", mass=mass, inertia=mass * arm * arm / 3.0, outline=((-arm, 0.0), (arm, 0.0)))
    system = PlanarSystem(bodies=[rod], contacts=[tip], gravity=(0.0, -G))
    s, c = arm * math.sin(theta0), arm * math.cos(theta0)
    start, velocity = (c, s, theta0), (-v0 - s * omega0, c * omega0, omega0)
    motion = reduced.motion(theta0, v0, omega0)
    columns: Columns = {
        "rod.x": ("m", coordinate(0)),
        "rod.y": ("m", coordinate(1)),
        "rod.theta": ("rad", coordinate(2)),
        "rod.omega": ("rad/s", rate(2)),
        "tip.x": ("m", lambda state: float(state.q[0] - arm * math.cos(state.q[2]))),
        "tip.u": ("m/s", lambda state: float(state.v[0] + arm * math.sin(state.q[2]) * state.v[2])),
    }
    return Scene(
        name="sliding_rod",
        title="Sliding rod in its regular regime",
        source="a_N = A N + b (Painlevé 1895; Génot and Brogliato 1999); reference: DOP853 on the reduced motion",
        system=system,
        state=system.state({"rod": start}, {"rod": velocity}),
        t_end=float(motion.t[-1]),
        dt=motion.dt,
        params={"mu": mu, "theta0": theta0, "v0": v0, "omega0": omega0, "half_length": half_length, "mass": mass},
        exact=_exact(reduced, motion),
        tests=("sliding contact of a turning body", "unsymmetric contact problem on the acceleration level"),
        columns=columns,
    )


def _exact(reduced: Reduced, motion: Motion) -> tuple[Exact, ...]:
    x, u, theta, omega = (float(value) for value in motion.y[-1])
    force = reduced.normal_force(float(motion.y[0, 2]), float(motion.y[0, 3]))
    error, force_error = _errors(reduced, motion)
    return (
        check("angle at the end", theta, "rad", last("rod.theta"), moreau_jean=error, located=True),
        check("angular velocity at the end", omega, "rad/s", last("rod.omega"), moreau_jean=error, located=True),
        check("place of the tip at the end", x, "m", last("tip.x"), moreau_jean=error, located=True),
        check("velocity of the tip at the end", u, "m/s", last("tip.u"), moreau_jean=error, located=True),
        check(
            "normal force at the start", force, "N", lambda run: float(run[f"{TIP}.r_N"][1]), moreau_jean=force_error
        ),
        check("largest gap under the tip", 0.0, "m", largest(f"{TIP}.gap"), moreau_jean=error),
    )


def _errors(reduced: Reduced, motion: Motion) -> tuple[float, float]:
    """Bound the errors of time stepping at the end (SI) and of the mean force over the first step, N.

    The midpoint rule is of order 2: at every moment it adds dt^2 / 4 times the third derivative of the motion (three
    times its largest constant, 1/12), and what it adds grows or fades with the motion until the end; as much once at
    the start and once at the end, for velocities belong to the ends of a step and laws to its middle. The mean force
    over a step differs from the force at its beginning by half of its change.
    """
    slope = np.array([reduced.slope(0.0, y) for y in motion.y])
    bend = np.gradient(np.gradient(slope, motion.t, axis=0), motion.t, axis=0)
    force = np.array([reduced.normal_force(float(y[2]), float(y[3])) for y in motion.y])
    change = float(np.abs(np.gradient(force, motion.t)).max())
    added = 0.25 * motion.dt**2 * np.einsum("kij,kj->ki", np.abs(sensitivity(reduced, motion)), np.abs(bend))
    error = float((np.trapezoid(added, motion.t, axis=0) + added[0] + added[-1]).max())
    return 1e-9 + error, 1e-9 + motion.dt * change


def sensitivity(reduced: Reduced, motion: Motion) -> Array:
    """Return by how much a small change of the state at every time moves the state at the end, shape (n, 4, 4)."""
    one, step = np.eye(4), 1e-6
    rates = [[reduced.slope(0.0, y + s * step * e) for e in one] for y in motion.y for s in (1.0, -1.0)]
    slopes = np.array(rates).reshape(len(motion.t), 2, 4, 4)
    jacobian = ((slopes[:, 0] - slopes[:, 1]) / (2.0 * step)).transpose(0, 2, 1)
    found: Array = np.empty_like(jacobian)
    found[-1] = one
    for k in range(len(motion.t) - 2, -1, -1):
        turn = (motion.t[k + 1] - motion.t[k]) * (jacobian[k] + jacobian[k + 1]) / 2.0
        found[k] = found[k + 1] @ (one + turn + turn @ turn / 2.0)
    return found
