"""A controller that numba compiles: kernels call it at the beginning of every step, without Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._show import brief
from ..arrays import Array, vector
from ..errors import InputError
from ..mechanics.state import State

SIGNATURE = f"void(float64, {', '.join(4 * ['float64[::1]'])})"


@dataclass(frozen=True, slots=True, eq=False)
class CompiledControl:
    """A control law for `simulate(control=)` and `MoreauJean.advance`, as machine code.

    It is called with the state at the beginning of every step, as a function in Python is, and held through it. Runs of
    trees (robots) whose actuators have no states take many steps in one call then; elsewhere Python calls the same
    machine code, with the same result to the bit.

    Parameters
    ----------
    law : callable
        ``law(t, q, v, p, u)``, a function of Python that numba can compile, or one that it has: writes what the
        actuators are told into u; time t, coordinates q, velocities v and numbers p are to be read only.
    size : int
        Of u: the number of actuators.
    numbers : sequence of float
        p: goals, gains, whatever the law needs.

    Raises
    ------
    InputError
        A law that numba cannot compile, NaN, a size that is no number of actuators.
    """

    law: Callable[..., Any]
    size: int
    numbers: Sequence[float] | Array = ()
    address: int = field(init=False, repr=False)
    _compiled: Callable[..., Any] = field(init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        from .._jit.law import compiled_law

        if not callable(self.law):
            raise InputError(
                "law", repr(self.law), "a function law(t, q, v, p, u)", "Write def law(t, q, v, p, u): u[:] = 0.0."
            )
        if isinstance(self.size, bool) or not isinstance(self.size, int | np.integer) or self.size < 1:
            raise InputError(
                "size", repr(self.size), "the number of actuators, an integer >= 1", "Write size=len(system.actuators)."
            )
        compiled, address = compiled_law(self.law, SIGNATURE)
        found = {"numbers": vector("numbers", self.numbers), "address": address, "_compiled": compiled}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def __call__(self, t: float, state: State) -> Array:
        """Return what the actuators are told at a state, shape (size,)."""
        u = np.zeros(self.size)
        q, v = (np.array(x, dtype=np.float64) for x in (state.q, state.v))
        self._compiled(float(t), q, v, np.array(self.numbers), u)
        return u
