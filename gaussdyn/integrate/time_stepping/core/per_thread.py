"""What is made once for a system in a thread."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from threading import get_ident
from typing import Any

from ....mechanics.system import System


class _Same:
    """A system that has no hash, as a key: it equals itself."""

    def __init__(self, system: System) -> None:
        self.system = system

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.system is self.system

    def __hash__(self) -> int:
        return id(self.system)


def place_of(system: System) -> list[Any]:
    """Return where the one of a system and this thread is put once it is made."""
    return _place(system if isinstance(system, Hashable) else _Same(system), get_ident())


@lru_cache(maxsize=32)
def _place(system: Hashable, thread: int) -> list[Any]:
    """Return it: empty at first."""
    return []
