"""ADAMS runs of joints beside ours: every column, and the digits that were printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...arrays import Array
from ...contact.resolve import resolve
from ...contact.snapshot import snapshot
from ...integrate.event_driven.integrator import EventDriven
from ...integrate.simulate import simulate
from ...linalg.rotations import matrix_of
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from .adams_systems import system_of
from .adams_trees import of_body, tree_of
from .recorded_file import recorded

RTOL, ATOL = 1e-11, 1e-12
REACTIONS = 3e-4  # of the largest value, to which the reactions of ADAMS hold
ROUNDING = 1.1  # a digit that is rounded after another rounding may be off by a little more than half
MOTION = ("position", "velocity", "angular_velocity", "quaternion_wxyz")


Coordinates = Literal["bodies", "joints"]
Read = tuple[Array, Array, Array]  # place and quaternion, velocities, accelerations


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDifference:
    """One column of one case.

    Attributes
    ----------
    case, column : str
    coordinates : "bodies" or "joints"
        In which our run was made.
    largest, difference : float
        Largest entry of the recording, and of the difference.
    bar : float
        Half a unit of the last digit printed for the largest entry, or 3e-4 of a largest reaction.
    independent : float
        By how much an integration from the file's attributes by other means differs; where that is more than the bar it
        is the recording that is off.
    """

    case: str
    column: str
    largest: float
    difference: float
    bar: float
    independent: float
    coordinates: Coordinates = "bodies"

    @property
    def holds(self) -> bool:
        """Whether the difference is within the bar, or is that of the recording itself."""
        return self.difference <= max(ROUNDING * self.bar, 1.02 * self.independent + 1e-12)

    @property
    def loose(self) -> bool:
        """Whether the recording itself is off by more than the bar."""
        return self.independent > ROUNDING * self.bar + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCase:
    """One case: ours and the recording, and how far they are apart."""

    name: str
    t: Array
    ours: dict[str, Array]
    theirs: dict[str, Array]
    differences: tuple[ColumnDifference, ...]


def joint_cases(
    folder: Path, names: tuple[str, ...] | None = None, coordinates: Coordinates = "bodies"
) -> list[JointCase]:
    """Run the cases of the file (all, or those named) and compare them.

    Parameters
    ----------
    folder : Path
    names : tuple of str, optional
    coordinates : "bodies" or "joints"
        Six of a body held by rows, or those that its joints leave; of cases that have no such joints there is none.
    """
    with recorded(folder, "joints") as file:
        found = [_case(name, file[name], coordinates) for name in (names or tuple(file))]
    return [one for one in found if one is not None]


def _case(name: str, group: Any, coordinates: Coordinates) -> JointCase | None:
    """Return one recorded case beside our run; None if the mechanism cannot be run in joint coordinates."""
    attributes = {key: group.attrs[key] for key in group.attrs}
    system, start = system_of(attributes)
    t = np.asarray(group["time"][()], dtype=float)
    if coordinates == "bodies":
        ours = _run(system, start, t, _of_body)
    else:
        tree = tree_of(attributes, system, start)
        if tree is None:
            return None
        ours = _run(*tree, t, of_body)
    ours |= _reactions(attributes, ours)
    theirs = {key: np.asarray(group[key][()], dtype=float) for key in group if key in ours}
    differences = tuple(_difference(name, key, coordinates, ours[key], theirs[key], group[key].attrs) for key in theirs)
    return JointCase(name=name, t=t, ours=ours, theirs=theirs, differences=differences)


def _run(system: Any, start: State, t: Array, read: Callable[[Any, State, Array], Read]) -> dict[str, Array]:
    """Return the columns of our run at the times of the recording; angular velocity and accelerations in space."""
    run = simulate(
        system, start, float(t[-1]), stepper=EventDriven(rtol=RTOL, atol=ATOL, dt=float(t[1] - t[0])), examine="off"
    )
    rows = []
    for k in np.searchsorted(run.t, t - 1e-9):
        state = State(t=float(run.t[k]), q=run.q[k], v=run.v[k])
        a = np.asarray(resolve(snapshot(system, state, level="acceleration")).require().x)
        rows.append(np.concatenate(read(system, state, a)))
    place, turn, v, w, a, alpha = np.split(np.array(rows), [3, 7, 10, 13, 16], axis=1)
    return {
        "position": place, "velocity": v, "angular_velocity": w, "quaternion_wxyz": turn, "acceleration": a,
        "angular_acceleration": alpha,
    }  # fmt: skip


def _of_body(_system: SpatialSystem, state: State, a: Array) -> Read:
    """Return place and quaternion (7,), velocities (6,) and accelerations (6,) in space."""
    R = matrix_of(state.q[3:7])
    return state.q, np.r_[state.v[:3], R @ state.v[3:]], np.r_[a[:3], R @ a[3:]]


def _reactions(case: dict[str, Any], ours: dict[str, Array]) -> dict[str, Array]:
    """Return what acts on the ground: by Newton and Euler all that is neither weight nor inertia, the other way round.

    Torques are about the joint's location; for a line with a joint at both ends (`_body1`, `_body2`) the second force
    acts on the body.
    """
    I = np.diag(np.array(case["inertia_body"], dtype=float))
    anchor = np.array(case["joint_location"] if "joint_location" in case else case["ground_point"], dtype=float)
    force = -float(case["mass"]) * (ours["acceleration"] - np.array(case["gravity"], dtype=float))
    torque = np.empty_like(force)
    for k, (x, q, w, alpha) in enumerate(
        zip(
            ours["position"],
            ours["quaternion_wxyz"],
            ours["angular_velocity"],
            ours["angular_acceleration"],
            strict=True,
        )
    ):
        R = matrix_of(q)
        J = R @ I @ R.T
        torque[k] = -(J @ alpha + np.cross(w, J @ w)) + np.cross(x - anchor, force[k])
    second = {"reaction_force_body2": -force, "reaction_torque_body2": np.zeros_like(force)}
    return {
        "reaction_force": force,
        "reaction_torque": torque,
        "reaction_force_body1": force,
        "reaction_torque_body1": torque,
        **second,
    }


def _difference(
    case: str, column: str, coordinates: Coordinates, ours: Array, theirs: Array, attributes: Any
) -> ColumnDifference:
    """Return how far a column is from the recorded one, and its bar; quaternions q and -q are one rotation."""
    if column == "quaternion_wxyz":
        ours = ours * np.sign(np.sum(ours * theirs, axis=1))[:, None]
    largest = float(np.abs(theirs).max())
    digits = int(attributes.get("significant_digits", 0))
    last = 0.5 * 10.0 ** (np.floor(np.log10(largest)) - digits + 1) if largest > 0.0 and digits > 0 else 0.0
    moving = column in MOTION
    bar = last if moving else max(REACTIONS * largest, 1e-9)
    independent = float(attributes.get("independent_integration_differs_by", 0.0))
    return ColumnDifference(
        case=case, column=column, coordinates=coordinates, largest=largest,
        difference=float(np.abs(ours - theirs).max()), bar=float(bar), independent=independent,
    )  # fmt: skip
