"""The gaps with which contacts shall end, and the speeds that are rounding."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ..scheme import CANCELS, SLOW
from .acting import one_sided, stopped
from .projection import Push
from .records import EPS_N, HIGH, KEPT, LOW, Data, Layout


@kernel(f"void(Layout, Data, Push, float64, {A1}, boolean)", borrows=True)
def aim(layout: Layout, data: Data, push: Push, rest: float, tol: Array, first: bool) -> None:
    """Put the gaps with which contacts shall end: those that the law leaves no speed, NaN for others.

    `tol` are the speeds that are rounding; in the first pass the contacts that pushed in the last step count.
    """
    for k in range(layout.counts[0]):
        push.target[k] = np.nan
        row = layout.start[k]
        if not (data.acts[k] and one_sided(layout, k)):
            continue
        still = data.p[row] > 0.0 if first else stopped(layout, data, row, tol)
        if still:
            rebounds = False
            for i in range(row, layout.start[k + 1]):
                rebounds = rebounds or data.bounce[i] != 0.0
            before = max(data.mid.gap[k] - rest * data.mid.rate[row], 0.0)
            push.target[k] = (data.log[KEPT] * data.mid.law[k, EPS_N]) ** 2 * before if rebounds else 0.0


@kernel(f"void(Layout, Data, {A1}, {A1})", borrows=True)
def rounded_speeds(layout: Layout, data: Data, speed: Array, tol: Array) -> None:
    """Put what rounding may leave of the speeds: of those at hand, `speed`, and of impulses that cancel."""
    nv, reach = len(data.v), data.V[8]
    for j in range(nv):
        reach[j] = 0.0
    for i in range(layout.counts[1]):
        if data.p[i] != 0.0:
            for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
                reach[j] += abs(data.seen.J[i, j] * data.p[i])
    for j in range(nv):
        tol[j] = SLOW * speed[j] + CANCELS * reach[j] / data.M[j, j]
