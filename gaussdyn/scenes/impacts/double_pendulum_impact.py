"""Two rods hang from a hinge, and the tip of the lower one hits a rough floor: an impact with slip that may reverse.

Source: T. R. Kane, D. A. Levinson, Dynamics: Theory and Applications (1985). Newton's law for the normal velocity with
Coulomb's law for the tangential impulse (e_t = 0) can gain energy at such an impact: it would at one of seven states of
the stated ranges, and is taken there with the largest share of both restitutions that gains none. Moreau's law (1988)
has e_t = e_n = e, for which u+ + e u- obeys Coulomb's law; it loses at least (1 - e) / (1 + e) times the kinetic energy
of the change of velocity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.joints import Hinge
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, rate

PARAMETERS = {
    "theta1": Parameter(default=0.35, unit="rad", min=0.1, max=0.4, meaning="of the upper rod from the vertical then"),
    "theta2": Parameter(default=0.52, unit="rad", min=0.5, max=0.9, meaning="of the lower rod from the vertical then"),
    "omega1": Parameter(default=-0.5, unit="rad/s", min=-2.0, max=-0.2, meaning="rate of the upper rod at the impact"),
    "omega2": Parameter(default=-2.0, unit="rad/s", min=-4.0, max=-1.0, meaning="rate of the lower rod at the impact"),
    "mu": Parameter(default=0.5, unit="1", min=0.0, max=1.0, meaning="friction of the floor"),
    "e_n": Parameter(default=0.5, unit="1", min=0.0, max=1.0, meaning="normal restitution"),
    "e_t": Parameter(default=0.5, unit="1", min=0.0, max=1.0, meaning="tangential restitution"),
}
LENGTH, MASS = 1.0, 1.0  # m, kg, of each rod
BEFORE, AFTER, STEPS = 0.05, 0.01, 400  # s
TIP = "lower.tip/floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pendulum:
    """Two equal rods in the angles from the vertical, without floor."""

    def mass(self, y: Array) -> Array:
        """Return M, kg m^2, shape (2, 2)."""
        c = 0.5 * math.cos(y[0] - y[1])
        return np.asarray(MASS * LENGTH**2 * np.array([[4.0 / 3.0, c], [c, 1.0 / 3.0]]))

    def slope(self, t: float, y: Array) -> Array:
        """Return d(theta1, theta2, omega1, omega2)/dt."""
        s = 0.5 * math.sin(y[0] - y[1]) * MASS * LENGTH**2
        weight = 0.5 * MASS * G * LENGTH * np.array([3.0 * math.sin(y[0]), math.sin(y[1])])
        h = np.array([-s * y[3] ** 2, s * y[2] ** 2]) - weight
        return np.concatenate([y[2:], np.linalg.solve(self.mass(y), h)])

    def rows(self, y: Array) -> Array:
        """Return the derivative of the velocity (N, T) of the tip by the rates, m, shape (2, 2)."""
        return LENGTH * np.array([[math.sin(y[0]), math.sin(y[1])], [math.cos(y[0]), math.cos(y[1])]])


def impact(W: Array, u: Array, mu: float, e: Array) -> list[Array]:
    """Return all impulses p >= 0 (N, T) for which W p + (1 + e) u obeys Signorini's and Coulomb's laws."""
    b, found = (1.0 + e) * u, []
    for mode in (0.0, 1.0, -1.0):
        slides = np.array([1.0, -mode * mu]) * -b[0] / (W[0, 0] - mode * mu * W[0, 1])
        p: Array = slides if mode else np.asarray(np.linalg.solve(W, -b))
        slip = float(W[1] @ p + b[1])
        right = mode * slip > 0.0 if mode else abs(p[1]) <= mu * p[0]
        if p[0] >= 0.0 and right:
            found.append(p)
    return found


def lossy(W: Array, u: Array, mu: float, e: Array) -> tuple[Array, float] | None:
    """Return the impulse and its work (J) with the largest share of both restitutions that gains no energy.

    None where the laws have no impulse or several.
    """
    from scipy.optimize import brentq

    def work(share: float) -> float:
        """Return the work of the impulse, J."""
        p = impact(W, u, mu, share * e)[0]
        return float(p @ (u + 0.5 * W @ p))

    if any(len(impact(W, u, mu, share * e)) != 1 for share in (0.0, 0.5, 1.0)):
        return None
    share = 1.0 if work(1.0) <= 0.0 else float(brentq(work, 0.0, 1.0, xtol=1e-14))
    return impact(W, u, mu, share * e)[0], min(work(share), 0.0)


def build(**params: float) -> Scene:
    """Return the scene: it begins a little before the impact, at a state found by going back in time."""
    from scipy.integrate import solve_ivp

    hit = np.array([params[key] for key in ("theta1", "theta2", "omega1", "omega2")])
    arms = Pendulum()
    back = solve_ivp(arms.slope, (0.0, -BEFORE), hit, "DOP853", rtol=1e-13, atol=1e-13)
    begin = back.y[:, -1]
    depth = LENGTH * float(np.cos(hit[:2]).sum())
    system = _system(depth, params["mu"], params["e_n"], params["e_t"])
    columns: Columns = {
        "upper.omega": ("rad/s", rate(2)),
        "lower.omega": ("rad/s", rate(5)),
        "upper.angle": ("rad", lambda state: float(state.q[2]) + math.pi / 2),
        "lower.angle": ("rad", lambda state: float(state.q[5]) + math.pi / 2),
        "lower.x": ("m", coordinate(3)),
        "lower.y": ("m", coordinate(4)),
    }
    return Scene(
        name="double_pendulum_impact",
        title="Double pendulum that hits a rough floor",
        source="Kane and Levinson (1985); Moreau's impact law in closed form",
        system=system,
        state=system.state(*_places(begin)),
        t_end=BEFORE + AFTER,
        dt=(BEFORE + AFTER) / STEPS,
        params=params,
        exact=_exact(arms, hit, params),
        tests=("impact with friction in a chain", "energy at an impact", "joints"),
        columns=columns,
    )


def _system(depth: float, mu: float, e_n: float, e_t: float) -> PlanarSystem:
    """Return the rods, each along its own x axis, so that angle -pi/2 hangs down."""
    half, inertia = LENGTH / 2, MASS * LENGTH**2 / 12.0
    rods = [
        PlanarBody(name=name, mass=MASS, inertia=inertia, outline=((-half, 0.0), (half, 0.0)))
        for name in ("upper", "lower")
    ]
    floor = HalfPlane(name="floor", point=(0.0, -depth))
    return PlanarSystem(
        bodies=rods,
        joints=[
            Hinge(name="shoulder", a=Marker("upper", (-half, 0.0)), b=fixed(0.0, 0.0)),
            Hinge(name="elbow", a=Marker("lower", (-half, 0.0)), b=Marker("upper", (half, 0.0))),
        ],
        contacts=[PlanarContact(point=Marker("lower", (half, 0.0), "tip"), plane=floor, mu=mu, eps_n=e_n, eps_t=e_t)],
        gravity=(0.0, -G),
    )


def _places(y: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return places and velocities of the rods."""
    places, velocities = {}, {}
    joint, fast = np.zeros(2), np.zeros(2)
    for name, theta, omega in (("upper", y[0], y[2]), ("lower", y[1], y[3])):
        half = LENGTH / 2 * np.array([math.sin(theta), -math.cos(theta)])
        swing = LENGTH / 2 * omega * np.array([math.cos(theta), math.sin(theta)])
        places[name] = np.array([*(joint + half), theta - math.pi / 2])
        velocities[name] = np.array([*(fast + swing), omega])
        joint, fast = joint + 2.0 * half, fast + 2.0 * swing
    return places, velocities


def _exact(arms: Pendulum, hit: Array, params: dict[str, float]) -> tuple[Exact, ...]:
    """Return the checks; the impact acts up to a step early or late, at a state that is off by its rates times dt."""
    dt, (e_n, e_t) = (BEFORE + AFTER) / STEPS, (params["e_n"], params["e_t"])
    J, M = arms.rows(hit), arms.mass(hit)
    W = J @ np.linalg.solve(M, J.T)
    known = lossy(W, J @ hit[2:], params["mu"], np.array([e_n, e_t]))
    scale = float(np.abs(arms.slope(0.0, hit)).max() + np.abs(hit).max() ** 2)
    off = 10.0 * scale * dt
    found: list[Exact] = []
    if known is not None:
        p, loss = known
        upper, lower = (float(rate) for rate in hit[2:] + np.linalg.solve(M, J.T @ p))
        heavy = off * float(np.abs(M @ hit[2:]).max())
        found = [
            check(
                "rate of the upper rod after the impact",
                upper,
                "rad/s",
                _after("upper.omega"),
                moreau_jean=off,
                located=True,
            ),
            check(
                "rate of the lower rod after the impact",
                lower,
                "rad/s",
                _after("lower.omega"),
                moreau_jean=off,
                located=True,
            ),
            check("change of energy at the impact", loss, "J", _change, moreau_jean=heavy, located=True),
        ]
    small = 1e-6 * MASS * G * LENGTH
    found.append(check("gain of energy", 0.0, "J", lambda run: max(_change(run), 0.0), moreau_jean=small, located=True))
    found.append(check("largest error of a joint", 0.0, "m", _joints, moreau_jean=1e-10, located=True))
    return tuple(found)


def _hit(run: Any) -> int:
    """Return the index of the state right after the impact."""
    return int(np.flatnonzero(run[f"{TIP}.r_N"] > 0.0)[0])


def _after(column: str) -> Any:
    """Return the measure: a column right after the impact."""
    return lambda run: float(run[column][_hit(run)])


def _change(run: Any) -> float:
    """Return the change of energy in the step of the impact, J."""
    k = _hit(run)
    return float(run["energy"][k] - run["energy"][k - 1])


def _joints(run: Any) -> float:
    return float(run.statistics["max_joint_error_m"])
