"""Convex shapes that slide past the edges and the corner of a table: their contacts are handed over, not swapped."""

import numpy as np
import pytest
from random_scenes import falling
from scipy.spatial.transform import Rotation

from gaussdyn import EventDriven, audit, simulate
from gaussdyn.contact.pair_manifolds import manifolds_near
from gaussdyn.mechanics.collision.shapes import Box, Capsule, ConvexMesh, Cylinder, Sphere
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import SpatialBody
from gaussdyn.mechanics.spatial.system import SpatialSystem
from tests.evidence import first

TABLE = Box(half=(0.3, 0.3, 0.5), at=(0, 0, -0.5), name="table")
KINDS = "cylinder", "capsule", "ball", "box", "hull"
MANY = 30  # instants with events: so many at most, also of a body that rattles to rest
SEEDS = 58, 45, 10, 3, 0, 20, 35, 110, 729  # a corner that meets an edge; a cap, one tipped on an edge, a box, a side
# the last one turns about a corner that sticks: another slip begins along a line


def shape_of(kind, rng):
    if kind == "hull":
        points = rng.normal(size=(8, 3))
        return ConvexMesh(vertices=0.1 * points / np.linalg.norm(points, axis=1)[:, None])
    return {
        "cylinder": Cylinder(radius=0.08, half_length=0.1),
        "capsule": Capsule(radius=0.05, half_length=0.1),
        "ball": Sphere(radius=0.1),
        "box": Box(half=(0.1, 0.07, 0.05)),
    }[kind]


def on_a_table(shape, mu):
    body = SpatialBody(name="b", mass=1.0, inertia=np.array([0.004, 0.005, 0.006]), shapes=(shape,))
    return SpatialSystem(bodies=[body], obstacles=[TABLE], contact=ContactLaw(mu=mu))


def turn_of(kind, rng):
    """Along an edge, across the table, or anyhow; cylinders and capsules lie in most cases."""
    turn = Rotation.from_rotvec([0, 0, [0.0, np.pi / 4, rng.uniform(0, np.pi)][rng.integers(3)]])
    if kind in ("cylinder", "capsule") and rng.random() < 0.7:
        turn = turn * Rotation.from_rotvec([0, np.pi / 2, 0])
    elif kind == "hull" or rng.random() < 0.2:
        turn = Rotation.from_quat(rng.normal(size=4))
    return np.roll(turn.as_quat(), 1)


def scene(seed):
    """A shape that just touches the table at an edge or at a corner, on its way in some direction."""
    rng, kind, mu = np.random.default_rng(seed), KINDS[seed % 5], (0.0, 0.3)[seed // 5 % 2]
    system, turn = on_a_table(shape_of(kind, rng), mu), turn_of(kind, rng)
    x, y = [
        (rng.uniform(0.2, 0.29), rng.uniform(-0.2, 0.2)),
        (rng.uniform(0.2, 0.3), rng.uniform(0.2, 0.3)),
        (rng.uniform(0.1, 0.25), 0.3 + rng.choice([0, 0.001, 0.01])),
    ][rng.integers(3)]
    way = np.array([(1, 0), (0, 1), (1, 1), rng.normal(size=2)][rng.integers(4)])
    v = {"b": (*(rng.uniform(0.2, 0.8) * way / np.linalg.norm(way)), 0, 0, 0, 0)}
    z, apart = 0.2, np.inf
    while abs(apart) > 1e-12:
        state = system.state({"b": (x, y, z, *turn)}, v)
        apart = min((one.distance for one in manifolds_near(system, state, reach=0.5)), default=0.0)
        z -= apart
    return system, state


@pytest.mark.parametrize("seed", first(1, SEEDS))
def test_a_shape_slides_past_an_edge_by_few_events(seed):
    system, state = scene(seed)
    run = simulate(system, state, 0.3, stepper=EventDriven(), project=True)
    assert run.status == "COMPLETED", run.stop
    assert len({event.t for event in run.events}) <= MANY
    report = audit(run, system)
    assert report.passed, report.explain()


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_a_cylinder_beside_an_edge_rests_on_both_ends_of_what_they_share(mu):
    """It lies along the edge, over it by a millimetre, while its end slides past the corner of the table."""
    system, half = on_a_table(Cylinder(radius=0.1, half_length=0.1), mu), np.sqrt(0.5)
    state = system.state({"b": (0.2, 0.301, 0.09, half, 0, half, 0)}, {"b": (0.5, 0, 0, 0, 0, 0)})
    run = simulate(system, state, 0.012, stepper=EventDriven(), project=True)
    assert run.status == "COMPLETED", run.stop
    assert len({event.t for event in run.events}) <= 2
    assert {one.id for one in run.contacts(-1)} == {"b:rim0/table:e03", "table:c7/b:axis"}
    assert audit(run, system).passed


def test_what_is_held_where_another_feature_ends_is_told_there():
    """An edge crossing that the motion held was gone in the next step, and the corner pushed, without an event."""
    system, _ = falling(3, 9431, mu=0.2, eps_n=0.0, count=3)
    places = {
        "b0": (0.0757962354877, -0.0401133251032, 0.1033881013692,
               -0.7065244926411, 0.0286904391432, -0.7065244926411, -0.0286904391432),
        "b1": (0.1251891571854, -0.0234033728489, 0.3388693934076,
               -0.539432163834, 0.539432163834, -0.457179330921, 0.457179330921),
        "b2": (-0.0123724237742, 0.0118167214753, 0.5432552658063,
               -0.1812206591150, 0.2045540472586, -0.6516803846577, -0.7075516876613),
    }  # fmt: skip
    speeds = {
        "b0": (0.5045477883012, -0.4832339275211, 0.0, 2.0540440646103, 0.0, 0.0),
        "b1": (1.0095198672919, -0.386204894684, 0.0, 0.0, 3.7839786280879, 0.0),
        "b2": (-0.2004804867524, 0.0582664356399, 0.4429186120253,
               -4.0676299460883, -0.1704988245594, -16.4220730480604),
    }  # fmt: skip
    run = simulate(system, system.state(places, speeds), 0.0045, stepper=EventDriven())
    assert [(event.kind, event.id) for event in run.events] == [
        ("lift_off", "b0:e04/b1:e10"), ("handed_over", "b1:e01/b0:r04"), ("taken_over", "b1:c2/b0:f0")
    ]  # fmt: skip
    checked = audit(run, system)
    assert checked.passed, checked.explain()
