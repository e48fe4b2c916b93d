"""Links of a URDF file: mass and inertia, shapes that collide, colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ..collision.shapes import Box, Capsule, Shape, Sphere, Triple
from ..trees.bodies import Turn
from . import inertias
from .urdf_vocabulary import GEOMETRIES
from .usable_names import different, usable
from .xml_elements import Element

Colour = tuple[float, float, float, float]
Colours = Mapping[str, Colour]
NOWHERE, STRAIGHT = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Link:
    """A link.

    Attributes
    ----------
    element : Element
    name : str
    mass : float
    centre : (x, y, z)
    inertia : Array, shape (3, 3)
        About the mass centre, in the axes of the link.
    shapes : tuple of shapes
    colour : (r, g, b, a) or None
        Of what is seen of it.
    missing : tuple of str
        Shapes that collide and cannot be had yet.
    mended : tuple of str
    """

    element: Element
    name: str
    mass: float
    centre: Triple
    inertia: Array
    shapes: tuple[Shape, ...]
    colour: Colour | None
    missing: tuple[str, ...]
    mended: tuple[str, ...]


def link_of(element: Element, colours: Colours, *, mend: bool) -> Link:
    """Return a link.

    Raises
    ------
    InputError
        What is wrong with its inertia (unless it is to be mended), its shapes or its colours: file and line.
    """
    name = usable(element.text("name"), "")
    mass, centre, J, mended = _inertia(element, mend)
    shapes, missing = _shapes(element)
    colour = next((x for visual in element.all("visual") if (x := _colour(visual, colours)) is not None), None)
    return Link(
        element=element, name=name, mass=mass, centre=centre, inertia=J, shapes=shapes, colour=colour,
        missing=missing, mended=mended,
    )  # fmt: skip


def colours_of(root: Element) -> dict[str, Colour]:
    """Return the colours that materials of the file have, wherever they stand."""
    visuals = [visual for link in root.all("link") for visual in link.all("visual")]
    found: dict[str, Colour] = {}
    for material in (one for parent in (root, *visuals) for one in parent.all("material")):
        color = material.one("color")
        if color is not None and "name" in material.attributes:
            found.setdefault(material.attributes["name"], _rgba(color))
    return found


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


def _inertia(element: Element, mend: bool) -> tuple[float, Triple, Array, tuple[str, ...]]:
    """Return mass, mass centre, inertia about it in the axes of the link, and what was mended."""
    inertial = element.one("inertial")
    if inertial is None:
        return 0.0, NOWHERE, np.zeros((3, 3)), ()
    mass, given = inertial.needed("mass").number("value", low=0.0), inertial.needed("inertia")
    centre, turn = origin_of(inertial)
    xx, xy, xz, yy, yz, zz = (given.number(f"i{ab}", 0.0) for ab in ("xx", "xy", "xz", "yy", "yz", "zz"))
    R, J = matrix_of(turn), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    why = inertias.impossible(J) or ("an inertia without a mass" if mass == 0.0 and J.any() else "")
    said: tuple[str, ...] = ()
    if why and not mend:
        allowed = "an inertia of a body about its mass centre"
        text = "Measure it anew, or let mend=True (--mend) take the nearest one that a body can have."
        raise given.wrong(f"inertia of link {element.text('name')}", why, allowed, text)
    if why:
        J = inertias.mended(J) if mass > 0.0 else np.zeros((3, 3))
        said = (f"inertia of link {element.text('name')} (line {given.line}): {why} (mended)",)
    J = R @ J @ R.T
    return mass, centre, 0.5 * (J + J.T), said


def _shapes(element: Element) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """Return the shapes that collide, with names where there are several, and those that cannot be had."""
    collisions = list(element.all("collision"))
    names = different([usable(one.attributes.get("name", ""), f"shape{k}") for k, one in enumerate(collisions)])
    shapes, missing = [], []
    for one, name in zip(collisions, names, strict=True):
        made = _shape(one, name if len(collisions) > 1 else "")
        if isinstance(made, str):
            missing.append(f"link {element.text('name')} (line {one.line}): contacts of a {made}")
        else:
            shapes.append(made)
    return tuple(shapes), tuple(missing)


def _shape(collision: Element, name: str) -> Shape | str:
    """Return a shape, or the kind of one that cannot be had."""
    geometry = collision.needed("geometry")
    kinds = [child for child in geometry.children if child.tag in GEOMETRIES]
    if len(kinds) != 1:
        raise geometry.wrong("<geometry>", f"{len(kinds)} shapes", f"one of {', '.join(GEOMETRIES)}")
    (given,), (at, turn) = kinds, origin_of(collision)
    if given.tag == "box":
        x, y, z = given.numbers("size", 3)
        _check_positive(given, "size", x, y, z)
        return Box(name=name, half=(0.5 * x, 0.5 * y, 0.5 * z), at=at, turn=turn)
    if given.tag == "sphere":
        _check_positive(given, "radius", given.number("radius"))
        return Sphere(name=name, radius=given.number("radius"), at=at)
    if given.tag == "capsule":
        radius, half = given.number("radius"), 0.5 * given.number("length")
        _check_positive(given, "radius and length", radius, half)
        return Capsule(name=name, radius=radius, half_length=half, at=at, turn=turn)
    return given.tag


def _check_positive(element: Element, what: str, *values: float) -> None:
    if min(values) <= 0.0:
        raise element.wrong(f"{what} of <{element.tag}>", ", ".join(f"{x:g}" for x in values), "numbers > 0")


def _colour(visual: Element, colours: Colours) -> Colour | None:
    """Return the colour of something that is seen; None where the file does not say."""
    material = visual.one("material")
    if material is None:
        return None
    color = material.one("color")
    return colours.get(material.attributes.get("name", "")) if color is None else _rgba(color)


def _rgba(color: Element) -> Colour:
    r, g, b, a = color.numbers("rgba", 4)
    if not all(0.0 <= x <= 1.0 for x in (r, g, b, a)):
        raise color.wrong("rgba of <color>", f"{r:g} {g:g} {b:g} {a:g}", "four numbers from 0 to 1")
    return r, g, b, a


def pictures(root: Element) -> Iterator[str]:
    """Yield what is only seen and left out."""
    visuals = [visual for link in root.all("link") for visual in link.all("visual")]
    if visuals:
        yield f"visual shapes ({len(visuals)}): what collides is drawn, in their colours"
