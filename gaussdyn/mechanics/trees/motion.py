"""What a forest says of itself at one state, compiled: mass, forces, energy, rows of joints."""

from __future__ import annotations

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ..collision.vectors import along, dot3, three, triple3, turned
from .dynamics import mass_matrix, momentum, paired, take_bias
from .forces import (
    actuator_forces,
    applied_forces,
    drives_beside,
    fluid_forces,
    joint_dampers,
    joint_springs,
    leave_drives,
    lift_weights,
    tendon_forces,
)
from .forest import ARMATURE, CENTRE, LIFT, MASS, Forest
from .kinematics import place_bodies, place_inertias, put_speeds
from .paths import put_paths
from .row_kernels import coupling_row


@kernel(f"void(Forest, {A1}, {A1})", borrows=True, entry=True)
def put_forest(forest: Forest, q: Array, v: Array) -> None:
    """Put how all bodies stand and move."""
    place_bodies(forest.trees, forest.moving, q)
    put_paths(forest.trees, forest.moving, forest.drives)
    put_speeds(forest.trees, forest.moving, v)


@kernel(f"void(Forest, {A1}, {A2})", borrows=True, entry=True, rare=True)
def forest_mass(forest: Forest, q: Array, M: Array) -> None:
    """Put M."""
    place_bodies(forest.trees, forest.moving, q)
    place_inertias(forest.trees, forest.moving)
    mass_matrix(forest.trees, forest.moving, M)


@kernel(f"float64(Forest, float64, {A1}, {A1}, {A1}, {A1})", borrows=True, rare=True)
def passive_forces(forest: Forest, t: float, q: Array, v: Array, damped: Array, h: Array) -> float:
    """Add what is neither motion nor actuators; return the power of what has no potential.

    `damped` are the velocities that dampers of joints see.
    """
    trees, moving = forest.trees, forest.moving
    joint_springs(trees, q, h)
    power = joint_dampers(trees, damped, h) + tendon_forces(trees, forest.drives, q, v, h)[1]
    lift_weights(trees, moving, h)
    return power + fluid_forces(trees, moving, h) + applied_forces(trees, moving, t, h)


@kernel(f"float64(Forest, float64, {A1}, {A1}, {A1}, {A1})", borrows=True, entry=True, rare=True)
def forest_forces(forest: Forest, t: float, q: Array, v: Array, damped: Array, h: Array) -> float:
    """Put the generalised force at a state; return the power of what has no potential, W.

    `damped` are the velocities that dampers of joints see, and actuators that a step has beside the mass: v, unless it
    has the rest of them there.
    """
    put_forest(forest, q, v)
    place_inertias(forest.trees, forest.moving)
    take_bias(forest.trees, forest.moving, 1.0, h)
    power = passive_forces(forest, t, q, v, damped, h)
    return power + actuator_forces(forest.trees, forest.drives, q, v, damped, forest.moving.spare, h)


@kernel(f"void(Forest, {A1}, {A1}, {A1})", borrows=True, entry=True, rare=True)
def add_coriolis(forest: Forest, q: Array, v: Array, h: Array) -> None:
    """Add Coriolis and centrifugal forces of a motion by itself, and nothing else, to h."""
    put_forest(forest, q, v)
    place_inertias(forest.trees, forest.moving)
    take_bias(forest.trees, forest.moving, 0.0, forest.moving.spare)
    for k in range(len(h)):
        h[k] += forest.moving.spare[k]


@kernel(f"void(Forest, float64, {A1}, {A1}, {A1}, {A2}, {A1})", borrows=True, entry=True)
def forest_forces_foreseen(
    forest: Forest, t: float, q: Array, v: Array, mean: Array, M: Array, h: Array
) -> None:  # fmt: skip
    """Put the force at (q, v), that of dampers of joints, and of drives a step has beside the mass, at (q, mean).

    M, shape (nv, nv), is work space.
    """
    put_forest(forest, q, mean)
    leave_drives(forest.drives)
    drives_beside(forest.trees, forest.drives, q, mean, 0.0, False, M)
    forest_forces(forest, t, q, v, mean, h)


@kernel(f"float64(Forest, float64, {A1}, {A1}, {A1})", borrows=True, rare=True)
def forest_power(forest: Forest, t: float, q: Array, v: Array, h: Array) -> float:
    """Return the power of what has no potential, W; h is work space."""
    put_forest(forest, q, v)
    return passive_forces(forest, t, q, v, v, h) + actuator_forces(
        forest.trees, forest.drives, q, v, v, forest.moving.spare, h
    )


@kernel(f"float64(Forest, {A1}, {A1})", borrows=True, rare=True)
def forest_kinetic(forest: Forest, q: Array, v: Array) -> float:
    """Return the kinetic energy, J: that of the bodies and of armatures."""
    trees, moving = forest.trees, forest.moving
    put_forest(forest, q, v)
    place_inertias(trees, moving)
    energy = 0.0
    for b in range(len(trees.inertia)):
        speed = moving.speed[b]
        turning, going = momentum(moving.inertia[b], three(speed, 0), three(speed, 3))
        energy += 0.5 * paired(speed, turning, going)
    for d in range(len(v)):
        energy += 0.5 * trees.losses[d, ARMATURE] * v[d] * v[d]
    return energy


@kernel(f"float64(Forest, {A1}, {A1})", borrows=True, entry=True, rare=True)
def forest_potential(forest: Forest, q: Array, rest: Array) -> float:
    """Return the energy of gravity and springs, J; `rest` are velocities of zero."""
    trees, moving = forest.trees, forest.moving
    spare = moving.spare
    place_bodies(trees, moving, q)
    put_paths(trees, moving, forest.drives)
    energy = joint_springs(trees, q, spare) + tendon_forces(trees, forest.drives, q, rest, spare)[0]
    for b in range(len(trees.inertia)):
        own = trees.inertia[b]
        centre = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], own, CENTRE))
        energy -= own[MASS] * (1.0 - own[LIFT]) * dot3(centre, triple3(trees.gravity))
    return energy


@kernel(f"void(Forest, {A1}, {A1}, {A2}, {A2})", borrows=True, entry=True)
def forest_rows(forest: Forest, q: Array, v: Array, numbers: Array, J: Array) -> None:
    """Put gap, rate and drift of the rows of joints, shape (r, 3), and J, where `put_forest` has put the bodies."""
    for k in range(len(numbers)):
        numbers[k, 0], numbers[k, 1], numbers[k, 2] = coupling_row(forest, q, v, k, J[k])
