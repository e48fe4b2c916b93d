"""Poses in space as (x, y, z), m, and a unit quaternion: one seen from another, and back."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...linalg.rotations import IDENTITY, conjugate, matrix_of, product
from .kinematics import SpatialMarker

GROUND_POSE = np.array([0.0, 0.0, 0.0, *IDENTITY])


def composed(outer: Array, inner: Array) -> Array:
    """Return the pose that stands at `inner` as seen from `outer`, shape (7,)."""
    turn = product(outer[3:], inner[3:])
    return np.concatenate([outer[:3] + matrix_of(outer[3:]) @ inner[:3], turn / np.sqrt(turn @ turn)])


def inverse(pose: Array) -> Array:
    """Return the pose of the frame itself as seen from `pose`, shape (7,)."""
    back = conjugate(pose[3:])
    return np.concatenate([-matrix_of(back) @ pose[:3], back])


def marker_pose(marker: SpatialMarker) -> Array:
    """Return where a marker is in the frame of its body, shape (7,)."""
    return np.array([*marker.at, *marker.turn])
