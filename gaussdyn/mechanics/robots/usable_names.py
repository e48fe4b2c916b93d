"""Names that a system can use, from the names that files give."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..names import GROUND


def usable(given: str, otherwise: str) -> str:
    """Return a usable name: ids are made with ``. / :``, and the ground is the world itself."""
    name = re.sub(r"[./:\s]", "_", given) or otherwise
    return f"{name}_" if name == GROUND else name


def different(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with a number after those that come again."""
    seen: set[str] = set()
    found = list(names)
    for k, name in enumerate(found):
        n = 2
        while found[k] in seen:
            found[k], n = f"{name}_{n}", n + 1
        seen.add(found[k])
    return tuple(found)
