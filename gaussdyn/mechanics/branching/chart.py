"""A piece of a curve of configurations as polynomials: it runs straight through points at which constraints lose rank.

The curve is solved for at Chebyshev nodes, none of which lies at the middle. Centred at a singular point, every node
is regular, and what happens at the point itself follows from the polynomials, which know no singularity: a smooth
branch has none. Source: Trefethen (2013), Approximation Theory and Approximation Practice, chapters 5 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...arrays import EPS, Array
from ...errors import InputError
from .configuration_space import ConfigurationSpace

NODES = 20  # even: none in the middle
NEWTON = 30
DEPENDENT = 1e-9
TAIL = 3e-14  # of the coefficients of q, relative: the polynomials are exact up to rounding
NEAREST = 8  # solved nodes from which the next is extrapolated
SHRINKS = 14
WORST = 1e6
PLATEAU, FALL = 3, 5.0


def _nodes() -> tuple[Array, Array, Array, Array]:
    """Return Chebyshev nodes, rising, their barycentric weights, the matrix of derivatives, that of coefficients."""
    k = np.arange(NODES)
    x: Array = -np.cos((k + 0.5) * math.pi / NODES)
    w: Array = np.where(k % 2, -1.0, 1.0) * np.sin((k + 0.5) * math.pi / NODES)
    D: Array = w[None] / w[:, None] / (x[:, None] - x[None] + np.eye(NODES))
    D[k, k] = 0.0
    D[k, k] = -D.sum(axis=1)
    cosines: Array = np.cos(np.outer(k, (k[::-1] + 0.5) * math.pi / NODES)) * 2.0 / NODES
    cosines[0] /= 2.0
    return x, w, D, cosines


X, WEIGHTS, D, COEFFICIENTS = _nodes()


def interpolation(x: Array) -> Array:
    """Return the matrix, shape (n, NODES), that takes values at the nodes to values at x in [-1, 1]."""
    far = x[:, None] - X[None]
    hit = far == 0.0
    parts = WEIGHTS[None] / np.where(hit, 1.0, far)
    matrix = parts / parts.sum(axis=1)[:, None]
    exact = hit.any(axis=1)
    matrix[exact] = hit[exact]
    return np.asarray(matrix)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A curve of configurations over p in [-half, half]: q(p), and dq/dp as a velocity.

    Attributes
    ----------
    space : ConfigurationSpace
    half : float
        p is the distance along the tangent at the centre, m or rad.
    Q : Array, shape (NODES, nq)
        Configurations at p = half X.
    T : Array, shape (NODES, nv)
        Tangents dq/dp there, as velocities.
    low, high : float
        Where to leave it: short of the ends, and before singular points that it is not centred at.
    centre : str
        "" for a regular centre; else a name for the singular point and its branch.
    """

    space: ConfigurationSpace
    half: float
    Q: Array
    T: Array
    low: float
    high: float
    centre: str = ""
    kappa: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", D @ self.T / self.half)

    @property
    def p(self) -> Array:
        """Parameters of the nodes."""
        return self.half * X

    def at(self, p: float) -> tuple[Array, Array, Array]:
        """Return q, its tangent T = dq/dp as a velocity, and dT/dp."""
        row = interpolation(np.array([p / self.half]))[0]
        return row @ self.Q, row @ self.T, row @ self.kappa

    def parameter(self, q: Array) -> tuple[float, float]:
        """Return the p of the point nearest to q, and how far q is from it."""
        fine = 0.999 * np.linspace(-1.0, 1.0, 41)
        near = interpolation(fine) @ self.Q
        j = int(np.linalg.norm(near - q, axis=1).argmin())
        x = float(fine[j])
        slopes = D @ self.Q
        for _ in range(20):
            row = interpolation(np.array([x]))[0]
            here, along = row @ self.Q, row @ slopes
            step = float(along @ (q - here)) / float(along @ along)
            x = min(max(x + step, -1.0), 1.0)
            if abs(step) < 1e-15:
                break
        return x * self.half, float(np.linalg.norm(interpolation(np.array([x]))[0] @ self.Q - q))


def chart_around(
    space: ConfigurationSpace,
    q: Array,
    tangent: Array,
    half: float,
    seeds: tuple[Array, Array] | None = None,
) -> Chart:
    """Return a chart centred at q, as long as polynomials can be exact, at most `half` to both sides.

    Parameters
    ----------
    tangent : Array, shape (nv,)
        Of the curve at q; scaled to length one.
    seeds : (s, places), optional
        Known points of the curve at signed distances along the tangent: they say which branch is meant.

    Raises
    ------
    InputError
        The curve cannot be followed.
    """
    along = tangent / np.linalg.norm(tangent)
    for _ in range(SHRINKS):
        found = _attempt(space, q, along, half, seeds)
        if found is not None:
            return found
        half *= 0.6
    raise InputError(
        "configuration",
        f"a curve that bends within {half:.2g}",
        "a smooth curve of configurations",
        "Move a little along it: q = q + 1e-3 * branch.tangent.",
    )


def _attempt(
    space: ConfigurationSpace, q: Array, along: Array, half: float, seeds: tuple[Array, Array] | None
) -> Chart | None:  # fmt: skip
    """Return the chart if the curve can be solved for at all nodes and is resolved by them."""
    known = [(0.0, np.zeros(len(along)))]
    if seeds is not None:
        known += [(float(s), _displacement(space, q, place, along, s)) for s, place in zip(*seeds, strict=True)]
    Q = np.empty((NODES, len(q)))
    for j in np.argsort(np.abs(X), kind="stable"):
        p = half * float(X[j])
        y = _solved(space, q, along, p, _guess(known, p))
        if y is None:
            return None
        known.append((p, y))
        Q[j] = space.at(q, y)
    T, blur = _tangents(space, Q, half)
    allowed = TAIL + EPS * blur  # near a singular point rounding moves a configuration towards the other branch
    if not _resolved(Q, allowed) or not _resolved(T, 1e3 * allowed):
        return None
    return Chart(space=space, half=half, Q=Q, T=T, low=-0.95 * half, high=0.95 * half)


def _resolved(values: Array, allowed: float) -> bool:
    """Return whether the last coefficients are as small as is allowed, or no longer fall: then they are rounding."""
    size = np.abs(COEFFICIENTS @ values).max(axis=1) / (1.0 + np.abs(values).max())
    level = float(size[-PLATEAU:].max())
    return level <= allowed or (level <= 1e3 * allowed and float(size[-2 * PLATEAU : -PLATEAU].max()) <= FALL * level)


def _guess(known: list[tuple[float, Array]], p: float) -> Array:
    """Extrapolate from the nearest points that are known."""
    near = sorted(known, key=lambda one: abs(one[0] - p))[:NEAREST]
    s, y = np.array([one[0] for one in near]), np.array([one[1] for one in near])
    weights = [np.prod([(p - b) / (a - b) for b in np.delete(s, j)]) for j, a in enumerate(s)]
    return np.asarray(np.array(weights) @ y)


def _solved(space: ConfigurationSpace, q: Array, along: Array, p: float, y: Array) -> Array | None:
    """Return the displacement y with along.y = p on the constraints, near a guess."""
    y = y + (p - float(along @ y)) * along
    start, before = y, math.inf
    for _ in range(NEWTON):
        place = space.at(q, y)
        gaps, J = space.both(place)
        off = float(np.abs(gaps).max())
        if off <= 0.01 * space.rounding(place) or (off >= 0.5 * before and off <= space.rounding(place)):
            break
        if not off < 4.0 * before:
            return None
        step = np.linalg.lstsq(np.vstack([J, along]), np.r_[-gaps, p - along @ y], rcond=DEPENDENT)[0]
        y, before = y + step, min(off, before)
        if np.linalg.norm(y - start) > 0.5 * abs(p):
            return None
    else:
        return None
    return y


def _displacement(space: ConfigurationSpace, q: Array, place: Array, along: Array, s: float) -> Array:
    """Return y with q (+) y = place: exactly where coordinates add, else by iteration."""
    y = s * along
    for _ in range(NEWTON):
        step = place - space.at(q, y)
        if np.abs(step).max() < 1e-15:
            break
        y = y + as_velocity(space, place, step)
    return y


def as_velocity(space: ConfigurationSpace, q: Array, rate: Array) -> Array:
    """Return v with dq/dt = qdot(q, v) nearest to a rate of the coordinates."""
    if len(rate) == space.size:
        return rate
    N = np.array([space.system.qdot(q, e) for e in np.eye(space.size)]).T
    return np.asarray(np.linalg.lstsq(N, rate, rcond=None)[0])


def _tangents(space: ConfigurationSpace, Q: Array, half: float) -> tuple[Array, float]:
    """Return dq/dp at the nodes, and how much worse J is conditioned at the worst node than at the best.

    Directions come from ker J, lengths from the polynomials.
    """
    slopes = D @ Q / half
    T, rest = np.empty((NODES, space.size)), np.empty(NODES)
    for j, (q, slope) in enumerate(zip(Q, slopes, strict=True)):
        rough = as_velocity(space, q, slope)
        _, s, Vt = np.linalg.svd(space.jacobian(q))
        T[j] = Vt[-1] * float(Vt[-1] @ rough)
        rest[j] = s[space.size - 2]
    return T, min(float(rest.max() / max(rest.min(), EPS)), WORST)
