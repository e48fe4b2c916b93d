"""Which bodies of a system in space may touch, under which law, and the contacts found at a state."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError
from ..collision.body_motions import BodyMotions
from ..collision.distances.pair_distances import PairDistances
from ..collision.features import BALL_BALL, WIDTH, Feature, Found
from ..collision.search import Shapes
from ..collision.shapes import SHAPES, HalfSpace, Shape
from ..collision.terrain.surfaces import Surface
from ..contact_law import ContactLaw
from ..names import GROUND, nearest
from ..placed_contacts import Listed, Placed
from ..rows import Row
from .kinematics import bodies_at
from .sizes import warn_of_units

if TYPE_CHECKING:
    from .contact_places import Ways

Pair = tuple[str, str]
Pairs = Mapping[Pair, ContactLaw | None]
Obstacle = HalfSpace | Shape | Surface
CLOSED = 1e-9  # m; a contact that is open by no more counts as closed, see `contact.snapshot.Activation`
AHEAD = 2.0  # times the way at the speed of now: so far a body may come in a step
SLACK = 1e-6  # of a body's size: rounding and what a step's curvature leaves of a closed gap


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """Shapes, laws, and, once `near` has looked for them, the contacts.

    Attributes
    ----------
    shapes : Shapes
    radii : Array, shape (n,)
        Of the balls about the origins of their frames that hold the bodies, m.
    default : ContactLaw
    laws : dict
        Laws of sorted pairs of names of bodies, shapes or obstacles.
    found : Found or None
        The contacts; None until they are frozen.
    blanks : tuple of Row
        The same as rows without what depends on the state.
    numbers : dict of str to int
        Which of them has an id.
    known : dict
        Every such row made so far, by its label.
    charts : mapping of str to int
        Of contacts, by id, whose tangents stay in one chart whatever their normals do, see `charts`.
    """

    shapes: Shapes
    radii: Array
    default: ContactLaw
    laws: dict[Pair, ContactLaw]
    found: Found | None = None
    blanks: tuple[Row, ...] = ()
    numbers: dict[str, int] = field(init=False)
    known: dict[tuple[int, ...], Row] = field(default_factory=dict)
    charts: Mapping[str, int] = field(default_factory=dict)
    _distances: list[PairDistances] = field(default_factory=list)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", {blank.id: k for k, blank in enumerate(self.blanks)})

    @staticmethod
    def of(
        bodies: Mapping[str, Sequence[Shape]],
        radii: Array,
        obstacles: Sequence[Obstacle],
        default: ContactLaw,
        pairs: Pairs,
        joined: frozenset[Pair],
    ) -> Contacts:
        """Gather the shapes and the laws of a system.

        Parameters
        ----------
        bodies : mapping of str to sequence of Shape
            In the order of the system.
        radii : Array, shape (n,)
            Of the balls about the origins of their frames that hold the bodies, m.
        obstacles, default, pairs
            See `SpatialSystem`.
        joined : frozenset of pairs of str
            What does not touch, unless it is in `pairs`: sorted names.

        Raises
        ------
        InputError
            Names used twice or unknown, something that is not a law, pairs named twice.
        """
        if not isinstance(default, ContactLaw):
            raise InputError("contact", repr(default), "a ContactLaw", "Write ContactLaw(mu=0.5).")
        known = _names(bodies, obstacles)
        warn_of_units(tuple(bodies), radii, obstacles)
        named: dict[Pair, ContactLaw | None] = {}
        for names, law in pairs.items():
            pair = _checked(names, law, known)
            if pair in named:
                raise InputError(
                    "pairs",
                    f"{pair} twice",
                    "every pair once, in either order",
                    f"Write pairs={{{tuple(pair)!r}: ContactLaw(mu=0.5)}}.",
                )
            named[pair] = law
        off = {pair for pair, law in named.items() if law is None} | (joined - set(named))
        off = {pair for pair in off if GROUND not in pair}
        never = sorted(off | _joined_to_ground(joined, named, obstacles))
        shapes = Shapes.of(bodies, obstacles, never, {name for pair in named for name in pair})
        laws = {pair: law for pair, law in named.items() if law is not None}
        return Contacts(shapes, radii, default, laws)

    @property
    def frozen(self) -> bool:
        """Whether the contacts have been found, or there are no shapes to find any."""
        return self.found is not None or len(self.shapes.labels) < 2

    def near(self, q: Array, v: Array, dt: float, reach: float, ahead: Array) -> Contacts:
        """Return these with the contacts that may close within dt, or are open by `reach` (m) at most.

        Every body comes as far as at its own speed. An impact within dt may hand on more than that: who takes a step
        looks for overlaps at its end, and takes it again with the contacts that were overlooked. A corner that is
        beside a face has no contact with it before it is above: so the pose `ahead`, where the bodies come to without
        forces, is searched too. Of what is found only there, contacts are left out that are closed now: their
        bodies are beside each other, and meet in other contacts.
        """
        way = dt * self.speeds(v)
        return self.among(bodies_at(q, v), bodies_at(ahead, v) if way.max() > 0.0 else None, reach, way)

    @property
    def travel(self) -> Array:
        """How far every body may be off before contacts are missed, m, shape (n,)."""
        return np.maximum(SLACK * self.radii, CLOSED)

    @property
    def reach(self) -> dict[str, float]:
        """The gaps up to which contacts are listed where nothing moves, m, by id."""
        if self.found is None:
            return {}
        travel = np.append(self.travel, 0.0)[self.found.bodies].sum(axis=1)  # the ground comes last
        return {blank.id: far for blank, far in zip(self.blanks, travel.tolist(), strict=True)}

    def beside(self, rows: Sequence[Row]) -> frozenset[str]:
        """Return the ids of the contacts whose gaps in `rows` are within their `reach`: nothing is searched for."""
        reach = self.reach
        return frozenset(row.id for row in rows if row.gap <= reach.get(row.id, -math.inf))

    def among(
        self, bodies: BodyMotions, ahead: BodyMotions | None, reach: float, way: Array | float = 0.0
    ) -> Contacts:  # fmt: skip
        """Return these with the contacts of bodies that are open by `reach` (m) at most, here or where they come to.

        way: how much farther each body reaches, shape (n,), m.
        """
        travel = self.travel + way
        found = self.shapes.look(bodies.x, bodies.R, reach, travel)
        if ahead is not None:
            found = self._joined(found, self.shapes.look(ahead.x, ahead.R, reach, travel), bodies)
        return replace(self, found=found, blanks=tuple(self._blanks(found)))

    def touching(self, x: Array, R: Array, known: Collection[str]) -> list[int]:
        """Return in which of n poses, shapes (n, b, 3) and (n, b, 3, 3), shapes touch in contacts that are not known.

        known: ids.
        """
        space, travel, touching = self.shapes.buffers(), self.travel, []
        for k in range(len(x)):
            count = self.shapes.search(x[k], R[k], 0.0, travel, space)
            labels = map(tuple, space.answer.label[:count].tolist())
            if not all(label in self.known and self.known[label].id in known for label in labels):
                touching.append(k)
        return touching

    def distances(self, bodies: BodyMotions, reach: float) -> dict[Pair, float]:
        """Return the signed distances up to `reach` (m) of the pairs of shapes that may touch, by their labels."""
        if not self._distances:
            self._distances.append(PairDistances.of(self.shapes))
        return self._distances[0].at(bodies, reach)

    def taking(self, ids: Collection[str], other: Contacts) -> Contacts:
        """Return these with the contacts that are named, of their own and of others found for the same shapes."""
        both = [
            (one.found.taken([k]), blank.id) for one in (other, self) if one.found for k, blank in enumerate(one.blanks)
        ]
        chosen = {key: one for one, key in both if key in ids}
        if not chosen or self.found is None:
            return replace(self, found=self.found and self.found.taken(slice(0)), blanks=())
        found = Found._make(
            np.concatenate(parts) for parts in zip(*(chosen[key] for key in sorted(chosen)), strict=True)
        )
        charts = {**other.charts, **self.charts}
        return replace(self, found=found, blanks=tuple(self._blanks(found)), charts=charts)

    def pinned(self) -> Contacts:
        """Return these with points over rims that stay on their edges, see `Found.pinned`."""
        return replace(self, found=self.found and self.found.pinned())

    def speeds(self, v: Array) -> Array:
        """Return the largest speed of a point of every body, shape (n,), or (m, n) for m states, m/s."""
        V = v.reshape(*v.shape[:-1], -1, 6)
        found: Array = np.sqrt((V[..., :3] ** 2).sum(axis=-1)) + self.radii * np.sqrt((V[..., 3:] ** 2).sum(axis=-1))
        return found

    def placed(
        self, labels: IntArray, x: Array, R: Array, reach: Array, way: Array,
        late: Sequence[tuple[int, tuple[Array, Array]]] = (),
    ) -> Placed:  # fmt: skip
        """Return contacts, by their labels, at the ends of steps that look for them as `near` does.

        Parameters
        ----------
        labels : IntArray, shape (f, 4)
            See `Found`.
        x, R : Array, shapes (n, 4, b, 3) and (n, 4, b, 3, 3)
            Poses of the bodies, the ground last: at the starts, where they come to without forces, at the ends, and
            where impulses act.
        reach : Array, shape (n,)
            How far open contacts may be, m.
        way : Array, shape (n, b - 1)
            How much farther each body reaches, m.
        late : sequence of (int, (Array, Array))
            Numbers of steps, and such poses around each (n = 1), where contacts are found that are found nowhere else.
        """
        from .contact_places import Ways

        n, f = len(reach), len(labels)
        point, frame = np.full((n, f, 3), np.nan), np.full((n, f, 3, 3), np.nan)
        if f:
            self._place(labels, Ways(x, R, reach, self.travel + way), point, frame)
        for k, poses in late if f else ():
            one = slice(k, k + 1)
            self._place(labels, Ways(*poses, np.zeros(1), self.travel[None]), point[one], frame[one])
        return Placed(tuple(map(self._blank, map(tuple, labels.tolist()))), point, frame)

    def listed(self, x: Array, R: Array, reach: Array, way: Array, moving: Array) -> Listed:
        """Return the contacts that `near` lists, at the ends of steps; x, R, reach and way as in `placed`.

        moving : Array, shape (n,)
            Where this is 0 nothing is looked for ahead.
        """
        from ..._jit import Held
        from ..collision.bounds.search_records import ContactList
        from .contact_places import Lines, Looking, Ways, contact_lines

        n, step, space = len(reach), 0, self.shapes.buffers()
        ways: Any = Held(Ways(x, R, reach, self.travel + way))
        label, ends = np.zeros((0, 4), dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
        gap, point, frame, along = (np.zeros((0, *more)) for more in ((), (3,), (3, 3), (3, 3)))
        while step < n:
            more = len(gap) + 8 * n + space.room
            label = _longer(label, more)
            gap, point, frame, along = (_longer(one, more) for one in (gap, point, frame, along))
            found: Any = ContactList(*space.answer)
            work = space.space.value, found, np.zeros(7), np.zeros(3), np.zeros((6, 3))
            looking: Any = Held(Looking(space.shapes.value, *work))
            lines: Any = Held(Lines(label, gap, point, frame, along, ends, np.array([CLOSED])))
            step = int(contact_lines(looking, ways, lines, moving, step))
            if step < n:
                space.reserve(2 * space.room)
        gap, point, frame, along = (one[: ends[-1]] for one in (gap, point, frame, along))
        known, found_as = np.unique(label[: ends[-1]], axis=0, return_inverse=True)
        which: IntArray = found_as.ravel()
        rows = tuple(map(self._blank, map(tuple, known.tolist())))
        rank = np.argsort(np.argsort([row.id for row in rows])) if rows else np.zeros(0, dtype=np.int64)
        order = np.lexsort((rank[which], np.repeat(np.arange(n), np.diff(ends))))
        return Listed(rows, ends, which[order], gap[order], point[order], frame[order], along[order])

    def _place(self, labels: IntArray, around: Ways, point: Array, frame: Array) -> None:
        """Fill in where contacts are, see `contact_places`."""
        from ..._jit import Held
        from ..collision.bounds.search_records import ContactList
        from .contact_places import Looking, contact_places

        ways: Any = Held(around)
        space, step = self.shapes.buffers(), 0
        while step < len(point):
            more = np.zeros(7), np.zeros(3), np.zeros((6, 3))
            found: Any = ContactList(*space.answer)
            looking: Any = Held(Looking(space.shapes.value, space.space.value, found, *more))
            step = int(contact_places(looking, ways, np.ascontiguousarray(labels), point, frame, step))
            if step < len(point):
                space.reserve(2 * space.room)

    def pace(self, q: Array, v: Array, dt: float) -> float:
        """Return how fast bodies pass by others that they may come to within dt, in their own sizes per s."""
        x, r, speed = q.reshape(-1, 7)[:, :3], self.radii, self.speeds(v)
        apart, way = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2)) - (r[:, None] + r), AHEAD * dt * speed
        i, j = np.nonzero(np.triu(apart <= way[:, None] + way, 1))
        pairs = [*zip(i.tolist(), j.tolist(), strict=True), *((k, -1) for k in range(len(r)))]
        near = [k for a, b in pairs if self.shapes.may_pass(a, b) for k in (a, b) if k >= 0 and r[k] > 0.0]
        return max((float(speed[k] / r[k]) for k in near), default=0.0)

    def law(self, feature: Feature) -> ContactLaw:
        """Return the law of a contact: of its shapes, else of a shape and a body, else of its bodies, else the default.

        An obstacle is a shape: its body is the ground.
        """
        first, second = zip(feature.shapes, feature.bodies, strict=True)
        for a, b in product(first, second):
            found = self.laws.get((a, b) if a <= b else (b, a))
            if found is not None:
                return found
        return self.default

    def laws_by_kind(self) -> tuple[IntArray, list[list[ContactLaw]]]:
        """Return the kind of every shape, shape (s,), and the laws of all pairs of kinds.

        Shapes that no law names, nor their bodies, are of one kind.
        """
        labels, numbers = self.shapes.labels, self.shapes.arrays.table[:, 1].tolist()
        bodies = [self.shapes.bodies[k] if k >= 0 else GROUND for k in numbers]
        named = {name for pair in self.laws for name in pair}
        own = [k for k, (label, body) in enumerate(zip(labels, bodies, strict=True)) if label in named or body in named]
        kind = np.zeros(len(labels), dtype=np.int64)
        kind[own] = np.arange(1, len(own) + 1)
        table = [[self.default] * (len(own) + 1) for _ in range(len(own) + 1)]
        for i, j in product(own, own):
            pair, shapes = (bodies[i], bodies[j]), (labels[i], labels[j])
            feature = Feature(id="", kind=1, bodies=pair, data=np.zeros(WIDTH), shapes=shapes)
            table[kind[i]][kind[j]] = self.law(feature)
        return kind, table

    def rows(self, q: Array, v: Array) -> list[Row]:
        """Return the rows of all contacts found."""
        if not self.found or not self.blanks:
            return []
        return self.found.rows(self.blanks, bodies_at(q, v), len(v), self.charts)

    def _joined(self, found: Found, later: Found, bodies: BodyMotions) -> Found:
        """Return the contacts found now, and those found later only that are not closed now, in the order of ids."""
        seen, gaps = set(map(tuple, found.label.tolist())), later.gaps(bodies).tolist()
        new = [k for k, label in enumerate(later.label.tolist()) if tuple(label) not in seen and gaps[k] >= -CLOSED]
        if not new:
            return found
        both = Found._make(np.concatenate(parts) for parts in zip(found, later.taken(new), strict=True))
        ids = [blank.id for blank in self._blanks(both)]
        return both.taken(sorted(range(len(ids)), key=ids.__getitem__))

    def _blanks(self, found: Found) -> list[Row]:
        """Return contacts without what depends on the state; each is made once."""
        blanks = []
        for k, label in enumerate(map(tuple, found.label.tolist())):
            if label not in self.known:
                self._enter(label, self.shapes.feature(*(part[k] for part in found)))
            blanks.append(self.known[label])
        return blanks

    def _blank(self, label: tuple[int, ...]) -> Row:
        """Return the same of one contact, by its label alone."""
        if label not in self.known:
            bodies = self.shapes.arrays.table[[label[0], label[2]], 1].tolist()
            self._enter(label, self.shapes.feature(BALL_BALL, bodies, label, np.zeros(WIDTH)))
        return self.known[label]

    def _enter(self, label: tuple[int, ...], feature: Feature) -> None:
        """Enter a contact among those known."""
        self.known[label] = feature.blank(self.law(feature))


def _longer(x: Any, n: int) -> Any:
    """Return an array that goes on with zeros, n more entries."""
    return np.concatenate([x, np.zeros((n, *x.shape[1:]), x.dtype)])


def _names(bodies: Mapping[str, Sequence[Shape]], obstacles: Sequence[Obstacle]) -> set[str]:
    shapes = {f"{body}.{shape.name}" for body, found in bodies.items() for shape in found if shape.name}
    return {*bodies, *shapes, *(_label(obstacle) for obstacle in obstacles)}


def _label(obstacle: Obstacle) -> str:
    if not isinstance(obstacle, Obstacle):
        raise InputError(
            "obstacles",
            repr(obstacle),
            f"HalfSpace, Mesh, HeightField, Compound, {SHAPES}",
            'Write obstacles=[HalfSpace(name="floor")].',
        )
    if isinstance(obstacle, HalfSpace) and obstacle.body != GROUND:
        return f"{obstacle.body}.{obstacle.name}"
    return obstacle.name


def _checked(names: object, law: object, known: set[str]) -> Pair:
    """Return a pair of known names, sorted."""
    if not isinstance(names, tuple) or len(names) != 2 or names[0] == names[1]:
        raise InputError("pairs", repr(names), "a tuple of two different names", 'Write {("a", "b"): ContactLaw(...)}.')
    if law is not None and not isinstance(law, ContactLaw):
        raise InputError(
            f"law of {names}", repr(law), "a ContactLaw or None", "Write ContactLaw(mu=0.5), or None for no contact."
        )
    for name in names:
        if name not in known:
            raise InputError("name in pairs", repr(name), *nearest(str(name), known))
    return min(names), max(names)


def _joined_to_ground(joined: frozenset[Pair], named: Pairs, obstacles: Sequence[Obstacle]) -> set[Pair]:
    """Return the pairs of a body joined to the ground and an obstacle fixed there."""
    fixed = [_label(obstacle) for obstacle in obstacles if "." not in _label(obstacle)]
    bodies = [body for pair in joined if GROUND in pair for body in pair if body != GROUND]
    pairs = {(min(body, name), max(body, name)) for body in bodies for name in fixed}
    return {pair for pair in pairs if pair not in named}
