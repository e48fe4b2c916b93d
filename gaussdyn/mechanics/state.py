"""The state of a system: everything that a bit-identical resume needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from .._show import brief
from ..arrays import Array, scalar, vector
from ..errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """Time, coordinates, velocity, and what friction remembers.

    Parameters
    ----------
    q : array_like, shape (nq,)
        Coordinates (m, rad).
    v : array_like, shape (nv,)
        Velocity (m/s, rad/s).
    t : float
        Time, s.
    memory : mapping of str to array_like
        Last reaction of every constraint, by id (N s per step), and other state that coordinates do not hold.

    Raises
    ------
    InputError
        NaN or a wrong shape.
    """

    q: Array
    v: Array
    t: float = 0.0
    memory: Mapping[str, Array] = field(default_factory=dict)

    __repr__ = brief

    def __post_init__(self) -> None:
        check_memory(self.memory)
        memory = {key: vector(f"memory[{key}]", value) for key, value in self.memory.items()}
        object.__setattr__(self, "t", scalar("t", self.t))
        object.__setattr__(self, "q", vector("q", self.q))
        object.__setattr__(self, "v", vector("v", self.v))
        object.__setattr__(self, "memory", MappingProxyType(memory))

    @classmethod
    def trusted(cls, t: float, q: Array, v: Array, memory: Mapping[str, Array]) -> State:
        """Return a state of numbers known to be good, without checks or copies, which take longer than many a step."""
        state = object.__new__(cls)
        put = object.__setattr__
        put(state, "t", t)
        put(state, "q", q)
        put(state, "v", v)
        put(state, "memory", memory)
        return state

    def digest(self) -> str:
        """Return the SHA-256 of the exact bytes of t, q, v and memory, as 64 hex digits."""
        digest = hashlib.sha256()
        for value in (vector("t", self.t), self.q, self.v):
            digest.update(value.tobytes())
        for key in sorted(self.memory):
            digest.update(key.encode() + self.memory[key].tobytes())
        return digest.hexdigest()


class Print(NamedTuple):
    """A state whose numbers stand somewhere, and their bytes: an edit in place (`state.v[:] = 0.0`) shows."""

    state: State
    q: bytes
    v: bytes

    @classmethod
    def of(cls, state: State) -> Print:
        """Return the print of a state as it is now."""
        return cls(state, state.q.tobytes(), state.v.tobytes())

    def fits(self, state: State) -> bool:
        """Whether this is the state, as it was."""
        return self.state is state and self.shows(state)

    def shows(self, state: State) -> bool:
        """Whether a state has these numbers."""
        return self.q == state.q.tobytes() and self.v == state.v.tobytes()


def check_memory(memory: object) -> None:
    """Raise InputError unless this maps names to arrays."""
    if not isinstance(memory, Mapping):
        raise InputError(
            "memory", repr(memory), "a mapping of constraint ids to reactions", "Leave it out: State(q=[...], v=[...])."
        )
