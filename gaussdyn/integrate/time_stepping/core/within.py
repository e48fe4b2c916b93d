"""Steps of a system whose length a tolerance decides, taken in one call of the kernels, and how that came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import EPS
from ...stepper import SIZE, Sizing
from ...stretch import Late
from ..pace import NEVER, Aim, halfway, tags_of
from .pairs import FORCED, ORDER, REJECTED, Pairs, room_of, take_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....arrays import Array
    from ....mechanics.state import State
    from ..kept import Kept
    from ..moreau_jean import MoreauJean
    from ..tolerance import Tolerance
    from .records import Span


SHORTEST = 1e-4  # of the absolute tolerance, s: 10 km/s pass it in such a step
LONGEST = 20.0  # times dt


def pace_of(memory: Mapping[str, Array], first: float) -> Array:
    """Return the pace that a state remembers, or what a run begins with."""
    known = memory.others if isinstance(memory, Late) and memory.others is not None else memory  # impulses stay unmade
    fresh = np.array([first, first, NEVER, 0.0, -1.0, NEVER, NEVER, 0.0, 0.0, 0.0])
    return known[SIZE].copy() if SIZE in known and known[SIZE].shape == fresh.shape else fresh


def aim_of(stepper: MoreauJean, tolerance: Tolerance, t_max: float) -> Aim:
    """Return what steps are held to."""
    longest = LONGEST * stepper.dt if tolerance.longest is None else tolerance.longest
    shortest = max(SHORTEST * tolerance.absolute, 64.0 * EPS * abs(t_max))
    return Aim(
        float(tolerance.rtol), float(tolerance.absolute), shortest, float(longest), float(t_max),
        2 if stepper.theta == 0.5 else 1,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Within:
    """Room for steps from a time on, and what they are held to."""

    t: float
    aim: Aim
    kept: Kept
    pairs: Pairs

    @classmethod
    def begin(
        cls, stepper: MoreauJean, state: State, t_max: float, rooms: tuple[Kept, Kept], ids: tuple[str, ...]
    ) -> Within | None:  # fmt: skip
        """Return room; None in the middle of a pair. rooms: for steps, and for one that is not recorded."""
        assert stepper.step is not None
        pace, (kept, whole) = pace_of(state.memory, stepper.dt), rooms
        aim = aim_of(stepper, stepper.step, t_max)
        if halfway(pace, state.t, aim):
            return None
        shapes = len(state.q), len(state.v), kept.gap.shape[1], kept.p.shape[1]
        pairs = room_of(len(kept.log), shapes, whole, tags_of(ids))
        pairs.pace[:] = pace
        return cls(t=state.t, aim=aim, kept=kept, pairs=pairs)

    def take(self, sim: Any, rules: Span) -> tuple[int, int]:
        """Take steps; return how that ended, and how many were taken."""
        from ...._jit import Held, entry_of

        count = np.zeros(1, dtype=np.int64)
        take = entry_of(take_pairs)
        code = take(sim, rules, self.aim, Held(self.pairs), count, Held(self.kept), self.t)
        return int(code), int(count[0])

    def paces(self, n: int) -> Array:
        """Return what states remember after the first n steps."""
        return self.pairs.paces[:n]

    def sizing(self, a: int, b: int) -> tuple[tuple[int, Sizing], ...]:
        """Return how the lengths of the pairs that begin with steps a to b came about, by their numbers from a on."""
        first = a + a % 2
        rows = enumerate(self.pairs.sizing[first:b:2].tolist())
        return tuple(
            (first - a + 2 * k, Sizing(rejected=int(row[REJECTED]), forced=row[FORCED] != 0.0, order=_seen(row[ORDER])))
            for k, row in rows
        )


def _seen(order: float) -> float | None:
    """Return an order; None where it was not seen."""
    return None if np.isnan(order) else order
