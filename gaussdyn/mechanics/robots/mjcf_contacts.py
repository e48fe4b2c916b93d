"""Shapes of a compiled MuJoCo model, which of them touch, and with what friction.

A pair's coefficients are combined by MuJoCo's rule: those of the geom of higher priority, else the larger ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ..collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Quaternion, Shape, Sphere
from ..collision.terrain.surfaces import HeightField, Surface
from ..contact_law import ContactLaw
from ..spatial.contacts import Obstacle
from .mesh_files import MOST, outermost
from .mjcf_names import Names

PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
UNSAID = (0.5, 0.5, 0.5, 1.0)  # the colour that MuJoCo's compiler gives to what has none
Pair = tuple[int, int]
Laws = Mapping[tuple[str, str], ContactLaw | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touching:
    """What touches.

    Attributes
    ----------
    shapes : tuple of tuples of shapes
        By body; none of the world.
    obstacles : tuple
        Shapes of the world, and planes of bodies.
    pairs : mapping
        Laws as `TreeSystem` takes them.
    contact : ContactLaw
        Of all other pairs.
    """

    shapes: tuple[tuple[Shape, ...], ...]
    obstacles: tuple[Obstacle, ...]
    pairs: Laws
    contact: ContactLaw


def touching(m: Any, names: Names) -> Touching:
    """Return shapes and laws of all geoms that may touch something."""
    pairs = colliding(m)
    used = sorted({geom for pair in pairs for geom in pair})
    shapes: list[list[Shape]] = [[] for _ in range(m.nbody)]
    obstacles: list[Obstacle] = []
    for g in used:
        b, shape = int(m.geom_bodyid[g]), shape_of(m, names, g)
        if isinstance(shape, (HalfSpace, Surface)) or b == 0:
            obstacles.append(shape)
        else:
            shapes[b].append(shape)
    contact, laws = _laws(m, names, used, pairs)
    return Touching(shapes=tuple(map(tuple, shapes)), obstacles=tuple(obstacles), pairs=laws, contact=contact)


def colliding(m: Any) -> dict[Pair, ContactLaw]:
    """Return the laws of the pairs of geoms that may touch: by masks, but for excluded bodies, or named in the file."""
    excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in m.exclude_signature}
    found: dict[Pair, ContactLaw] = {}
    for a, b in combinations(range(m.ngeom), 2):
        if _masks_meet(m, a, b) and not _apart(m, excluded, int(m.geom_bodyid[a]), int(m.geom_bodyid[b])):
            found[a, b] = _combined(m, a, b)
    for k in np.flatnonzero(m.pair_dim):
        a, b = sorted((int(m.pair_geom1[k]), int(m.pair_geom2[k])))
        found[a, b] = _law(int(m.pair_dim[k]), m.pair_friction[k, [0, 2, 3]])
    return found


def _masks_meet(m: Any, a: int, b: int) -> bool:
    one, other = (
        int(m.geom_contype[a]) & int(m.geom_conaffinity[b]),
        int(m.geom_contype[b]) & int(m.geom_conaffinity[a]),
    )
    return bool(one or other)


def _apart(m: Any, excluded: set[Pair], a: int, b: int) -> bool:
    """Return whether two bodies never touch: they are one, one hangs on the other, or they are excluded."""
    wa, wb = int(m.body_weldid[a]), int(m.body_weldid[b])
    if wa == wb or (a, b) in excluded or (b, a) in excluded:
        return True
    above_a, above_b = (int(m.body_weldid[m.body_parentid[w]]) for w in (wa, wb))
    return wa != 0 and wb != 0 and (above_a == wb or above_b == wa)


def _combined(m: Any, a: int, b: int) -> ContactLaw:
    first, second = int(m.geom_priority[a]), int(m.geom_priority[b])
    if first != second:
        g = a if first > second else b
        return _law(int(m.geom_condim[g]), m.geom_friction[g])
    size = max(int(m.geom_condim[a]), int(m.geom_condim[b]))
    return _law(size, np.maximum(m.geom_friction[a], m.geom_friction[b]))


def _law(condim: int, friction: Any) -> ContactLaw:
    """Return the law of (sliding, torsional, rolling) friction."""
    mu, torsional, rolling = (float(x) for x in friction)
    return ContactLaw(
        mu=mu if condim > 1 else 0.0, mu_t=torsional if condim > 3 else 0.0, mu_r=rolling if condim == 6 else 0.0
    )


def shape_of(m: Any, names: Names, g: int) -> Obstacle:
    """Return a geom as a shape in the frame of its body."""
    kind, name, size = int(m.geom_type[g]), names.geoms[g], m.geom_size[g]
    x, y, z = (float(a) for a in m.geom_pos[g])
    w, i, j, k = (float(a) for a in m.geom_quat[g])
    if kind == PLANE:
        normal = matrix_of((w, i, j, k))[:, 2].tolist()
        return HalfSpace(name=name, point=(x, y, z), normal=tuple(normal), body=names.bodies[m.geom_bodyid[g]])
    if kind == SPHERE:
        return Sphere(name=name, radius=float(size[0]), at=(x, y, z))
    length = (w * w + i * i + j * j + k * k) ** 0.5
    turn = (w / length, i / length, j / length, k / length)
    if kind == CAPSULE:
        return Capsule(name=name, radius=float(size[0]), half_length=float(size[1]), at=(x, y, z), turn=turn)
    if kind == CYLINDER:
        return Cylinder(name=name, radius=float(size[0]), half_length=float(size[1]), at=(x, y, z), turn=turn)
    if kind == ELLIPSOID:
        half = (float(size[0]), float(size[1]), float(size[2]))
        return Ellipsoid(name=name, half=half, at=(x, y, z), turn=turn)
    if kind == FIELD:
        return field_of(m, names, g, turn)
    if kind == MESH:
        return ConvexMesh(name=name, vertices=outermost(mesh_of(m, g), MOST), at=(x, y, z), turn=turn)
    return Box(name=name, half=(float(size[0]), float(size[1]), float(size[2])), at=(x, y, z), turn=turn)


def field_of(m: Any, names: Names, g: int, turn: Quaternion) -> HeightField:
    """Return the height field of a geom of the world; its grid is about the place of the geom."""
    k, place, R = int(m.geom_dataid[g]), m.geom_pos[g], matrix_of(turn)
    rows, columns, first = int(m.hfield_nrow[k]), int(m.hfield_ncol[k]), int(m.hfield_adr[k])
    x, y, top, _ = (float(a) for a in m.hfield_size[k])
    heights = top * np.array(m.hfield_data[first : first + rows * columns], dtype=np.float64).reshape(rows, columns)
    spacing = (2.0 * x / (columns - 1), 2.0 * y / (rows - 1))
    at = tuple((place + R @ np.array([-x, -y, 0.0])).tolist())
    return HeightField(name=names.geoms[g], heights=heights, spacing=spacing, at=at, turn=turn)


def served(m: Any, g: int) -> bool:
    """Return whether a geom can be had: all but signed distance fields, and height fields on bodies."""
    kind = int(m.geom_type[g])
    return kind in range(8) and (kind != FIELD or int(m.geom_bodyid[g]) == 0)


def mesh_of(m: Any, g: int) -> Array:
    """Return the vertices of the mesh of a geom, each once, shape (k, 3), in its frame."""
    k = int(m.geom_dataid[g])
    first, count = int(m.mesh_vertadr[k]), int(m.mesh_vertnum[k])
    return np.unique(np.array(m.mesh_vert[first : first + count], dtype=np.float64), axis=0)


def _laws(m: Any, names: Names, used: list[int], pairs: Mapping[Pair, ContactLaw]) -> tuple[ContactLaw, Laws]:
    """Return the commonest law, and the laws of the pairs that differ from it or touch against the rule."""
    laws = list(pairs.values())
    contact = max(laws, key=laws.count) if laws else ContactLaw()
    found: dict[tuple[str, str], ContactLaw | None] = {}
    for a, b in combinations(used, 2):
        one, other = (int(m.geom_bodyid[g]) for g in (a, b))
        by_rule, law = not _apart(m, set(), one, other), pairs.get((a, b))
        if law is not None and not by_rule:  # the bodies touch, but not in all their shapes
            found.setdefault((names.bodies[one], names.bodies[other]), contact)
        if law is None and by_rule:
            found[_label(m, names, a), _label(m, names, b)] = None
        elif law is not None and (law != contact or not by_rule):
            found[_label(m, names, a), _label(m, names, b)] = law
    return contact, found


def colours_of(m: Any, names: Names) -> dict[str, tuple[float, float, float, float]]:
    """Return the colours of all shapes that may touch and have one: of their materials, else their own."""
    found = {}
    for k in sorted({geom for pair in colliding(m) for geom in pair}):
        colour = colour_of(m, k)
        if colour is not None:
            found[_label(m, names, k)] = colour
    return found


def colour_of(m: Any, g: int) -> tuple[float, float, float, float] | None:
    """Return the colour of a geom: of its material, else its own; None where the file says none."""
    material = int(m.geom_matid[g])
    red, green, blue, opacity = (float(x) for x in (m.geom_rgba[g] if material < 0 else m.mat_rgba[material]))
    return None if material < 0 and (red, green, blue, opacity) == UNSAID else (red, green, blue, opacity)


def _label(m: Any, names: Names, g: int) -> str:
    """Return what a shape is called in a system."""
    b = int(m.geom_bodyid[g])
    return names.geoms[g] if b == 0 else f"{names.bodies[b]}.{names.geoms[g]}"
