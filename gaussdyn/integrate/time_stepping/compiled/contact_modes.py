"""Whether contacts between free bodies are open, stick or slip at the end of a step, compiled."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.coulomb import weighted_length
from ....contact.free_bodies.structure import block_multiply, relative_motion
from .records import MODE, NOW, WHICH, Index

OPEN, STICK, SLIP, DEGENERATE, ACTIVE, INACTIVE = range(6)
BORDER = 1e-8  # of |rho q|, as in `programs.residuals`


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


@kernel(f"UniTuple(float64, 2)(int64, Index, BodyProblem, Iterate, {A2}, BodyWork)", borrows=True)
def note_modes(
    n: int, index: Index, problem: BodyProblem, iterate: Iterate, v: Array, work: BodyWork
) -> tuple[float, float]:  # fmt: skip
    """Put the modes of the n features at the velocity v, and what they say about each: open, stick, slip or active.

    A mode on the border of two leaves that as it was. Returns how far the impulses leave their friction cones, over
    their size, and how many features changed. Where nothing has friction those that push are active.
    """
    contacts, _M, inverse, h, w, mu, rho = problem
    p, u, q, numbers, count = iterate.p, iterate.u, iterate.best, index.marks, contacts.first[-1]
    block_multiply(inverse, h, work.F)
    relative_motion(contacts, work.F, q)
    relative_motion(contacts, v, u)
    rough, size, cone, changed = False, 0.0, 0.0, 0
    for c in range(count):
        rough = rough or mu[c] > 0.0
        for k in range(3):
            q[c, k] += w[c, k]
            u[c, k] += w[c, k]
            size += p[c, k] * p[c, k]
        if mu[c] > 0.0:
            cone = max(cone, np.sqrt(p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]) - mu[c] * p[c, 0])
    scale = weighted_length(count, mu, rho, q)
    tol = BORDER * (scale if scale > 0.0 else 1.0)
    for f in range(n):
        numbers[MODE, f] = OPEN
    for c in range(count):
        mode = ACTIVE if p[c, 0] > 0.0 else INACTIVE
        numbers[MODE, numbers[WHICH, c]] = mode_of(mu[c], rho[c], p[c], u[c], tol) if rough else mode
    for f in range(n):
        mode = numbers[NOW, f] if numbers[MODE, f] == DEGENERATE else numbers[MODE, f]
        mode = OPEN if mode == INACTIVE else mode
        changed += mode != numbers[NOW, f]
        numbers[NOW, f] = mode
    return cone / np.sqrt(size) if size > 0.0 else 0.0, float(changed)
