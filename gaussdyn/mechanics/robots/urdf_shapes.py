"""Shapes of a URDF file that collide, and where they are."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import InputError
from ..collision.mesh_files import READ
from ..collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Shape, Sphere, Triple
from ..trees.bodies import Turn
from .mesh_files import MOST, mesh_path, mesh_points, outermost
from .urdf_vocabulary import GEOMETRIES
from .usable_names import different, usable
from .xml_elements import Element

NOWHERE, STRAIGHT = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


class Shapes(NamedTuple):
    """What collides of a link, what of it cannot be had, and what was left out on request."""

    shapes: tuple[Shape, ...]
    missing: tuple[str, ...]
    mended: tuple[str, ...]


def origin_of(element: Element) -> tuple[Triple, Turn]:
    """Return place and turn of an element's origin: roll, pitch, yaw about axes that stay."""
    origin = element.one("origin")
    if origin is None:
        return NOWHERE, (1.0, 0.0, 0.0, 0.0)
    x, y, z = origin.numbers("xyz", 3, NOWHERE)
    roll, pitch, yaw = (0.5 * a for a in origin.numbers("rpy", 3, STRAIGHT))
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    w, i, j, k = (
        cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr,
    )  # fmt: skip
    return (x, y, z), (float(w), float(i), float(j), float(k))


def shapes_of(link: Element, folder: Path, *, mend: bool) -> Shapes:
    """Return the shapes of a link that collide, with names where there are several.

    Raises
    ------
    InputError
        Sizes that are not positive, no shape or several at once; a mesh whose file is not there, unless it is to be
        mended: file and line.
    """
    collisions = list(link.all("collision"))
    names = different([usable(one.attributes.get("name", ""), f"shape{k}") for k, one in enumerate(collisions)])
    shapes, missing, mended = list[Shape](), list[str](), list[str]()
    for one, name in zip(collisions, names, strict=True):
        lost = _lost(one, folder)
        if lost is not None:
            if not mend:
                raise lost
            mended.append(f"link {link.text('name')} (line {one.line}): a mesh that is not there (mended)")
            continue
        made = shape_of(one, name if len(collisions) > 1 else "", folder)
        if isinstance(made, str):
            missing.append(f"link {link.text('name')} (line {one.line}): contacts of a {made}")
        else:
            shapes.append(made)
    return Shapes(tuple(shapes), tuple(missing), tuple(mended))


def _lost(collision: Element, folder: Path) -> InputError | None:
    """Return the error of a mesh whose file is not there; None if all is."""
    mesh = collision.needed("geometry").one("mesh")
    try:
        if mesh is not None:
            mesh_path(mesh, folder)
    except InputError as error:
        return error
    return None


def shape_of(collision: Element, name: str, folder: Path) -> Shape | str:
    """Return a shape, or the kind of one that cannot be had."""
    geometry = collision.needed("geometry")
    kinds = [child for child in geometry.children if child.tag in GEOMETRIES]
    if len(kinds) != 1:
        raise geometry.wrong(
            "<geometry>",
            f"{len(kinds)} shapes",
            f"one of {', '.join(GEOMETRIES)}",
            f"Write <{GEOMETRIES[0]} .../>, one a <collision>.",
        )
    (given,), (at, turn) = kinds, origin_of(collision)
    if given.tag == "box":
        x, y, z = given.numbers("size", 3)
        _check_positive(given, "size", x, y, z)
        return Box(name=name, half=(0.5 * x, 0.5 * y, 0.5 * z), at=at, turn=turn)
    if given.tag == "sphere":
        _check_positive(given, "radius", given.number("radius"))
        return Sphere(name=name, radius=given.number("radius"), at=at)
    if given.tag in ("capsule", "cylinder"):
        radius, half = given.number("radius"), 0.5 * given.number("length")
        _check_positive(given, "radius and length", radius, half)
        kind = Capsule if given.tag == "capsule" else Cylinder
        return kind(name=name, radius=radius, half_length=half, at=at, turn=turn)
    path = mesh_path(given, folder)
    if path.suffix.lower() not in READ:
        return f"mesh in {path.suffix or path.name} ({' and '.join(READ)} are read)"
    points = mesh_points(path) * np.array(given.numbers("scale", 3, (1.0, 1.0, 1.0)))
    return ConvexMesh(name=name, vertices=outermost(points, MOST), at=at, turn=turn)


def _check_positive(element: Element, what: str, *values: float) -> None:
    if min(values) <= 0.0:
        raise element.wrong(
            f"{what} of <{element.tag}>",
            ", ".join(f"{x:g}" for x in values),
            "numbers > 0",
            f'Write {what}="{" ".join(["0.1"] * len(values))}".',
        )
