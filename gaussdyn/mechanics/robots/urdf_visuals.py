"""What a URDF file has to be looked at: its visual shapes, meshes among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..collision.mesh_files import READ, read_mesh
from ..trees.visuals import Skin, Visual
from .mesh_files import mesh_path
from .skins import coarsened, share_of
from .urdf_links import Colours, Link, colour_of
from .urdf_shapes import origin_of, shape_of
from .xml_elements import Element


def visuals_of(links: Sequence[Link], colours: Colours, folder: Path) -> list[Visual]:
    """Return what links are seen by; one of whose shapes something cannot be read is seen by what collides of it."""
    seen = [link for link in links if not hidden(link, folder)]
    most = share_of(sum(_mesh(one) is not None for link in seen for one in link.element.all("visual")))
    found = list[Visual]()
    for link in seen:
        try:
            shapes = enumerate(link.element.all("visual"))
            found += [visual_of(one, link.name, f"visual{k}", colours, folder, most) for k, one in shapes]
        except InputError:  # a damaged mesh
            continue
    return found


def hidden(link: Link, folder: Path) -> str:
    """Return why a link is not seen by what the file has for it; empty if it is."""
    meshes = [mesh for one in link.element.all("visual") if (mesh := _mesh(one)) is not None]
    for mesh in meshes:
        try:
            kind = mesh_path(mesh, folder).suffix.lower()
        except InputError:
            return f"{mesh.text('filename')} is not there"
        if kind not in READ:
            return f"{kind or 'no ending'}, where {' and '.join(READ)} are read"
    return ""


def unseen(links: Iterable[Link], folder: Path) -> Iterator[str]:
    """Yield which links are drawn by what collides of them, and why."""
    for link in links:
        why = hidden(link, folder)
        if why:
            yield f"what link {link.name} is seen by ({why}): what collides of it is drawn"


def visual_of(visual: Element, body: str, name: str, colours: Colours, folder: Path, most: int) -> Visual:
    """Return a shape that is seen; a mesh with at most so many triangles.

    Raises
    ------
    InputError
        A shape that cannot be had, a mesh that is damaged.
    """
    mesh, colour = _mesh(visual), colour_of(visual, colours)
    if mesh is None:
        shape = shape_of(visual, name, folder)
        if isinstance(shape, str):
            raise visual.wrong("<visual>", shape, "a shape that can be had", 'Write <box size="0.1 0.1 0.1"/>.')
        return Visual(body=body, shape=shape, colour=colour)
    found, (at, turn) = read_mesh(mesh_path(mesh, folder)), origin_of(visual)
    scale = np.array(mesh.numbers("scale", 3, (1.0, 1.0, 1.0)))
    vertices, faces = coarsened(found.vertices * scale, found.faces, most)
    return Visual(body=body, shape=Skin(vertices=vertices, faces=faces, at=at, turn=turn, name=name), colour=colour)


def _mesh(visual: Element) -> Element | None:
    geometry = visual.one("geometry")
    return None if geometry is None else geometry.one("mesh")
