"""Cylinders that are set down along the edge of a table, all but parallel to it: a line of contact, crossing or not."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.mechanics.collision.shapes import Box, ConvexMesh, Cylinder
from gaussdyn.mechanics.spatial import solid
from tests.evidence import examples

CYLINDER = Cylinder(radius=0.1, half_length=0.15)
TABLE = Box(half=(0.3, 0.25, 0.2), name="table")


@pytest.mark.drawn
def test_a_cylinder_that_rolls_off_an_edge_along_it_goes_on_and_overlaps_nowhere():
    """At angles of 1e-7 to 0.1 rad: 38 of 100 from 1e-3 rad on stopped in the position projection, 18 below."""
    system = SpatialSystem(bodies=[solid("b", CYLINDER, density=1000.0)], obstacles=[TABLE], contact=ContactLaw(mu=0.5))
    rng = np.random.default_rng(0)
    for k in range(examples(200, fast=4)):
        turn = Rotation.from_rotvec(rng.normal(size=3) * 10 ** rng.uniform(-7, -1))
        beyond = rng.uniform(0.0, 0.02)
        turn = np.roll((turn * Rotation.from_euler("x", np.pi / 2)).as_quat(), 1)
        start = system.state({"b": (0.3 + beyond, 0.195, 0.2 + np.sqrt(0.01 - beyond**2) + 1e-4, *turn)})
        run = simulate(system, start, 0.06, stepper=MoreauJean(dt=1e-3), project=True)
        deepest = min(system.distances(q, 0.05).get(("b", "table"), 1.0) for q in run.q[::4])
        assert run.status == "COMPLETED", (k, run.stop)
        assert deepest > -1e-9, k


SET_DOWN = [  # radius, half length, beyond the edge, along it, turn, drop, velocity, mu, eps_n
    (0.0235164, 0.0792154, 0.00341394, 0.197002, (0.70715939, 0.70705415, 1.54571e-4, 1.9953e-5), 6.0597e-6,
     (-0.183993, 0.9335739, 0.0337851, 0.0, 0.0, 0.0), 0.8, 0.5),
    (0.0636839, 0.0677063, 0.00907296, 0.0581723, (0.70701155, 0.70720199, -2.50839e-5, 1.078724e-4), 6.61782e-4,
     (0.0, 0.0, 0.0, 0.26492152, 1.3531395, -0.23238168), 0.0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("hull", [False, True], ids=["box", "hull"])
@pytest.mark.parametrize("how", SET_DOWN, ids=["held", "running"])
def test_a_run_along_an_edge_passes_its_audit(how, hull):
    """Pushes of a projection cancelled but for a millionth (`kinematics` 0.8), or a crossing ran off (`laws` 0.5)."""
    radius, half, beyond, along, turn, drop, velocity, mu, eps = how
    corners = [(x, y, z) for z in (-0.2, 0.2) for y in (-0.25, 0.25) for x in (-0.3, 0.3)]
    table = ConvexMesh(vertices=corners, name="table") if hull else TABLE
    body = solid("b", Cylinder(radius=radius, half_length=half), density=1000.0)
    system = SpatialSystem(bodies=[body], obstacles=[table], contact=ContactLaw(mu=mu, eps_n=eps))
    turn = np.array(turn) / np.linalg.norm(turn)
    at = (0.3 + beyond, along, 0.2 + np.sqrt(radius**2 - beyond**2) + drop, *turn)
    run = simulate(system, system.state({"b": at}, {"b": velocity}), 0.03, stepper=MoreauJean(dt=1e-3), project=True)
    report = audit(run, system)
    assert run.status == "COMPLETED"
    assert report.passed, report.explain()


def test_a_crossing_that_runs_along_an_edge_settles():
    """It runs by centimetres in a step: passes fell to 0.4 of themselves, and 98 of 100 steps were given up."""
    body = solid("b", Cylinder(radius=0.05663, half_length=0.1016), density=1000.0)
    system = SpatialSystem(bodies=[body], obstacles=[TABLE], contact=ContactLaw(mu=0.8))
    turn = np.array((0.7072332, 0.7069803, -1.961e-4, -1.389e-4))
    start = system.state({"b": (0.303247, 0.1848, 0.256538, *turn / np.linalg.norm(turn))})
    run = simulate(system, start, 0.1, stepper=MoreauJean(dt=1e-3), project=True)
    assert run.event_counts.get("unsettled", 0) <= 20
    assert audit(run, system).passed


def test_a_rod_that_is_handed_over_to_an_edge_is_not_struck():
    """Its end slides past the edge, which bears it then: that was an impact that gained energy, and audits failed."""
    rod = solid("b", Cylinder(radius=0.02, half_length=0.15), density=1000.0)
    system = SpatialSystem(bodies=[rod], obstacles=[TABLE], contact=ContactLaw(mu=0.0, eps_n=0.3))
    turn = Rotation.from_euler("z", 0.4) * Rotation.from_euler("y", np.pi / 2)
    place, speed = (0.14, 0.0, 0.22, *np.roll(turn.as_quat(), 1)), (0.3, 0.05, 0.0, 0.3, -1.0, 0.0)
    run = simulate(system, system.state({"b": place}, {"b": speed}), 0.2, stepper=MoreauJean(dt=2e-3))
    assert "b:axis/table:e07" in {contact.id for contact in run.contacts(-1)}
    assert "unsettled" not in run.event_counts
    assert audit(run, system).passed
