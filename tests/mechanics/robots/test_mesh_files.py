"""Points of mesh files: both formats of STL, OBJ, damaged ones, and where a URDF file says they are."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError
from gaussdyn.mechanics.robots.mesh_files import mesh_path, mesh_points, outermost
from gaussdyn.mechanics.robots.xml_elements import Element

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=np.float64)
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def binary(tail: bytes = b"") -> bytes:
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES)
    return b"solid".ljust(80) + struct.pack("<I", len(FACES)) + faces + tail


def text() -> bytes:
    corners = [f"vertex {x:g} {y:g} {z:g}" for face in FACES for x, y, z in CORNERS[list(face)]]
    return ("solid a\nfacet normal 0 0 0\n" + "\n".join(corners) + "\nendsolid a\n").encode()


OBJ = "# a tetrahedron\n" + "".join(f"v {x:g} {y:g} {z:g} 1.0\n" for x, y, z in CORNERS) + "vn 0 0 1\nf 1 2 3\n"


@pytest.mark.parametrize(("name", "data"), [("a.stl", binary()), ("b.STL", text()), ("c.obj", OBJ.encode())])
def test_each_vertex_comes_once(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert np.array_equal(mesh_points(tmp_path / name), np.unique(CORNERS, axis=0))


@pytest.mark.parametrize(("name", "data"), [
    ("a.stl", binary()[:-7]), ("a.stl", b""),
    ("a.obj", b"v 1 2 nan\n" * 5), ("a.obj", b"v 1 x 2\n" * 5), ("a.dae", b"<"),
])  # fmt: skip
def test_damaged_and_other_files_are_named(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=f"mesh {name}"):
        mesh_points(tmp_path / name)


def test_files_are_found_beside_the_urdf_file_or_in_its_package(tmp_path: Path) -> None:
    folder, meshes = tmp_path / "robot_description/urdf", tmp_path / "robot_description/meshes"
    folder.mkdir(parents=True)
    meshes.mkdir()
    (meshes / "a.stl").write_bytes(binary())

    def at(name: str) -> Path:
        return mesh_path(Element("mesh", {"filename": name}, "robot.urdf", 7), folder)

    for name in ("package://robot_description/meshes/a.stl", "../meshes/a.stl", f"file://{meshes}/a.stl"):
        assert at(name).samefile(meshes / "a.stl")
    with pytest.raises(InputError, match=r"robot.urdf, line 7: filename of <mesh>.*Looked for it in"):
        at("package://robot_description/meshes/b.stl")


def test_the_outermost_points_are_corners_of_the_hull() -> None:
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(5000, 3))
    ball /= np.maximum(np.linalg.norm(ball, axis=1), 1.0)[:, None]
    few = outermost(ball, 200)
    assert len(few) <= 200
    ways = rng.normal(size=(500, 3))
    short = ((ball @ ways.T).max(axis=0) - (few @ ways.T).max(axis=0)) / np.linalg.norm(ways, axis=1)
    assert short.min() >= 0.0
    assert short.max() < 0.03
    assert outermost(CORNERS, 10) is CORNERS
