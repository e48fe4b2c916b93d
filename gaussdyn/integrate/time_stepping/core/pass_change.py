"""How far the data of a step change from pass to pass, and what that is measured by."""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ..scheme import LOOSER
from .linear import multiply_abs
from .problem.contact_problem import Problem
from .records import MOVED, SOFT, Data, Layout
from .work_space import Work


@kernel("float64(Layout, Data, Work, float64)", borrows=True)
def far_from_last(layout: Layout, data: Data, work: Work, dt: float) -> float:
    """Return the largest change of the data since the last pass, relative to its own size, and keep the data."""
    nv, size, most, far = len(data.v), work.momentum, 0.0, 0.0
    fastest = 0.0
    for i in range(nv):
        most = max(most, size[i])
        far = max(far, dt * abs(data.h[i] - work.hu[i]))
        fastest += size[i] * work.speed[i]
        work.hu[i] = data.h[i]
    far, fastest = far / most if most > 0.0 else far, np.sqrt(fastest)
    data.log[MOVED], longest = 0.0, -1.0
    for k in range(layout.counts[0]):
        if data.acts[k] == 0:
            continue
        change, scale = 0.0, work.size[k] * fastest
        for i in range(layout.start[k], layout.start[k + 1]):
            change = max(change, abs(data.w[i] - work.wu[i]))
            work.wu[i] = data.w[i]
        part = change / (work.size[k] if work.size[k] > 0.0 else 1.0)
        if layout.kind[k] != SOFT and part > longest:
            data.log[MOVED], longest = k + 1.0, part
        far = max(far, LOOSER * (change / scale if scale > 0.0 else change))
    return far


@kernel("void(Layout, Work, Problem)", borrows=True)
def measure_rows(layout: Layout, work: Work, problem: Problem) -> None:
    """Put the longest row of every constraint that acts, in the metric of the inverse mass."""
    for k in range(layout.counts[0]):
        work.size[k] = 0.0
    held, first = problem.counts[2], problem.start
    for i in range(held):
        k = np.searchsorted(layout.start, problem.at[i], side="right") - 1
        work.size[k] = max(work.size[k], np.sqrt(max(problem.A[i, i], 0.0)))
    for b in range(problem.counts[0]):
        k = problem.block[b]
        for i in range(held + first[b], held + first[b + 1]):
            work.size[k] = max(work.size[k], np.sqrt(max(problem.A[i, i], 0.0)))


@kernel("void(Layout, Data, Work, Problem)", borrows=True)
def measure(layout: Layout, data: Data, work: Work, problem: Problem) -> None:
    """Put what changes of the data are measured by: lengths of rows, and |M| |v|."""
    multiply_abs(data.M, layout.nodes, work.speed, work.momentum)
    measure_rows(layout, work, problem)
