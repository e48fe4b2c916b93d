"""Several convex shapes as one: a body that is not convex, given by its parts or cut into them by coacd."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import scalar
from ...errors import BackendMissing, InputError
from ...linalg.rotations import IDENTITY, matrix_of, product, unit_quaternion
from ..names import check_name
from .shapes import SHAPES, ConvexMesh, Quaternion, Shape, Sphere, Triple, triple
from .terrain.surface_tables import edges_of
from .terrain.surfaces import Mesh

MOST_CUT = 100_000  # triangles of a surface that is cut into parts
OTHER_UNIT = 100.0  # a surface so many times as large as the parts, or as small, is in another unit
CORNERS = 200  # of a part at most: a hull with more is made simpler


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound:
    """Convex parts that move together; a body takes them one by one when it is made.

    Parameters
    ----------
    parts : sequence of shapes
        In the axes of the compound; they may touch, and overlap.
    surface : Mesh, optional
        The closed surface of the whole, for mass and inertia; without it they are those of the parts, and count twice
        where these overlap.
    at : (x, y, z)
        Where the origin of these axes is in the body's frame, m.
    turn : (w, x, y, z)
        Unit quaternion from these axes to the body's.
    name : str
        What the names of the parts begin with.

    Raises
    ------
    InputError
        No part, something that is no convex shape, two parts of one name, a surface that is open, or that is elsewhere
        or in another unit than the parts.
    """

    parts: Sequence[Shape]
    surface: Mesh | None = None
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        what = f"parts of {self.name or 'a compound'}"
        if self.name:
            check_name("name of a compound", self.name)
        parts = tuple(self.parts) if isinstance(self.parts, Iterable) else (self.parts,)
        if not parts or not all(isinstance(part, Shape) for part in parts):
            inner = any(isinstance(part, Compound) for part in parts)
            mend = "Give its parts: parts=[*inner.shapes, ...]." if inner else "Cut a mesh with decomposed(...)."
            raise InputError(what, repr(parts)[:60], f"convex shapes: {SHAPES}", mend)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "at", triple("at of a compound", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a compound", self.turn))
        names = [shape.name for shape in self.shapes]
        if len(set(names)) < len(names):
            raise InputError(what, f"names {names}", "different names", 'Write name="left" for one of them.')
        if self.surface is not None:
            check_closed(what.replace("parts", "surface"), self.surface)
            _check_place(what.replace("parts", "surface"), self.surface, self.parts)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The parts in the frame of the body, each with a name."""
        R, moved = matrix_of(self.turn), list[Shape]()
        for k, part in enumerate(self.parts):
            at = tuple((np.array(self.at) + R @ np.array(part.at)).tolist())
            one = replace(part, at=at, name=self._part_name(k))
            moved.append(one if isinstance(one, Sphere) else replace(one, turn=tuple(product(self.turn, one.turn))))
        return tuple(moved)

    def _part_name(self, k: int) -> str:
        """Return what part k is called in a body."""
        own = self.parts[k].name
        if not own:
            return f"{self.name or 'part'}{k:02d}"
        return f"{self.name}_{own}" if self.name else own


def flattened(shapes: Iterable[Any]) -> tuple[Any, ...]:
    """Return shapes with the parts of compounds in the place of these."""
    return tuple(part for one in shapes for part in (one.shapes if isinstance(one, Compound) else (one,)))


def decomposed(
    vertices: ArrayLike, faces: ArrayLike, *, threshold: float = 0.05, name: str = "", seed: int = 0
) -> Compound:  # fmt: skip
    """Return a closed surface cut into convex parts, with its own mass and inertia.

    Parameters
    ----------
    vertices, faces : array_like, shape (k, 3), m, and (F, 3)
        Counterclockwise seen from outside, as `Mesh` takes them.
    threshold : float
        How much of a hollow may be filled, of the size; 0.01 (many parts) to 1 (one).
    name : str
    seed : int
        Of its search: the same parts for the same number.

    Raises
    ------
    InputError
        A surface that is open, inside out, has too many triangles, or is otherwise not one that `Mesh` takes.
    BackendMissing
        Without coacd.

    Notes
    -----
    Source: X. Wei, M. Liu, Z. Ling, H. Su, Approximate convex decomposition for 3D meshes with collision-aware
    concavity and tree search, ACM Trans. Graphics 41 (2022).
    """
    count = np.shape(faces)[0] if np.ndim(faces) else 0
    if count > MOST_CUT:
        mend = "Make it coarser first: trimesh.Trimesh.simplify_quadric_decimation(mesh, face_count=5000)."
        raise InputError(f"faces of {name or 'a compound'}", f"{count} triangles", f"at most {MOST_CUT}", mend)
    surface = Mesh(vertices=vertices, faces=faces, name=name or "surface")
    check_closed(f"surface of {name or 'a compound'}", surface)
    limit = scalar("threshold", threshold, low=0.01, high=1.0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError("seed", repr(seed), "a whole number >= 0", "Write seed=0.")
    try:
        import coacd
    except ImportError:
        raise BackendMissing("coacd", "coacd") from None
    coacd.set_log_level("error")
    mesh = coacd.Mesh(surface.corners, surface.triangles.astype(np.int32))
    found = coacd.run_coacd(mesh, threshold=limit, seed=seed, max_ch_vertex=CORNERS, decimate=True)
    return Compound(parts=[ConvexMesh(vertices=points) for points, _ in found], surface=surface, name=name)


def _check_place(name: str, surface: Mesh, parts: Iterable[Shape]) -> None:
    """Raise InputError where a surface cannot be that of the parts: where no part is near it, or of another unit."""
    R = matrix_of(surface.turn)
    corners = surface.corners @ R.T + np.array(surface.at)
    low, high = corners.min(axis=0), corners.max(axis=0)
    middles = np.array([part.at for part in parts])
    reaches = np.array([replace(part, at=(0.0, 0.0, 0.0)).reach for part in parts])
    near = (middles + reaches[:, None] >= low) & (middles - reaches[:, None] <= high)
    size = float(np.linalg.norm(high - low)) / 2.0
    most = float((np.linalg.norm(middles - middles.mean(axis=0), axis=1) + reaches).max())
    if not near.all(axis=1).any() or not size / OTHER_UNIT < most < OTHER_UNIT * size:
        mend = "Give both in the same axes and in m; from a file in millimetres: read_mesh(path, scale=1e-3)."
        its, their = (low + high) / 2.0, middles.mean(axis=0)
        given = f"{size:.3g} m from its middle {its}; the parts reach {most:.3g} m about {their}"
        raise InputError(name, given, "the surface of the parts", mend)


def check_closed(name: str, surface: Mesh) -> None:
    """Raise InputError unless a surface has an inside."""
    if not isinstance(surface, Mesh):
        raise InputError(name, repr(surface)[:60], "a Mesh", 'Write decomposed(read_mesh("part.stl")).')
    lone = int((edges_of(surface.triangles)[:, 3] < 0).sum())
    if lone:
        mend = "Close the holes: trimesh.repair.fill_holes(mesh)."
        raise InputError(name, f"an open surface ({lone} edges with one triangle)", "a closed one", mend)
