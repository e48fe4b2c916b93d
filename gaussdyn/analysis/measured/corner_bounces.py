"""First bounces of single corners, measured: what restitution and friction were, and what one point cannot do.

A toss counts whose first contact is short and followed by a flight, with the next corner well above the floor. Before
and after it the nearest free motions give the change of velocity, and the impulse at the corner that comes nearest says
how much of the change no rigid law with one contact point can make.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross_matrix, exponential, matrix_of, product
from .cube_tosses import ALOFT, CORNERS, FLIGHT, GRAVITY, INERTIA, CubeTosses, free_motion, shifted

LONGEST = 8  # samples of a contact
ALONE = 0.01  # m, height of the next corner where the lowest one touches
LOOK = np.arange(-1.0, 4.0, 0.01)  # samples around the first contact, where the corner is looked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CornerBounces:
    """Bounces of a corner, one entry each.

    Attributes
    ----------
    outside : Array
        Share of the change of velocity, in the metric of the mass, that no impulse at the corner makes.
    restitution : Array
        Normal velocity of the corner after over before, the other way round.
    friction : Array
        Tangential over normal impulse.
    """

    outside: Array
    restitution: Array
    friction: Array

    def summary(self) -> dict[str, object]:
        """Return how many there are, and quartiles, ready for JSON."""
        parts = {"outside": self.outside, "restitution": self.restitution, "friction": self.friction}
        return {"bounces": len(self.outside)} | {
            name: np.quantile(x, [0.25, 0.5, 0.75]).tolist() for name, x in parts.items() if len(x)
        }


def corner_bounces(
    tosses: CubeTosses, names: list[str], floor: float, inertia: float = INERTIA, offset: float = 0.0
) -> CornerBounces:
    """Return the first bounces that can be measured.

    Parameters
    ----------
    tosses : CubeTosses
    names : list of str
    floor : float
        Its height, m.
    inertia, offset : float
        Of the cube, kg m^2, and of its mass centre along its z axis, m.
    """
    cube = _Cube(mass=tosses.mass, inertia=inertia, offset=offset, half=tosses.half)
    tried = (_bounce(tosses, tosses.tosses[name], floor, cube) for name in names)
    found = [one for one in tried if one is not None]
    outside, restitution, friction = np.array(found).reshape(-1, 3).T
    return CornerBounces(outside=outside, restitution=restitution, friction=friction)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cube:
    """Mass (kg), inertia (kg m^2), mass centre (along z) and half an edge (m)."""

    mass: float
    inertia: float
    offset: float
    half: float

    def arms(self, R: Array) -> Array:
        """Return the corners from the mass centre, in space; shape (8, 3)."""
        return np.asarray((self.half * CORNERS - (0.0, 0.0, self.offset)) @ R.T)


def _bounce(tosses: CubeTosses, states: Array, floor: float, cube: _Cube) -> tuple[float, float, float] | None:
    """Return outside, restitution and friction of the first bounce; None if it is none of a single corner."""
    flight, states = tosses.lowest(states) >= ALOFT, shifted(states, cube.offset)
    first = int(np.argmin(flight))
    lift = first + int(np.argmax(flight[first:]))
    count = int(np.argmin(np.r_[flight[lift:], False]))
    if first < 6 or not flight[lift] or lift - first > LONGEST or count < FLIGHT[0]:
        return None
    before = free_motion(states[max(0, first - FLIGHT[1]) : first], tosses.dt)
    after = free_motion(states[lift : lift + min(count, FLIGHT[1])], tosses.dt)
    touch = _touch(cube, before, (min(first, FLIGHT[1]) + LOOK) * tosses.dt, floor)
    if touch is None:
        return None
    late, R, arm = touch
    v = [before[7:10] - (0.0, 0.0, GRAVITY * late), R @ before[10:]]
    back = (first - min(first, FLIGHT[1])) * tosses.dt + late - lift * tosses.dt  # from the lift to the touch, s
    w = [after[7:10] - (0.0, 0.0, GRAVITY * back), matrix_of(after[3:7]) @ after[10:]]
    return _impulse(cube, arm, np.concatenate(v), np.concatenate(w))


def _touch(cube: _Cube, start: Array, t: Array, floor: float) -> tuple[float, Array, Array] | None:
    """Return time, orientation and arm of the corner (in space) of the first touch; None unless one corner is alone."""
    for moment in t.tolist():
        R = matrix_of(product(start[3:7], exponential(start[10:] * moment)))
        arms = cube.arms(R)
        heights = start[2] + start[9] * moment - 0.5 * GRAVITY * moment**2 + arms[:, 2] - floor
        low, second = np.argsort(heights)[:2]
        if heights[low] < 0.0:
            return (moment, R, arms[low]) if heights[second] >= ALONE else None
    return None


def _impulse(cube: _Cube, arm: Array, before: Array, after: Array) -> tuple[float, float, float] | None:
    """Return outside, restitution and friction for the impulse at the corner that comes nearest to the change."""
    size = np.sqrt(np.repeat([cube.mass, cube.inertia], 3))
    spread = np.vstack([np.eye(3), cross_matrix(arm)]) / size[:, None]
    change = size * (after - before)
    p = np.linalg.lstsq(spread, change, rcond=None)[0]
    left = float(np.linalg.norm(spread @ p - change) / np.linalg.norm(change))
    u = [float((v[:3] + np.cross(v[3:], arm))[2]) for v in (before, after)]
    if p[2] <= 0.0 or u[0] >= 0.0:
        return None
    return left, -u[1] / u[0], float(np.hypot(p[0], p[1]) / p[2])
