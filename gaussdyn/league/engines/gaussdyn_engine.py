"""gaussdyn: time stepping with rigid contacts, and from event to event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._version import __version__
from ...arrays import Array
from ...linalg.rotations import matrix_of, pointing
from ..world import GROUND, UPRIGHT, Ball, Block, Body, Pin, World, axis_in_body, in_body, spin_in_body
from .protocol import DEFAULTS, Simulation

if TYPE_CHECKING:
    from ...integrate.stepper import Step, Stepper
    from ...mechanics.spatial.system import SpatialSystem
    from ...mechanics.state import State

EVENTS = "events"
WORDS = {
    "NONE": "the start has no motion (NONE): an impact without collision",
    "MULTIPLE": "the start has several motions (MULTIPLE)",
    "UNDECIDED": "how many motions the start has was not decided",
}


class GaussdynEngine:
    """This package, asked as everybody else."""

    name, library = "gaussdyn", "gaussdyn"
    settings: ClassVar[Mapping[str, str]] = {
        DEFAULTS: "MoreauJean(dt=dt)",
        EVENTS: "EventDriven(rtol=1e-10): no step, events located",
    }

    def version(self) -> str:
        """Return the version of this package."""
        return __version__

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a system of bodies in space under way."""
        from ...integrate.event_driven import EventDriven
        from ...integrate.time_stepping.moreau_jean import MoreauJean

        stepper = EventDriven(rtol=1e-10) if setting == EVENTS else MoreauJean(dt=dt)
        return _Running(world, stepper, dt)


class _Running:
    """A system, its state, and the stepper."""

    def __init__(self, world: World, stepper: Stepper, dt: float) -> None:
        self.system, self.stepper, self.dt, self.taken = system_of(world), stepper, dt, 0
        names = [body.name for body in self.system.bodies]
        self.state = self.system.state(
            {name: (*one.place, *one.turn) for name, one in zip(names, world.bodies, strict=True)},
            {name: (*one.velocity, *spin_in_body(one)) for name, one in zip(names, world.bodies, strict=True)},
        )
        self.words = _motions(self.system, self.state, stepper.name)
        self.stopped = ""

    def step(self, n: int) -> None:
        """Go on by n steps of time; after a stop the state stays."""
        self.taken += n
        end = self.taken * self.dt
        many = getattr(self.stepper, "advance_many", None)
        while self.state.t < end - 1e-9 * self.dt and not self.stopped:
            left = round((end - self.state.t) / self.dt)
            found = many(self.system, self.state, left, end) if many is not None and left > 1 else ()
            if found:
                self.state = found[-1].end
            else:
                self._one(self.stepper.advance(self.system, self.state, end))

    def _one(self, step: Step) -> None:
        """Take over a single step, or stop."""
        if step.solution.solved:
            self.state = step.state
        if not step.solution.solved or step.ends:
            self.stopped = f"stopped at t = {self.state.t:.4g} s: {step.ends or step.solution.explain()}"

    def states(self) -> Array:
        """Return all bodies; angular velocities turned to the axes of space."""
        q, v = self.state.q.reshape(-1, 7), self.state.v.reshape(-1, 6)
        spins = [matrix_of(turn) @ w for turn, w in zip(q[:, 3:], v[:, 3:], strict=True)]
        return np.column_stack([q, v[:, :3], spins])

    def said(self) -> str:
        """Return how many motions the start has unless it is one."""
        return self.words


def _motions(system: SpatialSystem, state: State, stepper: str) -> str:
    """Return in words how many motions a start has, where that is not one: what `simulate` looks at before a run."""
    from ...integrate.run.uniqueness_checks import NOT_EXAMINED, Examination

    rows = system.rows(state.t, state.q, state.v)
    found = Examination.of(None, "continue").at_start(system, state, None, rows, stepper).outcome
    return WORDS.get(found, "" if found in ("", "UNIQUE", NOT_EXAMINED) else f"start: {found}")


def system_of(world: World) -> SpatialSystem:
    """Return the world as a system of bodies in space."""
    from ...mechanics.collision.shapes import HalfSpace
    from ...mechanics.contact_law import ContactLaw
    from ...mechanics.spatial.bodies import SpatialBody
    from ...mechanics.spatial.system import SpatialSystem

    bodies = [
        SpatialBody(name=f"b{k}", mass=one.mass, inertia=one.inertia, shapes=_shapes(one))
        for k, one in enumerate(world.bodies)
    ]
    walls = [HalfSpace(name=f"wall{k}", point=one.point, normal=one.normal) for k, one in enumerate(world.walls)]
    return SpatialSystem(
        bodies=bodies, obstacles=walls, joints=[_joint(world, k, pin) for k, pin in enumerate(world.pins)],
        gravity=world.gravity, contact=ContactLaw(mu=world.mu, eps_n=world.restitution),
    )  # fmt: skip


def _shapes(body: Body) -> tuple[Any, ...]:
    from ...mechanics.collision.shapes import Box, Capsule, Sphere

    if body.shape is None:
        return ()
    if isinstance(body.shape, Ball):
        return (Sphere(radius=body.shape.radius),)
    if isinstance(body.shape, Block):
        return (Box(half=body.shape.half),)
    return (Capsule(radius=body.shape.radius, half_length=body.shape.half_length),)


def _joint(world: World, number: int, pin: Pin) -> Any:
    """Return a hinge or a ball joint; axes of markers are their z axes."""
    from ...mechanics.spatial.joints import BallJoint, Hinge
    from ...mechanics.spatial.kinematics import SpatialMarker

    ends = []
    for k in (pin.first, pin.second):
        name, at = ("ground", np.array(pin.point)) if k == GROUND else (f"b{k}", in_body(world.bodies[k], pin.point))
        axis = pin.axis if k == GROUND or pin.axis is None else tuple(axis_in_body(world.bodies[k], pin.axis))
        ends.append(SpatialMarker(name, tuple(at.tolist()), UPRIGHT if axis is None else pointing(axis)))
    return (BallJoint if pin.axis is None else Hinge)(name=f"pin{number}", a=ends[1], b=ends[0])
