"""The contact problem of a scene at its start, along a parameter: polynomials found from a few states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import EPS, Array
from ...contact.active_set import active_set
from ...contact.outcome.modal_data import contact_rows, local_doubles
from ...contact.outcome.outcome import outcome
from ...contact.snapshot import LocalDynamics, snapshot
from ...errors import InputError
from ...mechanics.scene import Scene
from .parameter_range import Axis

LETTERS = "DLlSs+p-m"  # bit k of a cell: mode LETTERS[k], see `planar_contact_counts`
SAMPLES = (0.03, 0.5, 0.97)  # where along y the data are taken, and where they are checked
CHECKS = (0.29, 0.76)
AGREE = 1e-9
ROUNDED = 32.0 * EPS  # of the data: coefficients that add no more are none

Build = Callable[..., Scene]


class NotPolynomial(Exception):
    """The data are not polynomials of degree 2 along an axis."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Data of the contact problem at one pair of parameters: W row by row, q, mu, mu_s; slip -1, 0, 1; held."""

    data: Array
    slip: float
    held: bool
    scene: Scene


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Coefficients (nx, 8, 3) of 1, y, y^2, the slip of every column, and one of the scenes."""

    C: Array
    slip: Array
    held: bool
    scene: Scene
    evaluations: int


def start_of(scene: Scene) -> LocalDynamics:
    """Return the acceleration problem at the start of a scene."""
    control = None if scene.control is None else scene.control(scene.state.t, scene.state)
    return snapshot(scene.system, scene.state, control=control)


def sample_of(scene: Scene) -> Sample:
    """Ask the engine for the contact problem at the start of a scene."""
    dynamics = start_of(scene)
    rows = contact_rows(dynamics)
    acting = [one for one in rows if one.block is not None]
    allowed = "a scene with exactly one contact, closed and in the plane, at its start"
    if len(acting) != 1 or len(acting[0].J) > 2 or acting[0].document.get("law") == "dry":
        raise InputError(
            "scene",
            f"{scene.name} with {len(acting)} acting contacts",
            allowed,
            "Look at one state instead: gaussdyn outcome SCENE.",
        )
    W, q = local_doubles(dynamics, rows)
    row = next(a.row for a in active_set(dynamics).rows if a.row.J[: len(acting[0].J)].shape == acting[0].J.shape
               and np.array_equal(a.row.J[: len(acting[0].J)], acting[0].J) and a.row.kind != "bilateral")  # fmt: skip
    slip = float(np.sign(row.rate[1])) if acting[0].sliding else 0.0
    if len(q) == 1:  # without friction
        return Sample(data=np.array([W[0, 0], 0, 0, 1.0, q[0], 0, 0, 0]), slip=1.0, held=row.bilateral, scene=scene)
    data = np.array([*W.ravel(), *q, row.mu, row.mu_s])
    return Sample(data=data, slip=slip, held=row.bilateral, scene=scene)


def columns(build: Build, x: Axis, y: Axis) -> Table:
    """Return the coefficients of every column.

    Raises
    ------
    NotPolynomial
        They do not reproduce the data at the check points, or the slip changes its sign along y.
    """
    shares = (*SAMPLES, *CHECKS)
    places = [float(y.at(share)) for share in shares]
    powers = np.vander(places, 3, increasing=True)
    fit, reach = np.linalg.inv(powers[: len(SAMPLES)]), np.abs(powers).max(axis=0)
    C, slip, sample = np.empty((x.size, 8, 3)), np.empty(x.size), None
    for j, value in enumerate(x.values):
        samples = [sample_of(build(**{x.name: float(value), y.name: place})) for place in places]
        data, sample = np.array([one.data for one in samples]), samples[0]
        if len({(one.slip, one.held) for one in samples}) > 1:
            raise NotPolynomial(f"the contact changes its state at {x.name} = {value:g}")
        C[j], slip[j] = (fit @ data[: len(SAMPLES)]).T, sample.slip
        C[j][np.abs(C[j]) * reach <= ROUNDED * np.abs(data).max(axis=0)[:, None]] = 0.0  # or ties would be missed
        error = np.abs(powers[len(SAMPLES) :] @ C[j].T - data[len(SAMPLES) :])
        if (error > AGREE * np.abs(data).max(axis=0)).any():
            raise NotPolynomial(f"they are off by {error.max():.1e} at {x.name} = {value:g}")
    assert sample is not None
    return Table(C=C, slip=slip, held=sample.held, scene=sample.scene, evaluations=x.size * len(shares))


def reduced(data: Array, slip: Array) -> tuple[Array, Array]:
    """Return A and b of a_N = A N + b; data (..., nx, 8), slip (nx,)."""
    return data[..., 0] - data[..., 6] * slip * data[..., 1], data[..., 4].copy()


def decided_modes(scene: Scene) -> int:
    """Return the modes of a scene at its start as bits, by `outcome`."""
    found = outcome(start_of(scene), certify=False)
    names: Sequence[str] = [name for component in found.components for name in component.modes]
    return sum(1 << LETTERS.index(name) for name in set("".join(names)))
