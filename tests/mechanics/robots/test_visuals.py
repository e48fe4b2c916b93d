"""What robots are seen by: the meshes of their files, on their bodies, and nothing that touches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gaussdyn import InputError, MoreauJean, read_robot, simulate
from gaussdyn.arrays import Array, IntArray
from gaussdyn.linalg.rotations import matrix_of
from gaussdyn.mechanics.robots.robot import Robot
from gaussdyn.mechanics.robots.skins import coarsened
from gaussdyn.mechanics.trees import Skin, TreeBody, TreeJoint, TreeSystem, Visual
from gaussdyn.report.view.film import FRAMES, film

CORNERS = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
OBJ = "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in CORNERS) + "".join(f"f {a} {b} {c}\n" for a, b, c in FACES + 1)
MJCF = """<mujoco model="seen"><asset><mesh name="look" file="look.obj"/></asset><worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
 <geom name="core" type="sphere" size=".1" group="3"/>
 <geom name="cover" type="mesh" mesh="look" pos=".1 0 0" rgba="1 0 0 1" contype="0" conaffinity="0" group="2"/>
 <geom name="knob" type="sphere" size=".02" pos="0 0 .3" contype="0" conaffinity="0"/>
 <body name="plain" pos="0 0 .5"><joint name="other" axis="0 1 0"/><geom name="ball" type="sphere" size=".05"/></body>
</body></worldbody></mujoco>"""
URDF = """<robot name="seen"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>
 <visual><origin xyz=".1 0 0" rpy="0 0 1"/><geometry><mesh filename="look.obj" scale="2 2 2"/></geometry>
 <material name="red"><color rgba="1 0 0 1"/></material></visual>
 <collision><geometry><sphere radius=".1"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def robot(folder: Path, name: str, text: str) -> Robot:
    (folder / "look.obj").write_text(OBJ)
    (folder / name).write_text(text)
    return read_robot(folder / name)


def test_a_body_is_seen_by_its_mesh_and_not_by_what_touches(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    system = robot(tmp_path, "seen.xml", MJCF).system()
    q = system.state(joints={"hinge": 0.7}).q
    assert {one["name"] for one in system.drawables(q)} == {"arm.core", "plain.ball", "floor"}
    seen = {one["name"]: one for one in system.seen(q)}
    assert set(seen) == {"arm.cover", "arm.knob", "plain.ball", "floor"}
    cover, frame = seen["arm.cover"], system.frame(q, "arm")
    found = np.array(cover["at"]) + cover["corners"] @ matrix_of(cover["turn"]).T
    true = frame.x + (CORNERS + np.array([0.1, 0.0, 0.0])) @ frame.R.T
    assert np.allclose(sorted(found.tolist()), sorted(true.tolist()), atol=1e-7)  # the file has single precision
    assert cover["colour"] == [1.0, 0.0, 0.0, 1.0]


def test_visuals_of_a_urdf_file(tmp_path: Path) -> None:
    system = robot(tmp_path, "seen.urdf", URDF).system()
    q = system.state(joints={"hinge": 0.7}).q
    cover = next(one for one in system.seen(q) if one["name"].startswith("arm"))
    frame = system.frame(q, "arm")
    true = (
        frame.x
        + ((2.0 * CORNERS) @ matrix_of((np.cos(0.5), 0.0, 0.0, np.sin(0.5))).T + np.array([0.1, 0.0, 0.0])) @ frame.R.T
    )
    found = np.array(cover["at"]) + cover["corners"] @ matrix_of(cover["turn"]).T
    assert np.allclose(sorted(found.tolist()), sorted(true.tolist()), atol=1e-12)
    assert (cover["name"], cover["colour"]) == ("arm.visual0", [1.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("text", "why"), [
    (URDF.replace("look.obj", "lost.obj"), "lost.obj is not there"),
    (URDF.replace("look.obj", "seen.urdf"), ".urdf, where .stl and .obj are read"),
])  # fmt: skip
def test_what_cannot_be_read_is_said_and_what_collides_is_drawn(tmp_path: Path, text: str, why: str) -> None:
    found = robot(tmp_path, "seen.urdf", text)
    assert [line for line in found.ignored if why in line]
    system = found.system()
    assert [one["shape"] for one in system.seen(found.home)] == ["point", "sphere"]


def test_a_damaged_mesh_is_left_out_when_it_is_looked_at(tmp_path: Path) -> None:
    found = robot(tmp_path, "seen.urdf", URDF)
    (tmp_path / "look.obj").write_text("v 1 2 nan\n" * 5)
    assert [one["shape"] for one in found.system().seen(found.home)] == ["point", "sphere"]


def test_a_mesh_moves_with_its_body_and_is_kept_once(tmp_path: Path) -> None:
    found = robot(tmp_path, "seen.urdf", URDF)
    run = simulate(found.system(), found.start(rates={"hinge": 1.0}), 0.2, stepper=MoreauJean(dt=1e-3))
    shown = film(found.system(), run)
    assert shown is not None
    track = next(one for one in shown["shapes"] if one["shape"] == "solid")
    assert {"corners", "faces", "colour"} <= set(track["fixed"])
    assert set(track["moving"]) == {"at", "turn"}


def test_a_large_mesh_costs_no_frames() -> None:
    ball = sphere(60)
    system = TreeSystem(
        bodies=[TreeBody(name="a", mass=1.0, inertia=np.eye(3), joints=[TreeJoint(name="j", motion="hinge")])],
        visuals=[Visual(body="a", shape=Skin(vertices=ball[0], faces=ball[1]))],
    )  # fmt: skip
    run = simulate(system, system.state(rates={"j": 1.0}), 1.0, stepper=MoreauJean(dt=1e-3))
    shown = film(system, run)
    assert shown is not None
    assert len(shown["t"]) == FRAMES


def test_a_visual_belongs_to_a_body_that_is_there() -> None:
    system = TreeSystem(
        bodies=[TreeBody(name="arm", mass=1.0, inertia=np.eye(3), joints=[TreeJoint(name="j", motion="hinge")])],
        visuals=[Visual(body="arn", shape=Skin(vertices=CORNERS, faces=FACES))],
    )  # fmt: skip
    with pytest.raises(InputError, match="arm"):
        system.seen(system.state().q)


def test_skins_are_checked() -> None:
    with pytest.raises(InputError, match="faces"):
        Skin(vertices=CORNERS, faces=FACES + 1)
    with pytest.raises(InputError, match="vertices"):
        Skin(vertices=CORNERS * np.nan, faces=FACES)


def sphere(around: int) -> tuple[Array, IntArray]:
    """A unit sphere of 4 around^2 triangles, less those at the poles that have no area."""
    a, b = np.meshgrid(np.linspace(0, np.pi, around + 1), np.linspace(0, 2 * np.pi, 2 * around + 1), indexing="ij")
    vertices = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3)
    k = np.arange(around)[:, None] * (2 * around + 1) + np.arange(2 * around)
    down = 2 * around + 1
    faces = np.concatenate([np.stack([k, k + down, k + 1], -1), np.stack([k + 1, k + down, k + down + 1], -1)])
    return vertices, faces.reshape(-1, 3)


def test_a_coarser_surface_is_still_the_surface() -> None:
    """A sphere: no more triangles than allowed, vertices near it, most of its area (from within)."""
    vertices, faces = sphere(100)
    found, triangles = coarsened(vertices, faces, 3000)
    assert 1000 < len(triangles) <= 3000
    assert np.abs(np.linalg.norm(found, axis=1) - 1.0).max() < 0.1
    normals = np.cross(found[triangles[:, 1]] - found[triangles[:, 0]], found[triangles[:, 2]] - found[triangles[:, 0]])
    area = 0.5 * np.linalg.norm(normals, axis=1).sum()
    assert 0.9 < area / (4.0 * np.pi) < 1.02
    outwards = np.einsum("ij,ij->i", normals, found[triangles].mean(axis=1)) > 0.0
    assert outwards.mean() > 0.99  # triangles keep their side


def test_a_surface_that_is_coarse_enough_stays() -> None:
    found = coarsened(CORNERS, FACES, 4)
    assert found[0] is CORNERS
    assert found[1] is FACES
