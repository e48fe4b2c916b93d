"""Trees of bodies in joint coordinates as a `System`: joints need no rows, M depends on where they stand."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, vector
from ...errors import InputError
from ...linalg.rotations import matrix_of, product
from ..collision.body_motions import BodyMotions
from ..collision.compound import Compound, flattened
from ..collision.shapes import Triple, triple
from ..collision.tangent_frames import chart_of
from ..contact_law import ContactLaw
from ..joints.columns import Readings
from ..names import GROUND, nearest
from ..placed_contacts import Legs, Listed
from ..rows import Row
from ..spatial.contacts import Contacts, Obstacle, Pairs
from ..spatial.lasting_contacts import lasting
from ..spatial.spec import KINDS as SHAPES
from ..spatial.spec import decoded, encoded
from ..state import State
from ..system import place_and_reach
from . import columns
from .activations import Activations, activations_of
from .bodies import TreeBody, TreeJoint
from .drawables import drawables
from .forest import Forest
from .forest_state import ForestSeries, ForestState, Frame, held
from .kinematics import move_trees
from .parts import Actuator, Connect, Fluid, JointEquality, Leg, Part, Round, SpatialTendon, Tendon
from .sensing import Column, check_sensors, read_sensors
from .sensors import Sensor, Site
from .tables import Places, forest_of, together
from .visuals import Visual

PARTS = (TreeBody, TreeJoint, Tendon, SpatialTendon, Leg, Round, JointEquality, Connect, Actuator, Fluid, Site, Sensor)
KINDS: dict[str, Any] = SHAPES | {kind.__name__: kind for kind in PARTS}
SEQUENCES = ("bodies", "obstacles", "parts", "actuators", "sites", "sensors")
Colours = Mapping[str, Sequence[float]]
GIVEN = ("bodies", "obstacles", "parts", "actuators", "gravity", "fluid", "contact", "source", "sites", "sensors")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeSystem:
    """Trees of bodies with contacts, what couples their joints, and actuators.

    Parameters
    ----------
    bodies : sequence of TreeBody
        Parents before children. q has the coordinates of the joints in this order, v their rates.
    obstacles : sequence of HalfSpace, Mesh, HeightField, Compound or shapes
        Fixed in space, each with a name.
    parts : sequence of Part
        Tendon, SpatialTendon, Spring, Rod, String, JointEquality, Connect, Limit, JointFriction, Motor, Gear, Drive,
        Load, Drag, Shaking.
    actuators : sequence of Actuator
        `control` has one number for each, in this order.
    gravity : (x, y, z)
        m/s^2.
    fluid : Fluid
    contact : ContactLaw
        Of all pairs that are not in `pairs`.
    pairs : mapping of (str, str) to ContactLaw or None
        As in `SpatialSystem`. A body does not touch its parent unless they are named here.
    sites : sequence of Site
    sensors : sequence of Sensor
        What they read are columns of a run, by their names.
    source : str
        The text of the file that it was read from, if it was.
    colours : mapping of str to (r, g, b, a)
        For drawing, numbers from 0 to 1, by name of an obstacle, a body or one of its shapes (``body.shape``).
    visuals : sequence of Visual
        What bodies are seen by in views and pages, in the place of their shapes; `spec` leaves it out.

    Raises
    ------
    InputError
        Names used twice or unknown, NaN, a velocity that nothing resists.
    """

    bodies: Sequence[TreeBody]
    obstacles: Sequence[Obstacle | Compound] = ()
    parts: Sequence[Part] = ()
    actuators: Sequence[Actuator] = ()
    gravity: Triple = (0.0, 0.0, -9.81)
    fluid: Fluid = field(default_factory=Fluid)
    contact: ContactLaw = field(default_factory=ContactLaw)
    pairs: Pairs = field(default_factory=dict)
    sites: Sequence[Site] = ()
    sensors: Sequence[Sensor] = ()
    source: str = ""
    colours: Colours = field(default_factory=dict)
    visuals: Sequence[Visual] = ()
    contacts: Contacts = field(init=False, repr=False)
    forest: Forest = field(init=False, repr=False)
    places: Places = field(init=False, repr=False)
    blanks: tuple[Row, ...] = field(init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        values: dict[str, Any] = {name: tuple(getattr(self, name)) for name in SEQUENCES}
        values["obstacles"] = flattened(values["obstacles"])
        values |= {"gravity": triple("gravity", self.gravity), "pairs": dict(self.pairs)}
        values["colours"] = {name: vector(f"colour of {name}", x, 4).tolist() for name, x in self.colours.items()}
        forest, places, names = forest_of(
            values["bodies"], values["parts"], values["actuators"], values["gravity"], self.fluid
        )
        J, one = np.zeros((1, len(forest.trees.dofs))), np.zeros(1)
        blanks = tuple(
            Row(id=x.id, kind=x.kind, level=x.level, J=J, rate=one, drift=one, cap=x.cap, cap_s=x.cap_s, eps_n=x.eps_n)
            for x in names
        )
        values |= {"forest": forest, "places": places, "blanks": blanks}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "contacts", _contacts(self))
        check_sensors(self)
        _check_mass(self)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(joint.coordinates for joint, *_ in self.places.joints.values())

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.forest.trees.dofs)

    @property
    def activations(self) -> Activations | None:
        """The states of actuators; None if none has one. `force` and `power` are told what takes the place of u."""
        return activations_of(self.actuators)

    def mass(self, q: Array) -> Array:
        """Return M(q), shape (nv, nv), armatures included."""
        return ForestState.at(self.forest, q).mass()

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return the generalised force: gravity, Coriolis, springs, dampers, fluid, and actuators told `control`."""
        return self._at(q, v, control).force(t)[0]

    def coriolis(self, q: Array, v: Array) -> Array:
        """Return Coriolis and centrifugal forces alone, -dM/dt v + d(v.M v)/dq / 2, N and N m, shape (nv,).

        A step adds those of half of its change of v to the force of its mean velocity, see ``docs/stepping.md``.
        """
        return ForestState.at(self.forest, q, v).coriolis()

    def force_foreseen(self, t: float, q: Array, v: Array, mean: Array, control: Array | None = None) -> Array:
        """Return the force of a step without corrections, which v was foreseen for and whose mean velocity is `mean`.

        That is the force at v, but for dampers of joints, and for the part of drives that falls with the rate of one
        joint: these see `mean`.
        """
        return self._at(q, v, control).force_foreseen(t, mean)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return dq/dt."""
        rate = np.empty(self.nq)
        for joint, _, i, d in self.places.joints.values():
            size = joint.velocities
            if size == 6:
                rate[i : i + 3] = v[d : d + 3]
                i, d = i + 3, d + 3
            if size == 1:
                rate[i] = v[d]
            else:
                rate[i : i + 4] = 0.5 * product(q[i : i + 4], [0.0, *v[d : d + 3]])
        return rate

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return the coordinates after dt at constant v; quaternions by Cayley's map and with length one."""
        moved = np.empty(self.nq)
        move_trees(held(self.forest.trees), np.ascontiguousarray(q), np.ascontiguousarray(v), float(dt), moved)
        return moved

    def near(self, t: float, q: Array, v: Array, dt: float) -> TreeSystem:
        """Return the system with the contacts of bodies that may meet within dt, for all states to come."""
        if self.contacts.frozen:
            return self
        here = ForestState.at(self.forest, q, v).bodies()
        radii = self.contacts.radii
        fastest = np.linalg.norm(here.v[:-1], axis=1) + radii * np.linalg.norm(here.omega[:-1], axis=1)
        way = dt * float(fastest.max(initial=0.0))
        ahead = ForestState.at(self.forest, self.move(q, v, dt), v).bodies() if way > 0.0 else None
        reach = math.hypot(*self.gravity) * dt * dt + 2.0 * way
        return self._with(self.contacts.among(here, ahead, reach))

    def lines_at(self, legs: Legs) -> Listed:
        """Return the contacts that `near` lists at the starts of steps, where these end."""
        q0, v0, dt, forest = legs.q0, legs.v0, legs.dt, ForestSeries.of(self.forest)
        ahead, middle = forest.moved(q0, v0, dt), forest.moved(q0, v0, legs.middle * dt)
        if legs.places is not None:
            middle = np.where(np.isnan(legs.places), middle, legs.places)
        x, R, velocity, omega = forest.frames(np.stack([q0, ahead, legs.q, middle], axis=1), v0)
        speeds = np.linalg.norm(velocity[:, :-1], axis=2) + self.contacts.radii * np.linalg.norm(omega[:, :-1], axis=2)
        way = dt * speeds.max(axis=1, initial=0.0)
        reach = math.hypot(*self.gravity) * dt * dt + 2.0 * way
        return self.contacts.listed(x, R, reach, np.zeros(speeds.shape), way)

    def touching(self, places: Array, known: Collection[str]) -> list[int]:
        """Return in which of the poses, shape (n, nq), shapes touch in contacts that are not known, by id."""
        found = [ForestState.at(self.forest, q).bodies() for q in places]
        return self.contacts.touching(np.array([one.x for one in found]), np.array([one.R for one in found]), known)

    @property
    def contact_count(self) -> int:
        """How many contacts of shapes have been found."""
        return len(self.contacts.blanks)

    def distances(self, q: Array, reach: float) -> dict[tuple[str, str], float]:
        """Return the signed distances up to `reach` (m) of the pairs of shapes that may touch, by their labels.

        Raises as `place_and_reach`.
        """
        q, reach = place_and_reach(q, reach, self.nq)
        return self.contacts.distances(ForestState.at(self.forest, q, np.zeros(self.nv)).bodies(), reach)

    def within(self, q: Array, reach: float) -> TreeSystem:
        """Return the system with the contacts of shapes that are open by `reach` (m) at most.

        Raises as `place_and_reach`.
        """
        q, reach = place_and_reach(q, reach, self.nq)
        here = ForestState.at(self.forest, q, np.zeros(self.nv)).bodies()
        return self._with(self.contacts.among(here, None, reach))

    def listed(self, q: Array) -> TreeSystem | None:
        """Return the system with every contact there can be; None where which there are depends on the pose."""
        every = lasting(self.contacts, ForestState.at(self.forest, q).bodies())
        if every is None:
            return None
        system = self._with(every)
        return system.steady(system.rows(0.0, q, np.zeros(self.nv)))

    def beside(self, rows: Sequence[Row]) -> frozenset[str]:
        """Return the ids of the contacts that `near` lists at an instant, of all contacts that there can be."""
        return self.contacts.beside(rows)

    def taking(self, ids: Collection[str], other: TreeSystem) -> TreeSystem:
        """Return the system with those contacts that are named, of its own and of another `near`."""
        return self._with(self.contacts.taking(ids, other.contacts))

    def steady(self, rows: Sequence[Row]) -> TreeSystem:
        """Return the system whose contacts keep the chart of tangents that their normals have in these rows."""
        charts = {row.id: chart_of(row.frame[0]) for row in rows if row.frame is not None}
        return self._with(replace(self.contacts.pinned(), charts=charts))

    def pinned(self) -> TreeSystem:
        """Return the system whose contacts over rims stay where they were found on their edges."""
        return self._with(self.contacts.pinned())

    @property
    def charts(self) -> Mapping[str, int]:
        """The charts that contacts keep, by id."""
        return self.contacts.charts

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every row of joints and every contact at (t, q, v), sorted by id."""
        return self._rows_at(ForestState.at(self.forest, q, v))

    def rows_mass_and_force(
        self, t: float, q: Array, v: Array, control: Array | None = None
    ) -> tuple[tuple[Row, ...], Array, Array] | None:  # fmt: skip
        """Return rows, mass and generalised force at once; None where a class of your own may say otherwise."""
        if type(self) is not TreeSystem:
            return None
        state = self._at(q, v, control)
        return self._rows_at(state), state.mass(), state.force(t)[0]

    def _rows_at(self, state: ForestState) -> tuple[Row, ...]:
        rows = state.rows(self.blanks)
        if len(self.contacts.shapes.labels) > 1:
            bodies = state.bodies()
            contacts = self.contacts if self.contacts.frozen else self.contacts.among(bodies, None, 0.0)
            rows += _contact_rows(contacts, bodies, self.nv)
        return tuple(sorted(rows, key=lambda row: row.id))

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of gravity and springs, J; gravity is zero at the origin."""
        return ForestState.at(self.forest, q).potential()

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of dampers, the fluid, loads, shaking and actuators, W."""
        return self._at(q, v, control).force(t)[1]

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes in the pose q, see `spatial.drawables`."""
        return drawables(self, ForestState.at(self.forest, q))

    def seen(self, q: Array) -> list[dict[str, Any]]:
        """Return the same with the `visuals` of bodies in the place of their shapes."""
        return drawables(self, ForestState.at(self.forest, q), self.visuals)

    def spec(self) -> dict[str, Any]:
        """Return plain data from which `from_spec` builds the same system."""
        pairs = [[*names, encoded(law)] for names, law in self.pairs.items()]
        return {
            "kind": "TreeSystem",
            **{name: encoded(getattr(self, name)) for name in GIVEN},
            "pairs": pairs,
            "colours": {name: list(colour) for name, colour in self.colours.items()},
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> TreeSystem:
        """Build a system from what `spec` returned."""
        values = {name: decoded(value, KINDS) for name, value in spec.items() if name in GIVEN}
        pairs = {(a, b): None if law is None else decoded(law) for a, b, law in spec.get("pairs", ())}
        return cls(**values, pairs=pairs, colours=spec.get("colours", {}))

    def state(
        self,
        joints: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        t: float = 0.0,
    ) -> State:
        """Return a state from coordinates and rates by name of the joint; others move nothing, and are at rest.

        Parameters
        ----------
        joints : mapping of str to float or array_like
            One number for hinges and sliders, a unit quaternion (4,) for balls, (7,) with (x, y, z) before it, or (3,)
            for a place alone, for free bodies.
        rates : mapping of str to float or array_like
        t : float
            s.

        Raises
        ------
        InputError
            An unknown joint, a wrong shape, NaN.
        """
        q = np.concatenate([np.array(joint.start) for joint, *_ in self.places.joints.values()] or [np.zeros(0)])
        v = np.zeros(self.nv)
        for name, value in (joints or {}).items():
            at = self.coordinates(name)
            x = vector(f"joints of {name}", np.atleast_1d(np.asarray(value, dtype=np.float64)))
            if len(x) not in (at.stop - at.start, 3 if at.stop - at.start == 7 else -1):
                raise InputError(
                    f"joints of {name}",
                    f"shape {x.shape}",
                    f"({at.stop - at.start},)",
                    f"Write {name!r}: numpy.zeros({at.stop - at.start}).",
                )
            q[at.start : at.start + len(x)] = x
        for name, value in (rates or {}).items():
            at = self.velocities(name)
            v[at] = vector(f"rates of {name}", np.atleast_1d(np.asarray(value, dtype=np.float64)), at.stop - at.start)
        return State(t=t, q=q, v=v)

    def coordinates(self, joint: str) -> slice:
        """Return where the coordinates of a joint stand in q."""
        one, _, q, _ = self._joint(joint)
        return slice(q, q + one.coordinates)

    def velocities(self, joint: str) -> slice:
        """Return where the rates of a joint stand in v."""
        one, _, _, v = self._joint(joint)
        return slice(v, v + one.velocities)

    def frame(self, q: Array, body: str) -> Frame:
        """Return place (3,) and axes (3, 3) of a body, or else a site, in space."""
        site = self._site(body)
        frame = ForestState.at(self.forest, q).frame(self.places.body("body", site.body if site else body))
        if site is None:
            return frame
        return Frame(frame.x + frame.R @ np.array(site.at), frame.R @ matrix_of(site.turn))

    def jacobian(self, q: Array, body: str, at: ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
        """Return J and turn, shape (3, nv): velocity in space of a point of a body = J v, angular velocity = turn v.

        A site stands for its point of its body; `at` is left out then.
        """
        site = self._site(body)
        body, at = (body, at) if site is None else (site.body, site.at)
        bodies, k = ForestState.at(self.forest, q).bodies(), self.places.body("body", body)
        arm, turn = bodies.R[k] @ vector("at", at, 3), bodies.turn[k, :, : self.nv]
        return bodies.J[k, :, : self.nv] + np.cross(turn, arm, axis=0), turn

    def readings(self) -> Readings:
        """Return what its numbers are called in a run."""
        paths = {part.name for part in self.parts if isinstance(part, SpatialTendon)}
        return columns.readings_of(self.places, self.blanks, paths)

    def sense(self, run: Any) -> dict[str, Column]:
        """Return unit and values of what the sensors read along a run, by name of the column."""
        return read_sensors(self, run)

    def _site(self, name: str) -> Site | None:
        """Return the site of a name that no body has."""
        named = (one for one in self.sites if one.name == name and name not in self.places.bodies)
        return next(named, None)

    def _at(self, q: Array, v: Array, control: Array | None) -> ForestState:
        told = None if control is None else vector("control", control, len(self.actuators))
        return ForestState.at(self.forest, q, v, told)

    def _with(self, contacts: Contacts) -> TreeSystem:
        frozen = copy.copy(self)
        object.__setattr__(frozen, "contacts", contacts)
        return frozen

    def _joint(self, name: str) -> tuple[TreeJoint, int, int, int]:
        if name not in self.places.joints:
            raise InputError("joint", repr(name), *nearest(name, self.places.joints))
        return self.places.joints[name]


def _contacts(system: TreeSystem) -> Contacts:
    """Return the shapes of a system, and what never touches: bodies that are one, and bodies and their parents."""
    shapes = {body.name: body.shapes for body in system.bodies}
    radii = np.array([max((shape.reach for shape in body.shapes), default=0.0) for body in system.bodies])
    fixed = [one.name for one in system.obstacles if getattr(one, "body", GROUND) == GROUND]
    joined = together(system.bodies, fixed)
    return Contacts.of(shapes, radii, flattened(system.obstacles), system.contact, system.pairs, joined)


def _contact_rows(contacts: Contacts, bodies: BodyMotions, nv: int) -> list[Row]:
    """Return the rows of contacts; the last column of J is what velocities alone give to their second rates."""
    if not contacts.found or not contacts.blanks:
        return []
    rows = contacts.found.rows(contacts.blanks, bodies, nv + 1, contacts.charts)
    return [row.but(J=np.ascontiguousarray(row.J[:, :nv]), drift=row.drift + row.J[:, nv]) for row in rows]


def _check_mass(system: TreeSystem) -> None:
    """Raise InputError if some velocity meets no inertia."""
    M = system.mass(system.state().q)
    for k in range(1, len(M) + 1):
        if not np.linalg.eigvalsh(M[:k, :k])[0] > 1e-14 * np.abs(M[:k, :k]).max():
            joint = next(one.name for one, _, _, v in system.places.joints.values() if k <= v + one.velocities)
            mend = "Give what it moves a mass and an inertia, or the joint an armature=0.01."
            raise InputError(f"joint {joint}", "moves nothing that has inertia", "bodies with inertia", mend)
