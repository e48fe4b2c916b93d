"""Reports on branch points: velocities, null vectors, the points on the way of a motion, branches followed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from gaussdyn import InputError, build
from gaussdyn.analysis.singular.configurations import branches, branches_along, follow
from gaussdyn.scenes.linkages import darboux
from gaussdyn.scenes.linkages.singular_pendulum import Ellipse, system_of

SQUARE = darboux.place(0.0)


@pytest.fixture(scope="module")
def square():
    return branches(darboux.system_of(), SQUARE)


def test_only_velocities_along_a_branch_are_admissible(square):
    """ker J is two-dimensional; along L: v_H = (0, 1), along the other branch v_H = (-2, -1)."""
    L = darboux.motion_of(0.0, 1.0)
    other = next(t for t in square.tangents if abs(t[8]) > 0.1)
    for v, ok in ((L, True), (-3.0 * L, True), (other, True), (L + other / other[8], False), (np.eye(10)[0], False)):
        assert square.velocity(v).admissible is ok
    mixed = square.velocity(L + other / other[8])
    assert mixed.inconsistency > 0.01
    assert "no multipliers" in mixed.explain()
    assert square.velocity(np.eye(10)[0]).rate > 0.1
    assert square.velocity(L).inconsistency < 1e-12
    assert square.velocity(np.zeros(10)).admissible


def test_null_vector_by_constraint(square):
    n = {key: float(value[0]) for key, value in square.null_vectors.items()}
    assert n["A.x"] == pytest.approx(-n["D.x"])
    assert abs(n["A.x"]) == pytest.approx(1.0)
    assert n["KH"] / n["A.x"] == pytest.approx(0.25)
    assert n["A.y"] == pytest.approx(0.0, abs=1e-12)
    assert "dependent rows" in square.explain()
    json.dumps(square.to_json(), allow_nan=False)


def test_every_velocity_in_the_kernel_is_admissible_on_a_manifold():
    found = branches(darboux.system_of(), darboux.place(0.7))
    assert found.kind == "regular"
    assert found.velocity(darboux.motion_of(0.7, 2.0)).admissible
    assert "manifold of dimension 1" in found.explain()


def test_points_on_the_way_of_a_scene():
    scene = build("singular_pendulum")
    (passage,) = branches_along(scene, 1.0)
    assert passage.t == pytest.approx(0.7075279697535, abs=1e-9)
    assert passage.branches.kind == "crossing"
    assert branches_along(scene) == []


@pytest.mark.slow
def test_both_branches_of_darboux_followed_against_closed_forms():
    system = darboux.system_of()
    for j, tangent in enumerate(branches(system, SQUARE).tangents):
        bow = abs(tangent[8]) > 0.1
        places = follow(system, SQUARE, length=2.0, step=0.1, branch=j)
        for q in places:
            h = q[1] + q[7] - q[9] if bow else q[9]  # of the mirror image
            np.testing.assert_allclose(q, darboux.place(h, bow=bow), atol=1e-12)
        assert len(places) == 21


def test_following_goes_round_a_turn():
    """Beyond the largest h the other position of the rods: no coordinate is special."""
    places = follow(darboux.system_of(), darboux.place(2.0), length=4.0, tangent=darboux.motion_of(2.0, 1.0))
    h = places[:, 9]
    top = int(h.argmax())
    assert 0 < top < len(h) - 1
    assert h.max() <= math.sqrt(2.0 + 2.0 * math.sqrt(2.0)) + 1e-12
    np.testing.assert_allclose(places[-1], darboux.place(h[-1], past=True), atol=1e-11)


def test_the_pendulum_followed_through_its_tangency():
    curve = Ellipse(2.0, 1.0, 4.0, 2.0)
    q = np.array([0.4, curve.angle(0.4)])
    places = follow(system_of(2.0), q, length=0.8, step=0.02, tangent=[-1.0, 0.0])
    assert places[-1, 0] < -0.3
    for u, theta in places:
        assert theta == pytest.approx(curve.angle(u), abs=1e-10)


def test_bad_input():
    with pytest.raises(InputError, match="a configuration"):
        branches(system_of(2.3))
    with pytest.raises(InputError, match="0 to 1"):
        follow(system_of(2.3), [0.0, 0.0], length=1.0, branch=2)
    with pytest.raises(InputError, match="constraints on positions"):
        branches(build("chaplygin_sleigh"))
