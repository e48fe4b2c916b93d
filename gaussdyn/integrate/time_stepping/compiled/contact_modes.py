"""Whether contacts between free bodies are open, stick or slip at the end of a step, compiled."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ....contact.free_bodies.coulomb import weighted_length
from ....contact.free_bodies.structure import block_multiply, relative_motion
from ....programs.laws.laws import BORDER
from ....programs.solution.residual_kernels import ACTIVE, DEGENERATE, INACTIVE, OPEN, SLIP, STICK
from .records import FEATURES, MODE, NOW, REST_ROUGH, WHICH, BodySolver, BodyStep


@kernel(f"int64(float64, float64, {A1}, {A1}, float64)", borrows=True)
def mode_of(mu: float, rho: float, p: Array, u: Array, tol: float) -> int:
    """Return the mode of one contact, by the rules of `programs.audit_kernels.block_mode`."""
    if p[0] <= tol:
        return OPEN if rho * u[0] > tol else DEGENERATE
    if mu <= 0.0:
        return STICK
    room = mu * p[0] - np.sqrt(p[1] * p[1] + p[2] * p[2])
    if room > tol:
        return STICK
    if rho * np.sqrt(u[1] * u[1] + u[2] * u[2]) > tol:
        return SLIP
    return STICK if room < -tol else DEGENERATE


@kernel("float64(BodyStep, BodySolver)", borrows=True)
def put_rates(step: BodyStep, solver: BodySolver) -> float:
    """Put u of the contacts at the end, and u without impulses (best); return what counts as zero in rho u and p."""
    contacts, _M, inverse, h, w, mu, rho = solver.problem
    u, q, F, count = solver.iterate.u, solver.iterate.best, solver.work.F, contacts.first[-1]
    block_multiply(inverse, h, F)
    relative_motion(contacts, F, q)
    relative_motion(contacts, step.state.guess, u)
    for c in range(count):
        for k in range(3):
            q[c, k] += w[c, k]
            u[c, k] += w[c, k]
    scale = weighted_length(count, mu, rho, q)
    return BORDER * (scale if scale > 0.0 else 1.0)


@kernel("float64(BodySolver)", borrows=True)
def beyond_cones(solver: BodySolver) -> float:
    """Return how far the impulses leave their friction cones, over their size."""
    mu, p, size, cone = solver.problem.mu, solver.iterate.p, 0.0, 0.0
    for c in range(solver.problem.contacts.first[-1]):
        for k in range(3):
            size += p[c, k] * p[c, k]
        if mu[c] > 0.0:
            cone = max(cone, np.sqrt(p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]) - mu[c] * p[c, 0])
    return cone / np.sqrt(size) if size > 0.0 else 0.0


@kernel("boolean(BodyStep, BodySolver)", borrows=True)
def any_friction(step: BodyStep, solver: BodySolver) -> bool:
    """Return whether a contact that acts has friction."""
    rough, mu = step.left.figures[REST_ROUGH] > 0.0, solver.problem.mu
    for c in range(solver.problem.contacts.first[-1]):
        rough = rough or mu[c] > 0.0
    return bool(rough)


@kernel("int64(BodyStep, BodySolver)", borrows=True)
def note_modes(step: BodyStep, solver: BodySolver) -> int:
    """Put the modes of the features at the end of the step; return how many say another thing than before.

    That is: open, stick, slip or active. A mode on the border of two leaves it as it was. Where nothing has friction
    those that push are active.
    """
    n, marks, mu, rho = step.counts[FEATURES], step.acting.marks, solver.problem.mu, solver.problem.rho
    p, u, count, changed = solver.iterate.p, solver.iterate.u, solver.problem.contacts.first[-1], 0
    tol, rough = put_rates(step, solver), any_friction(step, solver)
    for f in range(n):
        marks[MODE, f] = OPEN
    for c in range(count):
        mode = ACTIVE if p[c, 0] > 0.0 else INACTIVE
        marks[MODE, marks[WHICH, c]] = mode_of(mu[c], rho[c], p[c], u[c], tol) if rough else mode
    for f in range(n):
        mode = marks[NOW, f] if marks[MODE, f] == DEGENERATE else marks[MODE, f]
        mode = OPEN if mode == INACTIVE else mode
        changed += mode != marks[NOW, f]
        marks[NOW, f] = mode
    return changed
