"""Meshes and cylinders in time stepping: as boxes where they are boxes, at rest, and with every check of an audit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import MoreauJean, SpatialSystem, audit, simulate
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial import Box, ConvexMesh, Cylinder, HalfSpace, Hinge, mark, solid
from gaussdyn.mechanics.trees import TreeBody, TreeJoint, TreeSystem

HALF = np.array([0.1, 0.08, 0.05])
CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * HALF
MESH, BOX = ConvexMesh(vertices=CORNERS), Box(half=HALF)
FLOOR = HalfSpace(name="floor")


def system_of(*shapes, mu=0.5, gravity=(0.0, 0.0, -9.81), joints=()):
    bodies = [solid(f"b{k}", shape, density=1000.0) for k, shape in enumerate(shapes)]
    return SpatialSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=mu), gravity=gravity, joints=joints)


def quaternion(*turn):
    return tuple(Rotation.from_rotvec(turn).as_quat()[[3, 0, 1, 2]])


def run_of(system, places, t_end=0.2, velocities=None):
    names = [f"b{k}" for k in range(len(places))]
    speeds = dict(zip(names, velocities, strict=True)) if velocities else {}
    return simulate(
        system, system.state(dict(zip(names, places, strict=True)), speeds), t_end, stepper=MoreauJean(dt=2e-3)
    )


SCENES = {
    "at rest": ([(0, 0, 0.05)], None),
    "a stack": ([(0, 0, 0.05), (0.02, 0.01, 0.15), (0, 0, 0.25)], None),
    "turned in a stack": ([(0, 0, 0.05), (0, 0, 0.15, *quaternion(0, 0, 0.5))], None),
    "sliding": ([(0, 0, 0.05)], [(1.0, 0.5, 0)]),
    "sliding on another": ([(0, 0, 0.05), (0, 0, 0.15)], [(0, 0, 0), (0.8, 0.3, 0)]),
    "falling on an edge": ([(0, 0, 0.16, *quaternion(0.4, 0, 0))], None),
    "falling on a corner": ([(0, 0, 0.2, *quaternion(0.5, 0.6, 0))], None),
    "overhanging": ([(0, 0, 0.05), (0.12, 0, 0.15)], None),
    "thrown": ([(0, 0, 0.1, *quaternion(0.2, 0.1, 0.3))], [(1.0, 0, -1.0, 3.0, 2.0, 1.0)]),
    "pushed": ([(0, 0, 0.05), (0.3, 0.01, 0.05)], [(2.0, 0, 0), (0, 0, 0)]),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_mesh_of_a_box_moves_as_the_box(name):
    places, velocities = SCENES[name]
    t_end = 0.05 if name in ("thrown", "pushed") else 0.2  # later a box moved by 1e-16 m comes to elsewhere too
    boxes, meshes, mixed = (
        run_of(system_of(*shapes[: len(places)]), places, t_end, velocities)
        for shapes in ([BOX] * 3, [MESH] * 3, [BOX, MESH, BOX])
    )
    for run in (meshes, mixed):
        assert np.abs(run.q - boxes.q).max() < 1e-10
        assert run.statistics["unsolved_steps"] == 0


def test_stacks_of_cylinders_boxes_and_meshes_stand():
    disc = Cylinder(radius=0.1, half_length=0.05)
    system = system_of(disc, disc, BOX, disc, MESH)
    run = run_of(system, [(0, 0, 0.05), (0.03, 0, 0.15), (0, 0.02, 0.25), (0, 0, 0.35), (0.01, 0, 0.45)])
    assert np.abs(run.q - run.q[0]).max() < 1e-12
    assert audit(run, system).passed


def test_a_tetrahedron_stands_on_its_face_and_another_on_its_flattened_top():
    wide = [(1, 0, 0), (-0.5, 0.75**0.5, 0), (-0.5, -(0.75**0.5), 0)]
    foot = ConvexMesh(vertices=[*wide, (0.3, 0, 0.8), (-0.15, 0.25, 0.8), (-0.15, -0.25, 0.8)])
    top = ConvexMesh(vertices=[(0.3, 0, 0), (-0.15, 0.26, 0), (-0.15, -0.26, 0), (0, 0, 0.4)])
    system = system_of(foot, top)
    low, high = (-min(shape.at[2] + c[2] for c in shape.hull.corners) for shape in (b.shapes[0] for b in system.bodies))
    run = run_of(system, [(0, 0, low), (0, 0, 0.8 + high)])
    assert np.abs(run.q - run.q[0]).max() < 1e-12
    assert audit(run, system).passed


def test_dropped_cylinders_and_meshes_obey_the_laws():
    rock = ConvexMesh(vertices=0.08 * np.random.default_rng(1).normal(size=(12, 3)))
    system = system_of(Cylinder(radius=0.08, half_length=0.1), BOX, rock, mu=0.4)
    places = [(0, 0, 0.2, *quaternion(0.7, 0.2, 0)), (0.05, 0, 0.5, *quaternion(0.3, 0.4, 0)), (0, 0.05, 0.8)]
    run = run_of(system, places, 0.4)
    assert run.statistics["unsolved_steps"] == 0
    assert run.statistics["max_residual"] < 1e-11
    assert abs(run.statistics["energy_drift_rel"]) < 1e-9


def test_a_hinged_cylinder_leans_on_a_mesh():
    pole = Cylinder(radius=0.05, half_length=0.3)
    joint = Hinge(
        name="pin", a=mark("ground", (-0.3, 0, 0.3), axis=(0, 1, 0)), b=mark("b0", (0, 0, -0.3), axis=(0, 1, 0))
    )
    system = system_of(pole, MESH, joints=[joint])
    tilt = 1.2
    start = (-0.3 + 0.3 * np.sin(tilt), 0, 0.3 + 0.3 * np.cos(tilt), *quaternion(0, tilt, 0))
    run = run_of(system, [start, (0.12, 0, 0.05)], 0.3)
    assert run.statistics["unsolved_steps"] == 0
    assert run.statistics["max_joint_error_m"] < 1e-9
    assert run.statistics["max_penetration_m"] < 1e-9


def test_a_tree_with_a_cylinder_and_a_mesh_rests_and_rolls_as_free_bodies_do():
    free = (TreeJoint(name="root", motion="free"),)
    roller = solid("roller", Cylinder(radius=0.1, half_length=0.2, turn=quaternion(0, np.pi / 2, 0)), density=1000.0)
    block = solid("block", MESH, density=1000.0)
    bodies = [
        TreeBody(name=body.name, joints=(replace(free[0], name=f"{body.name}_root"),), mass=body.mass,
                 inertia=body.inertia, shapes=body.shapes)
        for body in (roller, block)
    ]  # fmt: skip
    tree = TreeSystem(bodies=bodies, obstacles=[FLOOR], contact=ContactLaw(mu=0.5), gravity=(0.0, 2.0, -9.0))
    start = tree.state({"roller_root": (0, 0, 0.1, 1, 0, 0, 0), "block_root": (1, 0, 0.05, 1, 0, 0, 0)})
    run = simulate(tree, start, 0.2, stepper=MoreauJean(dt=2e-3))
    assert run.q[-1][1] == pytest.approx(0.5 * 2.0 / 3.0 * 2.0 * 0.04, abs=1e-12)
    assert np.abs(run.q[-1][7:] - run.q[0][7:]).max() < 1e-12
    assert audit(run, tree).passed
