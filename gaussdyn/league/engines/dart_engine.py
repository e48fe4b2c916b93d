"""DART (dartpy): boxed complementarity in velocities, or Gauss-Seidel on the exact cone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of, quaternion_of
from ..world import GROUND, Ball, Block, Body, Pin, World, hinge_rate, in_body
from .protocol import DEFAULTS, Lacks, Simulation

CONE = "cone"
THICK = 0.5  # m, half the thickness of a wall
WIDE = 5.0


class DartEngine:
    """DART; rods touch with balls at their ends, as its detector knows no capsules."""

    name, library = "DART", "dartpy"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "Dantzig's boxed pivoting, its own detector",
        CONE: "Gauss-Seidel on the exact cone (NSGS), tolerance 1e-12, 500 sweeps",
    }

    def version(self) -> str:
        """Return the version of the library."""
        from importlib.metadata import version

        return version("dartpy")

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a world of skeletons."""
        return _Running(world, setting, dt)


class _Running:
    """A world under way."""

    def __init__(self, world: World, setting: str, dt: float) -> None:
        import dartpy

        self.dart, self.world = dartpy, dartpy.simulation.World()
        self.world.setGravity(list(world.gravity))
        self.world.setTimeStep(dt)
        solver = self.world.getConstraintSolver()
        solver.setCollisionDetector(dartpy.collision.DARTCollisionDetector())
        self.cone = self._cone(solver) if setting == CONE else None
        for wall in world.walls:
            self._wall(wall.point, wall.normal, world)
        self.nodes: dict[int, Any] = {}
        hung, loops = world.tree()
        for k in range(len(world.bodies)):
            self._body(world, k, hung.get(k))
        for pin in loops:
            first = None if pin.first == GROUND else self.nodes[pin.first]
            ends = [self.nodes[pin.second]] if first is None else [first, self.nodes[pin.second]]
            solver.addConstraint(dartpy.constraint.BallJointConstraint(*ends, np.array(pin.point)))

    def _cone(self, solver: Any) -> Any:
        kind = getattr(self.dart.constraint, "NsgsFrictionSolver", None)
        if kind is None:
            raise Lacks("no solver on the exact cone in this version")
        options = kind.Options()
        for name, value in (("tolerance", 1e-12), ("maxSweeps", 500)):
            if hasattr(options, name):
                setattr(options, name, value)
        found = kind(options)
        solver.setBoxedLcpSolver(found)
        return found

    def _touching(self, node: Any, shape: Any, law: tuple[float, float], at: Any = None) -> None:
        made = node.createShapeNode(shape)
        made.createCollisionAspect()
        made.createDynamicsAspect()
        made.getDynamicsAspect().setFrictionCoeff(law[0])
        made.getDynamicsAspect().setRestitutionCoeff(law[1])
        if at is not None:
            made.setRelativeTranslation(at)

    def _wall(self, point: Any, normal: Any, world: World) -> None:
        skeleton = self.dart.dynamics.Skeleton(f"wall{self.world.getNumSkeletons()}")
        joint, node = skeleton.createWeldJointAndBodyNodePair()
        shape = self.dart.dynamics.BoxShape([2.0 * WIDE, 2.0 * WIDE, 2.0 * THICK])
        self._touching(node, shape, (world.mu, 1.0))  # restitution is a product, friction the smaller one
        pose = np.eye(4)
        pose[:3, :3] = _turn_to(np.array(normal))
        pose[:3, 3] = np.array(point) - THICK * np.array(normal)
        joint.setTransformFromParentBodyNode(pose)
        self.world.addSkeleton(skeleton)

    def _body(self, world: World, k: int, pin: Pin | None) -> None:
        """Make a body: free, or hung on the ground or on one made before."""
        one, dynamics = world.bodies[k], self.dart.dynamics
        if pin is not None and pin.first != GROUND:
            skeleton, carrier = self.nodes[pin.first].getSkeleton(), self.nodes[pin.first]
        else:
            skeleton, carrier = dynamics.Skeleton(f"b{k}"), None
        joint, node = self._joint(skeleton, carrier, pin)
        node.setInertia(dynamics.Inertia(one.mass, [0.0, 0.0, 0.0], np.diag(one.inertia)))
        restitution = world.restitution if world.walls else float(np.sqrt(world.restitution))
        self._shapes(node, one, (world.mu, restitution))
        if pin is not None:
            _place_joint(joint, world, k, pin)
        if carrier is None:
            self.world.addSkeleton(skeleton)
        _set_off(joint, world, k, pin, self.dart)
        self.nodes[k] = node

    def _joint(self, skeleton: Any, carrier: Any, pin: Pin | None) -> tuple[Any, Any]:
        """Return a joint and the body behind it."""
        kind = "Free" if pin is None else "Ball" if pin.axis is None else "Revolute"
        create = getattr(skeleton, f"create{kind}JointAndBodyNodePair")
        joint, node = create() if carrier is None else create(carrier)
        if pin is not None and pin.axis is not None:
            joint.setAxis(np.array(pin.axis))
        return joint, node

    def _shapes(self, node: Any, one: Body, law: tuple[float, float]) -> None:
        shapes = self.dart.dynamics
        if isinstance(one.shape, Ball):
            self._touching(node, shapes.SphereShape(one.shape.radius), law)
        elif isinstance(one.shape, Block):
            self._touching(node, shapes.BoxShape([2.0 * x for x in one.shape.half]), law)
        elif one.shape is not None:
            for end in (-one.shape.half_length, one.shape.half_length):
                self._touching(node, shapes.SphereShape(one.shape.radius), law, [0.0, 0.0, end])

    def step(self, n: int) -> None:
        """Take n steps."""
        for _ in range(n):
            self.world.step()

    def states(self) -> Array:
        """Return all bodies in space."""
        rows = []
        for k in sorted(self.nodes):
            node = self.nodes[k]
            pose = node.getWorldTransform()
            pose = np.asarray(pose.matrix() if hasattr(pose, "matrix") else pose)
            turn = quaternion_of(pose[:3, :3])
            rows.append([*pose[:3, 3], *turn, *node.getLinearVelocity(), *node.getAngularVelocity()])
        return np.array(rows)

    def said(self) -> str:
        """Return what its solver on the cone says of convergence in the last step."""
        stats = None if self.cone is None else self.cone.getStats()
        worst = getattr(stats, "maxViolation", None)
        return "" if worst is None else f"largest violation in the last step {worst:.1e}"


def _place_joint(joint: Any, world: World, k: int, pin: Pin) -> None:
    """Put a joint where its pin is, on both sides; axes of pinned bodies are those of space but for a turned one."""
    inside = np.eye(4)
    inside[:3, 3] = in_body(world.bodies[k], pin.point)
    inside[:3, :3] = matrix_of(np.array(world.bodies[k].turn)).T
    outside = np.eye(4)
    outside[:3, 3] = pin.point
    if pin.first != GROUND:
        carrier = world.bodies[pin.first]
        outside[:3, 3], outside[:3, :3] = in_body(carrier, pin.point), matrix_of(np.array(carrier.turn)).T
    joint.setTransformFromChildBodyNode(inside)
    joint.setTransformFromParentBodyNode(outside)


def _set_off(joint: Any, world: World, k: int, pin: Pin | None, dart: Any) -> None:
    """Give a joint its position and its rates."""
    one = world.bodies[k]
    if pin is None:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = matrix_of(np.array(one.turn)), one.place
        joint.setPositions(dart.dynamics.FreeJoint.convertToPositions(pose))
        joint.setVelocities(np.r_[one.spin, one.velocity])
    elif pin.axis is None:
        joint.setVelocities(np.array(one.spin))
    else:
        joint.setVelocities(np.array([hinge_rate(world, pin)]))


def _turn_to(normal: Array) -> Array:
    """Return a rotation that takes z to a normal."""
    aside = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(aside, normal)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])
