"""Rigid bodies in space as a `System`: M constant, attitudes as unit quaternions, contacts found as the bodies move."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, IntArray, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, cross_matrix, matrix_of, times_vectors, unit_quaternion
from ...mends import numbers, one_of
from ..borders import Crossing, Extent, Pose
from ..collision.compound import Compound, flattened
from ..collision.features import EDGE_RIM
from ..collision.shapes import Triple, triple
from ..collision.tangent_frames import chart_of
from ..contact_law import ContactLaw
from ..initial.joint_state import Mechanism, state_of_joints
from ..joints.columns import Readings, named_bodies
from ..joints.equation import Equation
from ..names import GROUND, nearest, parts
from ..placed_contacts import Legs, Listed, Placed
from ..rows import Row
from ..state import State
from ..system import place_and_reach
from .bodies import SpatialBody
from .borders import extent_in_space, without_borders
from .contacts import Contacts, Obstacle, Pairs
from .drawables import drawables
from .forces import Force
from .joint_table import Bond, Joints
from .kinematics import Motions, SpatialLayout, bodies_at, moved_bodies, poses_at, ways_of
from .lasting_contacts import lasting
from .poses import GROUND_POSE, composed, inverse, marker_pose
from .spec import decoded, encoded

PLACES = ("x", "y", "z", "qw", "qx", "qy", "qz")
RATES = ("vx", "vy", "vz", "wx", "wy", "wz")
Coordinates = Literal["bodies", "joints"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialSystem:
    """Bodies in space with contacts, joints and forces.

    Parameters
    ----------
    bodies : sequence of SpatialBody
        Body k has q[7 k : 7 k + 7] = (x, y, z, qw, qx, qy, qz) and v[6 k : 6 k + 6] = (vx, vy, vz, wx, wy, wz), the
        angular velocity in body axes.
    obstacles : sequence of HalfSpace, Mesh, HeightField, Compound or shapes
        Fixed in space (half-spaces also to a body), each with a name.
    joints : sequence of BallJoint, Hinge, Universal, Slider, Weld, Rod, String, Limit, JointFriction, Motor or Gear
        Rows of joints and contacts come sorted by their ids.
    forces : sequence of Spring, Drag, Load, Drive or Shaking
    gravity : (x, y, z)
        m/s^2.
    contact : ContactLaw
        Of all pairs that are not in `pairs`.
    pairs : mapping of (str, str) to ContactLaw or None
        Laws of pairs by the names of bodies, obstacles or shapes (``body.shape``, which come first); None: they do not
        touch each other. Bodies that a joint connects do not, unless they are named here.
    coordinates : "bodies" or "joints"
        What q and v are: places and velocities of all bodies, which joints hold by rows; or what the joints of a
        spanning tree leave free (a `JointedSystem`), with rows for those that close loops only. The motion is the same.

    Raises
    ------
    InputError
        Names used twice or unknown, NaN, a part that is none of the above.
    """

    bodies: Sequence[SpatialBody]
    obstacles: Sequence[Obstacle | Compound] = ()
    joints: Sequence[Bond] = ()
    forces: Sequence[Force] = ()
    gravity: Triple = (0.0, 0.0, -9.81)
    contact: ContactLaw = field(default_factory=ContactLaw)
    pairs: Pairs = field(default_factory=dict)
    coordinates: Coordinates = "bodies"
    layout: SpatialLayout = field(init=False, repr=False)
    contacts: Contacts = field(init=False, repr=False)
    _bonds: Joints = field(init=False, repr=False)
    _inertias: Array = field(init=False, repr=False)
    _weight: Array = field(init=False, repr=False)
    same_laws: ClassVar[bool] = True  # of rows, at all states

    __repr__ = brief

    def __new__(cls, *, coordinates: str = "bodies", **given: Any) -> SpatialSystem:
        """Return a system in the coordinates that were asked for; `import_module`, because trees are made of bodies."""
        if cls is SpatialSystem and coordinates == "joints":
            cls = import_module("...trees.jointed_system", __name__).JointedSystem
        return object.__new__(cls)

    def __post_init__(self) -> None:
        if self.coordinates not in get_args(Coordinates):
            raise InputError(
                "coordinates",
                repr(self.coordinates),
                "'bodies' or 'joints'",
                one_of("coordinates", self.coordinates, ("bodies", "joints")),
            )
        layout = SpatialLayout.of(parts("bodies", self.bodies))
        joints = parts("joints", self.joints)
        bonds = Joints.of(layout, joints)
        forces = bonds.check_forces(layout, self.forces)
        gravity = triple("gravity", self.gravity)
        obstacles = flattened(parts("obstacles", self.obstacles))
        shapes, radii = {body.name: body.shapes for body in layout.bodies}, [body.radius for body in layout.bodies]
        contacts = Contacts.of(shapes, np.array(radii), obstacles, self.contact, self.pairs, bonds.joined)
        inertias = np.array([body.inertia for body in layout.bodies])
        weight = np.concatenate([[*(body.mass * np.array(gravity)), 0.0, 0.0, 0.0] for body in layout.bodies])
        values: dict[str, Any] = {
            "bodies": layout.bodies,
            "obstacles": obstacles,
            "joints": joints,
            "forces": forces,
        }
        values |= {"gravity": gravity, "pairs": dict(self.pairs), "layout": layout, "contacts": contacts}
        values |= {"_bonds": bonds, "_inertias": inertias, "_weight": weight}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return 7 * len(self.bodies)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return 6 * len(self.bodies)

    @property
    def joint_table(self) -> Joints:
        """Its joints, and what acts on their coordinates."""
        return self._bonds

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv): blocks m I and the inertia in body axes, kg and kg m^2; the same for all q."""
        return self.layout.mass

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return gravity, -w x J w, the forces and `control`, a generalised force of shape (nv,), N and N m.

        The moments of `control` are in body axes, as the angular velocities are.
        """
        h = self._weight + self._gyroscopic(v)
        if self.forces:
            motion = Motions(self.layout, t, q, v)
            for force in self.forces:
                h += force.force(motion, self._free(motion))
        return h if control is None else h + vector("control", control, self.nv)

    def force_gradient(self, t: float, q: Array, v: Array) -> Array:
        """Return the derivative of the force with respect to v, shape (nv, nv): gyroscopic terms, dampers, drags."""
        D = np.zeros((self.nv, self.nv))
        for k, (J, w) in enumerate(zip(self._inertias, v.reshape(-1, 6)[:, 3:], strict=True)):
            turning = slice(6 * k + 3, 6 * k + 6)
            D[turning, turning] = cross_matrix(J @ w) - cross_matrix(w) @ J
        if self.forces:
            motion = Motions(self.layout, t, q, v)
            for force in self.forces:
                D += force.gradient(motion, self._free(motion))
        return D

    def qdot(self, q: Array, v: Array) -> Array:
        """Return dq/dt = (v, 1/2 q (0, w)) of every body."""
        Q, V = q.reshape(-1, 7), v.reshape(-1, 6)
        rate = np.empty_like(Q)
        rate[:, :3] = V[:, :3]
        rate[:, 3:] = 0.5 * times_vectors(Q[:, 3:], V[:, 3:])
        return rate.ravel()

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return x + dt v and q (1, dt w / 2) scaled to length one, Cayley's map, for every body."""
        return moved_bodies(q.reshape(-1, 7), v.reshape(-1, 6), dt).ravel()

    def near(self, t: float, q: Array, v: Array, dt: float) -> SpatialSystem:
        """Return the system with the contacts of bodies that may meet within dt, for all states to come."""
        if self.contacts.frozen:
            return self
        reach = math.hypot(*self.gravity) * dt * dt
        ahead = self.move(q, v, dt) if dt > 0.0 else q
        return self._with(self.contacts.near(q, v, dt, reach, ahead))

    @property
    def contact_count(self) -> int:
        """How many contacts of shapes have been found."""
        return len(self.contacts.blanks)

    def distances(self, q: Array, reach: float) -> dict[tuple[str, str], float]:
        """Return the signed distances up to `reach` (m) of the pairs of shapes that may touch, by their labels.

        Raises as `place_and_reach`.
        """
        q, reach = place_and_reach(q, reach, self.nq)
        return self.contacts.distances(bodies_at(q, np.zeros(self.nv)), reach)

    def within(self, q: Array, reach: float) -> SpatialSystem:
        """Return the system with the contacts of shapes that are open by `reach` (m) at most, as `distances`."""
        q, reach = place_and_reach(q, reach, self.nq)
        return self._with(self.contacts.among(bodies_at(q, np.zeros(self.nv)), None, reach))

    def placed(self, ids: Sequence[str], labels: IntArray, legs: Legs) -> Placed:
        """Return contacts of shapes, by their labels (f, 4), at the ends of steps; `ids`: those that are none."""
        where, far = ways_of(legs), math.hypot(*self.gravity) * legs.dt * legs.dt
        late = [(k, poses_at(np.stack([[q, q, legs.q[k], where[k, -1]]]))) for k, q in legs.tries]
        way = legs.dt[:, None] * self.contacts.speeds(legs.v0)
        return self.contacts.placed(labels, *poses_at(where), far, way, late)

    def lines_at(self, legs: Legs) -> Listed:
        """Return the contacts that `near` lists at the starts of steps, where these end."""
        way, far = legs.dt[:, None] * self.contacts.speeds(legs.v0), math.hypot(*self.gravity) * legs.dt * legs.dt
        return self.contacts.listed(*poses_at(ways_of(legs)), far, way, way.max(axis=1, initial=0.0))

    def listed(self, q: Array) -> SpatialSystem | None:
        """Return the system with every contact there can be; None where which there are depends on the pose."""
        v = np.zeros(self.nv)
        every = lasting(self.contacts, bodies_at(q, v))
        if every is None:
            return None
        return self._with(every).steady(every.rows(q, v))

    def taking(self, ids: Collection[str], other: SpatialSystem) -> SpatialSystem:
        """Return the system with those contacts that are named, of its own and of another `near`."""
        return self._with(self.contacts.taking(ids, other.contacts))

    def steady(self, rows: Sequence[Row]) -> SpatialSystem:
        """Return the system whose contacts keep the chart of tangents that their normals have in these rows.

        Those over rims are `pinned`.
        """
        charts = {row.id: chart_of(row.frame[0]) for row in rows if row.frame is not None}
        found = self.contacts.found
        if charts == self.contacts.charts and (found is None or EDGE_RIM not in found.kind):
            return self
        return self._with(replace(self.contacts.pinned(), charts=charts))

    def pinned(self) -> SpatialSystem:
        """Return the system whose contacts over rims stay where they were found on their edges.

        The rate of every contact is the derivative of its gap then, at all states.
        """
        return self._with(self.contacts.pinned())

    @property
    def contact_ids(self) -> frozenset[str]:
        """Ids of the contacts that were found."""
        return frozenset(blank.id for blank in self.contacts.blanks)

    def beside(self, rows: Sequence[Row]) -> frozenset[str]:
        """Return the ids of the contacts that `near` lists at an instant, of all contacts that there can be.

        These are known, see `listed`, and so are their gaps in `rows`: nothing has to be searched for.
        """
        return self.contacts.beside(rows)

    @property
    def charts(self) -> Mapping[str, int]:
        """The charts that contacts keep, by id; empty for tangents that are functions of the normal."""
        return self.contacts.charts

    def extent(self, contact: str) -> Extent | Crossing | None:
        """Return where the features of a contact of shapes end; None where they do not."""
        found, k = self.contacts.found, self.contacts.numbers.get(contact)
        if found is None or k is None:
            return None
        kind, bodies, label, data = (part[k] for part in found)
        return extent_in_space(self.contacts.shapes, kind, bodies, label, data, self._pose)

    @property
    def without_borders(self) -> tuple[str, ...]:
        """Names of shapes that touch with features whose ends are not known."""
        return without_borders(self.contacts.shapes)

    def touching(self, places: Array, known: Collection[str]) -> list[int]:
        """Return in which of the poses, shape (n, nq), shapes touch in contacts that are not known, by id."""
        return self.contacts.touching(*poses_at(places), known)

    def transit(self, q: Array, v: Array, dt: float) -> float:
        """Return the least time in which a shape passes by one of its size that it may meet within dt, s; else inf."""
        quickest = self.contacts.pace(q, v, dt)
        return 0.5 / quickest if quickest > 0.0 else math.inf

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every joint and every contact at (t, q, v), sorted by id; contacts that touch, unless frozen."""
        motion = Motions(self.layout, t, q, v)
        contacts = self.contacts if self.contacts.frozen else self.contacts.near(q, v, 0.0, 0.0, q)
        rows = (*self._bonds.rows(motion), *contacts.rows(q, v))
        return tuple(sorted(rows, key=lambda row: row.id))

    def joint_rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return the rows of joints, and of what acts on them, at (t, q, v)."""
        return self._bonds.rows(Motions(self.layout, t, q, v))

    def kinetic_energy(self, v: Array) -> float:
        """Return the kinetic energy, J: body by body, for the mass matrix of many is large."""
        V = v.reshape(-1, 6)
        masses = np.array([body.mass for body in self.bodies])
        turning = np.einsum("ki,kij,kj->", V[:, 3:], self._inertias, V[:, 3:])
        return 0.5 * float(masses @ (V[:, :3] ** 2).sum(axis=1) + turning)

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of gravity and springs, J; gravity is zero at the origin."""
        places = np.concatenate([q.reshape(-1, 7)[:, :3], np.zeros((len(self.bodies), 3))], axis=1)
        stored = -float(self._weight @ places.ravel())
        if self.forces:
            motion = Motions(self.layout, t, q, np.zeros(self.nv))
            stored += sum(force.potential(motion, self._free(motion)) for force in self.forces)
        return stored

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of dampers, drags, loads, drives, shaking and control, W."""
        motion = Motions(self.layout, t, q, v)
        power = sum((force.power(motion, self._free(motion)) for force in self.forces), 0.0)
        return power if control is None else power + float(vector("control", control, self.nv) @ v)

    def coordinate(self, joint: str, q: Array, v: Array | None = None) -> Equation:
        """Return the angle of a hinge in [-pi, pi] or the travel of a slider at (q, v), with its rate.

        Raises
        ------
        InputError
            An unknown joint, or one without a coordinate.
        """
        motion = Motions(self.layout, 0.0, q, np.zeros(self.nv) if v is None else v)
        return self._bonds.free(motion, joint)

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes in the pose q; see `drawables`."""
        motion = Motions(self.layout, 0.0, q, np.zeros(self.nv))
        return drawables(self.bodies, flattened(self.obstacles), (*self.joints, *self.forces), motion)

    def spec(self) -> dict[str, Any]:
        """Return plain data from which `from_spec` builds the same system."""
        names = ("bodies", "obstacles", "joints", "forces", "gravity", "contact")
        spec = {name: encoded(getattr(self, name)) for name in names}
        pairs = [[*names, encoded(law)] for names, law in self.pairs.items()]
        chosen = {} if self.coordinates == "bodies" else {"coordinates": self.coordinates}
        return {"kind": "SpatialSystem", **spec, "pairs": pairs, **chosen}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> SpatialSystem:
        """Build a system from what `spec` returned."""
        values = {name: decoded(value) for name, value in spec.items() if name not in ("kind", "pairs")}
        pairs = {(a, b): decoded(law) for a, b, law in spec.get("pairs", ())}
        return cls(**values, pairs=pairs)

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
        """Return a `State` from coordinates by body name, or from what joints leave free, by the joint's name.

        Parameters
        ----------
        place : mapping of str to array_like, shape (3,) or (7,)
            (x, y, z) of the mass centre, m, and the unit quaternion (qw, qx, qy, qz); not turned without it.
        velocity : mapping of str to array_like, shape (3,) or (6,)
            (vx, vy, vz), m/s, and (wx, wy, wz) in body axes, rad/s. Bodies left out are at the origin, or at rest; with
            `joints` or `rates` they are where joints put them.
        joints : mapping of str to float or array_like
            Angle of a hinge, rad, position of a slider, m; (3,) for the rotation vector of a ball, (2,) for the angles
            of a universal joint about y of b and x of a. Joints left out are at 0, or where loops that are closed and
            limits put them.
        rates : mapping of str to float or array_like
            Their rates, for a ball its angular velocity in the axes of b; joints left out do not move but where loops,
            gears and motors have them move.
        near : State
            Close to the state that is looked for: what is left out begins there. Loops often close in several ways.
        t : float
            s.

        Raises
        ------
        InputError
            An unknown name, a wrong shape, NaN, a quaternion off length one by more than 1e-6; angles that limits or
            loops do not allow.
        """
        place, velocity = place or {}, velocity or {}
        q, v = np.zeros((len(self.bodies), 7)), np.zeros((len(self.bodies), 6))
        q[:, 3:] = IDENTITY
        for name, value in place.items():
            x = _either(f"place of {name}", value, 3, 7)
            k = self._number(name)
            q[k, : len(x)] = x
            q[k, 3:] = unit_quaternion(f"quaternion of {name}", q[k, 3:])
        for name, value in velocity.items():
            x = _either(f"velocity of {name}", value, 3, 6)
            v[self._number(name), : len(x)] = x
        state = State(q=q.ravel(), v=v.ravel(), t=t)
        if joints is None and rates is None and near is None:
            return state
        return state_of_joints(self._mechanism(), state, (*place, *velocity), joints or {}, rates or {}, near)

    def readings(self) -> Readings:
        """Return what its numbers are called in a run, and those of its joints: see `joints.columns`."""
        names, joints = [body.name for body in self.bodies], self._bonds.columns(self.forces)

        def read(t: float, q: Array, v: Array, forces: Mapping[str, Array], angles: Mapping[str, float]) -> list[float]:
            """Return the numbers of the joints at one state."""
            motion = Motions(self.layout, t, q, v)
            free = self._free(motion)
            return joints.values(lambda one: one.readings(motion), lambda one: one.along(free), forces, angles)

        return Readings(
            named_bodies(names, dict.fromkeys(names, tuple(zip(PLACES, ("m",) * 3 + ("1",) * 4, strict=True)))),
            named_bodies(names, dict.fromkeys(names, tuple(zip(RATES, ("m/s",) * 3 + ("rad/s",) * 3, strict=True)))),
            joints.rows(), joints.more(), read, tuple(joint.name for joint in self._bonds.hinges),
            lambda q, v: self._bonds.angles(self.layout, q, v),
        )  # fmt: skip

    def index(self, body: str, coordinate: str = "x") -> int:
        """Return where x, y, z, qw, qx, qy or qz of a body stands in q, or vx, vy, vz, wx, wy or wz in v.

        Raises
        ------
        InputError
            An unknown name.
        """
        k = self._number(body)
        if coordinate in PLACES:
            return 7 * k + PLACES.index(coordinate)
        if coordinate in RATES:
            return 6 * k + RATES.index(coordinate)
        raise InputError(
            f"coordinate of {body}",
            repr(coordinate),
            ", ".join((*PLACES, *RATES)),
            one_of("coordinate", coordinate, (*PLACES, *RATES)),
        )

    def _with(self, contacts: Contacts) -> SpatialSystem:
        """Return the system with other contacts listed."""
        frozen = copy.copy(self)
        object.__setattr__(frozen, "contacts", contacts)
        return frozen

    def _pose(self, q: Array, body: str) -> Pose:
        """Return place and rotation of a body or of the ground."""
        if body == GROUND:
            return np.zeros(3), np.eye(3)
        x = q[7 * self._number(body) :][:7]
        return x[:3], matrix_of(x[3:])

    def _mechanism(self) -> Mechanism:
        """Return what `state_of_joints` asks."""
        place = self.layout.place
        return Mechanism(
            system=self, columns=self._bonds.columns(self.forces), bodies=tuple(place), ground=GROUND_POSE,
            composed=composed, inverse=inverse, marker_pose=marker_pose,
            pose_of=lambda q, body: q[7 * place[body] :][:7],
            packed=lambda poses: np.concatenate([poses[name] for name in place]),
            motion=lambda state: Motions(self.layout, state.t, state.q, state.v),
            speeds_of=lambda body: slice(6 * place[body], 6 * place[body] + 6),
        )  # fmt: skip

    def _number(self, body: str) -> int:
        if body not in self.layout.place:
            raise InputError("body", repr(body), *nearest(body, self.layout.place))
        return self.layout.place[body]

    def _free(self, motion: Motions) -> Any:
        return lambda joint, middle=0.0: self._bonds.free(motion, joint, middle)

    def _gyroscopic(self, v: Array) -> Array:
        """Return -w x J w of every body, shape (nv,)."""
        h, w = np.zeros((len(self.bodies), 6)), v.reshape(-1, 6)[:, 3:]
        L = np.einsum("kij,kj->ki", self._inertias, w)
        h[:, 3] = L[:, 1] * w[:, 2] - L[:, 2] * w[:, 1]
        h[:, 4] = L[:, 2] * w[:, 0] - L[:, 0] * w[:, 2]
        h[:, 5] = L[:, 0] * w[:, 1] - L[:, 1] * w[:, 0]
        return h.ravel()


def _either(name: str, value: ArrayLike, few: int, many: int) -> Array:
    """Return a vector of one of two sizes."""
    x = vector(name, value)
    if len(x) not in (few, many):
        raise InputError(name, f"shape {x.shape}", f"a vector of shape ({few},) or ({many},)", numbers(name, few))
    return x
