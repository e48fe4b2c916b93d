"""Poses in the plane as x, y (m) and angle (rad), full turns counted: one seen from another, and back."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .bodies import Marker
from .vectors import rotated

GROUND_POSE = np.zeros(3)


def composed(outer: Array, inner: Array) -> Array:
    """Return the pose that stands at `inner` as seen from `outer`, shape (3,)."""
    x, y = rotated((float(inner[0]), float(inner[1])), float(outer[2]))
    return np.array([outer[0] + x, outer[1] + y, outer[2] + inner[2]])


def inverse(pose: Array) -> Array:
    """Return the pose of the frame itself as seen from `pose`, shape (3,)."""
    x, y = rotated((float(pose[0]), float(pose[1])), -float(pose[2]))
    return np.array([-x, -y, -pose[2]])


def marker_pose(marker: Marker) -> Array:
    """Return where a marker is in the frame of its body, shape (3,)."""
    return np.array([*marker.at, 0.0])
