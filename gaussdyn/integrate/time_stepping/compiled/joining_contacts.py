"""Contacts that begin to act, or cease to, while a step of free bodies is solved, compiled; see `scheme`."""

from __future__ import annotations

import numpy as np

from ...._jit import A2, kernel
from ....arrays import Array
from .active_contacts import place_acting, restitution
from .body_kinematics import turn_spins
from .records import ACTS, FEATURES, JOINED, LATE, WHICH, BodySolver, BodySpan, BodyStep


@kernel("void(BodyStep, BodySolver)", borrows=True)
def lay_aside(step: BodyStep, solver: BodySolver) -> None:
    """Keep impulses and normal speeds by feature, for `take_again`."""
    index, impulse, p, u = step.acting, solver.iterate.other, solver.iterate.p, solver.iterate.u
    for f in range(step.counts[FEATURES]):
        impulse[f, 0] = impulse[f, 1] = impulse[f, 2] = 0.0
        index.value[f] = np.inf
    for c in range(solver.problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        for k in range(3):
            impulse[f, k] = p[c, k]
        index.value[f] = u[c, 0]


@kernel("void(BodyStep, BodySolver)", borrows=True)
def take_again(step: BodyStep, solver: BodySolver) -> None:
    """Put the contacts that act now, with the impulses and normal speeds laid aside."""
    index = step.acting
    place_acting(step, solver, solver.iterate.other)
    for c in range(solver.problem.contacts.first[-1]):
        solver.iterate.u[c, 0] = index.value[index.marks[WHICH, c]]


@kernel("void(BodyStep, BodySolver, BodySpan)", borrows=True)
def join_late(step: BodyStep, solver: BodySolver, span: BodySpan) -> None:
    """Let the contacts that close late act, with their restitution terms."""
    numbers, law, turned = step.acting.marks, step.features.law, step.state.mean
    lay_aside(step, solver)
    turn_spins(step.poses.R[0], step.state.v, 0.0, turned)
    for f in range(step.counts[FEATURES]):
        if numbers[LATE, f]:
            numbers[ACTS, f] = numbers[JOINED, f] = 1
            if law[f, 1] != 0.0 or law[f, 2] != 0.0:
                restitution(step, f, turned, span.speed)
    take_again(step, solver)


@kernel(f"boolean(BodyStep, {A2}, int64)", borrows=True)
def idle(step: BodyStep, p: Array, c: int) -> bool:
    """Return whether contact c joined and does not push."""
    marks = step.acting.marks
    return bool(marks[JOINED, marks[WHICH, c]] and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0)


@kernel("boolean(BodyStep, BodySolver)", borrows=True)
def leave_idle(step: BodyStep, solver: BodySolver) -> bool:
    """Let the contacts that joined and do not push act no longer; return whether there were any.

    Others may have stopped what they joined for. Where they stay they would be closed, which pulls the bodies.
    """
    numbers, p, count, some = step.acting.marks, solver.iterate.p, solver.problem.contacts.first[-1], False
    for c in range(count):
        some = some or idle(step, p, c)
    if not some:
        return False
    lay_aside(step, solver)
    for c in range(count):
        if idle(step, p, c):
            numbers[ACTS, numbers[WHICH, c]] = 0
    take_again(step, solver)
    return True
