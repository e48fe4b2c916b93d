"""Recorded impacts of an ellipse on a floor: what impact laws make of the velocities before them.

As published the tangential direction has its arm on the wrong side (the angle turns against x, y): here it is that of
the mended column `d`, with which one contact point accounts for all but 1.4 % of the change of velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from ...arrays import Array
from ...integrate.impact.impact import impact
from ...integrate.impact.impact_laws import ImpactLaw, Moreau, Newton, Poisson
from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.state import State
from .point_impacts import PointImpacts, kinematic, poisson, routh
from .recorded_file import recorded

EVERY = 4  # the law's numbers are fitted on every fourth impact
SLOWEST = 1e-3  # m/s, below which a restitution that depends on speed stays what it is there


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EllipseImpacts:
    """Recorded impacts.

    Attributes
    ----------
    before, after : Array, shape (k, 3)
        Velocities (vx, vy, omega), m/s and rad/s.
    n, d : Array, shape (k, 3)
        Directions of the normal and the tangential impulse in these velocities.
    mass : Array, shape (3,)
        m, m (kg) and I (kg m^2).
    """

    before: Array
    after: Array
    n: Array
    d: Array
    mass: Array

    @staticmethod
    def load(folder: Path, tangent: str = "d") -> EllipseImpacts:
        """Read them; `tangent` d_source takes the tangential direction as published."""
        with recorded(folder, "impacts") as file:
            columns = [np.asarray(file[key][()], dtype=float) for key in ("v_pre", "v_post", "n", tangent)]
            m, inertia = float(file.attrs["mass_kg"]), float(file.attrs["inertia_kg_m2"])
        before, after, n, d = columns
        return EllipseImpacts(before=before, after=after, n=n, d=d, mass=np.array([m, m, inertia]))

    @property
    def directions(self) -> Array:
        """Both directions, shape (k, 2, 3)."""
        return np.stack([self.n, self.d], axis=1)

    def points(self) -> PointImpacts:
        """Return them as impacts of one point."""
        A = self.directions
        W = np.einsum("kia,kja->kij", A / self.mass, A)
        return PointImpacts(W=W, u=np.einsum("kia,ka->ki", A, self.before))

    def errors(self, after: Array) -> Array:
        """Return |after - recorded| / |recorded change| in the metric of the mass matrix, shape (k,)."""
        return _size(after - self.after, self.mass) / _size(self.after - self.before, self.mass)

    def moved(self, p: Array) -> Array:
        """Return the velocities after the impulses p, shape (k, 2)."""
        return np.asarray(self.before + np.einsum("kia,ki->ka", self.directions, p) / self.mass)

    def best(self) -> Array:
        """Return the impulses of one point that come nearest: what no rigid law with one point can beat."""
        change = np.einsum("kia,ka->ki", self.directions, self.after - self.before)
        return np.asarray(np.linalg.solve(self.points().W, change[:, :, None])[:, :, 0])

    def own_restitution(self) -> Array:
        """Return -u_n+ / u_n- of every impact."""
        u = [np.einsum("ka,ka->k", self.n, v) for v in (self.after, self.before)]
        return np.asarray(-u[0] / u[1])


def _size(v: Array, mass: Array) -> Array:
    return np.asarray(np.sqrt(np.sum(mass * v * v, axis=1)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LawErrors:
    """One law: its numbers, fitted on every fourth impact, and its errors on all.

    Attributes
    ----------
    name : str
    parameters : dict of str to float
    errors : Array, shape (k,)
    engine : float or None
        Largest difference of velocities (relative to the change) between the closed form and `gaussdyn`'s own law.
    """

    name: str
    parameters: dict[str, float]
    errors: Array
    engine: float | None = None

    def summary(self) -> dict[str, object]:
        """Return median and 95 % quantile, of all and of those that were not fitted, ready for JSON."""
        others = np.arange(len(self.errors)) % EVERY != 0
        return {
            "law": self.name, "parameters": self.parameters,
            "median_percent": 100.0 * float(np.median(self.errors)),
            "quantile_95_percent": 100.0 * float(np.quantile(self.errors, 0.95)),
            "median_not_fitted_percent": 100.0 * float(np.median(self.errors[others])),
            "engine_differs_by": self.engine,
        }  # fmt: skip


Law = Callable[[PointImpacts, Array], Array]  # impulses from the numbers of a law


def _speed(points: PointImpacts, e: float, power: float) -> Array:
    """Return e (speed / 1 m/s)^power, within [0, 1]."""
    return np.asarray(np.clip(e * np.maximum(-points.u[:, 0], SLOWEST) ** power, 0.0, 1.0))


# name -> (names of the numbers, where the search begins, impulses)
CLASSES: dict[str, tuple[tuple[str, ...], tuple[float, ...], Law]] = {
    "Newton": (("mu", "eps_n"), (0.2, 0.6), lambda one, x: kinematic(one, x[0], x[1])),
    "Moreau": (("mu", "eps"), (0.2, 0.6), lambda one, x: kinematic(one, x[0], x[1], x[1])),
    "Poisson": (("mu", "eps_n"), (0.25, 0.55), lambda one, x: poisson(one, x[0], x[1])),
    "Routh": (("mu", "eps_n"), (0.2, 0.6), lambda one, x: routh(one, x[0], x[1])),
    "Newton, tangential restitution": (
        ("mu", "eps_n", "eps_t"), (0.2, 0.6, 0.0), lambda one, x: kinematic(one, x[0], x[1], x[2]),
    ),
    "Newton, restitution by speed": (
        ("mu", "eps_n", "power"), (0.2, 0.6, -0.1), lambda one, x: kinematic(one, x[0], _speed(one, x[1], x[2])),
    ),
    "Routh, restitution by speed": (
        ("mu", "eps_n", "power"), (0.2, 0.6, -0.1), lambda one, x: routh(one, x[0], _speed(one, x[1], x[2])),
    ),
}  # fmt: skip
ENGINE: dict[str, Callable[[float], ImpactLaw]] = {
    "Newton": lambda e: Newton(eps_n=e), "Moreau": lambda e: Moreau(eps=e), "Poisson": lambda e: Poisson(eps_n=e),
}  # fmt: skip


def judged_laws(impacts: EllipseImpacts) -> list[LawErrors]:
    """Fit every law on every fourth impact and judge it on all; Newton, Moreau and Poisson by `impact` itself."""
    points = impacts.points()
    found = [
        LawErrors(name="best impulse of one point", parameters={}, errors=impacts.errors(impacts.moved(impacts.best())))
    ]
    for name, (names, start, law) in CLASSES.items():
        x = _fitted(impacts, points, law, np.array(start))
        after = impacts.moved(law(points, x))
        engine = None
        if name in ENGINE:
            ours = by_engine(impacts, ENGINE[name](float(x[1])), float(x[0]))
            engine = float((_size(ours - after, impacts.mass) / _size(after - impacts.before, impacts.mass)).max())
            after = ours
        numbers = dict(zip(names, x.tolist(), strict=True))
        found.append(LawErrors(name=name, parameters=numbers, errors=impacts.errors(after), engine=engine))
    own = kinematic(points, found[1].parameters["mu"], impacts.own_restitution())
    told = LawErrors(name="Newton, each with its own e", parameters={}, errors=impacts.errors(impacts.moved(own)))
    return [*found, told]


def _fitted(impacts: EllipseImpacts, points: PointImpacts, law: Law, start: Array) -> Array:
    """Return the numbers with the least median error on every fourth impact, by Nelder and Mead from three starts."""
    chosen = np.arange(len(impacts.n)) % EVERY == 0

    def median(x: Array) -> float:
        """Return the median error; outside of what a law allows it is large."""
        if x[0] < 0.0 or not 0.0 <= x[1] <= 1.0:
            return 1.0
        p = law(points, x)
        return float(np.median(impacts.errors(impacts.moved(p))[chosen])) if np.isfinite(p).all() else 1.0

    options = {"xatol": 1e-4, "fatol": 1e-6, "maxiter": 800}
    ends = [minimize(median, factor * start, method="Nelder-Mead", options=options) for factor in (1.0, 0.8, 1.2)]
    return np.asarray(min(ends, key=lambda end: float(end.fun)).x)


def by_engine(impacts: EllipseImpacts, law: ImpactLaw, mu: float) -> Array:
    """Return the velocities after, by `impact` on a body whose point at (n_3, -d_3) touches the floor."""
    after = np.empty_like(impacts.before)
    m, _, inertia = impacts.mass.tolist()
    for k, v in enumerate(impacts.before):
        x, y = float(impacts.n[k, 2]), -float(impacts.d[k, 2])
        body = PlanarBody(name="ellipse", mass=m, inertia=inertia)
        floor = HalfPlane(name="floor", point=(0.0, y))
        contact = PlanarContact(point=Marker("ellipse", (x, y)), plane=floor, mu=mu)
        system = PlanarSystem(bodies=[body], contacts=[contact], gravity=(0.0, 0.0))
        after[k] = impact(system, State(t=0.0, q=np.zeros(3), v=v), law=law).v
    return after
