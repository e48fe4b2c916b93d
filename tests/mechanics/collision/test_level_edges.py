"""Nothing catches at the edges of tiles that lie side by side, and rounding in a pose changes forces by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.collision.search import Shapes
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder, HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick, solid

CUBE = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
THINGS = {
    "box": (brick("a", mass=1.0, half=(0.03, 0.03, 0.03)), 0.03),
    "mesh": (solid("a", ConvexMesh(vertices=0.03 * CUBE), density=1000.0), 0.03),
    "cylinder": (solid("a", Cylinder(radius=0.03, half_length=0.02), density=1000.0), 0.02),
}


def tiles(kind):
    """Return tiles of 0.2 m side by side, their tops at z = 0."""
    half, found = np.array([0.1, 0.1, 0.05]), []
    for i in range(-2, 2):
        for j in (-1, 0):
            at, name = (0.2 * i + 0.1, 0.2 * j + 0.1, -0.05), f"tile{i + 2}{j + 1}"
            found.append(
                Box(half=half, at=at, name=name)
                if kind == "box"
                else ConvexMesh(vertices=half * CUBE, at=at, name=name)
            )
    return found


@pytest.mark.parametrize("ground", ["box", "mesh"])
@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize(("mu", "yaw"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3)])
def test_a_body_slides_over_tiles_as_over_one_plane(ground, name, mu, yaw):
    body, height = THINGS[name]
    turn = np.roll(Rotation.from_rotvec([0.0, 0.0, yaw]).as_quat(), 1)
    runs = []
    for obstacles in (tiles(ground), [HalfSpace(name="floor")]):
        system = SpatialSystem(bodies=[body], obstacles=obstacles, contact=ContactLaw(mu=mu))
        start = system.state({"a": (-0.13, 0.013, height, *turn)}, {"a": (1.0, 0.1, 0, 0, 0, 0)})
        runs.append(simulate(system, start, 0.25, stepper=MoreauJean(dt=2e-3)))
    assert runs[0].q[-1][0] > 0.05  # over two edges along x, and one along y
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-8


def test_a_box_still_runs_into_a_step():
    body, height = THINGS["box"]
    step = Box(half=(0.1, 0.1, 0.05), at=(0.1, 0.0, -0.05 + 1e-3), name="step")
    system = SpatialSystem(bodies=[body], obstacles=[HalfSpace(name="floor"), step], contact=ContactLaw(mu=0.0))
    start = system.state({"a": (-0.06, 0.0, height)}, {"a": (0.1, 0, 0, 0, 0, 0)})
    run = simulate(system, start, 0.4, stepper=MoreauJean(dt=2e-3))
    assert run.q[:, 0].max() < -0.029  # it tips a little; without the step it would come to -0.02


@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_a_corner_of_the_ground_pushes_a_body_as_it_turns_it(eps):
    """A box slides without friction into a low step: an impulse P at r beneath its centre, u+ = -eps u."""
    r, half, v = 0.03 - 1e-3, 0.03, 0.1
    edge = Box(half=(0.1, 0.01, 0.05), at=(0.1, 0.0, 0.05 - 0.1 + 1e-3), name="edge")  # narrower: its corners touch
    law = ContactLaw(eps_n=eps)
    system = SpatialSystem(
        bodies=[brick("a", mass=1.0, half=(half,) * 3)], obstacles=[edge], contact=law, gravity=(0, 0, 0)
    )
    run = simulate(
        system, system.state({"a": (-0.0301, 0, half)}, {"a": (v, 0, 0, 0, 0, 0)}), 4e-3, stepper=MoreauJean(dt=2e-3)
    )
    energy = 0.5 * (run.v[-1][:3] ** 2).sum() + 0.5 * (2.0 * half**2 / 3.0) * (run.v[-1][3:] ** 2).sum()
    P = v - run.v[-1][0]
    assert 0.5 * v * v / 2.5 < P * v  # the body is slowed down, not only turned
    assert run.v[-1][4] * (2.0 * half**2 / 3.0) == pytest.approx(P * r, rel=0.05)
    assert energy <= 0.5 * v * v * (1.0 + 1e-9)
    if eps == 1.0:
        assert energy == pytest.approx(0.5 * v * v, rel=1e-6)


@pytest.mark.parametrize("ground", ["box", "mesh", "plane"])
def test_rounding_in_the_attitude_changes_forces_by_rounding(ground):
    floor = HalfSpace(name="floor")
    table = Box(half=(0.03, 0.03, 0.05), at=(0, 0, -0.05), name="table")  # as wide as the body: all edges coincide
    obstacle = {"box": table, "plane": floor}.get(ground) or ConvexMesh(
        vertices=CUBE * (0.03, 0.03, 0.05), at=(0, 0, -0.05), name="table"
    )
    system = SpatialSystem(bodies=[THINGS["box"][0]], obstacles=[obstacle], contact=ContactLaw(mu=0.4))
    forces = []
    for turn in ([0, 0, 0], [0, 0, 1e-15], [1e-16, 0, 1e-15], [0, -1e-16, 3e-15]):
        q = np.roll(Rotation.from_rotvec(turn).as_quat(), 1)
        run = simulate(system, system.state({"a": (0, 0, 0.03, *q)}), 0.02, stepper=MoreauJean(dt=2e-3))
        forces.append(np.array([c.force for c in run.contacts(-1)]))
    assert len(forces[0]) == 4
    for one in forces[1:]:
        assert np.abs(one - forces[0]).max() < 1e-9
    assert abs(forces[0][:, 2].sum()) == pytest.approx(9.81, rel=1e-12)


def test_rounding_at_any_heading_changes_shares_by_little_and_their_sum_by_rounding():
    """Four corners bear what three could; what is unique of it must not move."""
    half = np.array([0.048, 0.055, 0.043])
    body = brick("a", mass=1.4, half=half)
    system = SpatialSystem(bodies=[body], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
    pushes, rng = [], np.random.default_rng(0)
    for k in range(8):
        turn = Rotation.from_euler("z", 0.3) * Rotation.from_rotvec(1e-15 * (k > 0) * rng.normal(size=3))
        q = np.roll(turn.as_quat(), 1)
        run = simulate(system, system.state({"a": (0, 0, half[2], *q)}), 2e-3, stepper=MoreauJean(dt=2e-3))
        pushes.append([c.reaction[0] for c in run.contacts(-1)])
        assert np.abs(run.v[-1]).max() == 0.0
    shares = np.array(pushes)
    np.testing.assert_allclose(shares, 1.4 * 9.81 / 4.0, rtol=3e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1.4 * 9.81, rtol=1e-14)


def test_contacts_of_a_box_come_and_go_at_the_border_of_a_face():
    table = Shapes.of({"a": (Box(half=(0.03, 0.03, 0.03)),)}, [Box(half=(0.1, 0.1, 0.05), at=(0, 0, -0.05), name="b")])
    for x in np.linspace(-0.2, 0.2, 81):
        found = table.find([[x, 0.0, 0.03 - 1e-12]], np.eye(3)[None], 1e-3)
        normals = [f.geometry(np.array([x, 0, 0.03]), np.eye(3), np.zeros(3), np.eye(3))[1] for f in found]
        assert len(found) == (4 if abs(x) < 0.13 - 1e-9 else 0), x
        assert all(np.allclose(np.abs(n), [0, 0, 1]) for n in normals)
