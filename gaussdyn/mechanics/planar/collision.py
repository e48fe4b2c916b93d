"""Which contacts may act: shapes of bodies in the plane that come within reach of each other.

Every contact is a corner (with the skin of its shape as radius) against an edge, a `PlanarContact`, or against another
corner, a `PlanarDiscContact`. The id names the bodies and features, the one that the normal points into first:
``upper:c0/lower:e2``, corners and edges counted counter-clockwise as the shape has them; a disc and a half-plane have
one feature only, and go by their names. Ids and their order do not depend on the order in which bodies are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...errors import InputError
from ..borders import Border
from ..contact_law import ContactLaw
from ..names import GROUND, check_name, nearest
from .bodies import PlanarBody
from .borders import borders
from .clipping import Posed, Touch, closest, touches
from .contacts import HalfPlane, PlanarContact
from .disc_contact import PlanarDiscContact
from .kinematics import Layout
from .shapes import Outline
from .solids import Solid
from .vectors import Pair, rotated

SLACK = 1e-6  # of the smaller size: gaps that count as closed, and corners that count as coinciding
Pairs = Mapping[tuple[str, str], ContactLaw | None]
Contact = PlanarContact | PlanarDiscContact
Pose = tuple[float, float, float]


class Shapes:
    """All shapes at one state and a little later, each posed once.

    Attributes
    ----------
    solids : sequence of Solid
    poses, rates : sequence of (x, y, angle)
        Of their bodies, and the rates of these.
    """

    __slots__ = ("_now", "poses", "rates", "solids")

    def __init__(self, solids: Sequence[Solid], poses: Sequence[Pose], rates: Sequence[Pose]) -> None:
        self.solids, self.poses, self.rates = solids, poses, rates
        self._now: dict[int, Posed] = {}

    def posed(self, i: int, s: float) -> Posed:
        """Return a shape in space after s seconds."""
        if s == 0.0 and i in self._now:
            return self._now[i]
        x, y, angle = (p + s * r for p, r in zip(self.poses[i], self.rates[i], strict=True))
        shape = self.solids[i].core.moved((x, y), angle)  # type: ignore[union-attr]
        if s == 0.0:
            self._now[i] = shape
        return shape

    def touches(self, i: int, j: int, dt: float, reach: float) -> list[Touch]:
        """Return the pairs of features of two shapes within reach, in the pose in which they meet (or nearly do)."""
        a, b = self.solids[i], self.solids[j]
        if a.core is None or b.core is None:
            return self._on_plane(*((i, j) if a.core is None else (j, i)), i, dt, reach)
        tol = SLACK * min(a.size, b.size)
        now = self.posed(i, 0.0), self.posed(j, 0.0)
        first = closest(*now, tol)
        if first.gap > max(tol, reach):
            return []
        if dt > 0.0 and first.gap > tol:
            return touches(*self._meeting(i, j, dt, first.gap, tol), reach, tol)
        return touches(*now, reach, tol, first)

    def _meeting(self, i: int, j: int, dt: float, gap: float, tol: float) -> tuple[Posed, Posed]:
        """Return two shapes where they meet within dt, by linear interpolation of the gap; where they come closest."""
        late = self.posed(i, dt), self.posed(j, dt)
        closing = gap - closest(*late, tol).gap
        if closing > gap:
            s = dt * gap / closing
            return self.posed(i, s), self.posed(j, s)
        return late if closing > 0.0 else (self.posed(i, 0.0), self.posed(j, 0.0))

    def _on_plane(self, plane: int, solid: int, first: int, dt: float, reach: float) -> list[Touch]:
        """Return every corner of a shape within reach of a half-plane."""
        p, s = self.solids[plane], self.solids[solid]
        nx, ny = rotated(p.shape.normal, self.poses[plane][2])  # type: ignore[union-attr]
        px, py = _placed(p.middle, self.poses[plane])
        reach += dt * abs(self.rates[plane][2]) * math.dist((px, py), _placed(s.middle, self.poses[solid]))
        found = []
        for k, corner in enumerate(s.shape.corners):  # type: ignore[union-attr]
            x, y = _placed(corner, self.poses[solid])
            gap = nx * (x - px) + ny * (y - py) - s.skin
            if gap <= reach:
                found.append(Touch(gap, int(solid != first), k, 0))
        return found


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
    _known: dict[tuple[int, int, int, int], Contact] = field(default_factory=dict)
    _borders: dict[str, tuple[Border, ...]] = field(default_factory=dict)

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
        poses = [_pose(self.layout, solid.body, q) for solid in self.solids]
        rates = [_pose(self.layout, solid.body, v) for solid in self.solids]
        i, j = self.first, self.second
        sizes = np.array([solid.size for solid in self.solids])
        speeds = np.array([_speed(rate, solid) for rate, solid in zip(rates, self.solids, strict=True)])
        reach = dt * (speeds[i] + speeds[j]) + dt * dt * pull + SLACK * np.minimum(sizes[i], sizes[j])
        middles = np.array([_placed(s.middle, pose) for s, pose in zip(self.solids, poses, strict=True)])
        d = middles[i] - middles[j]
        shapes = Shapes(self.solids, poses, rates)
        found: list[Contact] = []
        for k in np.flatnonzero(np.hypot(d[:, 0], d[:, 1]) <= sizes[i] + sizes[j] + reach):
            first, second = int(i[k]), int(j[k])
            touching = shapes.touches(first, second, dt, float(reach[k]))
            found += [self._contact(int(k), touch) for touch in touching]
        return sorted(found, key=lambda contact: contact.id)

    def transit(self, v: Array) -> float:
        """Return the least time in which two shapes pass by the smaller of them, s; half-planes see every corner."""
        rates = [_pose(self.layout, solid.body, v) for solid in self.solids]
        sizes = np.array([solid.size for solid in self.solids])
        speeds = np.array([_speed(rate, solid) for rate, solid in zip(rates, self.solids, strict=True)])
        i, j = self.first, self.second
        sharp = np.isfinite(sizes[i] + sizes[j])
        quickest = float(((speeds[i] + speeds[j]) / np.minimum(sizes[i], sizes[j]))[sharp].max(initial=0.0))
        return 1.0 / quickest if quickest > 0.0 else math.inf

    def _contact(self, k: int, touch: Touch) -> Contact:
        """Return the contact of two features; each is made once."""
        key = (k, touch.side, touch.i, touch.j)
        if key not in self._known:
            a, b = self.solids[self.first[k]], self.solids[self.second[k]]
            made = self._known[key] = _made(a, b, touch, self.laws[k])
            self._borders[made.id] = borders(a, b, touch)
        return self._known[key]

    def borders(self, contact: str) -> tuple[Border, ...]:
        """Return where the features of a contact that has been found end."""
        return self._borders.get(contact, ())


def _solids(layout: Layout, obstacles: Sequence[Outline | HalfPlane]) -> list[Solid]:
    """Return every shape of the system; raise InputError if two have the same label."""
    bodies = [body for body in layout.bodies if isinstance(body, PlanarBody)]
    solids = [Solid.of(body.name, shape) for body in bodies for shape in body.shapes]
    for shape in obstacles:
        if not isinstance(shape, HalfPlane | Outline):
            raise InputError("obstacles", repr(shape), "HalfPlane, Disc, Stadium or Polygon")
        check_name("name of an obstacle", shape.name)
        solids.append(Solid.of(GROUND, shape))
    taken = set(layout.start)
    for solid in solids:
        if isinstance(solid.shape, HalfPlane):
            layout.check(solid.shape.marker)
        if solid.label in taken and solid.label != solid.body:
            raise InputError("obstacles", f"two things called {solid.label!r}", "different names")
        taken.add(solid.label)
    return solids


def _checked_pairs(solids: Sequence[Solid], law: ContactLaw, pairs: Pairs) -> dict[frozenset[str], ContactLaw | None]:
    """Return the laws by the names of both, in any order."""
    known = {name for solid in solids for name in (solid.label, solid.body)}
    given: dict[frozenset[str], ContactLaw | None] = {}
    for pair, one in pairs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError("pairs", repr(pair), "two names, e.g. ('ball', 'floor')")
        for name in pair:
            if name not in known:
                raise InputError("pairs", repr(name), *nearest(str(name), known))
        given[frozenset(pair)] = one
    for one in (law, *given.values()):
        if one is not None and not isinstance(one, ContactLaw):
            raise InputError("contact law", repr(one), "a ContactLaw (or None in pairs)")
        if one is not None and one.mu_r > 0.0:
            raise InputError("mu_r", one.mu_r, "0 in the plane")
    return given


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


def _placed(at: Pair, pose: Pose) -> Pair:
    x, y = rotated(at, pose[2])
    return pose[0] + x, pose[1] + y


def _speed(rate: Pose, solid: Solid) -> float:
    """Return the largest speed of a point of the shape, m/s; of a half-plane that of its given point."""
    arm = math.hypot(*solid.middle) + (solid.size if solid.core is not None else 0.0)
    return math.hypot(rate[0], rate[1]) + abs(rate[2]) * arm


def _made(a: Solid, b: Solid, touch: Touch, law: ContactLaw) -> Contact:
    """Return the contact of two features of two shapes."""
    if touch.side < 0:
        return PlanarDiscContact(
            a=a.corner(touch.i), b=b.corner(touch.j), radius_a=a.skin, radius_b=b.skin,
            mu=law.mu, mu_s=law.mu_s, eps_n=law.eps_n, eps_t=law.eps_t,
            name=f"{a.feature('c', touch.i)}/{b.feature('c', touch.j)}",
        )  # fmt: skip
    inner, outer = (a, b) if touch.side == 0 else (b, a)
    return PlanarContact(
        point=inner.corner(touch.i), plane=outer.edge(touch.j), radius=inner.skin,
        mu=law.mu, mu_s=law.mu_s, eps_n=law.eps_n, eps_t=law.eps_t,
        name=f"{inner.feature('c', touch.i)}/{outer.feature('e', touch.j)}",
    )  # fmt: skip
