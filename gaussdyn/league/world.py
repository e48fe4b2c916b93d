"""What every engine is given: bodies, a floor and walls, pins, one friction and one restitution, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..linalg.rotations import conjugate, matrix_of, product

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
GROUND = -1  # number of what is fixed, in pins
UPRIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """A ball of a radius, m."""

    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A box by half its edges, m."""

    half: Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class Rod:
    """All points within `radius` of the segment from -half_length to half_length of the body's z axis, m."""

    radius: float
    half_length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A rigid body where it starts; the frame is in the mass centre along the principal axes.

    Attributes
    ----------
    mass : float
        kg.
    inertia : (Ix, Iy, Iz)
        kg m^2.
    place, velocity, spin : (x, y, z)
        m, m/s, and rad/s in the axes of space.
    turn : (w, x, y, z)
        Unit quaternion from the body's axes to those of space.
    shape : Ball, Block, Rod or None
        Without one it touches nothing.
    """

    mass: float
    inertia: Triple
    place: Triple
    turn: Quaternion = UPRIGHT
    velocity: Triple = (0.0, 0.0, 0.0)
    spin: Triple = (0.0, 0.0, 0.0)
    shape: Ball | Block | Rod | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A point that two bodies share; with an axis a hinge, without one a ball joint.

    Attributes
    ----------
    first, second : int
        Numbers of bodies; `first` may be `GROUND`.
    point : (x, y, z)
        In space at the start, m.
    axis : (x, y, z) or None
        In space at the start.
    """

    first: int
    second: int
    point: Triple
    axis: Triple | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """A half-space: a point of its plane, and the unit normal outwards."""

    point: Triple
    normal: Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that is to be simulated.

    Attributes
    ----------
    bodies : tuple of Body
    pins : tuple of Pin
        Those that hang a body on the ground, or on one named before, come first; the rest close loops.
    walls : tuple of Wall
    mu, restitution : float
        Of every pair.
    gravity : (x, y, z)
        m/s^2.
    flat : bool
        Whether nothing leaves the plane y = 0: engines of the plane may take it.
    """

    bodies: tuple[Body, ...]
    pins: tuple[Pin, ...] = ()
    walls: tuple[Wall, ...] = ()
    mu: float = 0.0
    restitution: float = 0.0
    gravity: Triple = (0.0, 0.0, -9.81)
    flat: bool = False

    def tree(self) -> tuple[dict[int, Pin], tuple[Pin, ...]]:
        """Return the pin that each body hangs on, by the body's number, and the pins that close loops."""
        hung: dict[int, Pin] = {}
        loops = []
        for pin in self.pins:
            known = pin.first == GROUND or pin.first in hung
            if known and pin.second not in hung:
                hung[pin.second] = pin
            else:
                loops.append(pin)
        return hung, tuple(loops)

    def start(self) -> Array:
        """Return how all bodies start: rows x y z, w x y z, velocity, spin (in space), shape (n, 13)."""
        return np.array([[*one.place, *one.turn, *one.velocity, *one.spin] for one in self.bodies])


def in_body(body: Body, point: Triple) -> Array:
    """Return a point of space in the frame of a body at its start, m."""
    return np.asarray(matrix_of(np.array(body.turn)).T @ (np.array(point) - np.array(body.place)))


def axis_in_body(body: Body, axis: Triple) -> Array:
    """Return a direction of space in the frame of a body at its start."""
    return np.asarray(matrix_of(np.array(body.turn)).T @ np.array(axis))


def relative_turn(first: Body, second: Body) -> Array:
    """Return the quaternion from the axes of the second body to those of the first."""
    return np.asarray(product(conjugate(np.array(first.turn)), np.array(second.turn)))


def spin_in_body(body: Body) -> Array:
    """Return the angular velocity in the body's axes, rad/s."""
    return axis_in_body(body, body.spin)


def hinge_rate(world: World, pin: Pin) -> float:
    """Return how fast the second body of a hinge turns against the first at the start, rad/s."""
    assert pin.axis is not None
    before = np.zeros(3) if pin.first == GROUND else np.array(world.bodies[pin.first].spin)
    return float(np.dot(np.array(world.bodies[pin.second].spin) - before, pin.axis))
