"""Joints and mass centres of bodies in space, where the states say they are."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn import SpatialSystem, build
from gaussdyn.mechanics.spatial import Hinge, SpatialBody, mark
from gaussdyn.mechanics.trees import TreeBody, TreeJoint, TreeSystem
from gaussdyn.report.view.skeleton import skeleton


def rod(name: str, mass: float) -> SpatialBody:
    return SpatialBody(name=name, mass=mass, inertia=(1.0, 1.0, 0.1))


def test_a_hinge_is_where_its_markers_meet_and_the_centre_weighs_bodies() -> None:
    arm, other = rod("arm", 1.0), rod("other", 3.0)
    joint = Hinge(
        name="shoulder", a=mark("arm", (0, 0, 0.5), axis=(0, 1, 0)), b=mark("ground", (0, 0, 2), axis=(0, 1, 0))
    )
    system = SpatialSystem(bodies=[arm, other], joints=[joint])
    state = system.state({"other": [4.0, 0.0, 0.0]}, joints={"shoulder": 0.7})
    (drawn,), centre = skeleton(system, state.q)
    assert (drawn["name"], drawn["kind"]) == ("shoulder", "hinge")
    np.testing.assert_allclose(drawn["at"], [0.0, 0.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(np.abs(drawn["axis"]), [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(centre, (state.q[:3] + 3.0 * np.array([4.0, 0.0, 0.0])) / 4.0)


def test_a_tree_has_its_joints_where_they_turn() -> None:
    """A rod 1 m long on a hinge about y, turned by a quarter: its end is on x, and the next hinge there."""
    upper = TreeBody(
        name="upper", mass=2.0, centre=(0, 0, -0.5), inertia=np.eye(3), joints=[TreeJoint(name="one", axis=(0, 1, 0))]
    )
    lower = TreeBody(
        name="lower",
        parent="upper",
        at=(0, 0, -1.0),
        mass=1.0,
        inertia=np.eye(3),
        joints=[TreeJoint(name="two", axis=(0, 1, 0))],
    )
    system = TreeSystem(bodies=[upper, lower])
    found, centre = skeleton(system, system.state({"one": np.pi / 2}).q)
    assert [one["name"] for one in found] == ["one", "two", "upper~lower"]
    np.testing.assert_allclose(found[2]["ends"], [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found[1]["at"], [-1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(centre, [-2.0 / 3.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("name", ["sliding_rod", "incline"])
def test_planar_systems_have_neither(name: str) -> None:
    scene = build(name)
    assert skeleton(scene.system, scene.state.q) == ([], None)
