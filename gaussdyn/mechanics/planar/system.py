"""Points and rigid bodies in the plane as a `System`: M constant and diagonal, dq/dt = v."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, IntArray, vector
from ...errors import InputError
from ...mends import one_of
from ..borders import Extent, Pose
from ..contact_law import ContactLaw
from ..initial.joint_state import Mechanism, state_of_joints
from ..joints.columns import Readings, named_bodies
from ..joints.equation import Equation
from ..names import GROUND, nearest, parts
from ..placed_contacts import Legs, Placed
from ..rows import Row
from ..state import State
from ..system import place_and_reach
from .bodies import Body
from .collision import Contact, Detector, Pairs
from .contacts import HalfPlane, Link, PlanarContact
from .disc_contact import PlanarDiscContact
from .drawables import drawables
from .joint_table import Linkage
from .kinematics import Layout, Motion
from .poses import GROUND_POSE, composed, inverse, marker_pose
from .shapes import Outline
from .spec import Bond, Constraint, Force, as_data, checked, from_data
from .vectors import Pair, pair

PLACES = (("x", "m"), ("y", "m"), ("angle", "rad"))
RATES = (("vx", "m/s"), ("vy", "m/s"), ("omega", "rad/s"))
PARTS = ("bodies", "contacts", "forces", "joints", "obstacles", "contact")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanarSystem:
    """Bodies in the plane with contacts, joints, strings, rods and forces.

    Parameters
    ----------
    bodies : sequence of Point or PlanarBody
        Their coordinates follow one another in q: (x, y) of a point, (x, y, angle) of a body.
    contacts : sequence of PlanarContact, PlanarDiscContact, String, Rod or DryFriction
        Given one by one; their rows are always there.
    forces : sequence of Spring, Drag, Load, Shaking or Drive
    gravity : (x, y)
        m/s^2.
    joints : sequence of Hinge, Slider, Weld, Limit, JointFriction, Motor or Gear
        Rods and strings among them join the contacts, since they, too, always have their row.
    obstacles : sequence of HalfPlane, Disc, Stadium or Polygon
        Shapes fixed to the ground, each with a name; a half-plane may be carried by a body.
    contact : ContactLaw
        Of shapes that touch each other, those of `pairs` excepted. A point mass has no shape.
    pairs : mapping of (str, str) to ContactLaw or None
        Laws of pairs by the names of bodies, obstacles or shapes (``body.shape``); None: they do not touch each other.
        Bodies that a joint connects do not, nor a body on a hinge of the ground and obstacles, unless named here.

    Attributes
    ----------
    detector : Detector or None
        Which shapes may touch, None where there are none.

    Raises
    ------
    InputError
        Names used twice, a marker on an unknown body, a contact given twice, NaN.

    Notes
    -----
    Rows come sorted by their ids. Contacts of shapes are found where `rows` or `near` is asked for them.
    """

    bodies: Sequence[Body]
    contacts: Sequence[Constraint] = ()
    forces: Sequence[Force] = ()
    gravity: Pair = (0.0, -9.81)
    joints: Sequence[Bond] = ()
    obstacles: Sequence[HalfPlane | Outline] = ()
    contact: ContactLaw = field(default_factory=ContactLaw)
    pairs: Pairs = field(default_factory=dict)
    layout: Layout = field(init=False, repr=False)
    _linkage: Linkage = field(init=False, repr=False)
    detector: Detector | None = field(init=False, repr=False)
    _found: tuple[Contact, ...] | None = field(init=False, repr=False)
    _mass: Array = field(init=False, repr=False)
    _weight: Array = field(init=False, repr=False)
    answers: dict[str, Any] = field(init=False, repr=False, default_factory=dict)
    same_laws: ClassVar[bool] = True  # of rows, at all states

    __repr__ = brief

    def __post_init__(self) -> None:
        layout = Layout.of(parts("bodies", self.bodies))
        obstacles, joints = parts("obstacles", self.obstacles), parts("joints", self.joints)
        gravity = pair("gravity", self.gravity)
        links = [one for one in checked("joints", joints, Bond) if isinstance(one, Link)]
        joints = tuple(one for one in joints if not isinstance(one, Link))
        contacts = checked("contacts", (*self.contacts, *links), Constraint)
        contacts = tuple(sorted(contacts, key=lambda contact: contact.id))
        forces = checked("forces", self.forces, Force)
        linkage = Linkage.of(layout, joints)
        ids = sorted([*(contact.id for contact in contacts), *linkage.ids])
        for left, right in pairwise(ids):
            if left == right:
                raise InputError(
                    "contacts", f"two called {left!r}", "different ids", 'Name them, or their markers: name="left".'
                )
        for part in contacts:
            for marker in part.markers:
                layout.check(marker)
        linkage.check_forces(layout, forces)
        detector = Detector.of(layout, obstacles, self.contact, self.pairs, linkage.joined)
        mass = np.diag(np.array([x for body in layout.bodies for x in body.inertias]))
        mass.flags.writeable = False
        weight = gravity[0] * layout.momentum((1.0, 0.0)) + gravity[1] * layout.momentum((0.0, 1.0))
        values = {"layout": layout, "gravity": gravity, "contacts": contacts, "forces": forces}
        values |= {"bodies": layout.bodies, "_mass": mass, "_weight": weight, "joints": joints}
        values |= {"obstacles": obstacles, "pairs": dict(self.pairs), "_linkage": linkage}
        values |= {"detector": detector if detector.laws else None, "_found": None}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.layout.size

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.layout.size

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv), diagonal, kg and kg m^2; the same read-only array for all q."""
        return self._mass

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return gravity, the forces and `control`, a generalised force of shape (nv,), N and N m."""
        h = self._weight.copy()
        if self.forces:
            motion = Motion(self.layout, t, q, v)
            for force in self.forces:
                h += force.force(*self._linkage.asked(force, motion))
        return h if control is None else h + vector("control", control, self.nv)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return v."""
        return v.copy()

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return q + dt v."""
        moved: Array = q + dt * v
        return moved

    def near(self, t: float, q: Array, v: Array, dt: float) -> PlanarSystem:
        """Return the system with those contacts of its shapes that may act within dt (s), and no others."""
        if self.detector is None or self._found is not None:
            return self
        return self._listed(self._detected(q, v, dt))

    def _listed(self, found: tuple[Contact, ...]) -> PlanarSystem:
        """Return the system with these contacts of its shapes."""
        frozen = copy.copy(self)
        object.__setattr__(frozen, "_found", found)
        object.__setattr__(frozen, "answers", {})
        return frozen

    def distances(self, q: Array, reach: float) -> dict[tuple[str, str], float]:
        """Return the signed distances up to `reach` (m) of the pairs of shapes that may touch, by their labels.

        Raises as `place_and_reach`.
        """
        q, reach = place_and_reach(q, reach, self.nq)
        return {} if self.detector is None else self.detector.distances(q, reach)

    def within(self, q: Array, reach: float) -> PlanarSystem:
        """Return the system with the contacts of shapes that are open by `reach` (m) at most.

        Raises as `place_and_reach`.
        """
        q, reach = place_and_reach(q, reach, self.nq)
        if self.detector is None:
            return self
        return self._listed(self._detected(q, np.zeros(self.nv), 1.0, reach))

    @property
    def contact_count(self) -> int:
        """How many contacts of shapes have been found."""
        return len(self._found or ())

    @property
    def listed_contacts(self) -> tuple[Constraint, ...] | None:
        """What has rows besides joints, sorted by id; None where contacts of shapes depend on the state."""
        if self.detector is None:
            return tuple(self.contacts)
        return None if self._found is None else tuple(sorted((*self.contacts, *self._found), key=lambda one: one.id))

    def placed(self, ids: Sequence[str], labels: IntArray, legs: Legs) -> Placed:
        """Return contacts at the ends of steps: of constraints by their ids, of shapes by their labels (f, 4)."""
        known = {one.id: one for one in self.contacts if isinstance(one, (PlanarContact, PlanarDiscContact))}
        chosen: list[Contact] = [known[key] for key in ids if key in known]
        if self.detector is not None:
            chosen += [self.detector.contact((p, side, i, j)) for p, side, i, j in labels.tolist()]
        n, found = len(legs.q), [one.placed(self.layout, legs.q) for one in chosen]
        point, frame = np.empty((n, len(found), 2)), np.empty((n, len(found), 2, 2))
        for k, (_, x, axes) in enumerate(found):
            point[:, k], frame[:, k] = x, axes
        return Placed(tuple(row for row, _, _ in found), point, frame)

    def taking(self, ids: Collection[str], other: PlanarSystem) -> PlanarSystem:
        """Return the system with those contacts of shapes that are named, of its own and of another `near`."""
        found = {contact.id: contact for one in (other, self) for contact in one._found or ()}
        return self._listed(tuple(found[key] for key in sorted(found) if key in ids))

    def extent(self, contact: str) -> Extent | None:
        """Return where the features of a contact of shapes end; None where they do not."""
        found = () if self.detector is None or self._found is None else self.detector.borders(contact)
        return Extent(found, self._pose) if found else None

    def touching(self, places: Array, known: Collection[str]) -> list[int]:
        """Return in which of the poses, shape (n, nq), shapes touch in contacts that are not known, by id."""
        return [] if self.detector is None else self.detector.touching(places, known)

    def transit(self, q: Array, v: Array, dt: float) -> float:
        """Return the least time in which a shape passes by one of its size that it may meet within dt, s; else inf."""
        pull = float(np.hypot(*self.gravity))
        return math.inf if self.detector is None else self.detector.transit(q, v, dt, pull)

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every constraint at (t, q, v), sorted by id; of the contacts of shapes those that are closed."""
        motion = Motion(self.layout, t, q, v)
        rows = tuple(row for contact in self.contacts for row in contact.rows(motion))
        if self.detector is None and not self.joints:
            return rows
        found = self._found
        if self.detector is not None and found is None:
            found = self._detected(q, v, 0.0)
        rows += tuple(row for contact in found or () for row in contact.rows(motion)) + self._linkage.rows(motion)
        return tuple(sorted(rows, key=lambda row: row.id))

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of gravity and springs, J; gravity is zero at the origin."""
        stored = -float(self._weight @ q)
        if self.forces:
            motion = Motion(self.layout, t, q, np.zeros(self.nv))
            stored += sum(force.potential(*self._linkage.asked(force, motion)) for force in self.forces)
        return stored

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of dampers, drags, loads, drives, the shaking and control, W."""
        motion = Motion(self.layout, t, q, v)
        power = sum((force.power(*self._linkage.asked(force, motion)) for force in self.forces), 0.0)
        return power if control is None else power + float(vector("control", control, self.nv) @ v)

    def coordinate(self, joint: str, q: Array, v: Array | None = None) -> Equation:
        """Return the angle of a hinge, full turns counted, or the travel of a slider at (q, v), with its rate.

        Raises
        ------
        InputError
            An unknown joint, or one without a coordinate.
        """
        self._linkage.check(self.layout, joint)
        return self._linkage.joints[joint].free(Motion(self.layout, 0.0, q, np.zeros(self.nv) if v is None else v))

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes in the pose q; see `drawables`."""
        motion = Motion(self.layout, 0.0, q, np.zeros(self.nv))
        return drawables(self.layout, self.contacts, self.forces, self.joints, self.obstacles, motion)

    def spec(self) -> dict[str, Any]:
        """Return plain data from which `from_spec` builds the same system."""
        spec: dict[str, Any] = {"kind": "PlanarSystem", "gravity": list(self.gravity)}
        for name in PARTS:
            spec[name] = as_data(getattr(self, name))
        return {**spec, "pairs": [[*names, as_data(law)] for names, law in self.pairs.items()]}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> PlanarSystem:
        """Build a system from what `spec` returned."""
        parts = {name: from_data(spec[name]) for name in PARTS if name in spec}
        pairs = {(a, b): from_data(law) for a, b, law in spec.get("pairs", ())}
        return cls(**parts, pairs=pairs, gravity=spec["gravity"])

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
        place, velocity : mapping of str to array_like, shape (2,) or (3,)
            (x, y) of a point or (x, y, angle) of a body, m and rad; their rates. Bodies left out are at the origin, or
            at rest; with `joints` or `rates` they are where joints put them.
        joints, rates : mapping of str to float
            Angle of a hinge or position of a slider, rad or m, and its rate. Joints left out are at 0, or where loops
            that are closed and limits put them, and do not move but where loops, gears and motors have them move.
        near : State
            Close to the state that is looked for: what is left out begins there. Loops often close in several ways.
        t : float
            s.

        Raises
        ------
        InputError
            An unknown name, a wrong shape, NaN; angles that limits or loops do not allow.
        """
        place, velocity = place or {}, velocity or {}
        state = State(q=self._gather("place", place), v=self._gather("velocity", velocity), t=t)
        if joints is None and rates is None and near is None:
            return state
        return state_of_joints(self._mechanism(), state, (*place, *velocity), joints or {}, rates or {}, near)

    def readings(self) -> Readings:
        """Return what its numbers are called in a run, and those of its joints: see `joints.columns`."""
        names, joints = [body.name for body in self.bodies], self._linkage.columns(self.layout, self.forces)
        sizes = {name: 2 if name in self.layout.points else 3 for name in names}

        def read(
            t: float, q: Array, v: Array, forces: Mapping[str, Array], angles: Mapping[str, float]
        ) -> list[float]:  # fmt: skip
            """Return the numbers of the joints at one state."""
            motion = Motion(self.layout, t, q, v)
            free = self._linkage.free_at(motion)
            return joints.values(lambda one: one.readings(motion), lambda one: one.along(free), forces, angles)

        return Readings(
            named_bodies(names, {name: PLACES[:size] for name, size in sizes.items()}),
            named_bodies(names, {name: RATES[:size] for name, size in sizes.items()}),
            joints.rows(), joints.more(), read,
        )  # fmt: skip

    def index(self, body: str, coordinate: str = "x") -> int:
        """Return where coordinate ``x``, ``y`` or ``angle`` of a body stands in q (and its rate in v).

        Raises
        ------
        InputError
            An unknown name.
        """
        if body not in self.layout.start:
            raise InputError("body", repr(body), *nearest(body, self.layout.start))
        names = ("x", "y") if body in self.layout.points else ("x", "y", "angle")
        if coordinate not in names:
            raise InputError(
                f"coordinate of {body}", repr(coordinate), ", ".join(names), one_of("coordinate", coordinate, names)
            )
        return self.layout.start[body] + names.index(coordinate)

    def _detected(self, q: Array, v: Array, dt: float, pull: float | None = None) -> tuple[Contact, ...]:
        """Return the contacts of shapes that may act within dt, less those that are given one by one.

        `pull` (m/s^2) is how fast speeds may change; that of gravity by default.
        """
        if self.detector is None:
            return ()
        given = {contact.id for contact in self.contacts}
        found = self.detector.near(q, v, dt, float(np.hypot(*self.gravity)) if pull is None else pull)
        return tuple(contact for contact in found if contact.id not in given)

    def _pose(self, q: Array, body: str) -> Pose:
        """Return place and rotation of a body or of the ground."""
        if body == GROUND:
            return np.zeros(2), np.eye(2)
        x, y, angle = q[self.layout.start[body] :][:3].tolist()
        c, s = math.cos(angle), math.sin(angle)
        return np.array([x, y]), np.array([[c, -s], [s, c]])

    def _mechanism(self) -> Mechanism:
        """Return what `state_of_joints` asks."""
        layout = self.layout
        sizes = {body.name: body.size for body in self.bodies}

        def pose_of(q: Array, body: str) -> Array:
            """Return x, y and angle; the angle of a point mass is 0."""
            return np.resize([*q[layout.start[body] :][: sizes[body]], 0.0], 3)

        return Mechanism(
            system=self, columns=self._linkage.columns(layout, self.forces), bodies=tuple(sizes), ground=GROUND_POSE,
            composed=composed, inverse=inverse, marker_pose=marker_pose, pose_of=pose_of,
            packed=lambda poses: np.concatenate([poses[name][:size] for name, size in sizes.items()]),
            motion=lambda state: Motion(layout, state.t, state.q, state.v),
            speeds_of=lambda body: slice(layout.start[body], layout.start[body] + sizes[body]),
        )  # fmt: skip

    def _gather(self, what: str, values: Mapping[str, ArrayLike]) -> Array:
        x = np.zeros(self.nq)
        for name, value in values.items():
            i = self.index(name)
            size = 2 if name in self.layout.points else 3
            x[i : i + size] = vector(f"{what} of {name}", value, size)
        return x
