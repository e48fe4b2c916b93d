"""Which bodies of a system in space may touch, under which law, and the contacts found at a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..linalg.rotations import matrix_of
from .collision import Shapes
from .contact_law import ContactLaw
from .features import Feature
from .planar_vectors import GROUND, nearest
from .rows import Row
from .spatial_motion import Motions, SpatialLayout
from .spatial_shapes import HalfSpace, Shape

Pair = tuple[str, str]
Pairs = Mapping[Pair, ContactLaw | None]
Obstacle = HalfSpace | Shape
SLACK = 1e-6  # of a body's size: rounding and what a step's curvature leaves of a closed gap


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """Shapes, laws, and, once `near` has looked for them, the contacts.

    Attributes
    ----------
    shapes : Shapes
    radii : Array, shape (n,)
        Of the balls about the mass centres that hold the bodies, m.
    default : ContactLaw
    laws : dict
        Laws of sorted pairs of names of bodies, shapes or obstacles.
    features : tuple of Feature or None
        None until they are frozen.
    """

    shapes: Shapes
    radii: Array
    default: ContactLaw
    laws: dict[Pair, ContactLaw]
    features: tuple[Feature, ...] | None = None

    @staticmethod
    def of(
        layout: SpatialLayout,
        obstacles: Sequence[Obstacle],
        default: ContactLaw,
        pairs: Pairs,
        joined: frozenset[Pair],
    ) -> Contacts:
        """Gather the shapes and the laws of a system.

        Raises
        ------
        InputError
            Names used twice or unknown, something that is not a law, pairs named twice.
        """
        if not isinstance(default, ContactLaw):
            raise InputError("contact", repr(default), "a ContactLaw", "Write ContactLaw(mu=0.5).")
        bodies = {body.name: body.shapes for body in layout.bodies}
        known = _names(bodies, obstacles)
        named: dict[Pair, ContactLaw | None] = {}
        for names, law in pairs.items():
            pair = _checked(names, law, known)
            if pair in named:
                raise InputError("pairs", f"{pair} twice", "every pair once, in either order")
            named[pair] = law
        off = {pair for pair, law in named.items() if law is None} | (joined - set(named))
        off = {pair for pair in off if GROUND not in pair}
        shapes = Shapes.of(bodies, obstacles, sorted(off | _joined_to_ground(joined, named, obstacles)))
        laws = {pair: law for pair, law in named.items() if law is not None}
        return Contacts(shapes, np.array([body.radius for body in layout.bodies]), default, laws)

    @property
    def frozen(self) -> bool:
        """Whether the contacts have been found, or there are no shapes to find any."""
        return self.features is not None or len(self.shapes.labels) < 2

    def near(self, q: Array, v: Array, dt: float, reach: float) -> Contacts:
        """Return these with the contacts that may close within dt, or are open by `reach` (m) at most.

        An impact within dt may hand the speed of the fastest body on to any other, and double it.
        """
        Q, V = q.reshape(-1, 7), v.reshape(-1, 6)
        turns = np.stack([matrix_of(turn) for turn in Q[:, 3:]])
        speed = np.sqrt((V[:, :3] ** 2).sum(axis=1)) + self.radii * np.sqrt((V[:, 3:] ** 2).sum(axis=1))
        reach += 2.0 * dt * float(speed.max())
        found = self.shapes.find(np.ascontiguousarray(Q[:, :3]), turns, reach, SLACK * self.radii)
        return replace(self, features=found)

    def law(self, feature: Feature) -> ContactLaw:
        """Return the law of a contact: of its shapes, else of its bodies, else the default."""
        for a, b in (feature.shapes, feature.bodies):
            found = self.laws.get((a, b) if a <= b else (b, a))
            if found is not None:
                return found
        return self.default

    def rows(self, motion: Motions) -> list[Row]:
        """Return the rows of all contacts found."""
        return [
            feature.row(motion.body(feature.bodies[0]), motion.body(feature.bodies[1]), self.law(feature))
            for feature in self.features or ()
        ]


def _names(bodies: Mapping[str, Sequence[Shape]], obstacles: Sequence[Obstacle]) -> set[str]:
    shapes = {f"{body}.{shape.name}" for body, found in bodies.items() for shape in found if shape.name}
    return {*bodies, *shapes, *(_label(obstacle) for obstacle in obstacles)}


def _label(obstacle: Obstacle) -> str:
    if not isinstance(obstacle, Obstacle):
        raise InputError("obstacles", repr(obstacle), "HalfSpace, Sphere, Capsule or Box")
    if isinstance(obstacle, HalfSpace) and obstacle.body != GROUND:
        return f"{obstacle.body}.{obstacle.name}"
    return obstacle.name


def _checked(names: object, law: object, known: set[str]) -> Pair:
    """Return a pair of known names, sorted."""
    if not isinstance(names, tuple) or len(names) != 2 or names[0] == names[1]:
        raise InputError("pairs", repr(names), "a tuple of two different names", 'Write {("a", "b"): ContactLaw(...)}.')
    if law is not None and not isinstance(law, ContactLaw):
        raise InputError(f"law of {names}", repr(law), "a ContactLaw or None")
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
