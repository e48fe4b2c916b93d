"""Which contacts may act: shapes of bodies in the plane that come within reach of each other.

Every contact is a corner (with the skin of its shape as radius) against an edge, a `PlanarContact`, or against another
corner, a `PlanarDiscContact`. The id names the bodies and features, the one that the normal points into first:
``upper:c0/lower:e2``, corners and edges counted counter-clockwise as the shape has them; a disc and a half-plane have
one feature only, and go by their names. Ids and their order do not depend on the order in which bodies are given.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError
from ...mends import other_name
from ..borders import Border
from ..contact_law import ContactLaw
from ..names import GROUND, check_name, nearest
from .bodies import PlanarBody
from .borders import borders
from .contacts import HalfPlane, PlanarContact
from .disc_contact import PlanarDiscContact
from .kinematics import Layout
from .shapes import Outline
from .solids import Solid
from .vectors import rotated

if TYPE_CHECKING:
    from .search import Outlines

Pairs = Mapping[tuple[str, str], ContactLaw | None]
Contact = PlanarContact | PlanarDiscContact
Pose = tuple[float, float, float]
Label = tuple[int, int, int, int]  # pair, side, i, j: see `search`
ROOM = 32  # contacts that are looked for at first


@dataclass(frozen=True, slots=True, eq=False)
class Detector:
    """All pairs of shapes of a system that may touch, and how they do.

    Attributes
    ----------
    solids : tuple of Solid
        Sorted by label.
    first, second : Array
        The pairs, as indices into `solids`.
    laws : tuple of ContactLaw
        One for each pair.
    """

    layout: Layout
    solids: tuple[Solid, ...]
    first: Array
    second: Array
    laws: tuple[ContactLaw, ...]
    _known: dict[Label, Contact] = field(default_factory=dict)
    _borders: dict[str, tuple[Border, ...]] = field(default_factory=dict)
    _outlines: list[Outlines] = field(default_factory=list)

    __repr__ = brief

    @classmethod
    def of(
        cls,
        layout: Layout,
        obstacles: Sequence[Outline | HalfPlane],
        law: ContactLaw,
        pairs: Pairs,
        joined: Iterable[tuple[str, str]],
    ) -> Detector:
        """List the pairs that may touch: not two of one body or of the ground, nor bodies that a joint holds together.

        Parameters
        ----------
        law : ContactLaw
            Of every pair that `pairs` does not name.
        pairs : mapping of (str, str) to ContactLaw or None
            By the names of bodies or shapes; None: they do not touch.

        Raises
        ------
        InputError
            A name that is unknown or used twice, rolling resistance in the plane.
        """
        solids = sorted(_solids(layout, obstacles), key=lambda solid: solid.label)
        given = _checked_pairs(solids, law, pairs)
        apart = {frozenset(pair) for pair in joined}
        first, second, laws = [], [], []
        for i, a in enumerate(solids):
            for j, b in enumerate(solids[i + 1 :], i + 1):
                if a.body == b.body or (a.core is None and b.core is None):
                    continue
                one = _between(a, b, given, None if frozenset((a.body, b.body)) in apart else law)
                if one is not None:
                    first.append(i)
                    second.append(j)
                    laws.append(one)
        return cls(layout, tuple(solids), np.array(first, dtype=int), np.array(second, dtype=int), tuple(laws))

    def near(self, q: Array, v: Array, dt: float, pull: float = 0.0) -> list[Contact]:
        """Return the contacts that may act within dt (s), sorted by id; `pull` is how fast speeds may change, m/s^2."""
        return sorted((self.contact(label) for label in self._touching(q, v, dt, pull)), key=lambda found: found.id)

    def _touching(self, q: Array, v: Array, dt: float, pull: float) -> list[Label]:
        """Return the labels of these contacts."""
        from .search import find_touches

        outlines = self._held()
        q, v, room = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64), ROOM  # ours, in one piece
        while True:
            found: IntArray = np.zeros((room, 4), dtype=np.int64)
            count = int(find_touches(outlines, q, v, dt, pull, found))
            if count <= room:
                return [(p, side, i, j) for p, side, i, j in found[:count].tolist()]
            room = count

    def distances(self, q: Array, reach: float) -> dict[tuple[str, str], float]:
        """Return the signed distances up to `reach` (m) of all pairs, by their labels, sorted."""
        from .distances import find_distances

        found = np.empty(len(self.laws))
        find_distances(self._held(), np.array(q, dtype=np.float64), np.zeros(len(q)), reach, found)
        near = np.flatnonzero(np.isfinite(found)).tolist()
        return {(self.solids[self.first[k]].label, self.solids[self.second[k]].label): found.item(k) for k in near}

    def _held(self) -> Any:
        """Return the shapes for kernels that are called from Python, with work space of their own."""
        from ..._jit import Held
        from .search import with_room

        if not self._outlines:
            self._outlines.append(self.outlines())
        return Held(with_room(self._outlines[0]))

    def outlines(self, off: Sequence[Label] = ()) -> Outlines:
        """Return the shapes for kernels, with contacts that these leave out."""
        from .search import outlines_of

        start = self.layout.start
        shapes = [
            (solid.table, start.get(solid.body, -1), solid.core is None, solid.numbers) for solid in self.solids
        ]  # fmt: skip
        return outlines_of(shapes, np.stack([self.first, self.second], axis=1), np.array(off, np.int64).reshape(-1, 4))

    def labels(self, ids: Collection[str]) -> list[Label]:
        """Return the labels of those contacts that are called as told."""
        found = []
        for k, (i, j) in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True) if ids else ()):
            found += [(k, *touch) for touch in _touches(self.solids[i], self.solids[j])]
        return [label for label in found if _made(*self._pair(label), *label[1:], self.laws[label[0]]).id in ids]

    def touching(self, places: Array, known: Collection[str]) -> list[int]:
        """Return in which of the poses, shape (n, nq), shapes touch in contacts that are not known, by id."""
        from .search import find_touches

        outlines, still = self._held(), np.zeros(places.shape[1])
        found: IntArray = np.zeros((ROOM, 4), dtype=np.int64)
        touching = []
        for k, q in enumerate(places):
            count = int(find_touches(outlines, q, still, 0.0, 0.0, found))
            labels = cast("list[Label]", map(tuple, found[:count].tolist()))
            if count > ROOM or not all(self.contact(label).id in known for label in labels):
                touching.append(k)
        return touching

    def transit(self, q: Array, v: Array, dt: float, pull: float) -> float:
        """Return the least time in which two shapes that may meet within dt pass by the smaller of them, s.

        Half-planes see every corner.
        """
        poses, rates = ([_pose(self.layout, solid.body, x) for solid in self.solids] for x in (q, v))
        sizes = np.array([solid.size for solid in self.solids])
        speeds = np.array([_speed(rate, solid) for rate, solid in zip(rates, self.solids, strict=True)])
        middles = np.array([_moved(solid.middle, pose) for pose, solid in zip(poses, self.solids, strict=True)])
        i, j = self.first, self.second
        reach = sizes[i] + sizes[j] + dt * (speeds[i] + speeds[j]) + dt * dt * pull
        near = np.isfinite(reach) & (np.hypot(*(middles[i] - middles[j]).T) <= reach)
        quickest = float(((speeds[i] + speeds[j]) / np.minimum(sizes[i], sizes[j]))[near].max(initial=0.0))
        return 1.0 / quickest if quickest > 0.0 else math.inf

    def contact(self, label: Label) -> Contact:
        """Return the contact of two features; each is made once."""
        if label not in self._known:
            a, b = self._pair(label)
            made = self._known[label] = _made(a, b, *label[1:], self.laws[label[0]])
            self._borders[made.id] = borders(a, b, *label[1:])
        return self._known[label]

    def _pair(self, label: Label) -> tuple[Solid, Solid]:
        return self.solids[self.first[label[0]]], self.solids[self.second[label[0]]]

    def borders(self, contact: str) -> tuple[Border, ...]:
        """Return where the features of a contact that has been found end."""
        return self._borders.get(contact, ())


def _solids(layout: Layout, obstacles: Sequence[Outline | HalfPlane]) -> list[Solid]:
    """Return every shape of the system; raise InputError if two have the same label."""
    bodies = [body for body in layout.bodies if isinstance(body, PlanarBody)]
    solids = [Solid.of(body.name, shape) for body in bodies for shape in body.shapes]
    for shape in obstacles:
        if not isinstance(shape, HalfPlane | Outline):
            raise InputError(
                "obstacles",
                repr(shape),
                "HalfPlane, Disc, Stadium or Polygon",
                'Write obstacles=[HalfPlane(name="floor")].',
            )
        check_name("name of an obstacle", shape.name)
        solids.append(Solid.of(GROUND, shape))
    taken = set(layout.start)
    for solid in solids:
        if isinstance(solid.shape, HalfPlane):
            layout.check(solid.shape.marker)
        if solid.label in taken and solid.label != solid.body:
            raise InputError(
                "obstacles", f"two things called {solid.label!r}", "different names", other_name(solid.label)
            )
        taken.add(solid.label)
    return solids


def _checked_pairs(solids: Sequence[Solid], law: ContactLaw, pairs: Pairs) -> dict[frozenset[str], ContactLaw | None]:
    """Return the laws by the names of both, in any order."""
    known = {name for solid in solids for name in (solid.label, solid.body)}
    given: dict[frozenset[str], ContactLaw | None] = {}
    for pair, one in pairs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(
                "pairs",
                repr(pair),
                "two names, e.g. ('ball', 'floor')",
                "Write pairs={('ball', 'floor'): ContactLaw(mu=0.5)}.",
            )
        for name in pair:
            if name not in known:
                raise InputError("pairs", repr(name), *nearest(str(name), known))
        given[frozenset(pair)] = one
    for one in (law, *given.values()):
        if one is not None:
            _check_law(one)
    return given


def _check_law(law: ContactLaw) -> None:
    if not isinstance(law, ContactLaw):
        raise InputError(
            "contact law", repr(law), "a ContactLaw (or None in pairs)", "Write contact=ContactLaw(mu=0.5)."
        )
    for key in ("mu_r", "mu_t"):
        if getattr(law, key) > 0.0:
            raise InputError(key, getattr(law, key), "0 in the plane", f"Write {key}=0.")


def _between(
    a: Solid, b: Solid, given: Mapping[frozenset[str], ContactLaw | None], law: ContactLaw | None
) -> ContactLaw | None:
    """Return the law of a pair: that of the two shapes, of a shape and a body, of the bodies, or the general one."""
    for names in ((a.label, b.label), (a.label, b.body), (a.body, b.label), (a.body, b.body)):
        if frozenset(names) in given:
            return given[frozenset(names)]
    return law


def _pose(layout: Layout, body: str, x: Array) -> Pose:
    """Return (x, y, angle) of a body, or of its velocity; the ground is at the origin."""
    if body == GROUND:
        return (0.0, 0.0, 0.0)
    i = layout.start[body]
    return (float(x[i]), float(x[i + 1]), float(x[i + 2]))


def _moved(point: tuple[float, float], pose: Pose) -> tuple[float, float]:
    """Return where a point of a body is in its pose."""
    x, y = rotated(point, pose[2])
    return pose[0] + x, pose[1] + y


def _speed(rate: Pose, solid: Solid) -> float:
    """Return the largest speed of a point of the shape, m/s; of a half-plane that of its given point."""
    arm = math.hypot(*solid.middle) + (solid.size if solid.core is not None else 0.0)
    return math.hypot(rate[0], rate[1]) + abs(rate[2]) * arm


def _touches(a: Solid, b: Solid) -> Iterator[tuple[int, int, int]]:
    """Yield all that two shapes may touch in, as (side, i, j)."""
    (corners_a, edges_a), (corners_b, edges_b) = a.features, b.features
    yield from product((0,), range(corners_a), range(edges_b))
    yield from product((1,), range(corners_b), range(edges_a))
    yield from product((-1,), range(corners_a), range(corners_b))


def _made(a: Solid, b: Solid, side: int, i: int, j: int, law: ContactLaw) -> Contact:
    """Return the contact of two features of two shapes, see `clipping`."""
    if side < 0:
        return PlanarDiscContact(
            a=a.corner(i), b=b.corner(j), radius_a=a.skin, radius_b=b.skin,
            mu=law.mu, mu_s=law.mu_s, eps_n=law.eps_n, eps_t=law.eps_t,
            name=f"{a.feature('c', i)}/{b.feature('c', j)}",
        )  # fmt: skip
    inner, outer = (a, b) if side == 0 else (b, a)
    return PlanarContact(
        point=inner.corner(i), plane=outer.edge(j), radius=inner.skin,
        mu=law.mu, mu_s=law.mu_s, eps_n=law.eps_n, eps_t=law.eps_t,
        name=f"{inner.feature('c', i)}/{outer.feature('e', j)}",
    )  # fmt: skip
