"""Small files of measured data, made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np


def pendulum(path: Path, **changes: Any) -> None:
    """A mass on a ball joint, hanging at rest: the reaction is its weight; six digits."""
    with h5py.File(path, "w") as file:
        case = file.create_group("Hanging")
        attributes = {
            "kind": "spherical", "mass": 2.0, "inertia_body": [0.1, 0.1, 0.1], "gravity": [0.0, 0.0, -10.0],
            "position": [0.0, 0.0, -1.0], "quaternion": [1.0, 0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0],
            "angular_velocity": [0.0, 0.0, 0.0], "marker_body": [0.0, 0.0, 1.0], "joint_location": [0.0, 0.0, 0.0],
            "joint_quaternion": [1.0, 0.0, 0.0, 0.0],
        }  # fmt: skip
        case.attrs.update({**attributes, **changes})
        case["time"] = np.arange(6) * 0.01
        for name, value in (("position", (0.0, 0.0, -1.0)), ("velocity", (0, 0, 0)), ("reaction_force", (0, 0, -20.0))):
            case[name] = np.tile(np.array(value, dtype=float), (6, 1))
            case[name].attrs["significant_digits"] = 6
