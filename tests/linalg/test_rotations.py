"""Quaternions against scipy's rotations and against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from gaussdyn.errors import InputError
from gaussdyn.linalg.rotations import cross, cross_matrix, matrix_of, pointing, product, quaternion_of, unit_quaternion

number = st.floats(-1.0, 1.0)
triples = st.tuples(number, number, number)
quaternions = st.tuples(number, number, number, number).filter(lambda q: np.linalg.norm(q) > 0.01)


def scipys(q):
    """The rotation of (w, x, y, z), which scipy writes (x, y, z, w)."""
    return Rotation.from_quat([*q[1:], q[0]])


@given(quaternions)
def test_matrix_of_any_multiple(q):
    np.testing.assert_allclose(matrix_of(q), scipys(q).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(matrix_of(-3.0 * np.array(q)), scipys(q).as_matrix(), atol=1e-14)


@given(quaternions, quaternions)
def test_products_turn_one_after_the_other(p, q):
    np.testing.assert_allclose(matrix_of(product(p, q)), matrix_of(p) @ matrix_of(q), atol=1e-14)


@given(quaternions)
def test_matrix_and_back(q):
    back, unit = quaternion_of(matrix_of(q)), np.array(q) / np.linalg.norm(q)
    assert back[0] >= 0.0
    assert np.linalg.norm(back) == pytest.approx(1.0, abs=1e-15)
    assert abs(back @ unit) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -1, 1)])
def test_half_turns_have_a_quaternion(axis):
    n = np.array(axis) / np.linalg.norm(axis)
    q = quaternion_of(2.0 * np.outer(n, n) - np.eye(3))
    np.testing.assert_allclose(np.outer(q[1:], q[1:]), np.outer(n, n), atol=1e-15)
    assert q[0] == pytest.approx(0.0, abs=1e-15)


@given(triples.filter(lambda x: np.linalg.norm(x) > 1e-3))
def test_pointing_brings_z_into_the_axis(x):
    n = np.array(x) / np.linalg.norm(x)
    q = pointing(x)
    np.testing.assert_allclose(matrix_of(q)[:, 2], n, atol=1e-15)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("tilt", [0.0, 1e-150, 1e-12, 1e-8, 1e-6, 1e-3])
def test_pointing_nearly_down(tilt):
    n = np.array([tilt, 0.0, -1.0]) / math.hypot(tilt, 1.0)
    np.testing.assert_allclose(matrix_of(pointing((tilt, 0.0, -1.0)))[:, 2], n, rtol=1e-14, atol=0.0)


@given(triples, triples)
def test_cross(a, b):
    a, b = np.array(a), np.array(b)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    np.testing.assert_allclose(cross_matrix(a) @ b, np.cross(a, b), atol=1e-15)


def test_a_unit_quaternion_is_wanted():
    q = unit_quaternion("q", [0.6, 0.0, 0.8000005, 0.0])
    assert math.hypot(*q) == pytest.approx(1.0, abs=1e-15)
    with pytest.raises(InputError, match=r"q: given \[0\.6, 0\.0, 0\.801, 0\.0\].*unit quaternion"):
        unit_quaternion("q", [0.6, 0.0, 0.801, 0.0])
    with pytest.raises(InputError, match="shape"):
        unit_quaternion("q", [1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="axis"):
        pointing((0.0, 0.0, 0.0))
