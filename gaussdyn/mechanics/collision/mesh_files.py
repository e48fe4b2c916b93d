"""Triangles of mesh files: STL (binary and text) and OBJ, and whatever trimesh reads where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray, scalar
from ...errors import InputError

HEADER, FACE = 84, 50  # bytes of a binary STL file before its faces, and of each
READ = (".stl", ".obj")
SMALLEST, LARGEST = 1e-12, 1e12  # m
NO_FACES = np.zeros((0, 3), dtype=np.int64)


class Triangles(NamedTuple):
    """What a mesh file holds.

    Attributes
    ----------
    vertices : Array, shape (k, 3)
        Each once, m.
    faces : IntArray, shape (F, 3)
        Three vertices each; those without area are left out.
    """

    vertices: Array
    faces: IntArray


def read_mesh(path: str | Path, *, scale: float = 1.0) -> Triangles:
    """Return the triangles of a mesh file, in the order of the file; faces with more corners are split.

    `ConvexMesh(vertices=read_mesh(path).vertices)` is the shape of a body, `Mesh(**read_mesh(path)._asdict())` ground.

    Parameters
    ----------
    path : path
        STL or OBJ; another format if trimesh is installed.
    scale : float
        Metres in the unit of the file, > 0: 1e-3 for millimetres.

    Raises
    ------
    InputError
        No file, another format, a file that is damaged or has fewer than four vertices, a scale that leaves no size.
    """
    path, unit = _path(path), scalar("scale", scale, low=0.0, open_low=True)
    kind = path.suffix.lower()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"mesh {path.name}", error.strerror, "a file that can be read", f"ls -l {path}") from None
    points, faces = _stl(data) if kind == ".stl" else (_obj(data) if kind == ".obj" else _other(path))
    look = f"Look at it: trimesh.load({path.name!r}).show()."
    if len(points) < 4:
        raise InputError(f"mesh {path.name}", f"{len(points)} vertices", "four and more", look)
    if not (np.abs(points) < LARGEST).all():
        given = "coordinates that are no numbers, or too large"
        raise InputError(f"mesh {path.name}", given, f"numbers below {LARGEST:g}", look)
    most = unit * float(np.abs(points).max())
    if most > 0.0 and not SMALLEST <= most <= LARGEST:
        given = f"{unit:g}: vertices up to {most:.3g} m"
        raise InputError("scale", given, f"{SMALLEST:g} to {LARGEST:g} m", "From a file in millimetres: scale=1e-3.")
    if faces.min(initial=0) < 0 or faces.max(initial=0) >= len(points):
        raise InputError(
            f"mesh {path.name}",
            "a face of no vertex",
            f"1 to {len(points)}",
            look,
        )
    vertices, number = np.unique(points, axis=0, return_inverse=True)
    joined = number.ravel()[faces].reshape(-1, 3)
    three = (joined != joined[:, [1, 2, 0]]).all(axis=1)
    return Triangles(unit * vertices, joined[three])


def _path(path: str | Path) -> Path:
    """Return a path.

    Raises
    ------
    InputError
        Something else.
    """
    try:
        return Path(path)
    except TypeError:
        raise InputError("path of a mesh", repr(path)[:60], "a path", 'Write read_mesh("part.stl").') from None


def _stl(data: bytes) -> tuple[Array, IntArray]:
    """Return three corners per triangle; binary files say how many they have, which tells them from text."""
    count = int.from_bytes(data[80:HEADER], "little") if len(data) >= HEADER else -1
    if count >= 0 and len(data) == HEADER + FACE * count:
        faces = np.frombuffer(data[HEADER:], dtype=np.uint8).reshape(count, FACE)[:, 12:48]
        points = np.frombuffer(faces.tobytes(), dtype="<f4").reshape(-1, 3).astype(np.float64)
    else:
        points = _numbers(data, "vertex")
    return points, np.arange(len(points) // 3 * 3, dtype=np.int64).reshape(-1, 3)


def _obj(data: bytes) -> tuple[Array, IntArray]:
    """Return the vertices and the faces, split about their first corners; negative numbers count from the end."""
    found, count = list[list[int]](), 0
    for line in data.decode("latin-1").splitlines():
        first, *words = line.split() or [""]
        count += first == "v"
        if first == "f" and len(words) >= 3:
            try:
                loop = [int(word.split("/")[0]) for word in words]
            except ValueError:
                return np.zeros((0, 3)), NO_FACES
            loop = [k - 1 if k > 0 else count + k for k in loop]
            found += [[loop[0], loop[m], loop[m + 1]] for m in range(1, len(loop) - 1)]
    return _numbers(data, "v"), np.array(found, dtype=np.int64).reshape(-1, 3)


def _other(path: Path) -> tuple[Array, IntArray]:
    """Return what trimesh reads."""
    try:
        import trimesh
    except ImportError:
        mend = "Convert it, e.g. with meshlab, or read more formats: pip install trimesh"
        raise InputError(f"mesh {path.name}", path.suffix or "no ending", "STL or OBJ", mend) from None
    try:
        mesh = trimesh.load(path, force="mesh")
        points, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # whatever its readers raise
        raise InputError(
            f"mesh {path.name}",
            str(error),
            "a file that trimesh reads",
            f"Convert it: trimesh.load({path.name!r}).export('{path.stem}.stl').",
        ) from None
    return points.reshape(-1, 3), faces.reshape(-1, 3)


def _numbers(data: bytes, word: str) -> Array:
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
