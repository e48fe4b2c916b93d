"""A double pendulum whose end runs on an ellipse: the configuration space is a curve that crosses or touches itself.

x points down, B hangs on a rod of length l1 from A, C on a rod of length l2 from B, and C keeps to the ellipse
((x - c) / a)^2 + (y / b)^2 = 1, c = l1 - l2 - a. Coordinates: u, the polar angle of C, and theta, the angle CAB. The
rod BC is the constraint delta(u, theta) = 0; both its branches meet at (0, 0). For curvature a / b^2 < 1 / (l1 - l2)
they cross, for equality they touch, beyond it (0, 0) is an isolated point: C comes no nearer than u_c, where theta
passes through zero and C turns. Source: Burian (2024), corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate, largest, last, rate

PARAMETERS = {
    "b": Parameter(default=2.3, unit="m", min=1.5, max=3.0, meaning="half axis across; b^2 = a (l1 - l2) touches"),
    "a": Parameter(default=4.0, unit="m", min=3.0, max=4.0, meaning="half axis of the ellipse along x"),
    "l1": Parameter(default=2.0, unit="m", min=1.7, max=2.0, meaning="length of the rod AB"),
    "l2": Parameter(default=1.0, unit="m", min=1.0, max=1.2, meaning="length of the rod BC"),
    "u0": Parameter(default=0.5, unit="rad", min=0.2, max=0.6, meaning="where C is released at rest, from u_c on"),
    "side": Parameter(default=1.0, unit="1", min=-1.0, max=1.0, meaning="< 0: on the other side; theta0 > 0 always"),
    "mB": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="mass of B"),
    "mC": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="mass of C"),
    "share": Parameter(default=0.8, unit="1", min=0.2, max=0.9, meaning="t_end over the time of the first passage"),
}
L1, L2, A = 2.0, 1.0, 4.0  # lengths of the rods and half axis along x, m
ROD = "rod"
STEPS = 1000
SMALL = 1e-2  # rad: so soon after rest differences of heights are their mean slope, and would cancel
PANELS = 12  # of a quadrature, each half as wide as the one before: the curve is nearly singular at its end
TITLES = {"crossing": "its branches cross", "tangency": "its branches touch", "isolated": "it turns before a point"}


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

    @property
    def excess(self) -> float:
        """b^2 - a (l1 - l2), m^2: above zero branches cross, below C turns."""
        return self.b**2 - self.a * self.d0

    @property
    def nearest(self) -> float:
        """sin^2(T / 2) where C turns; 0 where it comes to (0, 0)."""
        return -self.excess / (self.a**2 - self.b**2) if self.excess < 0.0 else 0.0

    @property
    def turn(self) -> float:
        """u_c, rad: the least direction of C that the rods allow; 0 where it comes to (0, 0)."""
        T = 2.0 * math.asin(math.sqrt(self.nearest))
        return math.atan2(self.b * math.sin(T), self.d0 - self.a + self.a * math.cos(T))

    def place(self, w: Any, branch: float = 1.0) -> tuple[Array, Array]:
        """Return the points B and C on a branch; analytic in w, sin(T / 2)^2 = `nearest` + w^2 with the sign of w.

        w = 0 is (0, 0), or where C turns. The sign of theta is that of branch w; that of branch where branches touch.
        """
        q = self.nearest + w * w
        s = np.sqrt(q) if self.nearest > 0.0 else w
        cos, sin = 1.0 - 2.0 * q, 2.0 * s * np.sqrt(1.0 - q)
        C = np.array([self.d0 - self.a + self.a * cos, self.b * sin])
        d = np.sqrt(C @ C)
        curved = self.a**2 - self.b**2
        root = np.sqrt(self.excess + curved * w * w) if self.excess > 0.0 else math.sqrt(curved) * w
        theta = 2.0 * np.arcsin(branch * s * root * np.sqrt((self.l1 + self.l2 - d) / ((d + self.d0) * self.l1 * d)))
        cos, sin = np.cos(theta), np.sin(theta)
        return self.l1 / d * np.array([cos * C[0] - sin * C[1], sin * C[0] + cos * C[1]]), C

    def eccentric(self, u: float) -> float:
        """Return T of the point C in the direction u."""
        d = self.distance(u)
        return math.atan2(d * math.sin(u) / self.b, (d * math.cos(u) + self.a - self.d0) / self.a)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Return places in [0, 1] and weights of Gauss quadratures on panels that are finer towards 1."""
    ends = np.append(1.0 - 0.5 ** np.arange(PANELS + 1.0), 1.0)
    x, w = np.polynomial.legendre.leggauss(12)
    half = 0.5 * np.diff(ends)[:, None]
    return (ends[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel()


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
    """Return the scene: released from rest with theta0 > 0, and over before theta passes through zero."""
    params = {"b": b, "a": a, "l1": l1, "l2": l2, "u0": u0, "side": side, "mB": mB, "mC": mC, "share": share}
    curve = Ellipse(l1, l2, a, b)
    u0 = math.copysign(curve.turn + u0, side)
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
        title=f"Pendulum on an ellipse: {TITLES[curve.kind]}",
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
    """Return the time from rest at u0 to theta = 0 (s), and (u, theta, du/dt) at `share` of it.

    By quadrature of the energy on the smooth branch that has theta > 0 at u0: t = int dw / w'.
    """
    from scipy.optimize import brentq

    places, weights = _rule()
    side = math.copysign(1.0, u0)
    flip = side if curve.excess > 0.0 else 1.0
    mirror = side if curve.nearest > 0.0 else 1.0  # where C turns, places are those on one side

    def rates(w: float) -> tuple[Array, Array]:
        """Return dB/dw and dC/dw, by a complex step."""
        B, C = curve.place(w + 1e-30j, flip)
        return B.imag / 1e-30, C.imag / 1e-30

    def inertia(w: float) -> float:
        """Return dE_kin / d(w'^2 / 2), kg m^2."""
        B, C = rates(w)
        return float(mB * (B @ B) + mC * (C @ C))

    def height(w: float) -> float:
        """Return the potential energy, J."""
        B, C = curve.place(w, flip)
        return -G * (mB * float(B[0]) + mC * float(C[0]))

    def steepness(w: float) -> float:
        """Return dU/dw, N."""
        B, C = rates(w)
        return -G * (mB * float(B[0]) + mC * float(C[0]))

    w0 = side * math.sqrt(math.sin(0.5 * curve.eccentric(u0)) ** 2 - curve.nearest)
    E = height(w0)

    def slow(s: float) -> float:
        """Return dt/ds, w = w0 cos(s): that takes the root at rest out of the integrand."""
        w, gap = w0 * math.cos(s), 2.0 * w0 * math.sin(0.5 * s) ** 2
        fall = (E - height(w)) / gap if s > SMALL else steepness(0.5 * (w0 + w))  # over gap = w0 - w
        return math.sqrt((w0 + w) * inertia(w) / (2.0 * fall))

    def time_to(far: float) -> float:
        """Return the time from rest to s = far."""
        return far * float(weights @ [slow(far * x) for x in places])

    passage = time_to(0.5 * math.pi)
    far = float(brentq(lambda x: time_to(x) - share * passage, 0.0, 0.5 * math.pi, xtol=1e-14)) if share else 0.0
    w = w0 * math.cos(far)
    (B, C), (_, dC) = curve.place(w, flip), rates(w)
    u = math.atan2(C[1], C[0])
    theta = math.remainder(math.atan2(B[1], B[0]) - u, 2.0 * math.pi)
    speed = -side * math.sqrt(2.0 * (E - height(w)) / inertia(w)) if far else 0.0
    along = float(C[0] * dC[1] - C[1] * dC[0]) / float(C @ C)
    return passage, mirror * np.array([u, theta, along * speed])
