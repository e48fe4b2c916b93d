"""Points of mesh files (STL, OBJ), where a URDF file says they are, and the outermost of many."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..collision.mesh_files import READ, read_mesh
from .xml_elements import Element

GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
MOST = 150  # points of a mesh that are kept


def mesh_path(mesh: Element, folder: Path) -> Path:
    """Return the file of a mesh: beside the URDF file, or of a package in a folder above it.

    Raises
    ------
    InputError
        It is not there: where it was looked for, with file and line.
    """
    given = mesh.text("filename")
    scheme, _, rest = given.rpartition("://")
    rest = rest.replace("\\", "/")
    if scheme == "package":
        name, _, inside = rest.partition("/")
        above = [folder, *folder.parents]
        places = [one / rest for one in above] + [one / inside for one in above if one.name == name]
    else:
        places = [folder / rest]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        where = f"a folder above {folder}" if scheme == "package" else str(folder)
        raise mesh.wrong(
            "filename of <mesh>", repr(given), "a file that is there", f"Looked for it in {where}: ls {folder}"
        )
    return found


def mesh_points(path: Path) -> Array:
    """Return the vertices of an STL or OBJ file, each once, shape (k, 3).

    Raises
    ------
    InputError
        Another format, a file that is damaged, or has no vertices.
    """
    kind = path.suffix.lower()
    if kind not in READ:
        raise InputError(
            f"mesh {path.name}",
            kind or "no ending",
            "STL or OBJ",
            f"Convert it: trimesh.load({path.name!r}).export({path.stem + '.stl'!r}).",
        )
    return read_mesh(path).vertices


def outermost(points: Array, most: int) -> Array:
    """Return at most so many points, each the farthest in one of as many directions: the corners of a hull within.

    The directions lie evenly on the sphere (Fibonacci's lattice), the axes among them.
    """
    if len(points) <= most:
        return points
    k = np.arange(most - 6) + 0.5
    z, turn = 1.0 - 2.0 * k / (most - 6), GOLDEN * k
    side = np.sqrt(1.0 - z * z)
    ways = np.vstack([np.eye(3), -np.eye(3), np.column_stack([side * np.cos(turn), side * np.sin(turn), z])])
    chosen: Array = points[np.unique(np.argmax(points @ ways.T, axis=0))]
    return chosen
