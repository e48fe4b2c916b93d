"""A forest at one state, for Python: frames and their motion, rows of joints, forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._jit import Held
from ...arrays import Array, IntArray
from ..collision.body_motions import BodyMotions
from ..rows import Row
from .forest import Forest, moving_of, own_drives
from .frames import frame_motions, frame_speeds
from .motion import (
    add_coriolis,
    forest_forces,
    forest_forces_foreseen,
    forest_mass,
    forest_potential,
    forest_rows,
    put_forest,
)


def held(record: Any) -> Any:
    """Return a record as kernels take it."""
    return Held(record)


class Frame(NamedTuple):
    """Place, shape (3,), m, and axes, shape (3, 3), of a body in space."""

    x: Array
    R: Array


@dataclass(frozen=True, eq=False)
class ForestState:
    """A forest with work space of its own, so that threads do not meet in it; get one by `at`.

    Attributes
    ----------
    forest : Forest
    q, v : Array
    """

    forest: Forest
    q: Array
    v: Array

    @staticmethod
    def at(forest: Forest, q: Array, v: Array | None = None, control: Array | None = None) -> ForestState:
        """Return the forest at a state; `control` stands for zeros where it is None."""
        drives = own_drives(forest.drives)
        told = np.zeros(len(drives.control)) if control is None else np.ascontiguousarray(control)
        own = forest._replace(moving=moving_of(forest.trees), drives=drives._replace(control=told))
        rates = np.zeros(len(forest.trees.dofs)) if v is None else np.ascontiguousarray(v, dtype=np.float64)
        return ForestState(own, np.ascontiguousarray(q, dtype=np.float64), rates)

    @cached_property
    def held(self) -> Any:
        """The forest as kernels take it."""
        return Held(self.forest)

    @cached_property
    def placed(self) -> Forest:
        """The forest with bodies where they are, moving as they do."""
        put_forest(self.held, self.q, self.v)
        return self.forest

    def mass(self) -> Array:
        """Return M, shape (nv, nv)."""
        M = np.zeros((len(self.v), len(self.v)))
        forest_mass(self.held, self.q, M)
        return M

    def force(self, t: float) -> tuple[Array, float]:
        """Return the generalised force, and the power of what has no potential."""
        h = np.zeros(len(self.v))
        return h, float(forest_forces(self.held, t, self.q, self.v, self.v, h))

    def coriolis(self) -> Array:
        """Return Coriolis and centrifugal forces alone."""
        h = np.zeros(len(self.v))
        add_coriolis(self.held, self.q, self.v, h)
        return h

    def force_foreseen(self, t: float, mean: Array) -> Array:
        """Return the generalised force of a step without corrections whose mean velocity is `mean`."""
        h, M = np.zeros(len(self.v)), np.zeros((len(self.v), len(self.v)))
        forest_forces_foreseen(self.held, t, self.q, self.v, np.ascontiguousarray(mean), M, h)
        return h

    def potential(self) -> float:
        """Return the energy of gravity and springs."""
        return float(forest_potential(self.held, self.q, self.v))

    def rows(self, blanks: tuple[Row, ...]) -> list[Row]:
        """Return the rows of joints, made from rows without values."""
        numbers, J = np.zeros((len(blanks), 3)), np.zeros((len(blanks), len(self.v)))
        if blanks:
            assert self.placed
            forest_rows(self.held, self.q, self.v, numbers, J)
        found = zip(blanks, numbers[:, 0].tolist(), numbers, J, strict=True)
        return [row.but(gap=gap, rate=x[1:2], drift=x[2:3], J=line[None]) for row, gap, x, line in found]

    def bodies(self) -> BodyMotions:
        """Return how all bodies move; columns of J and turn are those of velocities, and one for `frame_motions`."""
        moving, n, nv = self.placed.moving, len(self.forest.trees.inertia), len(self.v)
        velocity, omega, drift = (np.zeros((n + 1, 3)) for _ in range(3))
        JX, turn = (np.zeros((n + 1, 3, nv + 1)) for _ in range(2))
        frame_speeds(self.held, velocity, omega)
        frame_motions(self.held, drift, JX, turn)
        return BodyMotions(moving.x, moving.R, velocity, omega, drift, JX, turn, np.zeros(n + 1, dtype=np.int64))

    def frame(self, body: int) -> Frame:
        """Return the frame of a body, by number."""
        return Frame(self.placed.moving.x[body], self.placed.moving.R[body])


class ForestSeries(NamedTuple):
    """A forest at many states at once, with work space of its own; get one by `of`."""

    forest: Any
    frame_count: int

    @staticmethod
    def of(forest: Forest) -> ForestSeries:
        """Return a forest for states to come."""
        trees = forest.trees
        own = ForestState.at(forest, np.zeros(len(forest.moving.at)), np.zeros(len(trees.dofs)))
        return ForestSeries(own.held, len(trees.inertia) + 1)

    def moved(self, q: Array, v: Array, dt: Array) -> Array:
        """Return the coordinates after dt, shape (n,), at constant v, shape (n, nq)."""
        from .body_series import moved_along

        moved = np.empty(q.shape)
        moved_along(self.forest, np.ascontiguousarray(q), np.ascontiguousarray(v), dt, moved)
        return moved

    def bodies(self, number: IntArray, q: Array, v: Array) -> tuple[Array, Array]:
        """Return coordinates (n, 7 m) and velocities (n, 6 m) of m bodies, by their numbers here, at n states."""
        from .body_series import bodies_along

        Q, V = np.empty((len(q), 7 * len(number))), np.empty((len(q), 6 * len(number)))
        bodies_along(self.forest, number, np.ascontiguousarray(q), np.ascontiguousarray(v), Q, V)
        return Q, V

    def frames(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return places (n, p, b, 3) and axes (n, p, b, 3, 3) of all frames, the ground last, at q, shape (n, p, nq).

        Then the velocities and angular velocities, shape (n, b, 3), that they have at the first of p with v, (n, nv).
        """
        from .body_series import frames_along

        x = np.empty((*q.shape[:2], self.frame_count, 3))
        R, velocity, omega = np.empty((*x.shape, 3)), *np.empty((2, len(q), *x.shape[2:]))
        frames_along(self.forest, np.ascontiguousarray(q), np.ascontiguousarray(v), x, R, velocity, omega)
        return x, R, velocity, omega
