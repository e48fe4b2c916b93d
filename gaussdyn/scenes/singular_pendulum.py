"""A double pendulum whose end runs on an ellipse: the configuration space is a curve that crosses or touches itself.

x points down, B hangs on a rod of length l1 from A, C on a rod of length l2 from B, and C keeps to the ellipse
((x - c) / a)^2 + (y / b)^2 = 1, c = l1 - l2 - a. Coordinates: u, the polar angle of C, and theta, the angle CAB. The
rod BC is the constraint delta(u, theta) = 0; both its branches meet at (0, 0). For curvature a / b^2 < 1 / (l1 - l2)
they cross, for equality they touch, beyond it (0, 0) is an isolated point. Source: Burian (2024), corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array
from ..mechanics.lagrangian import Holonomic, LagrangianSystem
from ..mechanics.scene import Parameter, Scene
from ..mechanics.state import State
from .measures import Columns, G, check, coordinate, largest, last, rate

PARAMETERS = {
    "b": Parameter(default=2.3, unit="m", min=2.05, max=3.0, meaning="half axis across; b^2 = a (l1 - l2) touches"),
    "a": Parameter(default=4.0, unit="m", min=3.0, max=4.0, meaning="half axis of the ellipse along x"),
    "l1": Parameter(default=2.0, unit="m", min=1.7, max=2.0, meaning="length of the rod AB"),
    "l2": Parameter(default=1.0, unit="m", min=1.0, max=1.2, meaning="length of the rod BC"),
    "u0": Parameter(default=0.5, unit="rad", min=0.2, max=0.6, meaning="where C is released from rest, theta0 > 0"),
    "side": Parameter(default=1.0, unit="1", min=-1.0, max=1.0, meaning="< 0: it is released at -u0, with theta0 > 0"),
    "mB": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="mass of B"),
    "mC": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="mass of C"),
    "share": Parameter(default=0.8, unit="1", min=0.2, max=0.9, meaning="t_end over the time of the first passage"),
}
L1, L2, A = 2.0, 1.0, 4.0  # lengths of the rods and half axis along x, m
ROD = "rod"
STEPS = 1000
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, slots=True)
class Ellipse:
    """The mechanism on its curve, in the eccentric angle T of C: smooth through the singular point (0, 0).

    Attributes
    ----------
    l1, l2, a, b : float
        Lengths, m.
    """

    l1: float
    l2: float
    a: float
    b: float

    @property
    def d0(self) -> float:
        """|AC| at the vertex, m."""
        return self.l1 - self.l2

    @property
    def curvature(self) -> float:
        """Curvature of the ellipse at the vertex, 1/m."""
        return self.a / self.b**2

    @property
    def kind(self) -> str:
        """How the branches meet at (0, 0): crossing, tangency or isolated."""
        K, limit = self.curvature, 1.0 / self.d0
        if math.isclose(K, limit, rel_tol=1e-12):
            return "tangency"
        return "crossing" if limit > K else "isolated"

    @property
    def second(self) -> float:
        """d''(0) = d0 (1 - K d0), m."""
        return self.d0 * (1.0 - self.curvature * self.d0)

    @property
    def branch_slope(self) -> float:
        """|d theta / d u| of both branches of a crossing at (0, 0)."""
        return math.sqrt(self.second * self.l2 / (self.l1 * self.d0))

    def distance(self, u: float) -> float:
        """Return |AC| in the direction u, m."""
        a, b, c = self.a, self.b, self.d0 - self.a
        k, s = math.cos(u), math.sin(u)
        root = math.sqrt(b * b * k * k + (a * a - c * c) * s * s)
        return b * (c * b * k + a * root) / (b * b * k * k + a * a * s * s)

    def angle(self, u: float) -> float:
        """Return theta >= 0 on the curve, without cancellation near (0, 0)."""
        d, q = self.distance(u), math.sin(self.eccentric(u) / 2.0) ** 2
        rise = 4.0 * q * ((self.b**2 - self.a * self.d0) + (self.a**2 - self.b**2) * q) / (d + self.d0)
        return 2.0 * math.asin(math.sqrt(max(rise, 0.0) * (self.l1 + self.l2 - d) / (4.0 * self.l1 * d)))

    def place(self, T: float, branch: float = 1.0) -> tuple[Array, Array]:
        """Return the points B and C on a branch smooth through (0, 0): 1 has theta > 0 for T > 0, -1 for T < 0."""
        q, s = math.sin(T / 2.0) ** 2, math.sin(T / 2.0)
        C = np.array([self.d0 - self.a + self.a * math.cos(T), self.b * math.sin(T)])
        d = math.hypot(*C)
        inner = ((self.b**2 - self.a * self.d0) + (self.a**2 - self.b**2) * q) * (self.l1 + self.l2 - d)
        theta = 2.0 * math.asin(branch * s * math.sqrt(inner / ((d + self.d0) * self.l1 * d)))
        at = math.atan2(C[1], C[0]) + theta
        return self.l1 * np.array([math.cos(at), math.sin(at)]), C

    def eccentric(self, u: float) -> float:
        """Return T of the point C in the direction u."""
        d = self.distance(u)
        return math.atan2(d * math.sin(u) / self.b, (d * math.cos(u) + self.a - self.d0) / self.a)


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    u, theta = dynamicsymbols("u theta")
    l1, l2, a, b, d0, mB, mC, g = sp.symbols("l1 l2 a b d0 mB mC g", positive=True)
    c = d0 - a
    k, s = sp.cos(u), sp.sin(u)
    d = b * (c * b * k + a * sp.sqrt(b**2 * k**2 + (a**2 - c**2) * s**2)) / (b**2 * k**2 + a**2 * s**2)
    rod = sp.sqrt(d**2 + l1**2 - 2 * d * l1 * sp.cos(theta)) - l2
    turn = u.diff() + theta.diff()
    lengths = {l1: (L1, "m"), l2: (L2, "m"), a: (A, "m"), b: (2.3, "m"), d0: (L1 - L2, "m")}
    values = {**lengths, mB: (1.0, "kg"), mC: (1.0, "kg"), g: (G, "m/s^2")}
    B = (l1 * sp.cos(u + theta), l1 * sp.sin(u + theta))
    return LagrangianSystem(
        {u: "rad", theta: "rad"},
        kinetic=mB * l1**2 * turn**2 / 2 + mC * (d.diff(u) ** 2 + d**2) * u.diff() ** 2 / 2,
        potential=-mB * g * l1 * sp.cos(u + theta) - mC * g * d * sp.cos(u),
        constraints=[Holonomic(rod, name=ROD)],
        parameters=values,
        drawing={"rod AB": [(0, 0), (B[1], -B[0])], "rod BC": [(B[1], -B[0]), (d * s, -d * k)]},
        compile=False,
        name="singular pendulum",
    )


def system_of(
    b: float,
    *,
    mB: float = 1.0,
    mC: float = 1.0,
    a: float = A,
    l1: float = L1,
    l2: float = L2,
    stretched: bool = False,
) -> Any:
    """Return the mechanism with other lengths and masses: a `LagrangianSystem` in (u, theta).

    `stretched` puts the vertex of the ellipse where the rods lie one after the other, |AC| = l1 + l2, instead of
    folded, |AC| = l1 - l2: there branches cross for curvatures above 1 / |AC|.
    """
    return _system().with_params(b=b, a=a, l1=l1, l2=l2, d0=l1 + l2 if stretched else l1 - l2, mB=mB, mC=mC)


def build(
    b: float, a: float, l1: float, l2: float, u0: float, side: float, mB: float, mC: float, share: float
) -> Scene:  # fmt: skip
    """Return the scene: released from rest with theta0 > 0, and over before the first singular passage."""
    params = {"b": b, "a": a, "l1": l1, "l2": l2, "u0": u0, "side": side, "mB": mB, "mC": mC, "share": share}
    u0 = math.copysign(u0, side)
    curve = Ellipse(l1, l2, a, b)
    passage, end = first_passage(curve, u0, mB, mC, share)
    t_end = share * passage
    dt = t_end / STEPS
    fine, near = 40.0 * (dt / passage) ** 2, 1e-9
    columns: Columns = {
        "C.angle": ("rad", coordinate(0)),
        "B.angle": ("rad", lambda state: float(state.q[0] + state.q[1])),
        "theta": ("rad", coordinate(1)),
        "C.rate": ("rad/s", rate(0)),
    }
    u, theta, speed = (float(x) for x in end)
    exact = (
        check("u at the end", u, "rad", last("C.angle"), moreau_jean=fine, on_branch=near),
        check("theta at the end", theta, "rad", last("theta"), moreau_jean=10.0 * fine, on_branch=near),
        check("rate of u at the end", speed, "rad/s", last("C.rate"), moreau_jean=40.0 * fine, on_branch=near),
        check("largest error of the rod", 0.0, "m", largest(f"{ROD}.gap"), moreau_jean=1e-9, on_branch=1e-10),
    )
    return Scene(
        name="singular_pendulum",
        title="Pendulum on an ellipse: its branches cross",
        source="Burian (2024), singular pendulum with spring; quadrature on the smooth branch",
        system=system_of(b, mB=mB, mC=mC, a=a, l1=l1, l2=l2),
        state=State(q=np.array([u0, curve.angle(u0)]), v=np.zeros(2)),
        t_end=t_end,
        dt=dt,
        params=params,
        exact=exact,
        tests=("a joint on a curve", "realization by a spring", "up to a singular point"),
        columns=columns,
    )


def first_passage(curve: Ellipse, u0: float, mB: float, mC: float, share: float = 1.0) -> tuple[float, Array]:
    """Return the time from rest at u0 to the singular point (s), and (u, theta, du/dt) at `share` of it.

    By quadrature of the energy on the smooth branch that has theta > 0 at u0, in the eccentric angle: t = int dT / T'.
    """
    side = math.copysign(1.0, u0)

    def inertia(T: float) -> float:
        """Return dE_kin / d(T'^2 / 2), by differences of order 6 of the places."""
        h = 2e-3
        weights = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))
        ahead = [(w / h, curve.place(T + j * h, side), curve.place(T - j * h, side)) for j, w in weights]
        B, C = (np.sum([w * (after[i] - before[i]) for w, after, before in ahead], axis=0) for i in (0, 1))
        return float(mB * (B @ B) + mC * (C @ C))

    def height(T: float) -> float:
        """Return the potential energy, J."""
        B, C = curve.place(T, side)
        return -G * (mB * float(B[0]) + mC * float(C[0]))

    from scipy.optimize import brentq

    T0 = curve.eccentric(u0)
    E = height(T0)

    def time_to(T: float) -> float:
        """Return the time from rest to T; T = T0 cos(s) takes the root out of the integrand."""
        far = math.acos(T / T0)
        at = [T0 * math.cos(0.5 * far * (1.0 + x)) for x in NODES]
        slow = [math.sqrt((T0 * T0 - T * T) * inertia(T) / (2.0 * (E - height(T)))) for T in at]
        return 0.5 * far * float(WEIGHTS @ slow)

    passage = time_to(0.0)
    T = T0 if share == 0.0 else float(brentq(lambda T: time_to(T) - share * passage, 0.999 * T0, 0.0, xtol=1e-13))
    B, C = curve.place(T, side)
    u = math.atan2(C[1], C[0])
    theta = math.remainder(math.atan2(B[1], B[0]) - u, 2.0 * math.pi)
    speed = -side * math.sqrt(2.0 * (E - height(T)) / inertia(T))
    slope_u = float(C[0] * curve.b * math.cos(T) + C[1] * curve.a * math.sin(T)) / float(C @ C)
    return passage, np.array([u, theta, slope_u * speed])
