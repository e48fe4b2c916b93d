"""A system of bodies in the coordinates of its joints: `SpatialSystem(..., coordinates="joints")`.

A spanning tree of its joints gives q and v, M, forces, rows and contacts; what trees have no tables for (what acts on
joints that close loops) is taken from the bodies: with v_bodies = S v and a_bodies = S a + drift a force f becomes S^T
f, and a row J becomes J S with J drift beside its own drift.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, vector
from ...errors import InputError
from ..borders import Pose
from ..joints.columns import Readings
from ..joints.equation import Equation
from ..joints.limits_motors import Part
from ..placed_contacts import Legs, Listed
from ..rows import Row
from ..spatial.forces import Force
from ..spatial.joint_table import Bond
from ..spatial.kinematics import Motions
from ..spatial.system import PLACES, Coordinates, SpatialSystem
from ..state import State
from .forest import Forest
from .forest_state import ForestState
from .joint_coordinates import FREE, BodyMotion, JointCoordinates, tree_of
from .joint_readings import Column, joint_readings
from .system import TreeSystem

FITS = 1e-6  # m, rad: as far as bodies may be from where their joints put them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointedSystem(SpatialSystem):
    """Bodies in space in the coordinates of their joints; get one by ``SpatialSystem(..., coordinates="joints")``.

    Hinges, sliders and balls have one, one and four coordinates, universal joints two, bodies that no joint ties to the
    ground seven, as in `TreeSystem`. A hinge's angle goes on beyond half a turn, with its limits. Runs have the columns
    that bodies and joints have with ``coordinates="bodies"``, the reactions of joints among them: those of the tree are
    found from the momenta of the bodies. `control` is a generalised force along v.

    Attributes
    ----------
    pair : JointCoordinates
        The bodies and the tree; `pair.back` and `pair.state` take states from here to bodies and back.
    tree : TreeSystem
    others : tuple
        The parts of `joints` that the tree has no tables for.
    pushes : tuple
        The `forces` that it has no tables for.
    blanks : tuple of Row
        The rows of the tree without values.
    """

    kinetic_energy: ClassVar[None] = None  # type: ignore[assignment]  # M depends on q: v alone does not say
    coordinates: Coordinates = "joints"
    pair: JointCoordinates = field(init=False, repr=False)
    tree: TreeSystem = field(init=False, repr=False)
    others: tuple[Bond, ...] = field(init=False, repr=False)
    pushes: tuple[Force, ...] = field(init=False, repr=False)
    blanks: tuple[Row, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        SpatialSystem.__post_init__(self)
        if self.coordinates != "joints":
            raise InputError(
                "coordinates of a JointedSystem",
                repr(self.coordinates),
                "'joints'",
                'Write SpatialSystem(coordinates="joints").',
            )
        given = ("bodies", "obstacles", "joints", "forces", "gravity", "contact", "pairs")
        pair, others, pushes = tree_of(SpatialSystem(**{name: getattr(self, name) for name in given}))
        tree = replace(pair.system, sensors=())
        values = {"pair": replace(pair, system=tree), "tree": tree, "others": others, "blanks": tree.blanks}
        for name, value in {**values, "pushes": pushes, "contacts": tree.contacts}.items():
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.tree.nv

    @property
    def forest(self) -> Forest | None:
        """The tables of the tree, where they say all of the system; None where Python has to be asked."""
        return None if self.others or self.pushes else self.tree.forest

    def mass(self, q: Array) -> Array:
        """Return M(q), shape (nv, nv)."""
        return self.tree.mass(q)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return gravity, Coriolis and the forces along v, and `control`, a generalised force of shape (nv,)."""
        h = self.tree.force(t, q, v)
        if self.pushes:
            moved, motion = self._moved(t, q, v)
            h = h + moved.S.T @ sum(force.force(motion, self._free(motion)) for force in self.pushes)
        return h if control is None else h + vector("control", control, self.nv)

    def coriolis(self, q: Array, v: Array) -> Array:
        """Return Coriolis and centrifugal forces alone; see `TreeSystem.coriolis`."""
        return self.tree.coriolis(q, v)

    def force_foreseen(self, t: float, q: Array, v: Array, mean: Array, control: Array | None = None) -> Array:
        """Return the force of a step without corrections; see `TreeSystem.force_foreseen`."""
        h = self.tree.force_foreseen(t, q, v, mean)
        return h if control is None else h + vector("control", control, self.nv)

    def force_gradient(self, t: float, q: Array, v: Array) -> Array:
        """Return the derivative of the force with respect to v, shape (nv, nv), without that of Coriolis forces."""
        if not self.forces:
            return np.zeros((self.nv, self.nv))
        moved, motion = self._moved(t, q, v)
        D = sum(force.gradient(motion, self._free(motion)) for force in self.forces)
        return np.asarray(moved.S.T @ D @ moved.S)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return dq/dt."""
        return self.tree.qdot(q, v)

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return the coordinates after dt at constant v; quaternions by Cayley's map and with length one."""
        return self.tree.move(q, v, dt)

    def near(self, t: float, q: Array, v: Array, dt: float) -> JointedSystem:
        """Return the system with the contacts of bodies that may meet within dt, for all states to come."""
        return self if self.contacts.frozen else self._on(self.tree.near(t, q, v, dt))

    def lines_at(self, legs: Legs) -> Listed:
        """Return the contacts that `near` lists at the starts of steps, where these end."""
        return self.tree.lines_at(legs)

    def touching(self, places: Array, known: Collection[str]) -> list[int]:
        """Return in which of the poses, shape (n, nq), shapes touch in contacts that are not known, by id."""
        return self.tree.touching(places, known)

    def distances(self, q: Array, reach: float) -> dict[tuple[str, str], float]:
        """Return the signed distances up to `reach` (m) of the pairs of shapes that may touch, by their labels."""
        return self.tree.distances(q, reach)

    def within(self, q: Array, reach: float) -> JointedSystem:
        """Return the system with the contacts of shapes that are open by `reach` (m) at most."""
        return self._on(self.tree.within(q, reach))

    def listed(self, q: Array) -> JointedSystem | None:
        """Return the system with every contact there can be; None where which there are depends on the pose."""
        every = self.tree.listed(q)
        return None if every is None else self._on(every)

    def taking(self, ids: Collection[str], other: SpatialSystem) -> JointedSystem:
        """Return the system with those contacts that are named, of its own and of another `near`."""
        return self._on(self.tree.taking(ids, other.tree if isinstance(other, JointedSystem) else self.tree))

    def steady(self, rows: Sequence[Row]) -> JointedSystem:
        """Return the system whose contacts keep the chart of tangents that their normals have in these rows."""
        return self._on(self.tree.steady(rows))

    def pinned(self) -> JointedSystem:
        """Return the system whose contacts over rims stay where they were found on their edges."""
        return self._on(self.tree.pinned())

    def transit(self, q: Array, v: Array, dt: float) -> float:
        """Return infinity: rates of joints alone do not say how fast bodies are, as in `TreeSystem`."""
        return math.inf

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every row of joints and every contact at (t, q, v), sorted by id."""
        rows = self.tree.rows(t, q, v)
        return tuple(sorted((*rows, *self._other_rows(t, q, v)), key=lambda row: row.id)) if self.others else rows

    def rows_mass_and_force(
        self, t: float, q: Array, v: Array, control: Array | None = None
    ) -> tuple[tuple[Row, ...], Array, Array] | None:  # fmt: skip
        """Return rows, mass and generalised force at once; None where the tree does not say all of the system."""
        if self.others or self.pushes or type(self) is not JointedSystem:
            return None
        if (said := self.tree.rows_mass_and_force(t, q, v)) is None:
            return None
        rows, M, h = said
        return rows, M, h if control is None else h + vector("control", control, self.nv)

    def joint_rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return the rows of loops, and of what acts on joints, at (t, q, v)."""
        return (*ForestState.at(self.tree.forest, q, v).rows(self.blanks), *self._other_rows(t, q, v))

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of gravity and springs, J; gravity is zero at the origin."""
        stored = self.tree.potential(t, q)
        if self.pushes:
            _, motion = self._moved(t, q, np.zeros(self.nv))
            stored += sum(force.potential(motion, self._free(motion)) for force in self.pushes)
        return stored

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of dampers, drags, loads, drives, shaking and control, W."""
        _, motion = self._moved(t, q, v)
        power = sum((force.power(motion, self._free(motion)) for force in self.forces), 0.0)
        return power if control is None else power + float(vector("control", control, self.nv) @ v)

    def coordinate(self, joint: str, q: Array, v: Array | None = None) -> Equation:
        """Return the angle of a hinge in [-pi, pi] or the travel of a slider at (q, v), with its rate.

        Raises
        ------
        InputError
            An unknown joint, or one without a coordinate.
        """
        moved, motion = self._moved(0.0, q, np.zeros(self.nv) if v is None else v)
        x = self._bonds.free(motion, joint)
        return Equation(x.value, x.J @ moved.S, x.rate, x.drift + float(x.J @ moved.drift))

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes in the pose q; see `drawables`."""
        return self.pair.bodies.drawables(self.pair.motion(q).q)

    def state(
        self,
        place: Mapping[str, ArrayLike] | None = None,
        velocity: Mapping[str, ArrayLike] | None = None,
        *,
        joints: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        near: State | None = None,
        t: float = 0.0,
    ) -> State:
        """Return a `State` of the joints from what a system of bodies takes; see `SpatialSystem.state`.

        Bodies left out are where their joints put them.

        Raises
        ------
        InputError
            As there; bodies that are placed where their joints do not allow it.
        """
        known = None if near is None else self.pair.back(near)
        placed = joints is None and rates is None and near is None and len(place or ()) == len(self.bodies)
        told = None if placed else joints or {}
        return self.in_joints(self.pair.bodies.state(place, velocity, joints=told, rates=rates, near=known, t=t))

    def in_joints(self, state: State) -> State:
        """Return the state of the joints at a state of the bodies, q (7 n,) and v (6 n,).

        Raises
        ------
        InputError
            The joints do not allow it.
        """
        found = self.pair.state(state)
        there = self.pair.back(found)
        turned = np.abs(np.where(there.q * state.q < 0.0, there.q + state.q, there.q - state.q))
        off = np.minimum(np.abs(there.q - state.q), turned).reshape(-1, 7)
        rate = np.abs(there.v - state.v).reshape(-1, 6)
        worst = int(np.argmax(off.max(axis=1) + rate.max(axis=1)))
        if off.max() > FITS or rate.max() > FITS * (1.0 + np.abs(state.v).max()):
            given = f"off by {off[worst].max():.3g} m, {rate[worst].max():.3g} m/s"
            mend = "Place bodies by joints= and rates=, which keep them joined."
            raise InputError(f"place of {self.bodies[worst].name}", given, "where its joints allow it to be", mend)
        return found

    def in_bodies(self, state: State) -> State:
        """Return the state of the bodies, q (7 n,) and v (6 n,), at a state of the joints."""
        return self.pair.back(state)

    def readings(self) -> Readings:
        """Return what its numbers are called in a run; `sense` has those of bodies and joints."""
        own, known = self.tree.readings(), self.pair.bodies.readings()
        named = [tuple((name.replace(f"{FREE}.", "."), unit) for name, unit in part) for part in (own.q, own.v)]
        return Readings(named[0], named[1], {**own.rows, **known.rows})

    def sense(self, run: Any) -> dict[str, Column]:
        """Return unit and values of the columns of bodies and joints along a run, see `joint_readings`."""
        return joint_readings(self.pair, run)

    def index(self, body: str, coordinate: str = "x") -> int:
        """Return where x, y, z, qw, qx, qy or qz of a free body stands in q, or vx, vy, vz, wx, wy or wz in v.

        Raises
        ------
        InputError
            An unknown name, a body that a joint ties to another one.
        """
        within = SpatialSystem.index(self, body, coordinate)
        if body + FREE not in self.tree.places.joints:
            mend = f'Its column in a run is run["{body}.{coordinate}"].'
            raise InputError(f"{coordinate} of {body}", "a body on a joint", "a body that no joint ties", mend)
        if coordinate in PLACES:
            return int(self.tree.coordinates(body + FREE).start) + within - 7 * self.layout.place[body]
        return int(self.tree.velocities(body + FREE).start) + within - 6 * self.layout.place[body]

    def _pose(self, q: Array, body: str) -> Pose:
        """Return place and rotation of a body or of the ground."""
        frame = self.tree.frame(q, body)
        return frame.x, frame.R

    def _moved(self, t: float, q: Array, v: Array) -> tuple[BodyMotion, Motions]:
        """Return how the bodies move with the joints, and what joints and forces ask about them."""
        moved = self.pair.motion(q, v)
        return moved, Motions(self.layout, t, moved.q, moved.S @ v)

    def _other_rows(self, t: float, q: Array, v: Array) -> list[Row]:
        """Return the rows of what the tree has no tables for."""
        if not self.others:
            return []
        moved, motion = self._moved(t, q, v)
        free: Any = self._free(motion)
        found: list[Row] = []
        for one in self.others:
            found += one.rows(free) if isinstance(one, Part) else one.rows(motion)
        return [row.but(J=row.J @ moved.S, drift=row.drift + row.J @ moved.drift) for row in found]

    def _on(self, tree: TreeSystem) -> JointedSystem:
        """Return the system with the contacts of this tree."""
        frozen = copy.copy(self)
        for name, value in (("tree", tree), ("contacts", tree.contacts)):
            object.__setattr__(frozen, name, value)
        return frozen
