"""Many steps under a compiled control: it is asked at the beginning of each, in the kernels."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

from ..._jit import A1, A2, I1, caller, entry_of, kernel
from ...arrays import Array, IntArray
from ..compiled_control import SIGNATURE, CompiledControl
from .core.records import DONE, Span
from .core.step import Simulation, take_steps
from .core.work_space import STANDS
from .kept import Kept

ask_law = caller(SIGNATURE)


@kernel(f"int64(Simulation, {A2}, Span, {I1}, Kept, int64, {A1}, {A2})", entry=True)
def take_driven_steps(
    sim: Simulation, spans: Array, rules: Span, count: IntArray, kept: Kept, law: int, numbers: Array, told: Array
) -> int:  # fmt: skip
    """Take steps of trees as `take_steps` does, but ask the law at this address before each what actuators are told.

    It ends, with DONE, before a step for which the law gives no finite numbers; told: what it gave, a row per step.
    """
    data, u = sim.data, sim.model.forest.drives.control
    while count[0] < len(spans):
        s = count[0]
        for i in range(len(u)):
            u[i] = 0.0
        ask_law(law, spans[s, 0], data.q, data.v, numbers, u)
        same = s > 0
        for i in range(len(u)):
            told[s, i] = u[i]
            if not isfinite(u[i]):
                return DONE
            same = same and u[i] == told[s - 1, i]
        if not same:
            sim.work.course[STANDS] = 0
        code = take_steps(sim, spans[: s + 1], rules, count, kept)
        if code != DONE:
            return int(code)
    return DONE


class Driven(NamedTuple):
    """A compiled control, and the kernel that takes steps under it."""

    law: CompiledControl
    take: Callable[..., Any]


def driven(law: CompiledControl) -> Driven:
    """Return a compiled control with its kernel, for `CompiledSystem.advance_many`."""
    return Driven(law, entry_of(take_driven_steps))
