"""Mesh files: both formats of STL, OBJ with polygons, units, damaged ones; solids and ground made of them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError
from gaussdyn.mechanics.spatial import ConvexMesh, Mesh, read_mesh, solid

CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 2) for x in (0, 3)], dtype=np.float64)
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
FACES = [(q[0], q[k], q[k + 1]) for q in QUADS for k in (1, 2)]


def _stl() -> bytes:
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES)
    return b"solid".ljust(80) + struct.pack("<I", len(FACES)) + faces


def _text() -> bytes:
    corners = [f"vertex {x:g} {y:g} {z:g}" for face in FACES for x, y, z in CORNERS[list(face)]]
    return ("solid a\n" + "\n".join(corners) + "\nendsolid a\n").encode()


def _obj(sign: int = 1) -> bytes:
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS]
    for quad in QUADS:
        lines.append("f " + " ".join(f"{k + 1 if sign > 0 else k - len(CORNERS)}/1/1" for k in quad))
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(("name", "data"), [
    ("a.stl", _stl()), ("b.STL", _text()), ("c.obj", _obj()), ("d.obj", _obj(-1)),
])  # fmt: skip
def test_a_block_is_read_from_every_format(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    vertices, faces = read_mesh(tmp_path / name, scale=0.1)
    assert len(vertices) == 8
    assert len(faces) == 12
    block = solid("block", ConvexMesh(vertices=vertices, faces=faces), density=1000.0)
    assert block.mass == pytest.approx(6.0, rel=1e-14)
    assert len(Mesh(vertices=vertices, faces=faces, name="block").triangles) == 12
    assert np.sort(vertices, axis=0) == pytest.approx(0.1 * np.sort(CORNERS, axis=0), abs=1e-15)


@pytest.mark.parametrize(("name", "data"), [
    ("a.stl", _stl()[:-7]), ("a.stl", b""), ("a.obj", b"v 1 2 nan\n" * 5), ("a.obj", b"v 1 x 2\n" * 5),
    ("a.obj", _obj() + b"f 1 2 9\n"), ("a.obj", _obj() + b"f 1 2 x\n"), ("a.xyz", b"<"),
])  # fmt: skip
def test_damaged_and_other_files_are_named(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=f"mesh {name}"):
        read_mesh(tmp_path / name)


def test_open_inside_out_and_hollow_solids_are_named() -> None:
    with pytest.raises(InputError, match="open surface"):
        ConvexMesh(vertices=CORNERS, faces=FACES[:-1])
    with pytest.raises(InputError, match="inside out"):
        ConvexMesh(vertices=CORNERS, faces=[face[::-1] for face in FACES])
    with pytest.raises(InputError, match="scale"):
        read_mesh("a.stl", scale=0.0)
