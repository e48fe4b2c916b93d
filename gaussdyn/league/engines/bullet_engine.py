"""Bullet (pybullet): sequential impulses, or Dantzig's pivoting, with error reduction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ..world import GROUND, Ball, Block, Body, Pin, World, in_body
from .protocol import DEFAULTS, Simulation

TIGHT, PIVOTS = "tight", "dantzig"


class BulletEngine:
    """Bullet; friction and restitution of a pair are products."""

    name, library = "Bullet", "pybullet"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "time step only (damping 0.04 of all velocities, spins cut off at 100 rad/s)",
        TIGHT: "no damping or cut-off, 1000 iterations, friction cone, no slop, no threshold of restitution",
        PIVOTS: "tight, solved by Dantzig's pivoting",
    }

    def version(self) -> str:
        """Return the version of the library."""
        from importlib.metadata import version

        return version("pybullet")

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a client of its own."""
        return _Running(world, setting, dt)


class _Running:
    """A client under way."""

    def __init__(self, world: World, setting: str, dt: float) -> None:
        import pybullet

        self.bullet, self.client = pybullet, pybullet.connect(pybullet.DIRECT)
        self._call("setGravity", *world.gravity)
        self._call("setTimeStep", dt)
        self.free = setting != DEFAULTS
        if self.free:
            self._call(
                "setPhysicsEngineParameter", numSolverIterations=1000, solverResidualThreshold=0, enableConeFriction=1,
                restitutionVelocityThreshold=0.0, contactSlop=0.0, useSplitImpulse=0,
            )  # fmt: skip
        if setting == PIVOTS:
            kind = pybullet.CONSTRAINT_SOLVER_LCP_DANTZIG
            self._call("setPhysicsEngineParameter", constraintSolverType=kind, globalCFM=1e-9)
        self.touch = {
            "lateralFriction": math.sqrt(world.mu), "restitution": math.sqrt(world.restitution),
            "rollingFriction": 0.0, "spinningFriction": 0.0,
        }  # fmt: skip
        for wall in world.walls:
            shape = self._call("createCollisionShape", pybullet.GEOM_PLANE, planeNormal=wall.normal)
            self._touching(self._call("createMultiBody", 0, shape, basePosition=wall.point))
        self.bodies = [self._body(one) for one in world.bodies]
        for pin in world.pins:
            self._pin(world, pin)

    def _call(self, name: str, *given: Any, **named: Any) -> Any:
        return getattr(self.bullet, name)(*given, **named, physicsClientId=self.client)

    def _touching(self, body: int) -> None:
        self._call("changeDynamics", body, -1, **self.touch)

    def _body(self, one: Body) -> int:
        shape = self._shape(one)
        turn = (*one.turn[1:], one.turn[0])
        body = int(self._call("createMultiBody", one.mass, shape, basePosition=one.place, baseOrientation=turn))
        self._touching(body)
        self._call("changeDynamics", body, -1, localInertiaDiagonal=list(one.inertia))
        if self.free:
            self._call("changeDynamics", body, -1, linearDamping=0.0, angularDamping=0.0, maxJointVelocity=1e6)
        self._call("resetBaseVelocity", body, one.velocity, one.spin)
        return body

    def _shape(self, one: Body) -> int:
        bullet = self.bullet
        if one.shape is None:
            return -1
        if isinstance(one.shape, Ball):
            given = {"shapeType": bullet.GEOM_SPHERE, "radius": one.shape.radius}
        elif isinstance(one.shape, Block):
            given = {"shapeType": bullet.GEOM_BOX, "halfExtents": one.shape.half}
        else:
            length = 2.0 * one.shape.half_length
            given = {"shapeType": bullet.GEOM_CAPSULE, "radius": one.shape.radius, "height": length}
        return int(self._call("createCollisionShape", **given))

    def _pin(self, world: World, pin: Pin) -> None:
        """Join two points: bodies of the plane stay in it though only the points are held."""
        second = in_body(world.bodies[pin.second], pin.point)
        first = pin.point if pin.first == GROUND else in_body(world.bodies[pin.first], pin.point)
        other = -1 if pin.first == GROUND else self.bodies[pin.first]
        kind = self.bullet.JOINT_POINT2POINT
        given = self.bodies[pin.second], -1, other, -1, kind, (0, 0, 0), tuple(second), tuple(first)
        self._call("changeConstraint", self._call("createConstraint", *given), maxForce=1e12)

    def step(self, n: int) -> None:
        """Take n steps."""
        for _ in range(n):
            self.bullet.stepSimulation(physicsClientId=self.client)

    def states(self) -> Array:
        """Return all bodies in space."""
        rows = []
        for body in self.bodies:
            place, turn = self._call("getBasePositionAndOrientation", body)
            velocity, spin = self._call("getBaseVelocity", body)
            rows.append([*place, turn[3], *turn[:3], *velocity, *spin])
        return np.array(rows)

    def said(self) -> str:
        """Return nothing: it has no words for what it does."""
        return ""
