"""Energies and work of free bodies over many steps at once, from their coordinates and velocities alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from .workspace import Workspace

ROUNDING = 1e-15  # of the largest coordinate: what two ways of adding the same numbers may differ by


class Books(NamedTuple):
    """Energies at the end of n steps and the work over each, J, shape (n,); see `stepper.Work`."""

    kinetic: Array
    potential: Array
    reactions: Array
    forces: Array
    projection: Array


def books(space: Workspace, spans: Array, theta: float, control: Array | None, q: Array, v: Array) -> Books:
    """Return energies and work of n steps; the numbers of a step do not depend on how many are asked for.

    Parameters
    ----------
    space : Workspace
    spans : Array, shape (n, 3)
        Start, length and end of every step, s.
    theta : float
    control : Array or None, shape (nv,)
        Held during all of them.
    q, v : Array, shape (n + 1, nq) and (n + 1, nv)
        At the beginning and at the end of every step.
    """
    n, b = len(spans), len(space.v)
    x, V, dt = q.reshape(n + 1, b, 7)[:, :, :3], v.reshape(n + 1, b, 6), spans[:, 1, None, None]
    mean, average = 0.5 * (V[:-1] + V[1:]), (1.0 - theta) * V[:-1] + theta * V[1:]
    shaking = _shaking(space, spans[:, 0] + (1.0 - theta) * spans[:, 1])
    held = np.zeros((b, 6)) if control is None else control.reshape(b, 6)
    given = held + shaking
    force = space.weight + given + _gyroscopic(space, average)
    impulse = _momentum(space, V[1:] - V[:-1]) - dt * force
    lift = x[1:] - (x[:-1] + dt * average[:, :, :3])
    lifted = np.abs(lift).max(axis=(1, 2)) > ROUNDING * np.abs(x[1:]).max(axis=(1, 2))
    weight = space.weight[:, :3]
    return Books(
        kinetic=0.5 * _sums(V[1:] * _momentum(space, V[1:])),
        potential=-_sums(weight * x[1:]),
        reactions=_sums(mean * impulse),
        forces=spans[:, 1] * _sums(mean * given),
        projection=np.where(lifted, -_sums(weight * lift), 0.0),
    )


def _sums(x: Array) -> Array:
    """Return the sum of every entry of the first axis."""
    found: Array = np.ascontiguousarray(x).reshape(len(x), math.prod(x.shape[1:])).sum(axis=1)
    return found


def _spun(space: Workspace, w: Array) -> Array:
    """Return J w in body axes, shape (n, b, 3)."""
    J = space.bodies[1]
    found: Array = J[:, :, 0] * w[:, :, 0, None] + J[:, :, 1] * w[:, :, 1, None] + J[:, :, 2] * w[:, :, 2, None]
    return found


def _momentum(space: Workspace, v: Array) -> Array:
    """Return M v, shape (n, b, 6)."""
    return np.concatenate([space.bodies[0][:, None] * v[:, :, :3], _spun(space, v[:, :, 3:])], axis=2)


def _gyroscopic(space: Workspace, v: Array) -> Array:
    """Return -w x J w, shape (n, b, 6)."""
    w = v[:, :, 3:]
    L, force = _spun(space, w), np.zeros_like(v)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        force[:, :, 3 + i] = L[:, :, j] * w[:, :, k] - L[:, :, k] * w[:, :, j]
    return force


def _shaking(space: Workspace, t: Array) -> Array:
    """Return the force of all shakings at the times t, shape (n, b, 6)."""
    force = np.zeros((len(t), len(space.v), 6))
    for x, y, z, rate, phase in space.loads[1].tolist():
        push = -np.sin(rate * t + phase)[:, None] * space.bodies[0]
        for k, a in enumerate((x, y, z)):
            force[:, :, k] += push * a
    return force
