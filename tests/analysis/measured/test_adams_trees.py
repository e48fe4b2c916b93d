"""ADAMS cases in joint coordinates: the tree starts where the body does, and moves as it does at once."""

from __future__ import annotations

import numpy as np
import pytest

from gaussdyn.analysis.measured.adams_systems import system_of
from gaussdyn.analysis.measured.adams_trees import of_body, tree_of
from gaussdyn.contact.resolve import resolve
from gaussdyn.contact.snapshot import snapshot
from gaussdyn.linalg.rotations import matrix_of

BODY = {
    "mass": 2.0, "inertia_body": [0.3, 0.4, 0.5], "gravity": [0.0, 0.0, -9.81], "position": [0.0, 1.0, 0.0],
    "quaternion": [1.0, 0.0, 0.0, 0.0],
}  # fmt: skip
JOINT = {"joint_location": [0.0, 0.0, 0.0], "marker_body": [0.0, -1.0, 0.0]}
UP = {"joint_quaternion": [1.0, 0.0, 0.0, 0.0]}
LINE = {"ground_point": [0.5, -1.0, 0.0], "marker_body": [0.5, 0.0, 0.0], "length_at_start": 2.0}
REST = {"velocity": [0.0, 0.0, 0.0], "angular_velocity": [0.0, 0.0, 0.0]}
CASES = {
    "spherical": JOINT | UP | {"velocity": [-0.7, 0.0, 0.3],
                          "angular_velocity": [0.3, 0.2, 0.7]},
    "revolute": JOINT | UP | {"velocity": [-0.7, 0.0, 0.0],
                         "angular_velocity": [0.0, 0.0, 0.7]},
    "cylindrical": JOINT | UP | {"velocity": [-0.9, 0.0, 0.4], "angular_velocity": [0.0, 0.0, 0.9]},
    "prismatic": JOINT | UP | {"velocity": [0.0, 0.0, 0.4], "angular_velocity": [0.0, 0.0, 0.0]},
    "distance": LINE | {"velocity": [0.2, 0.0, 0.1], "angular_velocity": [0.3, 0.0, 0.0]},
    "revolute-spherical": LINE | REST | {"axis_ground": [1.0, 0.0, 0.0]},
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_the_tree_starts_and_accelerates_as_the_body(kind: str) -> None:
    case = BODY | CASES[kind] | {"kind": f"{kind}: as the file says it"}
    system, start = system_of(case)
    found = tree_of(case, system, start)
    assert found is not None
    tree, state = found
    a = np.asarray(resolve(snapshot(tree, state, level="acceleration")).require().x)
    place, rates, accelerations = of_body(tree, state, a)
    R = matrix_of(start.q[3:])
    truth = np.asarray(resolve(snapshot(system, start, level="acceleration")).require().x)
    np.testing.assert_allclose(place, start.q, atol=1e-14)
    np.testing.assert_allclose(rates, np.r_[start.v[:3], R @ start.v[3:]], atol=1e-13)
    np.testing.assert_allclose(accelerations, np.r_[truth[:3], R @ truth[3:]], atol=1e-9)


def test_springs_between_points_are_no_joints() -> None:
    case = BODY | LINE | REST | {"kind": "spring", "stiffness": 10.0, "damping": 0.1}
    system, start = system_of(case)
    assert tree_of(case, system, start) is None
