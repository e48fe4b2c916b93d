"""Links of a URDF file: mass and inertia, shapes that collide, colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ..collision.shapes import Shape, Triple
from . import inertias
from .urdf_shapes import NOWHERE, origin_of, shapes_of
from .usable_names import usable
from .xml_elements import Element

Colour = tuple[float, float, float, float]
Colours = Mapping[str, Colour]


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


def link_of(element: Element, colours: Colours, folder: Path, *, mend: bool) -> Link:
    """Return a link of a file in a folder.

    Raises
    ------
    InputError
        What is wrong with its inertia (unless it is to be mended), its shapes or its colours: file and line.
    """
    name = usable(element.text("name"), "")
    mass, centre, J, mended = _inertia(element, mend)
    found = shapes_of(element, folder, mend=mend)
    colour = next((x for visual in element.all("visual") if (x := colour_of(visual, colours)) is not None), None)
    return Link(
        element=element, name=name, mass=mass, centre=centre, inertia=J, shapes=found.shapes, colour=colour,
        missing=found.missing, mended=(*mended, *found.mended),
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


def colour_of(visual: Element, colours: Colours) -> Colour | None:
    """Return the colour of something that is seen; None where the file does not say."""
    material = visual.one("material")
    if material is None:
        return None
    color = material.one("color")
    return colours.get(material.attributes.get("name", "")) if color is None else _rgba(color)


def _rgba(color: Element) -> Colour:
    r, g, b, a = color.numbers("rgba", 4)
    if not all(0.0 <= x <= 1.0 for x in (r, g, b, a)):
        raise color.wrong(
            "rgba of <color>", f"{r:g} {g:g} {b:g} {a:g}", "four numbers from 0 to 1", 'Write rgba="0.5 0.5 0.5 1".'
        )
    return r, g, b, a
