"""Keep what a step of the compiled step leaves behind, see `Kept`."""

from __future__ import annotations

import math

from ...._jit import kernel
from ..kept import PLACED, ROWS, SHIFTED, TRIED, Kept
from .problem.dependent_joints import COUNT, LOOKED
from .problem.pushes import TAKEN, Push
from .records import ALL, ALL_ROWS, FIXED, LOGGED, PLANAR, SOFT, Data, Model
from .work_space import UNSEEN, Work


@kernel("void(Model, Data, Push, Kept, int64)", borrows=True)
def keep_shifts(model: Model, data: Data, push: Push, kept: Kept, s: int) -> None:
    """Keep the passes of the projection; of rows that depend on one another what they have in common is taken out."""
    start, bound, fixed = model.layout.start, data.bound, model.layout.counts[FIXED]
    for a in range(push.kept[TAKEN]):
        for k in range(model.layout.counts[ALL]):
            kept.shifts[s, a, k] = push.shifts[a, k]
        for i in range(len(data.q)):
            kept.places[s, a, i] = push.places[a, i]
        for c in range(bound.known[COUNT]):
            total = 0.0
            for k in range(fixed):
                g = bound.of_row[start[k]]
                total += bound.N[g, c] * kept.shifts[s, a, k] * bound.lengths[g] if g >= 0 else 0.0
            for k in range(fixed):
                g = bound.of_row[start[k]]
                kept.shifts[s, a, k] -= total * bound.N[g, c] / bound.lengths[g] if g >= 0 else 0.0


@kernel("void(Model, Data, Work, Kept, int64)", borrows=True)
def keep_rows(model: Model, data: Data, work: Work, kept: Kept, s: int) -> None:
    """Keep what the constraints did."""
    layout = model.layout
    for k in range(layout.counts[ALL]):
        acts = data.acts[k] != 0 and layout.kind[k] != SOFT
        kept.gap[s, k], kept.acts[s, k] = data.end.gap[k], int(acts)
        kept.mode[s, k] = work.mode[k] if acts else -1
        for i in range(layout.start[k], layout.start[k + 1]):
            kept.p[s, i] = data.p[i] if acts else 0.0
        for c in range(6):
            kept.limit[s, 6 * k + c] = data.end.law[k, c]


@kernel("void(Model, Data, Kept, int64)", borrows=True)
def keep_memory(model: Model, data: Data, kept: Kept, s: int) -> None:
    """Keep what the next step remembers: impulses, and of which constraints they are."""
    layout, n = model.layout, model.layout.counts[ALL]
    kept.found[s, ROWS] = n
    for i in range(layout.counts[ALL_ROWS]):
        kept.last[s, i] = data.last[i]
    for k in range(n + 1):
        kept.start[s, k] = layout.start[k]
    for f in range(n - layout.counts[FIXED]):
        for c in range(4):
            label = model.touches.found[f, c] if layout.who == PLANAR else model.shapes.label[f, c]
            kept.label[s, 4 * f + c] = label


@kernel("void(Model, Data, Work, Push, Kept, int64)", borrows=True, entry=True)
def keep_step(model: Model, data: Data, work: Work, push: Push, kept: Kept, s: int) -> None:
    """Keep the step at hand, which is done, in row s; of one that is not recorded, only where it leads."""
    for i in range(LOGGED):
        kept.log[s, i] = data.log[i]
    for i in range(len(data.q)):
        kept.q[s, i] = data.q1[i]
    for j in range(len(data.v)):
        kept.v[s, j] = data.v1[j]
    keep_memory(model, data, kept, min(s, len(kept.found) - 1))
    if work.course[UNSEEN]:
        return
    for i in range(len(data.q)):
        kept.middle[s, i], kept.tries[s, 0, i] = data.middle[i], data.tried[i]
    for i in range(len(data.foreseen)):
        kept.foreseen[s, i] = data.foreseen[i]
    kept.found[s, SHIFTED], kept.found[s, PLACED] = push.kept[TAKEN], data.bound.known[LOOKED]
    kept.found[s, TRIED] = 0 if len(data.q) == 0 or math.isnan(data.tried[0]) else 1
    keep_rows(model, data, work, kept, s)
    keep_shifts(model, data, push, kept, s)
