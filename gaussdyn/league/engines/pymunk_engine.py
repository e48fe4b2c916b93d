"""pymunk (Chipmunk): the plane x-z only; sequential impulses, bodies with the inertia of the world."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ..world import GROUND, Ball, Block, Body, Pin, World, in_body
from .protocol import DEFAULTS, Lacks, Simulation

TIGHT = "tight"
FAR = 50.0  # m, half the length of a wall


class PymunkEngine:
    """pymunk; its angle turns z towards -x, against the y axis of the world."""

    name, library = "pymunk", "pymunk"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "10 iterations",
        TIGHT: "1000 iterations, no collision slop",
    }

    def version(self) -> str:
        """Return the version of the library."""
        import pymunk

        return str(pymunk.version)

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a space of the plane."""
        if not world.flat:
            raise Lacks("the plane only")
        return _Running(world, setting, dt)


class _Running:
    """A space under way."""

    def __init__(self, world: World, setting: str, dt: float) -> None:
        import pymunk

        self.pymunk, self.space, self.dt = pymunk, pymunk.Space(), dt
        self.space.gravity = world.gravity[0], world.gravity[2]
        if setting == TIGHT:
            self.space.iterations, self.space.collision_slop = 1000, 0.0
        self.mu, self.restitution = math.sqrt(world.mu), math.sqrt(world.restitution)  # it multiplies those of a pair
        for wall in world.walls:
            self._wall(wall.point, wall.normal)
        self.bodies = [self._body(one) for one in world.bodies]
        for pin in world.pins:
            self._pin(world, pin)

    def _wall(self, point: Any, normal: Any) -> None:
        along = np.array([normal[2], -normal[0]])
        middle = np.array([point[0], point[2]]) - np.array([normal[0], normal[2]])  # a segment as thick as 1 m
        ends = tuple(middle - FAR * along), tuple(middle + FAR * along)
        self._touching(self.pymunk.Segment(self.space.static_body, *ends, 1.0))

    def _touching(self, shape: Any) -> None:
        shape.friction, shape.elasticity = self.mu, self.restitution
        self.space.add(shape)

    def _body(self, one: Body) -> Any:
        pymunk = self.pymunk
        body = pymunk.Body(one.mass, one.inertia[1])
        body.position, body.velocity = (one.place[0], one.place[2]), (one.velocity[0], one.velocity[2])
        body.angle, body.angular_velocity = -2.0 * math.atan2(one.turn[2], one.turn[0]), -one.spin[1]
        self.space.add(body)
        if isinstance(one.shape, Ball):
            self._touching(pymunk.Circle(body, one.shape.radius))
        elif isinstance(one.shape, Block):
            self._touching(pymunk.Poly.create_box(body, (2.0 * one.shape.half[0], 2.0 * one.shape.half[2])))
        elif one.shape is not None:
            end = one.shape.half_length
            self._touching(pymunk.Segment(body, (0.0, -end), (0.0, end), one.shape.radius))
        return body

    def _pin(self, world: World, pin: Pin) -> None:
        ends, places = [], []
        for k in (pin.first, pin.second):
            at = np.array(pin.point) if k == GROUND else in_body(world.bodies[k], pin.point)
            ends.append(self.space.static_body if k == GROUND else self.bodies[k])
            places.append((float(at[0]), float(at[2])))
        self.space.add(self.pymunk.PivotJoint(*ends, *places))

    def step(self, n: int) -> None:
        """Take n steps."""
        for _ in range(n):
            self.space.step(self.dt)

    def states(self) -> Array:
        """Return all bodies in space."""
        rows = []
        for body in self.bodies:
            half = -0.5 * body.angle
            turn = math.cos(half), 0.0, math.sin(half), 0.0
            place, velocity = body.position, body.velocity
            rows.append([place.x, 0.0, place.y, *turn, velocity.x, 0.0, velocity.y, 0.0, -body.angular_velocity, 0.0])
        return np.array(rows)

    def said(self) -> str:
        """Return nothing: it has no words for what it does."""
        return ""
