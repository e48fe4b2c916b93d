"""Shapes on bodies in the plane, as the search for contacts sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ..names import GROUND
from .bodies import Marker
from .contacts import HalfPlane
from .shapes import Outline
from .vectors import Pair


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """What a shape has below its skin: corners, outward edge normals and lengths, in the frame of its body.

    Attributes
    ----------
    corners : Array, shape (n, 2)
        m, counter-clockwise.
    normals, offsets, lengths : Array, shapes (m, 2), (m,), (m,)
        Edge k runs from corner k to the next; n.x = offset on it.
    skin : float
        m.
    """

    corners: Array
    normals: Array
    offsets: Array
    lengths: Array
    skin: float

    @classmethod
    def of(cls, shape: Outline) -> Core:
        """Return the core of a shape."""
        corners = np.array(shape.corners)
        along = np.roll(corners, -1, axis=0) - corners if len(corners) > 1 else np.zeros((0, 2))
        lengths = np.hypot(along[:, 0], along[:, 1])
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / lengths[:, None]
        offsets = np.einsum("ki,ki->k", normals, corners[: len(normals)])
        return cls(corners, normals, offsets, lengths, shape.skin)

    @property
    def table(self) -> Array:
        """What kernels take, shape (n, 6), see `clipping`."""
        edges = np.zeros((len(self.corners), 4))
        edges[: len(self.normals)] = np.column_stack([self.normals, self.offsets, self.lengths])
        return np.column_stack([self.corners, edges])


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A shape on a body, or a half-plane.

    Attributes
    ----------
    label, body : str
        Its full name, ``body.shape`` or ``body``, and the body it is fixed to.
    shape : Outline or HalfPlane
    core : Core or None
        The shape in the body's frame; None for a half-plane.
    size : float
        Largest extent from the middle of the shape, m; infinite for a half-plane.
    middle : (x, y)
        In the body's frame, m.
    """

    label: str
    body: str
    shape: Outline | HalfPlane
    core: Core | None
    size: float
    middle: Pair

    @classmethod
    def of(cls, body: str, shape: Outline | HalfPlane) -> Solid:
        """Return a shape on a body; a shape of the ground is called by its own name."""
        if isinstance(shape, HalfPlane):
            return cls(shape.name, shape.body, shape, None, math.inf, shape.point)
        corners = np.array(shape.corners)
        middle = corners.mean(axis=0)
        size = float(np.hypot(*(corners - middle).T).max()) + shape.skin
        label = shape.name if body == GROUND else f"{body}.{shape.name}" if shape.name else body
        return cls(label, body, shape, Core.of(shape), size, (float(middle[0]), float(middle[1])))

    @property
    def table(self) -> Array:
        """What kernels take, see `clipping`; of a half-plane its point and normal."""
        if self.core is not None:
            return self.core.table
        return np.array([[*self.middle, *self.shape.normal, 0.0, 0.0]])  # type: ignore[union-attr]

    @property
    def numbers(self) -> list[float]:
        """Skin, size, middle and speed of the surface, as kernels take them."""
        belt = self.shape.belt if isinstance(self.shape, HalfPlane) else 0.0
        return [self.skin, self.size, *self.middle, belt]

    @property
    def features(self) -> tuple[int, int]:
        """How many corners and edges it has; a half-plane is one edge."""
        return (0, 1) if self.core is None else (len(self.core.corners), len(self.core.normals))

    @property
    def skin(self) -> float:
        """Thickness around the core, m."""
        return 0.0 if self.core is None else self.core.skin

    def corner(self, k: int) -> Marker:
        """Return a corner of the core as a marker, by name if there are several."""
        at = self.shape.corners[k]  # type: ignore[union-attr]
        return Marker(self.body, at, f"c{k}")

    def edge(self, k: int) -> HalfPlane:
        """Return an edge as a half-plane that the body carries, the skin included."""
        if isinstance(self.shape, HalfPlane):
            return self.shape
        core: Core = self.core  # type: ignore[assignment]
        point = core.corners[k] + core.skin * core.normals[k]
        return HalfPlane(name=f"e{k}", point=point, normal=core.normals[k], body=self.body)

    def feature(self, letter: str, k: int) -> str:
        """Return the name of a corner (c) or an edge (e) for an id."""
        single = self.core is None or len(self.core.corners) == 1
        width = 1 if single else len(str(len(self.core.corners) - 1))  # type: ignore[union-attr]
        return self.label if single else f"{self.label}:{letter}{k:0{width}d}"
