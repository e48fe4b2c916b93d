"""What a call that takes many steps gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .....arrays import Array
from .....mechanics.state import State
from ....stepper import Step
from ....stretch import Stretch


@dataclass(kw_only=True, eq=False)  # frozen ones take longer to make
class ManySteps:
    """What `CompiledBodies.advance_many` did.

    Attributes
    ----------
    state : State
        At the end; of the last good step where one was not solved.
    spans : Array, shape (n, 3)
        Start, length and end of the steps that were solved, s.
    E, goal : Array, shape (n,)
        Residual of every step, recomputed from its impulses, and what counted as solved.
    path : tuple of str
        How every step was solved, the slowest of `PATHS` that it needed.
    factorisations, passes : Array, shape (n,)
    gap : Array, shape (n,)
        Lowest gap at the end of every step, m (0 if none is negative).
    q, v : Array, shape (n, nq) and (n, nv)
        At the end of every step.
    make : callable or None
        Gives `stretches`, the steps as a run records them; None: nobody asks for them.
    failed : Step or None
        The step that was not solved.
    """

    state: State
    spans: Array
    E: Array
    goal: Array
    path: tuple[str, ...]
    factorisations: Array
    passes: Array
    gap: Array
    q: Array
    v: Array
    make: Callable[[], tuple[Stretch, ...]] | None
    failed: Step | None = None

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The steps as a run records them."""
        assert self.make is not None  # steps were taken without a record
        return self.make()

    @property
    def taken(self) -> int:
        """How many steps were solved."""
        return len(self.spans)

    @property
    def last(self) -> Step | None:
        """The last of them."""
        return self.stretches[-1].step(len(self.stretches[-1]) - 1) if self.stretches else None
