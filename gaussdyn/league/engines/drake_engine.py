"""Drake: a plant in discrete time; compliant contacts, faces of boxes hydroelastic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ..world import (
    GROUND,
    Ball,
    Block,
    Body,
    Pin,
    World,
    axis_in_body,
    hinge_rate,
    in_body,
    relative_turn,
    spin_in_body,
)  # fmt: skip
from .protocol import DEFAULTS, Lacks, Simulation

SAP, STIFF = "sap", "stiff"


class DrakeEngine:
    """Drake by its MultibodyPlant."""

    name, library = "Drake", "pydrake"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "lagged, contact properties as they come (boxes hydroelastic, 1e7 Pa)",
        SAP: "discrete_contact_approximation sap, the rest as it comes",
        STIFF: "lagged, stiction tolerance 1e-6 m/s, point stiffness 1e8 N/m, boxes 1e9 Pa",
    }

    def version(self) -> str:
        """Return the version of the library."""
        from importlib.metadata import version

        return version("drake")

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a simulator."""
        if world.restitution > 0.0:
            raise Lacks("no restitution")
        return _Running(world, setting, dt)


class _Running:
    """A simulator under way."""

    def __init__(self, world: World, setting: str, dt: float) -> None:
        import pydrake.all as drake

        self.drake, self.dt, self.taken, self.setting = drake, dt, 0, setting
        builder = drake.DiagramBuilder()
        self.plant, _ = drake.AddMultibodyPlant(_config(drake, setting, dt), builder)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(world.gravity))
        self.boxes = any(isinstance(one.shape, Block) for one in world.bodies)
        self.friction = drake.CoulombFriction(world.mu, world.mu)
        for k, wall in enumerate(world.walls):
            pose = drake.HalfSpace.MakePose(np.array(wall.normal), np.array(wall.point))
            self._touching(self.plant.world_body(), pose, drake.HalfSpace(), f"wall{k}", fixed=True)
        self.bodies = [self._body(k, one) for k, one in enumerate(world.bodies)]
        hung, loops = world.tree()
        joints = {k: self._joint(world, k, pin) for k, pin in hung.items()}
        for pin in loops:
            self._loop(world, pin)
        self.plant.Finalize()
        self.simulator = drake.Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for k, one in enumerate(world.bodies):
            if k not in hung:
                self._free(k, one)
            elif hung[k].axis is None:
                joints[k].set_angular_velocity(self.context, spin_in_body(one))  # its axes are the body's
            else:
                joints[k].set_angular_rate(self.context, hinge_rate(world, hung[k]))
        self.simulator.Initialize()

    def _body(self, k: int, one: Body) -> Any:
        drake = self.drake
        inertia = drake.UnitInertia(*(np.array(one.inertia) / one.mass))
        body = self.plant.AddRigidBody(f"b{k}", drake.SpatialInertia(one.mass, [0.0, 0.0, 0.0], inertia))
        if one.shape is not None:
            self._touching(body, drake.RigidTransform(), _shape(drake, one), f"s{k}", fixed=False)
        return body

    def _touching(self, body: Any, pose: Any, shape: Any, name: str, *, fixed: bool) -> None:
        drake, found, stiff = self.drake, self.drake.ProximityProperties(), self.setting == STIFF
        if stiff:
            drake.AddContactMaterial(10.0, 1e8, self.friction, found)
        else:
            drake.AddContactMaterial(friction=self.friction, properties=found)
        if self.boxes and fixed:
            drake.AddRigidHydroelasticProperties(1.0, found)
        elif self.boxes:
            drake.AddCompliantHydroelasticProperties(0.1, 1e9 if stiff else 1e7, found)
        self.plant.RegisterCollisionGeometry(body, pose, shape, name, found)

    def _joint(self, world: World, k: int, pin: Pin) -> Any:
        """Hang a body on the ground or on another: the frame on its carrier has the axes of the body."""
        drake, plant, one = self.drake, self.plant, world.bodies[k]
        at, turn = np.array(pin.point), np.array(one.turn)
        carrier = plant.world_frame()
        if pin.first != GROUND:
            on = world.bodies[pin.first]
            at, turn, carrier = in_body(on, pin.point), relative_turn(on, one), self.bodies[pin.first].body_frame()
        outside = drake.RigidTransform(drake.Quaternion(turn), at)
        inside = drake.RigidTransform(in_body(one, pin.point))
        outer = plant.AddFrame(drake.FixedOffsetFrame(f"outer{k}", carrier, outside))
        inner = plant.AddFrame(drake.FixedOffsetFrame(f"inner{k}", self.bodies[k].body_frame(), inside))
        if pin.axis is None:
            return plant.AddJoint(drake.BallRpyJoint(f"ball{k}", outer, inner))
        return plant.AddJoint(drake.RevoluteJoint(f"hinge{k}", outer, inner, axis_in_body(one, pin.axis)))

    def _loop(self, world: World, pin: Pin) -> None:
        if self.setting != SAP:
            raise Lacks("loops are closed with sap only")
        if pin.first == GROUND:
            raise Lacks("loops over the ground")
        ends = [(self.bodies[k], in_body(world.bodies[k], pin.point)) for k in (pin.second, pin.first)]
        self.plant.AddBallConstraint(*ends[0], *ends[1])

    def _free(self, k: int, one: Body) -> None:
        drake = self.drake
        pose = drake.RigidTransform(drake.Quaternion(np.array(one.turn)), np.array(one.place))
        self.plant.SetFreeBodyPose(self.context, self.bodies[k], pose)
        rates = drake.SpatialVelocity(np.array(one.spin), np.array(one.velocity))
        self.plant.SetFreeBodySpatialVelocity(self.context, self.bodies[k], rates)

    def step(self, n: int) -> None:
        """Take n steps in one call."""
        self.taken += n
        self.simulator.AdvanceTo(self.taken * self.dt)

    def states(self) -> Array:
        """Return all bodies in space."""
        rows = []
        for body in self.bodies:
            pose = self.plant.EvalBodyPoseInWorld(self.context, body)
            rate = self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
            turn = pose.rotation().ToQuaternion().wxyz()
            rows.append([*pose.translation(), *turn, *rate.translational(), *rate.rotational()])
        return np.array(rows)

    def said(self) -> str:
        """Return nothing: it raises where its solver diverges, and has no words else."""
        return ""


def _config(drake: Any, setting: str, dt: float) -> Any:
    found = drake.MultibodyPlantConfig(time_step=dt)
    if setting == SAP:
        found.discrete_contact_approximation = "sap"
    if setting == STIFF:
        found.stiction_tolerance = 1e-6
    return found


def _shape(drake: Any, one: Body) -> Any:
    if isinstance(one.shape, Ball):
        return drake.Sphere(one.shape.radius)
    if isinstance(one.shape, Block):
        return drake.Box(*(2.0 * x for x in one.shape.half))
    assert one.shape is not None
    return drake.Capsule(one.shape.radius, 2.0 * one.shape.half_length)
