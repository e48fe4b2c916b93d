"""Points of mesh files (STL, OBJ), where a URDF file says they are, and the outermost of many."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...errors import InputError
from .xml_elements import LARGEST, Element

HEADER, FACE = 84, 50  # bytes of a binary STL file before its faces, and of each
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
READ = (".stl", ".obj")
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
        raise mesh.wrong("filename of <mesh>", repr(given), "a file that is there", f"Looked for it in {where}.")
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
        raise InputError(f"mesh {path.name}", kind or "no ending", "STL or OBJ", "Convert it, e.g. with meshlab.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"mesh {path.name}", error.strerror, "a file that can be read") from None
    points = _stl(data) if kind == ".stl" else _lines(data, "v")
    if len(points) < 4 or not (np.abs(points) < LARGEST).all():
        raise InputError(f"mesh {path.name}", f"{len(points)} vertices", "four and more finite ones", "Is it damaged?")
    found: Array = np.unique(points, axis=0)
    return found


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


def _stl(data: bytes) -> Array:
    """Return the corners of all triangles; binary files say how many they have, which tells them from text."""
    count = int.from_bytes(data[80:HEADER], "little") if len(data) >= HEADER else -1
    if count >= 0 and len(data) == HEADER + FACE * count:
        faces = np.frombuffer(data[HEADER:], dtype=np.uint8).reshape(count, FACE)[:, 12:48]
        return np.frombuffer(faces.tobytes(), dtype="<f4").reshape(-1, 3).astype(np.float64)
    return _lines(data, "vertex")


def _lines(data: bytes, word: str) -> Array:
    """Return the numbers after a word at the beginning of lines; lines that are none are left out."""
    found = []
    for line in data.decode("latin-1").splitlines():
        first, *numbers = line.split() or [""]
        if first == word and len(numbers) >= 3:
            try:
                found.append([float(x) for x in numbers[:3]])
            except ValueError:
                return np.zeros((0, 3))
    return np.array(found, dtype=np.float64).reshape(len(found), 3)
